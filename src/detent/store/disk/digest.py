"""Hashes, in one place. The library that hashes fast takes longer to load than a short command takes to hash."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_SMALL_BYTES = 100_000  # so much is hashed the plain way in less time than the fast one takes to load


class _Way:
    """How this process hashes, and how much it has hashed until it knew."""

    fast: Callable[[bytes], Any] | None = None
    size_bytes = 0


def sha256_of(data: bytes) -> str:
    digest: str = (_Way.fast or _choose(len(data)))(data).hexdigest()
    return digest


def _choose(size_bytes: int) -> Callable[[bytes], Any]:
    _Way.size_bytes += size_bytes
    if _Way.size_bytes < _SMALL_BYTES and "hashlib" not in sys.modules:
        try:
            # What `hashlib` itself has in reserve. It is no API, so there are no types for it, and it may be missing.
            if sys.version_info >= (3, 12):
                from _sha2 import sha256 as plain  # type: ignore[import-not-found]  # see above
            else:
                from _sha256 import sha256 as plain  # type: ignore[import-not-found]  # see above
        except ImportError:
            pass
        else:
            way: Callable[[bytes], Any] = plain
            return way
    from hashlib import sha256

    _Way.fast = sha256
    return sha256


def sha1_of(data: bytes) -> str:
    """The sum git writes under its files; it keeps nobody from forging anything, and is asked for nothing like that."""
    if len(data) < _SMALL_BYTES and "hashlib" not in sys.modules:
        try:
            from _sha1 import sha1 as plain  # type: ignore[import-not-found]  # as above
        except ImportError:
            pass
        else:
            return str(plain(data).hexdigest())
    from hashlib import sha1

    return sha1(data, usedforsecurity=False).hexdigest()


def hash_text(text: str) -> str:
    """The short hash by which evidence is compared; white space is no evidence, and nothing has no hash."""
    words = " ".join(text.split())
    return sha256_of(words.encode("utf-8", "surrogatepass"))[:32] if words else ""
