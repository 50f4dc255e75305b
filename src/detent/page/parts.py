"""The sections of an evidence page, each from its own values to HTML. All text goes through `page/text.py`."""

from __future__ import annotations

from detent.page.text import count, escape, excerpt, moment, prose, short_hash, size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from detent.page.values import Artifact, Attempt, Event, Gate, Hash, Now, Page, Ran

_MOST_EVENTS = 2000
_DOTS = ("moved", "refused", "restored", "acted")  # kinds with a dot of their own colour


def quiet(text: str) -> str:
    return f'<p class="quiet">{escape(text)}</p>'


def card(page: Page) -> str:
    """Where the task stands and what comes next: the one part a hurried reader reads."""
    now = page.now
    waits = f"waits for <b>{escape(now.waiting_for)}</b>" if now.waiting_for else "nobody has to act: it is over"
    problems = _list("warn", [f"<li>{escape(problem)}</li>" for problem in now.problems])
    return (
        f'<div class="card {"end" if now.is_end else "open"}"><p class="state">{escape(now.state)}</p>'
        f"<p>{waits}, since {moment(now.since)}</p>{_badge(now)}{problems}{_next_moves(now)}{_glance(page)}</div>"
    )


def _badge(now: Now) -> str:
    return (
        f"<p><b>Recommend {escape(now.advice.capitalize())}</b>: its proof is there; a person decides</p>"
        if now.advice
        else ""
    )


def _next_moves(now: Now) -> str:
    rows = []
    for move in now.moves:
        mark = '<b class="ok">open</b>' if move.is_open else "closed"
        why = _list("why", [f"<li>{escape(gap)}</li>" for gap in move.missing])
        rows.append(f"<li>→ <b>{escape(move.to)}</b> by {escape(' or '.join(move.by))}: {mark}{why}</li>")
    return (
        f'<details class="next"><summary>What can come next</summary>{_list("moves", rows)}</details>' if rows else ""
    )


def _glance(page: Page) -> str:
    """The page in numbers, each a way to the section that shows it; what a reader should doubt is marked."""
    kinds = [event.kind for event in page.events]
    gates = [gate for event in page.events for gate in event.gates]
    red = sum(attempt.exit != 0 for command in page.commands for attempt in command.attempts)
    changed = len(page.diff.files) if page.diff else 0
    undone = kinds.count("restored") + sum(len(event.undone) for event in page.events)
    facts = (
        ("happened", kinds.count("moved"), "move", "", ""),
        ("happened", kinds.count("refused"), "refusal", "", "no"),
        ("happened", undone, "edit", " undone", "no"),
        ("happened", sum(gate.is_waived for gate in gates), "gate", " waived", "no"),
        ("happened", sum(gate.is_by_hand for gate in gates), "proof", " by hand", "hand"),
        ("runs", len(page.runs), "agent run", "", ""),
        ("commands", len(page.commands), "proof run", f", {red} red" if red else "", ""),
        ("changes", changed, "file", " changed", ""),
        ("artifacts", len(page.artifacts), "artifact", "", ""),
    )
    rows = [(target, count(number, word) + more, kind) for target, number, word, more, kind in facts if number]
    rows.append(("check", f"sandbox: {page.sandbox}", "hand" if page.sandbox == "none" else ""))
    items = [f'<li><a class="{kind}" href="#{target}">{escape(text)}</a></li>' for target, text, kind in rows]
    return _list("glance", items)


def fields(rows: Sequence[tuple[str, str]], folder: str) -> str:
    """Labels with what stands there; an empty answer is shown as empty."""
    items = "".join(
        f"<dt>{escape(label)}</dt><dd>{prose(text, folder) if text.strip() else '<i>nothing</i>'}</dd>"
        for label, text in rows
    )
    return f'<dl class="fields">{items}</dl>' if items else ""


def timeline(events: Sequence[Event]) -> str:
    parts, day = [], ""
    for event in events[-_MOST_EVENTS:]:
        if event.time[:10] != day:
            day = event.time[:10]
            parts.append(f'<li class="day">{escape(day)}</li>')
        parts.append(_event(event))
    left_out = len(events) - _MOST_EVENTS
    note = quiet(f"The first {left_out} lines are left out; the last {_MOST_EVENTS} are shown.") if left_out > 0 else ""
    return f'{note}<ol class="timeline">{"".join(parts)}</ol>'


