"""Tests of the seam between native files and what they are written in."""

from __future__ import annotations

from detent.core.machine import Register
from detent.machines.load import load
from detent.runner.make.vocabulary import vocabulary
from detent.store.text.codecs import CODECS, labels_of
from detent.store.text.fields import read_fields

PHASE = load("phase", vocabulary())[0]


def test_a_machine_file_may_name_every_codec() -> None:
    assert vocabulary().codecs == tuple(CODECS)


def test_the_state_label_is_first_and_counters_are_labels() -> None:
    limits = {name: limit.replace(field="Rounds") for name, limit in PHASE.limits.items()}
    registers = {"origin": Register("origin", field="Origin"), "hidden": Register("hidden")}
    labels = labels_of(PHASE.replace(limits=limits, registers=registers))
    assert labels[0] == "Phase"
    assert set(labels) == {"Phase", "Last updated", "Rounds", "Origin", *PHASE.fields}


def test_markdown_fields_reads_what_reader_sees_and_has_no_head() -> None:
    text = "- **Phase:** `shape`\nObjective: o\n\n## Answers\n"
    content = CODECS["markdown_fields"](PHASE).read(text)
    assert (content.state, content.body_start) == ("shape", 0)
    assert content.fields == read_fields(text, labels_of(PHASE))
