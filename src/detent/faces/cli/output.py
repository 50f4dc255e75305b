"""Writes results: JSON of the contract (schema 1), or text."""

from __future__ import annotations

import json
import sys

from detent.faces.words.screen import printable, printable_json
from detent.runner.tell.title import title_now
from detent.view import content_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from detent.core.values import Missing
    from detent.faces.cli.arguments import Arguments
    from detent.runner.step.proving.progress import Progress
    from detent.runner.step.step import Outcome
    from detent.runner.task.open import Task
    from detent.runner.tell.explain import Explain
    from detent.runner.tell.proof_summary import ProofSummary

SCHEMA = 1


def print_json(content: Mapping[str, Any]) -> None:
    sys.stdout.write(_as_json({"schema": SCHEMA, **content}) + "\n")


def _as_json(content: Mapping[str, Any], indent: int | None = None) -> str:
    only_ascii = sys.stdout.encoding.lower() != "utf-8"  # where letters would have to be escaped, JSON escapes them
    return json.dumps(content, ensure_ascii=only_ascii, indent=indent)


def show_as_json(arguments: Arguments, content: Mapping[str, Any], shown: Mapping[str, Any], indent: int) -> None:
    """Print JSON either way: `content` for programs, `told` on many lines for people, still whole JSON."""
    if arguments.has("--json"):
        print_json(content)
    else:
        sys.stdout.write(printable_json(_as_json(shown, indent)) + "\n")


def show(arguments: Arguments, content: Mapping[str, Any], text: str) -> None:
    if arguments.has("--json"):
        print_json(content)
    else:
        sys.stdout.write(printable(text) + "\n")


def tell(text: str) -> None:
    """What will happen is no result: on standard output stands what has happened."""
    sys.stderr.write(printable(text) + "\n")
    sys.stderr.flush()


def progress_teller(arguments: Arguments) -> Callable[[Progress], None]:
    """Says on standard error what a proof does now; says nothing with --json."""

    def tell_progress(progress: Progress) -> None:
        if not arguments.has("--json"):
            from detent.faces.words.landing import progress_words  # most moves run no command

            tell(progress_words(progress))

    return tell_progress


def status_json(explained: Explain) -> dict[str, Any]:
    task, snapshot = explained.task, explained.snapshot
    head = task.memory.head
    return {
        "id": task.id,
        "title": title_now(task.machine, task.memory, task.native),
        "machine": head.machine,
        "dir": head.dir,
        "workspace": head.tree_path,
        "branch": task.memory.checkpoint.branch,
        "state": snapshot.state,
        "mode": snapshot.mode,
        "counters": dict(snapshot.counters),
        "registers": dict(snapshot.registers),
        "driver": task.machine.states[snapshot.state].driver,
        "waiting_for": explained.waiting_for,
        "asks": dict(explained.asks),
        "alive": explained.alive,
        "dead": explained.is_dead,
        "would": {"kind": explained.would.kind, "to": explained.would.to} if explained.would else None,
        "sandbox": head.sandbox,
        "usage": dict(task.memory.usage),
        **settings_json(task),
        "run": task.memory.run.run or task.memory.visit.run or None,
        "driven": bool(task.memory.driven.on),
        "seq": snapshot.seq,
        "since": task.memory.entered_time,
        "request": explained.request,
        "about": task.machine.states[snapshot.state].title,
        "loop": None
        if explained.loop is None
        else {name: getattr(explained.loop, name) for name in explained.loop._fields},
        "because": explained.task.memory.led,
        "wake": explained.wake,
        "failed": [list(part) for part in explained.failed],
        "advice": explained.advice,
        "problems": list(explained.problems),
        "touched": {
            "ask": list(explained.touched.ask) if explained.touched else [],
            "report": list(explained.touched.report) if explained.touched else [],
        },
        "refusal": content_of(task.memory.refusal) or None,
        "proof": proof_json(explained.proof),
    }


def proof_json(proof: ProofSummary | None) -> dict[str, Any] | None:
    """What the test commands prove; None where nothing asks that, or it was not assessed."""
    if proof is None:
        return None
    from detent.runner.tell.proof_summary import proof_to_json  # most states don't ask what tests prove

    return proof_to_json(proof)


def settings_json(task: Task) -> dict[str, Any]:
    """The settings of a task now, whether the project, `new` or a later `configure` set them."""
    head = task.memory.head
    return {
        "budget": dict(head.budget.get("task", {})),
        "limits": {name: limit.most for name, limit in task.machine.limits.items()},
        "agents": dict(head.agents.get("overrides", {})),
        "commands": [line for _name, line in head.commands],
        "audit": dict(head.audit),
    }


def next_json(explained: Explain) -> dict[str, Any]:
    return {
        "id": explained.task.id,
        "state": explained.snapshot.state,
        "edges": [
            {
                "name": move.name,
                "to": move.to,
                "by": list(move.by),
                "open": move.is_open,
                "sign_off": move.sign_off,
                "missing": [_missing_json(gap) for gap in move.missing],
                "verbs": list(move.verbs),
                "notes": list(move.notes),
            }
            for move in explained.moves
        ],
        "problems": list(explained.problems),
        "failed": [list(part) for part in explained.failed],
        "advice": explained.advice,
        "proof": proof_json(explained.proof),
    }


def move_json(outcome: Outcome) -> dict[str, Any]:
    from detent.core.values import Advance, Refuse

    decision = outcome.decision
    moved = isinstance(decision, Advance) and not outcome.claimed
    steps = decision.way.prepare if isinstance(decision, Advance) and moved else ()
    refusal = signed = None
    if isinstance(decision, Advance) and moved and decision.edge.sign_off:
        signed = content_of(outcome.task.memory.signed[decision.edge.name])
    if isinstance(decision, Refuse):
        refusal = {
            "problem": decision.problem,
            "missing": [_missing_json(gap) for gap in decision.missing],
            "allowed": list(decision.allowed),
            "hint": decision.hint,
        }
    return {
        "id": outcome.task.id,
        "moved": moved,
        "claimed": outcome.claimed,
        "edge": decision.edge.name if isinstance(decision, Advance) else None,
        "from": outcome.before,
        "to": outcome.task.memory.snapshot.state,
        "leads_to": decision.after.state if isinstance(decision, Advance) else None,
        "refusal": refusal,
        "signed": signed,
        "prepared": {name: dict(outcome.task.memory.prepared.get(name, {})) for name in steps},
        "notes": list(outcome.notes),
    }


def _missing_json(gap: Missing) -> dict[str, str]:
    return {"gate": gap.gate, "why": gap.why, "fix": gap.fix}
