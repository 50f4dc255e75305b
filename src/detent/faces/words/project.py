"""The words of `init` and `doctor` about a project: the settings file, what was seen, what was tried."""

from __future__ import annotations

import json

from detent.effects.host.access import NONE
from detent.effects.workspace.checkout import COPIED, PER_CHECKOUT, SHARED
from detent.faces.words.screen import megabytes
from detent.runner.make.create import DEFAULT_MACHINE
from detent.runner.make.trial import GREEN, SET_UP_FAILED
from detent.store.journal.settings import COMMAND_TIMEOUT_S, FILE, READ_ISSUE, RUN_DEFAULTS
from detent.store.text.proof_settings import ANSWERS, MINUTES, REQUIRE
from detent.words.names import name_some

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from detent.effects.host.sandbox import Probe
    from detent.runner.make.guess import Guess
    from detent.runner.make.survey import FoundAgent, Survey
    from detent.runner.make.trial import Found, SetUpSeen, Trial, Tried

    Row = tuple[str, str, str]  # mark, what, next step

_MOST_SAID = 10  # lines of a command that failed
# What programs and folders say of themselves ends in comments, where TOML allows no control characters.
_NOT_IN_TOML = {code: "?" for code in (*range(32), 127) if code not in (9, 10)}

_HEAD = f"""# Settings of this repository for detent, guessed by `detent init`. Correct what is wrong.
# A task reads them from the commit it starts on and keeps them: commit this file, or it does not count.
# A line behind "#" has no effect. Unknown names are errors.

# default_machine = "{DEFAULT_MACHINE}"          # the machine of `detent new` without a name"""

_REST = f"""[budget]                           # what may be spent; what is not set has no bound
run = {{ minutes = {RUN_DEFAULTS["minutes"]:.0f}, stall_minutes = {RUN_DEFAULTS["stall_minutes"]:.0f} }}   \
# one agent run; also: usd, tokens, turns
{{task}}

# [notify]
# bell = true                      # ring when a task waits for a person
# command = "notify-send detent"

# [prompts]
# add = {{ builder = "docs/agent-rules.md" }}       # words of your own for a role

# [issue]
# read = "{READ_ISSUE}"   # for `detent new --issue N`

# [land]
# how = "merge"                    # or squash"""


_PROOF = f"""[proof]                            # what green tests must prove before a task is done
# require = {{ {", ".join(f'{kind} = "{word}"' for kind, word in REQUIRE.items())} }}   # by kind of change
changed_tests = "{ANSWERS[0]}"              # a person accepts changed tests at the end; "{ANSWERS[1]}" lists them
minutes = {MINUTES}                       # for one full proof; what is left out lowers the word
# flaky = ["tests/test_app.py::test_name"]    # tests that fail at times
# red = ["tests/test_app.py::test_old"]       # tests that may stay red; `detent doctor --accept-red` writes them
# parallel = true                  # proofs of two tasks may run at the same time"""

# What all runs of one task may use before a person is asked; why these values: docs/adr/0024.
TASK_USD, TASK_RUNS, TASK_HOURS = 10, 20, 4


def _budget_text(seen: Survey) -> str:
    """Money where the agent says what it costs, else runs and time; a spent budget stops the task."""
    first = seen.person_agent or first_agent(seen.agents)
    if first is not None and first.reports_cost:
        return f"task = {{ usd = {TASK_USD} }}              # all agent runs of one task; also: runs, hours"
    why = "the agent does not say what it costs" if first is not None else "works with every agent"
    return f"task = {{ runs = {TASK_RUNS}, hours = {TASK_HOURS} }}   # all agent runs of one task ({why}); also: usd"


def quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def listed(texts: Sequence[str]) -> str:
    return f"[{', '.join(quoted(text) for text in texts)}]"


def settings_text(seen: Survey) -> str:
    """The whole `detent.toml`; it always parses."""
    parts = (
        _HEAD,
        _commands_text(seen.commands),
        _PROOF,
        _workspace_text(seen),
        _agents_text(seen),
        _REST.replace("{task}", _budget_text(seen)),
        _sandbox_text(seen),
    )
    return "\n\n".join(parts).translate(_NOT_IN_TOML) + "\n"


def _commands_text(guesses: Sequence[Guess]) -> str:
    lines = ["[commands]                         # join every task's proof; an agent can't drop them"]
    taken: set[str] = set()
    for guess in guesses:
        line = f"{guess.name} = {quoted(guess.command)}"
        if guess.name in taken:
            lines.append(f"# {line}   # also seen: {guess.seen}")
        elif guess.lacks:
            lines.append(f"# {line}   # from {guess.seen}; not here: {guess.lacks}")
        else:
            taken.add(guess.name)
            lines.append(f"{line}   # from {guess.seen}")
    if "test" not in taken:
        lines.append('# test = "..."                     # no command was found that could test this repository here')
    return "\n".join([*lines, f"# timeout_s = {COMMAND_TIMEOUT_S}                 # for each"])


