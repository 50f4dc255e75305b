"""A process of its own: scans the files of the folder it stands in for secrets, with detect-secrets.

Exit 0: every file was scanned and none holds one. Exit 1: secrets were found, named by place and kind, never by value.
Exit 3: not proven: something could not be scanned, or the scanner is missing.

A comment that tells the scanner to skip a line has no effect, nor has the name of a file: their writer may be the one
under scan. Only secrets named in `.secrets.baseline` may stay, which a person commits before the work begins.
"""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
from importlib.util import find_spec

from detent.packs.lights_out.words.build import file_gone

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

FOUND, NOT_PROVEN = 1, 3
KNOWN = ".secrets.baseline"
# What makes the scanner skip a line or a file because of what its writer says.
_LOOKS_AWAY = (
    "detect_secrets.filters.allowlist.is_line_allowlisted",
    "detect_secrets.filters.heuristic.is_lock_file",
    "detect_secrets.filters.heuristic.is_non_text_file",
    "detect_secrets.filters.heuristic.is_swagger_file",
)
_LOCK_FILE = re.compile(r"(?:.*[.-]lock(?:\.\w+)?|go\.sum|.*\.resolved|npm-shrinkwrap\.json)")
_ENTROPY = ("Base64HighEntropyString", "HexHighEntropyString")  # hashes, and bytes that are no text, look random
_WORDS = re.compile(rb"[\x20-\x7e\t]{8,}")  # of a file that is no text
_LARGEST_BYTES = 20_000_000
_MOST_TOLD = 50


def main() -> int:
    if find_spec("detect_secrets") is None:
        return _not_proven(
            "detect-secrets is not installed; next: pip install 'detent[audit]' (from a clone: '.[audit]')"
        )
    try:
        known, names = _known(), _files()
    except (OSError, ValueError, TypeError, KeyError, subprocess.SubprocessError) as error:
        return _not_proven(f"the files can't be listed: {error}")
    unread = [name for name in names if not _is_readable(name)]
    plain = [name for name in names if name not in unread and _is_plain(name)]
    others = [name for name in names if name not in unread and name not in plain]
    found = [*_scan(plain, but=(), known=known), *_scan(others, but=_ENTROPY, known=known)]
    _tell(f"{len(names) - len(unread)} of {len(names)} files scanned by detect-secrets")
    if unreadable := [name for name in others if not _is_text(name)]:
        _tell(f"no text, so only the words in them were scanned: {', '.join(map(_shown, unreadable[:_MOST_TOLD]))}")
    for line in found[:_MOST_TOLD]:
        _tell(line)
    if found:
        return FOUND
    return _not_proven(f"not scanned: {', '.join(map(_shown, unread[:_MOST_TOLD]))}") if unread else 0


def _not_proven(why: str) -> int:
    _tell(f"not proven: {why}")
    return NOT_PROVEN


def _files() -> list[str]:
    """The files of the tree; what a workspace brings along beside them is not the work."""
    argv = ["git", "ls-files", "-z"]
    listed = subprocess.run(argv, capture_output=True, check=True, timeout=60).stdout.split(b"\0")[:-1]
    names = [os.fsdecode(name) for name in listed]
    if missing := [name for name in names if not os.path.lexists(name)]:
        raise FileNotFoundError(file_gone(_shown(missing[0])))
    folders = [name for name in names if os.path.isdir(name) and not os.path.islink(name)]
    if folders:
        _tell(f"submodules are not looked into: {', '.join(map(_shown, folders[:_MOST_TOLD]))}")
    return [name for name in names if name != KNOWN and name not in folders]


def _known() -> set[tuple[str, str]]:
    """File and hash of each secret a person lets be."""
    if not os.path.lexists(KNOWN):
        return set()
    with open(KNOWN, encoding="utf-8") as file:
        results = json.load(file)["results"]
    return {(name, secret["hashed_secret"]) for name, secrets in results.items() for secret in secrets}


def _is_readable(name: str) -> bool:
    status = os.lstat(name)
    if stat.S_ISLNK(status.st_mode):
        return True  # what it leads to is another file, or none of the tree
    return stat.S_ISREG(status.st_mode) and status.st_size <= _LARGEST_BYTES and os.access(name, os.R_OK)


def _is_text(name: str) -> bool:
    data = _bytes(name)
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return b"\0" not in data


def _is_plain(name: str) -> bool:
    is_lock = _LOCK_FILE.fullmatch(os.path.basename(name)) is not None
    return not is_lock and not os.path.islink(name) and _is_text(name)


def _bytes(name: str) -> bytes:
    if os.path.islink(name):
        return os.fsencode(os.readlink(name))
    with open(name, "rb") as file:
        return file.read()


def _scan(names: Sequence[str], *, but: Sequence[str], known: set[tuple[str, str]]) -> Iterator[str]:
    from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
    from detect_secrets.core.scan import scan_file, scan_line
    from detect_secrets.settings import transient_settings
    from detect_secrets.transformers import get_transformed_file

    plugins: dict[str, Any] = get_mapping_from_secret_type_to_class()
    kinds = [str(kind.__name__) for kind in plugins.values()]
    config: dict[str, Any] = {"plugins_used": [{"name": kind} for kind in kinds if kind not in but]}
    for name in names:
        with transient_settings(config) as settings:
            settings.disable_filters(*_LOOKS_AWAY)
            # The scanner opens a file as text; a link it would follow.
            as_words = os.path.islink(name) or not _is_text(name)
            secrets = [] if as_words else list(scan_file(name))
            if not as_words:
                file: Any
                with open(name, encoding="utf-8") as file:
                    as_words = bool(get_transformed_file(file))  # then the scanner saw settings without their comments
                settings.disable_plugins(*_ENTROPY)
            secrets += [secret for words in _words(name) for secret in scan_line(words)] if as_words else []
        for secret in secrets:
            if (name, secret.secret_hash) not in known:
                place = f":{secret.line_number}" if secret.line_number else ""
                yield f"{_shown(name)}{place}: {secret.type}"


def _words(name: str) -> Iterator[str]:
    data = _bytes(name)
    for content in (data, data.replace(b"\0", b"")) if b"\0" in data else (data,):  # two bytes for each letter
        for match in _WORDS.finditer(content):
            yield match[0].decode("ascii")


def _shown(name: str) -> str:
    return ascii(name)[1:-1]


def _tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main())
