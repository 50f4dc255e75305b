"""The readers of documents: no text makes them fail, and what a reader of the Markdown does not see adds nothing."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from detent.packs.lights_out.checks.acceptance import criteria_in, mentioned, tier_of
from detent.packs.lights_out.checks.design import exempt_paths, planned_paths
from detent.packs.lights_out.checks.documents import (
    code_blocks,
    entries,
    is_none,
    labelled,
    spans,
    strays,
    written_text,
)
from detent.packs.lights_out.checks.readiness import TRUTH, planned_tests, truths_of
from detent.packs.lights_out.checks.reports import read_block

EXAMPLES = settings(max_examples=max(200, settings().max_examples))
PARSER = MarkdownIt("commonmark")
PIECES = [
    *(
        "- AC-1: ",
        "- AC-2",
        "AC-3",
        "### AC-4",
        "ac-1",
        "AC-",
        "T-1: ",
        "test: ",
        "proof: ",
        "; ",
        " -> ",
        "status: open",
    ),
    *(
        "## Acceptance Criteria\n",
        "## Quality Tier\n",
        "shed",
        "house",
        "## Directory Structure\n",
        "src/",
        "a.py",
        "\u251c\u2500\u2500 ",
    ),
    *("BLOCKED: ", "Options: ", "Recommendation: ", "[a, b]", "None.", "TODO", "<x>", "Round: 2"),
    *(
        "```\n",
        "~~~\n",
        "    ",
        "> ",
        "- ",
        "1. ",
        "* ",
        "<!--",
        "-->",
        "~~",
        "`",
        "**",
        "# ",
        "### ",
        "---",
        "===",
        "|",
        "\t",
    ),
    *("\n", "\n", "\n", "\n\n", "\r\n", "\r", " ", "\u2028", "\ufeff", "\0", "word", "8000.", "\\"),
]
TEXTS = st.one_of(st.lists(st.sampled_from(PIECES), max_size=30).map("".join), st.text(max_size=60))
LABELS = ("test", "proof", "status")


def all_readings(text: str) -> tuple[object, ...]:
    return (
        entries(text),
        criteria_in(text),
        strays(text, TRUTH),
        mentioned(text),
        truths_of(text),
        labelled(written_text(text), LABELS),
        code_blocks(text),
        tier_of(text),
        is_none(text),
        read_block(text),
        planned_tests(text),
        planned_paths(text),
        exempt_paths(text),
        spans(text),
    )


@EXAMPLES
@given(TEXTS)
def test_any_text_is_read(text: str) -> None:
    assert all_readings(text) == all_readings(text)


@EXAMPLES
@given(TEXTS)
def test_line_ends_do_not_change_what_is_read(text: str) -> None:
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    windows = plain.replace("\n", "\r\n")
    assert all_readings(plain)[:-1] == all_readings(windows)[:-1]


@EXAMPLES
@given(TEXTS)
@example("- AC-1: prints 3 lines\n")
def test_what_stands_in_a_comment_or_a_quote_says_nothing(text: str) -> None:
    hidden = f"<!--\n{text.replace('--', '')}\n-->\n"
    quoted = "".join(f"> {line}\n" for line in text.splitlines())
    for unseen in (hidden, quoted):
        assert entries(unseen) == ()
        assert criteria_in(unseen) == ()
        assert mentioned(unseen) == frozenset()
        assert read_block(unseen) is None
        assert tier_of(f"## Quality Tier\n\n{unseen}") == ""


@EXAMPLES
@given(TEXTS)
@example("- AC-1: prints 3 lines\n")
def test_what_stands_in_a_code_block_is_only_code(text: str) -> None:
    fence = "`" * 40
    fenced = f"{fence}\n{text}\n{fence}\n"
    assert entries(fenced) == ()
    assert criteria_in(fenced) == ()
    assert mentioned(fenced) == frozenset()
    assert read_block(fenced) is None


@EXAMPLES
@given(TEXTS)
@example("- a\n- b\n  - c\n\n1. d\n")
def test_an_item_is_what_a_full_parser_calls_one(text: str) -> None:
    """There are never more items than the outermost list items of the document."""
    tokens = PARSER.parse(text.lstrip("\ufeff").replace("\0", "\ufffd"))
    assert len(entries(text)) <= sum(token.type == "list_item_open" and token.level == 1 for token in tokens)


@EXAMPLES
@given(st.lists(st.sampled_from(["prints 3 lines", "shows `a`", "**x** y", "exit code 0"]), max_size=5))
def test_every_criterion_that_is_written_is_read(texts: list[str]) -> None:
    for shape in ("- AC-{}: {}\n", "* **AC-{}**: {}\n", "### AC-{}: {}\n\nmore\n\n", "{}. AC-7{} {}\n"):
        body = ""
        for number, text in enumerate(texts, 1):
            places = (number, number, text) if shape.startswith("{") else (number, text)
            body += shape.format(*places)
        assert [criterion.text.partition("\n")[0] for criterion in criteria_in(body)] == texts


@EXAMPLES
@given(st.dictionaries(st.sampled_from(LABELS), st.sampled_from(["a b", "`c; d`", "8000.", "x/y.py::z"])))
def test_labels_are_read_however_they_are_laid_out(values: dict[str, str]) -> None:
    parts = [f"{label}: {value}" for label, value in values.items()]
    for text in (
        "; ".join(parts),
        "\n".join(parts),
        " -> ".join(parts),
        "\n".join(f"**{part.replace(':', ':**', 1)}" for part in parts),
    ):
        assert labelled(text, LABELS) == values
