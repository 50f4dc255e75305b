"""Messages: text that knows its code, its values and the next step."""

from __future__ import annotations

import json

from detent.errors import RefusedError
from detent.packs.ralf import words as ralf
from detent.words.later import Later
from detent.words.machines import load
from detent.words.message import code_of, message


@message
def apples_left(count: int, where: str) -> tuple[str, str]:
    return f"{count} apples are left in {where}", f"eat what is in {where}"


@message
def nothing_left(where: str) -> str:
    return f"nothing is left in {where}"


def test_message_is_text_with_code_values_and_next_step() -> None:
    sentence = apples_left(3, where="the cellar")
    assert sentence == "3 apples are left in the cellar"
    assert (sentence.code, sentence.values) == ("test_message.apples_left", {"count": 3, "where": "the cellar"})
    assert sentence.next_step == "eat what is in the cellar"
    assert json.loads(json.dumps({"why": sentence})) == {"why": "3 apples are left in the cellar"}


def test_text_from_elsewhere_has_no_code() -> None:
    assert code_of(nothing_left("the cellar")) == "test_message.nothing_left"
    assert code_of("nothing is left in the cellar") == ""


def test_error_takes_the_next_step_of_its_message() -> None:
    assert RefusedError(apples_left(3, "the cellar")).next_step == "eat what is in the cellar"
    assert RefusedError(apples_left(3, "the cellar"), next_step="look again").next_step == "look again"
    assert RefusedError(nothing_left("the cellar")).next_step == ""


def test_code_of_a_pack_s_message_names_the_pack() -> None:
    assert ralf.no_commit("abc").code == "ralf.no_commit"


def test_module_loaded_later_says_the_same_with_the_same_code() -> None:
    sentence = Later("detent.words.machines.load").pack_broken("mine", "it is gone")
    assert (sentence, sentence.code) == (load.pack_broken("mine", "it is gone"), "load.pack_broken")
