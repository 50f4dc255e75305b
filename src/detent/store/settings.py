"""Reads `detent.toml`: the project's settings, validated with all problems at once; what is missing has a default.

Settings are read when a task is made and kept in its journal, so that later edits can't loosen its proof.
"""

from __future__ import annotations

from detent.core.record import Record
from detent.errors import UnreadableError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

FILE = "detent.toml"
COMMAND_TIMEOUT_S = 1800
LAND_PR = "gh pr create --head {branch} --title {title} --body-file {summary}"
# Tables of later steps are accepted so that one file serves every version; unknown names are still errors.
_LATER = ("agents", "budget", "protect", "prompts", "issue", "human", "sandbox", "notify")


class Settings(Record):
    default_machine: str = ""
    commands: Mapping[str, str] = {}
    command_timeout_s: int = COMMAND_TIMEOUT_S
    setup: tuple[str, ...] = ()
    key: tuple[str, ...] = ()
    copy: tuple[str, ...] = ()
    carry: tuple[str, ...] = ()
    limits: Mapping[str, Mapping[str, int]] = {}  # per machine
    options: Mapping[str, tuple[str, ...]] = {}  # per machine
    evidence_base: str = ""
    land_pr: str = LAND_PR

    def workspace(self) -> dict[str, list[str]]:
        return {name: list(getattr(self, name)) for name in ("setup", "key", "copy", "carry")}


def parse_settings(data: bytes, where: str) -> Settings:
    """Settings from the bytes of a `detent.toml`."""
    import tomllib  # slow to import, and only `new` and `adopt` come here

    try:
        content = tomllib.loads(data.decode("utf-8-sig"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise UnreadableError(f"{FILE} is not valid TOML: {error}", where=where, next_step=f"correct {FILE}") from error
    return _Reading(content, where).settings()


class _Reading:
    def __init__(self, content: dict[str, Any], where: str) -> None:
        self.content = content
        self.where = where
        self.problems: list[str] = []

    def settings(self) -> Settings:
        content = dict(self.content)
        commands = self.table(content.pop("commands", {}), "commands")
        timeout = commands.pop("timeout_s", COMMAND_TIMEOUT_S)
        if not isinstance(timeout, int) or isinstance(timeout, bool) or timeout < 1:
            self.problems.append("commands.timeout_s must be a whole number of seconds")
            timeout = COMMAND_TIMEOUT_S
        workspace = self.table(content.pop("workspace", {}), "workspace")
        lists = {
            name: self.texts(workspace.pop(name, []), f"workspace.{name}") for name in ("setup", "key", "copy", "carry")
        }
        self.problems += [f"unknown key workspace.{name}" for name in workspace]
        default = content.pop("default_machine", "")
        if not isinstance(default, str):
            self.problems.append("default_machine must be the name of a machine")
            default = ""
        limits, options = self.per_machine(self.table(content.pop("machine", {}), "machine"))
        base = self.base(self.table(content.pop("evidence", {}), "evidence"))
        land = self.table(content.pop("land", {}), "land")
        land_pr = self.text(land.pop("pr", LAND_PR), "land.pr")
        self.problems += [f"unknown key land.{name}" for name in land]
        self.problems += [f"unknown key {name!r}" for name in content if name not in _LATER]
        settings = Settings(
            default_machine=default,
            commands={name: self.text(line, f"commands.{name}") for name, line in commands.items()},
            command_timeout_s=timeout,
            limits=limits,
            options=options,
            evidence_base=base,
            land_pr=land_pr,
            **lists,
        )
        if self.problems:
            raise UsageError(
                f"{FILE} has {len(self.problems)} problem(s): " + "; ".join(self.problems),
                where=self.where,
                next_step=f"correct {FILE}",
            )
        return settings

    def base(self, evidence: dict[str, Any]) -> str:
        base = evidence.pop("base", "")
        self.problems += [f"unknown key evidence.{name}" for name in evidence]
        if not isinstance(base, str) or (base and not base.startswith(("http://", "https://"))):
            self.problems.append("evidence.base must be an address that starts with https://")
            return ""
        return base

    def per_machine(self, machines: dict[str, Any]) -> tuple[dict[str, dict[str, int]], dict[str, tuple[str, ...]]]:
        limits: dict[str, dict[str, int]] = {}
        options: dict[str, tuple[str, ...]] = {}
        for name, value in machines.items():
            table = self.table(value, f"machine.{name}")
            wanted = self.table(table.pop("limits", {}), f"machine.{name}.limits")
            for limit, most in wanted.items():
                if not isinstance(most, int) or isinstance(most, bool):
                    self.problems.append(f"machine.{name}.limits.{limit} must be a whole number")
            limits[name] = {limit: most for limit, most in wanted.items() if isinstance(most, int)}
            options[name] = self.texts(table.pop("options", []), f"machine.{name}.options")
            self.problems += [f"unknown key machine.{name}.{key}" for key in table]
        return limits, options

    def table(self, value: object, where: str) -> dict[str, Any]:
        if not isinstance(value, dict):
            self.problems.append(f"{where} must be a table")
            return {}
        return dict(value)

    def text(self, value: object, where: str) -> str:
        if not isinstance(value, str) or not value.strip():
            self.problems.append(f"{where} must be a command line")
            return ""
        return value

    def texts(self, value: object, where: str) -> tuple[str, ...]:
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            self.problems.append(f"{where} must be a list of texts")
            return ()
        return tuple(value)
