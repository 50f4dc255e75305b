"""Real agents driven by `detent run` from a new task to its end, by what their own tools leave on disk."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from detent.effects.host.access import BUBBLEWRAP
from detent.effects.host.sandbox import best_level
from tests.agents.dialects import INPUT_TOKENS, OUTPUT_TOKENS, Shell
from tests.agents.driven import CODE, ENGINE_S, FRAMED, HONEST, Doors, Driven, fields, in_state, listing
from tests.agents.scripted_model import Turn
from tests.agents.world import PROGRAMS, can_be_alone

AGENTS = ["claude", "codex", "pi"]
RESUMING = {"claude": " --resume {}", "codex": " resume {} -", "pi": " --session {}"}
INTAKE = in_state("intake")


@pytest.fixture(scope="module")
def alone() -> bool:
    return can_be_alone()


def make(name: str, folder: Path, *, alone: bool) -> Driven:
    if not (PROGRAMS / name).exists():
        pytest.skip(f"{name} is not installed in {PROGRAMS}; make test-agents installs it")
    return Driven(name, (PROGRAMS / name).resolve(), folder, alone=alone)


@pytest.fixture(params=AGENTS)
def driven(request: pytest.FixtureRequest, tmp_path: Path, alone: bool) -> Driven:
    return make(request.param, tmp_path, alone=alone)


@pytest.mark.requirement("S0.75")  # with pi nothing is configured at all
@pytest.mark.requirement("S0.71")
def test_task_goes_to_done_and_nothing_else_is_touched(driven: Driven) -> None:
    before, work = listing(driven.checkout, ".git"), driven.task.git("rev-parse", "HEAD", "refs/heads/main")
    done = driven.run(HONEST)
    assert (done.code, driven.task.state()) == (0, "done"), (done, driven.log(1))
    assert [line["agent"] for line in driven.lines("run_planned")] == [driven.name] * 5
    # What the agent made lies in the clone and on the task's branch; the user's checkout was not even touched.
    assert (driven.task.tree / "greet.py").read_text(encoding="utf-8") == CODE
    assert driven.task.git("show", "phase/t:greet.py") + "\n" == CODE
    assert listing(driven.checkout, ".git") == before
    assert driven.task.git("rev-parse", "HEAD", "refs/heads/main") == work
    assert {path.name for path in driven.folder.iterdir()} == {"bin", "home", "repo", "state"}
    inside = {path.name for path in driven.task.home.iterdir() if path.is_dir()}
    assert inside == {"agents", "bin", "cache", "drop", "look", "out", "reports", "task", "tmp", "tree"}
    # A run's usage stands in its own line, and the sum in the status.
    used = [line["usage"] for line in driven.lines("run_ended")]
    assert [usage["turns"] for usage in used] == [2, 1, 3, 1, 2]
    assert [usage["input_tokens"] for usage in used] == [usage["turns"] * INPUT_TOKENS for usage in used]
    total = driven("status", "t", "--json").json()["usage"]
    assert (total["runs"], total["turns"], total["output_tokens"]) == (5, 9, 9 * OUTPUT_TOKENS)


@pytest.mark.parametrize(
    "lie",
    [
        (Turn("Everything is finished. The task is done."),),
        (Turn("I say so.", (fields({"Phase": "done", "Validator status": "pass"}),)), Turn("The task is done.")),
    ],
    ids=["words", "state file"],
)
def test_a_lie_moves_nothing(driven: Driven, lie: tuple[Turn, ...]) -> None:
    done = driven.run(lie)
    assert done.code == 6, done  # it would only lie again
    assert driven.task.state() == "intake"
    assert (driven.task.field("Phase"), driven.task.field("Validator status")) == ("intake", "pending")
    assert {line["exit"] for line in driven.lines("run_ended")} == {"finished"}
    assert driven.lines("moved") == []


def test_move_is_asked_for_from_inside_and_answered_at_once(driven: Driven) -> None:
    """Where the run is held, also by codex itself, the journal is out of reach: the drop folder carries both ways."""
    script = (
        Turn("Am I there?", (Shell("detent move shape"),)),
        Turn("I write what is missing.", (fields({"Done gate": "g", "Not doing": "n", "Reality constraints": "r"}),)),
        Turn("And now?", (Shell("detent move shape"),)),
        Turn("Good."),
    )
    with driven.model(script) as model:
        done = driven("run", "--once")
    assert driven.task.state() == "shape", (done, driven.log(1))
    assert [line["accepted"] for line in driven.lines("claimed")] == [False, True]
    assert "frame_known" in model.seen[1].last
    (ended,) = driven.lines("run_ended")
    assert (ended["exit"], ended["claim_by"]) == ("finished", "command")
    assert any((driven.task.home / "drop").iterdir()) == (driven.name == "codex" or driven.is_held)


def test_what_people_hold_is_refused_inside(driven: Driven) -> None:
    words = ("resume", "amend --reason x", 'answer "go on"', "run", "new phase another", "stop", "talk")
    script = " ; ".join(f"detent {command}" for command in words)
    with driven.model((Turn("I am a person.", (Shell(script),)), Turn("Well."))) as model:
        driven("run", "--once")
    assert model.seen[1].last.count("is for a person") == len(words), model.seen[1].last
    assert driven("list", "--json").out.count('"id"') == 1


def test_a_killed_agent_goes_on_with_its_session(driven: Driven) -> None:
    script = {
        "ended as killed": (Turn("Never played: that was before."), FRAMED[0], *FRAMED),
        INTAKE: (Turn("I begin.", (Doors.KNOCK,)), Turn(hangs=True)),
    }
    doors = Doors(driven.out)
    with driven.model(script) as model:
        with driven.begin("run", "--once") as first:
            doors.wait()
            assert model.is_hanging.wait(ENGINE_S)
            driven.wait_for_conversation()  # claude writes it some time after its first answer
            os.kill(driven.identity(1)["child_pid"], signal.SIGKILL)
            first.communicate()
        assert first.returncode == 1
        (ended,) = driven.lines("run_ended")
        assert (ended["exit"], ended["signal"]) == ("killed", signal.SIGKILL)
        assert ended["session"]
        driven("run", "--once")
    assert driven.lines("run_planned")[1]["session"] == ended["session"]
    assert RESUMING[driven.name].format(ended["session"]) in driven.command_lines()[1]
    # claude writes an answer of its own where it was broken off.
    assert min(seen.turn for seen in model.seen if "ended as killed" in seen.history) in (1, 2)
    assert driven.task.state() == "shape", driven.log(2)


def test_one_that_was_killed_before_model_said_word_works_again(driven: Driven) -> None:
    """pi and claude know no such session, and must not be asked for it."""
    with driven.model({"ended as killed": FRAMED, INTAKE: (Turn(hangs=True),)}) as model:
        with driven.begin("run", "--once") as first:
            assert model.is_hanging.wait(ENGINE_S)
            os.kill(driven.identity(1)["child_pid"], signal.SIGKILL)
            first.communicate()
        driven("run", "--once")
    assert [line["exit"] for line in driven.lines("run_ended")] == ["killed", "finished"], driven.log(2)
    assert bool(driven.lines("run_planned")[1]["session"]) == (driven.name == "codex")


def test_an_engine_that_died_finds_its_run_again(driven: Driven) -> None:
    script = {INTAKE: (Turn("I begin.", (Doors.KNOCK_AND_WAIT,)), *FRAMED)}
    doors = Doors(driven.out)
    with driven.model(script):
        with driven.begin("run", "--once") as engine:
            doors.wait()
            engine.kill()
        with driven.begin("run", "--once") as second:
            assert second.stdout is not None
            assert "is still under way" in second.stdout.readline()
            doors.let_go_on()
            second.communicate()
    assert len(driven.command_lines()) == len(driven.lines("run_planned")) == len(driven.lines("run_ended")) == 1
    assert driven.task.state() == "shape", driven.log(1)


@pytest.mark.parametrize(("status", "exit_class", "code"), [(401, "failed", 1), (500, "failed", 1), (429, "quota", 6)])
def test_error_of_model_ends_the_run_as_what_it_is(driven: Driven, status: int, exit_class: str, code: int) -> None:
    done = driven.run(
        (Turn(status=status, message="scripted: too many requests" if status == 429 else "scripted: no"),), "--once"
    )
    (ended,) = driven.lines("run_ended")
    assert (ended["exit"], done.code) == (exit_class, code), (done, driven.log(1))
    assert ended["errors"]
    assert bool(ended["wake"]) == (exit_class == "quota")
    assert (driven.task.state(), driven.name != "pi" or ended["code"] == 0) == ("intake", True)  # pi always ends with 0


def test_a_run_stays_inside(driven: Driven) -> None:
    if driven.name != "codex" and best_level(driven.environment).level != BUBBLEWRAP:
        pytest.skip(
            "no bubblewrap here, and Landlock lets a run write to the folder for temporary files, where tests lie"
        )
    paths = [driven.checkout / "a", driven.task.control / "b", driven.home / "c"]
    tries = "; ".join(f"echo x > {path}" for path in paths)
    # In intake a run works in a checkout that is thrown away; that it may write there is told in its out folder.
    allowed = 'echo x > inside && cp inside "$DETENT_OUT/checkout"; echo x > "$DETENT_TASK_DIR/inside"'
    driven.run((Turn("I try.", (Shell(f"{tries}; {allowed}"),)), Turn("Well.")), "--once")
    assert [path for path in paths if path.exists()] == []
    inside = [driven.task.folder / "inside", driven.out / "checkout"]
    assert [path for path in inside if not path.exists()] == [], driven.log(1)
    assert not (driven.task.tree / "inside").exists()
