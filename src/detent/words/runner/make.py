"""Why a task can't be made or configured as it was asked for."""

from __future__ import annotations

from detent.words.message import message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_OWN_FOLDER = "give a folder of its own with --dir, or leave --dir out"
_FIRST_LINE = "its first line is the title, all of it is what is to be done"
_CORRECT = "or name a program that prints it under [issue] read in detent.toml"
_PRINT_JSON = f"have it print JSON with title, body, comments and url, {_CORRECT}"


@message
def bare_repository() -> tuple[str, str]:
    return "a bare repository has no files to work on", "give a checkout with --repo"


@message
def no_commit_yet() -> tuple[str, str]:
    return (
        "the repository has no commit yet, so there is nothing to compare work with",
        'git add -A && git commit -m "first commit", then run the same command again',
    )


@message
def no_gate_runs_commands(machine: str) -> tuple[str, str]:
    return f"{machine} has no gate that runs commands: --check would prove nothing", (
        "leave it out, or take a machine that runs them, such as phase; those of [commands] in detent.toml "
        "are run when the work lands"
    )


@message
def settings_do_not_fit(machine: str, file: str, problems: Iterable[str]) -> tuple[str, str]:
    return (
        f"[machine.{machine}] of {file} does not fit the machine: {'; '.join(problems)}",
        f"correct {file} and commit it, then run the same command again",
    )


@message
def unknown_machine(name: str, file: str, near: str) -> str:
    return f"[machine.{name}] of {file} is about no machine that comes with this tool; do you mean {near}?"


@message
def nothing_goes_on(state: str, task_id: str) -> tuple[str, str]:
    return f"{state} is an end: nothing goes on here", f"detent evidence {task_id}"


@message
def no_limit(word: str, machine: str, name: str, limits: Iterable[str]) -> tuple[str, str]:
    return f"--limit {word}: {machine} has no limit {name!r}", f"its limits: {', '.join(limits)}"


@message
def would_not_hold(machine: str, rule: str, story: Iterable[str]) -> tuple[str, str]:
    return f"with these limits {machine} would not hold: {rule}: {' / '.join(story)}", "choose other limits"


@message
def no_commands_kept(machine: str) -> tuple[str, str]:
    return (
        f"{machine} keeps no commands of a task",
        "put them into [commands] of detent.toml; tasks made from then on run them",
    )


@message
def frame_of_an_end(state: str, task_id: str) -> tuple[str, str]:
    return f"{state} is an end: its frame stays as it was", f"detent next {task_id}"


@message
def plan_takes_no_command(label: str, task_id: str) -> tuple[str, str]:
    return (
        f'"{label}" as it stands can\'t take another command',
        f'write it there yourself, then run: detent amend {task_id} --reason "why"',
    )


@message
def two_requests() -> tuple[str, str]:
    return "--from and --issue both say what is to be done", "give one of them"


@message
def input_too_long(most_bytes: int) -> tuple[str, str]:
    return f"standard input has more than {most_bytes} bytes", "give a shorter text"


@message
def no_file(path: str) -> tuple[str, str]:
    return f"there is no file {path}", "detent new --from FILE, or - for standard input"


@message
def request_not_utf8() -> tuple[str, str]:
    return "the text is not UTF-8", "write it in UTF-8"


@message
def no_issue(issue: str) -> tuple[str, str]:
    return f"{issue!r} can't be an issue", "detent new --issue 12"


@message
def pipe_it(path: str) -> str:
    return f"detent new --from - < {path}"


@message
def bare_repository_to_look_at() -> tuple[str, str]:
    return "a bare repository has no files", "give a checkout: --repo PATH"


@message
def id_taken(wanted: str) -> tuple[str, str]:
    return f"there is a task {wanted!r} already", f"give another --id; to look at that one: detent status {wanted}"


@message
def tree_of_another_time(wanted: str) -> tuple[str, str]:
    return (
        f"a task of another time, which was called {wanted!r} too, left its tree",
        "move that folder away, or give another --id",
    )


@message
def holds_project(root: str) -> tuple[str, str]:
    return f"the task folder would hold the whole of {root}", _OWN_FOLDER


@message
def inside_git() -> tuple[str, str]:
    return "the task folder would lie inside git's own folder", _OWN_FOLDER


@message
def holds_files() -> tuple[str, str]:
    return "the folder holds files of the repository, which would no longer be proven", _OWN_FOLDER


@message
def folder_of_task(task_id: str, named: str) -> tuple[str, str]:
    """`named`: what the next command shall name, the task or its folder."""
    return f"this folder already belongs to task {task_id}", f"detent status {named}"


@message
def folder_holds(names: Iterable[str], folder: str, machine: str) -> tuple[str, str]:
    return f"the folder already holds {', '.join(names)}", f"take it over with: detent adopt {folder} {machine}"


@message
def no_whole_number(flag: str, text: str) -> tuple[str, str]:
    """`flag`: with what stands between it and its value."""
    return f"{flag.rstrip(' =')} needs a whole number from 1, not {text!r}", f"for example: {flag}5"


@message
def standard_input() -> str:
    return "standard input"


@message
def request_binary() -> tuple[str, str]:
    return "the text is binary", _FIRST_LINE


@message
def request_says_nothing() -> tuple[str, str]:
    return "the text says nothing", _FIRST_LINE


@message
def install_tracker(program: str) -> str:
    return f"install {program}, {_CORRECT}"


@message
def issue_took_too_long(issue: str, program: str, timeout_s: float, said: str) -> tuple[str, str]:
    return _issue_failed(issue, program, f"took longer than {timeout_s:.0f} s", said)


@message
def issue_failed(issue: str, program: str, code: int, said: str) -> tuple[str, str]:
    return _issue_failed(issue, program, f"exit {code}", said)


@message
def issue_no_json(issue: str, program: str) -> tuple[str, str]:
    return f"issue {issue} can't be read: {program} printed no JSON", _PRINT_JSON


@message
def issue_without_title(issue: str, program: str) -> tuple[str, str]:
    return f"issue {issue} can't be read: {program} printed no JSON object with a title", _PRINT_JSON


@message
def finding(rule: str, story: Iterable[str]) -> str:
    """What the explorer found, and how it comes to that."""
    return f"{rule}: {' / '.join(story)}"


@message
def unknown_role(place: str, file: str, name: str, near: str) -> str:
    return (
        f"{place} of {file} names {name}, which is no role of a machine that comes with this tool; do you mean {near}?"
    )


def _issue_failed(issue: str, program: str, ended: str, said: str) -> tuple[str, str]:
    problem = f"issue {issue} can't be read: {program}: {ended}"
    return f"{problem}: {said}" if said else problem, f"run that command yourself to see what it needs, {_CORRECT}"


@message
def unknown_kind(kind: str, kinds: Iterable[str]) -> tuple[str, str]:
    return f"{kind!r} is no kind of change", f"one of: {', '.join(kinds)}"
