"""The evidence page: nothing an agent wrote becomes markup, nothing is followed or fetched, all is bounded."""

from __future__ import annotations

import base64
import hashlib
import itertools
import os
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from detent.page import diff as evidence_diff
from detent.page import files as evidence_files
from detent.page.diff import diff_html, read_diff
from detent.page.events import events_of
from detent.page.files import FileReader
from detent.page.page import render
from detent.page.picture import picture
from detent.page.runs import runs_of
from detent.page.text import escape, excerpt, prose, safe_address
from detent.page.values import (
    Artifact,
    Attempt,
    Diff,
    Event,
    Excerpt,
    FileChange,
    Gate,
    Hash,
    Missing,
    NextMove,
    Now,
    Page,
    Ran,
    Request,
    Run,
)
from detent.store.journal.line import Line
from tests.conftest import MakeRepo
from tests.lines import made

EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)><a href='javascript:alert(1)'>[x](javascript:alert(1))"
STATES = ("intake", "shape", "verify", "repair", "done", "blocked")
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


class Elements(HTMLParser):
    """Every element of a page with its attributes, and all text outside of the style."""

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.text = ""
        self.feed(data.decode("utf-8"))
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_data(self, data: str) -> None:
        self.text += data

    def attributes(self, name: str) -> list[str]:
        return [attributes[name] for _, attributes in self.elements if name in attributes]

    def count(self, tag: str) -> int:
        return sum(found == tag for found, _ in self.elements)


def page(**changes: Any) -> Page:
    plain = Page(
        "count words", "words", "phase", Now("verify", "2026-01-02T03:04:05Z"), STATES, ("done", "blocked"), ()
    )
    return plain.replace(**changes)


def move(number: int, source: str, target: str, **more: Any) -> Event:
    return Event(number, "2026-01-02T03:04:05Z", "moved", source=source, target=target, number=number, **more)


def refusal(source: str, target: str) -> Event:
    return Event(9, "2026-01-02T03:04:05Z", "refused", source=source, target=target)


def full_run(text: str) -> Run:
    run = Run(1, text, text, text, text, text, text, text, text, text, text, 1.0, 2, 3, 4.0, 5)
    return run.replace(
        requests=(Request(text, True, text), Request(text, False, text)),
        became=text,
        moved_to=text,
        put_back=(text,),
        tainted=(text,),
        errors=(text,),
        prompt=Excerpt(text, text, 5),
    )


def full_page(text: str) -> Page:
    """A page on which every text an agent, a file name or a command could have chosen is this one."""
    artifact = Artifact(text, "text", 3, text, f"./{text}", Excerpt(text, text, 5), note=text)
    change = FileChange(text, text, 1, 1, (f"@@ {text}", f"+{text}", f"-{text}", f" {text}"), text)
    event = Event(1, text, "moved", text, text, text, text, text, number=1)
    event = event.replace(gates=(Gate(text, True, text, text, True, False, text, (text,)),))
    event = event.replace(missing=(Missing(text, text, text),), lines=(text,), hashes=((text, text),))
    event = event.replace(run=1, undone=(text,))
    return Page(
        title=text,
        task=text,
        machine=text,
        now=Now(text, text, text, False, (NextMove(text, False, (text,), (text,)),), (text,)),
        states=(*STATES, text),
        ends=(text,),
        events=(
            event,
            event.replace(kind="refused"),
            event.replace(kind=text),
            event.replace(source="shape", target="x"),
        ),
        frame=((text, text),),
        claims=((text, text),),
        folder_link="..",
        commands=(Ran(text, text, text, text, False, (Attempt(1, 1, Excerpt(text)),), text, Excerpt(text)),),
        commands_note=text,
        diff=Diff(text, text, (change,)),
        artifacts=(artifact, artifact.replace(kind="other"), artifact.replace(kind="image", data=f"data:{text}")),
        artifacts_note=text,
        task_files=(artifact,),
        runs=(full_run(text),),
        hashes=(Hash(text, text, text),),
        sandbox=text,
    )


