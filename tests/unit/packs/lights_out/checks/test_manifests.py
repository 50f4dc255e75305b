"""What manifests declare, by name: every form they have, and what a lock file must hold of it and where it must lie."""

from __future__ import annotations

from pathlib import Path

import pytest

from detent.core.machine import Gate
from detent.gates.seen import Seen
from detent.packs.lights_out.checks.manifests import Manifest, is_named, manifests, not_locked
from tests.messages import message_of
from tests.unit.packs.lights_out.built import Built

PYPROJECT = """
[project]
name = "ours"
dependencies = ["flask>=2", "Jinja2", "flask<3"]
optional-dependencies = { dev = ["pytest"], all = ["ours[dev]"] }
[dependency-groups]
lint = ["ruff", { include-group = "dev" }]
[tool.poetry.dependencies]
python = "^3.11"
rich = "*"
[tool.poetry.dev-dependencies]
mypy = "*"
[tool.poetry.group.docs.dependencies]
sphinx = "*"
"""
REQUIREMENTS = """--index-url https://example.org/simple
-i https://example.org/simple
-c constraints.txt
-r requirements-base.txt
# a comment
flask[async]>=2  # why
-e ./lib
--editable=git+https://example.org/x.git
my-extras
jinja2 \\
  ==3.1 --hash=sha256:00
"""
ADDRESSED = """git+https://example.org/some/one.git
-e git+ssh://git@example.org/two.git@v1.0
--editable git+https://example.org/x.git@main#subdirectory=a&egg=three
https://example.org/four-1.0.tar.gz
five @ git+https://example.org/x.git
-e git+https://example.org/six/  # why
"""
PACKAGE = """{
 "dependencies": {"a": "1"}, "devDependencies": {"b": "1"}, "optionalDependencies": {"c": "1"},
 "peerDependencies": {"d": "1"}, "scripts": {"e": "1"}
}"""
CARGO = """
[dependencies]
a = "1"
[dev-dependencies]
b = "1"
[build-dependencies]
c = "1"
[workspace.dependencies]
d = "1"
[target.'cfg(unix)'.dependencies]
e = "1"
[features]
f = []
"""
GO = """module x

require one.org/a v1
require (
	two.org/b v2

	three.org/c v3 // indirect
)
require four.org/d v4 // indirect
"""
DECLARED: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "pyproject.toml": (
        PYPROJECT,
        ("flask", "Jinja2", "pytest", "ruff", "rich", "mypy", "sphinx"),
        ("poetry.lock", "uv.lock", "pdm.lock", "pylock.toml", "requirements.txt", "requirements.lock"),
    ),
    "requirements.txt": (REQUIREMENTS, ("flask", "-e ./lib", "x", "my-extras", "jinja2"), ("requirements.lock",)),
    "addressed-requirements.txt": (
        ADDRESSED,
        ("one", "two", "three", "four-1.0.tar.gz", "five", "six"),
        ("addressed-requirements.lock",),
    ),
    "dev-requirements.in": ("flask\n", ("flask",), ("dev-requirements.txt",)),
    "requirements/base.txt": ("flask\n", ("flask",), ("base.lock",)),
    "sub/requirements/base.in": ("flask\n", ("flask",), ("base.txt",)),
    "package.json": (
        PACKAGE,
        ("a", "b", "c", "d"),
        ("package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock"),
    ),
    "Pipfile": ("[packages]\na = '*'\n[dev-packages]\nb = '*'\n[requires]\nc = '3'\n", ("a", "b"), ("Pipfile.lock",)),
    "Cargo.toml": (CARGO, ("a", "b", "c", "d", "e"), ("Cargo.lock",)),
    "go.mod": (GO, ("one.org/a", "two.org/b"), ("go.sum",)),
    "Gemfile": ("gem 'a'\n  gem \"b\", '1'\n# gem 'c'\n", ("a", "b"), ("Gemfile.lock",)),
    "setup.py": ("setup(name='x')\n", (), ()),
}


@pytest.fixture
def built(tmp_path: Path) -> Built:
    return Built(tmp_path, "shed")


def seen_in(built: Built) -> Seen:
    return built.seen(Gate("ours", "lockfile", {}, "task", "do it"))


def read(built: Built, path: str, text: str) -> Manifest:
    built.write(path, text)
    return next(manifest for manifest in manifests(seen_in(built)) or () if manifest.path == path)


@pytest.mark.parametrize("path", DECLARED)
def test_what_a_manifest_declares_and_where_it_would_be_locked(built: Built, path: str) -> None:
    text, names, locks = DECLARED[path]
    assert read(built, path, text) == Manifest(path, names, locks)


@pytest.mark.parametrize(
    "path",
    ["node_modules/package.json", "src/vendor/x/go.mod", ".venv/lib/requirements.txt", "a/site-packages/setup.py"],
)
def test_what_lies_in_folders_of_others_is_theirs(built: Built, path: str) -> None:
    before = manifests(seen_in(built))
    built.write(path, "flask")
    assert manifests(seen_in(built)) == before


@pytest.mark.parametrize("path", ["requirements.md", "requirements/base.lock", "my/package.json5", "notes.txt"])
def test_other_files_are_no_manifests(built: Built, path: str) -> None:
    before = manifests(seen_in(built))
    built.write(path, "flask")
    assert manifests(seen_in(built)) == before


