"""Draws the way a task took through its machine: states in a row, each move taken as an arc with its number.

Moves forward lie above the row, moves back below; refused requests are red. A second drawing, turned by a quarter, is
for narrow screens and for machines with many states. Only classes are used: a strict policy forbids styles in elements.
"""

from __future__ import annotations

import re

from detent.core.record import Record
from detent.page.text import escape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from detent.page.values import Event

WIDEST_ROW = 10  # more states than this are only drawn as a column
MOST_STATES = 16  # of a larger machine only states that were reached or requested are drawn
_MOST_NUMBERS = 3
_LETTER = 6.6  # average width of a letter in the drawing's font
_PLATE = 17.0  # height of the plate a number stands on
_WORD_END = re.compile(r"(?<=[_\-. ])|(?<=[a-z0-9])(?=[A-Z])")


class Arc(Record):
    """All moves and refused requests from one state to another."""

    source: str
    target: str  # empty: something that is no state of the machine
    numbers: tuple[int, ...] = ()
    refused: int = 0

    def words(self) -> str:
        parts = [f"move {', '.join(map(str, self.numbers))}"] if self.numbers else []
        parts += [f"refused {self.refused} time{'' if self.refused == 1 else 's'}"] if self.refused else []
        return f"{self.source} → {self.target or 'a state that is not there'}: {'; '.join(parts)}"

    def label(self) -> str:
        if len(self.numbers) <= _MOST_NUMBERS:
            return " · ".join(map(str, self.numbers))
        return f"{self.numbers[0]} … {self.numbers[-1]} \u00d7{len(self.numbers)}"


class Curve(Record):
    """Where an arc runs, and where its label sits."""

    path: str
    x: float
    y: float


def arcs_of(states: Sequence[str], events: Sequence[Event]) -> tuple[Arc, ...]:
    """Every pair of states of a move or a request, in the order of the journal.

    A request for something that is no state of the machine is drawn where it was made.
    """
    arcs: dict[tuple[str, str], Arc] = {}
    for event in events:
        if event.source not in states:
            continue
        key = (event.source, event.target if event.target in states else "")
        arc = arcs.get(key, Arc(*key))
        if event.kind == "moved":
            arcs[key] = arc.replace(numbers=(*arc.numbers, event.number))
        elif event.kind == "refused":
            arcs[key] = arc.replace(refused=arc.refused + 1)
    return tuple(arcs.values())


def picture(states: Sequence[str], ends: Sequence[str], current: str, events: Sequence[Event]) -> str:
    """The drawings with a caption; every number in them is a line of the list that follows on the page."""
    arcs = arcs_of(states, events)
    touched = {current, *(arc.source for arc in arcs), *(arc.target for arc in arcs)}
    reached = {current, *(arc.source for arc in arcs), *(arc.target for arc in arcs if arc.numbers)}
    shown = tuple(states) if len(states) <= MOST_STATES else tuple(name for name in states if name in touched)
    marks = _Marks(shown, tuple(ends), current, frozenset(reached))
    drawings = [_draw(_Column(shown, arcs), marks, arcs, "column" if len(shown) <= WIDEST_ROW else "only")]
    if len(shown) <= WIDEST_ROW:
        drawings.insert(0, _draw(_Row(shown, arcs), marks, arcs, "row"))
    hidden = len(states) - len(shown)
    more = f" {hidden} of {len(states)} states were neither reached nor asked for and are left out." if hidden else ""
    sides = "forward on the right, back on the left."
    if len(shown) <= WIDEST_ROW:
        sides = f'<span class="wide">forward above, back below.</span><span class="narrow">{sides}</span>'
    caption = (
        f"Numbers are moves in the order they were made, {sides} "
        '<b class="no">✕</b> is a wish that was refused. Pale states were never entered; a double line is an end.'
    )
    return f'<figure class="way">{"".join(drawings)}<figcaption>{caption}{more}</figcaption></figure>'


class _Marks(Record):
    shown: tuple[str, ...]
    ends: tuple[str, ...]
    current: str
    reached: frozenset[str]

    def kind(self, state: str) -> str:
        return "now" if state == self.current else "been" if state in self.reached else "pale"