def test_no_text_of_an_agent_becomes_markup() -> None:
    plain, evil = Elements(render(full_page("harmless"))), Elements(render(full_page(EVIL)))
    # A long name may be drawn on two lines; apart from that the two pages have the same elements.
    assert [tag for tag, _ in evil.elements if tag != "text"] == [tag for tag, _ in plain.elements if tag != "text"]
    assert not evil.count("script")
    assert "alert(1)" in evil.text
    names = {name for _, attributes in evil.elements for name in attributes}
    assert not [name for name in names if name.startswith("on") or name == "style"]
    for address in evil.attributes("href"):
        assert address.startswith(("#", "./", "../", "https://", "http://")), address
    assert all(source.startswith("data:") for source in evil.attributes("src"))


def test_the_policy_allows_this_style_and_nothing_else() -> None:
    data = render(page()).decode()
    style = re.search(r"<style>(.*?)</style>", data, re.DOTALL)
    assert style
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:" in data
    assert data.index("Content-Security-Policy") < data.index("<style>")
    assert "unsafe" not in data


def test_the_same_values_give_the_same_bytes() -> None:
    assert render(full_page("same")) == render(full_page("same"))


@pytest.mark.parametrize(
    "target",
    [
        # Each ends like a harmless file, so that only the rule it breaks can refuse it.
        "javascript:alert(1)//.txt",
        "JavaScript:alert(1)//.txt",
        "java\nscript:alert(1)//.txt",
        "\tjavascript:alert(1)//.txt",
        "x/\x01.txt",
        "data:text/html,x.txt",
        "vbscript:x.txt",
        "file:///etc/passwd.txt",
        "//host/x.txt",
        "/etc/passwd.txt",
        "\\\\host\\x.txt",
        "../../secret.txt",
        "a/../../b.txt",
        "https:///x",
        "artifacts/page.html",
        "artifacts/page.svg#x.txt",
        "artifacts/page",
        "",
        "#x",
    ],
)
def test_only_web_addresses_and_paths_below_the_task_are_links(target: str) -> None:
    assert safe_address(target, "..") == ""
    assert "<a " not in prose(f"[see]({target})", "..")


@pytest.mark.parametrize(
    ("target", "address"),
    [
        ("https://example.org/a?b=c#d", "https://example.org/a?b=c#d"),
        ("artifacts/result.txt", "../artifacts/result.txt"),
        ("artifacts/a:b.txt", "../artifacts/a%3Ab.txt"),
        ("artifacts/%2e%2e/x.txt", "../artifacts/%252e%252e/x.txt"),
        ("artifacts/p.pdf#top", "../artifacts/p.pdf#top"),
    ],
)
def test_links_of_agents_are_clickable(target: str, address: str) -> None:
    assert f'<a href="{address}"' in prose(f"[see]({target})", "..")


def test_bare_address_is_clickable_without_its_full_stop() -> None:
    made = prose("see https://example.org/x. Then <b>", "..")
    assert '<a href="https://example.org/x"' in made
    assert made.endswith("</a>. Then &lt;b&gt;")


def test_characters_that_hide_text_are_named_and_colours_dropped() -> None:
    assert escape("a\u200bb\U000e0041") == "a[U+200B]b[U+E0041]"
    assert escape("a\u202eb\x07c\x1b[31mred\x1b[0m\udc80") == "a[U+202E]b\u2407cred[U+DC80]"


def test_cut_text_tells_its_missing_part_and_endless_lines_end() -> None:
    assert "1.5 MB left out here" in excerpt(Excerpt("a", "b", 1_500_000))
    assert "6000 more letters" in excerpt(Excerpt("x" * 10_000))


# --- the picture ---


