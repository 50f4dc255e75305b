"""The parser reads every key it knows, refuses every other, and reports all problems of a file at once."""

from __future__ import annotations

import copy
import datetime as dt
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from typing import Any

import pytest

from detent.core.explore import explore
from detent.core.lint import lint
from detent.core.machine import Forbidden, Gate, Limit, Lock, Property, Register, Vocabulary, Way
from detent.errors import MachineError
from detent.machines.parse import parse
from detent.machines.reading import GATES, TABLE, TEXT, TEXTS

VOCABULARY = Vocabulary(
    checks={
        "file": ({"path": TEXT}, {"words": TEXTS, "sizes": TABLE}),
        "not": ({"of": GATES}, {}),
        "all": ({"of": GATES}, {}),
    },
    effects=("checkpoint",),
    prepares=("baseline",),
    codecs=("markdown_fields",),
    kinds=("moved",),
)

# Every key the format has, each at least once.
FULL = """
format  = 1
name    = "full-house"
title   = "everything at once"
initial = "draft"
by      = ["agent", "engine"]
modes   = ["careful", "quick"]

[store]
codec = "markdown_fields"
file  = "TASK.md"
state = "Phase"
files = ["TASK.md"]

[answers]
section = "Answers"

[progress]
counts   = ["tree"]
idle_max = 1

[override]
by = "person"

[crash]
counts = ["falls"]

[role.builder]
access = "write"
[role.judge]
access = "read"

[field.Objective]
[field.Verdict]
owner  = "engine"
values = ["open", "good"]
start  = "open"

[register.origin]
[register.mood]
start  = "calm"
values = ["calm", "cross"]

[limit.rounds]
max   = 2
cap   = 3
field = "Round"
[limit.falls]
max    = 2
resets = "always"
[limit.tries]
max = 3
per = "group"

[gate.shown]
check = "file"
path  = "shown.txt"
since = "task"
fix   = "write shown.txt"
[gate.hidden]
check = "not"
of    = ["shown"]
[gate.whole]
check = "all"
of    = ["shown", "hidden"]

[state.draft]
role          = "builder"
group         = "one"
cross_cutting = true
title         = "Drafting"
may           = ["write"]
must_not      = ["review"]
prompt        = "draft.md"
respawn       = "auto"
counts_run    = ["rounds"]
[state.check]
role = "judge"
words = ["/say"]
[state.pause]
driver = "person"
rest   = true
[state.sort]
driver = "engine"
[state.over]
end = true

[[edge]]
name    = "show"
label   = "show it"
from    = ["draft", "check"]
to      = "check"
needs   = ["shown"]
mode    = "quick"
under   = "rounds"
when    = { mood = ["calm", "cross"], origin = "" }
after   = "any"
counts  = ["rounds", "tries"]
resets  = "falls"
set     = { origin = "{from}", mood = "cross" }
prepare = "baseline"
effects = ["checkpoint"]
verb    = "show"
key     = "S"
confirm = "really?"
[[edge]]
from  = ["check", "sort"]
to    = "pause"
spent = "tries"
ways  = [
  { by = "person" },
  { by = ["crash"], needs = ["whole"], spent = "falls", when = { origin = ["draft"] }, set = { mood = "calm" } },
]
[[edge]]
name     = "accept"
from     = "pause"
to       = "over"
by       = ["person"]
sign_off = true
[[edge]]
name  = "leap"
from  = "draft"
to    = "over"
never = "it skips the check"
[[edge]]
name   = "sort-first"
from   = "draft"
to     = "sort"
option = "sorting"
by     = ["agent"]

[[reopen]]
name    = "redo"
from    = "over"
to      = "{origin}"
instead = { check = "draft" }
verb    = ["resume", "answer"]

[[lock]]
name     = "frame"
after    = "draft"
open_in  = ["draft"]
fields   = ["Objective"]

[[forbidden]]
from = "check"
to   = "over"
why  = "a person looks first"

[[property]]
name  = "seen"
then  = "accept"
first = "show"
since = ["draft"]
"""


