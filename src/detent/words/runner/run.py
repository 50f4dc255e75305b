"""Why an agent run can't begin, or is not heard, and what became of its end."""

from __future__ import annotations

from detent.words.message import message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


_MOST_TOLD = 5  # files in one sentence


@message
def no_request() -> str:
    return 'a request is JSON like {"move": "STATE"}'


@message
def never_began() -> str:
    return "it was planned and never began"


@message
def processes_left(number: int, pids: Iterable[int]) -> tuple[str, str]:
    return (
        f"processes of agent run #{number} can't be ended: {', '.join(map(str, pids))}",
        "end them by hand, then run the same command again",
    )


@message
def was_put_back(item: str, owner: str, role: str) -> str:
    return f"{item} is for the {owner}, not the {role}, and was put back"


@message
def older_than_journal(file: str, kept: str) -> str:
    return f"{file} was older than the journal; what stood there is kept as {kept}"


@message
def run_ended_as(number: int, how: str) -> str:
    return f"run {number} ended as {how}"


@message
def decided_elsewhere() -> str:
    return "somebody else decided it"


@message
def folder_behind_link(folder: str, role: str) -> tuple[str, str]:
    return (
        f"{folder} is or lies behind a link, and the {role} would write elsewhere",
        "make it a folder of the repository, then run the same command again",
    )


@message
def words_of_an_end(state: str) -> tuple[str, str]:
    return f"{state} is an end: its words stay as they were", "detent next"


@message
def by_hand(file: str) -> str:
    return f"{file}, by hand"


@message
def run_is_over() -> tuple[str, str]:
    return "this agent run is over; its requests are not heard any more", "end your turn"


@message
def label_locked(label: str, state: str) -> tuple[str, str]:
    return (
        f'"{label}" is locked in {state}: an agent may not change it there',
        "keep to the words as they are, or say in your notes what is wrong with them",
    )


@message
def no_words_kept(machine: str, file: str) -> str:
    return f"{machine} keeps no words about the task in {file}"


@message
def words_say_nothing() -> tuple[str, str]:
    return "the words say nothing", 'detent task update --summary "what is to be done"'


@message
def there_already() -> str:
    return "it is there already"


@message
def looked_at_later() -> str:
    return "it is looked at when you have ended"


@message
def tree_changed(task_id: str) -> tuple[str, str]:
    return "the tree changed while a run was made ready", f"detent run {task_id}"


@message
def agent_not_talked_to(agent: str, task_id: str) -> tuple[str, str]:
    return (
        f"agent {agent} can't be talked to: it has no `talk`",
        f"let it work alone: detent run {task_id}; or name another agent in detent.toml",
    )


@message
def could_not_start() -> str:
    return "it could not start"


@message
def task_stopped(stopped: str, task_id: str) -> tuple[str, str]:
    return f"the task is stopped: {stopped}", f"detent resume {task_id}"


@message
def no_agents_state(state: str, task_id: str) -> tuple[str, str]:
    return f"{state} is no state an agent works in", f"detent next {task_id}"


@message
def checkout_of(role: str) -> str:
    return f"the {role}'s checkout"


@message
def stood_there(done: str, aside: str) -> str:
    """What was done, and where what stood there is now; `aside` is empty where nothing was moved."""
    return f"{done}; what stood there is now {aside}" if aside else done


@message
def at_place(problem: str, where: str) -> str:
    return f"{problem} ({where})" if where else problem


@message
def of_run(number: int, why: str) -> str:
    return f"agent run #{number}: {why}"


@message
def ended_by_person() -> str:
    return "a person ended the run"


@message
def decision_was_task(role: str) -> str:
    return f"the decision was its task; the {role} looks next"


@message
def refused(problem: str) -> str:
    return f"refused: {problem}"


@message
def no_move_open() -> str:
    return "no move is open"


@message
def file_unreadable(file: str, problem: str) -> str:
    return f"{file}: {problem}"


@message
def written_anew(path: str, aside: str) -> str:
    return f"{path} was moved aside as {aside} and is written anew"


@message
def written_as_form(problem: str) -> str:
    return f"{problem}; written again as an empty form"


@message
def in_order(file: str) -> str:
    return f"{file} is in order"


@message
def put_in_order(problem: str, source: str) -> str:
    return f"{problem}; put in order with the help of {source}"


@message
def written_again(problem: str, source: str) -> str:
    return f"{problem}; written again from {source}"


@message
def the_journal() -> str:
    return "the journal"


@message
def the_last_copy() -> str:
    return "the copy of the last move"


@message
def an_empty_form() -> str:
    return "an empty form"


@message
def may_only_read() -> str:
    return "its role may only read the repository"


@message
def may_write_to(folders: Iterable[str]) -> str:
    return f"its role may write to {' and '.join(folders)} alone"


@message
def files_are_protected() -> str:
    return "these files are protected"


@message
def tainted(bound: str, changed: Sequence[str], hooks: Sequence[str]) -> str:
    """Why nothing follows from a run; `bound`: what it was kept to, `hooks`: what the person's git would run."""
    note = (
        f"; your git would run {', '.join(hooks[:_MOST_TOLD])} at your next commit: look at it first" if hooks else ""
    )
    return f"{bound}, and it changed {', '.join(changed[:_MOST_TOLD])}: what it asked for was not considered{note}"


@message
def left_in_checkout(number: int, names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_TOLD} more" if len(names) > _MOST_TOLD else ""
    return (
        f"agent run #{number} changed {', '.join(names[:_MOST_TOLD])}{more} "
        "in a throw-away checkout: that does not reach the work"
    )
