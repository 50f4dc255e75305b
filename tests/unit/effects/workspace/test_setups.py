"""Tests of shared set-ups in a real sandbox: made once, at one path, laid so that no inode of them can be written."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from detent.effects.git.git import find_repository
from detent.effects.git.tree.tree_id import tree_id
from detent.effects.host.access import BUBBLEWRAP, Access, Laid
from detent.effects.host.sandbox import Probe, best_level, hold, try_overlay
from detent.effects.workspace.checkout import SHARED, Checkout, CheckoutSpec, FrozenTree, Running, Setups, Workspace
from detent.effects.workspace.checkout import run_command as run_in
from detent.effects.workspace.prepared import prepared_checkout
from detent.effects.workspace.setup_key import key_of
from detent.effects.workspace.setups import read_record
from detent.effects.workspace.unused_setups import drop_unused
from detent.store.disk.lock import Lock
from detent.words.effects import host as say
from tests.conftest import MakeRepo

PROBE = best_level(os.environ)
pytestmark = pytest.mark.skipif(PROBE.level != BUBBLEWRAP, reason=f"bubblewrap does not hold here: {PROBE.why}")
# Writes its own path down, as an editable install does, and hides its folder as uv does.
SETUP = (
    "mkdir -p node_modules/tool .env-dir; pwd > node_modules/tool/path; printf '*' > node_modules/.gitignore;"
    "echo one > node_modules/tool/code; ln node_modules/tool/code node_modules/tool/linked; echo spoilt > a.txt;"
    "echo stray > sub/stray; cat sub/? > node_modules/tool/read"
)
WORKSPACE = Workspace(setup=(SETUP,), key=("lock",))


def wrap(writable: Sequence[str] = ()) -> Callable[[Sequence[str], str, Laid], Sequence[str]]:
    def held(argv: Sequence[str], cwd: str, laid: Laid) -> Sequence[str]:
        return hold(PROBE, Access(writable=(cwd, *writable), laid=laid), argv, cwd=cwd).argv

    return held


class Bench:
    """Checkouts of one repository that share their set-up."""

    def __init__(self, path: Path, work: Path) -> None:
        work.mkdir()
        self.path, self.work = path, work
        self.log, self.said = work / "log", ""
        self.running = Running(dict(os.environ), wrap())
        self.seat = str(work / "seat")
        Path(self.seat).mkdir()  # no folder of this sandbox is hidden, so that mount points must be there
        self.no_overlays = try_overlay(PROBE, str(work), os.environ)
        self.checkout: Checkout

    def setups(self) -> Setups:
        return Setups(str(self.work / "setups"), str(self.work / "records"), self.seat, self.running, self.no_overlays)

    def prove(self, *commands: str, name: str = "proof", private: str = "", by_content: bool = False) -> list[int]:
        """The exit codes of commands in a checkout of the files as they are."""
        repository = find_repository(str(self.path))
        baseline = repository.head if repository else None
        git = str(self.work / "git")
        frozen = FrozenTree(git, tree_id(git, str(self.path), repository, baseline), baseline)
        wanted = CheckoutSpec(
            str(self.work / name),
            frozen,
            WORKSPACE,
            work_tree=str(self.path),
            cache_dir=str(self.work / "kept"),
            log_path=str(self.work / "setup.log"),
            running=self.running,
            setups=self.setups(),
            private=private,
            by_content=by_content,
        )
        with prepared_checkout(wanted) as outcome:
            assert isinstance(outcome, Checkout), outcome
            self.checkout = outcome
            found = []
            self.said = ""
            for command in commands:
                done = run_in(command, outcome.folder, 60, str(self.log), self.running, outcome.laid)
                found.append(done.exit)
                self.said += self.log.read_text(encoding="utf-8")
            return found

    def made(self) -> list[Path]:
        return [path for path in (self.work / "setups").iterdir() if path.is_dir()]


@pytest.fixture
def bench(repo: MakeRepo, disk_path: Path) -> Bench:
    # Below the temporary folder of the host: to a sandbox `/dev` is a world of its own.
    made = repo(files={"a.txt": "one\n", "sub/b": "two\n", "lock": "1"})
    return Bench(made, disk_path / "w")


def test_two_checkouts_share_one_set_up_at_one_path(bench: Bench) -> None:
    look = "pwd; cat node_modules/tool/path node_modules/tool/code sub/stray a.txt"
    for name in ("proof", "another"):
        assert bench.prove(look, name=name) == [0]
        assert bench.said == f"{bench.seat}\n{bench.seat}\none\nstray\none\n"
        assert bench.checkout.setup == SHARED
    assert len(bench.made()) == 1
    assert bench.checkout.left_out == (".env-dir", "node_modules", "sub/stray")
    assert bench.checkout.changed == ("a.txt",)


def test_hard_links_of_a_package_cache_are_broken(bench: Bench) -> None:
    bench.prove("true")
    code, linked = (bench.made()[0] / "node_modules/tool" / name for name in ("code", "linked"))
    assert code.stat().st_nlink == linked.stat().st_nlink == 1


def test_links_that_set_up_leaves_lead_no_copy_out(
    bench: Bench, disk_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = disk_path / "outside"
    outside.write_text("mine\n", encoding="utf-8")
    link = f"{SETUP}; ln -s {outside} node_modules/tool/code.detent-copy; ln -s {outside} node_modules/tool/code.copy"
    monkeypatch.setattr("tests.unit.effects.workspace.test_setups.WORKSPACE", Workspace(setup=(link,), key=("lock",)))
    assert bench.prove("cat node_modules/tool/code") == [0]
    assert outside.read_text(encoding="utf-8") == "mine\n"


def test_proof_cannot_write_the_set_up_but_its_tool_caches(bench: Bench) -> None:
    spoil = "echo bad > node_modules/tool/code; rm -f node_modules/tool/path; test -e node_modules/tool/path"
    leave = "mkdir node_modules/.vite/deps && echo x > node_modules/.cache/x && test -d node_modules/.vite/deps"
    assert bench.prove(spoil, leave) == [0, 0]
    assert bench.prove("cat node_modules/tool/code; ls -A node_modules/.vite node_modules/.cache") == [0]
    assert bench.said == "one\nnode_modules/.cache:\n\nnode_modules/.vite:\n"


def test_compiled_modules_stay_in_their_agent_s_set_up(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    made = f"{SETUP}; echo 'x = 1' > node_modules/tool/mod.py"
    monkeypatch.setattr("tests.unit.effects.workspace.test_setups.WORKSPACE", Workspace(setup=(made,), key=("lock",)))
    load = "PYTHONDONTWRITEBYTECODE= PYTHONPATH=node_modules/tool python3 -c 'import mod; print(mod.x)'"
    assert bench.prove(load) == [0]
    assert bench.prove(load, private=str(bench.work / "own")) == [0]
    assert bench.said == "1\n"
    assert not list(bench.made()[0].rglob("*.pyc")), "a proof and an agent use the same set-up"
    assert list((bench.work / "own").rglob("mod.*.pyc"))


@pytest.mark.parametrize("overlays", [True, False])
def test_an_agent_changes_only_its_own_set_up(bench: Bench, overlays: bool) -> None:
    if overlays and bench.no_overlays:
        pytest.skip(f"overlays can't be mounted on this host: {bench.no_overlays}")
    bench.no_overlays = "" if overlays else "the test says so"
    spoil = "echo bad > node_modules/tool/code && rm node_modules/tool/path && echo new > node_modules/new"
    assert bench.prove(spoil, "cat node_modules/tool/code", private=str(bench.work / "own")) == [0, 0]
    assert bench.said == "bad\n"
    assert bench.prove("cat node_modules/tool/code node_modules/tool/path; test ! -e node_modules/new") == [0]
    assert bench.said == f"one\n{bench.seat}\n"
    if overlays:
        files = [path for path in (bench.work / "own").rglob("*") if path.is_file()]
        assert sum(path.stat().st_size for path in files) < 100


def test_a_set_up_that_was_changed_is_made_anew(bench: Bench) -> None:
    bench.prove("true")
    code = bench.made()[0] / "node_modules/tool/code"
    code.write_text("bad", encoding="utf-8")
    assert bench.prove("cat node_modules/tool/code") == [0]
    assert bench.said == "one\n"
    assert len(bench.made()) == 2  # the old one may be in use


def test_set_up_with_forged_record_is_found_by_its_content(bench: Bench) -> None:
    """A process with the user's rights may forge times and sizes of files, not their hashes."""
    bench.prove("true")
    (bench.made()[0] / "node_modules/tool/code").write_text("bad", encoding="utf-8")
    path = next((bench.work / "records").iterdir())
    made = read_record(str(path))
    assert made is not None
    from detent.effects.workspace.setups import _looked_at, _write

    _write(str(path), made.replace(seen=_looked_at(made.folder, by_content=False)[1]))
    assert bench.prove("cat node_modules/tool/code", by_content=True) == [0]
    assert bench.said == "one\n"