class _Row:
    """States from left to right; an arc rises with the number of states it passes."""

    box_height = 42.0

    def __init__(self, states: Sequence[str], arcs: Sequence[Arc]) -> None:
        self.place = {name: number for number, name in enumerate(states)}
        self.width = 1000.0
        self.cell = self.width / len(states)
        self.box_width = min(self.cell - 14, 150.0)
        forward, back = _reach(arcs, self.place)
        self.rise = min(26.0, 150.0 / max(1, forward, back))
        self.top = 18 + (14 + self.rise * forward if forward else 0)
        self.height = self.top + self.box_height + (14 + self.rise * back if back else 0) + 18

    def centre(self, state: str) -> tuple[float, float]:
        return self.cell * (self.place[state] + 0.5), self.top + self.box_height / 2

    def curve(self, arc: Arc) -> Curve:
        steps = _steps(arc, self.place)
        out, into = (self.centre(name)[0] for name in (arc.source, arc.target or arc.source))
        side = self.box_width * 0.17 * (1 if steps >= 0 else -1)
        out, into = out + side, into - side
        edge, way = (self.top, -1) if steps >= 0 else (self.top + self.box_height, 1)
        # The control points lie a third beyond the apex: a cubic curve reaches three quarters of their height.
        apex = way * (14 + self.rise * abs(steps))
        path = f"M{out:.1f} {edge:.1f}C{out:.1f} {edge + apex * 4 / 3:.1f} {into:.1f} {edge + apex * 4 / 3:.1f}"
        return Curve(f"{path} {into:.1f} {edge:.1f}", (out + into) / 2, edge + apex)


class _Column:
    """The same, from top to bottom: forward on the right, back on the left."""

    box_height = 36.0
    box_width = 168.0

    def __init__(self, states: Sequence[str], arcs: Sequence[Arc]) -> None:
        self.place = {name: number for number, name in enumerate(states)}
        self.width = 360.0
        self.cell = 56.0
        self.height = self.cell * len(states)
        forward, back = _reach(arcs, self.place)
        self.left = 88.0 if back else 24.0
        self.rise = {1: 60.0 / max(1, forward - 1), -1: 48.0 / max(1, back - 1)}

    def centre(self, state: str) -> tuple[float, float]:
        return self.left + self.box_width / 2, self.cell * (self.place[state] + 0.5)

    def curve(self, arc: Arc) -> Curve:
        steps = _steps(arc, self.place)
        way = 1 if steps >= 0 else -1
        out, into = (self.centre(name)[1] for name in (arc.source, arc.target or arc.source))
        out, into = out + way * 7, into - way * 7
        edge = self.left + (self.box_width if way > 0 else 0)
        apex = way * (22 + min(26.0, self.rise[way]) * max(0, abs(steps) - 1))
        path = f"M{edge:.1f} {out:.1f}C{edge + apex * 4 / 3:.1f} {out:.1f} {edge + apex * 4 / 3:.1f} {into:.1f}"
        return Curve(f"{path} {edge:.1f} {into:.1f}", edge + apex, (out + into) / 2)


def _steps(arc: Arc, place: Mapping[str, int]) -> int:
    return place[arc.target or arc.source] - place[arc.source]


def _reach(arcs: Sequence[Arc], place: Mapping[str, int]) -> tuple[int, int]:
    """How many states the longest arc forward and the longest arc back pass."""
    steps = [_steps(arc, place) for arc in arcs]
    return max([1 if step == 0 else step for step in steps if step >= 0], default=0), -min([*steps, 0])


def _draw(layout: _Row | _Column, marks: _Marks, arcs: Sequence[Arc], name: str) -> str:
    width, height = layout.width, layout.height
    parts = [
        f'<svg class="{name}" viewBox="0 0 {width:.0f} {height:.0f}" role="img" aria-label="'
        f'{escape(_spoken(marks, arcs))}"><defs>{_arrow(f"{name}-taken", "tip")}</defs>'
    ]
    curves = [(arc, layout.curve(arc)) for arc in arcs]
    for arc, curve in curves:
        kind, tip = ("taken", f' marker-end="url(#{name}-taken)"') if arc.numbers else ("wished", "")
        parts.append(f'<path class="{kind}" d="{curve.path}"{tip}><title>{escape(arc.words())}</title></path>')
    parts += [_box(layout, marks, state) for state in marks.shown]
    taken: list[tuple[float, float, float]] = []
    parts += [_label(arc, curve, width, taken) for arc, curve in curves]
    return "".join([*parts, "</svg>"])


