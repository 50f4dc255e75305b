"""Finds tests that compare with the text of a sentence of `words`, not with the function that says it (ADR 0053)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

HOLE = "\0"  # stands for a value in a sentence or in a text
FEWEST_WORDS = 2
FEWEST_CHARACTERS = 10


class Sentences:
    """What the functions of some modules say, as far as it is written out there.

    Two words alone stand in many texts that are no sentence: they count where a test compares with no more than them.
    """

    def __init__(self, modules: Iterable[ast.Module]) -> None:
        texts = [text for module in modules for text in _texts_said(module)]
        parts = {part.strip() for text in texts for part in text.split(HOLE) if _is_telling(part)}
        self.joined = HOLE.join(sorted(parts))
        self.long = [part for part in parts if len(_words(part)) > FEWEST_WORDS]
        self.whole = [_as_pattern(text) for text in texts if len(_words(text)) > FEWEST_WORDS]

    def has(self, text: str) -> bool:
        """Whether a text is one of the sentences, a telling part of one, or holds one."""
        pieces = [piece.strip() for piece in text.split(HOLE) if _is_telling(piece)]
        if any(piece in self.joined or any(part in piece for part in self.long) for piece in pieces):
            return True
        return any(pattern.fullmatch(text) for pattern in self.whole)


def compared_texts(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and text of what a test compares with: in an `assert`, as `match`, or in a row of its parameters."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            top = _values(tree)
            scopes = (_rows(function, top), _values(function), top)
            for operand in _operands(function):
                for text in _written_out(operand, scopes, frozenset()):
                    yield text.lineno, _with_holes(text)


def _texts_said(module: ast.Module) -> Iterator[str]:
    """Texts of each function, also of those for a part of sentences; not what only a docstring says."""
    for function in ast.walk(module):
        if isinstance(function, ast.FunctionDef):
            inside = {
                id(part) for node in ast.walk(function) if isinstance(node, ast.JoinedStr) for part in node.values
            }
            for statement in function.body[1 if ast.get_docstring(function) else 0 :]:
                for node in ast.walk(statement):
                    if _is_text(node) and id(node) not in inside:
                        yield _with_holes(node)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _with_holes(node: ast.AST) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(_with_holes(part) for part in node.values)
    return str(node.value) if isinstance(node, ast.Constant) else HOLE


def _is_telling(text: str) -> bool:
    """Whether a text has enough words to be known by: no name, no lone word."""
    return len(_words(text)) >= FEWEST_WORDS and len(text.strip()) >= FEWEST_CHARACTERS


def _words(text: str) -> list[str]:
    return [word for word in text.split() if any(letter.isalpha() for letter in word)]


def _as_pattern(text: str) -> re.Pattern[str]:
    return re.compile(".+?".join(re.escape(part) for part in text.split(HOLE)), re.DOTALL)


def _operands(function: ast.FunctionDef) -> Iterator[ast.expr]:
    for node in ast.walk(function):
        match node:
            case ast.Assert(test=test):
                yield from _compared(test)
            case ast.Call(keywords=keywords):
                yield from (keyword.value for keyword in keywords if keyword.arg == "match")
            case _:
                pass


def _compared(test: ast.expr) -> Iterator[ast.expr]:
    for node in ast.walk(test):
        match node:
            case ast.Compare(left=left, comparators=others):
                yield from (left, *others)
            case ast.Call(func=ast.Attribute(attr="startswith" | "endswith"), args=[first, *_]):
                yield first
            case _:
                pass


Scope = dict[str, list[ast.expr]]


def _written_out(node: ast.expr, scopes: tuple[Scope, ...], seen: frozenset[str]) -> Iterator[ast.expr]:
    """The texts that an operand is made of; follows a name to what it stands for."""
    match node:
        case ast.Constant(value=str()):
            yield node
        case ast.JoinedStr(values=parts):
            yield node
            for part in parts:
                if isinstance(part, ast.FormattedValue):
                    yield from _written_out(part.value, scopes, seen)
        case ast.Name(id=name) if name not in seen:
            for value in next((scope[name] for scope in scopes if name in scope), []):
                yield from _written_out(value, scopes, seen | {name})
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts) | ast.Dict(values=parts):
            for part in parts:
                yield from _written_out(part, scopes, seen)
        case ast.IfExp(body=first, orelse=second) | ast.BinOp(left=first, right=second):
            yield from _written_out(first, scopes, seen)
            yield from _written_out(second, scopes, seen)
        case _:
            pass


def _rows(function: ast.FunctionDef, top: Scope) -> Scope:
    """What each parameter of a test is given by `parametrize`, also by way of a name at the `top` of the module."""
    rows: Scope = {}
    for decorator in function.decorator_list:
        match decorator:
            case ast.Call(func=ast.Attribute(attr="parametrize"), args=[ast.Constant(value=str(name)), values, *_]):
                rows[name] = _elements(values, top)
            case ast.Call(func=ast.Attribute(attr="parametrize"), args=[ast.Tuple(elts=names), values, *_]):
                for row in _elements(values, top):
                    cells = row.elts if isinstance(row, ast.Tuple) else []
                    for label, cell in zip(names, cells, strict=False):
                        if isinstance(label, ast.Constant):
                            rows.setdefault(str(label.value), []).append(cell)
            case _:
                pass
    return rows


def _elements(values: ast.expr, top: Scope) -> list[ast.expr]:
    """The members of a display of values, with those that stand for many of them."""
    match values:
        case ast.List(elts=members) | ast.Tuple(elts=members) | ast.Set(elts=members):
            return [element for member in members for element in _elements_of(member, top)]
        case ast.Name(id=name) if name in top:
            return [element for value in top[name] for element in _elements(value, {})]
        case _:
            return [values]


def _elements_of(member: ast.expr, top: Scope) -> list[ast.expr]:
    match member:
        case ast.Starred(value=ast.GeneratorExp(elt=element)):
            return [element]
        case ast.Starred(value=value):
            return _elements(value, top)
        case _:
            return [member]


def _values(scope: ast.AST) -> Scope:
    """What each name stands for in a function, or at the top of a module; a loop over texts gives each of them."""
    values: Scope = {}
    for node in scope.body if isinstance(scope, ast.Module) else ast.walk(scope):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                values.setdefault(name, []).append(value)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                values.setdefault(name, []).append(value)
            case ast.For(target=ast.Name(id=name), iter=value):
                values.setdefault(name, []).extend(_elements(value, {}))
            case _:
                pass
    return values
