"""Everything a person, a tool or a disk can hand us that is wrong: a clear error, no traceback, and nothing lost."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from detent.store.disk.digest import sha256_of
from tests.conftest import COMMAND_TIMEOUT_S, Completed, Detent, MakeRepo
from tests.e2e.clone_task import CloneTask
from tests.e2e.phase_task import ID, PhaseTask

At = Callable[[str], PhaseTask]
Spoil = Callable[[Path], object]


def assert_clear(done: Completed, code: int, *words: str) -> str:
    """The documented exit code, the words that must be said, a next step, and no trace of our insides."""
    said = done.out + done.err
    assert done.code == code, done
    for word in words:
        assert word in said, done
    assert "next:" in said, done
    for inside in ("Traceback", 'File "', "bug:"):
        assert inside not in said, done
    return said


def assert_goes_on(task: PhaseTask) -> None:
    """The journal is whole, and the task can still be worked on."""
    audit = task("audit", task.id, cwd=task.repo)
    assert audit.code == 0, audit
    task.candidate("made after the repair\n")
    done = task("move", "verify", task.id, cwd=task.repo)
    assert done.code == 0, done


# --- the main file ---


def _link_to_passwd(path: Path) -> None:
    path.unlink()
    path.symlink_to("/etc/passwd")


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "inside.txt").write_text("kept\n", encoding="utf-8")


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _huge(path: Path) -> None:
    with path.open("ab") as file:
        file.truncate(50_000_000)


SPOILS: dict[str, tuple[Spoil, str]] = {
    "empty": (lambda path: path.write_bytes(b""), "is empty"),
    "blank": (lambda path: path.write_bytes(b"\n \r\n\t"), "is empty"),
    "binary": (lambda path: path.write_bytes(b"Phase: done\n\0\xff\xfe"), "binary"),
    "Latin-1": (lambda path: path.write_bytes(b"Phase: done\n\xff\xfe"), "UTF-8"),
    "huge": (_huge, "50000000 bytes, at most 4000000"),
    "link": (_link_to_passwd, "symbolic link"),
    "folder": (_folder, "not a plain file"),
    "pipe": (_pipe, "not a plain file"),
    "gone": (lambda path: path.unlink(), "is missing"),
}


@pytest.mark.parametrize("name", SPOILS)
def test_a_damaged_state_file_is_named_and_can_be_repaired(at: At, name: str) -> None:
    spoil, problem = SPOILS[name]
    task = at("implement")
    task.set({"Current result": "half way"})
    task.move("verify", expect=1)  # the engine has seen these words
    before = task.history()
    spoil(task.state_file)
    status = task("status", ID, cwd=task.repo)
    assert_clear(status, 5, str(task.state_file), problem, "detent doctor --repair words")
    assert_clear(task("move", "verify", ID, cwd=task.repo), 5, str(task.state_file), problem, "detent doctor --repair")
    assert task.history() == before
    assert_clear(task("doctor", cwd=task.repo), 5, problem)
    repaired = task("doctor", "--repair", ID, cwd=task.repo)
    assert repaired.code == 0, repaired
    assert os.path.lexists(task.folder / "STATE.md.broken-1") == (name != "gone")
    assert task.field("Phase") == "implement"
    assert_goes_on(task)


@pytest.mark.parametrize("name", SPOILS)
def test_a_damaged_evidence_file_proves_nothing_and_can_be_repaired(at: At, name: str) -> None:
    spoil, problem = SPOILS[name]
    task = at("verify")
    task.section("Failed checks", "a reason to repair")
    spoil(task.evidence_file)
    said = assert_clear(task("move", "repair"), 1, "EVIDENCE.md", "(gate failures_named)")
    if name in ("binary", "Latin-1", "huge", "link", "folder", "pipe"):
        assert problem in said
        assert_clear(task("doctor", ID), 5, str(task.evidence_file), problem, "detent doctor --repair words")
    if name != "gone":
        assert os.path.lexists(task.evidence_file)
    assert task("doctor", "--repair", ID).code == 0
    if name in ("binary", "Latin-1", "huge", "link", "folder", "pipe"):
        assert os.path.lexists(task.folder / "EVIDENCE.md.broken-1")
    if name not in ("empty", "blank"):
        task.section("Failed checks", "a reason to repair")
        task.move("repair")
    assert task("audit").code == 0


def test_a_state_file_linked_to_another_tasks_is_not_followed(at: At) -> None:
    task = at("implement")
    other = task.folder.parent / "other"
    assert task("new", "another", "--id", "other", "--dir", other, cwd=task.repo).code == 0
    before = (other / "STATE.md").read_bytes()
    task.state_file.unlink()
    task.state_file.symlink_to(other / "STATE.md")
    assert_clear(task("move", "verify", ID, cwd=task.repo), 5, "symbolic link")
    assert task("doctor", "--repair", ID, cwd=task.repo).code == 0
    assert (other / "STATE.md").read_bytes() == before
    assert not task.state_file.is_symlink()
    assert_goes_on(task)


def test_a_state_file_that_cannot_be_written(at: At) -> None:
    task = at("implement")
    task.candidate()
    seen = task.state_file.read_bytes()
    script = (
        'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" || exit 77; shift; exec "$@"'  # only in this namespace
    )
    words = ["unshare", "-Urm", "sh", "-c", script, "sh", str(task.folder)]
    done = subprocess.run(
        [*words, sys.executable, "-m", "detent", "move", "verify", ID],
        cwd=task.repo,
        env=task.detent.environment,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    if done.returncode in (77, 127) or "unshare" in done.stderr:
        pytest.skip(f"no mount namespace for a read-only folder here: {done.stderr.strip()}")
    assert_clear(Completed((), done.returncode, done.stdout, done.stderr), 5, str(task.folder), "read-only")
    assert task.state_file.read_bytes() == seen
    # What was journaled is true, and the next command brings the file up to it.
    assert task("move", "verify", ID, cwd=task.repo).code == 0
    assert (task.state(), task.field("Phase")) == ("verify", "verify")
    assert task("audit", ID, cwd=task.repo).code == 0


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("CRLF", lambda data: data.replace(b"\n", b"\r\n")),
        ("BOM", lambda data: b"\xef\xbb\xbf" + data),
        ("no last line end", lambda data: data.rstrip(b"\n")),
        ("bold", lambda data: data.replace(b"Phase:", b"**Phase:**")),
        ("list", lambda data: data.replace(b"Phase:", b"- Phase:")),
        ("no title", lambda data: data.split(b"\n", 2)[2]),
        ("non-ASCII", lambda data: data.replace(b"Current result:", "Current result: größer ☃".encode())),
    ],
)
def test_other_ways_to_write_the_file_keep_every_byte(at: At, name: str, change: Callable[[bytes], bytes]) -> None:
    task = at("implement")
    task.candidate()
    task.state_file.write_bytes(change(task.state_file.read_bytes()))
    before = task.state_file.read_bytes()
    done = task("move", "verify")
    assert done.code == 0, done
    after = task.state_file.read_bytes()
    changed = {b"Phase", b"Last updated"}
    for old, new in zip(before.splitlines(keepends=True), after.splitlines(keepends=True), strict=True):
        if old != new:
            assert any(label in old and label in new for label in changed), (name, old, new)
            assert old.endswith(b"\r\n") == new.endswith(b"\r\n")
    assert task.state() == "verify"


@pytest.mark.parametrize(
    ("name", "change", "note"),
    [
        ("two lines", lambda text: f"{text}\nPhase: done\n", '"Phase:" stands there 2 times; the first one counts'),
        ("fenced", lambda text: text.replace("Phase: implement", "```\nPhase: done\n```"), 'no "Phase:" line'),
        ("comment", lambda text: text.replace("Phase: implement", "<!-- Phase: done -->"), 'no "Phase:" line'),
        ("quoted", lambda text: text.replace("Phase: implement", "> Phase: done"), 'no "Phase:" line'),
        ("removed", lambda text: text.replace("Phase: implement\n", ""), 'no "Phase:" line'),
        ("no value", lambda text: text.replace("Phase: implement", "Phase:"), 'no "Phase:" line'),
    ],
)
def test_a_doubtful_state_line_is_reported_and_repaired(
    at: At, name: str, change: Callable[[str], str], note: str
) -> None:
    task = at("implement")
    task.candidate()
    task.state_file.write_text(change(task.state_file.read_text(encoding="utf-8")), encoding="utf-8")
    shown = task.json("status")
    assert note in " ".join(shown["problems"]), shown
    assert (shown["state"], shown["request"]) == ("implement", "")
    task.move("verify")
    text = task.state_file.read_text(encoding="utf-8")
    assert "\nPhase: verify\n" in text
    assert "done" in text or name in ("removed", "no value")


def test_unknown_state_in_the_file_is_refused_with_the_list(at: At) -> None:
    task = at("implement")
    task.set({"Phase": "flying"})
    said = assert_clear(task("move"), 1, "has no state or move 'flying'")
    assert "verify, blocked, needs_user_decision" in said
    assert task.field("Phase") == "implement"


# --- the control folder ---


def test_a_torn_last_line_of_the_journal_never_happened(at: At) -> None:
    task = at("implement")
    journal = task.control / "journal.jsonl"
    whole = journal.read_bytes()
    journal.write_bytes(whole + b'{"seq":4,"time":"20')
    assert task.json("status", ID)["state"] == "implement"
    assert journal.read_bytes().startswith(whole)
    assert len(task.history()) == 3
    assert_goes_on(task)


def _changed_in_the_middle(data: bytes) -> bytes:
    return data.replace(b'"to":"shape"', b'"to":"shade"', 1)


@pytest.mark.parametrize("cache", ["kept", "lost"])
def test_damage_in_the_middle_of_the_journal_names_the_line(at: At, cache: str) -> None:
    task = at("implement")
    journal = task.control / "journal.jsonl"
    whole = journal.read_bytes()
    journal.write_bytes(_changed_in_the_middle(whole))
    assert journal.read_bytes() != whole
    if cache == "lost":
        (task.control / "snapshot.json").unlink()
        assert_clear(task("status", ID, cwd=task.repo), 5, "damaged in line 3", str(journal), "backup")
    assert_clear(task("history", ID, cwd=task.repo), 5, "damaged in line 3", str(journal), "backup")
    assert_clear(task("doctor", cwd=task.repo), 5, "damaged in line 3")
    audit = task("audit", ID, cwd=task.repo)
    assert audit.code == 1
    assert "line 2" in audit.out
    journal.write_bytes(whole)
    assert_goes_on(task)


@pytest.mark.parametrize(
    "cut",
    [
        lambda data: b"".join(data.splitlines(keepends=True)[:-1]),
        lambda data: data[:-20],
        lambda data: data[:0],
    ],
    ids=["a line short", "half a line short", "emptied"],
)
def test_a_journal_that_lost_acknowledged_lines_is_not_trusted(at: At, cut: Callable[[bytes], bytes]) -> None:
    task = at("implement")
    journal = task.control / "journal.jsonl"
    whole = journal.read_bytes()
    journal.write_bytes(cut(whole))
    left = journal.read_bytes()
    for words in (("status", ID), ("next", ID), ("move", "verify", ID), ("status",)):
        assert_clear(task(*words, cwd=task.repo), 5, str(journal), "backup")
    assert journal.read_bytes() == left, "a damaged journal is evidence; nobody writes to it"
    listed = task("list", "--json", cwd=task.repo).json()["tasks"]
    assert [(row["id"], row["state"], row["over"], row["dead"]) for row in listed] == [(ID, "unreadable", False, False)]
    assert task("audit", ID, cwd=task.repo).code == 1
    journal.write_bytes(whole)
    assert_goes_on(task)


def test_a_deleted_journal_is_no_free_name(at: At) -> None:
    task = at("implement")
    journal = task.control / "journal.jsonl"
    whole = journal.read_bytes()
    state = task.state_file.read_bytes()
    journal.unlink()
    assert_clear(task("status"), 5, "no journal", "backup")
    again = task("new", "count", "--id", ID, "--dir", task.folder, cwd=task.repo)
    assert again.code in (1, 2), again
    assert task.state_file.read_bytes() == state
    journal.write_bytes(whole)
    assert_goes_on(task)


@pytest.mark.parametrize("content", [None, b"", b"\xff{", b"[]", b'{"schema": 1}', b'{"schema": 999}'], ids=repr)
def test_the_cache_is_only_a_cache(at: At, content: bytes | None) -> None:
    task = at("implement")
    cache = task.control / "snapshot.json"
    if content is None:
        cache.unlink()
    else:
        cache.write_bytes(content)
    assert task.json("status", ID)["state"] == "implement"
    assert_goes_on(task)


def test_a_lost_pinned_machine_is_named(at: At) -> None:
    task = at("implement")
    machines = task.repo / ".git" / "detent" / "machines"
    kept = machines.rename(task.repo / "kept")
    assert_clear(task("status", ID), 5, "machine 'phase' this task began with is missing", str(machines), "backup")
    assert_clear(task("status", cwd=task.repo), 5, "is missing")
    assert "unreadable" in task("list", cwd=task.repo).out
    kept.rename(machines)
    assert_goes_on(task)


def test_a_machine_of_a_newer_detent_hides_no_other_task(at: At) -> None:
    """Two versions at one repository: the older one says what it can't read, and shows the rest."""
    task = at("implement")
    assert task("new", "later", "--id", "later", cwd=task.repo).code == 0
    journal = task.control.parent / "later" / "journal.jsonl"
    (line,) = journal.read_text(encoding="utf-8").splitlines()
    digest = json.loads(line)["digest"]
    machines = task.repo / ".git" / "detent" / "machines"
    newer = json.loads((machines / f"{digest}.json").read_bytes()) | {"newer": 1}
    data = json.dumps(newer).encode()
    (machines / f"{sha256_of(data)}.json").write_bytes(data)
    journal.write_text(line.replace(digest, sha256_of(data)) + "\n", encoding="utf-8")
    (journal.parent / "snapshot.json").unlink()
    why = "this version of detent can't read the machine 'phase' this task began with: top level: unknown key 'newer'"
    assert_clear(task("status", "later", cwd=task.repo), 5, why, "a newer one")
    listed = {row["id"]: row["state"] for row in task("list", "--json", cwd=task.repo).json()["tasks"]}
    assert listed == {ID: "implement", "later": "unreadable"}
    assert [row["id"] for row in task("inbox", "--json", cwd=task.repo).json()["waiting"]] == ["later"]
    assert_goes_on(task)


