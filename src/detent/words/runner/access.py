"""Why a run may not begin on this host or in this project: the sentences of access and trust."""

from __future__ import annotations

from detent.words.message import message


@message
def kernel_required(problem: str) -> tuple[str, str]:
    return (
        f'[sandbox] require = "kernel", and the kernel does not hold this here: {problem}',
        "install bubblewrap, or start a task without that setting",
    )


@message
def tcp_alone() -> str:
    return "Landlock denies TCP alone, and UDP is network too"


@message
def agent_not_seen(agent: str, path: str) -> tuple[str, str]:
    return (
        f"agent {agent} is started with {path}, which no agent run can open: each run has a temporary folder of its own"
    ), "move it to another folder, or show it to runs: [sandbox] show in detent.toml"


@message
def not_trusted(file: str, names: str, digest: str) -> tuple[str, str]:
    return (
        f"{file} wants what only a person may allow, and nobody trusted it yet: {names}",
        f"read it: detent trust --show; then: detent trust --yes, or: detent trust --digest {digest}",
    )
