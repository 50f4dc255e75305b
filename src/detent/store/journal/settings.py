"""Reads `detent.toml`: the project's settings, validated with all problems at once; what is missing has a default.

Settings are read when a task is made and kept in its journal, so that later edits can't loosen its proof. `[agents]` is
handed on as it stands: the start of an agent checks it.
"""

from __future__ import annotations

import re
import sys

from detent.core.record import Record
from detent.errors import UnreadableError, UsageError
from detent.machines.reading import Reader, Table
from detent.store.disk.patterns import is_pattern
from detent.store.text.proof_settings import ProofSettings, read_proof
from detent.words.store import settings as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

FILE = "detent.toml"
PACKS, SEALED = OWN_TABLES = ("packs", "sealed")  # tables of the user's own settings alone
COMMAND_TIMEOUT_S = 1800
# Bounds of each command and all it starts. Far above what tests and builds need: they are for what grows without end.
COMMAND_LIMITS: Mapping[str, int] = {"memory_mb": 0, "processes": 2000}  # 0: a share of the host's memory
READ_ISSUE = "gh issue view {id} --json title,body,comments,url"
HOWS = ("merge", "squash")
SANDBOX_LEVELS = ("detect", "kernel")
NETWORK = ("allow", "deny")
LET_BE = ".secrets.baseline"  # secrets a person lets be
# An edit of these is refused, or asked about once at the end, or listed first in the evidence.
PROTECTED: Mapping[str, tuple[str, ...]] = {
    "deny": ("detent.toml", LET_BE, ".github/**", ".gitlab-ci.yml", ".circleci/**"),
    "ask": (),
    "report": ("test/**", "tests/**"),
}
_ADDRESS = re.compile(r"https?://[\w.:/%?=&~+-]+")  # they stand in a command line
_ADVISORY = re.compile(r"[A-Za-z]+-[\w-]+")
WORKSPACE = ("setup", "key", "copy", "carry")
RUN_BOUNDS = ("minutes", "stall_minutes", "usd", "tokens", "turns")
TASK_BOUNDS = ("hours", "usd", "runs")
# A run always ends: by its time, or because nothing came from it for a while. Other bounds hold only where set.
RUN_DEFAULTS = {"minutes": 30.0, "stall_minutes": 10.0}


class Settings(Record):
    default_machine: str = ""
    commands: Mapping[str, str] = {}
    command_timeout_s: int = COMMAND_TIMEOUT_S
    command_limits: Mapping[str, int] = COMMAND_LIMITS
    setup: tuple[str, ...] = ()
    key: tuple[str, ...] = ()
    copy: tuple[str, ...] = ()
    carry: tuple[str, ...] = ()
    limits: Mapping[str, Mapping[str, int]] = {}  # per machine
    options: Mapping[str, tuple[str, ...]] = {}  # per machine
    evidence_base: str = ""
    agents: Mapping[str, Any] = {}
    budget: Mapping[str, Mapping[str, float]] = {"run": RUN_DEFAULTS, "task": {}}
    notify_command: str = ""
    notify_bell: bool = True
    land_how: str = HOWS[0]
    land_pr: str = ""
    issue_read: str = READ_ISSUE
    prompts: Mapping[str, str] = {}  # path of the text that is added, by role
    sandbox_require: str = SANDBOX_LEVELS[0]
    sandbox_network: Mapping[str, str] = {}  # allow or deny, by role; COMMANDS is that of proof commands
    sandbox_show: tuple[str, ...] = ()  # folders that runs and commands may read although something hides them
    sandbox_pass: tuple[str, ...] = ()  # secrets of the environment that runs and commands do get
    protect: Mapping[str, tuple[str, ...]] = PROTECTED
    human_allow_no_new_privs: bool = False
    audit: Mapping[str, Any] = {}  # where vulnerabilities are asked for, and which a person accepted
    proof: ProofSettings = ProofSettings()
    runners: Mapping[str, Any] = {}  # test runners of the project's own
    pool_size: int = 0  # task homes in use at most; 0: as many as there are tasks

    def workspace(self) -> dict[str, list[str]]:
        return {name: list(getattr(self, name)) for name in WORKSPACE}


