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
from detent.view import content_of
from detent.words.machines import lines as lines_words
from detent.words.machines import parse as parse_words
from detent.words.machines import parse_store as parse_store_words
from detent.words.message import code_of

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
    assert content_of(made.store) == {
        "codec": "markdown_fields",
        "file": "TASK.md",
        "state": "Phase",
        "files": ["TASK.md"],
    }
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


def test_person_s_state_may_have_agent_that_is_called_in() -> None:
    content = changed("state/pause/role", "judge")
    pause = parse(content, VOCABULARY).states["pause"]
    assert (pause.driver, pause.role, pause.access) == ("person", "judge", "read")


def test_prompts_are_chosen_by_counters_and_may_leave_words_open() -> None:
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
        parse_words.no_limit("moons", ["crashes", "falls", "rounds", "runs", "tries"]),
        parse_words.limit_setting("rounds"),
        parse_words.no_option("flying", ["sorting"]),
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
        parse_words.unknown("initial", "state", "daft"),
        parse_words.limit_max("rounds"),
        parse_words.unknown("gate shown", "since", "always"),
        parse_words.check_needs("shown", "file", "path"),
        parse_words.check_does_not_know("shown", "file", "paht"),
        parse_words.unknown("draft/check -> check", "gate", "shwon"),
        parse_words.unknown_key("draft/check -> check", "undr", "under"),
        parse_words.unknown("pause -> over", "actor", "robot"),
        parse_words.sign_off_by_person("pause -> over"),
        parse_words.unknown("state draft", "respawn", "often"),
        parse_words.unknown("lock frame", "state", "attic"),
        parse_words.unknown("property seen", "edge", "shew"),
    }


UNKNOWN_KEYS = {
    "colour": parse_words.unknown_key("", "colour", ""),
    "override/colour": parse_words.unknown_key("override", "colour", ""),
    "crash/colour": parse_words.unknown_key("crash", "colour", ""),
    "role/builder/colour": parse_words.unknown_key("role builder", "colour", ""),
    "field/Objective/colour": parse_words.unknown_key("field Objective", "colour", ""),
    "register/origin/colour": parse_words.unknown_key("register origin", "colour", ""),
    "limit/rounds/colour": parse_words.unknown_key("limit rounds", "colour", ""),
    "gate/shown/colour": parse_words.check_does_not_know("shown", "file", "colour"),
    "state/draft/colour": parse_words.unknown_key("state draft", "colour", ""),
    "edge/0/colour": parse_words.unknown_key("draft/check -> check", "colour", ""),
    "edge/1/ways/1/colour": parse_words.unknown_key("check/sort -> pause way 2", "colour", ""),
    "reopen/0/colour": parse_words.unknown_key("over -> {origin}", "colour", ""),
    "lock/0/colour": parse_words.unknown_key("lock 1", "colour", ""),
    "answers/colour": parse_words.unknown_key("answers", "colour", ""),
    "progress/colour": parse_words.unknown_key("progress", "colour", ""),
    "store/colour": parse_words.unknown_key("store", "colour", ""),
    "forbidden/0/colour": parse_words.unknown_key("forbidden 1", "colour", ""),
    "property/0/colour": parse_words.unknown_key("property 1", "colour", ""),
}


@pytest.mark.parametrize(("path", "problem"), UNKNOWN_KEYS.items())
def test_an_unknown_key_is_an_error_at_every_level(path: str, problem: str) -> None:
    assert problems(changed(path, "red")) == (problem,)


