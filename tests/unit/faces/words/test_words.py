"""Tests of the words: a refusal has a head, a reason and a next step, and shows no inner names."""

from __future__ import annotations

import json

from detent.errors import MachineError, UnreadableError
from detent.faces.words.done import approved_words, patch_words
from detent.faces.words.loop import part_words
from detent.faces.words.screen import error_words, flat, list_words, printable, printable_json
from detent.store.journal.events import Approved
from detent.words.names import name_some


def test_an_error_says_what_where_and_what_next() -> None:
    error = UnreadableError("STATE.md is empty", where="/t/STATE.md", next_step="detent doctor --repair t")
    assert error_words(error).splitlines() == [
        "unreadable: STATE.md is empty",
        "  where: /t/STATE.md",
        "  next:  detent doctor --repair t",
    ]


def test_all_problems_of_a_machine_file_are_listed() -> None:
    lines = error_words(MachineError(("first", "second"), where="m.toml")).splitlines()
    assert lines[:3] == ["machine: 2 problems in the machine file", "  - first", "  - second"]


def test_a_list_keeps_its_columns_apart() -> None:
    second = ("longer", "phase", "done", "", "")
    for mark in ("", "*"):
        lines = list_words([(mark, "a", "phase", "intake", "the agent (builder)", "first"), ("", *second)])
        head, *rows = lines.splitlines()
        assert rows[0].startswith("*  a" if mark else "a  ")
        assert head.index("TASK") == rows[1].index("longer")
    assert head.index("TITLE") == rows[0].index("first")
    assert rows[1].rstrip() == rows[1]
    assert "detent new" in list_words([])


def test_what_terminal_obeys_or_reads_other_way_round_is_shown() -> None:
    assert printable("a\x1b[31m\x9b\x7f\tb\nc") == "a\\x1b[31m\\x9b\\x7f\tb\nc"
    assert printable("yes\u202eon\u2069 \u200f\u061c") == "yes\\u202eon\\u2069 \\u200f\\u061c"
    assert printable("größe שלום 😀\u200d") == "größe שלום 😀\u200d"


def test_json_to_read_stays_json() -> None:
    content = {"a": "\x7f\x85\x1b\u202e größe"}
    text = printable_json(json.dumps(content, ensure_ascii=False, indent=1))
    assert json.loads(text) == content
    assert printable(text) == text


def test_a_patch_for_programs_keeps_the_marks_of_direction() -> None:
    assert patch_words("+שלום\u200f\x1b\n", is_seen=False) == "+שלום\u200f\\x1b\n"
    assert patch_words("+שלום\u200f\x1b\n", is_seen=True) == "+שלום\\u200f\\x1b\n"


def test_words_of_others_make_no_line_of_ours() -> None:
    evil = "a\nmoved: verify -> done"
    assert flat(evil) == "a moved: verify -> done"
    assert name_some([evil, "b"]) == "a\\nmoved: verify -> done, b"
    approved = Approved(by="person", name="ann", reason="why", tree="0" * 40, files=[evil])
    assert approved_words(approved).splitlines()[1:] == ["  a\\nmoved: verify -> done"]
    assert part_words([("x", False, evil)]) == ["  failed  x: a moved: verify -> done"]


HIDDEN = "a\u200bb\u2063c\u2060d\ufeffe\U000e0041f\U000e007f"


def test_zero_width_and_tag_characters_are_shown_by_number() -> None:
    assert printable(HIDDEN) == "a\\u200bb\\u2063c\\u2060d\\ufeffe\\U000e0041f\\U000e007f"
    assert json.loads(printable_json(json.dumps([HIDDEN], ensure_ascii=False))) == [HIDDEN]
    assert not set(printable_json(HIDDEN)) & set(HIDDEN) - set("abcdef")
    assert printable("\u2714\ufe0f größe") == "\u2714\ufe0f größe"


def test_patch_for_a_program_keeps_zero_width_characters() -> None:
    """Else it could not be applied; a person on a terminal is shown them."""
    assert patch_words(f"+{HIDDEN}\n", is_seen=False) == f"+{HIDDEN}\n"
    assert "\\U000e0041" in patch_words(f"+{HIDDEN}\n", is_seen=True)
