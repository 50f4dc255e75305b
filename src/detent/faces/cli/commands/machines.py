"""Commands about machines: list, show, check, export, compare."""

from __future__ import annotations

import json
import os
import shlex

from detent.errors import DetentError, UsageError
from detent.faces.cli.output import show, show_as_json
from detent.machines.load import built_in_names, load
from detent.machines.schemas import schema_names, schema_text
from detent.runner.make.vocabulary import vocabulary
from detent.runner.task.open import find_project
from detent.runner.task.pack import bring_pack, pack_names
from detent.words.names import count_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from detent.core.machine import Edge, Machine
    from detent.faces.cli.arguments import Arguments


def _machine(arguments: Arguments) -> Machine:
    name = arguments.text("MACHINE")
    bring_pack(find_project(), name)
    return load(name, vocabulary(name))[0]


def list_machines(arguments: Arguments) -> int:
    """The machines there are; of packs the machine files alone are read, and one that can't be used says why."""
    rows, lines = [], []
    for name in dict.fromkeys((*built_in_names(), *pack_names())):
        try:
            pack = bring_pack(find_project(), name)
            machine = load(name, None if pack else vocabulary())[0]
        except DetentError as error:
            rows.append({"name": name, "title": "", "states": 0, "edges": 0, "problem": error.what})
            lines.append(f"{name:<12}can't be used: {error.what} ({error.where})")
            continue
        states, edges = len(machine.states), len(tuple(machine.edges()))
        rows.append({"name": name, "title": machine.title, "states": states, "edges": edges})
        lines.append(f"{name:<12}{states:>3} states {edges:>4} moves  {machine.title}")
    show(arguments, {"machines": rows}, "\n".join(lines))
    return 0


def show_machine_lines(machine: Machine) -> list[str]:
    lines = [f"{machine.name}: {machine.title}", f"starts in {machine.initial}"]
    for state in machine.states.values():
        who = f"{state.driver} ({state.role}, {state.access})" if state.role else state.driver or "end"
        lines += ["", f"{state.name}  [{who}]"]
        lines += [f"  may:      {text}" for text in state.may]
        lines += [f"  must not: {text}" for text in state.must_not]
        for edge in state.edges:
            lines += _edge_lines(edge)
    lines += ["", "gates"]
    lines += [f"  {gate.name:<20}{gate.check:<17}since {gate.since}" for gate in machine.gates.values()]
    return lines


def _edge_lines(edge: Edge) -> list[str]:
    lines = []
    for way in edge.ways:
        extra = [f"needs {', '.join(way.needs)}"] if way.needs else []
        extra += [
            f"{name} is {' or '.join(value or 'nothing' for value in values)}" for name, values in way.when.items()
        ]
        extra += [f"under {way.under}"] if way.under else []
        extra += [f"spent {way.spent}"] if way.spent else []
        lines.append(f"  -> {edge.target:<20} by {' or '.join(way.by):<18}{'; '.join(extra)}")
    return lines


def show_machine(arguments: Arguments) -> int:
    from detent.verify.export import export_json

    machine = _machine(arguments)
    if arguments.has("--schemas"):
        schemas = {name: json.loads(schema_text(name)) for name in schema_names(machine)}
        show_as_json(arguments, {"schemas": schemas}, schemas, 2)
        return 0
    show(arguments, export_json(machine), "\n".join(show_machine_lines(machine)))
    return 0


