"""Machines and other tools: TLC checks what `machine export` writes, and `machine compare` reads documents."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.conformance import tlc
from tests.conftest import Detent


@tlc.needs_tlc
def test_tlc_checks_the_files_that_export_writes(detent: Detent, tmp_path: Path) -> None:
    done = detent("machine", "export", "orange", "--format", "tla", "--into", "model", cwd=tmp_path)
    assert done.out.splitlines()[:2] == ["wrote model/Orange.tla", "wrote model/Orange.cfg"]
    command = done.out.splitlines()[2].removeprefix("check it with: ").replace("/path/to/tla2tools.jar", str(tlc.jar()))
    ran = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True, timeout=240, check=False)
    situations = detent("machine", "check", "orange", "--json", cwd=tmp_path).json()["machines"][0]["situations"]
    assert f" {situations} distinct states found" in ran.stdout
    assert "No error has been found" in ran.stdout


def test_a_module_is_printed_or_given_as_json(detent: Detent, tmp_path: Path) -> None:
    text = detent("machine", "export", "global", "--format", "tla", cwd=tmp_path).out
    content = detent("machine", "export", "global", "--format", "tla", "--json", cwd=tmp_path).json()
    assert text == content["tla"]
    assert text.startswith("---- MODULE Global ----\n")
    assert text.rstrip().endswith("====")
    assert content["cfg"].startswith("INIT Init\nNEXT Next\n")


PLAN = """# Plan

```text
intake -> shape
shape -> implement | blocked | needs_user_decision
implement -> verify | blocked | needs_user_decision
verify -> review | repair | blocked | needs_user_decision
review -> done | repair | needs_user_decision
repair -> verify | blocked | needs_user_decision
```

| Transition | By | Gate |
|---|---|---|
| review -> done | agent or engine | the review passed |
"""


def test_a_document_that_agrees_is_equal(detent: Detent, tmp_path: Path) -> None:
    (tmp_path / "plan.md").write_text(PLAN)
    done = detent("machine", "compare", "phase", "plan.md", cwd=tmp_path)
    assert done.code == 0
    assert done.out.splitlines() == [
        "equal; map of states, line 4; table of line 12: 9 states, 17 moves",
        "  compared: states, moves, ends, actors of 1 move, gates of 1 move",
    ]


def test_differences_are_told_in_sentences_and_as_json(detent: Detent, tmp_path: Path) -> None:
    text = PLAN.replace("intake -> shape\n", "intake -> shape | done\n").replace("agent or engine", "person")
    (tmp_path / "plan.md").write_text(text.replace("review -> done | repair", "review -> done"))
    done = detent("machine", "compare", "phase", "plan.md", cwd=tmp_path)
    assert done.code == 1
    differences = [
        "only the document has the move intake -> done",
        "only the machine has the move review -> repair (review_to_repair)",
        "review -> done (review_to_done) is made by person in the document, by agent or engine in the machine",
    ]
    assert done.out.splitlines()[:4] == [
        "different in 3 points; map of states, line 4; table of line 12: 9 states, 17 moves",
        *(f"  - {line}" for line in differences),
    ]
    content = detent("machine", "compare", "phase", "plan.md", "--json", cwd=tmp_path).json()
    assert content["differences"] == differences
    assert content["equal"] is False
    assert content["missing_edges"] == [["intake", "done", ""]]
    assert content["compared"] == ["states", "moves", "ends", "actors", "gates"]


def test_a_document_about_another_machine_is_told_in_one_line(detent: Detent, tmp_path: Path) -> None:
    (tmp_path / "plan.md").write_text("```text\na -> b | c\nb -> c\n```\n")
    done = detent("machine", "compare", "global", "plan.md", cwd=tmp_path)
    assert done.code == 1
    assert done.out.splitlines() == [
        "different; map of states, line 2: 3 states, 3 moves",
        "  - no state in common: the document has a, b, c; the machine has "
        "planning, plan_review, codegen, review, test, accept, revert, done",
        "  compared: states, moves, ends",
    ]


MODULE = r"""---- MODULE Orange ----
VARIABLE status
(* One check per rule (R-*), then on. *)
Init == status = "pending"
Start == status = "pending" /\ status' = "working"
Next == Start
====
"""


def test_comment_that_ends_too_early_is_told_with_its_repair(detent: Detent, tmp_path: Path) -> None:
    (tmp_path / "Orange.tla").write_text(MODULE)
    done = detent("machine", "compare", "orange", "Orange.tla", cwd=tmp_path)
    assert done.code == 1
    assert done.out.splitlines()[1] == (
        '  - the document, line 3, column 26: "*)" inside the word "R-*)" ends the comment too early; '
        'write "R-* )", with one space before the bracket'
    )


def test_a_file_that_describes_no_machine_is_unreadable(detent: Detent, tmp_path: Path) -> None:
    (tmp_path / "plan.md").write_text("# Plan\n\nFirst we think.\n")
    done = detent("machine", "compare", "phase", "plan.md", cwd=tmp_path)
    assert done.code == 5
    assert "it has no TLA+ module, no state diagram" in done.err
    assert "docs/how-to/compare-a-document.md" in done.err


def test_without_the_parser_the_install_command_is_told(tmp_path: Path) -> None:
    (tmp_path / "Orange.tla").write_text(MODULE)
    words = ["machine", "compare", "orange", "Orange.tla"]
    program = (
        "import sys; sys.modules['tree_sitter'] = None; from detent.faces.cli.main import main; "
        f"sys.argv[1:] = {words}; sys.exit(main())"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 5
    assert "pip install 'detent[compare]'" in done.stderr
