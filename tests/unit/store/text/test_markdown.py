"""What the Markdown splitter shows to a gate, case by case; agreement with a parser is a property test of its own."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from detent.store.text.markdown import find_section, is_placeholder, scan, sections, visible_text
from detent.store.text.markdown_blocks import DEPTH_LIMIT


def titles(text: str) -> list[tuple[int, str]]:
    return [(section.level, section.title) for section in sections(text)]


def kinds(text: str) -> list[str]:
    return [line.kind for line in scan(text)]


def body(text: str, name: str) -> str | None:
    section = find_section(text, name)
    return text[section.body_start : section.end] if section else None


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("```\n## Review\n```\n", id="fence"),
        pytest.param("~~~ markdown\n## Review\n~~~\n", id="tilde fence"),
        pytest.param("````\n```\n## Review\n````\n", id="fence in a longer fence"),
        pytest.param("~~~\n```\n## Review\n", id="other fence does not close"),
        pytest.param("```\n## Review\n    ```\n## Review\n", id="indented fence does not close"),
        pytest.param("```\n## Review\n``` x\n## Review\n", id="closing fence with words does not close"),
        pytest.param("```\nnever closed\n\n## Review\n\ntext\n", id="unclosed fence hides the rest"),
        pytest.param("    ## Review\n", id="indented code"),
        pytest.param("\t## Review\n", id="tab"),
        pytest.param(" \t## Review\n", id="space and tab"),
        pytest.param("<!--\n## Review\n-->\n", id="comment"),
        pytest.param("<!--\n\n## Review\n", id="unclosed comment hides the rest"),
        pytest.param("<!-- a -- b ->\n## Review\n", id="nearly closed comment"),
        pytest.param("<div>\n## Review\n</div>\n", id="html block"),
        pytest.param("<pre>\n\n## Review\n\n</pre>\n", id="verbatim html spans blank lines"),
        pytest.param("<?x\n\n## Review\n?>\n", id="processing instruction"),
        pytest.param("<span>\n## Review\n", id="lone tag"),
        pytest.param("- ## Review\n", id="list item"),
        pytest.param("- a\n\n  ## Review\n", id="later in a list item"),
        pytest.param("1. a\n   ## Review\n", id="ordered list item"),
        pytest.param("> ## Review\n", id="block quote"),
        pytest.param("> a\nReview\n===\n", id="lazy line is no setext heading"),
        pytest.param("- Review\n  ---\n", id="setext in a list item"),
        pytest.param("> Review\n> ---\n", id="setext in a block quote"),
        pytest.param("##Review\n", id="no space"),
        pytest.param("\\## Review\n", id="escaped"),
        pytest.param("####### Review\n", id="seven"),
        pytest.param("### Review\n", id="deeper level"),
        pytest.param("# Review\n", id="higher level"),
        pytest.param("## Reviews\n", id="longer name"),
        pytest.param("## Re<!-- x -->viewed\n", id="name around a comment"),
        pytest.param("> " * (DEPTH_LIMIT + 1) + "a\n\n## Review\n", id="too deep"),
        pytest.param("", id="empty"),
    ],
)
def test_a_hidden_or_different_heading_is_no_section(text: str) -> None:
    assert find_section(text, "Review") is None


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("## Review\n", id="plain"),
        pytest.param("## Review", id="no line ending"),
        pytest.param("   ## Review ##  \n", id="indented and closed"),
        pytest.param("##\tReview\t#\n", id="tabs"),
        pytest.param("## **Review:**\n", id="emphasis around a colon"),
        pytest.param("## __review__ :\n", id="colon behind emphasis"),
        pytest.param("## `REVIEW`\n", id="code span"),
        pytest.param("## Review <!-- keep this heading -->\n", id="comment in the title"),
        pytest.param("Review\n---\n", id="setext"),
        pytest.param("text\n## Review\n", id="ends a paragraph"),
        pytest.param("> quote\n## Review\n", id="ends a quote"),
        pytest.param("- item\n## Review\n", id="ends a list"),
        pytest.param("- ```\n  code\n## Review\n", id="ends a fence in a list"),
        pytest.param("```\ncode\n`````\n## Review\n", id="behind a longer closing fence"),
        pytest.param("``` a`b\n## Review\n", id="backtick in the info string is no fence"),
        pytest.param("<!-- a\n-->\n## Review\n", id="behind a comment"),
        pytest.param("<!-->\n## Review\n", id="behind the shortest comment"),
        pytest.param("<div>\n\n## Review\n", id="blank line ends html"),
        pytest.param("<script>\n\na\n</SCRIPT> b\n## Review\n", id="behind verbatim html"),
        pytest.param("<style></pre>\n## Review\n", id="any verbatim end ends verbatim html"),
        pytest.param("<?a?>\n## Review\n", id="behind a processing instruction"),
        pytest.param("\ufeff## Review\n", id="byte order mark"),
        pytest.param("a\r\n\r\n## Review\r\n\r\nb\r\n", id="CRLF"),
        pytest.param("a\r\r## Review\rb\r", id="CR"),
        pytest.param("a\0b\n\n## Review\n\0", id="NUL"),
        pytest.param("[a]: b\n## Review\n", id="behind a link definition"),
    ],
)
def test_a_visible_heading_is_a_section(text: str) -> None:
    section = find_section(text, "Review")
    assert section is not None
    assert "review" in text[section.start : section.body_start].lower()


def test_the_last_of_two_sections_counts() -> None:
    assert body("## Review\nold\n## Plan\nx\n## Review\nnew\n", "review") == "new\n"


def test_body_ends_at_the_next_heading_that_is_not_deeper() -> None:
    text = "# T\na\n## A\nb\n### B\nc\n## C\nd\n# U\ne\n"
    spans = [(section.title, text[section.body_start : section.end]) for section in sections(text)]
    assert spans == [
        ("T", "a\n## A\nb\n### B\nc\n## C\nd\n"),
        ("A", "b\n### B\nc\n"),
        ("B", "c\n"),
        ("C", "d\n"),
        ("U", "e\n"),
    ]


def test_offsets_count_characters_of_the_text_as_given() -> None:
    text = "\ufeffä\r\n## Review\r\nbody"
    section = find_section(text, "Review")
    assert section is not None
    assert (section.start, section.body_start, section.end) == (4, 15, 19)
    assert [(line.start, line.end, line.text) for line in scan(text)] == [
        (1, 4, "ä"),
        (4, 15, "## Review"),
        (15, 19, "body"),
    ]


def test_setext_headings_join_their_lines() -> None:
    assert titles("One\ntwo\n===\n\nthree\n---\n") == [(1, "One two"), (2, "three")]
    assert kinds("One\ntwo\n===\n") == ["heading"] * 3


@pytest.mark.parametrize("text", ["---\n", "a\n\n---\n", "# a\n---\n", "- a\n---\n", "a\n- - -\n", "[a]: b\n===\n"])
def test_a_rule_or_an_underline_of_nothing_is_no_heading(text: str) -> None:
    assert [title for title in titles(text) if title != (1, "a")] == []


def test_lines_know_their_kind_depth_and_content() -> None:
    text = "# T\nPhase: shape\n\n- **a**\n  > b <!-- c -->\n\n```\nd\n```\n"
    text += "<p>\ne\n\n<!-- f\n\n-->\n    g\n\n    h\n\n---\n"
    assert [(line.kind, line.depth, line.content) for line in scan(text)] == [
        ("heading", 0, ""),
        ("text", 0, "Phase: shape"),
        ("blank", 0, ""),
        ("text", 1, "**a**"),
        ("text", 2, "b"),
        ("blank", 1, ""),
        ("code", 0, ""),
        ("code", 0, ""),
        ("code", 0, ""),
        ("html", 0, ""),
        ("html", 0, ""),
        ("blank", 0, ""),
        ("comment", 0, ""),
        ("comment", 0, ""),
        ("comment", 0, ""),
        ("code", 0, ""),
        ("code", 0, ""),
        ("code", 0, ""),
        ("blank", 0, ""),
        ("text", 0, ""),
    ]


@pytest.mark.parametrize(
    ("text", "contents"),
    [
        pytest.param("a <!-- b --> c\n", ["a  c"], id="in a line"),
        pytest.param("a <!-- b\nPhase: x\n--> c\n", ["a", "", "c"], id="over lines"),
        pytest.param("a <!-- b\nPhase: x\n", ["a <!-- b", "Phase: x"], id="never closed in its paragraph"),
        pytest.param("a <!-- b\n\nPhase: x -->\n", ["a <!-- b", "", "Phase: x -->"], id="not over paragraphs"),
        pytest.param("a `<!--` b `-->` c\n", ["a `<!--` b `-->` c"], id="in code spans"),
        pytest.param("a ``<!-- ` `` b -->\n", ["a ``<!-- ` `` b -->"], id="in a longer code span"),
        pytest.param("a \\`<!-- b` -->\n", ["a \\`"], id="escaped backtick opens no code span"),
        pytest.param("a \\<!-- b -->\n", ["a \\<!-- b -->"], id="escaped comment"),
        pytest.param("a <!--> b\n", ["a  b"], id="shortest"),
        pytest.param("a <i title='<!--'> b -->\n", ["a <i title='<!--'> b -->"], id="in an attribute"),
        pytest.param("a <i title='\nPhase: x\n'> b\n", ["a", "", "b"], id="tag over lines"),
        pytest.param("a <?\nPhase: x\n?> b\n", ["a", "", "b"], id="instruction over lines"),
        pytest.param("[a]: b '\nPhase: x\n'\nc\n", ["", "", "", "c"], id="title of a link definition"),
        pytest.param("- a <!--\n  b -->\nc\n", ["a", "", "c"], id="in a list item"),
    ],
)
def test_hidden_text_is_no_content(text: str, contents: list[str]) -> None:
    assert [line.content for line in scan(text)] == contents


def test_text_keeps_the_line_but_for_its_comments() -> None:
    text = " - Phase:\tx <!-- y --> \n\t<!-- z -->\n<!-- a\nb --> tail\n"
    assert [(line.kind, line.text) for line in scan(text)] == [
        ("text", " - Phase:\tx  "),
        ("comment", "    "),
        ("comment", ""),
        ("html", " tail"),
    ]


def test_the_shortest_comment_ends_at_once() -> None:
    assert [(line.kind, line.text) for line in scan("<!--> a\nb\n")] == [("html", " a"), ("text", "b")]


def test_four_columns_forbid_a_start_also_behind_a_container() -> None:
    """The parser of the property test gets these wrong, so they are pinned down here."""
    assert [(line.kind, line.depth) for line in scan(">\n    > a\n")] == [("blank", 1), ("code", 0)]
    assert [line.content for line in scan("> a\n    > b\n")] == ["a", "> b"]
    assert [(line.depth, line.content) for line in scan(" 10. a\n    <!-- b\n")] == [(1, "a"), (1, "<!-- b")]
    assert kinds(">>+ \ta\n") == ["code"]


def test_a_paragraph_of_link_definitions_ends_like_any_paragraph() -> None:
    """The parser of the property test ends it earlier."""
    assert [(line.kind, line.content) for line in scan("[a]: b\n    c\n")] == [("comment", ""), ("text", "c")]
    assert titles("[a]: b\n    c\n===\n") == [(1, "c")]
    assert titles("[a]: b)\n===\n") == [(1, "[a]: b)")]


def test_visible_text_keeps_text_and_code_only() -> None:
    text = "## A\n\n- one <!-- two -->\n\n```sh\n# three\n```\n\n<div>\nfour\n\n<!-- five -->\n\n    six\n"
    assert visible_text(text).split() == ["one", "#", "three", "six"]


@pytest.mark.parametrize(
    "value",
    [
        *("", " \n\t", "TODO", "todo:", "**TBD**", "- FIXME", "...", "…", "-", "- [ ]", "[ ]", "xxx", "XXXX", "---"),
        *("<name>", "<what was done>", "{name}", "{{ answer }}", "Lorem ipsum dolor sit amet", "fill in", "Fill in."),
        *("to be filled", "to be filled in", "replace me", "_Your text here_", "> TBD", '"TODO"', "`todo`", "?!"),
        *("TODO\n\n- TBD\n- <x>\n", "TODO: fill in", "<!-- a real sentence -->", "### Only a heading"),
        *("```\nTODO\n```", "&nbsp;", "1. \n2. \n", "__TODO__", "<!-- unclosed\ntext"),
    ],
)
def test_filler_is_a_placeholder(value: str) -> None:
    assert is_placeholder(value)


@pytest.mark.parametrize(
    "value",
    [
        *("n/a", "none", "TODO list UI works", "no", "0", "é", "字", "todo_list", "fill in the form works", "x"),
        *("<https://example.invalid/1>", "<a@example.invalid>", '{"a": 1}', "```\nexit 0\n```", "- [x] done", "TBDs"),
        *("xxxl", "TODO\n\nDone."),
    ],
)
def test_an_answer_is_no_placeholder(value: str) -> None:
    assert not is_placeholder(value)


def work(text: str) -> int:
    """How many Python lines and calls into C it takes to read the text: a measure that no busy host disturbs."""
    count = 0

    def count_calls(_frame: object, _event: str, _argument: object) -> None:
        nonlocal count
        count += 1

    before = sys.getprofile()
    sys.setprofile(count_calls)
    try:
        scan(text)
        is_placeholder(text)
    finally:
        sys.setprofile(before)
    return count


HOSTILE: dict[str, Callable[[int], str]] = {
    "backticks": lambda size: "`" * size,
    "rising backticks": lambda size: "a <! " + " ".join("`" * run for run in range(1, int((2 * size) ** 0.5))),
    "backtick pairs": lambda size: "a <! " + "` `` " * (size // 5),
    "quotes": lambda size: ">" * size,
    "quote lines": lambda size: "> > > > a\n" * (size // 10),
    "dashes": lambda size: "- " * (size // 2) + "a",
    "numbers": lambda size: "1. " * (size // 3) + "a",
    "stairs": lambda size: "".join(" " * (2 * (step % 30)) + "- a\n" for step in range(size // 30)),
    "open comments": lambda size: "a <!-- <? <!x <![CDATA[ " * (size // 24),
    "open tags": lambda size: "a " + "<a b='" * (size // 6),
    "angles": lambda size: "a <!" + "<" * size,
    "brackets": lambda size: "[" * size + "]:",
    "labels": lambda size: "[a\n" * (size // 3) + "]:",
    "definitions": lambda size: "[a]: b '\n" * (size // 9),
    "blank code": lambda size: "    a\n" + "\n" * size + "    a\n",
    "fence lines": lambda size: "```\n" * (size // 4),
    "html lines": lambda size: "<div>\n" * (size // 6),
    "hashes": lambda size: "# " + " #" * (size // 2),
    "tabs": lambda size: "\t" * size + "-\t" * size,
    "braces": lambda size: "{<" * (size // 2),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_takes_linear_work(name: str) -> None:
    small, large = (work(HOSTILE[name](size)) for size in (2_000, 16_000))
    assert large < 10 * small + 1_000


@pytest.mark.parametrize("name", HOSTILE)
def test_much_hostile_text_is_read(name: str) -> None:
    text = HOSTILE[name](200_000)  # what is quadratic inside a regular expression would not end on this
    assert scan(text)[-1].end == len(text)


def test_beyond_the_depth_limit_the_rest_is_code() -> None:
    deepest = "> " * DEPTH_LIMIT
    assert kinds(deepest + "a\n\nb\n") == ["text", "blank", "text"]
    assert kinds(deepest + "> a\n\nb\n") == ["code", "code", "code"]
    assert visible_text(deepest + "> a\n\nb\n") == ""