def check(arguments: Arguments) -> int:
    from detent.verify.check import check_machine

    wanted = arguments.text("MACHINE")
    names = (wanted,) if wanted else (*built_in_names(), *pack_names())
    rows: list[dict[str, Any]] = []
    lines: list[str] = []
    for name in names:
        bring_pack(find_project(), name)
        report = check_machine(name)
        bad = [*report.problems, *(violation.rule for violation in report.violations)]
        verdict = count_of(len(bad), "problem") if bad else "holds"
        explored = (
            f"{report.states} states, {report.edges} moves, {report.snapshots} situations, "
            f"{report.decisions} decisions in {report.seconds:.2f} s"
        )
        lines.append(
            f"{report.name}: {verdict}; {explored if report.snapshots else 'not explored until the file is correct'}"
        )
        lines += [f"  - {problem}" for problem in report.problems]
        for violation in report.violations:
            lines.append(f"  - {violation.rule}")
            lines += [f"      {number}. {text}" for number, text in enumerate(violation.story, 1)]
            if violation.about:
                lines.append(f'      if this is meant: [exception.{violation.kind}] {violation.about} = "the reason"')
        rows.append(
            {
                "name": report.name,
                "where": report.where,
                "ok": not bad,
                "problems": list(report.problems),
                "violations": [
                    {
                        "rule": violation.rule,
                        "kind": violation.kind,
                        "about": violation.about,
                        "story": list(violation.story),
                    }
                    for violation in report.violations
                ],
                "states": report.states,
                "edges": report.edges,
                "situations": report.snapshots,
                "decisions": report.decisions,
                "seconds": round(report.seconds, 3),
            }
        )
    show(arguments, {"machines": rows}, "\n".join(lines))
    return 0 if all(row["ok"] for row in rows) else 1


def export(arguments: Arguments) -> int:
    from detent.verify.export import export_json, export_mermaid

    machine = _machine(arguments)
    wanted = arguments.text("--format") or "json"
    if wanted not in ("json", "mermaid", "tla"):
        problem = f"--format knows json, mermaid and tla, not {wanted!r}"
        raise UsageError(problem, next_step="detent machine export --help")
    if wanted == "tla":
        return _export_tla(arguments, machine)
    if arguments.text("--into"):
        raise UsageError("--into is for --format tla", next_step="redirect the output instead")
    if wanted == "mermaid":
        text = export_mermaid(machine)
        show(arguments, {"mermaid": text}, text.rstrip("\n"))
        return 0
    content = export_json(machine)
    show_as_json(arguments, content, content, 1)
    return 0


def _export_tla(arguments: Arguments, machine: Machine) -> int:
    """A module for TLC; with a folder also the configuration beside it, and the command that checks it."""
    from detent.store.disk.atomic import make_folders, write_atomic
    from detent.verify.tla.module import export_tla

    made, folder = export_tla(machine), arguments.text("--into")
    content = {"module": made.module, "tla": made.text, "cfg": made.config}
    if not folder:
        show(arguments, content, made.text.rstrip("\n"))
        return 0
    make_folders(folder)
    files = {f"{folder}/{made.module}.tla": made.text, f"{folder}/{made.module}.cfg": made.config}
    for path, text in files.items():
        write_atomic(path, text.encode(), durable=False)
    command = f"cd {shlex.quote(folder)} && java -cp /path/to/tla2tools.jar tlc2.TLC -deadlock {made.module}"
    lines = [*(f"wrote {path}" for path in files), f"check it with: {command}"]
    show(arguments, {**content, "files": list(files), "command": command}, "\n".join(lines))
    return 0


def compare_machine(arguments: Arguments) -> int:
    from detent.faces.words.compare import comparison_lines, difference_lines
    from detent.verify.compare import compare, compared_parts
    from detent.verify.documents.document import read_document

    machine, path = _machine(arguments), arguments.text("FILE")
    if not os.path.exists(path):
        raise UsageError(f"there is no file {path}", next_step="detent machine compare MACHINE FILE")
    document = read_document(path, machine)
    comparison = compare(machine, document)
    details = {name: getattr(comparison, name) for name in comparison._fields}
    content = {
        **details,
        "document": document.source,
        "compared": compared_parts(document),
        "differences": difference_lines(comparison),
        "notes": document.notes,
    }
    show(arguments, content, "\n".join(comparison_lines(comparison, document)))
    return 0 if comparison.equal else 1
