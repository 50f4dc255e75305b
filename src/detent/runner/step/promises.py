"""Does what committed moves promised: each effect can be repeated without harm until its own line says it worked."""

from __future__ import annotations

from detent.effects.git.acts import Promise, checkpoint, forget_checkpoint, whole_parent
from detent.effects.git.branches import Bringing, bring_branch, follow_in_clone
from detent.errors import ToolError
from detent.runner.step.look import current_tree, known_tree
from detent.runner.step.settle import Settled, project_beside, remember, settle
from detent.store.journal.places import branch_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from detent.runner.task.open import Task
    from detent.store.journal.memory import Memory

    # What came of it, and the fields of the native file it led somewhere.
    Effect = Callable[[Task, str, Mapping[str, Any]], tuple[dict[str, str], dict[str, str]]]


def put_in_order(task: Task) -> Settled:
    """What every command that writes begins with, the task's lock in hand: settle, then keep open promises."""
    settled = settle(task)
    if settled.memory.intent:
        from detent.runner.step.prepare import settle_intent  # only a crash leaves one open

        settled = settle_intent(task, settled)
    needs_anchor = _is_sign_off_open(settled.memory)
    settled = keep_promises(task, settled)
    if needs_anchor:
        from detent.runner.step.anchor import anchor  # only after a sign-off, where a crash may have prevented it

        anchor(task.replace(memory=settled.memory))
    if settled.memory.filed:
        from detent.packs.ralf.revisions import mend_revisions  # only where a machine files what never changes

        settled = mend_revisions(task, settled)
    if task.machine.store.get("retitles"):
        from detent.runner.run.retitle import follow_title  # few machines call a task by a field

        settled = follow_title(task, settled)
    project_beside(task, settled.memory)  # what a crash kept from being written there
    return settled


def _is_sign_off_open(memory: Memory) -> bool:
    """Whether the journal ends with a sign-off, or with one whose promised effects are not all done."""
    last = max((shown["seq"] for shown in memory.signed.values()), default=0)
    return last == memory.snapshot.seq or any(key.partition(":")[0] == str(last) for key in memory.unsettled)


def keep_promises(task: Task, settled: Settled) -> Settled:
    """Do every effect a committed move promised and no line says was done."""
    memory, document = settled.memory, settled.document
    if not memory.unsettled:
        return settled
    for key, intent in memory.unsettled.items():
        result, fields = EFFECTS[key.partition(":")[2]](task.replace(memory=memory), key, intent)
        content = {"step": key, "result": result, "fields": fields}
        memory, document = remember(task, memory, document, "acted", content)
    return settled.replace(memory=memory, document=document)


def _checkpoint(task: Task, key: str, intent: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, str]]:
    head = task.memory.head
    promise = Promise(
        key=f"{task.id}/{key}",
        private_git=task.places.private_git(),
        tree=intent["tree"],
        baseline=head["baseline"],
        message=f"{head['machine']}({task.id}): {intent['to']}\n\n{head['title']}",
        parent=task.memory.checkpoint.get("commit", head["baseline"]),
    )
    try:
        result = checkpoint(promise)
    except ToolError:
        # A power cut may have taken objects that git had not written out. If the tree is still as it was, they are
        # made anew by looking at it; if not, the move stands without its checkpoint, and says so.
        forget_checkpoint(promise)
        if current_tree(task) != promise.tree:
            return {"lost": promise.tree}, {}
        result = checkpoint(promise.replace(parent=whole_parent(promise)))
    return _brought(task, promise, result), {}


def _brought(task: Task, promise: Promise, result: dict[str, str]) -> dict[str, str]:
    """Bring the checkpoint of a task with a clone to the user's repository, and to the clone if it has these files."""
    head, last = task.memory.head, task.memory.checkpoint
    if head["in_place"]:
        return result
    bringing = Bringing(
        private_git=promise.private_git,
        commit=result["commit"],
        baseline=promise.baseline,
        branch=branch_of(head),
        put=last.get("commit", ""),
        put_as=last.get("branch", ""),
    )
    branch = bring_branch(bringing, task.project.common_dir)
    is_same = known_tree(task) == promise.tree
    before = last.get("clone") or promise.baseline
    followed = is_same and follow_in_clone(bringing, task.tree_path, before)
    return {**result, "branch": branch, "clone": result["commit"] if followed else last.get("clone", "")}


def _evidence_page(task: Task, _key: str, _intent: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, str]]:
    """Renew the page where there is more than one artifact, and lead the document's own link to it, or to the one."""
    from detent.runner.tell.evidence import evidence_link, refresh_evidence  # few moves make a page
    from detent.store.text.markdown import is_placeholder

    result = refresh_evidence(task)
    only, label = result.pop("only", ""), task.machine.store.get("link", "")
    base = task.memory.head.get("evidence_base", "")
    if label and result["page"]:
        return result, {label: evidence_link(task, base)}
    if not (label and only):
        return result, {}
    # A link that somebody made stays, unless it leads to this very file and the project has a full address for it.
    found = task.native.read().value(label)
    is_ours = is_placeholder(found) or (bool(base) and f"]({only})" in found)
    return result, {label: evidence_link(task, base, only)} if is_ours else {}


