"""Tests of cargo: functions marked `#[test]`, in `tests/*.rs` or in modules for tests inside the code.

Of a file of code only its modules for tests belong to the judge; `graft` puts those of another tree over it.
"""

from __future__ import annotations

import re

from detent.core.record import Record
from detent.effects.tests.kits.grammar import field, is_comment, lines_of, parse, plain, swapped, text_of
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
    from collections.abc import Collection, Iterator, Mapping
    from random import Random

    from tree_sitter import Node

_TEST = re.compile(r"#\[(\w+::)*test\b")
_FOR_TESTS = re.compile(r"#\[cfg\((test|all\(test\b)")
_ABOVE = ("attribute_item", "line_comment", "block_comment")
_INVERSE = {"assert_eq": "assert_ne", "assert_ne": "assert_eq"}


class _Item(Record):
    """One function or module with what stands above it."""

    name: str
    node: Node
    start: int  # of its first attribute
    marks: tuple[Node, ...]

    def has(self, pattern: re.Pattern[str]) -> bool:
        return any(pattern.match(text_of(mark)) for mark in self.marks)


class RustKit:
    def units(self, source: str) -> tuple[Unit, ...]:
        root = parse("rust", source)
        modules = [item for item in _items(root, "") if item.node.type == "mod_item" and item.has(_FOR_TESTS)]
        if not modules:  # a file of tests is one as a whole
            return tuple(_units(root, "")) if any(_is_test(item) for item in _all_items(root, "")) else ()
        found: list[Unit] = []
        for module in modules:
            body = field(module.node, "body")
            found += _units(body, f"{module.name}::") if body is not None else []
        return tuple(found)

    def canary(self, source: str, name: str, random: Random, beside: Collection[str] = ()) -> tuple[str, str] | None:
        tests = [item for item in _all_items(parse("rust", source), "") if _is_test(item)]
        tests = [item for item in tests if item.name in beside] or tests
        if not tests:
            return None
        last, found = tests[-1], random.randrange(9)
        text = (
            f"\n\n#[test]\nfn {name}() {{\n    let found = vec![{found}];\n    assert_eq!(found[0], {found + 3});\n}}\n"
        )
        return insert(source, [(last.node.end_byte, text)]), last.name.removesuffix(_short(last)) + name

    def plant(self, source: str, wanted: Mapping[str, bool], random: Random) -> Sown:
        names = Names(random)
        additions: list[tuple[int, str]] = []
        sprouts: list[Sprout] = []
        left: list[tuple[str, str]] = []
        content = source.encode()
        for item in _all_items(parse("rust", source), ""):
            label, body = field(item.node, "name"), field(item.node, "body")
            if not _is_test(item) or item.name not in wanted or label is None or body is None:
                continue
            if "snapshot" in text_of(body):
                left.append((item.name, say.is_snapshot()))
                continue
            is_target = wanted[item.name]
            above = content[item.start : item.node.start_byte].decode()
            made: list[tuple[str, str, list[tuple[Node, str]]]] = [(TWIN, above, [])] * (
                TWINS_OF_TARGET if is_target else 1
            )
            broken = _broken(body, above)
            if not broken:
                left.append((item.name, say.no_expectation()))
            made += [(BROKEN, *change) for change in broken[: BROKEN_OF_TARGET if is_target else 1]]
            random.shuffle(made)
            for kind, marks, changes in made:
                new = names.like(_short(item))
                additions.append((item.node.end_byte, "\n\n" + marks + swapped(item.node, [(label, new), *changes])))
                sprouts.append(Sprout(kind, item.name.removesuffix(_short(item)) + new, item.name))
        return Sown(insert(source, additions), tuple(sprouts), tuple(left))

    def functions(self, source: str) -> tuple[Function, ...]:
        found = []
        for item in _all_items(parse("rust", source), "", in_impl=True):
            body = field(item.node, "body")
            is_code = item.node.type == "function_item" and not _is_test(item)
            if is_code and body is not None and not _inside_tests(item.node):
                found.append(Function(item.name, plain(item.node), body.start_byte + 1, ' panic!("not reached"); '))
        return tuple(found)


def graft(judge: str, code: str) -> str:
    """The code with the modules for tests of another file in place of its own."""
    theirs, ours = _test_modules(judge), _test_modules(code)
    content = code.encode()
    for start, end in sorted(ours, reverse=True):
        content = content[:start] + content[end:]
    source = judge.encode()
    modules = "".join("\n" + source[start:end].decode() + "\n" for start, end in theirs)
    return content.decode().rstrip("\n") + "\n" + modules


def _test_modules(source: str) -> list[tuple[int, int]]:
    items = _items(parse("rust", source), "")
    return [(item.start, item.node.end_byte) for item in items if item.node.type == "mod_item" and item.has(_FOR_TESTS)]


