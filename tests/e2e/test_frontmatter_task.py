"""A task whose main file has a YAML head, from its first line to a repair, through the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Completed, Detent, MakeRepo

MACHINE = Path(__file__).parents[1] / "data/machines/ticket.toml"


class Ticket:
    def __init__(self, detent: Detent, repository: Path, folder: Path) -> None:
        self.detent = detent
        self.repository = repository
        self.file = folder / "TASK.md"
        made = self("new", str(MACHINE), "Fix: the thing", "--id", "t", "--dir", str(folder), "--in-place")
        assert made.code == 0, made.err

    def __call__(self, *words: str) -> Completed:
        return self.detent(*words, cwd=self.repository)

    def text(self) -> str:
        return self.file.read_bytes().decode()

    def write(self, text: str) -> None:
        self.file.write_bytes(text.encode())

    def state(self) -> str:
        state: str = self("status", "--json").json()["state"]
        return state


@pytest.fixture
def ticket(detent: Detent, repo: MakeRepo, tmp_path: Path) -> Ticket:
    return Ticket(detent, repo(), tmp_path / "ticket")


def test_moves_change_only_their_own_values_in_the_head(ticket: Ticket) -> None:
    first = '---\nstatus: pending\nsummary: "Fix: the thing"\nreview_round: 0\ncrash_count: 0\n---\n'
    assert ticket.text() == first
    mine = (
        first.replace("crash_count: 0\n", "").replace("summary:", "owner: ann  # asks\nsummary:").replace("\n", "\r\n")
    )
    ticket.write(mine + "\r\n## Context\r\nx")
    assert ticket("move", "working").code == 0
    wanted = (
        mine.replace("pending", "working")
        .replace("---\r\n", "crash_count: 0\r\n---\r\n")
        .removeprefix("crash_count: 0\r\n")
    )
    assert ticket.text() == wanted + "\r\n## Context\r\nx"
    assert ticket("audit").code == 0


def test_a_gate_sees_sections_of_the_body_only(ticket: Ticket) -> None:
    ticket("move", "working")
    ticket.write(ticket.text().replace("review_round", "note: |\n  x\n## Handoff\nreview_round"))
    refused = ticket("move", "agent-review", "--json")
    assert refused.code == 1
    assert 'no section "## Handoff"' in refused.json()["refusal"]["missing"][0]["why"]
    ticket.write(ticket.text() + "\n## Handoff\nDONE: all\n")
    assert ticket("move", "agent-review").code == 0
    assert "review_round: 1\n" in ticket.text()


def test_status_written_by_hand_is_a_request_and_is_judged(ticket: Ticket) -> None:
    ticket("move", "working")
    ticket.write(ticket.text().replace("status: working", "status: done"))
    assert ticket("move").code == 1
    assert "status: working\n" in ticket.text()
    ticket.write(ticket.text().replace("crash_count: 0", "crash_count: 1"))
    assert '"crash_count" was changed' in ticket("next").out
    ticket("move")
    assert "crash_count: 0\n" in ticket.text()


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("status: working", "status: wroking", "names no state"),
        ("status: working\n", "", 'has no "status:"'),
        ("status: working", "status: working\nstatus: done", "stands there twice"),
        ('"Fix: the thing"', "Fix: the thing", "no valid YAML"),
        ("crash_count: 0\n---\n", "crash_count: 0\n", "not closed"),
        ("---\nstatus", "status", "does not begin"),
    ],
)
def test_damaged_head_is_shown_and_repaired_and_the_body_stays(ticket: Ticket, old: str, new: str, words: str) -> None:
    ticket("move", "working")
    good = ticket.text() + "\n# The work\n\n## Handoff\nDONE: all\n"
    ticket.write(good.replace(old, new, 1))
    for command in ("status", "next"):
        shown = ticket(command)
        assert words in shown.out
        assert "detent doctor --repair t" in shown.out
    refused = ticket("move", "agent-review")
    assert refused.code == 5
    assert words in refused.err
    assert ticket.state() == "working", "an error is no move"
    assert ticket("doctor", "--repair", "t").code == 0
    head = ticket.text().partition("\n---\n")[0].splitlines()
    assert sorted(head[1:]) == ["crash_count: 0", "review_round: 0", "status: working", 'summary: "Fix: the thing"']
    assert ticket.text().endswith("\n# The work\n\n## Handoff\nDONE: all\n")
    assert ticket.file.with_name("TASK.md.broken-1").read_text() == good.replace(old, new, 1)
    assert ticket("move", "agent-review").code == 0
    assert ticket("audit").code == 0


def test_folder_of_another_tool_is_taken_over_with_its_counters(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    repository, folder = repo(), tmp_path / "theirs"
    folder.mkdir()
    text = "---\nsummary: |\n  Fix\n  it\nstatus: agent-review\nreview_round: 1\n---\n\n## Review\nPASS\n"
    (folder / "TASK.md").write_text(text)
    (folder / "history.jsonl").write_text('{"type":"task.created","timestamp":"2020-01-01"}\n')
    assert detent("adopt", str(folder), str(MACHINE), cwd=repository).code == 0
    assert (folder / "TASK.md").read_text() == text.replace("round: 1\n", "round: 1\ncrash_count: 0\n")
    assert (folder / "history.jsonl").read_text() == '{"type":"task.created","timestamp":"2020-01-01"}\n'
    audited = detent("audit", cwd=repository)
    assert audited.code == 0
    assert "1 line(s) of history.jsonl were there before the task" in audited.out
    shown = detent("status", "--json", cwd=repository).json()
    assert (shown["state"], shown["title"], shown["counters"]["review_round"]) == ("agent-review", "Fix it", 1)
    with (folder / "history.jsonl").open("a") as log:
        log.write('{"type":"status.changed","to":"done"}\n')
    audited = detent("audit", cwd=repository)
    assert (audited.code, "line 2 of history.jsonl is not from the engine" in audited.out) == (1, True)
    (folder / "history.jsonl").write_text('{"type":"task.created","timestamp":"2021-01-01"}\n')
    audited = detent("audit", cwd=repository)
    assert (audited.code, "what was there before the task is gone or was changed" in audited.out) == (1, True)


def test_the_log_speaks_the_words_of_the_machine(ticket: Ticket) -> None:
    ticket("move", "working")
    ticket.write(ticket.text() + "\n## Handoff\nDONE: all\n")
    ticket("move", "--as", "agent")
    log = ticket.file.with_name("history.jsonl")
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [line["type"] for line in lines] == ["task.created", "status.changed", "status.changed"]
    assert list(lines[0]) == ["type", "timestamp", "status", "title"]
    assert (lines[2]["from"], lines[2]["to"], lines[2]["by"]) == ("working", "agent-review", "worker")
    assert ticket("audit").code == 0
    log.write_text(log.read_text().replace('"to": "working"', '"to": "done"'))
    audited = ticket("audit")
    assert audited.code != 0
    assert "history.jsonl does not tell 1 line(s), first 2" in audited.out + audited.err


# --- locks over a field, sections and files ---

CONTEXT = "\n## Context\n\nwhy\n"


@pytest.fixture
def locked(ticket: Ticket) -> Ticket:
    """In working, with everything its lock can hold."""
    folder = ticket.file.parent
    ticket.write(ticket.text() + CONTEXT)
    (folder / "NOTES.md").write_text("# Notes\n\n## Rules\n\nno shortcuts\n")
    (folder / "plan").mkdir()
    (folder / "plan/steps.json").write_text("[1]")
    assert ticket("move", "working").code == 0
    return ticket


def changes(ticket: Ticket) -> dict[str, Path]:
    """Change all that is locked, each in its own way."""
    folder = ticket.file.parent
    text = ticket.text().replace("Fix: the thing", "Fix nothing").replace(CONTEXT, "")
    ticket.write(text + "\n## Handoff\n\nDONE: all\n")
    (folder / "NOTES.md").write_text("# Notes\n\n## Rules\n\nshortcuts\n\n## Mine\n\nx\n")
    (folder / "plan/steps.json").unlink()
    (folder / "plan/more.json").write_text("[2]")
    (folder / "scope.json").write_text("{}")
    return {name: folder / name for name in ("NOTES.md", "plan/steps.json", "plan/more.json", "scope.json")}


def assert_put_back(ticket: Ticket, files: dict[str, Path]) -> None:
    assert ticket.text().count("Fix: the thing") == 1
    assert ticket.text().endswith("\n## Context\n\nwhy\n\n## Handoff\n\nDONE: all\n")
    assert files["NOTES.md"].read_text() == "# Notes\n\n## Rules\n\nno shortcuts\n\n## Mine\n\nx\n"
    assert files["plan/steps.json"].read_text() == "[1]"
    assert not files["plan/more.json"].exists()
    assert not files["scope.json"].exists()


ITEMS = ('TASK.md: "summary"', 'TASK.md: "## Context"', 'NOTES.md: "## Rules"', "plan/", "scope.json")


def test_locked_text_is_restored_and_the_rest_stays(locked: Ticket) -> None:
    files = changes(locked)
    shown = locked("next").out
    for item in ITEMS:
        assert f"{item} was changed, but it is locked in working" in shown
    assert "is locked and was changed" in locked("audit").out
    moved = locked("move", "agent-review")
    assert moved.code == 0
    assert_put_back(locked, files)
    restored = [line for line in locked("history").out.splitlines() if "restored" in line]
    assert len(restored) == 1
    for item in ITEMS:
        assert f"{item} is locked in working and was put back" in restored[0]
    objects = {path.read_text() for path in (locked.repository / ".git/detent/tasks/t/objects").iterdir()}
    assert {"[2]", "{}"} <= objects, "what stood there is kept"
    assert locked("audit").code == 0


def test_a_person_changes_what_is_locked(locked: Ticket) -> None:
    folder = locked.file.parent
    changes(locked)
    amended = locked("amend", "--reason", "new plan")
    assert amended.code == 0
    assert 'summary, TASK.md: "## Context", NOTES.md: "## Rules", plan/, scope.json' in amended.out
    assert "Fix nothing" in locked.text()
    assert "## Context" not in locked.text()
    assert not (folder / "plan/steps.json").exists()
    (folder / "plan/more.json").write_text("[3]")
    assert "proof from earlier does not count" in locked("move", "agent-review").out
    assert (folder / "plan/more.json").read_text() == "[2]"
    assert locked("audit").code == 0


def test_a_lock_reopens_in_its_state_and_locks_current_content(locked: Ticket) -> None:
    folder = locked.file.parent
    locked.write(locked.text() + "\n## Handoff\n\nDONE\n")
    assert locked("move", "agent-review").code == 0
    for verdict in ("FAIL", "FAIL again"):
        locked.write(locked.text() + f"\n## Review\n\n{verdict}\n")
        locked("move")
        if locked.state() == "working":
            locked.write(locked.text() + "\n## Handoff\n\nDONE again\n")
            assert locked("move", "agent-review").code == 0
    assert locked.state() == "stuck"
    files = changes(locked)
    assert "is locked" not in locked("next").out
    assert locked("move", "working").code == 0
    assert "Fix nothing" in locked.text()
    files["plan/more.json"].unlink()
    locked("move", "agent-review")
    assert files["plan/more.json"].read_text() == "[2]"
    assert not (folder / "plan/steps.json").exists()
    assert locked("audit").code == 0


def test_what_would_be_put_back_is_audited(locked: Ticket) -> None:
    objects = locked.repository / ".git/detent/tasks/t/objects"
    (kept,) = [path for path in objects.iterdir() if path.read_text() == "[1]"]
    kept.write_text("[9]")
    audited = locked("audit")
    assert audited.code != 0
    assert "plan/: kept text" in audited.out + audited.err


def test_another_file_that_became_unreadable_gets_its_section_back(locked: Ticket) -> None:
    notes = locked.file.with_name("NOTES.md")
    for how in ("binary", "gone", "folder"):
        notes.unlink()
        if how == "binary":
            notes.write_bytes(b"\0")
        elif how == "folder":
            notes.mkdir()
        assert 'NOTES.md: "## Rules" was changed' in locked("status").out + locked("next").out
        locked("answer", "go on")
        assert notes.read_text() == "## Rules\n\nno shortcuts\n"
    assert locked("audit").code == 0


def test_what_can_not_be_kept_is_not_locked(ticket: Ticket) -> None:
    ticket.file.with_name("scope.json").symlink_to("TASK.md")
    refused = ticket("move", "working")
    assert refused.code == 5
    assert "it is to be locked and can't be kept: not a plain file" in refused.err
    assert ticket.state() == "pending"
