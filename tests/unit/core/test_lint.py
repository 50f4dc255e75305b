"""Every finding of the linter, each in a machine that has just that one fault."""

from __future__ import annotations

import pytest

from detent.core.lint import lint
from detent.machines.load import load
from detent.words.machines import lint as say
from tests.unit.core.small import machine

# A machine without a fault; each case below adds one.
SOUND = """
format  = 1
name    = "sound"
initial = "work"
[role.builder]
access = "write"
[gate.ready]
check = "file"
[gate.red]
check = "not"
of    = ["ready"]
[gate.both]
check = "all"
of    = ["ready", "red"]
[gate.loop]
check = "all"
of    = ["loop", "ready"]
[limit.rounds]
max = 2
[register.origin]
[state.work]
role = "builder"
[state.look]
role = "builder"
[state.over]
end = true
[[edge]]
name   = "show"
from   = "work"
to     = "look"
by     = ["agent", "engine"]
needs  = ["ready", "loop"]
under  = "rounds"
counts = "rounds"
after  = ["entry", "finished"]
set    = { origin = "{from}" }
[[edge]]
name  = "back"
from  = "look"
to    = "work"
by    = ["agent", "engine"]
needs = ["both"]
[[edge]]
name     = "accept"
from     = "look"
to       = "over"
by       = ["person"]
sign_off = true
[[reopen]]
name = "redo"
from = "over"
to   = "{origin}"
"""

CASES = {
    "unreachable": (
        '[state.moon]\n[[edge]]\nname = "down"\nfrom = "moon"\nto = "over"',
        say.state_unreached("moon"),
    ),
    "reached only by an edge that is never taken": (
        '[state.moon]\n[[edge]]\nname = "up"\nfrom = "work"\nto = "moon"\nnever = "too far"\n'
        '[[edge]]\nname = "down"\nfrom = "moon"\nto = "over"',
        say.state_unreached("moon"),
    ),
    "reached only by re-opening": (
        '[state.moon]\n[[edge]]\nname = "down"\nfrom = "moon"\nto = "over"\n'
        '[[reopen]]\nname = "up"\nfrom = "over"\nto = "moon"',
        say.state_unreached("moon"),
    ),
    "an end with an edge": (
        '[[edge]]\nname = "again"\nfrom = "over"\nto = "work"',
        say.end_has_move("over", "again"),
    ),
    "a state without a way out": (
        '[state.pit]\n[[edge]]\nname = "fall"\nfrom = "look"\nto = "pit"\nby = ["agent"]',
        say.no_way_out("pit"),
    ),
    "a state whose only edge is never taken": (
        '[state.pit]\n[[edge]]\nname = "fall"\nfrom = "look"\nto = "pit"\nby = ["agent"]\n'
        '[[edge]]\nname = "climb"\nfrom = "pit"\nto = "work"\nnever = "too steep"',
        say.no_way_out("pit"),
    ),
    "a re-opening that would go forward past all gates": (
        '[[reopen]]\nname = "anew"\nfrom = "work"\nto = "look"',
        say.reopening_leads_ahead("work", "anew"),
    ),
    "two edges of one name": (
        '[[edge]]\nname = "back"\nfrom = "look"\nto = "over"\nby = ["person"]\nsign_off = true',
        say.move_name_twice("look", "back"),
    ),
    "an edge called like another state": (
        '[[edge]]\nname = "look"\nfrom = "work"\nto = "work"\nby = ["agent"]',
        say.move_named_like_state("work", "look"),
    ),
    "a forbidden pair that is an edge": (
        '[[forbidden]]\nfrom = "look"\nto = "work"\nwhy = "no"',
        say.forbidden_move_exists("look", "work"),
    ),
    "an engine that needs nothing": (
        '[[edge]]\nname = "rush"\nfrom = "work"\nto = "work"\nby = ["engine"]',
        say.engine_needs_gate("work", "work"),
    ),
    "an engine that needs nothing on one of two ways": (
        '[[edge]]\nname = "rush"\nfrom = "work"\nto = "work"\n'
        'ways = [ { by = ["agent"] }, { by = ["person", "engine"] } ]',
        say.engine_needs_gate("work", "work"),
    ),
    "a negated gate at entry": (
        '[[edge]]\nname = "fail"\nfrom = "work"\nto = "work"\nby = ["engine"]\n'
        'needs = ["ready", "red"]\nafter = ["entry"]',
        say.negated_gate_at_entry("work", "work", "red"),
    ),
    "a gate made of a negated one at entry": (
        '[[edge]]\nname = "fail"\nfrom = "work"\nto = "work"\nby = ["engine"]\nneeds = ["both"]\nafter = ["entry"]',
        say.negated_gate_at_entry("work", "work", "both"),
    ),
    "a way round a sign-off": (
        '[[edge]]\nname = "sneak"\nfrom = "look"\nto = "over"\nby = ["agent"]',
        say.goes_round_sign_off("look", "over", "sneak"),
    ),
    "an agent that re-opens": (
        '[[reopen]]\nname = "wake"\nfrom = "over"\nto = "work"\nby = ["person", "agent"]',
        say.reopening_not_by_person("over", "wake"),
    ),
    "an unused gate": ('[gate.lonely]\ncheck = "file"', say.gate_unused("lonely")),
    "a limit nobody asks for": (
        '[limit.idle]\nmax = 3\n[[edge]]\nname = "tick"\nfrom = "work"\nto = "work"\nby = ["agent"]\ncounts = "idle"',
        say.limit_unused("idle"),
    ),
    "a crash limit nobody asks for": (
        '[limit.idle]\nmax = 3\n[crash]\ncounts = "idle"',
        say.limit_unused("idle"),
    ),
}


