"""Tests of the tree id with real git, above all of the ways to hide a file from it or to make it run something."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from detent.effects.git.git import Git, find_repository
from detent.effects.git.tree.ignore_rules import combined_ignore_rules
from detent.effects.git.tree.tree_id import LeftOut, changed_files, take_tree, tree_id
from detent.errors import UnreadableError, UsageError
from tests.conftest import MakeRepo


class Tree:
    """A work tree with its private folder, and what changed in it since the first look."""

    def __init__(self, path: Path, private_dir: Path, left_out: Sequence[str] = ()) -> None:
        self.path = path
        self.private_dir = private_dir
        self.left_out = left_out
        self.repository = find_repository(str(path))
        self.baseline = self.repository.head if self.repository else None
        self.first = self.id()

    def id(self) -> str:
        """In both ways, which must agree on everything."""
        place = (str(self.private_dir), str(self.path), self.repository, self.baseline, LeftOut(self.left_out))
        quick = take_tree(*place, looks_untouched=True)
        whole = take_tree(*place)
        assert (quick.id, quick.files) == (whole.id, whole.files)
        return quick.id

    def changes(self) -> list[tuple[str, str]]:
        return list(changed_files(str(self.private_dir), self.first, self.id()))

    def files(self) -> list[str]:
        names = Git(str(self.private_dir)).run("ls-tree", "-r", "-z", "--name-only", self.id())
        return [os.fsdecode(name) for name in names.split(b"\0")[:-1]]


@pytest.fixture
def tree(repo: MakeRepo, tmp_path: Path) -> Tree:
    files = {"a.txt": "one\n", "src/b.txt": "two\n", ".gitignore": "*.log\nbuild/\n", "src/.gitignore": "/local\n"}
    return Tree(repo(files=files), tmp_path / "private")


def test_of_clean_checkout_it_is_the_tree_of_the_commit(tree: Tree, repo: MakeRepo) -> None:
    assert tree.first == repo.git(tree.path, "rev-parse", "HEAD^{tree}")


def test_edit_new_file_deletion_mode_and_kind_count(tree: Tree) -> None:
    (tree.path / "a.txt").unlink()
    (tree.path / "new").write_text("x", encoding="utf-8")
    (tree.path / "src/b.txt").chmod(0o755)
    (tree.path / ".gitignore").unlink()
    (tree.path / ".gitignore").symlink_to("/etc/hosts")
    expected = [("T", ".gitignore"), ("D", "a.txt"), ("A", "new"), ("M", "src/b.txt")]
    assert tree.changes() == expected


def test_what_looks_untouched_is_compared_all_the_same(tree: Tree) -> None:
    """A file in a folder of which no file counts: no time that a reader remembers shows it."""
    place = (str(tree.private_dir), str(tree.path), tree.repository, tree.baseline)
    (tree.path / "empty").mkdir()
    before = take_tree(*place, looks_untouched=True)
    assert before == take_tree(*place, looks_untouched=True)
    (tree.path / "empty/new").write_text("x", encoding="utf-8")
    after = take_tree(*place, looks_untouched=True)
    assert changed_files(str(tree.private_dir), before.id, after.id) == (("A", "empty/new"),)
    assert set(after.files) - set(before.files) == {"empty/new"}


def test_its_files_are_those_of_the_tree(tree: Tree) -> None:
    (tree.path / "a.txt").unlink()
    (tree.path / "x/y").mkdir(parents=True)
    (tree.path / "x/y/z").write_text("x", encoding="utf-8")
    taken = take_tree(str(tree.private_dir), str(tree.path), tree.repository, tree.baseline)
    assert list(taken.files) == tree.files()


def test_tree_names_its_origin_and_where_both_may_differ(tree: Tree) -> None:
    place = (str(tree.private_dir), str(tree.path), tree.repository, tree.baseline)
    (tree.path / "a.txt").unlink()
    (tree.path / "src/b.txt").write_text("two\n", encoding="utf-8")  # as it was
    (tree.path / "x").write_text("x", encoding="utf-8")
    taken = take_tree(*place)
    assert taken.before == tree.first
    differing = {name for _, name in changed_files(str(tree.private_dir), tree.first, taken.id)}
    assert differing == {"a.txt", "x"}
    assert differing <= set(taken.changed)
    again = take_tree(*place)
    assert (again.before, again.changed) == (taken.id, ())
    (tree.path / "x").unlink()
    (tree.path / "x").mkdir()
    (tree.path / "x/y").write_text("x", encoding="utf-8")  # a folder in the place of a file
    assert {"x", "x/y"} <= set(take_tree(*place).changed)


def test_first_one_tells_where_it_may_differ_from_the_baseline(tree: Tree, tmp_path: Path) -> None:
    (tree.path / "new").write_text("x", encoding="utf-8")
    private = str(tmp_path / "another")
    taken = take_tree(private, str(tree.path), tree.repository, tree.baseline, LeftOut(("src",)))
    assert taken.before == tree.baseline
    differing = {name for _, name in changed_files(private, tree.baseline, taken.id)}
    assert {"new", "src/b.txt"} <= differing  # a tracked file that is left out is one that the tree lacks
    assert differing <= set(taken.changed)


def test_without_sound_note_tree_it_was_made_from_is_unknown(tree: Tree) -> None:
    (note,) = (tree.private_dir / "cache").glob("tree-of-*")
    note.write_bytes(b"")
    (tree.path / "a.txt").unlink()
    assert take_tree(str(tree.private_dir), str(tree.path), tree.repository, tree.baseline).before == ""


def test_a_note_made_for_another_index_is_not_believed(tree: Tree) -> None:
    """What a death between the note and the index leaves, or a power cut that kept only one of them."""
    place = (str(tree.private_dir), str(tree.path), tree.repository, tree.baseline)
    (note,) = (tree.private_dir / "cache").glob("tree-of-*")
    old = note.read_bytes()
    (tree.path / "a.txt").write_text("other\n", encoding="utf-8")
    new = tree.id()
    for torn in (old, note.read_bytes()[:-20], b""):
        note.write_bytes(torn)
        assert take_tree(*place, looks_untouched=True).id == new


def test_going_back_gives_the_first_id_again(tree: Tree) -> None:
    (tree.path / "a.txt").write_text("other\n", encoding="utf-8")
    assert tree.id() != tree.first
    (tree.path / "a.txt").write_text("one\n", encoding="utf-8")
    assert tree.id() == tree.first


def test_the_checkout_of_the_user_is_not_touched(tree: Tree, repo: MakeRepo) -> None:
    (tree.path / "new").write_text("x", encoding="utf-8")
    index = (tree.path / ".git/index").read_bytes()
    objects = sorted((tree.path / ".git/objects").rglob("*"))
    tree.id()
    assert (tree.path / ".git/index").read_bytes() == index
    assert sorted((tree.path / ".git/objects").rglob("*")) == objects


def test_rules_of_the_baseline_hold(tree: Tree) -> None:
    for name in ("x.log", "src/y.log", "build/out", "src/local", "deep/local"):
        (tree.path / name).parent.mkdir(exist_ok=True)
        (tree.path / name).write_text("x", encoding="utf-8")
    assert tree.changes() == [("A", "deep/local")]


def test_an_agent_cannot_hide_a_file_with_its_own_rules(tree: Tree) -> None:
    (tree.path / ".gitignore").write_text("*\n", encoding="utf-8")
    (tree.path / "src/.gitignore").unlink()
    (tree.path / "sub").mkdir()
    (tree.path / "sub/.gitignore").write_text("*\n", encoding="utf-8")
    (tree.path / "sub/hidden").write_text("x", encoding="utf-8")
    (tree.path / ".git/info").mkdir(exist_ok=True)
    (tree.path / ".git/info/exclude").write_text("*\n", encoding="utf-8")
    assert ("A", "sub/hidden") in tree.changes()
    assert ("A", "sub/.gitignore") in tree.changes()


def test_agent_cannot_hide_edit_with_bits_of_its_own_index(tree: Tree, repo: MakeRepo) -> None:
    repo.git(tree.path, "update-index", "--assume-unchanged", "a.txt")
    repo.git(tree.path, "update-index", "--skip-worktree", "src/b.txt")
    (tree.path / "a.txt").write_text("x", encoding="utf-8")
    (tree.path / "src/b.txt").write_text("x", encoding="utf-8")
    assert tree.changes() == [("M", "a.txt"), ("M", "src/b.txt")]


def test_a_tracked_file_counts_though_it_is_ignored(repo: MakeRepo, tmp_path: Path) -> None:
    path = repo(files={".gitignore": "*.log\n"})
    (path / "kept.log").write_text("one", encoding="utf-8")
    repo.git(path, "add", "--force", "kept.log")
    repo.git(path, "commit", "--quiet", "--message=x")
    tree = Tree(path, tmp_path / "private")
    (path / "kept.log").write_text("two!", encoding="utf-8")
    (path / "other.log").write_text("two!", encoding="utf-8")
    assert tree.changes() == [("M", "kept.log")]


@pytest.mark.parametrize(
    "name", ["two\nlines", 'quo"te', "tab\there", "b\\ack", " space ", "*", "git~1", "-n", "ü", b"\xff\xfe"]
)
def test_odd_names(tree: Tree, name: str | bytes) -> None:
    path = os.path.join(os.fsencode(tree.path), os.fsencode(name))
    with open(path, "wb") as file:
        file.write(b"x")
    assert tree.changes() == [("A", os.fsdecode(name))]
    os.unlink(path)
    assert tree.changes() == []


@pytest.mark.parametrize("name", [".GIT", ".Git/hidden", "src/.giT/x"])
def test_names_that_git_leaves_out_silently_are_refused(tree: Tree, name: str) -> None:
    (tree.path / name).parent.mkdir(exist_ok=True)
    (tree.path / name).write_text("x", encoding="utf-8")
    with pytest.raises(UnreadableError, match="git"):
        tree.id()


HOSTILE_ATTRIBUTES = "* filter=evil ident text eol=crlf diff=evil\n*.txt working-tree-encoding=UTF-16\n"


def test_nothing_of_the_repository_runs_and_bytes_are_exact(tree: Tree, repo: MakeRepo, tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    evil = tmp_path / "evil"
    evil.write_text(f"#!/bin/sh\ntouch {marker}\ncat\n", encoding="utf-8")
    evil.chmod(0o755)
    for name in ("core.fsmonitor", "filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "diff.external"):
        repo.git(tree.path, "config", name, str(evil))
    for name in ("filter.evil.required", "core.autocrlf"):
        repo.git(tree.path, "config", name, "true")
    hooks = tree.path / ".git/hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("post-index-change", "pre-commit", "post-checkout", "reference-transaction"):
        (hooks / name).symlink_to(evil)
    (tree.path / ".gitattributes").write_text(HOSTILE_ATTRIBUTES, encoding="utf-8")
    content = b"one\r\n$Id$ two\n\xff\xfe"
    (tree.path / "new.txt").write_bytes(content)
    (tree.path / "a.txt").write_bytes(content)
    tree.repository = find_repository(str(tree.path))
    frozen = tree.id()
    tree.changes()
    assert Git(str(tree.private_dir)).run("cat-file", "blob", f"{frozen}:new.txt") == content
    assert Git(str(tree.private_dir)).run("cat-file", "blob", f"{frozen}:a.txt") == content
    assert not marker.exists()
    subprocess.run(["git", "status"], cwd=tree.path, check=False, capture_output=True)
    assert marker.exists(), "the trap itself must work, or this test shows nothing"


def test_a_folder_replaced_by_a_link_is_a_deletion(tree: Tree, tmp_path: Path) -> None:
    (tree.path / "src").rename(tmp_path / "moved")
    (tree.path / "src").symlink_to(tmp_path / "moved")
    assert tree.changes() == [("A", "src"), ("D", "src/.gitignore"), ("D", "src/b.txt")]


def test_a_tracked_folder_behind_an_ignored_link_is_a_deletion(repo: MakeRepo, tmp_path: Path) -> None:
    path = repo(files={"data/x": "x"})
    (path / ".gitignore").write_text("/data\n", encoding="utf-8")
    repo.git(path, "add", ".gitignore")
    repo.git(path, "commit", "--quiet", "--message=x")
    tree = Tree(path, tmp_path / "private")
    (path / "data").rename(tmp_path / "moved")
    (path / "data").symlink_to(tmp_path / "moved")
    assert tree.changes() == [("D", "data/x")]


def test_links_are_stored_and_not_followed(tree: Tree, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/secret").write_text("x", encoding="utf-8")
    (tree.path / "folder").symlink_to(tmp_path / "outside")
    (tree.path / "dangling").symlink_to("nowhere")
    (tree.path / "loop").symlink_to(".")
    assert tree.changes() == [("A", "dangling"), ("A", "folder"), ("A", "loop")]


def test_file_and_folder_change_places(tree: Tree) -> None:
    (tree.path / "a.txt").unlink()
    (tree.path / "a.txt").mkdir()
    (tree.path / "a.txt/inner").write_text("x", encoding="utf-8")
    for name in ("b.txt", ".gitignore"):
        (tree.path / "src" / name).unlink()
    (tree.path / "src").rmdir()
    (tree.path / "src").write_text("x", encoding="utf-8")
    expected = [("D", "a.txt"), ("A", "a.txt/inner"), ("A", "src"), ("D", "src/.gitignore"), ("D", "src/b.txt")]
    assert sorted(tree.changes(), key=lambda change: change[1]) == expected


def test_pipes_and_the_like_are_no_files(tree: Tree) -> None:
    os.mkfifo(tree.path / "pipe")
    assert tree.changes() == []
    (tree.path / "a.txt").unlink()
    os.mkfifo(tree.path / "a.txt")
    assert tree.changes() == [("D", "a.txt")]


def test_same_size_edit_in_the_same_tick_is_noticed(tree: Tree) -> None:
    seen = set()
    for number in range(30):
        (tree.path / "a.txt").write_text(f"{number:04}", encoding="utf-8")
        seen.add(tree.id())
    assert len(seen) == 30


def test_same_size_edit_in_the_index_tick_is_noticed(tree: Tree) -> None:
    """The index and the edit get one and the same time, which is the case git's own rule is made for."""
    time.sleep(1.02 - time.time() % 1)  # git may compare whole seconds: all of this must happen in one
    file = tree.path / "a.txt"
    file.write_text("aaaa", encoding="utf-8")
    before = tree.id()
    (index,) = [path for path in (tree.private_dir / "cache").iterdir() if path.name.startswith("index-")]
    moment = file.stat()
    os.utime(index, ns=(moment.st_mtime_ns, moment.st_mtime_ns))
    with file.open("r+b") as same_inode:
        same_inode.write(b"bbbb")
    os.utime(file, ns=(moment.st_atime_ns, moment.st_mtime_ns))
    time.sleep(1.02 - time.time() % 1)  # a copy of the index made now looks younger than the file
    assert tree.id() != before


