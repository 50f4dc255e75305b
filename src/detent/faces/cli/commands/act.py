"""Commands that ask for something: make a task, move it, prove it, answer it."""

from __future__ import annotations

from detent.errors import UsageError
from detent.faces.cli.caller import is_held, is_inside_run, is_run_held, person_name, refuse_inside_run
from detent.faces.cli.commands.ask import ask, ask_by_drop, open_to_change, show_outcome
from detent.faces.cli.output import progress_teller, proof_json, show, status_json
from detent.faces.words.screen import flat, status_words
from detent.runner.task.open import Task, find_project, load_task, open_task
from detent.runner.tell.explain import explain
from detent.store.text.proof_words import REFUSED
from detent.words.names import name_some

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.faces.cli.arguments import Arguments


def new(arguments: Arguments) -> int:
    from detent.faces.cli.commands.trust import with_trust
    from detent.runner.make.begin import NewTask
    from detent.runner.make.create import create

    refuse_inside_run("making a task")
    machine, text = _machine_and_text(arguments.text("MACHINE"), arguments.text("TEXT"))
    new_task = NewTask(
        machine=machine,
        title=text,
        task_id=arguments.text("--id"),
        repo=arguments.text("--repo"),
        folder=arguments.text("--dir"),
        checks=arguments.texts("--check"),
        mode=arguments.text("--mode"),
        by=person_name(),
        extras=("TASKS",) if arguments.has("--with-tasks") else (),
        agents=arguments.texts("--agent"),
        usd=arguments.text("--budget"),
        source=arguments.text("--from"),
        issue=arguments.text("--issue"),
        in_place=arguments.has("--in-place"),
        include_dirty=arguments.has("--include-dirty"),
        kind=arguments.text("--kind"),
        sealed=arguments.texts("--sealed"),
    )
    if new_task.in_place and new_task.include_dirty:
        raise UsageError("--in-place works on all that is there already", next_step="leave out --include-dirty")
    task = with_trust(arguments, find_project(new_task.repo), lambda: create(new_task))
    if arguments.has("--start"):
        from detent.runner.drive.mandate import let_drive

        task = let_drive(task, person_name(), on=True)
    return _show_status(arguments, task)


def _show_status(arguments: Arguments, task: Task) -> int:
    explained = explain(task, with_moves=False)
    notes = task.memory.head.notes
    needs, words = _proof_needed(task)
    lines = [*(f"note: {note}" for note in notes), *words, status_words(explained)]
    show(arguments, {**status_json(explained), "notes": list(notes), "needs": needs}, "\n".join(lines))
    return 0


def _proof_needed(task: Task) -> tuple[dict[str, str | None], list[str]]:
    """What the task's green tests have to prove, as far as it is known before anything is run."""
    from detent.faces.words.reach import best_of, new_words
    from detent.runner.make.reach import kept_reach

    head = task.memory.head
    if not head.baseline or not head.commands:
        return {}, []
    kind, reached = head.change["kind"], kept_reach(task)
    required = head.proof["require"][kind]
    needs = {"kind": kind, "kind_by": head.change["by"], "word": required}
    return {**needs, "reach": best_of(reached) if reached is not None else None}, [
        new_words(reached, head.change, required)
    ]


def _machine_and_text(first: str, second: str) -> tuple[str, str]:
    """`new "text"` is as good as `new phase "text"`: one word that is no machine is the text."""
    from detent.machines.load import built_in_names
    from detent.runner.task.pack import pack_names

    is_word = first and not second and first not in built_in_names() and not first.endswith(".toml")
    if is_word and first not in pack_names():
        if " " not in first and not first.isalnum():
            return first, ""
        return "", first
    return first, second


def adopt(arguments: Arguments) -> int:
    from detent.faces.cli.commands.trust import with_trust
    from detent.runner.make.adopt import adopt as take_over
    from detent.runner.make.begin import NewTask

    refuse_inside_run("adopting a task")
    new_task = NewTask(
        machine=arguments.text("MACHINE"),
        task_id=arguments.text("--id"),
        repo=arguments.text("--repo"),
        folder=arguments.text("DIR"),
        by=person_name(),
    )
    return _show_status(arguments, with_trust(arguments, find_project(new_task.repo), lambda: take_over(new_task)))


def move(arguments: Arguments) -> int:
    if is_run_held():
        return ask_by_drop(arguments, {"move": arguments.text("--edge") or arguments.text("TO")})
    to, task = _target_and_task(arguments)
    return ask(arguments, task, arguments.text("--edge") or to)


