"""Why a task can't be opened or made, and what is left to it: the sentences of a task."""

from __future__ import annotations

from detent.words.message import message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


@message
def folder_gone() -> tuple[str, str]:
    return "the current folder is not there any more", "cd to a folder that exists, then try again"


@message
def no_folder(folder: str) -> tuple[str, str]:
    return f"there is no folder {folder}", "give an existing folder with --repo PATH"


@message
def several_open(names: Iterable[str]) -> tuple[str, str]:
    return f"which task? open are: {', '.join(names)}", "put the task's id at the end of the command"


@message
def none_open() -> tuple[str, str]:
    return "no open task here", 'detent new phase "what is to be done"'


@message
def several_over(names: Iterable[str]) -> tuple[str, str]:
    return (
        f"which task? none is open; over are: {', '.join(names)}",
        "put the task's id at the end of the command",
    )


@message
def journal_unseen() -> tuple[str, str]:
    return "an agent run can't see the journal", "ask for a move: detent move STATE; what it lacks is said"


@message
def points_to_no_task(task: str, folder: str) -> tuple[str, str]:
    return (
        f"this folder points to a task that is not there: {task or 'nothing'}",
        f"if its repository was moved, name the task there: detent status ID; "
        f"else: detent adopt {folder} MACHINE --repo PATH",
    )


@message
def points_to_task_elsewhere(task_id: str, home: str, folder: str, machine: str) -> tuple[str, str]:
    return (
        f"this folder points to task {task_id}, whose own folder is {home}",
        f"work there (or move it back there), or: detent adopt {folder} {machine} --repo PATH",
    )


@message
def points_outside_project(root: str, task_id: str) -> tuple[str, str]:
    return (
        f"this folder points to a journal outside its own project {root}",
        f"name the task in its repository: cd {root} && detent status {task_id}",
    )


@message
def may_mean(wanted: str, tasks: Iterable[str]) -> tuple[str, str]:
    return f"{wanted!r} may mean {', '.join(tasks)}", "write more of the id"


@message
def no_task(wanted: str) -> tuple[str, str]:
    return f"there is no task {wanted!r}", "detent list"


@message
def journal_of_other_task(found: str, task_id: str) -> tuple[str, str]:
    return (
        f"this is the journal of task {found}, not of {task_id}",
        "if it is a copy, remove its folder; if the folder was renamed, give it back its name",
    )


@message
def machine_not_understood(machine: str, problems: Iterable[str]) -> tuple[str, str]:
    return (
        f"this version of detent can't read the machine {machine!r} this task began with: {'; '.join(problems)}",
        "use the version that made the task, or a newer one",
    )


@message
def machine_damaged() -> tuple[str, str]:
    return "pinned machine is damaged", "put it back from a backup"


@message
def not_remembered(path: str, problem: str, task_id: str) -> str:
    return f"{path}: {problem}; move it away, then run: detent use {task_id}"


@message
def tree_gone(folder: str) -> str:
    return f"the folder this task works on is not there: {folder}"


@message
def make_tree_again(task_id: str) -> str:
    return f"make it again from the last checkpoint: detent restore {task_id}"


@message
def repository_moved(new: str, old: str) -> str:
    return f"if its repository was moved to {new}, move it back or run: ln -s {new} {old}"


@message
def put_tree_back() -> str:
    return "put it back where it was"


@message
def deployment_taken_back(time: str) -> str:
    return f"the deployment was taken back at {time}: nothing of this version is live"


@message
def raise_budget(option: str, task_id: str) -> str:
    return f"detent configure {option} {task_id}, then: detent resume {task_id}"


@message
def no_plain_file_in_commit(name: str, commit: str) -> tuple[str, str]:
    return f"{name} is not a plain file in {commit[:12]}", "commit a plain file there"


@message
def no_such_role(role: str, machine: str, roles: Iterable[str]) -> tuple[str, str]:
    return f"--agent {role}=...: {machine} has no role {role!r}", f"its roles: {', '.join(roles)}"


