"""Why a process can't be started, ended or sandboxed: the sentences of the host."""

from __future__ import annotations

from detent.words.message import message


@message
def process_not_started(reason: str) -> str:
    return f"a process can't be started: {reason}"


@message
def process_not_waited_for(reason: str) -> str:
    return f"a process can't be waited for: {reason}"


@message
def not_of_a_keeper() -> str:
    return "file does not hold what a keeper writes"


@message
def file_no_json(problem: Exception) -> str:
    return f"file is no JSON: {problem}"


@message
def run_not_started() -> tuple[str, str]:
    return "the agent run can't be started", "read that file"


@message
def run_started_before_in_phase(phase: str) -> str:
    return f"an agent run was already started here ({phase})"


@message
def run_started_before() -> str:
    return "an agent run was already started here"


@message
def run_not_started_because(reason: str | None) -> str:
    return f"the agent run can't be started: {reason}"


@message
def no_process_table() -> str:
    return "agent runs need the process table of Linux in /proc"


@message
def run_needs_command() -> str:
    return "an agent run needs a command"


@message
def run_holds_odd_text() -> str:
    return "the command or environment of an agent run holds what no process can be given"


@message
def keeper_lives() -> str:
    return "the run's keeper lives; stop the run instead"


@message
def agent_not_started(reason: str | None) -> str:
    return f"the agent can't be started: {reason}"


@message
def end_not_written(reason: str | None) -> str:
    return f"the end of the run can't be written: {reason}"


@message
def landlock_no_network() -> tuple[str, str]:
    return "this kernel's Landlock can't keep a process from the network", "install bubblewrap"


@message
def landlock_too_many_rules() -> tuple[str, str]:
    return "hiding that much would take too many Landlock rules", "install bubblewrap"


@message
def landlock_no_guards() -> tuple[str, str]:
    return (
        "Landlock can't take a place out of a writable one",
        "install bubblewrap, or let the task work in a clone of its own",
    )


@message
def output_not_written(reason: str | None) -> str:
    return f"the output file cannot be written: {reason}"


@message
def folder_missing(program: str) -> str:
    return f"{program} cannot be run: its folder is missing"


@message
def no_sandbox_program(program: str) -> str:
    return f"no {program} of root's or your own was found on absolute entries of PATH, outside folders of tasks"


@message
def level_without_mounts(level: str) -> str:
    return f"level {level} has no mounts"


@message
def did_nothing() -> str:
    return "it said it worked, and did nothing"


@message
def program_not_found(program: str) -> tuple[str, str]:
    return f"the program {program} was not found", "install it or put it on PATH, then try again"


@message
def program_not_started(program: str, reason: str) -> str:
    return f"the program {program} cannot be started: {reason}"


@message
def ended_with(code: int) -> str:
    return f"it ended with {code}"


@message
def hidden_was_read() -> str:
    return "what was hidden could be read"


@message
def read_only_was_written() -> str:
    return "what was read-only could be written"


@message
def guarded_was_written() -> str:
    return "what was guarded could be written"


@message
def was_undone() -> str:
    return "it could be undone from inside"


@message
def writable_was_not_written() -> str:
    return "what was writable could not be written"


@message
def just_being_started() -> str:
    return "the run is just being started or made void"


@message
def lock_without_keeper() -> str:
    return "the run's keeper is gone, but its lock is held"


@message
def keeper_without_lock() -> str:
    return "the run's keeper lives, but not its lock"
