"""Whether tests run without the current folder on the path: what `init` derives, tried with the real runners."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from detent.runner.make.guess import guess_commands

TEST = "\n\ndef test_it():\n    assert True\n"
FLAT = {"app.py": "", "tests/test_app.py": f"import app\n{TEST}"}
CASE = (
    "import unittest\n{more}\n\nclass Its(unittest.TestCase):\n    def test_it(self):\n        self.assertTrue(True)\n"
)


@pytest.mark.parametrize(
    ("files", "is_safe"),
    [
        ({"src/app/__init__.py": "", "tests/test_app.py": TEST}, True),
        (FLAT, False),
        ({**FLAT, "conftest.py": ""}, True),
        ({**FLAT, "conftest.py": "", "__init__.py": ""}, False),
        ({**FLAT, "tests/__init__.py": ""}, True),
        ({"app.py": "", "test_app.py": f"import app\n{TEST}"}, True),
        ({**FLAT, "pytest.ini": "[pytest]\npythonpath = .\n"}, True),
        ({**FLAT, "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["src"]\n'}, False),
        ({**FLAT, "conftest.py": "", "pytest.ini": "[pytest]\naddopts = --import-mode=importlib\n"}, False),
        ({"tests/test_a.py": f"from tests.help import x\n{TEST}", "tests/help.py": "x = 1\n"}, False),
        ({"app.py": "", "test_app.py": CASE.format(more="import app\n")}, True),
        ({"app.py": "", "tests/test_app.py": CASE.format(more="import app\n")}, False),
        ({"app.py": "", "tests/__init__.py": "", "tests/test_app.py": CASE.format(more="import app\n")}, True),
    ],
)
def test_command_of_init_is_green_and_safe_where_possible(
    tmp_path: Path, files: Mapping[str, str], *, is_safe: bool
) -> None:
    is_pytest = not any("unittest" in text for text in files.values())
    for name, text in {**({"requirements.txt": "pytest\n"} if is_pytest else {}), **files}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    command = guess_commands(str(tmp_path), lambda _needs: True)[0].command
    words = [sys.executable, *command.split()[1:]]
    assert ("-P" in words) is is_safe
    assert _exit(words, tmp_path) == 0
    if not is_safe:
        assert _exit([words[0], "-P", *words[1:]], tmp_path) != 0


def _exit(words: list[str], folder: Path) -> int:
    done = subprocess.run(words, cwd=folder, capture_output=True, env={"PYTHONDONTWRITEBYTECODE": "1"}, check=False)
    return done.returncode
