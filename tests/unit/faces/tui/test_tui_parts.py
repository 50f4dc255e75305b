"""Tests of the dashboard's parts that need no screen: letters, notices, columns, wrapped lines, times."""

from __future__ import annotations

import pytest

from detent.core.decide import enter
from detent.faces.tui.gather import Count, Row, counts
from detent.faces.tui.keys import FOOTER, KEYS, SHOWN_KEYS, notices_words
from detent.faces.tui.menu import Choice, choice_for, letters
from detent.faces.tui.notices import SETTLE_S, Notices
from detent.faces.tui.words import age_words, cells, counted_words, ratio
from detent.runner.tell.explain import Move
from tests.unit.core.small import small

pytest.importorskip("textual", reason="textual is not installed: no dashboard to look at")

from detent.faces.tui.paint import painted
from detent.faces.tui.table import columns_for
from detent.faces.tui.words import Line

BACK = """
[[edge]]
name = "finish"
from = ["work", "look"]
to   = "over"
[[edge]]
name = "drop"
from = "look"
to   = "over"
by   = ["person"]
verb = "drop"
[[reopen]]
name = "redo-work"
from = "look"
to   = "work"
verb = "redo"
"""


def move(to: str, name: str = "") -> Move:
    return Move(name or f"to-{to}", "", to, ("person",), is_open=True, sign_off=False, missing=())


def test_the_machines_letter_comes_first_and_no_letter_twice() -> None:
    wanted = [("", "move", move("merge")), ("M", "move", move("work")), ("", "move", move("me")), ("", "stop", None)]
    assert letters(wanted) == ["e", "M", "a", "s"]


def test_where_letters_run_out_there_is_still_the_arrow() -> None:
    found = letters([("", "move", move("x", str(number))) for number in range(40)])
    assert len({key for key in found if key}) == 36
    assert found[36:] == [""] * 4


def test_a_choice_becomes_the_command_a_person_would_type() -> None:
    publish = move("published", "publish")
    assert Choice("a", "approve", "may", publish).words("n", "fine") == [
        *("approve", "--edge", "publish", "--reason", "fine", "--", "n")
    ]
    assert Choice("a", "approve", "may", publish).words("n", "") == ["approve", "--edge", "publish", "--", "n"]
    assert Choice("a", "answer", "must", publish).words("n", "--both") == ["answer", "--", "--both", "n"]
    confirmed = Choice("a", "move", "no", publish, "Sure?").words("n", "")
    assert confirmed == ["move", "--edge", "publish", "--yes", "--", "published", "n"]
    assert Choice("r", "respawn", "no").words("n", "") == ["respawn", "--no-wait", "--", "n"]
    assert Choice("D", "choose", "no", view="diagnosis").words("n", "") == ["choose", "--", "diagnosis", "n"]


def test_going_back_is_never_chosen_without_saying_why() -> None:
    edges = {edge.name: edge for edge in small(BACK).states["look"].edges}
    back = move("work", "redo-work").replace(is_reopen=True, verbs=("redo",))
    assert choice_for(back, edges["redo-work"]).asks == "must"
    assert choice_for(move("over", "drop").replace(verbs=("drop",)), edges["drop"]).asks == "may"
    assert choice_for(move("over", "finish"), edges["finish"]).asks == "no"


def test_task_is_announced_once_when_it_begins_to_need_person() -> None:
    notices, calm, stuck = Notices(), Row("a", "works", "work"), Row("a", "waits", "stuck")
    assert notices.begun([calm, Row("old", "waits", "stuck")], 0) == ()  # what waits already stands in the list
    assert notices.begun([stuck], 1) == (stuck,)
    assert notices.begun([stuck], 2) == ()
    assert notices.begun([calm], 3) == ()
    assert notices.begun([stuck], 4) == (stuck,)


def test_task_that_moved_between_looks_is_announced_again() -> None:
    notices, dead, stuck = Notices(), Row("a", "dead", "work"), Row("a", "waits", "stuck")
    notices.begun([], 0)
    notices.begun([dead], 1)
    assert notices.begun([dead], 1 + SETTLE_S) == (dead,)
    assert notices.begun([stuck], 2 + SETTLE_S) == (stuck,)


def test_a_run_end_is_notified_only_while_unjudged() -> None:
    notices, dead = Notices(), Row("a", "dead", "work")
    assert notices.begun([], 0) == ()
    assert notices.begun([dead], 1) == ()
    assert notices.begun([dead], 1 + SETTLE_S) == (dead,)


def test_several_at_once_make_one_notice() -> None:
    title, text = notices_words([Row("a", "waits", "stuck"), Row("b", "dead", "work")])
    assert (title, text) == ("2 tasks need you", "a (stuck), b (work)")


def test_rounds_and_crashes_are_the_machines_own_limits() -> None:
    made = small("[limit.review]\nmax = 3\n[limit.died]\nmax = 2\n[crash]\ncounts = ['died']", top="")
    found = counts(made, enter(made).replace(counters={"review": 1, "died": 2, "runs": 7}))
    assert found == ((Count("review", 1, 3),), (Count("died", 2, 2),))
    plain = small("")
    assert counts(plain, enter(plain).replace(counters={"crashes": 1})) == ((), (Count("crashes", 1, 2),))


def test_of_several_limits_the_nearest_is_shown() -> None:
    assert ratio((Count("far", 1, 10), Count("near", 1, 2))) == "1/2"
    assert ratio(()) == ""


def test_a_small_screen_has_all_columns_but_the_title() -> None:
    rows = [Row("x" * 64, "waits", "needs_user_decision", "title " * 9, turn="person")]
    for width in (80, 72):
        found = columns_for(width, rows)
        assert list(found) == ["mark", "task", "state", "round", "crash", "turn"]
        assert sum(size + 2 for size in found.values()) < width
        assert found["state"] == len("needs_user_decision")
    assert columns_for(120, rows)["title"] > 12


def test_keys_have_one_meaning_each_and_footer_fits_small_screen() -> None:
    assert len({key for key, _, _ in KEYS}) == len(KEYS)
    shown = [f"{SHOWN_KEYS.get(key, key)} {label}" for key, label, _ in KEYS if key in FOOTER]
    assert len(" ".join(shown)) <= 80


def test_long_lines_go_on_below_their_own_beginning() -> None:
    text = painted([Line("one two three four five six", "", 2), Line("seven")], 22).plain
    assert text.splitlines() == ["  one two three four", "  five six", "seven"]


def test_how_long_ago_in_one_word() -> None:
    now = 1_794_804_800.0  # 2026-11-16T04:53:20Z
    ages = [age_words(f"2026-11-{time}Z", now) for time in ("16T04:53:00", "16T04:50:00", "16T01:00:00", "13T00:00:00")]
    assert ages == ["just now", "3 min", "3 h", "3 d"]
    assert age_words("", now) == ""


def test_a_row_and_a_count_of_rows() -> None:
    row = Row("a", "waits", "stuck", "two\nlines\x1b", turn="person", rounds=(Count("r", 1, 2),))
    assert cells(row) == {
        "mark": "‖",
        "task": "a",
        "state": "stuck",
        "round": "1/2",
        "crash": "",
        "turn": "you",
        "title": "two lines\\x1b",
    }
    assert counted_words([row, row, Row("b", "done", "over")]) == "‖ 2 need you  ✓ 1 over"
