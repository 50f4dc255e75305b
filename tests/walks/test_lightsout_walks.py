"""Walks through every edge of `lights-out` but the one that may never be taken, through the real engine and real git.

A pipeline is taken over where it stands, with what its file remembers, and goes on from there as long as an edge that
was not taken yet is near; a person asks for each move, so that no agent run is needed. Before each step just what its
way asks for is written or repaired; after it, what the engine remembers is what the model remembers. What follows from
the end of an agent run is shown in tests/conformance, with real runs.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from detent.core.decide import decide
from detent.core.machine import Edge, Way
from detent.core.record import Record
from detent.core.values import Advance, Fact, Signal, Snapshot
from detent.packs.lights_out.deploy import confirm
from detent.runner.make.adopt import adopt
from detent.runner.make.begin import NewTask
from detent.runner.step.step import step
from detent.runner.task.open import Task, load_task
from detent.verify.audit import audit
from tests.conformance.lightsout_pipeline import EXAMPLE, PREFERENCES
from tests.conformance.lightsout_walks import graph, lights_out
from tests.conftest import MakeRepo, let_out, trust
from tests.walks.by_hand import remembered

MACHINE = lights_out()
EDGES = {(edge.source, edge.name) for edge in MACHINE.edges() if not edge.never}
# An artifact that a recovery finds damaged; each such way leads where one without a gate leads too.
LOST = frozenset({"scope_lost", "design_lost", "readiness_lost", "build_lost"})
NEAR = 3  # steps; what is further away is begun anew
COUNT = 15  # of walks
COMMANDS = '[commands]\ntest = "test ! -e tests/red"\n'
REPORT = (
    "BLOCKED: the code counts lines. Options: [accept the scope change, revert the code, split it into scope items]. "
    "Recommendation: revert the code.\n"
)
AGAIN = "\n## Reproduction\n\n- AC-1; command: `python words.py a`; expected: 3; got: 4\n\n## Truths"


class Walk(Record):
    start: Snapshot
    names: tuple[str, ...]


def signals_to(name: str) -> Signal:
    return Signal("person", name, name="walker", reason="walk")


_OPEN = {name: Fact(name, ok=True) for name in MACHINE.gates}
_CLOSED = {name: Fact(name, ok=False) for name in MACHINE.gates}


def taken(at: Snapshot, edge: Edge) -> tuple[Way, Snapshot] | None:
    """The first way by which a person's word and its own gates take an edge, and what is remembered then."""
    for way in edge.ways:
        facts = {**_CLOSED, **{name: _OPEN[name] for name in way.needs}}
        found = (
            None if LOST.intersection(way.needs) or edge.never else decide(MACHINE, at, facts, signals_to(edge.name))
        )
        if isinstance(found, Advance) and found.way.number == way.number:
            return way, found.after.replace(visits={}, seq=0)
    return None


def key_of(at: Snapshot) -> str:
    return repr(remembered(at))


_AHEAD: dict[str, dict[str, Snapshot]] = {}


def ahead(at: Snapshot) -> dict[str, Snapshot]:
    """Every edge that can be taken from a snapshot, with where it leads."""
    if (key := key_of(at)) not in _AHEAD:
        found = {edge.name: taken(at, edge) for edge in MACHINE.states[at.state].edges}
        _AHEAD[key] = {name: value[1] for name, value in found.items() if value}
    return _AHEAD[key]


def nearest(start: Snapshot, wanted: set[tuple[str, str]]) -> list[str]:
    """The fewest moves to the end of a wanted one."""
    paths: dict[str, list[str]] = {key_of(start): []}
    todo = [start]
    for at in todo:  # grows while it is read
        path = paths[key_of(at)]
        for name, after in ahead(at).items():
            if (at.state, name) in wanted:
                return [*path, name]
            if key_of(after) not in paths:
                paths[key_of(after)] = [*path, name]
                todo.append(after)
    return []


def starts() -> list[Snapshot]:
    """Every situation a file can tell of: registers, but nothing that was counted.

    How large a fix of what verification found is, is measured from a gate that was passed here: none begins there.
    """
    found: dict[str, Snapshot] = {}
    for situation in (snapshot for snapshot in graph().snapshots if MACHINE.states[snapshot.state].group != "verify"):
        registers = {name: value for name, value in situation.registers.items() if name in MACHINE.registers}
        bare = situation.replace(counters={}, registers=registers)
        found.setdefault(key_of(bare), bare)
    return list(found.values())


