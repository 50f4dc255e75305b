"""The house rules that no linter knows: machines stay data, the core stays small, the cold start stays light."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import textwrap
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from detent.gates.registry import checks
from detent.machines.reading import MADE_OF_GATES
from detent.runner.step.registry import effects, steps
from detent.store.journal.events import KINDS
from tests.unit.sentences import Sentences, compared_texts

SOURCE = Path(__file__).resolve().parents[2] / "src"
PACKAGE = SOURCE / "detent"
MODULES = sorted(PACKAGE.rglob("*.py"))

FOLDERS_OF_MACHINES = frozenset(path.parent.name.rstrip("_") for path in PACKAGE.glob("packs/*/machine.toml"))
MACHINE_NAMES = FOLDERS_OF_MACHINES | {name.replace("_", "-") for name in FOLDERS_OF_MACHINES}
MODULES_IN_A_FOLDER = 20
CORE_LINES = 1150  # a no that is never overruled, and trees bound along the way, are decided in the core too
# Functions that word a part of sentences, or join them.
PARTS_OF_SENTENCES = {
    "words/assessed.py": {"in_plain_words", "part_in_plain_words"},
    "words/gates.py": {"together"},
    "words/proof.py": {"ending"},
}
PROGRAMS_OF_OTHERS = {"effects/tests/plugins", "effects/tests/plugins/python"}  # run inside a project's test runner
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


def test_every_folder_of_modules_is_seen_by_the_import_check() -> None:
    folders = {path.parent for path in MODULES}
    assert {name_of(folder) for folder in folders if not (folder / "__init__.py").exists()} == PROGRAMS_OF_OTHERS


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
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=str(module)):
                yield module
            case _:
                pass


# What tells a person why something can't be, and which of its arguments are sentences (by place and by name).
SENTENCES_OF: dict[str, tuple[tuple[int, ...], frozenset[str]]] = {
    "Missing": ((1, 2), frozenset({"why", "fix"})),
    "Refuse": ((0,), frozenset({"problem", "hint"})),
    "Wait": ((0,), frozenset({"reason"})),
    "Finding": ((1, 2), frozenset({"why", "what", "fix", "note", "once", "parts"})),
    "Fact": ((2, 3), frozenset({"why", "fix", "note", "once", "parts"})),
    "Violation": ((0, 1), frozenset({"rule", "story"})),
    "replace": ((), frozenset({"why", "fix", "note", "once", "parts"})),
    "problem": ((0,), frozenset()),  # of a reader of machine files
    "wrong": ((0, 1), frozenset({"why", "example"})),  # of a document while it is judged
    "closed": ((0,), frozenset({"why"})),  # of a JSON file while it is judged
    "storage_error": ((2,), frozenset({"what"})),
    "found": ((2,), frozenset({"what"})),
    "Rest": ((2, 3), frozenset({"text", "next_step"})),
}
OF_ERRORS = ((0,), frozenset({"what", "next_step"}))
# What only a mistake in the code raises: no person reads it.
OF_MISTAKES = frozenset({"AssertionError", "AttributeError", "RuntimeError", "TypeError"})
# Rooms whose sentences all lie in `words/` or in the `words.py` of a pack.
WORDLESS = (
    "core/",
    "effects/",
    "errors.py",
    "gates/",
    "machines/",
    "packs/",
    "runner/access/",
    "runner/drive/",
    "runner/make/",
    "runner/people/",
    "runner/run/",
    "runner/step/",
    "runner/task/",
    "runner/tell/",
    "store/",
    "verify/",
)
# Rooms where a returned text is a sentence too. Elsewhere it may be a line of a file, or a prompt.
SENTENCES_RETURNED = ("core/", "gates/", "machines/", "packs/global_/")
TEXTS = frozenset({"str", "Iterator[str]", "list[str]", "tuple[str, ...]"})


class _Worded(ast.NodeVisitor):
    """Finds sentences worded on the spot: handed to an error, a refusal or a fact, or `returned` as text.

    Follows a name to what the same function, or the module, gives it, so that no local variable hides a sentence.
    """

    def __init__(self, tree: ast.AST, *, returned: bool) -> None:
        self.lines: set[int] = set()
        self.returned = returned
        self.scopes: list[dict[str, list[ast.expr]]] = [_given_in(tree)]
        self.visit(tree)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.scopes.append(_given_in(node))
        if self.returned and node.returns is not None and ast.unparse(node.returns) in TEXTS:
            for said in _returned_by(node):
                self.judge(said)
        self.generic_visit(node)
        self.scopes.pop()

    def visit_Call(self, node: ast.Call) -> None:
        name = getattr(node.func, "id", "") or getattr(node.func, "attr", "")
        places, names = SENTENCES_OF.get(name, ((), frozenset()))
        if name.endswith(("Error", "Journal")) and name not in OF_MISTAKES:
            places, names = OF_ERRORS
        for place in places:
            self.judge(*node.args[place : place + 1])
        self.judge(*(keyword.value for keyword in node.keywords if keyword.arg in names))
        self.generic_visit(node)

    def judge(self, *said: ast.expr) -> None:
        self.lines.update(node.lineno for text in said for node in self.worded(text, frozenset()))

    def worded(self, node: ast.expr, seen: frozenset[str]) -> Iterator[ast.expr]:
        """The texts with a space between two words that an expression is made of."""
        if _is_worded(node):
            yield node
        parts = _parts_of(node)
        if isinstance(node, ast.Name) and node.id not in seen:
            parts = next((scope[node.id] for scope in reversed(self.scopes) if node.id in scope), [])
            seen = seen | {node.id}
        for part in parts:
            yield from self.worded(part, seen)


def _is_worded(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=str(text)):
            return " " in text.strip()
        case ast.JoinedStr(values=parts):
            return any(isinstance(part, ast.Constant) and " " in str(part.value) for part in parts)
        case _:
            return False


def _parts_of(node: ast.expr) -> list[ast.expr]:
    """The expressions whose text goes into this one; not what it asks, compares or hands to another function."""
    match node:
        case ast.IfExp(body=first, orelse=second):
            return [first, second]
        case ast.Call(func=ast.Attribute(attr="join" | "format", value=text), args=arguments):
            return [text, *arguments]
        case ast.Call(func=ast.Name(id="tuple" | "list" | "sorted" | "str" | "reversed"), args=arguments):
            return arguments
        case ast.Call() | ast.Compare():
            return []
        case ast.Dict(values=values):
            return values
        case ast.ListComp(elt=said) | ast.GeneratorExp(elt=said) | ast.SetComp(elt=said):
            return [said]
        case _:
            return [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]


def _given_in(scope: ast.AST) -> dict[str, list[ast.expr]]:
    """What each name is given in a function or a module, not in a function inside it; lists by `append`, too."""
    values: dict[str, list[ast.expr]] = {}
    for node in _own_nodes(scope):
        match node:
            case ast.Assign(targets=[*targets], value=value):
                names = [name for target in targets for name in _names_in(target)]
            case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.AugAssign(target=target, value=value):
                names = _names_in(target)
            case ast.NamedExpr(target=target, value=value) | ast.For(target=target, iter=value):
                names = _names_in(target)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append" | "extend"), args=[value]):
                names = [name]
            case _:
                continue
        for name in names:
            values.setdefault(name, []).append(value)
    return values


def _names_in(target: ast.expr) -> list[str]:
    return [part.id for part in ast.walk(target) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)]


def _own_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(scope):
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node
            yield from _own_nodes(node)


def _returned_by(function: ast.FunctionDef) -> Iterator[ast.expr]:
    for node in _own_nodes(function):
        match node:
            case ast.Return(value=ast.expr() as value) | ast.Yield(value=ast.expr() as value):
                yield value
            case _:
                pass


def _is_words(path: Path) -> bool:
    """Whether a module of a pack holds its sentences: `words.py`, or a module of its folder `words`."""
    return path.name == "words.py" or path.parent.name == "words"


def _sentences_worded(tree: ast.AST, *, returned: bool = True) -> list[int]:
    """The lines that word an error, a refusal or a fact on the spot, instead of asking `words` for the sentence."""
    return sorted(_Worded(tree, returned=returned).lines)


@pytest.mark.parametrize(
    "code",
    [
        'raise RefusedError(f"no task {name}")',
        'raise RefusedError(say.no_task(name), next_step="run: detent list")',
        'Finding(ok=False, why="not there yet")',
        'Missing("plan", f"{file} lacks it", "")',
        'Finding(ok=ok, why="" if ok else f"{a} differs from {b}")',
        'def look():\n    why = f"{a} differs from {b}"\n    return Finding(ok=False, why=why)',
        'def look():\n    why = [f"{file} is empty"]\n    return Finding(ok=False, why="; ".join(why))',
        'found = []\nfound.append(f"{file} is gone")\nFinding(ok=False, why="; ".join(found))',
        'def look():\n    for why in ("not there", "not new"):\n        raise RefusedError(why)',
        'def problem(file) -> str:\n    return "" if file else "is not there"',
        'def look() -> Iterator[str]:\n    yield f"state {name}: no move leads there"',
        'raise storage_error(error, path, "file is not there")',
        'self.found(1, "chain", "the journal is empty")',
        'Rest(task, "person", f"stopped by {name}")',
        'WHY = "not there yet"\ndef look():\n    return found.replace(ok=False, why=WHY)',
    ],
)
def test_a_sentence_worded_on_the_spot_is_seen(code: str) -> None:
    assert _sentences_worded(ast.parse(code))


def test_messages_and_names_are_no_sentences_worded_on_the_spot() -> None:
    assert not _sentences_worded(ast.parse('raise RefusedError(say.no_task(name, "by id"), where="TASK.md")'))


def test_errors_refusals_and_facts_take_their_sentences_from_words() -> None:
    modules = [path for path in MODULES if name_of(path).startswith(WORDLESS) and not _is_words(path)]
    assert modules
    found = {
        name_of(path): _sentences_worded(parse(path), returned=name_of(path).startswith(SENTENCES_RETURNED))
        for path in modules
    }
    assert {path: lines for path, lines in found.items() if lines} == {}


def _plain_sentences(tree: ast.Module) -> set[str]:
    """The public functions of a module of sentences that return text without being messages."""
    return {
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_") and not node.decorator_list
    }


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("def no_task(name: str) -> str:\n    return f'no task {name}'", {"no_task"}),
        ("@message\ndef no_task(name: str) -> str:\n    return f'no task {name}'", set()),
        ("def _listed(names: list[str]) -> str:\n    return ', '.join(names)", set()),
    ],
)
def test_a_sentence_that_is_no_message_is_seen(code: str, names: set[str]) -> None:
    assert _plain_sentences(ast.parse(code)) == names


def test_every_sentence_is_a_message() -> None:
    rooms = [
        path for path in MODULES if name_of(path).startswith("words/") or (_is_words(path) and "packs" in path.parts)
    ]
    found = {name_of(path): _plain_sentences(parse(path)) for path in rooms if path.stem not in {"message", "names"}}
    assert {path: names for path, names in found.items() if names} == PARTS_OF_SENTENCES


TESTS = SOURCE.parent / "tests"
TESTED_BELOW_THE_FACES = ("core", "effects", "gates", "machines", "packs", "runner", "store", "verify")

# (test, text) -> why this is no sentence of `words`, although one has the same words.
NO_SENTENCES: dict[tuple[str, str], str] = {
    ("unit/store/disk/test_folders.py", "more characters"): "a path is cut in the middle, in no sentence",
    ("unit/store/journal/test_events.py", "a run_void line needs why"): "a mistake in the code, which no person reads",
    ("unit/machines/test_parse.py", "detent task"): "the line of a shim in a machine file",
    ("unit/effects/workspace/test_observe.py", "of the task\n"): "the text of a file",
    ("unit/effects/workspace/test_observe.py", "of the tree\r\n"): "the text of a file",
    ("unit/runner/access/test_trust.py", "[sandbox] show"): "the name of a setting",
    ("unit/runner/run/test_prompt.py", "How the last run ended"): "a heading of a prompt",
}


@cache
def sentences() -> Sentences:
    return Sentences(
        parse(path)
        for path in MODULES
        if name_of(path).startswith("words/") or (_is_words(path) and name_of(path).startswith("packs/"))
    )


@pytest.mark.parametrize(
    "code",
    [
        "assert fact.why == 'TASK.md has no section \"## Handoff\"'",
        "assert fact.why == f'{name} has no section \"## {section}\"'",
        "assert 'has nothing under' in fact.why",
        "assert fact.why.startswith('STATE.md lacks the field')",
        "with pytest.raises(UnreadableError, match='is not valid TOML'):\n    read()",
        "for words in ('names no file', 'x'):\n    assert words in found",
        "assert found == ('disk is full', f'{file} is not UTF-8 text (byte {3})')",
    ],
)
def test_a_test_that_compares_with_a_sentence_is_seen(code: str) -> None:
    function = "def test_it() -> None:\n" + textwrap.indent(code, "    ")
    assert any(sentences().has(text) for _line, text in compared_texts(ast.parse(function)))


def test_a_sentence_in_the_parameters_of_a_test_is_seen() -> None:
    code = "@pytest.mark.parametrize(('a', 'why'), [(1, x), (2, 'it is not valid TOML: no')])\n"
    code += "def test_it(a: int, why: str) -> None:\n    assert read(a).why == why"
    assert any(sentences().has(text) for _line, text in compared_texts(ast.parse(code)))


def test_a_sentence_in_a_table_of_the_module_is_seen() -> None:
    code = "CLOSED = [*((name, f'{name} names no file') for name in NAMES)]\n"
    code += "@pytest.mark.parametrize(('a', 'why'), CLOSED)\n"
    code += "def test_it(a: int, why: str) -> None:\n    assert read(a).why == f'{a} {why}'"
    assert any(sentences().has(text) for _line, text in compared_texts(ast.parse(code)))


def test_messages_and_inputs_are_no_sentences_compared_with() -> None:
    code = (
        "def test_it() -> None:\n    assert read('STATE.md has nothing under it') == say.section_missing('a.md', 'b')"
    )
    assert not [text for _line, text in compared_texts(ast.parse(code)) if sentences().has(text)]


def test_tests_below_faces_compare_with_messages_not_with_their_text() -> None:
    folders = [TESTS / "unit" / room for room in TESTED_BELOW_THE_FACES]
    folders += [TESTS / "properties", TESTS / "machines"]
    found = {
        (path.relative_to(TESTS).as_posix(), text): line
        for folder in folders
        for path in folder.rglob("*.py")
        for line, text in compared_texts(parse(path))
        if sentences().has(text)
    }
    new = [f"{name}:{line}: {text!r}" for (name, text), line in found.items() if (name, text) not in NO_SENTENCES]
    assert not new, "compare with the function of `words` that says it, or with its code:\n" + "\n".join(new)
    assert NO_SENTENCES.keys() <= found.keys(), "no longer there"


def test_the_core_stays_small() -> None:
    sizes = {name_of(path): len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES}
    core = {name: size for name, size in sizes.items() if name.startswith("core/")}
    assert sum(core.values()) < CORE_LINES, f"{sum(core.values())} lines: {core}"


def test_each_module_says_its_duty() -> None:
    assert not [name_of(path) for path in MODULES if not ast.get_docstring(parse(path))]


def test_no_name_hides_what_a_module_does() -> None:
    found = [name_of(path) for path in PACKAGE.rglob("*") if path.stem in EMPTY_NAMES]
    assert not found


# Words that each stood for messages, requests, settings and items of a loop: a name says which of them it is.
EMPTY_WORDS = frozenset({"told", "given", "asked", "one", "own", "fruitless", "spoilt", "wish", "mend", "foretell"})

# (module, name) -> why it stays.
WORDS_THAT_STAY = {
    ("core/machine.py", "given"): "a key of machine files",
    ("store/journal/events.py", "asked"): "a key of journal lines",
    ("store/journal/events.py", "given"): "a key of journal lines",
    ("store/journal/memory.py", "asked"): "kept from a journal line under its key",
    ("store/journal/memory.py", "given"): "kept from a journal line under its key",
}


def names_made(tree: ast.Module) -> Iterator[str]:
    """Every name that is bound: variables, parameters, fields, functions, classes."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()) | ast.arg(arg=name):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.alias(asname=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name
            case _:
                pass


