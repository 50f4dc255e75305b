"""What the kits of all languages hand out and take, and what they share."""

from __future__ import annotations

from detent.core.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from random import Random

TEST, HELPER, CODE, IMPORT = "test", "helper", "code", "import"
CANARY, TWIN, BROKEN = "canary", "twin", "broken"

# What a broken copy fails with where the value it compares equals the changed one too: any value, or only another one.
EQUALS_ANYTHING, EQUALS_OTHERS = "this value equals anything [9d41]", "this value equals several others [9d41]"

TWINS_OF_TARGET = 5  # enough that a guess at the real one mostly fails
BROKEN_OF_TARGET = 6  # expectations that are changed, one at a time
_WORDS = (
    "empty again first last small large blank plain other same mixed long short twice none many left right inner outer"
)


class Unparsable(Exception):
    """The text is not of the language, or too deep to be read."""


class Unit(Record):
    """One part of a test file. `text` is compared: no white space, comments or line numbers change it."""

    kind: str
    name: str  # of a test as in a census; of anything else where it stands
    text: str
    body: str  # the same without the name: the same test under another name
    first: int  # lines, from 1
    last: int


class Sprout(Record):
    """One planted test: it must pass (TWIN), or fail (BROKEN, CANARY)."""

    kind: str
    name: str  # as the census will name it
    of: str  # the test that it is a copy of


class Sown(Record):
    """A file with tests planted in it; `left` are wanted tests nothing was planted for, or not all, with the reason."""

    source: str
    sprouts: tuple[Sprout, ...]
    left: tuple[tuple[str, str], ...] = ()


class Function(Record):
    """A function of a code file. Inserting `raising` at `at` (bytes) makes every call of it raise or panic."""

    name: str
    text: str
    at: int
    raising: str


class Names:
    """New names that look like the old ones, each given once."""

    def __init__(self, random: Random, between: str = "_") -> None:
        self._random, self._between = random, between
        self._used: set[str] = set()

    def like(self, name: str) -> str:
        while True:
            added = (self._random.choice(_WORDS.split()), str(self._random.randrange(2, 99)))
            new = self._between.join((name, *added))
            if new not in self._used:
                self._used.add(new)
                return new


def tag(random: Random) -> str:
    """What makes the names of planted functions new in any file."""
    return f"{random.randrange(1 << 24):06x}"


def insert(source: str, additions: list[tuple[int, str]]) -> str:
    """The text with more of it at these places (bytes)."""
    content = source.encode()
    for at, text in sorted(additions, key=lambda addition: addition[0], reverse=True):
        content = content[:at] + text.encode() + content[at:]
    return content.decode()
