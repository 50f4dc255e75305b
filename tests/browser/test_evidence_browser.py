"""The evidence page in a real Chromium: it opens from the disk, fetches nothing, runs nothing, and fits a phone."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Detent, MakeRepo
from tests.e2e.phase_task import CANDIDATE, FRAME, PhaseTask, environment_in

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: no browser to look with")
CHROMIUM = os.environ.get("DETENT_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(not CHROMIUM, reason="no chromium on PATH (or in DETENT_CHROMIUM)")

ATTACK = "<script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">"
SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="400" height="200" onload="document.title=\'taken\'">'
    '<script>parent.document.title="taken"</script><image href="http://127.0.0.1:9/x.png" width="9" height="9"/>'
    '<rect width="400" height="200" fill="teal"/></svg>'
)
PHONE, DESK = {"width": 390, "height": 844}, {"width": 1280, "height": 900}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        # No sandbox of its own: tests often run as root in a container, where Chromium has none to use.
        found = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield found
        found.close()


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a task in which title, reason, refusal, command output, diff and artifacts all attack the reader."""
    top = tmp_path_factory.mktemp("evil")
    environment = environment_in(top / "home")
    detent, path = Detent(top, environment), MakeRepo(top, environment)("repo")
    title = f"attack {ATTACK}"
    check = f"printf '%s' \"{ATTACK.replace(chr(34), '')}\"; false"
    assert detent("new", "phase", title, "--id", "evil", "--check", check, cwd=path).code == 0
    task = PhaseTask(detent, path, Path(detent("dir", "evil", cwd=path).out.strip()), "evil")
    task.set({**FRAME, "Not doing": f"nothing {ATTACK} [click](javascript:document.title='taken')"})
    task.move("shape")
    task.move("implement", "--reason", ATTACK)
    task.move("verify", "--as", "agent", expect=1)
    (path / "app.py").write_text(f"# {ATTACK}\n" + "x" * 5000 + "\n")
    task.set({**CANDIDATE, "Evidence link": f"[{ATTACK[:20]}](artifacts/wide.txt)", "Evidence location": "artifacts"})
    task.write("artifacts/wide.txt", f"{ATTACK}\n{'unbroken' * 2000}\n")
    task.write("artifacts/draw.svg", SVG)
    task.write(f"artifacts/{'long-name-' * 20}.txt", "x\n")
    task.write("artifacts/<img src=x onerror=alert(1)>.html", ATTACK)
    task.move("verify")
    assert task("prove").code == 1
    return Path(task.json("evidence")["path"])


class Look:
    """One visit: what the page asked for, what it complained about, and the page itself."""

    def __init__(self, browser: Any, page: Path, **options: Any) -> None:
        self.requests: list[str] = []
        self.messages: list[str] = []
        self.tab = browser.new_context(**options).new_page()
        self.tab.on("request", lambda request: self.requests.append(request.url))
        self.tab.on("console", lambda message: self.messages.append(message.text))
        self.tab.on("pageerror", lambda error: self.messages.append(str(error)))
        self.tab.goto(page.as_uri())
        self.tab.wait_for_load_state("networkidle")

    def fetched(self) -> list[str]:
        return [url for url in self.requests[1:] if not url.startswith("data:")]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [PHONE, DESK], ids=["phone", "desk"])
def test_it_fits_the_screen_and_fetches_nothing(
    browser: Any, evidence: Path, viewport: dict[str, int], scheme: str
) -> None:
    look = Look(browser, evidence, viewport=viewport, color_scheme=scheme)
    for box in look.tab.locator("details").all():
        box.evaluate("box => { box.open = true }")
    width = look.tab.evaluate("[document.documentElement.scrollWidth, document.body.scrollWidth, innerWidth]")
    assert max(width[:2]) <= width[2], width
    assert look.messages == []
    assert look.fetched() == []
    assert look.tab.title().endswith("(verify)")


def test_the_right_drawing_is_shown_for_the_screen(browser: Any, evidence: Path) -> None:
    shown = {}
    for name, viewport in (("phone", PHONE), ("desk", DESK)):
        tab = Look(browser, evidence, viewport=viewport).tab
        shown[name] = (tab.locator("svg.row").is_visible(), tab.locator("svg.column").is_visible())
    assert shown == {"phone": (False, True), "desk": (True, False)}


def test_it_reads_the_same_without_scripts(browser: Any, evidence: Path) -> None:
    look = Look(browser, evidence, viewport=DESK, java_script_enabled=False)
    assert look.tab.locator("h2").first.is_visible()
    assert look.tab.locator(".card .state").inner_text() == "verify"