def test_left_out_folders_do_not_count_even_if_tracked(repo: MakeRepo, tmp_path: Path) -> None:
    files = {
        "task/TASK.md": "x",
        "task/deep/y": "y",
        "scaffolding/log.md": "log",
        "scaffolding/plan.md": "plan",
        "z": "z",
    }
    path = repo(files=files)
    left_out = ["task/", "scaffolding/log.md", ".detent", "od*d\nname"]
    tree = Tree(path, tmp_path / "private", left_out)
    assert tree.files() == ["scaffolding/plan.md", "z"]
    for name in ("task/TASK.md", "task/new", ".detent/x", "scaffolding/log.md", "od*d\nname/x"):
        (path / name).parent.mkdir(exist_ok=True)
        (path / name).write_text("new!", encoding="utf-8")
    repo.git(path / "task", "init", "--quiet")
    assert tree.id() == tree.first
    (path / "oddd\nname").mkdir()
    (path / "oddd\nname/x").write_text("counts", encoding="utf-8")
    assert tree.changes() == [("A", "oddd\nname/x")]


@pytest.mark.parametrize("path", ["/etc", "..", "../x", ".", "a/../.."])
def test_left_out_must_be_inside(tree: Tree, path: str) -> None:
    with pytest.raises(UsageError):
        tree_id(str(tree.private_dir), str(tree.path), tree.repository, tree.baseline, LeftOut((path,)))


