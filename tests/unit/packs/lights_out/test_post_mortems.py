"""Post-mortems are found in logs as people and agents really write them, and nothing else is taken for one."""

from __future__ import annotations

import pytest

from detent.packs.lights_out.post_mortems import AVOID, DIFFERENTLY, WRONG, find_post_mortems

OURS = """# Log

## 2026-11-16T05:44:00Z BuildRetrying -> BlockedOnGate <!-- detent:t:17 -->

- By: engine

## 2026-11-16T05:44:01Z Post-mortem of build <!-- detent:t:18 -->

- What went wrong:
  > the parser recursed
  > # twice
- What to try differently: a stack
- What to avoid: raising the limit
- Broken state: 1234
"""
NEWEST_FIRST = """# Experiment log

**Status:** we are in BUILD, gate passed (it did not)

## 2026-03-09 build blocked
### What went wrong (root cause, not symptoms)
Sockets were left open.

#### Detail
In `pool.py`.
### What to try differently
Close them.
### What to avoid
Sleeping.

## 2026-03-08 design passed
All good. What went wrong was nothing at all.
"""
BOLD = """some free text first
**What went wrong:** the migration
ran twice
**What to try differently**: a lock
__What to avoid__: retries
**Next**: review
"""
NAMED = "## Notes\nx\n## Post-mortem: expand\nThe scope was\n\ntoo large.\n## Next\nmore\n"


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (OURS, {WRONG: "the parser recursed\n# twice", DIFFERENTLY: "a stack", AVOID: "raising the limit"}),
        (
            NEWEST_FIRST,
            {
                WRONG: "Sockets were left open.\n#### Detail\nIn `pool.py`.",
                DIFFERENTLY: "Close them.",
                AVOID: "Sleeping.",
            },
        ),
        (BOLD, {WRONG: "the migration\nran twice", DIFFERENTLY: "a lock", AVOID: "retries"}),
        (NAMED, {WRONG: "The scope was\ntoo large."}),
        (BOLD.replace("\n", "\r\n"), {WRONG: "the migration\nran twice", DIFFERENTLY: "a lock", AVOID: "retries"}),
    ],
)
@pytest.mark.requirement("S2.86")
def test_a_post_mortem_is_found_in_any_markup(text: str, parts: dict[str, str]) -> None:
    (found,) = find_post_mortems(text)
    assert dict(found.parts()) == parts


def test_several_are_told_apart_and_named_by_their_headings() -> None:
    found = find_post_mortems(NEWEST_FIRST + "\n" + OURS)
    assert [post_mortem.title for post_mortem in found] == [
        "2026-03-09 build blocked",
        "2026-11-16T05:44:01Z Post-mortem of build",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# Log\n\nWhat went wrong was hard to say.\n",
        "```\nWhat went wrong: in a fence\n```\n",
        "## What to avoid\n\n",
        "> \0\n## ###\n**",
    ],
)
def test_what_is_none_is_not_taken_for_one(text: str) -> None:
    assert find_post_mortems(text) == ()
