"""Acts after a block: the broken state is committed, the tree of the last gate restored, and people get the reason.

1. the broken state as a commit of its own, also where nothing changed, so that nothing of it is ever lost;
2. the files go back to the tree of the last passed gate, and one commit holds exactly that tree; it is named by the
   journal, never by where a branch stands;
3. a post-mortem, in the agent's words if it left some, else in those of the gates; the log tells it (by the line of
   this effect) and is committed after, so that no revert takes it away;
4. the report, where status, inbox and the notification find it.

Every part finds its own earlier work, so that the next command finishes after a crash between any two.
"""

from __future__ import annotations

import os

from detent.effects.git.acts import keep_commit
from detent.effects.git.engine_commit import BranchCommit, commit_on_branch
from detent.effects.git.git import Git, tree_of
from detent.effects.git.put_back import put_back
from detent.effects.git.tree.tree_id import changed_files
from detent.errors import UnreadableError
from detent.gates.commands import shown_command
from detent.packs.lights_out.branch_commits import Ground, ground_of, log_files, phase_of, tree_file
from detent.packs.lights_out.checks.reports import read_block
from detent.packs.lights_out.post_mortems import AVOID, DIFFERENTLY, WRONG, find_post_mortems
from detent.runner.step.look import current_tree
from detent.runner.step.registry import is_gate_effect
from detent.runner.tell.failures import failures_on
from detent.store.disk.atomic import read_plain, read_text, write_atomic
from detent.store.journal.events import Acted, Moved
from detent.words.names import name_some

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from detent.core.machine import Gate
    from detent.runner.step.registry import Done
    from detent.runner.task.open import Task
    from detent.store.journal.memory import Promised

_LONGEST_WORDS = 4000
_LONGEST_PART = 2000  # of a report
_MOST_REASONS = 6
_MOST_NAMED = 2  # gates that an option names
_GATES = "gates"  # the source of the reason, where no agent gave one
_OPTIONS = ("answer what is missing", "change the plan", "allow another approach")


def restore_gate(task: Task, key: str, promised: Promised) -> Done:
    """Commit the broken state, go back to the last passed gate, and say what went wrong."""
    broken = promised.tree
    words = _post_mortem(task, broken, key)
    ground = ground_of(task, key)
    gate, sha = _last_gate(task, broken)
    subject = f"fix({_phase(task, key)}): checkpoint broken state before revert"
    result = {"branch": ground.branch, "broken": ground.commit(broken, subject, "/broken")} if ground else {}
    _put_files_back(task, key, broken, gate)
    if ground:
        result["restored"] = _commit_restored(ground, gate, sha)
    return {**result, **words}, {}


def _phase(task: Task, key: str) -> str:
    return phase_of(task, _line(task, key).from_)


def _line(task: Task, key: str) -> Moved:
    seq = int(key.partition(":")[0])
    return next(line for line in reversed(task.store.history()) if line.seq == seq and isinstance(line, Moved))


def _last_gate(task: Task, otherwise: str = "") -> tuple[str, str]:
    """The tree of the last passed gate in the private git, and its commit on the branch; at first the baseline's."""
    for entry in reversed(task.store.history()):
        if isinstance(entry, Acted) and is_gate_effect(entry.step.partition(":")[2]) and "commit" in entry.result:
            commit, sha = entry.result["commit"], entry.result.get("sha", "")
            break
    else:
        commit = sha = task.memory.began_at()
    if not commit:
        return otherwise, ""
    return tree_of(task.places.private_git(), commit), sha


def _put_files_back(task: Task, key: str, broken: str, gate: str) -> None:
    """Lead the files to the tree of the gate; changes since the move are kept first."""
    private = task.places.private_git()
    logs = log_files(task)
    now = current_tree(task)
    if now == gate:
        return
    if now != broken:
        ref = f"refs/detent/{task.id}/{key.replace(':', '-')}-before-restore"
        keep_commit(private, ref, now, task.memory.head.baseline, f"{task.id}: before the block of line {key}")
    put_back(private, task.tree_path, now, gate, only=lambda name: name not in logs)


def _commit_restored(ground: Ground, gate: str, sha: str) -> str:
    """One commit whose tree is that of the gate: the very tree of its commit, where there is one."""
    message = f"revert({ground.phase}): restore the tree of the last passed gate"
    if not sha:
        return ground.commit(gate, message, "/restored", {})
    task, scratch = ground.task, os.path.join(ground.task.places.folder, "committing")
    whole = tree_of(ground.repository.common_dir, sha)
    return commit_on_branch(
        BranchCommit(
            ground.repository,
            ground.branch,
            task.places.private_git(),
            gate,
            f"{task.id}/{ground.key}/restored",
            f"{message}\n\n{sha}\n",
            scratch,
            person_tree=whole,
        )
    )


# --- the words ---