def test_a_sound_machine_has_no_finding() -> None:
    assert lint(machine(SOUND)) == ()


def test_gate_of_a_reopening_alone_is_not_unused() -> None:
    reopening = '[[reopen]]\nname = "wake"\nfrom = "over"\nto = "work"\nneeds = "lonely"\n'
    assert lint(machine(SOUND + reopening + CASES["an unused gate"][0])) == ()


@pytest.mark.parametrize(("fault", "finding"), CASES.values(), ids=CASES)
def test_each_fault_is_found_and_nothing_else(fault: str, finding: str) -> None:
    assert lint(machine(SOUND + fault)) == (finding,)


def test_all_findings_come_at_once() -> None:
    everything = machine(SOUND + CASES["unreachable"][0] + "\n" + CASES["an unused gate"][0])
    assert lint(everything) == (CASES["unreachable"][1], CASES["an unused gate"][1])


ENDLESS = """
format  = 1
name    = "endless"
initial = "work"
[state.work]
[state.calm]
{rest}
[[edge]]
name = "finish"
from = "work"
to   = "calm"
[[edge]]
name = "more"
from = "calm"
to   = "work"
"""


def test_a_machine_ends_or_rests_somewhere() -> None:
    assert lint(machine(ENDLESS.format(rest=""))) == (say.no_end(),)
    assert lint(machine(ENDLESS.format(rest="rest = true"))) == ()


SPARED = {
    "an agent needs nothing": '[[edge]]\nname = "a"\nfrom = "work"\nto = "work"\nby = ["agent"]',
    "a spent limit is enough": '[[edge]]\nname = "a"\nfrom = "work"\nto = "work"\nby = ["engine"]\nspent = "rounds"',
    "no agent works there": '[state.wait]\n[[edge]]\nname = "a"\nfrom = "look"\nto = "wait"\nby = ["agent"]\n'
    '[[edge]]\nname = "b"\nfrom = "wait"\nto = "over"\nby = ["engine"]',
    "it is never taken": '[[edge]]\nname = "a"\nfrom = "work"\nto = "work"\nby = ["engine"]\nnever = "no"',
    "never round a sign-off": '[[edge]]\nname = "a"\nfrom = "look"\nto = "over"\nby = ["agent"]\nnever = "no"',
    "a negated gate after a run": '[[edge]]\nname = "a"\nfrom = "work"\nto = "work"\nby = ["engine"]\nneeds = ["red"]',
    "a negated gate at entry by an agent": '[[edge]]\nname = "a"\nfrom = "work"\nto = "work"\nby = ["agent"]\n'
    'needs = ["red"]\nafter = ["entry"]',
    "going back, or beginning anew": '[[reopen]]\nname = "again"\nfrom = "look"\nto = "work"\n'
    '[[reopen]]\nname = "anew"\nfrom = "look"\nto = "look"',
    "an edge named after its own target": '[[edge]]\nname = "work"\nfrom = "look"\nto = "work"\nby = ["agent"]',
    "the same name in another state": '[[edge]]\nname = "back"\nfrom = "work"\nto = "work"\nby = ["agent"]',
    "a gate only an option needs": '[gate.rare]\ncheck = "file"\n[[edge]]\nname = "a"\nfrom = "work"\nto = "work"\n'
    'by = ["agent"]\nneeds = ["rare"]\noption = "rarely"',
    "a limit only an option asks for": '[limit.idle]\nmax = 3\n[crash]\ncounts = "idle"\n[[edge]]\nname = "a"\n'
    'from = "work"\nto = "work"\nby = ["agent"]\nunder = "idle"\noption = "rarely"',
}


@pytest.mark.parametrize("harmless", SPARED.values(), ids=SPARED)
def test_what_only_looks_like_a_fault_is_spared(harmless: str) -> None:
    assert lint(machine(SOUND + harmless)) == ()


def test_the_phase_machine_has_no_finding() -> None:
    assert lint(load("phase", None)[0]) == ()