def test_dark_and_light_differ(browser: Any, evidence: Path) -> None:
    colours = {
        Look(browser, evidence, color_scheme=scheme).tab.evaluate("getComputedStyle(document.body).backgroundColor")
        for scheme in ("light", "dark")
    }
    assert len(colours) == 2


def test_an_image_of_an_agent_is_shown_and_runs_nothing(browser: Any, evidence: Path) -> None:
    look = Look(browser, evidence, viewport=DESK)
    picture = look.tab.locator('img[alt="draw.svg"]')
    picture.scroll_into_view_if_needed()
    assert picture.evaluate("async image => { await image.decode(); return image.naturalWidth }") == 400
    assert look.fetched() == []
    assert look.tab.title() != "taken"


def test_the_policy_stops_what_an_escape_would_have_missed(browser: Any, evidence: Path) -> None:
    """The same page with real markup put into it: nothing runs, nothing is fetched, no style gets in."""
    forged = evidence.with_name("forged.html")
    attack = (
        f"{ATTACK}<style>body{{display:none}}</style><p id=inline style='display:none'>x</p>"
        '<link rel=stylesheet href="http://127.0.0.1:9/x.css"><iframe src="http://127.0.0.1:9/"></iframe>'
        '<img src="http://127.0.0.1:9/x.png"><script src="http://127.0.0.1:9/x.js"></script>'
    )
    source = evidence.read_text(encoding="utf-8")
    assert source.count("<header>") == 1
    forged.write_text(source.replace("<header>", f"<header>{attack}"), encoding="utf-8")
    look = Look(browser, forged, viewport=DESK)
    assert look.tab.title() != "taken"
    assert look.tab.locator("#inline").is_visible()
    assert look.tab.locator("h1").is_visible()
    assert sum("Content Security Policy" in message for message in look.messages) >= 5, look.messages


def test_the_same_attack_works_without_the_policy(browser: Any, evidence: Path) -> None:
    """Shows that the attack above is real: on a page without the policy it takes over."""
    plain = evidence.with_name("plain.html")
    plain.write_text(f"<!doctype html><title>plain</title><body>{ATTACK}", encoding="utf-8")
    assert Look(browser, plain).tab.title() == "taken"


def test_closed_boxes_are_printed_open(browser: Any, evidence: Path) -> None:
    tab = Look(browser, evidence, viewport=DESK).tab
    closed = tab.locator("#claims details:not([open]) pre").first
    assert not closed.is_visible()
    tab.emulate_media(media="print")
    assert closed.evaluate("box => box.getBoundingClientRect().height") > 0


@pytest.fixture(scope="module")
def runs_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the demo's task: fourteen agent runs, refused, put back, killed and asked."""
    home = tmp_path_factory.mktemp("demo")
    done = Detent(home, environment_in(home))("demo", "--json", "--keep", home / "kept")
    assert done.code == 0, done
    return Path(done.json()["page"])


@pytest.mark.parametrize("viewport", [PHONE, DESK], ids=["phone", "desk"])
def test_agent_runs_fit_the_screen_and_lie_folded(browser: Any, runs_page: Path, viewport: dict[str, int]) -> None:
    plain = Look(browser, runs_page, viewport=viewport, java_script_enabled=False)
    boxes = plain.tab.locator("#runs > details")
    assert boxes.count() == 14
    assert not plain.tab.locator("#run-2 .told").is_visible()
    boxes.nth(1).locator("summary").first.click()
    assert plain.tab.locator("#run-2 .wishes").is_visible()
    assert not plain.tab.locator("#run-2 .told pre").is_visible()
    look = Look(browser, runs_page, viewport=viewport)
    for box in look.tab.locator("details").all():
        box.evaluate("box => { box.open = true }")
    width = look.tab.evaluate("[document.documentElement.scrollWidth, document.body.scrollWidth, innerWidth]")
    assert max(width[:2]) <= width[2], width
    assert (look.messages, look.fetched()) == ([], [])


def test_a_line_of_the_timeline_leads_to_its_run(browser: Any, runs_page: Path) -> None:
    tab = Look(browser, runs_page, viewport=DESK, java_script_enabled=False).tab
    tab.locator('#happened a[href="#run-4"]').first.click()
    assert tab.locator("#run-4").is_visible()
    assert tab.url.endswith("#run-4")
    targets = {link.get_attribute("href") for link in tab.locator('#happened a[href^="#"]').all()}
    assert all(tab.locator(target).count() == 1 for target in targets)
