"""SECURITY.md claims what is shown, and no more: each row names the attack or the test that shows it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from detent.effects.host.access import BUBBLEWRAP, LANDLOCK, NONE
from detent.lab.attack.table import ATTACKS, HACKS
from tools.docs_attacks import last_line

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
BY_NAME = {attack.name: attack for attack in ATTACKS}
LEVEL_COLUMNS = {"bubblewrap": BUBBLEWRAP, "Landlock": LANDLOCK, "none": NONE}


def rows(column: str) -> Iterator[dict[str, str]]:
    """The rows of every table that has this column, by column."""
    for table in re.findall(r"(?:^\|.*\n)+", TEXT, re.MULTILINE):
        header, _rule, *lines = ([cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines())
        if column in header:
            yield from (dict(zip(header, line, strict=True)) for line in lines)


def named(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


ATTACKED, TESTED = list(rows("attack")), list(rows("test"))


def is_claimed_to_stop(row: Mapping[str, str], level: str) -> bool:
    """By the row's own column for this level; a table without such columns is about all of them."""
    column = next(name for name, known in LEVEL_COLUMNS.items() if known == level)
    if column not in row:
        return "what stops it" in row
    return row[column].startswith(("yes", "from version"))


def test_a_row_names_attacks_that_claim_the_same() -> None:
    for row in ATTACKED:
        names = named(row["attack"])
        assert names, f"no attack shows: {row}"
        for name in names:
            attack = BY_NAME[name]
            for level in attack.levels:
                assert attack.claims[level].is_stopped == is_claimed_to_stop(row, level), (name, level, row)


def test_every_attack_has_a_row_but_reward_hacks_that_are_stopped() -> None:
    """Those are rows of docs/reference/attacks.md, which is generated."""
    shown = {name for row in ATTACKED for name in named(row["attack"])}
    stopped = {hack.name for hack in HACKS if all(claim.is_stopped for claim in hack.claims.values())}
    assert shown == set(BY_NAME) - stopped


def test_a_row_without_an_attack_names_a_test_that_exists() -> None:
    for row in TESTED:
        assert named(row["test"]), f"no test shows: {row}"
        for name in named(row["test"]):
            file, _, function = name.partition("::")
            assert function in functions_of(file), name


@cache
def functions_of(file: str) -> frozenset[str]:
    parsed = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    return frozenset(node.name for node in ast.walk(parsed) if isinstance(node, ast.FunctionDef))


def test_every_table_of_claims_names_what_shows_it() -> None:
    headers = re.findall(r"^\|(.*)\|\n\|---", TEXT, re.MULTILINE)
    without = [header for header in headers if not {"attack", "test"} & {cell.strip() for cell in header.split("|")}]
    assert without == [" level | what holds | a run sees "]  # the words that the other tables use


def test_readme_repeats_the_last_line_of_the_reward_hacks() -> None:
    assert last_line() in (ROOT / "README.md").read_text(encoding="utf-8").replace("\n  ", " ")


def test_there_are_rows() -> None:
    assert len(ATTACKED) > 30
    assert len(TESTED) > 10
