"""Why a step can't be taken, and what was put right before it."""

from __future__ import annotations

from detent.words.message import message
from detent.words.names import name_some

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


_MOST_PLACES = 5  # that one sentence names


@message
def anchor_damaged() -> tuple[str, str]:
    return "the anchor of the journal is damaged", "detent audit"


@message
def no_repository() -> tuple[str, str]:
    return (
        "this folder is no git repository, so nothing can be brought back",
        "make it one (git init, then a first commit), or go on without: add --no-git",
    )


@message
def not_committed(files: str) -> str:
    return f"not committed: {files}"


@message
def checkout_moved() -> tuple[str, str]:
    return "your checkout moved on meanwhile", "try again"


@message
def no_baseline(task_id: str) -> tuple[str, str]:
    return "no baseline was captured, so there is nothing to go back to", f"see what can be done: detent next {task_id}"


@message
def nothing_to_reset() -> tuple[str, str]:
    return "without git nothing can be reset: all files stay as they are", "if that is right, say so: add --no-git"


@message
def repository_gone() -> tuple[str, str]:
    return "the repository is gone", "bring it back to that path, then run the same command again"


@message
def ignored_in_the_way(files: Iterable[str]) -> tuple[str, str]:
    return (
        f"files of yours that are ignored stand in the way: {name_some(files)}",
        "move them away; then run the same command again",
    )


@message
def run_in_checkout(number: int, task_id: str) -> tuple[str, str]:
    return (
        f"agent run #{number} of task {task_id} works in this checkout",
        f"wait for it, or end it: detent stop {task_id}",
    )


@message
def branch_of_other_task(branch: str, task_id: str) -> tuple[str, str]:
    return (
        f"your checkout is on {branch}, the branch of task {task_id}",
        f"finish {task_id} first, or commit its work and switch: git switch BRANCH",
    )


@message
def not_locked(why: str) -> tuple[str, str]:
    return (
        f"it is to be locked and can't be kept: {why}",
        "make it a plain file or take it away, then run the same command again",
    )


@message
def locked_text_missing() -> tuple[str, str]:
    return "a locked text is missing or damaged", "detent audit"


@message
def other_tree(tree: str, shown: str) -> tuple[str, str]:
    return f"the tree is {tree[:12]} now, not {shown}", "look at what it is now: detent diff --json"


@message
def no_home_folder() -> tuple[str, str]:
    return (
        "there is no home folder for this user, so tasks have no place",
        "set HOME, or XDG_STATE_HOME to a folder you can write to, then run the same command again",
    )


@message
def home_inside_repository() -> tuple[str, str]:
    return (
        "the task's home would lie inside the repository",
        "set XDG_STATE_HOME to a folder outside of it, or work in place: detent new --in-place",
    )


@message
def no_home_free(most: int, holders: Iterable[str]) -> tuple[str, str]:
    return (
        f"no task home is free: this project may have {most}, in use by: {', '.join(holders)}",
        "finish or cancel one of them, or commit a larger [pool] size in detent.toml",
    )


@message
def nothing_ready(state: str) -> str:
    return f"{state}: nothing is ready"


@message
def older_copy_put_back(file: str) -> str:
    return f"{file} named another state because it is an older copy; the state line was put back"


@message
def state_line_put_back(file: str, label: str) -> str:
    return f'{file} had no "{label}:" line; it was put back'


@message
def on_branch_elsewhere(now: str, name: str) -> tuple[str, str]:
    return f"your checkout is on {now}, this task works on {name}", _go_there(name)


@message
def on_no_branch(name: str) -> tuple[str, str]:
    return f"your checkout is on no branch, this task works on {name}", _go_there(name)


@message
def no_files_yet(task_id: str) -> tuple[str, str]:
    return f"there are no files of {task_id}: they are brought when work begins", f"detent run {task_id}"


@message
def no_files_any_more(task_id: str) -> tuple[str, str]:
    return f"there are no files of {task_id}: they are brought when work begins", f"detent history {task_id}"


@message
def not_worked_yet(state: str, edge: str, task_id: str) -> tuple[str, str]:
    return (
        f"no agent run has worked in {state} yet, and {edge} counts a failed attempt",
        f"start one: detent run {task_id}",
    )


@message
def leads_without_run(state: str, edge: str, target: str, task_id: str) -> tuple[str, str]:
    return (
        f"no agent run has worked in {state} yet; {edge} leads to {target} without one",
        f"start one: detent run {task_id}; if you mean that move, name it: detent move --edge {edge} {task_id}",
    )


@message
def no_git_folder() -> str:
    return "the folder is no git repository"


@message
def no_commit_yet() -> str:
    return "the repository has no commit yet"


