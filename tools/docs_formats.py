"""The reference page of formats: keys and fields come from the code, their meanings stand here.

A key without a meaning, or a meaning without its key, stops the generation: the page can be neither short nor stale.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from pathlib import Path

from detent.machines import parse
from detent.machines.load import built_in_names, load
from detent.proof.replay import KINDS
from detent.store import places, settings
from detent.store.places import POINTER, Project, TaskPlaces
from detent.store.settings import FILE, Settings
from tools.docs_machines import table

MACHINE_FILE: Mapping[str, Mapping[str, str]] = {
    "top level": {
        "format": "version of this format: 1",
        "name": "the machine's name",
        "title": "one line about it",
        "initial": "the state a task starts in",
        "by": "who may take a move that does not say: agent, engine, person or crash (default: engine)",
        "modes": "ways of working a task can be made in; the first is the default",
        "crash": "table; `counts`: limits that every crash of an agent run counts",
        "override": 'table; `by = "person"`: a person may waive gates, with a reason',
        "store": "table: the native folder, see below",
        "answers": "table; the `section` of the native file where a person's words are written",
        "progress": "table; what counts as progress of a run (`counts`: tree, fields, evidence), and `idle_max`",
        "role": "`[role.NAME]` with `access`: read or write",
        "state": "`[state.NAME]`, see below",
        "field": "`[field.NAME]`: a field of the native file; `values`, `owner` (agent or engine), `start`",
        "register": "`[register.NAME]`: a remembered value without a field; `start`, `values`",
        "gate": "`[gate.NAME]`, see below",
        "limit": "`[limit.NAME]`, see below",
        "edge": "`[[edge]]`: one move, see below",
        "reopen": "`[[reopen]]`: a person's way out of an end; like an edge, `to` may be `{register}`",
        "lock": "`[[lock]]`, see below",
        "forbidden": "`[[forbidden]]`: `from`, `to`, `why`; a pair whose refusal should say why",
        "property": "`[[property]]`: `name`, `then`, `first`, `since`; the checker proves it",
    },
    "state": {
        "role": "who works here; only such a state is driven by an agent",
        "driver": "agent, engine or person, where it does not follow from the role",
        "end": "true: the task is over here",
        "rest": "true: it may stay here for good although moves lead on",
        "may": "what the role may do, in words",
        "must_not": "what it must not do, in words",
        "prompt": "file with the words for the role",
        "group": "states that belong together, for limits per group and for the picture",
        "cross_cutting": "true: drawn beside the groups",
        "title": "the name on screen",
        "respawn": "ask or auto: whether a second run of one visit is started unasked",
        "counts_run": "limits that the end of a run counts",
    },
    "edge, reopen": {
        "name": "unique per state (default: `from-to-to`)",
        "label": "the name in the machine's own document",
        "from": "a state, or a list of states that all have this move",
        "to": "the state it leads to",
        "verb": "commands that mean this move: approve, reject, resume, answer",
        "key": "the letter of a menu",
        "confirm": "asked before it is taken",
        "sign_off": "true: a person alone, and nothing goes round it",
        "never": "the reason why it is listed and can't be taken",
        "option": "it exists only where the project switches this option on",
        "instead": "table; where a re-opening leads when it may not go back as far",
        "ways": "list of tables with the keys below; what a way does not say it takes from its edge",
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
        "prepare": "what must work before the move is made",
        "effects": "what is done after it, again and again until it works: checkpoint",
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
        "per": "group: counted per group of states",
        "resets": "always: every move sets it to zero",
        "field": "the native field that shows it",
    },
    "lock": {
        "name": "its name",
        "after": "closed when this state is left",
        "open_in": "states in which it is open again",
        "fields": "native fields it holds",
        "sections": "list of tables with `file` and `section`",
        "files": "files it holds",
    },
}
STORE: Mapping[str, str] = {
    "codec": "how the native file is written: markdown_fields",
    "file": "the native file",
    "state": "the label of its state line",
    "updated": "the label that shows when the state last changed",
    "log": "the native log",
    "files": "files of a new folder, from the machine's scaffold",
    "folders": "folders of a new folder",
    "extra": "files made on request, by name",
    "title": "the field that takes the words given to `detent new`",
    "checks": "the field that takes its `--check` commands",
    "evidence": "where the evidence page lies",
    "link": "the field that is led to that page whenever it is made",
}
SETTINGS: Mapping[str, str] = {
    "default_machine": "the machine of `detent new` without a name",
    "commands": "table; command lines by name that join every validation plan",
    "timeout_s": "in `[commands]`: seconds each may take",
    "workspace": "table; how a checkout is prepared for commands",
    "setup": "in `[workspace]`: commands to run first",
    "key": "in `[workspace]`: files whose change makes set-up run again",
    "copy": "in `[workspace]`: ignored files that are copied in",
    "carry": "in `[workspace]`: ignored folders that are carried over",
    "machine": "`[machine.NAME]` with the two keys below",
    "limits": "in `[machine.NAME]`: other numbers for its limits",
    "options": "in `[machine.NAME]`: its options that are switched on",
    "evidence": "table; how evidence pages are reached",
    "base": "in `[evidence]`: the address under which task folders are shown, by task id",
}
KIND_MEANS: Mapping[str, str] = {
    "created": "the first line of a new task",
    "adopted": "the first line of a task made from another tool's folder",
    "moved": "a move was made; it is also the promise of its effects",
    "refused": "an agent's wish was refused",
    "restored": "what only the engine or a person may write was put back",
    "proved": "the engine ran commands; the receipts it vouches for",
    "acted": "a promised effect was done",
    "crashed": "an agent run died and took no move; it was counted",
    "answered": "a person said something and nothing waited for it",
    "resumed": "a person let a stopped task go on",
    "amended": "a person changed what is locked; earlier proof became old",
}
LINE_FIELDS: Mapping[str, str] = {
    "id, title, dir": "the task's id, words and native folder",
    "machine, digest": "the machine's name and the hash of its pinned file (in `moved`, `machine` is that hash)",
    "root, common_dir, tree_path": "the project's top folder, its git folder and the tree that is worked on",
    "baseline": "the commit the work starts from",
    "commands, command_timeout_s, workspace, limits, options, evidence_base": "the settings that hold for this task",
    "by, name, reason": "agent, engine, person or crash; the role or person; the reason given",
    "edge, way, from, to": "the move, which of its ways, and the states it joins",
    "verb, answer": "the command that meant the move; what a person said",
    "exit": "how the agent run ended whose end this is about",
    "facts": "each gate the way needs: `ok`, `proof` (hash or receipts), `by_hand`, `note`, `why`",
    "waived, override": "gates a person waived, and why",
    "tree": "the git tree that was looked at",
    "effects, step, result": "what a move promises; which promise (`seq:effect`) was kept, and what came of it",
    "want, problem, missing": "what was asked for, why it was refused, and each gate that was closed",
    "file, why, kept": "what was put back and why; where its other words are kept",
    "fields, was": "the locked fields a person changed, and the hashes they had (in `acted`: the fields it led on)",
    "receipts": "the receipts of a proof, by key, with the hash of each file",
    "sandbox": "what held the commands: none",
    "after": "the whole snapshot: state, mode, counters, registers, visits, hashes of evidence and of locked texts",
}
PLACES: Mapping[str, str] = {
    "tasks_folder": "all tasks",
    "lock_path": "held while a task is made",
    "machine_path": "a machine as it was when a task began, by digest",
    "home": "task folders without `--dir`, checkouts for commands",
    "journal": "the truth: one JSON line per event, each with the hash of the line before",
    "snapshot": "a cache of the journal; may be deleted",
    "lock": "held while a task is changed",
    "projected": "which journal line reached the native file in which boot, and every hash ever written there",
    "receipts": "what the engine ran: one file per tree, command and gate, and the logs",
    "objects": "texts kept by their hash: locked fields, and what was put back",
    "private_git": "the engine's own git: trees, checkpoints under refs/detent/",
    "seen_tree": "the last tree id with the file times it was taken at; may be deleted",
    "last_copy": "the native file as it was last written, where no journal line carries it; may be deleted",
}
_LOOPED = ("edge", "reopen")  # asked for by a variable, which the source does not show as literals
_ASKED = ("text", "texts", "number", "flag", "table", "tables", "rows", "take", "peek", "peek_table", "pop")


def keys_asked_for(module_file: str) -> set[str]:
    """Every literal key that a parser's source asks a table for."""
    tree = ast.parse(Path(module_file).read_text(encoding="utf-8"))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    return {
        call.args[0].value
        for call in calls
        if isinstance(call.func, ast.Attribute) and call.func.attr in _ASKED and call.args
        if isinstance(call.args[0], ast.Constant) and isinstance(call.args[0].value, str)
    }


