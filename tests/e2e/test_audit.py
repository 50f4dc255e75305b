"""What `detent audit` vouches for, through the command line: each tampering is named and makes it exit with 1."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from detent.store.journal.events import from_line
from detent.store.journal.native_log import log_line
from tests.conftest import Detent, MakeRepo, environment_in
from tests.e2e.agent_runs import HONEST, Agents, AgentTask


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def chained(entries: list[dict[str, object]]) -> bytes:
    """These lines as a journal, each with the hash of the line before."""
    previous, raws = "0" * 64, []
    for number, entry in enumerate(entries, 1):
        content = {**entry, "seq": number, "prev": previous}
        raws.append(json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode())
        previous = hashlib.sha256(raws[-1]).hexdigest()
    return b"".join(raw + b"\n" for raw in raws)


class Done:
    """A finished task with a refusal and an approval, made once; `fresh` returns it as it was, in the same place."""

    def __init__(self, folder: Path) -> None:
        self.live, self.spare = folder / "live", folder / "spare"
        self.live.mkdir()
        environment = environment_in(self.live)
        self.agents = Agents(Detent(self.live, environment), MakeRepo(self.live, environment), self.live)
        self.agents.honest(implement=f"detent move done || true; {HONEST['implement']}")
        self.task = self.agents.task('[protect]\nask = ["app.py"]\n')
        self.other = self.agents.task(task_id="other", repo=self.task.repo)
        self.task.run(expect=4)
        done = self.task("approve", self.task.id, "--reason", "I read it", cwd=self.task.repo)
        assert done.code == 0, done
        if self.task.state() != "done":
            self.task.run(expect=0)
        shutil.copytree(self.live, self.spare, symlinks=True)

    def fresh(self) -> AgentTask:
        shutil.rmtree(self.live)
        shutil.copytree(self.spare, self.live, symlinks=True)
        return self.task


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Done:
    return Done(tmp_path_factory.mktemp("finished"))


@pytest.fixture
def done(finished: Done) -> AgentTask:
    return finished.fresh()


def test_lines_carry_the_hashes_of_the_files_they_are_about(done: AgentTask) -> None:
    assert done.entries()[0]["format"] == 2
    (proved,) = done.entries("proved")
    ((name, log),) = proved["logs"].items()
    assert log["sha256"] == sha256(done.control / "receipts" / name)
    for planned, ended in zip(done.entries("run_planned"), done.entries("run_ended"), strict=True):
        folder = done.run_dir(ended["run"])
        assert planned["prompt"] == sha256(folder / "prompt.md")
        assert {name: file["sha256"] for name, file in ended["files"].items()} == {
            name: sha256(folder / name) for name in ("events", "errors", "exit.json")
        }
    files = done.entries("moved")[-1]["files"]
    assert {name: sha256(done.folder / name)[:32] for name in files} == files
    assert {"EVIDENCE.md", "artifacts/result.txt"} <= set(files)


@pytest.mark.parametrize("is_cached", [True, False])
@pytest.mark.parametrize("what", ["format", "kind"])
def test_journal_of_a_newer_detent_is_refused_and_left_alone(done: AgentTask, what: str, is_cached: bool) -> None:
    head, *rest = done.entries()
    if what == "format":
        head, is_cached = {**head, "format": 3}, False
    else:  # its state would be believed otherwise
        rest.append({**rest[-1], "kind": "from_the_future", "seq": len(rest) + 2})
    (done.control / "journal.jsonl").write_bytes(chained([head, *rest]))
    if not is_cached:
        (done.control / "snapshot.json").unlink()
    before = {path: path.read_bytes() for path in done.control.rglob("*") if path.is_file()}
    for words in (("status",), ("next",), ("audit",), ("run",), ("move", "verify"), ("history",)):
        refused = done(*words, done.id, cwd=done.repo)
        assert (refused.code, "written by a newer Detent" in refused.err) == (5, True), refused
    assert "written by a newer Detent" in done("list", cwd=done.repo).out
    assert {path: path.read_bytes() for path in done.control.rglob("*") if path.is_file()} == before


# --- tampering, by a process with the rights of the person ---


class Forger:
    """The tampering that is possible with knowledge of all formats of a task."""

    def __init__(self, task: AgentTask) -> None:
        self.task = task
        self.journal = task.control / "journal.jsonl"

    def lines(self) -> list[bytes]:
        return self.journal.read_bytes().splitlines()

    def write(self, lines: list[bytes]) -> None:
        self.journal.write_bytes(b"".join(line + b"\n" for line in lines))

    def forget(self) -> None:
        """Drop all that would remember another end of the journal."""
        for name in ("snapshot.json", "projected.jsonl"):
            (self.task.control / name).unlink(missing_ok=True)

    def rewrite(self, change: Change, *, anchor: bool = True, log: bool = False) -> None:
        """Change lines, make the chain good, and with it the anchor and the native log."""
        self.journal.write_bytes(chained(change(self.task.entries())))
        (self.task.control / "snapshot.json").unlink()
        if anchor:
            self.anchor()
        if log:
            log_text = "".join(
                json.dumps(log_line(from_line(entry)), ensure_ascii=False) + "\n" for entry in self.task.entries()
            )
            (self.task.folder / "history.jsonl").write_text(log_text, encoding="utf-8")

    def git(self, *words: str, stdin: str = "") -> str:
        done = subprocess.run(
            ["git", *words], cwd=self.task.repo, input=stdin, capture_output=True, encoding="utf-8", check=True
        )
        return done.stdout.strip()

    def anchor(self) -> None:
        last = self.lines()[-1]
        text = f"{len(self.lines())} {hashlib.sha256(last).hexdigest()}\n"
        self.git("update-ref", ANCHOR, self.git("hash-object", "-w", "--stdin", stdin=text))

    def edit(self, path: Path, old: str, new: str) -> None:
        text = path.read_text(encoding="utf-8")
        assert old in text, text
        path.write_text(text.replace(old, new), encoding="utf-8")

    def receipt(self) -> Path:
        (path,) = (self.task.control / "receipts").glob("*.json")
        return path


Change = Callable[[list[dict[str, Any]]], list[dict[str, Any]]]
ANCHOR = "refs/detent/anchor/words"


def every(kind: str, **values: object) -> Change:
    """Set fields in all lines of a kind; an empty kind means all lines."""
    return lambda entries: [{**entry, **values} if entry["kind"] == kind or not kind else entry for entry in entries]


def without(kind: str) -> Change:
    """Take out refusals, of the engine or by a claim, or another kind of line."""

    def is_kept(entry: dict[str, Any]) -> bool:
        return entry["kind"] != kind and not (kind == "refused" and entry.get("accepted") is False)

    return lambda entries: [entry for entry in entries if is_kept(entry)]


def flip_a_byte(forger: Forger) -> None:
    lines = forger.lines()
    lines[4] = lines[4].replace(b'"time":"2', b'"time":"3', 1)
    forger.write(lines)


def edit_the_last_line(forger: Forger) -> None:
    lines = forger.lines()
    lines[-1] = lines[-1].replace(b'"time":"2', b'"time":"3', 1)
    forger.write(lines)


def cut_the_tail(forger: Forger) -> None:
    forger.write(forger.lines()[:-3])


def cut_the_tail_without_anchor(forger: Forger) -> None:
    cut_the_tail(forger)
    forger.git("update-ref", "-d", ANCHOR)


def cut_the_tail_and_all_that_knows_it(forger: Forger) -> None:
    cut_the_tail(forger)
    forger.forget()
    forger.anchor()


def approve_other_files(forger: Forger) -> None:
    forger.rewrite(every("approved", files={"app.py": "0" * 40}))


def change_the_receipts_hash(forger: Forger) -> None:
    (proved,) = forger.task.entries("proved")
    forger.rewrite(every("proved", receipts=dict.fromkeys(proved["receipts"], "0" * 64)))


def change_the_receipt(forger: Forger) -> None:
    forger.edit(forger.receipt(), '"attempts":[0]', '"attempts":[0,0]')


def change_the_machine(forger: Forger) -> None:
    (path,) = (forger.task.control.parents[1] / "machines").glob("*.json")
    path.write_bytes(path.read_bytes().replace(b"verify", b"verifY", 1))


def swap_the_tasks(forger: Forger) -> None:
    other, spare = forger.task.control.with_name("other"), forger.task.control.with_name("spare")
    forger.task.control.rename(spare)
    other.rename(forger.task.control)
    spare.rename(other)


def cut_the_native_log(forger: Forger) -> None:
    log = forger.task.folder / "history.jsonl"
    log.write_text("".join(log.read_text(encoding="utf-8").splitlines(keepends=True)[:-2]), encoding="utf-8")


def change_a_locked_text(forger: Forger) -> None:
    forger.edit(forger.task.folder / "STATE.md", "Done gate: ", "Done gate: less ")


def remove_the_task(forger: Forger) -> None:
    shutil.rmtree(forger.task.control)


def forge_a_landing(forger: Forger) -> None:
    """One line appended; the commit is the task's own, which is on no branch of anybody else."""
    commit = forger.git("rev-parse", "phase/words")
    tree = forger.git("rev-parse", "phase/words^{tree}")
    _append(forger, {"kind": "landed", "how": "merge", "commit": commit, "branch": "main", "tree": tree})


