"""Why a gate is closed, and what opens it: the sentences about fields, sections and links of the task folder."""

from __future__ import annotations

from detent.words.message import message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def together(reasons: Iterable[str]) -> str:
    """Several reasons in one line; a single one as it is."""
    several = list(reasons)
    return several[0] if len(several) == 1 else "; ".join(several)


def _field(file: str, label: str) -> str:
    return f'{file}: "{label}:"'


@message
def fields_blank(file: str, labels: Iterable[str]) -> str:
    quoted = ", ".join(f'"{label}:"' for label in labels)
    return f"{file} has nothing under {quoted}"


@message
def fields_say_nothing(file: str, said: Iterable[tuple[str, str]]) -> str:
    """`said`: each label with what stands there."""
    quoted = ", ".join(f'"{label}: {text}"' for label, text in said)
    return f"{quoted} in {file} says nothing"


@message
def field_says(file: str, label: str, said: str) -> str:
    return f'{file} says "{label}: {said}"'


@message
def section_says(file: str, section: str, said: str) -> str:
    return f'{file} says under "## {section}": {said}'


@message
def fields_missing(file: str, labels: Iterable[str]) -> str:
    quoted = ", ".join(f'"{label}:"' for label in labels)
    return f"{file} lacks the field {quoted}"


@message
def field_not_allowed(file: str, label: str, value: str, allowed: Iterable[str]) -> str:
    return f'{file} says "{label}: {value}"; allowed: {", ".join(allowed)}'


@message
def field_differs(file: str, label: str, value: str, wanted: str) -> str:
    return f'{file} says "{label}: {value or "nothing"}", not "{wanted}"'


@message
def register_is_not(register: str, value: str, wanted: str) -> str:
    return f"{register} is {value or 'empty'}, not {wanted}"


@message
def section_missing(file: str, section: str) -> str:
    return f'{file} has no section "## {section}"'


@message
def section_blank(file: str, section: str) -> str:
    return f'{file} has nothing under "## {section}"'


@message
def verdict_differs(file: str, section: str, verdict: str, wanted: str) -> str:
    return f'{file} gives {verdict} under "## {section}", not {wanted}'


@message
def no_clear_verdict(file: str, section: str, words: Iterable[str]) -> str:
    return f'{file} gives no clear verdict under "## {section}": {" or ".join(words)}'


@message
def no_feature_readable(file: str, section: str) -> str:
    return f'{file} has code or HTML under "## {section}", where no feature can be read'


@message
def neither_yes_nor_no(file: str, label: str) -> str:
    return f'{file} says neither yes nor no under "{label}:"'


@message
def yes_without_list(file: str, label: str, section: str) -> str:
    return f'{file} says "{label}: yes", but "## {section}" lists nothing'


@message
def not_one_label(file: str, section: str, item: str, count: int, known: Iterable[str]) -> str:
    many = "more than one" if count else "no"
    return f'{file}: "{item}" under "## {section}" has {many} label of: {", ".join(known)}'


@message
def label_without_feature(file: str, section: str, item: str) -> str:
    return f'{file}: "{item}" under "## {section}" names no feature'


@message
def field_names_no_file(file: str, label: str) -> str:
    return f"{_field(file, label)} names no file"


@message
def named_file_missing(file: str, label: str, path: str) -> str:
    return f"{_field(file, label)} names {path!r}, which is not there (or lies outside task folder and tree)"


@message
def named_file_empty(file: str, label: str, path: str) -> str:
    return f"{_field(file, label)} names {path!r}, which is empty"


@message
def named_file_says_nothing(file: str, label: str, path: str) -> str:
    return f"{_field(file, label)} names {path!r}, which says nothing"


@message
def named_file_elsewhere(file: str, label: str, path: str) -> str:
    return f"{_field(file, label)} names {path!r}, which does not lie in the task folder"


@message
def too_many_files(file: str, label: str) -> str:
    return f"{_field(file, label)}: the task folder holds too many files to tell which are new"


