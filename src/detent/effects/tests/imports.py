"""Which files of a project its tests import: Python by module names, JavaScript by paths and the package's own name.

Go and Rust have no such question: their compilers take the code from beside the tests.
"""

from __future__ import annotations

import ast
import json
import os
import posixpath
import re
import warnings

from detent.core.record import Record
from detent.effects.tests.kits.choose import language_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from detent.effects.tests.tree_files import TreeFiles

BY_SEARCH = ("python", "javascript")  # languages in which a search path decides which copy of the code is imported
_SOURCES = ("", "src/", "lib/")
_PROJECTS = frozenset({"pyproject.toml", "setup.py", "setup.cfg", "package.json"})
_QUOTED = re.compile(r"""(?:\bfrom|\bimport|\brequire\s*\(|\bimport\s*\()\s*["']([^"'\n]+)["']""")
_EXTENSIONS = ("", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx")
_SETTINGS = ("pyproject.toml", "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "setup.cfg", "tox.ini")
_BY_FOLDER = ("DJANGO_SETTINGS_MODULE", "-p ", "pytest_plugins")
_PYTHONPATH = re.compile(r"^[ \t]*pythonpath[ \t]*=[ \t]*(\[[^\]]*\]|[^\n]*)", re.MULTILINE)
_MOST_READ = 2_000  # tests; of more it is not worked out
_NO_SCRIPT = (".json", ".node", ".wasm", ".css", ".txt", ".html")


class _Project(Record):
    """The files of a tree, where modules are searched, and the names its packages have for themselves."""

    tree: TreeFiles
    code: frozenset[str]
    roots: tuple[str, ...]
    names: tuple[str, ...]


def imports_any(tests: Iterable[str], tree: TreeFiles, code: Iterable[str]) -> bool:
    """Whether one of these test files, or what they import, imports a file of `code` or what is made from it."""
    project = _Project(tree, frozenset(code), tuple(roots_of(tree)), tuple(_package_names(tree)))
    queue = [path for test in tests for path in (test, *_conftests(test)) if path in tree.marks]
    seen = set(queue)
    while queue:
        path = queue.pop()
        text = tree.text(path) or ""
        match language_of(path):
            case "python":
                folder = posixpath.dirname(path)
                beside = (f"{folder}/" if folder else "", *project.roots)
                paths = set(imported_paths(text, path, beside))
            case "javascript":
                is_own, paths = _scripts(text, path, project)
                if is_own:
                    return True
            case _:
                continue
        if paths & project.code:
            return True
        further = (paths & tree.marks.keys()) - seen
        queue += further
        seen |= further
    return False


def may_steer_path(name: str) -> bool:
    """Whether a file of this name matters to `needs_current_folder`."""
    return name.endswith(".py") or name in _SETTINGS


def needs_current_folder(tree: TreeFiles) -> bool:
    """Whether Python tests import something from the top of the tree that only the current folder makes importable.

    pytest puts the folder above the packages of a test on the path, and that of a conftest.py; `pythonpath` names more.
    """
    texts = [tree.text(name) or "" for name in _SETTINGS]
    if any(word in text for text in texts for word in _BY_FOLDER):
        return True  # modules that plugins or options name
    if any("." in re.findall(r"[^\s\"',\[\]]+", named) for text in texts for named in _PYTHONPATH.findall(text)):
        return False
    by_package = not any("importmode=importlib" in text or "import-mode=importlib" in text for text in texts)
    if by_package and "conftest.py" in tree.marks and "__init__.py" not in tree.marks:
        return False
    tests = [path for path in tree.marks if path.endswith(".py") and _is_test(path)]
    if len(tests) > _MOST_READ:
        return True
    return any(
        path in tree.marks
        for test in tests
        if not (by_package and not _above_packages(test, tree))
        for path in imported_paths(tree.text(test) or "", test, ("",))
    )


def _is_test(path: str) -> bool:
    name = posixpath.basename(path)
    return name.startswith("test") or name.endswith("_test.py") or name == "conftest.py"


def _above_packages(path: str, tree: TreeFiles) -> str:
    """The folder that pytest puts on the path for a test: the first one above it that is no package."""
    folder = posixpath.dirname(path)
    while folder and f"{folder}/__init__.py" in tree.marks:
        folder = posixpath.dirname(folder)
    return folder


def _conftests(path: str) -> Iterator[str]:
    folders = path.split("/")[:-1]
    return ("/".join([*folders[:count], "conftest.py"]) for count in range(len(folders) + 1))


def roots_of(tree: TreeFiles) -> Iterator[str]:
    """Folders from which a project's own modules may be imported: the top and each package's, `src` and `lib` there."""
    folders = {posixpath.dirname(path) for path in tree.marks if posixpath.basename(path) in _PROJECTS}
    for folder in sorted({"", *folders}):
        yield from (posixpath.join(folder, source) if folder else source for source in _SOURCES)


def imported_paths(text: str, path: str, roots: Iterable[str]) -> Iterator[str]:
    """The files that a Python file's imports may mean below these folders; each is empty or ends with `/`."""
    roots = tuple(root if not root or root.endswith("/") else f"{root}/" for root in roots)
    for name, is_relative in _imported_names(text, path):
        parts = name.split(".")
        for root in ("",) if is_relative else roots:
            for count in range(1, len(parts) + 1):
                place = root + "/".join(parts[:count])
                yield f"{place}.py"
                yield f"{place}/__init__.py"


def _imported_names(text: str, path: str) -> Iterator[tuple[str, bool]]:
    """Dotted names; those of relative imports begin at the top of the tree."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about escapes in the project's own texts
            nodes = list(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in nodes:
        match node:
            case ast.Import():
                yield from ((alias.name, False) for alias in node.names)
            case ast.ImportFrom():
                folders = path.split("/")[: -node.level] if node.level else []
                start = ".".join([*folders, *([node.module] if node.module else [])])
                yield from ((".".join(filter(None, (start, alias.name))), bool(node.level)) for alias in node.names)
            case _:
                pass


def _package_names(tree: TreeFiles) -> Iterator[str]:
    for path in tree.marks:
        if os.path.basename(path) == "package.json":
            try:
                content = json.loads(tree.text(path) or "{}")
            except (ValueError, RecursionError):
                continue
            name = content.get("name") if isinstance(content, dict) else None
            if isinstance(name, str) and name:
                yield name


def _scripts(text: str, path: str, project: _Project) -> tuple[bool, set[str]]:
    """Whether a script imports its own package by name or what is made from it, and the files that it imports."""
    found: set[str] = set()
    for name in _QUOTED.findall(text):
        if any(name == package or name.startswith(f"{package}/") for package in project.names):
            return True, set()
        place = posixpath.normpath(posixpath.join(posixpath.dirname(path), name)) if name.startswith(".") else ""
        if not place or place.startswith("..") or place.endswith(_NO_SCRIPT):
            continue
        starts = (place, f"{place}/index", posixpath.splitext(place)[0])
        there = {start + ending for start in starts for ending in _EXTENSIONS} & project.tree.marks.keys()
        if not there:  # what no tree holds was made from the code
            return True, set()
        found |= there
    return False, found
