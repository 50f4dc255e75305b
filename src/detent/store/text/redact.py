"""Takes secrets out of text before it is quoted: in prompts, reports, logs and on the screen.

Three kinds are known: values of environment variables whose name says that they are secret, logins inside an address,
and the shapes of well-known tokens and of assignments to a secret name. What has none of these shapes stays: this
protects what is quoted, it does not replace the secret scan.

Every repetition that a long word could begin at each of its letters has a bound: an agent chooses this text, and the
time it takes grows with its length alone.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MARK = "[redacted]"
_SHORTEST_VALUE = 6  # a shorter one would take ordinary words out of the text
_KINDS = r"TOKEN|SECRET|PASS(?:WORD|WD|PHRASE)?|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|KEY|CREDENTIALS?|COOKIE|DSN|PAT|PWD"
_SECRET_NAME = re.compile(rf"(?:.*_)?(?:{_KINDS})(?:_.*)?|.*(?:TOKEN|SECRET|PASSWORD|APIKEY)", re.IGNORECASE)
_NO_SECRETS = frozenset(("PWD", "OLDPWD"))
_KEY_BLOCK = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY( BLOCK)?-----.*?(?:-----END [A-Z ]*PRIVATE KEY( BLOCK)?-----|\Z)", re.DOTALL
)
_KEY_END = re.compile(r"\A[A-Za-z0-9+/=\s:,-]*-----END [A-Z ]*PRIVATE KEY( BLOCK)?-----")  # its beginning was cut off
_LOGIN = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]{0,30}://)[^/\s?#@'\"]+@")
_TOKEN = re.compile(
    r"\b(?:A(?:KIA|SIA)[0-9A-Z]{16}|gh[pousr]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abeprs]-[\w-]{10,}"
    r"|sk-[\w-]{20,}|[sr]k_(?:live|test)_\w{10,}|AIza[\w-]{30,}|ya29\.[\w-]{20,}|npm_\w{30,}|pypi-[\w-]{16,}|hf_\w{20,}"
    r"|SG\.[\w-]{16,}\.[\w-]{16,}|eyJ[\w-]{8,4000}\.[\w-]{8,}\.[\w-]*)"
)
_HEADER = re.compile(r"(?i)\b(authorization['\"]?\s*[:=]\s*['\"]?(?:bearer|basic|token)\s+)[^\s'\"]+")
_QUOTED = re.compile(
    r"(?i)((?:passw(?:or)?d|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key)[\w-]{0,60}['\"]?"
    r"\s*[:=]\s*)(['\"])(?!\2)[^'\"\n]+\2"
)
_ASSIGNED = re.compile(rf"(?<![A-Za-z0-9])((?:{_KINDS})(?:_[A-Z0-9]{{1,30}}){{0,8}}=)(?!['\"\[])[^\s'\"]+")


def redact(text: str, environment: Mapping[str, str]) -> str:
    """The text without the secrets that are known by name or shape; each place shows that a secret was removed."""
    for value in sorted(_values(environment), key=len, reverse=True):
        text = text.replace(value, MARK)
    text = _KEY_END.sub(MARK, _KEY_BLOCK.sub(MARK, text))
    text = _LOGIN.sub(rf"\1{MARK}@", text)
    text = _TOKEN.sub(MARK, text)
    text = _HEADER.sub(rf"\1{MARK}", text)
    text = _QUOTED.sub(rf"\1\2{MARK}\2", text)
    return _ASSIGNED.sub(rf"\1{MARK}", text)


def _values(environment: Mapping[str, str]) -> Iterator[str]:
    for name, value in environment.items():
        if name not in _NO_SECRETS and _SECRET_NAME.fullmatch(name):
            yield from (line for part in value.splitlines() if len(line := part.strip()) >= _SHORTEST_VALUE)
