"""Places in a user's home that are known to hold keys, logins and what was typed: hidden from runs and commands.

No list is complete. A place below `.config`, `.local/share` or `.cache` is also looked for where the XDG variables say.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_KEYS = (
    ".ssh",
    ".gnupg",
    ".password-store",
    ".local/share/keyrings",
    ".config/op",
    ".config/sops",
    ".config/age",
    ".pki",
)
_HOSTS = (
    ".netrc",
    ".git-credentials",
    ".config/git/credentials",
    ".config/gh",
    ".config/hub",
    ".config/glab-cli",
    ".config/tea",
)
_CLOUDS = (
    *(
        ".aws",
        ".azure",
        ".config/gcloud",
        ".boto",
        ".s3cfg",
        ".oci",
        ".kube",
        ".docker",
        ".config/containers/auth.json",
    ),
    *(".config/rclone", ".terraform.d", ".terraformrc", ".vault-token", ".config/doctl", ".fly", ".config/heroku"),
    *(
        ".databricks.cfg",
        ".snowsql",
        ".snowflake",
        ".kaggle",
        ".cache/huggingface/token",
        ".huggingface",
        ".config/stripe",
    ),
    *(".config/netlify", ".local/share/com.vercel.cli", ".config/helm/registry", ".config/github-copilot"),
)
_PACKAGES = (
    *(".npmrc", ".yarnrc.yml", ".pypirc", ".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials"),
    *(".m2/settings.xml", ".m2/settings-security.xml", ".gradle/gradle.properties", ".config/pypoetry/auth.toml"),
    *(".config/composer/auth.json", ".composer/auth.json", ".nuget/NuGet/NuGet.Config", ".bundle/config"),
)
_DATABASES = (".pgpass", ".my.cnf", ".mylogin.cnf", ".config/psql")
_TYPED = (
    *(".bash_history", ".zsh_history", ".zhistory", ".histfile", ".sh_history", ".local/share/fish/fish_history"),
    *(
        ".python_history",
        ".node_repl_history",
        ".psql_history",
        ".mysql_history",
        ".sqlite_history",
        ".rediscli_history",
    ),
    *(".irb_history", ".lesshst", ".viminfo", ".wget-hsts"),
)
_BROWSERS = (
    *(".mozilla", ".thunderbird", ".config/google-chrome", ".config/chromium", ".config/BraveSoftware"),
    *(".config/microsoft-edge", ".config/Bitwarden", ".config/1Password", ".config/Slack", ".config/discord"),
)
_PLACES = (*_KEYS, *_HOSTS, *_CLOUDS, *_PACKAGES, *_DATABASES, *_TYPED, *_BROWSERS)
_MOVED = {".config/": "XDG_CONFIG_HOME", ".local/share/": "XDG_DATA_HOME", ".cache/": "XDG_CACHE_HOME"}


def secret_places(home: str, environment: Mapping[str, str]) -> tuple[str, ...]:
    found = [os.path.join(home, name) for name in _PLACES]
    for begins, variable in _MOVED.items():
        base = environment.get(variable, "")
        if os.path.isabs(base):
            found += [os.path.join(base, name.removeprefix(begins)) for name in _PLACES if name.startswith(begins)]
    return tuple(dict.fromkeys(found))
