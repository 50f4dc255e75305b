"""A pack in a folder of the user's: it works through the command line, is pinned, and comes from nowhere else."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import Detent, MakeRepo, let_out
from tests.e2e.pack_folder import CHANGELOG, SCRIBE, PackUser, copied

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "write-a-pack.md"
SOURCE = Path(__file__).parents[2] / "src"
START = "import sys; from detent.faces.cli.main import main; sys.exit(main())"
NAME = "detent.packs.changelog"


@pytest.fixture
def user(tmp_path: Path, detent: Detent, repo: MakeRepo) -> PackUser:
    return PackUser(tmp_path, detent, repo)


def loaded_by(user: PackUser, *words: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", START, *words],
        cwd=user.path,
        env={**user.detent.environment, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert done.returncode in (0, 4), done.stderr
    return set(re.findall(r"^import time:\s+\d+ \|\s+\d+ \|\s+(\S+)$", done.stderr, re.MULTILINE))


def test_a_task_of_the_example_is_walked_to_its_end(user: PackUser) -> None:
    machines = {row["name"]: row for row in user("machine", "list", "--json").json()["machines"]}
    assert machines["changelog"] == {"name": "changelog", "title": "tell users about a change", "states": 3, "edges": 3}
    assert "changelog/noted" in user("machine", "show", "changelog").out
    assert user("machine", "check", "changelog").out.startswith("changelog: holds")
    user.new()
    refused = user("move", "reading", "t")
    assert (refused.code, 'has no "- " line under "## Unreleased"' in refused.out) == (1, True), refused
    assert user("run", "t").code == 4
    approved = user("approve", "t")
    assert approved.code == 0, approved
    lines = json.loads(user("history", "t", "--json").out)["lines"]
    prepared = [line["prepared"] for line in lines if line["kind"] == "moved" and line.get("prepared")]
    assert prepared == [{"changelog/count_entries": {"entries": "1"}}]
    assert {"wrote": "ANNOUNCE.md"} in [line["result"] for line in lines if line["kind"] == "acted"]
    folder = Path(user("dir", "t").out.strip())
    assert (folder / "ANNOUNCE.md").read_text(encoding="utf-8") == "# tell of the option\n\n- a new option\n"
    assert (folder / "NOTE.md").read_text(encoding="utf-8").startswith("# tell of the option\n")  # from its scaffold
    assert user("land", "t").code == 0
    assert user("audit", "t").code == 0
    assert (user.path / "CHANGELOG.md").read_text(encoding="utf-8") == f"{CHANGELOG}- a new option\n"


def test_what_the_page_shows_is_the_example() -> None:
    blocks = re.findall(r"<!-- (\S+) -->\n```\w*\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) >= 4
    for name, block in blocks:
        assert block in (PAGE.parents[2] / name).read_text(encoding="utf-8"), name


def test_a_step_that_refuses_keeps_the_task_where_it_is(user: PackUser) -> None:
    tree = user.new()
    (tree / "CHANGELOG.md").write_text(f"{CHANGELOG}- one\n<<<<<<< mine\n", encoding="utf-8")
    refused = user("move", "reading", "t")
    assert (refused.code, "a merge left its marks" in refused.out + refused.err) == (1, True), refused


def test_changed_code_stops_every_command_on_the_task(user: PackUser) -> None:
    user.new()
    before = user.journal().read_bytes()
    user.edit("entries.py")
    for words in ("status", "next", "move reading", "run", "approve", "prove", "evidence", "land"):
        error = user.error(*words.split(), "t")
        assert error["what"] == "the code of the pack changelog is not what this task is pinned to"
        assert (error["where"], "detent configure --pack" in error["next"]) == (str(user.pack), True)
    assert user.journal().read_bytes() == before


def test_audit_names_changed_code(user: PackUser) -> None:
    user.new()
    user.edit("entries.py")
    audited = user("audit", "t")
    assert (audited.code, "the code of the pack changelog is not what" in audited.out) == (1, True), audited


def test_a_pack_that_is_gone_is_told(user: PackUser) -> None:
    user.new()
    away = user.pack.rename(user.pack.with_name("elsewhere"))
    assert str(user.pack) in user.error("status", "t")["where"]
    user.names()
    error = user.error("move", "reading", "t")
    assert error["what"] == "the pack changelog that this task uses is not in your settings"
    away.rename(user.pack)
    user.names(user.pack)
    assert user("status", "t").code == 0


def test_lists_show_task_whose_pack_was_changed_and_all_others(user: PackUser) -> None:
    user.new()
    user.new("other", "phase")
    user.edit("announce.py")
    rows = {row["id"]: row for row in user("list", "--json").json()["tasks"]}
    assert "pack changelog" in json.dumps(rows["t"])
    assert rows["other"]["state"] == "intake"
    letters = {row["id"]: row for row in user("inbox", "--json").json()["waiting"]}
    assert "pack changelog" in letters["t"]["why"]


def test_check_that_no_gate_would_run_is_refused(user: PackUser) -> None:
    refused = user("new", "changelog", "tell of the option", "--id", "t", "--check", "true")
    assert refused.code == 2, refused
    assert "changelog has no gate that runs commands: --check would prove nothing" in refused.err
    assert user("list", "--json").json()["tasks"] == []


@pytest.mark.parametrize("words", ["status other", "next other", "list", "inbox"])
def test_readers_of_other_tasks_import_no_pack(user: PackUser, words: str) -> None:
    if words != "inbox":  # it asks the gates of every task, so there is none of the pack's
        user.new()
    user.new("other", "phase")
    assert not [name for name in loaded_by(user, *words.split()) if name.startswith(NAME)]


def test_its_own_task_imports_the_pack(user: PackUser) -> None:
    user.new()
    assert f"{NAME}.entries" in loaded_by(user, "next", "t")  # what the test above would see


def test_what_is_no_code_may_change(user: PackUser) -> None:
    user.new()
    user.edit("machine.toml", "tell users about a change", "tell everybody")
    user.edit("scaffold/NOTE.md")
    (user.pack / "README.md").write_text("about it\n", encoding="utf-8")
    (user.pack / ".git").mkdir()
    (user.pack / ".git" / "hook.py").write_text("raise SystemExit\n", encoding="utf-8")
    assert user("next", "t").code == 0


def test_a_person_goes_on_with_changed_code_by_a_word(user: PackUser) -> None:
    tree = user.new()
    user.edit("entries.py", 'startswith("- ")', 'startswith("* ")')
    assert user("configure", "--pack", "t").code == 2  # it needs a reason
    taken = user("configure", "--pack", "--reason", "other bullets", "t")
    assert taken.code == 0, taken
    (tree / "CHANGELOG.md").write_text(f"{CHANGELOG}* one\n", encoding="utf-8")
    assert user("move", "reading", "t").code == 0
    assert "other bullets" in user("history", "t").out
    assert user("audit", "t").code == 0
    again = user("configure", "--pack", "--reason", "again", "t", "--json").json()
    assert again["changed"] is False


def test_changed_code_is_taken_while_an_agent_run_lives(user: PackUser, tmp_path: Path) -> None:
    let_out(user.path)
    os.mkfifo(tmp_path / "go")
    user.names(user.pack, script=f'read -r _ < "$SCRIPTS/go"; {SCRIBE}')
    user.detent.environment = {**user.detent.environment, "SCRIPTS": str(tmp_path)}
    user.new()
    assert user("start", "t").code == 0
    assert user("run", "--detach", "t").code == 0
    with (tmp_path / "go").open("w", encoding="utf-8") as go:  # opened once the agent waits for it
        user.edit("entries.py")
        assert user.error("status", "t")
        taken = user("configure", "--pack", "--reason", "mended", "t")
        assert taken.code == 0, taken
        go.write("go\n")
    done = user("run", "t")
    assert (done.code, json.loads(user("status", "--json", "t").out)["state"]) == (4, "reading"), done


def test_code_that_lacks_what_the_machine_names_is_not_taken(user: PackUser) -> None:
    user.new()
    user.edit("pack.py", '"noted"', '"named"')
    before = user.journal().read_bytes()
    refused = user("configure", "--pack", "--reason", "renamed", "t")
    assert (refused.code, "unknown check 'changelog/noted'" in refused.out + refused.err) == (1, True), refused
    assert user.journal().read_bytes() == before


def test_a_task_of_another_machine_has_no_pack_to_take(user: PackUser) -> None:
    user.new("other", "phase")
    assert user("configure", "--pack", "--reason", "why not", "other").code == 1


def test_a_project_names_no_pack(user: PackUser) -> None:
    (user.path / "detent.toml").write_text(f"[packs]\nfolders = [{str(user.pack)!r}]\n", encoding="utf-8")
    subprocess.run(["git", "add", "-A"], cwd=user.path, env=user.detent.environment, check=True)
    subprocess.run(["git", "commit", "-qm", "packs"], cwd=user.path, env=user.detent.environment, check=True)
    refused = user("new", "phase", "anything")
    assert (refused.code, "[packs] belongs in your own config.toml" in refused.out + refused.err) == (2, True), refused


def test_a_relative_folder_is_a_mistake_in_the_settings(user: PackUser) -> None:
    user.names("packs/changelog")
    refused = user("new", "changelog", "anything")
    assert (refused.code, "must be a whole path" in refused.out + refused.err) == (2, True), refused


@pytest.mark.parametrize("place", ["repository", "link", "another repository", "home", "plain task folder", "above"])
def test_no_pack_is_loaded_from_where_agents_work(user: PackUser, tmp_path: Path, repo: MakeRepo, place: str) -> None:
    tree = user.new("first", "phase")
    inside = user.path / "packs" / "changelog"
    if place in ("repository", "link"):
        copied(inside)
    if place == "link":
        inside = tmp_path / "changelog"
        inside.symlink_to(user.path / "packs" / "changelog")
    elif place == "another repository":
        inside = copied(repo("second") / "changelog")
        assert user.detent("new", "phase", "x", cwd=inside.parent).code == 0
    elif place == "home":
        inside = copied(tree / "changelog")
    elif place == "plain task folder":
        assert user("new", "phase", "x", "--dir", str(tmp_path / "given")).code == 0
        inside = copied(tmp_path / "given" / "changelog")
    elif place == "above":  # the repository lies in the pack's folder
        inside = copied(tmp_path / "big" / "changelog")
        shutil.move(user.path, inside / "repo")
        user.path = inside / "repo"
    user.names(inside)
    error = user.error("new", "changelog", "anything")
    assert "not loaded from where agents work" in error["what"]
    assert NAME not in json.dumps(error)


@pytest.mark.parametrize("part", ["entries.py", "scaffold"])
def test_a_pack_is_read_through_no_link(user: PackUser, tmp_path: Path, part: str) -> None:
    (user.pack / part).rename(tmp_path / part)
    (user.pack / part).symlink_to(tmp_path / part)
    assert user.error("new", "changelog", "anything")["where"] == str(user.pack / part)


@pytest.mark.parametrize("part", [".", "entries.py", "scaffold"])
def test_a_pack_that_others_may_write_is_refused(user: PackUser, part: str) -> None:
    place = user.pack / part
    place.chmod(0o777)
    error = user.error("new", "changelog", "anything")
    assert "others may write in it" in error["what"]
    assert os.path.realpath(error["where"]) == str(place.resolve())


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
def test_a_pack_of_another_user_is_refused(user: PackUser) -> None:
    os.chown(user.pack / "entries.py", 12345, 12345)
    assert "belongs to another user" in user.error("new", "changelog", "anything")["what"]


def test_nothing_else_in_the_folder_is_run(user: PackUser, tmp_path: Path) -> None:
    """Neither a module that has the name of one of Python's, nor a compiled one, nor a `.pth` file."""
    mark = tmp_path / "mark"
    planted = f"open({str(mark)!r}, 'w')\n"
    (user.pack / "json.py").write_text(planted, encoding="utf-8")
    (user.pack / "own.pth").write_text(f"import os; {planted}", encoding="utf-8")
    (user.pack / "evil.py").write_text(planted, encoding="utf-8")
    subprocess.run([sys.executable, "-m", "compileall", "-q", str(user.pack)], check=True)
    cache = user.pack / "__pycache__"
    for name in ("entries", "announce", "pack"):
        (found,) = cache.glob(f"evil.{sys.implementation.cache_tag}.pyc")
        shutil.copy(found, cache / found.name.replace("evil", name))
    user.new()
    assert user("run", "t").code == 4
    assert user("approve", "t").code == 0
    assert not mark.exists()


