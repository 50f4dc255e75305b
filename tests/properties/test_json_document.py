"""Whatever JSON a document holds, writing the engine's values changes those and keeps all other values in order."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from detent.machines.load import load
from detent.runner.make.vocabulary import vocabulary
from detent.store.text.codecs import CODECS

EXAMPLES = settings(max_examples=max(200, settings().max_examples))
CODEC = CODECS["json_document"](load("tests/data/machines/thread.toml", vocabulary())[0])
NAMES = st.sampled_from(["a", "é", 'q"', "", "phase", "title", "data", "/", "current_run_id"])
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["", "x", '"}{', "\\"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)
INDENTS = st.sampled_from([None, None, 0, 2, "\t"])
SEPARATORS = st.sampled_from([(",", ":"), (", ", ": "), (" ,  ", " : ")])


@st.composite
def documents(draw: st.DrawFn) -> str:
    data = draw(st.dictionaries(NAMES, VALUES, max_size=5))
    phase: dict[str, Any] = {"type": draw(st.sampled_from(["Running", "Paused"]))}
    if draw(st.booleans()):
        phase = {
            "data": {"iteration": draw(st.integers(0, 9)), **draw(st.dictionaries(NAMES, VALUES, max_size=2))}
        } | phase
    items = list({**data, "phase": phase}.items())
    text = json.dumps(dict(draw(st.permutations(items))), indent=draw(INDENTS), separators=draw(SEPARATORS))
    return f"{draw(st.sampled_from(['', chr(0xFEFF), ' ']))}{text}{draw(st.sampled_from(['', chr(10), ' ']))}"


WANTED = st.builds(
    lambda state, count, rest: {
        "/phase/type": state,
        **({"/phase/data/iteration": str(count)} if state == "Running" else {}),
        **rest,
    },
    st.sampled_from(["Running", "Paused", "Done"]),
    st.integers(0, 9),
    st.fixed_dictionaries(
        {}, optional={"/title": st.sampled_from(["x", "é\n", '"']), "/current_run_id": st.sampled_from(["", "r"])}
    ),
)


def changed(data: dict[str, Any], wanted: dict[str, str]) -> dict[str, Any]:
    """What the document must hold afterwards."""
    phase = {**data["phase"], "type": wanted["/phase/type"]}
    if "/phase/data/iteration" in wanted:
        inner = phase.get("data")
        phase["data"] = {
            **(inner if isinstance(inner, dict) else {}),
            "iteration": int(wanted["/phase/data/iteration"]),
        }
    else:
        phase.pop("data", None)
    rest = {label[1:]: value or None for label, value in wanted.items() if label.count("/") == 1}
    return {**data, "phase": phase, **rest}


@given(documents(), WANTED)
@EXAMPLES
def test_only_values_change(text: str, wanted: dict[str, str]) -> None:
    before = json.loads(text.removeprefix("\ufeff"))
    written = CODEC.write(text, wanted)
    after = json.loads(written.removeprefix("\ufeff"))
    assert after == changed(before, wanted)
    assert list(after)[: len(before)] == list(before), "the order of keys stays"
    assert CODEC.write(written, wanted) == written
    assert CODEC.read(written).state == wanted["/phase/type"]
    head, tail = len(text) - len(text.lstrip("\ufeff ")), len(text) - len(text.rstrip())
    assert written[:head] == text[:head]
    assert written[len(written) - tail :] == text[len(text) - tail :]


@given(documents())
@EXAMPLES
def test_a_document_that_shows_the_values_is_not_touched(text: str) -> None:
    data = json.loads(text.removeprefix("\ufeff"))
    wanted = {"/phase/type": data["phase"]["type"]}
    if wanted["/phase/type"] == "Running" and "data" in data["phase"]:
        wanted["/phase/data/iteration"] = str(data["phase"]["data"]["iteration"])
    elif "data" in data["phase"]:
        return
    assert CODEC.write(text, wanted) == text


@given(st.text(max_size=30) | documents().map(lambda text: text[:-2]) | VALUES.map(json.dumps), documents(), WANTED)
@EXAMPLES
def test_any_damaged_text_can_be_repaired(damaged: str, good: str, wanted: dict[str, str]) -> None:
    repaired = CODEC.repair(damaged, good, wanted)
    content = CODEC.read(repaired)
    assert {label: content.fields[label].value for label in wanted} == wanted
