"""`detent demo`: one real task in a throw-away repository, moved by hand; gates refuse it on the way, and say why.

Everything shown is a real command of this CLI on real files and real git; nothing is staged but the edits in between.
"""

from __future__ import annotations

import os
import sys
import tempfile

from detent.errors import UsageError
from detent.faces.cli.output import show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from detent.faces.cli.arguments import Arguments

_APP = """def count_words(text):
    return len(text.split(" "))
"""
_FIXED = _APP.replace('split(" ")', "split()")
_TEST = """import unittest

from app import count_words


class CountWords(unittest.TestCase):
    def test_two(self):
        self.assertEqual(count_words("two words"), 2)

    def test_empty(self):
        self.assertEqual(count_words(""), 0)
"""
_ANSWERS = "".join(
    f"- {question}: yes, by demo, artifacts/result.txt\n"
    for question in (
        "objective matched",
        "no fake backend or placeholder shown as real",
        "no half-working feature visible",
        "docs and artifacts consistent",
        "change minimal and sensible",
        "proof can be inspected from files",
    )
)
_TIMEOUT_S = 120


class _Stage:
    """The throw-away repository and what is said about it."""

    def __init__(self, root: str, say: Callable[[str], None]) -> None:
        self.root = root
        self.say = say
        self.repo = os.path.join(root, "words")
        self.task = os.path.join(root, "task")
        self.cwd = self.repo
        self.refusals = 0
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("GIT_", "DETENT_"))}
        identity = {f"GIT_{who}_{what}": "demo" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        self.environment = {**kept, **identity, "XDG_STATE_HOME": os.path.join(root, "state")}

    def run(self, *argv: str, expect: int = 0) -> str:
        from detent.effects.process import run

        finished = run(argv, cwd=self.cwd, env=self.environment, timeout_s=_TIMEOUT_S)
        text = (finished.stdout + finished.stderr).decode("utf-8", "replace")
        if finished.exit != expect:
            raise UsageError(f"the demo expected exit {expect} of {' '.join(argv)}, got {finished.exit}: {text}")
        return text

    def detent(self, *words: str, expect: int = 0) -> None:
        shown = " ".join(f'"{word}"' if " " in word else word for word in words)
        self.say(f"$ detent {shown}")
        text = self.run(sys.executable, "-m", "detent", *words, expect=expect)
        self.refusals += expect
        self.say("".join(f"  {line}\n" for line in text.rstrip().splitlines()))

    def write(self, path: str, text: str) -> None:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def fill(self, name: str, values: Mapping[str, str]) -> None:
        """Edit a task file the way a person or an agent does: replace some text, leave the rest."""
        path = os.path.join(self.task, name)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for old, new in values.items():
            if old not in text:
                raise UsageError(f"the demo's {name} lacks {old!r}")
            text = text.replace(old, new, 1)
        self.write(path, text)


def demo(arguments: Arguments) -> int:
    keep = arguments.text("--keep")
    if keep:
        if os.path.exists(keep):
            raise UsageError(f"{keep} exists already", next_step="detent demo --keep NEW_FOLDER")
        os.makedirs(keep)
        stage = _play(os.path.abspath(keep), arguments)
    else:
        with tempfile.TemporaryDirectory(prefix="detent-demo-") as root:
            stage = _play(root, arguments)
    if arguments.has("--json"):
        show(arguments, {"refusals": stage.refusals, "state": "done"}, "")
    return 0


def _play(root: str, arguments: Arguments) -> _Stage:
    quiet = arguments.has("--json")
    stage = _Stage(root, lambda text: None if quiet else print(text, flush=True))  # a demo talks
    _set_up(stage)
    for scene in (_frame, _claim_too_early, _red_tests, _repair, _review, _look_back):
        scene(stage)
    return stage


def _set_up(stage: _Stage) -> None:
    os.makedirs(stage.repo)
    stage.write(os.path.join(stage.repo, "app.py"), _APP)
    stage.write(os.path.join(stage.repo, "test_app.py"), _TEST)
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "word counter")):
        stage.run("git", *words)
    stage.say("A small repository: app.py counts words, and one of its two tests fails. The task: make it right.\n")
    stage.detent(
        "new",
        "phase",
        "count the words of an empty text",
        "--in-place",
        "--id",
        "words",
        "--check",
        "python3 -m unittest -q",
        "--dir",
        "../task",
    )
    stage.cwd = stage.task
    stage.say("$ cd ../task\n")


def _frame(stage: _Stage) -> None:
    stage.say("First the frame: what is to be done, what not, and how it will be proven.\n")
    stage.fill(
        "STATE.md",
        {
            "Done gate:": "Done gate: both tests pass",
            "Not doing:": "Not doing: other separators than white space",
            "Reality constraints:": "Reality constraints: standard library only",
            "User facing:": "User facing: no",
        },
    )
    stage.detent("move", "shape")
    stage.detent("move", "implement")


def _claim_too_early(stage: _Stage) -> None:
    stage.say("Now somebody claims to be done without having done anything.\n")
    stage.detent("move", "done", expect=1)
    stage.detent("move", "verify", expect=1)
    stage.say("A candidate is claimed, with a file that is to show it. That much opens verify, nothing more.\n")
    stage.write(os.path.join(stage.task, "artifacts", "result.txt"), "looked at app.py, seems fine\n")
    link = "Evidence link: [result](artifacts/result.txt)"
    stage.fill(
        "STATE.md",
        {
            "Candidate done: no": "Candidate done: yes",
            "Evidence location:": "Evidence location: artifacts/result.txt",
            "Evidence link:": link,
        },
    )
    stage.detent("move", "verify")


def _red_tests(stage: _Stage) -> None:
    stage.say(
        "The engine runs the tests itself, in a checkout of exactly this tree. It does not take anybody's word.\n"
    )
    stage.detent("move", "review", expect=1)
    stage.say("Making the plan weaker instead does not help: it is locked since shape was left.\n")
    stage.fill("STATE.md", {"-m unittest -q": "-c pass"})
    stage.detent("move", "review", expect=1)
    stage.fill("EVIDENCE.md", {"## Failed checks\n": "## Failed checks\n\ntest_empty: count_words gives 1, not 0\n"})
    stage.detent("move", "repair")


def _repair(stage: _Stage) -> None:
    stage.say("The bug is fixed. From repair nothing leads to done directly.\n")
    stage.write(os.path.join(stage.repo, "app.py"), _FIXED)
    stage.fill("EVIDENCE.md", {"## Repairs\n": "## Repairs\n\ntest_empty: split() instead of split(' ')\n"})
    stage.detent("move", "done", expect=1)
    stage.detent("move", "verify")
    stage.detent("move", "review")


def _review(stage: _Stage) -> None:
    stage.say("The review is written down, question by question, each with its proof.\n")
    stage.write(os.path.join(stage.task, "artifacts", "result.txt"), "both tests pass; diff: one line of app.py\n")
    stage.fill(
        "EVIDENCE.md",
        {
            "## Gate answers\n": f"## Gate answers\n\n{_ANSWERS}",
            "## Review\n": "## Review\n\nVerdict: PASS\nOne line changed, the failing test passes.\n",
        },
    )
    stage.detent("move", "done")


def _look_back(stage: _Stage) -> None:
    stage.say("What happened, and whether the record of it is sound:\n")
    stage.detent("history")
    stage.detent("audit")
    stage.say(
        f"Done, after {stage.refusals} refusals. Try it on your own repository:\n"
        '  detent new phase "what is to be done" --check "your test command"\n'
        "  detent next          what is missing, and what to do about it\n"
        "  detent --help        everything else"
    )
