"""What a check is to the engine, said once where the check is declared; nothing about it is named anywhere else.

Checks that any machine may ask are declared in `gates/general.py`, those of one machine in the `pack.py` of its pack. A
declaration is light: the functions it names are loaded when they are first asked for.
"""

from __future__ import annotations

from functools import cache

from detent.core.record import Record
from detent.machines.packs import CHECKS, by_name, load, of_packs
from detent.machines.reading import GATES, MADE_OF_GATES, one_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from detent.core.machine import Gate
    from detent.gates.seen import Finding, Seen
    from detent.machines.packs import At

    Answer = Callable[[Gate, Seen], Finding]

ABOUT_TREE = "tree"  # what a verdict is about: it counts for the files that it was given on
ABOUT = one_of((ABOUT_TREE,))
TREE, SIBLINGS = "tree", "siblings"  # what a check may need: the work tree as it is now, the other tasks of the project
ONLY, ALSO = "only", "also"  # a closed gate is opened by nothing but a person's word, or by that too


class Outside(Record):
    """How a check is proven whose commands run last and outside the sandbox, once a person gave their word."""

    run: At  # (task, seen, gates): runs them, with everything else proven
    word: At  # (task): what a person must be asked before; empty when nothing, or not yet
    lines: At  # (gate, seen): label and line of each command, for those who are told of them


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
    names_proof: bool = False  # a field will name the file it looks at: whatever could be is taken down on entry
    word: str = ""  # ONLY or ALSO
    is_asked_late: bool = False  # its answer costs a process, so that only the move itself asks for it
    lacks_judge: At = ""  # (gate, seen): whether all it lacks is somebody who judges what no command can prove
    outside: Outside | None = None
    lets_again: bool = False  # a person's move that needs it deploys anew what was taken back

    @property
    def needs_tree(self) -> bool:
        return bool(self.runs) or TREE in self.needs


_UNKNOWN = Check("", "")
_MADE_OF_GATES = {name: Check(name, "", {"of": GATES}) for name in MADE_OF_GATES}


@cache
def _general() -> dict[str, Check]:
    from detent.gates import general

    return by_name(general.CHECKS)


@cache
def checks() -> dict[str, Check]:
    """Every check there is; those made of other gates come last."""
    return by_name((*_general().values(), *of_packs(CHECKS), *_MADE_OF_GATES.values()))


def declared(name: str) -> Check:
    """What is known of a check; packs are asked only for what is not general. An unknown one needs nothing."""
    return _general().get(name) or _MADE_OF_GATES.get(name) or checks().get(name, _UNKNOWN)


def check_named(name: str) -> Answer:
    """The function of a check, its module read when it is first asked for."""
    found = declared(name)
    if not found.at:
        raise KeyError(name)
    answer: Answer = load(found.at)
    return answer


def parameters() -> dict[str, tuple[dict[str, str], dict[str, str]]]:
    """What each check must and may be given, and of which kind."""
    return {name: (dict(one.required), dict(one.optional)) for name, one in checks().items()}


def judges_tree(check: str, params: Mapping[str, object]) -> bool:
    """Whether an open gate of this kind says something good about the tree it was asked of, and about no other."""
    if params.get("about") == ABOUT_TREE:
        return True
    judges = declared(check).judges
    return judges if isinstance(judges, bool) else params.get("value") in judges
