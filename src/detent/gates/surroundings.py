"""Checks that look beyond the task's own files: the checkout, the agents, other tasks, and what a person says on top.

They judge what `Seen.around` looked at; where nobody looked, nothing is proven.
"""

from __future__ import annotations

from detent.gates.seen import Finding
from detent.store.disk.digest import hash_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.core.machine import Gate
    from detent.gates.seen import AgentSeen, Seen

_MOST_NAMED = 5
_NOT_LOOKED = "nobody has looked yet"
_LATER = "whether the checkout is clean is looked at when the move is asked for"


def git_clean(_gate: Gate, seen: Seen) -> Finding:
    """Nothing in the checkout is uncommitted, or the branch checked out is the task's own."""
    checkout = seen.around.checkout() if seen.around is not None else None
    if checkout is None:  # who only reads starts no git
        fix = "ask for the move: it says what is not committed, if anything is"
        return Finding(ok=False, why=_LATER, fix=fix, is_known=False)
    if checkout.problem:
        is_meant = _is_without_git(seen)
        return Finding(ok=is_meant, why="" if is_meant else checkout.problem, proof="no git", by_engine=True)
    if checkout.branch and checkout.branch == checkout.own_branch:
        return Finding(ok=True, proof=checkout.branch, by_engine=True)
    if checkout.changes:
        names = ", ".join(checkout.changes[:_MOST_NAMED])
        more = len(checkout.changes) - _MOST_NAMED
        why = f"not committed: {names}{f' and {more} more' if more > 0 else ''}"
        return Finding(ok=False, why=why)
    return Finding(ok=True, proof="clean", by_engine=True)


def _is_without_git(seen: Seen) -> bool:
    """Whether a person said that the work goes without git; the step that captures a baseline wrote it down."""
    return bool(seen.captured) and not seen.captured.get("commit_sha") and not seen.obstacles


def baseline_known(_gate: Gate, seen: Seen) -> Finding:
    """The commit the work began on was taken down and its branch could be made, so that it can be gone back to."""
    if seen.obstacles:
        return Finding(ok=False, why="; ".join(f"{why}; {fix}" for why, fix in seen.obstacles))
    commit = seen.captured.get("commit_sha", "")
    if _is_without_git(seen):
        return Finding(ok=True, note="without git nothing can be reset", proof="no git", by_engine=True)
    if not commit:
        return Finding(ok=False, why="it is not known which commit the work begins on")
    return Finding(ok=True, proof=commit, by_engine=True)


def agents_found(gate: Gate, seen: Seen) -> Finding:
    """For each role somebody is installed who may serve it, and every program that is asked for can be found."""
    if seen.around is None:
        return Finding(ok=False, why=_NOT_LOOKED, is_known=False)
    missing = []
    for role in gate.params["roles"]:
        agents = seen.around.agents(role)
        if not any(agent.is_installed for agent in agents):
            names = ", ".join(agent.name for agent in agents) or "no agent is named"
            missing.append(f"no agent is installed for {role} ({names})")
    absent = [name for name in gate.params.get("programs", ()) if not seen.around.has_program(name)]
    missing += [f"{name} is not on PATH" for name in absent]
    return Finding(ok=not missing, why="; ".join(missing), by_engine=True)


def agents_exhausted(gate: Gate, seen: Seen) -> Finding:
    """All of several agents for a role have failed in this visit; one that is out of quota is waited for.

    A sole agent is never exhausted: it is tried again as often as the loop's own limit allows.
    """
    if seen.around is None:
        return Finding(ok=False, why=_NOT_LOOKED, is_known=False)
    agents = seen.around.agents(gate.params["role"])
    if not agents:  # who could be exhausted is not known
        return Finding(ok=False, why=f"no agent is named for {gate.params['role']}", is_known=False)
    installed = [agent for agent in agents if agent.is_installed]
    left = [agent.name for agent in installed if not (agent.failed or agent.until)]
    if left:
        return Finding(ok=False, why=f"still to be tried: {', '.join(left)}")
    if cooling := [agent for agent in installed if agent.until]:
        return Finding(ok=False, why="; ".join(f"{agent.name}: {_why_out(agent)}" for agent in cooling))
    if len(installed) == 1:
        return Finding(ok=False, why=f"{installed[0].name} is the only agent: it is tried again")
    told = [f"{agent.name}: {_why_out(agent)}" for agent in agents]
    return Finding(ok=True, note="; ".join(told), proof=hash_text("".join(told)), by_engine=True)


def _why_out(agent: AgentSeen) -> str:
    return agent.failed or (f"out of quota until {agent.until}" if agent.until else "not installed")


def no_sibling_in(gate: Gate, seen: Seen) -> Finding:
    """No other task of this machine in the project stands in one of these states."""
    if seen.around is None:
        return Finding(ok=False, why=_NOT_LOOKED, is_known=False)
    states, machine = gate.params["states"], seen.machine.name
    others = [one for one in seen.around.siblings() if one.machine == machine and one.state in states]
    why = "; ".join(f"{one.id} is in {one.state}" for one in others[:_MOST_NAMED])
    return Finding(ok=not others, why=why, by_engine=True)


def file_unchanged(gate: Gate, seen: Seen) -> Finding:
    """A file says what it said when the state was entered."""
    file = gate.params["file"]
    text = seen.files.text(file)
    evidence = {f"text:{file}": hash_text(text or "")}
    is_same = text is not None and all(seen.snapshot.entry.get(key) == value for key, value in evidence.items())
    why = "" if is_same else f"{file} was changed since {seen.snapshot.state} was entered"
    return Finding(ok=is_same, why=why, evidence=evidence, by_engine=True)


def person_says(gate: Gate, seen: Seen) -> Finding:
    """The person who asks for this move has said a word that stands for knowing what it leaves out."""
    word = gate.params["word"]
    is_said = word in seen.words
    return Finding(ok=is_said, why="" if is_said else f"nobody said --{word}", proof=word, by_engine=True)
