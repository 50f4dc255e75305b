"""Tests of path patterns."""

from __future__ import annotations

import pytest

from detent.store.disk.patterns import is_pattern, matches, protects, reaches


@pytest.mark.parametrize(
    ("path", "pattern"),
    [
        ("detent.toml", "detent.toml"),
        (".github/workflows/ci.yml", ".github/**"),
        ("tests/deep/er/test_x.py", "tests/**"),
        ("ci/a.yml", "ci/*.yml"),
        ("packages/a/ci/run", "packages/*/ci/**"),
        ("a1", "a?"),
    ],
)
def test_what_a_pattern_means(path: str, pattern: str) -> None:
    assert matches(path, ("nothing", pattern))
    assert protects(path, ("nothing", pattern))


@pytest.mark.parametrize(
    ("path", "pattern"),
    [
        ("deploy/prod/run", "deploy"),
        ("deploy/prod/run", "deploy/prod"),
        ("Dockerfile", "**/Dockerfile"),
        ("a/b/Dockerfile", "**/Dockerfile"),
        ("a/Dockerfile/x", "**/Dockerfile"),
        ("ci/a.yml", "ci/**/*.yml"),
        ("ci/deep/er/a.yml", "ci/**/*.yml"),
        ("a/ci/b/c", "**/ci/**"),
        ("ci/b", "**/ci/**"),
        ("x/y/z", "**"),
    ],
)
def test_protecting_patterns_are_read_widely(path: str, pattern: str) -> None:
    """And what allows is not: a plan that names `deploy` does not allow all below it."""
    assert protects(path, ("nothing", pattern))
    assert "**" in pattern or not matches(path, (pattern,))


@pytest.mark.parametrize(
    ("path", "pattern"),
    [
        ("DETENT.toml", "detent.toml"),
        ("Deploy/job.sh", "deploy/*.SH"),
        ("a/DOCKERFILE/x", "**/Dockerfile"),
        ("cafe\u0301/x", "CAF\u00c9/**"),
        ("de\u200bploy/x", "deploy/**"),
        ("STRASSE", "stra\u00dfe"),
        ("ax", "[!A-Z]x"),
    ],
)
def test_another_spelling_that_a_file_system_may_fold_is_protected(path: str, pattern: str) -> None:
    assert protects(path, (pattern,))
    assert reaches(path, (pattern,))


@pytest.mark.parametrize("pattern", ["detent.toml", "DETENT.TOML"])
def test_what_allows_is_compared_letter_by_letter(pattern: str) -> None:
    assert not matches("Detent.toml", (pattern,))


@pytest.mark.parametrize(
    ("path", "pattern"),
    [
        ("sub/detent.toml", "detent.toml"),
        (".github", ".github/**"),
        (".githubx/ci.yml", ".github/**"),
        ("ci/deep/a.yml", "ci/*.yml"),
        ("other/tests/x", "tests/**"),
        ("deploy", "deploy/prod"),
        ("deployed/run", "deploy"),
        ("docs/deep/a", "docs/*"),
        ("deep/a", "*"),
        ("a/ci", "**/ci/**"),
        ("ci/a.yaml", "ci/**/*.yml"),
        ("a/Dockerfile.x", "**/Dockerfile"),
        ("/".join(["a"] * 2000), "**/a/**/a/**/a/**/b"),
    ],
)
def test_what_a_pattern_does_not_mean(path: str, pattern: str) -> None:
    assert not matches(path, (pattern,))
    assert not protects(path, (pattern,))
    assert not matches(path, ())
    assert not protects(path, ())


def test_a_pattern_that_no_path_can_fit_is_seen() -> None:
    assert all(map(is_pattern, ("a", "a/**", "**/b", "*.c", ".github/**", "..a")))
    assert not any(map(is_pattern, ("ci/", "./ci/**", "ci/./x", "a//b", "", ".")))


@pytest.mark.parametrize(
    ("path", "pattern", "is_so"),
    [
        ("deploy", "deploy/**", True),
        ("deploy/inner", "deploy/**", True),
        ("deploy", "deploy/*.sh", True),
        ("deploy", "deploy", True),
        ("deplo", "deploy/**", False),
        ("a", "a/b/c", True),
        ("a/b", "a/b/c", True),
        ("a/x", "a/b/c", False),
        ("anything", "**/migrations/*.sql", True),
        ("README.md", "*.toml", False),
    ],
)
def test_what_lies_below_a_path_may_be_protected(path: str, pattern: str, is_so: bool) -> None:
    assert reaches(path, [pattern]) is is_so