@message
def named_file_unchanged(file: str, label: str, path: str, state: str, fix: str, visit: int) -> tuple[str, str]:
    """`fix`: what the gate itself asks for."""
    why = f"{_field(file, label)} names {path!r}, which is unchanged since {state} was entered: it does not count"
    return why, f"{fix}; where the same proof is still right, add a line to it: Round: {visit}"


@message
def once_file_under(folder: str) -> str:
    return f"once there is a file under {folder}/"


@message
def link_empty(file: str, label: str) -> str:
    return f"{_field(file, label)} is empty"


@message
def only_engine_link(file: str, label: str) -> str:
    return f"{_field(file, label)} holds only the link that the engine wrote, which does not count"


@message
def link_not_clickable(file: str, label: str) -> str:
    return f"{_field(file, label)} is no clickable link"


@message
def link_is_relative(file: str, label: str) -> str:
    return f"{_field(file, label)} is a relative link: it opens only where the task folder is shown"


@message
def link_leaves_folder(file: str, label: str, target: str) -> str:
    return f"{_field(file, label)} links to {target!r}, which leaves the task folder"


@message
def link_target_missing(file: str, label: str, target: str) -> str:
    return f"{_field(file, label)} links to {target!r}, which is not there or empty"


@message
def link_target_is_document(file: str, label: str, name: str) -> str:
    return f"{_field(file, label)} links to {name} itself, which is no evidence"


@message
def link_target_says_nothing(file: str, label: str, target: str) -> str:
    return f"{_field(file, label)} links to {target!r}, which says nothing"


@message
def address_is_local(file: str, label: str, host: str) -> str:
    return f"{_field(file, label)} leads to {host}, which no other computer can open"


@message
def address_without_path(file: str, label: str, host: str) -> str:
    return f"{_field(file, label)} leads to {host} as a whole, not to the proof"


@message
def unanswered(file: str, section: str, problems: Iterable[tuple[str, str]]) -> str:
    """`problems`: each question with what is wrong with its answer."""
    shown = "; ".join(f'{question!r} under "## {section}" {problem}' for question, problem in problems)
    return f"{file}: {shown}"


@message
def answers_to_write(file: str, section: str, questions: Iterable[str]) -> str:
    """The update that answers these questions, line by line as it may stand in the file."""
    wanted = ", ".join(f'"- {question}: yes, by reviewer, artifacts/result.txt"' for question in questions)
    return f'write under "## {section}" in {file}, each with yes, who looked and the proof: {wanted}'


@message
def not_answered() -> str:
    return "is not answered"


@message
def answered_twice() -> str:
    return "is answered twice"


@message
def no_clear_yes() -> str:
    return "is not answered with a clear yes"


@message
def answer_without_name() -> str:
    return "does not say who looked (by NAME)"


@message
def answer_without_proof() -> str:
    return "names no proof that exists"


@message
def unreadable(where: str, what: str) -> tuple[str, str]:
    return f"{where}: {what}", "detent doctor --repair"


@message
def stale(places: Sequence[str], state: str) -> str:
    return f"{', '.join(places)} is unchanged since {state} was entered: proof from earlier does not count"


@message
def add_round(fix: str, visit: int, *, in_json: bool) -> str:
    """`fix`: what the gate itself asks for."""
    line = f'"round": {visit}' if in_json else f"Round: {visit}"
    return f"{fix}; where the same words are still right, add a line: {line}"


@message
def gates_too_deep() -> str:
    return "gates are nested too deeply"


@message
def made_of_nothing() -> str:
    return "it is made of nothing"


@message
def holds_and_should_not(gates: Iterable[str]) -> str:
    return f"{' and '.join(gates)} holds, and this is for when it does not"


@message
def unknown_whether_fails(reasons: Iterable[str]) -> str:
    return f"it is not known whether this fails: {'; '.join(reasons)}"


@message
def sign_with_reason() -> str:
    return 'to sign it as it is, add: --reason "why"'


@message
def signed_although(why: str) -> str:
    return f"signed although: {why}"
