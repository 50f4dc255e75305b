"""Commands about what came of a task: see it, land it, take it back, clean up after it."""

from __future__ import annotations

import sys

from detent.errors import UsageError
from detent.faces.cli.caller import person_name, refuse_inside_run
from detent.faces.cli.commands.ask import open_to_change
from detent.faces.cli.output import progress_teller, proof_json, show, tell
from detent.faces.words.done import collected_words, landed_words, patch_words, restored_words, rolled_back_words
from detent.faces.words.landing import caches_words, plan_words
from detent.faces.words.screen import flat
from detent.runner.step.proving.progress import quiet
from detent.runner.task.open import find_project, open_task, open_to_give_up
from detent.runner.tell.evidence import evidence_summary
from detent.runner.tell.explain import explain
from detent.runner.tell.proof_summary import proof_rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from detent.faces.cli.arguments import Arguments
    from detent.runner.people.land_plan import Plan
    from detent.runner.step.proving.prove import Proven


def diff(arguments: Arguments) -> int:
    from detent.runner.tell.changes import changes

    task = open_task(arguments.text("TASK"), arguments.text("--repo"))
    found = changes(task, stat=arguments.has("--stat"), since=arguments.text("--since"))
    content = {
        "id": task.id,
        "baseline": found.baseline,
        "tree": found.tree,
        "files": [{"status": status, "path": path} for status, path in found.files],
        "text": found.text,
        "left_out": list(found.caches),
    }
    if arguments.has("--json") or not found.text:
        show(arguments, content, f"nothing differs from {arguments.text('--since') or 'the baseline'}")
    else:
        sys.stdout.write(patch_words(found.text, is_seen=sys.stdout.isatty()))
    if found.caches and not arguments.has("--json"):
        tell(caches_words(found.caches))
    return 0


def land(arguments: Arguments) -> int:
    from detent.runner.people import land as landing

    refuse_inside_run("landing work")
    kinds = [flag for flag in ("--squash", "--pr", "--print") if arguments.has(flag)]
    if "--pr" in kinds and len(kinds) > 1:
        raise UsageError(f"{' and '.join(kinds)} don't go together", next_step="detent land --help")
    task = open_to_change(arguments)
    squash = "--squash" in kinds or task.memory.head.land["how"] == "squash"
    if "--print" in kinds:
        lines = landing.commands_to_land(task, squash=squash)
        plan = plan_json(landing.plan_to_land(task, squash=squash)) if arguments.has("--json") else None
        show(arguments, {"id": task.id, "commands": list(lines), "plan": plan}, "\n".join(lines))
        return 0
    if "--pr" in kinds:
        from detent.runner.people.land_request import ask_elsewhere

        pushed = ask_elsewhere(task, person_name())
        request = {"id": task.id, "how": "pr", "branch": pushed.branch, "summary": pushed.summary, "said": pushed.said}
        show(arguments, request, f"pushed: {pushed.branch} to origin\n{pushed.said}".rstrip())
        return 0
    plans: list[Plan] = []
    telling = landing.Telling(plans.append, quiet, arguments.has("--yes"))
    if not arguments.has("--json"):
        telling = landing.Telling(_show_plan, progress_teller(arguments), arguments.has("--yes"))
    done = landing.land(task, person_name(), telling, squash=squash)
    lists = {"touched": done.touched, "submodules": done.submodules, "unconverted": done.unconverted}
    content: dict[str, Any] = {
        "id": task.id,
        "how": done.how,
        "commit": done.commit,
        "branch": done.branch,
        **{name: list(paths) for name, paths in lists.items()},
        "plan": plan_json(plans[0]) if plans else None,
        "receipts": [_receipt_json(proof) for proof in done.proven],
        "accepted": list(done.accepted),
        "proof": proof_json(plans[0].summary if plans else None),
    }
    show(arguments, content, landed_words(task, done))
    return 0


def _show_plan(plan: Plan) -> None:
    tell(plan_words(plan))