def _post_mortem(task: Task, tree: str, key: str) -> dict[str, str]:
    """What went wrong, what to try differently and what to avoid, as far as the report or the gates say."""
    phase, reasons = _phase(task, key), tuple(dict.fromkeys(_reasons(task, key)))
    post_mortem = {
        WRONG: "\n".join(reasons) or f"the {phase} gate failed as often as it may",
        DIFFERENTLY: "\n".join(dict.fromkeys(_fixes(task, key))) or "a smaller step towards the gate",
        AVOID: "\n".join(_tried(task, key)) or f"what lies in the commit of the broken state ({phase})",
    }
    by = _GATES
    if found := find_post_mortems(_left_by_agent(task, tree, task.machine.store.post_mortem)):
        post_mortem |= dict(found[-1].parts())
        by = "agent"
    names = {WRONG: "wrong", DIFFERENTLY: "differently", AVOID: "avoid"}
    said = _said_report(_left_by_agent(task, tree, task.machine.store.report))
    words = {names[part]: text[:_LONGEST_WORDS] for part, text in post_mortem.items()}
    return {**words, "words_by": by, "about": phase, "said": said, "quoted": _quotes(task, key)}


def _quotes(task: Task, key: str) -> str:
    """The last lines of every command that failed on the files of the last attempt; empty where none failed there.

    Of a command that failed there several times, as one of a deployment does, only the last time is given.
    """
    newest = next(_failures(task, key), None)
    failed = failures_on(task, newest.tree) if newest and newest.tree else ()
    lines: list[str] = []
    for receipt in {receipt.command: receipt for receipt in failed}.values():
        lines.append(f"{shown_command(receipt.command)} ({receipt.result}):")
        lines += [f"| {line}" for line in receipt.said.splitlines() or ["(it wrote nothing)"]]
    return "\n".join(lines)


def _left_by_agent(task: Task, tree: str, name: str) -> str:
    """A file in which agents say why they failed, as the broken tree has it, else as a reading role left it."""
    if not name:
        return ""
    path = task.native.path(name)
    top = os.path.realpath(task.tree_path)
    inside = os.path.relpath(os.path.realpath(task.native.folder), top)
    if not inside.startswith(".."):
        place = os.path.normpath(os.path.join(inside, name))
        finished = Git(task.places.private_git()).finish("cat-file", "blob", f"{tree}:{place}")
        if finished.exit == 0:
            return finished.stdout.decode("utf-8", "replace")
    for place in (path, os.path.join(task.run_folders()["DETENT_OUT"], name)):
        try:
            if text := read_text(place):
                return text
        except UnreadableError:
            continue  # what can't be read says nothing
    return ""


def _failures(task: Task, key: str) -> Iterator[Moved]:
    """The failed gates of the phase that is blocked, newest first: moves that counted towards a limit of its group."""
    history = task.store.history()
    last = _line(task, key)
    group = task.machine.states[last.from_].group
    for entry in reversed(history):
        if not isinstance(entry, Moved) or entry.seq >= last.seq:
            continue
        if task.machine.states[entry.from_].group != group:
            return
        if _counts(task, entry):
            yield entry


def _counts(task: Task, entry: Moved) -> bool:
    edges = task.machine.states[entry.from_].edges
    ways = [way for edge in edges if edge.name == entry.edge for way in edge.ways if way.number == entry.way]
    return any(way.counts for way in ways)


def _failed(task: Task, entry: Moved) -> Iterator[tuple[Gate, str]]:
    """The gates that failed, with the reason; an unanswerable one, or one that was not asked any more, has not.

    A gate that asks for a failure, a report of open findings for one, lists them in its parts.
    """
    for name, fact in entry.facts.items():
        gate = task.machine.gates[name]
        if gate.check in ("all", "not") or fact.get("unknown"):
            continue
        if fact["ok"] is not True:
            yield gate, fact.get("why", "")
        elif parts := [f"{label}: {why}".rstrip(": ") for label, is_ok, why in fact.get("parts", ()) if not is_ok]:
            yield gate, "; ".join(parts)


def _reasons(task: Task, key: str) -> Iterator[str]:
    for _, entry in zip(range(_MOST_REASONS), _failures(task, key), strict=False):
        yield from (f"{gate.name}: {why}" for gate, why in _failed(task, entry) if why)


def _fixes(task: Task, key: str) -> Iterator[str]:
    if newest := next(_failures(task, key), None):
        for gate, _ in _failed(task, newest):
            file = gate.params.get("file", "") if newest.facts[gate.name]["ok"] is True else ""
            # A report of what is wrong is there: what it names is to be resolved, not the report to be written.
            yield from filter(None, [f"resolve what {file} reports" if file else gate.fix])


def _tried(task: Task, key: str) -> Iterator[str]:
    """What each attempt changed and by what it failed, oldest first."""
    failures = list(_failures(task, key))[:_MOST_REASONS][::-1]
    base = _last_gate(task)[0]
    for number, entry in enumerate(failures, 1):
        tree = entry.tree
        paths = [path for _, path in changed_files(task.places.private_git(), base, tree)] if base and tree else []
        work = f"{name_some(paths)} changed" if paths else "nothing changed"
        failed = ", ".join(dict.fromkeys(gate.name for gate, _ in _failed(task, entry)))
        yield f"attempt {number}: {work}" + (f"; failed by {failed}" if failed else "")


# --- the report ---


