"""What an agent can bring about from inside its run, and what it can't: claims, files, requests, words, proof."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.e2e.agent_runs import HONEST, Agents
from tests.unit.effects.host.keeper.keeper_runs import lives, until

IMPLEMENT, VERIFY = HONEST["implement"], HONEST["verify"]


@pytest.mark.requirement("S0.2", "S0.57", "S0.59", "S0.61", "S0.71")
def test_agents_work_in_phases_and_files_decide(agents: Agents) -> None:
    agents.honest()
    task = agents.task()
    done = task.run(expect=0)
    assert task.path_of_moves() == ["shape", "implement", "verify", "review", "done"]
    assert agents.counted() == ["implement 1", "verify 2", "review 3"]
    assert [entry["role"] for entry in task.entries("run_planned")] == ["builder", "judge", "judge"]
    ended = task.entries("run_ended")
    assert [(entry["exit"], entry["how"], entry["claim_by"]) for entry in ended] == [
        ("finished", "exited", "command")
    ] * 3
    assert [entry["by"] for entry in task.entries("moved")] == ["engine", "engine", "agent", "agent", "agent"]
    assert "agent run #1 starts scripted as builder in implement" in done.out
    assert "asked for verify: accepted, if it holds when the run has ended" in done.out
    assert "done: words is in done (3 agent runs" in done.out
    assert task.field("Phase") == "done"
    assert task.last("run_ended")["after"]["counters"]["runs"] == 3
    task.audit()
    again = task.run(expect=0)
    assert (agents.counted()[3:], again.out.splitlines()[0][:5]) == ([], "done:")


@pytest.mark.requirement("S0.58", "S0.64")
def test_prompt_has_phase_limits_files_and_moves_only(agents: Agents) -> None:
    agents.script("implement", f'cat > "$SCRIPTS/stdin"; {IMPLEMENT}')
    task = agents.task()
    task.run("--once", expect=0)
    prompt = (agents.scripts / "stdin").read_text(encoding="utf-8")
    assert prompt == task.prompt(1)
    for words in (
        "You are the builder of task `words`. The task is in state **implement**",
        "## You may\n- edit code, docs and scripts\n- create artifacts",
        "## You must not\n- change the frame",
        f"the task folder: `{task.folder}`",
        "locked now: Objective, Done gate",
        'once a candidate solution exists, write "Candidate done: yes" in STATE.md',
        "### implement -> verify\n`detent move verify`",
        "- `grep -q 'left + right' app.py`",
    ):
        assert words in prompt
    moves = [line.split()[-1] for line in prompt.splitlines() if line.startswith("### ")]
    assert moves == ["verify", "blocked", "needs_user_decision"]


@pytest.mark.requirement("S0.65")
def test_repair_prompt_is_bounded_and_returns_to_verify(agents: Agents) -> None:
    agents.honest(
        verify='section "Failed checks" "the second case"; detent move repair',
        repair='section Repairs "the second case: mended"; detent move verify',
    )
    agents.script("verify", "detent move review", run=4)
    task = agents.task()
    task.run(expect=0)
    assert task.path_of_moves()[2:] == ["verify", "repair", "verify", "review", "done"]
    prompt = task.prompt(3)
    assert "This is a bounded repair" in prompt
    assert "Open-ended implementation is banned here" in prompt
    assert "must go back to verify" in prompt
    task.audit()


# --- claims ---


@pytest.mark.requirement("S0.60", "S0.62")
def test_an_early_claim_is_refused_and_quoted_in_prompts(agents: Agents) -> None:
    early = "detent move done && exit 8; detent move verify && exit 9; echo 'x = 1' >> app.py"
    agents.script("implement", f"set +e; {early}; exit 0")
    task = agents.task()
    task.run("--once", expect=1)
    said = task.output(1)
    assert "implement -> done is forbidden: no skipping proof" in said
    assert 'refused: implement -> verify\n  why:  STATE.md says "Candidate done:' in said
    claims = task.entries("claimed")
    assert [(claim["want"], claim["accepted"]) for claim in claims] == [("done", False), ("verify", False)]
    assert (task.state(), task.last("run_ended")["claim"], task.last("unmoved")["progress"]) == (
        "implement",
        "verify",
        True,
    )
    task.run("--once", expect=1)
    quoted = task.prompt(2).partition("## The last request was refused\n")[2]
    assert quoted.startswith("> implement -> verify\n> - candidate:")
    assert "agent run #1 in this state ended as finished" in quoted
    task.audit()


def test_json_py_in_the_tree_does_not_break_detent_move(agents: Agents) -> None:
    agents.honest()
    agents.script(
        "implement", "echo 'raise SystemExit(9)' | tee json.py signal.py select.py; candidate; detent move verify"
    )
    task = agents.task()
    task.run("--once", expect=0)
    assert [(entry["want"], entry["accepted"]) for entry in task.entries("claimed")] == [("implement_to_verify", True)]


def test_run_started_by_a_git_hook_works_in_its_repository(agents: Agents) -> None:
    """Git tells its hooks where they are by variables, which lead every git that a hook starts to the same place."""
    agents.script(
        "implement",
        "echo new > new.txt; git add new.txt; git rev-parse --absolute-git-dir; git diff --cached --name-only",
    )
    task = agents.task()
    git_dir = task.repo / ".git"
    hook = {"GIT_DIR": str(git_dir), "GIT_INDEX_FILE": str(git_dir / "index"), "GIT_WORK_TREE": str(task.repo)}
    done = task("run", "--once", task.id, cwd=task.repo, environment=hook)
    assert done.code == 0, done
    assert task.output(1).splitlines() == [str(task.tree / ".git"), "new.txt"]


def test_task_has_one_home_from_any_work_tree(agents: Agents, tmp_path: Path) -> None:
    agents.script("implement", 'echo "$DETENT_OUT"; candidate; detent move verify')
    task = agents.task()
    other = tmp_path / "elsewhere"
    agents.make_repo.git(task.repo, "worktree", "add", "--quiet", str(other), "-b", "elsewhere")
    for _ in range(2):  # a run, and the commands of the move after it
        task("run", "--once", task.id, cwd=other)
    home = Path(task.entries("created")[0]["home"])
    assert task.output(1).splitlines()[0] == str(home / "out")
    assert {path.name for path in home.parent.parent.iterdir()} == {home.parent.name, "trusted"}


def test_an_accepted_claim_moves_only_after_the_run_exits(agents: Agents) -> None:
    """The worker does not end by itself: it is given its ten seconds, writes its own review in them, and is ended."""
    here = agents.meeting()
    agents.honest(
        implement='candidate; detent move verify; review PASS; sed -i "s/^Phase:.*/Phase: done/" '
        '"$DETENT_TASK_DIR/STATE.md"; meet here; sleep 1000',
        review="count; detent move done || true",
    )
    task = agents.task()
    driving = agents.begin("run", task.id, cwd=task.repo)
    _, pid = here.reached()
    assert task.last("claimed")["accepted"] is True
    assert (task.state(), task.field("Phase")) == ("implement", "done")
    assert task.json("status", task.id, cwd=task.repo)["state"] == "implement"
    here.go()
    done = driving.done()
    assert done.code == 6, done
    assert not lives(pid)
    first = task.entries("run_ended")[0]
    assert (first["exit"], first["how"], first["claim"]) == ("finished", "claimed", "implement_to_verify")
    # What it wrote ahead is not proof: the review's gates want what was written since the review began.
    assert task.path_of_moves()[2:] == ["verify", "review"]
    assert "is unchanged since review was entered: proof from earlier does not count" in task.output(3)
    task.audit()


@pytest.mark.requirement("S0.61")
def test_changed_state_line_is_a_run_s_only_claim(agents: Agents) -> None:
    agents.honest(implement="candidate; field Phase verify", verify="field Phase review", review="field Phase done")
    task = agents.task()
    done = task.run(expect=6)  # the review wrote nothing down: its claim is refused, and a second idle run ends it
    assert [(entry["claim"], entry["claim_by"]) for entry in task.entries("run_ended")] == [
        ("verify", "file"),
        ("review", "file"),
        ("done", "file"),
        ("done", "file"),
    ]
    assert task.path_of_moves()[2:] == ["verify", "review"]
    assert task.last("refused")["want"] == "done"
    assert task.field("Phase") == "review"
    assert "refused: review -> done" in done.out
    task.audit()


def test_the_last_accepted_claim_counts_and_beats_the_state_line(agents: Agents) -> None:
    agents.script(
        "implement",
        'candidate; field Blockers "no key"; field "Next step" "A) wait"; detent move verify; detent move blocked; '
        "detent move done || true; field Phase needs_user_decision",
    )
    task = agents.task()
    done = task.run(expect=4)
    claims = task.entries("claimed")
    assert [(claim["want"], claim["accepted"]) for claim in claims] == [
        ("implement_to_verify", True),
        ("implement_to_blocked", True),
        ("done", False),
    ]
    ended = task.last("run_ended")
    assert (ended["claim"], ended["claim_by"]) == ("implement_to_blocked", "command")
    assert (task.state(), task.field("Phase")) == ("blocked", "blocked")
    assert "needs a person: words is in blocked" in done.out
    task.audit()


def test_a_claim_whose_commands_fail_after_the_run_is_refused(agents: Agents) -> None:
    agents.honest(implement="echo 'broken' > app.py; candidate; detent move verify")
    task = agents.task()
    task.run(expect=6)
    assert task.last("claimed")["want"] == "verify_to_review"
    assert task.state() == "verify"
    assert [need["gate"] for need in task.last("refused")["missing"]] == ["validation_passed"]
    task.audit()


def test_without_a_word_the_engine_takes_what_is_open(agents: Agents) -> None:
    agents.honest(implement="candidate; detent move")
    agents.script("verify", "true")
    agents.script("review", "review PASS")
    task = agents.task()
    task.run(expect=0)
    assert [(entry["to"], entry["by"]) for entry in task.entries("moved")[2:]] == [
        ("verify", "agent"),
        ("review", "engine"),
        ("done", "engine"),
    ]


# --- requests as files ---

ASK = """
ask() { printf '%s' "$2" > "$DETENT_DROP/.part"; mv "$DETENT_DROP/.part" "$DETENT_DROP/$1.json"; }
answered() { while [ ! -e "$DETENT_DROP/$1.reply.json" ]; do sleep 0.02; done; cat "$DETENT_DROP/$1.reply.json"; }
"""


def test_requests_in_the_drop_folder_are_answered_whatever_they_are(agents: Agents) -> None:
    long = "n" * 250
    agents.script(
        "implement",
        ASK
        + f"""
