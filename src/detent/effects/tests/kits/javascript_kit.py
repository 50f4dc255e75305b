"""Test files of node:test, ava, jest and vitest, in JavaScript and TypeScript: calls of `test` or `it` with a title."""

from __future__ import annotations

import re

from detent.core.record import Record
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
    tag,
)
from detent.words.effects import planting as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from random import Random

    from tree_sitter import Node

SEPARATOR = " > "
_GRAMMARS = {".ts": "typescript", ".mts": "typescript", ".cts": "typescript", ".tsx": "tsx"}
_TEST = re.compile(r"(test|it)((?:\.\w+)*)$")
_GROUP = re.compile(r"(describe|suite|context)(\.\w+)*$")
_PLANTABLE = frozenset({"", ".serial", ".only", ".concurrent"})
_EQUAL = re.compile(
    r"((assert(\.strict)?|t(\.assert)?)\.(equal|strictEqual|deepEqual|deepStrictEqual|is|like)|strictEqual|deepEqual|deepStrictEqual)$"
)
_TRUTH = re.compile(r"(assert|assert\.ok|ok|t\.(true|truthy|false|falsy|assert))$")
_MATCHER = re.compile(r"(expect[\s\S]*\))((?:\.(?:resolves|rejects|not))*)\.(to\w+)$")
_THROWS = {
    "assert.throws": "assert.doesNotThrow",
    "assert.rejects": "assert.doesNotReject",
    "t.throws": "t.notThrows",
    "t.throwsAsync": "t.notThrowsAsync",
}
_EQUAL_MATCHERS = frozenset({"toBe", "toEqual", "toStrictEqual"})
_LITERALS = frozenset({"number", "string", "true", "false"})
_FUNCTIONS = frozenset({"arrow_function", "function_expression", "function", "generator_function"})
_RAISING = "throw new Error('not reached');"
_OTHER = (
    "\nfunction other_N(v) { if (typeof v === 'boolean') return !v; if (typeof v === 'number') return v + 987654; "
    "if (typeof v === 'string') return v + '~x'; "
    "if (Array.isArray(v)) return v.length ? [other_N(v[0]), ...v.slice(1)] : ['~x']; return {changed: '~x'}; }\n"
)


class _Test(Record):
    """One call that declares a test."""

    name: str  # with the titles of what it stands in
    title: Node
    is_written: bool  # its title is a plain text
    how: str  # what follows `test`: "", ".only", ".each"
    word: str  # test or it
    body: Node | None  # of the function it runs
    statement: Node


