"""A deployment counts on its own tree alone; where a person must speak first, nothing is known either way."""

from __future__ import annotations

from typing import Any

import pytest

from detent.core.machine import Gate
from detent.core.values import Fact
from detent.gates.judge import judge
from detent.gates.seen import Seen
from detent.packs.lights_out.checks.deployed import wanted_word
from detent.packs.lights_out.deploy_plan import EXAMPLE, Plan, read_plan
from detent.packs.lights_out.words import deploying as say
from detent.store.journal.memory import SeenTree, deployment_of
from detent.words.message import code_of
from detent.words.proof import tree_not_scanned
from tests.unit.gates.world import MACHINE, World

COMMANDS = {
    "Pre-flight": "ssh host true",
    "Deploy": "./deploy",
    "Check": "curl host",
    "Rollback": "./deploy --previous",
}
VISIT, EARLIER = "verify:2", "verify:1"


class Deploying:
    """A project that names its deploy commands, and what the journal says of deployments."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.deploy: dict[str, Any] = {}
        self.trees = {"verify-it": SeenTree(tree="tree-1", seq=7)}
        self.differs: dict[str, tuple[tuple[str, str], ...]] = {"tree-1": (), "tree-0": (("M", "app.py"),)}
        self.name(COMMANDS)

    def name(self, commands: dict[str, str]) -> None:
        lines = "\n".join(f"- {label}: `{line}`" for label, line in commands.items())
        (self.world.tree / "preferences.md").write_text(f"# P\n\n## Deploy Commands\n\n{lines}\n", encoding="utf-8")

    @property
    def plan(self) -> Plan:
        found = read_plan((self.world.tree / "preferences.md").read_text(encoding="utf-8"))[0]
        assert found is not None
        return found

    def confirm(self, tree: str = "tree-1") -> None:
        word = {"tree": tree, "name": "ada", "reason": "ours", "unseen": False, "edges": []}
        self.deploy = {"confirmed": self.plan.digest, "word": word}

    def end(self, **changes: Any) -> None:
        """A deployment that worked, in this visit and on this tree, but for what is given."""
        ended = {"plan": self.plan.digest, "tree": "tree-1", "visit": VISIT, "ok": True, "why": "", "proof": "p"}
        self.deploy["ended"] = {**ended, **changes}

    def fact(self, check: str = "deployed") -> Fact:
        gate = self.gate(check)
        self.world.machine = MACHINE.replace(gates={**MACHINE.gates, "ours": gate})
        return judge(self.seen(), ["ours"])["ours"]

    def gate(self, check: str = "deployed") -> Gate:
        params = {"preferences": "tree:preferences.md"}
        settings = {"besides": ["README.md"], "edges": ["verify-it"]} if check == "deployed" else {}
        return Gate("ours", check, {**params, **settings}, "entry", "do it")

    def seen(self) -> Seen:
        return self.world.seen().replace(
            deploy=deployment_of(self.deploy), trees=self.trees, differences=self.differs.get
        )

    def word(self) -> str:
        return wanted_word(self.gate(), self.plan, self.seen())

    def stands(self) -> str:
        """In one word: yes, no (and known so), unknown (a person must speak) or pending (it can be run)."""
        fact = self.fact()
        if fact.ok:
            return "yes"
        assert fact.why
        return "pending" if fact.pending else "no" if fact.is_known else "unknown"


@pytest.fixture
def deploying(world: World) -> Deploying:
    return Deploying(world)


# --- the commands have to be named ---


def test_commands_that_are_named_open_the_early_gate(deploying: Deploying) -> None:
    fact = deploying.fact("deploy_named")
    assert (fact.ok, fact.why) == (True, "")


@pytest.mark.parametrize("check", ["deploy_named", "deployed"])
def test_commands_that_lack_are_named_with_what_to_write(deploying: Deploying, check: str) -> None:
    deploying.confirm()
    deploying.name({label: line for label, line in COMMANDS.items() if label != "Rollback"})
    fact = deploying.fact(check)
    why = say.plan_problem(
        "preferences.md",
        say.command_missing("Deploy Commands", ["Rollback"]),
        '"## Deploy Commands" with "- Pre-flight: `command`", and the same for Deploy, Check and Rollback',
    )
    assert (fact.ok, fact.is_known, fact.pending, fact.why) == (False, True, False, why)
    assert (
        fact.fix
        == say.plan_problem("preferences.md", say.command_missing("Deploy Commands", ["Rollback"]), EXAMPLE).next_step
    )
    (deploying.world.tree / "preferences.md").unlink()
    fact = deploying.fact(check)
    assert (fact.ok, fact.why) == (
        False,
        say.plan_problem(
            "preferences.md",
            say.no_section("Deploy Commands"),
            '"## Deploy Commands" with "- Pre-flight: `command`", and the same for Deploy, Check and Rollback',
        ),
    )


# --- a person speaks first ---


def test_an_unconfirmed_plan_is_not_deployed(deploying: Deploying) -> None:
    fact = deploying.fact()
    assert (fact.ok, fact.is_known, fact.pending) == (False, False, False)
    assert fact.why == say.confirm_first(
        (
            ("Pre-flight", "ssh host true"),
            ("Deploy", "./deploy"),
            ("Check", "curl host"),
            ("Rollback", "./deploy --previous"),
        )
    )
    assert fact.fix == say.look_and_approve()


def test_a_word_is_about_these_very_commands(deploying: Deploying) -> None:
    deploying.confirm()
    assert deploying.stands() == "pending"
    deploying.name({**COMMANDS, "Deploy": "./deploy --now"})
    assert deploying.stands() == "unknown"


def test_what_began_and_did_not_end_is_not_repeated_unasked(deploying: Deploying) -> None:
    deploying.confirm()
    deploying.deploy["begun"] = {"time": "2026-01-02T03:04:05Z"}
    assert deploying.stands() == "unknown"
    assert code_of(deploying.fact().why) == "deploying.end_unknown"
    deploying.end()
    assert deploying.stands() == "unknown", "an earlier end says nothing about what began since"


def test_files_that_changed_since_they_were_deployed_need_another_word(deploying: Deploying) -> None:
    deploying.confirm()
    deploying.end(tree="tree-0")
    assert deploying.stands() == "unknown"
    assert deploying.fact().why == say.changed_since_deployed()


def test_where_the_tree_is_not_known_nothing_is(deploying: Deploying) -> None:
    deploying.confirm()
    deploying.end()
    deploying.world.tree_id = ""
    assert deploying.stands() == "unknown"
    assert deploying.fact().why == tree_not_scanned()
    assert deploying.word() == "", "nobody is asked about it either"
    deploying.deploy = {}
    assert deploying.word() != "", "the commands need a word on any tree"


# --- a word is about files ---


def test_files_changed_since_the_word_need_another_one(deploying: Deploying) -> None:
    deploying.confirm("tree-0")
    assert deploying.stands() == "unknown"
    assert deploying.fact().why == (say.changed_since_word(("app.py",), "ada", "tree-0", unseen=False))


def test_documents_changed_since_the_word_need_none(deploying: Deploying) -> None:
    deploying.confirm("tree-0")
    deploying.differs["tree-0"] = (("M", "README.md"),)
    assert deploying.stands() == "pending"


def test_word_that_names_no_files_counts_for_none(deploying: Deploying) -> None:
    deploying.confirm("")
    assert deploying.stands() == "unknown"
    assert deploying.fact().why == say.word_names_no_files()
    del deploying.deploy["word"]
    assert deploying.stands() == "unknown", "a line of an older journal"


def test_uncompared_trees_are_not_deployed(deploying: Deploying) -> None:
    deploying.confirm("tree-9")
    assert deploying.stands() == "unknown"
    assert deploying.word() == "", "a reader asks nobody about what it does not know"


def test_word_names_the_files_that_were_not_verified(deploying: Deploying) -> None:
    deploying.trees["verify-it"] = SeenTree(tree="tree-0", seq=7)
    assert code_of(deploying.word()) == "deploying.changed_since_judged"
    deploying.trees.clear()
    assert code_of(deploying.word()) == "deploying.never_verified"


# --- what was run ---


def test_commands_that_were_confirmed_can_be_run(deploying: Deploying) -> None:
    deploying.confirm()
    fact = deploying.fact()
    assert (fact.ok, fact.pending) == (False, True)
    assert fact.why == say.not_deployed()


def test_what_engine_deployed_opens_gate_and_tells_the_way_back(deploying: Deploying) -> None:
    deploying.confirm()
    deploying.end()
    fact = deploying.fact()
    assert (fact.ok, fact.why, fact.proof, fact.by_hand) == (True, "", "p", False)
    assert fact.note == say.rollback_is("./deploy --previous")


@pytest.mark.parametrize(
    ("ended", "stands"),
    [
        ({"visit": EARLIER}, "yes"),  # it is there, whenever that was
        ({"visit": EARLIER, "tree": "tree-0"}, "pending"),
        ({"visit": EARLIER, "ok": False, "why": "Check failed (exit 1)"}, "pending"),
        ({"ok": False, "why": "Check failed (exit 1)"}, "no"),
        ({"ok": False, "why": "Check failed (exit 1)", "tree": "tree-0"}, "no"),
        ({"plan": "of other commands"}, "no"),
        ({"plan": "of other commands", "visit": EARLIER}, "pending"),
    ],
)
def test_end_counts_for_its_commands_its_tree_and_its_visit(
    deploying: Deploying, ended: dict[str, Any], stands: str
) -> None:
    deploying.confirm()
    deploying.end(**ended)
    assert deploying.stands() == stands


def test_a_failed_deployment_is_not_repeated_in_the_same_visit(deploying: Deploying) -> None:
    deploying.world.snapshot = deploying.world.snapshot.replace(visits={})
    deploying.confirm()
    deploying.end(ok=False, why="Check failed (exit 1)", visit="verify:1")
    fact = deploying.fact()
    assert (fact.ok, fact.pending, fact.is_known) == (False, False, True)
    assert fact.why == say.deploy_failed("Check failed (exit 1)", "./deploy --previous")
