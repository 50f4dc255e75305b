"""`detent demo`: one real task in a throw-away repository, with an agent that lies and is caught.

Everything shown is a real command of this CLI on real files, real git and a real agent process, started through the
settings that start every other agent. Nothing is staged but what that agent does (`demo_agent.py`).
"""

from __future__ import annotations

import json
import os
import sys
import tempfile

from detent.errors import UsageError
from detent.faces.cli.output import print_json
from detent.lab.demo.agent import BROKEN
from detent.lab.demo.stage import Stage
from detent.store.disk.atomic import make_folders
from detent.store.journal.events import Answered, Landed, Moved, Resumed, from_line
from detent.store.journal.run_events import Claimed, RunEnded, Unmoved

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from detent.faces.cli.arguments import Arguments

_CHECK = "python3 -m unittest -q"
_TEST = """import unittest

from app import count_words


class CountWords(unittest.TestCase):
    def test_two(self):
        self.assertEqual(count_words("two words"), 2)

    def test_empty(self):
        self.assertEqual(count_words(""), 0)
"""
_SETTINGS = """# Any program is an agent: it is given its prompt by standard input.
[agents]
default = "scripted"

[agents.scripted]
argv = {argv}

# You are the person here, wherever you sit: containers often let no process gain rights.
[human]
allow_no_new_privs = true

# Run when a task needs a person, or is done.
[notify]
command = 'echo "$DETENT_TASK: $DETENT_WHY" >> ../notices.txt'
"""


def demo(arguments: Arguments) -> int:
    keep = arguments.text("--keep")
    if keep and os.path.exists(keep):
        raise UsageError(f"{keep} exists already", next_step="detent demo --keep NEW_FOLDER")
    if keep:
        make_folders(os.path.abspath(keep))
    # The folder stays: what a reader wants to look at afterwards is the page in it.
    root = os.path.abspath(keep) if keep else tempfile.mkdtemp(prefix="detent-demo-")
    stage = Stage(os.path.realpath(root), is_quiet=arguments.has("--json"))
    for scene in _SCENES:
        scene(stage)
    result = _result(stage)
    if arguments.has("--json"):
        print_json(result)
    else:
        stage.tell(_last_words(result))
    return 0


def _set_up(stage: Stage) -> None:
    stage.write("app.py", BROKEN)
    stage.write("test_app.py", _TEST)
    stage.write(".gitignore", "__pycache__/\n")
    argv = json.dumps([sys.executable, "-m", "detent.lab.demo.agent"])  # a TOML list of texts, too
    stage.write("detent.toml", _SETTINGS.format(argv=argv))
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "Count words")):
        stage.quietly("git", *words)
    stage.quietly(sys.executable, "-m", "detent", "trust", "--yes")  # the settings are the demo's own
    stage.tell(
        "Coding agents like to say that they are done. This one is a script that lies on purpose.\n"
        "All the rest is real: the repository, the agent's process, every command and every answer."
    )
    stage.scene("A small program counts words. One of its two tests fails; an agent is to repair that.")
    stage.command(("python3", "-m", "unittest", "-q"), expect=1)


def _make_task(stage: Stage) -> None:
    stage.scene("You say what is to be done, and name the command that must succeed before it counts as done.")
    stage.detent("new", "count no words in an empty text", "--id", "words", "--check", _CHECK)
    stage.scene("The agent begins honestly: it writes down what it will do and what not.")
    stage.detent("run", "words", "--once")
    stage.scene("The next run looks it through and asks for implement. From here on the frame is locked.")
    stage.detent("run", "words", "--once")


def _lies(stage: Stage) -> None:
    stage.scene(
        "Now it lies: it has changed nothing, and asks for done. Refused twice, it calls nothing a candidate, and "
        "gets as far as verify."
    )
    stage.detent("run", "words", "--once")
    stage.scene("There it says that the tests pass. Nobody takes its word: Detent runs them itself, on a fresh copy.")
    stage.detent("run", "words", "--once", expect=1)
    stage.scene("So it swaps the command that must succeed for one that always does.")
    stage.detent("run", "words", "--once", expect=1)
    stage.scene("It gives in, and names the test that fails. That leads to repair, and not to done.")
    stage.detent("run", "words", "--once")


def _cheat(stage: Stage) -> None:
    stage.scene("Now it cheats the tests: its code ends the test process at once, with exit code 0.")
    stage.detent("run", "words", "--once")
    stage.scene(
        "The command is green. But Detent also asks which tests ran and how each ended, and compares them with those "
        "of your first commit. A green exit code without tests is not believed."
    )
    stage.detent("run", "words", "--once", expect=1)
    stage.scene("It admits what it did, and has to repair again.")
    stage.detent("run", "words", "--once")


