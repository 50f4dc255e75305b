"""The rows of the phase document that need no agent run, each shown through the command line on a real task."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.conftest import Detent, MakeRepo
from tests.e2e.phase_task import ANSWERS, BLOCKED, CHECK, FRAME, QUESTIONS, RESULT, PhaseTask, Stages

At = Callable[[str], PhaseTask]

PHASES = ("intake", "shape", "implement", "verify", "review", "repair", "done", "blocked", "needs_user_decision")
LEADS_TO: Mapping[str, tuple[str, ...]] = {
    "intake": ("shape",),
    "shape": ("implement", "blocked", "needs_user_decision"),
    "implement": ("verify", "blocked", "needs_user_decision"),
    "verify": ("review", "repair", "blocked", "needs_user_decision"),
    "review": ("done", "repair", "needs_user_decision"),
    "repair": ("verify", "blocked", "needs_user_decision"),
    "done": (),
    "blocked": (),
    "needs_user_decision": (),
}
FIELDS = (
    "Phase",
    "Status",
    "Objective",
    "Done gate",
    "Not doing",
    "Reality constraints",
    "Validation plan",
    "Current result",
    "Next step",
    "Blockers",
    "Evidence location",
    "Evidence link",
    "Candidate done",
    "Validator status",
    "Repair applied",
    "Revalidation status",
    "Last updated",
)
LABELS = ("real_working", "real_read_only", "blocked_hidden", "unknown_do_not_show")
FRAME_FIELDS = ("Objective", "Done gate", "Not doing", "Reality constraints", "Validation plan")


@pytest.fixture(scope="module")
def stages(tmp_path_factory: pytest.TempPathFactory) -> Stages:
    return Stages(tmp_path_factory.mktemp("stages"))


@pytest.fixture
def at(stages: Stages) -> At:
    """Puts the module's task into a state; what an earlier test did to it is gone."""
    return stages.at


def test_a_refused_phase_further_on_names_the_way(at: At) -> None:
    refusal = at("intake").refused("review")
    assert "the way is intake -> shape -> implement -> verify -> review; first: detent move shape" in refusal


# --- the task folder ---


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("README.md", marks=pytest.mark.requirement("S0.5")),
        pytest.param("STATE.md", marks=pytest.mark.requirement("S0.6")),
        pytest.param("EVIDENCE.md", marks=pytest.mark.requirement("S0.8")),
        pytest.param("artifacts", marks=pytest.mark.requirement("S0.9")),
    ],
)
def test_a_new_task_folder_holds(at: At, name: str) -> None:
    task = at("intake")
    assert (task.folder / name).is_dir() if name == "artifacts" else (task.folder / name).read_bytes()


@pytest.mark.requirement("S0.7")
def test_tasks_md_is_there_when_it_is_asked_for(at: At) -> None:
    task = at("intake")
    assert not (task.folder / "TASKS.md").exists()
    folder = task.folder.parent / "with-substeps"
    assert task("new", "x", "--id", "sub", "--dir", folder, "--with-tasks", cwd=task.repo).code == 0
    assert (folder / "TASKS.md").is_file()


