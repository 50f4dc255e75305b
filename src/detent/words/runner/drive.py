"""Why a task that is driven rests, and why none can be driven."""

from __future__ import annotations

from detent.words.message import message
from detent.words.names import name_some

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


@message
def not_driven() -> str:
    return "nobody drives it: its next agent run needs a person's word"


@message
def run_under_way(number: int, task_id: str) -> tuple[str, str]:
    return f"agent run #{number} is under way", f"wait for it, or: detent stop {task_id}"


@message
def one_run_asked_for() -> str:
    return "one run was asked for"


@message
def run_refused(number: int, state: str) -> str:
    return f"agent run #{number} asked for {state} and was refused"


@message
def run_ended(number: int, how: str) -> str:
    return f"agent run #{number} {how}"


@message
def stopped_by(name: str) -> str:
    return f"stopped by {name}"


@message
def waits_for_person(state: str) -> str:
    return f"{state} waits for a person"


@message
def protected_touched(files: Iterable[str]) -> str:
    return f"protected files were touched: {name_some(files)}"


@message
def say_so(deploys: str, task_id: str) -> str:
    return f'{deploys}; say so: detent approve {task_id} --reason "why"'


@message
def notify_ended(code: int, command: str) -> str:
    return f"the notify command ended with {code}: {command}"


@message
def run_of_agent(number: int, agent: str) -> str:
    return f"agent run #{number}: {agent}"


@message
def not_drivable(problem: str) -> str:
    return f"it can't be driven: {problem}"


@message
def watched_already() -> tuple[str, str]:
    return "this project is being watched already", "give tasks to it with: detent start TASK"


@message
def ended_without_move(state: str, left_open: str) -> str:
    """`left_open`: what kept it from a move, behind a colon; empty where that is not known."""
    return f"the agent run in {state} ended without a move{left_open}"


@message
def another_needs_word(ended: str, confirmation: str, command: str) -> str:
    """`ended`: how the last run ended; `asked`: its question, empty where it left none."""
    question = f"; {confirmation}" if confirmation else ""
    return f"{ended}{question}; another one needs your word: {command}"


@message
def sign_off_is_next(task_id: str, commands: Iterable[tuple[str, str]]) -> str:
    """`commands`: the verb of each sign-off, and where it leads."""
    words = " or ".join(f"detent {verb} {task_id} (to {target})" for verb, target in commands)
    return f"the agent has done its part, your sign-off is next: {words}"


@message
def tasks_tree() -> str:
    return "the task's tree"


@message
def checkout_for_commands() -> str:
    return "the checkout for commands"


@message
def set_up_failed(problem: str) -> tuple[str, str]:
    """`problem`: the failure, with the lines the command printed below it."""
    shown = problem.replace("\n", "\n  | ")
    return shown, "fix what it says, and try the settings: detent doctor"


@message
def failed(kind: str, problem: str) -> str:
    return f"{kind}: {problem}"


@message
def failed_with_remedy(kind: str, problem: str, remedy: str) -> str:
    return f"{kind}: {problem}; {remedy}"
