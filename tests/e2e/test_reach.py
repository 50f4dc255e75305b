"""What `doctor` says of the tests' word, that a task's proof uses what it found out, and red tests a person accepts."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Completed, Detent, MakeRepo
from tests.e2e.phase_task import FRAME, PhaseTask

COMMAND = f"{sys.executable} -m pytest -q -p no:cacheprovider"
SETTINGS = f'[commands]\ntest = "{COMMAND}"\n\n[proof] # ours\nminutes = 20 # enough\n'
CODE = "def count_words(text):\n    return len(text.split(' '))\n"
FIXED = "def count_words(text):\n    return len(text.split())\n"
TESTS = "from app import count_words\n\n\ndef test_two_words():\n    assert count_words('a b') == 2\n"
RED = "\n\ndef test_no_word():\n    assert count_words('') == 0\n"
MORE = "\n\ndef test_tab():\n    assert count_words('a\\tb') == 2\n"
FILES = {
    "app.py": CODE,
    "conftest.py": "",
    "tests/test_app.py": TESTS,
    ".gitignore": "__pycache__/\n",
    "detent.toml": SETTINGS,
}


def doctor(detent: Detent, path: Path, *words: str) -> Completed:
    return detent("doctor", *words, cwd=path)


def reach(done: Completed) -> dict[str, Any]:
    (found,) = [command for command in done.json()["proof"] if command["name"] == "test"]
    return dict(found)


def test_first_proof_after_doctor_runs_nothing_on_the_baseline(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    top = repo("repo", FILES)
    report = doctor(detent, top)
    assert report.code == 0, report
    assert (
        "test: can reach: proven by a test of the first commit (proven) (pytest, 1 test); planted failures"
        in report.out
    )
    assert f"checking the tests: {COMMAND} (on the first commit, with its code made to raise)\n  took " in report.err
    (top / "detent.toml").write_text(f"{SETTINGS}parallel = true\n", encoding="utf-8")
    repo.git(top, "commit", "-qam", "other settings, same tests")
    task = PhaseTask(detent, top, tmp_path / "task", "words")
    new = detent(
        "new",
        "fix: no words are none",
        "--in-place",
        "--id",
        "words",
        "--check",
        COMMAND,
        "--dir",
        task.folder,
        cwd=top,
    )
    assert "this fix, as guessed from the request, needs: proven by the agent's own test" in new.out
    assert "first proof will tell" not in new.out
    task.set(FRAME)
    task.move("shape")
    task.move("implement")
    (top / "app.py").write_text(FIXED, encoding="utf-8")
    (top / "tests/test_app.py").write_text(TESTS + RED, encoding="utf-8")
    task.candidate()
    task.move("verify")
    first = task.move("review")
    assert "first commit" not in first.err
    assert "running 1 of 1" in first.err


def test_settings_that_change_what_runs_are_tried_again(detent: Detent, repo: MakeRepo) -> None:
    top = repo("repo", FILES)
    assert doctor(detent, top).code == 0
    assert "first commit" not in doctor(detent, top).err
    (top / "detent.toml").write_text(f"{SETTINGS}[sandbox]\npass = ['TZ', 'NEEDED']\n", encoding="utf-8")
    detent("trust", "--yes", cwd=top)
    assert "(on the first commit)" in doctor(detent, top).err


def test_new_says_that_the_first_proof_will_tell(detent: Detent, repo: MakeRepo) -> None:
    top = repo("repo", FILES)
    made = detent("new", "x", "--kind", "fix", "--json", cwd=top)
    assert made.json()["needs"] == {"kind": "fix", "kind_by": "person", "word": "proven_by_own_test", "reach": None}
    assert "the first proof will tell, or: detent doctor" in detent("new", "y", cwd=top).out


def test_command_that_tests_another_copy_is_told(detent: Detent, repo: MakeRepo) -> None:
    first = "import sys\n\nsys.path.insert(0, 'made')\n"
    set_up = '[workspace]\nsetup = ["mkdir -p made && cp app.py made/"]\nkey = ["lock.txt"]\n'
    top = repo("repo", {**FILES, "conftest.py": first, "lock.txt": "", "detent.toml": SETTINGS + set_up})
    done = doctor(detent, top)
    assert (
        "note test: can reach: by exit code only (exit_code_only) (pytest, 1 test); this command does not" in done.out
    )
    assert "next: have the tests import the checkout" in done.out
    needs = detent("new", "x", "--json", cwd=top).json()["needs"]
    assert needs["reach"] == "exit_code_only"


def test_command_without_tests_reaches_its_own(detent: Detent, repo: MakeRepo) -> None:
    files = {name: text for name, text in FILES.items() if not name.startswith("tests/")}
    done = doctor(detent, repo("repo", files), "--json")
    found = reach(done)
    assert (found["word"], found["tests"]) == ("proven_by_own_test", 0)


def test_command_without_runner_counts_by_exit_code(detent: Detent, repo: MakeRepo) -> None:
    files = {"app.py": CODE, "detent.toml": "[commands]\ntest = 'true'\n"}
    done = doctor(detent, repo("repo", files), "--json")
    found = reach(done)
    assert (found["word"], found["runner"]) == ("exit_code_only", "")
    assert "[runners.NAME]" in found["next_step"]


def test_two_calls_in_one_command_reach_proven(detent: Detent, repo: MakeRepo) -> None:
    part = {"app.py": CODE, "conftest.py": "", "test_app.py": TESTS}
    files = {f"{name}/{file}": text.replace("app", name) for name in ("a", "b") for file, text in part.items()}
    files = {name.replace("app.py", f"{name[0]}.py"): text for name, text in files.items()}
    line = " && ".join(f"(cd {name} && {COMMAND})" for name in ("a", "b"))
    done = doctor(detent, repo("repo", {**files, "detent.toml": f'[commands]\ntest = "{line}"\n'}), "--json")
    assert (reach(done)["word"], reach(done)["tests"]) == ("proven", 2), done


def test_suite_of_many_parameters_reaches_proven(detent: Detent, repo: MakeRepo) -> None:
    many = "import pytest\n\n\n@pytest.mark.parametrize('number', range(2000))\n"
    many += "def test_many(number):\n    assert number - number == 0\n"
    done = doctor(detent, repo("repo", {**FILES, "tests/test_many.py": many}), "--json")
    assert (reach(done)["word"], reach(done)["tests"]) == ("proven", 2001), done


def test_command_that_hangs_is_tried_once(detent: Detent, repo: MakeRepo) -> None:
    slow = f'[commands]\ntest = "{COMMAND}"\ntimeout_s = 5\n'
    hang = "import time\n\n\ndef test_a():\n    time.sleep(600)\n"
    done = doctor(detent, repo("repo", {**FILES, "tests/test_app.py": hang, "detent.toml": slow}))
    assert done.code == 1, done
    assert "it did not come to its own end" in done.out
    assert "first commit" not in done.err


# ---- red tests -------------------------------------------------------------------------------------------------------


def test_red_tests_are_accepted_by_a_person_and_only_shrink(detent: Detent, repo: MakeRepo) -> None:
    top = repo("repo", {**FILES, "tests/test_app.py": TESTS + RED})
    done = doctor(detent, top)
    assert done.code == 1
    assert "1 test is red on this commit and keeps every task from its end: tests/test_app.py::test_no_word" in done.out
    refused = doctor(detent, top, "--accept-red")
    assert refused.code == 4, refused
    assert (top / "detent.toml").read_text(encoding="utf-8") == SETTINGS
    took = doctor(detent, top, "--accept-red", "--yes")
    assert took.code == 0, took
    head, minutes = SETTINGS.rsplit("\n", 2)[0], "minutes = 20 # enough\n"
    assert (top / "detent.toml").read_text(
        encoding="utf-8"
    ) == f'{head}\nred = ["tests/test_app.py::test_no_word"]\n{minutes}'
    accepted = doctor(detent, top)
    assert accepted.code == 0, accepted
    assert "accepted in [proof] red: tests/test_app.py::test_no_word" in accepted.out
    (top / "tests/test_app.py").write_text(TESTS + RED + MORE, encoding="utf-8")
    (top / "app.py").write_text(CODE.replace("' '", "'  '"), encoding="utf-8")
    repo.git(top, "commit", "-qam", "more red tests")
    more = doctor(detent, top, "--accept-red", "--yes")
    assert more.code == 1, more
    assert "red, but not in the list, which only shrinks:\n  tests/test_app.py::t" in more.out
    assert "test_tab" not in (top / "detent.toml").read_text(encoding="utf-8")
    (top / "app.py").write_text(FIXED, encoding="utf-8")
    repo.git(top, "commit", "-qam", "repaired")
    none = doctor(detent, top, "--accept-red", "--yes")
    assert none.code == 0, none
    assert f"{head}\nred = []\n{minutes}" == (top / "detent.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize("words", [("--accept-red",), ("--accept-red", "--yes")])
def test_agent_run_accepts_no_red_test(detent: Detent, repo: MakeRepo, words: tuple[str, ...]) -> None:
    top = repo("repo", {**FILES, "tests/test_app.py": TESTS + RED})
    refused = detent("doctor", *words, cwd=top, environment={"DETENT_ROLE": "builder"})
    assert refused.code != 0
    assert (top / "detent.toml").read_text(encoding="utf-8") == SETTINGS


def test_task_ends_with_an_accepted_red_test_but_no_skip(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    top = repo("repo", {**FILES, "tests/test_app.py": TESTS + RED})
    assert doctor(detent, top, "--accept-red", "--yes").code == 0
    repo.git(top, "commit", "-qam", "accepted")
    task = PhaseTask(detent, top, tmp_path / "task", "words")
    words = (
        "new",
        "rename it",
        "--kind",
        "chore",
        "--in-place",
        "--id",
        "words",
        "--check",
        COMMAND,
        "--dir",
        task.folder,
    )
    assert detent(*words, cwd=top).code == 0
    task.set(FRAME)
    task.move("shape")
    task.move("implement")
    (top / "app.py").write_text(f"# counts\n{CODE}", encoding="utf-8")
    task.candidate()
    task.move("verify")
    assert task.move("review").code == 0
    skip = "import pytest\n\npytestmark = pytest.mark.skip\n"
    (top / "tests/test_app.py").write_text(skip + TESTS + RED, encoding="utf-8")
    task.review()
    assert task.move("done", expect=None).code != 0