def empty_words_in(tree: ast.Module) -> set[str]:
    """Names that are an empty word, also with underscores around it or as a class."""
    return {name for name in names_made(tree) if not name.isupper() and name.strip("_").lower() in EMPTY_WORDS}


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("told = explain(task)", "told"),
        ("found = [one.name for one in edges]", "one"),
        ("for one in edges: pass", "one"),
        ("def step(task, *, given=None): pass", "given"),
        ("key = lambda one: one.name", "one"),
        ("def _asked(task): pass", "_asked"),
        ("class Told: pass", "Told"),
        ("class Work:\n    own: str", "own"),
        ("self.asked = 0", "asked"),
        ("match edge:\n    case Edge() as one: pass", "one"),
        ("import detent.words as told", "told"),
    ],
)
def test_a_name_that_says_nothing_is_seen(code: str, name: str) -> None:
    assert empty_words_in(ast.parse(code)) == {name}


def test_longer_names_keys_and_uses_are_no_empty_names() -> None:
    code = "given_up = 1\nASKED = 'asked'\nAnswer(asked=line.asked)\nline['given']\nprint('one own told')"
    assert not empty_words_in(ast.parse(code))


def test_every_name_says_what_it_is() -> None:
    found = {(name_of(path), name) for path in MODULES for name in empty_words_in(parse(path))}
    assert found == set(WORDS_THAT_STAY)


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
        container = asked_by_key(node)
        is_named = isinstance(container, ast.Name) and container.id in made
        is_line = container is not None and (is_named or _gives_mapping(container))
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


