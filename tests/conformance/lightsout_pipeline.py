"""A `lights-out` pipeline in a real repository, worked on by scripted agents that are real processes.

`lights.script("Expanding", ...)` says what the agent does in a state (in its n-th run with `run=n`). Scripts have the
documents of a small delivered project at hand: `doc scope.md` lays one into `scaffolding/`, `out review.md` leaves one
where a role that only reads leaves its report. `lights.at("Verifying", ...)` is a pipeline that honest agents have led
to a state: each is walked to once, kept, and put back to the very same place, because tasks know their paths.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any, Unpack
from zlib import crc32

from tests.conftest import SAMPLE_FILES, Completed, Detent, MakeRepo, Options, let_out
from tests.e2e.agent_runs import Agents, AgentTask

EXAMPLE = Path(__file__).parents[2] / "examples" / "lights-out" / "shed"
PREFERENCES = """# Preferences

## Stack

Python, standard library only.

## Deploy Target

A folder on this computer.

## Deploy Commands

- Pre-flight: `test -d "$HOME"`
- Deploy: `mkdir -p "$HOME/live" && cp words.py "$HOME/live/words"`
- Check: `test "$(python3 "$HOME/live/words" docs/input/brief.md | cut -c1-6)" = words=`
- Rollback: `rm "$HOME/live/words"`

## Conventions

Conventional commits.

## Security Baseline

No secrets in the source.

## Quality Bar

