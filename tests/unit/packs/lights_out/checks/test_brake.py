"""The brake: a build that outgrows its design stops, and says in what."""

from __future__ import annotations

from pathlib import Path

import pytest

from detent.core.machine import Gate
from detent.gates.judge import judge
from detent.packs.lights_out.words import build as say
from detent.words.proof import tree_not_scanned
from tests.unit.packs.lights_out.built import DESIGN, GATES, Built


@pytest.fixture
def built(tmp_path: Path) -> Built:
    return Built(tmp_path, "shed")


def brake(built: Built) -> str:
    fact = built.fact_of("brake")
    assert fact.ok == bool(fact.note)
    return fact.note


def test_a_build_as_designed_does_not_brake(built: Built) -> None:
    assert brake(built) == ""
    assert built.fact_of("brake").why == say.within_design()


def test_a_measurement_of_the_engine_is_not_by_hand(built: Built) -> None:
    built.write("words.py", "\n" * 301)
    fact = built.fact_of("brake", since="entry")
    assert (fact.ok, fact.by_hand, fact.proof) == (True, False, "tree-1")


def test_without_a_scan_the_brake_is_unknown(built: Built) -> None:
    gate = Gate("ours", "brake", GATES["brake"], "task", "do it")
    why = tree_not_scanned()
    fact = judge(built.seen(gate), ["ours"])["ours"]  # the changes are unknown
    assert (fact.ok, fact.is_known, fact.why) == (False, False, why)
    built.has_looked = False
    fact = built.fact_of("brake")
    assert (fact.ok, fact.is_known, fact.why) == (False, False, why)


def test_what_was_there_before_is_not_the_builds(built: Built) -> None:
    built.before = ("old.py", "requirements.txt", *(f"old/{number}.py" for number in range(9)))
    for name in built.before:
        built.write(name, "flask==1.0\n" * 301)
    assert brake(built) == ""
    built.before = ()
    assert all(word in brake(built) for word in ("files, and", "301 lines", "flask is a dependency"))


def test_more_than_twice_the_files_brake(built: Built) -> None:
    built.replace_section(DESIGN, "Directory Structure", "```\nwords.py\ntests/\n  test_words.py\n```")
    ours = ["a.py", "b.py"]
    for name in ours:
        built.write(name, "")
    assert brake(built) == ""
    built.write("c.py", "")
    assert brake(built) == say.too_many_files(5, "Directory Structure", 2, 2)
    built.write("node_modules/x.js", "")
    built.replace_section(DESIGN, "Complexity Exceptions", "- `c.py`: it is made by a program")
    assert brake(built) == ""


@pytest.mark.parametrize(
    ("name", "is_source"), [("words.py", True), ("run", True), ("uv.lock", False), ("a.csv", False)]
)
def test_a_source_file_over_300_lines_brakes(built: Built, name: str, is_source: bool) -> None:
    built.write(name, "\n" * 300)
    assert brake(built) == ""
    built.write(name, "\n" * 301)
    assert (brake(built) == say.too_long(300, [(name, 301)])) is is_source
    built.replace_section(DESIGN, "Complexity Exceptions", f"- `{name}`: a table, one line for each word")
    assert brake(built) == ""


def test_a_dependency_that_the_design_does_not_name_brakes(built: Built) -> None:
    built.write("requirements.txt", "Foo_Bar==1.0\n")
    assert brake(built) == say.unplanned_dependency(["Foo_Bar"], "design.md")
    built.replace_section(DESIGN, "External Integrations", "- foo-bar: counts; failure: it stops")
    assert brake(built) == ""


def test_the_third_approach_to_one_problem_brakes(built: Built) -> None:
    first = "- problem: words with apostrophes; approach: split at white space\n"
    second = "- **Problem:** Words with  apostrophes; approach: a regular expression\n"
    built.write("scaffolding/approaches.md", f"# A\n\n## Approaches\n\n{first}{first}{second}")
    assert brake(built) == ""
    built.write("scaffolding/approaches.md", "# A\n\nNone was tried twice.\n")
    assert brake(built) == ""
    third = "- problem: words with apostrophes; approach: a library\n"
    other = "- problem: speed; approach: a library\n"
    built.write("scaffolding/approaches.md", f"# A\n\n## Approaches\n\n{first}{second}{other}")
    assert brake(built) == ""
    built.write("scaffolding/approaches.md", f"# A\n\n## Approaches\n\n{first}{second}{third}")
    assert brake(built) == say.third_approach([("words with apostrophes", 3)])