def test_moves_are_numbered_arcs_and_refusals_red_marks() -> None:
    events = (
        move(1, "intake", "shape"),
        refusal("shape", "done"),
        refusal("shape", "done"),
        refusal("shape", "verify"),
        move(2, "shape", "verify"),
        move(3, "verify", "repair"),
        move(4, "repair", "verify"),
        move(5, "verify", "repair"),
    )
    drawn = Elements(picture(STATES, ("done", "blocked"), "repair", events).encode())
    row = picture(STATES, ("done", "blocked"), "repair", events).partition("</svg>")[0]
    assert "shape → done: refused 2 times" in row
    assert "shape → verify: move 2; refused 1 time" in row
    assert "verify → repair: move 3, 5" in row
    assert row.count('class="taken"') == 4
    assert row.count('class="wished"') == 1
    assert row.count('class="now"') == 1
    assert row.count('class="been"') == 3
    assert row.count('class="pale"') == 2
    assert row.count('class="inner"') == 2
    assert drawn.count("svg") == 2
    assert not drawn.attributes("style")


def test_request_for_no_state_is_drawn_where_it_was_made() -> None:
    drawn = picture(STATES, (), "shape", (refusal("shape", "heaven"),))
    assert "shape → a state that is not there: refused 1 time" in drawn
    assert "shape → shape: refused 1 time" in picture(STATES, (), "shape", (refusal("shape", "shape"),))


def test_large_machine_shows_what_was_reached_and_counts_the_rest() -> None:
    states = tuple(f"State{number}" for number in range(41))
    drawn = picture(states, (), "State3", (move(1, "State0", "State3"), refusal("State3", "State40")))
    assert "38 of 41 states were neither reached nor asked for" in drawn
    assert drawn.count("<svg") == 2
    walked = tuple(move(number, f"State{number - 1}", f"State{number}") for number in range(1, 13))
    assert picture(states, (), "State12", walked).count("<svg") == 1


def test_numbers_of_many_moves_stay_inside_and_apart() -> None:
    states = tuple(f"State{number}" for number in range(12))
    there = [move(number, "State0", f"State{10 + number % 2}") for number in range(1, 7)]
    back = [move(number, f"State{7 + number % 3}", f"State{number % 2}") for number in range(7, 13)]
    drawn = picture(states, (), "State0", (*there, *back))
    plates = re.findall(r'plate \w+"><rect x="([-\d.]+)" y="([-\d.]+)" width="([\d.]+)"', drawn)
    boxes = [tuple(map(float, plate)) for plate in plates]
    assert len(boxes) == 8
    assert all(x >= 0 and x + wide <= 360 for x, _, wide in boxes), boxes
    for box, other in itertools.combinations(boxes, 2):
        is_beside = box[0] + box[2] <= other[0] or other[0] + other[2] <= box[0]
        assert is_beside or abs(box[1] - other[1]) >= 17, (box, other)


def test_long_names_are_broken_between_words_and_never_changed() -> None:
    drawn = picture((*STATES, "needs_user_decision", "agent-review", "PipelineCompleteNow"), (), "intake", ())
    row = drawn.partition("</svg>")[0]
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", row)
    assert "".join(texts) == "".join((*STATES, "needs_user_decision", "agent-review", "PipelineCompleteNow"))
    assert {"needs_user_", "decision"} <= set(texts)


# --- journal lines ---


