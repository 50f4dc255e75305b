"""Tests of the disposable checkout, with real git, real shells and real set-up."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from detent.effects.git.bring import brought_marks, copy_below, wipe
from detent.effects.git.git import Git, find_repository
from detent.effects.git.tree.tree_id import tree_id
from detent.effects.host.process import Finished
from detent.effects.workspace.checkout import (
    FROM_TREE,
    PER_CHECKOUT,
    Checkout,
    CheckoutSpec,
    FrozenTree,
    Running,
    SetupFailed,
    Workspace,
    run_command,
)
from detent.effects.workspace.prepared import lasting_checkout, prepared_checkout
from detent.errors import LockedError, ToolError, UsageError
from detent.store.disk.folders import walk
from detent.words.effects import git as git_words
from detent.words.effects import workspace as say
from tests.conftest import MakeRepo
from tests.messages import codes_in


class Bench:
    """A repository, and one command run in a checkout of its present files."""

    def __init__(self, path: Path, work: Path) -> None:
        self.path = path
        self.work = work
        self.folder = work / "proof/checkout"
        self.log = work / "log"
        self.environment = dict(os.environ)
        self.digest = ""  # of the last set-up

    def frozen(self) -> FrozenTree:
        repository = find_repository(str(self.path))
        baseline = repository.head if repository else None
        private = str(self.work / "private")
        return FrozenTree(private, tree_id(private, str(self.path), repository, baseline), baseline)

    def wanted(self, workspace: Workspace | None = None, vouched: Sequence[str] | None = None) -> CheckoutSpec:
        return CheckoutSpec(
            str(self.folder),
            self.frozen(),
            workspace or Workspace(),
            work_tree=str(self.path),
            cache_dir=str(self.work / "kept"),
            log_path=str(self.work / "setup.log"),
            running=Running(self.environment),
            vouched=vouched,
        )

    def prove(
        self, command: str, workspace: Workspace | None = None, vouched: Sequence[str] | None = None
    ) -> tuple[Checkout | SetupFailed, str]:
        """What the checkout came to, and what the command said in it."""
        with prepared_checkout(self.wanted(workspace, vouched), lock_wait_s=0.1) as outcome:
            if isinstance(outcome, Checkout):
                self.digest = outcome.digest
                self.command(command)
        return outcome, self.log.read_text(encoding="utf-8") if self.log.exists() else ""

    def command(self, command: str, timeout_s: float = 120) -> Finished:
        return run_command(command, str(self.folder), timeout_s, str(self.log), Running(self.environment))

    def said(self, command: str, workspace: Workspace | None = None, vouched: Sequence[str] | None = None) -> str:
        outcome, text = self.prove(command, workspace, vouched)
        assert isinstance(outcome, Checkout), outcome
        return text


@pytest.fixture
def bench(repo: MakeRepo, tmp_path: Path) -> Bench:
    return Bench(
        repo(files={"a.txt": "one\n", "sub/b": "two\n", ".gitignore": "made\n.env\n", "lock": "1"}), tmp_path / "w"
    )


def test_it_holds_the_frozen_tree_and_is_gone_afterwards(bench: Bench) -> None:
    (bench.path / "a.txt").write_text("changed\n", encoding="utf-8")
    (bench.path / "new").write_text("new\n", encoding="utf-8")
    assert bench.said("pwd; cat a.txt sub/b new") == f"{bench.folder}\nchanged\ntwo\nnew\n"
    assert not bench.folder.exists()


def test_later_edits_are_not_seen(bench: Bench) -> None:
    frozen = bench.frozen()
    (bench.path / "a.txt").write_text("later\n", encoding="utf-8")
    with prepared_checkout(
        CheckoutSpec(
            str(bench.folder),
            frozen,
            Workspace(),
            work_tree=str(bench.path),
            cache_dir=str(bench.work / "kept"),
            log_path=str(bench.work / "setup.log"),
            running=Running({}),
        )
    ):
        assert (bench.folder / "a.txt").read_text(encoding="utf-8") == "one\n"


def test_git_works_there(bench: Bench, repo: MakeRepo) -> None:
    (bench.path / "new").write_text("new\n", encoding="utf-8")
    said = bench.said("git rev-parse HEAD; git status --porcelain; git log --format=%s; git rev-parse --show-toplevel")
    assert said == f"{repo.git(bench.path, 'rev-parse', 'HEAD')}\nA  new\nStart\n{bench.folder}\n"


def test_git_works_there_without_any_commit(repo: MakeRepo, tmp_path: Path) -> None:
    path = tmp_path / "plain"
    path.mkdir()
    (path / "x").write_text("x", encoding="utf-8")
    assert Bench(path, tmp_path / "w").said("git status --porcelain; cat x") == "A  x\nx"


def test_bytes_modes_and_links_are_exact_and_nothing_runs(bench: Bench, tmp_path: Path, repo: MakeRepo) -> None:
    (bench.path / ".gitattributes").write_text("* filter=evil text eol=crlf ident\n", encoding="utf-8")
    repo.git(bench.path, "config", "filter.evil.smudge", f"touch {tmp_path}/ran; cat")
    (bench.path / "mixed").write_bytes(b"$Id$\r\none\n\xff")
    (bench.path / "tool").write_text("#!/bin/sh\necho tool\n", encoding="utf-8")
    (bench.path / "tool").chmod(0o755)
    (bench.path / "link").symlink_to("/etc/hosts")
    assert (
        bench.said("./tool; readlink link; od -An -c mixed | tr -d ' \\n'") == "tool\n/etc/hosts\n$Id$\\r\\none\\n377"
    )
    assert not (tmp_path / "ran").exists()


def test_hooks_are_off_there(bench: Bench) -> None:
    said = bench.said(
        "mkdir -p .git/hooks; printf '#!/bin/sh\\necho HOOK\\n' > .git/hooks/pre-commit; chmod +x .git/hooks/*;"
        "git -c user.name=x -c user.email=x@example.invalid commit -q --allow-empty -m x; git log --format=%s -1"
    )
    assert said == "x\n"


def test_leftovers_are_wiped_first_even_read_only_ones(bench: Bench) -> None:
    (bench.folder / "deep/er").mkdir(parents=True)
    (bench.folder / "deep/er/old").write_text("x", encoding="utf-8")
    (bench.folder / "deep/er").chmod(0o500)
    (bench.folder / "deep").chmod(0o500)
    assert bench.said("ls -A; chmod -R a-w sub") == ".git\n.gitignore\na.txt\nlock\nsub\n"
    assert not bench.folder.exists()


def test_wiping_does_not_follow_links(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir(mode=0o555)
    (tmp_path / "folder/closed").mkdir(parents=True)
    (tmp_path / "folder/closed/link").symlink_to(tmp_path / "outside")
    (tmp_path / "folder/closed").chmod(0o500)
    wipe(str(tmp_path / "folder"))
    (tmp_path / "folder").symlink_to(tmp_path / "outside")
    wipe(str(tmp_path / "folder"))
    assert not (tmp_path / "folder").is_symlink()
    assert stat.S_IMODE((tmp_path / "outside").stat().st_mode) == 0o555


def test_a_second_proof_waits_only_so_long(bench: Bench) -> None:
    bench.folder.parent.mkdir(parents=True)
    with open(f"{bench.folder}.lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(LockedError):
            bench.prove("true")
    assert bench.said("echo free") == "free\n"


def test_the_lock_is_free_after_an_error_inside(bench: Bench) -> None:
    with pytest.raises(UsageError):
        bench.prove("true", Workspace(carry=("../x",)))
    assert not bench.folder.exists()
    assert bench.said("echo free") == "free\n"


def test_a_damaged_object_is_named_and_repaired_by_a_retry(bench: Bench) -> None:
    (bench.path / "new").write_text("new\n", encoding="utf-8")
    frozen = bench.frozen()
    blob = Git(frozen.private_dir).run("rev-parse", f"{frozen.tree}:new").decode().strip()
    damaged = Path(frozen.private_dir, "objects", blob[:2], blob[2:])
    damaged.chmod(0o644)
    damaged.write_bytes(b"")
    with pytest.raises(ToolError) as caught:
        bench.prove("true")
    assert codes_in(caught.value.what) == ("workspace.frozen_tree_unreadable", "git.command_failed")
    assert bench.said("cat new") == "new\n"


def test_environment_of_commands(bench: Bench) -> None:
    bench.environment.pop("GIT_SSL_CAINFO", None)  # the one variable of git's that commands are given
    bench.environment |= {"DETENT_RUN": "1", "GIT_DIR": "/nowhere", "CI": "yes", "PWD": "/wrong", "MINE": "kept"}
    said = bench.said("env | grep -E '^(DETENT|GIT|CI|PWD|MINE)' | sort")
    assert said == f"CI=yes\nMINE=kept\nPWD={bench.folder}\n"


def test_red_and_slow_commands_are_values(bench: Bench) -> None:
    bench.folder.mkdir(parents=True)
    assert bench.command("echo why; exit 3").exit == 3
    assert bench.log.read_text(encoding="utf-8") == "why\n"
    assert bench.command("sleep 100", timeout_s=0.1).timed_out


def test_file_that_vanishes_during_the_copy_is_left_out(tmp_path: Path) -> None:
    """The user works in that checkout; the kernel's list of our open files names one that only the look had open."""
    names = {line.partition("\0")[0] for line in brought_marks("/proc/self", ("fdinfo",)).split("\n")}
    assert {"fdinfo/0", "fdinfo/1", "fdinfo/2"} <= names
    copy_below("/proc/self/fdinfo", str(tmp_path), frozenset())
    assert {"0", "1", "2"} <= {path.name for path in tmp_path.iterdir()}
    with pytest.raises(FileNotFoundError):
        copy_below("/proc/self/fdinfo", str(tmp_path / "no" / "folder"), frozenset())


