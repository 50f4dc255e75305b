"""Tests of path patterns."""

from __future__ import annotations

import pytest

from detent.store.patterns import matches


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


@pytest.mark.parametrize(
    ("path", "pattern"),
    [
        ("sub/detent.toml", "detent.toml"),
        (".github", ".github/**"),
        (".githubx/ci.yml", ".github/**"),
        ("ci/deep/a.yml", "ci/*.yml"),
        ("other/tests/x", "tests/**"),
        ("DETENT.TOML", "detent.toml"),
    ],
)
def test_what_a_pattern_does_not_mean(path: str, pattern: str) -> None:
    assert not matches(path, (pattern,))
    assert not matches(path, ())