@pytest.mark.parametrize("line", ["import detent.packs.ralf", "from detent.packs import ralf", "from .. import ralf"])
def test_a_pack_that_imports_another_is_refused(user: PackUser, line: str) -> None:
    user.edit("entries.py", "", f"\n{line}\n")
    assert "no pack knows another" in user.error("new", "changelog", "anything")["what"]


@pytest.mark.parametrize("line", ["1 / 0", "def", "import sys; sys.exit(0)", "import nothing_of_this_name"])
def test_code_that_fails_is_told_as_the_packs(user: PackUser, line: str) -> None:
    user.edit("announce.py", "", f"\n{line}\n")
    error = user.error("machine", "check", "changelog")
    assert "the pack changelog failed in" in error["what"]


def test_a_check_that_fails_opens_nothing(user: PackUser) -> None:
    user.edit("entries.py", "    if FILE not in changed:\n", "    raise SystemExit(0)\n    if FILE not in changed:\n")
    tree = user.new()
    (tree / "CHANGELOG.md").write_text(f"{CHANGELOG}- one\n", encoding="utf-8")
    error = user.error("move", "reading", "t")
    assert "the pack changelog failed in detent.packs.changelog.entries:noted" in error["what"]
    assert re.search(r"entries\.py:\d+$", error["where"])