def forge_a_landing_of_nothing(forger: Forger) -> None:
    _append(forger, {"kind": "landed", "how": "merge", "commit": "0" * 40, "branch": "main", "tree": "0" * 40})


def forge_a_landing_by_another_commit(forger: Forger) -> None:
    commit, tree = forger.git("rev-parse", "main"), forger.git("rev-parse", "main^{tree}")
    _append(forger, {"kind": "landed", "how": "squash", "commit": commit, "branch": "main", "tree": tree})


def _append(forger: Forger, line: dict[str, Any]) -> None:
    lines = forger.lines()
    entry = {"seq": len(lines) + 1, "time": json.loads(lines[-1])["time"], "by": "person", "name": "ann", **line}
    entry["prev"] = hashlib.sha256(lines[-1]).hexdigest()
    forger.write([*lines, json.dumps(entry, separators=(",", ":")).encode()])


def replace_the_log_of_a_receipt(forger: Forger) -> None:
    (log,) = (forger.task.control / "receipts").glob("*-1.log")
    log.write_text("Ran 500 tests OK\n", encoding="utf-8")


def remove_the_log_of_a_receipt(forger: Forger) -> None:
    (log,) = (forger.task.control / "receipts").glob("*-1.log")
    log.unlink()


def add_to_the_log_of_a_receipt(forger: Forger) -> None:
    (log,) = (forger.task.control / "receipts").glob("*-1.log")
    log.write_bytes(log.read_bytes() + b"OK\n")