@message
def no_amount(text: str) -> tuple[str, str]:
    return f"--budget {text}: not an amount of US dollars above 0", "for example: --budget 10"


@message
def prompt_not_utf8(role: str, path: str) -> tuple[str, str]:
    return f"the prompt file of {role} is not UTF-8 text: {path}", "write it in UTF-8"


@message
def title_too_long(length: int, most: int) -> tuple[str, str]:
    return f"the words are {length:,} characters long; a task is called by one line of at most {most}", (
        "say in one line what is to be done; the rest goes into a file: detent new --from FILE, or the notes "
        "of the task"
    )


@message
def make_task_again(folder: str) -> str:
    return f"remove it, then make the folder a task again: detent adopt {folder} MACHINE --repo PATH"


@message
def machine_missing(machine: str) -> tuple[str, str]:
    return f"the machine {machine!r} this task began with is missing", "put the file back from a backup"


@message
def machine_changed(machine: str) -> tuple[str, str]:
    return f"the machine {machine!r} this task began with was changed", "put the file back from a backup"


@message
def not_passed_over(root: str, where: str, problem: str, lines: Iterable[str]) -> str:
    ignored = " and ".join(lines)
    return f"git will show {root}/ as new: {where}: {problem}; write {ignored} into your .gitignore"


@message
def runs_came_to_nothing(count: int, run: int, state: str, ended: str, why: str) -> str:
    """`ended`: how the last one ended; `why`: empty where nothing says more."""
    stopped = f"{count} agent runs in a row came to nothing; the last one, #{run} in {state}, {ended}"
    return f"{stopped}: {why}" if why else stopped


@message
def opened_no_move() -> str:
    return "opened no move"


@message
def resume(task_id: str) -> str:
    return f"detent resume {task_id}"


@message
def link_leads_out() -> tuple[str, str]:
    return "a link on the way leads out of the project", "put a plain folder there"


@message
def committed_file_too_large(name: str, size_bytes: int, most_bytes: int) -> tuple[str, str]:
    return f"{name} has {size_bytes} bytes, at most {most_bytes} are read", "make it smaller and commit it"


@message
def prompt_missing(role: str, path: str) -> tuple[str, str]:
    return f"the prompt file of {role} is not there: {path}", "write it, or take it out of [prompts]"


@message
def prompt_not_committed(role: str, path: str) -> tuple[str, str]:
    return f"the prompt file of {role} is not there: {path}", "commit it, or take it out of [prompts]"


@message
def mend_set_up(task_id: str) -> str:
    return (
        f"fix what it says, then: detent run {task_id}; other set-up commands: correct [workspace] in detent.toml, "
        "commit it and make a new task"
    )


@message
def it_said(problem: str, line: str) -> str:
    """A problem with the last line that the command printed."""
    return f"{problem}; it said: {line}"


@message
def usd_used(used: float, most: float) -> str:
    return f"budget: {used:.2f} of {most:g} USD are used"


@message
def hours_used(used: float, most: float) -> str:
    return f"budget: {used:.2f} of {most:g} hours of agent runs are used"


@message
def runs_used(used: float, most: float) -> str:
    return f"budget: {used:.2f} of {most:g} agent runs are used"


@message
def answer(task_id: str) -> str:
    return f'detent answer "what you decide" {task_id}'


@message
def run(task_id: str) -> str:
    return f"detent run {task_id}"


@message
def no_mode(machine: str, wanted: str, modes: Iterable[str]) -> tuple[str, str]:
    return f"{machine} has no mode {wanted!r}", f"its modes: {', '.join(modes) or 'none'}"


@message
def set_up_failed(command: str, why: str) -> str:
    return f"the workspace can't be set up: {command}: {why}"


@message
def accept_tests(task_id: str) -> str:
    return f"look at them: detent diff {task_id}; accept them: detent approve {task_id} --tests"