@pytest.mark.parametrize("place", ["new", "src", "deep/er"])
@pytest.mark.parametrize("commits", [True, False])
def test_a_repository_inside_the_tree_is_refused_by_name(tree: Tree, repo: MakeRepo, place: str, commits: bool) -> None:
    inner = tree.path / place
    inner.mkdir(parents=True, exist_ok=True)
    (inner / "file").write_text("x", encoding="utf-8")
    repo.git(inner, "init", "--quiet")
    if commits:
        repo.git(inner, "commit", "--quiet", "--allow-empty", "--message=x")
    with pytest.raises(UnreadableError, match=place) as caught:
        tree.id()
    assert caught.value.where == str(inner)
    assert place in caught.value.next_step


def test_a_repository_in_an_ignored_folder_is_no_concern(tree: Tree, repo: MakeRepo) -> None:
    (tree.path / "build/dependency").mkdir(parents=True)
    repo.git(tree.path / "build/dependency", "init", "--quiet")
    assert tree.id() == tree.first


@pytest.fixture
def outer(repo: MakeRepo, tmp_path: Path) -> Tree:
    inner, path = repo("inner"), repo("outer")
    repo.git(path, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "sub")
    repo.git(path, "commit", "--quiet", "--message=x")
    return Tree(path, tmp_path / "private")


