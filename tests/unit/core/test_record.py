"""Records are immutable values: made by place, by name or by default, equal by content, and strict about fields."""

from __future__ import annotations

import pytest

from detent.core.record import Record


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
        ((), {}, "Point needs 'across'"),
        ((1,), {}, "Point needs 'up'"),
        ((1,), {"label": "here"}, "Point needs 'up'"),
        ((1,), {"colour": "red"}, "Point needs 'up'"),
        ((), {"across": 1, "colour": "red"}, "Point needs 'up'"),
        ((1, 2, "here", 4), {}, "Point takes 3 values, 4 were given"),
        ((1, 2), {"up": 3}, "Point got twice 'up'"),
        ((1, 2, "here"), {"label": "there"}, "Point got twice 'label'"),
        ((1, 2), {"colour": "red"}, "Point has no field 'colour'"),
        ((1, 2, "here"), {"colour": "red"}, "Point has no field 'colour'"),
    ],
)
def test_a_wrong_set_of_values_is_refused(values: tuple[object, ...], named: dict[str, object], problem: str) -> None:
    with pytest.raises(TypeError, match=problem):
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
    with pytest.raises(TypeError, match="Empty takes 0 values, 1 were given"):
        Empty(1)
