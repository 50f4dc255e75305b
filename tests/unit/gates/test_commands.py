"""The checks that rest on receipts: which runs they ask for, and what the receipts mean."""

from __future__ import annotations

from typing import Any

import pytest

from detent.core.machine import Gate
from detent.core.values import Fact
from detent.gates.commands import Run, is_red, runs_commands, runs_of
from detent.gates.judge import judge
from detent.gates.plan import receipt_key
from detent.store.journal.observed import Command
from detent.store.journal.receipts import SETUP_FAILED, Receipt, ReceiptStore
from detent.words import proof as say
from detent.words.gates import together
from tests.unit.gates.world import MACHINE, World

PLAN = "Validation plan"
TEST, LINT = Command("test", "make test"), Command("lint", "make lint")


class RedGreenGate:
    """A red-green gate over two commands of the project, and the receipts it would find."""

    def __init__(self, world: World, **params: Any) -> None:
        self.world = world
        self.gate = Gate("ours", "red_green", {"field": PLAN, **params}, "entry", "do it")
        world.machine = MACHINE.replace(gates={**MACHINE.gates, "ours": self.gate})
        world.commands = (TEST, LINT)
        self.baseline = "b" * 40

    def runs(self) -> tuple[Run, ...]:
        return runs_of(self.gate, self.world.seen().replace(baseline=self.baseline))

    def receipt(self, command: Command, code: int, *, before: bool, problem: str = "") -> None:
        run = next(run for run in self.runs() if run.command == command and run.before is before)
        made = Receipt(run.key, command.line, "tree-1", (code,), "some.log", problem, said="a line\nsome words")
        self.world.proved[run.key] = ReceiptStore(str(self.world.receipts)).save(made).digest

    def fact(self) -> Fact:
        return judge(self.world.seen().replace(baseline=self.baseline), ["ours"])["ours"]


def test_each_command_is_asked_for_with_and_without_the_change(world: World) -> None:
    runs = RedGreenGate(world).runs()
    assert [(run.command.name, run.before) for run in runs] == [
        ("test", False),
        ("lint", False),
        ("test", True),
        ("lint", True),
    ]
    assert len({run.key for run in runs}) == 4


def test_receipt_with_the_change_serves_every_gate_of_its_field(world: World) -> None:
    gate = RedGreenGate(world, tests=["tests/**"])
    plain = MACHINE.gates["validation_passed"]
    assert gate.runs()[0].key == receipt_key("tree-1", TEST.line, plain, "")
    assert [run.key for run in runs_of(plain, world.seen())] == [run.key for run in gate.runs()[:2]]


def test_without_the_change_the_key_knows_the_patterns(world: World) -> None:
    assert RedGreenGate(world, tests=["a/**"]).runs()[2].key != RedGreenGate(world, tests=["b/**"]).runs()[2].key


def test_one_command_can_be_named(world: World) -> None:
    assert [run.command for run in RedGreenGate(world, command="lint").runs()] == [LINT, LINT]


def test_other_gates_ask_for_no_run(world: World) -> None:
    world.commands = (TEST,)
    assert runs_of(MACHINE.gates["candidate"], world.seen()) == ()


def test_nothing_to_compare_with_is_closed_for_good(world: World) -> None:
    gate = RedGreenGate(world)
    gate.baseline = ""
    assert len(gate.runs()) == 2
    fact = gate.fact()
    assert (fact.ok, fact.pending) == (False, False)
    assert fact.why == say.no_first_commit()


def test_no_command_is_closed(world: World) -> None:
    fact = RedGreenGate(world, command="nonsense").fact()
    assert (fact.ok, fact.pending) == (False, False)
    assert fact.why == say.field_names_no_command("Validation plan", "")


def test_without_a_command_the_fix_names_configure_check(world: World) -> None:
    gate = RedGreenGate(world, field="/checks")
    world.commands = ()
    fact = gate.fact()
    assert fact.why == say.no_command_anywhere()
    assert fact.fix == say.no_command_anywhere().next_step


def test_what_was_not_run_can_be_run(world: World) -> None:
    gate = RedGreenGate(world)
    assert gate.fact().why == say.not_run(["make test", "make lint"])
    gate.receipt(TEST, 0, before=False)
    gate.receipt(LINT, 0, before=False)
    fact = gate.fact()
    assert (fact.ok, fact.pending) == (False, True)
    assert fact.why == say.not_run_without_change(["make test", "make lint"])
    gate.receipt(TEST, 1, before=True)
    assert gate.fact().why == say.not_run_without_change(["make lint"])


