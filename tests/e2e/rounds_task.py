"""A small machine with rounds, crashes, sign-offs and a menu, for faces that must know no machine by name."""

from __future__ import annotations

from tests.conftest import SAMPLE_FILES, let_out
from tests.e2e.agent_runs import Agents, AgentTask

MACHINE = """
format  = 1
name    = "rounds"
title   = "write something, have it reviewed"
initial = "writing"

[store]
codec = "markdown_fields"
file  = "NOTE.md"
state = "State"
files = ["NOTE.md"]
[field.Text]
[role.writer]
access = "write"

[limit.review_round]
max = 2
[limit.crash_count]
max = 2
[crash]
counts = ["crash_count"]

[gate.written]
check  = "fields_filled"
since  = "task"
fields = ["Text"]
fix    = "write something behind \\"Text:\\" in NOTE.md"

[state.writing]
role = "writer"
[state.reviewing]
driver = "person"
[state.stuck]
driver = "person"
[state.published]
end = true

[[edge]]
name   = "hand-in"
from   = "writing"
to     = "reviewing"
by     = ["agent", "engine"]
needs  = ["written"]
counts = ["review_round"]
[[edge]]
name  = "crashed-out"
from  = "writing"
to    = "stuck"
by    = ["crash"]
spent = "crash_count"
[[edge]]
name     = "publish"
from     = "reviewing"
to       = "published"
by       = ["person"]
sign_off = true
verb     = "approve"
[[edge]]
name  = "send-back"
from  = "reviewing"
to    = "writing"
by    = ["person"]
under = "review_round"
verb  = "reject"
[[edge]]
name   = "assist"
label  = "Manual assist"
from   = "stuck"
to     = "writing"
by     = ["person"]
key    = "M"
resets = ["review_round", "crash_count"]
[[edge]]
name    = "give-up"
label   = "Revise"
from    = "stuck"
to      = "reviewing"
by      = ["person"]
key     = "R"
confirm = "This will throw the text away. Continue?"
needs   = ["written"]
"""
WRITE = 'echo "Text: hello" >> "$DETENT_TASK_DIR/NOTE.md"'


class Rounds:
    """Tasks of that machine in one repository."""

    def __init__(self, agents: Agents) -> None:
        self.agents = agents
        files = {**SAMPLE_FILES, "detent.toml": agents.settings(), "rounds.toml": MACHINE}
        self.repo = agents.make_repo("rounds", files)
        let_out(self.repo)

    def __call__(self, task_id: str, title: str = "a note") -> AgentTask:
        folder = self.repo.parent / f"{task_id}-note"
        words = ("new", "./rounds.toml", title, "--id", task_id, "--dir", folder)
        done = self.agents.detent(*words, cwd=self.repo)
        assert done.code == 0, done
        task = AgentTask(self.agents.detent, self.repo, folder, task_id)
        self.agents.tasks.append(task)
        return task

    def at_review(self, task_id: str, title: str = "a note") -> AgentTask:
        """One that a person is to sign off."""
        self.agents.script("writing", f"{WRITE}; detent move reviewing", task=task_id)
        task = self(task_id, title)
        assert task.run().code == 4
        return task

    def script(self, task: str, text: str, run: int = 0) -> None:
        self.agents.script("writing", text, run, task)
