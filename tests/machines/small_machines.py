"""Small sound machines of our own, each with one thing that a seeded bug takes away."""

from __future__ import annotations

_STORE = """
format = 1
[store]
codec = "markdown_fields"
file  = "TASK.md"
state = "State"
files = ["TASK.md"]
[role.worker]
access = "write"
[field.Text]
[field.Seen]
"""
_GATES = """
[gate.seen]
check  = "fields_filled"
fields = ["Seen"]
[gate.lasting]
check  = "fields_filled"
since  = "task"
fields = ["Text"]
[gate.lasting_not]
check = "not"
since = "task"
of    = ["lasting"]
"""

NOTE = f"""
name = "note"
initial = "writing"
{_STORE}
[gate.written]
check  = "fields_filled"
fields = ["Text"]
[state.writing]
role = "worker"
[state.reading]
[state.read]
end   = true
lands = true
[[edge]]
from  = "writing"
to    = "reading"
by    = ["agent"]
needs = ["written"]
[[edge]]
from     = "reading"
to       = "read"
by       = ["person"]
verb     = "approve"
sign_off = true
effects  = ["checkpoint"]
[[edge]]
from = "reading"
to   = "writing"
by   = ["person"]
verb = "reject"
"""

JOB = f"""
name = "job"
initial = "work"
{_STORE}{_GATES}
[state.work]
role = "worker"
[state.over]
end = true
[state.given-up]
end = true
[[edge]]
name  = "finish"
from  = "work"
to    = "over"
by    = ["agent"]
needs = ["seen", "lasting"]
[[edge]]
name  = "give-in"
from  = "work"
to    = "given-up"
by    = ["engine"]
needs = ["lasting_not"]
"""

ROUNDS = f"""
name = "rounds"
initial = "work"
{_STORE}{_GATES}
[limit.rounds]
max = 2
[state.work]
role = "worker"
[state.look]
role = "worker"
[state.back]
driver = "engine"
[state.stuck]
[state.over]
end = true
[[edge]]
name  = "show"
from  = "work"
to    = "look"
by    = ["agent", "engine"]
needs = ["seen"]
counts = ["rounds"]
[[edge]]
name  = "finish"
from  = "look"
to    = "over"
by    = ["engine"]
needs = ["lasting"]
[[edge]]
name  = "pass-on"
from  = "look"
to    = "back"
by    = ["engine"]
needs = ["lasting_not"]
[[edge]]
name  = "again"
from  = "back"
to    = "work"
by    = ["engine"]
under = "rounds"
[[edge]]
name  = "enough"
from  = "back"
to    = "stuck"
by    = ["engine"]
spent = "rounds"
[[edge]]
name   = "resume"
from   = "stuck"
to     = "work"
by     = ["person"]
resets = ["rounds"]
[[edge]]
name = "give-up"
from = "stuck"
to   = "over"
by   = ["person"]
"""

MODES = f"""
name = "modes"
initial = "work"
modes = ["slow", "fast"]
{_STORE}{_GATES}
[register.begun]
values = ["slow"]
[state.work]
role = "worker"
[state.shown]
driver = "engine"
[state.look]
[state.over]
end = true
[[edge]]
name  = "begin-slowly"
from  = "work"
to    = "shown"
by    = ["agent"]
mode  = ["slow"]
needs = ["seen"]
set   = {{ begun = "slow" }}
[[edge]]
name  = "begin-fast"
from  = "work"
to    = "shown"
by    = ["agent"]
mode  = ["fast"]
needs = ["seen"]
set   = {{ begun = "" }}
[[edge]]
name = "go-slowly"
from = "shown"
to   = "look"
by   = ["engine"]
mode = ["slow"]
[[edge]]
name  = "go-fast"
from  = "shown"
to    = "look"
by    = ["engine"]
mode  = ["fast"]
[[edge]]
name  = "accept"
from  = "look"
to    = "over"
by    = ["person"]
needs = ["lasting"]
[[edge]]
name  = "refuse"
from  = "look"
to    = "work"
by    = ["person"]
needs = ["lasting_not"]
"""

SMALL = {"note": NOTE, "job": JOB, "rounds": ROUNDS, "modes": MODES}
