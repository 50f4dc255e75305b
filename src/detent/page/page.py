"""The evidence page: one file that shows, without any command, the request, the events and their proof.

1. One file: styles and images are inside, nothing is fetched, no script is needed or allowed.
2. Everything on it may have been written by an agent: text is escaped, and should an escape ever be missing, the page's
   own policy forbids scripts, foreign styles, frames, forms and requests.
3. The same values give the same bytes; the only times on it are those of the journal.
"""

from __future__ import annotations

from detent.page.diff import changes_html, diff_html
from detent.page.parts import artifacts, card, commands, fields, hashes, quiet, timeline, touched_files
from detent.page.picture import picture
from detent.page.run_parts import runs
from detent.page.style import STYLE
from detent.page.text import escape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.page.values import Page, ProofShown

_OPEN_UP_TO_FILES = 20  # more artifacts than this lie closed


def render(page: Page) -> bytes:
    title = page.title or page.task
    sections = _sections(page)
    contents = "".join(f'<a href="#{name}">{heading}</a>' for name, heading, _ in sections)
    body = "".join(f'<section id="{name}"><h2>{heading}</h2>{content}</section>' for name, heading, content in sections)
    text = (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy()}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark"><meta name="referrer" content="no-referrer">\n'
        f"<title>{escape(title)} ({escape(page.now.state)})</title>\n<style>{STYLE}</style></head>\n"
        '<body><main><header><p class="over">Evidence of task '
        f"<b>{escape(page.task)}</b>, machine {escape(page.machine)}</p>"
        f"<h1>{escape(title)}</h1>{card(page)}<nav>{contents}</nav></header>\n{body}\n"
        "<footer>Rendered by Detent from the task's journal. This page shows proof, it is none itself: "
        'what can be checked is named under <a href="#check">How to check this</a>.</footer></main></body></html>\n'
    )
    return text.encode("utf-8", "backslashreplace")


def _sections(page: Page) -> list[tuple[str, str, str]]:
    locked = quiet("Locked: what an agent changed here later was put back.") if page.is_frame_locked else ""
    request = (
        locked + fields(page.frame, page.folder_link)
        if page.frame
        else quiet(page.title or "Nothing was written down.")
    )
    found = [
        ("asked", "What was asked", request),
        ("way", "The way taken", picture(page.states, page.ends, page.now.state, page.events)),
        ("happened", "What happened", timeline(page.events)),
        *([("runs", "Agent runs", runs(page.runs))] if page.runs else []),
        ("commands", "What the engine ran", commands(page.commands, page.commands_note)),
        *([("proof", "What the tests prove", _proof(page.proof))] if page.proof else []),
        ("changes", "What changed", touched_files(page.touched) + diff_html(page.diff)),
    ]
    is_open = len(page.artifacts) <= _OPEN_UP_TO_FILES
    found.append(("artifacts", "Artifacts", artifacts(page.artifacts, page.artifacts_note, is_open=is_open)))
    if page.task_files or page.claims:
        claims = quiet("Written by agents and people. A claim, until a gate above says otherwise.")
        claims += fields(page.claims, page.folder_link)
        found.append(("claims", "What is claimed", claims + artifacts(page.task_files, "", is_open=False)))
    return [*found, ("check", "How to check this", hashes(page.hashes))]


def _proof(shown: ProofShown) -> str:
    changed = quiet("Changed tests, and what else judges the work:") + changes_html(shown.changed)
    return fields(shown.rows, "") + (changed if shown.changed else "")


def policy() -> str:
    """What a browser may load for this page: its own style by hash, images that are part of it, and nothing else."""
    from base64 import b64encode

    from detent.store.disk.digest import sha256_of

    digest = b64encode(bytes.fromhex(sha256_of(STYLE.encode()))).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
