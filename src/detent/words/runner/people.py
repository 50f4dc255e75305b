"""The answers to a person that resumes, answers, approves, amends, restores or removes."""

from __future__ import annotations

from detent.words.message import message
from detent.words.names import name_some

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


@message
def run_works_on(number: int, task_id: str) -> tuple[str, str]:
    return f"agent run #{number} works on {task_id}", f"wait for it, or end it: detent stop {task_id}"


@message
def no_end(task_id: str, state: str) -> tuple[str, str]:
    return (
        f"{task_id} is in {state}, which is no end",
        f"give it up and remove all of it, also its journal: detent gc {task_id} --yes --journals",
    )


@message
def given_up() -> str:
    return "given up"


@message
def worked_in_place() -> str:
    return "worked in place"


@message
def landed_unseen(branch: str) -> str:
    return f"the journal says that it landed on {branch}, git does not show it; it goes with --yes"


@message
def not_landed() -> str:
    return "not landed; it goes with --yes"


@message
def left_as_it_is(problem: str) -> str:
    return f"left as it is: {problem}"


@message
def may_go_on() -> str:
    return "the task may go on"


@message
def was_answered(task_id: str) -> str:
    return f"answered; next: detent run {task_id}"


@message
def approval_needs_reason(files: Iterable[str], task_id: str) -> tuple[str, str]:
    return (
        f"approving {name_some(files)} needs a reason",
        f'look at it: detent diff {task_id}; then: detent approve {task_id} --reason "why"',
    )


@message
def frame_of_an_end(state: str) -> tuple[str, str]:
    return f"{state} is an end: its frame stays as it was", "detent next"


@message
def nothing_locked(state: str, file: str) -> tuple[str, str]:
    return f"nothing is locked in {state}", f"edit {file}; no command is needed"


@message
def nothing_differs() -> tuple[str, str]:
    return "nothing differs from what is locked", "edit it first, then run: detent amend --reason WHY"


@message
def no_checkpoints() -> str:
    return "a folder without git has no checkpoints to go back to"


@message
def brought_back_instead() -> str:
    return "a person brought the files back instead"


@message
def is_final(state: str) -> tuple[str, str]:
    return (
        f"{state} is final: nothing is brought back after it",
        "what was committed can be reverted: git revert COMMIT",
    )


@message
def checkout_gone(task_id: str) -> tuple[str, str]:
    return "the checkout this task works on is not there", f"bring it back to that path, then: detent restore {task_id}"


@message
def end_is_final(state: str) -> tuple[str, str]:
    return f"{state} is final", "there is nothing to resume"


@message
def not_stopped(state: str) -> tuple[str, str]:
    return f"{state} is neither stopped nor an end", "there is nothing to resume"


@message
def give_more_first(command: str) -> str:
    return f"give it more first: {command}"


@message
def noted(state: str) -> str:
    return f"noted; {state} did not wait for an answer"


@message
def noted_while_stopped(command: str) -> str:
    return f"noted; it is stopped: {command}"


@message
def has_landed() -> str:
    return "landed"


@message
def no_checkpoint_there(seq: int | None, points: Iterable[int], task_id: str) -> tuple[str, str]:
    known = ", ".join(map(str, points))
    return f"line {seq} has no checkpoint", f"one of these: {known}; see: detent history {task_id}"


@message
def path_unsaved(where: str, problem: str) -> str:
    return f"{where}: {problem}"


@message
def unknown_word(word: str) -> tuple[str, str]:
    return f"{word!r} is no word for what tests prove", "one of: exit_code_only, kept, proven_by_own_test, proven"


@message
def not_assessed_yet(task_id: str) -> tuple[str, str]:
    return "what the tests prove was not assessed on this tree yet", f"detent run {task_id}"


@message
def refused_is_not_accepted(task_id: str) -> tuple[str, str]:
    return "the proof is refused, and no word accepts that", f"see why: detent next {task_id}"


@message
def other_word(found: str, wanted: str, task_id: str) -> tuple[str, str]:
    return (
        f"the tests prove {found!r} on this tree, not {wanted!r}",
        f'detent approve {task_id} --proof {found} --reason "why"',
    )


@message
def no_sealed_to_accept(task_id: str) -> tuple[str, str]:
    return "no sealed check of this tree failed", f"detent next {task_id}"


@message
def nothing_to_accept(state: str, task_id: str) -> tuple[str, str]:
    return f"nothing in {state} waits for a word about its tests", f"detent next {task_id}"
