"""What an attack is: what it tries, what the agent does, how success would show, and what each sandbox level claims."""

from __future__ import annotations

from detent.core.record import Record
from detent.effects.host.access import BUBBLEWRAP, LANDLOCK, LEVELS, NONE
from detent.lab.attack.values import MAIN, PHASE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from detent.lab.attack.inside import Inside
    from detent.lab.attack.scene import Scene

RIGHTS = "a process with your rights can do what you can"


class Claim(Record):
    """What one level claims about one attack: what stops it, or why nothing does."""

    is_stopped: bool
    words: str
    landlock: int = 1  # the version of Landlock from which on it holds


class Attack(Record):
    name: str
    tries: str
    stage: str
    act: Callable[[Inside], None]  # inside the run
    shows: Callable[[Scene], str]  # outside, afterwards: what shows that it succeeded; empty when it did not
    claims: Mapping[str, Claim]
    runs: int = 1
    task: str = MAIN
    is_cut_short: bool = False  # its process can't live to say that it has tried
    levels: tuple[str, ...] = LEVELS
    machines: tuple[str, ...] = (PHASE,)
    variant: str = ""
    drive: Callable[[Scene], None] | None = None  # what people do; without it: as many runs as `runs` says
    control: str = ""  # the honest control that goes with it, beside the one that all have
    is_in_proof: bool = False  # its code acts in a proof command, which is sandboxed even where the run is not
    is_hack: bool = False  # it cheats the tests; the sample plays one of each test runner
    has_agent: bool = True  # an attack by a repository alone has none that could say it has tried


def always(words: str) -> dict[str, Claim]:
    """Stopped at every level, for it does not need the kernel."""
    return {level: Claim(is_stopped=True, words=words) for level in LEVELS}


def by_kernel(
    bubblewrap: str, landlock: str = "", *, since: int = 1, landlock_leaves: str = "", none: str = RIGHTS
) -> dict[str, Claim]:
    """Stopped by bubblewrap, by Landlock unless `landlock_leaves` says why not, and by nothing where neither is."""
    held = Claim(is_stopped=not landlock_leaves, words=landlock_leaves or landlock or bubblewrap, landlock=since)
    return {BUBBLEWRAP: Claim(is_stopped=True, words=bubblewrap), LANDLOCK: held, NONE: Claim(False, none)}


def better_by_kernel(bubblewrap: str, landlock: str, none: str) -> dict[str, Claim]:
    """Stopped at every level, by something else at each."""
    words = {BUBBLEWRAP: bubblewrap, LANDLOCK: landlock, NONE: none}
    return {level: Claim(is_stopped=True, words=words[level]) for level in LEVELS}


def never(words: str) -> dict[str, Claim]:
    return {level: Claim(is_stopped=False, words=words) for level in LEVELS}
