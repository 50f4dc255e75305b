"""Holds a process by the kernel: what it may write, what it can't see, and proof that this works on this host.

Bubblewrap makes a view of the host in which everything is read-only, some places are writable, and some are empty. All
capabilities are dropped, so that root inside can't undo it, and no process outside can be seen. Landlock can only
allow: what lies below a writable place can't be taken out of it, processes outside stay visible, and so do sockets.
"""

from __future__ import annotations

import os
import sys

from detent.core.record import Record
from detent.effects.host import process
from detent.effects.host.access import BUBBLEWRAP, LANDLOCK, LEVELS, NONE, Access, Bind, Laid, Overlay
from detent.effects.host.programs import find_outside
from detent.errors import ToolError
from detent.store.journal.places import lies_in
from detent.words.effects import host as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ALLOWED, TCP_DENIED, DENIED = "allowed", "tcp denied", "denied"  # what became of the network
PROBE_TIMEOUT_S = 20.0
_PROGRAM = "bwrap"
_KERNEL_SETTINGS = tuple(
    f"/proc/{name}" for name in ("acpi", "bus", "driver", "fs", "irq", "mtrr", "scsi", "sys", "sysrq-trigger")
)
_ALONE = ("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try")


class Probe(Record):
    """The best level that holds on this host, and why the better ones do not."""

    level: str
    why: str = ""
    program: str = ""  # what holds commands at level bubblewrap, by its whole path


class Held(Record):
    """A command line that is sandboxed at a level, and how far that keeps it from the network."""

    level: str
    argv: tuple[str, ...]
    network: str = ALLOWED
    cwd: str = ""  # the folder it works in, as it sees it


def hold(probe: Probe, access: Access, argv: Sequence[str], *, cwd: str, separate_session: bool = True) -> Held:
    """The command line that runs `argv` under this access, at a level that was tried."""
    level = probe.level
    if level == BUBBLEWRAP:
        words = (
            *_overlaid(access.laid),
            *bubblewrap(probe.program, access, cwd=cwd, separate_session=separate_session),
        )
        return Held(level, (*words, *argv), ALLOWED if access.network else DENIED, access.laid.seat or cwd)
    if level == LANDLOCK:
        from detent.effects.host.landlock import landlock

        return Held(level, (*landlock(access), *argv), ALLOWED if access.network else TCP_DENIED, cwd)
    return Held(NONE, tuple(argv), cwd=cwd)


def _overlaid(laid: Laid) -> tuple[str, ...]:
    """The words that mount overlays before what follows them."""
    if not laid.overlays:
        return ()
    from json import dumps

    from detent.effects.host import overlay_process

    spec = dumps([[overlay.lower, overlay.upper, overlay.work, overlay.merged] for overlay in laid.overlays])
    return (sys.executable, "-I", "-S", overlay_process.__file__, spec)


def find_bubblewrap(environment: Mapping[str, str]) -> str:
    """The program by its whole path, or nothing: one that an agent or another user could have written is skipped."""
    return find_outside(environment.get("PATH", os.defpath), _PROGRAM, is_trusted=True)


