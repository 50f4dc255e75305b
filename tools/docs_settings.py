"""The keys of `detent.toml` with their meanings, and which keys the source of a parser asks for."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

from detent.store.journal import settings
from detent.store.journal.settings import Settings
from detent.store.text import proof_settings

SETTINGS: Mapping[str, str] = {
    "default_machine": "the machine of `detent new` without a name",
    "commands": "table; command lines by name that join every validation plan",
    "timeout_s": "in `[commands]`: seconds each may take",
    "memory_mb": "in `[commands]`: memory each may use with all it starts (default: three quarters of the host's)",
    "processes": "in `[commands]`: how many processes each may have at a time (default: 2000)",
    "workspace": "table; how a checkout is prepared for commands",
    "setup": "in `[workspace]`: commands to run first",
    "key": "in `[workspace]`: files whose change makes set-up run again",
    "copy": "in `[workspace]`: ignored files that are copied in",
    "carry": "in `[workspace]`: ignored folders that are carried over",
    "machine": "`[machine.NAME]` with the two keys below",
    "limits": "in `[machine.NAME]`: other numbers for its limits",
    "options": "in `[machine.NAME]`: its options that are switched on",
    "evidence": "table; how evidence pages are reached",
    "base": "in `[evidence]`: the address under which task folders are shown, by task id",
    "agents": 'table; who serves a role (`role`, `"machine.role"` or `default` = agent, agent:model or a list), and '
    "`[agents.NAME]` with `argv`, and if wanted `model`, `talk` and `state`, for agents of your own",
    "budget": "table; what may be spent, in the two tables below",
    "run": "in `[budget]`: bounds of one agent run; `minutes`, `stall_minutes`, `usd`, `tokens`, `turns`",
    "task": "in `[budget]`: bounds of a whole task; `hours`, `usd`, `runs`",
    "minutes": "in `run`: how long it may take (default: 30); in `[proof]`: how long one full proof may take",
    "stall_minutes": "in `run`: how long nothing may come from it (default: 10)",
    "usd": "in `run` and `task`: US dollars",
    "tokens": "in `run`: tokens in and out",
    "turns": "in `run`: turns of the agent",
    "hours": "in `task`: from its first run on",
    "runs": "in `task`: agent runs",
    "notify": "table; how a person is told",
    "command": "in `[notify]`: a command line",
    "bell": "in `[notify]`: true (default) or false",
    "land": "table; how finished work is landed",
    "how": "in `[land]`: merge (default) or squash",
    "pr": "in `[land]`: the command of `detent land --pr`; `{branch}`, `{title}`, `{summary}` (a file) are filled in",
    "issue": "table; where `detent new --issue` reads",
    "read": "in `[issue]`: a command line with `{id}` that prints JSON: title, body, comments, url (default: `gh`)",
    "prompts": "table; words of your own for agents",
    "add": "in `[prompts]`: files of the repository by role; their text is added to the prompts of that role",
    "sandbox": "table; what must hold agents and commands",
    "require": "in `[sandbox]`: detect (default) or kernel: rather stop than run without it; in `[proof]`: "
    "the least word for all kinds of change, or a table of words by kind",
    "network": "in `[sandbox]`: allow (default) or deny, by role; `commands` is for proof and set-up",
    "show": "in `[sandbox]`: folders that may be read although something hides them",
    "pass": "in `[sandbox]`: names of variables that runs and commands get besides those of the fixed list",
    "protect": "table of patterns: `deny` (an edit is refused), `ask` (a person approves it last), `report` (listed)",
    "audit": "table; about the audit of dependencies, where a machine asks for one",
    "pool": "table; how many tasks may work at once; read as committed now, unlike all else",
    "npm_registry": "in `[audit]`: the registry that `npm audit` asks for advisories (default: npm's own setting)",
    "cargo_db": "in `[audit]`: the git repository of advisories that `cargo-audit` fetches (default: RustSec's)",
    "osv_url": "in `[audit]`: where the dependency audit asks about Python packages (default: the public OSV service)",
    "accept": "in `[audit]`: list of vulnerabilities, such as `CVE-2024-1234`, that a person accepted",
    "size": "in `[pool]`: task homes (clones) in use at most; whoever finds none stays where it is",
    "proof": "table; what green test commands must prove before the last move",
    "flaky": "in `[proof]`: list of tests (`file::name`) that are known to go both ways",
    "red": "in `[proof]`: list of tests that fail on the first commit, and may go on failing",
    "changed_tests": "in `[proof]`: `ask` (a person accepts changed tests, once, at the end) or `report`",
    "parallel": "in `[proof]`: true: proofs of two tasks may run at the same time",
    "runners": "table of test runners of the project's own, as in [runners](runners.md)",
    "human": "table; who counts as a person",
    "allow_no_new_privs": "in `[human]`: true: also a process that may gain no rights, as inside containers",
}
# What the user's own file has besides.
USER_SETTINGS: Mapping[str, str] = {
    "packs": "table; machines that bring [code of their own](../how-to/write-a-pack.md)",
    "folders": "in `[packs]`: their folders, as whole paths; the name of each is that of its machine",
}
_ASKED = ("text", "texts", "number", "flag", "table", "tables", "rows", "take", "peek", "peek_table", "pop")
_ASKED_THROUGH = ("_one_of", "_command_line")  # functions that are handed the table first and the key second


def keys_asked_for(module_file: str) -> set[str]:
    """Every literal key that a parser's source asks a table for."""
    tree = ast.parse(Path(module_file).read_text(encoding="utf-8"))
    named = (key for node in ast.walk(tree) if isinstance(node, ast.Call) for key in _keys_of(node))
    return {key.value for key in named if isinstance(key, ast.Constant) and isinstance(key.value, str)}


def _keys_of(call: ast.Call) -> Iterator[ast.expr]:
    match call:
        case ast.Call(func=ast.Attribute(attr=name), args=[key, *_]) if name in _ASKED:
            yield key
        case ast.Call(func=ast.Name(id=name), args=[_, key, *_]) if name in _ASKED_THROUGH:
            yield key


def settings_keys() -> set[str]:
    """Every key of `detent.toml` that means something today."""
    bounds = {*settings.RUN_BOUNDS, *settings.TASK_BOUNDS, *settings.COMMAND_LIMITS}
    files = (str(settings.__file__), str(proof_settings.__file__))
    asked = {key for file in files for key in keys_asked_for(file)}
    return asked | set(Settings().workspace()) | bounds
