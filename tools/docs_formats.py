"""The reference page of formats: keys and fields come from the code, their meanings stand here.

A key without a meaning, or a meaning without its key, stops the generation: the page can be neither short nor stale.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path

from detent import store_spec
from detent.machines import parse, parse_store
from detent.machines.findings import EXCEPTIONS
from detent.runner.make.vocabulary import vocabulary
from detent.runner.step.registry import effects, steps
from detent.store.journal import places, settings, user_settings
from detent.store.journal.places import POINTER, Project, TaskPlaces
from detent.store.journal.settings import FILE
from detent.store_spec import Event, Harness, Resolving, StoreSpec, Tells, Version
from detent.view import KEYS
from tools.docs_machines import table
from tools.docs_settings import SETTINGS, USER_SETTINGS, keys_asked_for, settings_keys

MACHINE_FILE: Mapping[str, Mapping[str, str]] = {
    "top level": {
        "format": "version of this format: 1",
        "name": "the machine's name",
        "title": "one line about it",
        "initial": "the state a task starts in",
        "by": "who may take a move that does not say: agent, engine, person or crash (default: engine)",
        "modes": "ways of working a task can be made in; the first is the default",
        "crash": "table; `counts`: limits a crash counts towards in every state that does not say `counts_crash`",
        "override": 'table; `by = "person"`: a person may waive gates, with a reason',
        "store": "table: the native folder, see below",
        "answers": "table; the `section` of the native file where a person's words are written; `clears`: fields "
        "whose question an answer or a resume takes out of the file",
        "ask": "the command by which an agent asks for a state, `{to}` in its place (default: `detent move {to}`)",
        "shim": "table: programs that stand first in the PATH of a run, each a line that begins with `detent`",
        "progress": "table; what counts as progress of a run (`counts`: tree, fields, evidence, files, gates), "
        "`idle_max` (idle runs in a row that stop the task), `same_max` (runs of one visit that one refusal may end)",
        "role": "`[role.NAME]` with `access`: read or write",
        "state": "`[state.NAME]`, see below",
        "field": "`[field.NAME]`: a field of the native file; `values`, `owner` (agent or engine), `start`",
        "register": "`[register.NAME]`: a remembered value; `start`, `values`, `field` (a place that shows it)",
        "gate": "`[gate.NAME]`, see below",
        "limit": "`[limit.NAME]`, see below",
        "edge": "`[[edge]]`: one move, see below",
        "reopen": "`[[reopen]]`: a person's way out of an end, or back to this state or an earlier one, past all gates "
        "and with a reason; like an edge, out of an end `to` may be `{register}`",
        "lock": "`[[lock]]`, see below",
        "forbidden": "`[[forbidden]]`: `from`, `to`, `why`; a pair whose refusal should say why",
        "property": "`[[property]]`: `name`, `then`, `first` (a move, or a list of which one is enough), `since`, and "
        "`tree` (all that `first` asked of the files holds of the files that `then` sees); the checker proves it",
        "exception": "`[exception.KIND]`: a move or state = why a finding of this kind is meant; kinds: "
        + ", ".join(f"`{kind}`" for kind in EXCEPTIONS)
        + "; one that is not needed is refused",
    },
    "state": {
        "role": "who works here",
        "driver": "agent, engine or person (default: agent with a role, else person); in a person's state the role is "
        "called in by `respawn` or `talk`, and never starts by itself",
        "end": "true: the task is over here",
        "rest": "true: it may stay here for good although moves lead on",
        "views": "table: what a person may look at here without a move, by the key that shows it (`diagnosis`)",
        "recommends": "table: `verb` a person is advised to while `gate` is open, only in `mode` where one is given",
        "words": "what a person types to go here, or to have this state worked on once more: `/plan`, `/review code`",
        "judged_as": "a state whose role, in its words, judges what this one's own run has changed",
        "lands": "true: the work of a task that stands here may be landed (`detent land`)",
        "access": "read or write, where it differs from the access of the role",
        "may": "what the role may do, in words",
        "must_not": "what it must not do, in words",
        "prompt": "the words for the role, before the contract that is made from this file",
        "prompt_counted": "table: other words, by the limit towards which something was counted since. Prompts may "
        "hold `{FIELD}`, `{LIMIT}`, `{LIMIT.of}` (1 of 2), `{base}`, `{run}` (the run's number) and "
        "`{first:A,B}`: the first of these states that no counter closes",
        "group": "states that belong together, for limits per group and for the picture",
        "cross_cutting": "true: drawn beside the groups",
        "title": "the name on screen",
        "files": "table: what the engine files into the task folder when a run has ended, by its place there: `diff` "
        "(the patch from the baseline), `changed` (the changed files; the place is a folder and ends with `/`), or "
        "`out:NAME` (the file NAME that the run left in `$DETENT_OUT`)",
        "asks": "fields of the native file that hold its question to a person, or sections of it as `## Heading`",
        "no": "gates that, open when a run ends, mean that the run said no: the engine then takes only ways marked "
        "`after_no`, and a move to the state the run itself asked for",
        "respawn": "ask or auto: whether a second run of one visit is started unasked",
        "counts_run": "limits that the end of a run counts",
        "counts_crash": "limits that a crash counts towards (default: `crashes`); none: a run that dies is no crash",
        "must_open": "true: a run that ends without opening a move has crashed, whatever its exit code",
    },
    "edge, reopen": {
        "name": "unique per state (default: `from-to-to`)",
        "label": "the name in the machine's own document",
        "from": "a state, or a list of states that all have this move",
        "to": "the state it leads to",
        "verb": "commands that mean this move: approve, reject, resume, answer; `redo` marks those of `/redo STATE`",
        "says": "lines a person types that mean this move, in any case of letters: `continue`, `/iterate`, `build me "
        "{text}`. `{text}` stands at the end and is never empty; it is kept as the person's answer and quoted in the "
        "next prompt. Of several moves that say the same the first open one is taken. `/next` stands on the moves "
        "that `/next` looks at",
        "key": "the letter of a menu",
        "confirm": "asked before it is taken",
        "sign_off": "true: a person alone, and nothing goes round it",
        "never": "the reason why it is listed and can't be taken",
        "option": "it exists only where the project switches this option on",
        "instead": "table; where a re-opening leads when it may not go back as far",
        "ways": "list of tables with the keys below; what a way does not say it takes from its edge, in `set` and "
        "`when` key by key: a way that sets one register still sets the others that its edge sets",
    },
    "way (on the edge or in `ways`)": {
        "by": "who may take it",
        "needs": "gates that must be open",
        "mode": "only in these modes",
        "under": "only while this limit is not reached",
        "spent": "only when this limit is reached",
        "when": "table; only while these registers have one of these values",
        "after": "how the last agent run must have ended for the engine; `entry` before any, `any` for all",
        "counts": "limits this move counts",
        "resets": "limits it sets to zero",
        "set": "table; registers it sets, `{from}` stands for the state that is left",
        "prepare": "what must work before the move is made, else the task stays where it is: see below",
        "effects": "what is done after it, again and again until it works: see below",
        "after_no": "true: the engine may take it although the last run said no (it was refused, or a gate of the "
        "state's `no` is open); `unasked`: only where that run asked for no other state",
        "given": "true: on entry the engine takes it only for what a person gave: no agent has run since a person "
        "last acted, and the task is in the state for the first time",
    },
    "gate": {
        "check": "the question, see [checks](checks.md); its parameters stand beside it",
        "since": "entry: proof must be new since the state was entered; task: any proof of this task",
        "fix": "how to open it, shown with every refusal",
        "of": "the gates that `not` and `all` combine",
    },
    "limit": {
        "max": "how often",
        "cap": "where the counter stops counting (default: max)",
        "first": "the number its field shows before anything was counted (default: 0)",
        "per": "group: counted per group of states",
        "resets": "always: every move sets it to zero",
        "field": "the native field that shows it",
    },
    "lock": {
        "name": "its name",
        "after": "closed when this state, or one of these, is left",
        "open_in": "states in which it is open again",
        "role": "instead of `after`: only runs of this role may change it, and people",
        "fields": "native fields it holds",
        "sections": "sections it holds, with their heading: list of tables with `file` and `section`",
        "files": "files of the task folder it holds; one that ends with `/` is a folder with all in it",
    },
}
SHOWN_MEAN: Mapping[str, str] = {
    "id": "the task's id",
    "title": "its title",
    "created": "when it was made",
    "mode": "its mode",
    "run": "the name of its last agent run, as in `[store] runs`",
    "baseline": "branch, commit_sha and captured_at of the step `baseline`",
    "branch": "the branch that was made for it",
    "commit": "the person's commit",
    "session": "the agent run that lives, while one does",
    "why": "why the engine brought the task into this state; empty where a person or an agent did",
    "revision": "the number of the last filed revision",
}
PLACES: Mapping[str, str] = {
    "tasks_folder": "all tasks",
    "lock_path": "held while a task is made",
    "machine_path": "a machine as it was when a task began, by digest",
    "home": "task homes, one per id: `tree/` (the clone), `task/`, `out/`, `drop/`, checkouts for commands",
    "journal": "the truth: one JSON line per event, each with the hash of the line before",
    "snapshot": "a cache of the journal; may be deleted",
    "lock": "held while a task is changed",
    "projected": "which journal line reached the native file in which boot, and every hash ever written there",
    "beside": "how far run records and conversation were brought; may be deleted",
    "receipts": "what the engine ran: one file per tree, command and gate, and the logs",
    "objects": "texts kept by their hash: what is locked, and what was put back",
    "aside": "damaged files, where their own place is part of the work",
    "private_git": "the engine's own git: trees, checkpoints under refs/detent/",
    "seen_tree": "the last tree id with the file times it was taken at; may be deleted",
    "touched": "the protected files that tree touched, for readers; may be deleted",
    "tree_differences": "what differed between trees that a gate compared, for readers; may be deleted",
    "tree_files": "size and lines of every file of a tree a gate looked at, for readers; may be deleted",
    "run": "one agent run: prompt, events (its output), errors, identity.json, exit.json",
    "sandbox": "how well this host can hold a process, as it was tried; may be deleted",
    "checkout_lock": "held while branches or files of the user's checkout are changed for a task",
    "watch_lock": "held by `detent watch`",
    "bell": "a named pipe that wakes it",
    "prepared": "what the clone was last made ready from; may be deleted",
    "laid": "what set-up laid into a folder of the task's home, for the runs that work there; may be deleted",
    "last_copy": "the native file as it was last written, where no journal line carries it; may be deleted",
}


def store_keys() -> dict[str, str]:
    """Each key of `[store]` with its sentence: the text below the field."""
    tree = ast.parse(Path(str(store_spec.__file__)).read_text(encoding="utf-8"))
    (spec,) = (node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "StoreSpec")
    found: dict[str, str] = {}
    for field, said in pairwise(spec.body):
        match field, said:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(words))):
                found[name] = " ".join(words.split())
            case ast.AnnAssign(target=ast.Name(id=name)), _:
                raise SystemExit(f"the key {name} of [store] has no sentence below it")
            case _:
                pass
    return found


_LOOPED = ("edge", "reopen")  # asked for by a variable, which the source does not show as literals


def places_of(record: type) -> set[str]:
    return {name for name, value in vars(record).items() if callable(value) and not name.startswith("_")}


def disagreements() -> list[str]:
    """Where the meanings above and the code no longer speak of the same names."""
    machine = {key for keys in MACHINE_FILE.values() for key in keys} | {"codec", "access", "values", "owner", "start"}
    machine |= {"section", "then", "tree", "why", "idle_max", "same_max", "clears"}
    store = {
        KEYS.get(name, name) for kind in (StoreSpec, Event, Version, Resolving, Harness, Tells) for name in kind._fields
    }
    parser = Path(str(parse_store.__file__)).read_text(encoding="utf-8")
    found = [
        *unequal(
            machine | store,
            keys_asked_for(str(parse.__file__)) | keys_asked_for(str(parse_store.__file__)) | {"of", *_LOOPED} | store,
            "machine file key",
        ),
        *unequal(SETTINGS, settings_keys(), f"{FILE} key"),
        *unequal(USER_SETTINGS, keys_asked_for(str(user_settings.__file__)) | {settings.PACKS}, "user's settings key"),
        *unequal(SHOWN_MEAN, vocabulary().shown, "shown value"),
        *(f"store key {key!r} is not checked" for key in store_keys() if f'"{key}"' not in parser),
    ]
    known = places_of(Project) | places_of(TaskPlaces)
    return found + unequal(
        PLACES,
        known - {"prompt", "task", "task_ids", "task_names", "has_task", "replace"},
        f"place ({places.__name__})",
    )


def unequal(told: Iterable[str], known: Iterable[str], what: str) -> list[str]:
    """Names without a meaning, and meanings without their name."""
    lacking, stale = sorted(set(known) - set(told)), sorted(set(told) - set(known))
    return [f"{what} {name!r} has no meaning" for name in lacking] + [f"there is no {what} {name!r}" for name in stale]


def formats_page() -> list[str]:
    lines = _head("# Formats", "All files are UTF-8 text.")
    lines += _head("## Machine files", "TOML. Unknown keys are errors; all problems are told at once.")
    said = {
        "steps of `prepare`": {name: one.says for name, one in steps().items()},
        "`effects`": {name: one.says for name, one in effects().items()},
    }
    for title, keys in {**MACHINE_FILE, "store": store_keys(), **said, "values of `shows`": SHOWN_MEAN}.items():
        lines += [f"### {title}", "", *table(("key", "meaning"), _rows(keys))]
    lines += _head(f"## {FILE}", "Read as committed when a task is made, and kept in its journal.")
    lines += table(("key", "meaning"), _rows(SETTINGS))
    lines += _head(
        "### The user's own settings",
        "`$XDG_CONFIG_HOME/detent/config.toml`: keys of the table above, without those of one project alone, and:",
    )
    lines += table(("key", "meaning"), _rows(USER_SETTINGS))
    lines += _head("## Journal lines", "See [journal](journal.md).")
    lines += _head(
        "## Relation files",
        "For `detent machine compare`: JSON with `states`, `initial`, `terminal` and `transitions`, a list of `from`, "
        "`to` and `name`. Other keys are commentary.",
    )
    lines += _head("## Places", "`CONTROL` is `detent/` in the git folder, without git `.detent/` in the project.")
    pointer = f"A native folder holds `{POINTER}`: one line with the path of its task's control folder."
    return [*lines, *table(("place", "what lies there"), _place_rows()), pointer]


def _head(title: str, text: str) -> list[str]:
    return [title, "", text, ""]


def _rows(meanings: Mapping[str, str]) -> list[tuple[str, str]]:
    return [(f"`{key}`", meaning) for key, meaning in meanings.items()]


def _place_rows() -> list[tuple[str, str]]:
    project, task = Project("PROJECT", "CONTROL"), TaskPlaces("ID", "CONTROL/tasks/ID")
    rows: list[tuple[str, str]] = []
    for name, meaning in PLACES.items():
        if name == "home":
            path = "$XDG_STATE_HOME/detent/PROJECT-MARK"
        elif name == "machine_path":
            path = project.machine_path("DIGEST")
        elif name == "run":
            path = task.run(1)
        else:
            path = getattr(task if hasattr(task, name) else project, name)()
        rows.append((f"`{path}`", meaning))
    return rows
