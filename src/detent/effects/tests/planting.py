"""Plants tests in a checkout: a canary that must fail, twins that must pass, broken copies that must fail; and raises.

    plant(root, wanted, random)      copies of tests by file and name, and a canary in one of these files or another
    plant_canary(root, files, random)
    make_raise(root, changed)        the functions that changed raise or panic as soon as they are called
    raise_at_import(root, files)     these files raise as soon as they are imported

Only files of the checkout that is given are written. What can't be planted is in `left`, with the reason; a file that
can't be parsed keeps every byte.
"""

from __future__ import annotations

import os
import stat

from detent.core.record import Record
from detent.effects.tests.kits.choose import kit_of, language_of
from detent.effects.tests.kits.values import CANARY, Sprout, Unparsable, insert
from detent.effects.tests.tree_files import LARGEST_BYTES, path_in
from detent.errors import RefusedError, UnreadableError
from detent.store.disk.atomic import read_plain, write_atomic
from detent.words.effects import planting as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from random import Random

    from detent.effects.tests.kits.values import Function

_RAISING = {"python": "raise RuntimeError('not reached')", "javascript": "throw new Error('not reached');"}
_VERBS = ("handles", "keeps", "reads", "returns", "accepts", "finds")
_NOUNS = (
    "empty",
    "first",
    "last",
    "small",
    "large",
    "blank",
    "plain",
    "mixed",
    "nested",
    "twice",
    "missing",
    "default",
)


class Planted(Record):
    """One planted test: where it stands and what must come of it."""

    file: str
    sprout: Sprout


class Left(Record):
    """A test or a file for which nothing, or not everything, was planted."""

    file: str
    name: str  # empty for the file
    why: str


class Planting(Record):
    planted: tuple[Planted, ...]
    left: tuple[Left, ...]

    def of_kind(self, kind: str) -> tuple[Planted, ...]:
        return tuple(planted for planted in self.planted if planted.sprout.kind == kind)


def plant(root: str, wanted: Mapping[tuple[str, str], bool], random: Random, hosts: Sequence[str] = ()) -> Planting:
    """Copies of the wanted tests (file, name), True for those that show the change, and one canary.

    The canary lives in one of their files; where none can have it, in one of `hosts`.
    """
    by_file: dict[str, dict[str, bool]] = {}
    for (file, name), is_target in wanted.items():
        by_file.setdefault(file, {})[name] = is_target
    planted: list[Planted] = []
    left: list[Left] = []
    for file, names in sorted(by_file.items()):
        kit = kit_of(file)
        if kit is None:
            left.append(Left(file, "", say.no_kit(file)))
            continue
        try:
            sown = kit.plant(_read_source(root, file), names, random)
        except Unparsable as error:
            left.append(Left(file, "", say.unparsable(file, str(error))))
            continue
        except RefusedError as error:
            left.append(Left(file, "", error.what))
            continue
        seen = {sprout.of for sprout in sown.sprouts} | {name for name, _why in sown.left}
        left += [Left(file, name, why) for name, why in sown.left]
        left += [Left(file, name, say.not_found()) for name in names if name not in seen]
        if sown.sprouts:
            _write(root, file, sown.source)
            planted += [Planted(file, sprout) for sprout in sown.sprouts]
    used = sorted({place.file for place in planted})
    canary = plant_canary(root, used, random, {name for _file, name in wanted})
    if not canary.planted:
        canary = plant_canary(root, [file for file in hosts if file not in used], random)
    return Planting((*planted, *canary.planted), (*left, *canary.left))


def plant_canary(root: str, files: Sequence[str], random: Random, beside: Collection[str] = ()) -> Planting:
    """One test that must fail, in one of these files, chosen by chance, beside one of the tests of these names."""
    left: list[Left] = []
    for file in random.sample(sorted(files), len(files)):
        kit = kit_of(file)
        if kit is None:
            left.append(Left(file, "", say.no_kit(file)))
            continue
        name = f"test_{random.choice(_VERBS)}_{random.choice(_NOUNS)}_{random.randrange(2, 99)}"
        try:
            made = kit.canary(_read_source(root, file), name, random, beside)
        except Unparsable as error:
            left.append(Left(file, "", say.unparsable(file, str(error))))
            continue
        except RefusedError as error:
            left.append(Left(file, "", error.what))
            continue
        if made is not None:
            _write(root, file, made[0])
            return Planting((Planted(file, Sprout(CANARY, made[1], "")),), ())
        left.append(Left(file, "", say.no_place(file)))
    return Planting((), tuple(left))


class Raising(Record):
    """Which functions (file, name) raise now, and the files in which nothing could be made to."""

    functions: tuple[tuple[str, str], ...]
    left: tuple[Left, ...]


def make_raise(root: str, files: Collection[str], base_root: str = "") -> Raising:
    """Let functions of these files raise as soon as they are called: those that `base_root` has otherwise, or all."""
    changed: list[tuple[str, str]] = []
    left: list[Left] = []
    for file in sorted(files):
        kit = kit_of(file)
        if kit is None:
            left.append(Left(file, "", say.no_kit(file)))
            continue
        try:
            source = _read_source(root, file)
            functions = kit.functions(source)
            old = kit.functions(_read_source(base_root, file)) if base_root and _exists(base_root, file) else ()
        except Unparsable as error:
            left.append(Left(file, "", say.unparsable(file, str(error))))
            continue
        except RefusedError as error:
            left.append(Left(file, "", error.what))
            continue
        chosen = _changed(functions, old)
        if not chosen:
            left.append(Left(file, "", say.no_function(file)))
            continue
        _write(root, file, insert(source, [(function.at, function.raising) for function in chosen]))
        changed += [(file, function.name) for function in chosen]
    return Raising(tuple(changed), tuple(left))


def raise_at_import(root: str, files: Collection[str]) -> tuple[str, ...]:
    """Let these files raise as soon as they are imported, and return those that do now."""
    raising: list[str] = []
    for file in sorted(files):
        statement = _RAISING.get(language_of(file))
        try:
            source = _read_source(root, file) if statement else "\0"
        except (UnreadableError, RefusedError):
            continue
        if statement is None or "\0" in source:
            continue
        lines = source.splitlines(keepends=True)
        head = next((at for at, line in enumerate(lines) if not line.startswith("#")), len(lines))
        # After what must be first: `#!` and the encoding. In Python a `from __future__` below it fails as well.
        text = "".join([*lines[:head], *([] if not head or lines[head - 1].endswith("\n") else ["\n"])])
        _write(root, file, f"{text}{statement}\n{''.join(lines[head:])}")
        raising.append(file)
    return tuple(raising)


def _changed(functions: Sequence[Function], old: Sequence[Function]) -> list[Function]:
    known = {(function.name, function.text) for function in old}
    return [function for function in functions if (function.name, function.text) not in known]


def _read_source(root: str, file: str) -> str:
    content = None if os.path.islink(path_in(root, file)) else read_plain(path_in(root, file), LARGEST_BYTES)
    if content is None:
        raise RefusedError(say.outside(file), where=root)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return "\0"  # no kit parses it


def _write(root: str, file: str, source: str) -> None:
    path = path_in(root, file)
    write_atomic(path, source.encode(), durable=False, mode=stat.S_IMODE(os.stat(path, follow_symlinks=False).st_mode))


def _exists(root: str, file: str) -> bool:
    try:
        return read_plain(path_in(root, file), LARGEST_BYTES) is not None
    except (UnreadableError, RefusedError):
        return False
