"""The new user: the whole way from `new` to `done`, what every command answers, and every way to name a task."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from detent.faces.cli.table import COMMANDS
from tests.conftest import Detent, MakeRepo, let_out
from tests.e2e.phase_task import FRAME, ID, PhaseTask

At = Callable[[str], PhaseTask]
Shape = Mapping[str, object]

STATES = (
    "intake",
    "shape",
    "implement",
    "verify",
    "review",
    "repair",
    "done",
    "blocked",
    "needs_user_decision",
)


def assert_shape(value: object, shape: Any, where: str = "") -> None:
    """The keys and types of a JSON answer; more keys may follow, none may be missing."""
    match shape:
        case dict() if shape.keys() == {str}:
            assert isinstance(value, dict), where
            for key, inner in value.items():
                assert_shape(inner, shape[str], f"{where}.{key}")
        case dict():
            assert isinstance(value, dict), where
            for key, inner in shape.items():
                assert key in value, f"{where}.{key} is missing"
                assert_shape(value[key], inner, f"{where}.{key}")
        case [inner]:
            assert isinstance(value, list), where
            for number, item in enumerate(value):
                assert_shape(item, inner, f"{where}[{number}]")
        case tuple():
            assert any(_fits(value, allowed, where) for allowed in shape), f"{where} is {value!r}"
        case None:
            assert value is None, f"{where} is {value!r}"
        case _:
            assert type(value) is shape, f"{where} is {value!r}, not {shape}"


def _fits(value: object, shape: Any, where: str) -> bool:
    try:
        assert_shape(value, shape, where)
    except AssertionError:
        return False
    return True


MISSING = {"gate": str, "why": str, "fix": str}
STATUS = {
    "schema": int,
    "id": str,
    "title": str,
    "machine": str,
    "dir": str,
    "workspace": str,
    "state": str,
    "mode": str,
    "counters": {str: int},
    "registers": {str: str},
    "driver": str,
    "waiting_for": str,
    "alive": (None, bool),
    "dead": bool,
    "sandbox": str,
    "usage": {},
}
NEXT = {
    "schema": int,
    "id": str,
    "state": str,
    "edges": [{"name": str, "to": str, "by": [str], "open": bool, "sign_off": bool, "missing": [MISSING]}],
}
MOVE = {
    "schema": int,
    "id": str,
    "moved": bool,
    "claimed": bool,
    "edge": (None, str),
    "from": str,
    "to": str,
    "refusal": (None, {"problem": str, "missing": [MISSING], "allowed": [str]}),
}
PROVE = {
    "schema": int,
    "id": str,
    "tree": str,
    "receipts": [{"gate": str, "command": str, "exit": (None, int), "cached": bool, "log": str}],
}
EXPORT = {
    "name": str,
    "states": [str],
    "initial": str,
    "terminal": [str],
    "transitions": [{"from": str, "to": str, "name": str, "label": str, "by": [str]}],
}


# --- from new to done ---


def test_one_task_from_start_to_done_as_readme_tells_it(cold: Detent, repo: MakeRepo) -> None:
    path = repo()
    words = ("new", "phase", "count the words", "--kind", "chore", "--check", "python3 -m unittest -q")
    made = cold(*words, "--json", cwd=path)
    assert_shape(made.json(), STATUS)
    task = PhaseTask(cold, path, Path(cold("dir", cwd=path).out.strip()), "count-the-words")
    assert task.json("status")["state"] == "intake"
    assert task.json("status")["driver"] == "agent"
    assert {"STATE.md", "EVIDENCE.md", "README.md", "artifacts"} <= {item.name for item in task.folder.iterdir()}
    assert not (task.folder / "TASKS.md").exists()
    refused = task("move", "shape", "--json")
    assert_shape(refused.json(), MOVE)
    assert (refused.code, refused.json()["refusal"]["missing"][0]["gate"]) == (1, "frame_known")
    task.set(FRAME)
    task.move("shape")
    task.move("implement")
    shown = task.json("next")
    assert_shape(shown, NEXT)
    assert [edge["to"] for edge in shown["edges"]] == ["verify", "blocked", "needs_user_decision"]
    task.candidate()
    task.move("verify")
    proven = task("prove", "--json")
    assert_shape(proven.json(), PROVE)
    assert (proven.code, [row["exit"] for row in proven.json()["receipts"]]) == (0, [0])
    assert Path(proven.json()["receipts"][0]["log"]).is_file()
    task.move("review")
    task.review()
    assert task("prove").code == 0
    assert all(edge["open"] for edge in task.json("next")["edges"] if edge["to"] == "done")
    moved = task("move", "done", "--json")
    assert_shape(moved.json(), MOVE)
    assert (moved.json()["moved"], moved.json()["edge"]) == (True, "review_to_done")
    assert task.json("status")["waiting_for"] == ""
    assert [line["to"] for line in task.history() if line["kind"] == "moved"] == [
        "shape",
        "implement",
        "verify",
        "review",
        "done",
    ]
    assert task("audit").code == 0
    assert repo.git(path, "status", "--porcelain") == ""
    assert repo.git(path, "log", "--oneline", "main").count("\n") == 0


@pytest.mark.parametrize("stage", STATES)
def test_every_fix_opens_its_gate_or_names_the_command(at: At, stage: str) -> None:
    """Whatever is closed says why, what to write where, or what to run; nothing is a riddle."""
    task = at(stage)
    shown = task.json("next")
    assert_shape(shown, NEXT)
    assert shown["state"] == stage
    for edge in shown["edges"]:
        assert edge["open"] == (not edge["missing"])
        for need in edge["missing"]:
            assert re.search(r"STATE\.md|EVIDENCE\.md|artifacts/|detent ", need["fix"]), need
    words = task("next").out
    for edge in shown["edges"]:
        assert f"{'open  ' if edge['open'] else 'closed'}  {edge['to']}" in words


def test_following_the_literal_examples_of_the_fixes_leads_to_done(at: At) -> None:
    """A newcomer gets through by pasting the commands of the refusals; texts that only a person knows are invented."""
    task = at("implement")
    task.write("artifacts/result.txt", "seen\n")
    task.set({"Candidate done": "yes", "Evidence location": "artifacts/result.txt"})
    assert all(quoted in task.refused("blocked") for quoted in ('"Blockers: the API key is missing"',))
    assert '"Evidence link: [proof](artifacts/result.txt)"' in task.refused("verify")
    task.set({"Evidence link": "[proof](artifacts/result.txt)"})
    task.move("verify")
    task.move("review")
    said = task.refused("done")
    assert 'a line "Verdict: PASS"' in said
    example = re.search(r'"(- objective matched: [^"]+)"', said)
    assert example
    questions = (
        "objective matched",
        "no fake backend or placeholder shown as real",
        "no half-working feature visible",
        "docs and artifacts consistent",
        "change minimal and sensible",
        "proof can be inspected from files",
    )
    answer = example[1].removeprefix("- objective matched")
    task.section("Gate answers", "\n".join(f"- {question}{answer}" for question in questions))
    task.section("Review", "Verdict: PASS")
    task.move("done")


def test_a_repair_leads_through_verify_again(at: At) -> None:
    task = at("review again")
    registers = task.json("status")["registers"]
    assert (registers["Repair applied"], registers["Revalidation status"]) == ("yes", "pass")
    task.review()
    task.move("done")
    assert (task.field("Repair applied"), task.field("Revalidation status")) == ("yes", "pass")


# --- the JSON contract ---


def test_every_looking_command_answers_in_json(at: At) -> None:
    task = at("verify")
    assert_shape(task.json("status"), STATUS)
    assert_shape(task.json("next"), NEXT)
    assert_shape(task.json("prove"), PROVE)
    assert_shape(task.json("list"), {"schema": int, "tasks": [{"id": str, "machine": str, "state": str, "title": str}]})
    assert_shape(task.json("history"), {"schema": int, "lines": [{"seq": int, "time": str, "kind": str}]})
    assert_shape(task.json("dir"), {"schema": int, "id": str, "dir": str})
    assert_shape(
        task.json("route"), {"schema": int, "id": str, "from": str, "to": str, "route": [{"name": str, "to": str}]}
    )
    assert_shape(
        task.json("audit"), {"schema": int, "ok": bool, "lines": int, "findings": [{"kind": str, "what": str}]}
    )
    assert_shape(task.json("doctor"), {"schema": int, "checks": [{"mark": str, "what": str, "next": str}]})
    assert_shape(task.json("machine", "export", "phase"), EXPORT)
    assert_shape(task.json("machine", "check", "phase"), {"machines": [{"name": str, "ok": bool, "states": int}]})
    assert_shape(task.json("machine", "list"), {"machines": [{"name": str, "states": int, "edges": int}]})
    assert_shape(task.json("move", "flying"), MOVE)


@pytest.mark.parametrize(
    "verb", [("answer", "take A"), ("resume", "--reason", "the key came")], ids=lambda verb: verb[0]
)
def test_people_answer_with_a_move(at: At, verb: tuple[str, ...]) -> None:
    task = at("blocked")
    assert task.json("status")["waiting_for"] == "a person"
    assert_shape(task.json(*verb), MOVE)
    assert task.state() == "implement"


def test_looking_never_writes(at: At) -> None:
    task = at("verify")
    task.set({"Validator status": "pass", "Phase": "review"})

    def everything() -> dict[str, tuple[int, bytes]]:
        top = task.repo.parent
        return {
            str(path.relative_to(top)): (path.stat().st_mtime_ns, path.read_bytes())
            for path in sorted(top.rglob("*"))
            if path.is_file()
        }

    before = everything()
    for words in (("status",), ("next",), ("list",), ("history",), ("route",), ("dir",), (), ("doctor",)):
        assert task(*words, cwd=task.folder).code == 0
    assert everything() == before


# --- how a task is named ---


def test_every_way_to_name_a_task(at: At) -> None:
    task = at("implement")
    inside = task.folder / "artifacts"
    elsewhere = task.repo.parent
    for words, cwd in (
        ((ID,), task.repo),
        (("wo",), task.repo),
        ((str(task.folder),), elsewhere),
        (("task",), elsewhere),
        ((), task.folder),
        ((), inside),
        ((), task.repo),
        ((ID, "--repo", str(task.repo)), elsewhere),
        (("--repo", str(task.repo)), elsewhere),
    ):
        assert task.json("status", *words, cwd=cwd)["id"] == ID, (words, cwd)


def test_task_left_out_is_only_one_or_only_open_one(at: At) -> None:
    task = at("done")
    assert task.json("status", cwd=task.repo)["id"] == ID
    assert task("new", "second", "--id", "second", cwd=task.repo).code == 0
    assert task.json("status", cwd=task.repo)["id"] == "second"
    assert task("new", "third", "--id", "third", cwd=task.repo).code == 0
    ambiguous = task("status", cwd=task.repo)
    assert ambiguous.code == 2
    assert "second, third" in ambiguous.err
    assert task.json("status")["id"] == ID


def test_move_takes_a_state_a_move_or_only_a_task(at: At) -> None:
    task = at("shape")
    assert task("move", "implement", ID, cwd=task.repo).code == 0
    task.candidate()
    assert task("move", "implement_to_verify", cwd=task.repo).code == 0
    assert task("move", "--edge", "verify_to_review", cwd=task.repo).code == 0
    task.review()
    assert task("move", ID, cwd=task.repo).code == 0
    assert task.state() == "done"


@pytest.mark.parametrize("stage", ["implement", "done", "blocked"])
def test_a_move_to_where_it_is_changes_nothing(at: At, stage: str) -> None:
    task = at(stage)
    before = task.history()
    done = task("move", stage, "--json")
    assert_shape(done.json(), MOVE)
    assert (done.code, done.json()["moved"], done.json()["refusal"]) == (0, False, None)
    assert task.history() == before


def test_a_move_without_a_target_takes_the_first_open_one(at: At) -> None:
    task = at("verify")
    assert task.json("move")["to"] == "review"
    task.section("Failed checks", "one")
    task.review("FAIL")
    assert task.json("move")["to"] == "repair"


# --- route ---


def test_route_shows_the_shortest_way_and_takes_what_is_open(at: At) -> None:
    task = at("shape")
    route = task.json("route", "--to", "review")
    assert [step["to"] for step in route["route"]] == ["implement", "verify", "review"]
    assert route["route"][1]["gates"] == ["candidate", "evidence_fresh", "evidence_linked", "fields_present"]
    assert task("route", "--to", "verify", "--take", "--json").code == 1
    assert task.state() == "implement"
    task.candidate()
    taken = task("route", "--to", "review", "--take", "--json")
    assert (taken.code, taken.json()["to"]) == (0, "review")


def test_no_route_leads_back_to_the_beginning(at: At) -> None:
    task = at("verify")
    assert task("route", "--to", "intake").code == 1
    assert task("route", "--to", "intake", "--take").code == 2
    assert task.state() == "verify"


# --- bare detent and help ---


def test_a_menu_without_a_choice_says_where_to_look(at: At) -> None:
    shown = at("intake")("choose").out
    assert shown.endswith(f"nothing here is yours to choose; what leads on: detent next {ID}\n")


def test_bare_detent_outside_and_inside_a_project(at: At, tmp_path: Path) -> None:
    task = at("implement")
    outside = task(cwd=tmp_path)
    assert outside.code == 0
    assert "detent demo" in outside.out
    inside = task(cwd=task.repo)
    assert (inside.code, "under way" in inside.out) == (0, False)
    assert f"could go on, but nobody drives it:\n  {ID}  implement" in inside.out
    assert f"\n    detent run {ID}\n" in inside.out
    assert task("start", ID).code == 0
    assert f"under way:\n  {ID}  implement  waits for the agent (builder)" in task(cwd=task.repo).out
    task.set({"Blockers": "no key", "Next step": "A or B"})
    task.move("blocked")
    needs = task(cwd=task.repo).out
    assert needs.startswith("needs you:")
    assert f"detent next {ID}" in needs
    assert task.detent("--json", cwd=task.repo).json()["tasks"][0]["state"] == "blocked"


def test_help_of_every_command_names_every_option(detent: Detent) -> None:
    for command in COMMANDS:
        words = command.name.split()
        shown = detent(*words, "--help")
        assert shown.code == 0, shown
        assert shown.out == detent("help", *words).out
        for named in (*(option.flag for option in command.options), *(argument.name for argument in command.arguments)):
            assert named in shown.out, shown
        assert ("--json" in shown.out) == command.has_json, shown


def test_the_help_lists_every_command_and_exit_code(detent: Detent) -> None:
    for words in (("--help",), ("-h",), ("help",)):
        shown = detent(*words)
        assert shown.code == 0
        assert all(command.name in shown.out for command in COMMANDS)
        assert all(f"{code} " in shown.out for code in (0, 1, 2, 3, 4, 5, 6, 130))


@pytest.mark.parametrize("words", [("machine", "--help"), ("machine", "-h"), ("help", "machine")], ids=" ".join)
def test_the_help_of_a_first_word_lists_what_may_follow(detent: Detent, words: tuple[str, ...]) -> None:
    shown = detent(*words)
    assert (shown.code, shown.err) == (0, "")
    listed = [line.split("  ")[1] for line in shown.out.splitlines() if line.startswith("  ")]
    assert listed == [command.name for command in COMMANDS if command.name.startswith("machine ")]


def test_the_readme_shows_only_options_that_exist() -> None:
    readme = Path(__file__).resolve().parents[2] / "README.md"
    known = {option.flag for command in COMMANDS for option in command.options} | {"--json", "--help"}
    of_others = {"--from", "--silent"}
    shown = set(re.findall(r"(?<!\S)--[a-z][a-z-]*", readme.read_text(encoding="utf-8")))
    assert shown - of_others <= known


def test_the_installed_commands_are_there(at: At) -> None:
    task = at("implement")
    for program in ("detent", "task-phase-init"):
        path = Path(sys.executable).parent / program
        done = subprocess.run(
            [path, "--help"],
            env=task.detent.environment,
            capture_output=True,
            encoding="utf-8",
            timeout=60,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")


# --- the words of the phase document ---


def task_phase_init(detent: Detent, cwd: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [Path(sys.executable).parent / "task-phase-init", *words],
        cwd=cwd,
        env=dict(detent.environment),
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )


def test_task_phase_init_makes_the_files(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    path, folder = repo(), tmp_path / "T-123"
    done = task_phase_init(detent, tmp_path, "--task-dir", folder, "--repo", path, "count the words")
    assert done.returncode == 0, done
    assert {"README.md", "STATE.md", "EVIDENCE.md", "artifacts"} <= {item.name for item in folder.iterdir()}
    shown = detent("status", "--json", cwd=folder).json()
    assert (shown["state"], shown["machine"], shown["workspace"]) == ("intake", "phase", str(path))
    assert task_phase_init(detent, tmp_path, "--task-dir", folder, "--repo", path, "again").returncode == 1
    assert "usage" in task_phase_init(detent, tmp_path).stderr


# --- adopt ---

BY_HAND = """# A task somebody keeps by hand