SPACE = lines_words.words_before_place("{text}")
WORDS = lines_words.words_with_one_space("{text}")
PLAIN = "made of texts, numbers, true, false, lists and tables"
WRONG = [
    ("format", 2, parse_words.format_must_be(1)),
    ("format", "1", parse_words.key_must_be('', 'format', 'a whole number')),
    ("name", "", parse_words.key_must_be('', 'name', 'a text')),
    ("name", "../up", parse_words.name_letters()),
    ("name", "ö" * 33, parse_words.name_too_long(64)),
    ("initial", "moon", parse_words.unknown('initial', 'state', 'moon')),
    ("by", ["robot"], parse_words.unknown('draft/check -> check', 'actor', 'robot')),
    ("store/codec", "carving", parse_words.unknown('store', 'codec', 'carving')),
    ("store/file", 5, parse_words.key_must_be('store', 'file', 'a text')),
    ("store/state", "", parse_words.key_must_be('store', 'state', 'a text')),
    ("store/files", [], parse_store_words.no_files()),
    ("store", {}, parse_words.key_must_be('store', 'codec', 'a text')),
    ("store/fsync", 1, parse_words.key_must_be('store', 'fsync', 'true or false')),
    ("store/version", {"field": "v", "is": 0}, parse_store_words.version_number()),
    ("store/version", {"is": 1}, parse_words.key_must_be('store version', 'field', 'a text')),
    ("store/version", {"field": "v", "is": 1, "was": 0}, parse_words.unknown_key('store version', 'was', '')),
    ("store/only_in", {"v": ["moon"]}, parse_words.unknown('store only_in v', 'state', 'moon')),
    ("store/events", [{"type": "x", "kind": "moved"}], parse_store_words.no_log('store events 1')),
    ("store/events", [{"type": "x", "kind": "bored"}], parse_words.unknown('store events 1', 'kind', 'bored')),
    ("store/events", [{"kind": "moved"}], parse_words.key_must_be('store events 1', 'type', 'a text')),
    ("store/events", [{"type": "x", "kind": "moved", "colour": "red"}],
     parse_words.unknown_key('store events 1', 'colour', '')),
    ("store/events", [{"type": "x", "kind": "moved", "fields": {"a": 1}}],
     parse_words.key_must_be('store events 1 fields', 'a', 'a text')),
    (
        "store/events",
        [{"type": "x", "kind": "moved", "when": {"by": 1}}],
        parse_words.key_must_be('store events 1 when', 'by', 'a text or a list of texts'),
    ),
    ("crash/counts", ["moons"], parse_words.unknown('crash', 'limit', 'moons')),
    ("crash/counts", ["crashes"], parse_words.counted_twice('crashes')),
    ("role/builder/access", "run", parse_words.unknown('role builder', 'access', 'run')),
    ("field/Verdict/owner", "cat", parse_words.unknown('field Verdict', 'owner', 'cat')),
    ("field/Verdict/start", "bad", parse_words.start_not_among('Verdict', 'bad')),
    ("register/Verdict", {}, parse_words.field_is_register('Verdict')),
    ("register/stopped", {}, parse_words.register_name_taken('stopped')),
    ("register/mood/start", "glad", parse_words.start_not_among('mood', 'glad')),
    ("limit/rounds/max", 0, parse_words.limit_max('rounds')),
    ("limit/rounds/max", True, parse_words.key_must_be('limit rounds', 'max', 'a whole number')),
    ("limit/rounds/cap", 1, parse_words.limit_cap('rounds')),
    ("limit/tries/per", "planet", parse_words.unknown('limit tries', 'per', 'planet')),
    ("limit/falls/resets", "never", parse_words.unknown('limit falls', 'resets', 'never')),
    ("gate/shown/check", "smell", parse_words.unknown_check('shown', 'smell', ['all', 'file', 'not'])),
    ("gate/hidden/of", ["moon"], parse_words.unknown('gate hidden', 'gate', 'moon')),
    ("gate/hidden/of", [], parse_words.parameter_must_be('hidden', 'of', 'a list of gates')),
    ("gate/whole/of", [], parse_words.parameter_must_be('whole', 'of', 'a list of gates')),
    ("gate/whole/of", "shown", parse_words.parameter_must_be('whole', 'of', 'a list of gates')),
    ("gate/whole/of", [5], parse_words.parameter_must_be('whole', 'of', 'a list of gates')),
    ("gate/shown/path", dt.date(2024, 1, 1), parse_words.key_must_be('gate shown', 'path', PLAIN)),
    ("gate/shown/path", 5, parse_words.parameter_must_be('shown', 'path', 'a text')),
    ("gate/shown/path", "", parse_words.parameter_must_be('shown', 'path', 'a text')),
    ("gate/shown/path", ["a"], parse_words.parameter_must_be('shown', 'path', 'a text')),
    ("gate/shown/path", "tree:../a", parse_words.parameter_outside_tree('shown', 'path', 'tree:../a')),
    ("gate/shown/words", 5, parse_words.parameter_must_be('shown', 'words', 'a list of texts')),
    ("gate/shown/words", "one", parse_words.parameter_must_be('shown', 'words', 'a list of texts')),
    ("gate/shown/words", [], parse_words.parameter_must_be('shown', 'words', 'a list of texts')),
    ("gate/shown/words", ["one", 5], parse_words.parameter_must_be('shown', 'words', 'a list of texts')),
    ("gate/shown/words", ["one", ""], parse_words.parameter_must_be('shown', 'words', 'a list of texts')),
    ("gate/shown/sizes", ["one"], parse_words.parameter_must_be('shown', 'sizes', 'a table of texts')),
    ("gate/shown/sizes", {"one": 1}, parse_words.parameter_must_be('shown', 'sizes', 'a table of texts')),
    ("state/draft/role", "poet", parse_words.unknown('state draft', 'role', 'poet')),
    (
        "state/draft/driver",
        "engine",
        parse_words.role_misplaced('draft'),
    ),
    (
        "state/pause/driver",
        "agent",
        parse_words.role_misplaced('pause'),
    ),
    ("state/pause/driver", "wind", parse_words.driver_impossible('pause', 'wind')),
    ("state/over/driver", "person", parse_words.driver_impossible('over', 'person')),
    ("state/over/rest", True, parse_words.end_at_rest('over')),
    ("state/over/end", "yes", parse_words.key_must_be('state over', 'end', 'true or false')),
    ("state/draft/counts_run", "moons", parse_words.unknown('state draft', 'limit', 'moons')),
    ("state/draft/counts_crash", "moons", parse_words.unknown('state draft', 'limit', 'moons')),
    ("state/draft/must_open", "yes", parse_words.key_must_be('state draft', 'must_open', 'true or false')),
    ("state/draft/prompt_counted", {"moons": "go"},
     parse_words.unknown('state draft: prompt_counted', 'limit', 'moons')),
    (
        "state/draft/prompt_counted",
        {"rounds": "{moon}"},
        parse_words.prompt_unknown('draft', 'moon'),
    ),
    (
        "state/draft/prompt",
        "on to {first:check,moon}",
        parse_words.prompt_unknown('draft', 'first:check,moon'),
    ),
    ("ask", "orange task", parse_words.ask_needs_target()),
    ("shim", {"or/ange": "detent"}, parse_words.shim_letters('or/ange', 'detent')),
    ("shim", {"detent": "detent"}, parse_words.shim_letters('detent', 'detent')),
    ("shim", {"orange": "rm -r"}, parse_words.shim_line('orange', 'detent')),
    ("state/draft/asks", ["## Anything", "Moon"], parse_words.unknown('state draft', 'field', 'Moon')),
    ("state/draft/words", "plan", lines_words.word_wrong('draft', 'plan', lines_words.slash_and_word())),
    ("state/draft/words", ["/a  b"], lines_words.word_wrong('draft', '/a  b', lines_words.slash_and_word())),
    ("state/draft/words", "/", lines_words.word_wrong('draft', '/', lines_words.slash_and_word())),
    (
        "state/draft/words",
        "/Next phase",
        lines_words.word_wrong('draft', '/Next phase', lines_words.word_of_engine('/next')),
    ),
    ("state/draft/words", ["/look", "/Say"], lines_words.word_twice('check', '/say', 'draft')),
    ("edge/0/says", "{text}", lines_words.line_wrong('draft', 'check', '{text}', SPACE)),
    ("edge/0/says", "build{text}", lines_words.line_wrong('draft', 'check', 'build{text}', SPACE)),
    ("edge/0/says", "", lines_words.line_wrong('draft', 'check', '', WORDS)),
    ("edge/0/says", "a {text} b", lines_words.line_wrong('draft', 'check', 'a {text} b', WORDS)),
    ("edge/0/says", "a {name}", lines_words.line_wrong('draft', 'check', 'a {name}', WORDS)),
    ("edge/0/says", "a  b", lines_words.line_wrong('draft', 'check', 'a  b', WORDS)),
    (
        "edge/0/says",
        "/redo it",
        lines_words.line_wrong('draft', 'check', '/redo it', lines_words.word_of_engine('/redo')),
    ),
    ("edge/0/from", [], parse_words.from_missing(' -> check')),
    ("edge/0/from", "moon", parse_words.unknown('moon -> check', 'state', 'moon')),
    ("edge/0/to", "{origin}", parse_words.unknown('draft/check -> {origin}', 'state', '{origin}')),
    ("edge/0/mode", "slow", parse_words.unknown('draft/check -> check', 'mode', 'slow')),
    ("edge/0/under", "moons", parse_words.unknown('draft/check -> check', 'limit', 'moons')),
    ("edge/0/spent", "moons", parse_words.unknown('draft/check -> check', 'limit', 'moons')),
    ("edge/0/counts", "moons", parse_words.unknown('draft/check -> check', 'limit', 'moons')),
    ("edge/0/resets", "moons", parse_words.unknown('draft/check -> check', 'limit', 'moons')),
    ("edge/0/after", "tuesday", parse_words.unknown('draft/check -> check', 'exit class', 'tuesday')),
    ("edge/0/when", {"moon": "full"}, parse_words.unknown('draft/check -> check', 'register', 'moon')),
    ("edge/0/when", {"mood": "sad"},
     parse_words.value_not_allowed('draft/check -> check', 'mood', 'sad', ('calm', 'cross'))),
    ("edge/0/set", {"moon": "full"}, parse_words.unknown('draft/check -> check', 'register', 'moon')),
    ("edge/0/set", {"mood": "sad"},
     parse_words.value_not_allowed('draft/check -> check', 'mood', 'sad', ('calm', 'cross'))),
    ("edge/0/prepare", "tea", parse_words.unknown('draft/check -> check', 'prepare', 'tea')),
    ("edge/0/effects", "smoke", parse_words.unknown('draft/check -> check', 'effect', 'smoke')),
    ("edge/1/ways/1/needs", "moon", parse_words.unknown('check/sort -> pause way 2', 'gate', 'moon')),
    ("edge/2/by", ["person", "engine"], parse_words.sign_off_by_person('pause -> over')),
    ("reopen/0/to", "{moon}", parse_words.unknown('over -> {moon}', 'register', 'moon')),
    ("reopen/0/instead", {"moon": "draft"}, parse_words.unknown('over -> {origin}', 'state', 'moon')),
    ("reopen/0/instead", {"check": "moon"}, parse_words.unknown('over -> {origin}', 'state', 'moon')),
    ("lock/0/after", "moon", parse_words.unknown('lock frame', 'state', 'moon')),
    ("lock/0/fields", ["Moon"], parse_words.unknown('lock frame', 'field', 'Moon')),
    ("lock/0", {"name": "air", "after": "draft"}, parse_words.lock_holds_nothing('air')),
    ("lock/0/after", [], parse_words.lock_without_after('frame')),
    ("lock/0/files", ["TASK.md"], parse_words.lock_holds_state('frame', 'TASK.md')),
    ("lock/0/files", ["../x"], parse_words.lock_path('frame', '../x')),
    ("lock/0/files", ["/x"], parse_words.lock_path('frame', '/x')),
    ("lock/0/files", ["./"], parse_words.lock_path('frame', './')),
    (
        "lock/0/sections",
        [{"file": "a//b", "section": "x"}],
        parse_words.lock_path('frame', 'a//b'),
    ),
    ("forbidden/0/to", "moon", parse_words.unknown('forbidden', 'state', 'moon')),
    ("forbidden/0/why", "", parse_words.key_must_be('forbidden 1', 'why', 'a text')),
    ("property/0/then", "sing", parse_words.unknown('property seen', 'edge', 'sing')),
    ("property/0/first", [], parse_words.property_first('seen')),
    ("property/0/first", ["show", "sing"], parse_words.unknown('property seen', 'edge', 'sing')),
    ("property/0/since", "moon", parse_words.unknown('property seen', 'state', 'moon')),
    ("state", [], parse_words.key_must_be('', 'state', 'written as [state.NAME]')),
    ("edge", {}, parse_words.key_must_be('', 'edge', 'written as [[edge]]')),
    ("edge/1/ways", "two", parse_words.key_must_be('check/sort -> pause', 'ways', 'written as [[ways]]')),
    ("edge/1/ways/0", "two", parse_words.must_be_table('ways 1')),
    ("edge/0/needs", "", parse_words.unknown('draft/check -> check', 'gate', '')),
    ("edge/0/needs", [1], parse_words.key_must_be('draft/check -> check', 'needs', 'a text or a list of texts')),
    ("answers/section", 5, parse_words.key_must_be('answers', 'section', 'a text')),
]  # fmt: skip


