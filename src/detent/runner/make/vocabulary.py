"""The closed lists a machine file may draw on, gathered from the rooms that own them."""

from __future__ import annotations

from detent.core.machine import Vocabulary
from detent.gates.registry import judges_tree, parameters
from detent.runner.step.git_steps import STEPS
from detent.runner.step.homes import PROVISIONS
from detent.runner.step.promises import EFFECTS
from detent.store.journal.native_log import KINDS
from detent.store.journal.shown import SOURCES
from detent.store.text.codecs import CODECS


def vocabulary() -> Vocabulary:
    prepares = tuple(dict.fromkeys((*PROVISIONS, *STEPS)))
    names = {"effects": tuple(EFFECTS), "prepares": prepares, "codecs": tuple(CODECS), "kinds": KINDS}
    return Vocabulary(checks=parameters(), **names, shown=SOURCES, judging=judges_tree)