@pytest.mark.parametrize(
    ("without", "is_open", "words"),
    [
        ((1, 1), True, ""),
        ((1, 0), True, ""),
        ((0, 2), True, ""),
        ((0, 0), False, say.passes_without_change(["make test", "make lint"])),
    ],
)
def test_one_command_must_have_failed_without_the_change(
    world: World, without: tuple[int, int], is_open: bool, words: str
) -> None:
    gate = RedGreenGate(world)
    for command, code in zip((TEST, LINT), without, strict=True):
        gate.receipt(command, 0, before=False)
        gate.receipt(command, code, before=True)
    fact = gate.fact()
    assert (fact.ok, fact.pending, fact.why) == (is_open, False, words)
    assert bool(fact.proof) is is_open
    assert is_open or fact.fix == say.passes_without_change(["make test", "make lint"]).next_step


def test_a_red_command_is_red_whatever_was_before(world: World) -> None:
    gate = RedGreenGate(world)
    for command in (TEST, LINT):
        gate.receipt(command, 3, before=False)
        gate.receipt(command, 1, before=True)
    fact = gate.fact()
    assert not fact.ok
    assert say.command_failed_here("make test", "exit 3", "a line\nsome words") in fact.why


def test_what_was_cut_short_without_the_change_is_no_failure(world: World) -> None:
    gate = RedGreenGate(world, command="test")
    gate.receipt(TEST, 0, before=False)
    gate.receipt(TEST, -9, before=True, problem="timed out after 5 s")
    fact = gate.fact()
    assert not fact.ok
    assert fact.why == say.broken_without_change("make test", "timed out after 5 s")


def test_the_proof_names_both_runs(world: World) -> None:
    gate = RedGreenGate(world, command="test")
    gate.receipt(TEST, 0, before=False)
    gate.receipt(TEST, 1, before=True)
    assert gate.fact().proof not in ("", world.fact("validation_passed").proof)
    assert not gate.fact().by_hand


# --- commands that have to fail ---


def failed(world: World) -> Fact:
    return world.gate("commands_failed", since="entry", field=PLAN)


def test_a_failure_is_known_once_every_command_was_run(world: World) -> None:
    world.commands = (TEST, LINT)
    for run, left in (("", [TEST.line, LINT.line]), (TEST.line, [LINT.line])):
        if run:
            world.receipt(run, 1)
        fact = failed(world)
        assert (fact.ok, fact.pending, fact.why) == (False, True, say.not_run(left))


def test_without_commands_nothing_failed_and_nothing_can_be_run(world: World) -> None:
    fact = failed(world)
    assert (fact.ok, fact.pending, fact.why) == (False, False, say.not_run([]))


def test_what_failed_is_named_with_its_end(world: World) -> None:
    world.commands = (TEST, LINT, Command("slow", "make slow"))
    world.receipt(TEST.line, 0, 2)
    world.receipt(LINT.line, 1, 0)
    world.receipt("make slow", -9, problem="timed out after 5 s")
    fact = failed(world)
    assert (fact.ok, fact.pending, fact.why, fact.by_hand) == (True, False, "", False)
    cut = "timed out after 5 s: some words"
    assert fact.note == together(
        [say.command_failed("make test", "exit 2: some words"), say.command_failed("make slow", cut)]
    )
    assert fact.parts == (
        ("make test", False, say.result("exit 2", "a line\nsome words")),
        ("make slow", False, say.result("timed out after 5 s", "a line\nsome words")),
    )


def test_where_all_passed_none_failed(world: World) -> None:
    world.commands = (TEST, LINT)
    world.receipt(TEST.line, 0)
    world.receipt(LINT.line, 1, 0)
    fact = failed(world)
    assert (fact.ok, fact.pending, fact.why) == (False, False, say.every_command_passed())


def test_failed_set_up_is_no_failure_of_the_work(world: World) -> None:
    world.commands = (TEST, LINT)
    world.receipt(TEST.line, 1)
    world.receipt(LINT.line, problem=f"{SETUP_FAILED}: no disk")
    fact = failed(world)
    assert (fact.ok, fact.pending) == (False, False)
    assert fact.why == say.came_to_no_end("set-up failed: no disk", "a line\nsome words")


def test_proof_of_a_failure_is_that_of_all_the_runs(world: World) -> None:
    world.commands = (TEST,)
    world.receipt(TEST.line, 1)
    alone = failed(world).proof
    world.commands = (TEST, LINT)
    world.receipt(LINT.line, 0)
    assert failed(world).proof not in ("", alone)


def test_machine_rests_on_commands_when_one_of_its_gates_does(world: World) -> None:
    resting = {"validation_passed", "candidate"}
    for names, rests in ((resting, True), ({"candidate"}, False), (set(), False)):
        machine = MACHINE.replace(gates={name: MACHINE.gates[name] for name in names})
        assert runs_commands(machine) is rests, names


def test_red_is_what_failed_by_itself() -> None:
    def receipt(*attempts: int, problem: str = "") -> Receipt:
        return Receipt("k", "x", "t", attempts, "log", problem)

    assert is_red(receipt(0, 1))
    assert is_red(receipt(-11))
    for other in (receipt(), receipt(1, 0), receipt(1, problem="timed out")):
        assert not is_red(other)