def places_of(record: type) -> set[str]:
    return {name for name, value in vars(record).items() if callable(value) and not name.startswith("_")}


def disagreements() -> list[str]:
    """Where the meanings above and the code no longer speak of the same names."""
    machine = {key for keys in MACHINE_FILE.values() for key in keys} | {"codec", "access", "values", "owner", "start"}
    machine |= {"file", "section", "then", "first", "why", "idle_max", "extra", "folders"}
    found = [
        *unequal(machine, keys_asked_for(str(parse.__file__)) | {"of", *_LOOPED}, "machine file key"),
        *unequal(SETTINGS, keys_asked_for(str(settings.__file__)) | set(Settings().workspace()), f"{FILE} key"),
        *unequal(KIND_MEANS, KINDS, "kind of journal line"),
        *unequal(
            {name for names in LINE_FIELDS for name in names.split(", ")},
            {name for names in KINDS.values() for name in names},
            "journal field",
        ),
        *(
            f"store key {key!r} of {name} has no meaning"
            for name in built_in_names()
            for key in load(name, None)[0].store
            if key not in STORE
        ),
    ]
    known = places_of(Project) | places_of(TaskPlaces)
    return found + unequal(PLACES, known - {"task", "task_ids", "replace"}, f"place ({places.__name__})")


