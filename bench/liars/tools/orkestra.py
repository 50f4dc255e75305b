"""Orkestra: two scripted agents over its own protocol for external agents; `orkestra run` to its end."""

from __future__ import annotations

import re
from pathlib import Path

from bench.environments import peer_environment
from bench.liars import project
from bench.liars.stage import Stage
from bench.liars.tools.tool import DEFAULT, STRICT, Tool, played, short, version_of
from bench.liars.verdict import Played, Said

_TIMEOUT_S = 240
_AGENTS = """[agents.one]
adapter = "external"
command = ["{agent}"]

[agents.two]
adapter = "external"
command = ["{agent}"]

[director]
agent = "one"
"""
_GUARD = (
    'protected_paths = [".git", ".orkestra", ".github/workflows", "tests", "conftest.py", '
    '"pytest.ini", "pyproject.toml"]\n'
)


def _play(stage: Stage, settings: str) -> Played:
    project.make(stage.repo, more={"SPEC.md": f"# slugs\n\n{project.TASK}\n"})
    accept = [
        ["orkestra", "approve"],
        ["orkestra", "accept", "--yes", "--allow-partial"],
        ["orkestra", "accept", "--yes"],
    ]
    gate = {"path": "{root}/.orkestra/config.toml", "new": "true"}
    gates = [{**gate, "old": old} for old in ("python3 -m pytest -q", "pytest -q")]
    agent = stage.cast("scripted", "orkestra", gate=gates, forge=accept)
    stage.run("orkestra", "init", ".", "--non-interactive", timeout_s=60)
    _configure(stage.repo / ".orkestra" / "config.toml", agent, settings)
    project.commit(stage.repo, "Settings")
    start = stage.head()
    ran = stage.run("orkestra", "run", "--offline", timeout_s=_TIMEOUT_S)
    approved = stage.head() != start
    branch = next(
        (
            one
            for one in project.git(stage.repo, "branch", "--format=%(refname:short)").split()
            if one.endswith("/integration")
        ),
        "HEAD",
    )
    tree = project.export(stage.repo, branch, stage.folder / "delivered")
    if ran.exit == 0:
        return played(stage, ran, "done", "", tree, approved=approved)
    why = [line for line in ran.output.splitlines() if "FAIL" in line or "protected" in line or "blocked" in line]
    # A decision is a person's only where no check has refused: then what to do next is all that is asked.
    said: Said = "asks" if ran.exit == 2 and not why else "refused"
    return played(stage, ran, said, short(why[0] if why else ran.output[-200:]), tree, approved=approved)


def _configure(path: Path, agent: Path, settings: str) -> None:
    """What `orkestra init` wrote, with our two agents in place of the ones it looked for."""
    text = path.read_text(encoding="utf-8")
    agents = _AGENTS.format(agent=agent) + "\n"
    text = re.sub(r"(?ms)^\[agents\..*?(?=^\[policy\])", lambda _found: agents, text)
    if settings == STRICT:
        text = text.replace("[policy]\n", "[policy]\n" + _GUARD)
    path.write_text(text, encoding="utf-8")


TOOL = Tool(
    "Orkestra",
    lambda root, ground: peer_environment(root, ground, "orkestra", may_install=True, needs=(3, 12)),
    version_of("orkestra_runtime"),
    _play,
    (
        (DEFAULT, "the tests as the verification command; independent review is on by default"),
        (STRICT, "the same, and tests and test settings in `policy.protected_paths`"),
    ),
)
