"""The closed lists a machine file may draw on, gathered from the rooms that own them."""

from __future__ import annotations

from detent.core.machine import Vocabulary
from detent.gates.registry import judges_tree, parameters
from detent.runner.step.registry import effects, steps
from detent.store.journal.events import KINDS
from detent.store.journal.shown import SOURCES
from detent.store.text.codecs import CODECS


def vocabulary() -> Vocabulary:
    names = {"effects": tuple(effects()), "prepares": tuple(steps()), "codecs": tuple(CODECS), "kinds": tuple(KINDS)}
    return Vocabulary(checks=parameters(), **names, shown=SOURCES, judging=judges_tree)
