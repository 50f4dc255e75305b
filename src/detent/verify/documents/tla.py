"""Reads the transition relation of a TLA+ module: the actions that `Next` names, from which state to which they lead.

An action is read if it says where it starts (`state = "a"`, `state \\in {"a", "b"}`) and where it leads
(`state' = "b"`); other conditions are left aside. One fault of a module is found and repaired while reading: a `*)`
inside a word, as in `AC-*)`, which ends a comment too early.
"""

from __future__ import annotations

import re
import warnings

from detent.core.record import Record
from detent.errors import ToolError, UnreadableError
from detent.verify.relation import Relation, Row, ends_of, states_of
from detent.verify.tla.rules import WRITTEN_BY
from detent.words.verify import documents as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node, Parser

_MOST_REPAIRS = 100
_MOST_FORMULAS = 200_000  # read at most, where definitions name others again and again
_TRANSPARENT = ("parentheses", "bounded_quantification", "let_in", "conj_item", "disj_item")


def read_module(text: str, where: str) -> Relation:
    try:
        return _read_relation(_parser(), text, where)
    except RecursionError as error:
        raise UnreadableError(say.no_module(say.nested_too_deeply()), where=where) from error


def _read_relation(parser: Parser, text: str, where: str) -> Relation:
    if WRITTEN_BY in text:
        raise UnreadableError(say.written_for_tlc(), where=where)
    repaired, problems = _repair(parser, text)
    tree = parser.parse(repaired.encode())
    if tree.root_node.has_error:
        row, column = next(_faults(tree.root_node)).start_point
        raise UnreadableError(say.no_tla(row, column), where=where)
    module = next(node for node in tree.root_node.children if node.type == "module")
    return _Module(module, where).relation().replace(problems=problems)


def _parser() -> Parser:
    try:
        import tree_sitter
        import tree_sitter_tlaplus
    except ImportError as error:
        raise ToolError(say.no_parser()) from error
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the grammar hands over its address as a number
        return tree_sitter.Parser(tree_sitter.Language(tree_sitter_tlaplus.language()))


def _faults(node: Node) -> Iterator[Node]:
    if node.is_error or node.is_missing:
        yield node
    for child in node.children:
        if child.has_error or child.is_missing:
            yield from _faults(child)


# --- a comment that ends too early ---


def _repair(parser: Parser, text: str) -> tuple[str, tuple[str, ...]]:
    """The text with a space in each `*)` that ends a comment inside a word, and a sentence for each."""
    problems: list[str] = []
    repaired: list[int] = []
    for _ in range(_MOST_REPAIRS):
        tree = parser.parse(text.encode())
        at = _early_end(text, tree.root_node) if tree.root_node.has_error else None
        if at is None:
            break
        before = text.rfind("\n", 0, at)
        line = text.count("\n", 0, at) + 1
        column = at - before - sum(before < earlier < at for earlier in repaired)  # as the file itself counts
        repaired.append(at)
        start = max(text.rfind(mark, 0, at) for mark in (" ", "\n", "\t", "(")) + 1
        word = text[start : at + 2]
        problems.append(say.comment_ends_early(line, column, word))
        text = f"{text[: at + 1]} {text[at + 1 :]}"
    return text, tuple(problems)


def _early_end(text: str, root: Node) -> int | None:
    """Where the last comment before the first fault ends inside a word; its own end must stand behind the fault."""
    data = text.encode()
    fault = next(_faults(root)).start_byte
    ends = [comment.end_byte for comment in _comments(root) if comment.end_byte <= fault]
    if not ends or b"*)" not in data[fault:]:
        return None
    end = max(ends)
    is_in_word = re.search(rb"[\w-]\*\)$", data[:end]) is not None
    return len(data[: end - 2].decode()) if is_in_word else None


def _comments(node: Node) -> Iterator[Node]:
    if node.type == "block_comment":
        yield node
    for child in node.children:
        yield from _comments(child)


# --- the relation ---


class _Branch(Record):
    """One alternative of an action: the states it starts in and those it leads to; None: it does not say."""

    sources: tuple[str, ...] | None = None
    targets: tuple[str, ...] | None = None
    stays: bool = False