def test_journal_lines_become_events() -> None:
    facts = {"checks": {"ok": True, "proof": "ab" * 16, "by_hand": True}}
    said: list[dict[str, Any]] = [
        {"seq": 1, "time": "T1Z", "kind": "created", "by": "person", "name": "ann", "after": {"state": "intake"}},
        {"seq": 2, "time": "T2Z", "kind": "moved", "from": "intake", "to": "shape", "by": "agent", "facts": facts,
         "waived": ["look"], "override": "no time", "tree": "cd" * 20},
        {"seq": 3, "time": "T3Z", "kind": "refused", "from": "shape", "want": "to_done", "problem": "no"},
        {"seq": 4, "time": "T4Z", "kind": "answered", "by": "person", "name": "ann", "answer": "keep both"},
        {"seq": 5, "time": "T5Z", "kind": "unprepared", "step": "4:branch", "edge": "", "why": "no", "prev": "x"},
        {"seq": 6, "time": "T6Z", "kind": "moved", "from": "shape", "to": "done", "by": "person"},
    ]  # fmt: skip
    entries = [made(row["kind"], row) for row in said]
    ran = (Ran("key1", "make", "cd" * 20, "", True, ()), Ran("key2", "make", "ef" * 20, "", True, ()))
    created, moved, refused, answer, plain, last = events_of(entries, {"to_done": "done"}, frozenset({"checks"}), ran)
    assert created.who == "ann (person)"
    assert moved.gates[0].receipts == ("key1",)
    assert moved.gates[0].is_by_hand
    assert (moved.gates[1].name, moved.gates[1].is_waived) == ("look", True)
    assert moved.hashes == (("on tree", "cd" * 20),)
    assert (refused.target, refused.lines) == ("done", ("no",))
    assert answer.words == "keep both"
    assert (plain.head, plain.lines) == ("unprepared", ("step: 4:branch", "why: no"))
    assert (moved.number, last.number) == (1, 2)


def test_agent_runs_are_shown_only_when_there_are_any() -> None:
    assert b'id="runs"' not in render(page())
    run = Run(1, "verify", "judge", "read", "pi", "large", "2026-01-02T03:04:05Z", "0" * 64)
    run = run.replace(exit="timeout", seconds=61.0, turns=3, tokens=12_000, cost_usd=0.25, denials=1)
    other = run.replace(number=2, exit="finished", tokens=500, cost_usd=0.5, denials=0, prompt=Excerpt("You are told"))
    shown = " ".join(Elements(render(page(runs=(run, other)))).text.split())
    assert "2 runs, 2 min, 6 turns, 12,500 tokens, $0.75, 1 denial." in shown
    assert "#1 judge in verify took too long and was ended pi (large), 61.0 s, 3 turns, 12,000 tokens, $0.25" in shown
    assert "only read the repository" in shown
    assert "is not shown: the text is gone, or was changed since" in shown
    assert "You are told" in shown


RUN = {"run": 1, "role": "judge", "state": "verify", "access": "read", "agent": "pi", "model": "large", "prompt": "p"}
ENDED = {
    **RUN,
    "exit": "finished",
    "how": "exited",
    "claim": "verify_to_done",
    "claim_by": "command",
    "problem": "",
    "usage": {"seconds": 2, "input_tokens": 3, "output_tokens": 4},
    "denials": 0,
    "errors": [],
    "tainted": [],
    "restored": ["plan was put back"],
}


def journal(*lines: tuple[str, dict[str, Any]]) -> list[Line]:
    stamped = enumerate(lines, 1)
    return [made(kind, rest, seq=seq, time=f"2026-01-02T03:04:{seq:02}Z") for seq, (kind, rest) in stamped]


