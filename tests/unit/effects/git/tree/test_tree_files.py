"""Every file of a tree with size and lines, by real git: also those that try not to be counted."""

from __future__ import annotations

from pathlib import Path

from detent.effects.git.tree.files import recall_files, remember_files, tree_files
from detent.store.journal.observed import TreeFile
from tests.conftest import MakeRepo


def test_every_file_is_there_with_its_size_and_lines(repo: MakeRepo) -> None:
    path = repo(files={"a.py": "1\n2\n3", "deep/er/b.txt": "", "with space\tand tab.md": "x\n"})
    (path / "binary.py").write_bytes(b"\0\n" * 400)
    (path / ".gitattributes").write_text("*.py -diff binary\n")
    (path / "link").symlink_to("a.py")
    repo.git(path, "add", "--all")
    found = tree_files(str(path / ".git"), repo.git(path, "write-tree"))
    assert found == {
        ".gitattributes": TreeFile(18, 1),
        "a.py": TreeFile(5, 3),
        "binary.py": TreeFile(800, 400),
        "deep/er/b.txt": TreeFile(0, 0),
        "link": TreeFile(4, 1),
        "with space\tand tab.md": TreeFile(2, 1),
    }


def test_nothing_hides_in_a_file_too_large_to_be_read(repo: MakeRepo) -> None:
    path = repo(files={"large.py": "x\n" * 2_000_001, "copy.py": "1\n", "same.py": "1\n"})
    found = tree_files(str(path / ".git"), repo.git(path, "rev-parse", "HEAD^{tree}"))
    assert found == {"copy.py": TreeFile(2, 1), "large.py": TreeFile(4_000_002, 4_000_002), "same.py": TreeFile(2, 1)}


def test_what_lies_on_the_disk_now_is_not_asked(repo: MakeRepo) -> None:
    path = repo(files={"a.py": "1\n"})
    tree = repo.git(path, "rev-parse", "HEAD^{tree}")
    (path / "a.py").write_text("1\n2\n")
    (path / "b.py").write_text("1\n")
    assert tree_files(str(path / ".git"), tree) == {"a.py": TreeFile(2, 1)}


def test_a_memory_is_for_one_tree_and_damage_is_nothing(tmp_path: Path) -> None:
    path, tree = tmp_path / "tree-files.json", "t" * 40
    remember_files(str(path), tree, {"a.py": TreeFile(2, 1)})
    assert recall_files(str(path), tree) == {"a.py": TreeFile(2, 1)}
    assert recall_files(str(path), "u" * 40) is None
    path.write_text("{}")
    assert recall_files(str(path), tree) is None
    assert recall_files(str(tmp_path / "nothing"), tree) is None
