"""Says what the numbers were measured on."""

from __future__ import annotations

import os
import platform
import time
from pathlib import Path


def describe(folder: Path) -> dict[str, str]:
    return {
        "date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        "cpu": f"{_cpu_model()}, {os.cpu_count()} cores",
        "kernel": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "disk": _file_system(folder),
        "load": " ".join(f"{value:.2f}" for value in os.getloadavg()),
    }


def is_busy() -> bool:
    """Whether something else wants the processor: then medians are worth less, and `least` says more."""
    return os.getloadavg()[0] > 0.7 * (os.cpu_count() or 1)


def _cpu_model() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            name, _, value = line.partition(":")
            if name.strip() in ("model name", "Model"):
                return value.strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _file_system(folder: Path) -> str:
    """The type of the file system a folder lies on, from the longest mount point above it."""
    try:
        mounts = Path("/proc/mounts").read_text(encoding="utf-8").splitlines()
    except OSError:
        return "unknown"
    best, kind = "", "unknown"
    for line in mounts:
        point, this_kind = line.split()[1:3]
        inside = folder == Path(point) or Path(point) in folder.parents
        if inside and len(point) >= len(best):
            best, kind = point, this_kind
    return kind