mkdir "$DETENT_DROP/folder.json"; ln -s /etc/passwd "$DETENT_DROP/link.json"; mkfifo "$DETENT_DROP/pipe.json"
head -c 100000 /dev/zero | tr '\\0' '[' > "$DETENT_DROP/huge.json"; : > "$DETENT_DROP/{long}.json"
for name in 1 2 3 4 5; do ask "$name" 'no json'; done
ask list '[1]'; ask odd '{{"move": 7}}'; ask letter '{{"move": "\\ud800"}}'; ask early '{{"move": "verify"}}'
for name in folder link pipe huge 1 2 3 4 5 list odd letter early; do answered $name; done
candidate; ask later '{{"move": "verify"}}'; answered later
""",
    )
    agents.script("verify", "exit 0")
    task = agents.task()
    task.run("--once", expect=0)
    replies = [json.loads(line) for line in task.output(1).splitlines()]
    assert len(replies) == 14
    assert {reply["error"] for reply in replies[:11]} == {'a request is JSON like {"move": "STATE"}'}
    assert "no state or move" in replies[11]["refusal"]["problem"]
    assert (replies[12]["claimed"], replies[12]["refusal"]["missing"][0]["gate"]) == (False, "candidate")
    assert (replies[13]["claimed"], replies[13]["edge"]) == (True, "implement_to_verify")
    assert task.state() == "verify"
    task.audit()


def test_request_that_earlier_run_left_is_not_word_of_next(agents: Agents) -> None:
    here = agents.meeting()
    agents.honest(
        implement="""candidate; detent move verify; echo '{"move": "blocked"}' > "$DETENT_DROP/.later"