class JavaScriptKit:
    def __init__(self, extension: str) -> None:
        self._grammar = _GRAMMARS.get(extension, "javascript")
        self._is_typed = self._grammar != "javascript"

    def units(self, source: str) -> tuple[Unit, ...]:
        return tuple(self._units(parse(self._grammar, source), ""))

    def _units(self, block: Node, prefix: str) -> Iterator[Unit]:
        for node in block.named_children:
            if is_comment(node):
                continue
            if found := _test_of(node, prefix):
                body = swapped(node, [(found.title, "''")])
                unnamed = plain(parse(self._grammar, body))
                yield Unit(TEST, found.name, plain(node), unnamed, *lines_of(node))
            elif group := _group_of(node):
                title, inner = group
                yield from self._units(inner, prefix + title + SEPARATOR)
            else:
                kind = _kind_of(node)
                name = text_of(field(node, "name")) or prefix
                yield Unit(kind, name, plain(node), plain(node), *lines_of(node))

    def canary(self, source: str, name: str, random: Random, beside: Collection[str] = ()) -> tuple[str, str] | None:
        tests = [test for test in _tests(parse(self._grammar, source), "") if test.is_written]
        tests = [test for test in tests if test.name in beside] or tests
        if not tests:
            return None
        last = tests[-1]
        title, found = name.replace("_", " "), random.randrange(9)
        any_kind = ": number[]" if self._is_typed else ""
        text = (
            f"\n{last.word}('{title}', () => {{ const found{any_kind} = [{found}]; "
            f"if (found[0] !== {found + 3}) throw new Error('not as expected'); }});\n"
        )
        prefix = last.name.removesuffix(_title(last.title))
        return insert(source, [(last.statement.end_byte, text)]), prefix + title

    def plant(self, source: str, wanted: Mapping[str, bool], random: Random) -> Sown:
        mark, names = tag(random), Names(random, " ")
        additions: list[tuple[int, str]] = []
        sprouts: list[Sprout] = []
        left: list[tuple[str, str]] = []
        kept: list[str] = []
        for test in _tests(parse(self._grammar, source), ""):
            if test.name not in wanted:
                continue
            if not test.is_written or test.how not in _PLANTABLE or test.body is None:
                left.append((test.name, say.not_found()))
                continue
            if "napshot" in text_of(test.body):
                left.append((test.name, say.is_snapshot()))
                continue
            is_target = wanted[test.name]
            spots = _expectations(test.body)
            made = [(TWIN, _reworded(spots, mark, kept)) for _ in range(TWINS_OF_TARGET if is_target else 1)]
            broken = [change for spot in spots for change in _changes(spot, mark)]
            made += [(BROKEN, [change]) for change in broken[: 2 * BROKEN_OF_TARGET if is_target else 1]]
            if not broken:
                left.append((test.name, say.no_expectation()))
            random.shuffle(made)
            for kind, changes in made:
                title = _title(test.title)
                new = names.like(title)
                quoted = "'" + new.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n") + "'"
                additions.append(
                    (test.statement.end_byte, "\n" + swapped(test.statement, [(test.title, quoted), *changes]))
                )
                sprouts.append(Sprout(kind, test.name.removesuffix(title) + new, test.name))
        if not sprouts:
            return Sown(source, (), tuple(left))
        helpers = _OTHER + f"function kept_N(i) {{ return [{', '.join(kept)}][i]; }}\n"
        if self._is_typed:
            helpers = helpers.replace("(v)", "(v: any): any", 1).replace("(i)", "(i: number): any", 1)
        return Sown(insert(source, additions) + helpers.replace("_N", f"_{mark}"), tuple(sprouts), tuple(left))

    def functions(self, source: str) -> tuple[Function, ...]:
        found = []
        for node in below(parse(self._grammar, source)):
            name = _function_name(node)
            value = (
                field(node, "value")
                if node.type in ("variable_declarator", "public_field_definition", "pair")
                else node
            )
            body = field(value, "body") if value is not None else None
            if not name or body is None:
                continue
            if body.type == "statement_block":
                found.append(Function(name, plain(node), body.start_byte + 1, f" {_RAISING} "))
            elif body.type != "arrow_function":
                found.append(Function(name, plain(node), body.start_byte, f"(() => {{ {_RAISING} }})() + "))
        return tuple(found)


def _function_name(node: Node) -> str:
    """The name of what declares a function, with its class; empty for anything else."""
    if node.type in ("variable_declarator", "public_field_definition", "pair"):
        value = field(node, "value")
        if value is None or value.type not in _FUNCTIONS:
            return ""
        return text_of(field(node, "name") or field(node, "property") or field(node, "key"))
    if node.type not in ("function_declaration", "generator_function_declaration", "method_definition"):
        return ""
    group = node.parent.parent if node.type == "method_definition" and node.parent is not None else None
    owner = text_of(field(group, "name")) if group is not None else ""
    return f"{owner}.{text_of(field(node, 'name'))}" if owner else text_of(field(node, "name"))


def _call_in(node: Node) -> Node | None:
    """The call that a statement is, awaited or not."""
    if node.type == "expression_statement" and node.named_children:
        inner = node.named_children[0]
        if inner.type == "await_expression" and inner.named_children:
            inner = inner.named_children[0]
        return inner if inner.type == "call_expression" else None
    return None


def _arguments(call: Node) -> list[Node]:
    arguments = field(call, "arguments")
    return [] if arguments is None else [child for child in arguments.named_children if not is_comment(child)]


