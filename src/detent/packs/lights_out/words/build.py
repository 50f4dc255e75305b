"""What is wrong with a build: its size, its dependencies, what scanners found."""

from __future__ import annotations

from detent.words.message import message
from detent.words.names import name_some
from detent.words.proof import ending

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


@message
def within_design() -> str:
    return "the build is no larger than its design"


@message
def manifest_unreadable(path: str, error: Exception) -> str:
    return f"{path} can't be read: {error}"


@message
def unplanned_dependency(names: Iterable[str], design: str) -> str:
    return f"{name_some(names)} is a dependency that {design} does not name"


@message
def too_many_files(count: int, section: str, planned: int, times: int) -> str:
    return f'{count} files, and "## {section}" plans {planned}: more than {times} times as many'


@message
def too_long(most: int, files: Iterable[tuple[str, int]]) -> str:
    """`files`: each with its lines."""
    return f"longer than {most} lines: {name_some(f'{path} ({lines} lines)' for path, lines in files)}"


@message
def third_approach(problems: Iterable[tuple[str, int]]) -> str:
    """`problems`: each with the number of approaches."""
    listed = [f'"{problem}" ({count} approaches)' for problem, count in problems]
    return f"the third approach to the same problem: {name_some(listed)}"


@message
def scan_not_run(scan: str) -> str:
    return f"the {scan} was not run on this tree"


@message
def scan_found(scan: str, said: str) -> str:
    return f"the {scan} found something{ending(said)}"


@message
def scan_proves_nothing(scan: str, ended: str, said: str) -> tuple[str, str]:
    return f"the {scan} proves nothing ({ended}){ending(said)}", "fix what it names, then: detent prove --again"


@message
def not_locked(file: str, names: Iterable[str]) -> str:
    return f"{file} declares {name_some(names)}, and no lock file beside it holds that"


@message
def lock_it(file: str) -> str:
    return f"lock it, e.g. in {file}"


@message
def no_hand_over(file: str) -> str:
    return f"there is no {file} that says where the criteria are met"


@message
def hand_over_names_no_file(file: str) -> str:
    return f"{file} names no file of the tree, so it is not known where the criteria are met"


@message
def stands_for_work(places: Iterable[str]) -> str:
    return f"it only stands for work: {name_some(places)}"


@message
def unreadable_place(path: str, problem: str) -> str:
    return f"{path} ({problem})"


@message
def changes_unknown() -> str:
    return "what changed since the last passed gate is not known"


@message
def significant_fix(files: Iterable[tuple[str, str]]) -> str:
    """`files`: each with what makes it significant."""
    return f"a significant fix: {name_some(f'{path} ({what})' for path, what in files)}"


@message
def small_fix(section: str) -> str:
    return f'the fix adds and removes no file, and changes none that "## {section}" names'


@message
def dependencies_in_code() -> str:
    return "it declares dependencies, which only pyproject.toml says readably"


@message
def file_gone(file: str) -> str:
    return f"{file} is gone"
