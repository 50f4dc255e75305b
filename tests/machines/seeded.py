"""Machines with one bug each, and sound machines that look like them: what a checker of machines must tell apart.

Each `Seed` is a small, named edit of a machine that ships or of a small one of `small_machines.py`. `kind` is the kind
of finding that `machine check` must come to (`detent.core.explore.Violation.kind`; LINT and PARSE are problems that
keep a file from loading before anything is explored). `in_tla` says whether an export to TLA+ can show the bug:

- True: a declared property is violated, no end can be reached any more (on the dumped graph of situations), or the
  engine must act and has no move whatever the gates say. All of these follow from states, moves,
  modes, counters and registers, all of which an export has.
- False: the bug is about what a model with free gates can't tell (a gate and its negation, a way that an earlier one
  hides, files that nothing judged), about the file itself (LINT, PARSE, vacuous properties), or about a rule of the
  checker that no property of the machine states (a path round a sign-off, a loop without a bound).

`SOUND` holds the controls. No checker may find anything in them.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from detent.core.machine import Machine
from detent.machines.load import read_document
from detent.machines.parse import parse
from detent.runner.make.vocabulary import vocabulary
from tests.machines.small_machines import SMALL

Document = dict[str, Any]
Change = Callable[[Document], object]

SIGN_OFF = "sign-off"  # what lies behind a sign-off is reached without it
UNGATED = "ungated-end"  # an agent ends the task by its word alone
ENGINE_LOOP = "engine-loop"  # the engine goes round for ever by itself
CONTRADICTION = "contradiction"  # a way asks for something and its opposite
LIMIT = "limit"  # what is counted bounds nothing
HIDDEN = "hidden"  # an earlier way is always taken instead
WAITS = "waits"  # only the engine acts, and it may have no open move
UNJUDGED = "unjudged"  # files are delivered that differ from those a gate judged
UNPROVEN = "unproven"  # files are delivered that nothing judged
VACUOUS = "vacuous"  # a property or an exception that says nothing
PROPERTY = "property"  # a declared property is violated
DEAD_END = "dead end"  # no end can be reached any more
NEVER = "never taken"  # a move or a way that can't be taken
ALONE = "alone"  # what tests prove is asked, but not whether they pass, or not a person
LINT, PARSE = "lint", "parse"

_TRIES = 2  # of a bug in lights-out: a limit of three shows the same bug in twice as many situations


class Seed(NamedTuple):
    name: str
    base: str
    kind: str  # "" for a sound machine
    in_tla: bool
    changes: tuple[Change, ...]

    def document(self) -> Document:
        """The document of the base with the edits of this seed."""
        text = SMALL[self.base] if self.base in SMALL else Path(read_document(self.base)[1]).read_text("utf-8")
        document = tomllib.loads(text)
        if self.kind and self.base == "lights-out":
            for limit in document["limit"].values():
                limit["max"] = min(limit["max"], _TRIES)
        for change in self.changes:
            change(document)
        return document

    def machine(self) -> Machine:
        """Raises `MachineError` for a seed of the kind PARSE."""
        return parse(self.document(), vocabulary(), where=f"{self.name}.toml")


def edge(document: Document, name: str, source: str = "") -> Document:
    """The row of a move by its name (or `from -> to`), and by a state it leaves where several have the name."""
    for row in document["edge"]:
        sources = [row["from"]] if isinstance(row["from"], str) else row["from"]
        if name in (row.get("name", ""), f"{sources[0]} -> {row['to']}") and (not source or source in sources):
            return dict_of(row)
    raise KeyError(name)


def dict_of(row: object) -> Document:
    assert isinstance(row, dict)
    return row


def put(name: str, source: str = "", **values: object) -> Change:
    """Set keys of a move; None takes one away."""

    def change(document: Document) -> None:
        row = edge(document, name, source)
        for key, value in values.items():
            row.pop(key, None)
            if value is not None:
                row[key] = value

    return change


def add(source: str, target: str, name: str, *, first: bool = False, **values: object) -> Change:
    """One more move; `first`: before all others of its state."""

    def change(document: Document) -> None:
        document["edge"].insert(
            0 if first else len(document["edge"]), {"from": source, "to": target, "name": name, **values}
        )

    return change


def way(name: str, number: int, source: str = "", **values: object) -> Change:
    """Set keys of one way of a move, counted from 0; None takes one away."""

    def change(document: Document) -> None:
        row = dict_of(edge(document, name, source)["ways"][number])
        for key, value in values.items():
            row.pop(key, None)
            if value is not None:
                row[key] = value

    return change


def table(path: str, **values: object) -> Change:
    """Set keys of a table such as `state.work` or `limit.rounds`; None takes one away."""

    def change(document: Document) -> None:
        at = document
        for part in path.split("/"):
            at = at.setdefault(part, {})
        for key, value in values.items():
            at.pop(key, None)
            if value is not None:
                at[key] = value

    return change


def gone(*paths: str) -> Change:
    """Take tables away: `gate/NAME`, `forbidden`, `edge/NAME`."""

    def change(document: Document) -> None:
        for path in paths:
            kind, _, name = path.partition("/")
            if kind == "edge":
                document["edge"].remove(edge(document, name))
            elif name:
                del document[kind][name]
            else:
                del document[kind]

    return change


def rule(name: str, then: str, first: str | list[str], since: list[str]) -> Change:
    return lambda document: document.setdefault("property", []).append(
        {"name": name, "then": then, "first": first, "since": since}
    )


def less(name: str, gate: str) -> Change:
    """A move that no longer needs a gate."""
    return lambda document: edge(document, name)["needs"].remove(gate)


def swapped(name: str) -> Change:
    """The ways of a move in the opposite order."""
    return lambda document: edge(document, name)["ways"].reverse()


def undeclared(document: Document) -> None:
    """Without its properties: what is left are the rules that hold for every machine."""
    del document["property"]


def _seed(name: str, base: str, kind: str, *changes: Change, in_tla: bool = False) -> Seed:
    return Seed(name, base, kind, in_tla, changes)


_ROUND_SIGN_OFFS = (
    _seed(
        "agent reads its own note", "note", SIGN_OFF, add("writing", "read", "self", by=["agent"], needs=["written"])
    ),
    _seed("agent reads its own note without a gate", "note", SIGN_OFF, add("writing", "read", "self", by=["agent"])),
    _seed(
        "engine goes round by a third state",
        "note",
        SIGN_OFF,
        table("state/side", driver="engine"),
        add("reading", "side", "aside", by=["agent"], needs=["written"]),
        add("side", "read", "slip", by=["engine"], needs=["written"]),
    ),
    _seed(
        "person defers and the engine reads",
        "note",
        SIGN_OFF,
        table("state/side", driver="engine"),
        add("reading", "side", "defer", by=["person"]),
        add("side", "read", "expire", by=["engine"]),
    ),
    _seed(
        "read once, read for ever",
        "note",
        SIGN_OFF,
        table("register/known"),
        table("state/read", end=None, rest=True),
        put("reading -> read", set={"known": "yes"}),
        add("read", "writing", "again", by=["person"]),
        add("writing", "read", "known", by=["agent"], needs=["written"], when={"known": "yes"}),
    ),
    _seed("a crash reads the note", "note", SIGN_OFF, add("writing", "read", "fall", by=["crash"], needs=["written"])),
    _seed("another move beside a sign-off", "note", LINT, add("reading", "read", "wave", by=["person"])),
    _seed("sign-off held by an agent", "note", PARSE, put("reading -> read", by=["agent"])),
    _seed("sign-off held by the engine too", "note", PARSE, put("reading -> read", by=["person", "engine"])),
    _seed(
        "orange: a review by an agent is enough",
        "orange",
        SIGN_OFF,
        gone("forbidden"),
        add("agent-review", "done", "done", by=["engine"], needs=["review_passed"], effects=["checkpoint"]),
    ),
    _seed(
        "global: tests are enough",
        "global",
        SIGN_OFF,
        gone("forbidden"),
        add("test", "done", "all-green", by=["engine"], needs=["tests_passed", "review_clear"]),
    ),
    _seed(
        "ralf: implemented is approved",
        "ralf",
        SIGN_OFF,
        add("Implemented", "Approved", "obvious", by=["engine"], needs=["criteria_kept"]),
        in_tla=True,
    ),
    _seed(
        "ralf: a commit is prepared before the review",
        "ralf",
        SIGN_OFF,
        add("PendingReview", "ReadyToCommit", "hasten", by=["engine"], needs=["criteria_kept"]),
        in_tla=True,
    ),
    _seed(
        "ralf: verified work skips the review",
        "ralf",
        SIGN_OFF,
        add("Verifying", "ReadyToCommit", "fast", by=["engine"], needs=["criteria_met"]),
        in_tla=True,
    ),
    _seed(
        "ralf: an assessor finalizes the spec",
        "ralf",
        LINT,
        add("Assessing", "Finalized", "looks-good", by=["agent"], needs=["assessment_given"]),
    ),
    _seed(
        "lights-out: a proposal confirms itself",
        "lights-out",
        SIGN_OFF,
        add("Iterating", "IterationConfirmed", "ConfirmItself", by=["agent"], needs=["proposal_ok"]),
    ),
)

_UNGATED_ENDS = (
    _seed("agent says it is over", "job", UNGATED, put("finish", needs=None), gone("gate/seen")),
    _seed("agent gives up without a word", "job", UNGATED, add("work", "given-up", "give-up", by=["agent"])),
    _seed(
        "agent ends it by way of the engine",
        "job",
        UNGATED,
        table("state/closing", driver="engine"),
        add("work", "closing", "close", by=["agent"]),
        add("closing", "given-up", "shut", by=["engine"]),
    ),
    _seed("phase: blocked without a blocker", "phase", UNGATED, put("shape_to_blocked", needs=None)),
    _seed("orange: a worker cancels", "orange", UNGATED, add("working", "cancelled", "quit", by=["agent"])),
    _seed("ralf: an implementer abandons", "ralf", UNGATED, add("Running", "Abandoned", "despair", by=["agent"])),
)

_ENGINE_LOOPS = (
    _seed(
        "two engine states for ever",
        "job",
        ENGINE_LOOP,
        table("state/here", driver="engine"),
        table("state/there", driver="engine"),
        add("work", "here", "ask", by=["agent"], needs=["seen"]),
        add("here", "there", "to", by=["engine"]),
        add("there", "here", "fro", by=["engine"]),
        add("there", "given-up", "out", by=["person"]),
    ),
    _seed(
        "a loop under gates that never change",
        "job",
        ENGINE_LOOP,
        table("state/here", driver="engine"),
        table("state/there", driver="engine"),
        add("work", "here", "ask", by=["agent"], needs=["seen"]),
        add("here", "there", "to", by=["engine"], needs=["lasting"]),
        add("there", "here", "fro", by=["engine"], needs=["lasting"]),
        add("there", "given-up", "out", by=["engine"], needs=["lasting_not"]),
    ),
    _seed(
        "a loop while nothing new is written",
        "job",
        ENGINE_LOOP,
        table("state/here", driver="engine"),
        table("state/there", driver="engine"),
        table("gate/nothing_new", check="not", of=["seen"]),
        add("work", "here", "ask", by=["agent"], needs=["seen"]),
        add("here", "there", "to", by=["engine"], needs=["nothing_new"]),
        add("there", "given-up", "out", by=["engine"], needs=["lasting"]),
        add("there", "here", "fro", by=["engine"]),
        add("here", "given-up", "stop", by=["person"]),
    ),
    _seed(
        "an engine that stays where it is",
        "job",
        ENGINE_LOOP,
        table("state/here", driver="engine"),
        add("work", "here", "ask", by=["agent"], needs=["seen"]),
        add("here", "here", "turn", by=["engine"]),
        add("here", "given-up", "out", by=["person"]),
    ),
    _seed(
        "ralf: a failed preflight is tried again by itself",
        "ralf",
        ENGINE_LOOP,
        table("state/PreflightFailed", driver="engine"),
        put("retry", by=["engine"]),
    ),
    _seed(
        "lights-out: a recovery that drops the session again",
        "lights-out",
        ENGINE_LOOP,
        add("ContextRecovering", "SessionDropped", "DropAgain", by=["engine"], after_no=True, first=True),
    ),
)

_CONTRADICTIONS = (
    _seed("a gate and its negation", "job", CONTRADICTION, put("finish", needs=["seen", "lasting", "lasting_not"])),
    _seed(
        "a negation inside a combined gate",
        "job",
        CONTRADICTION,
        table("gate/both", check="all", of=["lasting", "lasting_not"], since="task"),
        put("finish", needs=["seen", "both"]),
    ),
    _seed("new evidence of what is missing", "job", CONTRADICTION,
          table("gate/fresh", check="fields_filled", fields=["Text"]),
          add("work", "given-up", "both-ways", by=["agent"], needs=["fresh", "lasting_not"])),
    _seed("orange: PASS and FAIL at once", "orange", CONTRADICTION,
          put("agent-review -> reviewing", needs=["review_passed", "review_failed"])),
    _seed("phase: blockers named and none", "phase", CONTRADICTION,
          put("review_to_needs_user_decision", needs=["blockers_open", "blockers_none", "options_named"])),
    _seed("ralf: preflight passes and fails", "ralf", CONTRADICTION,
          put("checks-pass", needs=["preflight_ok", "preflight_failed"])),
    _seed("lights-out: a build that failed passes", "lights-out", CONTRADICTION,
          put("PassBuildGate", needs=["build_ok", "build_failed"])),
    _seed("lights-out: a red part of a green build", "lights-out", CONTRADICTION,
          put("PassBuildGate", needs=["build_ok", "build_lost"])),
    _seed("lights-out: verified and not", "lights-out", CONTRADICTION,
          way("FailVerifyGate", 1, needs=["verified", "verified_not"])),
)  # fmt: skip

_LIMITS = (
    _seed("lights-out: RetryBuild without its limit", "lights-out", LIMIT, put("RetryBuild", under=None)),
    _seed("lights-out: RetryBuild forgets the failures", "lights-out", LIMIT, put("RetryBuild", resets=["attempts"])),
    _seed("lights-out: a failure is the first one always", "lights-out", LIMIT,
          put("FailBuildGate", resets=["attempts"])),
    _seed("lights-out: a review fix forgets the failures", "lights-out", LIMIT,
          put("FixReviewFindings", resets=["attempts"], under=None)),
    _seed("lights-out: fixes of VERIFY are not bounded", "lights-out", LIMIT,
          put("FixVerifyFailures", under=None), way("EscalateVerifyFailure", 0, needs=["stop_reported"])),
    _seed("orange: reviews without end", "orange", LIMIT, put("agent-review -> working", under=None)),
    _seed("orange: any move forgets the rounds", "orange", LIMIT, table("limit/review_round", resets="always")),
    _seed("orange: a reviewer that dies again and again", "orange", LIMIT,
          lambda document: edge(document, "agent-review -> stuck")["ways"].pop()),
    _seed("ralf: a loop that verification keeps going", "ralf", LIMIT,
          put("criteria-failed-iterations-remain", under=None)),
    _seed("ralf: a failed verification gives all iterations back", "ralf", LIMIT,
          put("criteria-failed-iterations-remain", resets=["iteration"])),
    _seed("rounds that are forgotten on the way back", "rounds", LIMIT, put("again", resets=["rounds"])),
    _seed("rounds that nothing closes", "rounds", LIMIT, put("again", under=None)),
    _seed("rounds that are forgotten elsewhere", "rounds", LIMIT, put("pass-on", resets=["rounds"])),
    _seed("a limit of none", "rounds", PARSE, table("limit/rounds", max=0)),
    _seed("a limit that no move asks for", "rounds", LINT, put("again", under=None), put("enough", spent=None)),
)  # fmt: skip

_HIDDEN = (
    _seed("the same gate twice", "job", HIDDEN,
          add("work", "given-up", "sooner", by=["engine"], needs=["seen"], first=True),
          add("work", "over", "later", by=["engine"], needs=["seen", "lasting"])),
    _seed("a combined gate hides its parts", "job", HIDDEN,
          table("gate/both", check="all", of=["seen", "lasting"], since="task"),
          add("work", "given-up", "sooner", by=["engine"], needs=["both"], first=True),
          add("work", "over", "later", by=["engine"], needs=["lasting", "seen"])),
    _seed("a negation hides itself", "job", HIDDEN,
          add("work", "over", "later", by=["engine"], needs=["lasting_not", "seen"])),
    _seed("a gate hides its stricter twin", "job", HIDDEN,
          table("gate/fresh", check="fields_filled", fields=["Text"]),
          add("work", "given-up", "sooner", by=["engine"], needs=["lasting"], first=True),
          add("work", "over", "later", by=["engine"], needs=["fresh"])),
    _seed("a mode hides the same mode", "modes", HIDDEN,
          add("shown", "work", "slowly-back", by=["engine"], mode=["slow"], when={"begun": ["slow"]}),
          table("limit/turns", max=2), put("begin-slowly", counts=["turns"]), put("begin-fast", spent="turns")),
    _seed("a value hides the same value", "modes", HIDDEN,
          add("shown", "work", "sooner", by=["engine"], when={"begun": ["slow", ""]}, needs=["lasting"], first=True),
          add("shown", "look", "later", by=["engine"], when={"begun": ["slow"]}, needs=["lasting"])),
    _seed("a limit hides the same limit", "rounds", HIDDEN,
          add("back", "over", "end", by=["engine"], spent="rounds", needs=["lasting"])),
    _seed("a crash hides another", "job", HIDDEN,
          add("work", "given-up", "fall", by=["crash"], needs=["lasting"], first=True),
          add("work", "over", "fail", by=["crash"], needs=["lasting", "seen"], after=["killed"])),
    _seed("orange: every FAIL is stuck", "orange", HIDDEN,
          add("agent-review", "stuck", "at-once", by=["engine"], needs=["review_failed"], after="any", after_no=True,
              first=True)),
    _seed("lights-out: every recovery expands", "lights-out", HIDDEN, way("RecoverToExpand", 0, when=None)),
    _seed("lights-out: every failed build blocks", "lights-out", HIDDEN,
          lambda document: edge(document, "BlockAfterThreeRetries", "BuildRetrying").update(ways=[{}])),
    _seed("ralf: an unchanged draft is not told apart", "ralf", NEVER, swapped("revise-needed")),
    _seed("global: a refused plan need not be another", "global", NEVER, way("planning-succeeded", 0, when=None)),
)  # fmt: skip

_WAITING = (
    _seed("global: people run the tests", "global", WAITS,
          put("tests-complete", by=["person"]), put("test-failures", by=["person"]), in_tla=True),
    _seed("orange: pending waits for a person", "orange", WAITS,
          way("pending -> working", 0, by=["person"]), way("pending -> clarification", 0, by=["person"]), in_tla=True),
    _seed("ralf: a person prepares the commit", "ralf", WAITS, put("prepare-commit", by=["person"]), in_tla=True),
    _seed("lights-out: a stepped task is stuck behind a gate", "lights-out", WAITS,
          lambda document: edge(document, "PauseForSteppedMode")["from"].remove("BuildGatePassed"),
          add("BuildGatePassed", "Reviewing", "ReviewByHand", by=["person"]), in_tla=True),
    _seed("lights-out: spent attempts block nothing", "lights-out", WAITS,
          lambda document: edge(document, "BlockAfterThreeRetries", "BuildRetrying")["ways"].pop(0)),
    _seed("spent rounds wait for a file", "rounds", WAITS, put("enough", needs=["seen"])),
    _seed("an engine that only people help", "modes", WAITS, put("go-slowly", by=["person"]), in_tla=True),
)  # fmt: skip

_SKIPPED = (
    _seed("lights-out: verify without reconcile", "lights-out", PROPERTY,
          put("AutoContinueToReconcile", to="Verifying"), in_tla=True),
    _seed("lights-out: a stepped task skips reconcile", "lights-out", PROPERTY,
          put("ResumeToVerify", never=None, when={"paused_from": ["ReviewGatePassed"]}, set={"paused_from": ""}),
          in_tla=True),
    _seed("lights-out: a recovery skips reconcile", "lights-out", PROPERTY,
          put("RecoverToVerify", when={"passed": ["review", "reconcile"]}), in_tla=True),
    _seed("lights-out: a recovery deploys what was built", "lights-out", PROPERTY,
          put("RecoverToDeploy", when={"passed": ["build", "verify"]}), in_tla=True),
    _seed("lights-out: a crash passes the build gate", "lights-out", PROPERTY,
          add("Analyzing", "BuildGatePassed", "FallForward", by=["crash"], first=True), in_tla=True),
    _seed("lights-out: a reconcile on demand leads on", "lights-out", PROPERTY,
          put("ResumeAfterReconcileToDesigning", to="Building"), in_tla=True),
    _seed("lights-out: a dropped session keeps its reconcile", "lights-out", PROPERTY,
          put("DropSession", set=None), put("ManualReconcileFromDesigning", set={"reconcile_for": "Verifying"}),
          table("limit/attempts", max=1), table("limit/fruitless", max=1), in_tla=True),
    _seed("phase: review without verify", "phase", PROPERTY,
          gone("forbidden"), add("implement", "review", "implement_to_review", by=["engine"], needs=["candidate"]),
          in_tla=True),
    _seed("phase: implement without a frame", "phase", PROPERTY,
          add("intake", "implement", "intake_to_implement", by=["agent"], needs=["frame_known"]), in_tla=True),
    _seed("global: accepted without tests", "global", PROPERTY,
          gone("forbidden"), add("review", "accept", "skip-tests", by=["engine"], needs=["review_clear"]),
          in_tla=True),
    _seed("orange: a stuck task is shown to a person", "orange", PROPERTY,
          add("stuck", "reviewing", "show", by=["person"]), in_tla=True),
    _seed("ralf: a loop without preflight", "ralf", PROPERTY,
          add("Finalized", "Configuring", "hurry", by=["person"]), in_tla=True),
    _seed("a property only a switch of the mode violates", "modes", PROPERTY,
          add("shown", "over", "end-fast", by=["engine"], mode=["fast"], when={"begun": "slow"}, needs=["lasting"]),
          rule("nothing ends slowly that was not shown", "end-fast", "go-fast", ["work"]), in_tla=True),
)  # fmt: skip

_UNJUDGED = (
    _seed("lights-out: documents are enough to deploy", "lights-out", UNJUDGED,
          put("PassDeployGate", needs=["delivery_ok"]), gone("gate/as_verified", "gate/proof_accepted")),
    _seed("lights-out: another tree is deployed", "lights-out", UNJUDGED,
          less("PassDeployGate", "as_verified"), gone("gate/as_verified")),
    _seed("lights-out: VERIFY forgets the build", "lights-out", UNJUDGED, less("PassVerifyGate", "build_ok")),
    _seed("phase: done without its tests", "phase", UNJUDGED,
          less("review_to_done", "validation_passed")),
    _seed("orange: edits after the review are signed unseen", "orange", UNJUDGED,
          put("reviewing -> done", needs=["tests_passed", "proven", "proof_accepted"]),
          gone("gate/signed_as_is", "gate/as_reviewed")),
    _seed("ralf: a red criterion is signed unseen", "ralf", UNJUDGED,
          put("human-approves", "PendingReview", needs=["proven", "proof_accepted"]), gone("gate/signed_as_is")),
    _seed("global: what tests prove is accepted, passed or not", "global", ALONE,
          way("accepted", 0, needs=["asked_for", "proven", "proof_accepted", "as_overridden", "signed_as_is"])),
    _seed("global: untouched files are accepted whatever the tests prove", "global", ALONE,
          table("gate/as_overridden", waived=None)),
    _seed("phase: no person is asked about changed tests", "phase", ALONE,
          less("review_to_done", "proof_accepted"), gone("gate/proof_accepted")),
    _seed("work lands that nothing judged", "job", UNPROVEN, table("state/over", lands=True)),
)  # fmt: skip

_DEAD = (
    _seed("two states and no way out", "job", DEAD_END,
          table("state/ring", role="worker"), table("state/gnir", role="worker"),
          add("work", "ring", "in", by=["agent"], needs=["seen"]), add("ring", "gnir", "on", by=["agent"]),
          add("gnir", "ring", "back", by=["agent"]), in_tla=True),
    _seed("an end behind a register that nothing sets", "job", DEAD_END,
          table("register/key"), put("finish", when={"key": "gold"}), put("give-in", when={"key": "gold"}),
          in_tla=True),
    _seed("a dead end behind a switch of the mode", "modes", DEAD_END,
          table("state/trap", role="worker"), table("state/part", role="worker"),
          add("shown", "trap", "fall", by=["person"], mode=["fast"], when={"begun": "slow"}),
          add("trap", "part", "turn", by=["agent"]), add("part", "trap", "turn-back", by=["agent"]), in_tla=True),
    _seed("lights-out: an answer leads nowhere", "lights-out", DEAD_END,
          put("RecoverToExpand", ways=None, needs=["scope_lost"], when={"passed": ["expand"]}), in_tla=True),
    _seed("a state nobody enters", "job", LINT, table("state/lost", end=True)),
    _seed("an end that is left", "job", LINT, add("over", "work", "up", by=["person"])),
)  # fmt: skip

_VACUOUS = (
    _seed("a property about a move that is never made", "lights-out", VACUOUS,
          rule("nothing resumes unreviewed", "ResumeToVerify", "PassReviewGate", ["Building"])),
    _seed("a property whose first move nobody can make", "job", VACUOUS,
          table("register/key"), add("work", "work", "turn", by=["agent"], when={"key": "gold"}),
          rule("turned before it ends", "finish", "turn", ["work"])),
    _seed("a property about itself", "job", VACUOUS, rule("finished before", "finish", "finish", ["work"])),
    _seed("a property about an unknown move", "job", PARSE, rule("x", "finish", "begin", ["work"])),
    _seed("an exception for nothing", "job", VACUOUS,
          lambda document: document.update(exception={UNGATED: {"finish": "it is meant so"}})),
)  # fmt: skip

SEEDS: tuple[Seed, ...] = (
    *_ROUND_SIGN_OFFS, *_UNGATED_ENDS, *_ENGINE_LOOPS, *_CONTRADICTIONS, *_LIMITS, *_HIDDEN, *_WAITING, *_SKIPPED,
    *_UNJUDGED, *_DEAD, *_VACUOUS,
)  # fmt: skip

_TWO_ENGINES = (
    table("state/here", driver="engine"),
    table("state/there", driver="engine"),
    add("work", "here", "ask", by=["agent"], needs=["seen"]),
)
_LANDS = table("state/over", lands=True)

_LOOK_ALIKES = (
    # sign-offs
    _seed("a person cancels a note", "note", "",
          table("state/torn", end=True), add("writing", "torn", "tear", by=["person"]),
          add("reading", "torn", "tear", by=["person"])),
    _seed("the engine sends an old note back", "note", "",
          table("gate/old", check="not", of=["written"], since="entry"),
          add("reading", "writing", "expire", by=["engine"], needs=["old"])),
    _seed("two people may read a note", "note", "",
          table("state/asked"), add("reading", "asked", "pass-on", by=["person"]),
          add("asked", "read", "second", by=["person"], sign_off=True)),
    _seed("a sign-off leads back to work", "rounds", "", put("resume", sign_off=True)),
    _seed("a small note is read by rule, and the file says so", "note", "",
          add("writing", "read", "trivial", by=["engine"], needs=["proven"]),
          table("gate/proven", check="commands", field="Text", since="task"),
          table("exception/sign-off", trivial="a note without text needs no reader")),
    _seed("a note that was read is filed by the engine", "note", "",
          table("state/read", end=None, lands=None, driver="engine"), table("state/filed", end=True, lands=True),
          add("read", "filed", "file", by=["engine"])),
    # ends
    _seed("agent gives up with a reason", "job", "",
          add("work", "given-up", "give-up", by=["agent"], needs=["lasting"])),
    _seed("agent asks a person", "job", "",
          table("state/asking"), add("work", "asking", "ask", by=["agent"]),
          add("asking", "work", "answer", by=["person"]), add("asking", "given-up", "drop", by=["person"])),
    _seed("agent fails as often as it may", "rounds", "",
          table("state/failed", end=True), add("look", "back", "admit", by=["agent"]),
          put("enough", to="failed"), gone("edge/resume", "edge/give-up", "state/stuck")),
    # loops of the engine
    _seed("a loop that a counter ends", "job", "",
          *_TWO_ENGINES, table("limit/turns", max=2), add("here", "there", "to", by=["engine"], counts=["turns"]),
          add("there", "here", "fro", by=["engine"], under="turns"),
          add("there", "given-up", "out", by=["engine"], spent="turns")),
    _seed("a loop that fresh evidence ends", "job", "",
          *_TWO_ENGINES, add("here", "there", "to", by=["engine"], needs=["seen"]),
          add("there", "here", "fro", by=["engine"], needs=["seen"]), add("there", "given-up", "out", by=["person"]),
          add("here", "given-up", "out", by=["person"])),
    _seed("a loop whose gates exclude each other", "job", "",
          *_TWO_ENGINES, add("here", "there", "to", by=["engine"], needs=["lasting"]),
          add("there", "here", "fro", by=["engine"], needs=["lasting_not"]),
          add("here", "given-up", "out", by=["person"]), add("there", "given-up", "out", by=["person"])),
    _seed("a loop that is left before it closes", "job", "",
          *_TWO_ENGINES, add("here", "there", "to", by=["engine"], needs=["lasting"]),
          add("there", "given-up", "out", by=["engine"], needs=["lasting"]),
          add("there", "here", "fro", by=["engine"], needs=["lasting", "lasting_too"]),
          table("gate/lasting_too", check="fields_filled", fields=["Seen"], since="task"),
          add("here", "given-up", "stop", by=["person"]), add("there", "given-up", "stop", by=["person"]),
          table("exception/hidden", fro="kept for people, who may go back by hand")),
    _seed("a loop with a person in it", "job", "",
          table("state/here", driver="engine"), table("state/there"),
          add("work", "here", "ask", by=["agent"], needs=["seen"]), add("here", "there", "to", by=["engine"]),
          add("there", "here", "fro", by=["person"]), add("there", "given-up", "out", by=["person"])),
    _seed("a loop that is meant", "job", "",
          *_TWO_ENGINES, add("here", "there", "to", by=["engine"]), add("there", "here", "fro", by=["engine"]),
          add("there", "given-up", "out", by=["person"]),
          table("exception/engine-loop", to="it waits for a person, who ends it")),
    # gates
    _seed("one of two is missing", "job", "",
          table("gate/not_both", check="not", of=["seen", "lasting"], since="task"),
          add("work", "given-up", "half", by=["agent"], needs=["lasting", "not_both"])),
    _seed("it holds but is not new", "job", "",
          table("gate/fresh", check="fields_filled", fields=["Text"]),
          table("gate/not_fresh", check="not", of=["fresh"]),
          add("work", "given-up", "stale", by=["agent"], needs=["lasting", "not_fresh"])),
    _seed("two verdicts of two people", "job", "",
          table("gate/one", check="verdict", file="A.md", section="Review", value="PASS"),
          table("gate/two", check="verdict", file="B.md", section="Review", value="FAIL"),
          add("work", "given-up", "split", by=["agent"], needs=["one", "two"])),
    # limits
    _seed("a passed round forgets the failed ones", "rounds", "", put("finish", resets=["rounds"])),
    _seed("a passed round leads on, and only failures count", "rounds", "",
          put("show", counts=None), put("pass-on", counts=["rounds"]),
          add("look", "work", "next", by=["engine"], needs=["lasting", "seen"], resets=["rounds"], first=True)),
    _seed("a counter that only tells", "rounds", "",
          table("limit/shown", max=1, cap=3), put("show", counts=["rounds", "shown"]),
          add("stuck", "over", "often", by=["person"], spent="shown")),
    _seed("a round with a person in it", "rounds", "",
          put("again", by=["person"], under=None), put("enough", spent=None, by=["person"], under="rounds"),
          table("state/back", driver="person")),
    # order of moves
    _seed("the earlier move asks for more", "job", "",
          add("work", "given-up", "sooner", by=["engine"], needs=["seen", "lasting"], first=True),
          add("work", "over", "later", by=["engine"], needs=["seen"])),
    _seed("a strict gate before its lenient twin", "job", "",
          table("gate/fresh", check="fields_filled", fields=["Text"]),
          add("work", "given-up", "sooner", by=["engine"], needs=["fresh"], first=True),
          add("work", "over", "later", by=["engine"], needs=["lasting"])),
    _seed("the earlier move belongs to another mode", "modes", "",
          add("shown", "work", "turn", by=["engine"], mode=["fast"], needs=["lasting"], first=True),
          add("shown", "look", "later", by=["engine"], mode=["slow"], needs=["lasting"], first=True)),
    _seed("the earlier move belongs to another value", "modes", "",
          add("shown", "look", "later", by=["engine"], when={"begun": ["slow", ""]}, needs=["lasting"], first=True),
          add("shown", "work", "sooner", by=["engine"], when={"begun": ["slow"]}, needs=["lasting"], first=True)),
    _seed("a crash of another kind comes first", "job", "",
          add("work", "given-up", "fall", by=["crash"], needs=["lasting"], after=["killed"], first=True),
          add("work", "over", "fail", by=["crash"], needs=["lasting"], after=["failed", "lost"])),
    _seed("the earlier move is for the first rounds", "rounds", "",
          add("back", "work", "retry", by=["engine"], under="rounds", needs=["lasting"], first=True),
          add("back", "over", "end", by=["engine"], needs=["lasting"], spent="rounds"),
          table("exception/hidden", end="enough comes first, and people may end it")),
    _seed("the earlier move is never made", "job", "",
          add("work", "given-up", "sooner", by=["engine"], needs=["seen"], never="kept for its name", first=True),
          add("work", "over", "later", by=["engine"], needs=["seen"])),
    _seed("the earlier move is an agent's", "job", "",
          add("work", "given-up", "sooner", by=["agent"], needs=["seen"], first=True),
          add("work", "over", "later", by=["engine"], needs=["seen"])),
    _seed("the earlier move follows another end of the run", "job", "",
          add("work", "given-up", "sooner", by=["engine"], needs=["seen"], after=["failed"], first=True),
          add("work", "over", "later", by=["engine"], needs=["seen"])),
    _seed("only the later move may follow a no", "job", "",
          table("state/work", no=["seen"]),
          add("work", "over", "sooner", by=["engine"], needs=["seen"], first=True),
          add("work", "given-up", "later", by=["engine"], needs=["seen"], after_no=True)),
    # engine states
    _seed("the engine goes on by a gate or by its negation", "rounds", "",
          put("enough", needs=["lasting"]), add("back", "over", "end", by=["engine"], needs=["lasting_not"])),
    _seed("the engine waits for a file, and a person may help", "rounds", "",
          put("enough", needs=["seen"]), add("back", "stuck", "help", by=["person"])),
    # delivery and properties
    _seed("work lands after its tests", "job", "",
          _LANDS, table("gate/tests", check="commands", field="Text", since="task"),
          put("finish", needs=["seen", "lasting", "tests"])),
    _seed("a person may override the tests of what lands", "job", "",
          _LANDS, table("gate/tests", check="commands", field="Text", since="task"), table("override", by="person"),
          put("finish", needs=["seen", "lasting", "tests"])),
    _seed("one of two moves comes first", "rounds", "",
          add("work", "look", "present", by=["agent"], needs=["lasting"], counts=["rounds"]),
          rule("what ends was shown", "finish", ["show", "present"], ["work"])),
    _seed("a person switches to the mode that goes on", "modes", "",
          add("shown", "look", "by-hand", by=["person"], mode=["slow"])),
)  # fmt: skip

SOUND: tuple[Seed, ...] = (
    *(_seed(f"{base} as it ships", base, "") for base in ("phase", "global", "orange", "ralf", "lights-out")),
    *(_seed(f"{base} as it is", base, "") for base in SMALL),
    *_LOOK_ALIKES,
)
