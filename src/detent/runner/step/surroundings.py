"""Reads beyond a task's own files for gates: the last run's words, agents, other tasks, the checkout.

Nothing is read before a gate asks, and each thing once. A reader starts no program: it leaves the checkout unread.
"""

from __future__ import annotations

import os

from detent.gates.seen import AgentSeen, CheckoutSeen, Said, Sibling
from detent.store.disk.atomic import read_plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.runner.task.open import Task
    from detent.store.journal.memory import Memory

_LARGEST_PROMPT_BYTES = 4_000_000


class Surroundings:
    """What lies around one task, as seen in one step."""

    def __init__(self, task: Task, memory: Memory, *, may_start: bool) -> None:
        self._task = task
        self._memory = memory
        self._may_start = may_start
        self._agents: dict[str, tuple[AgentSeen, ...]] = {}
        self._siblings: tuple[Sibling, ...] | None = None
        self._checkout: CheckoutSeen | None = None

    def said(self) -> Said | None:
        visit, places = self._memory.visit, self._task.places
        if not visit.said:
            return Said("") if visit else None
        text = read_plain(os.path.join(places.objects(), visit.said)) or b""
        prompt = read_plain(places.prompt(visit.run), _LARGEST_PROMPT_BYTES) or b""
        return Said(text.decode("utf-8", "replace"), prompt.decode("utf-8", "replace"))

    def agents(self, role: str) -> tuple[AgentSeen, ...]:
        if role not in self._agents:
            from detent.runner.task.agents import agents_of  # few gates ask, and the catalog is not small

            self._agents[role] = agents_of(self._task.replace(memory=self._memory), role)
        return self._agents[role]

    def has_program(self, name: str) -> bool:
        from detent.effects.host.programs import find_on

        return bool(find_on(os.environ.get("PATH", os.defpath), name))

    def has_set_up(self) -> bool:
        workspace = self._memory.head.workspace
        return any(workspace.get(name) for name in ("setup", "copy", "carry"))

    def siblings(self) -> tuple[Sibling, ...]:
        if self._siblings is None:
            from detent.runner.task.open import load_all

            self._siblings = tuple(
                Sibling(task.id, task.machine.name, task.memory.snapshot.state)
                for task in load_all(self._task.project)
                if task.id != self._task.id and task.memory is not None and task.machine is not None
            )
        return self._siblings

    def checkout(self) -> CheckoutSeen | None:
        if self._checkout is None and self._may_start:
            self._checkout = _look_at_checkout(self._task)
        return self._checkout


def _look_at_checkout(task: Task) -> CheckoutSeen:
    from detent.runner.step.in_place import dirty_checkout, made_branch
    from detent.runner.task.in_project import repository_of

    repository = repository_of(task)
    if repository is None or repository.head is None:
        from detent.words.runner import step as say

        why = say.no_git_folder() if repository is None else say.no_commit_yet()
        return CheckoutSeen("", "", problem=why)
    dirty = dirty_checkout(task, repository.head)
    return CheckoutSeen(repository.branch or "", made_branch(task), (*dirty.changed, *dirty.gone, *dirty.new))
