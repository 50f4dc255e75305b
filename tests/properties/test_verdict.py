"""No text without the wanted word gives a verdict, and what a reader does not see never changes one."""

from __future__ import annotations

import re

from hypothesis import example, given, settings
from hypothesis import strategies as st

from detent.gates.verdict import read_verdict
from detent.store.text.markdown import scan

WORDS = ("PASS", "FAIL")
EXAMPLES = settings(max_examples=max(300, settings().max_examples))

PARTS = [
    *(
        "PASS",
        "FAIL",
        "pass",
        "Fail",
        "Verdict:",
        "verdict",
        "**",
        "__",
        "`",
        "# ",
        "### ",
        "- ",
        "> ",
        "1. ",
        "[ ] ",
        "[x] ",
    ),
    *(
        " ",
        " ",
        ": ",
        " - ",
        "=",
        ".",
        "?",
        "!",
        ",",
        "~~",
        "not ",
        "would ",
        "bypass",
        "passed",
        "PASS_RATE",
        "failsafe",
    ),
    *(
        "\n",
        "\n",
        "\n",
        "\n\n",
        "\n\n",
        "text",
        "all tests ",
        "é",
        "\u017f",
        "|",
        "    ",
        "---\n",
        "final ",
        "<b>",
        "\\",
    ),
]
TEXTS = st.lists(st.sampled_from(PARTS), max_size=25).map("".join)
BLOCKS = st.lists(
    st.sampled_from(
        [
            *(
                "Verdict: PASS",
                "Verdict: FAIL",
                "**Verdict:** pass",
                "### Verdict: FAIL",
                "PASS",
                "- FAIL",
                "`PASS`",
                "words",
            ),
            *(
                "PASS with notes",
                "it will pass",
                "this must FAIL",
                "tests pass\nlint fails",
                "> PASS",
                "Verdict:",
                "PASS\n---",
            ),
            *("Verdict: PASS or FAIL", "one\ntwo", "does not pass", "FAIL\n===", "- [ ] PASS", "~~PASS~~"),
        ]
    ),
    max_size=5,
)
HIDDEN = st.sampled_from(
    [
        "```\n{}\n```",
        "~~~ text\n{}\n~~~",
        "<!-- {} -->",
        "<!--\n\n{}\n\n-->",
        "<div>\n{}\n</div>",
    ]
)
INSIDE = st.sampled_from(
    [
        *("PASS", "FAIL", "Verdict: PASS", "Verdict: FAIL", "Verdict: PASS\nVerdict: FAIL", "", "nothing", "# FAIL"),
        *("- PASS", "> FAIL", "## Review"),
    ]
)


@given(TEXTS)
@example("Verdict: NOT PA\u017fS")
@EXAMPLES
def test_a_verdict_is_a_word_that_stands_there(text: str) -> None:
    found = read_verdict(text, WORDS)
    assert found is None or found in WORDS
    if found is not None:
        shown = "\n".join(line.text for line in scan(text) if line.kind in ("text", "heading"))
        assert re.search(rf"(?<![^\W_]){found}(?![^\W_])", shown, re.IGNORECASE)


@given(TEXTS.map(lambda text: re.sub("pa(?:s|\u017f)(?:s|\u017f)", "okay", text, flags=re.IGNORECASE)))
@EXAMPLES
def test_without_the_word_there_is_no_pass(text: str) -> None:
    assert read_verdict(text, WORDS) != "PASS"


@given(BLOCKS, st.data())
@EXAMPLES
def test_what_is_hidden_changes_nothing(blocks: list[str], data: st.DataObject) -> None:
    before = read_verdict("\n\n".join(blocks), WORDS)
    place = data.draw(st.integers(0, len(blocks)), "place")
    hidden = data.draw(HIDDEN, "hidden").format(data.draw(INSIDE, "inside"))
    after = read_verdict("\n\n".join([*blocks[:place], hidden, *blocks[place:]]), WORDS)
    assert after == before


@given(BLOCKS)
@EXAMPLES
def test_one_clear_opposite_word_is_never_outvoted(blocks: list[str]) -> None:
    """However often a text says PASS, one explicit FAIL keeps it from passing."""
    assert read_verdict("\n\n".join([*blocks, "Verdict: FAIL"]), WORDS) in ("FAIL", None)


@given(TEXTS)
@EXAMPLES
def test_case_never_matters(text: str) -> None:
    assert read_verdict(text.upper(), WORDS) == read_verdict(text.lower(), WORDS)
