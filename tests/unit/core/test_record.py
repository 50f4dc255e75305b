"""Records are immutable values: made by place, by name or by default, equal by content, and strict about fields."""

from __future__ import annotations

import sys
from types import FrameType
from typing import TYPE_CHECKING

import pytest

from detent.core.record import Record

if TYPE_CHECKING:
    from _typeshed import TraceFunction


class Point(Record):
    across: int
    up: int
    label: str = "nowhere"


class Spot(Record):
    across: int
    up: int
    label: str = "nowhere"


class Empty(Record):
    pass


@pytest.mark.parametrize(
    "made",
    [
        Point(1, 2, "here"),
        Point(1, 2, label="here"),
        Point(1, up=2, label="here"),
        Point(label="here", up=2, across=1),
        Point(1, 2).replace(label="here"),
        Point(0, 0, "here").replace(across=1, up=2),
    ],
)
def test_a_record_is_the_same_however_it_was_made(made: Point) -> None:
    assert (made.across, made.up, made.label) == (1, 2, "here")
    assert made == Point(1, 2, "here")
    assert hash(made) == hash(Point(1, 2, "here"))


def test_a_default_stands_in_for_what_was_not_given() -> None:
    assert Point(1, 2).label == "nowhere"
    assert Point(across=1, up=2) == Point(1, 2, "nowhere")


@pytest.mark.parametrize("other", [Point(1, 3), Point(2, 2), Point(1, 2, "here"), Spot(1, 2), (1, 2, "nowhere"), None])
def test_records_differ_by_content_and_by_kind(other: object) -> None:
    assert Point(1, 2) != other


def test_a_record_can_not_be_changed() -> None:
    point = Point(1, 2)
    with pytest.raises(AttributeError, match=r"Point is immutable; use replace\(across=...\)"):
        point.across = 5  # type: ignore[misc]  # that it is refused is what is tested
    with pytest.raises(AttributeError, match="Point is immutable"):
        del point.across
    with pytest.raises(AttributeError, match="immutable"):
        point.colour = "red"  # the same for a field it never had
    assert point == Point(1, 2)


def test_replace_leaves_the_old_one_alone() -> None:
    point = Point(1, 2)
    assert point.replace(up=9) == Point(1, 9)
    assert point.replace() == point
    assert point == Point(1, 2)


@pytest.mark.parametrize(
    ("values", "named", "problem"),
    [
        ((), {}, "missing 2 required positional arguments: 'across' and 'up'"),
        ((1,), {}, "missing 1 required positional argument: 'up'"),
        ((1,), {"label": "here"}, "missing 1 required positional argument: 'up'"),
        ((1,), {"colour": "red"}, "unexpected keyword argument 'colour'"),
        ((), {"across": 1, "colour": "red"}, "unexpected keyword argument 'colour'"),
        ((1, 2, "here", 4), {}, "takes from 3 to 4 positional arguments but 5 were given"),
        ((1, 2), {"up": 3}, "multiple values for argument 'up'"),
        ((1, 2, "here"), {"label": "there"}, "multiple values for argument 'label'"),
        ((1, 2), {"colour": "red"}, "unexpected keyword argument 'colour'"),
        ((1, 2, "here"), {"colour": "red"}, "unexpected keyword argument 'colour'"),
    ],
)
def test_a_wrong_set_of_values_is_refused(values: tuple[object, ...], named: dict[str, object], problem: str) -> None:
    with pytest.raises(TypeError, match=rf"Point\(\) .*{problem}"):
        Point(*values, **named)  # type: ignore[arg-type]  # that it is refused is what is tested


def test_replace_refuses_a_field_that_is_not_there() -> None:
    with pytest.raises(TypeError, match="Point has no field colour, weight"):
        Point(1, 2).replace(weight=1, colour="red")


def test_a_record_shows_and_matches_its_fields() -> None:
    assert repr(Point(1, 2)) == "Point(across=1, up=2, label='nowhere')"
    match Point(1, 2, "here"):
        case Point(across, up, label=label):
            assert (across, up, label) == (1, 2, "here")
        case _:
            pytest.fail("a record matches its own pattern")


def test_a_record_without_fields_takes_no_value() -> None:
    assert Empty() == Empty()
    with pytest.raises(TypeError, match=r"Empty\(\) takes 1 positional argument but 2 were given"):
        Empty(1)  # type: ignore[call-arg]  # that it is refused is what is tested


def test_a_default_before_a_field_without_one_is_refused() -> None:
    with pytest.raises(TypeError, match="Odd: fields without a default come first"):

        class Odd(Record):
            first: int = 1
            second: int  # type: ignore[misc]  # that it is refused is what is tested


def test_a_record_made_under_a_tracer_is_the_same() -> None:
    """A tracer looks into the frame that makes the record, and may put back what was taken out of its variables."""

    def trace(frame: FrameType, _event: str, _value: object) -> TraceFunction:
        frame.f_locals.get("self")
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        made = Point(1, 2)
    finally:
        sys.settrace(before)
    assert made == Point(1, 2)


def test_a_record_is_made_of_its_fields_alone() -> None:
    with pytest.raises(TypeError, match="Own: a record is made of its fields alone"):

        class Own(Record):
            across: int

            def __init__(self) -> None:
                pass

    with pytest.raises(TypeError, match="none of which is called self"):

        class Itself(Record):
            self: int