def test_copy_and_carry_bring_what_git_ignores(bench: Bench) -> None:
    (bench.path / ".env").write_text("SECRET", encoding="utf-8")
    (bench.path / "made/deep").mkdir(parents=True)
    (bench.path / "made/deep/x").write_text("X", encoding="utf-8")
    (bench.path / "made/link").symlink_to("deep/x")
    workspace = Workspace(copy=(".e*",), carry=("made", "not-there", "no/*.such"))
    outcome, said = bench.prove("cat .env made/deep/x; readlink made/link", workspace)
    assert said == "SECRETXdeep/x\n"
    assert outcome == Checkout(str(bench.folder), ("not-there", "no/*.such"), "none")


def test_missing_copy_is_a_failed_setup(bench: Bench) -> None:
    outcome, said = bench.prove("true", Workspace(copy=("not-there",), setup=("true",)))
    assert isinstance(outcome, SetupFailed)
    assert "not-there" in outcome.command
    assert said == ""
    assert not bench.folder.exists()


def test_copies_do_not_replace_the_frozen_tree(bench: Bench) -> None:
    frozen = bench.frozen()
    (bench.path / "a.txt").write_text("the user's later version\n", encoding="utf-8")
    (bench.path / "sub/extra").write_text("x", encoding="utf-8")
    with prepared_checkout(
        CheckoutSpec(
            str(bench.folder),
            frozen,
            Workspace(carry=("a.txt", "sub", "*", "**/*", ".")),
            work_tree=str(bench.path),
            cache_dir=str(bench.work / "kept"),
            log_path=str(bench.work / "setup.log"),
            running=Running({}),
        )
    ):
        assert (bench.folder / "a.txt").read_text(encoding="utf-8") == "one\n"
        assert (bench.folder / "sub/extra").exists()
        assert not (bench.folder / ".git/hooks").exists()