@pytest.mark.requirement("S0.3")
@pytest.mark.parametrize("phase", PHASES)
def test_the_folder_alone_tells_phase_next_phases_and_evidence(at: At, phase: str) -> None:
    task = at(phase)
    assert task.field("Phase") == phase
    readme = (task.folder / "README.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in readme.splitlines() if line[:1] == "|"]
    needed = {target: needs for sources, target, needs in rows[2:] if phase in sources.split(", ")}
    assert set(needed) == set(LEADS_TO[phase])
    assert all(needed.values())
    if not LEADS_TO[phase]:  # blocked is no kind of done, and a reader sees which it is
        assert ("`done` is final" in readme, "only a\nperson" in readme or "only a person" in readme) == (True, True)


@pytest.mark.requirement("S0.34")
@pytest.mark.parametrize("label", FIELDS)
def test_state_md_has_the_field(at: At, label: str) -> None:
    task = at("shape")
    assert task.field(label) is not None
    lines = task.state_file.read_text(encoding="utf-8").splitlines(keepends=True)
    task.state_file.write_text("".join(line for line in lines if not line.startswith(f"{label}:")), encoding="utf-8")
    done = task("move", "implement")
    if done.code == 1:  # the texts that only the author can write are asked for
        assert f'"{label}:"' in done.out
    else:  # what the engine knows it writes again
        assert task.field(label)


@pytest.mark.requirement("S0.35")
@pytest.mark.parametrize(
    ("label", "allowed"),
    [
        ("Candidate done", ("yes", "no")),
        ("Repair applied", ("yes", "no")),
        ("Validator status", ("pending", "pass", "fail")),
        ("Revalidation status", ("pending", "pass", "fail")),
    ],
)
def test_enumerated_values_are_enforced(at: At, label: str, allowed: tuple[str, ...]) -> None:
    task = at("implement")
    task.candidate()
    assert task.field(label) in allowed
    task.set({label: "perhaps"})
    done = task("move", "verify")
    if done.code == 1:
        assert f'"{label}: perhaps"' in done.out
    assert done.code == (1 if label == "Candidate done" else 0), done
    assert label == "Candidate done" or task.field(label) in allowed


@pytest.mark.requirement("S0.36")
def test_more_fields_are_allowed_and_preserved(at: At) -> None:
    task = at("implement")
    task.candidate()
    text = task.state_file.read_text(encoding="utf-8").replace("\nBlockers:", "\nTicket: T-123\nBlockers:")
    extra = "\n## Notes\n\nOwner: somebody\n"
    task.state_file.write_text(text + extra, encoding="utf-8")
    task.move("verify")
    after = task.state_file.read_text(encoding="utf-8")
    assert "\nTicket: T-123\nBlockers:" in after
    assert after.endswith(extra)


# --- phases ---


@pytest.mark.requirement("S0.10")
def test_there_are_exactly_nine_phases(at: At) -> None:
    assert tuple(at("intake").json("machine", "export", "phase")["states"]) == PHASES


@pytest.mark.requirement("S0.11")
@pytest.mark.parametrize("label", FRAME_FIELDS[:4])
def test_intake_is_left_only_with_enough_of_a_frame(at: At, label: str) -> None:
    task = at("intake")
    task.set({**FRAME, label: ""})
    said = task.refused("shape")
    assert f'"{label}:"' in said
    task.set({label: "something concrete"})
    task.move("shape")


@pytest.mark.requirement("S0.12", "S0.14")
@pytest.mark.parametrize("label", FRAME_FIELDS)
@pytest.mark.parametrize("value", ["", "TBD", "<!-- later -->"])
def test_shape_is_left_only_with_complete_frame_in_state_md(at: At, label: str, value: str) -> None:
    task = at("shape")
    words = task.field(label)
    task.set({label: value})
    text = task.evidence_file.read_text(encoding="utf-8")
    task.evidence_file.write_text(f"{label}: {words}\n\n{text}", encoding="utf-8")  # the wrong file
    said = task.refused("implement")
    assert f'"{label}:"' in said
    assert f"(gate {'plan_runs' if label == 'Validation plan' else 'frame_complete'})" in said
    task.set({label: words})
    task.move("implement")


@pytest.mark.requirement("S0.13")
def test_shape_needs_a_feature_checklist_when_user_facing(at: At) -> None:
    task = at("shape")
    task.set({"User facing": ""})
    assert "neither yes nor no" in task.refused("implement")
    task.set({"User facing": "yes"})
    assert "(gate features_labelled)" in task.refused("implement")
    task.section("Visible features", "- the counter: real_working")
    task.move("implement")


@pytest.mark.requirement("S0.17")
@pytest.mark.parametrize(
    ("missing", "gate"),
    [({"Candidate done": "no"}, "candidate"), ({"Evidence location": ""}, "evidence_fresh")],
    ids=["candidate", "evidence path"],
)
def test_implement_is_left_only_with_candidate_and_evidence_path(at: At, missing: Mapping[str, str], gate: str) -> None:
    task = at("implement")
    task.candidate()
    task.set(missing)
    assert f"(gate {gate})" in task.refused("verify")
    task.candidate()
    task.move("verify")


@pytest.mark.requirement("S0.21")
def test_verify_leads_to_review_only_when_all_gates_pass(at: At) -> None:
    task = at("shape")
    task.set({"Validation plan": f"cmd: {CHECK}"})
    text = task.state_file.read_text(encoding="utf-8")
    task.state_file.write_text(
        text.replace("\nUser facing:", "\n- look at it with your own eyes\nUser facing:"), encoding="utf-8"
    )
    task.move("implement")
    task.candidate()
    task.move("verify")
    good = (task.repo / "app.py").read_bytes()
    (task.repo / "app.py").write_text("broken\n", encoding="utf-8")
    said = task.refused("review")
    assert "(gate manual_evidence)" in said
    assert "(gate validation_passed)" in said
    task.section("Manual evidence", f"Seen on the screen, see {RESULT}")
    assert "(gate manual_evidence)" not in task.refused("review")
    (task.repo / "app.py").write_bytes(good)
    task.move("review")


@pytest.mark.parametrize(
    ("target", "gate"),
    [
        pytest.param("repair", "failures_named", marks=pytest.mark.requirement("S0.22")),
        pytest.param("needs_user_decision", "options_named", marks=pytest.mark.requirement("S0.23")),
        pytest.param("blocked", "blocker_named", marks=pytest.mark.requirement("S0.24")),
    ],
)
def test_verify_has_other_exits(at: At, target: str, gate: str) -> None:
    task = at("verify")
    assert f"(gate {gate})" in task.refused(target)
    if target == "repair":
        task.section("Failed checks", "the second test is red")
    else:
        task.set(BLOCKED)
    task.move(target)


@pytest.mark.requirement("S0.26")
@pytest.mark.parametrize("target", ["done", "repair", "needs_user_decision"])
def test_review_exits(at: At, target: str) -> None:
    task = at("review")
    task.refused(target)
    if target == "done":
        task.review()
    elif target == "repair":
        task.review("FAIL")
        task.section("Failed checks", "a half-working feature is visible")
    else:
        task.set(BLOCKED)
    task.move(target)


@pytest.mark.requirement("S0.29")
@pytest.mark.parametrize("target", ["intake", "shape", "implement", "review", "done"])
def test_repair_goes_back_to_verify(at: At, target: str) -> None:
    task = at("repair")
    task.section("Repairs", "fixed")
    task.review()
    task.refused(target)
    task.set({"Phase": target})
    task.refused()
    task.move("verify")


@pytest.mark.requirement("S0.30")
@pytest.mark.parametrize("phase", PHASES)
def test_only_three_phases_are_terminal(at: At, phase: str) -> None:
    task = at(phase)
    terminal = phase in ("done", "blocked", "needs_user_decision")
    assert (phase in task.json("machine", "export", "phase")["terminal"]) == terminal
    for_agents = [edge for edge in task.json("next")["edges"] if edge["by"] != ["person"]]
    assert bool(for_agents) != terminal


@pytest.mark.requirement("S0.31")
@pytest.mark.parametrize("phase", PHASES)
def test_every_other_transition_is_rejected(at: At, phase: str) -> None:
    task = at(phase)
    for target in PHASES:
        if target == phase:
            continue
        answer = task("move", target, "--as", "agent", "--json")
        refusal = answer.json()["refusal"]
        if target in LEADS_TO[phase] and answer.code == 0:
            task = at(phase)  # it was open: verify -> review needs nothing more here
            continue
        assert answer.code == 1, answer
        assert answer.json()["to"] == phase
        assert bool(refusal["missing"]) == (target in LEADS_TO[phase] or "only person" in str(refusal["missing"]))
    exported = task.json("machine", "export", "phase")["transitions"]
    assert len(exported) == 17
    assert {edge["to"] for edge in exported if edge["from"] == phase} == set(LEADS_TO[phase])


@pytest.mark.requirement("S0.32", "S0.33")
@pytest.mark.parametrize(
    ("phase", "target", "reason"),
    [
        ("implement", "done", "no skipping proof"),
        ("shape", "done", "no skipping proof"),
        ("repair", "done", "no skipping revalidation after a repair"),
        ("verify", "implement", "fixed in repair"),
    ],
)
def test_the_forbidden_transitions_are_rejected_with_their_reason(at: At, phase: str, target: str, reason: str) -> None:
    task = at(phase)
    task.review()
    for said in (task.refused(target), task.refused(target, "--as", "agent")):
        assert f"{phase} -> {target} is forbidden" in said
        assert reason in said
    task.set({"Phase": target})
    assert reason in task.refused()
    assert reason in task.history()[-1]["problem"]


# --- labels and links ---


@pytest.mark.requirement("S0.41")
@pytest.mark.parametrize("label", LABELS)
def test_a_feature_carries_one_known_label(at: At, label: str) -> None:
    task = at("shape")
    task.set({"User facing": "yes"})
    other = LABELS[LABELS.index(label) - 1]
    for line in ("- the counter", f"- the counter: {label}, {other}", f"- the counter: {label}_too", "- x: working"):
        task.section("Visible features", f"- the list: {other}\n{line}")
        assert "(gate features_labelled)" in task.refused("implement"), line
    task.section("Visible features", f"- the list: {other}\n- the counter: {label}")
    task.move("implement")


@pytest.mark.requirement("S0.42")
@pytest.mark.parametrize("file", ["STATE.md", "EVIDENCE.md"])
def test_the_checklist_lives_in_either_file(at: At, file: str) -> None:
    task = at("shape")
    task.set({"User facing": "yes"})
    if file == "EVIDENCE.md":
        task.section("Visible features", "- the counter: real_working")
    else:
        text = task.state_file.read_text(encoding="utf-8")
        task.state_file.write_text(f"{text}\n## Visible features\n\n- the counter: real_working\n", encoding="utf-8")
    task.move("implement")


@pytest.mark.requirement("S0.39")
def test_full_addresses_are_preferred(at: At) -> None:
    task = at("review")
    task.review()
    local = task("next").out
    assert "is a relative link" in local
    task.set({"Evidence link": "https://example.org/tasks/T-123/result.txt"})
    assert "is a relative link" not in task("next").out
    task.move("done")


@pytest.mark.requirement("S0.53")
@pytest.mark.parametrize("name", ["result.txt", "result.md", "screen.png", "export.csv"])
def test_one_artifact_is_linked_directly(at: At, name: str) -> None:
    task = at("review")
    task.review()
    task.set({"Evidence link": f"[proof](artifacts/shown-{name})"})
    assert "(gate evidence_link)" in task.refused("done")
    task.write(f"artifacts/shown-{name}", "what is shown\n")
    task.move("done")


# --- the evidence gates before done ---


@pytest.mark.requirement("S0.25")
@pytest.mark.parametrize("question", QUESTIONS[:5])
def test_review_asks_and_records(at: At, question: str) -> None:
    task = at("review")
    task.review()
    task.section("Gate answers", "\n".join(line for line in ANSWERS.splitlines() if question not in line))
    said = task.refused("done")
    assert (f"{question!r}" in said, "is not answered" in said) == (True, True), said
    task.section("Gate answers", ANSWERS.replace(f"{question}: yes", f"{question}: no"))
    assert "not answered with a clear yes" in task.refused("done")


@pytest.mark.parametrize(
    "question",
    [
        pytest.param("objective matched", marks=pytest.mark.requirement("S0.43")),
        pytest.param("no fake backend or placeholder shown as real", marks=pytest.mark.requirement("S0.47")),
        pytest.param("proof can be inspected from files", marks=pytest.mark.requirement("S0.48")),
    ],
)
def test_done_needs_a_signed_and_proven_answer(at: At, question: str) -> None:
    task = at("review")
    task.review()
    for broken in (
        "",
        f"- {question}: no",
        f"- {question}: yes, {RESULT}",
        f"- {question}: yes, by me, artifacts/none",
    ):
        kept = [line for line in ANSWERS.splitlines() if question not in line]
        task.section("Gate answers", "\n".join((*kept, broken)))
        said = task.refused("done")
        assert "(gate questions_answered)" in said, broken
        assert question in said
    task.review(words="answered in full")
    task.move("done")


@pytest.mark.requirement("S0.44")
def test_done_needs_the_commands_run_on_this_tree(at: At) -> None:
    task = at("review")
    task.review()
    good = (task.repo / "app.py").read_bytes()
    (task.repo / "app.py").write_text("broken\n", encoding="utf-8")
    assert "(gate validation_passed)" in task.refused("done")
    (task.repo / "app.py").write_bytes(good)
    task.move("done")
    moved = [line for line in task.history() if line["kind"] == "moved"][-1]
    assert moved["facts"]["validation_passed"]["ok"]
    assert moved["tree"]


@pytest.mark.requirement("S0.45")
def test_manual_evidence_is_needed_when_the_plan_asks_for_it(at: At) -> None:
    task = at("shape")
    task.set({"Validation plan": f"cmd: {CHECK}\n- open the page and look"})
    task.move("implement")
    task.candidate()
    task.move("verify")
    assert "(gate manual_evidence)" in task.refused("review")
    task.section("Manual evidence", f"opened it, see {RESULT}")
    task.move("review")
    plain = at("verify")
    plain.move("review")


@pytest.mark.requirement("S0.46")
def test_done_needs_truthful_labels(at: At) -> None:
    task = at("review")
    task.review()
    task.section("Visible features", "- the counter: works great")
    assert "(gate features_labelled)" in task.refused("done")
    task.section("Visible features", "- the counter: real_working")
    task.move("done")


@pytest.mark.requirement("S0.49")
def test_done_needs_a_clickable_link(at: At) -> None:
    task = at("review")
    task.review()
    for link in ("", "later", "artifacts/result.txt", "[proof](artifacts/none.txt)"):
        task.set({"Evidence link": link})
        assert "(gate evidence_link)" in task.refused("done"), link
    task.set({"Evidence link": f"[proof]({RESULT})"})
    task.move("done")


@pytest.mark.requirement("S0.51")
def test_a_repository_adds_gates_of_its_own(detent: Detent, repo: MakeRepo) -> None:
    path = repo(files={"app.py": "x = 1\n", "detent.toml": "[commands]\nlint = 'test ! -e app.py'\n"})
    made = detent("new", "count", "--id", "t", "--check", "true", "--json", cwd=path)
    task = PhaseTask(detent, path, Path(made.json()["dir"]), "t")
    task.set(FRAME)
    task.move("shape")
    task.move("implement")
    task.candidate()
    task.move("verify")
    assert "'test ! -e app.py' failed on this tree" in task.refused("review")


# --- a helper of its own ---


@pytest.mark.requirement("S0.52")
def test_nothing_outside_its_own_folders_is_touched(stages: Stages) -> None:
    def others(top: Path) -> dict[str, bytes]:
        ours = (top / "repo" / ".git" / "detent", top / "home" / "state" / "detent", top / "task")
        return {
            str(path.relative_to(top)): path.read_bytes()
            for path in sorted(top.rglob("*"))
            if path.is_file() and not any(path.is_relative_to(folder) for folder in ours)
        }

    top = stages.at("intake").repo.parent
    before = others(top)
    assert before
    stages.at("done")
    assert others(top) == before


@pytest.mark.requirement("S0.69")
def test_task_phase_init_creates_the_files_of_a_task(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    path, folder = repo(), tmp_path / "tasks" / "T-123"
    done = subprocess.run(
        [Path(sys.executable).parent / "task-phase-init", "--task-dir", folder, "--repo", path, "count the words"],
        cwd=tmp_path,
        env=dict(detent.environment),
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done
    assert {"README.md", "STATE.md", "EVIDENCE.md", "artifacts"} <= {item.name for item in folder.iterdir()}
    text = (folder / "STATE.md").read_text(encoding="utf-8")
    assert [label for label in FIELDS if f"\n{label}:" not in text] == []
    assert "\nObjective: count the words\n" in text
    assert detent("status", "--json", cwd=folder).json()["state"] == "intake"


@pytest.mark.requirement("S0.68")
def test_template_transitions_and_gates_are_documented(at: At) -> None:
    task = at("intake")
    text = task.state_file.read_text(encoding="utf-8")
    assert [label for label in FIELDS if f"\n{label}:" not in text] == []
    readme = (task.folder / "README.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in readme.splitlines() if line[:1] == "|"]
    documented = {(source, target) for sources, target, _ in rows[2:] for source in sources.split(", ")}
    assert documented == {(source, target) for source, targets in LEADS_TO.items() for target in targets}
    assert all(needs for _, _, needs in rows[2:])
    shown = task("machine", "show", "phase").out
    gates = {gate for edge in task.json("machine", "show", "phase")["transitions"] for gate in edge.get("gates", ())}
    assert all(gate in shown for gate in gates)
    assert shown.count("-> ") >= 17


@pytest.mark.requirement("S0.72")
def test_a_task_is_its_folder(at: At, tmp_path: Path) -> None:
    task = at("implement")
    second = tmp_path / "second"
    assert task("new", "another", "--id", "second", "--dir", second, cwd=task.repo).code == 0
    assert task.json("status", cwd=task.folder)["id"] == task.id
    assert task.json("status", cwd=second)["id"] == "second"
    task.candidate()
    assert task("move", "verify", cwd=task.folder).code == 0
    assert task.json("status", cwd=second)["state"] == "intake"
    assert json.loads((second / "history.jsonl").read_text(encoding="utf-8").splitlines()[0])["to"] == "intake"


@pytest.mark.requirement("S0.74")
@pytest.mark.parametrize("label", FRAME_FIELDS)
@pytest.mark.parametrize("phase", ["implement", "verify", "review", "repair"])
def test_the_frame_is_locked_when_shape_is_left(at: At, label: str, phase: str) -> None:
    task = at(phase)
    before = task.field(label)
    task.set({label: "something easier"})
    task.move("intake", "--as", "agent", expect=1)
    assert task.field(label) == before
    restored = [line for line in task.history() if line["kind"] == "restored"]
    assert f'"{label}" is locked in {phase}' in restored[-1]["why"]
    task.set({label: "something easier"})
    assert task("amend", "--reason", "we know better now", environment={"DETENT_ROLE": "builder"}).code == 1
    assert task("amend", "--reason", "we know better now").code == 0
    assert task.field(label) == "something easier"


@pytest.mark.parametrize("label", FRAME_FIELDS)
def test_the_frame_is_open_in_shape(at: At, label: str) -> None:
    task = at("shape")
    task.set({label: "cmd: true"})
    task.move("implement")
    assert task.field(label) == "cmd: true"
