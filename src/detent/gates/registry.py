"""What a check is to the engine, said once where the check is declared; nothing about it is named anywhere else.

Checks that any machine may ask are declared here, those of one machine in the `pack.py` of its pack. A declaration is
light: the functions it names are loaded when they are first asked for.
"""

from __future__ import annotations

from functools import cache

from detent.core.record import Record
from detent.machines.brought import BROUGHT, pack_of
from detent.machines.meanings import ABOUT_TREE, ENTERED, JUDGED, SIGNED
from detent.machines.packs import CHECKS, EXCUSES, by_name, load, of_packs
from detent.machines.reading import (
    FIELD,
    GATE,
    GATES,
    MADE_OF_GATES,
    MOVES,
    REGISTER,
    REGISTERS,
    ROLE,
    ROLES,
    SCHEMA,
    SIGN_OFF,
    STATES,
    TEXT,
    TEXTS,
    WORDS,
    one_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from detent.core.machine import Gate
    from detent.gates.seen import Finding, Seen
    from detent.machines.packs import At

    Answer = Callable[[Gate, Seen], Finding]

ABOUT = one_of((ABOUT_TREE,))
OPEN = one_of(("open",))
TREE, SIBLINGS = "tree", "siblings"  # what a check may need: the work tree as it is now, the other tasks of the project
ONLY, ALSO = "only", "also"  # a closed gate is opened by nothing but a person's word, or by that too


class Outside(Record):
    """How a check is proven whose commands run last and outside the sandbox, once a person gave their word."""

    run: At  # (task, seen, gates): runs them, with everything else proven
    word: At  # (task): what a person must be asked before; empty when nothing, or not yet
    lines: At  # (gate, seen): label and line of each command, for display


class Check(Record):
    name: str
    at: At  # (gate, seen): the finding
    required: Mapping[str, str] = {}  # parameters with their kinds
    optional: Mapping[str, str] = {}
    needs: tuple[str, ...] = ()  # TREE, SIBLINGS; one that runs commands needs the tree anyway
    runs: At = ""  # (gate, seen): the commands it asks the engine to run
    goes_first: bool = False  # its commands are run before all others, which may change what they would see
    is_momentary: bool = False  # its commands stand in a report of the moment; no other state is judged by them
    # Whether an open gate speaks for the tree it was asked of, and for no other; with a `value`, the values that do.
    judges: bool | tuple[str, ...] = False
    names_proof: bool = False  # a field will name the file to read: every candidate is recorded on entry
    word: str = ""  # ONLY or ALSO
    is_asked_late: bool = False  # its answer costs a process, so that only the move itself asks for it
    lacks_judge: At = ""  # (gate, seen): whether all it lacks is a judgement that no command can prove
    outside: Outside | None = None
    beside: str = ""  # the check that every way needs besides, and one that runs commands: alone it says too little
    assess: At = ""  # (task, seen, gate): works out what it asks for, once every command is green
    lets_again: bool = False  # a person's move that needs it deploys again what was taken back
    # It comes to one answer: gates for two values are never open together. The text is the answer without a `value`.
    answer: str | None = None
    opposite: str = ""  # the check of the same parameters that is open only while this one is closed
    delivers: bool = False  # that it is open means that the work was handed over to people
    binds: str = ""  # to which tree it binds a move: JUDGED, SIGNED or ENTERED (machines/meanings.py)
    is_progress: bool = False  # how far a loop has come is shown by the parts of its answer

    @property
    def needs_tree(self) -> bool:
        return bool(self.runs) or TREE in self.needs


class Excuse(Record):
    """A parameter by which a pack lets paths differ that no gate judged, with the parameters it reads besides."""

    name: str  # the parameter
    at: At  # (gate, seen, added): which of the added paths are excused
    of: tuple[str, ...]  # the checks that may be given it
    optional: Mapping[str, str]


# The checks that any machine may ask.
GENERAL = (
    Check("fields_filled", "detent.gates.checks:fields_filled", {"fields": TEXTS}, {"empty": TEXTS, "none_in": TEXTS}),
    Check(
        "fields_empty",
        "detent.gates.checks:fields_empty",
        {"fields": TEXTS},
        {"empty": TEXTS},
        opposite="fields_filled",
    ),
    Check("fields_present", "detent.gates.checks:fields_present", {"fields": TEXTS}),
    Check("field_is", "detent.gates.checks:field_is", {"field": FIELD, "value": TEXT}, answer=""),
    Check(
        "register_is",
        "detent.gates.checks:register_is",
        {"register": REGISTER, "value": TEXT},
        {"unless": REGISTERS},
        answer="",
    ),
    Check(
        "section_filled",
        "detent.gates.checks:section_filled",
        {"file": TEXT, "section": TEXT},
        {"empty": TEXTS, "quoted": TEXT},
    ),
    Check(
        "section_empty",
        "detent.gates.checks:section_empty",
        {"file": TEXT, "section": TEXT},
        {"empty": TEXTS},
        opposite="section_filled",
    ),
    Check(
        "verdict",
        "detent.gates.checks:verdict",
        {"file": TEXT, "section": TEXT, "value": TEXT},
        {"words": WORDS, "about": ABOUT},
        answer="",
    ),
    Check("labels", "detent.gates.checks:labels", {"files": TEXTS, "section": TEXT, "labels": TEXTS, "relevant": TEXT}),
    Check("path_field", "detent.gates.checks:path_field", {"field": TEXT}, names_proof=True),
    Check("link_field", "detent.gates.checks:link_field", {"field": TEXT}, {"when_folder": TEXT}),
    Check(
        "commands",
        "detent.gates.commands:commands",
        {},
        {"field": TEXT, "none": OPEN},
        runs="detent.gates.commands:plan_runs",
        judges=True,
    ),
    Check("commands_named", "detent.gates.commands:commands_named", {"field": TEXT}),
    Check(
        "commands_failed",
        "detent.gates.commands:commands_failed",
        {},
        {"field": TEXT},
        runs="detent.gates.commands:plan_runs",
    ),
    Check(
        "red_green",
        "detent.gates.commands:red_green",
        {"field": TEXT},
        {"command": TEXT, "tests": TEXTS},
        runs="detent.gates.commands:red_green_runs",
        judges=True,
    ),
    Check(
        "manual_evidence",
        "detent.gates.checks:manual_evidence",
        {"field": TEXT, "file": TEXT, "section": TEXT},
        {"about": ABOUT},
    ),
    Check(
        "answers", "detent.gates.answers:answers", {"file": TEXT, "section": TEXT, "questions": TEXTS}, {"about": ABOUT}
    ),
    Check("file_unchanged", "detent.gates.surroundings:file_unchanged", {"file": TEXT}),
    Check("person_says", "detent.gates.surroundings:person_says", {"word": TEXT}),
    Check("git_clean", "detent.gates.surroundings:git_clean", is_asked_late=True),
    Check("baseline_known", "detent.gates.surroundings:baseline_known"),
    Check("agents_found", "detent.gates.surroundings:agents_found", {"roles": ROLES}, {"programs": TEXTS}),
    Check("agents_exhausted", "detent.gates.surroundings:agents_exhausted", {"role": ROLE}),
    Check("no_sibling_in", "detent.gates.surroundings:no_sibling_in", {"states": STATES}, needs=(SIBLINGS,)),
    Check("protected_ok", "detent.gates.people:protected_ok", needs=(TREE,), word=ONLY),
    Check(
        "proof",
        "detent.gates.proof:proof",
        needs=(TREE,),
        beside="proof_accepted",
        assess="detent.runner.step.proving.full:assess_gate",
    ),
    Check("proof_accepted", "detent.gates.proof:proof_accepted", needs=(TREE,), beside="proof", word=ONLY),
    Check("filed", "detent.gates.filed:filed", {"file": TEXT}, needs=(TREE,)),
    Check("renewed", "detent.gates.filed:renewed", {"files": TEXTS}),
    Check("same_tree", "detent.gates.filed:same_tree", {}, {"waived": GATE}, needs=(TREE,), binds=ENTERED),
    Check(
        "as_judged",
        "detent.gates.judged:as_judged",
        {"edges": MOVES},
        {"besides": TEXTS},
        needs=(TREE,),
        word=ALSO,
        binds=JUDGED,
    ),
    Check("asked_by_name", "detent.gates.people:asked_by_name"),
    Check("json_valid", "detent.gates.json_artifacts:json_valid", {"file": TEXT, "schema": SCHEMA}),
    Check(
        "signed_tree",
        "detent.gates.people:signed_tree",
        {"edge": SIGN_OFF},
        {"files": TEXTS},
        needs=(TREE,),
        binds=SIGNED,
    ),
    Check("tree_edited", "detent.gates.people:tree_edited", needs=(TREE,)),
)
_UNKNOWN = Check("", "")
_MADE_OF_GATES = {name: Check(name, "", {"of": GATES}) for name in MADE_OF_GATES}


@cache
def _general() -> dict[str, Check]:
    return by_name(GENERAL)


@cache
def checks() -> dict[str, Check]:
    """Every check there is; those made of other gates come last."""
    found = by_name((*_general().values(), *of_packs(CHECKS), *_MADE_OF_GATES.values()))
    for excuse in _excuses().values():
        for name in excuse.of:
            found[name] = found[name].replace(optional={**found[name].optional, **excuse.optional})
    return found


@cache
def _excuses() -> dict[str, Excuse]:
    return by_name(of_packs(EXCUSES))


def checks_from_outside(pack: str) -> Mapping[str, Check]:
    """The checks of a pack from another folder; none where it is not loaded."""
    if pack not in BROUGHT:
        return {}
    from detent.machines.outside import declarations

    return declarations(pack, CHECKS, Check)


def excuses_of(gate: Gate) -> tuple[At, ...]:
    """What lets paths differ for this gate, by the parameters it is given."""
    return tuple(excuse.at for name, excuse in _excuses().items() if name in gate.params)


def declared(name: str) -> Check:
    """What is known of a check; packs are asked only for what is not general. An unknown one needs nothing."""
    if known := _general().get(name) or _MADE_OF_GATES.get(name):
        return known
    if pack := pack_of(name):
        return checks_from_outside(pack.name).get(name, _UNKNOWN)
    return checks().get(name, _UNKNOWN)


def check_named(name: str) -> Answer:
    """The function of a check, its module read when it is first asked for."""
    found = declared(name)
    if not found.at:
        raise KeyError(name)
    answer: Answer = load(found.at)
    return answer


def parameters(pack: str = "") -> dict[str, tuple[dict[str, str], dict[str, str]]]:
    """What each check must and may be given, and of which kind; with those of a pack from elsewhere."""
    known = {**checks(), **checks_from_outside(pack)}
    return {name: (dict(check.required), dict(check.optional)) for name, check in known.items()}