def test_runs_and_what_became_of_them_are_read_from_journal() -> None:
    claimed = {"run": 1, "want": "verify_to_done", "accepted": True, "from": "verify", "by": "agent", "name": "judge"}
    missing = [{"gate": "g", "why": "no proof", "fix": "prove it"}]
    entries = journal(
        ("run_planned", {**RUN, "tree": "a" * 40}),
        ("claimed", {**claimed, "accepted": False, "problem": "refused", "missing": missing}),
        ("claimed", claimed),
        ("run_ended", ENDED),
        ("unmoved", {"run": 1, "why": "the tests fail", "after": {"state": "verify"}}),
        ("run_planned", {**RUN, "run": 2, "tree": "a" * 40}),
        ("run_void", {"run": 2, "why": "it could not start"}),
        ("run_planned", {**RUN, "run": 3, "tree": "a" * 40}),
        ("run_ended", {**ENDED, "run": 3, "claim": "verify_to_done", "claim_by": "file", "restored": []}),
        ("moved", {"from": "verify", "to": "done", "by": "agent"}),
        ("moved", {"from": "done", "to": "shape", "by": "person"}),
        ("run_planned", {**RUN, "run": 4, "tree": "a" * 40}),
    )
    targets = {"verify_to_done": "done"}
    first, never, third, alive = runs_of(entries, targets, lambda number, digest: Excerpt(f"{number} {digest}"))
    assert first.requests == (Request("done", False, "no proof"), Request("done", True, ""))
    assert (first.became, first.tokens, first.put_back) == (
        "the task stayed: the tests fail",
        7,
        ("plan was put back",),
    )
    assert first.prompt == Excerpt("1 p")
    assert (never.exit, never.became) == ("void", "it could not start")
    assert third.requests == (Request("done", True, "written into the task's file"),)
    assert (third.became, third.moved_to) == ("the task moved from verify to done", "done")
    assert (alive.exit, alive.became) == ("", "")


def test_claim_that_does_not_hold_is_refusal_in_timeline_once() -> None:
    refused = {
        "want": "verify_to_done",
        "from": "verify",
        "problem": "no",
        "missing": [],
        "by": "agent",
        "name": "judge",
    }
    stays = {"run": 1, "why": "the tests fail", "after": {"state": "verify"}}
    said = events_of(journal(("run_ended", ENDED), ("unmoved", stays)), {"verify_to_done": "done"}, frozenset(), ())
    assert [(event.kind, event.target, event.run) for event in said] == [("run_ended", "", 1), ("refused", "done", 1)]
    assert said[0].undone == ("plan was put back",)
    both = journal(("run_ended", ENDED), ("refused", refused), ("unmoved", stays))
    events = events_of(both, {"verify_to_done": "done"}, frozenset(), ())
    assert [event.kind for event in events] == ["run_ended", "refused", "unmoved"]
    crash = journal(("run_ended", {**ENDED, "claim": ""}), ("crashed", {"by": "crash", "exit": "killed"}))
    assert events_of(crash, {}, frozenset(), ())[1].head == "The run was killed; the task stayed where it was"


@pytest.mark.parametrize(
    ("kind", "content", "head"),
    [
        ("proved", {"receipts": {"k": "v"}, "tree": "t"}, "The engine ran 1 command"),
        ("landed", {"branch": "main", "how": "merge", "commit": "c"}, "The work was landed on main (merge)"),
        ("restored_tree", {"checkpoint": 7}, "The files were brought back to line 7"),
        ("stopped", {"by": "engine", "why": "too often"}, "The task was stopped: too often"),
        ("driven", {"on": False, "by": "person", "name": "me"}, "No agent is to work on the task"),
    ],
)
def test_other_lines_have_words(kind: str, content: dict[str, Any], head: str) -> None:
    (event,) = events_of(journal((kind, content)), {}, frozenset(), ())
    assert event.head == head
    assert event.lines == ()


# --- the diff ---


def committed(repo: MakeRepo, path: Path) -> str:
    repo.git(path, "add", "--all")
    repo.git(path, "commit", "--quiet", "--message=More")
    return repo.git(path, "rev-parse", "HEAD^{tree}")


