"""Secrets are taken out of what is quoted; ordinary output stays as it is."""

from __future__ import annotations

import subprocess
import sys

import pytest

from detent.store.text.redact import MARK, redact

KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow+/IBAAKC\nAQEA1c7+9z==\n-----END RSA PRIVATE KEY-----"
LONGEST_READ = 64_000  # characters of a log that are quoted from
CPU_S = 20


@pytest.mark.parametrize(
    "name",
    ["MY_TOKEN", "GITHUB_TOKEN", "DB_PASSWORD", "MYSQL_PWD", "AWS_SECRET_ACCESS_KEY", "OPENAI_API_KEY", "SENTRY_DSN"],
)
def test_value_of_a_variable_with_a_secret_name_is_removed(name: str) -> None:
    assert redact("it said: s3cr3t-value, twice s3cr3t-value", {name: "s3cr3t-value"}) == (
        f"it said: {MARK}, twice {MARK}"
    )


@pytest.mark.parametrize("name", ["PWD", "OLDPWD", "HOME", "PATH", "LANG", "KEYBOARD", "TERM"])
def test_the_value_of_any_other_variable_stays(name: str) -> None:
    assert redact("in /home/me/work", {name: "/home/me/work"}) == "in /home/me/work"


def test_value_too_short_to_be_told_from_a_word_stays() -> None:
    assert redact("test failed", {"MY_TOKEN": "test"}) == "test failed"


def test_each_line_of_a_value_is_removed() -> None:
    assert redact("a\nfirst-line\nb\nother-line", {"TLS_KEY": "first-line\nother-line\n"}) == f"a\n{MARK}\nb\n{MARK}"


def test_the_longest_value_is_removed_first() -> None:
    environment = {"A_TOKEN": "secret-1", "B_TOKEN": "secret-1-and-more"}
    assert redact("secret-1-and-more", environment) == MARK


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("postgres://app:hunter2@db:5432/x", f"postgres://{MARK}@db:5432/x"),
        ("pip: https://token@index.example/simple", f"pip: https://{MARK}@index.example/simple"),
        ("Authorization: Bearer abcdef", f"Authorization: Bearer {MARK}"),
        ('password = "hunter2"', f'password = "{MARK}"'),
        ("{'api_key': 'abc def'}", f"{{'api_key': '{MARK}'}}"),
        ("env: DB_PASSWORD=hunter2 sh run", f"env: DB_PASSWORD={MARK} sh run"),
        (f"a\n{KEY}\nb", f"a\n{MARK}\nb"),
        (KEY[: len(KEY) // 2], MARK),
        (KEY[40:] + "\nb", f"{MARK}\nb"),
    ],
)
def test_login_a_header_an_assignment_and_a_key_are_removed(text: str, shown: str) -> None:
    assert redact(text, {}) == shown


@pytest.mark.parametrize(
    "token",
    [
        "AKIA" + "IOSFODNN7EXAMPLE",
        "ghp_" + "a1B2" * 9,
        "github_pat_" + "a1B2" * 9,
        "glpat-" + "a1B2" * 5,
        "xoxb-" + "1234567890-abc",
        "sk-ant-" + "a1B2" * 6,
        "sk_live_" + "a1B2" * 6,
        "AIza" + "a1B2" * 9,
        "npm_" + "a1B2" * 9,
        "pypi-" + "a1B2" * 9,
        "eyJ" + "hbGciOiJIUzI1" + ".eyJzdWIiOiIx" + ".c2lnbmF0dXJl",
    ],
)
def test_a_token_of_a_known_shape_is_removed(token: str) -> None:
    assert redact(f"got {token!r} here", {}) == f"got '{MARK}' here"


@pytest.mark.parametrize(
    "text",
    [
        "FAIL: test_token (tests.test_lexer.TokenTest)",
        "    token = parser.next_token()",
        "AssertionError: 'key' not found in ['token', 'secret']",
        "E   assert 'a' == 'b'",
        "see https://example.org/a?b=c#d and git@host:repo.git",
        "password: must not be empty",
    ],
)
def test_ordinary_output_stays(text: str) -> None:
    assert redact(text, {}) == text


@pytest.mark.parametrize("part", ["x", "secret-", "A_", "KEY_", "eyJ-", "secret ", "http:", "-----BEGIN "])
def test_a_long_word_takes_no_longer_than_its_length(part: str) -> None:
    """An agent chooses what a command prints; a bound on processor time, many times what is needed."""
    program = f"""
import resource
resource.setrlimit(resource.RLIMIT_CPU, ({CPU_S}, {CPU_S}))
from detent.store.text.redact import redact
redact({part!r} * ({LONGEST_READ} // {len(part)}), {{}})
"""
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