@pytest.mark.parametrize(("path", "value", "problem"), WRONG)
def test_each_mistake_has_its_own_words(path: str, value: object, problem: str) -> None:
    assert problem in problems(changed(path, value))


@pytest.mark.parametrize(
    ("path", "value"),
    [("gate/shown/words", ["one"]), ("gate/shown/sizes", {"one": "1", "two": ""}), ("gate/shown/path", "p")],
)
def test_parameters_of_the_right_kind_are_taken_unchanged(path: str, value: object) -> None:
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
    assert parse_words.must_be_table("") in problems(content)


def test_an_empty_document_lacks_what_every_machine_needs() -> None:
    assert {
        parse_words.format_must_be(1),
        parse_words.key_must_be("", "name", "a text"),
        parse_words.key_must_be("", "initial", "a text"),
    } <= set(problems({}))


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
    assert explore(parse(document(), VOCABULARY, options=["sorting"])).decisions > 0


@pytest.mark.parametrize(
    "name",
    ["a\nb", "\x1b[31m", "*bold*", "bold*", " lead", "trail ", "two  spaces", "<!-- c -->", "a<b", "```", "--json"],
)
def test_state_name_that_a_file_would_change_is_refused(name: str) -> None:
    content = document()
    content["state"] = {name if state == "sort" else state: table for state, table in content["state"].items()}
    assert lines_words.state_name(name) in problems(content)


@pytest.mark.parametrize("name", ["Größe", "in review", "x: y", "v1.2 (old)", "agent-review", "needs_user_decision"])
def test_a_state_may_be_called_by_plain_words(name: str) -> None:
    content = document()
    content["state"] = {name if state == "sort" else state: table for state, table in content["state"].items()}
    assert not any(code_of(problem) == "lines.state_name" for problem in problems(content))
