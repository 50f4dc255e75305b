"""Every attack of the lab, and its honest controls."""

from __future__ import annotations

from detent.proof.attack import approval, control, evidence, git_tricks, links, processes, reach, spying, use

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.proof.attack.values import Attack

_FAMILIES = (evidence, approval, control, spying, reach, links, git_tricks, processes, use)
ATTACKS: tuple[Attack, ...] = tuple(attack for family in _FAMILIES for attack in family.ATTACKS)
CONTROLS: tuple[Attack, ...] = (evidence.HONEST,)
