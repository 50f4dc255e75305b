"""Why git, a repository or a checkout can't be used, and what a clone lacks: the sentences of git."""

from __future__ import annotations

from detent.words.message import message


@message
def no_free_branch(branch: str, most: int) -> tuple[str, str]:
    return (
        f"there is no free branch name for {branch}",
        f"remove one of your branches {branch}-2 to -{most}, then try again",
    )


@message
def path_not_in_tree(pattern: str) -> str:
    return f"{pattern!r} under [workspace] is not a path inside the work tree"


@message
def folder_not_removed(reason: str, folder: str) -> tuple[str, str]:
    return f"a folder can't be removed: {reason}", f"remove it by hand: rm -rf {folder}"


@message
def object_lost(blob: str) -> str:
    return f"git lost an object of a tree it made: {blob}"


@message
def larger_than_copied(size_bytes: int, most_bytes: int) -> str:
    return f"{size_bytes} bytes, at most {most_bytes} are copied"


@message
def name_not_utf8() -> str:
    return "its name is no UTF-8"


@message
def lfs_only_pointers() -> str:
    return "files that Git LFS keeps elsewhere are only pointers in the clone; no filter was run"


@message
def clone_not_made() -> str:
    return "the clone can't be made"


@message
def submodule_empty(path: str, commit: str) -> str:
    return (
        f"the submodule {path} is empty in the clone: its commit {commit[:12]} is not in your checkout; fill "
        f"it there first: git submodule update --init {path}"
    )


@message
def not_carried_over(problem: Exception) -> str:
    return f"an uncommitted file can't be carried over: {problem}"


@message
def branch_of_task_gone(branch: str) -> tuple[str, str]:
    return (
        f"the branch {branch}, on which this task works, is gone",
        f"make it again: git branch {branch} COMMIT; see: git reflog",
    )


@message
def commit_holds_other(commit: str) -> str:
    return f"commit {commit[:12]} does not hold what was to be committed"


@message
def no_git() -> tuple[str, str]:
    return "git was not found on PATH", "install git 2.31 or newer, then try again"


@message
def command_failed(command: str, line: str, repository: str) -> tuple[str, str]:
    return f"git {command} failed: {line}", f"look at the repository with: git -C {repository} fsck"


@message
def no_object_id(text: str) -> str:
    return f"{text!r} is no full commit or tree id"


@message
def folder_not_made() -> str:
    return "a folder can't be made"


@message
def branch_file_empty() -> tuple[str, str]:
    return "the branch file is empty", "mend it with: git fsck"


@message
def merge_needs_newer_git(version: str, wanted: str) -> tuple[str, str]:
    return f"git {version} can't merge in memory", f"install git {wanted} or newer"


@message
def git_knows_no_user() -> tuple[str, str]:
    return "git does not know who you are", 'git config user.name "Your Name"; user.email too'


@message
def checkout_not_updated(said: str) -> tuple[str, str]:
    return (
        f"git would not update your checkout: {' '.join(said.split())}",
        "see: git status; then run the same command again",
    )


@message
def request_failed(said: str, command: str) -> tuple[str, str]:
    return f"the command failed: {' '.join(said.split())}", f"run it: {command}"


@message
def push_failed(said: str, branch: str) -> tuple[str, str]:
    return f"git push failed: {' '.join(said.split())}", f"push it yourself: git push origin {branch}"


@message
def nothing_to_come_back_to() -> tuple[str, str]:
    return (
        "the repository has no commit yet, so there is nothing to come back to",
        'make one: git add -A && git commit -m "first commit"',
    )


@message
def on_no_branch(head: str) -> tuple[str, str]:
    return (
        f"your checkout is on no branch (detached HEAD at {head[:12]})",
        "check out a branch: git switch BRANCH, or make one here: git switch -c BRANCH",
    )


@message
def under_way_in_checkout(begun: str) -> tuple[str, str]:
    return f"a {begun} is under way in your checkout", f"end it first: git {begun} --abort"


@message
def sparse_checkout() -> tuple[str, str]:
    return (
        "your checkout is sparse: the files it leaves out would count as removed, and be committed so",
        "have all files there: git sparse-checkout disable; or take a machine that works in a clone",
    )


@message
def command_failed_in_checkout(command: str, said: str) -> tuple[str, str]:
    return (
        f"git {command} failed in your checkout: {' '.join(said.split())}",
        "see: git status; then run the same command again",
    )


@message
def first_branch_gone(branch: str, commit: str) -> tuple[str, str]:
    return f"the branch {branch}, on which the work began, is gone", f"make it again: git branch {branch} {commit}"


@message
def branch_checked_out(branch: str, elsewhere: str) -> tuple[str, str]:
    return (
        f"the branch {branch} is checked out in {elsewhere}",
        f"check out something else there: git -C {elsewhere} switch --detach",
    )


@message
def branch_moved(branch: str) -> str:
    return f"the branch {branch} moved meanwhile"


@message
def new_file_not_removed() -> str:
    return "a new file can't be removed"


@message
def nothing_committed(said: str) -> tuple[str, str]:
    return (
        f"git did not commit, most likely a hook refused; nothing was committed:\n{said}",
        "mend what it names, have it reviewed, and commit again",
    )


@message
def approved_not_taken(said: str) -> str:
    return f"git can't take the approved files in: {said}"


@message
def hook_changes_approved(diff: str) -> tuple[str, str]:
    return (
        f"a commit hook changes what was approved; nothing was committed:\n{diff}",
        "let the work be done so that the hook changes nothing, have it reviewed, and commit again",
    )


@message
def nothing_to_commit() -> tuple[str, str]:
    return (
        "there is nothing to commit: the branch holds this tree already",
        "record the commit that holds it: detent commit --sha HEAD; or give it up: detent cancel",
    )


@message
def not_restored(problem: Exception) -> str:
    return f"files can't be put back: {problem}"


@message
def link_where_submodule_belongs(path: str) -> str:
    return f"a link leads out of the checkout where submodule {path} belongs"


@message
def other_bytes(name: str) -> tuple[str, str]:
    return (
        f"git gives other bytes for {name!r} than its name says: an object of the repository is damaged or forged"
    ), "look at the repository with: git fsck --full"


@message
def failed(command: str, said: str) -> tuple[str, str]:
    return f"git {command} failed: {said}", "see: git status"


@message
def took_too_long(command: str, timeout_s: float) -> str:
    return f"git {command} took longer than {timeout_s:.0f} s"


@message
def wrote_too_much(command: str) -> str:
    return f"git {command} wrote more than we read"


@message
def not_made_safe(what: str) -> str:
    return f"{what} can't be made safe"


def _rename(branch: str) -> str:
    return f"look at it (git log {branch}), then rename it: git branch -m {branch} OTHER-NAME"


@message
def branch_is_there(branch: str) -> tuple[str, str]:
    return f"the branch {branch} is there already", _rename(branch)


@message
def branch_in_the_way(branch: str, wanted: str) -> tuple[str, str]:
    return f"the branch {branch} keeps git from making {wanted}", _rename(branch)


@message
def symbolic_link() -> str:
    return "a symbolic link"


@message
def submodule() -> str:
    return "a submodule"