def test_a_copied_control_folder_is_no_second_task(at: At) -> None:
    task = at("implement")
    shutil.copytree(task.control, task.control.parent / "copy")
    for words in (("status", "copy"), ("move", "verify", "copy")):
        assert_clear(task(*words, cwd=task.repo), 5, f"the journal of task {ID}, not of copy", "remove its folder")
    assert "unreadable" in task("list", cwd=task.repo).out
    assert_goes_on(task)


@pytest.mark.parametrize(
    "pointer", [b"/nowhere/tasks/words\n", b"", b"\n", b"\xff\xfe\0", b"x" * 9000], ids=["nowhere", "0", "1", "2", "3"]
)
def test_wrong_pointer_is_named_and_the_task_found_by_name(at: At, pointer: bytes) -> None:
    task = at("implement")
    (task.folder / ".detent-task").write_bytes(pointer)
    assert_clear(task("status"), 5, str(task.folder / ".detent-task"), "detent adopt")
    assert task("status", ID, cwd=task.repo).code == 0


def test_copied_task_folder_is_no_task_but_can_become_one(at: At) -> None:
    task = at("implement")
    copy = task.folder.parent / "copy"
    shutil.copytree(task.folder, copy)
    for words in (("status",), ("move", "verify")):
        assert_clear(task(*words, cwd=copy), 5, f"whose own folder is {task.folder}", f"detent adopt {copy} phase")
    adopted = task("adopt", copy, "phase", "--json", cwd=task.repo)
    assert adopted.json()["id"] == "copy"
    assert task("status", cwd=copy).code == 0
    assert task.json("status", ID)["dir"] == str(task.folder)