def test_a_deep_pattern_follows_no_links_and_ends(bench: Bench) -> None:
    frozen = bench.frozen()
    for name in ("round", "again"):  # each alone is followed some forty times, both together never come to an end
        (bench.path / name).symlink_to(".")
    for number in range(3):
        folder = bench.path / "a" / ("b/" * number)
        folder.mkdir(exist_ok=True)
        (folder / ".env").write_text(str(number), encoding="utf-8")
    nest(bench.path / "a", 1200)
    with prepared_checkout(
        CheckoutSpec(
            str(bench.folder),
            frozen,
            Workspace(copy=("**/.env",), carry=("no/**",)),
            work_tree=str(bench.path),
            cache_dir=str(bench.work / "kept"),
            log_path=str(bench.work / "setup.log"),
            running=Running({}),
        )
    ) as outcome:
        assert isinstance(outcome, Checkout)
        assert outcome.missing == ("no/**",)
        assert sorted(path.relative_to(bench.folder / "a").as_posix() for path in bench.folder.rglob(".env")) == [
            ".env",
            "b/.env",
            "b/b/.env",
        ]
    assert brought_marks(str(bench.path), ("**/.env",)).count(".env") == 3
    wipe(str(bench.path / "a"))


def test_link_to_folder_is_looked_at_as_link_it_is(bench: Bench) -> None:
    (bench.path / "all").symlink_to("/")
    assert brought_marks(str(bench.path), ("all",)).splitlines()[1:] == []