DOCUMENT = tomllib.loads(FULL)


def document() -> dict[str, Any]:
    return copy.deepcopy(DOCUMENT)


def problems(content: Any, **settings: Any) -> tuple[str, ...]:
    with pytest.raises(MachineError) as caught:
        parse(content, VOCABULARY, where="a.toml", **settings)
    assert caught.value.where == "a.toml"
    return caught.value.problems


def changed(path: str, value: Any) -> dict[str, Any]:
    """The full document with one value put at a path like `edge/0/from`."""
    content = document()
    *way, last = path.split("/")
    inner: Any = content
    for part in way:
        inner = inner[int(part) if isinstance(inner, list) else part]
    if isinstance(inner, list):
        inner[int(last)] = value
    else:
        inner[last] = value
    return content


def test_the_whole_format_is_read() -> None:
    made = parse(document(), VOCABULARY)
    assert (made.name, made.title, made.initial) == ("full-house", "everything at once", "draft")
    assert (made.modes, made.may_override) == (("careful", "quick"), True)
    assert {state.counts_crash for state in made.states.values()} == {("crashes", "falls")}
    assert made.store == {"codec": "markdown_fields", "file": "TASK.md", "state": "Phase", "files": ["TASK.md"]}
    assert made.answers == {"section": "Answers"}
    assert made.progress == {"counts": ("tree",), "idle_max": 1}
    assert made.fields == {"Objective": (), "Verdict": ("open", "good")}
    assert made.registers == {
        "origin": Register("origin"),
        "mood": Register("mood", "calm", ("calm", "cross")),
        "Verdict": Register("Verdict", "open", ("open", "good"), "Verdict"),
    }
    assert made.limits == {
        "runs": Limit("runs", 30, 30),
        "crashes": Limit("crashes", 2, 2),
        "rounds": Limit("rounds", 2, 3, field="Round"),
        "falls": Limit("falls", 2, 2, resets_always=True),
        "tries": Limit("tries", 3, 3, per_group=True),
    }
    assert made.gates["shown"] == Gate("shown", "file", {"path": "shown.txt"}, "task", "write shown.txt")
    assert made.gates["whole"] == Gate("whole", "all", {"of": ["shown", "hidden"]}, "entry", "")
    assert made.locks == (Lock("frame", ("draft",), ("draft",), ("Objective",)),)
    assert made.forbidden == (Forbidden("check", "over", "a person looks first"),)
    assert made.properties == (Property("seen", "accept", ("show",), ("draft",)),)


def test_states_get_their_driver_and_their_role_s_access() -> None:
    states = parse(document(), VOCABULARY).states
    assert {name: (state.driver, state.access) for name, state in states.items()} == {
        "draft": ("agent", "write"),
        "check": ("agent", "read"),
        "pause": ("person", ""),
        "sort": ("engine", ""),
        "over": ("", ""),
    }
    draft = states["draft"]
    assert (draft.group, draft.cross_cutting, draft.title, draft.prompt) == ("one", True, "Drafting", "draft.md")
    assert (draft.may, draft.must_not, draft.respawn, draft.counts_run) == (
        ("write",),
        ("review",),
        "auto",
        ("rounds",),
    )
    assert (states["check"].respawn, states["check"].cross_cutting) == ("ask", False)
    assert {name for name, state in states.items() if state.is_end} == {"over"}
    assert {name for name, state in states.items() if state.is_rest} == {"pause"}


def test_a_state_says_itself_what_a_crash_counts_towards() -> None:
    content = changed("state/draft/counts_crash", ["falls"])
    content["state"]["draft"]["must_open"] = True
    content["state"]["check"]["counts_crash"] = []
    states = parse(content, VOCABULARY).states
    assert (states["draft"].counts_crash, states["draft"].must_open) == (("falls",), True)
    assert (states["check"].counts_crash, states["check"].must_open) == ((), False)


