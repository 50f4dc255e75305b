"""Whatever a document holds, writing the engine's fields changes their values and not another byte."""

from __future__ import annotations

import re

from hypothesis import example, given, settings
from hypothesis import strategies as st

from detent.store.text.fields import read_fields, replace_value, write_fields

LABELS = ("Phase", "Status", "Validator status", "Objective", "Validation plan", "Repair applied")
OWNED = ("Phase", "Validator status", "Repair applied")
EXAMPLES = settings(max_examples=max(300, settings().max_examples))

LABEL_LINES = [
    *("Phase: a", "- Phase: a", "**Phase:** a", "**Phase**: a", "phase:", "Phase:a", "PHASE : a  ", "__Phase__: a"),
    *("Validator status: pass", "- **Repair applied:** no", "Status: new", "Objective: do it", "Validation plan:"),
    *("> Phase: q", "1. Phase: q", "| Phase: q |", "    Phase: q", "  - Phase: q", "Objective: `", "**Phase: a**"),
    *("Phase: a <!-- b -->", "Phase: <!--", "Repair applied: -->", "Objective: <a", "Status: [x]", "Phase: it's"),
]
OTHER_LINES = [
    *(
        "",
        "",
        "text",
        "more text here",
        "- item",
        "  - deeper",
        "# Title",
        "## Section",
        "---",
        "===",
        "```",
        "~~~",
        "```sh",
    ),
    *(
        "<!--",
        "-->",
        "<!-- c -->",
        "<div>",
        "</div>",
        "<a",
        ">",
        "> quote",
        "    code",
        "\tcode",
        "cmd: make",
        "Owner: Ann",
    ),
    *(
        "[a]: b 'x",
        "foo'",
        "[a]:",
        "\u2028",
        "é\u00a0",
        "`",
        "``",
        "\\",
        "*",
        "1. one",
        "+",
        "<?",
        "?>",
        "|a|b|",
        "\x0c",
    ),
]
ENDINGS = ["\n", "\n", "\n", "\r\n", "\r"]
LINES = st.sampled_from([*LABEL_LINES, *LABEL_LINES, *OTHER_LINES])


@st.composite
def documents(draw: st.DrawFn) -> str:
    ending = draw(st.sampled_from(ENDINGS))
    lines = draw(st.lists(LINES, max_size=14))
    endings = [draw(st.sampled_from(ENDINGS)) if draw(st.booleans()) and len(lines) < 5 else ending for _ in lines]
    text = "".join(line + end for line, end in zip(lines, endings, strict=True))
    if text and draw(st.booleans()):
        text = text.rstrip("\r\n")
    return draw(st.sampled_from(["", "", "\ufeff"])) + text


VALUES = st.dictionaries(
    st.sampled_from(OWNED), st.sampled_from(["", "a", "shape", "pass", "no", "12", "2026-01-02T03:04:05Z"])
)
LABEL_LINE = re.compile(
    rf" {{0,3}}(?:[-*+][ \t]+)?(?:\*\*|__)?(?:{'|'.join(OWNED)})(?:\*\*|__)?[ \t]*:(?:\*\*|__)?[ \t]*",
    re.IGNORECASE,
)


def split(text: str) -> list[tuple[str, str]]:
    """Every line and its ending."""
    return [(match[1], match[2]) for match in re.finditer(r"([^\r\n]*)(\r\n|\r|\n|\Z)", text) if match[0]]


def is_same(before: tuple[str, str], after: tuple[str, str]) -> bool:
    """A label line may differ in its value; the last line of a document has no ending until another one follows it."""
    match, other = LABEL_LINE.match(before[0]), LABEL_LINE.match(after[0])
    if before[1] and after[1] and before[1] != after[1]:
        return False
    return match[0].rstrip() == other[0].rstrip() if match and other else before[0] == after[0]


def is_kept(before: list[tuple[str, str]], after: list[tuple[str, str]]) -> bool:
    """Whether `after` is `before` with values changed in label lines, and label lines or blank lines put in."""
    position = 0
    for line in after:
        if position < len(before) and is_same(before[position], line):
            position += 1
        elif line[0] and not LABEL_LINE.match(line[0]):
            return False
    return position == len(before)


@given(documents(), VALUES)
@example("Phase: a <!-- x\nValidator status: y -->\n", {"Phase": "shape", "Validator status": "pass"})
@example("foo <a\nPhase: ?\nx>\n", {"Phase": "shape"})
@example("Phase: a\nStatus: b\n---\n", {"Phase": "shape", "Repair applied": "no"})
@EXAMPLES
def test_only_values_change(text: str, values: dict[str, str]) -> None:
    written = write_fields(text, LABELS, values)
    found = read_fields(written, LABELS)
    assert {label: found[label].line_value for label in values} == values
    assert write_fields(written, LABELS, values) == written
    assert text.startswith("\ufeff") == written.startswith("\ufeff")
    assert is_kept(split(text.removeprefix("\ufeff")), split(written.removeprefix("\ufeff"))), (text, written)
    if all(label in read_fields(text, LABELS) for label in values) and not set("<[`") & set(text):
        assert len(split(written)) == len(split(text)), "nothing was lost, so that nothing is put in"


@given(documents(), VALUES)
@EXAMPLES
def test_a_document_that_shows_the_values_is_not_touched(text: str, values: dict[str, str]) -> None:
    found = read_fields(text, LABELS)
    shown = {label: found[label].line_value for label in values if label in found}
    assert write_fields(text, LABELS, shown) == text


@given(documents())
@EXAMPLES
def test_spans_of_a_field_lie_where_its_value_is_seen(text: str) -> None:
    for field in read_fields(text, LABELS).values():
        assert field.line_start < field.start <= field.end <= field.line_end <= len(text)
        assert field.end <= field.stop <= field.reach
        line = text[field.line_start : field.line_end]
        assert field.label.lower() in line.lower()
        assert text[field.start : field.end].strip() == text[field.start : field.end]


LOCKED = st.lists(
    st.sampled_from(["one", "two three", "- cmd: make", "```\nmake\n```", "", "  indented", "> quote", "é"]), max_size=4
).map(lambda lines: "\n".join(lines).strip())
PLAIN = st.lists(
    st.sampled_from(["Phase: a", "Status: b", "text", "", "# T", "## S", "- item", "Validation plan: x", "Objective:"]),
    max_size=10,
)


@given(PLAIN, LOCKED, st.sampled_from(["\n", "\r\n"]), st.booleans())
@EXAMPLES
def test_a_locked_value_reads_back_and_no_other_changes(
    lines: list[str], locked: str, ending: str, is_ended: bool
) -> None:
    text = ending.join(lines) + (ending if is_ended and lines else "")
    before = {label: field.value for label, field in read_fields(text, LABELS).items()}
    restored = replace_value(text, LABELS, "Validation plan", locked)
    after = {label: field.value for label, field in read_fields(restored, LABELS).items()}
    assert after == {**before, "Validation plan": locked}
    assert replace_value(restored, LABELS, "Validation plan", locked) == restored
