"""What is wrong with a machine file: the problems of `machines/parse.py` and of what it asks."""

from __future__ import annotations

from detent.words.message import message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


@message
def unknown(where: str, what: str, name: str) -> str:
    return f"{where}: unknown {what} {name!r}"


@message
def format_must_be(version: int) -> str:
    return f"format must be {version}"


@message
def counted_twice(limit: str) -> str:
    return f"crash: {limit} is counted by every machine, and would be counted twice"


@message
def name_letters() -> str:
    return "name must be made of letters, digits and dashes"


@message
def name_too_long(most_bytes: int) -> str:
    return f"name must be at most {most_bytes} bytes long: it is part of file and branch names"


@message
def gate_name_taken(gate: str) -> str:
    return f"gate {gate}: this name belongs to the engine"


@message
def register_name_taken(register: str) -> str:
    return f"register {register}: this name belongs to the engine"


@message
def gate_of_must_be(gate: str, kind: str) -> str:
    return f"gate {gate}: of must be {kind}"


@message
def unknown_check(gate: str, check: str, known: Iterable[str]) -> str:
    return f"gate {gate}: unknown check {check!r}; known: {', '.join(known)}"


@message
def check_needs(gate: str, check: str, key: str) -> str:
    return f"gate {gate}: check {check} needs {key!r}"


@message
def check_does_not_know(gate: str, check: str, key: str) -> str:
    return f"gate {gate}: check {check} does not know {key!r}"


@message
def parameter_must_be(gate: str, key: str, kind: str) -> str:
    return f"gate {gate}: {key} must be {kind}"


@message
def parameter_outside_tree(gate: str, key: str, value: str) -> str:
    return f"gate {gate}: {key} must be a path inside the tree, not {value!r}"


@message
def limit_max(limit: str) -> str:
    return f"limit {limit}: max must be a whole number from 1"


@message
def limit_cap(limit: str) -> str:
    return f"limit {limit}: cap must be at least max, or the limit is never reached"


@message
def no_limit(limit: str, known: Iterable[str]) -> str:
    return f"settings: this machine has no limit {limit!r}; known: {', '.join(known)}"


@message
def limit_setting(limit: str) -> str:
    return f"settings: limit {limit} must be a whole number from 1"


@message
def field_is_register(field: str) -> str:
    return f"field {field}: there is a register of this name already"


@message
def start_not_among(register: str, start: str) -> str:
    return f"{register}: start {start!r} is not among its values"


@message
def no_option(option: str, known: Iterable[str]) -> str:
    return f"settings: this machine has no option {option!r}; known: {', '.join(known) or 'none'}"


@message
def from_missing(where: str) -> str:
    return f"{where}: from is missing"


@message
def sign_off_by_person(where: str) -> str:
    return f"{where}: a sign-off is held by a person alone"


@message
def after_no_must_be(where: str, unasked: str) -> str:
    return f'{where}: after_no must be true, false or "{unasked}"'


@message
def value_not_allowed(where: str, name: str, value: object, allowed: Iterable[str]) -> str:
    return f"{where}: {name} can't be {value!r}; its values are {', '.join(allowed)}"


@message
def driver_impossible(state: str, driver: str) -> str:
    return f"state {state}: driver {driver!r} is not possible here"


@message
def role_misplaced(state: str) -> str:
    return f"state {state}: an agent needs a role, and a role belongs to an agent or to a person's state"


@message
def end_at_rest(state: str) -> str:
    return f"state {state}: an end is no state to rest in"


@message
def prompt_unknown(state: str, name: str) -> str:
    return f"state {state}: its prompt asks for {{{name}}}, which is no field, limit or state"


@message
def ask_needs_target() -> str:
    return "ask: must hold {to}, where the state goes"


@message
def shim_letters(shim: str, cli: str) -> str:
    return f"shim {shim}: must be made of letters, digits and dashes, and not {cli}"


@message
def shim_line(shim: str, cli: str) -> str:
    return f"shim {shim}: must be a line that begins with {cli}"


@message
def no_without_agent(state: str) -> str:
    return f"state {state}: no agent works there, so none can say no"


@message
def lock_without_after(lock: str) -> str:
    return f"lock {lock}: after is missing"


@message
def lock_after_and_role(lock: str) -> str:
    return f"lock {lock}: it has after or role, not both"


@message
def lock_holds_nothing(lock: str) -> str:
    return f"lock {lock}: holds nothing"


@message
def lock_path(lock: str, file: str) -> str:
    return f"lock {lock}: {file!r} must be the path of a file or folder in the task folder"


@message
def lock_holds_state(lock: str, file: str) -> str:
    return f"lock {lock}: {file} holds the state; lock fields or sections of it"


@message
def property_first(rule: str) -> str:
    return f"property {rule}: first must be a move or a list of moves"


@message
def must_be_table(where: str) -> str:
    return f"{where or 'the file'}: must be a table"


@message
def key_must_be(where: str, key: str, kind: str) -> str:
    return f"{where + ': ' if where else ''}{key} must be {kind}"


@message
def unknown_key(where: str, key: str, near: str) -> str:
    """`near`: a key that may have been meant; empty where none is near."""
    return f"{where or 'top level'}: unknown key {key!r}{f', perhaps {near!r} was meant' if near else ''}"


@message
def files_without_role(state: str) -> str:
    return f"state {state}: files: no run ends in a state without a role"


@message
def file_outside_folder(state: str, place: str) -> str:
    return f"state {state}: files: {place!r} must be a path inside the task folder, without '..'"


@message
def file_of_engine(state: str, place: str) -> str:
    return f"state {state}: files: {place} is written by the engine already"


@message
def unknown_source(state: str, source: str, known: Iterable[str]) -> str:
    return f"state {state}: files: unknown source {source!r}; known: {', '.join(known)}"


@message
def folder_source(state: str, place: str) -> str:
    return f"state {state}: files: {place!r} must end with '/', as a folder does"


@message
def file_source(state: str, place: str) -> str:
    return f"state {state}: files: {place!r} must not end with '/', as a folder does"


@message
def gate_of_itself(gate: str) -> str:
    return f"gate {gate}: it is made of itself"


@message
def gates_too_deep(gate: str, most: int) -> str:
    return f"gate {gate}: gates are nested too deeply; at most {most} may stand in one another"


@message
def gate_verdict(gate: str, value: object, known: Iterable[str]) -> str:
    return f"gate {gate}: its verdict can't be {value!r}; its values are {', '.join(known)}"


@message
def signal_not_asked(gate: str, signal: str) -> str:
    return f"gate {gate}: the signal {signal!r} is asked for by no other gate"


@message
def signal_unknown(gate: str, signal: str) -> str:
    return f"gate {gate}: the signal {signal!r} is asked for by another gate, and not known here"