def test_a_person_s_state_may_have_an_agent_that_is_called_in() -> None:
    content = changed("state/pause/role", "judge")
    pause = parse(content, VOCABULARY).states["pause"]
    assert (pause.driver, pause.role, pause.access) == ("person", "judge", "read")


def test_prompts_are_chosen_by_what_was_counted_and_may_leave_words_open() -> None:
    content = changed("state/draft/prompt", "{Objective}, round {rounds.of}, since {base}, on to {first:check,over}")
    content["state"]["draft"]["prompt_counted"] = {"rounds": "again: {rounds}"}
    draft = parse(content, VOCABULARY).states["draft"]
    assert draft.prompt_counted == {"rounds": "again: {rounds}"}


def test_words_stand_as_they_are_written() -> None:
    machine = parse(changed("edge/0/says", ["build me {text}", "/iterate"]), VOCABULARY)
    assert machine.states["check"].words == ("/say",)
    assert {edge.says for edge in machine.states["draft"].edges if edge.name == "show"} == {
        ("build me {text}", "/iterate")
    }


def test_shims_are_lines_of_this_tool() -> None:
    assert parse(changed("shim", {"orange": "detent task"}), VOCABULARY).shims == {"orange": "detent task"}


def test_an_edge_has_one_row_for_each_state_it_leaves() -> None:
    states = parse(document(), VOCABULARY).states
    show, leap = states["draft"].edges
    assert (show.name, show.label, show.source, show.target) == ("show", "show it", "draft", "check")
    assert (show.verbs, show.key, show.confirm, show.by()) == (("show",), "S", "really?", ("agent", "engine"))
    assert (leap.name, leap.never) == ("leap", "it skips the check")
    assert [edge.name for edge in states["check"].edges] == ["show", "check-to-pause"]
    assert [edge.label for edge in states["sort"].edges] == ["sort-to-pause"]
    assert states["pause"].edges[0].sign_off
    (redo,) = states["over"].edges
    assert (redo.reopen, redo.target, redo.instead, redo.by()) == (True, "{origin}", {"check": "draft"}, ("person",))


def test_an_edge_without_ways_is_its_own_way() -> None:
    (way,) = parse(document(), VOCABULARY).states["draft"].edges[0].ways
    assert way == Way(
        0,
        by=("agent", "engine"),
        needs=("shown",),
        modes=("quick",),
        under="rounds",
        when={"mood": ("calm", "cross"), "origin": ("",)},
        after=("finished", "failed", "timeout", "killed", "lost"),
        counts=("rounds", "tries"),
        resets=("falls",),
        sets={"origin": "{from}", "mood": "cross"},
        prepare=("baseline",),
        effects=("checkpoint",),
    )


def test_a_way_inherits_what_it_does_not_say() -> None:
    first, second = parse(document(), VOCABULARY).states["check"].edges[1].ways
    assert first == Way(1, by=("person",), spent="tries")
    assert second == Way(
        2, by=("crash",), needs=("whole",), spent="falls", when={"origin": ("draft",)}, sets={"mood": "calm"}
    )


def test_a_way_adds_its_registers_to_those_of_the_edge() -> None:
    content = changed("edge/1/set", {"origin": "{from}"})
    content["edge"][1]["when"] = {"mood": "calm"}
    _, second = parse(content, VOCABULARY).states["check"].edges[1].ways
    assert second.sets == {"origin": "{from}", "mood": "calm"}
    assert second.when == {"mood": ("calm",), "origin": ("draft",)}


def test_an_option_is_switched_on_by_the_settings() -> None:
    off, on = parse(document(), VOCABULARY), parse(document(), VOCABULARY, options=["sorting"])
    assert [edge.name for edge in off.switched_off] == ["sort-first"]
    assert [edge.name for edge in off.states["draft"].edges] == ["show", "leap"]
    assert on.switched_off == ()
    assert [edge.name for edge in on.states["draft"].edges] == ["show", "leap", "sort-first"]