def test_submodule_counts_by_its_commit(outer: Tree, repo: MakeRepo) -> None:
    assert outer.first == repo.git(outer.path, "rev-parse", "HEAD^{tree}")
    repo.git(outer.path / "sub", "commit", "--quiet", "--allow-empty", "--message=x")
    assert outer.changes() == [("M", "sub")]
    repo.git(outer.path, "submodule", "--quiet", "deinit", "--force", "sub")
    assert outer.id() == outer.first


def test_nothing_of_a_submodule_runs(outer: Tree, repo: MakeRepo, tmp_path: Path) -> None:
    evil = tmp_path / "evil"
    evil.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n", encoding="utf-8")
    evil.chmod(0o755)
    repo.git(outer.path / "sub", "config", "core.fsmonitor", str(evil))
    (outer.path / "sub/app.py").write_text("changed", encoding="utf-8")
    outer.changes()
    assert not (tmp_path / "ran").exists()


def test_submodule_turned_into_files_and_back(outer: Tree, repo: MakeRepo) -> None:
    marker = (outer.path / "sub/.git").read_bytes()
    (outer.path / "sub/.git").unlink()
    assert ("A", "sub/app.py") in outer.changes()
    (outer.path / "sub/.git").write_bytes(marker)
    assert outer.id() == outer.first
    for name in (".git", "README.md", "app.py", "test_app.py"):
        (outer.path / "sub" / name).unlink()
    (outer.path / "sub").rmdir()
    assert outer.changes() == [("D", "sub")]