# What is folded from lines, and `[store]` of a machine, by the names under which readers have them.
FOLDED = frozenset(
    (
        *("head", "run", "claim", "ended", "visit", "failed_in_a_row", "last_run", "refusal", "answer", "intent"),
        *("written", "checkpoint", "filing", "landed", "accepted", "approved", "driven", "deploy", "set_up", "native"),
        "store",
    )
)
TABLES_OF_FOLDED = frozenset({"unsettled", "trees", "signed", "out", "results", "judged"})  # by a name, then by fields


def folded_by_key(tree: ast.Module) -> list[int]:
    """Where a part of the memory or `[store]` is asked by a key, also by way of a name that was given to it."""
    named = {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        for target, value in _pairs(node)
        if isinstance(target, ast.Name) and _is_folded(value)
    }
    containers = ((node, asked_by_key(node)) for node in ast.walk(tree))
    return [
        node.lineno
        for node, value in containers
        if isinstance(node, ast.expr)
        and value is not None
        and (_is_folded(value) or (isinstance(value, ast.Name) and value.id in named))
    ]


def _pairs(node: ast.Assign) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Each name of an assignment with what it is given: `a, b = x, y` has two."""
    for target in node.targets:
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            yield from zip(target.elts, node.value.elts, strict=False)
        else:
            yield target, node.value


def _is_folded(node: ast.expr) -> bool:
    """Whether this is `memory.run`, `memory.signed[name]`, `machine.store` and the like, or a mapping of one."""
    match node:
        case ast.Call(func=ast.Name(id="content_of" | "vars"), args=[inner, *_]):
            return _is_folded(inner)
        case ast.Subscript(value=ast.Attribute(value=owner, attr=name)) if name in TABLES_OF_FOLDED:
            return _owner(owner) == "memory"
        case ast.Attribute(value=owner, attr=name) if name in FOLDED:
            return _owner(owner) == ("machine" if name == "store" else "memory")
        case _:
            return False


def _owner(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def _names_kind(node: ast.AST) -> bool:
    """Whether a key is compared with a kind of line: `x["kind"] == "moved"`."""
    if not isinstance(node, ast.Compare):
        return False
    sides = [node.left, *node.comparators]
    texts = {part.value for side in sides for part in ast.walk(side) if isinstance(part, ast.Constant)}
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


def test_line_fields_and_keys_of_others_are_allowed() -> None:
    code = 'line.tree\nrow["kind"] == "folder"\nhead["tree"]\nsaid = to_line(line)\nsaid[name]\nline.facts["g"]["ok"]'
    assert not lines_by_key(ast.parse(code))


def test_no_room_but_journals_asks_a_line_by_a_key() -> None:
    found = {name_of(path) for path in MODULES if lines_by_key(parse(path))}
    assert {name for name in found if not name.startswith("store/journal/")} == set(BY_KEY)


# The methods that write a task, and what they are called on; without that, on anything.
WRITES: dict[str, tuple[str, ...]] = {
    "commit": ("store",),
    "append": ("store", "journal"),
    "project": ("native",),
    "write": ("native",),
    "catch_up": (),
    "save_cache": (),
}

# Modules outside the store that may: the door, and the lock for readers.
DOOR = {"runner/step/change.py", "runner/step/changing.py", "runner/task/open.py"}


def ways_past_the_door(tree: ast.Module) -> list[int]:
    """Where a task's lock is taken, a line written to its journal, or its folder brought up to that."""
    found = []
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(attr="lock"), args=[], keywords=[]):  # the path of a task's lock
                found.append(node.lineno)
            case ast.Call(func=ast.Attribute(value=ast.Attribute(attr=owner) | ast.Name(id=owner), attr=name)):
                if name in WRITES and owner in (WRITES[name] or (owner,)):
                    found.append(node.lineno)
            case _:
                pass
    return found


