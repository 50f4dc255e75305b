"""The fast Markdown splitter and a full CommonMark parser see the same headings, code, HTML and text.

The alphabet is made of what decides about blocks, so that random documents are nasty ones. Where the parser itself
departs from CommonMark, the document is left out by one of the `misreads_` functions, each of which names the fault.
"""

from __future__ import annotations

import re
from itertools import pairwise

from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline, html_inline
from markdown_it.token import Token

from detent.store.text.markdown import scan, sections
from detent.store.text.markdown_blocks import DEPTH_LIMIT, Part, Reader, read_all, read_blocks
from detent.store.text.markdown_plain import Plain, as_plain
from detent.store.text.markdown_rows import Row

# The profile `deep` asks for more than this.
EXAMPLES = settings(max_examples=max(500, settings().max_examples))
PARSER = MarkdownIt("commonmark", {"maxNesting": 1000})


def html_inline_with_place(state: StateInline, silent: bool) -> bool:
    """The parser's own rule; it also notes where in its paragraph the raw HTML starts."""
    start = state.pos
    found = html_inline(state, silent)
    if found and not silent:
        state.tokens[-1].meta["start"] = start
    return found


PARSER.inline.ruler.at("html_inline", html_inline_with_place)

ENDINGS = ["\n", "\n", "\n", "\n", "\n\n", "\r\n", "\r"]
INDENTS = [" ", "  ", "   ", "    ", "     ", "      ", "\t", " \t"]
CONTAINERS = ["- ", "* ", "+ ", "-", "+", "1. ", "2) ", "10. ", "1.", "1234567890. ", ">", "> "]
LEAVES = [
    *("```", "````", "``` x", "~~~", "~~~~", "~~~ `", "# ", "## ", "#", " #", "###### x", "####### y"),
    *("=", "===", "---", "- - -", "***", "___", "_"),
]
HTML = [
    *("<!--", "-->", "<!-- c -->", "<!-->", "<div>", "</div>", "<DIV", "<script>", "</script>", "<pre>", "<?", "?>"),
    *("<!X", ">", "<![CDATA[", "]]>", "<b>", "</b>", "<a href='x'>", "<a\n", "<http://a`b>"),
]
TEXT = ["a", "foo", "bar baz", "Phase: shape", "`", "``", "\\", "é", "\u00a0", "\u2028", "\x0c", "\0"]
DEFINITIONS = ["[a]: b", "[a]:", "/u", " 'x", "'", '"t"', "[", "]", "(t)", "[b\n", "]: c", "<d>"]

FRAGMENTS = [*ENDINGS, *ENDINGS, *INDENTS, *CONTAINERS, *LEAVES, *HTML, *TEXT]


def documents(extra: list[str]) -> st.SearchStrategy[str]:
    """Fragments in any order, or lines that look more like lines and so reach deeper into the rules."""
    fragments = st.sampled_from([*FRAGMENTS, *extra])
    body = st.sampled_from([*LEAVES, *LEAVES, *HTML, *TEXT, *extra])
    prefix = st.sampled_from(["", "", "", *INDENTS, *CONTAINERS])
    line = st.tuples(prefix, prefix, body, st.sampled_from(["", "", *TEXT, *HTML]), st.sampled_from(ENDINGS)).map(
        "".join
    )
    parts = st.one_of(st.lists(line, max_size=12), st.lists(fragments, max_size=40))
    # The last line ends, because the parser drops a last line of mere spaces from an open fence.
    return parts.map(lambda found: "".join(found) + "\n")


LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n)")
DEEP_START = re.compile(r"(?:^|>)[ \t]*(?: {4}|\t)[ \t]*[<>#`~*+_=0-9-]")
CUT_SHORT = re.compile(r"\[[^\r\n]*(?:\r\n?|\n)(?:[^\r\n]+(?:\r\n?|\n))*[ \t>]*(?: {4}|\t|[-+*=<0-9])")