echo '{"move": "review"}' > "$DETENT_DROP/ahead.json" """,
        verify='meet here; ls -A "$DETENT_DROP" > "$SCRIPTS/drop"',
    )
    task = agents.task()
    task("run", "--no-wait", task.id, cwd=task.repo)
    until((task.run_dir(1) / "exit.json").exists)
    driving = agents.begin("run", "--once", task.id, cwd=task.repo)
    here.reached()
    here.go()
    driving.done()
    assert (agents.scripts / "drop").read_text() == ""
    assert task.entries("run_ended")[1]["claim"] == ""


def test_a_removed_drop_folder_does_not_stop_driving(agents: Agents) -> None:
    agents.script("implement", 'rm -rf "$DETENT_DROP"; : > "$DETENT_DROP"; candidate; detent move verify')
    agents.script("verify", 'test -d "$DETENT_DROP"; count')
    task = agents.task()
    task.run("--once", expect=0)
    task.run("--once", expect=0)
    assert agents.counted() == ["verify 2"]


# --- names an agent can't take ---


def test_what_people_hold_is_refused_inside_a_run(agents: Agents) -> None:
    commands = (
        'new phase "more work"',
        'adopt "$DETENT_TASK_DIR" phase',
        "run",
        "run --all --detach",
        "start",
        "stop",
        "respawn",
        "watch --once",
        "resume",
        'answer "take B"',
        'amend --reason "easier"',
        "route --to verify --take",
    )
    tries = "; ".join(
        f"detent {command} > /dev/null 2>> $SCRIPTS/said; echo $? >> $SCRIPTS/codes" for command in commands
    )
    agents.script("implement", f"set +e; {tries}; exit 0")
    task = agents.task()
    task.run("--once", expect=6)
    assert (agents.scripts / "codes").read_text().split() == ["1"] * len(commands)
    said = (agents.scripts / "said").read_text().splitlines()
    assert sum("is for a person, and this is an agent run" in line for line in said) == len(commands)
    kinds = [entry["kind"] for entry in task.entries()]
    assert kinds == ["created", "moved", "moved", "run_planned", "run_ended", "unmoved", "stopped"]


def test_an_agent_speaks_only_for_its_own_task(agents: Agents) -> None:
    agents.script("implement", "set +e; detent move shape other; echo $? > $SCRIPTS/code; exit 0", task="words")
    task = agents.task()
    other = agents.task(task_id="other", repo=task.repo)
    task.run("--once", expect=6)
    assert (agents.scripts / "code").read_text() == "1\n"
    assert other.state() == "intake"
    assert [entry["kind"] for entry in other.entries()] == ["created"]


def test_a_process_that_outlived_its_run_is_not_heard(agents: Agents) -> None:
    agents.script("implement", "candidate; env > $SCRIPTS/environment; exit 0")
    task = agents.task()
    task.run("--once")
    assert task.state() == "verify"
    lines = (agents.scripts / "environment").read_text().splitlines()
    inside = dict(line.split("=", 1) for line in lines if line.startswith("DETENT_"))
    late = task("move", "review", environment=inside)
    assert (late.code, "this agent run is over" in late.err) == (1, True), late
    assert task.state() == "verify"


def test_people_wait_while_a_run_lives_and_can_end_it(agents: Agents) -> None:
    here = agents.meeting()
    agents.script("implement", 'field Objective "something easier"; meet here')
    task = agents.task()
    driving = agents.begin("run", "--once", task.id, cwd=task.repo)
    here.reached()
    before = task.entries()
    text = task.state_file.read_text(encoding="utf-8")
    for words in (
        ("move", "blocked"),
        ("move", "blocked", "--as", "agent"),
        ("answer", "take B"),
        ("prove",),
        ("amend", "--reason", "why not"),
        ("resume", "--reason", "go"),
        ("route", "--to", "verify", "--take"),
        ("doctor", "--repair"),
    ):
        done = task(*words, task.id, cwd=task.repo)
        assert done.code == 1, done
        assert (f"detent stop {task.id}" in done.err) or "neither stopped nor an end" in done.out, done
    assert task.entries() == before
    assert task.state_file.read_text(encoding="utf-8") == text
    here.go()
    driving.done()
    assert task.field("Objective") == "count"


# --- files an agent spoils ---

SPOILS = (
    'rm "$DETENT_TASK_DIR/STATE.md"',
    ': > "$DETENT_TASK_DIR/STATE.md"',
    'head -c 5000 /dev/zero > "$DETENT_TASK_DIR/STATE.md"',
    'cp "$DETENT_TASK_DIR/STATE.md" "$SCRIPTS/mine"; ln -sf "$SCRIPTS/mine" "$DETENT_TASK_DIR/STATE.md"',
    'rm "$DETENT_TASK_DIR/STATE.md"; mkdir "$DETENT_TASK_DIR/STATE.md"',
    'rm "$DETENT_TASK_DIR/history.jsonl"; echo lies > "$DETENT_TASK_DIR/history.jsonl"',
    'sed -i "/^Phase:/d" "$DETENT_TASK_DIR/STATE.md"',
    "{ printf 'Phase: '; head -c 2000000 /dev/zero | tr '\\0' x; echo; } > $SCRIPTS/long; "
    'grep -v ^Phase: "$DETENT_TASK_DIR/STATE.md" >> $SCRIPTS/long; cat $SCRIPTS/long > "$DETENT_TASK_DIR/STATE.md"',
)


def test_a_damaged_state_file_is_rewritten_and_its_text_kept(agents: Agents) -> None:
    for number, spoil in enumerate(SPOILS, 1):
        agents.script("implement", f"echo '# {number}' >> app.py; {spoil}", run=number)
    agents.script("implement", IMPLEMENT)
    agents.script("verify", "exit 0")
    task = agents.task()
    task.run(expect=6)
    while task.state() == "implement":  # the same refusal three times stops it; a person lets it go on
        assert task("resume", task.id, "--reason", "go on", cwd=task.repo).code == 0
        task.run(expect=6)
    notes = [" ".join(entry["restored"]) for entry in task.entries("run_ended")]
    for note, words in zip(
        notes,
        (
            "STATE.md is missing; written again from the journal",
            "STATE.md is empty; written again",
            "binary data (byte 0); written again",
            "it is a symbolic link; written again",
            "it is not a plain file; written again",
            "",
            'STATE.md had no "Phase:" line; it was put back',
            "",
        ),
        strict=False,
    ):
        assert words in note, (words, note)
    assert all("what stood there is now" in note for note in notes[1:5])
    assert (task.folder / "STATE.md.broken-1").read_bytes() == b""
    assert (task.folder / "STATE.md.broken-2").read_bytes() == bytes(5000)
    assert (task.folder / "STATE.md.broken-3").is_symlink()
    assert (task.folder / "STATE.md.broken-4").is_dir()
    assert "xxx" in task.entries("refused")[-1]["want"]
    assert task.path_of_moves()[2:3] == ["verify"]
    assert task.field("Objective") == "count"
    (found,) = task("audit", task.id, "--json", cwd=task.repo).json()["findings"]
    assert (found["warning"], "line 1 of history.jsonl is not from the engine" in found["what"]) == (False, True)


def test_a_task_folder_that_was_deleted_comes_back(agents: Agents) -> None:
    agents.script("implement", 'rm -rf "$DETENT_TASK_DIR"; echo "x = 1" >> app.py')
    task = agents.task()
    done = task.run("--once")
    assert done.code == 0, done
    assert "STATE.md is missing; written again" in task.last("run_ended")["restored"][0]
    assert (task.state(), task.field("Phase"), task.field("Objective")) == ("implement", "implement", "count")
    assert task("status").code == 0
    task.audit()


def test_locked_and_owned_fields_are_put_back_and_quoted(agents: Agents) -> None:
    agents.script(
        "implement",
        'field Objective "something easier"; field "Validator status" pass; field "Last updated" never; '
        'field "Current result" "half of it"',
    )
    task = agents.task()
    task.run("--once", expect=0)
    assert (task.field("Objective"), task.field("Validator status")) == ("count", "pending")
    assert task.field("Current result") == "half of it"
    restored = task.last("run_ended")["restored"]
    assert restored == [
        'STATE.md: "Validator status" is written by the engine and was put back',
        'STATE.md: "Objective" is locked in implement and was put back',
    ]
    assert "something easier" in (task.control / "objects" / task.last("run_ended")["kept"]).read_text(encoding="utf-8")
    task.run("--once")
    assert f"> - {restored[1]}" in task.prompt(2)
    task.audit()


def test_what_agent_does_to_control_plane_is_found_by_audit(agents: Agents) -> None:
    """Before the kernel keeps agents out of it this is detected, not prevented; DESIGN law 7."""
    agents.script(
        "implement",
        'cd "$(cat "$DETENT_TASK_DIR/.detent-task")"; sed -i "1s/count/cheat/" journal.jsonl',
    )
    task = agents.task()
    task.run("--once")
    found = task("audit", task.id, "--json", cwd=task.repo)
    assert found.code != 0, found
    assert "line 1 was changed" in str(found.json()["findings"])


def test_a_reading_role_works_in_a_checkout_of_its_own(agents: Agents) -> None:
    agents.honest(verify="count; echo '# better' >> app.py; detent move review")
    task = agents.task()
    task.run(expect=0)
    assert task.state() == "done"
    assert "better" not in (task.tree / "app.py").read_text(encoding="utf-8")


def test_reading_role_that_changes_the_real_tree_is_not_heard(agents: Agents) -> None:
    agents.honest(verify='count; echo \'# better\' >> "$(cat "$SCRIPTS/tree")/app.py"; detent move review')
    task = agents.task()
    (agents.scripts / "tree").write_text(str(task.tree), encoding="utf-8")
    done = task.run("--once")
    done = task.run(expect=6)
    ended = task.last("run_ended")
    assert (ended["access"], ended["tainted"], ended["claim"]) == ("read", ["app.py"], "verify_to_review")
    assert task.state() == "verify"
    assert "its role may only read the repository, and it changed app.py" in task.last("unmoved")["why"]
    assert "no material progress" in done.out
    assert "better" not in (task.tree / "app.py").read_text(encoding="utf-8")
    task.audit()


def test_unheard_words_of_a_run_are_no_proof_later(agents: Agents) -> None:
    agents.honest(review="count; detent move done || true")
    agents.script("review", 'count; review PASS; echo "# sly" >> "$(cat "$SCRIPTS/tree")/app.py"', run=3)
    task = agents.task()
    (agents.scripts / "tree").write_text(str(task.tree), encoding="utf-8")
    task.run(expect=6)
    first, second = task.entries("run_ended")[2:4]
    assert (first["state"], first["tainted"], second["tainted"]) == ("review", ["app.py"], [])
    assert task.state() == "review", "the words of the first reviewer are still there, and count for nobody"
    again = "sed -i 's/^## Gate answers$/&\\nRound: 2/' \"$DETENT_TASK_DIR/EVIDENCE.md\""
    agents.script("review", f"review PASS; {again}; detent move done")
    task("resume", task.id, cwd=task.repo)
    task.run(expect=0)
    assert task.state() == "done"
    task.audit()


def test_what_an_agent_leaves_running_is_ended_with_it(agents: Agents) -> None:
    agents.script("implement", 'setsid sleep 1000 & echo $! > "$SCRIPTS/daemon"; echo "x = 1" >> app.py')
    task = agents.task()
    task.run("--once", expect=0)
    assert not lives(int((agents.scripts / "daemon").read_text()))
    assert (task.last("run_ended")["exit"], task.last("run_ended")["survivors"]) == ("finished", 1)


# --- looking on ---


def test_logs_show_what_run_said_was_told_and_complained_about(agents: Agents) -> None:
    here = agents.meeting()
    agents.script("implement", "printf 'one\\033[2J\\n'; echo wrong >&2; echo 'x = 1' >> app.py", run=1)
    agents.script("implement", "printf 'first \\303'; meet here; printf '\\244\\nlast\\n'", run=2)
    task = agents.task()
    none = task("logs", task.id, cwd=task.repo)
    assert (none.code, "has had no agent run yet" in none.err) == (2, True)
    task.run("--once", expect=0)
    driving = agents.begin("run", "--once", task.id, cwd=task.repo)
    here.reached()
    following = agents.begin("logs", "-f", task.id, cwd=task.repo)
    assert task.json("logs", task.id, cwd=task.repo)["stands"] == "alive"
    assert following.process.stdout is not None
    here.go()
    assert following.done().out == "first ä\nlast\n"
    driving.done()
    assert task("logs", "--run", "1", task.id, cwd=task.repo).out == "one\\x1b[2J\n"
    assert task("logs", "--run", "1", "--errors", task.id, cwd=task.repo).out == "wrong\n"
    assert task("logs", "--run", "1", "--prompt", task.id, cwd=task.repo).out == task.prompt(1)
    shown = task.json("logs", "--run", "1", task.id, cwd=task.repo)
    assert (shown["run"], shown["stands"], os.path.basename(shown["log"])) == (1, "ended", "events")
    for words in (("--run", "3"), ("--run", "0"), ("--run", "x")):
        assert task("logs", *words, task.id, cwd=task.repo).code == 2


def test_history_tells_runs_in_words(agents: Agents) -> None:
    agents.honest(implement=IMPLEMENT)
    agents.script("verify", "exit 3")
    task = agents.task()
    task.run(expect=6)
    output = task("history", task.id, cwd=task.repo).out
    for words in (
        "agent run #1 planned: scripted as builder",
        "agent run #1 asked for verify: accepted",
        "agent run #1 ended as finished (exited)",
        "agent run #2 ended as failed (exited)",
        "an agent run ended as failed and took no move",
    ):
        assert words in output