def _items(block: Node, prefix: str) -> Iterator[_Item]:
    for node in block.named_children:
        if node.type not in ("function_item", "mod_item", "impl_item"):
            continue
        marks, start, above = [], node.start_byte, node.prev_named_sibling
        while above is not None and above.type in _ABOVE:
            marks.append(above)
            start = above.start_byte if above.type == "attribute_item" else start
            above = above.prev_named_sibling
        name = text_of(field(node, "name") or field(node, "type"))
        yield _Item(prefix + name, node, start, tuple(marks))


def _all_items(block: Node, prefix: str, *, in_impl: bool = False) -> Iterator[_Item]:
    for item in _items(block, prefix):
        yield item
        body = field(item.node, "body")
        if body is not None and (item.node.type == "mod_item" or (in_impl and item.node.type == "impl_item")):
            yield from _all_items(body, f"{item.name}::", in_impl=in_impl)


def _is_test(item: _Item) -> bool:
    return item.node.type == "function_item" and item.has(_TEST)


def _short(item: _Item) -> str:
    return text_of(field(item.node, "name"))


def _inside_tests(node: Node) -> bool:
    above = node.parent
    while above is not None:
        mark = above.prev_named_sibling
        if above.type == "mod_item" and mark is not None and _FOR_TESTS.match(text_of(mark)):
            return True
        above = above.parent
    return False


def _units(block: Node, prefix: str) -> Iterator[Unit]:
    items = {item.node.start_byte: item for item in _items(block, prefix)}
    marks: list[str] = []
    for node in block.named_children:
        if is_comment(node):
            continue
        if node.type == "attribute_item":
            marks.append(plain(node))
            continue
        above, marks = " ".join(marks), []
        item = items.get(node.start_byte)
        inner = field(node, "body") if node.type == "mod_item" else None
        if item is not None and inner is not None:
            yield from _units(inner, f"{item.name}::")
            continue
        text = f"{above} {plain(node)}".strip()
        label = field(node, "name")
        unnamed = (
            f"{above} {plain(parse('rust', swapped(node, [(label, 'x')])))}" if _is_function(node) and label else text
        )
        yield Unit(_kind_of(node, item), item.name if item else prefix, text, unnamed, *lines_of(node))


def _is_function(node: Node) -> bool:
    return node.type == "function_item"


def _kind_of(node: Node, item: _Item | None) -> str:
    if item is not None and _is_test(item):
        return TEST
    if node.type in ("use_declaration", "extern_crate_declaration"):
        return IMPORT
    return HELPER if node.type in ("function_item", "impl_item", "macro_definition") else CODE


def _broken(body: Node, above: str) -> list[tuple[str, list[tuple[Node, str]]]]:
    """The marks and changes of each broken copy; of a test that must panic: the same without that mark."""
    if "should_panic" in above:
        return [(re.sub(r"#\[should_panic[^\]]*\]\s*", "", above), [])]
    return [(above, [change]) for spot in _expectations(body) for change in _changes(spot)]


def _expectations(block: Node) -> list[Node]:
    """The assertions that surely run, also in loops: in no branch, match or closure."""
    found: list[Node] = []
    for node in block.named_children:
        inner = node.named_children[0] if node.type == "expression_statement" and node.named_children else node
        if inner.type == "macro_invocation" and text_of(field(inner, "macro")) in ("assert", *_INVERSE):
            found.append(inner)
        elif inner.type == "for_expression":
            body = field(inner, "body")
            found += _expectations(body) if body is not None else []
    return found


def _changes(macro: Node) -> list[tuple[Node, str]]:
    called = field(macro, "macro")
    tokens = next((child for child in macro.children if child.type == "token_tree"), None)
    if called is None or tokens is None:
        return []
    arguments = _split(tokens)
    if text_of(called) == "assert":
        if not arguments:
            return []
        text = text_of(tokens).encode()
        start, end = arguments[0][0].start_byte - tokens.start_byte, arguments[0][-1].end_byte - tokens.start_byte
        return [(tokens, (text[:start] + b"!(" + text[start:end] + b")" + text[end:]).decode())]
    changes = [(called, _INVERSE[text_of(called)])]
    if text_of(called) == "assert_eq" and len(arguments) >= 2 and len(arguments[1]) == 1:
        literal = arguments[1][0]
        if literal.type == "integer_literal" and not re.search(
            "[iu]8$", text_of(literal)
        ):  # 250u8 + 77 does not compile
            changes.insert(0, (literal, f"{text_of(literal)} + 77"))
        elif literal.type == "string_literal":
            changes.insert(0, (literal, text_of(literal)[:-1] + '~x"'))
    return changes


def _split(tokens: Node) -> list[list[Node]]:
    """The arguments of a macro, each as its tokens."""
    groups: list[list[Node]] = [[]]
    for node in tokens.children[1:-1]:
        if text_of(node) == ",":
            groups.append([])
        elif not is_comment(node):
            groups[-1].append(node)
    return [group for group in groups if group]