def parse_settings(data: bytes, where: str) -> Settings:
    """Settings from the bytes of a `detent.toml`."""
    return settings_of(read_content(data, where), where)


def read_content(data: bytes, where: str, name: str = FILE) -> dict[str, Any]:
    import tomllib  # slow to import, and only what makes or sets up a task comes here

    try:
        return tomllib.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:  # also a number of more digits than Python reads
        raise UnreadableError(say.no_toml(name, error), where=where) from error


def settings_of(content: Mapping[str, Any], where: str, name: str = FILE, more: Sequence[str] = ()) -> Settings:
    """The settings in the content of a file called `name`; `more` are problems that were found before."""
    reader = Reader()
    settings = _settings_from(Table(content, "", reader))
    problems = (*reader.problems, *more)
    if problems:
        raise UsageError(say.problems_in(name, problems), where=where)
    return settings


def _settings_from(top: Table) -> Settings:
    limits, options = _per_machine(top)
    land, prompts = top.table("land"), top.table("prompts")
    settings = Settings(
        default_machine=top.text("default_machine", ""),
        limits=limits,
        options=options,
        evidence_base=_base(top.table("evidence")),
        agents=top.table("agents").raw_rest(),
        budget=_budget(top.table("budget")),
        land_how=_one_of(land, "how", HOWS),
        land_pr=_command_line(land, "pr", ""),
        issue_read=_issue(top.table("issue")),
        prompts=_paths(prompts.table("add")),
        **_sandbox(top.table("sandbox")),
        protect=_protect(top.table("protect")),
        human_allow_no_new_privs=_human(top.table("human")),
        audit=_audit(top.table("audit")),
        pool_size=_pool(top.table("pool")),
        proof=read_proof(top.table("proof")),
        runners=top.table("runners").raw_rest(),
        **_commands(top.table("commands")),
        **_workspace(top.table("workspace")),
        **_notify(top.table("notify")),
    )
    for name, why in ((PACKS, say.packs_in_project), (SEALED, say.sealed_in_project)):
        if name in top.content:
            top.take(name)
            top.reader.problem(why(name))
    for table in (land, prompts, top):
        table.finish()
    return settings


def _commands(table: Table) -> dict[str, Any]:
    timeout = table.number("timeout_s", COMMAND_TIMEOUT_S)
    if timeout < 1:
        table.reader.problem(say.timeout_too_short())
    limits = {name: table.number(name, default) for name, default in COMMAND_LIMITS.items()}
    for name, value in limits.items():
        if name in table.content and value < 1:
            table.reader.problem(say.limit_no_whole_number(name))
    names = [name for name in table.content if name not in ("timeout_s", *COMMAND_LIMITS)]
    commands = {name: _filled(table, name) for name in names}
    return {"command_timeout_s": timeout, "command_limits": limits, "commands": commands}


def _workspace(table: Table) -> dict[str, Any]:
    lists = {name: table.texts(name) for name in WORKSPACE}
    table.finish()
    for name in WORKSPACE[1:]:
        for pattern in lists[name]:
            if not is_inside(pattern):
                table.reader.problem(say.path_outside(name, pattern))
    return lists


def is_inside(path: str) -> bool:
    """Whether a path or pattern can only mean something below the top of the repository."""
    return bool(path.strip()) and not path.startswith("/") and ".." not in path.split("/") and "\0" not in path


def _per_machine(top: Table) -> tuple[dict[str, dict[str, int]], dict[str, tuple[str, ...]]]:
    limits: dict[str, dict[str, int]] = {}
    options: dict[str, tuple[str, ...]] = {}
    for name, table in top.tables("machine"):
        wanted = table.table("limits")
        limits[name] = {limit: wanted.number(limit, 0) for limit in wanted.content}
        options[name] = table.texts("options")
        table.finish()
    return limits, options


def _base(table: Table) -> str:
    base = table.text("base", "")
    table.finish()
    if base and not base.startswith(("http://", "https://")):
        table.reader.problem(say.base_no_address())
    return base


def _budget(table: Table) -> dict[str, dict[str, float]]:
    budget = {
        "run": {**RUN_DEFAULTS, **_bounds(table.table("run"), RUN_BOUNDS)},
        "task": _bounds(table.table("task"), TASK_BOUNDS),
    }
    table.finish()
    return budget