def _workspace_text(seen: Survey) -> str:
    lines = ["[workspace]                        # how a fresh checkout is made ready for those commands"]
    here = [setup for setup in seen.setups if not setup.lacks]
    if here:
        lines.append(f"setup = {listed([command for setup in here for command in setup.commands])}")
        lines.append(
            f"key = {listed([name for setup in here for name in setup.key])}   # tasks with the same of these share it"
        )
    else:
        lines.append('# setup = ["..."]                  # commands to run first')
        lines.append('# key = ["..."]                    # files whose change makes set-up run again')
    lines += [
        f"# setup = {listed(setup.commands)}   # for {', '.join(setup.key)}; not here: {setup.lacks}"
        for setup in seen.setups
        if setup.lacks
    ]
    copy = listed(seen.ignored) if seen.ignored else '[".env.test"]'
    found = "ignored files that were seen; take what the tests need" if seen.ignored else "ignored files the tests need"
    lines.append(f"# copy = {copy}   # {found}")
    if seen.carry:
        lines.append(f"carry = {listed(seen.carry)}   # no lock file could bring them back")
    else:
        lines.append('# carry = ["node_modules"]         # ignored folders that are carried along')
    return "\n".join(lines)


def first_agent(agents: Sequence[FoundAgent]) -> FoundAgent | None:
    """The agent that is logged in, else any installed one."""
    return next((agent for agent in agents if agent.has_login), agents[0] if agents else None)


def _agents_text(seen: Survey) -> str:
    lines = ['[agents]                           # who serves a role: "machine.role", role, or default']
    lines += [f"# found: {agent_words(agent)}" for agent in seen.agents]
    first = first_agent(seen.agents)
    if seen.person_agent is not None:
        lines += ["# left to each user's own settings; an agent named here works for everybody", '# default = "pi"']
    elif first is None:
        name, install = next(iter(seen.known_agents.items()))
        lines += [
            f"# none was found; known: {', '.join(seen.known_agents)}",
            f"# default = {quoted(name)}   # {install}",
        ]
    else:
        lines.append(f"default = {quoted(first.name)}")
    return "\n".join([*lines, '# mine.argv = ["my-agent"]         # any program: the prompt comes on standard input'])


def _sandbox_text(seen: Survey) -> str:
    return "\n".join(
        (
            f"# Sandbox: this host holds agents and commands by {level_words(seen.sandbox)}.",
            "# [sandbox]",
            '# require = "kernel"               # rather stop than run without it',
        )
    )


def level_words(probe: Probe) -> str:
    """What holds agents here, and what a better level would take."""
    return f"{probe.level} ({probe.why})" if probe.why else probe.level


def agent_words(agent: FoundAgent) -> str:
    login = "a login is there" if agent.has_login else "no login seen"
    return f"{agent.name} ({agent.version or 'version not told'}, {login})"


def survey_words(seen: Survey) -> list[str]:
    """What was seen, in plain words."""
    kind = "git repository" if seen.has_git else "plain folder without git"
    rows = [("looked at", f"{kind} {seen.root}")]
    rows += [("agent", agent_words(agent)) for agent in seen.agents]
    if seen.person_agent is not None:
        rows.append(("agent", f"{seen.person_agent.name} (named by your own settings)"))
    elif not seen.agents:
        rows.append(("agent", f"none on PATH; looked for {', '.join(seen.known_agents)}"))
    taken: set[str] = set()
    for guess in seen.commands:
        if guess.name not in taken:
            why = f"left out, {guess.lacks} is not here" if guess.lacks else f"from {guess.seen}"
            rows.append((guess.name, f"{guess.command}   ({why})"))
        if not guess.lacks:
            taken.add(guess.name)
    if "test" not in taken:
        rows.append(("test", "no command found; write one under [commands]"))
    for setup in seen.setups:
        why = f"left out, {setup.lacks} is not here" if setup.lacks else f"when {', '.join(setup.key)} changed"
        rows.append(("set-up", f"{' && '.join(setup.commands)}   ({why})"))
    rows += [("carried", name) for name in seen.carry]
    if seen.ignored:
        rows.append(("ignored", f"{', '.join(seen.ignored)}   (in no commit; named in a comment)"))
    rows.append(("sandbox", level_words(seen.sandbox)))
    return [f"{label + ':':<12}{text}" for label, text in rows]


def next_steps(seen: Survey) -> list[str]:
    """What to do after the file is written."""
    steps = [f"read {FILE} and correct it", "detent doctor"]
    is_served = seen.person_agent is not None
    if not seen.agents and not is_served:
        steps.append(f"install an agent, for example: {next(iter(seen.known_agents.values()))}")
    elif not is_served and not any(agent.has_login for agent in seen.agents):
        steps.append(f"log in to an agent: start {seen.agents[0].program.rpartition('/')[2]} once")
    if seen.has_git:
        steps.append(f'git add {FILE} && git commit -m "Settings for detent"')
    return [*steps, f'detent new {DEFAULT_MACHINE} "what is to be done"']


