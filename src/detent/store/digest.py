"""Hashes, in one place. The library that hashes fast takes longer to load than a short command takes to hash."""

from __future__ import annotations

import sys

_SMALL_BYTES = 400_000  # so much is hashed the plain way in less time than the fast one takes to load


class _Hashed:
    """How much this process has hashed."""

    size_bytes = 0


def sha256_of(data: bytes) -> str:
    _Hashed.size_bytes += len(data)
    if _Hashed.size_bytes < _SMALL_BYTES:
        try:
            # What `hashlib` itself has in reserve. It is no API, so there are no types for it, and it may be missing.
            if sys.version_info >= (3, 12):
                from _sha2 import sha256  # type: ignore[import-not-found]  # see above
            else:
                from _sha256 import sha256  # type: ignore[import-not-found]  # see above
        except ImportError:
            from hashlib import sha256
    else:
        from hashlib import sha256
    digest: str = sha256(data).hexdigest()
    return digest


def hash_text(text: str) -> str:
    """The short hash by which evidence is compared; white space is no evidence, and nothing has no hash."""
    words = " ".join(text.split())
    return sha256_of(words.encode("utf-8", "surrogatepass"))[:32] if words else ""