def test_a_task_folder_that_is_gone_can_be_made_again(at: At) -> None:
    task = at("implement")
    shutil.rmtree(task.folder)
    assert_clear(task("status", ID, cwd=task.repo), 5, str(task.state_file), "detent doctor --repair words")
    assert task("doctor", "--repair", ID, cwd=task.repo).code == 0
    assert (task.field("Phase"), task.field("Done gate")) == ("implement", "the check passes")
    assert task("status").code == 0
    assert_goes_on(task)


def test_moved_repository_is_named_and_works_with_a_link(at: At) -> None:
    task = at("implement")
    moved = task.repo.rename(task.repo.parent / "moved")
    status = task("status", ID, cwd=moved)
    assert status.code == 0
    assert f"not there: {task.repo}" in status.out
    task.candidate()
    assert_clear(task("move", "verify", ID, cwd=moved), 5, f"ln -s {moved} {task.repo}")
    assert_clear(task("status"), 5, "points to a task that is not there", "if its repository was moved")
    assert task("doctor", cwd=moved).code == 5
    task.repo.symlink_to(moved)
    assert task("move", "verify", ID, cwd=moved).code == 0
    assert task("status").code == 0


def test_agent_whose_sandbox_hides_journal_is_told_how_to_ask(at: At) -> None:
    """The sandbox shows the task's git objects, so the folder around them is there, and empty otherwise."""
    task = at("implement")
    (task.repo / ".git" / "detent").rename(task.repo / ".git" / "hidden")
    (task.control / "git" / "objects").mkdir(parents=True)
    for words in (("status",), ("next",), ("diff",), ("list",), ()):
        cwd = task.repo if words in (("list",), ()) else task.folder
        done = task.detent(*words, cwd=cwd, environment={"DETENT_TASK_DIR": str(task.folder)})
        assert_clear(done, 5, "an agent run can't see the journal", "ask for a move: detent move STATE")