def test_name_that_is_missing_is_found_before_task_is_made(user: PackUser) -> None:
    user.edit("pack.py", "announce:announce", "announce:shout")
    assert "announce:shout" in user.error("new", "changelog", "anything")["what"]


def test_what_changes_other_machines_is_not_for_such_packs(user: PackUser) -> None:
    user.edit("pack.py", "", "\nFEATURES = (1,)\n")
    assert "FEATURES are for packs that ship with Detent" in user.error("machine", "check", "changelog")["what"]


def test_a_pack_takes_no_name_of_a_machine_that_ships(user: PackUser) -> None:
    user.names(user.pack.rename(user.pack.with_name("phase")))
    refused = user("new", "phase", "x")
    assert (refused.code, "has the name of a machine that ships" in refused.out + refused.err) == (2, True), refused


def test_two_packs_of_one_name_are_no_guess(user: PackUser, tmp_path: Path) -> None:
    user.names(user.pack, copied(tmp_path / "more" / "changelog"))
    assert user("new", "changelog", "x").code == 2


def test_the_machine_has_the_name_of_its_folder(user: PackUser) -> None:
    user.edit("machine.toml", 'name    = "changelog"', 'name    = "other"')
    assert "calls itself 'other'" in user.error("new", "changelog", "x")["what"]