def follow_in_container(text: str) -> list[tuple[str, str]]:
    """Each line in a container that is not blank, with the line behind it."""
    pairs = [
        (line.depth, text[line.start : line.end], text[after.start : after.end]) for line, after in pairwise(scan(text))
    ]
    return [(line, after) for depth, line, after in pairs if depth and line.strip(" \t\r\n")]


def misreads_deep_indent(text: str) -> bool:
    """Behind a line in a container it takes "    >" or "    #" for a start, though four columns forbid one."""
    return any(DEEP_START.search(after) for _, after in follow_in_container(text))


def misreads_nested_tab(text: str) -> bool:
    """It counts the columns of a tab from the innermost of several block quotes, not from the line's start."""
    return any(re.search(r">.*>.*\t", line) for line in LINE.findall(text))


def misreads_definition(text: str) -> bool:
    """It reads a link definition before the paragraph it starts, CommonMark when that paragraph ends.

    So it lets lines end or continue a definition that cannot do so to a paragraph. It also refuses a target that ends
    in a backslash, and does not take an empty title with text behind it for text.
    """
    lazy = any("[" in line and after.strip(" \t\r\n>") for line, after in follow_in_container(text))
    return lazy or bool(CUT_SHORT.search(text) or re.search(r"\\\s|''|\"\"|\(\)", text))


def misreads_comment_end(text: str) -> bool:
    """Inside a paragraph or heading it does not end a comment at "--->"."""
    return "--->" in text


def squeeze(text: str) -> str:
    """Only what is not space counts in a comparison of texts: tabs and soft line breaks are a matter of display."""
    return re.sub(r"\s+", "", text)


def shown(inline: Token) -> str:
    """The source of a paragraph or heading without the raw HTML that the splitter hides."""
    kept, position = "", 0
    for child in inline.children or ():
        if child.type == "html_inline" and (child.content[1] in "!?" or "\n" in child.content):
            kept += inline.content[position : child.meta["start"]]
            position = child.meta["start"] + len(child.content)
    return squeeze(kept + inline.content[position:])


class Parsed:
    """What the CommonMark parser says, by line number."""

    def __init__(self, text: str) -> None:
        environment: dict[str, object] = {}
        tokens = PARSER.parse(text, environment)
        self.headings: list[tuple[int, int, int, str]] = []
        self.paragraphs: list[tuple[range, str]] = []
        self.code: set[int] = set()
        self.html: set[int] = set()
        for index, token in enumerate(tokens):
            lines = range(*(token.map or (0, 0)))
            if token.type == "heading_open" and token.level == 0:
                self.headings.append((int(token.tag[1]), lines.start, lines.stop, shown(tokens[index + 1])))
            elif token.type == "paragraph_open":
                self.paragraphs.append((lines, shown(tokens[index + 1])))
            elif token.type in ("fence", "code_block"):
                self.code.update(lines)
            elif token.type == "html_block":
                self.html.update(lines)
        references = environment.get("references", {})
        assert isinstance(references, dict)
        repeated = environment.get("duplicate_refs", [])
        assert isinstance(repeated, list)
        self.definitions = {line for found in (*references.values(), *repeated) for line in range(*found["map"])}


def check_agreement(text: str) -> None:
    lines = scan(text)
    assume(all(line.depth < DEPTH_LIMIT for line in lines))
    assume(not misreads_deep_indent(text) and not misreads_nested_tab(text))
    parsed = Parsed(text)
    number = {line.start: index for index, line in enumerate(lines)} | {len(text): len(lines)}
    assert {index for index, line in enumerate(lines) if line.kind == "code"} == parsed.code
    unseen = {index for index, line in enumerate(lines) if line.kind in ("html", "comment")}
    in_paragraphs = {index for span, _ in parsed.paragraphs for index in span}
    in_headings = {index for _, first, stop, _ in parsed.headings for index in range(first, stop)}
    assert unseen - in_paragraphs - in_headings == parsed.html | parsed.definitions
    headings = [(found.level, number[found.start], number[found.body_start], found.title) for found in sections(text)]
    assert [heading[:3] for heading in headings] == [heading[:3] for heading in parsed.headings]
    if misreads_comment_end(text):
        return
    assert [squeeze(heading[3]) for heading in headings] == [heading[3] for heading in parsed.headings]
    for span, content in parsed.paragraphs:
        assert squeeze("".join(lines[index].content for index in span)) == content