def _bounds(table: Table, names: tuple[str, ...]) -> dict[str, float]:
    bounds: dict[str, float] = {}
    for name in names:
        value = table.take(name)
        if value is None:
            continue
        if is_bound(value):
            bounds[name] = value
        else:
            table.reader.problem(say.no_bound(table.where, name))
    table.finish()
    return bounds


def is_bound(value: object) -> bool:
    """A number that can bound something; TOML also has inf and nan, which bound nothing."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value <= sys.float_info.max


def _notify(table: Table) -> dict[str, Any]:
    command = table.text("command", "")
    bell = table.flag("bell") if "bell" in table.content else True
    table.finish()
    return {"notify_command": command, "notify_bell": bell}


def _issue(table: Table) -> str:
    read = _command_line(table, "read", READ_ISSUE)
    table.finish()
    if "{id}" not in read:
        table.reader.problem(say.issue_without_id())
    return read


def _sandbox(table: Table) -> dict[str, Any]:
    network = table.table("network")
    found = {
        "sandbox_require": _one_of(table, "require", SANDBOX_LEVELS),
        "sandbox_network": {role: _one_of(network, role, NETWORK) for role in list(network.content)},
        "sandbox_show": table.texts("show"),
        "sandbox_pass": table.texts("pass"),
    }
    network.finish()
    table.finish()
    return found


def _protect(table: Table) -> dict[str, tuple[str, ...]]:
    """Patterns as in .gitignore's simple cases: `*`, `**` and `?`, always from the top of the repository."""
    found = {name: table.texts(name) if name in table.content else default for name, default in PROTECTED.items()}
    table.finish()
    found["deny"] = tuple(dict.fromkeys((*found["deny"], LET_BE)))  # else agents could allow secrets
    for name, patterns in found.items():
        for pattern in patterns:
            if not is_inside(pattern):
                table.reader.problem(say.protects_outside(name, pattern))
            elif not is_pattern(pattern):
                table.reader.problem(say.protects_nothing(name, pattern))
    return found


def _human(table: Table) -> bool:
    allow = table.flag("allow_no_new_privs")
    table.finish()
    return allow


def _audit(table: Table) -> dict[str, Any]:
    sources = {"osv_url": table.text("osv_url", ""), "npm_registry": table.text("npm_registry", "")}
    sources["cargo_db"] = table.text("cargo_db", "")
    accept = table.texts("accept")
    table.finish()
    for key, url in sources.items():
        if url and not _ADDRESS.fullmatch(url):
            table.reader.problem(say.no_address(key))
    for advisory in accept:
        if not _ADVISORY.fullmatch(advisory):
            table.reader.problem(say.no_advisory(advisory))
    return {**{key: url for key, url in sources.items() if url}, **({"accept": list(accept)} if accept else {})}


def _pool(table: Table) -> int:
    size = table.number("size", 0)
    table.finish()
    if size < 0 or (size == 0 and "size" in table.content):
        table.reader.problem(say.pool_no_whole_number())
    return size


def _one_of(table: Table, key: str, known: tuple[str, ...]) -> str:
    value = table.text(key, known[0])
    if value not in known:
        table.reader.problem(say.not_one_of(table.where, key, known))
    return value


def _command_line(table: Table, key: str, default: str) -> str:
    """A line that is split into words as a shell would, without a shell that could do more with it."""
    from shlex import split

    line = table.text(key, default)
    try:
        is_empty = not split(line) and bool(line)
    except ValueError:
        is_empty = True
    if is_empty:
        table.reader.problem(say.quote_open(table.where, key))
    return line


def _filled(table: Table, key: str) -> str:
    line = table.text(key, "")
    if isinstance(table.content[key], str) and not line.strip():
        table.reader.problem(say.no_command_line(table.where, key))
    return line


def _paths(table: Table) -> dict[str, str]:
    paths = table.mapping_of_text()
    for name, path in paths.items():
        if isinstance(table.content[name], str) and not is_inside(path):
            table.reader.problem(say.path_not_inside(table.where, name))
    return paths