def test_every_kind_of_change_is_shown(repo: MakeRepo) -> None:
    path = repo(files={"keep.txt": "a\nb\n", "gone.txt": "x\n", "link.txt": "file\n", "mode.sh": "true\n"})
    base = repo.git(path, "rev-parse", "HEAD")
    (path / "keep.txt").write_text("a\n--- not a header\n<b>\ndiff --git a/x b/x\n")
    (path / "gone.txt").unlink()
    (path / "link.txt").unlink()
    (path / "link.txt").symlink_to("keep.txt")
    (path / "mode.sh").chmod(0o755)
    (path / "new ü.bin").write_bytes(b"\0\1\2")
    (path / "empty").touch()
    diff = read_diff(str(path / ".git"), base, committed(repo, path))
    found = {file.path: (file.status, file.added, file.removed, file.note) for file in diff.files}
    assert found == {
        "empty": ("added", 0, 0, "It is empty."),
        "gone.txt": ("removed", 0, 1, ""),
        "keep.txt": ("changed", 3, 1, ""),
        "link.txt": ("type changed", 1, 1, ""),
        "mode.sh": ("changed", 0, 0, "Only its mode changed."),
        "new ü.bin": ("added", 0, 0, "Binary file: its content is not shown."),
    }
    assert "+&lt;b&gt;" in diff_html(diff)


def test_a_huge_diff_is_counted_whole_and_shown_in_part(repo: MakeRepo) -> None:
    path = repo()
    base = repo.git(path, "rev-parse", "HEAD")
    for number in range(8):
        (path / f"big{number}.txt").write_text("".join(f"line {line} of <file>\n" for line in range(5000)))
    diff = read_diff(str(path / ".git"), base, committed(repo, path))
    assert diff.added == 40_000
    assert sum(len(file.lines) for file in diff.files) == evidence_diff.MOST_LINES
    assert diff.files[-1].note == "5,001 more lines not shown here."
    shown = diff_html(diff)
    assert "not shown here" in shown
    assert shown.count("<details") == 8
    assert '<details class="box" open' not in shown


def test_a_tree_that_is_not_there_leaves_a_note(repo: MakeRepo) -> None:
    path = repo()
    base = repo.git(path, "rev-parse", "HEAD")
    assert "can&#x27;t be shown" in diff_html(read_diff(str(path / ".git"), base, "ab" * 20))
    assert "No tree" in diff_html(read_diff(str(path / ".git"), base, ""))
    assert "no baseline" in diff_html(read_diff(str(path / ".git"), "", "ab" * 20))


# --- files ---


def read(folder: Path, *not_shown: str) -> dict[str, Artifact]:
    files, _ = FileReader(str(folder)).folder(str(folder), tuple(str(folder / name) for name in not_shown))
    return {file.path: file for file in files}