def test_limits_come_from_the_settings() -> None:
    made = parse(document(), VOCABULARY, limits={"rounds": 5, "tries": 1, "runs": 7})
    assert made.limits["rounds"] == Limit("rounds", 5, 5, field="Round")
    assert made.limits["tries"] == Limit("tries", 1, 3, per_group=True)
    assert made.limits["runs"] == Limit("runs", 7, 30)


def test_wrong_settings_are_told_with_what_is_known() -> None:
    assert problems(document(), limits={"moons": 3, "rounds": 0}, options=["flying"]) == (
        "settings: this machine has no limit 'moons'; known: crashes, falls, rounds, runs, tries",
        "settings: limit rounds must be a whole number from 1",
        "settings: this machine has no option 'flying'; known: sorting",
    )


def test_ten_mistakes_are_reported_at_once() -> None:
    text = (
        FULL.replace('initial = "draft"', 'initial = "daft"')
        .replace("max   = 2", "max   = 0")
        .replace('since = "task"', 'since = "always"')
        .replace('path  = "shown.txt"\n', 'paht  = "shown.txt"\n')
        .replace('needs   = ["shown"]', 'needs   = ["shwon"]')
        .replace('under   = "rounds"', 'undr    = "rounds"')
        .replace('by       = ["person"]', 'by       = ["robot"]')
        .replace('respawn       = "auto"', 'respawn       = "often"')
        .replace('open_in  = ["draft"]', 'open_in  = ["attic"]')
        .replace('first = "show"', 'first = "shew"')
    )
    assert set(problems(tomllib.loads(text))) == {
        "initial: unknown state 'daft'",
        "limit rounds: max must be a whole number from 1",
        "gate shown: unknown since 'always'",
        "gate shown: check file needs 'path'",
        "gate shown: check file does not know 'paht'",
        "draft/check -> check: unknown gate 'shwon'",
        "draft/check -> check: unknown key 'undr', perhaps 'under' was meant",
        "pause -> over: unknown actor 'robot'",
        "pause -> over: a sign-off is held by a person alone",
        "state draft: unknown respawn 'often'",
        "lock frame: unknown state 'attic'",
        "property seen: unknown edge 'shew'",
    }


UNKNOWN_KEYS = {
    "colour": "top level: unknown key 'colour'",
    "override/colour": "override: unknown key 'colour'",
    "crash/colour": "crash: unknown key 'colour'",
    "role/builder/colour": "role builder: unknown key 'colour'",
    "field/Objective/colour": "field Objective: unknown key 'colour'",
    "register/origin/colour": "register origin: unknown key 'colour'",
    "limit/rounds/colour": "limit rounds: unknown key 'colour'",
    "gate/shown/colour": "gate shown: check file does not know 'colour'",
    "state/draft/colour": "state draft: unknown key 'colour'",
    "edge/0/colour": "draft/check -> check: unknown key 'colour'",
    "edge/1/ways/1/colour": "check/sort -> pause way 2: unknown key 'colour'",
    "reopen/0/colour": "over -> {origin}: unknown key 'colour'",
    "lock/0/colour": "lock 1: unknown key 'colour'",
    "answers/colour": "answers: unknown key 'colour'",
    "progress/colour": "progress: unknown key 'colour'",
    "store/colour": "store: unknown key 'colour'",
    "forbidden/0/colour": "forbidden 1: unknown key 'colour'",
    "property/0/colour": "property 1: unknown key 'colour'",
}


@pytest.mark.parametrize(("path", "problem"), UNKNOWN_KEYS.items())
def test_an_unknown_key_is_an_error_at_every_level(path: str, problem: str) -> None:
    assert problems(changed(path, "red")) == (problem,)