def report(task: Task, key: str, _promised: Promised) -> Done:
    """Put the report where people look: the agent's own if it is in the form, else one made of what the engine saw."""
    name, label = task.machine.store.report, task.machine.store.report_field
    path, line = task.native.path(name), _line(task, key)
    block = _result_of(task, line.seq, "block")
    agents_report = block["said"] if block else _reported(task, line, path) if name else ""
    report_text = agents_report or _made_report(task, line, _wrong_here(block))
    quoted = block.get("quoted", "")
    text = (
        f"{report_text}\n\nThe last lines of what failed:\n\n```text\n{quoted}\n```\n" if quoted else f"{report_text}\n"
    )
    if name and (block or not agents_report) and _text_of_file(path) != text:
        write_atomic(path, text.encode(), durable=True)
    return {"report": report_text}, ({label: report_text} if label else {})


def _result_of(task: Task, seq: int, effect: str) -> Mapping[str, str]:
    """What an effect of the same move came to."""
    lines = (line for line in reversed(task.store.history()) if isinstance(line, Acted))
    return next((line.result for line in lines if line.step == f"{seq}:{effect}"), {})


def _reported(task: Task, line: Moved, path: str) -> str:
    """An agent's report at the place of reports, or in a document that the gates of the move read."""
    named = (task.machine.gates[gate].params.get("file", "") for gate in line.facts)
    places = [path, *(task.native.path(file) for file in named if isinstance(file, str) and file and ":" not in file)]
    return next((said for place in places if (said := _said_report(_text_of_file(place)))), "")


def _said_report(text: str) -> str:
    """What an agent reports, on one line; empty where it does not have the form."""
    block = read_block(text)
    return _form(block.what, block.options, block.pick) if block and block.what and block.options and block.pick else ""


def _form(wrong: str, options: Sequence[str], advice: str) -> str:
    return f"BLOCKED: {_part(wrong)}. Options: [{', '.join(map(_part, options))}]. Recommendation: {_part(advice)}."


def _part(text: str) -> str:
    """One part on one line, without the full stop that the form puts behind it."""
    words = " ".join(text.split()).rstrip(".")
    return words if len(words) <= _LONGEST_PART else f"{words[:_LONGEST_PART].rstrip()} ..."


def _wrong_here(block: Mapping[str, str]) -> str:
    """What went wrong, for one line; each line that gates gave is a reason of its own, an agent's are one text."""
    between = "; " if block.get("words_by") == _GATES else " "
    return between.join(block.get("wrong", "").splitlines())


def _made_report(task: Task, line: Moved, wrong: str) -> str:
    why = wrong or "; ".join(
        f"{name}: {reason}" for name, fact in line.facts.items() if (reason := fact.get("why") or fact.get("note"))
    )
    options, advice = _offered(task, line)
    return _form(f"{phase_of(task, line.from_)}: {why or line.reason or line.to}", options, advice)


def _offered(task: Task, line: Moved) -> tuple[list[str], str]:
    """What a person may answer, by what failed, and which of it seems best.

    Where every attempt failed by the same gates, more of the same leads nowhere: then the last option is recommended.
    """
    options = list(task.machine.store.options.get(line.to, _OPTIONS))
    failures = [list(_failed(task, failure)) for failure in _failures(task, f"{line.seq}:report")]
    if not failures or not failures[0]:
        return options, options[0]
    fixes = {gate.name: gate.fix for gate, _ in failures[0][:_MOST_NAMED]}
    newest = next(_failures(task, f"{line.seq}:report")).facts
    # An open gate that asks for a failure is nothing to pass: its parts are.
    advice = [f"say {'what to do about' if newest[name]['ok'] else 'how to pass'} {name}" for name in fixes]
    is_stuck = len(failures) > 1 and len({tuple(gate.name for gate, _ in failure) for failure in failures}) == 1
    first = f"{advice[0]}: {fixes[next(iter(fixes))]}".rstrip(": ")
    return [*advice, *options[1:]], options[-1] if is_stuck else first


def _text_of_file(path: str) -> str:
    try:
        return read_text(path) or ""
    except UnreadableError:
        return ""


def commit_post_mortem(task: Task, key: str, _promised: Promised) -> Done:
    """The log, which tells the post-mortem by now, and the report, in a commit of their own."""
    ground = ground_of(task, key)
    if ground is None:
        return {}, {}
    name = task.machine.store.report
    files = {**log_files(task), **(tree_file(task, task.native.path(name)) if name else {})}
    message = f"docs({ground.phase}): log the post-mortem of the block"
    return {"branch": ground.branch, "logged": ground.commit(_last_gate(task)[0], message, "", files)}, {}


def clear_report(task: Task, _key: str, _promised: Promised) -> Done:
    """Take the report away once a person has answered it; the branch keeps it, and so does the journal."""
    name, label = task.machine.store.report, task.machine.store.report_field
    path = task.native.path(name) if name else ""
    data = read_plain(path) if path else None
    kept = task.store.keep(data) if data else ""
    if data is not None:
        os.unlink(path)
    return {"kept": kept}, ({label: ""} if label else {})