@pytest.mark.parametrize(
    "code",
    [
        "Lock(task.places.lock())",
        "path = places.lock()",
        "Lock(project.task(wanted).lock())",
        "task.store.commit(memory, line)",
        "store.append(memory, line)",
        "task.store.journal.append(content, previous, size)",
        "self.store.save_cache(memory)",
        "task.native.write(document, memory, text, lines, durable=True)",
        "native.project(document, memory, {}, lines)",
        "task.native.catch_up(memory, lines)",
    ],
)
def test_a_way_past_the_door_is_seen(code: str) -> None:
    assert ways_past_the_door(ast.parse(code)) == [1]


def test_other_locks_and_other_lists_are_no_way_past_door() -> None:
    code = "Lock(task.project.lock_path())\nlines.append(line)\nchange.write(line)\nworld.commit('x')\ntask.held()"
    assert not ways_past_the_door(ast.parse(code))


def test_a_task_is_written_through_the_door_alone() -> None:
    found = {name_of(path) for path in MODULES if ways_past_the_door(parse(path))}
    assert {name for name in found if not name.startswith("store/")} == DOOR


@pytest.mark.parametrize(
    "code",
    [
        'task.memory.head["digest"]',
        'memory.run.get("run", 0)',
        'head, last = task.memory.head, memory.visit\nlast["exit"]',
        'task.memory.signed[edge]["tree"]',
        'content_of(memory.refusal)["want"]',
        'told.task.machine.store["file"]',
        'store = native.machine.store\nstore.get("root")',
    ],
)
def test_part_of_the_memory_asked_by_a_key_is_seen(code: str) -> None:
    assert folded_by_key(ast.parse(code))


