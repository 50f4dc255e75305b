"""Every machine's walk by its name."""

from __future__ import annotations

from detent.lab.attack.walks import lights_out, orange, phase, ralf, reviewed_plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.lab.attack.walks.walk import Walk

WALKS: dict[str, Walk] = {
    module.WALK.course.machine: module.WALK for module in (phase, reviewed_plan, lights_out, orange, ralf)
}