@cache
def cover() -> tuple[Walk, ...]:
    """Made where a test asks for one: it would take a third of the time in which all tests are collected."""
    wanted, walks, places = set(EDGES), [], starts()
    while wanted:
        # Where one of them can be taken at once; what needs something counted before is walked to.
        near = [at for at in places if any((at.state, name) in wanted for name in ahead(at))]
        at = start = next(iter(near), None) or min(
            places, key=lambda snapshot: len(nearest(snapshot, wanted)) or len(EDGES)
        )
        names: list[str] = []
        while (path := nearest(at, wanted)) and (not names or not near or len(path) <= NEAR):
            for name in path:
                wanted.discard((at.state, name))
                at = ahead(at)[name]
            names += path
        walks.append(Walk(start, tuple(names)))
    return tuple(walks)


# What opens a gate: a document of the example, and what is changed in it.
DOCUMENTS: dict[str, tuple[str, dict[str, str]]] = {
    "expand_ok": ("scope.md", {}),
    "new_scope": ("scope.md", {"# Scope: words\n": "# Scope: words\n\nVersion: {version}\n"}),
    "design_ok": ("design.md", {}),
    "readiness_ok": ("readiness.md", {}),
    "review_clean": ("review.md", {}),
    "review_open": ("review.md", {"status: fixed": "status: open"}),
    "drift_none": ("reconcile.md", {}),
    "drift_repaired": (
        "reconcile.md",
        {"\nCLEAN\n": "\nREPAIRED\n", "None.": "- The tree; class: structural; fix: drawn anew"},
    ),
    "drift_violates": (
        "reconcile.md",
        {"\nCLEAN\n": "\nBLOCKED\n", "None.": f"- Lines are counted; class: spec-violating\n\n## Report\n\n{REPORT}"},
    ),
    "verified": ("verification.md", {}),
    "verified_not": ("verification.md", {"\nPASS\n": "\nFAIL\n", "Result: PASS": "Result: FAIL", "\n## Truths": AGAIN}),
    **dict.fromkeys(("proposal_ok", "architecture_stays"), ("proposal.md", {})),
    "architecture_changes": ("proposal.md", {"Impact: none": "Impact: minor"}),
}
# Or any other file.
BLOCKED = ("scaffolding/blocked.md", "BLOCKED: look {turn}. Options: [mend it, drop it]. Recommendation: mend it.\n")
RED = ("tests/red", "red\n")
FILES = {
    "audit_written": ("scaffolding/audit.md", "# Audit\n\n## Findings\n\n- Python: keep, look {turn}\n"),
    "distilled": ("docs/input/distilled-{turn}.md", "# Notes\n\nbrief.md: words are counted.\n"),
    "build_failed": RED,
    "outgrown": ("long.py", "# a line\n" * 301),
    **dict.fromkeys(("brake_asked", "stop_reported"), BLOCKED),
    "brake": (BLOCKED[0], f"{BLOCKED[1]}\nKind: design\n"),
    "big_fix": ("tests/test_more_{turn}.py", ""),
}
# These are open as long as nothing is in the way, the last three because the visit has written nothing.
UNTOUCHED = frozenset(
    {
        *("preferences_ok", "deploy_named", "checkout_clean", "build_ok", "fix_ok", "small_fix"),
        *("delivery_ok", "as_verified", "repeated", "proven", "proof_accepted"),
        *("expand_failed", "design_failed", "readiness_failed"),
    }
)


