"""Turns untrusted text into HTML: whatever stands on an evidence page and was not written by us comes through here."""

from __future__ import annotations

import html
import re

from detent.store.disk.invisible import invisible_class

TYPE_CHECKING = False
if TYPE_CHECKING:
    from detent.page.values import Excerpt

# Terminal colours say nothing on a page. Other control characters, and what a reader does not see, could make a
# line read otherwise than it is: they are shown by name.
_COLOURS = re.compile(r"\x1b\[[0-9;:?]*[ -/]*[@-~]")
_HIDDEN = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f{invisible_class()}\ud800-\udfff]")
_LINK = re.compile(r"\[([^\[\]\n]{1,300})\]\(([^()\s<>\"']{1,1000})\)|(https?://[^\s<>\"'`]{1,1000})")
_HASH = re.compile("[0-9a-f]{32,64}")
_ADDRESS = re.compile(r"https?://[^/\s]", re.IGNORECASE)
LONGEST_LINE = 4000
# What a browser shows or saves and never runs. A page an agent wrote is free of this page's policy once it is opened,
# and a file without a known ending is opened as whatever its first bytes look like.
_INERT = re.compile(
    r".+\.(csv|gif|gz|jpe?g|json|mp[34]|pdf|png|tar|tgz|txt|wav|web[mp]|zip)", re.IGNORECASE | re.DOTALL
)


def escape(text: str) -> str:
    """Safe inside an element and inside a quoted attribute."""
    text = text.replace("\r\n", "\n")
    if _HIDDEN.search(text):
        text = _HIDDEN.sub(_by_name, _COLOURS.sub("", text))
    return html.escape(text)


def _by_name(match: re.Match[str]) -> str:
    code = ord(match[0])
    return chr(0x2400 + code) if code < 0x20 else f"[U+{code:04X}]"


def link(target: str, text: str, *, folder: str = "") -> str:
    """A link, or only its text when the target is neither http(s) nor a path below `folder`."""
    address = safe_address(target, folder)
    if not address:
        return escape(text)
    return f'<a href="{escape(address)}" rel="noopener noreferrer nofollow">{escape(text)}</a>'


def safe_address(target: str, folder: str = "") -> str:
    """The address itself if it is http(s), a quoted path below `folder` if it leads to an inert file, else nothing."""
    from urllib.parse import quote

    if _HIDDEN.search(target) or "\\" in target:
        return ""
    if _ADDRESS.match(target):
        return target
    path, mark, fragment = target.partition("#")
    parts = path.split("/")
    if not is_inert(path) or path.startswith("/") or ".." in parts or ":" in parts[0]:
        return ""
    # The leading "./" keeps a name such as "javascript:x" a name.
    return f"{folder or '.'}/{quote(path)}{mark}{quote(fragment)}"


def is_inert(name: str) -> bool:
    """Whether a browser that opens this file runs nothing of it."""
    return _INERT.fullmatch(name) is not None


def file_address(relative: str) -> str:
    """A link to a file whose path we found ourselves, relative to the page."""
    from urllib.parse import quote

    quoted = quote(relative.encode("utf-8", "surrogateescape"))
    return quoted if quoted.startswith("../") else f"./{quoted}"


def prose(text: str, folder: str) -> str:
    """Words of an agent or a person, with their http(s) and relative links made clickable, and nothing else."""
    parts, at = [], 0
    for match in _LINK.finditer(text):
        parts.append(escape(text[at : match.start()]))
        if match[3]:
            address = match[3].rstrip(".,;:!?)")
            parts.append(link(address, address) + escape(match[3][len(address) :]))
        else:
            made = link(match[2], match[1], folder=folder)
            parts.append(made if made.startswith("<a ") else escape(match[0]))
        at = match.end()
    return "".join([*parts, escape(text[at:])])


def excerpt(text: Excerpt) -> str:
    """A text in a box; what was left out is said where it is missing."""
    body = escape(_short_lines(text.head))
    if text.left_out_bytes:
        body += f'\n<span class="cut">… {size(text.left_out_bytes)} left out here …</span>\n'
        body += escape(_short_lines(text.tail))
    return f"<pre>{body}</pre>" if body.strip() else '<p class="quiet">It is empty.</p>'


def _short_lines(text: str) -> str:
    if len(text) <= LONGEST_LINE:
        return text
    return "\n".join(short_line(line) for line in text.split("\n"))


def short_line(line: str) -> str:
    if len(line) <= LONGEST_LINE:
        return line
    return f"{line[:LONGEST_LINE]} … {len(line) - LONGEST_LINE} more letters in this line"


def size(count: int) -> str:
    """A number of bytes as people read it."""
    if count < 1000:
        return f"{count} byte{'' if count == 1 else 's'}"
    for unit, factor in (("kB", 1000), ("MB", 1000**2), ("GB", 1000**3)):
        if count < 1000 * factor or unit == "GB":
            return f"{count / factor:.1f} {unit}"
    raise AssertionError


def count(number: int, word: str) -> str:
    """`1 move`, `2 moves`."""
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def duration(seconds: float) -> str:
    """A span of time as people say it."""
    return f"{seconds:.1f} s" if seconds < 100 else f"{seconds / 60:,.0f} min"


def moment(time: str) -> str:
    """A time of the journal; anything else is shown as it stands."""
    shown = time.replace("T", " ").removesuffix("Z") + " UTC" if time.endswith("Z") else time
    return f'<time datetime="{escape(time)}">{escape(shown)}</time>'


def short_hash(value: str) -> str:
    """The beginning of a hash, with all of it to be looked up; a value that is no hash stays whole."""
    shown = value[:10] if _HASH.fullmatch(value) else value
    return f'<code title="{escape(value)}">{escape(shown)}</code>' if value else ""
