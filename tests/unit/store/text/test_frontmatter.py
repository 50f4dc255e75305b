"""Tests of the frontmatter codec: what it reads, what it refuses, and that it changes its own values alone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from detent.core.values import Snapshot
from detent.errors import UnreadableError
from detent.machines.load import load
from detent.runner.make.vocabulary import vocabulary
from detent.store.journal.native import Native
from detent.store.journal.places import TaskPlaces
from detent.store.text.codecs import CODECS
from detent.store.text.frontmatter import LARGEST_HEAD_CHARACTERS
from detent.words.store import text as say
from tests.messages import codes_in, message_of

MACHINE = load("tests/data/machines/ticket.toml", vocabulary())[0]
CODEC = CODECS["frontmatter"](MACHINE)
STATES = tuple(MACHINE.states)
BODY = "\n# Title\n\nstatus: done\n---\n## Handoff\ntext  \n\n```\n---\n```\n"
HEAD = "---\nsummary: Fix it\nstatus: working\nreview_round: 1\ncrash_count: 0\n---\n"
TASK = HEAD + BODY


def head(*lines: str) -> str:
    return "---\n" + "".join(f"{line}\n" for line in lines) + "---\n" + BODY


def values(text: str) -> dict[str, str]:
    return {label: field.value for label, field in CODEC.read(text).fields.items()}


# --- reading ---


def test_head_and_body_are_told_apart() -> None:
    content = CODEC.read(TASK)
    assert content.state == "working"
    assert TASK[content.body_start :] == BODY
    assert values(TASK) == {"summary": "Fix it", "status": "working", "review_round": "1", "crash_count": "0"}


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("summary: two words", "two words"),
        ("summary:   spaced   ", "spaced"),
        ("summary: a # comment", "a"),
        ("summary: a#b", "a#b"),
        ("summary: see http://host/x", "see http://host/x"),
        ("summary: 'it''s: so'", "it's: so"),
        ('summary: "tab\\tand \\u00e9"', "tab\tand é"),
        ("summary: |\n  one\n  two", "one\ntwo"),
        ("summary: >\n  one\n  two", "one two"),
        ("summary: one\n  two", "one two"),
        ("summary:\n  below", "below"),
        ("summary:", ""),
        ("summary: ~", ""),
        ("summary: null", ""),
        ('summary: ""', ""),
        ("summary: 42", "42"),
        ("summary: 1.50", "1.50"),
        ("summary: yes", "yes"),
        ("summary: 2026-01-02", "2026-01-02"),
        ('"summary": quoted key', "quoted key"),
        ("? summary\n: asked", "asked"),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_value_reads_as_yaml_reads_it(written: str, value: str, newline: str) -> None:
    text = head(written, "status: working").replace("\n", newline)
    assert values(text)["summary"] == value


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("status: working\n", say.no_head()),
        ("\n" + TASK, say.no_head()),
        ("--- yes\nstatus: working\n---\n", say.no_head()),
        ("---\nstatus: working\n", say.head_not_closed()),
        ("---", say.head_not_closed()),
        ("---\nstatus: working\n ---\n", say.head_not_closed()),
        (head("status: working", "..."), say.head_unreadable(say.no_key_value_lines())),
        (head("status: working", "a: " + "[" * 3000), say.head_unreadable(say.too_deep(50))),
        (head("- status"), say.head_unreadable(say.no_key_value_lines())),
        (head("working"), say.head_unreadable(say.no_key_value_lines())),
        (head("{status: working}"), say.head_unreadable(say.no_key_value_lines())),
        (head("status: working", "status: done"), say.head_unreadable(say.key_twice_in_line(3, "status"))),
        (head("status: working", "other: {a: 1, a: 2}"), say.head_unreadable(say.key_twice_in_line(3, "a"))),
        (head("summary: x"), say.no_state_in_head("status", STATES)),
        (head(), say.no_state_in_head("status", STATES)),
        (head("status:"), say.no_state_in_line(2, "status", "", STATES)),
        (head("status: 5"), say.no_state_in_line(2, "status", "5", STATES)),
        (
            head("status: wroking"),
            say.no_state_in_line(2, "status", "wroking", STATES),
        ),
        (head("status: Working"), say.no_state_in_line(2, "status", "Working", STATES)),
        (head("status: [working]"), say.no_plain_value(2, "status")),
        (head("status: &a working"), say.no_plain_value(2, "status")),
        (head("a: &a working", "status: *a"), say.no_plain_value(3, "status")),
        (head("status: !!str working"), say.no_plain_value(2, "status")),
        (head("status: working", "summary: {a: b}"), say.no_plain_value(3, "summary")),
        (head("status: working", "a: " + "x" * LARGEST_HEAD_CHARACTERS), say.head_too_long(LARGEST_HEAD_CHARACTERS)),
    ],
)
def test_head_that_cannot_be_trusted_is_error_that_says_why(text: str, words: str) -> None:
    with pytest.raises(UnreadableError) as caught:
        CODEC.read(text)
    assert caught.value.what == words


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (head("status: [working"), 3),
        (head("status: working", "summary: a: b"), 3),
        (head("status: working", "\tsummary: x"), 3),
        (head("status: working", "other: *nowhere"), 3),
        (head("status: working", "...", "a: b"), 4),
    ],
)
def test_a_head_that_is_no_yaml_names_the_line(text: str, line: int) -> None:
    with pytest.raises(UnreadableError) as caught:
        CODEC.read(text)
    assert codes_in(caught.value.what) == ("text.head_unreadable", "text.no_yaml_in_line")
    assert message_of(message_of(caught.value.what).values["problem"]).values["line"] == line


def test_yaml_that_is_nested_too_deeply_is_refused() -> None:
    with pytest.raises(UnreadableError) as caught:
        CODEC.read(head("status: working", "a:", "  " + "- " * 3000))
    assert codes_in(caught.value.what) == ("text.head_unreadable", "text.no_yaml")


def test_links_that_lead_in_a_circle_end() -> None:
    assert CODEC.read(head("status: working", "a: &a [*a]")).state == "working"


def test_the_error_names_the_file(tmp_path: Path) -> None:
    (tmp_path / "TASK.md").write_text("no head", encoding="utf-8")
    native = Native(MACHINE, str(tmp_path), TaskPlaces("t", str(tmp_path / "control")))
    with pytest.raises(UnreadableError) as caught:
        native.read()
    assert caught.value.what.startswith("TASK.md: it does not begin")
    assert caught.value.where == str(tmp_path / "TASK.md")


def test_simple_heads_need_no_library() -> None:
    source = (
        "import sys; from detent.machines.load import load; from detent.store.text.codecs import CODECS;"
        "machine = load('tests/data/machines/ticket.toml', None)[0];"
        f"CODECS['frontmatter'](machine).read({TASK!r}); sys.exit('yaml' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", source], check=False).returncode == 0


# --- writing ---


def test_only_the_values_of_known_keys_change() -> None:
    text = (
        "\ufeff---\r\n# a comment\r\nsummary: 'Fix  it' # why\r\ntags: [a,  b]\r\nstatus: working   # where\r\n"
        "nested:\r\n  status: working\r\nreview_round:\r\n---\r\n" + BODY
    )
    written = CODEC.write(text, {"status": "done", "review_round": "2", "crash_count": "0"})
    expected = text.replace("status: working   #", "status: done   #").replace("review_round:", "review_round: 2")
    assert written == expected.replace("---\r\n\n", "crash_count: 0\r\n---\r\n\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("status: 'working'", "status: done"),
        ("status: |\n  working\n\nother: x", "status: done\n\nother: x"),
        ("status:\n  working", "status:\n  done"),
        ("status: work\n  ing", "status: done"),
        ("? status\n: working", "? status\n: done"),
        ("  status: working\n  other: x", "  status: done\n  other: x"),
        ("status:", "status: done"),
        ("status: # what", "status: done # what"),
        ("status: [a, b]", "status: done"),
    ],
)
def test_a_value_is_replaced_where_it_stands(before: str, after: str) -> None:
    assert CODEC.write(head(before), {"status": "done"}) == head(after)


def test_a_value_that_is_right_keeps_its_form() -> None:
    text = head("status: 'working' ", "review_round: 1   # one", "crash_count:   0", "summary: >-\n  Fix\n  it")
    wanted = {"status": "working", "review_round": "1", "crash_count": "0", "summary": "Fix it"}
    assert CODEC.write(text, wanted) == text


def test_a_lost_key_returns_aligned_at_the_head_s_end() -> None:
    assert CODEC.write(head("  # x", "  status: done"), {"crash_count": "1"}) == head(
        "  # x", "  status: done", "  crash_count: 1"
    )


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("two words", "two words"),
        ("yes", '"yes"'),
        ("12", '"12"'),
        ("", '""'),
        ("a: b", '"a: b"'),
        ("- a", '"- a"'),
        ('say "x"', 'say "x"'),
        ('"x" \\ y', '"\\"x\\" \\\\ y"'),
        ("one\n\n  two", "|-\n  one\n\n    two"),
        (" one\ntwo", '" one\\ntwo"'),
        ("\x01\x85\u2028\U0001f600", '"\\U00000001\\U00000085\\U00002028\U0001f600"'),
    ],
)
def test_a_text_is_written_as_plainly_as_it_can_be(value: str, shown: str) -> None:
    written = CODEC.replace(head("status: done", "summary: x"), "summary", value)
    assert written == head("status: done", f"summary: {shown}")
    assert values(written)["summary"] == value


def test_lines_never_swallow_a_comment() -> None:
    written = CODEC.replace(head("status: done", "summary: x # why"), "summary", "a\nb")
    assert written == head("status: done", 'summary: "a\\nb" # why')


def test_a_text_without_a_head_gets_one() -> None:
    assert CODEC.write("", {"crash_count": "0", "status": "pending"}) == "---\nstatus: pending\ncrash_count: 0\n---\n"
    assert CODEC.write("\ufeffhello\n", {"status": "done"}) == "\ufeff---\nstatus: done\n---\n\nhello\n"


def test_an_answer_goes_into_the_body() -> None:
    text = "---\nstatus: done\nsummary: |\n  ## Answers\n  mine\n---\nhello\n"
    written = CODEC.add_line(text, "Answers", "- yes")
    assert written.startswith(text)
    assert written[len(text) :].strip() == "## Answers\n\n- yes"


# --- what the engine owns ---


def test_a_missing_counter_is_not_taken_for_a_change(tmp_path: Path) -> None:
    native = Native(MACHINE, str(tmp_path), TaskPlaces("t", str(tmp_path / "control")))
    document = native.parsed(head("status: working", "review_round: 1"))
    fresh = Snapshot(state="working", counters={"review_round": 1})
    assert native.tampered(document, fresh, "") == ()
    assert native.tampered(document, fresh.replace(counters={"review_round": 1, "crash_count": 1}), "") == (
        "crash_count",
    )
    assert native.tampered(document, fresh.replace(counters={"review_round": 2}), "") == ("review_round",)


@pytest.mark.parametrize("written", ["0", "010", "1.0", "one", "1_0", "-1", ""])
def test_a_counter_that_says_something_else_is_a_change(tmp_path: Path, written: str) -> None:
    native = Native(MACHINE, str(tmp_path), TaskPlaces("t", str(tmp_path / "control")))
    document = native.parsed(head("status: working", f"review_round: {written}"))
    assert native.tampered(document, Snapshot(state="working", counters={"review_round": 1}), "") == ("review_round",)


# --- repair ---

OWNED = {"status": "working", "review_round": "1", "crash_count": "0"}


@pytest.mark.parametrize(
    "damaged",
    [
        HEAD.replace("status: working", "status: wroking") + "theirs\n",
        HEAD.replace("status: working\n", "") + "theirs\n",
        HEAD.replace("status: working", "status: [working") + "theirs\n",
        HEAD.replace("status: working", "status: working\nstatus: done") + "theirs\n",
        HEAD.replace("status: working", "status: *x") + "theirs\n",
        "---\nstatus: [\n---\ntheirs\n",
        "theirs\n",
        "\ufefftheirs\n",
    ],
)
def test_a_repair_keeps_the_body(damaged: str) -> None:
    repaired = CODEC.repair(damaged, TASK, OWNED)
    content = CODEC.read(repaired)
    assert content.state == "working"
    assert content.fields["summary"].value == "Fix it"
    assert repaired[content.body_start :] == "theirs\n"


@pytest.mark.parametrize("line", ["## Handoff", "", "\r"])
def test_head_without_an_end_is_cut_where_something_else_begins(line: str) -> None:
    repaired = CODEC.repair(f"---\nstatus: done\nsummary: x\n{line}\nDONE: all\n", TASK, OWNED)
    assert repaired == HEAD + f"{line}\nDONE: all\n"


def test_repairing_one_value_leaves_the_rest_of_the_head() -> None:
    damaged = HEAD.replace("Fix it", "Fix that").replace("status: working", "status: 5 # mine") + "theirs\n"
    assert CODEC.repair(damaged, TASK, OWNED) == damaged.replace("status: 5", "status: working")


@pytest.mark.parametrize("damaged", ["", "\ufeff\n"])
def test_an_unusable_text_is_replaced_with_current_values(damaged: str) -> None:
    assert CODEC.repair(damaged, TASK, {**OWNED, "status": "done"}) == TASK.replace(
        "status: working", "status: done", 1
    )
