"""Where the packs that ship lie, and what this process knows of packs from elsewhere; `outside.py` brings those."""

from __future__ import annotations

import os

from detent.core.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

PACKAGE, MANIFEST, MACHINE = "detent.packs", "pack", "machine.toml"
BUILT_IN = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "packs")
MARK = "/"  # between a pack from elsewhere and what it declares


class Pack(Record):
    """A folder elsewhere as it was read, once."""

    name: str  # of its machine
    folder: str
    digest: str  # of its code and schemas
    files: Mapping[str, bytes]  # by their paths from the folder

    @property
    def package(self) -> str:
        return f"{PACKAGE}.{self.name.replace('-', '_')}"

    def text(self, path: str) -> str:
        """One of its files; empty where there is none."""
        return self.files.get(path, b"").decode("utf-8")


BROUGHT: dict[str, Pack] = {}  # what this process knows, by name
DONE_WITHOUT: set[str] = set()  # machines whose pack is lost, of tasks that a person gives up in this process


def pack_of(name: str) -> Pack | None:
    """The pack from elsewhere that a name such as `changelog/noted` belongs to, if this process knows it."""
    pack, mark, _ = name.partition(MARK)
    return BROUGHT.get(pack) if mark else None


def built_in_folder(machine: str) -> str:
    """The folder of a machine that ships with the package; it ends in `_` where Python keeps the word to itself."""
    folder = os.path.join(BUILT_IN, machine.replace("-", "_"))
    return folder if os.path.isdir(folder) else f"{folder}_"
