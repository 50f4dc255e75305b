"""The scan for secrets, as the process the engine starts: what is hidden is found, what can't be read is named."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from hashlib import sha1
from pathlib import Path

import pytest

CLEAN, FOUND, NOT_PROVEN = 0, 1, 3
KEY = "AKIA" + "QWERTYUIOPASDFGH"  # the form of a key, but not a real one
LINE = f"key = '{KEY}'\n"


class Scan:
    """A small repository, and the scanner run in it."""

    def __init__(self, base: Path) -> None:
        self.folder = base / "tree"
        self.folder.mkdir()
        subprocess.run(["git", "init", "--quiet"], cwd=self.folder, check=True)
        self.put("words.py", "def count(text):\n    return len(text.split())\n")

    def put(self, name: str, content: str | bytes) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        return path

    def __call__(self, *options: str, env: Mapping[str, str] | None = None) -> tuple[int, str]:
        subprocess.run(["git", "add", "--all"], cwd=self.folder, check=True)
        argv = [sys.executable, "-I", "-X", "utf8", *options, "-m", "detent.packs.lights_out.secret_scan"]
        done = subprocess.run(argv, cwd=self.folder, capture_output=True, check=False, timeout=60, text=True, env=env)
        return done.returncode, done.stdout + done.stderr


@pytest.fixture
def scan(tmp_path: Path) -> Scan:
    return Scan(tmp_path)


def test_tree_without_secrets_is_clean_and_names_scanned_files(scan: Scan) -> None:
    scan.put("logo.png", b"\x89PNG\r\n\x1a\n\x00\x01\xff\xfe")
    code, output = scan()
    assert code == CLEAN, output
    assert "2 of 2 files scanned" in output
    assert "only the words in them were scanned: logo.png" in output


HIDDEN: Mapping[str, str | bytes] = {
    "settings.py": LINE,
    "said.py": LINE.rstrip() + "  # pragma: allowlist secret\n",
    "above.py": f"# pragma: allowlist nextline secret\n{LINE}",
    "poetry.lock": LINE,
    "swagger.py": LINE,
    "remark.ini": f"[part]\n; {KEY}\na = 1\n",
    "remark.txt": f"[part]\n# {KEY}\na = 1\n",
    "remark.yaml": f"# {KEY}\na: 1\n",
    "image.png": b"\x89PNG\r\n\x1a\n\x00\xff" + KEY.encode(),
    "wide.txt": LINE.encode("utf-16"),
    "wide_without_mark.txt": LINE.encode("utf-16-le"),
    "zero.py": b"a = 1\0\n" + LINE.encode(),
    "new\nline.py": LINE,
    "-rf": LINE,
    "node_modules/x/index.js": LINE,
}


def test_a_secret_is_found_wherever_its_writer_puts_it(scan: Scan) -> None:
    for name, content in HIDDEN.items():
        scan.put(name, content)
    code, output = scan()
    assert code == FOUND, output
    places = {
        line.partition(": ")[0].partition(":")[0] for line in output.splitlines() if line.endswith("AWS Access Key")
    }
    assert places == {ascii(name)[1:-1] for name in HIDDEN}
    assert KEY not in output  # the log is kept, and shown


def test_link_is_scanned_for_what_it_says_and_not_followed(scan: Scan, tmp_path: Path) -> None:
    outside = tmp_path / "outside.py"
    outside.write_text(LINE, encoding="utf-8")
    (scan.folder / "there").symlink_to(outside)
    assert scan()[0] == CLEAN
    (scan.folder / "here").symlink_to(KEY)
    code, output = scan()
    assert (code, "here" in output) == (FOUND, True), output


def test_a_person_lets_one_secret_in_one_file_be(scan: Scan) -> None:
    scan.put("sample.py", LINE)
    digest = sha1(KEY.encode(), usedforsecurity=False).hexdigest()
    known = {"sample.py": [{"type": "AWS Access Key", "hashed_secret": digest}]}
    scan.put(".secrets.baseline", json.dumps({"results": known}))
    assert scan()[0] == CLEAN
    scan.put("other.py", LINE)
    code, output = scan()
    assert code == FOUND
    assert "other.py" in output
    assert "sample.py" not in output


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"results": {"a": [1]}}'])
def test_what_a_person_lets_be_has_to_be_readable(scan: Scan, text: str) -> None:
    scan.put(".secrets.baseline", text)
    code, output = scan()
    assert code == NOT_PROVEN, output
    assert "not proven" in output


def test_file_that_is_too_large_is_named_and_proves_nothing(scan: Scan) -> None:
    with open(scan.put("large.bin", b""), "wb") as file:
        file.truncate(20_000_001)
    code, output = scan()
    assert code == NOT_PROVEN
    assert "not scanned: large.bin" in output


def test_a_file_that_is_gone_proves_nothing(scan: Scan) -> None:
    scan.put("gone.py", LINE)
    scan()
    (scan.folder / "gone.py").unlink()
    done = subprocess.run(
        [sys.executable, "-I", "-m", "detent.packs.lights_out.secret_scan"],
        cwd=scan.folder,
        capture_output=True,
        check=False,
    )
    assert done.returncode == NOT_PROVEN
    assert b"gone.py is gone" in done.stdout


def test_module_of_scanners_name_in_the_project_is_not_run(scan: Scan) -> None:
    scan.put("detect_secrets/__init__.py", "raise SystemExit(0)\n")
    scan.put("detent/__init__.py", "raise SystemExit(0)\n")
    scan.put("a.py", LINE)
    assert scan(env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(scan.folder)})[0] == FOUND


def test_without_the_scanner_nothing_is_proven(scan: Scan) -> None:
    source = Path(__file__).parents[4] / "src"
    hide = f"import sys; sys.modules['detect_secrets'] = None; sys.path.insert(0, {str(source)!r}); "
    run = "import runpy; runpy.run_module('detent.packs.lights_out.secret_scan', run_name='__main__')"
    done = subprocess.run([sys.executable, "-I", "-c", hide + run], cwd=scan.folder, capture_output=True, check=False)
    assert done.returncode == NOT_PROVEN, done
    assert b"detect-secrets is not installed" in done.stdout