def test_folders_nested_by_the_thousand_are_copied(bench: Bench, tmp_path: Path) -> None:
    source, target = tmp_path / "from", tmp_path / "to"
    for folder in (source, target):
        folder.mkdir()
    nest(source, 1200)
    copy_below(str(source), str(target), frozenset())
    assert sum(1 for _ in walk(str(target))) == 1201
    wipe(str(source))
    wipe(str(target))


@pytest.mark.parametrize("pattern", ["/etc/hosts", "../outside", "a/../../outside"])
def test_patterns_may_not_leave_the_work_tree(bench: Bench, pattern: str) -> None:
    with pytest.raises(UsageError, match=re.escape(git_words.path_not_in_tree(pattern))):
        bench.prove("true", Workspace(copy=(pattern,)))


def test_links_do_not_lead_copies_out_on_either_side(bench: Bench, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("secret", encoding="utf-8")
    (bench.path / "out").symlink_to(outside)
    frozen = bench.frozen()
    (bench.path / "late").symlink_to(outside)
    with prepared_checkout(
        CheckoutSpec(
            str(bench.folder),
            frozen,
            Workspace(carry=("out/secret", "late/secret")),
            work_tree=str(bench.path),
            cache_dir=str(bench.work / "kept"),
            log_path=str(bench.work / "setup.log"),
            running=Running({}),
        )
    ) as outcome:
        assert isinstance(outcome, Checkout)
        assert outcome.missing == ("out/secret", "late/secret")
    (bench.path / "out").unlink()
    (bench.path / "out").mkdir()
    (bench.path / "out/planted").write_text("x", encoding="utf-8")
    for pattern in ("out", "out/planted"):
        with prepared_checkout(
            CheckoutSpec(
                str(bench.folder),
                frozen,
                Workspace(carry=(pattern,)),
                work_tree=str(bench.path),
                cache_dir=str(bench.work / "kept"),
                log_path=str(bench.work / "setup.log"),
                running=Running({}),
            )
        ):
            assert (bench.folder / "out").is_symlink()
    assert sorted(os.listdir(outside)) == ["secret"]


def test_a_link_into_the_git_folder_brings_nothing_along(bench: Bench) -> None:
    (bench.path / "x").mkdir()
    (bench.path / "x/keep").write_text("k", encoding="utf-8")
    frozen = bench.frozen()
    shutil.rmtree(bench.path / "x")
    (bench.path / "x").symlink_to(".git")
    with prepared_checkout(
        CheckoutSpec(
            str(bench.folder),
            frozen,
            Workspace(carry=("x/config",)),
            work_tree=str(bench.path),
            cache_dir=str(bench.work / "kept"),
            log_path=str(bench.work / "setup.log"),
            running=Running({}),
        )
    ) as outcome:
        assert isinstance(outcome, Checkout)
        assert outcome.missing == ("x/config",)
        assert sorted(os.listdir(bench.folder / "x")) == ["keep"]


def nest(folder: Path, levels: int) -> None:
    """Folders in each other, deeper than a path can name."""
    program = "import os; [(os.mkdir('d'), os.chdir('d')) for _ in range({})]"
    subprocess.run([sys.executable, "-c", program.format(levels)], cwd=folder, check=True)


COUNTING = (
    "echo run >> ../../runs; mkdir -p made/empty; echo built > made/x; ln -sf x made/l; chmod 555 made;"
    "echo spoilt > a.txt"
)


def runs(bench: Bench) -> int:
    path = bench.work / "runs"
    return len(path.read_text(encoding="utf-8").splitlines()) if path.exists() else 0


def test_setup_runs_once_per_key_and_is_kept(bench: Bench) -> None:
    workspace = Workspace(setup=(COUNTING,), key=("lock", "*/lock", "absent"))
    look = "cat made/x made/l a.txt; ls -ld made | cut -c1-10; ls -A made"
    expected = "built\nbuilt\none\ndr-xr-xr-x\nempty\nl\nx\n"
    assert bench.said(look, workspace) == expected
    (bench.path / "sub/b").write_text("an edit that set-up does not depend on", encoding="utf-8")
    outcome, said = bench.prove(look, workspace)
    assert isinstance(outcome, Checkout)
    assert (said, outcome.setup, runs(bench)) == (expected, PER_CHECKOUT, 1)
    bench.prove(look, workspace.replace(setup=(COUNTING, "true")))
    assert runs(bench) == 2
    assert len(os.listdir(bench.work / "kept")) == 2
    assert not list((bench.work / "kept").glob("*/a.txt"))


@pytest.mark.parametrize("name", ["lock", "sub/lock", "package.json", "sub/deep/pyproject.toml", "tool.sh"])
def test_changed_key_file_or_manifest_gets_its_own_set_up(bench: Bench, name: str) -> None:
    workspace = Workspace(setup=(COUNTING, "sh tool.sh || true"), key=("lock", "*/lock"))
    bench.prove("true", workspace)
    (bench.path / name).parent.mkdir(exist_ok=True)
    (bench.path / name).write_text("changed", encoding="utf-8")
    for number in (2, 3):
        outcome, _said = bench.prove("true", workspace)
        assert isinstance(outcome, Checkout)
        assert (outcome.setup, outcome.why, runs(bench)) == (FROM_TREE, say.changed((name,)), number)
    assert len(os.listdir(bench.work / "kept")) == 1


def test_set_up_runs_on_baseline_and_not_on_the_tree(bench: Bench) -> None:
    workspace = Workspace(setup=("mkdir -p made; cp sub/* made",), key=("lock",))
    (bench.path / "sub/b").write_text("changed by the task\n", encoding="utf-8")
    assert bench.said("cat made/b sub/b", workspace) == "two\nchanged by the task\n"


def test_a_baseline_without_lock_file_shares_nothing(bench: Bench) -> None:
    workspace = Workspace(setup=(COUNTING,), key=("absent.lock",))
    for number in (1, 2):
        outcome, _said = bench.prove("true", workspace)
        assert isinstance(outcome, Checkout)
        assert (outcome.setup, runs(bench)) == (FROM_TREE, number)
        assert "absent.lock" in outcome.why


def test_without_key_setup_is_run_each_time(bench: Bench) -> None:
    workspace = Workspace(setup=(COUNTING,))
    assert bench.said("cat made/x a.txt", workspace) == bench.said("cat made/x a.txt", workspace) == "built\none\n"
    assert runs(bench) == 2


def test_kept_work_gives_way_to_files_of_the_frozen_tree(bench: Bench) -> None:
    workspace = Workspace(setup=("mkdir -p gen; echo generated > gen/x; echo more > gen/y",), key=("lock",))
    assert bench.said("cat gen/x gen/y", workspace) == "generated\nmore\n"
    (bench.path / "gen").mkdir()
    (bench.path / "gen/x").write_text("written\n", encoding="utf-8")
    assert bench.said("cat gen/x gen/y", workspace) == "written\nmore\n"


def test_what_setup_changed_in_carried_files_is_kept(bench: Bench) -> None:
    (bench.path / "made").mkdir()
    (bench.path / "made/x").write_text("carried\n", encoding="utf-8")
    (bench.path / ".env").write_text("SECRET", encoding="utf-8")
    workspace = Workspace(setup=("echo added >> made/x; echo y > made/y",), key=("lock",), carry=("made", ".env"))
    assert bench.said("cat made/x made/y .env", workspace) == "carried\nadded\ny\nSECRET"
    assert bench.said("cat made/x made/y .env", workspace) == "carried\nadded\ny\nSECRET"
    assert not list((bench.work / "kept").glob("*/.env"))


@pytest.mark.parametrize(
    ("command", "timeout_s", "why"), [("echo broken; exit 4", 60, "exit 4"), ("sleep 1000", 3, say.timed_out(3))]
)
def test_failed_setup_is_returned_and_not_kept(bench: Bench, command: str, timeout_s: float, why: str) -> None:
    workspace = Workspace(setup=("true", command, "touch ../../ran"), key=("lock",), timeout_s=timeout_s)
    outcome, said = bench.prove("true", workspace)
    assert isinstance(outcome, SetupFailed)
    assert outcome.command == command
    assert why in outcome.why
    assert outcome.log == str(bench.work / "setup.log")
    assert said == ""
    assert not (bench.work / "ran").exists()
    assert not (bench.work / "kept").exists()
    if outcome.exit == 4:
        assert Path(outcome.log).read_text(encoding="utf-8") == "broken\n"


KEPT_TOOL = Workspace(setup=("echo run >> ../../runs; mkdir -p made; echo 'echo honest' > made/tool",), key=("lock",))


def kept_files(bench: Bench) -> list[str]:
    """What the copies that are kept hold, each below its own folder."""
    kept = bench.work / "kept"
    return sorted(str(path.relative_to(kept)).partition("/")[2] for path in kept.rglob("*") if path.is_file())


def test_a_kept_set_up_takes_its_room_once(bench: Bench) -> None:
    for _time in range(2):
        assert bench.said("sh made/tool; ls ../../kept/*", KEPT_TOOL) == "honest\n", "the copy is in the checkout"
        assert kept_files(bench) == ["made/tool"]
    assert runs(bench) == 1


def test_leftovers_of_tools_are_gone_for_the_next_proof(bench: Bench) -> None:
    leave = "mkdir -p made/deep/cache; echo x > made/deep/cache/x; ln -s /etc made/link; chmod 0 made/deep; "
    for _time in range(2):
        assert bench.said("ls -A made", KEPT_TOOL) == "tool\n"
        bench.said(leave, KEPT_TOOL)
    assert runs(bench) == 1


ALTERED = {
    "content": "echo 'echo altered' > made/tool",
    "same size and time": "touch -r made/tool time; echo 'echo hones!' > made/tool; touch -r time made/tool",
    "mode": "chmod 777 made/tool",
    "gone": "rm made/tool",
    "a link": "mv made/tool ../away; ln -s ../../away made/tool",
    "a second name": "ln -f made/tool ../second",
    "a sparse file": "truncate -s 4T made/tool",
    "a pipe": "rm made/tool; mkfifo made/tool",
    "all of it": "rm -r made; ln -s /etc made",
}


@pytest.mark.parametrize("alter", list(ALTERED.values()), ids=list(ALTERED))
def test_set_up_that_a_command_altered_is_not_used_again(bench: Bench, alter: str) -> None:
    bench.said(alter, KEPT_TOOL)
    outcome, said = bench.prove("sh made/tool", KEPT_TOOL)
    assert isinstance(outcome, Checkout)
    assert (said, outcome.made_now, runs(bench)) == ("honest\n", True, 2)
    bench.said(alter, KEPT_TOOL)
    assert bench.said("sh made/tool", KEPT_TOOL) == "honest\n"
    assert runs(bench) == 2, "from then on the checkout has a copy of the copy"


@pytest.mark.parametrize("name", ["made/tool", "made/planted"])
def test_kept_set_up_that_was_altered_is_not_used(bench: Bench, name: str) -> None:
    bench.said("true", KEPT_TOOL)
    (kept,) = (bench.work / "kept").iterdir()
    (kept / name).write_text("echo altered\n", encoding="utf-8")
    assert bench.said("sh made/tool; ls made", KEPT_TOOL) == "honest\ntool\n"
    assert runs(bench) == (2 if name == "made/tool" else 1)


def test_set_up_whose_record_was_forged_is_not_vouched_for(bench: Bench) -> None:
    bench.said("true", KEPT_TOOL)
    vouched = [bench.digest]
    assert bench.said("sh made/tool", KEPT_TOOL, vouched) == "honest\n"
    assert runs(bench) == 1
    bench.said("true", KEPT_TOOL.replace(setup=("mkdir made; echo 'echo forged' > made/tool",)))
    old, new = sorted((bench.work / "kept").iterdir(), key=lambda path: path.stat().st_mtime_ns)
    (old / "made/tool").write_text("echo forged\n", encoding="utf-8")
    records = bench.work / "kept.records"
    shutil.copy(records / f"{new.name}.json", records / f"{old.name}.json")
    assert bench.said("sh made/tool", KEPT_TOOL) == "forged\n", "who forges both is found by the journal alone"
    assert bench.said("sh made/tool", KEPT_TOOL, vouched) == "honest\n"
    assert runs(bench) == 2


def test_nothing_behind_a_link_is_taken_for_the_set_up(bench: Bench, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "stray").write_text("the person's\n", encoding="utf-8")
    workspace = Workspace(setup=("echo made > sub/stray",), key=("lock",))
    bench.said(f"rm -r sub; ln -s {outside} sub", workspace)
    assert (outside / "stray").read_text(encoding="utf-8") == "the person's\n"
    assert bench.said("cat sub/stray", workspace) == "made\n"


def test_set_up_lent_to_a_checkout_that_lasts_comes_back(bench: Bench) -> None:
    wanted = bench.wanted(KEPT_TOOL)
    for number in range(3):
        made = lasting_checkout(wanted)
        assert isinstance(made, Checkout)
        assert made.made_now == (number == 0)
        assert (bench.folder / "made/tool").exists()
        assert kept_files(bench) == []
    assert runs(bench) == 1


def test_build_command_writes_into_a_copy_of_the_set_up(bench: Bench) -> None:
    wanted = bench.wanted(KEPT_TOOL).replace(build=str(bench.work / "build"))
    for _time in range(2):
        with prepared_checkout(wanted) as made:
            assert isinstance(made, Checkout)
            bench.command("cat made/tool; echo built > made/tool")
        assert bench.log.read_text(encoding="utf-8") == "echo honest\n"
    assert runs(bench) == 1


def test_venv_of_a_set_up_works_after_it_is_restored(bench: Bench) -> None:
    workspace = Workspace(setup=("python3 -m venv --without-pip made",), key=("lock",))
    for _time in range(2):
        assert bench.said('made/bin/python -c "import sys; print(sys.prefix)"', workspace) == f"{bench.folder}/made\n"


def test_protected_files_are_the_baselines_whatever_the_tree_has(bench: Bench, repo: MakeRepo) -> None:
    (bench.path / "gate.toml").write_text("strict\n", encoding="utf-8")
    repo.git(bench.path, "add", "-A")
    repo.git(bench.path, "commit", "--quiet", "--message=gate")
    (bench.path / "gate.toml").write_text("weak\n", encoding="utf-8")
    (bench.path / "ci").mkdir()
    (bench.path / "ci/added").write_text("new\n", encoding="utf-8")
    (bench.path / "own.txt").write_text("work\n", encoding="utf-8")
    frozen = bench.frozen()
    with prepared_checkout(
        CheckoutSpec(
            str(bench.folder),
            frozen.replace(protected=("gate.toml", "ci/**")),
            Workspace(setup=("echo weak > gate.toml",)),
            work_tree=str(bench.path),
            cache_dir=str(bench.work / "kept"),
            log_path=str(bench.work / "setup.log"),
            running=Running(bench.environment),
        )
    ) as outcome:
        assert isinstance(outcome, Checkout)
        assert (bench.folder / "gate.toml").read_text(encoding="utf-8") == "strict\n"
        assert not (bench.folder / "ci").exists()
        assert (bench.folder / "own.txt").read_text(encoding="utf-8") == "work\n"


@pytest.mark.parametrize("key", [(), ("lock",)], ids=["of this tree", "of the baseline"])
def test_set_up_cannot_use_the_git_folder_of_its_checkout(bench: Bench, tmp_path: Path, key: tuple[str, ...]) -> None:
    mark = tmp_path / "ran"
    plant = (
        f"git config filter.x.smudge 'touch {mark}; cat'; echo '* filter=x' > .git/info/attributes;"
        "git update-index --assume-unchanged a.txt; echo spoilt > a.txt; echo spoilt > sub/b"
    )
    assert bench.said("cat a.txt sub/b; git status --short", Workspace(setup=(plant,), key=key)) == "one\ntwo\n"
    assert not mark.exists()


def test_removed_files_do_not_return_with_baseline_s_set_up(bench: Bench) -> None:
    (bench.path / "sub/b").unlink()
    assert bench.said("ls", Workspace(setup=("mkdir made; echo x > made/x",), key=("lock",))) == "a.txt\nlock\nmade\n"
