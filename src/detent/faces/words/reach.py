"""The words of `doctor` and `new` about what the tests of a project can prove."""

from __future__ import annotations

from detent.store.text.proof_words import EXIT_CODE_ONLY, WORDS, is_enough
from detent.words.assessed import kind_needs, word_reached
from detent.words.names import count_of
from detent.words.runner import reach as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from detent.runner.make.reach import Reach
    from detent.store.text.proof_settings import ProofSettings

    Row = tuple[str, str, str]  # mark, what, next step


def reach_rows(found: Sequence[Reach], settings: ProofSettings, *, has_git: bool) -> list[Row]:
    """What each command can prove and why, tests that are red, and what that means for a task."""
    if not has_git:
        message = say.without_git()
        return [("note", message, message.next_step)]
    is_tested = any(command.runner for command in found)
    rows: list[Row] = []
    for command in found:
        who = f" ({command.runner}, {count_of(command.tests, 'test')})" if command.runner else ""
        is_good = command.word != EXIT_CODE_ONLY or (is_tested and not command.runner)
        text = f"{command.name}: can reach: {word_reached(command.word)}{who}; {command.why}"
        rows.append(("ok" if is_good else "note", text, "" if is_tested and not command.runner else command.next_step))
        if command.unaccepted:
            red = say.red_at_first(command.unaccepted)
            rows.append(("red", red, red.next_step))
        elif command.red:
            rows.append(("ok", say.accepted_red(command.red), ""))
    red_names = {name for command in found for name in command.red}
    if gone := [
        name for name in settings.red if not any(red.partition("[")[0] == name or red == name for red in red_names)
    ]:
        message = say.no_longer_red(gone)
        rows.append(("note", message, message.next_step))
    if found:
        rows.append(("ok", f"a task here can reach: {word_reached(best_of(found))}", ""))
    return rows


def best_of(found: Sequence[Reach]) -> str:
    return max((command.word for command in found), key=WORDS.index, default=EXIT_CODE_ONLY)


def new_words(found: Sequence[Reach] | None, change: Mapping[str, str], required: str) -> str:
    """What a new task's green tests have to prove, as far as it is known before anything is run."""
    needs = f"{'proof:':<21}{kind_needs(change['kind'], change['by'], required)}"
    if found is None:
        return f"{needs}; whether the tests here can prove so much, the first proof will tell, or: detent doctor"
    best = best_of(found)
    if is_enough(best, required):
        return needs
    return f"{needs}; the tests here can't prove so much, so this is enough: {word_reached(best)}"
