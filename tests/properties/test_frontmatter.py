"""Heads read by hand say what the YAML library says, and writing the engine's values changes not another byte."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import yaml
from hypothesis import example, given, reject, settings
from hypothesis import strategies as st

from detent.errors import UnreadableError
from detent.machines.load import load
from detent.runner.make.vocabulary import vocabulary
from detent.store.text.codecs import CODECS
from detent.store.text.fields import Found
from detent.store.text.frontmatter import find_block
from detent.store.text.yaml_entries import NOTHING, NUMBER, TEXT, read_entries

EXAMPLES = settings(max_examples=max(200, settings().max_examples))
CODEC = CODECS["frontmatter"](load("tests/data/machines/ticket.toml", vocabulary())[0])
OWNED = ("status", "review_round", "crash_count")

DOUBTFUL = list("abZ_é0129 :#-'\"\\/.,[]{}&*!|>%@`~?=<\t\x85\u2028\ufeff\x07")
SCALARS = st.one_of(
    st.text(st.sampled_from(DOUBTFUL), max_size=8),
    st.sampled_from(
        [
            *(
                "yes",
                "No",
                "off",
                "null",
                "~",
                "1",
                "-1",
                "0",
                "01",
                "0x1",
                "1.5",
                "1e3",
                "1_0",
                ".inf",
                "2026-01-01",
                "1:30",
            ),
            *(
                "a b",
                "'x'",
                '"x y"',
                "'it''s'",
                '"a\\n"',
                "|\n  a\n  b",
                ">-\n  a\n\n  b",
                "a\n  b",
                "\n  a",
                "|+\n  a\n\n",
            ),
            *(
                "[a]",
                "{a: b}",
                "&a b",
                "*a",
                "!!str a",
                "# c",
                "a # c",
                "a#b",
                "http://x/y",
                "x: y",
                "working",
                "done",
                "",
            ),
        ]
    ),
)
KEYS = st.sampled_from(["a", "b-c", "_x", "yes", '"q"', "summary", "branch", *OWNED])
LINES = st.one_of(
    st.tuples(KEYS, st.sampled_from([": ", ": ", ":", ":  ", " : "]), SCALARS).map("".join),
    st.sampled_from(
        ["", "  ", "# c", "  # c: d", "  more", "- x", "...", "? a", ": b", "\t", "list:\n  - a\n  - b: c"]
    ),
)


@st.composite
def heads(draw: st.DrawFn) -> str:
    ending = draw(st.sampled_from(["\n", "\n", "\r\n", "\r"]))
    lines = draw(st.lists(LINES, max_size=6))
    return "".join(line.replace("\n", ending) + ending for line in lines)


def library(text: str) -> dict[str, yaml.Node] | None:
    """What the library makes of a head, by key; None when it refuses."""
    try:
        top = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError:
        return None
    assert top is None or isinstance(top, yaml.MappingNode)
    return {} if top is None else {key.value: value for key, value in top.value if isinstance(key, yaml.ScalarNode)}


def value_of(node: yaml.Node) -> Any:
    return yaml.SafeLoader("").construct_object(node)


@given(heads())
@example("a: b\n  # c\nb-c: d\n")
@example("a:\n# c\nb-c: 1\n")
@EXAMPLES
def test_every_head_reads_as_the_library_reads_it(text: str) -> None:
    try:
        entries = read_entries(text)
    except UnreadableError:
        return
    expected = library(text)
    assert expected is not None, "what the library can't read, nobody reads"
    for key, entry in entries.items():
        if entry.kind == TEXT:
            assert value_of(expected[key]) == entry.value
        elif entry.kind == NUMBER:
            assert value_of(expected[key]) == int(entry.value)
        elif entry.kind == NOTHING:
            assert value_of(expected[key]) is None
    assert entries.keys() == expected.keys()


@st.composite
def documents(draw: st.DrawFn) -> str:
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    keys = draw(st.permutations([*OWNED, "summary", "other", "tags"]))
    shown = {
        "status": st.sampled_from(
            ["working", "'working'", "working # why", "\n  working", "|\n  working", '"working"  ']
        ),
        "tags": st.sampled_from(["[a,  b]", "\n  - a\n  - b", "{a: [1]}", "\n  status: x"]),
    }
    lines = [f"{key}: {draw(shown.get(key, SCALARS))}" for key in keys if key == "status" or draw(st.booleans())]
    inside = "".join(line.replace("\n", newline) + newline for line in lines)
    if draw(st.booleans()):
        inside = f"# first{newline}{newline}{inside}"
    body = draw(st.text(st.sampled_from(list("a#-\r\n: é`\u2028")), max_size=20))
    return f"{draw(st.sampled_from(['', chr(0xFEFF)]))}---{newline}{inside}---{newline}{body}"


TEXTS = st.text(max_size=12) | st.sampled_from(["a\nb", "a\n\n  b ", "- x\n- y", "yes", "1", " a", "a: b", "|", "a #b"])
VALUES = st.fixed_dictionaries(
    {"status": st.sampled_from(["pending", "agent-review", "done"])},
    optional={
        "review_round": st.integers(0, 12).map(str),
        "crash_count": st.integers(0, 12).map(str),
        "summary": TEXTS.filter(lambda text: "\0" not in text).map(lambda text: text.strip("\n")),
    },
)


def skeleton(text: str, fields: Mapping[str, Found], labels: Collection[str]) -> str:
    """The text without the values of these labels; the gap in front of a value belongs to it."""
    for field in sorted((fields[label] for label in labels), key=lambda field: field.start, reverse=True):
        text = f"{text[: field.start].removesuffix(' ')}\0{text[field.end :]}"
    return text


@given(documents(), VALUES)
@EXAMPLES
def test_only_values_change(text: str, values: dict[str, str]) -> None:
    try:
        before = CODEC.read(text)
    except UnreadableError:
        reject()
    written = CODEC.write(text, values)
    after = CODEC.read(written)
    read = {label: field.value for label, field in after.fields.items()}
    assert read == {label: field.value for label, field in before.fields.items()} | values
    assert CODEC.write(written, values) == written
    changed = [
        label for label, value in values.items() if label in before.fields and before.fields[label].value != value
    ]
    added = [label for label in values if label not in before.fields]
    block = find_block(text)
    assert block is not None
    rest = len(text) - block.end  # of the closing line and the body
    kept = skeleton(text, before.fields, changed)
    lines = "".join(f"{label}:\0{block.newline}" for label in added)
    assert skeleton(written, after.fields, [*changed, *added]) == kept[:-rest] + lines + kept[-rest:]


@given(documents())
@EXAMPLES
def test_a_document_that_shows_the_values_is_not_touched(text: str) -> None:
    try:
        shown = {label: field.value for label, field in CODEC.read(text).fields.items()}
    except UnreadableError:
        reject()
    assert CODEC.write(text, shown) == text


@given(st.text(max_size=60) | heads().map(lambda head: f"---\n{head}---\nbody\n") | documents(), documents())
@EXAMPLES
def test_any_damaged_text_can_be_repaired(damaged: str, good: str) -> None:
    try:
        CODEC.read(good)
    except UnreadableError:
        reject()
    owned = {"status": "working", "review_round": "1", "crash_count": "0"}
    repaired = CODEC.repair(damaged, good, owned)
    content = CODEC.read(repaired)
    assert {label: content.fields[label].value for label in owned} == owned
    block = find_block(damaged)
    if block is not None:
        assert repaired[content.body_start :] == damaged[block.body_start :]
