"""What the machine `ralf` alone brings along, declared once; records only, so that reading them costs nothing."""

from __future__ import annotations

from detent.gates.registry import Check
from detent.machines.reading import ROLE, TEXT, one_of

CHECKS = (
    Check("spec", "detent.packs.ralf.criteria:spec", {"file": TEXT}),
    Check("promise_seen", "detent.packs.ralf.criteria:promise_seen", {"file": TEXT}),
    Check(
        "criteria",
        "detent.packs.ralf.criteria:criteria",
        {"file": TEXT, "report": TEXT, "section": TEXT, "value": one_of(("all pass", "some fail"))},
        {"role": ROLE},
        runs="detent.packs.ralf.criteria:criteria_runs",
        judges=("all pass",),
        lacks_judge="detent.packs.ralf.criteria:is_to_be_judged",
    ),
)
