"""The reference page of the attack lab: what each attack tries, and what each sandbox level claims about it."""

from __future__ import annotations


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
    for attack in ATTACKS:
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
    return lines
