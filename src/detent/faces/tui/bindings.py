"""Which key does what: the words of each key, and the action behind it where that is not called the same."""

from __future__ import annotations

from textual.binding import Binding

from detent.faces.tui.keys import FOOTER, KEYS, SHOWN_KEYS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_ACTIONS = {
    "enter": "choose",
    "slash": "filter",
    "a": "take_verb('approve')",
    "r": "take_verb('reject')",
    "p": "read('prove')",
    "d": "read('diff')",
    "e": "read('evidence')",
}


def all_bindings() -> Iterator[Binding]:
    for key, label, meaning in KEYS:
        action = _ACTIONS.get(key, label)
        shown = SHOWN_KEYS.get(key, key)
        yield Binding(key, action, label, show=key in FOOTER, key_display=shown, tooltip=meaning)
    yield Binding("escape", "close", show=False)