# --- machines ---

BAD_MACHINE = """
format = 1
name = "bad"
initial = "nowhere"
color = "red"
[store]
codec = "yaml"
[gate.a]
check = "magic"
[gate.b]
check = "fields_filled"
[state.one]
rolle = "x"
[state.two]
end = true
[[edge]]
name = "x"
from = "one"
to = "three"
needs = ["zzz"]
[[edge]]
name = "y"
from = "one"
to = "two"
by = ["ghost"]
"""
MISTAKES = (
    "nowhere",
    "color",
    "yaml",
    "magic",
    "fields_filled needs",
    "rolle",
    "three",
    "zzz",
    "ghost",
    "state must be",
)


def test_ten_mistakes_of_a_machine_file_are_told_at_once(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    file = tmp_path / "bad.toml"
    file.write_text(BAD_MACHINE, encoding="utf-8")
    path = repo()
    checked = detent("machine", "check", file, cwd=path)
    made = detent("new", file, "text", cwd=path)
    assert checked.code == 1
    assert_clear(made, 2, str(file), "detent machine check")
    for mistake in MISTAKES:
        assert mistake in checked.out, mistake
        assert mistake in made.err, mistake
    assert detent("list", "--json", cwd=path).json()["tasks"] == []


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"format = = 1", "not valid TOML"), (b"\xff\xfe\0", "not valid TOML"), (None, "can't be read")],
    ids=["syntax", "binary", "missing"],
)
def test_a_machine_file_that_is_none(detent: Detent, repo: MakeRepo, content: bytes | None, words: str) -> None:
    path = repo()
    if content is not None:
        (path / "m.toml").write_bytes(content)
    assert_clear(detent("new", "m.toml", "text", cwd=path), 5, "m.toml", words)
    assert detent("machine", "check", "m.toml", cwd=path).code != 0


