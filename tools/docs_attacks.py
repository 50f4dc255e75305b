"""The reference page of the attack lab: what each attack tries, and what each sandbox level claims about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from detent.lab.attack.attack import Attack


def attacks_page() -> list[str]:
    from detent.lab.attack.lab import OPEN, STOPPED
    from detent.lab.attack.table import ATTACKS
    from tools.docs_machines import table

    lines = [
        "# Attacks",
        "",
        "What `detent attack` lets loose, and what stops it. `detent attack --level LEVEL` shows it. Under Landlock a",
        "task that works in place (`ralf`, `lights-out`) runs at level none, and the row of that level holds for it.",
        "",
    ]
    for attack in (one for one in ATTACKS if not one.is_hack):
        lines += [
            f"## {attack.name}",
            "",
            f"{attack.tries[0].upper()}{attack.tries[1:]}.",
            "",
            f"On: {', '.join(attack.machines)}.",
            "",
        ]
        claims = [(level, attack.claims[level]) for level in attack.levels]
        lines += table(
            ("level", "", "by, or why not"),
            ((level, STOPPED if claim.is_stopped else f"**{OPEN}**", claim.words) for level, claim in claims),
        )
    return [*lines, *_hacks()]


def _hacks() -> list[str]:
    """The reward hacks and honest changes: their answer is the same at every level, so each is one row."""
    from detent.lab.attack.lab import OPEN
    from detent.lab.attack.table import HACKS, HONEST_CHANGES
    from tools.docs_machines import table

    rows = []
    for hack in HACKS:
        claim = next(iter(hack.claims.values()))
        words = claim.words if claim.is_stopped else f"**{OPEN}**: {claim.words}"
        rows.append((f"`{hack.name}`", hack.variant, _machines_of(hack), hack.tries, words))
    return [
        "## Reward hacks",
        "",
        "Agents that do everything right but cheat the tests, with the settings that `detent init` writes, and the",
        "answer they get at every level. `detent attack --without-proof` plays them where only the exit code of the",
        "tests counts: there each of them gets to the end.",
        "",
        *table(("cheat", "runner", "machine", "what it does", "answer"), rows),
        "Honest changes that must get through. A question to a person is named; everything else is done without one.",
        "",
        *table(
            ("change", "runner", "machine", "what it does", "answer"),
            (
                (f"`{one.name}`", one.variant, _machines_of(one), one.tries, next(iter(one.claims.values())).words)
                for one in HONEST_CHANGES
            ),
        ),
        last_line(),
    ]


def _machines_of(attack: Attack) -> str:
    from detent.lab.attack.values import MACHINES

    return "all" if set(attack.machines) == set(MACHINES) else ", ".join(attack.machines)


def last_line() -> str:
    """The sum of both tables, which README.md repeats."""
    from detent.lab.attack.table import HACKS, HONEST_CHANGES

    words = [next(iter(hack.claims.values())).words for hack in HACKS]
    ends = ("refused", "a person is asked", "waits", "honestly not decidable")
    refused, asked, waiting, open_ = (sum(one.startswith(end) for one in words) for end in ends)
    return (
        f"{len(words)} cheats: {refused} refused, {asked} asked about, {waiting} waiting for a test that shows the "
        f"change, {open_} honestly not decidable. {len(HONEST_CHANGES)} honest changes: 0 refused."
    )
