"""`detent new` with a whole text: from a file, from standard input, from an issue; and its agent and budget."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from detent.store.disk.atomic import LARGEST_TEXT_BYTES
from tests.conftest import SAMPLE_FILES, Completed, Detent, MakeRepo
from tests.e2e.stubs import bare_path, put_program, with_path
from tests.e2e.test_settings import head_of, refused_new

TEXT = """

## Parse empty lines ##

They are dropped today; `parse("")` must give an empty list.
"""
ISSUE = {
    "title": "Parse empty lines",
    "body": "They are dropped.\r\n",
    "comments": [
        {"author": {"login": "ada"}, "body": "Also lines of blanks."},
        {"author": None, "body": "+1"},
        {"author": {"login": "bob"}, "body": ""},
    ],
    "url": "https://tracker.example/12",
}


def folder_of(done: Completed) -> Path:
    assert done.code == 0, done
    return Path(done.json()["dir"])


# --- --from ---


def test_a_file_gives_title_and_request(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    path = repo()
    source = tmp_path / "wish.md"
    source.write_text(TEXT, encoding="utf-8")
    made = detent("new", "phase", "--from", source, "--json", cwd=path)
    folder = folder_of(made)
    assert made.json()["title"] == "Parse empty lines"
    assert made.json()["id"] == "parse-empty-lines"
    assert (folder / "REQUEST.md").read_text(encoding="utf-8") == TEXT
    digest = hashlib.sha256(TEXT.encode()).hexdigest()
    head = head_of(path, "parse-empty-lines")
    assert head["request"] == {"file": "REQUEST.md", "sha256": digest, "from": str(source), "url": ""}
    kept = path / ".git" / "detent" / "tasks" / "parse-empty-lines" / "objects" / digest
    assert kept.read_text(encoding="utf-8") == TEXT
    assert "Objective: Parse empty lines" in (folder / "STATE.md").read_text(encoding="utf-8")
    assert detent("audit", cwd=folder).code == 0


def test_standard_input_is_a_source(detent: Detent, repo: MakeRepo) -> None:
    path = repo()
    made = detent("new", "--from", "-", "--id", "a", "--json", cwd=path, stdin="One thing\nand more\n")
    assert (folder_of(made) / "REQUEST.md").read_text(encoding="utf-8") == "One thing\nand more\n"
    assert made.json()["title"] == "One thing"
    assert head_of(path)["request"]["from"] == "standard input"


def test_words_on_the_command_line_are_the_title(detent: Detent, repo: MakeRepo) -> None:
    made = detent("new", "phase", "My words", "--from", "-", "--json", cwd=repo(), stdin=TEXT)
    assert made.json()["title"] == "My words"
    assert (folder_of(made) / "REQUEST.md").read_text(encoding="utf-8") == TEXT


def test_without_a_text_there_is_no_request(detent: Detent, repo: MakeRepo) -> None:
    path = repo()
    made = detent("new", "phase", "x", "--id", "a", "--json", cwd=path)
    assert not (folder_of(made) / "REQUEST.md").exists()
    assert head_of(path)["request"] == {}


@pytest.mark.parametrize(
    ("stdin", "words"),
    [
        ("", "says nothing"),
        ("\n # \n\t\n", "says nothing"),
        ("a\0b", "binary"),
        ("x" * (LARGEST_TEXT_BYTES + 1), "more than 4000000 bytes"),
    ],
    ids=["empty", "blank", "binary", "giant"],
)
def test_a_text_that_says_nothing_is_refused(detent: Detent, repo: MakeRepo, stdin: str, words: str) -> None:
    path = repo()
    done = detent("new", "--from", "-", cwd=path, stdin=stdin)
    assert done.code == 2, done
    assert words in done.err
    assert detent("list", "--json", cwd=path).json()["tasks"] == []


def test_a_source_that_cant_be_read_is_refused(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    path = repo()
    assert "there is no file nowhere.md" in refused_new(detent, path, "--from", "nowhere.md").err
    latin = tmp_path / "latin.md"
    latin.write_bytes(b"caf\xe9")
    assert "not UTF-8" in refused_new(detent, path, "--from", str(latin)).err
    assert "not a plain file" in refused_new(detent, path, "--from", str(tmp_path)).err
    assert "give one of them" in refused_new(detent, path, "--from", str(latin), "--issue", "1").err


def test_a_foreign_request_is_never_replaced(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "REQUEST.md").write_text("mine\n", encoding="utf-8")
    done = detent("new", "phase", "--from", "-", "--dir", folder, cwd=repo(), stdin=TEXT)
    assert done.code == 1, done
    assert "already holds REQUEST.md" in done.err
    assert (folder / "REQUEST.md").read_text(encoding="utf-8") == "mine\n"


def test_request_is_no_proof_and_stands_on_the_evidence_page(detent: Detent, repo: MakeRepo) -> None:
    folder = folder_of(detent("new", "phase", "--from", "-", "--json", cwd=repo(), stdin=TEXT))
    state = folder / "STATE.md"
    filled = state.read_text(encoding="utf-8")
    for label in ("Done gate", "Not doing", "Reality constraints", "Validation plan"):
        filled = filled.replace(f"{label}:", f"{label}: cmd: true")
    filled = filled.replace("User facing:", "User facing: no")
    filled = filled.replace("Candidate done: no", "Candidate done: yes")
    state.write_text(filled.replace("Evidence location:", "Evidence location: REQUEST.md"), encoding="utf-8")
    assert detent("move", "shape", cwd=folder).code == 0
    assert detent("move", "implement", cwd=folder).code == 0
    (folder / "REQUEST.md").write_text("edited\n", encoding="utf-8")
    refused = detent("move", "verify", cwd=folder)
    assert refused.code == 1, refused
    assert "(gate evidence_fresh)" in refused.out
    page = detent("evidence", "--json", cwd=folder)
    assert page.code == 0, page
    assert "REQUEST.md" in Path(page.json()["path"]).read_text(encoding="utf-8")


# --- --issue ---


def test_an_issue_is_read_by_the_configured_program(
    detent: Detent, repo: MakeRepo, tmp_path: Path, clean_environment: dict[str, str]
) -> None:
    path = repo()
    programs = tmp_path / "programs"
    called = tmp_path / "asked.txt"
    answer = tmp_path / "answer.json"
    answer.write_text(json.dumps(ISSUE), encoding="utf-8")
    put_program(programs, "gh", f'printf "%s\\n" "$PWD" "$@" > {called}; cat {answer}')
    made = detent(
        "new", "--issue", "12", "--id", "a", "--json", cwd=path, environment=with_path(clean_environment, programs)
    )
    folder = folder_of(made)
    words = ["issue", "view", "12", "--json", "title,body,comments,url"]
    assert called.read_text(encoding="utf-8").splitlines() == [str(path), *words]
    assert made.json()["title"] == "Parse empty lines"
    assert (folder / "REQUEST.md").read_text(encoding="utf-8") == (
        "# Parse empty lines\n\nhttps://tracker.example/12\n\nThey are dropped.\n\n"
        "## Comment by ada\n\nAlso lines of blanks.\n\n## Comment by somebody\n\n+1\n"
    )
    request = head_of(path)["request"]
    assert (request["from"], request["url"]) == ("issue 12", "https://tracker.example/12")


def test_the_id_is_one_argument_and_no_shell_sees_it(
    detent: Detent, repo: MakeRepo, tmp_path: Path, clean_environment: dict[str, str]
) -> None:
    path = repo(files={**SAMPLE_FILES, "detent.toml": '[issue]\nread = \'tracker show="{id}" "two words"\'\n'})
    programs = tmp_path / "programs"
    put_program(programs, "tracker", f'printf "%s\\n" "$@" > {tmp_path}/asked.txt; echo \'{{"title": "T"}}\'')
    odd = f"1; touch {tmp_path}/harm"
    made = detent("new", "--issue", odd, "--json", cwd=path, environment=with_path(clean_environment, programs))
    assert made.code == 0, made
    assert (tmp_path / "asked.txt").read_text(encoding="utf-8").splitlines() == [f"show={odd}", "two words"]
    assert not (tmp_path / "harm").exists()


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("echo 'not logged in' >&2; exit 4", ("gh: exit 4: not logged in", "run that command yourself")),
        ("echo hello", ("gh printed no JSON", "[issue] read")),
        ("echo '[1]'", ("no JSON object with a title",)),
        ('echo \'{"title": " "}\'', ("no JSON object with a title",)),
    ],
)
def test_an_issue_that_cant_be_read_is_told(
    detent: Detent,
    repo: MakeRepo,
    tmp_path: Path,
    clean_environment: dict[str, str],
    script: str,
    words: tuple[str, ...],
) -> None:
    path = repo()
    put_program(tmp_path / "programs", "gh", script)
    environment = with_path(clean_environment, tmp_path / "programs")
    done = detent("new", "--issue", "12", cwd=path, environment=environment)
    assert done.code == 5, done
    assert "issue 12 can't be read" in done.err
    for word in words:
        assert word in done.err, done
    assert detent("list", "--json", cwd=path).json()["tasks"] == []


def test_a_missing_program_is_told(detent: Detent, repo: MakeRepo, tmp_path: Path) -> None:
    done = detent("new", "--issue", "12", cwd=repo(), environment=bare_path(tmp_path / "few", "git"))
    assert done.code == 5, done
    assert "the program gh was not found" in done.err
    assert "[issue] read in detent.toml" in done.err


def test_an_issue_that_looks_like_an_option_is_refused(detent: Detent, repo: MakeRepo) -> None:
    assert "can't be an issue" in refused_new(detent, repo(), "--issue=--web").err


# --- --agent and --budget ---


def test_agents_and_budget_of_the_command_line_are_kept(detent: Detent, repo: MakeRepo) -> None:
    path = repo(
        files={**SAMPLE_FILES, "detent.toml": "[agents.mine]\nargv = ['my-agent']\n[budget]\ntask = {usd = 3}\n"}
    )
    words = ("--agent", "judge=codex", "--agent", "judge=mine:big", "--agent", "claude:opus", "--budget", "12.5")
    made = detent("new", "phase", "x", "--id", "a", *words, cwd=path)
    assert made.code == 0, made
    head = head_of(path)
    assert head["agents"]["overrides"] == {"judge": ["codex", "mine:big"], "default": ["claude:opus"]}
    assert head["budget"]["task"] == {"usd": 12.5}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--agent", "judge=claud"), "known agents: pi, codex, claude"),
        (("--agent", "juge=claude"), "its roles: builder, judge"),
        (("--agent", "=claude"), "write ROLE=AGENT"),
        (("--budget", "0"), "above 0"),
        (("--budget", "-3"), "above 0"),
        (("--budget", "inf"), "above 0"),
        (("--budget", "nan"), "above 0"),
        (("--budget", "ten"), "above 0"),
    ],
)
def test_agents_and_budgets_that_cant_be_are_refused(
    detent: Detent, repo: MakeRepo, words: tuple[str, ...], said: str
) -> None:
    assert said in refused_new(detent, repo(), *words).err
