"""Typed lines: what each means where a task stands, through `detent say` on a small machine that is led by words."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Detent, MakeRepo
from tests.e2e.spoken_task import Spoken


@pytest.fixture
def spoken(detent: Detent, repo: MakeRepo, tmp_path: Path) -> Spoken:
    return Spoken(detent, repo(), tmp_path / "note")


def test_next_takes_the_open_move_or_says_what_is_missing(spoken: Spoken) -> None:
    before = spoken.journal()
    for _ in range(2):
        said = spoken.say("/next", code=1)
        assert "plan -> plan_check" in said
        assert 'write behind "Plan:" in NOTE.md' in said
    assert spoken.journal() == before  # asked twice, nothing was written
    spoken.write(Plan="first this, then that")
    assert "moved: plan -> plan_check" in spoken.say("/NEXT")
    assert spoken.journal()[-1]["by"] == "person"


def test_next_follows_the_verdict_back_too_and_never_signs_off(spoken: Spoken) -> None:
    spoken.at_read()
    said = spoken.say("/next")  # a sign-off is no next move: what there is, is shown
    assert (spoken.state, "sign-off" in said) == ("read", True)
    spoken.say("/redo write")
    spoken.write(Text="c")
    spoken.say("/next")
    spoken.write(Verdict="bad")
    assert "moved: check -> write" in spoken.say("/next")


def test_the_word_of_a_state_moves_only_through_open_gates(spoken: Spoken) -> None:
    said = spoken.say("/check plan", code=1)
    assert "Plan" in said
    assert spoken.state == "plan"
    spoken.write(Plan="a")
    assert "moved: plan -> plan_check" in spoken.say("/Check  Plan because it is done")
    assert spoken.journal()[-1]["reason"] == "because it is done"


def test_a_state_further_away_is_refused_with_the_way_there(spoken: Spoken) -> None:
    said = spoken.say("/check text", code=1)
    assert "plan does not lead to check" in said
    assert "the way is plan -> plan_check -> write -> check; first: detent move plan_check t" in said
    said = spoken.say('/check text --override "I know it"', code=1)
    assert "an override opens one move and jumps over none" in said
    assert 'first: detent move plan_check t --override "why"' in said
    assert spoken.state == "plan"


def test_an_override_opens_one_move_once_and_is_written_down(spoken: Spoken) -> None:
    assert "moved: plan -> plan_check" in spoken.say('/next --override "no time to plan"')
    line = spoken.journal()[-1]
    assert (line["override"], line["waived"]) == ("no time to plan", ["planned"])
    spoken.say("/next", code=1)  # it was for one move
    assert "needs a reason" in spoken.say("/next --override", code=2)
    spoken("audit")


def test_an_override_never_opens_a_sign_off(spoken: Spoken) -> None:
    spoken.at_read()
    spoken.write(Verdict="bad")
    for line in ('/next --override "ship it"', '/approve --override "ship it"'):
        spoken.say(line, code=1)
    assert spoken.state == "read"


def test_redo_leads_back_and_counts_a_visit(spoken: Spoken) -> None:
    spoken.at_read()
    said = spoken.say("/redo talk", code=1)
    assert "read -> talk is no step back" in said
    assert "/redo goes to: plan, write" in said
    assert "moved: read -> write  (redo-write)" in spoken.say("/redo write the text is thin")
    assert spoken.journal()[-1]["reason"] == "the text is thin"
    spoken.say("/redo check", code=1)
    assert "moved: write -> plan" in spoken.say("/redo")  # without a state: the first one
    assert spoken.journal()[-1]["reason"] == "/redo"  # what was typed
    assert "moved: plan -> plan  (re-plan)" in spoken.say("/redo plan")
    after = spoken.journal()[-1]["after"]
    assert isinstance(after, dict)
    assert after["visits"] == {"plan": 3, "plan_check": 1, "write": 2, "check": 1, "read": 1}


def test_redo_leaves_an_end_and_goes_round_no_gate(spoken: Spoken) -> None:
    spoken.at_read()
    refused = spoken("move", "plan", "--reason", "because")
    assert (refused.code, spoken.state) == (1, "read")
    spoken.say("/approve")
    assert spoken.state == "over"
    assert "moved: over -> plan" in spoken.say("/redo")


def test_plain_words_of_a_move_make_it_and_answer(spoken: Spoken) -> None:
    spoken.at_read()
    assert "moved: read -> talk" in spoken.say("Help me with the second line")
    assert spoken.journal()[-1]["answer"] == "the second line"
    # Of several moves that say the same the first open one is taken.
    assert "(resume-read)" in spoken.say("continue")
    spoken.say('/call "anybody"')
    assert spoken.journal()[-1]["answer"] == "anybody"
    spoken.write(Verdict="bad")
    assert "(resume-checked)" in spoken.say("Continue")


def test_words_said_in_the_wrong_place_name_the_right_one(spoken: Spoken) -> None:
    said = spoken.say("continue", code=1)
    assert "nobody listens in plan" in said
    assert "'continue' is said in talk" in said
    said = spoken.say("/nex", code=2)
    assert "'nex' is no choice in plan" in said
    assert "did you mean /next? understood here: /next, /check plan, /redo" in said
    assert spoken.say("//next", code=1) == spoken.say("// next", code=1).replace("/ next", "/next")  # text, no command


def test_help_lists_what_is_understood_here(spoken: Spoken) -> None:
    said = spoken.say("/help")
    assert "t is in plan" in said
    for words in ("/plan", "/check plan", "/redo", "/next", "/status", "//text"):
        assert f"  {words} " in said, words
    assert "/approve" not in said
    listed = dict(spoken("say", "/help", "--json").json()["words"])
    assert (listed["/check plan"], listed["/plan"]) == ("plan_check", "")
    assert "have plan worked on now" in said
    assert spoken.say("/status") == spoken("status").out


def test_every_move_made_by_words_stands_up_to_an_audit(spoken: Spoken) -> None:
    spoken.at_read()
    spoken.say("help me with it")
    spoken.say("continue")
    spoken.say("/redo plan")
    spoken.say('/next --override "known"')
    assert spoken("audit").code == 0
