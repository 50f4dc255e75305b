"""Checks beyond the task's own files: the checkout, the agents, other tasks, and a person's extra words.

They judge the observations of `Seen.around`; without a scan nothing is proven.
"""

from __future__ import annotations

from detent.gates.seen import Finding
from detent.store.disk.digest import hash_text
from detent.words import surroundings as say
from detent.words.gates import together

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.core.machine import Gate
    from detent.gates.seen import AgentSeen, Seen


def git_clean(_gate: Gate, seen: Seen) -> Finding:
    """Nothing in the checkout is uncommitted, or the branch checked out is the task's own."""
    checkout = seen.around.checkout() if seen.around is not None else None
    if checkout is None:  # a reader starts no git
        why = say.checkout_not_looked_at()
        return Finding(ok=False, why=why, fix=why.next_step, is_known=False)
    if checkout.problem:
        is_meant = _is_without_git(seen)
        return Finding(ok=is_meant, why="" if is_meant else checkout.problem, proof="no git", by_engine=True)
    if checkout.branch and checkout.branch == checkout.task_branch:
        return Finding(ok=True, proof=checkout.branch, by_engine=True)
    if checkout.changes:
        return Finding(ok=False, why=say.not_committed(checkout.changes))
    return Finding(ok=True, proof="clean", by_engine=True)


def _is_without_git(seen: Seen) -> bool:
    """Whether a person said that the work goes without git; the step that captures a baseline wrote it down."""
    return bool(seen.captured) and not seen.captured.get("commit_sha") and not seen.obstacles


def baseline_known(_gate: Gate, seen: Seen) -> Finding:
    """The commit the work began on was taken down and its branch could be made, so that it can be gone back to."""
    if seen.obstacles:
        return Finding(ok=False, why=say.obstacles(seen.obstacles))
    commit = seen.captured.get("commit_sha", "")
    if _is_without_git(seen):
        return Finding(ok=True, note=say.no_git(), proof="no git", by_engine=True)
    if not commit:
        return Finding(ok=False, why=say.baseline_unknown())
    return Finding(ok=True, proof=commit, by_engine=True)


def agents_found(gate: Gate, seen: Seen) -> Finding:
    """Each role has an installed agent that may serve it, and every required program can be found."""
    if seen.around is None:
        return Finding(ok=False, why=say.not_looked(), is_known=False)
    missing = []
    for role in gate.params["roles"]:
        agents = seen.around.agents(role)
        if not any(agent.is_installed for agent in agents):
            missing.append(say.no_agent_installed(role, [agent.name for agent in agents]))
    absent = [name for name in gate.params.get("programs", ()) if not seen.around.has_program(name)]
    missing += [say.not_on_path(name) for name in absent]
    return Finding(ok=not missing, why=together(missing), by_engine=True)


def agents_exhausted(gate: Gate, seen: Seen) -> Finding:
    """All of several agents for a role have failed in this visit; one that is out of quota is waited for.

    A sole agent is never exhausted: it is tried again as often as the loop's own limit allows.
    """
    if seen.around is None:
        return Finding(ok=False, why=say.not_looked(), is_known=False)
    agents = seen.around.agents(gate.params["role"])
    if not agents:  # the agents of the role are not known
        return Finding(ok=False, why=say.no_agent_named(gate.params["role"]), is_known=False)
    installed = [agent for agent in agents if agent.is_installed]
    left = [agent.name for agent in installed if not (agent.failed or agent.until)]
    if left:
        return Finding(ok=False, why=say.agents_left(left))
    if cooling := [agent for agent in installed if agent.until]:
        return Finding(ok=False, why=say.agents_out([(agent.name, _why_out(agent)) for agent in cooling]))
    if len(installed) == 1:
        return Finding(ok=False, why=say.only_agent(installed[0].name))
    out = [(agent.name, _why_out(agent)) for agent in agents]
    proof = hash_text("".join(say.agents_out([agent]) for agent in out))
    return Finding(ok=True, note=say.agents_out(out), proof=proof, by_engine=True)


def _why_out(agent: AgentSeen) -> str:
    return agent.failed or (say.out_of_quota(agent.until) if agent.until else say.not_installed())


def no_sibling_in(gate: Gate, seen: Seen) -> Finding:
    """No other task of this machine in the project stands in one of these states."""
    if seen.around is None:
        return Finding(ok=False, why=say.not_looked(), is_known=False)
    states, machine = gate.params["states"], seen.machine.name
    others = [sibling for sibling in seen.around.siblings() if sibling.machine == machine and sibling.state in states]
    why = say.others_there([(sibling.id, sibling.state) for sibling in others]) if others else ""
    return Finding(ok=not others, why=why, by_engine=True)


def file_unchanged(gate: Gate, seen: Seen) -> Finding:
    """A file says what it said when the state was entered."""
    file = gate.params["file"]
    text = seen.files.text(file)
    evidence = {f"text:{file}": hash_text(text or "")}
    is_same = text is not None and all(seen.snapshot.entry.get(key) == value for key, value in evidence.items())
    why = "" if is_same else say.file_changed(file, seen.snapshot.state)
    return Finding(ok=is_same, why=why, evidence=evidence, by_engine=True)


def person_says(gate: Gate, seen: Seen) -> Finding:
    """The person that asks for this move has said the word that accepts what it leaves out."""
    word = gate.params["word"]
    is_said = word in seen.words
    return Finding(ok=is_said, why="" if is_said else say.word_not_said(word), proof=word, by_engine=True)