def test_folder_that_is_link_in_the_tree_is_left_alone(bench: Bench) -> None:
    outside = bench.work / "outside"
    outside.mkdir()
    (bench.path / "node_modules").symlink_to(outside)
    assert bench.prove("readlink node_modules; ls node_modules/tool") == [2]
    assert os.listdir(outside) == []


def test_unused_set_ups_go_after_a_day(bench: Bench) -> None:
    bench.prove("true")
    places = (str(bench.work / "setups"), str(bench.work / "records"))
    assert drop_unused(*places, frozenset()) == ()
    record = next((bench.work / "records").iterdir())
    os.utime(record, (0, 0))
    assert drop_unused(*places, frozenset({record.stem})) == ()
    assert [setup.key for setup in drop_unused(*places, frozenset())] == [record.stem]
    assert bench.made() == []


def test_mounted_and_unfinished_set_ups_stay_and_leftovers_go(bench: Bench) -> None:
    bench.prove("true")
    setups, records = bench.work / "setups", bench.work / "records"
    (made,), (record,) = bench.made(), tuple(records.iterdir())
    left = [f"{made.name}.making", f"{made.name}.copy", ".probe-x", "0" * 32 + "-dead", "0" * 64 + ".lock"]
    for name in left:
        (setups / name).mkdir() if "." not in name[1:] or "making" in name else (setups / name).touch()
    (records / ".detent-tmp-1-x").write_bytes(record.read_bytes())
    for path in (*records.iterdir(), *setups.iterdir()):
        os.utime(path, (0, 0))
    with Lock(str(setups / f"{record.stem}.lock")):
        assert drop_unused(str(setups), str(records), frozenset()) == (), "it is being looked at"
    assert made.is_dir()
    assert not (setups / left[-1]).exists()
    (gone,) = drop_unused(str(setups), str(records), frozenset(), frozenset({made.name}))
    assert gone.key == record.stem
    assert [path.name for path in setups.iterdir()] == [made.name], "it is mounted, and the rest is gone"
    assert list(records.iterdir()) == []