class Line:
    """One pipeline; `open` writes what gates look at, each time with other words, and takes away what is in the way."""

    def __init__(self, repo: MakeRepo, start: Snapshot) -> None:
        paths = [path for path in EXAMPLE.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
        files = {str(path.relative_to(EXAMPLE)): path.read_text(encoding="utf-8") for path in paths}
        del files["scaffolding/blocked.md"]
        contents = {".gitignore": "__pycache__/\n", "preferences.md": preferences(), "detent.toml": COMMANDS}
        self.path = repo("repo", {**files, **contents})
        let_out(self.path)
        trust(self.path)
        self.git: Callable[..., str] = lambda *words: repo.git(self.path, *words)
        self.turn = 0
        self.put("scaffolding/state.json", json.dumps({"stage": start.state, **start.registers}))
        new_task = NewTask(
            "lights-out", "Count words", "p", str(self.path), str(self.path / "scaffolding"), mode=start.mode
        )
        self.task: Task = adopt(new_task)

    def put(self, name: str, text: str) -> None:
        (self.path / name).parent.mkdir(parents=True, exist_ok=True)
        (self.path / name).write_text(text, encoding="utf-8")

    def document(self, name: str, changes: dict[str, str]) -> None:
        """The example's document with these changes, and a line that makes it new."""
        text = (EXAMPLE / "scaffolding" / name).read_text(encoding="utf-8")
        for old, new in changes.items():
            assert old in text, (name, old)
            text = text.replace(old, new, 1)
        delivered = len(list(self.path.glob("scaffolding/versions/scope-v*.md")))
        text = text.replace("{version}", str(delivered + 1))
        self.put(f"scaffolding/{name}", f"{text}\nRound: {self.turn}\n")

    def open(self, gates: tuple[str, ...]) -> None:
        self.turn += 1
        (self.path / "tests/red").unlink(missing_ok=True)
        (self.path / "long.py").unlink(missing_ok=True)
        self.put("README.md", (EXAMPLE / "README.md").read_text(encoding="utf-8"))
        for gate in gates:
            self.open_one(gate)
        if "checkout_clean" in gates:
            self.git("add", "--all")
            self.git("commit", "--quiet", "--allow-empty", "--message=Keep")

    def open_one(self, gate: str) -> None:
        if gate in DOCUMENTS:
            self.document(*DOCUMENTS[gate])
        elif gate in FILES:
            name, text = FILES[gate]
            self.put(name.format(turn=self.turn), text.format(turn=self.turn))
        elif gate == "deployed":
            self.task = confirm(self.task, "walker", "walk")[0]
        elif gate == "deploy_failed":
            (self.path / "README.md").unlink()
        else:
            assert gate in UNTOUCHED, f"nobody has said how {gate} is opened"

    def follow(self, name: str) -> None:
        before = self.task.memory.snapshot
        edge = next(edge for edge in MACHINE.states[before.state].edges if edge.name == name)
        model = taken(before, edge)
        assert model is not None, (before.state, name)
        way, after = model
        self.open(way.needs)
        outcome = step(self.task, signals_to(name))
        assert isinstance(outcome.decision, Advance), (before.state, name, way.number, outcome.decision)
        assert (outcome.decision.edge.name, outcome.decision.way.number) == (name, way.number)
        self.task = load_task(outcome.task.project, outcome.task.id)
        assert remembered(self.task.memory.snapshot) == remembered(after)
        shown = json.loads((self.path / "scaffolding/state.json").read_text(encoding="utf-8"))
        assert (shown["stage"], shown["passed"] or "") == (after.state, after.registers.get("passed", ""))


def preferences() -> str:
    """Deploy commands that do nothing: what they do is shown elsewhere."""
    lines = PREFERENCES.splitlines()
    labels = ("- Pre-flight:", "- Deploy:", "- Check:", "- Rollback:")
    return "\n".join(f"{line.partition(':')[0]}: `true`" if line.startswith(labels) else line for line in lines) + "\n"


@pytest.mark.parametrize("number", range(COUNT))
def test_the_engine_follows_the_model(
    number: int, repo: MakeRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    walk = cover()[number]
    line = Line(repo, walk.start)
    assert remembered(line.task.memory.snapshot) == remembered(walk.start)
    for name in walk.names:
        line.follow(name)
    assert [finding for finding in audit(line.task).findings if not finding.is_warning] == []


def test_the_walks_take_every_edge_that_may_be_taken() -> None:
    assert len(cover()) == COUNT
    covered = set()
    for walk in cover():
        at = walk.start
        for name in walk.names:
            covered.add((at.state, name))
            at = ahead(at)[name]
    assert covered == EDGES
    assert {edge.name for edge in MACHINE.edges() if edge.never} == {"ResumeToVerify"}