- **Phase:** {phase}
- Status: going on
- Objective: count the words
- Done gate: the check passes
- Not doing: anything else
- Reality constraints: none known
- Validation plan: cmd: test -f app.py
- User facing: no
- Current result: half
- Next step: A or B
- Blockers: the key is missing
- Evidence location: proof.txt
- Evidence link: [proof](proof.txt)
- Candidate done: yes
- Validator status: fail
- Repair applied: yes
- Revalidation status: pending
- Last updated: long ago
- Mood: cautious

Some words of my own.
"""


@pytest.mark.parametrize("phase", ["done", "blocked", "needs_user_decision"])
def test_an_end_can_not_be_adopted(detent: Detent, repo: MakeRepo, tmp_path: Path, phase: str) -> None:
    folder = tmp_path / "hand-made"
    folder.mkdir()
    (folder / "STATE.md").write_text(f"Phase: {phase}\nValidator status: pass\n", encoding="utf-8")
    made = detent("adopt", folder, "phase", cwd=repo())
    assert (made.code, "nothing here proves how it was reached" in made.err) == (1, True)
    assert sorted(path.name for path in folder.iterdir()) == ["STATE.md"]


@pytest.mark.parametrize("phase", ["intake", "shape", "implement", "verify", "review", "repair"])
def test_adopt_takes_over_a_folder_in_any_phase(detent: Detent, repo: MakeRepo, tmp_path: Path, phase: str) -> None:
    path, folder = repo(), tmp_path / "hand-made"
    folder.mkdir()
    (folder / "STATE.md").write_text(BY_HAND.format(phase=phase), encoding="utf-8")
    (folder / "EVIDENCE.md").write_text(
        "## Failed checks\n\nthe old one\n\n## Repairs\n\nan old one\n\n## Review\n\nVerdict: PASS\n", encoding="utf-8"
    )
    (folder / "proof.txt").write_text("old proof\n", encoding="utf-8")
    made = detent("adopt", folder, "phase", "--json", cwd=path)
    assert_shape(made.json(), STATUS)
    adopted = made.json()
    assert (adopted["id"], adopted["title"], adopted["state"]) == ("hand-made", "count the words", phase)
    # What the engine owns is read once, from here on it is the journal's.
    assert adopted["registers"]["Repair applied"] == "yes"
    assert adopted["registers"]["Validator status"] == "fail"
    text = (folder / "STATE.md").read_text(encoding="utf-8")
    assert "- Mood: cautious\n\nSome words of my own.\n" in text
    task = PhaseTask(detent, path, folder, "hand-made")
    kinds = [line["kind"] for line in task.history()]
    assert kinds == ["adopted"]
    old = {
        "implement": ("verify", "evidence_fresh"),
        "verify": ("repair", "failures_named"),
        "review": ("done", "review_passed"),
        "repair": ("verify", "repair_noted"),
    }
    if phase in old:
        target, gate = old[phase]
        assert "does not count" in task.missing(target)[gate]
    assert task("audit").code == 0


def test_adopt_locks_the_frame_of_a_later_phase(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    path, folder = repo(), tmp_path / "hand-made"
    folder.mkdir()
    (folder / "STATE.md").write_text(BY_HAND.format(phase="verify"), encoding="utf-8")
    task = PhaseTask(detent, path, folder, "hand-made")
    assert task("adopt", folder, "phase", "--id", "hand-made", cwd=path).code == 0
    text = task.state_file.read_text(encoding="utf-8")
    task.state_file.write_text(text.replace("the check passes", "whatever"), encoding="utf-8")
    task.refused("repair")
    assert "Done gate: the check passes" in task.state_file.read_text(encoding="utf-8")


# --- prove and settings ---


def test_prove_keeps_receipts_and_every_attempt_of_a_flaky_command(at: At) -> None:
    task = at("shape")
    counter = task.repo.parent / "attempts"
    let_out(task.repo)
    # Red the first time, green from then on: the kind of command people run until it is green.
    task.set({"Validation plan": f"cmd: echo x >> '{counter}'; test \"$(wc -l < '{counter}')\" -gt 1"})
    task.move("implement")
    task.candidate()
    task.move("verify")
    first = task("prove", "--json")
    assert first.code == 1
    by_command = {row["command"]: row for row in first.json()["receipts"]}
    assert sorted(row["exit"] for row in by_command.values()) == [0, 1]
    assert not any(row["cached"] for row in by_command.values())
    second = task("prove", "--json")
    assert second.code == 1
    assert all(row["cached"] for row in second.json()["receipts"])
    assert "detent prove --again" in task("prove").out
    again = task("prove", "--again", "--json")
    assert again.code == 0
    rerun = [row for row in again.json()["receipts"] if not row["cached"]]
    assert [row["exit"] for row in rerun] == [0]
    logs = {row["log"] for row in by_command.values()} | {row["log"] for row in rerun}
    assert len(logs) == 3
    assert all(Path(log).is_file() for log in logs)
    assert len(counter.read_text(encoding="utf-8").splitlines()) == 2
    task.move("review")


def test_prove_moves_nothing_and_runs_nothing_where_nothing_is_asked(at: At) -> None:
    task = at("implement")
    done = task("prove", "--json")
    assert (done.code, done.json()["receipts"], task.state()) == (0, [], "implement")
    assert "asks for a command" in task("prove").out


def test_several_checks_join_the_plan(detent: Detent, repo: MakeRepo) -> None:
    path = repo()
    options = ("--check", "test -f app.py", "--check", "test -f README.md", "--check", "test 1 = 1 &&\ntest 2 = 2")
    made = detent("new", "count", "--id", "t", *options, "--json", cwd=path)
    task = PhaseTask(detent, path, Path(made.json()["dir"]), "t")
    task.set(FRAME)
    task.move("shape")
    task.move("implement")
    task.candidate()
    task.move("verify")
    commands = [row["command"] for row in task.json("prove")["receipts"]]
    assert commands == ["test -f app.py", "test -f README.md", "test 1 = 1 &&\ntest 2 = 2"]


SETTINGS = """
default_machine = "phase"
[commands]
house = "test -f app.py"
"""


def _to_verify(detent: Detent, path: Path, *options: str) -> PhaseTask:
    made = detent("new", "count", "--id", "t", *options, "--json", cwd=path)
    assert made.code == 0, made
    task = PhaseTask(detent, path, Path(made.json()["dir"]), "t")
    task.set({**FRAME, "Validation plan": "cmd: true"})
    task.move("shape")
    task.move("implement")
    task.candidate()
    task.move("verify")
    return task


def test_commands_of_project_join_every_plan_and_cannot_be_dropped(detent: Detent, repo: MakeRepo) -> None:
    path = repo(files={"app.py": "x = 1\n", "detent.toml": SETTINGS})
    # An uncommitted edit counts for nothing.
    (path / "detent.toml").write_text("[commands]\nhouse = 'true'\n", encoding="utf-8")
    task = _to_verify(detent, path)
    assert {row["command"] for row in task.json("prove")["receipts"]} == {"test -f app.py", "true"}
    (Path(task.json("status")["workspace"]) / "app.py").unlink()
    assert "'test -f app.py' failed on this tree" in task.refused("review")


def test_uncommitted_settings_do_not_count(detent: Detent, repo: MakeRepo) -> None:
    path = repo()
    (path / "detent.toml").write_text("[commands]\nhouse = 'false'\n", encoding="utf-8")
    task = _to_verify(detent, path)
    assert [row["command"] for row in task.json("prove")["receipts"]] == ["true"]


def test_a_failed_set_up_is_neither_red_nor_green(detent: Detent, repo: MakeRepo) -> None:
    settings = "[workspace]\nsetup = ['echo looking for wheels; exit 7']\n"
    task = _to_verify(detent, repo(files={"app.py": "x = 1\n", "detent.toml": settings}))
    done = task("prove", "--json")
    assert done.code == 1
    (receipt,) = done.json()["receipts"]
    assert receipt["exit"] is None
    assert "set-up failed" in receipt["problem"]
    assert "looking for wheels" in Path(receipt["log"]).read_text(encoding="utf-8")
    assert "set-up failed" in task.refused("review")


def test_a_set_up_makes_the_checkout_fit(detent: Detent, repo: MakeRepo) -> None:
    settings = (
        "[commands]\nuse = 'cat made.txt local.env'\n[workspace]\nsetup = ['echo x > made.txt']\ncopy = ['local.env']\n"
    )
    path = repo(files={"app.py": "x = 1\n", "detent.toml": settings, ".gitignore": "*.env\n"})
    (path / "local.env").write_text("secret\n", encoding="utf-8")
    task = _to_verify(detent, path)
    assert task("prove").code == 0
    assert not (path / "made.txt").exists()


def test_an_option_of_the_settings_opens_its_move(detent: Detent, repo: MakeRepo) -> None:
    plain, early = repo("plain"), repo("early", {"detent.toml": "[machine.phase]\noptions = ['ask-early']\n"})
    for path, code in ((plain, 1), (early, 0)):
        made = detent("new", "count", "--id", "t", "--json", cwd=path)
        task = PhaseTask(detent, path, Path(made.json()["dir"]), "t")
        task.set({"Blockers": "what is meant?", "Next step": "A or B"})
        moved = task("move", "needs_user_decision")
        assert moved.code == code, moved
        assert code == 0 or "the option 'ask-early' would allow it" in moved.out


def test_machine_commands(detent: Detent) -> None:
    relation = Path(__file__).resolve().parents[1] / "data" / "relations" / "000_phase.json"
    assert detent("machine", "check").code == 0
    assert detent("machine", "compare", "phase", relation).out.startswith("equal; relation file: 9 states, 17 moves\n")
    assert "stateDiagram" in detent("machine", "export", "phase", "--format", "mermaid").out
    assert "must not: open-ended implementation" in detent("machine", "show", "phase").out