def _test_of(node: Node, prefix: str) -> _Test | None:
    call = _call_in(node)
    if call is None:
        return None
    called = field(call, "function")
    if called is not None and called.type == "call_expression":  # test.each(rows)("title", ...)
        called = field(called, "function")
    found = _TEST.match(text_of(called))
    arguments = _arguments(call)
    if not found or not arguments or (len(arguments) < 2 and "todo" not in found[2]):
        return None
    title = arguments[0]
    runs = next((argument for argument in reversed(arguments) if argument.type in _FUNCTIONS), None)
    body = field(runs, "body") if runs is not None else None
    is_written = title.type == "string" or (title.type == "template_string" and "${" not in text_of(title))
    return _Test(prefix + _title(title), title, is_written, found[2], found[1], body, node)


def _title(node: Node) -> str:
    text = text_of(node)
    if node.type not in ("string", "template_string"):
        return text
    return re.sub(r"\\(.)", lambda found: {"n": "\n", "t": "\t"}.get(found[1], found[1]), text[1:-1])


def _group_of(node: Node) -> tuple[str, Node] | None:
    """Title and body of a `describe`."""
    call = _call_in(node)
    if call is None or not _GROUP.match(text_of(field(call, "function"))):
        return None
    arguments = _arguments(call)
    body = field(arguments[-1], "body") if arguments and arguments[-1].type in _FUNCTIONS else None
    return (_title(arguments[0]), body) if body is not None and body.type == "statement_block" else None


def _tests(block: Node, prefix: str) -> Iterator[_Test]:
    for node in block.named_children:
        if found := _test_of(node, prefix):
            yield found
        elif group := _group_of(node):
            yield from _tests(group[1], prefix + group[0] + SEPARATOR)


def _kind_of(node: Node) -> str:
    if node.type == "import_statement":
        return IMPORT
    text = text_of(node)
    if node.type in ("lexical_declaration", "variable_declaration"):
        if re.search(r"=\s*(await import|require)\(", text) and "=>" not in text:
            return IMPORT
        return HELPER if "=>" in text or "function" in text else CODE
    return HELPER if "function" in node.type or "class" in node.type else CODE


def _expectations(body: Node) -> list[Node]:
    """The calls that surely run: statements of the test itself and of its loops, not of branches or callbacks."""
    found = []
    for node in body.named_children:
        call = _call_in(node)
        if call is not None:
            found.append(call)
        elif node.type in ("for_statement", "for_in_statement"):
            inner = field(node, "body")
            found += _expectations(inner) if inner is not None and inner.type == "statement_block" else []
    return found


def _changes(call: Node, mark: str) -> list[tuple[Node, str]]:
    """Each way in which this assertion expects something else."""
    called, arguments = field(call, "function"), _arguments(call)
    if called is None:
        return []
    text = text_of(called)
    if _EQUAL.match(text) and len(arguments) >= 2:
        return [(side, f"other_{mark}({text_of(side)})") for side in (arguments[1], arguments[0])]
    if _TRUTH.match(text) and arguments:
        return [(arguments[0], f"!({text_of(arguments[0])})")]
    if text in _THROWS:
        return [(called, _THROWS[text])]
    if found := _MATCHER.match(text):
        if arguments and found[3] in _EQUAL_MATCHERS and ".not" not in found[2]:
            return [(arguments[0], f"other_{mark}({text_of(arguments[0])})")]
        is_not = found[2].endswith(".not")
        return [(called, f"{found[1]}{found[2].removesuffix('.not') if is_not else found[2] + '.not'}.{found[3]}")]
    return []


def _reworded(spots: list[Node], mark: str, kept: list[str]) -> list[tuple[Node, str]]:
    """Expected literals are taken from elsewhere."""
    changes = []
    for call in spots:
        text, arguments = text_of(field(call, "function")), _arguments(call)
        expected = arguments[1:2] if _EQUAL.match(text) else arguments[:1] if _MATCHER.match(text) else []
        for value in expected:
            if value.type in _LITERALS:
                kept.append(text_of(value))
                changes.append((value, f"kept_{mark}({len(kept) - 1})"))
    return changes
