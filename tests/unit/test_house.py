"""The house rules that no linter knows: machines stay data, the core stays small, the cold start stays light."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from detent.gates.registry import checks
from detent.machines.reading import MADE_OF_GATES
from detent.runner.step.registry import effects, steps
from detent.store.journal.events import KINDS

SOURCE = Path(__file__).resolve().parents[2] / "src"
PACKAGE = SOURCE / "detent"
MODULES = sorted(PACKAGE.rglob("*.py"))

FOLDERS_OF_MACHINES = frozenset(path.parent.name.rstrip("_") for path in PACKAGE.glob("packs/*/machine.toml"))
MACHINE_NAMES = FOLDERS_OF_MACHINES | {name.replace("_", "-") for name in FOLDERS_OF_MACHINES}
MODULES_IN_A_FOLDER = 20
CORE_LINES = 1150  # a no that is never overruled, and trees bound along the way, are decided in the core too
EMPTY_NAMES = frozenset({"utils", "helpers", "common", "manager", "base", "misc"})

# (module, literal) -> why this use of a machine's name is no branch on it.
ALLOWED_NAMES: dict[tuple[str, str], str] = {
    ("runner/make/create.py", "phase"): "the default of `detent new`; nothing branches on it",
    **{
        ("lab/attack/values.py", name): "an attack says to which machines it applies; walks/ has a script for each"
        for name in ("phase", "global", "lights-out", "orange", "ralf")
    },
}

# Every one of these is loaded by `status` and `next`; the ones that make a start slow were measured, not guessed.
HOT_MODULES = (
    "detent",
    "detent.errors",
    "detent.core.record",
    "detent.core.values",
    "detent.core.machine",
    "detent.core.decide",
    "detent.machines.load",
    "detent.store.journal.chain",
    "detent.store.text.markdown",
    "detent.store.journal.native",
    "detent.store.journal.places",
    "detent.store.journal.memory",
    "detent.store.journal.tasks",
    "detent.runner.step.step",
    "detent.faces.cli.main",
)
HEAVY_MODULES = frozenset({"argparse", "dataclasses", "hashlib", "subprocess", "tomllib", "typing"})


def name_of(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


@cache
def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def literals(node: ast.AST | None) -> Iterator[ast.Constant]:
    """The string literals that an expression, a pattern or a display such as a tuple or a set is made of."""
    match node:
        case ast.Constant(value=str()):
            yield node
        case ast.Tuple(elts=items) | ast.List(elts=items) | ast.Set(elts=items):
            for item in items:
                yield from literals(item)
        case ast.Call(func=ast.Name(id="frozenset" | "set" | "tuple"), args=[inner]):
            yield from literals(inner)
        case _:
            return


def decisive_literals(tree: ast.Module) -> Iterator[ast.Constant]:
    """Literals that can choose a path: compared, matched, a key, a prefix, or given a name to be compared by."""
    for node in ast.walk(tree):
        match node:
            case ast.Compare(left=left, comparators=others):
                sources: list[ast.AST | None] = [left, *others]
            case ast.MatchValue(value=value) | ast.Assign(value=value) | ast.AnnAssign(value=value):
                sources = [value]
            case ast.Dict(keys=keys):
                sources = [*keys]
            case ast.Call(func=ast.Attribute(attr="startswith" | "endswith"), args=[first, *_]):
                sources = [first]
            case _:
                continue
        for source in sources:
            yield from literals(source)


def machine_names_in(tree: ast.Module) -> list[tuple[int, str]]:
    return [(node.lineno, str(node.value)) for node in decisive_literals(tree) if node.value in MACHINE_NAMES]


@pytest.mark.parametrize(
    "code",
    [
        "if name == 'ralf': pass",
        "if name in ('orange', 'x'): pass",
        "NAMES = frozenset({'phase'})",
        "x = 1 if 'global' != name else 2",
        "match name:\n    case 'lights-out': pass",
        "match name:\n    case 'x' | 'lights_out': pass",
        "TABLE = {'phase': 1}",
        "name.startswith('orange')",
    ],
)
def test_a_branch_on_a_machines_name_is_seen(code: str) -> None:
    assert machine_names_in(ast.parse(code))


def test_every_machine_that_ships_is_known_here() -> None:
    assert {"phase", "global", "lights-out", "lights_out", "orange", "ralf"} <= MACHINE_NAMES


def test_a_mention_of_a_machines_name_is_no_branch() -> None:
    assert not machine_names_in(ast.parse("'''About ralf.'''\nprint('phase of the moon', 'orange')"))


def test_nothing_branches_on_a_machines_name() -> None:
    found = [
        f"{name_of(path)}:{line}: {literal!r}"
        for path in MODULES
        if not name_of(path).startswith("machines/")
        for line, literal in machine_names_in(parse(path))
        if (name_of(path), literal) not in ALLOWED_NAMES
    ]
    assert not found, "a machine is data; move the difference into its machine file:\n" + "\n".join(found)


def test_no_engine_code_names_a_pack() -> None:
    packs = [path.parent.name for path in PACKAGE.glob("packs/*/pack.py")]
    named = re.compile(rf"\bpacks[./](?:{'|'.join(packs)})\b")
    above = ("faces/", "lab/", "verify/", "packs/")
    engine = [path for path in MODULES if not name_of(path).startswith(above)]
    assert packs
    assert not [name_of(path) for path in engine if named.search(path.read_text(encoding="utf-8"))]


def test_the_checker_names_no_check_effect_or_step() -> None:
    """It asks their declarations; the three checks that are made of gates are its own."""
    declared = {*checks(), *effects(), *steps()} - {*MADE_OF_GATES}
    rooms = [
        path for path in MODULES if name_of(path).startswith("machines/") or name_of(path) == "runner/task/loop.py"
    ]
    named = {(name_of(path), node.value) for path in rooms for node in decisive_literals(parse(path))}
    assert {found for found in named if found[1] in declared} == set()


def test_each_allowed_name_is_still_in_use() -> None:
    used = {(name_of(path), literal) for path in MODULES for _line, literal in machine_names_in(parse(path))}
    assert ALLOWED_NAMES.keys() <= used


def test_no_folder_holds_more_modules_than_one_can_survey() -> None:
    folders = Counter(path.parent.relative_to(PACKAGE).as_posix() for path in MODULES if path.stem != "__init__")
    assert not {folder: count for folder, count in folders.items() if count > MODULES_IN_A_FOLDER}


def test_readers_ask_the_host_only_whether_a_run_lives() -> None:
    allowed = {"detent.effects.host.access", "detent.effects.host.keeper.look"}  # the first holds values alone
    found = {
        f"{name_of(path)}: {name}"
        for path in MODULES
        if name_of(path).startswith("runner/tell/")
        for name in imported_by(parse(path))
        if name.startswith("detent.effects.host") and name not in allowed
    }
    assert not found


def imported_by(tree: ast.Module) -> Iterator[str]:
    """Every module that is imported, whether at the top, for types or inside a function."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (one.name for one in names)
            case ast.ImportFrom(module=str(module)):
                yield module
            case _:
                pass


