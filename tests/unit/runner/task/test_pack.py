"""What is imported of a pack is what was read of it, whatever happens to the folder in between."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from detent.runner.task.pack import code_digest
from detent.words.machines import load as load_words
from detent.words.runner import step as step_words
from tests.conftest import Detent, MakeRepo, write_user_settings
from tests.e2e.pack_folder import PackUser, copied

# Reads the pack, lets the folder be exchanged, and only then asks for its check.
SWAPPED = """import os, sys
from detent.gates.registry import check_named
from detent.runner.task.open import find_project
from detent.runner.task.pack import bring_pack
pack = bring_pack(find_project(), "changelog")
assert not any(name.startswith("detent.packs.changelog") for name in sys.modules)
os.rename(pack.folder, pack.folder + ".was")
os.symlink(sys.argv[1], pack.folder)
print(pack.digest, check_named("changelog/noted").__doc__)
"""


def test_code_swapped_after_the_read_does_not_run(tmp_path: Path, clean_environment: dict[str, str]) -> None:
    pack, other = copied(tmp_path / "changelog"), copied(tmp_path / "other")
    (other / "entries.py").write_text("raise SystemExit('swapped')\n", encoding="utf-8")
    write_user_settings(Path(clean_environment["HOME"]), f'[packs]\nfolders = ["{pack}"]\n')
    done = subprocess.run(
        [sys.executable, "-c", SWAPPED, str(other)],
        cwd=tmp_path,
        env=clean_environment,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert (done.returncode, "lists something under `heading`" in done.stdout) == (0, True), done


def test_the_digest_is_about_code_and_schemas(tmp_path: Path) -> None:
    files = {"pack.py": b"1", "schemas/a.json": b"{}", "machine.toml": b"x", "scaffold/NOTE.md": b"y"}
    digest = code_digest(files)
    assert code_digest({**files, "machine.toml": b"", "scaffold/NOTE.md": b""}) == digest
    assert code_digest(dict(reversed(files.items()))) == digest
    for changed in ({"pack.py": b"2"}, {"schemas/a.json": b"[]"}, {"more.py": b""}):
        assert code_digest({**files, **changed}) != digest
    assert code_digest({"pack.py": b"", "a/pack.py": b"1"}) != code_digest({"pack.py": b"1", "a/pack.py": b""})


# Runs code of the pack, then meets a folder that was changed since.
CHANGED = """import sys
from detent.errors import UnreadableError
from detent.gates.registry import check_named
from detent.runner.task.open import find_project
from detent.runner.task.pack import bring_pack
pack = bring_pack(find_project(), "changelog")
check_named("changelog/noted")
with open(f"{pack.folder}/entries.py", "a") as file:
    file.write("# edited\\n")
try:
    bring_pack(find_project(), "changelog")
except UnreadableError as error:
    print(error.what)
"""
# Opens a task; a person takes other code for it, in a process of their own; then the first one wants to write.
OVERTAKEN = """import subprocess, sys
from detent.errors import UnreadableError
from detent.runner.step.changing import changing
from detent.runner.task.open import open_task
task = open_task("t")
with open(sys.argv[1], "a") as file:
    file.write("# edited\\n")
words = [sys.executable, "-m", "detent", "configure", "--pack", "--reason", "edited", "t"]
subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
try:
    with changing(task):
        pass
except UnreadableError as error:
    print(error.what)
"""


def said_by(script: str, folder: Path, environment: dict[str, str], *words: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", script, *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=True,
    )
    return done.stdout


def test_a_process_has_one_version_of_a_pack(tmp_path: Path, clean_environment: dict[str, str]) -> None:
    pack = copied(tmp_path / "changelog")
    write_user_settings(Path(clean_environment["HOME"]), f'[packs]\nfolders = ["{pack}"]\n')
    assert load_words.pack_changed("changelog") in said_by(CHANGED, tmp_path, clean_environment)


def test_a_process_whose_code_was_replaced_writes_nothing(
    tmp_path: Path, clean_environment: dict[str, str], detent: Detent, repo: MakeRepo
) -> None:
    user = PackUser(tmp_path, detent, repo)
    user.new()
    output = said_by(OVERTAKEN, user.path, clean_environment, user.pack / "entries.py")
    assert step_words.pack_changed("changelog") in output