def change_a_prompt(forger: Forger) -> None:
    (forger.task.run_dir(1) / "prompt.md").write_text("Be careful.\n", encoding="utf-8")


def change_the_output_of_a_run(forger: Forger) -> None:
    (forger.task.run_dir(2) / "events").write_text("all tests pass\n", encoding="utf-8")


def change_the_exit_of_a_run(forger: Forger) -> None:
    path = forger.task.run_dir(3) / "exit.json"
    forger.edit(path, '"cpu_s": ', '"cpu_s": 1')


def change_the_verdict(forger: Forger) -> None:
    forger.edit(forger.task.folder / "EVIDENCE.md", "Verdict: PASS", "Verdict: FAIL")


def change_an_artifact(forger: Forger) -> None:
    (forger.task.folder / "artifacts/result.txt").write_text("it works very well\n", encoding="utf-8")


def remove_an_artifact(forger: Forger) -> None:
    (forger.task.folder / "artifacts/result.txt").unlink()


def add_a_line_to_the_native_log(forger: Forger) -> None:
    with (forger.task.folder / "history.jsonl").open("a", encoding="utf-8") as log:
        log.write('{"kind": "moved", "by": "person", "override": "I said so"}\n')


def forged(change: Change, *, anchor: bool = True) -> Callable[[Forger], None]:
    return lambda forger: forger.rewrite(change, anchor=anchor)


MISSING = "anchors a journal, but the task's folder is gone"
TAMPERINGS: Mapping[str, tuple[Callable[[Forger], None], str]] = {
    "a byte is flipped": (flip_a_byte, "line 5 was changed after it was written"),
    "the last line is edited": (edit_the_last_line, "otherwise than the journal"),
    "the tail is cut": (cut_the_tail, "lines were removed from the end"),
    "the tail is cut, the anchor deleted": (cut_the_tail_without_anchor, "lines were removed from the end"),
    "the tail is cut, all is forgotten": (cut_the_tail_and_all_that_knows_it, "lines were removed from the end"),
    "the chain is rewritten": (forged(every("approved", reason="fine")), "otherwise than the journal"),
    "the chain is rewritten, the anchor kept": (
        forged(every("run_ended", denials=7), anchor=False),
        "is not the one that was anchored in git",
    ),
    "an approval of other hashes": (approve_other_files, "the files approved are not those"),
    "an approval is removed": (forged(without("approved")), "protected_ok"),
    "an approval by an agent": (forged(every("approved", by="agent")), "only a person makes a approved line"),
    "refusals are removed": (forged(without("refused")), "otherwise than the journal"),
    "the hash of a receipt": (change_the_receipts_hash, "the receipt of"),
    "a receipt": (change_the_receipt, "the receipt of"),
    "the pinned machine": (change_the_machine, "line 1: machine"),
    "two tasks are swapped": (swap_the_tasks, "it is the journal of task other"),
    "all times are moved": (forged(every("", time="2020-01-01T00:00:00Z")), "otherwise than the journal"),
    "the native log is cut": (cut_the_native_log, "history.jsonl does not tell 2 line(s)"),
    "a locked text": (change_a_locked_text, '"Done gate" is locked and was changed'),
    "the whole task is removed": (remove_the_task, MISSING),
    "a landing is forged": (forge_a_landing, "git does not show that the work landed"),
    "a landing of no commit": (forge_a_landing_of_nothing, "git does not show that the work landed"),
    "a landing by another commit": (forge_a_landing_by_another_commit, "does not hold the work"),
    "the log of a receipt": (replace_the_log_of_a_receipt, "the log of a receipt was changed"),
    "the log of a receipt is removed": (remove_the_log_of_a_receipt, "the log of a receipt is gone"),
    "the log of a receipt is added to": (add_to_the_log_of_a_receipt, "the log of a receipt was changed"),
    "a prompt": (change_a_prompt, "the prompt of agent run #1 was changed"),
    "the output of a run": (change_the_output_of_a_run, "the events of agent run #2 was changed"),
    "the exit of a run": (change_the_exit_of_a_run, "the exit.json of agent run #3 was changed"),
    "a verdict after done": (change_the_verdict, "EVIDENCE.md was changed after done was reached"),
    "an artifact after done": (change_an_artifact, "artifacts/result.txt was changed after done was reached"),
    "an artifact is removed after done": (remove_an_artifact, "artifacts/result.txt is gone after done was reached"),
    "a foreign line in the native log": (add_a_line_to_the_native_log, "of history.jsonl is not from the engine"),
    "hashes are taken out of the lines": (
        forged(lambda entries: [{key: entry[key] for key in entry if key != "logs"} for entry in entries]),
        "a proved line needs logs",
    ),
}


