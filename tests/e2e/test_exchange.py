"""Machines and other tools: TLC checks what `machine export` writes, and `machine compare` reads documents."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.conformance import tlc
from tests.conftest import Detent


@tlc.needs_tlc
def test_tlc_checks_the_files_that_export_writes(detent: Detent, tmp_path: Path) -> None:
    done = detent("machine", "export", "orange", "--format", "tla", "--into", "model", cwd=tmp_path)
    assert done.out.splitlines()[:2] == ["wrote model/Orange.tla", "wrote model/Orange.cfg"]
    command = done.out.splitlines()[2].removeprefix("check it with: ").replace("/path/to/tla2tools.jar", str(tlc.jar()))
    ran = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True, timeout=240, check=False)
    situations = detent("machine", "check", "orange", "--json", cwd=tmp_path).json()["machines"][0]["situations"]
    assert f" {situations} distinct states found" in ran.stdout
    assert "No error has been found" in ran.stdout


def test_a_module_is_printed_or_given_as_json(detent: Detent, tmp_path: Path) -> None:
    text = detent("machine", "export", "global", "--format", "tla", cwd=tmp_path).out
    content = detent("machine", "export", "global", "--format", "tla", "--json", cwd=tmp_path).json()
    assert text == content["tla"]
    assert text.startswith("---- MODULE Global ----\n")
    assert text.rstrip().endswith("====")
    assert content["cfg"].startswith("INIT Init\nNEXT Next\n")