def _death(stage: Stage) -> None:
    stage.scene("In the middle of the repair the agent is killed (kill -9), with half a line written.")
    stage.detent("run", "words", "--once", expect=1)


def _question(stage: Stage) -> None:
    stage.scene("A new run finds that half line and goes on, until a question comes up that no agent should decide.")
    stage.detent("run", "words", expect=4)
    stage.scene(
        "You are called: by the bell if there is a terminal, and by a command of your own choice. Here that command "
        "writes a file."
    )
    stage.command(("cat", "../notices.txt"))
    stage.detent("inbox")
    folder = stage.quietly(sys.executable, "-m", "detent", "dir", "words")
    question = os.path.relpath(os.path.join(folder, "STATE.md"), stage.repo)
    stage.command(("grep", "-E", "^(Blockers|Next step):", question))
    stage.scene("You answer, and the task goes back to where it was.")
    stage.detent("answer", "A) no words", "words")


def _repair(stage: Stage) -> None:
    stage.scene("The agent finds your answer in its prompt and finishes the repair. Now all must be proven again.")
    stage.detent("run", "words", "--once")
    stage.scene("Detent runs the tests on the repaired files. This time they pass.")
    stage.detent("run", "words", "--once")
    stage.scene(
        "For the review it shows the one it wrote right after its first lie, when there was nothing to look at. "
        "Refused, it writes an honest one."
    )
    stage.detent("run", "words")


def _landing(stage: Stage) -> None:
    stage.scene(
        "So far your own branch was left alone. You bring the work in; the tests pass on the merged files, too."
    )
    stage.detent("land", "words", most=30)
    stage.command(("git", "diff", "--stat", "HEAD^"))
    stage.command(("python3", "-m", "unittest", "-q"))


def _look_back(stage: Stage) -> None:
    stage.scene("What is left: a record, each line sealed with the hash of the line before, and a page to read.")
    stage.detent("audit", "words")
    stage.detent("evidence", "words")


def _result(stage: Stage) -> dict[str, Any]:
    """What came of it, counted in the task's own history."""
    status = json.loads(stage.quietly(sys.executable, "-m", "detent", "status", "words", "--json"))
    history = json.loads(stage.quietly(sys.executable, "-m", "detent", "history", "words", "--json"))["lines"]
    lines = list(map(from_line, history))
    page = json.loads(stage.quietly(sys.executable, "-m", "detent", "evidence", "words", "--json"))["path"]
    ended = [line for line in lines if isinstance(line, RunEnded)]
    unmoved = [line.run for line in lines if isinstance(line, Unmoved)]
    at_once = sum(isinstance(line, Claimed) and not line.accepted for line in lines)
    return {
        "state": status["state"],
        "runs": len(ended),
        "refusals": at_once + sum(bool(line.claim) and line.run in unmoved for line in ended),
        "put_back": [note for line in ended for note in line.restored],
        "killed": sum(line.exit == "killed" for line in ended),
        "landed": [f"{line.commit} on {line.branch}" for line in lines if isinstance(line, Landed)],
        "answers": sum(isinstance(line, (Moved, Answered, Resumed)) and bool(line.answer) for line in lines),
        "page": page,
        "folder": stage.root,
        "scenes": stage.scenes,
    }


def _last_words(result: dict[str, Any]) -> str:
    from shutil import which

    counts = (
        (result["runs"], "agent run", ""),
        (result["refusals"], "request", " refused"),
        (len(result["put_back"]), "edit", " put back"),
        (result["killed"], "run", " killed"),
        (result["answers"], "answer", " of yours"),
    )
    # After `make demo` nothing is installed yet: then the command is named by its place.
    command = "detent" if which("detent") else f"{sys.executable} -m detent"
    counted = ", ".join(f"{number} {word}{'' if number == 1 else 's'}{more}" for number, word, more in counts)
    return (
        f"\n{result['state']} and {'landed' if result['landed'] else 'not landed'}: {counted}.\n"
        f"\nThe page that shows all of it:\n  {result['page']}\n"
        "\nThree things to try:\n"
        "  1. open that page in a browser\n"
        f"  2. cd {result['folder']}/words && {command} history words\n"
        f"  3. in a repository of your own: {command} init\n"
        f"\nSeen enough? rm -r {result['folder']}"
    )


_SCENES = (_set_up, _make_task, _lies, _cheat, _death, _question, _repair, _landing, _look_back)
