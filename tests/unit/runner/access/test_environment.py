"""Tests of the environment of runs and commands: what is on the list comes through, and nothing else."""

from __future__ import annotations

import pytest

from detent.effects.agents.catalog import load_catalog, passed_to
from detent.runner.access.environment import passed_environment, withheld, withheld_words

# Every variable that was seen from inside when the product was attacked.
LEAKED = (
    "DATABASE_URL",
    "GITHUB_PAT",
    "DB_PASS",
    "STRIPE_KEY",
    "OPENAI_KEY",
    "SLACK_WEBHOOK_URL",
    "DOCKER_AUTH_CONFIG",
    "NPM_AUTH",
    "MY_API_KEY_PROD",
    "VAULT_TOKEN_1",
    "github_token",
    "AWS_SECRET_ACCESS_KEY",
    "GH_TOKEN",
    "PGPASSWORD",
    "LD_PRELOAD",
    "PYTHONPATH",
    "NODE_OPTIONS",
)


@pytest.mark.parametrize("name", LEAKED)
def test_a_variable_that_is_not_listed_is_withheld_unless_passed(name: str) -> None:
    assert name not in passed_environment({name: "s3cret"}, (), with_index=True)
    assert passed_environment({name: "s3cret"}, (name,))[name] == "s3cret"


@pytest.mark.parametrize(
    "name",
    [
        *("HOME", "USER", "LOGNAME", "SHELL", "TERM", "COLORTERM", "TZ", "LANG", "LC_ALL", "LC_TIME"),
        *("XDG_CONFIG_HOME", "XDG_DATA_DIRS", "HTTP_PROXY", "https_proxy", "no_proxy", "ALL_PROXY"),
        *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"),
        *("GIT_SSL_CAINFO", "PIP_CERT", "JAVA_HOME", "GOPATH", "CARGO_HOME", "RUSTUP_HOME", "NVM_DIR", "PYENV_ROOT"),
        "CONDA_PREFIX",
    ],
)
def test_what_is_listed_comes_through(name: str) -> None:
    assert passed_environment({name: "/x"}, ())[name] == "/x"


@pytest.mark.parametrize(
    "name", ["PIP_INDEX_URL", "UV_DEFAULT_INDEX", "npm_config_registry", "GOPROXY", "CARGO_REGISTRIES_OURS_INDEX"]
)
def test_package_indexes_are_for_commands_only(name: str) -> None:
    assert name in passed_environment({name: "https://host/simple"}, (), with_index=True)
    assert name not in passed_environment({name: "https://host/simple"}, ())
    assert "CARGO_REGISTRIES_OURS_TOKEN" not in passed_environment(
        {"CARGO_REGISTRIES_OURS_TOKEN": "x"}, (), with_index=True
    )


@pytest.mark.parametrize("value", ["https://me:s3cret@host/simple", "http://t0ken@proxy:3128", "a https://u:p@h b"])
def test_an_address_with_a_login_is_a_secret(value: str) -> None:
    names = ("PIP_INDEX_URL", "HTTPS_PROXY", "XDG_DATA_DIRS")
    for name in names:
        assert name not in passed_environment({name: value}, (), with_index=True)
        assert passed_environment({name: value}, (name,))[name] == value
    assert passed_environment({"HTTPS_PROXY": "http://proxy:3128/a@b"}, ())["HTTPS_PROXY"]


def test_the_ssh_agent_stays_hidden_even_if_it_is_passed() -> None:
    names = ("SSH_AUTH_SOCK", "SSH_AGENT_PID", "XDG_RUNTIME_DIR")
    assert not set(passed_environment(dict.fromkeys(names, "/x"), names)) & set(names)


def test_relative_entries_leave_the_search_path() -> None:
    environment = passed_environment({"PATH": "node_modules/.bin:/usr/bin:.::/bin"}, ("PATH",))
    assert environment["PATH"] == "/usr/bin:/bin"


def test_names_of_withheld_variables_are_told_those_spoken_of_alone() -> None:
    environment = {"HOME": "/h", "PWD": "/x", "LS_COLORS": "x", "DATABASE_URL": "x", "OTHER": "y", "GIT_DIR": "z"}
    names = withheld(environment, ())
    assert names == ("DATABASE_URL", "OTHER")
    assert withheld(environment, ("OTHER",)) == ("DATABASE_URL",)
    assert withheld_words(names, "KeyError: 'DATABASE_URL'") == "DATABASE_URL"
    assert withheld_words(names, "MY_DATABASE_URL is missing") == "DATABASE_URL, OTHER"
    assert withheld_words([f"V{number}" for number in range(10)]) == "10 variables that `detent doctor` names"


def test_variables_of_a_provider_come_only_with_its_use() -> None:
    claude = load_catalog({}).agents["claude"]
    here = {"AWS_SECRET_ACCESS_KEY": "x", "AWS_REGION": "y"}
    assert "AWS_SECRET_ACCESS_KEY" not in passed_to(claude, here)
    assert {"CLAUDE_CODE_USE_BEDROCK", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"} <= set(
        passed_to(claude, {**here, "CLAUDE_CODE_USE_BEDROCK": "1"})
    )
    assert "ANTHROPIC_API_KEY" in passed_to(claude, {})
    assert "OPENAI_API_KEY" not in passed_to(claude, {})
