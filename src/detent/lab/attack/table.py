"""Every attack of the lab, and its honest controls."""

from __future__ import annotations

from detent.lab.attack.attackers import (
    approval,
    bounds,
    checkouts,
    control,
    delivered,
    evidence,
    git_tricks,
    hostile,
    landing,
    links,
    overruled,
    processes,
    reach,
    set_up,
    spying,
    talks,
    tampering,
    undecided,
    use,
    walls,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.lab.attack.values import Attack

_FAMILIES = (
    *(evidence, overruled, delivered, approval, control, tampering, set_up, checkouts, landing, hostile, talks, walls),
    *(spying, reach, links, git_tricks, processes, bounds, use, undecided),
)
ATTACKS: tuple[Attack, ...] = tuple(attack for family in _FAMILIES for attack in family.ATTACKS)
CONTROLS: tuple[Attack, ...] = (evidence.HONEST, *landing.CONTROLS, *hostile.CONTROLS)