def test_another_machine_file_names_nothing_of_a_pack(user: PackUser, tmp_path: Path) -> None:
    file = tmp_path / "borrowed.toml"
    shutil.copy(user.pack / "machine.toml", file)
    checked = user("machine", "check", str(file))
    assert (checked.code, "unknown check 'changelog/noted'" in checked.out) == (1, True), checked


def test_what_a_pack_delivers_is_held_to_its_judged_tree(user: PackUser) -> None:
    """The effect hands the work over, so the move asks again for all that was judged; one that only tells need not."""
    user.edit("machine.toml", 'sign_off = true\nneeds    = ["noted"]\n', "sign_off = true\n")
    user.edit("machine.toml", "lands = true\n", "")
    assert user("machine", "check", "changelog").code == 0
    user.edit("pack.py", 'f"{HERE}.announce:announce")', 'f"{HERE}.announce:announce", delivers=True)')
    checked = user("machine", "check", "changelog")
    assert (checked.code, "reading-to-told delivers files that noted may not have judged" in checked.out) == (1, True)


def test_two_answers_of_a_packs_check_are_never_open_together(user: PackUser) -> None:
    user.edit("pack.py", '{"heading": TEXT}', '{"heading": TEXT, "value": TEXT}')
    user.edit("machine.toml", 'heading = "Unreleased"\n', 'heading = "Unreleased"\nvalue = "yes"\n')
    again = '[gate.not_noted]\ncheck = "changelog/noted"\nheading = "Unreleased"\nvalue = "no"\n'
    user.edit("machine.toml", "[state.writing]\n", f"{again}[state.writing]\n")
    user.edit("machine.toml", 'needs   = ["noted"]', 'needs   = ["noted", "not_noted"]')
    assert "never open together" not in user("machine", "check", "changelog").out
    user.edit("pack.py", "judges=True", 'judges=True, answer=""')
    assert "never open together" in user("machine", "check", "changelog").out


