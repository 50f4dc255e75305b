"""A process of its own: audits the dependencies of the folder it stands in, with the scanner of each ecosystem.

Exit 0: every locked dependency was looked up, and none has a known vulnerability that a person did not accept.
Exit 1: vulnerabilities were found. Exit 3: not proven: something was skipped, the advisories could not be reached, a
scanner is missing, or a lock file is of a kind without a scanner here. A scanner's "nothing found" counts only if it
says what it looked at.

    --osv-url URL       where pip-audit asks about Python packages
    --npm-registry URL  which registry npm asks for advisories
    --cargo-db URL      from which git repository cargo-audit fetches advisories
    --accept ID         a vulnerability a person accepted
    --on DAY            the day it is asked; what is known of vulnerabilities changes

npm and cargo-audit read settings from the folder they stand in (`.npmrc`, `.cargo/audit.toml`), which an agent may
write: they see copies of the lock files alone.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib

from detent.packs.lights_out.requirement_lines import PINNED, requirement_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

FOUND, NOT_PROVEN = 1, 3
_SKIPPED = frozenset((".git", "node_modules", ".venv", "venv", "vendor", "site-packages"))
_TIMEOUT_S = 600
_REQUIREMENTS = re.compile(r"(?:.*/)?(?:requirements/[^/]*|[\w.-]*(?:requirements|constraints)[\w.-]*)\.(?:txt|lock)")
_BAD = frozenset(("high", "critical"))
_MOST_TOLD = 50


class _Result:
    """What was found, and what kept it from being looked for."""

    def __init__(self) -> None:
        self.found: list[str] = []
        self.unproven: list[str] = []
        self.audited: list[str] = []


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="dependency_audit")
    parser.add_argument("--osv-url", default="")
    parser.add_argument("--npm-registry", default="")
    parser.add_argument("--cargo-db", default="")
    parser.add_argument("--accept", action="append", default=[])
    parser.add_argument("--on", default="")
    options = parser.parse_args(words)
    result = _Result()
    try:
        for path in _files():
            _audit(path, options, result)
    except OSError as error:
        result.unproven.append(f"the files can't be listed: {error}")
    for line in (*result.audited, *result.found[:_MOST_TOLD]):
        _tell(line)
    for line in result.unproven[:_MOST_TOLD]:
        _tell(f"not proven: {line}")
    if result.found:
        return FOUND
    if result.unproven:
        return NOT_PROVEN
    if not result.audited:
        _tell("there is no lock file, so there are no dependencies to audit")
    return 0


def _files() -> list[str]:
    found: list[str] = []
    for base, folders, names in os.walk(".", onerror=_raise):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED)
        found += [os.path.normpath(os.path.join(base, name)) for name in sorted(names)]
    return found


def _raise(error: OSError) -> None:
    raise error


def _audit(path: str, options: argparse.Namespace, result: _Result) -> None:
    name = os.path.basename(path)
    kind = _KINDS.get(name) or (_requirements if _REQUIREMENTS.fullmatch(path) else None)
    if kind is None:
        return
    if os.path.islink(path):
        result.unproven.append(f"{path} is a link")
        return
    try:
        kind(path, options, result)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, subprocess.SubprocessError) as error:
        result.unproven.append(f"{path}: {type(error).__name__}: {error}")


def _requirements(path: str, options: argparse.Namespace, result: _Result) -> None:
    if path.endswith(".txt") and os.path.isfile(f"{path.removesuffix('.txt')}.lock"):
        return  # the versions stand there
    with open(path, encoding="utf-8-sig") as file:
        lines = requirement_lines(file.read())
    pins: list[str] = []
    for line in lines:
        if line.startswith(("--index-url", "--extra-index-url", "-i ", "--require-hashes", "--no-binary")):
            continue
        if _is_audited_itself(path, line):
            continue
        if (match := PINNED.match(line)) is None:
            result.unproven.append(f"{path}: {line[:80]!r} is not pinned to one version")
            return
        pins.append(match[0])
    _ask_pip_audit(path, pins, options, result)


def _is_audited_itself(path: str, line: str) -> bool:
    """Whether a line only leads to a file that is read anyway."""
    named = re.fullmatch(r"(?:-r|--requirement|-c|--constraint)[\s=]+(\S+)", line)
    other = os.path.normpath(os.path.join(os.path.dirname(path), named[1])) if named else ""
    is_ours = _REQUIREMENTS.fullmatch(other) is not None and not _SKIPPED & set(other.split("/"))
    return is_ours and not os.path.isabs(other) and os.path.isfile(other)


def _packages_of_toml(path: str, options: argparse.Namespace, result: _Result) -> None:
    """poetry.lock, uv.lock, pdm.lock and pylock.toml: a list of packages with their versions."""
    with open(path, "rb") as file:
        content = tomllib.load(file)
    pins: list[str] = []
    for package in content.get("package", content.get("packages", [])):
        source = package.get("source", {})
        is_project = isinstance(source, dict) and bool({"editable", "virtual", "directory"} & source.keys())
        if is_project or "directory" in package:
            continue  # the project itself
        if "version" not in package:
            result.unproven.append(f"{path}: {package['name']} has no version")
            return
        pins.append(f"{package['name']}=={package['version']}")
    _ask_pip_audit(path, pins, options, result)


def _ask_pip_audit(path: str, pins: list[str], options: argparse.Namespace, result: _Result) -> None:
    if not pins:
        result.audited.append(f"{path}: no dependencies")
        return
    with tempfile.TemporaryDirectory() as folder:
        listed = os.path.join(folder, "requirements.txt")
        with open(listed, "w", encoding="utf-8") as file:
            file.write("".join(f"{pin}\n" for pin in dict.fromkeys(pins)))
        argv = [sys.executable, "-I", "-m", "pip_audit", "-r", listed, "--no-deps", "--disable-pip", "--strict"]
        argv += ["-s", "osv", "-f", "json", "--progress-spinner", "off", "--cache-dir", os.path.join(folder, "cache")]
        done = _run([*argv, *(("--osv-url", options.osv_url) if options.osv_url else ())])
    report = _json(done.stdout)
    if not isinstance(report, dict):
        result.unproven.append(f"{path}: pip-audit could not look: {_last_line(done.stderr)}")
        return
    # An advisory that it does not understand it leaves out with a warning.
    warned = [line for line in done.stderr.decode("utf-8", "replace").splitlines() if "OSV" in line]
    result.unproven += [f"{path}: {line[:300]}" for line in warned]
    looked: set[str] = set()
    for dependency in report["dependencies"]:
        if "skip_reason" in dependency:
            result.unproven.append(f"{path}: {dependency['name']} was skipped: {dependency['skip_reason']}")
            continue
        looked.add(_canonical(dependency["name"]))
        for flaw in dependency["vulns"]:
            ids = {flaw["id"], *flaw.get("aliases", ())}
            if not ids & set(options.accept):
                fixed = ", ".join(flaw.get("fix_versions", ())) or "none"
                result.found.append(
                    f"{path}: {dependency['name']} {dependency['version']}: {flaw['id']}, fixed in: {fixed}"
                )
    left = {_canonical(re.split(r"[\[=\s]", pin)[0]) for pin in pins} - looked
    if left:
        result.unproven.append(f"{path}: pip-audit says nothing about {', '.join(sorted(left)[:10])}")
    result.audited.append(f"{path}: {len(looked)} packages looked up by pip-audit")


def _npm(path: str, options: argparse.Namespace, result: _Result) -> None:
    if shutil.which("npm") is None:
        result.unproven.append(f"{path}: npm is not installed")
        return
    argv = ["npm", "audit", "--json", "--package-lock-only", "--include=dev", "--include=optional", "--include=peer"]
    argv += [f"--registry={options.npm_registry}"] if options.npm_registry else []
    done = _run_on_copies(argv, path, "package.json")
    report = _json(done.stdout)
    if not isinstance(report, dict) or "vulnerabilities" not in report:
        why = report.get("message") if isinstance(report, dict) else ""
        result.unproven.append(f"{path}: npm audit could not look: {why or _last_line(done.stdout or done.stderr)}")
        return
    total = report.get("metadata", {}).get("dependencies", {}).get("total")
    if not isinstance(total, int) or (not total and _lists_packages(path)):
        result.unproven.append(f"{path}: npm audit does not say what it looked at")
        return
    for name, flaw in report["vulnerabilities"].items():
        ids = {str(via.get("url", "")).rpartition("/")[2] for via in flaw["via"] if isinstance(via, dict)}
        is_accepted = bool(ids) and ids <= set(options.accept)
        if flaw["severity"] in _BAD and not is_accepted:
            result.found.append(f"{path}: {name}: {flaw['severity']} {' '.join(sorted(ids))}".rstrip())
    result.audited.append(f"{path}: {total} packages looked up by npm audit")


def _lists_packages(path: str) -> bool:
    """Whether an npm lock file holds any dependency."""
    with open(path, encoding="utf-8") as file:
        lock = json.load(file)
    return bool(lock.get("dependencies") or [name for name in lock.get("packages", {}) if name])


def _cargo(path: str, options: argparse.Namespace, result: _Result) -> None:
    if shutil.which("cargo-audit") is None:
        result.unproven.append(f"{path}: cargo-audit is not installed")
        return
    argv = ["cargo-audit", "audit", "--json", "--file", "Cargo.lock"]
    done = _run_on_copies([*argv, *(("--url", options.cargo_db) if options.cargo_db else ())], path)
    report = _json(done.stdout)
    if not isinstance(report, dict) or "vulnerabilities" not in report:
        result.unproven.append(f"{path}: cargo audit could not look: {_last_line(done.stderr)}")
        return
    settings, known = report["settings"], report["database"]["advisory-count"]
    left_out = [name for name in settings["ignore"] if name not in options.accept]
    if left_out or settings.get("severity") or settings.get("target_arch") or settings.get("target_os"):
        result.unproven.append(f"{path}: settings of cargo-audit leave something out: {', '.join(left_out) or 'kinds'}")
    if not known:
        result.unproven.append(f"{path}: cargo audit knew no advisory")
    for flaw in report["vulnerabilities"]["list"]:
        ids = {flaw["advisory"]["id"], *flaw["advisory"].get("aliases", ())}
        if not ids & set(options.accept):
            package = flaw["package"]
            result.found.append(f"{path}: {package['name']} {package['version']}: {flaw['advisory']['id']}")
    count = report["lockfile"]["dependency-count"]
    result.audited.append(f"{path}: {count} packages looked up by cargo audit in {known} advisories")


def _no_scanner(path: str, _options: argparse.Namespace, result: _Result) -> None:
    result.unproven.append(f"{path}: no scanner for this kind of lock file is built in")


def _run(argv: list[str], cwd: str = ".") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(argv, cwd=cwd, capture_output=True, timeout=_TIMEOUT_S, check=False)


def _run_on_copies(argv: list[str], path: str, *beside: str) -> subprocess.CompletedProcess[bytes]:
    """Run a scanner in a folder that holds the lock file, the files beside it that it needs, and nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        for name in (os.path.basename(path), *beside):
            source = os.path.join(os.path.dirname(path), name)
            if os.path.isfile(source) and not os.path.islink(source):
                shutil.copyfile(source, os.path.join(folder, name))
        return _run(argv, cwd=folder)


def _json(data: bytes) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        return None


def _last_line(data: bytes) -> str:
    lines = [line.strip() for line in data.decode("utf-8", "replace").splitlines() if line.strip()]
    return lines[-1][:300] if lines else "it said nothing"


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


_KINDS: dict[str, Callable[[str, argparse.Namespace, _Result], None]] = {
    **dict.fromkeys(("poetry.lock", "uv.lock", "pdm.lock", "pylock.toml"), _packages_of_toml),
    **dict.fromkeys(("package-lock.json", "npm-shrinkwrap.json"), _npm),
    "Cargo.lock": _cargo,
    **dict.fromkeys(("yarn.lock", "pnpm-lock.yaml", "bun.lock", "Gemfile.lock", "go.sum"), _no_scanner),
    **dict.fromkeys(("composer.lock", "Pipfile.lock", "bun.lockb"), _no_scanner),
}


def _tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main())