@pytest.mark.parametrize("name", TAMPERINGS)
def test_each_tampering_is_named_and_fails_the_audit(done: AgentTask, name: str) -> None:
    tamper, words = TAMPERINGS[name]
    assert done("audit", done.id, cwd=done.repo).out.endswith("all of them hold\n")
    tamper(Forger(done))
    result = done("audit", done.id, cwd=done.repo)
    assert result.code == 1, result
    assert words in result.out, result.out
    assert done("audit", "--all", cwd=done.repo).code == 1


# What no audit on the same disk can find: journal, anchor and native log rewritten together, with a person's rights.
MISSES: Mapping[str, Change] = {
    "another name and reason on an approval": every("approved", name="eve", reason="fine"),
    "all times": every("", time="2020-01-01T00:00:00Z"),
    "the sandbox level of runs": every("run_planned", sandbox="bubblewrap"),
}


@pytest.mark.parametrize("name", MISSES)
def test_a_consistent_rewrite_of_everything_is_not_found_as_documented(done: AgentTask, name: str) -> None:
    Forger(done).rewrite(MISSES[name], log=True)
    assert done("audit", done.id, cwd=done.repo).code == 0


def test_evidence_page_does_not_show_a_log_that_was_changed(done: AgentTask) -> None:
    page = done.repo.parent / "page.html"
    assert done("evidence", done.id, "--out", page, cwd=done.repo).code == 0
    assert "changed after it was written" not in page.read_text(encoding="utf-8")
    replace_the_log_of_a_receipt(Forger(done))
    assert done("evidence", done.id, "--out", page, cwd=done.repo).code == 0
    shown = page.read_text(encoding="utf-8")
    assert ("Ran 500 tests OK" in shown, "Its output was changed after it was written" in shown) == (False, True)


def test_a_moved_task_branch_is_no_finding(done: AgentTask) -> None:
    Forger(done).git("update-ref", "refs/heads/phase/words", "main")
    assert done("audit", done.id, cwd=done.repo).code == 0, "land takes the checkpoint, whatever the branch names"


def test_all_tasks_are_audited_at_once_with_a_summary(done: AgentTask) -> None:
    result = done("audit", cwd=done.repo)
    assert (result.code, result.out.splitlines()[-1]) == (0, "2 tasks: all of them hold")
    change_a_prompt(Forger(done))
    result = done("audit", cwd=done.repo)
    assert (result.code, result.out.splitlines()[-1]) == (1, "2 tasks: 1 hold, 1 NOT sound: words")
    found = done("audit", "--json", cwd=done.repo).json()
    assert [(task["id"], task["ok"]) for task in found["tasks"]] == [("other", True), ("words", False)]
    assert [(finding["task"], finding["kind"]) for finding in found["findings"]] == [("words", "file")]
    assert done("audit", "other", cwd=done.repo).code == 0
    assert done("audit", "other", "--all", cwd=done.repo).code == 2


def test_a_newer_journal_among_others_gives_exit_5(done: AgentTask) -> None:
    head, *rest = done.entries()
    (done.control / "journal.jsonl").write_bytes(chained([{**head, "format": 3}, *rest]))
    result = done("audit", cwd=done.repo)
    assert (result.code, "other: " in result.out, "written by a newer Detent" in result.out) == (5, True, True)
