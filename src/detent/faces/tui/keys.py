"""The words of the dashboard that ask and answer: keys, menus, questions, notices and help."""

from __future__ import annotations

from detent.faces.tui.gather import KINDS
from detent.faces.tui.menu import MUST_SAY, is_provable
from detent.faces.tui.words import DIM, HEAD, MARKS, MEANINGS, PLAIN, Line, missing_lines, openness
from detent.faces.words.loop import LOOK_ONLY, view_word
from detent.faces.words.screen import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from detent.faces.tui.gather import Row
    from detent.faces.tui.menu import Choice

OPEN = "open"
KEYS = (
    ("enter", OPEN, "open the task; one that is dead gets another agent run"),
    ("o", OPEN, "open the task, whatever it is"),
    ("a", "approve", "sign off what waits for it; a reason is asked for"),
    ("r", "reject", "send it back; the reason is told to the next agent"),
    ("m", "moves", "every move: open or not, what is missing; a letter takes it"),
    ("s", "start", "let it be driven, as `detent start` does"),
    ("x", "stop", "end its agent run and leave the task alone"),
    ("p", "prove", "run the commands its moves ask for"),
    ("l", "logs", "what its last agent run printed, as it grows"),
    ("f", "file", "the task's own file"),
    ("d", "diff", "what the task has changed"),
    ("e", "evidence", "write the evidence page and say where it is"),
    ("slash", "find", "show only tasks with these words"),
    ("question_mark", "help", "this page"),
    ("q", "quit", "close the dashboard; agent runs go on"),
)
SHOWN_KEYS = {"enter": "Enter", "slash": "/", "question_mark": "?"}
FOOTER = ("enter", "a", "r", "m", "s", "x", "l", "slash", "question_mark", "q")
MORE_KEYS = (
    ("arrows, j k", "choose a task; g and G: the first, the last"),
    ("Tab", "go to the lower half and back; arrows scroll there"),
    ("Esc", "back"),
)

NO_TEXTUAL = "the dashboard needs Textual, which is not installed"
INSTALL_TEXTUAL = "pip install 'detent[tui]' (from a clone: pip install '.[tui]')"
NO_TERMINAL = "the dashboard needs a terminal, and this is none"
DUMB_TERMINAL = "the dashboard needs a terminal that can place text on its screen, and TERM says this one can't"
NO_UTF8 = "the dashboard is drawn with letters that this locale does not have"
WITH_UTF8 = "LC_ALL=C.UTF-8 detent tui"
INSTEAD = "drive tasks with: detent watch; look with: detent inbox"
NO_JSON = "the dashboard is for people's eyes"
JSON_INSTEAD = "detent list --json, detent watch --json"
FILTER_HINT = "words of a task, state or machine; Enter keeps them, Esc shows all"
YES_NO = "y yes   n no"
CLOSE = "Esc closes"
MENU_HINT = "a letter or Enter takes it, Esc closes"
WORDS_HINT = "Enter sends, Esc gives up"
HELP_TITLE = "detent tui"


def choice_lines(choice: Choice) -> list[Line]:
    """One line of a menu, and below it what is missing."""
    key = f"[{choice.key}]" if choice.key else "[ ]"
    if choice.view:
        return [Line(f"{key} {view_word(choice.view)}", HEAD), Line(LOOK_ONLY, DIM, 4)]
    if choice.move is None:
        return [Line(f"{key} {choice.verb}", HEAD), Line(_BESIDES.get(choice.verb, ""), DIM, 4)]
    move = choice.move
    verb = f"{choice.word} -> " if choice.word else ""
    label = f"  ({one_line(move.label)})" if move.label not in ("", move.name, move.to) else ""
    tone = HEAD if move.is_open or is_provable(move) else PLAIN
    head = Line(f"{key} {openness(move)}  {verb}{move.to}{label}", tone)
    return [head, *(Line(line.text, line.tone, line.indent + 2) for line in missing_lines(move))]


_BESIDES: Mapping[str, str] = {
    "stop": "end the agent run and leave the task alone",
    "respawn": "another agent run in the same state; what follows is driven too",
    "resume": "let the stopped task go on",
    "start": "let it be driven from now on",
}


def reason_words(choice: Choice) -> str:
    what = "what do you answer?" if choice.verb == "answer" else f"why {choice.word or choice.verb}?"
    return what if choice.asks == MUST_SAY else f"{what} (may stay empty)"


def notice_words(row: Row) -> tuple[str, str]:
    """Title and text for a task that begins to need a person."""
    return f"{MARKS[row.kind]} {row.id} needs you", one_line(f"{row.state}: {row.why or MEANINGS[row.kind]}")


def notices_words(rows: Sequence[Row]) -> tuple[str, str]:
    """The same for several at once."""
    if len(rows) == 1:
        return notice_words(rows[0])
    return f"{len(rows)} tasks need you", one_line(", ".join(f"{row.id} ({row.state})" for row in rows))


def nothing_waits(verb: str, row: Row) -> str:
    return f"nothing in {row.state} waits for {verb}; m shows its moves"


def under_way(label: str, row: Row) -> str:
    return f"{label} {row.id} is still under way"


def under_way_words(under_way: Mapping[str, str]) -> str:
    return "  ".join(f"... {label} {task_id}" for task_id, label in under_way.items())


def stop_question(row: Row) -> str:
    return f"end agent run #{row.run} of {row.id}?" if row.run else f"leave {row.id} alone from now on?"


def quit_question(runs: int, under_way: Sequence[str]) -> str:
    lines = []
    if runs:
        lines.append(f"{runs} agent run{'s' if runs != 1 else ''} will go on without the dashboard.")
        lines.append("What they leave is judged by the next detent tui, watch or run.")
    lines += [f"{label} goes on too." for label in under_way]
    return "\n".join([*lines, "Close the dashboard?"])


def log_title(task_id: str, number: int, *, lives: bool) -> str:
    return f"{task_id}  agent run #{number}  {'at work, shown as it grows' if lives else 'is over'}"


def no_run(row: Row) -> str:
    return f"{row.id} has had no agent run yet"


def failed_words(error: Exception, where: str) -> str:
    return f"bug: {type(error).__name__}: {error}; please report {where}"


def cut_words(size: int) -> str:
    return f"... only the first {size} bytes are shown"


def more_words(shown: int, all_of_them: int) -> str:
    return f"{shown} of {all_of_them} tasks shown; / finds the others"


def help_lines() -> list[Line]:
    lines = [Line("keys", HEAD)]
    rows = [(SHOWN_KEYS.get(key, key), meaning) for key, _, meaning in KEYS] + list(MORE_KEYS)
    lines += [Line(f"{key:<12}{meaning}", PLAIN, 2) for key, meaning in rows]
    lines += [Line(""), Line("marks", HEAD)]
    lines += [Line(f"{MARKS[kind]}  {MEANINGS[kind]}", PLAIN, 2) for kind in KINDS]
    status = (
        "ROUND and CRASH count towards the machine's limits. While the dashboard is open it drives started tasks, "
        "as detent watch does; every key asks the same command you could type."
    )
    return [*lines, Line(""), Line(status, DIM)]