def bubblewrap(program: str, access: Access, *, cwd: str, separate_session: bool) -> tuple[str, ...]:
    """The words before a command that give it a view of its own."""
    words = [program, *_ALONE, "--cap-drop", "ALL", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    # Root's number alone opens these for writing, whatever capabilities are gone, and one of them names a program that
    # the kernel runs outside.
    for path in filter(os.path.exists, _KERNEL_SETTINGS if os.getuid() == 0 else ()):
        words += ["--ro-bind", path, path]
    if not access.network:
        words.append("--unshare-net")
    closed: list[str] = []
    for path, kind, source in _with_laid(_mounts(access), access.laid, os.path.realpath(cwd)):
        if kind == "hidden" and not os.path.isdir(source):
            words += ["--ro-bind", os.devnull, path]
        elif kind in ("hidden", "scratch"):
            words += ["--tmpfs", path]
            closed += [path] if kind == "hidden" else []
        else:
            words += ["--bind" if kind == "writable" else "--ro-bind", source, path]
    for path in closed:  # an empty place that took files would only lose them
        words += ["--remount-ro", path]
    words += ["--new-session"] if separate_session else []
    return (*words, "--die-with-parent", "--chdir", access.laid.seat or cwd, "--")


def _with_laid(mounts: list[tuple[str, str]], laid: Laid, checkout: str) -> list[tuple[str, str, str]]:
    """The mounts with their sources; the checkout and what is mounted in it stand at its seat too, then the binds."""
    found = {path: (kind, path) for path, kind in mounts}
    if laid.seat:
        seated = [(path, kind) for path, kind in mounts if lies_in(path, checkout)]
        found |= {laid.seat + path[len(checkout) :]: (kind, path) for path, kind in seated}
    found |= {bind.path: (bind.kind, bind.source) for bind in laid.binds}
    rows = [(path, kind, source) for path, (kind, source) in found.items()]
    return sorted(rows, key=lambda row: (row[0].count(os.sep), row[0]))


def _mounts(access: Access) -> list[tuple[str, str]]:
    """What is laid over the host's files, outer places first, each once: the last word of an equal path holds."""
    names = ("scratch", "hidden", "shown", "writable", "watched", "guarded")
    found: dict[str, str] = {}
    for kind in names:
        for path in getattr(access, kind):
            real = os.path.realpath(path)
            if os.path.lexists(real) and real != os.sep:
                found[real] = kind
    for path in [path for path, kind in found.items() if kind in ("watched", "guarded")]:
        _pin(path, found)
    return sorted(found.items(), key=lambda item: (item[0].count(os.sep), item[0]))


def _pin(guarded: str, found: dict[str, str]) -> None:
    """Make mounts of the folders above a guarded place: a mount can't be renamed, and what is in it goes nowhere."""
    folders: list[str] = []
    folder = os.path.dirname(guarded)
    while folder not in found:
        if folder == os.sep:
            return  # nothing above it is writable
        folders.append(folder)
        folder = os.path.dirname(folder)
    if found[folder] == "writable":
        found.update(dict.fromkeys(folders, "writable"))


def engine_files() -> tuple[str, ...]:
    """What `detent` needs to run: shown even where the folder it is installed in is hidden."""
    import detent

    package = os.path.dirname(os.path.abspath(str(detent.__file__)))
    return tuple(dict.fromkeys((sys.prefix, sys.base_prefix, package)))


# --- what this host can do ---

# Names are tried in capitals too: where they mean the same file, a mount at one spelling may leave the other open.
_PROBE = """
for name in closed/secret CLOSED/SECRET key KEY; do
    [ -n "$(cat "$1/$name" 2>/dev/null)" ] && exit 11
done
( echo x > "$1/outside" ) 2>/dev/null && exit 12
if [ "$2" = guards ]; then
    for name in guarded/x GUARDED/x kept KEPT; do
        ( echo x > "$1/open/$name" ) 2>/dev/null
    done
    [ "$(cat "$1/open/kept")" = kept ] && [ ! -e "$1/open/guarded/x" ] || exit 13
fi
mount -o remount,rw,bind "$1" "$1" 2>/dev/null && ( echo x > "$1/outside" ) 2>/dev/null && exit 14
echo x > "$1/open/x" || exit 15
exit 0
"""
_PROBED = (("closed", "key"), ("open/guarded", "open/kept"))  # hidden, guarded
_PROBE_WORDS = {
    11: say.hidden_was_read,
    12: say.read_only_was_written,
    13: say.guarded_was_written,
    14: say.was_undone,
    15: say.writable_was_not_written,
}


def try_level(level: str, environment: Mapping[str, str], folder: str | None = None) -> str:
    """Why a level does not hold here; empty when it does. It is tried from inside, never guessed.

    `folder` lies on the file system that it is tried on; else that of temporary files.
    """
    import tempfile

    if level == NONE:
        return ""
    program = find_bubblewrap(environment) if level == BUBBLEWRAP else ""
    if level == BUBBLEWRAP and not program:
        return say.no_sandbox_program(_PROGRAM)
    try:
        with tempfile.TemporaryDirectory(prefix="detent-probe-", dir=folder) as top:
            for name in ("open/guarded", "closed"):
                os.makedirs(os.path.join(top, name))
            for name, text in (("closed/secret", "secret"), ("key", "key"), ("open/kept", "kept")):
                with open(os.path.join(top, name), "w", encoding="ascii") as file:
                    file.write(text)
            closed, kept = (tuple(os.path.join(top, name) for name in names) for names in _PROBED)
            guards = level == BUBBLEWRAP
            access = Access(
                writable=(os.path.join(top, "open"),), hidden=closed, shown=(top,), guarded=kept if guards else ()
            )
            words = ("/bin/sh", "-c", _PROBE, "probe", top, "guards" if guards else "")
            sandboxed = hold(Probe(level, program=program), access, words, cwd=top)
            finished = process.run(sandboxed.argv, cwd=top, env=environment, timeout_s=PROBE_TIMEOUT_S)
            has_run = os.path.exists(os.path.join(top, "open", "x"))
    except ToolError as error:
        return error.what
    except OSError as error:  # a file system may refuse what the trial needs
        return str(error)
    if finished.exit == 0 and not finished.timed_out:
        return "" if has_run else say.did_nothing()
    said = finished.stderr.decode("utf-8", "replace").strip().splitlines()
    if finished.exit in _PROBE_WORDS:
        return _PROBE_WORDS[finished.exit]()
    return said[0][:200] if said else say.ended_with(finished.exit)


def best_level(environment: Mapping[str, str], folders: Sequence[str] = ()) -> Probe:
    """Every level is tried from inside, best first; also on the file systems of these folders."""
    problems: list[str] = []
    for level in LEVELS[:-1]:
        problem = try_level(level, environment)
        for folder in folders if not problem else ():
            if not problem and (found := try_level(level, environment, folder)):
                problem = f"{found} (in {folder})"
        if not problem:
            return Probe(level, "; ".join(problems), find_bubblewrap(environment) if level == BUBBLEWRAP else "")
        problems.append(f"{level}: {problem}")
    return Probe(NONE, "; ".join(problems))


_OVERLAY_PROBE = 'cat "$1/in" && echo x > "$1/in" && echo new > "$1/new" && rm -r "$1/deep"'


def try_overlay(probe: Probe, folder: str, environment: Mapping[str, str]) -> str:
    """Why overlays can't be mounted over files in this folder; empty when they can."""
    import tempfile

    if probe.level != BUBBLEWRAP:
        return say.level_without_mounts(probe.level)
    try:
        with tempfile.TemporaryDirectory(prefix=".probe-", dir=folder, ignore_cleanup_errors=True) as top:
            lower, upper, work, merged = (os.path.join(top, name) for name in ("lower", "upper", "work", "merged"))
            for path in (os.path.join(lower, "deep"), upper, work, merged):
                os.makedirs(path)
            with open(os.path.join(lower, "in"), "w", encoding="ascii") as file:
                file.write("below\n")
            laid = Laid(binds=(Bind(merged, merged, "writable"),), overlays=(Overlay(lower, upper, work, merged),))
            argv = ("/bin/sh", "-c", _OVERLAY_PROBE, "probe", merged)
            sandboxed = hold(probe, Access(laid=laid), argv, cwd=top)
            finished = process.run(sandboxed.argv, cwd=top, env=environment, timeout_s=PROBE_TIMEOUT_S)
            with open(os.path.join(lower, "in"), encoding="ascii") as file:
                is_kept = file.read() == "below\n" and os.path.isdir(os.path.join(lower, "deep"))
            is_written = os.path.exists(os.path.join(upper, "new"))
    except (OSError, ToolError) as error:
        return str(error)
    if finished.exit == 0 and is_kept and is_written:
        return ""
    said = finished.stderr.decode("utf-8", "replace").strip().splitlines()
    return said[0][:200] if said else say.ended_with(finished.exit)
