"""The single commands of a command line, and each of them without what only starts it.

An approximation of a shell that is wide rather than exact: every branch of `||` counts. Nothing is run or expanded.
"""

from __future__ import annotations

import os
import re
import shlex

from detent.core.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from detent.effects.tests.runners import Runners

SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "busybox"})
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_PYTHON = re.compile(r"(python|pypy)\d*(\.\d+)?t?(\.exe)?$|^py$")
_DURATION = re.compile(r"\d+(\.\d+)?[smhd]?$")
_KEYWORDS = frozenset(
    {"if", "then", "else", "elif", "fi", "do", "done", "while", "until", "!", "{", "}", "case", "esac"}
)
_PYTHON_TAKES_VALUE = frozenset({"-W", "-X", "-Q", "--check-hash-based-pycs"})
_MOST_PEELED = 12


class Call(Record):
    """One command: its words from the program on, and the folder it runs in, from the top of the tree."""

    words: tuple[str, ...]
    folder: str = ""
    isolated: bool = False  # Python has an option to ignore its environment


def calls_of(command: str | Sequence[str], folder: str, runners: Runners) -> tuple[Call, ...]:
    """Every single command of a command line, or of the words of one."""
    lines = [list(command)] if not isinstance(command, str) else _split(command)
    found: list[Call] = []
    for words in lines:
        call = _peel(Call(tuple(words), folder), runners)
        if not call.words:
            continue
        if call.words[0] in ("cd", "pushd"):
            folder = join(folder, call.words[1]) if len(call.words) > 1 else folder
            continue
        if os.path.basename(call.words[0]) in SHELLS and (inner := _script_text(call.words)):
            found += calls_of(inner, folder, runners)
            continue
        found.append(call)
    return tuple(found)


def join(folder: str, path: str) -> str:
    """A path seen from a folder of the tree, as a path from its top; one outside stays as it is written."""
    joined = os.path.normpath(os.path.join(folder, path))
    return "" if joined == "." else joined


def _split(text: str) -> list[list[str]]:
    found: list[list[str]] = []
    for line in text.replace("\\\n", " ").splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars=";&|()<>`")
        lexer.whitespace_split = True
        try:
            words = list(lexer)
        except ValueError:
            words = line.split()
        found.append([])
        for word in words:
            if word and set(word) <= set(";&|()`"):
                found.append([])
            else:
                found[-1].append(word)
    return [words for words in found if words]


def _script_text(words: Sequence[str]) -> str:
    """What `sh -c` runs."""
    for at, word in enumerate(words[1:-1], 1):
        if not word.startswith("-"):
            return ""
        if not word.startswith("--") and "c" in word:
            return words[at + 1]
    return ""


def _peel(call: Call, runners: Runners) -> Call:
    """The same without assignments, shell keywords and the programs that only start another."""
    words, isolated = list(call.words), call.isolated
    for _round in range(_MOST_PEELED):
        while words and (_ASSIGNMENT.match(words[0]) or words[0] in _KEYWORDS):
            del words[0]
        if not words:
            break
        program = os.path.basename(words[0])
        if _PYTHON.match(program):
            words, alone = _python(words)
            isolated = isolated or alone
        wrapper = _wrapper(words, runners)
        if not wrapper:
            break
        words = _after_options(words[len(wrapper.split()) :], runners)
    return call.replace(words=tuple(words), isolated=isolated)


def _python(words: Sequence[str]) -> tuple[list[str], bool]:
    """`python -X dev -m pytest` as `python -m pytest`; and whether it ignores the environment."""
    rest, isolated = list(words[1:]), False
    while rest and rest[0].startswith("-") and rest[0] not in ("-m", "-c", "-"):
        option = rest.pop(0)
        if option.startswith("-m") and len(option) > 2:
            return ["python", "-m", option[2:], *rest], isolated
        isolated = isolated or (not option.startswith("--") and bool({"I", "E", "S"} & set(option[1:])))
        if option in _PYTHON_TAKES_VALUE and rest:
            del rest[0]
    return ["python", *rest], isolated


def _wrapper(words: Sequence[str], runners: Runners) -> str:
    plain = [os.path.basename(words[0]), *words[1:]]
    for wrapper in runners.wrappers:
        parts = wrapper.split()
        if plain[: len(parts)] == parts and len(plain) > len(parts):
            return wrapper
    return ""


def _after_options(words: Sequence[str], runners: Runners) -> list[str]:
    rest = list(words)
    while rest and (rest[0].startswith("-") or _DURATION.match(rest[0]) or _ASSIGNMENT.match(rest[0])):
        option = rest.pop(0)
        if option == "-m" and rest:
            return ["python", "-m", *rest]
        if option == "--":
            break
        if option in runners.takes_value and rest:
            del rest[0]
    return rest


def starts_with(words: Sequence[str], call: str) -> bool:
    """Whether these words are a call such as `go test` or `node --test`, options between its words left aside."""
    program, *rest = call.split()
    if not words or os.path.basename(words[0]).removesuffix(".exe").removesuffix(".cmd") != program:
        return False
    at = 1
    for part in rest:
        if part.startswith("-"):
            if part not in words[at:]:
                return False
            at = list(words).index(part, at) + 1
            continue
        while at < len(words) and words[at].startswith(("-", "+")):
            at += 1
        if at >= len(words) or words[at] != part:
            return False
        at += 1
    return True