def _leave_branch(task: Task, _key: str, _intent: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, str]]:
    """Back to the branch the work began on, if nothing is uncommitted; branch and changes stay in any case."""
    from detent.packs.ralf.leave import leave_branch  # once in a task's life

    return leave_branch(task), {}


def _commit_message(task: Task, _key: str, _intent: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, str]]:
    """The words for the person's commit, where they can be read and changed before it is made."""
    from detent.effects.git.tree.tree_id import changed_files
    from detent.packs.ralf.commit_message import write_message
    from detent.packs.ralf.commit_step import signed_tree

    base, tree = task.memory.prepared.get("baseline", {}).get("commit_sha", ""), signed_tree(task)
    names = [name for _, name in changed_files(task.places.private_git(), base, tree)] if base and tree else []
    return write_message(task, names), {}


def _file_spec(task: Task, _key: str, intent: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, str]]:
    """The draft as a revision that never changes."""
    from detent.packs.ralf.revisions import file_revision  # once per revision

    return file_revision(task, intent), {}


def _gate_commit(task: Task, key: str, intent: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, str]]:
    """A checkpoint, and the same as a commit on the branch of a task that works in place."""
    from detent.packs.lights_out.branch_commits import commit_gate  # few machines commit by themselves

    kept = _checkpoint(task, key, intent)[0]
    return {**kept, **(commit_gate(task, key, intent) if "commit" in kept else {})}, {}


def _work_commit(task: Task, key: str, intent: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, str]]:
    """The same between two gates: no block goes back to it."""
    from detent.packs.lights_out.branch_commits import commit_gate

    kept = _checkpoint(task, key, intent)[0]
    return {**kept, **(commit_gate(task, key, intent, is_gate=False) if "commit" in kept else {})}, {}


def _wip_commit(task: Task, key: str, intent: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, str]]:
    from detent.packs.lights_out.branch_commits import commit_unfinished

    kept = _checkpoint(task, key, intent)[0]
    return {**kept, **(commit_unfinished(task, key, intent) if "commit" in kept else {})}, {}


def _block(task: Task, key: str, intent: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, str]]:
    """Keep the broken state, and go back to the last passed gate."""
    from detent.packs.lights_out.block import restore_gate

    kept = _checkpoint(task, key, intent)[0]
    return {**kept, **(restore_gate(task, key, intent) if "commit" in kept else {})}, {}


def _report(task: Task, key: str, _intent: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, str]]:
    from detent.packs.lights_out.block import report

    return report(task, key)


def _post_mortem(task: Task, key: str, _intent: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, str]]:
    from detent.packs.lights_out.block import commit_post_mortem

    return commit_post_mortem(task, key), {}


def _clear_report(task: Task, _key: str, _intent: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, str]]:
    from detent.packs.lights_out.block import clear_report

    return clear_report(task)


def _archive(task: Task, key: str, intent: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, str]]:
    """What was made before a person went back, as a version of its own."""
    from detent.packs.global_.archive import archive  # only who goes back needs it

    return archive(task, key, intent), {}


def _revert_record(task: Task, key: str, _intent: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, str]]:
    """What was taken back, for those who read files and branches."""
    from detent.packs.global_.revert_step import record_revert  # once in a task's life, if ever

    return record_revert(task, key), {}


def _eval_report(task: Task, _key: str, intent: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, str]]:
    """What the engine ran on the tree of the move, for those who read files and no journal."""
    from detent.packs.global_.eval_report import write_eval_report  # few machines have one

    return write_eval_report(task, intent), {}


def _harness(task: Task, _key: str, _intent: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, str]]:
    from detent.packs.lights_out.harness import write_harness  # once in a task's life

    return write_harness(task), {}


EFFECTS: Mapping[str, Effect] = {
    "archive": _archive,
    "checkpoint": _checkpoint,
    "gate_commit": _gate_commit,
    "work_commit": _work_commit,
    "wip_commit": _wip_commit,
    "block": _block,
    "report": _report,
    "post_mortem": _post_mortem,
    "clear_report": _clear_report,
    "commit_message": _commit_message,
    "file_spec": _file_spec,
    "revert_record": _revert_record,
    "eval_report": _eval_report,
    "evidence_page": _evidence_page,
    "leave_branch": _leave_branch,
    "harness": _harness,
}
# Effects that do nothing with the tree the move saw.
TREELESS = frozenset(
    (
        "archive",
        "revert_record",
        "leave_branch",
        "commit_message",
        "file_spec",
        "report",
        "post_mortem",
        "clear_report",
        "harness",
    )
)