SPACE = "must have words and a space before {text}"
WORDS = "must be words with one space between them, and may hold {text} only at the end"
PLAIN = "must be made of texts, numbers, true, false, lists and tables"
WRONG = [
    ("format", 2, "format must be 1"),
    ("format", "1", "format must be a whole number"),
    ("name", "", "name must be a text"),
    ("name", "../up", "name must be made of letters, digits and dashes"),
    ("name", "ö" * 33, "name must be at most 64 bytes long: it is part of file and branch names"),
    ("initial", "moon", "initial: unknown state 'moon'"),
    ("by", ["robot"], "draft/check -> check: unknown actor 'robot'"),
    ("store/codec", "carving", "store: unknown codec 'carving'"),
    ("store/file", 5, "store: file must be a text"),
    ("store/state", "", "store: state must be a text"),
    ("store/files", [], "store: files must name the files of a new task"),
    ("store", {}, "store: codec must be a text"),
    ("store/fsync", 1, "store: fsync must be true or false"),
    ("store/version", {"field": "v", "is": 0}, "store version: is must be a whole number from 1"),
    ("store/version", {"is": 1}, "store version: field must be a text"),
    ("store/version", {"field": "v", "is": 1, "was": 0}, "store version: unknown key 'was'"),
    ("store/only_in", {"v": ["moon"]}, "store only_in v: unknown state 'moon'"),
    ("store/events", [{"type": "x", "kind": "moved"}], "store events 1: there is no log to write it to"),
    ("store/events", [{"type": "x", "kind": "bored"}], "store events 1: unknown kind 'bored'"),
    ("store/events", [{"kind": "moved"}], "store events 1: type must be a text"),
    ("store/events", [{"type": "x", "kind": "moved", "colour": "red"}], "store events 1: unknown key 'colour'"),
    ("store/events", [{"type": "x", "kind": "moved", "fields": {"a": 1}}], "store events 1 fields: a must be a text"),
    (
        "store/events",
        [{"type": "x", "kind": "moved", "when": {"by": 1}}],
        "store events 1 when: by must be a text or a list of texts",
    ),
    ("crash/counts", ["moons"], "crash: unknown limit 'moons'"),
    ("crash/counts", ["crashes"], "crash: crashes is counted by every machine, and would be counted twice"),
    ("role/builder/access", "run", "role builder: unknown access 'run'"),
    ("field/Verdict/owner", "cat", "field Verdict: unknown owner 'cat'"),
    ("field/Verdict/start", "bad", "Verdict: start 'bad' is not among its values"),
    ("register/Verdict", {}, "field Verdict: there is a register of this name already"),
    ("register/stopped", {}, "register stopped: this name belongs to the engine"),
    ("register/mood/start", "glad", "mood: start 'glad' is not among its values"),
    ("limit/rounds/max", 0, "limit rounds: max must be a whole number from 1"),
    ("limit/rounds/max", True, "limit rounds: max must be a whole number"),
    ("limit/rounds/cap", 1, "limit rounds: cap must be at least max, or the limit is never reached"),
    ("limit/tries/per", "planet", "limit tries: unknown per 'planet'"),
    ("limit/falls/resets", "never", "limit falls: unknown resets 'never'"),
    ("gate/shown/check", "smell", "gate shown: unknown check 'smell'; known: all, file, not"),
    ("gate/hidden/of", ["moon"], "gate hidden: unknown gate 'moon'"),
    ("gate/hidden/of", [], "gate hidden: of must be a list of gates"),
    ("gate/whole/of", [], "gate whole: of must be a list of gates"),
    ("gate/whole/of", "shown", "gate whole: of must be a list of gates"),
    ("gate/whole/of", [5], "gate whole: of must be a list of gates"),
    ("gate/shown/path", dt.date(2024, 1, 1), f"gate shown: path {PLAIN}"),
    ("gate/shown/path", 5, "gate shown: path must be a text"),
    ("gate/shown/path", "", "gate shown: path must be a text"),
    ("gate/shown/path", ["a"], "gate shown: path must be a text"),
    ("gate/shown/path", "tree:../a", "gate shown: path must be a path inside the tree, not 'tree:../a'"),
    ("gate/shown/words", 5, "gate shown: words must be a list of texts"),
    ("gate/shown/words", "one", "gate shown: words must be a list of texts"),
    ("gate/shown/words", [], "gate shown: words must be a list of texts"),
    ("gate/shown/words", ["one", 5], "gate shown: words must be a list of texts"),
    ("gate/shown/words", ["one", ""], "gate shown: words must be a list of texts"),
    ("gate/shown/sizes", ["one"], "gate shown: sizes must be a table of texts"),
    ("gate/shown/sizes", {"one": 1}, "gate shown: sizes must be a table of texts"),
    ("state/draft/role", "poet", "state draft: unknown role 'poet'"),
    (
        "state/draft/driver",
        "engine",
        "state draft: an agent needs a role, and a role belongs to an agent or to a person's state",
    ),
    (
        "state/pause/driver",
        "agent",
        "state pause: an agent needs a role, and a role belongs to an agent or to a person's state",
    ),
    ("state/pause/driver", "wind", "state pause: driver 'wind' is not possible here"),
    ("state/over/driver", "person", "state over: driver 'person' is not possible here"),
    ("state/over/rest", True, "state over: an end is no state to rest in"),
    ("state/over/end", "yes", "state over: end must be true or false"),
    ("state/draft/counts_run", "moons", "state draft: unknown limit 'moons'"),
    ("state/draft/counts_crash", "moons", "state draft: unknown limit 'moons'"),
    ("state/draft/must_open", "yes", "state draft: must_open must be true or false"),
    ("state/draft/prompt_counted", {"moons": "go"}, "state draft: prompt_counted: unknown limit 'moons'"),
    (
        "state/draft/prompt_counted",
        {"rounds": "{moon}"},
        "state draft: its prompt asks for {moon}, which is no field, limit or state",
    ),
    (
        "state/draft/prompt",
        "on to {first:check,moon}",
        "state draft: its prompt asks for {first:check,moon}, which is no field, limit or state",
    ),
    ("ask", "orange task", "ask: must hold {to}, where the state goes"),
    ("shim", {"or/ange": "detent"}, "shim or/ange: must be made of letters, digits and dashes, and not detent"),
    ("shim", {"detent": "detent"}, "shim detent: must be made of letters, digits and dashes, and not detent"),
    ("shim", {"orange": "rm -r"}, "shim orange: must be a line that begins with detent"),
    ("state/draft/asks", ["## Anything", "Moon"], "state draft: unknown field 'Moon'"),
    ("state/draft/words", "plan", "state draft: the word 'plan' must be a slash and a word, as in /plan"),
    ("state/draft/words", ["/a  b"], "state draft: the word '/a  b' must be a slash and a word, as in /plan"),
    ("state/draft/words", "/", "state draft: the word '/' must be a slash and a word, as in /plan"),
    (
        "state/draft/words",
        "/Next phase",
        "state draft: the word '/Next phase' must not begin with /next, which every task understands",
    ),
    ("state/draft/words", ["/look", "/Say"], "state check: the word '/say' means draft already"),
    ("edge/0/says", "{text}", f"draft -> check: says '{{text}}' {SPACE}"),
    ("edge/0/says", "build{text}", f"draft -> check: says 'build{{text}}' {SPACE}"),
    ("edge/0/says", "", f"draft -> check: says '' {WORDS}"),
    ("edge/0/says", "a {text} b", f"draft -> check: says 'a {{text}} b' {WORDS}"),
    ("edge/0/says", "a {name}", f"draft -> check: says 'a {{name}}' {WORDS}"),
    ("edge/0/says", "a  b", f"draft -> check: says 'a  b' {WORDS}"),
    (
        "edge/0/says",
        "/redo it",
        "draft -> check: says '/redo it' must not begin with /redo, which every task understands",
    ),
    ("edge/0/from", [], " -> check: from is missing"),
    ("edge/0/from", "moon", "moon -> check: unknown state 'moon'"),
    ("edge/0/to", "{origin}", "draft/check -> {origin}: unknown state '{origin}'"),
    ("edge/0/mode", "slow", "draft/check -> check: unknown mode 'slow'"),
    ("edge/0/under", "moons", "draft/check -> check: unknown limit 'moons'"),
    ("edge/0/spent", "moons", "draft/check -> check: unknown limit 'moons'"),
    ("edge/0/counts", "moons", "draft/check -> check: unknown limit 'moons'"),
    ("edge/0/resets", "moons", "draft/check -> check: unknown limit 'moons'"),
    ("edge/0/after", "tuesday", "draft/check -> check: unknown exit class 'tuesday'"),
    ("edge/0/when", {"moon": "full"}, "draft/check -> check: unknown register 'moon'"),
    ("edge/0/when", {"mood": "sad"}, "draft/check -> check: mood can't be 'sad'; its values are calm, cross"),
    ("edge/0/set", {"moon": "full"}, "draft/check -> check: unknown register 'moon'"),
    ("edge/0/set", {"mood": "sad"}, "draft/check -> check: mood can't be 'sad'; its values are calm, cross"),
    ("edge/0/prepare", "tea", "draft/check -> check: unknown prepare 'tea'"),
    ("edge/0/effects", "smoke", "draft/check -> check: unknown effect 'smoke'"),
    ("edge/1/ways/1/needs", "moon", "check/sort -> pause way 2: unknown gate 'moon'"),
    ("edge/2/by", ["person", "engine"], "pause -> over: a sign-off is held by a person alone"),
    ("reopen/0/to", "{moon}", "over -> {moon}: unknown register 'moon'"),
    ("reopen/0/instead", {"moon": "draft"}, "over -> {origin}: unknown state 'moon'"),
    ("reopen/0/instead", {"check": "moon"}, "over -> {origin}: unknown state 'moon'"),
    ("lock/0/after", "moon", "lock frame: unknown state 'moon'"),
    ("lock/0/fields", ["Moon"], "lock frame: unknown field 'Moon'"),
    ("lock/0", {"name": "air", "after": "draft"}, "lock air: holds nothing"),
    ("lock/0/after", [], "lock frame: after is missing"),
    ("lock/0/files", ["TASK.md"], "lock frame: TASK.md holds the state; lock fields or sections of it"),
    ("lock/0/files", ["../x"], "lock frame: '../x' must be the path of a file or folder in the task folder"),
    ("lock/0/files", ["/x"], "lock frame: '/x' must be the path of a file or folder in the task folder"),
    ("lock/0/files", ["./"], "lock frame: './' must be the path of a file or folder in the task folder"),
    (
        "lock/0/sections",
        [{"file": "a//b", "section": "x"}],
        "lock frame: 'a//b' must be the path of a file or folder in the task folder",
    ),
    ("forbidden/0/to", "moon", "forbidden: unknown state 'moon'"),
    ("forbidden/0/why", "", "forbidden 1: why must be a text"),
    ("property/0/then", "sing", "property seen: unknown edge 'sing'"),
    ("property/0/first", [], "property seen: first must be a move or a list of moves"),
    ("property/0/first", ["show", "sing"], "property seen: unknown edge 'sing'"),
    ("property/0/since", "moon", "property seen: unknown state 'moon'"),
    ("state", [], "state must be written as [state.NAME]"),
    ("edge", {}, "edge must be written as [[edge]]"),
    ("edge/1/ways", "two", "check/sort -> pause: ways must be written as [[ways]]"),
    ("edge/1/ways/0", "two", "ways 1: must be a table"),
    ("edge/0/needs", "", "draft/check -> check: unknown gate ''"),
    ("edge/0/needs", [1], "draft/check -> check: needs must be a text or a list of texts"),
    ("answers/section", 5, "answers: section must be a text"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "value", "problem"), WRONG)
