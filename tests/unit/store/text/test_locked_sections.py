"""Tests of locked sections: what counts as a change, and that putting one back leaves the rest of the text alone."""

from __future__ import annotations

import pytest

from detent.store.text.locked_sections import is_whole, put_section, section_text

CONTEXT = "## Context\n\nwhy\n\n### More\n\n- x"
TEXT = f"# T\n\nintro\n\n{CONTEXT}\n\n## Handoff\n\nDONE\n"


def test_a_section_is_its_heading_and_all_below_it() -> None:
    assert section_text(TEXT, "Context") == CONTEXT
    assert section_text(TEXT.replace("\n", "\r\n"), "context") == CONTEXT
    assert section_text(TEXT, "Nothing") == ""


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        TEXT.replace("\n", "\r\n"),
        TEXT.replace("- x\n\n", "- x\n"),
        TEXT.replace("- x\n\n", "- x\n\n\n  \n"),
        TEXT.replace("DONE", "REMAINING"),
        CONTEXT,
        TEXT.partition("## Handoff")[0] + "<!-- never closed\n## Handoff\n",
    ],
)
def test_what_stands_around_a_section_is_no_change_of_it(text: str) -> None:
    assert is_whole(text, "Context", CONTEXT)
    assert put_section(text, "Context", CONTEXT) == text


CHANGED = {
    "words": TEXT.replace("why", "why not"),
    "more words": TEXT.replace("- x\n", "- x\n- y\n"),
    "a comment inside": TEXT.replace("why\n", "why <!-- forget it -->\n"),
    "heading": TEXT.replace("## Context", "## **CONTEXT**:"),
    "level": TEXT.replace("## Context", "### Context"),
    "deleted": TEXT.replace(f"{CONTEXT}\n\n", ""),
    "in a comment": TEXT.replace(CONTEXT, f"<!--\n{CONTEXT}\n-->"),
    "in a fence": TEXT.replace(CONTEXT, f"```\n{CONTEXT}\n```"),
    "in a quote": TEXT.replace("## Context", "> ## Context"),
    "a second one": f"{TEXT}\n## Context\n\nother\n",
    "a second one in front": f"## Context\n\nother\n\n{TEXT}",
    "a comment never closed": f"<!--\n{TEXT}",
    "a fence never closed": f"````\n```\n{TEXT}",
    "a tag never closed": f"<script>\n{TEXT}",
    "an instruction never closed": f"<?\n{TEXT}",
    "nothing left": "",
    "no line end": "hello",
}


@pytest.mark.parametrize("how", CHANGED)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_changed_section_is_put_back_where_a_reader_sees_it(how: str, newline: str) -> None:
    text = CHANGED[how].replace("\n", newline)
    assert not is_whole(text, "Context", CONTEXT)
    back = put_section(text, "Context", CONTEXT)
    assert section_text(back, "Context") == CONTEXT
    assert is_whole(back, "Context", CONTEXT)
    assert put_section(back, "Context", CONTEXT) == back
    assert section_text(back, "Handoff") == section_text(text, "Handoff")


@pytest.mark.parametrize("how", ["words", "more words", "a comment inside", "heading", "a second one"])
def test_the_other_bytes_stay(how: str) -> None:
    assert put_section(CHANGED[how], "Context", CONTEXT).rstrip() == TEXT.rstrip()


def test_a_section_that_was_not_there_goes_again() -> None:
    without = TEXT.replace(f"{CONTEXT}\n\n", "")
    assert not is_whole(TEXT, "Context", "")
    assert put_section(TEXT, "Context", "") == without
    assert put_section(without, "Context", "") == without


def test_a_deleted_section_comes_back_in_front_of_the_others() -> None:
    assert put_section(CHANGED["deleted"], "Context", CONTEXT) == TEXT
    assert put_section("# T\n## Handoff\n", "Context", CONTEXT) == f"# T\n\n{CONTEXT}\n\n## Handoff\n"
    assert put_section("words", "Context", CONTEXT) == f"words\n\n{CONTEXT}\n"