@pytest.mark.parametrize(
    "words", [("new", "no-such", "text"), ("machine", "check", "nosuch"), ("adopt", ".", "nosuch")]
)
def test_an_unknown_machine(detent: Detent, repo: MakeRepo, words: tuple[str, ...]) -> None:
    assert_clear(detent(*words, cwd=repo()), 2, "there is no machine called", "phase")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (
            "colour = 1\n[commands]\ntest = 3\n[workspace]\nsetup = 3\n",
            ("colour", "commands: test", "workspace: setup"),
        ),
        ("[commands\n", ("not valid TOML",)),
        ("default_machine = 'nosuch'\n", ("there is no machine called 'nosuch'",)),
        ("[machine.phase]\noptions = ['fly']\n", ("fly",)),
    ],
    ids=["three problems", "syntax", "machine", "option"],
)
def test_wrong_settings_are_told_before_a_task_is_made(
    detent: Detent, repo: MakeRepo, settings: str, words: tuple[str, ...]
) -> None:
    path = repo(files={"detent.toml": settings})
    done = detent("new", "text", cwd=path)
    assert done.code in (2, 5), done
    assert_clear(done, done.code, *words)
    assert detent("list", "--json", cwd=path).json()["tasks"] == []


# --- command lines ---


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("bogus",), "there is no command 'bogus'"),
        (("statsu",), "did you mean: detent status"),
        (("machine",), "machine list"),
        (("status", "--bogus"), "has no option --bogus"),
        (("status", "a", "b"), "does not know what to do with 'b'"),
        (("new", "--id"), "--id needs a value"),
        (("new", "x", "--id", "a", "--id", "b"), "--id was given twice"),
        (("new", "x", "--id", ""), "empty value"),
        (("new", "x", "--check", " "), "empty value"),
        (("new", "x", "--dir="), "empty value"),
        (("status", "--json=yes"), "takes no value"),
        (("status",), "no open task here"),
        (("status", "nope"), "there is no task 'nope'"),
        (("status", "/no/such/folder"), "there is no task"),
        (("move", "shape"), "no open task here"),
        (("adopt",), "needs DIR"),
        (("adopt", "/no/such/folder", "phase"), "there is no folder"),
        (("answer", " "), "needs words"),
        (("history", "--last", "x"), "no open task here"),
        (("new", "x", "--repo", "/no/such/folder"), "there is no folder"),
        (("new", "x", "--mode", "fast"), "has no mode 'fast'"),
        (("machine", "export", "phase", "--format", "xml"), "--format knows json, mermaid and tla"),
        (("machine", "export", "phase", "--into", "out"), "--into is for --format tla"),
        (("machine", "compare", "phase", "/no/such.json"), "there is no file"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_wrong_command_line_is_told_in_words_and_as_json(
    detent: Detent, repo: MakeRepo, words: tuple[str, ...], text: str
) -> None:
    path = repo()
    assert_clear(detent(*words, cwd=path), 2, text)
    if "=" not in words[-1] and words[-1] != "--id":
        done = detent(*words, "--json", cwd=path)
        error = done.json()["error"]
        assert done.code == 2
        assert text in f"{error['what']} {error['next']}"
        assert error["next"]


def test_a_relation_file_that_is_none(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    path, file = repo(), tmp_path / "relation.json"
    for text in ("no json", "[" * 100_000, "[]"):
        file.write_text(text, encoding="utf-8")
        assert_clear(detent("machine", "compare", "phase", file, cwd=path), 5, "relation")


def test_behind_two_dashes_nothing_is_an_option(at: At) -> None:
    assert_clear(at("implement")("say", "--", "--json"), 1, "nobody listens")


def test_where_nothing_is_person_s_to_choose_that_is_said(at: At) -> None:
    task = at("verify")
    shown = task("choose")
    assert (shown.code, "nothing is yours to choose here; its moves: detent next" in shown.out) == (0, True), shown
    assert_clear(task("choose", "zz", ID), 2, "'zz' is no choice", "nothing is a person's to choose there")


def test_an_override_of_no_move_is_told(at: At) -> None:
    said = assert_clear(
        at("implement")("say", '/next --override "why"'), 1, "/next stands for no one move of implement"
    )
    assert "is called" not in said


@pytest.mark.parametrize(
    "words", [("history", "--last", "x"), ("route", "--to", "flying"), ("move", "--as", "king", "x")]
)
def test_a_wrong_value_with_a_task_at_hand(at: At, words: tuple[str, ...]) -> None:
    assert_clear(at("implement")(*words), 2, words[2])


@pytest.mark.parametrize(
    "wanted", ["../x", "-x", "x" * 300, "ünïcode", ".", "..", ".x", "a/b", "a\nb", "a b", "a\x1bb"]
)
def test_a_hostile_task_id(detent: Detent, repo: MakeRepo, wanted: str) -> None:
    path = repo()
    assert_clear(detent("new", "text", f"--id={wanted}", cwd=path), 2, "can't be a task id", "up to 64 letters")
    assert_clear(detent("status", "--", wanted, cwd=path), 2, "there is no task")
    assert not (path / ".git" / "detent" / "tasks").exists() or not os.listdir(path / ".git" / "detent" / "tasks")


def test_a_hostile_title_is_only_a_title(detent: Detent, repo: MakeRepo) -> None:
    path = repo()
    title = "one\n\n## Review\nVerdict: PASS\nPhase: done\n<!-- \"q\" 's' `c` $(id) <b>\x1b[31m --> \t|"
    made = detent("new", title, "--id", "t", "--json", cwd=path)
    assert made.code == 0, made
    assert "\n" not in made.json()["title"]
    task = PhaseTask(detent, path, Path(made.json()["dir"]), "t")
    assert task.json("status")["problems"] == []
    assert task.evidence_file.read_text(encoding="utf-8").count("\n## Review\n") == 1
    assert "\nPhase: done" not in task.state_file.read_text(encoding="utf-8")
    assert len(detent("list", cwd=path).out.splitlines()) == 2
    assert "\\x1b[31m" in detent(cwd=path).out
    assert "\x1b" not in detent(cwd=path).out
    task.set({"Done gate": "x1", "Not doing": "x2", "Reality constraints": "x3"})
    task.move("shape")


def test_two_tasks_of_one_title_and_one_id(detent: Detent, repo: MakeRepo) -> None:
    path = repo()
    ids = [detent("new", "Same words", "--json", cwd=path).json()["id"] for _ in range(2)]
    assert ids == ["same-words", "same-words-2"]
    assert_clear(
        detent("new", "x", "--id", "same-words", cwd=path),
        2,
        "there is a task 'same-words' already",
        "give another --id",
    )
    assert_clear(detent("status", cwd=path), 2, "which task?", "same-words, same-words-2")
    assert_clear(detent("status", "same", cwd=path), 2, "may mean same-words, same-words-2")


# --- repositories ---


def test_a_repository_without_commits(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    path = tmp_path / "empty"
    path.mkdir()
    repo.git(path, "init", "--quiet")
    assert_clear(detent("new", "x", cwd=path), 1, "no commit yet", str(path), "git commit")
    assert detent("list", cwd=path).code == 0


def test_a_bare_repository(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    bare = tmp_path / "bare.git"
    repo.git(repo(), "clone", "--quiet", "--bare", ".", str(bare))
    assert_clear(detent("new", "x", cwd=bare), 2, "bare repository", "--repo")


def _walk_to_review(detent: Detent, path: Path, check: str, *options: str | Path) -> PhaseTask:
    made = detent("new", "count", "--in-place", "--id", "t", "--check", check, *options, "--json", cwd=path)
    assert made.code == 0, made
    task = PhaseTask(detent, path, Path(made.json()["dir"]), "t")
    task.set({"Done gate": "x1", "Not doing": "x2", "Reality constraints": "x3", "User facing": "no"})
    task.move("shape")
    task.move("implement")
    task.candidate()
    task.move("verify")
    task.move("review")
    return task


def test_a_detached_head(detent: Detent, repo: MakeRepo) -> None:
    path = repo()
    repo.git(path, "checkout", "--quiet", "--detach")
    _walk_to_review(detent, path, "test -f app.py")
    assert repo.git(path, "status", "--porcelain") == ""
    assert repo.git(path, "rev-parse", "--abbrev-ref", "HEAD") == "HEAD"


def test_a_worktree_is_the_tree_of_its_task(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    path, tree = repo(), tmp_path / "worktree"
    repo.git(path, "worktree", "add", "--quiet", str(tree))
    (tree / "only-here.txt").write_text("here\n", encoding="utf-8")
    task = _walk_to_review(detent, tree, "test -f only-here.txt")
    assert task.json("status")["workspace"] == str(tree)
    assert detent("status", "t", "--json", cwd=path).json()["workspace"] == str(tree)


def test_a_plain_folder_without_git(detent: Detent, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    (plain / "a.txt").write_text("here\n", encoding="utf-8")
    task = _walk_to_review(detent, plain, "test -f a.txt && test ! -e .detent")
    assert (plain / ".detent" / "tasks" / "t" / "journal.jsonl").exists()
    assert detent("doctor", cwd=plain).out.count("plain folder (no git)") == 1
    assert task("audit", "t", cwd=plain).code == 0


def test_a_nested_repository_is_named_when_a_tree_is_needed(at: At) -> None:
    task = at("implement")
    nested = task.repo / "vendor" / "lib"
    nested.mkdir(parents=True)
    git = MakeRepo(task.repo.parent, task.detent.environment)
    git.git(nested, "init", "--quiet")
    (nested / "x").write_text("x\n", encoding="utf-8")
    assert task("status").code == 0
    task.candidate()
    assert_clear(task("move", "verify"), 5, "vendor/lib is a git repository inside the tree", "move vendor/lib out")
    shutil.rmtree(nested)
    task.move("verify")


def test_git_is_not_installed(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    path = repo()
    empty = tmp_path / "no-programs"
    empty.mkdir()
    done = detent("new", "x", cwd=path, environment={"PATH": str(empty)})
    assert_clear(done, 5, "git")


# --- folders ---


def test_task_folder_inside_repository_is_left_out_of_the_tree(detent: Detent, repo: MakeRepo) -> None:
    path = repo()
    task = _walk_to_review(detent, path, "test ! -e notes/task", "--dir", path / "notes" / "task")
    before = task.json("prove")["tree"]
    task.write("artifacts/more.txt", "more\n")
    assert task.json("prove")["tree"] == before
    (path / "notes" / "other.txt").write_text("part of the work\n", encoding="utf-8")
    assert task.json("prove")["tree"] != before


def test_a_task_folder_is_not_the_repository_itself(detent: Detent, repo: MakeRepo) -> None:
    path = repo(files={"app.py": "x = 1\n"})
    for folder in (path, path.parent):
        assert_clear(detent("new", "x", "--dir", folder, cwd=path), 1, "would hold the whole of", "--dir")
        assert not (folder / "STATE.md").exists()
    assert repo.git(path, "status", "--porcelain") == ""


def test_folder_with_files_of_its_own_is_never_written_over(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    path, folder = repo(), tmp_path / "mine"
    folder.mkdir()
    (folder / "STATE.md").write_text("Phase: shape\nmy words\n", encoding="utf-8")
    assert_clear(detent("new", "x", "--dir", folder, cwd=path), 1, "already holds STATE.md", f"detent adopt {folder}")
    assert (folder / "STATE.md").read_text(encoding="utf-8") == "Phase: shape\nmy words\n"
    assert sorted(os.listdir(folder)) == ["STATE.md"]


def test_a_folder_of_another_task_is_refused(at: At) -> None:
    task = at("implement")
    before = task.state_file.read_bytes()
    for words in (("new", "x", "--dir", task.folder), ("adopt", task.folder, "phase")):
        assert_clear(task(*words, cwd=task.repo), 1, "already belongs to task words", "detent status")
    assert task.state_file.read_bytes() == before


def test_a_file_where_the_task_folder_should_be(detent: Detent, repo: MakeRepo) -> None:
    path = repo()
    for folder in (path / "app.py", path / "app.py" / "below"):
        assert_clear(detent("new", "x", "--dir", folder, cwd=path), 5, str(path / "app.py"), "--dir")


@pytest.mark.parametrize("content", [None, "", "no fields at all\n", "Phase: flying\n", "```\nPhase: shape\n```\n"])
def test_a_folder_that_cannot_be_adopted(detent: Detent, repo: MakeRepo, tmp_path: Path, content: str | None) -> None:
    path, folder = repo(), tmp_path / "foreign"
    folder.mkdir()
    if content is not None:
        (folder / "STATE.md").write_text(content, encoding="utf-8")
    assert_clear(detent("adopt", folder, "phase", cwd=path), 5, str(folder / "STATE.md"))
    assert sorted(os.listdir(folder)) == ([] if content is None else ["STATE.md"])
    assert detent("list", "--json", cwd=path).json()["tasks"] == []


# --- the surroundings of the process ---


def run_raw(task: PhaseTask, *argv: str, drop: tuple[str, ...] = (), add: dict[str, str] | None = None) -> Completed:
    """Start any program in the repository with the command line as its arguments; some of the environment dropped."""
    environment = {key: value for key, value in task.detent.environment.items() if key not in drop}
    done = subprocess.run(
        argv,
        cwd=task.repo,
        env={**environment, **(add or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )
    out, err = done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
    return Completed(argv, done.returncode, out, err)


DETENT = (sys.executable, "-m", "detent")
ASCII_ONLY = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def test_two_moves_at_once_make_one(at: At) -> None:
    task = at("implement")
    task.candidate()
    started = [
        subprocess.Popen(
            [*DETENT, "move", "verify", ID, "--json"],
            cwd=task.repo,
            env=task.detent.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for _ in range(4)
    ]
    answers = [process.communicate(timeout=60) for process in started]
    assert [process.returncode for process in started].count(3) == 0, answers
    assert sum(json.loads(out)["moved"] for out, _ in answers) == 1, answers
    assert [line["to"] for line in task.history() if line["kind"] == "moved"] == ["shape", "implement", "verify"]
    assert task("audit").code == 0


def test_a_reader_that_goes_away_is_no_error(at: At) -> None:
    task = at("implement")
    line = '"$@" | head -0; exit ${PIPESTATUS[0]}'
    for words in (("list",), ("--help",), ("history", "--json")):
        done = run_raw(task, "bash", "-c", line, "bash", *DETENT, *words)
        assert (done.code, done.err) == (0, ""), done
    refused: tuple[tuple[tuple[str, ...], int], ...] = (
        (("move", "done", ID), 1),
        (("status", "nope"), 2),
        (("status", "nope", "--json"), 2),
    )
    for command, code in refused:
        for unbuffered in ({}, {"PYTHONUNBUFFERED": "1"}):
            done = run_raw(task, "bash", "-c", line.replace("|", "2>&1 |"), "bash", *DETENT, *command, add=unbuffered)
            assert done.code == code, "what was decided does not depend on the reader"


def test_streams_that_are_closed_or_full(at: At) -> None:
    task = at("implement")
    task.candidate()
    assert run_raw(task, "sh", "-c", 'exec "$@" <&-', "sh", *DETENT, "list").code == 0
    assert run_raw(task, "sh", "-c", 'exec "$@" 2>&-', "sh", *DETENT, "bogus").code == 2
    full = run_raw(task, "sh", "-c", 'exec "$@" >/dev/full', "sh", *DETENT, "list")
    assert_clear(full, 5, "can't be written")
    assert run_raw(task, "sh", "-c", 'exec "$@" 2>/dev/full', "sh", *DETENT, "bogus").code == 2
    for line, code in (("choose", 0), ("repl", 0), ("tui", 1), ("new --from -", 2)):
        done = run_raw(task, "sh", "-c", 'exec "$@" <&-', "sh", *DETENT, *line.split())
        assert (done.code, "bug" in done.err) == (code, False), done
    moved = run_raw(task, "sh", "-c", 'exec "$@" >&-', "sh", *DETENT, "move", "verify", ID)
    assert (moved.code, task.state()) == (0, "verify"), moved


def test_home_is_not_set(at: At) -> None:
    task = at("implement")
    dropped = ("HOME", "XDG_STATE_HOME", "USER", "LANG")
    assert run_raw(task, *DETENT, "status", drop=dropped).code == 0
    folder = task.repo.parent / "elsewhere"
    made = run_raw(task, *DETENT, "new", "x", "--in-place", "--id", "h", "--dir", str(folder), drop=dropped)
    assert made.code == 0, made


def test_the_state_home_cannot_be_used(at: At) -> None:
    task = at("verify")
    home = {"XDG_STATE_HOME": str(task.repo / "app.py")}
    assert_clear(run_raw(task, *DETENT, "new", "x", "--id", "h", add=home), 1, "XDG_STATE_HOME", "app.py")
    assert "h" not in [row["id"] for row in task("list", "--json", cwd=task.repo).json()["tasks"]]
    assert_clear(run_raw(task, *DETENT, "prove", ID, add=home), 5, "XDG_STATE_HOME")
    task.move("review")


def test_a_locale_without_letters(at: At) -> None:
    task = at("implement")
    title = "größe ☃"
    made = run_raw(task, *DETENT, "new", title, "--id", "snow", add=ASCII_ONLY)
    assert made.code == 0, made
    assert task.json("status", "snow", cwd=task.repo)["title"] == title
    listed = run_raw(task, *DETENT, "list", add=ASCII_ONLY)
    assert (listed.code, "gr\\xf6\\xdfe" in listed.out) == (0, True), listed
    shown = run_raw(task, *DETENT, "status", "snow", "--json", add=ASCII_ONLY)
    assert shown.json()["title"] == title


def test_json_to_read_is_json_in_every_locale(at: At) -> None:
    task = at("implement")
    text = (Path(__file__).resolve().parents[1] / "data" / "thread.toml").read_text(encoding="utf-8")
    edge = '[[edge]]\nlabel = "größe\\u007f"\n'
    (task.repo / "m.toml").write_text(text.replace("[[edge]]\n", edge, 1), encoding="utf-8")
    for words in (("machine", "export", "m.toml"), ("machine", "show", "global", "--schemas")):
        shown = run_raw(task, *DETENT, *words, add={"PYTHONIOENCODING": "ascii"})
        assert (shown.code, bool(json.loads(shown.out))) == (0, True), shown


def test_an_argument_that_is_no_text(at: At) -> None:
    task = at("implement")
    word = os.fsdecode(b"gr\xf6\xdfe")
    for words in (("new", word), ("new", "x", "--check", word), ("answer", word), ("status", word)):
        assert_clear(run_raw(task, *DETENT, *words), 2, "is not UTF-8 text")


def test_the_current_folder_was_deleted(at: At) -> None:
    task = at("implement")
    line = 'mkdir gone && cd gone && rmdir ../gone && exec "$@"'
    for words in (("status",), ("list",), ("new", "x"), ()):
        assert_clear(run_raw(task, "sh", "-c", line, "sh", *DETENT, *words), 2, "current folder")


LIMITED = """
import os, resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))
os.execv(sys.executable, [sys.executable, "-m", "detent", *sys.argv[2:]])
"""


def test_new_without_room_leaves_no_task_folder(detent: Detent, repo: MakeRepo) -> None:
    path = repo()
    left = {}
    for limit in (100, 300, 600, 900, 1200, 1500, 2000, 3000):
        words = ["new", "x", "--in-place", "--id", f"t{limit}", "--check", "true"]
        done = subprocess.run(
            [sys.executable, "-c", LIMITED, str(limit), *words],
            cwd=path,
            env={**detent.environment, "PYTHONDONTWRITEBYTECODE": "1"},  # a cut module would stay cut
            capture_output=True,
            encoding="utf-8",
            timeout=COMMAND_TIMEOUT_S,
            check=False,
        )
        if done.returncode:
            assert done.returncode == 5, done
            left[limit] = [task.name for task in (path / ".git/detent/tasks").glob("*")]
    assert len(left) > 3
    assert not any(left.values()), left


def test_refusals_about_deployments_and_landings_name_the_next_command(detent: Detent, repo: MakeRepo) -> None:
    path = repo()
    assert detent("new", "x", "--id", "t", cwd=path).code == 0
    ahead = detent("approve", "--unseen", "--reason", "r", "t", cwd=path)
    assert ahead.code == 1, ahead
    assert "see what waits for you: detent next t" in ahead.err
    task = CloneTask(detent, repo, repo("other"))
    task.to("done")
    repo.git(task.repo, "switch", "--quiet", "--orphan", "empty")
    landed = detent("land", "t", cwd=task.repo)
    assert landed.code == 1, landed
    assert "bring it back to that path, then: detent land t" in landed.err