def test_each_mistake_has_its_own_words(path: str, value: object, problem: str) -> None:
    assert problem in problems(changed(path, value))


@pytest.mark.parametrize(
    ("path", "value"),
    [("gate/shown/words", ["one"]), ("gate/shown/sizes", {"one": "1", "two": ""}), ("gate/shown/path", "p")],
)
def test_parameters_of_the_kinds_a_check_asks_for_are_taken_as_they_are(path: str, value: object) -> None:
    gate = parse(changed(path, value), VOCABULARY).gates["shown"]
    assert gate.params[path.rpartition("/")[2]] == value


def test_without_a_vocabulary_names_are_taken_as_they_are() -> None:
    content = changed("gate/shown/check", "smell")
    content["store"]["codec"] = "carving"
    content["edge"][0]["effects"] = ["smoke"]
    made = parse(content, None)
    assert made.gates["shown"].check == "smell"
    assert made.states["draft"].edges[0].ways[0].effects == ("smoke",)


def test_a_problem_is_told_once() -> None:
    content = changed("by", ["robot"])
    found = problems(content)
    assert len(found) == len(set(found))


@pytest.mark.parametrize("content", [None, [], "text", 5])
def test_a_document_that_is_no_table_is_refused(content: object) -> None:
    assert "the file: must be a table" in problems(content)