def test_the_core_stays_small() -> None:
    sizes = {name_of(path): len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES}
    core = {name: size for name, size in sizes.items() if name.startswith("core/")}
    assert sum(core.values()) < CORE_LINES, f"{sum(core.values())} lines: {core}"


def test_each_module_says_its_duty() -> None:
    assert not [name_of(path) for path in MODULES if not ast.get_docstring(parse(path))]


def test_no_name_hides_what_a_module_does() -> None:
    found = [name_of(path) for path in PACKAGE.rglob("*") if path.stem in EMPTY_NAMES]
    assert not found


def swallows_everything(handler: ast.ExceptHandler) -> bool:
    """Whether the handler catches any exception and does not raise it again as its last act."""
    last = handler.body[-1]
    if isinstance(last, ast.Raise) and last.exc is None:
        return False
    caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    names = {ast.unparse(kind) if kind else "BaseException" for kind in caught}
    return not names.isdisjoint({"Exception", "BaseException"})


@pytest.mark.parametrize(
    ("code", "swallowed"),
    [
        ("except Exception: pass", True),
        ("except: pass", True),
        ("except (OSError, BaseException): pass", True),
        ("except BaseException:\n    undo()\n    raise", False),
        ("except OSError: pass", False),
    ],
)
def test_a_handler_for_everything_is_seen(code: str, *, swallowed: bool) -> None:
    tree = ast.parse(f"try: pass\n{code}")
    handlers = [node for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler)]
    assert [swallows_everything(handler) for handler in handlers] == [swallowed]


def test_only_faces_and_the_supervisor_catch_everything() -> None:
    found = [
        f"{name_of(path)}:{node.lineno}"
        for path in MODULES
        if not name_of(path).startswith("faces/") and name_of(path) != "runner/supervisor.py"
        for node in ast.walk(parse(path))
        if isinstance(node, ast.ExceptHandler) and swallows_everything(node)
    ]
    assert not found