def test_memory_fields_and_tables_of_others_are_allowed() -> None:
    code = (
        'memory.head.digest\nmemory.prepared.get("branch", {})\nmemory.head.budget.get("task")\n'
        'memory.usage["runs"]\nmachine.store.extra["A"]\nmemory.signed["sign"]\nstore = task.store\nstore["x"]'
    )
    assert not folded_by_key(ast.parse(code))


def test_no_room_but_journals_asks_memory_or_store_by_key() -> None:
    found = {name_of(path) for path in MODULES if folded_by_key(parse(path))}
    assert not [name for name in found if not name.startswith("store/journal/")]


def unnamed_fields(tree: ast.Module) -> list[int]:
    """Where a journal line is made of a mapping, so that no type checker sees its fields."""
    types = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("detent.store.journal.")
        for alias in node.names
        if alias.name in {kind.__name__ for kind in KINDS.values()}
    }
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    made = [call for call in calls if isinstance(call.func, ast.Name) and call.func.id in types]
    return [call.lineno for call in made if not all(keyword.arg for keyword in call.keywords)]


def test_a_line_made_of_a_mapping_is_seen() -> None:
    code = "from detent.store.journal.events import Moved\nMoved(edge='go')\nMoved(**content)\nother(**content)"
    assert unnamed_fields(ast.parse(code)) == [3]


def test_every_writer_names_the_fields_of_its_line() -> None:
    assert not [f"{name_of(path)}:{line}" for path in MODULES for line in unnamed_fields(parse(path))]


@pytest.mark.parametrize("word", ["view_of", "with_fields"])
def test_nothing_outside_journals_room_makes_a_line_past_its_type(word: str) -> None:
    importing = re.compile(rf"from detent\.view import .*\b{word}\b")
    users = {name_of(path) for path in MODULES if importing.search(path.read_text(encoding="utf-8"))}
    assert {name for name in users if not name.startswith("store/journal/")} <= {"store_spec.py"}


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