@pytest.mark.parametrize(
    ("path", "data", "locks"),
    [
        ("setup.cfg", b"[options]\ninstall_requires = flask\n", ()),
        ("package.json", b"{", DECLARED["package.json"][2]),
        ("package.json", b'{"dependencies": 5}', DECLARED["package.json"][2]),
        ("Cargo.toml", b"[target]\nx = 5\n", ("Cargo.lock",)),
        ("requirements.txt", b"\xff", ("requirements.lock",)),
    ],
)
def test_one_that_can_not_be_read_is_told(built: Built, path: str, data: bytes, locks: tuple[str, ...]) -> None:
    built.path(path).write_bytes(data)
    found = next(manifest for manifest in manifests(seen_in(built)) or () if manifest.path == path)
    assert (found.names, found.locks) == ((), locks)
    assert message_of(found.problem).code == "build.manifest_unreadable"


def test_an_unscanned_tree_has_no_known_manifests(built: Built) -> None:
    built.has_looked = False
    assert manifests(seen_in(built)) is None


@pytest.mark.parametrize(
    ("path", "line", "asks"),
    [
        ("requirements.txt", "-r deps.txt", True),
        ("requirements.txt", "-rdeps.txt", True),
        ("requirements.txt", "--requirement deps.txt", True),
        ("requirements.txt", "--requirement=vendor/requirements.txt", True),
        ("requirements.txt", "-r ../requirements.txt", True),
        ("requirements.txt", "-r /requirements.txt", True),
        ("requirements.txt", "-r other.lock", True),
        ("requirements.txt", "--editable git+https://example.org/x.git", True),
        ("requirements.txt", "-e.", True),
        ("requirements.txt", "-r requirements.lock", False),
        ("requirements.txt", "-r ./dev-requirements.txt", False),
        ("requirements.txt", "-r requirements/base.in", False),
        ("requirements/dev.txt", "-r base.txt", False),
        ("a/requirements.txt", "--requirement=../requirements.txt", False),
        ("requirements.txt", "-c deps.txt", False),
        ("requirements.txt", "--require-hashes", False),
        ("requirements.txt", "--index-url=https://example.org/simple", False),
    ],
)
def test_included_requirements_count_unless_another_manifest_declares_them(
    built: Built, path: str, line: str, asks: bool
) -> None:
    """Else a list that is called by another name would hide what is not locked."""
    manifest = read(built, path, f"flask==2.0\n{line}\n")
    assert (len(manifest.names) > 1) is asks
    assert bool(not_locked(seen_in(built), manifest)) is asks


# --- lock files ---

ASKED = "[project]\ndependencies = ['flask', 'rich']\n"


@pytest.mark.parametrize(
    ("lock", "is_seen"),
    [
        ("a/b/uv.lock", True),
        ("a/uv.lock", True),
        ("uv.lock", True),
        ("a/b/c/uv.lock", False),
        ("a/other/uv.lock", False),
        ("a/b/Cargo.lock", False),
    ],
)
def test_a_lock_file_lies_beside_its_manifest_or_above(built: Built, lock: str, is_seen: bool) -> None:
    manifest = read(built, "a/b/pyproject.toml", ASKED)
    assert not_locked(seen_in(built), manifest) == ("flask", "rich")
    built.write(lock, "rich = 1\n")
    assert not_locked(seen_in(built), manifest) == (("flask",) if is_seen else ("flask", "rich"))


def test_lock_file_that_is_no_part_of_tree_locks_nothing(built: Built) -> None:
    """One that git ignores lies on this disk alone."""
    manifest = read(built, "pyproject.toml", ASKED)
    built.write("uv.lock", "flask rich\n")
    files = {path: file for path, file in (built.files() or {}).items() if path != "uv.lock"}
    assert not_locked(seen_in(built).replace(tree_files=lambda: files), manifest) == ("flask", "rich")
    assert not_locked(seen_in(built), manifest) == ()


def test_several_lock_files_may_hold_it_together(built: Built) -> None:
    manifest = read(built, "a/pyproject.toml", ASKED)
    built.write("a/uv.lock", "rich\n")
    built.write("poetry.lock", "flask\n")
    assert not_locked(seen_in(built), manifest) == ()


@pytest.mark.parametrize("text", ["# rich\n", "x  # rich\n", "rich-text\n", "enrich\n"])
def test_a_comment_or_another_word_locks_nothing(built: Built, text: str) -> None:
    manifest = read(built, "pyproject.toml", ASKED)
    built.write("uv.lock", f"flask\n{text}")
    assert not_locked(seen_in(built), manifest) == ("rich",)


def test_an_unreadable_lock_file_locks_nothing(built: Built) -> None:
    manifest = read(built, "pyproject.toml", ASKED)
    built.path("uv.lock").write_bytes(b"flask rich \xff")
    assert not_locked(seen_in(built), manifest) == ("flask", "rich")


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("", ()),
        ("flask==2.0\nrich[jupyter] == 1.0 ; python_version > '3'\n", ()),
        ("flask==2.0\nrich>=1\n", ("flask", "rich")),
        ("flask==2.*\n", ("flask",)),
    ],
)
def test_requirements_that_are_all_pinned_are_their_own_lock(built: Built, text: str, left: tuple[str, ...]) -> None:
    manifest = read(built, "requirements.txt", text)
    assert not_locked(seen_in(built), manifest) == left


def test_only_a_finished_list_may_be_its_own_lock(built: Built) -> None:
    manifest = read(built, "requirements.in", "flask==2.0\n")
    assert not_locked(seen_in(built), manifest) == ("flask",)


@pytest.mark.parametrize(
    ("name", "text", "is_there"),
    [
        ("flask-login", "Flask_Login", True),
        ("zope.interface", "zope-interface", True),
        ("a__b", "ab", True),
        ("flask", "flask-login", False),
        ("login", "flask-login", False),
        ("flask", "flask2", False),
        ("a+b", "aab", False),
    ],
)
def test_a_name_is_a_name_in_any_of_its_spellings(name: str, text: str, is_there: bool) -> None:
    assert is_named(name, f"({text})") is is_there