class _Module:
    def __init__(self, module: Node, where: str) -> None:
        self.where, self.left = where, _MOST_FORMULAS
        self.definitions: dict[str, Node] = {}
        variables: list[str] = []
        for node in module.children:
            if node.type == "operator_definition":
                name, formula = node.child_by_field_name("name"), node.child_by_field_name("definition")
                if name is not None and formula is not None:
                    self.definitions[_words(name)] = formula
            elif node.type == "variable_declaration":
                variables += [_words(child) for child in node.children if child.type == "identifier"]
        self.name = next(_words(node) for node in module.children if node.type == "identifier")
        bodies = [_words(formula) for formula in self.definitions.values()]
        # The state is the variable that most actions give a text to.
        counts = {name: sum(len(re.findall(rf"\b{name}'\s*=\s*\"", body)) for body in bodies) for name in variables}
        self.variable = max(counts, key=lambda name: counts[name], default="")
        if not counts.get(self.variable) or "Next" not in self.definitions:
            self.refuse(say.no_state_variable())

    def spend(self, formulas: int) -> None:
        self.left -= formulas
        if self.left < 0:
            self.refuse(say.too_many_alternatives())

    def refuse(self, problem: str) -> None:
        raise UnreadableError(say.no_module(problem), where=self.where)

    def relation(self) -> Relation:
        rows: list[Row] = []
        unread: list[str] = []
        named = self.stages()
        for name in dict.fromkeys(self.actions(self.definitions["Next"])):
            formula = self.definitions[name]
            for branch in self.branches(formula):
                sources = branch.sources if branch.sources is not None else named
                if not sources or (branch.targets is None and not branch.stays):
                    unread.append(name)
                    continue
                line = formula.start_point[0] + 1
                for source in sources:
                    targets = (source,) if branch.stays else branch.targets or ()
                    rows += [Row(source, target, name, line=line) for target in targets]
        if unread:
            self.refuse(say.actions_not_plain(unread))
        found = tuple(rows)
        starts = (
            [branch.sources for branch in self.branches(self.definitions["Init"])] if "Init" in self.definitions else []
        )
        initial = starts[0][0] if starts and starts[0] else None
        states = tuple(dict.fromkeys((*named, *states_of(found, *((initial,) if initial else ())))))
        return Relation(f"TLA+ module {self.name}", states, found, initial, ends_of(states, found, ()))

    def stages(self) -> tuple[str, ...]:
        """The largest set of texts that the module gives a name to: its list of states."""
        sets = [texts for formula in self.definitions.values() if (texts := self.texts(formula))]
        return max(sets, key=len, default=())

    def actions(self, node: Node) -> Iterator[str]:
        """The actions that `Next` is made of: a definition that only names others stands for those."""
        for name in dict.fromkeys(self.references(node)):
            formula = self.definitions[name]
            self.spend(1)
            if any(branch.targets or branch.stays for branch in self.branches(formula, expand=False)):
                yield name
            elif any(self.references(formula)) and "'" not in _words(formula):
                yield from self.actions(formula)
            else:
                yield name

    def references(self, node: Node) -> Iterator[str]:
        if node.type == "identifier_ref" and _words(node) in self.definitions:
            yield _words(node)
        for child in node.children:
            yield from self.references(child)

    def branches(self, node: Node, *, expand: bool = True) -> list[_Branch]:
        """The alternatives of a formula."""
        self.spend(1)
        if node.type in _TRANSPARENT:
            return self.branches(_inner(node), expand=expand)
        if node.type == "disj_list" or _symbol(node) == "lor":
            return [branch for part in _parts(node) for branch in self.branches(part, expand=expand)]
        if node.type == "conj_list" or _symbol(node) == "land":
            found = [_Branch()]
            for part in _parts(node):
                more = self.branches(part, expand=expand)
                self.spend(len(found) * len(more))
                found = [_both(left, right) for left in found for right in more]
            return found
        if node.type == "identifier_ref" and expand and _words(node) in self.definitions:
            return self.branches(self.definitions[_words(node)])
        return [self.condition(node)]

    def condition(self, node: Node) -> _Branch:
        """What one condition says about the state; most say nothing."""
        if node.type == "bound_prefix_op" and _words(node).startswith("UNCHANGED"):
            return _Branch(stays=re.search(rf"\b{self.variable}\b", _words(node)) is not None)
        symbol, sides = _symbol(node), _parts(node)
        if symbol not in ("eq", "in") or len(sides) != 2:
            return _Branch()
        left, right = (_words(side) for side in sides)
        texts = self.texts(sides[1]) if left.rstrip("'") == self.variable else self.texts(sides[0])
        subject = left if left.rstrip("'") == self.variable else right
        if subject == f"{self.variable}'":
            return _Branch(stays=True) if self.variable in (left, right) else _Branch(targets=texts)
        return _Branch(sources=texts) if subject == self.variable else _Branch()

    def texts(self, node: Node) -> tuple[str, ...] | None:
        """The texts of a literal, of a set of them, of a union, or of a name for one of these."""
        if node.type == "string":
            return (_words(node)[1:-1],)
        if node.type == "finite_set_literal":
            inner = [child for child in node.children if child.is_named]
            found = [_words(child)[1:-1] for child in inner if child.type == "string"]
            return (
                tuple(found) if len(found) == len([child for child in inner if "comment" not in child.type]) else None
            )
        if node.type == "identifier_ref" and _words(node) in self.definitions:
            return self.texts(self.definitions[_words(node)])
        if _symbol(node) == "cup":
            both = [self.texts(side) for side in _parts(node)]
            return None if None in both else tuple(text for side in both for text in side or ())
        return None


def _both(left: _Branch, right: _Branch) -> _Branch:
    sources = left.sources if right.sources is None else right.sources
    if left.sources is not None and right.sources is not None:
        sources = tuple(state for state in left.sources if state in right.sources)
    return _Branch(sources, right.targets if left.targets is None else left.targets, left.stays or right.stays)


def _words(node: Node) -> str:
    return (node.text or b"").decode()


def _symbol(node: Node) -> str:
    symbol = node.child_by_field_name("symbol") if node.type == "bound_infix_op" else None
    return symbol.type if symbol is not None else ""


def _parts(node: Node) -> list[Node]:
    """The operands of an operator, or the items of a list."""
    if node.type == "bound_infix_op":
        sides = (node.child_by_field_name("lhs"), node.child_by_field_name("rhs"))
        return [side for side in sides if side is not None]
    return [child for child in node.children if child.type in ("conj_item", "disj_item")]


def _inner(node: Node) -> Node:
    """The formula inside: the last part that is one."""
    return [child for child in node.children if child.is_named and "comment" not in child.type][-1]
