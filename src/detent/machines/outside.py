"""Packs from folders outside the package: their files come in as bytes, and their code is imported from these alone.

Such a folder is never on Python's search path: a file in it shadows no module, and neither a compiled copy nor a
`.pth` file beside it is read. A process has one version of a pack, because code that runs can't be exchanged.
"""

from __future__ import annotations

import os
import sys
from functools import cache

from detent.errors import DetentError, TakesLong, ToolError, UnreadableError
from detent.machines.brought import BROUGHT, MANIFEST, MARK, PACKAGE, Pack
from detent.words.machines import load as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any, TypeVar

    from detent.core.record import Record

    Declared = TypeVar("Declared", bound=Record)

_NOT_OUTSIDE = ("EXCUSES", "FEATURES")  # they change what other machines do


def bring(pack: Pack) -> None:
    """Make a pack known to this process; none of its code runs before one of its names is looked up."""
    known = BROUGHT.get(pack.name)
    if known and known.digest != pack.digest and known.package in sys.modules:
        raise UnreadableError(say.pack_changed(pack.name), where=pack.folder)
    BROUGHT[pack.name] = pack
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


@cache  # a process has one version of a pack
def declarations(name: str, sort: str, kind: type[Declared]) -> Mapping[str, Declared]:
    """The declarations of one sort in a pack from outside the package, by names that begin with the pack's own."""
    found: dict[str, Declared] = {}
    pack = BROUGHT[name]
    for declaration in getattr(_manifest(name), sort, ()):
        short_name = str(getattr(declaration, "name", ""))
        if not isinstance(declaration, kind) or not short_name.replace("_", "").isalnum():
            raise _broken(pack, say.wrong_records(sort, kind.__name__))
        whole = f"{name}{MARK}{short_name}"
        if whole in found:
            raise _broken(pack, say.declared_twice(short_name, sort))
        found[whole] = declaration.replace(name=whole)
    return found


@cache
def _manifest(name: str) -> ModuleType:
    pack = BROUGHT[name]
    if f"{MANIFEST}.py" not in pack.files:
        raise _broken(pack, say.no_manifest(f"{MANIFEST}.py"))
    with _AsPackFailure(pack, f"{MANIFEST}.py"):
        manifest: ModuleType = __import__(f"{pack.package}.{MANIFEST}", fromlist=(MANIFEST,))
    for sort in _NOT_OUTSIDE:
        if getattr(manifest, sort, ()):
            raise _broken(pack, say.only_for_shipped(sort))
    return manifest


def load_from(pack: Pack, at: str) -> Callable[..., Any]:
    """The function at an address of this pack; an error it raises is reported as the pack's failure."""
    module, _, name = at.partition(":")
    with _AsPackFailure(pack, at):
        function = getattr(__import__(module, fromlist=(name,)), name)

    def call(*arguments: Any) -> Any:
        with _AsPackFailure(pack, at):
            return function(*arguments)

    call.__doc__ = function.__doc__
    return call


def load_everything(pack: Pack, kinds: Mapping[str, type[Record]]) -> None:
    """Find now whatever a task would miss later; `kinds` are the records by their sort."""
    for sort, kind in kinds.items():
        for declaration in declarations(pack.name, sort, kind).values():
            for at in vars(declaration).values():
                if isinstance(at, str) and at.startswith(f"{pack.package}."):
                    load_from(pack, at)


class _AsPackFailure:
    """Reports an error of a pack's code as the pack's failure, with the file; errors of the engine stay as they are."""

    def __init__(self, pack: Pack, what: str) -> None:
        self.pack = pack
        self.what = what

    def __enter__(self) -> None:
        return

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, (Exception, SystemExit)) and not isinstance(error, (DetentError, TakesLong)):
            raise ToolError(
                say.pack_failed(self.pack.name, self.what, type(error).__name__, str(error)),
                where=_place(error) or self.pack.folder,
            ) from error


def _place(error: BaseException) -> str:
    """File and line of the pack where it happened."""
    place, trace = "", error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if any(code.co_filename.startswith(pack.folder + os.sep) for pack in BROUGHT.values()):
            place = f"{code.co_filename}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place


def _broken(pack: Pack, why: str) -> UnreadableError:
    return UnreadableError(say.pack_broken(pack.name, why), where=pack.folder)


class _Finder:
    """Finds modules of the packs from outside the package; the first finder, and silent about everything else."""

    def find_spec(
        self, name: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not name.startswith(f"{PACKAGE}."):
            return None
        package = ".".join(name.split(".")[:3])
        pack = next((known for known in BROUGHT.values() if known.package == package), None)
        if pack is None:
            return None
        from importlib.machinery import ModuleSpec  # only where there is a pack

        base = name.removeprefix(package).lstrip(".").replace(".", "/")
        inside = f"{base}/" if base else ""
        if base and f"{base}.py" in pack.files:
            return ModuleSpec(name, _Loader(pack, f"{base}.py"), is_package=False)  # type: ignore[arg-type]  # has all a loader needs
        if not base or any(path.startswith(inside) and path.endswith(".py") for path in pack.files):
            return ModuleSpec(name, _Loader(pack, f"{inside}__init__.py"), is_package=True)  # type: ignore[arg-type]  # as above
        return None


class _Loader:
    def __init__(self, pack: Pack, path: str) -> None:
        self.pack = pack
        self.path = path

    def create_module(self, _spec: ModuleSpec) -> None:
        return

    def exec_module(self, module: ModuleType) -> None:
        import ast  # only where a pack's code is loaded

        where = os.path.join(self.pack.folder, self.path)
        tree = ast.parse(self.pack.files.get(self.path, b""), where)  # a folder needs no __init__.py
        for other in _neighbours(tree, module.__package__ or ""):
            if not f"{other}.".startswith(f"{self.pack.package}."):
                raise _broken(self.pack, say.imports_other_pack(self.path, other))
        exec(compile(tree, where, "exec", dont_inherit=True), module.__dict__)  # noqa: S102  # this is what an import does

    def get_source(self, _name: str) -> str:
        """For tracebacks."""
        return self.pack.files.get(self.path, b"").decode("utf-8", "replace")


def _neighbours(tree: ast.Module, package: str) -> Iterator[str]:
    """Every module among the packs that an import statement names."""
    import ast

    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            parts = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
            base = ".".join([*parts, *([node.module] if node.module else [])])
            names = [f"{base}.{alias.name}" for alias in node.names] if base == PACKAGE else [base]
        yield from (name for name in names if name.startswith(f"{PACKAGE}."))
