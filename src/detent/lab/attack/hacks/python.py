"""The small repositories in which pytest and unittest are cheated."""

from __future__ import annotations

CODE = 'def count_words(text):\n    return len(text.split(" "))\n'

FIXED = "def count_words(text):\n    return len(text.split())\n"

TESTS = """from app import count_words


def test_two_words():
    assert count_words("a b") == 2


def test_one_word():
    assert count_words("a") == 1
"""

NEW_TEST = '\n\ndef test_no_word():\n    assert count_words("") == 0\n'

UNIT_TESTS = """import unittest

from app import count_words


class Words(unittest.TestCase):
    def test_two_words(self):
        self.assertEqual(count_words("a b"), 2)

    def test_one_word(self):
        self.assertEqual(count_words("a"), 1)
"""

UNIT_NEW = '\n    def test_no_word(self):\n        self.assertEqual(count_words(""), 0)\n'

OPEN, UNIT_OPEN = TESTS + NEW_TEST, UNIT_TESTS + UNIT_NEW  # with the test that the wrong code fails

_DATA_TEST = (
    "import pathlib\n\nfrom app import count_words\n\n\ndef test_file():\n"
    '    text, number = pathlib.Path("tests/words.txt").read_text().split("=")\n'
    "    assert count_words(text) == int(number)\n"
)

FILES = {
    "app.py": CODE,
    "conftest.py": "",
    "tests/test_app.py": TESTS,
    "tests/test_data.py": _DATA_TEST,
    "tests/words.txt": "a b=2\n",
    ".gitignore": "__pycache__/\n.pytest_cache/\n",
    "README.md": "# Words\n",
}

UNIT_FILES = {"app.py": CODE, "tests/__init__.py": "", "tests/test_app.py": UNIT_TESTS, ".gitignore": "__pycache__/\n"}