@EXAMPLES
@given(documents([]))
@example("- ```\n\n# a\n")
@example("- a\n  ===\n")
@example("<script>\n</script>\n# a\n")
@example("> a\n===\n")
@example("-\n\n  # a\n")
@example("a <!-- `\n# b\n` -->\n")
@example("- <!--\n\n  # a\n  -->\n# b\n")
def test_agrees_with_a_parser(text: str) -> None:
    check_agreement(text)


@EXAMPLES
@given(documents([*DEFINITIONS, *DEFINITIONS]))
@example("[a]: b\n# c\n")
@example("[a]: b '\nPhase: shape\n'\nc\n")
def test_agrees_with_a_parser_on_link_definitions(text: str) -> None:
    assume(not misreads_definition(text))
    check_agreement(text)


@EXAMPLES
@given(st.one_of(st.text(), documents([])), st.sampled_from(["", "\ufeff"]))
def test_lines_and_sections_tile_the_text(text: str, mark: str) -> None:
    text = mark + text
    lines = scan(text)
    assert "".join(text[line.start : line.end] for line in lines) == text.removeprefix("\ufeff")
    assert not any(re.search(r"[\r\n]", line.text + line.content) for line in lines)
    starts = {line.start for line in lines} | {len(text)}
    for section in sections(text):
        assert section.start < section.body_start <= section.end
        assert {section.start, section.body_start, section.end} <= starts


def everything_of(reader: Reader | Plain) -> tuple[object, ...]:
    return [[getattr(row, name) for name in Row.__slots__] for row in reader.rows], reader.headings


@given(documents(DEFINITIONS))
@EXAMPLES
def test_a_part_reads_the_same_alone_and_in_its_document(text: str) -> None:
    for section in sections(text):
        alone = text[section.body_start : section.end]
        part = Part(text, section.body_start, section.end)
        assert part == alone
        assert everything_of(read_blocks(part)) == everything_of(read_blocks(alone))


PLAIN_LINES = [
    *("", "", "a", "Phase: shape", "- a", "- b [x](y)", "# a", "## a ##", "### a #b"),
    *("a  ", "# a # ", "\u00a0", "- .  b", ")  b"),
]
ODD_LINES = [
    *("a\tb", "- a\t", "# a #\t", "- .\tb", ".\tb", ")\tb"),
    *("-", "- ", "-  a", "- - a", "- # a", "-a", "#", "# ", "####### a", "#a", "#- a"),
    *("- [a]: b", "[a]: b", "1. a", "> a"),
    *("---", "===", " a", "\ta", "```", "* a", "\\", "\x0c", "a\0", "a<!--", "\ufeffa"),
]


@given(st.lists(st.sampled_from([*PLAIN_LINES, *PLAIN_LINES, *ODD_LINES]), max_size=8))
@EXAMPLES
@example(["- a", "b", "", "c"])
@example(["- a", "", "", "- b"])
@example(["a", "- b", "c", "# d", "e", ""])
def test_what_is_read_without_parser_is_what_the_parser_reads(lines: list[str]) -> None:
    text = "\n".join(lines)
    plain = as_plain(text)
    assume(plain is not None)
    assert plain is not None
    assert everything_of(plain) == everything_of(read_all(text))


@EXAMPLES
@given(st.one_of(st.text(), documents(DEFINITIONS)))
def test_whatever_is_taken_for_plain_is_plain(text: str) -> None:
    plain = as_plain(text)
    assert plain is None or everything_of(plain) == everything_of(read_all(text))


def test_what_agents_write_most_is_read_without_the_parser() -> None:
    assert as_plain("# Evidence\n\n## Handoff\n\n- parser changed\n- Round: 2\n\nAll [tests](x) pass.\n") is not None