def test_an_empty_document_lacks_what_every_machine_needs() -> None:
    assert {"format must be 1", "name must be a text", "initial must be a text"} <= set(problems({}))


def paths(inner: object, prefix: str = "") -> Iterator[str]:
    """Where a value can be replaced, at any depth."""
    if isinstance(inner, dict):
        items = [(str(key), value) for key, value in inner.items()]
    elif isinstance(inner, list):
        items = [(str(number), value) for number, value in enumerate(inner)]
    else:
        return
    for key, value in items:
        yield prefix + key
        yield from paths(value, f"{prefix}{key}/")


ODD_VALUES: tuple[object, ...] = (
    None,
    0,
    -1,
    5,
    2.5,
    True,
    "",
    "odd",
    "{odd}",
    [],
    [1],
    [[]],
    ["odd"],
    {},
    {"odd": 1},
    {"odd": {"odd": []}},
)


def test_no_wrong_type_anywhere_raises_anything_but_a_machine_error() -> None:
    everywhere = list(paths(document()))
    assert len(everywhere) > 100
    for path, value, vocabulary in product(everywhere, ODD_VALUES, (VOCABULARY, None)):
        with naming(f"{path} = {value!r}"):
            try:
                made = parse(changed(path, value), vocabulary)
            except MachineError:
                continue
            # What the parser lets through, the other checks must be able to read.
            lint(made)


@contextmanager
def naming(what: str) -> Iterator[None]:
    """An error says what it is about."""
    try:
        yield
    except Exception as error:
        error.add_note(what)
        raise


def test_a_machine_that_parses_explores() -> None:
    assert explore(parse(document(), VOCABULARY, options=["sorting"])).asked > 0


@pytest.mark.parametrize(
    "name",
    ["a\nb", "\x1b[31m", "*bold*", "bold*", " lead", "trail ", "two  spaces", "<!-- c -->", "a<b", "```", "--json"],
)
def test_a_state_s_name_comes_back_from_a_file_as_it_was_written(name: str) -> None:
    content = document()
    content["state"] = {name if state == "sort" else state: table for state, table in content["state"].items()}
    assert any(told.startswith(f"state {name!r}: a state's name begins") for told in problems(content))


@pytest.mark.parametrize("name", ["Größe", "in review", "x: y", "v1.2 (old)", "agent-review", "needs_user_decision"])
def test_a_state_may_be_called_by_plain_words(name: str) -> None:
    content = document()
    content["state"] = {name if state == "sort" else state: table for state, table in content["state"].items()}
    assert not any("a state's name" in told for told in problems(content))