@message
def home_removed(task_id: str) -> tuple[str, str]:
    return (
        "its home was removed by detent gc",
        f"detent history {task_id}; to make the file again: detent doctor --repair {task_id}",
    )


@message
def repair(task_id: str) -> str:
    return f"detent doctor --repair {task_id}"


@message
def engines_field_put_back(file: str, label: str) -> str:
    return f'{file}: "{label}" is written by the engine and was put back'


@message
def locked_put_back(item: str, state: str) -> str:
    return f"{item} is locked in {state} and was put back"


@message
def edit_not_lost(kept: Sequence[tuple[str, str]], task_id: str) -> str:
    """`kept`: each place, and where what stood there lies now."""
    copies = [f"{place} kept in {path}" for place, path in kept[:_MOST_PLACES]]
    copies += [f"{len(kept) - _MOST_PLACES} more beside it"] if len(kept) > _MOST_PLACES else []
    return (
        f"the edit is not lost: {', '.join(copies)}; "
        f'to have an edit accepted, make it again and run: detent amend --reason "why" {task_id}'
    )


@message
def give_another_folder() -> str:
    return "give another folder with --dir"


@message
def set_state_home() -> str:
    return "set XDG_STATE_HOME to a folder you can write to, then run the same command again"


def _go_there(branch: str) -> str:
    return f"go there: git switch {branch}; then run the same command again"


@message
def older_than_journal(file: str) -> str:
    return f"{file} was older than the journal after the computer had stopped; the newer text was put back"


@message
def run_works_on_task(number: int, task_id: str) -> tuple[str, str]:
    return (
        f"agent run #{number} works on this task; nothing else changes it meanwhile",
        f"wait for it (detent logs -f {task_id}), or end it: detent stop {task_id}",
    )


@message
def pack_changed(pack: str) -> tuple[str, str]:
    return f"the pack {pack} of this task was changed while this command ran", "run the same command again"


@message
def not_filed(place: str, problem: str) -> str:
    return f"{place} was not filed: {problem}"


@message
def reports_behind_link() -> str:
    return "the folder for reports was replaced by a link"


@message
def patch_too_large(size_bytes: int, most_bytes: int) -> str:
    return f"the patch has {size_bytes} bytes, at most {most_bytes} are filed"


@message
def not_copied(path: str, why: str) -> str:
    return f"{path} was not copied: {why}"


@message
def cut_short_unbegun(move: str) -> str:
    return f"{move} was cut short before anything was done"


@message
def cut_short_for_good(move: str, problem: str) -> str:
    return f"{move} was cut short and can't be made: {problem}"


@message
def cut_short_for_now(move: str, problem: str) -> str:
    return f"{move} was cut short and can't be settled yet: {problem}"


@message
def cut_short_and_made(move: str) -> str:
    return f"{move} was cut short and is made now"


@message
def not_allowed_any_more(edge: str) -> tuple[str, str]:
    return f"{edge} was intended and is not allowed", "detent audit"


@message
def cut_short_before() -> str:
    return "it was cut short before"


@message
def decided_elsewhere(of_run: int) -> str:
    return f"agent run #{of_run} was decided by somebody else"


@message
def asked_by_file(file: str) -> str:
    return f"asked by {file}"


@message
def command_took_place(file: str, request: str) -> str:
    return f"{file} asked for {request}; a command took its place"


@message
def build_failed(line: str, why: str) -> str:
    return f"[commands] build: {line}: {why}"


@message
def nothing_to_copy() -> str:
    return "nothing to copy in your checkout"


@message
def nothing_to_compare_with() -> str:
    return "there is no first commit to compare with"


@message
def tree_not_seen() -> str:
    return "the tree can't be looked at"


@message
def change_too_large(count: int, size_bytes: int, most: int, most_bytes: int) -> str:
    return (
        f"the change has {count} files with {size_bytes} bytes, at most {most} files with {most_bytes} bytes are filed"
    )


@message
def tree_changes() -> tuple[str, str]:
    return "the tree changes while it is being proven", "stop what writes to it, then try again"


@message
def set_up_failed(reasons: Iterable[str]) -> tuple[str, str]:
    return (
        "; ".join(reasons),
        "mend the set-up ([workspace] in detent.toml) or what it needs, then run the same command again",
    )


@message
def not_confirmed() -> tuple[str, str]:
    return "it asks first, and nobody said yes", "if you want that, add --yes"


@message
def too_many_between(paths: Sequence[str], most: int) -> str:
    return (
        f"it makes {len(paths)} files between those of the project, at most {most} are allowed "
        f"(the first: {name_some(paths)}); what is built from the project's own source belongs under [commands] build"
    )
