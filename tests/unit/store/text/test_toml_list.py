"""One list of a TOML file is set, and every other byte of it stays."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from detent.store.text.toml_list import with_list

COMMENTED = """# head
[commands]
test = "pytest"   # a comment with [proof] in it

[proof]   # what green tests must prove
# red = ["never"]
minutes = 30 # some
text = \"\"\"
[proof]
red = ["no"]
\"\"\"
red = [ # old ones
    "tests/a.py::a",  # since June ]
    'tests/b.py::b',
] # kept
[agents]
default = "pi"
"""


def test_list_that_is_there_is_replaced_and_all_else_stays() -> None:
    made = with_list(COMMENTED, "proof", "red", ["tests/b.py::b"])
    start, end = COMMENTED.index("red = [ # old"), COMMENTED.index(" # kept")
    assert made == f'{COMMENTED[:start]}red = ["tests/b.py::b"]{COMMENTED[end:]}'


def test_list_that_is_not_there_is_added_below_its_table() -> None:
    made = with_list("[proof] # x\nminutes = 3\n[agents]\n", "proof", "red", ["a::b", "c::d"])
    assert made == '[proof] # x\nred = [\n    "a::b",\n    "c::d",\n]\nminutes = 3\n[agents]\n'


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("text", ["", "a = 1", "[commands]\ntest = 'x'\n"])
def test_table_that_is_not_there_is_added_at_the_end(text: str, end: str) -> None:
    before = text.replace("\n", end)
    made = with_list(before, "proof", "red", ["a::b"])
    assert made.startswith(before)
    assert tomllib.loads(made)["proof"] == {"red": ["a::b"]}
    assert (end == "\r\n" and "\n" in text) == ("\r\n" in made)


@pytest.mark.parametrize("text", ["proof = { minutes = 3 }\n", "proof.minutes = 3\n", "broken = [\n"])
def test_table_written_in_another_way_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        with_list(text, "proof", "red", ["a::b"])


@given(st.lists(st.text(max_size=20), max_size=4))
def test_any_names_come_back_as_they_were(names: list[str]) -> None:
    try:
        made = with_list(COMMENTED, "proof", "red", names)
    except (ValueError, UnicodeEncodeError):
        assert any(0xD800 <= ord(letter) < 0xE000 for name in names for letter in name)
    else:
        assert tomllib.loads(made)["proof"]["red"] == names
