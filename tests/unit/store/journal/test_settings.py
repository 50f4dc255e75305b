"""Tests of `detent.toml`: everything that is wrong is told at once, and nothing unknown is let through."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from detent.errors import UnreadableError, UsageError
from detent.store.journal.settings import COMMAND_TIMEOUT_S, READ_ISSUE, RUN_DEFAULTS, Settings, parse_settings
from detent.words.machines import parse as parse_words
from detent.words.store import settings as say
from tests.messages import message_of

WHOLE = b"""
default_machine = "phase"
[commands]
test = "make test"
lint = "make lint"
timeout_s = 60
memory_mb = 2048
[workspace]
setup = ["make setup"]
key = ["poetry.lock"]
copy = [".env"]
carry = ["node_modules"]
[machine.phase]
limits = { runs = 5 }
options = ["ask-early"]
[agents]
default = "claude:sonnet"
"phase.judge" = ["codex", "pi"]
[agents.mine]
argv = ["my-agent"]
[budget]
run = { minutes = 5, usd = 1.5, tokens = 1000, turns = 4, stall_minutes = 0.5 }
task = { hours = 8, usd = 10, runs = 40 }
[notify]
command = "notify-send detent"
bell = false
[land]
how = "squash"
pr = "gh pr create --head {branch}"
[issue]
read = "tracker show {id}"
[prompts]
add = { builder = "docs/rules.md" }
[sandbox]
require = "kernel"
network = { judge = "deny" }
show = ["/opt/tools"]
pass = ["CI_TOKEN"]
[protect]
deny = [".github/**"]
[human]
allow_no_new_privs = true
"""


def problems(text: str) -> list[str]:
    with pytest.raises(UsageError) as caught:
        parse_settings(text.encode(), "detent.toml of abc")
    assert caught.value.where == "detent.toml of abc"
    found = message_of(caught.value.what).values["problems"]
    assert isinstance(found, Sequence)
    assert caught.value.what == say.problems_in("detent.toml", found)
    return list(found)


def test_a_whole_file_is_read() -> None:
    settings = parse_settings(WHOLE, "here")
    assert settings == Settings(
        default_machine="phase",
        commands={"test": "make test", "lint": "make lint"},
        command_timeout_s=60,
        command_limits={"memory_mb": 2048, "processes": 2000},
        setup=("make setup",),
        key=("poetry.lock",),
        copy=(".env",),
        carry=("node_modules",),
        limits={"phase": {"runs": 5}},
        options={"phase": ("ask-early",)},
        agents={
            "default": "claude:sonnet",
            "phase.judge": ["codex", "pi"],
            "mine": {"argv": ["my-agent"]},
        },
        budget={
            "run": {"minutes": 5, "usd": 1.5, "tokens": 1000, "turns": 4, "stall_minutes": 0.5},
            "task": {"hours": 8, "usd": 10, "runs": 40},
        },
        notify_command="notify-send detent",
        notify_bell=False,
        land_how="squash",
        land_pr="gh pr create --head {branch}",
        issue_read="tracker show {id}",
        prompts={"builder": "docs/rules.md"},
        sandbox_require="kernel",
        sandbox_network={"judge": "deny"},
        sandbox_show=("/opt/tools",),
        sandbox_pass=("CI_TOKEN",),
        protect={"deny": (".github/**", ".secrets.baseline"), "ask": (), "report": ("test/**", "tests/**")},
        human_allow_no_new_privs=True,
    )
    assert settings.workspace() == {
        "setup": ["make setup"],
        "key": ["poetry.lock"],
        "copy": [".env"],
        "carry": ["node_modules"],
    }


def test_what_is_missing_has_a_default() -> None:
    assert parse_settings(b"", "here") == Settings()
    assert Settings().command_timeout_s == COMMAND_TIMEOUT_S
    assert Settings().budget == {"run": {"minutes": 30, "stall_minutes": 10}, "task": {}}
    assert (Settings().issue_read, Settings().land_how, Settings().notify_bell) == (READ_ISSUE, "merge", True)


def test_a_bound_that_is_given_leaves_the_other_defaults() -> None:
    budget = parse_settings(b"[budget]\nrun = { usd = 2 }", "here").budget
    assert budget == {"run": {**RUN_DEFAULTS, "usd": 2}, "task": {}}


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('osv_url = "http://x/\'; rm -rf ."', say.no_address("osv_url")),
        ("osv_url = 'ftp://x'", say.no_address("osv_url")),
        ("accept = ['$(id)']", say.no_advisory("$(id)")),
        ("accept = ['--on']", say.no_advisory("--on")),
    ],
)
def test_what_audit_is_told_can_stand_in_a_command_line(line: str, problem: str) -> None:
    assert problems(f"[audit]\n{line}\n") == [problem]


def test_one_command_need_not_be_a_list() -> None:
    assert parse_settings(b"[workspace]\nsetup = 'make'", "here").setup == ("make",)


def test_a_byte_order_mark_is_no_problem() -> None:
    assert parse_settings(b"\xef\xbb\xbf" + WHOLE, "here") == parse_settings(WHOLE, "here")


def test_all_problems_are_told_at_once() -> None:
    text = """
    default_machine = 3
    colour = "red"
    [commands]
    test = ""
    lint = 5
    timeout_s = 0
    [workspace]
    setup = 1
    copy = ["/etc/passwd", "../secrets"]
    colour = 1
    [machine.phase]
    limits = { runs = "many", crashes = true }
    options = [1]
    extra = 1
    [budget]
    run = { minutes = 0, meters = 3 }
    task = { usd = "ten" }
    colour = 1
    [land]
    how = "rebase"
    [issue]
    read = "gh issue view"
    [prompts]
    add = { builder = "../rules.md" }
    """
    assert sorted(problems(text)) == sorted(
        [
            parse_words.key_must_be("", "default_machine", "a text"),
            parse_words.unknown_key("", "colour", ""),
            say.no_command_line("commands", "test"),
            parse_words.key_must_be("commands", "lint", "a text"),
            say.timeout_too_short(),
            parse_words.key_must_be("workspace", "setup", "a text or a list of texts"),
            say.path_outside("copy", "/etc/passwd"),
            say.path_outside("copy", "../secrets"),
            parse_words.unknown_key("workspace", "colour", ""),
            parse_words.key_must_be("machine phase limits", "runs", "a whole number"),
            parse_words.key_must_be("machine phase limits", "crashes", "a whole number"),
            parse_words.key_must_be("machine phase", "options", "a text or a list of texts"),
            parse_words.unknown_key("machine phase", "extra", ""),
            say.no_bound("budget run", "minutes"),
            parse_words.unknown_key("budget run", "meters", ""),
            say.no_bound("budget task", "usd"),
            parse_words.unknown_key("budget", "colour", ""),
            say.not_one_of("land", "how", ("merge", "squash")),
            say.issue_without_id(),
            say.path_not_inside("prompts add", "builder"),
        ]
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("commands = 1", parse_words.must_be_table("commands")),
        ("workspace = []", parse_words.must_be_table("workspace")),
        ("machine = 'x'", parse_words.key_must_be("", "machine", "written as [machine.NAME]")),
        ("[machine]\nphase = 1", parse_words.must_be_table("machine phase")),
        ("[machine.phase]\nlimits = 1", parse_words.must_be_table("machine phase limits")),
        ("[commands]\ntimeout_s = true", parse_words.key_must_be("commands", "timeout_s", "a whole number")),
        ("[commands]\nmemory_mb = 0", say.limit_no_whole_number("memory_mb")),
        ("[commands]\nprocesses = -1", say.limit_no_whole_number("processes")),
        ("[commands]\nprocesses = true", parse_words.key_must_be("commands", "processes", "a whole number")),
        ("[commands]\ntimeout_s = 1.5", parse_words.key_must_be("commands", "timeout_s", "a whole number")),
        ("[commands]\ntimeout_s = -1", say.timeout_too_short()),
        ("[commands]\ntest = '  '", say.no_command_line("commands", "test")),
        ("[commands]\ntest = ['make']", parse_words.key_must_be("commands", "test", "a text")),
        ("[workspace]\ncopy = ['a', 1]", parse_words.key_must_be("workspace", "copy", "a text or a list of texts")),
        (
            "[workspace]\ncarry = ['a/../../b']",
            say.path_outside("carry", "a/../../b"),
        ),
        ('[workspace]\ncopy = ["a\\u0000b"]', say.path_outside("copy", "a\x00b")),
        ("[workspace]\nkey = ['']", say.path_outside("key", "")),
        ("Commands = {}", parse_words.unknown_key("", "Commands", "commands")),
        ("agents = 1", parse_words.must_be_table("agents")),
        (
            "[agents.x]\ndue = 2020-01-01",
            parse_words.key_must_be("agents", "x", "made of texts, numbers, true, false, lists and tables"),
        ),
        ("budget = 1", parse_words.must_be_table("budget")),
        ("[budget]\nrun = 5", parse_words.must_be_table("budget run")),
        ("[budget]\ntask = { hours = -1 }", say.no_bound("budget task", "hours")),
        ("[budget]\ntask = { usd = inf }", say.no_bound("budget task", "usd")),
        ("[budget]\ntask = { usd = nan }", say.no_bound("budget task", "usd")),
        ("[protect]\nask = ['ci/']", say.protects_nothing("ask", "ci/")),
        ("[protect]\ndeny = ['./ci/**']", say.protects_nothing("deny", "./ci/**")),
        (f"[budget]\ntask = {{ usd = 1{'0' * 400} }}", say.no_bound("budget task", "usd")),
        ("[budget]\ntask = { runs = true }", say.no_bound("budget task", "runs")),
        ("[budget]\ntask = { minutes = 3 }", parse_words.unknown_key("budget task", "minutes", "")),
        ("[notify]\nbell = 'yes'", parse_words.key_must_be("notify", "bell", "true or false")),
        ("[notify]\ncommand = ['a']", parse_words.key_must_be("notify", "command", "a text")),
        ("[notify]\nring = true", parse_words.unknown_key("notify", "ring", "")),
        ("[land]\npr = 'gh \"pr'", say.quote_open("land", "pr")),
        ("[land]\nwhen = 'now'", parse_words.unknown_key("land", "when", "")),
        ("[issue]\nwrite = 'x'", parse_words.unknown_key("issue", "write", "")),
        ("[prompts]\nadd = { a = 1 }", parse_words.key_must_be("prompts add", "a", "a text")),
        ("[prompts]\nadd = { a = '/etc/hosts' }", say.path_not_inside("prompts add", "a")),
        ("[prompts]\nadd = { a = '' }", say.path_not_inside("prompts add", "a")),
        ("[prompts]\nless = {}", parse_words.unknown_key("prompts", "less", "")),
        ("[sandbox]\nrequire = 'docker'", say.not_one_of("sandbox", "require", ("detect", "kernel"))),
        ("[sandbox]\nlevel = 1", parse_words.unknown_key("sandbox", "level", "")),
        ("protect = 1", parse_words.must_be_table("protect")),
        ("human = 'x'", parse_words.must_be_table("human")),
    ],
)
def test_a_wrong_type_is_named(text: str, problem: str) -> None:
    assert problems(text) == [problem]


def test_an_empty_command_has_no_place_for_the_id() -> None:
    assert problems("[issue]\nread = ' '") == [say.quote_open("issue", "read"), say.issue_without_id()]


@pytest.mark.parametrize(("page", "blocks"), [("README.md", 1), ("docs/how-to/configure-a-project.md", 9)])
def test_the_examples_of_the_documents_are_settings(page: str, blocks: int) -> None:
    text = (Path(__file__).resolve().parents[4] / page).read_text(encoding="utf-8")
    found = re.findall(r"^```toml\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert len(found) == blocks
    for block in found:
        parse_settings(block.encode(), page)


@pytest.mark.parametrize(
    "data", [b"x", b"[commands", b"\xff", b"a = 1\na = 2", b"a = " + b"[" * 20_000, b"a = " + b"9" * 5000]
)
def test_what_is_no_toml_is_unreadable(data: bytes) -> None:
    with pytest.raises(UnreadableError) as caught:
        parse_settings(data, "here")
    refusal = message_of(caught.value.what)
    assert (refusal.code, refusal.values["name"]) == ("settings.no_toml", "detent.toml")
    assert caught.value.next_step == refusal.next_step
