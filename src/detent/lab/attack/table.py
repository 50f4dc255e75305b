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
from detent.lab.attack.hacks import (
    ava,
    cargo,
    expecting,
    go,
    honest,
    javascript,
    python_code,
    python_judge,
    sealed,
    unittests,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.lab.attack.attack import Attack

_FAMILIES = (
    *(evidence, overruled, delivered, approval, control, tampering, set_up, checkouts, landing, hostile, talks, walls),
    *(spying, sealed, reach, links, git_tricks, processes, bounds, use, undecided),
    *(python_code, python_judge, unittests, javascript, expecting, ava, go, cargo),
)
ATTACKS: tuple[Attack, ...] = tuple(attack for family in _FAMILIES for attack in family.ATTACKS)
HACKS: tuple[Attack, ...] = tuple(attack for attack in ATTACKS if attack.is_hack)
HONEST_CHANGES: tuple[Attack, ...] = tuple(
    change for family in (honest, javascript, expecting, ava, go, cargo) for change in family.CONTROLS
)
CONTROLS: tuple[Attack, ...] = (evidence.HONEST, *landing.CONTROLS, *hostile.CONTROLS, *HONEST_CHANGES)
