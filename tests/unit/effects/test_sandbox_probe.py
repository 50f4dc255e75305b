"""Tests of the sandbox probe: a program that is there and does not work counts for nothing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from detent.effects.sandbox_probe import BUBBLEWRAP, LANDLOCK, NONE, probe_sandbox
from tests.e2e.stubs import put_program

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the probe asks a Linux kernel")


def test_a_bubblewrap_that_works_is_the_level(tmp_path: Path) -> None:
    put_program(tmp_path, "bwrap", "exit 0")
    assert probe_sandbox({"PATH": str(tmp_path)}).level == BUBBLEWRAP


def test_a_bubblewrap_that_fails_is_told_and_passed_over(tmp_path: Path) -> None:
    put_program(tmp_path, "bwrap", "echo 'No permissions to create new namespace' >&2; exit 1")
    probe = probe_sandbox({"PATH": str(tmp_path)})
    assert probe.level in (LANDLOCK, NONE)
    assert probe.why.startswith("bwrap does not work here: No permissions to create new namespace; the kernel offers ")


def test_without_bubblewrap_the_kernel_is_asked(tmp_path: Path) -> None:
    probe = probe_sandbox({"PATH": str(tmp_path)})
    offered = Path("/sys/kernel/security/lsm")
    if probe.level == LANDLOCK and offered.exists():
        assert "landlock" in offered.read_text(encoding="utf-8").split(",")
    assert probe.why.startswith("bwrap is not on PATH; ")
