"""What was built: lock files, empty work, and scanners' receipts."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from detent.core.machine import Gate
from detent.gates.commands import runs_of
from detent.gates.judge import judge
from detent.gates.seen import Seen
from detent.packs.lights_out.words import build as say
from detent.store.journal.receipts import Receipt, ReceiptStore
from detent.words.message import code_of
from tests.unit.gates.world import MACHINE, World
from tests.unit.packs.lights_out.built import GATES, READINESS, Built


@pytest.fixture
def built(tmp_path: Path) -> Built:
    return Built(tmp_path, "shed")


@pytest.mark.parametrize("check", ["lockfile", "no_placeholders"])
def test_the_example_passes(built: Built, check: str) -> None:
    assert built.fact_of(check).ok, built.fact_of(check)


@pytest.mark.parametrize("check", GATES)
def test_an_unscanned_tree_proves_no_build_and_no_failure(built: Built, check: str) -> None:
    built.has_looked = False
    gate = Gate("ours", check, GATES[check], "task", "do it")
    seen = built.seen(gate)
    gates = {**seen.machine.gates, "not_ours": Gate("not_ours", "not", {"of": ["ours"]}, "task", "do it")}
    facts = judge(seen.replace(machine=seen.machine.replace(gates=gates)), ["ours", "not_ours"])
    assert [fact.ok for fact in facts.values()] == [False, False]


@pytest.mark.parametrize("check", ["lockfile", "no_placeholders"])
def test_a_build_scan_of_the_engine_is_not_by_hand(built: Built, check: str) -> None:
    fact = built.fact_of(check, since="entry")
    assert (fact.ok, fact.by_hand, fact.proof) == (True, False, "tree-1")


# --- lock files ---

UNLOCKED = {
    "pyproject.toml": "[project]\nname = 'x'\ndependencies = ['flask>=2']\n",
    "web/pyproject.toml": "[tool.poetry.dependencies]\npython = '^3.11'\nflask = '*'\n",
    "requirements.txt": "flask>=2\n",
    "requirements/base.in": "flask\n",
    "dev-requirements.txt": "-e git+https://example.org/flask.git\n",
    "package.json": '{"devDependencies": {"flask": "^1"}}',
    "Cargo.toml": "[target.'cfg(unix)'.dependencies]\nflask = '1'\n",
    "go.mod": "module x\n\nrequire (\n\tflask v1.0.0\n)\n",
    "Gemfile": "source 'x'\n  gem 'flask'\n",
    "Pipfile": "[packages]\nflask = '*'\n",
    "setup.py": "setup(install_requires=['flask'])\n",
    "setup.cfg": "[options]\ninstall_requires = flask\n",
}


@pytest.mark.parametrize("path", UNLOCKED)
def test_a_declared_dependency_needs_a_lock_file(built: Built, path: str) -> None:
    built.write(path, UNLOCKED[path])
    fact = built.fact_of("lockfile")
    assert not fact.ok
    assert path in fact.why


@pytest.mark.parametrize(
    ("path", "lock", "text"),
    [
        ("pyproject.toml", "uv.lock", '[[package]]\nname = "flask"\nversion = "2.0"\n'),
        ("web/pyproject.toml", "poetry.lock", '[[package]]\nname = "Flask"\nversion = "2.0"\n'),
        ("requirements.txt", "requirements.lock", "flask==2.0\n"),
        ("requirements/base.in", "requirements/base.txt", "flask == 2.0 \\\n  --hash=sha256:00\n"),
        ("package.json", "package-lock.json", '{"packages": {"node_modules/flask": {}}}'),
        ("Cargo.toml", "Cargo.lock", '[[package]]\nname = "flask"\n'),
        ("go.mod", "go.sum", "flask v1.0.0 h1:x\n"),
        ("Gemfile", "Gemfile.lock", "GEM\n  specs:\n    flask (1.0)\n"),
    ],
)
def test_a_lock_file_has_to_hold_what_is_declared(built: Built, path: str, lock: str, text: str) -> None:
    built.write(path, UNLOCKED[path])
    for nothing in ("", "# flask\n", "flask-login==1.0\n"):
        built.write(lock, nothing)
        assert not built.fact_of("lockfile").ok, nothing
    built.write(lock, text)
    assert built.fact_of("lockfile").ok, built.fact_of("lockfile").why


@pytest.mark.parametrize(("path", "data"), [("pyproject.toml", b"[project"), ("package.json", b"[]")])
def test_a_manifest_that_cannot_be_read_is_closed(built: Built, path: str, data: bytes) -> None:
    built.path(path).write_bytes(data)
    assert code_of(built.fact_of("lockfile").why) == "build.manifest_unreadable"


def test_a_manifest_in_another_encoding_is_closed_and_not_unknown(built: Built) -> None:
    built.path("requirements.txt").write_bytes("flask\n".encode("utf-16"))
    gate = Gate("ours", "lockfile", {}, "task", "do it")
    seen = built.seen(gate)
    gates = {**seen.machine.gates, "not_ours": Gate("not_ours", "not", {"of": ["ours"]}, "task", "do it")}
    facts = judge(seen.replace(machine=seen.machine.replace(gates=gates)), ["ours", "not_ours"])
    assert [fact.ok for fact in facts.values()] == [False, True], facts


def test_manifests_of_others_are_theirs(built: Built) -> None:
    built.write("node_modules/x/package.json", UNLOCKED["package.json"])
    built.write("package.json", '{"name": "x"}')
    assert built.fact_of("lockfile").ok


# --- work that is only announced ---


@pytest.mark.parametrize(
    "line",
    [
        "    raise NotImplementedError",
        "    raise NotImplementedError('later')",
        "x = 1  # TODO: more",
        "# FIXME",
        "// XXX",
        "/* HACK */",
        "<!-- TODO -->",
        "-- TODO write it",
        "pass  # placeholder",
        "return 0  # stub for now",
        "    todo!()",
        "    unimplemented!()",
        "throw new Error('Not implemented')",
        "throw new NotImplementedException();",
        "@pytest.mark.skip",
        "@unittest.skip('later')",
        "it.skip('counts', f)",
        "#[ignore]",
    ],
)
def test_empty_work_in_file_named_for_a_criterion_is_closed(built: Built, line: str) -> None:
    count = built.read("words.py").count("\n")
    built.write("words.py", f"{built.read('words.py')}{line}\n")
    fact = built.fact_of("no_placeholders")
    assert not fact.ok
    assert f"words.py:{count + 1}" in fact.why


@pytest.mark.parametrize(
    "line",
    [
        "# todo items are kept in order",
        "TODO = 'todo'",
        "parser.add_argument('--stub', '--placeholder')",
        '<input placeholder="name">',
        "except NotImplementedError:",
        "# stubs are built by the server",
    ],
)
def test_words_that_only_look_like_it_are_let_be(built: Built, line: str) -> None:
    built.write("words.py", f"{built.read('words.py')}{line}\n")
    assert built.fact_of("no_placeholders").ok, built.fact_of("no_placeholders").why


def test_empty_work_in_any_changed_source_is_closed(built: Built) -> None:
    built.write("lib/extra.py", "# TODO\n")
    fact = built.fact_of("no_placeholders")
    assert (fact.ok, fact.why) == (False, say.stands_for_work(["lib/extra.py:1"]))


def test_untouched_and_non_source_files_may_announce_work(built: Built) -> None:
    built.write("old.py", "# TODO\n")
    built.before = ("old.py",)
    built.write("node_modules/left-pad/index.js", "// TODO\n")
    built.write("docs/notes.md", "# TODO\n")
    fact = built.fact_of("no_placeholders")
    assert fact.ok, fact.why


def test_empty_work_needs_a_plan_to_be_looked_for(built: Built) -> None:
    built.write(READINESS, "# Readiness\n\nAll is well.\n")
    fact = built.fact_of("no_placeholders")
    assert (fact.ok, fact.why == say.hand_over_names_no_file("readiness.md")) == (False, True)
    built.path(READINESS).unlink()
    fact = built.fact_of("no_placeholders")
    assert (fact.ok, fact.why == say.no_hand_over("readiness.md")) == (False, True)


def test_a_named_file_that_cannot_be_read_is_closed(built: Built) -> None:
    built.path("words.py").write_bytes(b"# \xff\n")
    fact = built.fact_of("no_placeholders")
    assert not fact.ok
    assert code_of(fact.why) == "build.stands_for_work"


# --- scanners ---


class Scanned:
    """A gate over a scanner, and the receipt it would find."""

    def __init__(self, world: World, check: str, **seen: Any) -> None:
        self.world, self.more = world, {"today": "2026-01-02", **seen}
        self.gate = Gate("ours", check, {}, "entry", "do it")
        away = Gate("not_ours", "not", {"of": ["ours"]}, "task", "do it")
        world.machine = MACHINE.replace(gates={**MACHINE.gates, "ours": self.gate, "not_ours": away})

    def seen(self) -> Seen:
        return self.world.seen().replace(**self.more)

    def line(self) -> str:
        return runs_of(self.gate, self.seen())[0].command.line

    def receipt(self, code: int, problem: str = "") -> None:
        run = runs_of(self.gate, self.seen())[0]
        made = Receipt(run.key, run.command.line, "tree-1", (code,), "some.log", problem, said="a line\nsome words")
        self.world.proved[run.key] = ReceiptStore(str(self.world.receipts)).save(made).digest

    def facts(self) -> tuple[bool, bool]:
        """Whether it is well, and whether it is known not to be."""
        found = judge(self.seen(), ["ours", "not_ours"])
        return found["ours"].ok, found["not_ours"].ok


@pytest.mark.parametrize("check", ["secret_scan", "dependency_audit"])
@pytest.mark.parametrize(
    ("code", "problem", "facts"),
    [
        (0, "", (True, False)),
        (1, "", (False, True)),
        (3, "", (False, False)),
        (2, "", (False, False)),
        (127, "", (False, False)),
        (1, "timed out after 600 s", (False, False)),
    ],
)
def test_a_scan_has_three_answers(world: World, check: str, code: int, problem: str, facts: tuple[bool, bool]) -> None:
    scanned = Scanned(world, check)
    assert scanned.facts() == (False, False)
    scanned.receipt(code, problem)
    assert scanned.facts() == facts


@pytest.mark.parametrize(
    ("code", "problem", "why"),
    [
        (0, "", ""),
        (1, "", say.scan_found("secret scan", "a line\nsome words")),
        (3, "", say.scan_proves_nothing("secret scan", "exit 3", "a line\nsome words")),
        (
            1,
            "timed out after 600 s",
            say.scan_proves_nothing("secret scan", "timed out after 600 s", "a line\nsome words"),
        ),
    ],
)
def test_a_secret_scan_result_is_not_by_hand(world: World, code: int, problem: str, why: str) -> None:
    scanned = Scanned(world, "secret_scan")
    scanned.receipt(code, problem)
    fact = judge(scanned.seen(), ["ours"])["ours"]
    assert (fact.why, fact.by_hand) == (why, False)


def test_audit_is_good_for_day_and_one_set_of_answers(world: World) -> None:
    scanned = Scanned(world, "dependency_audit")
    scanned.receipt(0)
    for more in ({"today": "2026-01-03"}, {"audit": {"accept": ["CVE-1"]}}, {"audit": {"osv_url": "http://x"}}):
        assert Scanned(world, "dependency_audit", **more).facts() == (False, False)
    assert scanned.facts() == (True, False)


def test_a_scanner_is_started_apart_from_the_project(world: World) -> None:
    line = Scanned(world, "dependency_audit", audit={"osv_url": "http://x/?a=1&b=2", "accept": ["CVE-1"]}).line()
    assert line.startswith(f"{sys.executable} -I -X utf8 -m detent.packs.lights_out.dependency_audit")
    assert line.endswith("--on 2026-01-02 --osv-url 'http://x/?a=1&b=2' --accept CVE-1")
    line = Scanned(world, "secret_scan").line()
    assert line == f"{sys.executable} -I -X utf8 -m detent.packs.lights_out.secret_scan"