def test_bytes_tell_texts_images_and_other_files_apart(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hello\n")
    (tmp_path / "latin.txt").write_bytes("stra\xdfe und mehr Text\n".encode("latin-1"))
    (tmp_path / "picture.txt").write_bytes(PNG)
    (tmp_path / "lie.png").write_text("no picture")
    (tmp_path / "draw.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>")
    (tmp_path / "raw.bin").write_bytes(bytes(range(256)))
    (tmp_path / "empty").touch()
    (tmp_path / "evidence.html").write_text("me")
    (tmp_path / ".detent-tmp-123").write_text("half")
    found = read(tmp_path, "evidence.html")
    kinds = {name: file.kind for name, file in found.items()}
    assert kinds == {
        "a.txt": "text",
        "draw.svg": "image",
        "empty": "text",
        "latin.txt": "text",
        "lie.png": "text",
        "picture.txt": "image",
        "raw.bin": "file",
    }
    assert found["a.txt"].digest == hashlib.sha256(b"hello\n").hexdigest()
    assert found["picture.txt"].data.startswith("data:image/png;base64,")
    assert found["draw.svg"].data.startswith("data:image/svg+xml;base64,")
    assert "Not UTF-8" in found["latin.txt"].note
    shown = Elements(render(page(artifacts=tuple(found.values()))))
    assert "stra\ufffde" in shown.text
    assert not shown.count("script")


def test_links_and_special_files_are_named_and_never_read(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("the key")
    folder = tmp_path / "artifacts"
    (folder / "deep").mkdir(parents=True)
    (folder / "link").symlink_to(tmp_path / "secret")
    (folder / "loop").symlink_to(folder)
    (folder / "deep" / "up").symlink_to("..")
    os.mkfifo(folder / "pipe")
    found = read(folder)
    assert {name: file.kind for name, file in found.items()} == dict.fromkeys(
        ("link", "loop", "pipe", "deep/up"), "other"
    )
    assert b"the key" not in render(page(artifacts=tuple(found.values())))


def test_a_folder_that_is_a_link_is_not_looked_into(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "secret").touch()
    (tmp_path / "artifacts").symlink_to("real")
    files, note = FileReader(str(tmp_path)).folder(str(tmp_path / "artifacts"), ())
    assert (files, note) == ((), "It is not a plain folder, so nothing in it was looked at.")
    assert FileReader(str(tmp_path)).folder(str(tmp_path / "none"), ()) == ((), "")


def test_large_files_are_cut_or_only_linked(tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_text("ä" * 60_000)
    (tmp_path / "picture.png").write_bytes(PNG + bytes(evidence_files.LARGEST_IMAGE_BYTES))
    with (tmp_path / "giant").open("wb") as file:
        file.truncate(evidence_files.LARGEST_READ_BYTES + 1)
    found = read(tmp_path)
    text = found["long.txt"].text
    assert text is not None
    assert text.left_out_bytes == 120_000 - evidence_files.HEAD_BYTES - evidence_files.TAIL_BYTES
    assert set(text.head + text.tail) == {"ä"}
    assert (found["picture.png"].kind, found["picture.png"].data) == ("file", "")
    assert (found["giant"].kind, found["giant"].digest) == ("file", "")
    assert "neither shown nor hashed" in found["giant"].note


def test_a_page_does_not_grow_without_end(tmp_path: Path) -> None:
    for number in range(60):
        (tmp_path / f"{number:03}.txt").write_text("x" * 60_000)
    found = list(read(tmp_path).values())
    assert sum(file.kind == "text" for file in found) == evidence_files.MOST_TEXT_BYTES // 48_000
    assert found[-1].note == "Not shown: the page has reached its size."
    assert found[-1].link == "./059.txt"
    for number in range(evidence_files.MOST_FILES):
        (tmp_path / f"more-{number}").touch()
    files, note = FileReader(str(tmp_path)).folder(str(tmp_path), ())
    assert len(files) == evidence_files.MOST_FILES
    assert note == f"Only the first {evidence_files.MOST_FILES} files are listed."


def test_odd_file_names_are_shown_and_linked_safely(tmp_path: Path) -> None:
    odd = ('a"b<c>.zip', "javascript:alert(1).zip", "two\nlines.zip", os.fsdecode(b"not-\xff-utf8.ZIP"), "%2e%2e.zip")
    names = (*odd, "page.html", "page.xhtml", "page.svg", "page.dat", "zip", "README")
    for name in names:
        (tmp_path / name).write_bytes(b"\0")
    found = read(tmp_path)
    assert set(found) == set(names)
    shown = Elements(render(page(artifacts=tuple(found.values()))))
    links = [address for address in shown.attributes("href") if not address.startswith("#")]
    assert set(links) == {
        "./a%22b%3Cc%3E.zip",
        "./javascript%3Aalert%281%29.zip",
        "./two%0Alines.zip",
        "./not-%FF-utf8.ZIP",
        "./%252e%252e.zip",
    }
    assert "not-[U+DCFF]-utf8" in shown.text
    assert "Not linked, because a browser might run it." in found["page.html"].note


def test_what_is_shown_whole_needs_no_link(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("<p>all of it</p>")
    (tmp_path / "cut.txt").write_text("x" * 60_000)
    (tmp_path / "cut.html").write_text("x" * 60_000)
    found = read(tmp_path)
    assert (found["page.html"].link, found["page.html"].note) == ("", "")
    assert found["cut.txt"].link == "./cut.txt"
    assert (found["cut.html"].link, found["cut.html"].note) == ("", "Not linked, because a browser might run it.")