def unequal(told: Iterable[str], known: Iterable[str], what: str) -> list[str]:
    """Names without a meaning, and meanings without their name."""
    lacking, stale = sorted(set(known) - set(told)), sorted(set(told) - set(known))
    return [f"{what} {name!r} has no meaning" for name in lacking] + [f"there is no {what} {name!r}" for name in stale]


def formats_page() -> list[str]:
    kinds = ((f"`{kind}`", KIND_MEANS[kind], ", ".join(f"`{name}`" for name in KINDS[kind])) for kind in KINDS)
    lines = _head("# Formats", "All files are UTF-8 text.")
    lines += _head("## Machine files", "TOML. Unknown keys are errors; all problems are told at once.")
    for title, keys in {**MACHINE_FILE, "store": STORE}.items():
        lines += [f"### {title}", "", *table(("key", "meaning"), _rows(keys))]
    lines += _head(f"## {FILE}", "Read as committed when a task is made, and kept in its journal.")
    lines += table(("key", "meaning"), _rows(SETTINGS))
    lines += _head(
        "## Journal lines",
        "Every line has `seq`, `time` (UTC), `kind` and `prev`, the SHA-256 of the line before. A line that leads "
        "to a new text of the native file also has `native`: that `text`, and in `was` the SHA-256 of the text it "
        "replaces; it is empty where the file was synced instead.",
    )
    lines += table(("kind", "meaning", "fields"), kinds)
    lines += table(("field", "meaning"), LINE_FIELDS.items())
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
        else:
            path = getattr(task if hasattr(task, name) else project, name)()
        rows.append((f"`{path}`", meaning))
    return rows