def test_after_another_boot_every_byte_is_compared(bench: Bench) -> None:
    """A power cut may leave a file that looks as before and lacks its bytes."""
    bench.prove("true")
    (record,) = (bench.work / "records").iterdir()
    content = json.loads(record.read_text(encoding="utf-8"))
    for boot, is_kept in ((content["boot"], True), ("another", False)):
        record.write_text(json.dumps({**content, "digest": "0" * 64, "boot": boot}), encoding="utf-8")
        bench.prove("true")
        assert (json.loads(record.read_text(encoding="utf-8"))["folder"] == content["folder"]) is is_kept


def test_a_level_without_mounts_has_no_overlay(tmp_path: Path) -> None:
    assert try_overlay(Probe("none"), str(tmp_path), os.environ) == say.level_without_mounts("none")


def test_setup_key_depends_on_tools_and_manifests_alone(repo: MakeRepo, tmp_path: Path) -> None:
    path = repo(files={"lock": "1", "deep/package.json": "{}", "app.py": "one\n", "tool.sh": "true\n"})
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "installer").write_text("#!/bin/sh\n", encoding="utf-8")
    (tools / "installer").chmod(0o755)
    workspace = Workspace(setup=("installer --all", "sh tool.sh"), key=("lock",))

    def key(search: str = str(tools)) -> str:
        repo.git(path, "add", "--all")
        tree = repo.git(path, "write-tree")
        found = key_of(str(path / ".git"), tree, workspace, str(path), search)
        assert found.has_lock
        return found.text

    first = key()
    (path / "app.py").write_text("two\n", encoding="utf-8")
    assert key() == first
    (tools / "installer").write_text("#!/bin/sh\n# another version\n", encoding="utf-8")
    second = key()
    seen = {first, second}
    for name in ("deep/package.json", "tool.sh", "lock"):
        (path / name).write_text(f"changed {name}", encoding="utf-8")
        seen.add(key())
    assert len(seen) == 5
    assert key("/nonexistent") not in seen


def test_shared_set_up_reads_the_baseline_and_not_the_work(bench: Bench) -> None:
    (bench.path / "sub/b").write_text(
        "changed by an agent\n", encoding="utf-8"
    )  # no file of the key, and set-up does not name it
    assert bench.prove("cat node_modules/tool/read sub/b") == [0]
    assert bench.checkout.setup == SHARED
    assert bench.said == "two\nchanged by an agent\n"
