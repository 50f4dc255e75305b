"""Tells one start of the computer from another."""

from __future__ import annotations

from functools import lru_cache


@lru_cache(maxsize=1)
def boot_id() -> str:
    """What tells this start of the computer from every other; empty where the system does not say."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="utf-8") as file:
            return file.read().strip()
    except OSError:
        return ""
