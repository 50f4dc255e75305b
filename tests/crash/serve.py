"""A process that has the engine loaded and runs each command in a fork of itself: a hundredth of a second, not a tenth.

Run as a script with the engine on `PYTHONPATH`. One JSON line in: {"cwd", "commands": [[word, …], …]}. One JSON line
out: [{"code", "out", "err"}, …]. All commands of one line run after each other in one fork.
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import sys
import traceback

import detent
from detent.faces.cli.main import main

_TRACEBACK = 99  # no exit code of the engine


def load_everything() -> None:
    """What a command would import when it needs it is here already in every fork."""
    for module in pkgutil.walk_packages(detent.__path__, "detent."):
        if module.name.endswith("__main__"):
            continue
        try:
            importlib.import_module(module.name)
        except ModuleNotFoundError as error:
            if str(error.name).startswith("detent"):
                raise
            # A face that needs a library: there are none here, and no command that is killed here loads it.


def run(words: list[str]) -> dict[str, object]:
    """One command with its output caught where the kernel writes it, as a terminal would."""
    outputs = [os.memfd_create("out"), os.memfd_create("err")]
    kept = [os.dup(1), os.dup(2)]
    for number, output in enumerate(outputs, 1):
        os.dup2(output, number)
    sys.argv = ["detent", *words]
    try:
        code = main(words)
    except BaseException:  # noqa: BLE001  # whatever gets out of main is what the test is looking for
        traceback.print_exc()
        code = _TRACEBACK
    sys.stdout.flush()
    sys.stderr.flush()
    for number, saved in enumerate(kept, 1):
        os.dup2(saved, number)
        os.close(saved)
    texts = []
    for output in outputs:
        texts.append(os.pread(output, os.fstat(output).st_size, 0).decode("utf-8", "replace"))
        os.close(output)
    return {"code": code, "out": texts[0], "err": texts[1]}


def serve() -> None:
    load_everything()
    while line := sys.stdin.readline():
        request = json.loads(line)
        child = os.fork()
        if child == 0:
            os.chdir(request["cwd"])
            sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115  # the requests are ours alone
            answer = json.dumps([run(words) for words in request["commands"]]) + "\n"
            _write_all(answer.encode())
            os._exit(0)
        os.waitpid(child, 0)


def _write_all(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]


if __name__ == "__main__":
    serve()