def _target_and_task(arguments: Arguments) -> tuple[str, Task]:
    """`move TASK` without a target is understood when the word names a task and nothing the machine knows."""
    to, wanted, repo = arguments.text("TO"), arguments.text("TASK"), arguments.text("--repo")
    if to and not wanted:
        try:
            task = open_task("", repo)
        except UsageError as problem:
            try:
                return "", open_task(to, repo)
            except UsageError:
                raise problem from None
        names = {*task.machine.states, *(edge.name for state in task.machine.states.values() for edge in state.edges)}
        if to not in names:
            try:
                return "", open_task(to, repo)
            except UsageError:
                return to, task
        return to, task
    return to, open_task(wanted, repo)


def prove(arguments: Arguments) -> int:
    from detent.runner.step.proving.prove import not_well, prove_state
    from detent.runner.tell.proof_summary import proof_rows

    task = open_to_change(arguments)
    again, by_person = arguments.has("--again"), not (is_inside_run() or is_held())
    tree, proven = prove_state(task, again=again, by_person=by_person, progress=progress_teller(arguments))
    bad = not_well(proven)
    rows = [
        {
            "gate": proof.gate,
            "command": proof.receipt.command,
            "exit": proof.receipt.attempts[-1] if proof.receipt.attempts else None,
            "attempts": list(proof.receipt.attempts),
            "flaky": proof.receipt.flaky.split("\n") if proof.receipt.flaky else [],
            "cached": proof.cached,
            "log": proof.receipt.log,
            "problem": proof.receipt.problem,
            "where": proof.receipt.where,
            "ok": proof not in bad,
        }
        for proof in proven
    ]
    lines = [f"tree {tree[:12] or 'not looked at'}"]
    for proof in proven:
        result = "ok  " if proof not in bad else "bad " if proof.before else "red "
        result_words = proof.receipt.problem or (
            f"exit {proof.receipt.attempts[-1]}" if proof.receipt.attempts else "not run"
        )
        first = proof.receipt.command.splitlines()[0]
        known = f", {proof.receipt.where}" if proof.receipt.where else ""
        known += f", flaky: {name_some(proof.receipt.flaky.split(chr(10)))}" if proof.receipt.flaky else ""
        known += " (already known)" if proof.cached else ""
        lines.append(f"  {result} {first}  {result_words}{known}\n         {proof.receipt.log}")
    if not proven:
        lines.append(f"  no move out of {task.memory.snapshot.state} asks for a command")
    if any(proof.cached for proof in bad):
        lines.append("  next: mend the tree, or run the red ones again with: detent prove --again")
    graded = explain(load_task(task.project, task.id), with_moves=False).proof
    lines += [f"  {label}: {flat(text)}" for label, text in proof_rows(graded)] if graded is not None else []
    is_refused = graded is not None and graded.found.word == REFUSED
    if is_refused and not bad:
        lines.append("  next: mend the tree, or have it proven again with: detent prove --again")
    show(arguments, {"id": task.id, "tree": tree, "receipts": rows, "proof": proof_json(graded)}, "\n".join(lines))
    return 1 if bad or is_refused else 0


def answer(arguments: Arguments) -> int:
    from detent.runner.people.people import answer as record_answer

    refuse_inside_run("answering")
    text = arguments.text("TEXT")
    if not text.strip():
        raise UsageError("an answer needs words", next_step='detent answer "what you decide"')
    task = open_to_change(arguments)
    return show_outcome(arguments, record_answer(task, person_name(), text))


def resume(arguments: Arguments) -> int:
    from detent.faces.cli.step_options import step_options
    from detent.runner.people.people import resume as bring_back

    refuse_inside_run("resuming")
    task = open_to_change(arguments)
    options = step_options(arguments, task, verb="resume")
    return show_outcome(arguments, bring_back(task, person_name(), arguments.text("--reason"), options))


def amend(arguments: Arguments) -> int:
    from detent.runner.people.people import amend as accept_edits

    refuse_inside_run("changing what is locked")
    reason = arguments.text("--reason")
    if not reason.strip():
        raise UsageError("amend needs a reason", next_step='detent amend --reason "why the frame changes"')
    task, labels = accept_edits(open_to_change(arguments), person_name(), reason)
    text = f"amended: {', '.join(labels)}\n  earlier proof is old now; next: detent next {task.id}"
    show(arguments, {"id": task.id, "fields": list(labels)}, text)
    return 0
