"""Checks about what was built: no secret in it, dependencies locked and audited, and nothing merely stands for work.

Secrets and dependencies are looked for by scanners, run by the engine like every other command. Their answer has three
values: clean, found, and not proven, which opens neither the way on nor the way back.
"""

from __future__ import annotations

import re
import sys
from shlex import quote

from detent.errors import UnreadableError
from detent.gates.commands import run_on, runs_of
from detent.gates.seen import Finding
from detent.machines.reading import IN_TREE
from detent.packs.lights_out.checks.brake import is_source
from detent.packs.lights_out.checks.manifests import manifests, not_locked
from detent.packs.lights_out.words import build as say
from detent.store.disk.digest import hash_text
from detent.store.journal.observed import Command
from detent.words.gates import together
from detent.words.proof import tree_not_scanned

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.core.machine import Gate
    from detent.gates.commands import Run
    from detent.gates.seen import Seen

_FOUND = 1  # the one exit of a scanner that says something was found
_EMPTY_WORK = re.compile(
    r"\braise NotImplementedError\b|\bNotImplementedException\b|\b(?:todo|unimplemented)!\(|\bTODO\("
    r"|(?i:(?:\bpanic|\bError)\(['\"]not implemented)"
    r"|(?:#|//|/\*|<!--|--|;)\s*(?:TODO|FIXME|XXX|HACK)\b"
    r"|(?i:(?:#|//|/\*|<!--)\s*(?:placeholder|stub|not implemented)(?:\W*$|:|\s+(?:for now|implementation)\b))"
)
_SKIPPED_TEST = re.compile(
    r"@(?:pytest\.mark\.(?:skip|xfail)|unittest\.(?:skip|expectedFailure))|\bpytest\.(?:skip|xfail)\(|"
    r"\b(?:it|test|describe)\.(?:skip|todo)\(|\bx(?:it|describe|test)\(|#\[ignore|\bt\.Skip\("
)


def scanners(gate: Gate, seen: Seen) -> tuple[Run, ...]:
    """What the engine runs for a gate of this kind; the project's own folder can't stand in for a scanner (-I)."""
    return (run_on(gate, seen, _scanner(gate, seen)),)


def _scanner(gate: Gate, seen: Seen) -> Command:
    python = f"{quote(sys.executable)} -I -X utf8 -m detent.packs.lights_out"
    if gate.check == "secret_scan":
        return Command("secret scan", f"{python}.secret_scan")
    words = [f"--on {seen.today}"]
    sources = {"--osv-url": "osv_url", "--npm-registry": "npm_registry", "--cargo-db": "cargo_db"}
    words += [f"{option} {quote(seen.audit[key])}" for option, key in sources.items() if seen.audit.get(key)]
    words += [f"--accept {advisory}" for advisory in seen.audit.get("accept", ())]
    return Command("dependency audit", f"{python}.dependency_audit {' '.join(words)}")


def scan(gate: Gate, seen: Seen) -> Finding:
    """A scanner, run by the engine, scanned all of this tree and found nothing; an incomplete scan proves nothing."""
    runs = runs_of(gate, seen)
    for run in runs:
        receipt = seen.receipt(run.key)
        if receipt is None:
            return Finding(ok=False, why=say.scan_not_run(run.command.name), pending=True)
        if receipt.is_green:
            continue
        if not receipt.problem and receipt.attempts[-1] == _FOUND:
            return Finding(ok=False, why=say.scan_found(run.command.name, receipt.said))
        why = say.scan_proves_nothing(run.command.name, receipt.result, receipt.said)
        return Finding(ok=False, why=why, fix=why.next_step, is_known=False)
    return Finding(ok=True, proof=hash_text("".join(run.key for run in runs)), by_engine=True)


def lockfile(gate: Gate, seen: Seen) -> Finding:
    """Every manifest that declares dependencies has a lock file in the tree."""
    found = manifests(seen)
    if found is None:
        return Finding(ok=False, why=tree_not_scanned(), is_known=False)
    problems = [manifest.problem for manifest in found if manifest.problem]
    open_ = [manifest.replace(names=left) for manifest in found if (left := not_locked(seen, manifest))]
    problems += [say.not_locked(manifest.path, manifest.names) for manifest in open_]
    fix = say.lock_it(open_[0].locks[0]) if open_ else gate.fix
    return Finding(ok=not problems, why=together(problems), fix=fix, proof=seen.tree, by_engine=True)


def no_placeholders(gate: Gate, seen: Seen) -> Finding:
    """No changed source, and no file the hand-over names, holds code that only stands for work, or a skipped test."""
    name = gate.params["readiness"]
    plan, files, changed = seen.files.text(name), seen.tree_files(), seen.changed()
    if files is None or changed is None:
        return Finding(ok=False, why=tree_not_scanned(), is_known=False)
    if plan is None:
        return Finding(ok=False, why=say.no_hand_over(name))
    named = [path for path in files if _is_named(path, plan)]
    if not named:
        return Finding(ok=False, why=say.hand_over_names_no_file(name))
    ours = [path for path in files if path in {*changed} and is_source(path)]
    marked = [place for path in dict.fromkeys((*named, *ours)) for place in _places(path, seen)]
    why = say.stands_for_work(marked) if marked else ""
    return Finding(ok=not marked, why=why, proof=seen.tree, by_engine=True)


def _places(path: str, seen: Seen) -> list[str]:
    try:
        text = seen.files.text(IN_TREE + path) or ""
    except UnreadableError as error:
        return [say.unreadable_place(path, error.what)]
    return [
        f"{path}:{number}"
        for number, line in enumerate(text.splitlines(), 1)
        if _EMPTY_WORK.search(line) or _SKIPPED_TEST.search(line)
    ]


def _is_named(path: str, plan: str) -> bool:
    names = (path, path.rpartition("/")[2])
    return any(re.search(rf"(?<![\w./-]){re.escape(name)}(?![\w-])", plan) for name in names)
