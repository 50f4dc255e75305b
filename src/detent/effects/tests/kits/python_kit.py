"""Python test files by the standard library's `ast`: parts, canaries, twins, broken copies, functions that raise."""

from __future__ import annotations

import ast
import copy
import warnings

from detent.effects.tests.kits.python_expectations import HELPERS, Reworded, break_expectation, expectations
from detent.effects.tests.kits.values import (
    BROKEN,
    BROKEN_OF_TARGET,
    CODE,
    HELPER,
    IMPORT,
    TEST,
    TWIN,
    TWINS_OF_TARGET,
    Function,
    Names,
    Sown,
    Sprout,
    Unit,
    Unparsable,
    tag,
)
from detent.words.effects import planting as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from random import Random

    AnyFunction = ast.FunctionDef | ast.AsyncFunctionDef

_SNAPSHOTS = frozenset(
    {"snapshot", "snapshot_json", "image_regression", "data_regression", "file_regression", "benchmark"}
)
_EXPECTED_TO_FAIL = ("xfail", "expectedFailure")


def _parse(source: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about escapes in the project's own texts
        try:
            return ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise Unparsable(str(error)) from error


class PythonKit:
    def units(self, source: str) -> tuple[Unit, ...]:
        try:
            return tuple(_units(_parse(source).body, ""))
        except RecursionError as error:
            raise Unparsable(str(error)) from error

    def canary(self, source: str, name: str, random: Random, beside: Collection[str] = ()) -> tuple[str, str] | None:
        """A function; a method beside the last one where all tests are methods, because commands select classes."""
        tree = _parse(source)
        found = random.randrange(9)
        # No assert statement: Python can be told to leave those out.
        body = [f"    found = [{found}, {found + 1}]", f"    if found != [{found}, {found + 3}]:"]
        body.append("        raise AssertionError(f'unexpected: {found}')")
        tests = [(node, prefix) for node, prefix in _functions_in(tree.body, "") if node.name.startswith("test")]
        tests = [test for test in tests if test[1] + test[0].name in beside] or tests
        if not tests or not all(prefix for _node, prefix in tests):
            text = "\n".join([f"def {name}():", *body]) + "\n"
            return _before_main(source, tree, text), name
        last, prefix = tests[-1]
        lines, at = source.splitlines(), last.end_lineno or last.lineno
        lines[at:at] = ["", *(" " * last.col_offset + line for line in (f"def {name}(self):", *body))]
        return "\n".join(lines) + "\n", prefix + name

    def plant(self, source: str, wanted: Mapping[str, bool], random: Random) -> Sown:
        tree = _parse(source)
        sower = _Sower(wanted, random)
        for node, prefix in _functions_in(tree.body, ""):
            if prefix + node.name in wanted:
                sower.take(node, prefix)
        if not sower.sprouts:
            return Sown(source, (), tuple(sower.left))
        lines = source.splitlines()
        for at, text in sorted(sower.additions, key=lambda addition: addition[0], reverse=True):
            lines[at:at] = text
        helpers = HELPERS.replace("_N", f"_{sower.tag}")
        kept = f"_kept_{sower.tag} = {dict(enumerate(sower.kept, 1000))!r}\n"
        return Sown("\n".join(lines) + "\n" + helpers + kept, tuple(sower.sprouts), tuple(sower.left))

    def functions(self, source: str) -> tuple[Function, ...]:
        starts = [0]
        for line in source.encode().splitlines(keepends=True):
            starts.append(starts[-1] + len(line))
        found = []
        for node, prefix in _functions_in(_parse(source).body, ""):
            first = node.body[0]
            is_text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
            if is_text and len(node.body) > 1:
                first = node.body[1]
            if is_text and len(node.body) == 1:
                continue  # a declaration: there is nothing to run
            at = starts[_first_line(first) - 1]
            column = first.col_offset
            on_own_line = not source.encode()[at : at + column].strip()
            raising = "raise RuntimeError('not reached')"
            text = " " * column + raising + "\n" if on_own_line else raising + "; "
            found.append(Function(prefix + node.name, ast.dump(node), at if on_own_line else at + column, text))
        return tuple(found)


def _first_line(node: ast.stmt) -> int:
    """Where a statement begins, its decorators too."""
    decorators: Sequence[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _functions_in(body: Sequence[ast.stmt], prefix: str) -> Iterator[tuple[AnyFunction, str]]:
    for node in body:
        match node:
            case ast.ClassDef():
                yield from _functions_in(node.body, f"{prefix}{node.name}.")
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield node, prefix
            case ast.If() | ast.Try() | ast.With():
                parts = [node.body, getattr(node, "orelse", []), getattr(node, "finalbody", [])]
                for inner in parts:
                    yield from _functions_in(inner, prefix)
            case _:
                pass


def _units(body: Sequence[ast.stmt], prefix: str) -> Iterator[Unit]:
    for node in body:
        lines = (_first_line(node), node.end_lineno or node.lineno)
        match node:
            case ast.ClassDef():
                yield from _units(node.body, f"{prefix}{node.name}.")
                rest = ast.dump(
                    ast.Tuple([*node.bases, *node.decorator_list, *(keyword.value for keyword in node.keywords)])
                )
                yield Unit(HELPER, prefix + node.name, f"class {node.name} {rest}", rest, lines[0], node.lineno)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                name = node.name
                kind = TEST if name.startswith("test") else HELPER
                text = ast.dump(node)
                unnamed = copy.copy(node)
                unnamed.name = ""
                yield Unit(kind, prefix + name, text, ast.dump(unnamed), *lines)
            case ast.Import() | ast.ImportFrom():
                yield Unit(IMPORT, prefix, ast.dump(node), ast.dump(node), *lines)
            case ast.Expr(value=ast.Constant()) | ast.Pass():
                pass
            case _:
                yield Unit(CODE, prefix, ast.dump(node), ast.dump(node), *lines)


def _before_main(source: str, tree: ast.Module, text: str) -> str:
    """The addition at the end, but before what runs the file's tests when it is called itself."""
    for node in tree.body:
        if isinstance(node, ast.If) and "__main__" in ast.dump(node.test):
            lines = source.splitlines(keepends=True)
            at = node.lineno - 1
            return "".join(lines[:at]) + text + "\n\n" + "".join(lines[at:])
    return source.rstrip("\n") + "\n\n\n" + text


class _Sower:
    """Collects the copies of each wanted test, to be put behind it."""

    def __init__(self, wanted: Mapping[str, bool], random: Random) -> None:
        self.tag = tag(random)
        self.kept: list[object] = []
        self.sprouts: list[Sprout] = []
        self.left: list[tuple[str, str]] = []
        self.additions: list[tuple[int, list[str]]] = []
        self._wanted, self._random, self._names = wanted, random, Names(random)

    def take(self, node: AnyFunction, prefix: str) -> None:
        name = prefix + node.name
        arguments = {argument.arg for argument in (*node.args.args, *node.args.kwonlyargs)}
        if any(word in ast.unparse(mark) for mark in node.decorator_list for word in _EXPECTED_TO_FAIL):
            self.left.append((name, say.is_expected_to_fail()))
            return
        if arguments & _SNAPSHOTS:
            self.left.append((name, say.is_snapshot()))
            return
        is_target = self._wanted[name]
        texts = [self._twin(node, prefix) for _ in range(TWINS_OF_TARGET if is_target else 1)]
        spots = len(expectations(node))
        broken = [
            text
            for spot in range(min(spots, BROKEN_OF_TARGET if is_target else 1))
            for side in (0, 1)
            if (text := self._broken(node, prefix, spot, side))
        ]
        if not broken:
            self.left.append((name, say.no_expectation()))
        texts += broken
        self._random.shuffle(texts)
        indent = " " * node.col_offset
        lines = [indent + line if line else line for text in texts for line in ("\n" + text).splitlines()]
        self.additions.append((node.end_lineno or node.lineno, lines))

    def _twin(self, node: AnyFunction, prefix: str) -> str:
        return self._named(Reworded(self.tag, self.kept).visit(copy.deepcopy(node)), prefix, TWIN)

    def _broken(self, node: AnyFunction, prefix: str, spot: int, side: int) -> str:
        changed = copy.deepcopy(node)
        if not break_expectation(expectations(changed)[spot], side, self.tag):
            return ""
        return self._named(changed, prefix, BROKEN)

    def _named(self, node: AnyFunction, prefix: str, kind: str) -> str:
        old = node.name
        node.name = self._names.like(old)
        self.sprouts.append(Sprout(kind, prefix + node.name, prefix + old))
        return ast.unparse(ast.fix_missing_locations(node))
