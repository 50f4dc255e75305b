"""Sign-offs: one journal line is sign-off and move, bound to the tree and the files it was shown."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Unpack

import pytest

from detent.runner.step.anchor import anchor_ref
from detent.store.disk.digest import sha256_of
from tests.conftest import Completed, Detent, MakeRepo, Options

MACHINE = """
format  = 1
name    = "letter"
initial = "writing"

[store]
codec = "markdown_fields"
file  = "LETTER.md"
state = "State"
files = ["LETTER.md"]

[role.writer]
access = "write"
[field.Text]

[gate.written]
check  = "fields_filled"
fields = ["Text"]
fix    = "write something behind \\"Text:\\""
[gate.still_signed]
check = "signed_tree"
edge  = "sign"
fix   = "have it signed again: detent move reading"
[gate.same_words]
check = "signed_tree"
edge  = "sign"
files = ["words.txt"]
fix   = "have it signed again: detent move reading"

[state.writing]
role = "writer"
[state.reading]
[state.signed]
[state.sent]
end   = true
lands = true
[state.kept]
end = true

[[edge]]
name  = "hand_in"
from  = "writing"
to    = "reading"
by    = ["agent"]
needs = ["written"]
[[edge]]
name     = "sign"
from     = "reading"
to       = "signed"
by       = ["person"]
verb     = "approve"
sign_off = true
[[edge]]
name = "back"
from = "signed"
to   = "reading"
by   = ["person"]
[[edge]]
name  = "send"
from  = "signed"
to    = "sent"
by    = ["person"]
needs = ["still_signed"]
[[edge]]
name  = "keep"
from  = "signed"
to    = "kept"
by    = ["person"]
needs = ["same_words"]
"""
REFUSED = 1


class Letter:
    """A task of the small machine, in place, in state reading."""

    def __init__(self, detent: Detent, repo: MakeRepo, base: Path) -> None:
        self.detent = detent
        (base / "letter.toml").write_text(MACHINE, encoding="utf-8")
        self.repo, self.git = repo(), repo.git
        self.folder = base / "task"
        made = detent(
            "new", base / "letter.toml", "a letter", "--id", "t", "--in-place", "--dir", self.folder, cwd=self.repo
        )
        assert made.code == 0, made
        (self.folder / "LETTER.md").write_text("State: writing\nText: dear all\n", encoding="utf-8")
        (self.folder / "words.txt").write_text("dear all\n", encoding="utf-8")
        assert self("move", "reading", "t").code == 0

    def __call__(self, *words: str | Path, **more: Unpack[Options]) -> Completed:
        options: Options = {"cwd": self.repo, **more}
        return self.detent(*words, **options)

    @property
    def control(self) -> Path:
        return self.repo / ".git" / "detent" / "tasks" / "t"

    def entries(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.control / "journal.jsonl").read_bytes().splitlines()]

    def sign(self, *words: str) -> dict[str, Any]:
        done = self("approve", "t", "--reason", "well written", *words, "--json")
        assert done.code == 0, done
        found: dict[str, Any] = done.json()
        return found

    def forge(self, edge: str, change: Callable[[dict[str, Any]], None]) -> int:
        """Rewrite the line of a move with knowledge of the format: chain recomputed, cache and anchor gone."""
        previous, raws, line = "0" * 64, [], 0
        for entry in self.entries():
            if entry.get("edge") == edge:
                change(entry)
                line = entry["seq"]
            raws.append(json.dumps({**entry, "prev": previous}, ensure_ascii=False, separators=(",", ":")).encode())
            previous = sha256_of(raws[-1])
        (self.control / "journal.jsonl").write_bytes(b"\n".join(raws) + b"\n")
        (self.control / "snapshot.json").unlink()
        self.git(self.repo, "update-ref", "-d", anchor_ref("t"))
        return line

    def first_finding(self) -> tuple[int, str, str]:
        found = self("audit", "t", "--json")
        assert found.code == 1, found
        first = next(finding for finding in found.json()["findings"] if finding["line"])
        return first["line"], first["kind"], first["what"]


@pytest.fixture
def letter(detent: Detent, repo: MakeRepo, tmp_path: Path) -> Letter:
    return Letter(detent, repo, tmp_path)


def test_sign_off_and_move_are_one_line_about_one_tree(letter: Letter) -> None:
    tree = letter("diff", "t", "--json").json()["tree"]
    before = len(letter.entries())
    signed = letter.sign()
    (line,) = letter.entries()[before:]
    assert (line["kind"], line["edge"], line["by"], line["reason"]) == ("moved", "sign", "person", "well written")
    assert line["tree"] == tree
    assert set(line["signed"]["files"]) == {"LETTER.md", "words.txt"}
    assert all(line["signed"]["files"].values())
    assert (signed["signed"]["tree"], signed["signed"]["files"]) == (tree, line["signed"]["files"])
    assert letter("audit", "t").code == 0


def test_anchor_that_crash_prevented_is_made_by_the_next_command(letter: Letter) -> None:
    letter.sign()
    listed = ("for-each-ref", "--format=%(objectname)", anchor_ref("t"))
    anchored = letter.git(letter.repo, *listed)
    assert anchored
    letter.git(letter.repo, "update-ref", "-d", anchor_ref("t"))  # as if the engine died right after the line
    assert letter("move", "--edge", "no-such-move", "t").code == REFUSED
    assert letter.git(letter.repo, *listed) == anchored


def test_what_is_signed_is_shown_before_and_after(letter: Letter) -> None:
    tree = letter("diff", "t", "--json").json()["tree"]
    assert tree[:12] in letter("next", "t").out
    (waiting,) = letter("inbox", "--json").json()["waiting"]
    assert "detent diff t" in waiting["why"]
    assert waiting["run"] == "detent approve t"
    said = letter("approve", "t").out
    assert f"signed: tree {tree[:12]}" in said
    assert "words.txt" in said


def test_a_sign_off_with_a_tree_signs_only_that_tree(letter: Letter) -> None:
    tree = letter("diff", "t", "--json").json()["tree"]
    (letter.repo / "app.py").write_text("changed\n", encoding="utf-8")
    done = letter("approve", "t", "--tree", tree[:12])
    assert done.code == REFUSED, done
    assert letter.entries()[-1]["to"] == "reading"
    now = letter("diff", "t", "--json").json()["tree"]
    assert letter.sign("--tree", now[:12])["to"] == "signed"


def test_an_edge_can_demand_the_very_tree_that_was_signed(letter: Letter) -> None:
    letter.sign()
    (letter.repo / "app.py").write_text("changed\n", encoding="utf-8")
    done = letter("move", "sent", "t")
    assert done.code == REFUSED, done
    assert "signed by sign" in done.out
    letter("move", "reading", "t")
    letter.sign()
    assert letter("move", "sent", "t").code == 0
    assert letter("audit", "t").code == 0


def test_and_the_very_files_of_the_task_folder(letter: Letter) -> None:
    letter.sign()
    (letter.folder / "other.txt").write_text("not named by the gate\n", encoding="utf-8")
    (letter.folder / "words.txt").write_text("dear none\n", encoding="utf-8")
    done = letter("move", "kept", "t")
    assert done.code == REFUSED, done
    assert "words.txt is not what" in done.out
    (letter.folder / "words.txt").write_text("dear all\n", encoding="utf-8")
    assert letter("move", "kept", "t").code == 0


@pytest.mark.parametrize("words", [("move", "signed"), ("move", "--edge", "sign"), ("move", "signed", "--as", "agent")])
def test_an_agent_can_not_sign(letter: Letter, words: tuple[str, ...]) -> None:
    inside = {} if "--as" in words else {"DETENT_ROLE": "writer", "DETENT_TASK_DIR": str(letter.folder)}
    done = letter(*words, "t", environment=inside)
    assert done.code == REFUSED, done
    assert letter.entries()[-1].get("to", "") != "signed"


def test_a_file_that_names_the_signed_state_is_put_back(letter: Letter) -> None:
    text = (letter.folder / "LETTER.md").read_text(encoding="utf-8")
    (letter.folder / "LETTER.md").write_text(text.replace("State: reading", "State: signed"), encoding="utf-8")
    letter("move", "t")
    assert "State: reading" in (letter.folder / "LETTER.md").read_text(encoding="utf-8")
    assert all(entry.get("edge") != "sign" for entry in letter.entries())


@pytest.mark.parametrize(
    ("edge", "change", "kind", "words"),
    [
        ("sign", {"by": "agent"}, "decision", "only person may take this move"),
        ("sign", {"tree": ""}, "sign-off", "without the tree"),
        ("sign", {"signed": {}}, "sign-off", "without the tree"),
        ("hand_in", {"signed": {"files": {"a": "b"}}}, "sign-off", "is no sign-off"),
        ("send", {"tree": "f" * 40}, "proof", "still_signed was open then and can't be shown now"),
    ],
)
def test_audit_names_a_bad_sign_off_first(
    letter: Letter, edge: str, change: dict[str, object], kind: str, words: str
) -> None:
    letter.sign()
    assert letter("move", "sent", "t").code == 0
    line = letter.forge(edge, lambda entry: entry.update(change))
    found = letter.first_finding()
    assert found[:2] == (line, kind), found
    assert words in found[2]


def test_a_machine_with_an_impossible_sign_off_does_not_load(letter: Letter, tmp_path: Path) -> None:
    (tmp_path / "wrong.toml").write_text(MACHINE.replace('edge  = "sign"', 'edge  = "hand_in"', 1), encoding="utf-8")
    done = letter("machine", "check", tmp_path / "wrong.toml")
    assert done.code != 0, done
    assert "gate still_signed: unknown sign-off 'hand_in'" in done.out + done.err


def test_word_without_a_move_names_the_moves_there_are(letter: Letter) -> None:
    assert letter("approve").code == 0
    refused = letter("approve")
    assert refused.code == REFUSED
    assert "nothing in signed waits for approve" in refused.out
    assert "it may lead to: reading, sent, kept" in refused.out