- shed: it works for one person.
- house: others rely on it.
- skyscraper: it may not fail unnoticed.
"""
SETUP = ("CommitToBuild", "CloneRepo", "OpenInEditor")
COMMANDS = '[commands]\ntest = "python3 -m unittest discover tests"\n'
NEXT_SCOPE = (
    "sed -i -e 's/^# Scope.*/&\\n\\nVersion: 2/' "
    "-e 's/^- AC-3:.*/&\\n- AC-4: two files are counted within 5 s./' scaffolding/scope.md"
)
WORDS = r"""
doc() { cp "$EXAMPLE/scaffolding/$1" "$DETENT_TREE/scaffolding/$1"; }
out() { cp "$EXAMPLE/scaffolding/$1" "$DETENT_OUT/$1"; }
count() { echo "$DETENT_STATE $DETENT_RUN_NUMBER" >> "$SCRIPTS/count"; }
meet() { echo "$DETENT_RUN_NUMBER $$" > "$SCRIPTS/$1.up"; read -r _ < "$SCRIPTS/$1.go"; }
"""


# An agent that does in each state just what is asked of it there.
HONEST = {
    "Expanding": "doc scope.md; echo __pycache__/ > .gitignore",
    "Designing": "doc design.md",
    "Analyzing": "out readiness.md",
    "Building": 'cp -r "$EXAMPLE/words.py" "$EXAMPLE/tests" .',
    "Reviewing": "out review.md",
    "Reconciling": "doc reconcile.md",
    "Verifying": "out verification.md",
    "Deploying": 'cp "$EXAMPLE/README.md" "$EXAMPLE/DELIVERY.md" .',
    "Iterating": "out proposal.md",
}
ROAD = tuple(HONEST)[: tuple(HONEST).index("Deploying") + 1]  # one run of an honest agent leads from each to the next


class Pipeline(AgentTask):
    """The one pipeline of a checkout; its task is called `p`."""

    def __call__(self, *words: str | Path, **more: Unpack[Options]) -> Completed:
        options: Options = {"cwd": self.repo, **more}
        return self.detent(*words, **options)

    def moved(self, *names: str) -> Pipeline:
        """A person takes these moves, one after the other."""
        for name in names:
            done = self("move", "--edge", name, self.id)
            assert done.code == 0, done
        return self

    def configured(self, preferences: str = PREFERENCES) -> Pipeline:
        """Set up by a person, up to the sentence that begins the build."""
        self.moved(*SETUP)
        self.put("preferences.md", preferences)
        self.moved("ConfigurePreferences")
        return self

    def committed(self) -> Pipeline:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message=Set up")
        return self

    def state(self) -> str:
        return str(self.json("status", self.id)["state"])

    def shown(self) -> dict[str, Any]:
        """What scaffolding/state.json says."""
        return dict(json.loads((self.folder / "state.json").read_text(encoding="utf-8")))

    def put(self, name: str, text: str) -> None:
        path = self.repo / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def read(self, name: str) -> str:
        return (self.repo / name).read_text(encoding="utf-8")

    def git(self, *words: str) -> str:
        return self.make_repo.git(self.repo, *words)

    make_repo: MakeRepo


class Lights(Agents):
    """Makes pipelines with scripted agents in `folder`; in `kept` they stay for other tests in the same folder."""

    words = WORDS

    def __init__(self, detent: Detent, repo: MakeRepo, folder: Path, kept: Path | None = None) -> None:
        super().__init__(detent, repo, folder)
        self.folder = folder
        self.kept = kept
        self.detent = Detent(detent.directory, {**self.detent.environment, "EXAMPLE": str(EXAMPLE)})

    def honest(self, **scripts: str) -> None:
        for state, text in {**HONEST, **scripts}.items():
            self.script(state, text)

    def at(self, state: str, preferences: str = PREFERENCES, **scripts: str) -> Pipeline:
        """A pipeline that honest agents have led to a state; from here on they do what `scripts` say."""
        self.honest(**scripts)
        return self._standing(state, preferences)

    def _standing(self, state: str, preferences: str = PREFERENCES) -> Pipeline:
        assert self.kept is not None
        saved = self.kept / f"{state}-{crc32(preferences.encode())}"
        places = ("home", "repositories")
        if saved.exists():
            for name in places:
                shutil.rmtree(self.folder / name, ignore_errors=True)
                shutil.copytree(saved / name, self.folder / name, symlinks=True)
            return self._made(self.make_repo.directory / "repo")
        if state == ROAD[0]:
            line = self._begun(preferences=preferences)
        else:
            line = self._led_on(self._standing(ROAD[ROAD.index(state) - 1], preferences))
        assert line.state() == state, line.path_of_moves()
        for name in places:
            shutil.copytree(self.folder / name, saved.with_suffix(".new") / name, symlinks=True)
        saved.with_suffix(".new").rename(saved)
        return line

    def _led_on(self, line: Pipeline) -> Pipeline:
        """By one run of an honest agent, whatever the scripts of this test say."""
        scripts = self.folder / "honest"
        scripts.mkdir(exist_ok=True)
        for state, text in HONEST.items():
            (scripts / state).write_text(f"{self.words}\n{text}\n", encoding="utf-8")
        done = line("run", "--once", line.id, environment={"SCRIPTS": str(scripts)})
        assert done.code in (0, 4), done
        return line

    def building(self, *words: str, more: str = "", preferences: str = PREFERENCES) -> Pipeline:
        """A pipeline whose build a person has asked for."""
        if self.kept is None or words or more:
            return self._begun(*words, more=more, preferences=preferences)
        return self._standing(ROAD[0], preferences)

    def _begun(self, *words: str, more: str = "", preferences: str = PREFERENCES) -> Pipeline:
        files = {"docs/input/brief.md": (EXAMPLE / "docs/input/brief.md").read_text(encoding="utf-8")}
        line = self.pipeline(*words, files=files, more=COMMANDS + more)
        line = line.configured(preferences).committed()
        return line.moved("RequestBuild")

    def repository(self, files: dict[str, str] | None = None, more: str = "", *, held: bool = False) -> Path:
        made = self.make_repo("repo", {**SAMPLE_FILES, "detent.toml": self.settings(more), **(files or {})})
        if not held:
            let_out(made)
        return made

    def delivered(self, more: str = "", state: str = '{"stage": "PipelineComplete"}') -> Pipeline:
        """A project that was delivered elsewhere, or has come to another state there, taken over as it is."""
        names = [path for path in EXAMPLE.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
        files = {str(path.relative_to(EXAMPLE)): path.read_text(encoding="utf-8") for path in names}
        del files["scaffolding/blocked.md"], files["scaffolding/proposal.md"]
        repository = self.repository(
            {**files, ".gitignore": "__pycache__/\n", "preferences.md": PREFERENCES}, COMMANDS + more
        )
        (repository / "scaffolding/state.json").write_text(f"{state}\n", encoding="utf-8")
        done = self.detent("adopt", "scaffolding", "lights-out", "--id", "p", cwd=repository)
        assert done.code == 0, done
        return self._made(repository)

    def _made(self, repository: Path) -> Pipeline:
        made = Pipeline(self.detent, repository, repository / "scaffolding", "p")
        made.make_repo = self.make_repo
        self.tasks.append(made)
        return made

    def pipeline(
        self, *words: str, files: dict[str, str] | None = None, more: str = "", held: bool = False
    ) -> Pipeline:
        """A new pipeline; `held`: the kernel holds its agents as well as this host can."""
        repository = self.repository(files, more, held=held)
        done = self.detent("new", "lights-out", "Count words", "--id", "p", *words, cwd=repository)
        assert done.code == 0, done
        return self._made(repository)
