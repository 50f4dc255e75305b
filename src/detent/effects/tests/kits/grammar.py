"""Syntax trees of JavaScript, TypeScript, Go and Rust by tree-sitter; a grammar is loaded when first asked for."""

from __future__ import annotations

from functools import cache

from detent.effects.tests.kits.values import Unparsable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node, Parser

DEEPEST = 400  # nesting that is still walked
_COMMENTS = frozenset({"comment", "line_comment", "block_comment", "html_comment"})


@cache
def _parser(grammar: str) -> Parser:
    import tree_sitter

    match grammar:
        case "typescript" | "tsx":
            import tree_sitter_typescript

            is_tsx = grammar == "tsx"
            language = tree_sitter_typescript.language_tsx() if is_tsx else tree_sitter_typescript.language_typescript()
        case "go":
            import tree_sitter_go

            language = tree_sitter_go.language()
        case "rust":
            import tree_sitter_rust

            language = tree_sitter_rust.language()
        case _:
            import tree_sitter_javascript

            language = tree_sitter_javascript.language()
    return tree_sitter.Parser(tree_sitter.Language(language))


def parse(grammar: str, source: str) -> Node:
    """The root of the whole text; raises Unparsable where any of it is no valid syntax."""
    try:
        content = source.encode()
    except UnicodeEncodeError as error:
        raise Unparsable(str(error)) from error
    root = _parser(grammar).parse(content).root_node
    if root.has_error:
        fault = next((node for node in below(root) if node.is_error or node.is_missing), root)
        raise Unparsable(f"line {fault.start_point[0] + 1}")
    return root


def text_of(node: Node | None) -> str:
    return "" if node is None or node.text is None else node.text.decode("utf-8", "replace")


def below(node: Node, depth: int = 0) -> Iterator[Node]:
    """The node and everything in it, in the order of the text."""
    if depth > DEEPEST:
        raise Unparsable("it is nested too deeply")
    yield node
    for child in node.children:
        yield from below(child, depth + 1)


def plain(node: Node) -> str:
    """Its tokens one after the other: white space and comments between them make no difference."""
    return " ".join(
        text_of(leaf)
        for leaf in below(node)
        if not leaf.children and leaf.type not in _COMMENTS and not _in_comment(leaf)
    )


def _in_comment(node: Node) -> bool:
    return node.parent is not None and node.parent.type in _COMMENTS


def is_comment(node: Node) -> bool:
    return node.type in _COMMENTS


def field(node: Node, name: str) -> Node | None:
    return node.child_by_field_name(name)


def lines_of(node: Node) -> tuple[int, int]:
    return node.start_point[0] + 1, node.end_point[0] + 1


def swapped(outer: Node, changes: list[tuple[Node, str]]) -> str:
    """The text of a node with parts of it replaced."""
    content, start = (outer.text or b""), outer.start_byte
    for part, new in sorted(changes, key=lambda change: change[0].start_byte, reverse=True):
        content = content[: part.start_byte - start] + new.encode() + content[part.end_byte - start :]
    return content.decode("utf-8", "replace")