def plan_json(plan: Plan) -> dict[str, Any]:
    waived = plan.waived
    return {
        "branch": plan.branch,
        "into": plan.into,
        "how": plan.how,
        "commits": [{"commit": sha, "subject": subject} for sha, subject in plan.commits],
        "files": [{"status": status, "path": path} for status, path in plan.files],
        "commands": [
            {"name": command.name, "line": command.line, "from": list(command.sources)} for command in plan.commands
        ],
        "protected": {"commit": plan.protected_from, "patterns": list(plan.protected)},
        "left_out": list(plan.caches),
        "waived": {"gates": list(waived.gates), "by": waived.name, "reason": waived.reason} if waived else None,
    }


def _receipt_json(proof: Proven) -> dict[str, Any]:
    receipt = proof.receipt
    content = {"gate": proof.gate, "command": receipt.command, "cached": proof.cached, "log": receipt.log}
    return {**content, "exit": receipt.attempts[-1] if receipt.attempts else None}


def restore(arguments: Arguments) -> int:
    from detent.runner.people.restore import restore as bring_back

    refuse_inside_run("restoring files")
    line = arguments.number("--to", "detent history", "a line's number")
    task = open_to_change(arguments)
    done = bring_back(task, person_name(), line)
    content = {
        "id": task.id,
        "checkpoint": done.seq,
        "tree": done.tree,
        "kept": done.kept,
        **{field: list(getattr(done.files, field)) for field in done.files._fields},
    }
    show(arguments, content, restored_words(task, done))
    return 0


def rollback(arguments: Arguments) -> int:
    from detent.packs.lights_out.rollback import roll_back

    refuse_inside_run("taking a deployment back")
    task = open_to_change(arguments)
    task, receipt = roll_back(
        task,
        person_name(),
        arguments.text("--reason"),
        is_over=arguments.has("--yes"),
        shown=arguments.text("--tree"),
    )
    why = "" if receipt.is_green else f"{receipt.result}, see {receipt.log}"
    content = {"id": task.id, "ok": receipt.is_green, "command": receipt.command, "log": receipt.log}
    show(arguments, content, rolled_back_words(task.id, receipt.command, why))
    return 0 if receipt.is_green else 1


def gc(arguments: Arguments) -> int:
    from detent.runner.people.collect import Cleanup, collect

    refuse_inside_run("removing what tasks left")
    is_for_good = arguments.has("--yes") and arguments.has("--journals")
    wanted, repo = arguments.text("TASK"), arguments.text("--repo")
    task = (open_to_give_up(wanted, repo) if is_for_good else open_task(wanted, repo)) if wanted else None
    cleanup = Cleanup(
        person_name(),
        task=task.id if task else "",
        dry_run=arguments.has("--dry-run"),
        unlanded=arguments.has("--yes"),
        journals=arguments.has("--journals"),
    )
    found = collect(task.project if task else find_project(arguments.text("--repo")), cleanup)
    rows = [{field: getattr(leftover, field) for field in leftover._fields} for leftover in found]
    show(arguments, {"tasks": rows, "dry_run": cleanup.dry_run}, collected_words(found, dry_run=cleanup.dry_run))
    return 0


def evidence(arguments: Arguments) -> int:
    task = open_task(arguments.text("TASK"), arguments.text("--repo"))
    written = evidence_summary(task, arguments.text("--out"))
    holds = (
        (written.moves, "move"),
        (written.refusals, "refusal"),
        (written.runs, "agent run"),
        (written.commands, "proof run"),
        (written.artifacts, "artifact"),
        (written.files_changed, "changed file"),
    )
    counted = ", ".join(f"{number} {word}{'' if number == 1 else 's'}" for number, word in holds)
    lines = [written.path, f"  holds: {counted}"]
    if not arguments.has("--out"):
        lines.append(f"  link:  {written.link}")
    content = {field: getattr(written, field) for field in written._fields}
    proof = explain(task, with_moves=False).proof
    lines += [f"  {label}: {flat(text)}" for label, text in proof_rows(proof)[:1]] if proof else []
    show(arguments, {"id": task.id, **content, "proof": proof_json(proof)}, "\n".join(lines))
    return 0
