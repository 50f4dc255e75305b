"""A task whose main file has a YAML head, from its first line to a repair, through the command line."""

from __future__ import annotations

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


def test_a_new_task_has_a_head_and_moves_change_nothing_but_their_own_values(ticket: Ticket) -> None:
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


def test_a_status_written_by_hand_is_a_request_and_is_judged(ticket: Ticket) -> None:
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
def test_a_spoilt_head_is_shown_and_repaired_and_the_body_stays(ticket: Ticket, old: str, new: str, words: str) -> None:
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


def test_a_folder_of_another_tool_is_taken_over_with_its_counters(
    detent: Detent, repo: MakeRepo, tmp_path: Path
) -> None:
    repository, folder = repo(), tmp_path / "theirs"
    folder.mkdir()
    text = "---\nsummary: |\n  Fix\n  it\nstatus: agent-review\nreview_round: 1\n---\n\n## Review\nPASS\n"
    (folder / "TASK.md").write_text(text)
    assert detent("adopt", str(folder), str(MACHINE), cwd=repository).code == 0
    assert (folder / "TASK.md").read_text() == text.replace("round: 1\n", "round: 1\ncrash_count: 0\n")
    shown = detent("status", "--json", cwd=repository).json()
    assert (shown["state"], shown["title"], shown["counters"]["review_round"]) == ("agent-review", "Fix it", 1)
