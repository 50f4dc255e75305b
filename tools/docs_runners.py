"""The reference page of test runners: how each is recognised, how it reports, and which files judge it."""

from __future__ import annotations

HOW = {
    "python": "a plugin of ours, through `PYTHONPATH`",
    "node": "a preloaded script of ours, through `NODE_OPTIONS`",
    "go": "a wrapper of ours, first on `PATH`",
    "cargo": "a wrapper of ours, first on `PATH`",
    "junit": "JUnit XML that the project declares",
}


def runners_page() -> list[str]:
    from detent.effects.tests.runners import JUNIT, load_runners
    from tools.docs_machines import table

    known = load_runners({})
    lines = [
        "# Test runners",
        "",
        "How Detent learns which tests a command ran, and which files of the tree judge them.",
        "",
        "A runner is recognised by the words of the command, also through make, scripts of `package.json` and",
        "`pyproject.toml`, tox, nox, shell scripts and programs that only start another, such as `uv run`. No option",
        "of the command is changed, and the user's own value of each variable is kept.",
        "",
    ]
    rows = []
    for runner in known.by_name.values():
        calls = ", ".join(f"`{call}`" for call in runner.calls)
        rows.append((runner.name, calls, HOW[runner.reports], "yes" if runner.tested else "no"))
    lines += table(("runner", "called by", "reports by", "tested"), rows)
    lines += ["Programs that only start another: " + ", ".join(f"`{word}`" for word in known.wrappers) + ".", ""]
    lines += ["## A report of the project's own", ""]
    lines += [
        "A runner without a plugin tells Detent through JUnit XML: the command writes it, the project names the files.",
        "",
    ]
    lines_to_add = [(one.name, f"`{one.declare}`") for one in known.by_name.values() if one.reports == JUNIT]
    lines += table(("runner", "what makes it write the file"), lines_to_add)
    lines += ["## Files that judge", ""]
    for runner in known.by_name.values():
        lines += [f"**{runner.name}**: tests {_listed(runner.tests)}"]
        lines[-1] += f"; all below {_listed(runner.folders)}" if runner.folders else ""
        lines[-1] += f"; steered by {_listed(runner.steers)}" if runner.steers else ""
        lines[-1] += f"; shadowed by {_listed(runner.shadows)}" if runner.shadows else ""
        lines += [""]
    return lines


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names)