def test_repository_without_commits(repo: MakeRepo, tmp_path: Path) -> None:
    path = tmp_path / "empty"
    path.mkdir()
    repo.git(path, "init", "--quiet")
    tree = Tree(path, tmp_path / "private")
    (path / "first").write_text("x", encoding="utf-8")
    assert tree.changes() == [("A", "first")]


def test_folder_without_git(tmp_path: Path) -> None:
    path = tmp_path / "plain"
    path.mkdir()
    tree = Tree(path, path / ".detent/private", [".detent"])
    (path / ".gitignore").write_text("*\n", encoding="utf-8")
    (path / "file").write_text("x", encoding="utf-8")
    assert tree.changes() == [("A", ".gitignore"), ("A", "file")]


@pytest.mark.parametrize("kind", ["worktree", "detached"])
def test_worktree_and_detached_head(repo: MakeRepo, tmp_path: Path, kind: str) -> None:
    path = repo()
    if kind == "worktree":
        repo.git(path, "worktree", "add", "--quiet", str(tmp_path / "other"))
        path = tmp_path / "other"
    else:
        repo.git(path, "checkout", "--quiet", "--detach")
    tree = Tree(path, tmp_path / "private")
    assert tree.first == repo.git(path, "rev-parse", "HEAD^{tree}")