def found_rows(found: Found, *, has_commit: bool) -> list[Row]:
    """What `doctor` says about the settings."""
    if not found.is_there:
        return [("note", f"no {FILE}: every setting has its default", "detent init")]
    rows: list[Row] = [("ok", f"{FILE} is in order", "")]
    if has_commit and not found.is_committed:
        rows.append(
            (
                "note",
                f"{FILE} differs from the last commit, and tasks go by the commit",
                f"git add {FILE} && git commit",
            )
        )
    if not found.settings.commands:
        rows.append(
            ("note", "no [commands]: only what a task's own plan says is run", f'write test = "..." under it in {FILE}')
        )
    return rows


def trial_rows(trial: Trial, excused: Collection[str] = ()) -> list[Row]:
    """What `doctor` says about commands it tried; `excused`: lines whose red tests a person accepted."""
    held = "without a sandbox" if trial.level == NONE else f"in the sandbox of a task ({trial.level})"
    where = f"on commit {trial.commit[:12]}" if trial.commit else "on the folder as it is"
    where += f", {held}"
    rows: list[Row] = [
        ("note", f"[workspace] carry found nothing for {name}", f"make it, or take it out of {FILE}")
        for name in trial.missing
    ]
    if trial.withheld:
        rows.append(
            (
                "note",
                f"commands don't get these variables of yours: {', '.join(trial.withheld)}",
                f"name those they need under [sandbox] pass in {FILE}, or in your own settings",
            )
        )
    rows += _set_up_rows(trial.set_up) if trial.set_up is not None else []
    if trial.left:
        rows.append(
            (
                "note",
                f"the commands leave {name_some(trial.left)}, which no .gitignore of the commit names: "
                "what an agent leaves there counts as its work",
                "name them in .gitignore and commit it",
            )
        )
    for command in trial.tried:
        if command.result == GREEN:
            rows.append(("ok", f"{command.name}: {command.command}   green {where}, {command.seconds:.1f} s", ""))
            continue
        if command.command in excused:
            rows.append(("ok", f"{command.name}: {command.command}   red {where}, by accepted tests alone", ""))
            continue
        log = f"; log: {command.log}" if command.log else ""
        said = "".join(f"\n     | {line}" for line in command.said.splitlines()[-_MOST_SAID:])
        result = f"{command.name}: {command.command}   {command.result} {where}: {command.why}{log}{said}"
        rows.append(("red", result, _repair_hint(command, trial.unseen)))
    return rows


def _set_up_rows(seen: SetUpSeen) -> list[Row]:
    why = f" ({seen.why})" if seen.why else ""
    size = f", {megabytes(seen.bytes)}" if seen.bytes else ""
    rows: list[Row] = [("ok", f"set-up: {seen.how}{why}{size}", "")]
    if seen.how in (SHARED, COPIED) and seen.no_overlays:
        copies = f"every task gets a copy of the set-up ({size.removeprefix(', ')}): {seen.no_overlays}"
        rows.append(("note", copies, ""))
    if seen.how == PER_CHECKOUT and seen.bytes:
        each = size.removeprefix(", ")
        copies = f"a task has up to three copies of the set-up ({each} each): in its tree, for reviews and for proofs"
        rows.append(("note", copies, "install bubblewrap to share one set-up"))
    if seen.changed:
        copies = f"set-up changes tracked files: {name_some(seen.changed)}; they are restored"
        rows.append(("note", copies, f"commit them as set-up leaves them, or correct [workspace] setup in {FILE}"))
    if seen.frozen:
        copies = (
            f"set-up freezes the project's own code: {name_some(seen.frozen)}; commands would test the first commit"
        )
        fix = "install the project as a link (editable) or not at all, and build under [commands] build"
        rows.append(("red", copies, f"{fix} in {FILE}"))
    return rows


def _repair_hint(command: Tried, unseen: Sequence[str]) -> str:
    if command.exit == 127 and unseen:
        return f"if the program lies in {', '.join(unseen)}: tasks have private folders there; " + (
            f"write show = {listed(unseen)} under [sandbox] in {FILE}, or install it elsewhere"
        )
    if command.result == SET_UP_FAILED:
        part = "copy" if not command.log else "setup"
        return f"correct [workspace] {part} in {FILE}, then: detent doctor"
    if command.exit == 127:
        return (
            f"a fresh checkout lacks that program: have [workspace] setup in {FILE} install it, or correct the command"
        )
    return (
        f"read the log; what only your folder has is missing there: commit it, or name it under [workspace] in {FILE}; "
        "what is red in your folder too, a task can mend"
    )


def change_words(before: str, after: str) -> str:
    """What would change, as a diff."""
    from difflib import unified_diff

    lines = unified_diff(before.splitlines(), after.splitlines(), FILE, f"{FILE} (as init would write it)", lineterm="")
    return "\n".join(lines)
