"""Tests of `detent.toml`: everything that is wrong is told at once, and nothing unknown is let through."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from detent.errors import UnreadableError, UsageError
from detent.store.journal.settings import COMMAND_TIMEOUT_S, READ_ISSUE, RUN_DEFAULTS, Settings, parse_settings
from detent.words.names import count_of

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
    head, _, rest = caught.value.what.partition(": ")
    found = rest.split("; ")
    assert head == f"detent.toml has {count_of(len(found), 'problem')}"
    return found


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


NO_PATTERN = "would protect nothing: write it from the top without './', and dir/** for all below a folder"


@pytest.mark.parametrize(
    "line", ['osv_url = "http://x/\'; rm -rf ."', "osv_url = 'ftp://x'", "accept = ['$(id)']", "accept = ['--on']"]
)
def test_what_the_audit_is_told_can_stand_in_a_command_line(line: str) -> None:
    with pytest.raises(UsageError, match="audit: "):
        parse_settings(f"[audit]\n{line}\n".encode(), "here")


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
            "default_machine must be a text",
            "top level: unknown key 'colour'",
            "commands: test must be a command line",
            "commands: lint must be a text",
            "commands: timeout_s must be at least 1 second",
            "workspace: setup must be a text or a list of texts",
            "workspace: copy has '/etc/passwd', which is no path inside the repository",
            "workspace: copy has '../secrets', which is no path inside the repository",
            "workspace: unknown key 'colour'",
            "machine phase limits: runs must be a whole number",
            "machine phase limits: crashes must be a whole number",
            "machine phase: options must be a text or a list of texts",
            "machine phase: unknown key 'extra'",
            "budget run: minutes must be a number above 0",
            "budget run: unknown key 'meters'",
            "budget task: usd must be a number above 0",
            "budget: unknown key 'colour'",
            "land: how must be one of merge, squash",
            "issue: read must hold {id}",
            "prompts add: builder must be a path inside the repository",
        ]
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("commands = 1", "commands: must be a table"),
        ("workspace = []", "workspace: must be a table"),
        ("machine = 'x'", "machine must be written as [machine.NAME]"),
        ("[machine]\nphase = 1", "machine phase: must be a table"),
        ("[machine.phase]\nlimits = 1", "machine phase limits: must be a table"),
        ("[commands]\ntimeout_s = true", "commands: timeout_s must be a whole number"),
        ("[commands]\nmemory_mb = 0", "commands: memory_mb must be a whole number from 1"),
        ("[commands]\nprocesses = -1", "commands: processes must be a whole number from 1"),
        ("[commands]\nprocesses = true", "commands: processes must be a whole number"),
        ("[commands]\ntimeout_s = 1.5", "commands: timeout_s must be a whole number"),
        ("[commands]\ntimeout_s = -1", "commands: timeout_s must be at least 1 second"),
        ("[commands]\ntest = '  '", "commands: test must be a command line"),
        ("[commands]\ntest = ['make']", "commands: test must be a text"),
        ("[workspace]\ncopy = ['a', 1]", "workspace: copy must be a text or a list of texts"),
        (
            "[workspace]\ncarry = ['a/../../b']",
            "workspace: carry has 'a/../../b', which is no path inside the repository",
        ),
        ('[workspace]\ncopy = ["a\\u0000b"]', "workspace: copy has 'a\\x00b', which is no path inside the repository"),
        ("[workspace]\nkey = ['']", "workspace: key has '', which is no path inside the repository"),
        ("Commands = {}", "top level: unknown key 'Commands', perhaps 'commands' was meant"),
        ("agents = 1", "agents: must be a table"),
        ("[agents.x]\ndue = 2020-01-01", "agents: x must be made of texts, numbers, true, false, lists and tables"),
        ("budget = 1", "budget: must be a table"),
        ("[budget]\nrun = 5", "budget run: must be a table"),
        ("[budget]\ntask = { hours = -1 }", "budget task: hours must be a number above 0"),
        ("[budget]\ntask = { usd = inf }", "budget task: usd must be a number above 0"),
        ("[budget]\ntask = { usd = nan }", "budget task: usd must be a number above 0"),
        ("[protect]\nask = ['ci/']", f"protect: ask: 'ci/' {NO_PATTERN}"),
        ("[protect]\ndeny = ['./ci/**']", f"protect: deny: './ci/**' {NO_PATTERN}"),
        (f"[budget]\ntask = {{ usd = 1{'0' * 400} }}", "budget task: usd must be a number above 0"),
        ("[budget]\ntask = { runs = true }", "budget task: runs must be a number above 0"),
        ("[budget]\ntask = { minutes = 3 }", "budget task: unknown key 'minutes'"),
        ("[notify]\nbell = 'yes'", "notify: bell must be true or false"),
        ("[notify]\ncommand = ['a']", "notify: command must be a text"),
        ("[notify]\nring = true", "notify: unknown key 'ring'"),
        ("[land]\npr = 'gh \"pr'", "land: pr must be a command line with every quote closed"),
        ("[land]\nwhen = 'now'", "land: unknown key 'when'"),
        (
            "[issue]\nread = ' '",
            "issue: read must be a command line with every quote closed; issue: read must hold {id}",
        ),
        ("[issue]\nwrite = 'x'", "issue: unknown key 'write'"),
        ("[prompts]\nadd = { a = 1 }", "prompts add: a must be a text"),
        ("[prompts]\nadd = { a = '/etc/hosts' }", "prompts add: a must be a path inside the repository"),
        ("[prompts]\nadd = { a = '' }", "prompts add: a must be a path inside the repository"),
        ("[prompts]\nless = {}", "prompts: unknown key 'less'"),
        ("[sandbox]\nrequire = 'docker'", "sandbox: require must be one of detect, kernel"),
        ("[sandbox]\nlevel = 1", "sandbox: unknown key 'level'"),
        ("protect = 1", "protect: must be a table"),
        ("human = 'x'", "human: must be a table"),
    ],
)
def test_a_wrong_type_is_named(text: str, problem: str) -> None:
    assert problems(text) == problem.split("; ")


@pytest.mark.parametrize(("page", "blocks"), [("README.md", 1), ("docs/how-to/configure-a-project.md", 8)])
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
    with pytest.raises(UnreadableError, match="not valid TOML") as caught:
        parse_settings(data, "here")
    assert caught.value.next_step == "correct detent.toml"