def test_sha256_repository(repo: MakeRepo, tmp_path: Path) -> None:
    path = tmp_path / "long"
    path.mkdir()
    repo.git(path, "init", "--quiet", "--object-format=sha256")
    (path / "x").write_text("x", encoding="utf-8")
    repo.git(path, "add", "x")
    repo.git(path, "commit", "--quiet", "--message=x")
    tree = Tree(path, tmp_path / "private")
    assert tree.first == tree.id() == repo.git(path, "rev-parse", "HEAD^{tree}")


@pytest.mark.parametrize(
    "damage",
    ["index", "short index", "wrong index", "HEAD", "config", "alternates", "lock", "cache", "rules", "attributes"],
)
def test_damage_of_the_private_folder_is_repaired(tree: Tree, damage: str) -> None:
    (tree.path / "new").write_text("x", encoding="utf-8")
    os.utime(tree.path / "a.txt", (1, 1))  # so old that git trusts what the index says of it
    expected = tree.id()
    private = tree.private_dir
    (index,) = [path for path in (private / "cache").iterdir() if path.name.startswith("index-")]
    if damage == "index":
        index.write_bytes(b"rubbish")
    elif damage == "short index":
        index.write_bytes(index.read_bytes()[:-30])
    elif damage == "wrong index":  # well formed, but one file with the content of another
        names = [Git(str(private)).run("rev-parse", f"{expected}:{name}") for name in ("a.txt", "src/b.txt")]
        first, second = (bytes.fromhex(name.decode().strip()) for name in names)
        index.write_bytes(index.read_bytes().replace(first, second).split(b"TREE")[0])
        index.write_bytes(index.read_bytes() + bytes(20))
    elif damage == "lock":
        for name in (f"{index.name}.lock", "index.lock", "tmp-1-dead", "tmp-1-dead.lock"):
            (private / "cache" / name).write_bytes(b"")
        (private / "index.lock").write_bytes(b"")
    elif damage == "cache":
        for path in (private / "cache").iterdir():
            path.unlink()
        (private / "cache").rmdir()
    elif damage == "rules":
        (private / "cache" / f"submodules-{tree.baseline}").unlink()
    else:
        places = {"alternates": "objects/info/alternates", "attributes": "info/attributes"}
        (private / places.get(damage, damage)).write_bytes(b"rubbish")
    assert tree.id() == expected
    assert tree.id() == expected


def test_objects_that_power_cut_emptied_or_lost_are_written_anew(tree: Tree) -> None:
    for name in ("emptied", "lost"):
        (tree.path / name).write_text(name, encoding="utf-8")
    frozen = tree.id()
    paths = {}
    for name in ("emptied", "lost"):
        blob = Git(str(tree.private_dir)).run("rev-parse", f"{frozen}:{name}").decode().strip()
        paths[name] = tree.private_dir / "objects" / blob[:2] / blob[2:]
        paths[name].chmod(0o644)
    paths["emptied"].write_bytes(b"")
    paths["lost"].unlink()
    (tree.path / "another").write_text("x", encoding="utf-8")
    frozen = tree.id()
    for name in ("emptied", "lost"):
        assert Git(str(tree.private_dir)).run("cat-file", "blob", f"{frozen}:{name}") == name.encode()


def test_old_leftovers_are_removed_and_young_ones_left(tree: Tree) -> None:
    old, young = tree.private_dir / "cache/tmp-1-old", tree.private_dir / "cache/tmp-2-young"
    old.write_bytes(b"")
    young.write_bytes(b"")
    os.utime(old, (1, 1))
    tree.id()
    assert (old.exists(), young.exists()) == (False, True)


