"""Failures are quoted without secrets to the next actor; no file names a log that its reader can't open."""

from __future__ import annotations

import pytest

from tests.conformance.lightsout_pipeline import HONEST, PREFERENCES, Lights, Pipeline

RED = r"""
cat >> tests/test_words.py <<'END'


class Broken(unittest.TestCase):
    def test_it(self):
        print("connecting with postgres://app:hunter2@db/words")
        self.assertEqual("what was got", "what was wanted")
END
"""
KEY = "AKIA" + "QWERTYUIOPASDFGH"  # the form of a key, but not a real one


def hides_paths(line: Pipeline, *texts: str) -> None:
    for text in texts:
        assert "receipts/" not in text
        assert str(line.control) not in text
        assert line.detent.environment["XDG_STATE_HOME"] not in text, "a folder of this host"


def prompts(line: Pipeline) -> list[str]:
    return [line.prompt(planned["run"]) for planned in line.entries("run_planned")]


def section(text: str, title: str) -> str:
    return text.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def test_failed_test_is_quoted_to_the_next_run_and_everywhere(lights: Lights) -> None:
    line = lights.at("Building", Building=f"{HONEST['Building']}; {RED}")
    line.run(expect=4)
    assert line.state() == "BlockedOnGate"
    first, second, third = prompts(line)[-3:]
    assert "## What failed" not in first
    for text in (second, third):
        failed = section(text, "What failed")
        assert "`python3 -m unittest discover tests` (exit 1), on these files; its last lines:" in failed
        assert "> AssertionError: 'what was got' != 'what was wanted'" in failed
        assert 'File "tests/test_words.py", line ' in failed
        assert "postgres://[redacted]@db/words" in failed
    blocked, log = line.read("scaffolding/blocked.md"), line.read("scaffolding/log.md")
    for text in (blocked, log):
        assert "AssertionError: 'what was got' != 'what was wanted'" in text
        assert "hunter2" not in text
    hides_paths(line, second, third, blocked, log, line("inbox").out)
    assert line("answer", "look at the last test", "p").code == 0
    lights.honest()
    line.run("--once")
    recovered = prompts(line)[-1]
    assert "AssertionError: 'what was got' != 'what was wanted'" in recovered
    hides_paths(line, recovered)
    line.audit()


def test_found_secret_is_named_by_file_line_and_kind_only(lights: Lights) -> None:
    line = lights.at("Building", Building=f"{HONEST['Building']}; echo 'key = \"{KEY}\"' > settings.py")
    line.run("--once")
    line.run("--once")
    failed = section(prompts(line)[-1], "What failed")
    assert "`secret scan` (exit 1)" in failed
    assert "> settings.py:1: AWS Access Key" in failed
    assert KEY not in prompts(line)[-1]
    assert "-m detent." not in prompts(line)[-1], "a scanner is called by its name"
    assert "the secret scan found something: settings.py:1: AWS Access Key" in line("history", "p").out


def test_a_failed_deployment_is_quoted_without_the_persons_secrets(lights: Lights) -> None:
    failing = "echo cannot reach host with $MY_TOKEN >&2; exit 3"
    preferences = PREFERENCES.replace('`test -d "$HOME"`', f"`{failing}`")
    line = lights.at("Deploying", preferences)
    line.run(expect=4)
    assert line("approve", "--reason", "mine", "p").code == 0
    done = line("run", "p", environment={"MY_TOKEN": "s3cr3t-value"})
    assert line.state() == "BlockedOnGate", done
    text = prompts(line)[-1]
    assert "> cannot reach host with [redacted]" in section(text, "What failed")
    assert "`Pre-flight: echo cannot reach" in section(text, "What failed")
    assert "- Pre-flight: `echo cannot reach" in section(text, "Proof")
    report = line.read("scaffolding/blocked.md")
    assert report.count("| cannot reach host with [redacted]") == 1, "once for three attempts that failed alike"
    whole = "".join(path.read_text(encoding="utf-8") for path in line.folder.glob("*.md"))
    assert "s3cr3t-value" not in whole + done.out + line("inbox").out
    hides_paths(line, text, whole)


@pytest.mark.requirement("S2.29")
def test_a_retry_is_told_which_attempt_it_is(lights: Lights) -> None:
    line = lights.at("Building", Building=f"{HONEST['Building']}; {RED}")
    line.run(expect=4)
    for number, text in enumerate(prompts(line)[-3:], 1):
        assert f"attempt {number} of 3" in text
