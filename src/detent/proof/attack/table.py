"""Every attack of the lab, and its honest control."""

from __future__ import annotations

from detent.proof.attack import control, evidence, git_tricks, links, processes, reach

ATTACKS = (*evidence.ATTACKS, *control.ATTACKS, *reach.ATTACKS, *links.ATTACKS, *git_tricks.ATTACKS, *processes.ATTACKS)
HONEST = evidence.HONEST
