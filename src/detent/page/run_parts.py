"""The agent runs of an evidence page as HTML: one box per run, so that a phone shows it as well as a wide screen."""

from __future__ import annotations

from detent.page.runs import EXITS
from detent.page.text import count, duration, escape, excerpt, moment, short_hash

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from detent.page.values import Request, Run


def runs(rows: Sequence[Run]) -> str:
    """All runs in one sentence, then each in a box of its own, with its prompt folded away."""
    total = _used(
        sum(run.seconds for run in rows),
        sum(run.turns for run in rows),
        sum(run.tokens for run in rows),
        sum(run.cost_usd for run in rows),
        sum(run.denials for run in rows),
    )
    return f"<p>{count(len(rows), 'run')}, {escape(total)}.</p>" + "".join(_run(run) for run in rows)


def _run(run: Run) -> str:
    model = f" ({run.model})" if run.model else ""
    side = f"{run.agent}{model}, {_used(run.seconds, run.turns, run.tokens, run.cost_usd, run.denials)}"
    head = f"#{run.number} <b>{escape(run.role)}</b> in <b>{escape(run.state)}</b> {_mark(run)}"
    sandboxed = f", held by {run.sandbox}" if run.sandbox not in ("", "none") else ""
    might = "write to the repository" if run.access == "write" else "only read the repository"
    rows = [
        ("Time", f"{moment(run.started)}{f' to {moment(run.ended)}' if run.ended else ''}"),
        ("Allowed to", escape(f"{might}{sandboxed}")),
        ("End", escape(EXITS.get(run.exit, run.exit))),
    ]
    if run.requests:
        rows.append(("Asked for", _items("wishes", [_request(request) for request in run.requests])))
    if run.became:
        rows.append(("What came of it", escape(run.became)))
    if run.put_back:
        rows.append(("Put back", _items("undone", [escape(note) for note in run.put_back])))
    if run.tainted:
        rows.append(("Changed unasked", _items("undone", [f"<code>{escape(name)}</code>" for name in run.tainted])))
    if run.errors:
        rows.append(("Errors", _items("undone", [escape(error) for error in run.errors])))
    fields = "".join(f"<dt>{label}</dt><dd>{text}</dd>" for label, text in rows)
    return (
        f'<details class="box" id="run-{run.number}"><summary>{head} <span class="side">{escape(side)}</span></summary>'
        f'<dl class="fields">{fields}</dl>{_prompt(run)}</details>'
    )


def _mark(run: Run) -> str:
    """The summary of a run for a hurried reader: how far the task came, and what went wrong."""
    exit_words = "" if run.exit == "finished" else EXITS.get(run.exit, run.exit)
    marks = [
        ("no", exit_words or ("" if run.moved_to else "stayed")),
        ("ok", f"→ {run.moved_to}" if run.moved_to else ""),
    ]
    mark = " ".join(f'<b class="{kind}">{escape(words)}</b>' for kind, words in marks if words)
    refused = sum(not request.is_accepted for request in run.requests)
    notes = [f"{refused} refused"] if refused else []
    notes += [f"{len(run.put_back)} put back"] if run.put_back else []
    return mark + "".join(f' <span class="flag">{note}</span>' for note in notes)


def _request(request: Request) -> str:
    if request.is_accepted:
        why = f" <small>{escape(request.why)}</small>" if request.why else ""
        return f"<b>{escape(request.target)}</b>: taken up, decided when the run had ended{why}"
    return f'<b>{escape(request.target)}</b>: <b class="no">refused</b> <small>{escape(request.why)}</small>'


def _prompt(run: Run) -> str:
    digest = short_hash(run.prompt_digest)
    if run.prompt is None:
        return f'<p class="quiet">What it was told ({digest}) is not shown: the text is gone, or was changed since.</p>'
    summary = f'<summary>What it was told <span class="side">{digest}</span></summary>'
    return f'<details class="told">{summary}{excerpt(run.prompt)}</details>'


def _used(seconds: float, turns: int, tokens: int, cost_usd: float, denials: int) -> str:
    """What was used, as far as anything is known of it: an agent that does not say what it costs costs nothing here."""
    parts = [duration(seconds)]
    parts += [count(turns, "turn")] if turns else []
    parts += [count(tokens, "token")] if tokens else []
    parts += [f"${cost_usd:,.2f}"] if cost_usd else []
    parts += [count(denials, "denial")] if denials else []
    return ", ".join(parts)


def _items(kind: str, items: Sequence[str]) -> str:
    return f'<ul class="{kind}">{"".join(f"<li>{item}</li>" for item in items)}</ul>'