def _event(event: Event) -> str:
    if event.kind == "moved":
        head = f'<i class="number">{event.number}</i> <b>{escape(event.source)} → {escape(event.target)}</b>'
    elif event.kind == "refused":
        head = f'<b class="no">refused:</b> {escape(event.source)} → {escape(event.target)}'
    else:
        head = escape(event.head)
    link = f'<a href="#run-{event.run}">agent run {event.run}</a>' if event.run else ""
    by = [link, escape(event.who)] if event.kind == "moved" else [escape(event.who)]
    head = f"{link} {head}" if link and event.kind != "moved" else head
    kind = event.kind if event.kind in _DOTS else "restored" if event.undone else "said" if event.words else "other"
    who = f' <span class="who">by {", ".join(filter(None, by))}</span>' if any(by) else ""
    who += "".join(f' <span class="who">{escape(name)} {short_hash(value)}</span>' for name, value in event.hashes)
    words = f"<blockquote>{escape(event.words)}</blockquote>" if event.words else ""
    missing = [
        f"<li>{escape(gap.why)} <small>gate {escape(gap.gate)}</small>{quiet(gap.fix) if gap.fix else ''}</li>"
        for gap in event.missing
    ]
    missing += [f"<li>put back: {escape(note)}</li>" for note in event.undone]
    lines = "".join(quiet(line) for line in event.lines)
    return (
        f'<li class="{kind}" id="line-{event.seq}">'
        f'<time datetime="{escape(event.time)}">{escape(event.time[11:19])}</time><div><p class="head">{head}{who}</p>'
        f"{words}{_list('why', missing)}{_list('gates', [_gate(gate) for gate in event.gates])}{lines}</div></li>"
    )


def _list(kind: str, items: Sequence[str]) -> str:
    return f'<ul class="{kind}">{"".join(items)}</ul>' if items else ""


def _gate(gate: Gate) -> str:
    kind, mark = ("no", "waived") if gate.is_waived else ("ok", "✓") if gate.is_ok else ("no", "✕")
    parts = [f'<b class="{kind}">{mark}</b> {escape(gate.name.replace("_", " "))}']
    if gate.proof:
        parts.append(short_hash(gate.proof))
    parts += [f'<a href="#proof-{escape(key[:16])}">proof run</a>' for key in gate.receipts]
    if gate.is_by_hand:
        parts.append('<span class="hand" title="The proof changed while no agent run lived.">by hand</span>')
    parts += [f"<small>{escape(text)}</small>" for text in (gate.why, gate.note) if text]
    return f"<li>{' '.join(parts)}</li>"


def commands(ran: Sequence[Ran], note: str) -> str:
    if not ran:
        return quiet("The engine has run no command for this task.")
    return (quiet(note) if note else "") + "".join(_ran(command) for command in ran)


def _ran(command: Ran) -> str:
    exits = ", ".join(f"exit {attempt.exit}" for attempt in command.attempts) or "not run"
    mark = f'<b class="{"ok" if command.is_green else "no"}">{escape(command.problem or exits)}</b>'
    attempts = "".join(_attempt(attempt) for attempt in command.attempts)
    problem = f'<p class="warn">{escape(command.problem)}</p>' if command.problem else ""
    if command.problem_output is not None:
        problem += excerpt(command.problem_output)
    side = f'<span class="side">tree {short_hash(command.tree)} {moment(command.time)}</span>'
    head = f"<summary>{mark} <code>{escape(command.command)}</code> {side}</summary>"
    return f'<details class="box" id="proof-{escape(command.key[:16])}" open>{head}{problem}{attempts}</details>'


def _attempt(attempt: Attempt) -> str:
    kind = "ok" if attempt.exit == 0 else "no"
    ended = f"exit {attempt.exit}" if attempt.exit >= 0 else f"ended by signal {-attempt.exit}"
    output = quiet("Its output is not kept.") if attempt.output is None else excerpt(attempt.output)
    if attempt.is_changed:
        output = quiet("Its output was changed after it was written, and is not shown.")
    return f'<p class="attempt">Attempt {attempt.number}: <b class="{kind}">{ended}</b></p>{output}'


def touched_files(files: Sequence[tuple[str, str]]) -> str:
    """Protected files first: they are the most important ones to a reader."""
    items = [f"<li><code>{escape(name)}</code> <small>{escape(words)}</small></li>" for name, words in files]
    return (quiet("Protected files that were touched:") + _list("why", items)) if items else ""


def artifacts(files: Sequence[Artifact], note: str, *, is_open: bool) -> str:
    shown = "".join(_artifact(file, is_open=is_open) for file in files)
    return (quiet(note) if note else "") + (shown or quiet("There are none."))


def _artifact(file: Artifact, *, is_open: bool) -> str:
    name = f"<code>{escape(file.path)}</code>"
    side = (
        f'<span class="side">{size(file.size_bytes)} {short_hash(file.digest)}</span>' if file.kind != "other" else ""
    )
    note = quiet(file.note) if file.note else ""
    whole = f'<p class="quiet digest">sha256 {escape(file.digest)}</p>' if file.digest else ""
    if file.kind == "text" and file.text is not None:
        body = excerpt(file.text) + note + whole
    elif file.kind == "image":
        body = f'<img src="{escape(file.data)}" alt="{escape(file.path)}">{note}{whole}'
    else:
        body = f"{note}{whole}"
    if file.link:
        body += f'<a href="{escape(file.link)}">open the file</a>'
    return f'<details class="box"{" open" if is_open else ""}><summary>{name} {side}</summary>{body}</details>'


def hashes(rows: Sequence[Hash]) -> str:
    items = "".join(
        f"<dt>{escape(row.label)}</dt><dd><code>{escape(row.value) or 'none'}</code>{quiet(row.words)}</dd>"
        for row in rows
    )
    return f'<dl class="fields">{items}</dl>'
