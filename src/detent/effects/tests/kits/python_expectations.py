"""What a Python test expects, changed or asked in other words, so that no object under test decides what it equals."""

from __future__ import annotations

import ast

from detent.effects.tests.kits.values import EQUALS_ANYTHING, EQUALS_OTHERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    AnyFunction = ast.FunctionDef | ast.AsyncFunctionDef

# Put at the end of a planted file; `_N` becomes a tag. Another value of the same kind; whether a value stands for any
# (mock.ANY, approx, an array), which can't be broken by changing it; an equality with one side changed; equality by the
# expected value's own type. A side that equals the changed one too says so: it may equal anything.
HELPERS = """
def _other_N(v):
    if isinstance(v, bool): return not v
    if isinstance(v, (int, float, complex)): return v + 987654 if v + 987654 != v else -v
    if isinstance(v, str): return str(v) + "~x"
    if isinstance(v, (bytes, bytearray)): return bytes(v) + b"~x"
    if type(v) in (list, tuple): return type(v)(_other_N(x) for x in v) if v else type(v)(["~x"])
    if type(v) is dict: return {k: _other_N(x) for k, x in v.items()} if v else {"~x": 1}
    return object()
def _any_N(v):
    if isinstance(v, (list, tuple)): return any(map(_any_N, v))
    if isinstance(v, dict): return any(map(_any_N, v.values()))
    home = type(v).__module__
    name = home.split(".")[0]
    is_known = name in ("unittest", "pytest", "_pytest", "dirty_equals", "numpy", "pandas")
    return home == __name__ or is_known and _lives_N(type(v))
def _lives_N(t):
    import sys
    found = sys.modules.get(t.__module__)
    for name in t.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is t
def _eq_N(a, b, side):
    kept, changed = (b, a) if side else (a, b)
    if _any_N(kept) or not a == b: return False
    try: anything = bool(kept == type("Other", (), {})())
    except Exception: anything = False
    raise AssertionError("EQUALS_ANYTHING" if anything else "EQUALS_OTHERS")
def _same_N(a, b):
    for v, e in ((a, b), (b, a)):
        if type(e) in (int, str, bytes, float, bool) and isinstance(v, type(e)): return type(e).__eq__(v, e)
        if type(e) in (list, tuple) and isinstance(v, type(e)):
            return type(e).__len__(v) == len(e) and all(_same_N(x, y) for x, y in zip(type(e).__iter__(v), e))
    return a == b
""".replace("EQUALS_ANYTHING", EQUALS_ANYTHING).replace("EQUALS_OTHERS", EQUALS_OTHERS)

_EQUAL = frozenset(
    {"assertEqual", "assertEquals", "assertListEqual", "assertDictEqual", "assertTupleEqual", "assertIs"}
)
_INVERSE = {
    "assertTrue": "assertFalse",
    "assertFalse": "assertTrue",
    "assertIn": "assertNotIn",
    "assertNotIn": "assertIn",
    "assertIsNone": "assertIsNotNone",
    "assertIsNotNone": "assertIsNone",
    "assertNotEqual": "assertEqual",
}


class Reworded(ast.NodeTransformer):
    """The same test in other words: equality is asked of the expected value's own type, and literals lie elsewhere."""

    def __init__(self, tag: str, kept: list[object]) -> None:
        self._same, self._kept_name, self._kept = f"_same_{tag}", f"_kept_{tag}", kept

    def visit_Assert(self, node: ast.Assert) -> ast.Assert:  # the name that ast calls
        match node.test:
            case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
                node.test = self._compared(left, right)
            case _:
                pass
        return node

    def visit_Call(self, node: ast.Call) -> ast.Call:  # the name that ast calls
        self.generic_visit(node)
        match node.func:
            case ast.Attribute(attr="assertEqual" | "assertEquals") if len(node.args) >= 2:
                node.func.attr = "assertTrue"
                node.args[:2] = [self._compared(node.args[0], node.args[1])]
            case _:
                pass
        return node

    def _compared(self, left: ast.expr, right: ast.expr) -> ast.Call:
        return ast.Call(ast.Name(self._same, ast.Load()), [self._away(left), self._away(right)], [])

    def _away(self, value: ast.expr) -> ast.expr:
        """A literal is no longer in the test's own code, where its caller could be asked for it."""
        if not isinstance(value, ast.Constant) or value.value is ...:
            return value
        self._kept.append(value.value)
        return ast.Subscript(ast.Name(self._kept_name, ast.Load()), ast.Constant(len(self._kept) + 999), ast.Load())


def expectations(function: AnyFunction) -> list[ast.stmt]:
    """The assertions that surely run: on the way straight through, not under a condition, a loop or a try."""
    found: list[ast.stmt] = []
    _gather(function.body, found)
    return found


def _gather(body: Sequence[ast.stmt], found: list[ast.stmt]) -> None:
    for node in body:
        match node:
            case ast.Assert():
                found.append(node)
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr=attr))) if attr in _EQUAL or attr in _INVERSE:
                found.append(node)
            case ast.With() | ast.AsyncWith():
                if any(_expects_error(item.context_expr) for item in node.items):
                    found.append(node)
                else:
                    _gather(node.body, found)
            case _:
                pass


def _expects_error(context: ast.expr) -> bool:
    return isinstance(context, ast.Call) and "raises" in ast.unparse(context.func).lower() and bool(context.args)


def break_expectation(node: ast.stmt, side: int, tag: str) -> bool:
    """Make it expect something else; `side` says which half of an equality. False where that changes nothing more."""
    match node:
        case ast.Assert(test=ast.Compare(left=left, ops=[ast.Eq() | ast.Is()], comparators=[right])):
            node.test = _unequal(left, right, side, tag)
        case ast.Assert(test=test) if side == 0:
            node.test = ast.UnaryOp(ast.Not(), test)
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr=attr) as method, args=args)):
            if attr in _EQUAL and len(args) >= 2:
                method.attr = "assertTrue"
                args[:2] = [_unequal(args[0], args[1], side, tag)]
            elif attr in _INVERSE and side == 0:
                method.attr = _INVERSE[attr]
            else:
                return False
        case ast.With(items=items) | ast.AsyncWith(items=items) if side == 0:
            return bool([item for item in items if _expect_other_error(item.context_expr)])
        case _:
            return False
    return True


def _unequal(left: ast.expr, right: ast.expr, side: int, tag: str) -> ast.Call:
    def call(name: str, *arguments: ast.expr) -> ast.Call:
        return ast.Call(ast.Name(f"_{name}_{tag}", ast.Load()), list(arguments), [])

    changed = (call("other", left), right) if side else (left, call("other", right))
    return call("eq", *changed, ast.Constant(side))


def _expect_other_error(context: ast.expr) -> bool:
    if not isinstance(context, ast.Call) or not _expects_error(context):
        return False
    context.args[0] = ast.parse("type('Other', (Exception,), {})", mode="eval").body
    return True
