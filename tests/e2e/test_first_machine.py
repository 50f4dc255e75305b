"""The machine that the page about writing one begins with: it holds, and leads from a task to landed work."""

from __future__ import annotations

from pathlib import Path

from tests.conftest import Detent, MakeRepo

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "write-a-machine.md"


def test_the_first_machine_of_the_page_leads_to_landed_work(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    machine = tmp_path / "note.toml"
    machine.write_text(PAGE.read_text(encoding="utf-8").split("```")[1].removeprefix("toml"), encoding="utf-8")
    path = repo()
    checked = detent("machine", "check", machine, cwd=path)
    assert (checked.code, checked.out.startswith("note: holds")) == (0, True), checked
    assert detent("new", machine, "first note", "--id", "n", "--dir", tmp_path / "task", cwd=path).code == 0
    note = tmp_path / "task" / "NOTE.md"
    note.write_text(f"{note.read_text(encoding='utf-8')}Text: hello\n", encoding="utf-8")
    tree = Path(detent("dir", "--tree", "n", cwd=path).out.strip())
    (tree / "hello.txt").write_text("hello\n", encoding="utf-8")
    for words in (("move", "reading", "n"), ("approve", "n"), ("land", "n")):
        done = detent(*words, cwd=path)
        assert done.code == 0, done
    assert (path / "hello.txt").read_text(encoding="utf-8") == "hello\n"
