"""The environment of agent runs and commands: a list of names that are passed on, and nothing else of the user's.

A variable that is not on the list comes through `[sandbox] pass`, of a project that is trusted or of the user's own
settings. A value that holds a login inside an address counts as a secret and needs the same.
"""

from __future__ import annotations

import os
import re

from detent.effects.host.programs import absolute_entries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping

_PERSON = ("HOME", "USER", "LOGNAME", "SHELL", "TERM", "COLORTERM", "TZ", "LANG")
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "ALL_PROXY", "NO_PROXY")
_CERTIFICATES = ("NODE_EXTRA_CA_CERTS", "GIT_SSL_CAINFO", "PIP_CERT")
_TOOLCHAINS = ("JAVA_HOME", "GOPATH", "CARGO_HOME", "RUSTUP_HOME", "NVM_DIR", "PYENV_ROOT", "CONDA_PREFIX")
_NAMES = frozenset((*_PERSON, *_PROXIES, *(name.lower() for name in _PROXIES), *_CERTIFICATES, *_TOOLCHAINS))
_BEGIN, _END = ("LC_", "XDG_", "SSL_CERT_"), ("_CA_BUNDLE",)
_INDEX = re.compile(
    r"PIP_(EXTRA_)?INDEX_URL|PIP_(FIND_LINKS|NO_INDEX|TRUSTED_HOST|CONFIG_FILE)"
    r"|UV_(DEFAULT_|EXTRA_)?INDEX(_URL)?|UV_(FIND_LINKS|NO_INDEX|INDEX_STRATEGY|INSECURE_HOST)"
    r"|(npm_config|NPM_CONFIG)_registry|(npm_config|NPM_CONFIG)_REGISTRY|YARN_NPM_REGISTRY_SERVER|YARN_REGISTRY"
    r"|GO(PROXY|SUMDB|NOSUMDB|NOPROXY|PRIVATE)|CARGO_REGISTRIES_\w+_INDEX|BUNDLE_MIRROR__\w+|GEM_SOURCE"
)
# Sockets that sign and decrypt in the user's name: they stay outside, whatever a setting says.
NEVER = frozenset(("SSH_AUTH_SOCK", "SSH_AGENT_PID", "GPG_AGENT_INFO", "XDG_RUNTIME_DIR"))
_LOGIN_IN_ADDRESS = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*://[^/\s?#@]+@")
# Set by shells, terminals, desktops and git: that a command does not get these is no news.
_USUAL = re.compile(
    r"_|PWD|OLDPWD|SHLVL|PS[0-9]|TMPDIR|MAIL|HOSTNAME|HOSTTYPE|OSTYPE|MACHTYPE|EDITOR|VISUAL|PAGER|DISPLAY|WAYLAND_DISPLAY|"
    r"XAUTHORITY|WINDOWID|LS_COLORS|LSCOLORS|CLICOLOR|LINES|COLUMNS|STY|MOTD_SHOWN|INVOCATION_ID|JOURNAL_STREAM|"
    r"(LESS|HIST|TERM_|SSH_|DBUS_|DESKTOP_|GNOME_|GTK_|QT_|KDE_|VTE_|WT_|WSL|TMUX|SUDO_|GIT_|DETENT_|DEBUGINFOD_).*"
)
_MOST_NAMED = 4


def passed_environment(
    environment: Mapping[str, str], passed: Container[str], *, with_index: bool = False
) -> dict[str, str]:
    """What a run or a command gets of an environment; `with_index` adds where packages are fetched from."""
    kept = {
        name: value
        for name, value in environment.items()
        if name not in NEVER and (name in passed or _is_listed(name, value, with_index=with_index))
    }
    return {**kept, "PATH": absolute_entries(environment.get("PATH", os.defpath))}


def _is_listed(name: str, value: str, *, with_index: bool) -> bool:
    is_known = name in _NAMES or name.startswith(_BEGIN) or name.endswith(_END)
    is_known = is_known or (with_index and _INDEX.fullmatch(name) is not None)
    return is_known and not _LOGIN_IN_ADDRESS.search(value)


def withheld(environment: Mapping[str, str], passed: Container[str]) -> tuple[str, ...]:
    """The variables that commands don't get, without those that every shell and desktop sets."""
    passed_on = passed_environment(environment, passed, with_index=True)
    return tuple(sorted(name for name in environment if name not in passed_on and not _USUAL.fullmatch(name)))


def withheld_words(names: Iterable[str], output: str = "") -> str:
    """Variables that were withheld: those that the output speaks of, else all by name if they are few."""
    names = tuple(names)
    spoken = tuple(name for name in names if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", output))
    if not spoken and len(names) > _MOST_NAMED:
        return f"{len(names)} variables that `detent doctor` names"
    return ", ".join(spoken or names)
