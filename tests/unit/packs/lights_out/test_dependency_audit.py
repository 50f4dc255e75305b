"""The audit of dependencies, as the process the engine starts, with the real scanner and advisories on loopback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.advisories import Advisories, advisory

CLEAN, FOUND, NOT_PROVEN = 0, 1, 3


class Audit:
    def __init__(self, folder: Path, advisories: Advisories) -> None:
        self.folder, self.url = folder, advisories.url

    def put(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def __call__(self, *words: str, path: str = "") -> tuple[int, str]:
        argv = [
            sys.executable,
            "-I",
            "-X",
            "utf8",
            "-m",
            "detent.packs.lights_out.dependency_audit",
            "--osv-url",
            self.url,
        ]
        env = {**os.environ, "PATH": path or os.environ["PATH"], "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}
        done = subprocess.run(
            [*argv, *words], cwd=self.folder, capture_output=True, check=False, timeout=120, text=True, env=env
        )
        return done.returncode, done.stdout + done.stderr


@pytest.fixture
def audit(tmp_path: Path, advisories: Advisories) -> Audit:
    return Audit(tmp_path, advisories)


def test_a_project_without_lock_files_asks_no_service(audit: Audit, advisories: Advisories) -> None:
    audit.put("words.py", "import os\n")
    code, output = audit()
    assert (code, advisories.looked_up) == (CLEAN, [])
    assert "no dependencies to audit" in output


def test_every_locked_version_is_asked_about(audit: Audit, advisories: Advisories) -> None:
    audit.put("requirements.txt", "-r requirements/dev.lock\nFoo.Bar[extra]==1.0 \\\n    --hash=sha256:00\n")
    audit.put("requirements/dev.lock", "# comment\n\nbaz == 2 ; python_version > '3'\n")
    audit.put(
        "web/uv.lock", "[[package]]\nname = 'own'\nsource = {virtual = '.'}\n\n[[package]]\nname='q'\nversion='3'\n"
    )
    code, output = audit()
    assert code == CLEAN, output
    assert sorted(advisories.looked_up) == ["baz==2", "foo-bar==1.0", "q==3"]


def test_a_vulnerable_version_is_named_until_a_person_accepts_it(audit: Audit, advisories: Advisories) -> None:
    audit.put("poetry.lock", "[[package]]\nname = 'bad'\nversion = '1.0'\n")
    advisories.answers["bad"] = advisory("bad")
    code, output = audit()
    assert code == FOUND
    assert "poetry.lock: bad 1.0: PYSEC-2024-1, fixed in: 2.0" in output
    assert audit("--accept", "CVE-2024-2")[0] == FOUND
    assert audit("--accept", "CVE-2024-1")[0] == CLEAN


def test_an_advisory_the_scanner_leaves_out_proves_nothing(audit: Audit, advisories: Advisories) -> None:
    audit.put("requirements.txt", "bad==1.0\n")
    advisories.answers["bad"] = {"vulns": [{"id": "PYSEC-2024-1"}]}
    code, output = audit()
    assert code == NOT_PROVEN, output
    assert "is missing 'affected'" in output


@pytest.mark.parametrize(("status", "raw"), [(500, b"{}"), (404, b"{}"), (200, b""), (200, b"[1]"), (200, b"<html>")])
def test_advisories_that_answer_nonsense_prove_nothing(
    audit: Audit, advisories: Advisories, status: int, raw: bytes
) -> None:
    audit.put("requirements.txt", "foo==1.0\n")
    advisories.status, advisories.raw = status, raw
    code, output = audit()
    assert code == NOT_PROVEN, output
    assert "not proven: requirements.txt: pip-audit could not look" in output


def test_advisories_that_hang_prove_nothing(audit: Audit, advisories: Advisories) -> None:
    audit.put("requirements.txt", "foo==1.0\n")
    advisories.hangs = True
    code, output = audit()
    assert code == NOT_PROVEN, output
    assert advisories.looked_up == ["foo==1.0"]


def test_advisories_that_are_not_served_prove_nothing(audit: Audit) -> None:
    audit.put("requirements.txt", "foo==1.0\n")
    audit.url = "http://127.0.0.1:1/v1/query"
    assert audit()[0] == NOT_PROVEN


@pytest.mark.parametrize(
    "line",
    [
        "foo",
        "foo>=1.0",
        "foo==1.*",
        "-e .",
        "-e git+https://example.org/foo.git#egg=foo",
        "foo @ https://example.org/foo.whl",
        "git+https://example.org/foo.git",
        "-r other.ini",
        "-r ../requirements.txt",
        "-r requirements-missing.txt",
        "foo===no version",
    ],
)
def test_a_line_that_names_no_one_version_proves_nothing(audit: Audit, advisories: Advisories, line: str) -> None:
    audit.put("requirements.txt", f"baz==1.0\n{line}\n")
    code, output = audit()
    assert (code, advisories.looked_up) == (NOT_PROVEN, []), output
    assert "is not pinned to one version" in output


def test_lock_files_that_can_not_be_audited_prove_nothing(audit: Audit) -> None:
    for name in ("package-lock.json", "Cargo.lock", "yarn.lock", "go.sum", "Pipfile.lock", "broken/uv.lock"):
        audit.put(name, "{")
    (audit.folder / "pdm.lock").symlink_to("nowhere")
    code, output = audit(path="/nonexistent")
    assert code == NOT_PROVEN
    assert "package-lock.json: npm is not installed" in output
    assert "Cargo.lock: cargo-audit is not installed" in output
    assert output.count("no scanner for this kind of lock file is built in") == 3
    assert "pdm.lock is a link" in output
    assert "broken/uv.lock: TOMLDecodeError" in output


def test_a_scanner_of_the_project_is_not_run(audit: Audit, advisories: Advisories) -> None:
    for name in ("pip_audit.py", "pip_audit/__main__.py", "detent/__init__.py"):
        audit.put(name, "raise SystemExit(0)\n")
    audit.put("bin/pip-audit", "#!/bin/sh\nexit 0\n")
    os.chmod(audit.folder / "bin/pip-audit", 0o755)
    audit.put("requirements.txt", "bad==1.0\n")
    advisories.answers["bad"] = advisory("bad")
    assert audit(path=f"{audit.folder / 'bin'}:{os.environ['PATH']}")[0] == FOUND
