"""What `detent demo` plays on: a throw-away folder, real commands in it, and the telling of what they said."""

from __future__ import annotations

import os
import re
import sys

from detent.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_TIMEOUT_S = 120
_IN_ORDER = ("sh", "-c", 'exec "$@" 2>&1', "sh")  # progress and answers in the order in which a terminal shows them
_WIDTH = 100  # where the width of the screen is unknown
_PLAIN_WORD = re.compile(r"[\w@%+=:,./-]+")
_BOLD, _COMMAND, _OFF = "\033[1m", "\033[36m", "\033[0m"
_COLOURS = (
    (re.compile(r"\b(refused|killed|FAILED|red)\b"), "\033[31m"),
    (re.compile(r"\b(put back|needs a person)\b"), "\033[33m"),
    (re.compile(r"^ *(moved|done|landed)(?=:)"), "\033[32m"),
)


class Stage:
    """Runs commands as a person would, tells them, and keeps them for `--json`."""

    def __init__(self, root: str, *, is_quiet: bool) -> None:
        self.root = root
        self.repo = os.path.join(root, "words")
        self.scenes: list[dict[str, Any]] = []
        self._is_quiet = is_quiet
        self._has_colours = sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("GIT_", "DETENT_"))}
        identity = {f"GIT_{who}_{what}": "demo" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        # The demo's tests need some `python3`; where the host has none of this name, ours will do.
        search = os.pathsep.join((os.environ.get("PATH", os.defpath), os.path.dirname(sys.executable)))
        self._environment = {
            **kept,
            **identity,
            "PATH": search,
            "XDG_STATE_HOME": os.path.join(root, "state"),
        }

    def scene(self, sentence: str) -> None:
        """One plain sentence: what is tried now."""
        number = len(self.scenes) + 1
        self.scenes.append({"tried": sentence, "commands": []})
        self._print("\n" + self._wrapped(f"{number:>2}. {sentence}", "    ", _BOLD))

    def detent(self, *words: str, expect: int = 0, most: int = 20) -> str:
        return self.command(("detent", *words), expect=expect, most=most)

    def command(self, words: tuple[str, ...], *, expect: int = 0, most: int = 20) -> str:
        """Run one command in the repository and tell it; `most` lines of what it said are shown."""
        argv = (sys.executable, "-u", "-m", "detent", *words[1:]) if words[0] == "detent" else words
        shown = " ".join(word if _PLAIN_WORD.fullmatch(word) else f'"{word}"' for word in words)
        self._print("\n" + self._wrapped(f"    $ {shown}", "        ", _COMMAND))
        said = self.quietly(*_IN_ORDER, *argv, expect=expect)
        self.scenes[-1]["commands"].append({"command": shown, "exit": expect, "said": said})
        for line in _shortened(said, most):
            indent = " " * (len(line) - len(line.lstrip()))
            self._print(self._wrapped(f"    {line}", f"      {indent}"))
        return said

    def quietly(self, *argv: str, expect: int = 0) -> str:
        """What a command said; one that ends otherwise than it must is an error of the demo."""
        from detent.effects.host.process import run

        finished = run(argv, cwd=self.repo, env=self._environment, timeout_s=_TIMEOUT_S)
        text = (finished.stdout + finished.stderr).decode("utf-8", "replace").rstrip()
        if finished.exit != expect:
            raise UsageError(
                f"the demo expected exit {expect} of {' '.join(argv)}, got {finished.exit}: {text}", where=self.root
            )
        return text

    def tell(self, text: str) -> None:
        self._print("\n".join(self._wrapped(line, "  ") for line in text.splitlines()))

    def write(self, name: str, text: str) -> None:
        path = os.path.join(self.repo, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def _print(self, text: str) -> None:
        if not self._is_quiet:
            print(text, flush=True)  # a person may be watching

    def _wrapped(self, line: str, indent: str, colour: str = "") -> str:
        from shutil import get_terminal_size
        from textwrap import TextWrapper

        width = min(_WIDTH, get_terminal_size((_WIDTH, 24)).columns)
        words = line.lstrip()
        first = line[: len(line) - len(words)]  # apart, so that a path longer than the line stays behind its indent
        wrapper = TextWrapper(width, first, indent, break_long_words=False, break_on_hyphens=False)
        text = wrapper.fill(words)
        if not self._has_colours:
            return text
        if colour:
            return f"{colour}{text}{_OFF}"
        for pattern, chosen in _COLOURS:
            text = pattern.sub(f"{chosen}\\g<0>{_OFF}", text)
        return text


def _shortened(text: str, most: int) -> list[str]:
    """The first lines of a long text; what is left out is said."""
    lines = text.splitlines()
    if len(lines) <= most + 1:
        return lines
    return [*lines[:most], f"[{len(lines) - most} more lines]"]
