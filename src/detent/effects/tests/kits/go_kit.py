"""Test files of go: functions `TestX(t *testing.T)`, their conditions and testify's assertions."""

from __future__ import annotations

import re

from detent.effects.tests.kits.grammar import below, field, is_comment, lines_of, parse, plain, swapped, text_of
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
    insert,
)
from detent.words.effects import planting as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from random import Random

    from tree_sitter import Node

_TEST = re.compile(r"Test([A-Z_0-9].*)?$")
_FAILS = re.compile(r"\b\w+\.(Error|Errorf|Fatal|Fatalf|Fail|FailNow)\(")
_TESTIFY = re.compile(r"(assert|require)\.(\w+)$")
_INVERSE = {"Equal": "NotEqual", "True": "False", "False": "True", "Nil": "NotNil", "NoError": "Error", "NotNil": "Nil"}
_INVERSE |= {"NotEqual": "Equal", "Error": "NoError", "Empty": "NotEmpty", "NotEmpty": "Empty"}


class GoKit:
    def units(self, source: str) -> tuple[Unit, ...]:
        found = []
        for node in parse("go", source).named_children:
            if is_comment(node) or node.type == "package_clause":
                continue
            name = _name(node)
            if _is_test(node):
                kind = TEST
            elif node.type in ("function_declaration", "method_declaration"):
                kind = HELPER
            else:
                kind = IMPORT if node.type == "import_declaration" else CODE
            label = field(node, "name")
            unnamed = plain(parse("go", "package p\n" + swapped(node, [(label, "x")]))) if label else plain(node)
            found.append(Unit(kind, name, plain(node), unnamed, *lines_of(node)))
        return tuple(found)

    def canary(self, source: str, name: str, random: Random, beside: Collection[str] = ()) -> tuple[str, str] | None:
        tests = [node for node in parse("go", source).named_children if _is_test(node)]
        tests = [node for node in tests if _name(node) in beside] or tests
        if not tests:
            return None
        name = "Test" + name.removeprefix("test").title().replace("_", "")
        found = random.randrange(9)
        text = (
            f"func {name}(t *testing.T) {{\n\tgot := []int{{{found}}}\n\tif want := {found + 3}; got[0] != want {{\n"
            '\t\tt.Errorf("got %d, want %d", got[0], want)\n\t}\n}\n'
        )
        return insert(source, [(tests[-1].end_byte, f"\n\n{text}")]), name

    def plant(self, source: str, wanted: Mapping[str, bool], random: Random) -> Sown:
        names = Names(random)
        additions: list[tuple[int, str]] = []
        sprouts: list[Sprout] = []
        left: list[tuple[str, str]] = []
        for node in parse("go", source).named_children:
            label, body = field(node, "name"), field(node, "body")
            if not _is_test(node) or _name(node) not in wanted or label is None or body is None:
                continue
            name = _name(node)
            is_target = wanted[name]
            broken = [change for spot in _expectations(body) if (change := _change(spot))]
            if not broken:
                left.append((name, say.no_expectation()))
            made: list[tuple[str, list[tuple[Node, str]]]] = [(TWIN, [])] * (TWINS_OF_TARGET if is_target else 1)
            made += [(BROKEN, [change]) for change in broken[: BROKEN_OF_TARGET if is_target else 1]]
            random.shuffle(made)
            for kind, changes in made:
                new = names.like(name)
                additions.append((node.end_byte, "\n\n" + swapped(node, [(label, new), *changes])))
                sprouts.append(Sprout(kind, new, name))
        return Sown(insert(source, additions), tuple(sprouts), tuple(left))

    def functions(self, source: str) -> tuple[Function, ...]:
        found = []
        for node in parse("go", source).named_children:
            body = field(node, "body")
            if node.type in ("function_declaration", "method_declaration") and body is not None:
                name = text_of(field(node, "receiver")) + _name(node)
                found.append(Function(name, plain(node), body.start_byte + 1, ' panic("not reached"); '))
        return tuple(found)


def _name(node: Node) -> str:
    return text_of(field(node, "name"))


def _is_test(node: Node) -> bool:
    parameters = text_of(field(node, "parameters"))
    return node.type == "function_declaration" and bool(_TEST.match(_name(node))) and "testing.T" in parameters


def _expectations(block: Node) -> list[Node]:
    """Conditions that fail the test and calls of testify, where they run: in its loops and in `t.Run`, in no branch."""
    found: list[Node] = []
    for node in block.named_children:
        match node.type:
            case "statement_list" | "block":
                found += _expectations(node)
            case "if_statement" if _FAILS.search(text_of(field(node, "consequence"))):
                found.append(node)
            case "for_statement":
                inner = field(node, "body")
                found += _expectations(inner) if inner is not None else []
            case "expression_statement":
                call = node.named_children[0]
                called = text_of(field(call, "function")) if call.type == "call_expression" else ""
                if called.endswith(".Run"):
                    inner = next((node for node in below(call) if node.type == "func_literal"), None)
                    body = field(inner, "body") if inner is not None else None
                    found += _expectations(body) if body is not None else []
                elif _TESTIFY.match(called):
                    found.append(call)
            case _:
                pass
    return found


def _change(node: Node) -> tuple[Node, str] | None:
    if node.type == "if_statement":
        condition = field(node, "condition")
        return (condition, f"!({text_of(condition)})") if condition is not None else None
    called = field(node, "function")
    found = _TESTIFY.match(text_of(called))
    if called is None or found is None or found[2] not in _INVERSE:
        return None
    return called, f"{found[1]}.{_INVERSE[found[2]]}"
