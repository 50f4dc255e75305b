"""Forged lines about agent runs are found: each run is planned, asks, ends and is decided exactly once."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from detent.effects.host.access import NONE
from detent.faces.cli.output import move_json
from detent.runner.drive.drive import drive
from detent.runner.drive.mandate import let_drive
from detent.runner.make.begin import NewTask
from detent.runner.make.configure import NewSettings, configure
from detent.runner.make.create import create
from detent.runner.people.people import resume
from detent.store.disk.digest import sha256_of
from detent.store.journal.run_events import ABOUT_RUNS
from detent.words import core as core_words
from detent.words.verify import lines as say
from detent.words.verify import replay as replay_words
from tests.conftest import force_level, trust
from tests.e2e.agent_runs import WORDS
from tests.e2e.phase_task import CHECK, FRAME, PhaseTask
from tests.unit.verify.conftest import Story

Change = Callable[[dict[str, Any]], None]

# Run 1 crashes, run 2 asks too early, run 3 is a good one, run 4 is a judge that changes files it may only read.
AGENT = """
case $DETENT_RUN_NUMBER in
1) exit 3;;
2) detent move verify; echo 'x = 1' >> app.py;;
3) candidate; field Objective "something easier"; detent move verify;;
4) echo 'y = 1' >> "$REAL_TREE/app.py"; detent move review;;
esac
"""


@pytest.fixture(scope="session")
def driven(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Story, Path]]:
    base = tmp_path_factory.mktemp("driven") / "base"
    repository = base / "repo"
    repository.mkdir(parents=True)
    (repository / "app.py").write_text("left + right\n", encoding="utf-8")
    argv = json.dumps(["sh", "-c", WORDS + AGENT])
    settings = f'[agents]\ndefault = "mine"\n[agents.mine]\nargv = {argv}\n[budget.task]\nruns = 4\n'
    settings += '[sandbox]\npass = ["SCRIPTS", "REAL_TREE"]\n'
    (repository / "detent.toml").write_text(settings, encoding="utf-8")
    identity = ("-c", "user.name=Tester", "-c", "user.email=tester@example.invalid")
    for words in (("init", "-q", "--template="), ("add", "--all"), (*identity, "commit", "-q", "-m", "Start")):
        subprocess.run(["git", *words], cwd=repository, check=True)
    environment = {"XDG_STATE_HOME": str(base / "state"), "SCRIPTS": str(base), "REAL_TREE": ""}
    before = {name: os.environ.get(name) for name in environment}
    os.environ.update(environment)
    try:
        trust(repository)
        task = create(
            NewTask("phase", "count", "story", str(repository), str(base / "task"), checks=(CHECK,), by="ann")
        )
        force_level(task.project, NONE)  # where the kernel holds a judge, there is nothing to be found out
        os.environ["REAL_TREE"] = task.tree_path
        PhaseTask(None, repository, base / "task").set(FRAME)  # type: ignore[arg-type]  # only its files are written
        task = let_drive(task, "ann", on=True)
        task = drive(task, lambda _happened: None, move_json).task
        # More budget lets it be resumed; less of it again is what stops it before a fifth run.
        task = resume(configure(task, NewSettings(runs="5"), "ann", "")[0], "ann", "go on").task
        task, _ = configure(task, NewSettings(runs="4"), "ann", "")
        drive(task, lambda _happened: None, move_json)
        spare = base.parent / "spare"
        shutil.copytree(base, spare, symlinks=True)
        yield Story(base, task.project, task.id), spare
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@pytest.fixture
def story(driven: tuple[Story, Path]) -> Iterator[Story]:
    working, spare = driven
    yield working
    shutil.rmtree(working.base)
    shutil.copytree(spare, working.base, symlinks=True)


def test_an_untouched_story_of_runs_is_sound(story: Story) -> None:
    assert [finding for finding in story.audit().findings if not finding.is_warning] == []
    kinds = [entry["kind"] for entry in story.entries()]
    # None of these runs began late or had the words of the task left open to it.
    assert {kind.kind for kind in ABOUT_RUNS} - {"run_void", "retitled"} <= set(kinds)
    assert (kinds.count("run_planned"), kinds.count("run_ended")) == (4, 4)


RAN = {"runs": 1}
REGISTERS = {"Validator status": "pending", "Repair applied": "no", "Revalidation status": "pending"}
STOPPED = "budget: 4.00 of 4 agent runs are used"


def after(**changes: Any) -> Change:
    return lambda entry: entry["after"].update(changes)


def no_crash(entry: dict[str, Any]) -> None:
    """A forgery that changes the exit class in the snapshot too."""
    entry.update(exit="finished", code=0)
    entry["after"].update(exit="finished")


def untainted(entry: dict[str, Any]) -> None:
    entry.update(tainted=False)
    entry["after"].update(exit="finished")


@pytest.mark.parametrize(
    ("kind", "fields", "change", "words"),
    [
        ("run_planned", {"run": 3}, lambda entry: entry.update(run=5), say.run_out_of_order(5, 2)),
        (
            "run_planned",
            {"run": 3},
            lambda entry: entry.update(role="judge"),
            say.wrong_role("implement", "builder", "write", "judge", "write"),
        ),
        (
            "run_planned",
            {"run": 4},
            lambda entry: entry.update(access="write"),
            say.wrong_role("verify", "judge", "read", "judge", "write"),
        ),
        (
            "run_planned",
            {"run": 3},
            lambda entry: entry.update(state="verify"),
            say.task_was_elsewhere("verify", "implement"),
        ),
        ("run_ended", {"run": 1}, lambda entry: entry.update(run=2), say.run_was_not_under_way(2)),
        (
            "run_ended",
            {"run": 1},
            lambda entry: entry.update(exit="quota"),
            replay_words.after_differs("counters", RAN, {}),
        ),
        ("run_ended", {"run": 1}, no_crash, say.other_exit(3, None)),
        ("run_ended", {"run": 1}, after(counters={}), replay_words.after_differs("counters", {}, RAN)),
        (
            "run_ended",
            {"run": 3},
            lambda entry: entry.update(claim="review"),
            say.other_claim("review", "implement_to_verify"),
        ),
        ("run_ended", {"run": 3}, lambda entry: entry.update(kept="0" * 64), replay_words.kept_missing("0" * 64)),
        ("run_ended", {"run": 4}, after(exit="finished"), replay_words.after_differs("exit", "finished", "tainted")),
        (
            "claimed",
            {"run": 2},
            lambda entry: entry.update(accepted=True, to="verify"),
            say.refused_other("", "verify"),
        ),
        ("claimed", {"run": 3}, lambda entry: entry.update(run=1), say.run_was_not_under_way(1)),
        (
            "claimed",
            {"run": 3},
            lambda entry: entry.update({"from": "verify"}),
            replay_words.starts_elsewhere("verify", "implement"),
        ),
        ("unmoved", {"run": 2}, lambda entry: entry.update(run=1), say.run_had_not_ended(1)),
        (
            "unmoved",
            {"run": 2},
            lambda entry: entry.update(progress=False),
            replay_words.after_differs("counters", {"runs": 2, "crashes": 1}, {"runs": 2, "crashes": 1, "idle": 1}),
        ),
        ("unmoved", {"run": 4}, after(registers={}), replay_words.after_differs("registers", {}, REGISTERS)),
        ("crashed", {}, after(counters=RAN), replay_words.after_differs("counters", RAN, {**RAN, "crashes": 1})),
        (
            "stopped",
            {},
            after(registers={}),
            replay_words.after_differs("registers", {}, {**REGISTERS, "stopped": STOPPED}),
        ),
        ("driven", {}, lambda entry: entry.update(by="agent"), replay_words.only_by_person("driven", "agent")),
    ],
)
def test_a_forged_line_about_a_run_is_found(
    story: Story, kind: str, fields: dict[str, Any], change: Change, words: str
) -> None:
    line = story.line_of(kind, **fields)
    story.forge(line, change)
    found = [finding for finding in story.audit().findings if not finding.is_warning]
    assert any(words in finding.what for finding in found), found
    assert found[0].line >= line


def test_a_no_that_was_forged_away_is_named(story: Story) -> None:
    def heard(entry: dict[str, Any]) -> None:
        assert entry["no"] == {"asked": "verify"}
        entry.update(no={})
        del entry["after"]["no"]

    story.forge(story.line_of("run_ended", run=2), heard)
    found = [finding.what for finding in story.audit().findings if finding.line == story.line_of("run_ended", run=2)]
    assert say.refused_other("verify", "") in found


def test_a_move_of_the_engine_after_a_no_is_named(story: Story) -> None:
    def said(entry: dict[str, Any]) -> None:
        entry.update(no={"blockers_open": 'STATE.md, "Blockers: no key"'})
        entry["after"].update(no=entry["no"])

    story.forge(story.line_of("run_ended", run=3), said, witnesses=True)
    moved = story.line_of("moved", to="verify")
    story.forge(moved, lambda entry: entry.update(by="engine"))
    found = [finding.what for finding in story.audit().findings if finding.line == moved]
    no = core_words.run_said_no('STATE.md, "Blockers: no key"')
    assert replay_words.move_not_allowed("implement", "verify", f"no: {no}") in found


def test_taint_that_was_forged_away_does_not_make_run_good(story: Story) -> None:
    line = story.line_of("run_ended", run=4)
    story.forge(line, untainted)
    assert not story.audit().ok


def inserted(story: Story, place: int, *lines: dict[str, Any]) -> None:
    """Put lines before the line `place`, and make numbers and chain good again."""
    entries = story.entries()
    entries[place - 1 : place - 1] = [{"time": entries[place - 1]["time"], **line} for line in lines]
    previous, raws = "0" * 64, []
    for number, entry in enumerate(entries, 1):
        raws.append(json.dumps({**entry, "seq": number, "prev": previous}, separators=(",", ":")).encode())
        previous = sha256_of(raws[-1])
    story.write_raws(raws)
    (story.control / "snapshot.json").unlink()


def test_whatever_is_written_while_a_run_lives_is_found(story: Story) -> None:
    line = story.line_of("run_ended", run=3)
    inserted(story, line, {"kind": "answered", "by": "person", "name": "ann", "answer": "pass"})
    first = story.audit().findings[0]
    assert (first.line, first.kind, first.what) == (line, "run", say.run_was_under_way(3))


def test_a_crash_without_a_run_is_found(story: Story) -> None:
    crash = story.entries()[story.line_of("crashed") - 1]
    line = story.line_of("run_planned", run=1)
    inserted(story, line, {key: value for key, value in crash.items() if key not in ("seq", "prev", "time")})
    assert any(finding.what == say.no_run_had_ended() for finding in story.audit().findings)


def test_a_run_that_asked_for_something_did_begin(story: Story) -> None:
    line = story.line_of("run_ended", run=3)
    inserted(story, line, {"kind": "run_void", "run": 3, "why": "it never began"})
    found = story.audit().findings
    assert any(finding.what == say.run_had_begun(3) for finding in found)
    assert any(finding.what == say.run_was_not_under_way(3) for finding in found)
