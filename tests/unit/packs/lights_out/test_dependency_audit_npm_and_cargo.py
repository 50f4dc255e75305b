"""The audit of npm and Rust dependencies: the real npm with a registry on loopback, cargo-audit by a stand-in.

cargo-audit could not be had where this was written (crates.io out of reach, neither PyPI nor Debian carries it). The
stand-in prints what the types of its report say (`rustsec::Report`); that the real program prints it is not tested.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.advisories import NpmRegistry
from tests.e2e.stubs import put_program

CLEAN, FOUND, NOT_PROVEN = 0, 1, 3
NEEDS_NPM = pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")
LOCK = {
    "name": "app",
    "version": "1.0.0",
    "lockfileVersion": 3,
    "requires": True,
    "packages": {
        "": {"name": "app", "version": "1.0.0", "dependencies": {"bad": "1.0.0"}, "devDependencies": {"dev": "2.0.0"}},
        "node_modules/bad": {"version": "1.0.0", "resolved": "https://example.org/bad.tgz", "integrity": "sha512-AA=="},
        "node_modules/dev": {"version": "2.0.0", "dev": True, "resolved": "https://example.org/dev.tgz"},
    },
}
PACKAGE = {**LOCK["packages"][""], "private": True}  # type: ignore[index]  # a literal of this file


def flaw(severity: str) -> list[dict[str, Any]]:
    """An advisory as a registry gives it."""
    url = "https://github.com/advisories/GHSA-aaaa-bbbb-cccc"
    cvss = {"score": 9.8, "vectorString": "CVSS:3.1/AV:N"}
    said = {"id": 1, "url": url, "title": "bad", "severity": severity, "vulnerable_versions": "<3.0.0"}
    return [{**said, "cwe": ["CWE-79"], "cvss": cvss}]


def audit(folder: Path, *words: str, programs: Path | None = None) -> tuple[int, str]:
    argv = [sys.executable, "-I", "-X", "utf8", "-m", "detent.packs.lights_out.dependency_audit", *words]
    path = os.pathsep.join((str(programs), os.environ["PATH"])) if programs else os.environ["PATH"]
    local = {"NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1", "npm_config_fetch_retries": "0"}
    env = {**os.environ, **local, "PATH": path, "HOME": str(folder.parent)}
    done = subprocess.run(argv, cwd=folder, capture_output=True, check=False, timeout=120, text=True, env=env)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def registry() -> Iterator[NpmRegistry]:
    made = NpmRegistry()
    yield made
    made.close()


@pytest.fixture
def app(tmp_path: Path) -> Path:
    folder = tmp_path / "app"
    folder.mkdir()
    (folder / "package.json").write_text(json.dumps(PACKAGE), encoding="utf-8")
    (folder / "package-lock.json").write_text(json.dumps(LOCK), encoding="utf-8")
    return folder


@NEEDS_NPM
def test_npm_asks_about_every_locked_version(app: Path, registry: NpmRegistry) -> None:
    code, output = audit(app, "--npm-registry", registry.url)
    assert code == CLEAN, output
    assert registry.looked_up == {"bad": ["1.0.0"], "dev": ["2.0.0"]}
    assert "package-lock.json: 2 packages looked up by npm audit" in output


@NEEDS_NPM
@pytest.mark.parametrize("severity", ["high", "critical"])
def test_bad_npm_package_is_named_until_a_person_accepts_it(app: Path, registry: NpmRegistry, severity: str) -> None:
    registry.answers["bad"] = flaw(severity)
    code, output = audit(app, "--npm-registry", registry.url)
    assert code == FOUND, output
    assert f"package-lock.json: bad: {severity} GHSA-aaaa-bbbb-cccc" in output
    assert audit(app, "--npm-registry", registry.url, "--accept", "GHSA-aaaa-bbbb-cccc")[0] == CLEAN


@NEEDS_NPM
def test_a_moderate_npm_advisory_lets_a_build_pass(app: Path, registry: NpmRegistry) -> None:
    registry.answers["bad"] = flaw("moderate")
    code, output = audit(app, "--npm-registry", registry.url)
    assert code == CLEAN, output


@NEEDS_NPM
def test_settings_of_the_project_do_not_steer_npm(app: Path, registry: NpmRegistry) -> None:
    registry.answers |= {"bad": flaw("high"), "dev": flaw("high")}
    liar = NpmRegistry()
    (app / ".npmrc").write_text(f"registry={liar.url}\nomit=dev\naudit=false\n", encoding="utf-8")
    try:
        code, output = audit(app, "--npm-registry", registry.url)
        assert (code, liar.looked_up) == (FOUND, {}), output
        assert "dev: high" in output
        (app.parent / ".npmrc").write_text(f"registry={registry.url}\n", encoding="utf-8")
        code, output = audit(app)
        assert (code, liar.looked_up) == (FOUND, {}), "the person's own setting holds, not that of the project"
    finally:
        liar.close()


@NEEDS_NPM
@pytest.mark.parametrize("status", [500, 404])
def test_a_registry_without_an_answer_proves_nothing(app: Path, registry: NpmRegistry, status: int) -> None:
    registry.status = status
    code, output = audit(app, "--npm-registry", registry.url)
    assert code == NOT_PROVEN, output
    assert "not proven: package-lock.json: npm audit could not look" in output


def report(**more: Any) -> dict[str, Any]:
    """What cargo-audit prints about a lock file without a vulnerability."""
    settings: dict[str, Any] = {
        "target_arch": None,
        "target_os": None,
        "severity": None,
        "ignore": [],
        "informational_warnings": [],
    }
    return {
        "database": {"advisory-count": 700, "last-commit": "0" * 40, "last-updated": "2026-01-01T00:00:00Z"},
        "lockfile": {"dependency-count": 12},
        "settings": settings,
        "vulnerabilities": {"found": False, "count": 0, "list": []},
        "warnings": {},
        **more,
    }


def rust(tmp_path: Path, answer: dict[str, Any] | str) -> tuple[Path, Path]:
    """A Rust project, and the folder of a stand-in for cargo-audit that prints this."""
    folder, programs = tmp_path / "app", tmp_path / "bin"
    (folder / ".cargo").mkdir(parents=True)
    (folder / "Cargo.lock").write_text("version = 4\n", encoding="utf-8")
    (folder / ".cargo/audit.toml").write_text('[advisories]\nignore = ["RUSTSEC-2024-0001"]\n', encoding="utf-8")
    said = answer if isinstance(answer, str) else json.dumps(answer)
    (tmp_path / "said.json").write_text(said, encoding="utf-8")
    keep = f'echo "$*" > {tmp_path}/words; ls -A > {tmp_path}/listing; cat {tmp_path}/said.json'
    put_program(programs, "cargo-audit", keep)
    return folder, programs


VULNERABLE = {
    "advisory": {"id": "RUSTSEC-2024-0001", "package": "bad", "aliases": ["CVE-2024-1"], "title": "it is bad"},
    "versions": {"patched": [">=2.0.0"], "unaffected": []},
    "affected": None,
    "package": {"name": "bad", "version": "1.0.0"},
}


def test_cargo_audit_sees_the_lock_file_alone(tmp_path: Path) -> None:
    folder, programs = rust(tmp_path, report())
    code, output = audit(folder, "--cargo-db", "https://example.org/db", programs=programs)
    assert code == CLEAN, output
    assert "Cargo.lock: 12 packages looked up by cargo audit in 700 advisories" in output
    assert (tmp_path / "listing").read_text(encoding="utf-8") == "Cargo.lock\n"
    words = (tmp_path / "words").read_text(encoding="utf-8").strip()
    assert words == "audit --json --file Cargo.lock --url https://example.org/db"


def test_a_bad_crate_is_named_until_a_person_accepts_it(tmp_path: Path) -> None:
    found = {"found": True, "count": 1, "list": [VULNERABLE]}
    folder, programs = rust(tmp_path, report(vulnerabilities=found))
    code, output = audit(folder, programs=programs)
    assert code == FOUND, output
    assert "Cargo.lock: bad 1.0.0: RUSTSEC-2024-0001" in output
    for known in ("RUSTSEC-2024-0001", "CVE-2024-1"):
        assert audit(folder, "--accept", known, programs=programs)[0] == CLEAN


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (report(database={"advisory-count": 0}), "knew no advisory"),
        (report(settings={"ignore": ["RUSTSEC-2024-0009"]}), "leave something out: RUSTSEC-2024-0009"),
        (report(settings={"ignore": [], "severity": "high"}), "leave something out"),
        ("error: couldn't fetch advisory database", "cargo audit could not look"),
        ({"vulnerabilities": {"list": []}}, "Cargo.lock: KeyError"),
    ],
)
def test_a_cargo_audit_that_left_something_out_proves_nothing(
    tmp_path: Path, answer: dict[str, Any] | str, why: str
) -> None:
    folder, programs = rust(tmp_path, answer)
    code, said = audit(folder, programs=programs)
    assert code == NOT_PROVEN, said
    assert why in said
