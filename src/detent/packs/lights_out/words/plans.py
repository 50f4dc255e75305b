"""What is wrong with preferences, scope, criteria and design."""

from __future__ import annotations

from detent.words.message import message
from detent.words.names import name_some

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


@message
def no_file_drawn(section: str) -> str:
    return f'"## {section}" lists no file in a code block'


@message
def no_failure_handling(entry: str, section: str) -> str:
    return f'"{entry}" under "## {section}" has no failure handling'


@message
def not_resolved(entry: str, section: str) -> str:
    return f'"{entry}" under "## {section}" is neither resolved nor deferred with a reason'


@message
def not_observed(section: str, words: str, tier: str) -> tuple[str, str]:
    return f'"## {section}" lacks {words}, which a {tier} has', f'under "## {section}": {words} for ...'


@message
def no_component(section: str) -> str:
    return f'"## {section}" lists no component'


@message
def no_drawing(section: str, count: int) -> tuple[str, str]:
    return (
        f'"## {section}" has {count} components and no drawing of them in a code block',
        f'under "## {section}": a code block such as: browser -> server -> database, on two or more lines',
    )


@message
def too_few_scenarios(section: str, count: int) -> str:
    return f'"## {section}" traces {count} of at least 2 scenarios'


@message
def no_severity(entry: str, section: str) -> str:
    return f'"{entry}" under "## {section}" has no severity'


@message
def no_file_listed(file: str, section: str) -> str:
    return f'{file} lists no file under "## {section}"'


@message
def not_in_tree(paths: Iterable[str], design: str) -> str:
    return f"{name_some(paths)} of {design} is not in the tree"


@message
def not_in_design(folders: Iterable[str], design: str) -> str:
    return f"{name_some(folders)} is not in {design}"


@message
def make_same(section: str, design: str) -> str:
    return f'make the files and "## {section}" of {design} say the same'


@message
def small_unanswered(label: str, section: str, problem: str) -> str:
    return f'"{label}:" under "## {section}" {problem}'


@message
def label_unanswered(label: str, section: str) -> str:
    return f'"{label}:" is not answered under "## {section}"'


@message
def no_figure(section: str) -> str:
    return f'"## {section}" names no figure'


@message
def no_monthly_figure(section: str) -> str:
    return f'"## {section}" is no monthly figure'


@message
def not_one_tier(section: str, tiers: Iterable[str]) -> str:
    return f'"## {section}" does not settle on one of: {", ".join(tiers)}'


@message
def no_ignore_file(file: str) -> tuple[str, str]:
    return f"there is no {file} beside it", f"write {file} with what the project's tools leave behind"


@message
def other_criterion(criterion: str, text: str, number: int) -> tuple[str, str]:
    return (
        f"{criterion} is another criterion than in the delivered version",
        f'{criterion} keeps the words "{text}"; a changed criterion gets a new id: AC-{number}',
    )


@message
def version_missing(line: str) -> tuple[str, str]:
    return f'it does not say which version it is ("{line}")', f"write above the first section: {line}"


@message
def tier_unexplained(tier: str) -> tuple[str, str]:
    return f'"## Quality Bar" does not say what {tier} means', f'under "## Quality Bar": - {tier}: WHAT IT MEANS'


@message
def input_unused(files: Iterable[str], document: str) -> tuple[str, str]:
    return f"it does not name {name_some(files)}", f"say in {document} what each of them led to, by its name"


@message
def folder_not_read(folder: str) -> str:
    return f"not read yet: what lies in {folder}"


@message
def nothing_to_distill(folder: str) -> tuple[str, str]:
    return f"{folder}/ holds nothing that could be distilled", f"put the material into {folder}/"


@message
def nothing_distilled(folder: str, start: str) -> str:
    return f"{folder}/ has no {start}*.md"


@message
def write_distilled(folder: str, start: str) -> str:
    return f"write {folder}/{start}NOTES.md with a heading, what was found, and the name of each file it is from"


@message
def distilled_empty(files: Iterable[str]) -> str:
    return f"{name_some(files)} has no heading with text below it"


@message
def not_distilled(start: str, files: Iterable[str]) -> str:
    return f"no {start}*.md names {name_some(files)}"


@message
def names_no_criteria(section: str) -> str:
    return f'"## {section}" names no AC-*'


@message
def id_twice(criterion: str) -> str:
    return f"{criterion} stands there twice; an id is given once and kept"


@message
def no_id(entry: str, section: str) -> str:
    return f'"{entry}" under "## {section}" has no id of its own (AC-1)'


@message
def no_item(criterion: str, section: str) -> str:
    return f'{criterion} under "## {section}" is no item of the list'


@message
def not_decided(criterion: str) -> str:
    return f"{criterion} is not decided yet"


@message
def not_observable(criterion: str, text: str) -> str:
    return f'{criterion} names neither a number nor something to be seen ("{text}")'


@message
def no_threshold(section: str) -> str:
    return f'no criterion under "## {section}" has a quantitative threshold'


@message
def too_many_criteria(most: int) -> str:
    return f"there are more than {most} criteria"


@message
def criterion_twice(criterion: str, section: str) -> str:
    return f'{criterion} stands twice under "## {section}"'


@message
def criterion_unknown(criterion: str, section: str) -> str:
    return f'"## {section}" has {criterion}, which scope.md does not know'


@message
def criterion_missing(criterion: str, section: str) -> str:
    return f'{criterion} is missing under "## {section}"'