def _arrow(name: str, kind: str) -> str:
    return (
        f'<marker id="{name}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto">'
        f'<path class="{kind}" d="M0 1L10 5L0 9z"/></marker>'
    )


def _spoken(marks: _Marks, arcs: Sequence[Arc]) -> str:
    moves = "; ".join(arc.words() for arc in arcs) or "no move yet"
    return f"The way through the states. Now in {marks.current}. {moves}."


def _box(layout: _Row | _Column, marks: _Marks, state: str) -> str:
    x, y = layout.centre(state)
    wide, high = layout.box_width, layout.box_height
    left, top = x - wide / 2, y - high / 2
    parts = [f'<g class="{marks.kind(state)}"><title>{escape(state)}</title>']
    parts.append(f'<rect x="{left:.1f}" y="{top:.1f}" width="{wide:.1f}" height="{high:.1f}" rx="8"/>')
    if state in marks.ends:
        inner = f'x="{left + 3:.1f}" y="{top + 3:.1f}" width="{wide - 6:.1f}" height="{high - 6:.1f}"'
        parts.append(f'<rect class="inner" {inner} rx="5.5"/>')
    lines = _broken(state, int((wide - 12) / _LETTER))
    for number, line in enumerate(lines):
        down = y + 4.2 + (number - (len(lines) - 1) / 2) * 14
        parts.append(f'<text x="{x:.1f}" y="{down:.1f}">{escape(line)}</text>')
    return "".join([*parts, "</g>"])


def _broken(name: str, most: int) -> tuple[str, ...]:
    """A state's name on one line, or on two broken between its words; never with a letter changed."""
    if len(name) <= most:
        return (name,)
    ends = [match.start() for match in _WORD_END.finditer(name) if 0 < match.start() < len(name)]
    if not ends:
        return (name,) if len(name) <= most + 3 else (name[: most - 1] + "…",)
    cut = min(ends, key=lambda end: max(end, len(name) - end))
    lines = (name[:cut], name[cut:])
    return tuple(line if len(line) <= most + 2 else line[: most - 1] + "…" for line in lines)


def _label(arc: Arc, curve: Curve, width: float, taken: list[tuple[float, float, float]]) -> str:
    """The numbers of an arc on a small plate, with a red one beside it when a request for it was refused.

    No plate leaves the drawing, and none covers another as long as there is room near its arc.
    """
    plates = [("no", f"✕{arc.refused if arc.refused > 1 else ''}")] if arc.refused else []
    plates += [("yes", arc.label())] if arc.numbers else []
    widths = [10 + 6.2 * len(text) for _, text in plates]
    whole = sum(widths) + 2 * (len(widths) - 1)
    at = min(max(curve.x - whole / 2, 1.0), width - whole - 1)
    y = next((y for y in _near(curve.y) if not any(_meets((at, y, whole), other) for other in taken)), curve.y)
    taken.append((at, y, whole))
    parts = []
    for (kind, text), wide in zip(plates, widths, strict=True):
        plate = f'<rect x="{at:.1f}" y="{y - _PLATE / 2:.1f}" width="{wide:.1f}" height="{_PLATE:.0f}" rx="8.5"/>'
        words = f'<text x="{at + wide / 2:.1f}" y="{y + 3.8:.1f}">{escape(text)}</text>'
        parts.append(f'<g class="plate {kind}">{plate}{words}</g>')
        at += wide + 2
    return "".join(parts)


def _near(y: float) -> tuple[float, ...]:
    """Where a plate may lie: at its place, else a plate's height up or down, and so on."""
    return (y, *(y + way * step * (_PLATE + 1) for step in (1, 2, 3) for way in (1, -1)))


def _meets(label: tuple[float, float, float], other: tuple[float, float, float]) -> bool:
    is_beside = label[0] + label[2] <= other[0] or other[0] + other[2] <= label[0]
    return not is_beside and abs(label[1] - other[1]) < _PLATE