def test_doctor_has_a_row_for_each_pack(user: PackUser) -> None:
    rows = {row["what"]: row for row in user("doctor", "--quick", "--json").json()["checks"]}
    assert rows[f"pack changelog from {user.pack}"]["mark"] == "ok"
    broken = user.pack.with_name("broken")
    broken.mkdir()
    user.names(user.pack, broken)
    done = user("doctor", "--quick", "--json")
    rows = {row["what"]: row for row in done.json()["checks"]}
    assert done.code == 5
    assert rows["pack broken: the pack broken has no machine.toml"]["mark"] == "bad"
    assert rows["pack broken: the pack broken has no machine.toml"]["next"]
    assert rows[f"pack changelog from {user.pack}"]["mark"] == "ok"


def test_task_without_its_pack_can_be_given_up(user: PackUser) -> None:
    edge = '[[edge]]\nfrom = ["writing", "reading"]\nto = "dropped"\nby = ["person"]\nverb = "cancel"\n\n'
    first = '[[edge]]\nfrom    = "writing"'
    user.edit("machine.toml", first, f"[state.dropped]\nend = true\n\n{edge}{first}")
    user.new()
    shutil.rmtree(user.pack)
    for words in ("status t", "move reading t", "run t"):
        assert user(*words.split()).code == 5
    done = user("cancel", "--reason", "its pack is gone", "t")
    assert done.code == 0, done
    assert [(row["state"], row["over"]) for row in user("list", "--json").json()["tasks"]] == [("dropped", True)]
    assert user("inbox", "--json").json()["waiting"] == []
    assert user("status", "t").code == 0
    user.names()
    assert user("history", "t").code == 0


def test_task_whose_lost_pack_is_asked_is_not_given_up(user: PackUser) -> None:
    first = '[[edge]]\nfrom    = "writing"'
    edge = '[[edge]]\nfrom = ["writing"]\nto = "dropped"\nby = ["person"]\nverb = "cancel"\nneeds = ["noted"]\n\n'
    user.edit("machine.toml", first, f"[state.dropped]\nend = true\n\n{edge}{first}")
    user.new()
    before = user.journal().read_bytes()
    shutil.rmtree(user.pack)
    assert user.error("cancel", "t")["what"].startswith("the pack changelog")
    assert user.journal().read_bytes() == before


def test_task_that_may_land_is_not_opened_without_its_pack(user: PackUser) -> None:
    user.new()
    assert user("run", "t").code == 4
    assert user("approve", "t").code == 0
    shutil.rmtree(user.pack)
    assert user.error("land", "t")["what"].startswith("the pack changelog")


def test_gc_removes_a_task_without_pack_and_cancel(user: PackUser) -> None:
    user.new()
    shutil.rmtree(user.pack)
    done = user("gc", "t", "--yes", "--journals")
    assert done.code == 0, done
    assert user("list", "--json").json()["tasks"] == [], done.out
