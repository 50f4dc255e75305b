"""Hashes, in one place, with the slow import put off until one is needed."""

from __future__ import annotations


def sha256_of(data: bytes) -> str:
    import hashlib  # loads a crypto library: `status` of an untouched task never needs it

    return hashlib.sha256(data).hexdigest()


def hash_text(text: str) -> str:
    """The short hash by which evidence is compared; white space is no evidence, and nothing has no hash."""
    words = " ".join(text.split())
    return sha256_of(words.encode("utf-8", "surrogatepass"))[:32] if words else ""
