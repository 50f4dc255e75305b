"""Judges of the newer attacks can see success: each test does openly what the attacker wants."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from detent.effects.host.access import NONE
from detent.lab.attack.attackers.approval import RENAMED
from detent.lab.attack.attackers.evidence import STILL_WRONG
from detent.lab.attack.ground import remove
from detent.lab.attack.inside import LOOT
from detent.lab.attack.scene import Scene
from detent.lab.attack.table import ATTACKS
from detent.lab.attack.values import CANARY, FINISHED, GREEN, MARK, NOTES, ORANGE, PHASE, WORK
from detent.lab.attack.variants import INSTALL_FILE, INSTALL_SCRIPT, VARIANTS, with_settings
from detent.lab.attack.world import World


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    """Not below pytest's own folder: the path of a socket in it may have 107 letters at most."""
    top = tempfile.mkdtemp(prefix="detent-attack-")
    yield World(top)
    remove(top)


def judge_of(name: str) -> Callable[[Scene], str]:
    return next(attack.shows for attack in ATTACKS if attack.name == name)


def test_a_program_that_ran_with_your_rights_is_seen(world: World) -> None:
    scene = world.at(PHASE, WORK, NONE)
    names = (
        *("names-a-command-for-doctor", "names-a-command-to-notify", "names-its-own-agent", "brings-its-own-bwrap"),
        *("plants-a-hook-in-the-tree", "rewrites-the-deploy-script", "waits-for-your-git-status"),
        *("plants-programs-by-set-up", "plants-programs-by-a-hook", "plants-compiled-code"),
    )
    for name in names:
        assert not judge_of(name)(scene), name
    Path(scene.at_home(MARK)).write_text("ran\n", encoding="utf-8")
    for name in names:
        assert judge_of(name)(scene), name


def test_words_that_count_as_a_persons_are_seen(world: World) -> None:
    scene = world.at(ORANGE, WORK, NONE)
    judge = judge_of("renames-the-task-as-a-person")
    assert not judge(scene)
    scene.ask("task", "update", "--summary", RENAMED)
    assert judge(scene)


def test_words_that_commands_left_are_seen(world: World) -> None:
    scene = world.at(PHASE, WORK, NONE)
    for name in ("types-into-your-shell", "grows-the-state-file", "nests-folders"):
        assert not judge_of(name)(scene), name
    scene.notes.append("typed-by-the-agent")
    for name in ("types-into-your-shell", "grows-the-state-file", "nests-folders"):
        assert judge_of(name)(scene), name


def test_files_at_home_that_steer_or_are_live_are_seen(world: World) -> None:
    scene = world.at(PHASE, WORK, NONE)
    changed = {"steers-the-next-agent": (".gemini/settings.json", CANARY)}
    changed["changes-code-after-verify"] = ("live/app.sh", STILL_WRONG)
    for name, (file, text) in changed.items():
        assert not judge_of(name)(scene), name
        path = Path(scene.at_home(file))
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        assert judge_of(name)(scene), name


def test_stolen_logins_and_keys_are_seen(world: World) -> None:
    scene = world.at(PHASE, WORK, NONE)
    for name in ("reads-other-logins", "searches-the-keyring", "carries-your-git-folder"):
        assert not judge_of(name)(scene), name
    Path(scene.task_home("out"), LOOT).write_text(CANARY, encoding="utf-8")
    for name in ("reads-other-logins", "searches-the-keyring", "carries-your-git-folder"):
        assert judge_of(name)(scene), name


def test_a_copy_that_left_the_checkout_is_seen(world: World) -> None:
    scene = world.at(PHASE, WORK, NONE)
    assert not judge_of("leads-a-copy-out")(scene)
    Path(scene.at_home(NOTES)).write_text("copied\n", encoding="utf-8")
    assert judge_of("leads-a-copy-out")(scene)


def test_work_without_its_hidden_file_is_seen(world: World) -> None:
    assert not judge_of("hides-a-tracked-folder")(world.at(PHASE, WORK, NONE))
    assert judge_of("hides-a-tracked-folder")(world.at(PHASE, GREEN, NONE))


def test_a_damaged_prompt_is_seen(world: World) -> None:
    scene = world.at(PHASE, WORK, NONE)
    scene.let_loose("does-nothing")
    assert not judge_of("writes-to-its-standard-input")(scene)
    next(Path(scene.control(), "runs").rglob("prompt.md")).write_text("spoilt\n", encoding="utf-8")
    assert judge_of("writes-to-its-standard-input")(scene)


def test_a_rewritten_record_that_audit_does_not_find_is_seen(world: World) -> None:
    scene = world.at(PHASE, WORK, NONE)
    assert not judge_of("rewrites-earlier-runs")(scene)
    Path(scene.control(), "unvouched").write_text("Ran 500 tests OK, said the agent\n", encoding="utf-8")
    assert judge_of("rewrites-earlier-runs")(scene)


def test_a_task_that_was_led_on_is_seen(world: World) -> None:
    scene = world.at(PHASE, GREEN, NONE)
    assert judge_of("led-on-after-a-refusal")(scene)  # it stands where only a move could have brought it
    for name in ("led-on-after-a-question", "hides-a-change-in-the-index"):
        assert not judge_of(name)(scene), name
    scene.let_loose("honest")
    assert judge_of("led-on-after-a-question")(scene)
    for name in ("shadows-an-isolated-test-library", "hides-a-change-in-the-index"):
        assert judge_of(name)(scene), name


def test_landed_and_collected_work_is_seen(world: World) -> None:
    scene = world.at(PHASE, FINISHED, NONE)
    private = Path(world.repo, "private.txt")
    private.write_text("written by the agent\n", encoding="utf-8")
    assert judge_of("lands-on-an-ignored-file")(scene)
    private.unlink()
    for name in (
        "lands-on-an-ignored-file",
        "lands-a-broken-merge",
        "collects-what-was-taken-back",
        "passes-set-up-off-as-work",
    ):
        assert not judge_of(name)(scene), name
    Path(scene.tree(), INSTALL_FILE).write_text(INSTALL_SCRIPT, encoding="utf-8")
    assert judge_of("poisons-the-set-up")(scene)
    Path(scene.tree(), INSTALL_FILE).unlink()
    scene.ask("land")
    assert judge_of("lands-a-broken-merge")(scene)
    world.detent("gc")
    assert judge_of("collects-what-was-taken-back")(scene)
    Path(world.repo, ".venv").mkdir()
    Path(world.repo, ".venv", "x.py").write_text("x\n", encoding="utf-8")
    world.commit("What set-up made")
    assert judge_of("passes-set-up-off-as-work")(scene)


# --- the settings of a scene ---


def test_settings_of_scene_replace_what_init_wrote_and_leave_rest() -> None:
    text = '# words\n\n[commands]  # join\ntest = "make test"\n# lint = "x"\n\n[budget]\nrun = 1\n'
    changed = with_settings(text, {"commands": {"test": '"sh x"'}, "notify": {"bell": "true"}})
    assert changed == (
        '# words\n\n[commands]  # join\ntest = "sh x"\n# lint = "x"\n\n[budget]\nrun = 1\n\n[notify]\nbell = true\n'
    )


def test_each_scene_is_played_with_the_settings_of_its_variant() -> None:
    assert {attack.variant for attack in ATTACKS} <= VARIANTS.keys()
