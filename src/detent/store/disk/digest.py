"""Hashes, in one place. The library that hashes fast takes longer to load than a short command takes to hash."""

from __future__ import annotations

import sys

_SMALL_BYTES = 100_000  # so much is hashed the plain way in less time than the fast one takes to load
# What `hashlib` itself has in reserve. It is no API and may be missing. Its price is in docs/adr/0052.
_PLAIN_SHA256 = "_sha2" if sys.version_info >= (3, 12) else "_sha256"
_PLAIN_SHA1 = "_sha1"


def sha256_of(data: bytes) -> str:
    return _hash("sha256", _PLAIN_SHA256, data)


def sha1_of(data: bytes) -> str:
    """The sum git writes under its files; it prevents no forgery, and is not used for that."""
    return _hash("sha1", _PLAIN_SHA1, data)


def hash_text(text: str) -> str:
    """The short hash by which evidence is compared; white space is no evidence, and nothing has no hash."""
    words = " ".join(text.split())
    return sha256_of(words.encode("utf-8", "surrogatepass"))[:32] if words else ""


def _hash(name: str, plain: str, data: bytes) -> str:
    if len(data) < _SMALL_BYTES and "hashlib" not in sys.modules:
        try:
            return str(getattr(__import__(plain), name)(data).hexdigest())
        except ImportError:
            pass
    import hashlib

    return str(getattr(hashlib, name)(data, usedforsecurity=False).hexdigest())