def test_many_at_once_from_nothing(repo: MakeRepo, tmp_path: Path) -> None:
    path = repo()
    (path / "new").write_text("x", encoding="utf-8")
    code = (
        "import sys; from detent.effects.git.git import find_repository\n"
        "from detent.effects.git.tree.tree_id import tree_id\n"
        "path, private = sys.argv[1:]; repository = find_repository(path)\n"
        "for _ in range(5): print(tree_id(private, path, repository, repository.head))"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    argv = [sys.executable, "-c", code, str(path), str(tmp_path / "private")]
    running = [subprocess.Popen(argv, stdout=subprocess.PIPE, env=environment) for _ in range(6)]
    ids = [line for process in running for line in process.communicate(timeout=60)[0].split()]
    assert all(process.returncode == 0 for process in running)
    assert len(ids) == 30
    assert len(set(ids)) == 1


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_what_may_not_be_read_is_an_error(tree: Tree, kind: str) -> None:
    (tree.path / "closed").mkdir()
    target = tree.path / "closed/file"
    target.write_text("x", encoding="utf-8")
    barred = target if kind == "file" else target.parent
    barred.chmod(0)
    if os.access(barred, os.R_OK):
        pytest.skip("this user (root) may read everything")
    try:
        with pytest.raises(UnreadableError, match="read"):
            tree.id()
    finally:
        barred.chmod(stat.S_IRWXU)


def test_baseline_must_be_a_full_id(tree: Tree) -> None:
    with pytest.raises(UsageError):
        tree_id(str(tree.private_dir), str(tree.path), tree.repository, "--all")


RULES: dict[str, str] = {
    ".gitignore": "\ufefffirst\n# note\n*.log\n!keep.log\n/top\nbuild/\ndoc/*.html\n\\#odd\n\\!odd\n"
    "trail   \nesc\\ \n**/any\r\nx/**\n",
    "a/.gitignore": "\ufeffbom\n!*.log\n/only\ninner/\nsub/file\n*\\*star\n",
    "a/b/.gitignore": "*\n!.gitignore\n!keep\n",
    "we[i]rd*/.gitignore": "secret\n",
}
NAMES = [
    "first",
    "a/bom",
    "x.log",
    "keep.log",
    "top",
    "d/top",
    "build/f",
    "d/build/f",
    "build2",
    "doc/i.html",
    "d/doc/i.html",
    "#odd",
    "!odd",
    "trail",
    "any",
    "d/any",
    "x/y/z",
    "a/q.log",
    "a/only",
    "a/d/only",
    "a/inner/f",
    "a/d/inner/f",
    "a/sub/file",
    "a/d/sub/file",
    "a/r*star",
    "a/b/keep",
    "a/b/drop",
    "a/b/c/keep",
    "a/b/c/drop",
    "we[i]rd*/secret",
    "we[i]rd*/d/secret",
    "weird/secret",
    "wei/secret",
    "secret",
    "a/top",
    "esc",
]


def test_combined_rules_mean_what_the_separate_files_mean(repo: MakeRepo) -> None:
    path = repo(files=RULES)
    for name in (*NAMES, "esc "):
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text("x", encoding="utf-8")
    rules = path / ".git/combined"
    by_folder = {os.path.dirname(name).encode(): text.encode() for name, text in RULES.items()}
    rules.write_bytes(combined_ignore_rules(by_folder))
    expected = repo.git(path, "ls-files", "-z", "--others", "--exclude-standard").split("\0")
    assert repo.git(path, "ls-files", "-z", "--others", f"--exclude-from={rules}").split("\0") == expected
    assert len(expected) < len(NAMES) - 5


def test_five_thousand_files(repo: MakeRepo, tmp_path: Path, record_property: Callable[[str, object], None]) -> None:
    path = repo(files={f"d{number % 200}/f{number}": str(number) for number in range(5000)})
    tree = Tree(path, tmp_path / "private")
    started = time.perf_counter()
    tree.id()
    record_property("tree_id_ms", round((time.perf_counter() - started) * 1000, 1))