def is_literal(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def asked_by_key(node: ast.AST) -> ast.expr | None:
    """What is asked for a text key here: the `x` of `x["kind"]` and of `x.get("kind")`."""
    match node:
        case ast.Subscript(value=value, slice=key) if is_literal(key):
            return value
        case ast.Call(func=ast.Attribute(value=value, attr="get"), args=[key, *_]) if is_literal(key):
            return value
        case _:
            return None


def lines_by_key(tree: ast.Module) -> list[int]:
    """Where a journal line is asked by a key: a line made a mapping again, or anything that has kinds of lines."""
    made = {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and _gives_mapping(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    found = []
    for node in ast.walk(tree):
        asked = asked_by_key(node)
        is_line = asked is not None and (_gives_mapping(asked) or (isinstance(asked, ast.Name) and asked.id in made))
        if is_line or _names_kind(node):
            found.append(node.lineno if isinstance(node, (ast.expr, ast.stmt)) else 0)
    return found


def _gives_mapping(node: ast.AST) -> bool:
    """Whether this is `to_line(...)`, `vars(...)` or `__dict__` of a line, or a line of the journal parsed here."""
    match node:
        case ast.Call(func=ast.Name(id="to_line")):
            return True
        case ast.Call(func=ast.Attribute(attr="loads"), args=[ast.Attribute(attr="last"), *_]):
            return True
        case _:
            return False


def _names_kind(node: ast.AST) -> bool:
    """Whether a key is compared with a kind of line: `x["kind"] == "moved"`."""
    if not isinstance(node, ast.Compare):
        return False
    sides = [node.left, *node.comparators]
    texts = {one.value for side in sides for one in ast.walk(side) if isinstance(one, ast.Constant)}
    return not texts.isdisjoint(KINDS) and any(asked_by_key(side) is not None for side in sides)


# Modules outside the journal's room that ask a line by a key, and why.
BY_KEY = {
    "lab/attack/attackers/control.py": "an attacker forges lines as whoever has the file could",
    "verify/replay/replay.py": "an audit asks which fields a line has at all",
}


@pytest.mark.parametrize(
    "code",
    [
        'to_line(line)["tree"]',
        'said = to_line(line)\nsaid.get("tree")',
        'json.loads(memory.last)["branches"]',
        'any(one["kind"] == "moved" for one in lines)',
        'entry.get("kind") in ("moved", "acted")',
    ],
)
def test_a_journal_line_asked_by_a_key_is_seen(code: str) -> None:
    assert lines_by_key(ast.parse(code))


def test_fields_of_a_line_and_keys_of_other_things_are_not_taken_for_that() -> None:
    code = 'line.tree\nrow["kind"] == "folder"\nhead["tree"]\nsaid = to_line(line)\nsaid[name]\nline.facts["g"]["ok"]'
    assert not lines_by_key(ast.parse(code))


def test_no_room_but_the_journals_asks_a_line_by_a_key() -> None:
    found = {name_of(path) for path in MODULES if lines_by_key(parse(path))}
    assert {name for name in found if not name.startswith("store/journal/")} == set(BY_KEY)


def unnamed_fields(tree: ast.Module) -> list[int]:
    """Where a journal line is made of a mapping, so that no type checker sees its fields."""
    types = {
        one.asname or one.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("detent.store.journal.")
        for one in node.names
        if one.name in {kind.__name__ for kind in KINDS.values()}
    }
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    made = [call for call in calls if isinstance(call.func, ast.Name) and call.func.id in types]
    return [call.lineno for call in made if not all(one.arg for one in call.keywords)]


def test_a_line_made_of_a_mapping_is_seen() -> None:
    code = "from detent.store.journal.events import Moved\nMoved(edge='go')\nMoved(**content)\nother(**content)"
    assert unnamed_fields(ast.parse(code)) == [3]


def test_every_writer_names_the_fields_of_its_line() -> None:
    assert not [f"{name_of(path)}:{line}" for path in MODULES for line in unnamed_fields(parse(path))]


@pytest.mark.parametrize("word", ["line_of", "with_fields"])
def test_nothing_outside_the_journals_room_makes_a_line_past_its_type(word: str) -> None:
    importing = re.compile(rf"from detent\.store\.journal\.\w+ import .*\b{word}\b")
    users = {name_of(path) for path in MODULES if importing.search(path.read_text(encoding="utf-8"))}
    assert not [name for name in users if not name.startswith("store/journal/")]


def modules_loaded_by(module: str) -> frozenset[str]:
    """What a bare interpreter loads for the import; without `site`, whose start-up files are the host's, not ours."""
    done = subprocess.run(
        [sys.executable, "-S", "-X", "importtime", "-c", f"import {module}"],
        env={"PATH": os.defpath, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return frozenset(re.findall(r"^import time:\s+\d+ \|\s+\d+ \|\s+(\S+)$", done.stderr, re.MULTILINE))


def test_a_heavy_import_is_seen() -> None:
    assert "typing" in modules_loaded_by("typing")


@pytest.mark.parametrize("module", HOT_MODULES)
def test_a_cold_start_loads_nothing_heavy(module: str) -> None:
    path = SOURCE.joinpath(*module.split("."))
    if not (path.with_suffix(".py").exists() or (path / "__init__.py").exists()):
        pytest.skip(f"{module} is not written yet")
    loaded = modules_loaded_by(module)
    assert module in loaded
    assert not loaded & HEAVY_MODULES
