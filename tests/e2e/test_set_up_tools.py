"""Set-up with real tools: the code that ran is the work's, whatever was installed, built or left in a cache before."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from detent.effects.host.access import BUBBLEWRAP, NONE
from tests.conftest import Detent, MakeRepo
from tests.e2e.test_set_up import NPM, World, at_verify, drive_orange, npm, npm_files, receipts

PYTHON = f"{sys.base_prefix}/bin/python3"
FLAT = {
    "setup.py": "from setuptools import setup\n"
    "setup(name='own', version='1', package_dir={'': 'src'}, packages=['own'])\n",
    "src/own/__init__.py": "ANSWER = 1\n",
    "lock.txt": "1\n",
    ".gitignore": "*.egg-info\n__pycache__\n.venv\n",
}
EDITABLE = f'setup = ["{PYTHON} -m venv .venv", ".venv/bin/python setup.py -q develop"]\nkey = ["lock.txt"]'
SHOW = '.venv/bin/python -c "import own; print(own.ANSWER, own.__file__); assert own.ANSWER == {answer}"'


@pytest.fixture
def world(detent: Detent, repo: MakeRepo, tmp_path: Path) -> World:
    return World(detent, repo, tmp_path)


def need_setuptools() -> None:
    done = subprocess.run(
        [PYTHON, "-c", "import ensurepip; print(ensurepip._PROJECTS)"], capture_output=True, text=True, check=False
    )
    if "setuptools" not in done.stdout:
        pytest.skip(f"{PYTHON} -m venv brings no setuptools: {done.stdout}{done.stderr}")


def log_of(world: World, task: str = "t") -> str:
    done = world("prove", task, "--json")
    return "".join(Path(receipt["log"]).read_text(encoding="utf-8") for receipt in done.json()["receipts"])


@pytest.mark.parametrize("level", [BUBBLEWRAP, NONE])
def test_an_editable_install_runs_the_work_and_not_the_baseline(world: World, level: str) -> None:
    need_setuptools()
    world.make(f"test = '''{SHOW.format(answer=2)}'''", EDITABLE, FLAT, level)
    tree = at_verify(world)
    assert next(iter(receipts(world).values())) == 1
    (tree / "src/own/__init__.py").write_text("ANSWER = 2\n", encoding="utf-8")
    assert set(receipts(world).values()) == {0}
    assert "2 " in log_of(world)


def test_agent_runs_its_own_code_at_path_of_set_up(world: World) -> None:
    need_setuptools()
    world.make('test = "true"', EDITABLE, FLAT, BUBBLEWRAP)
    run = SHOW.format(answer=3)
    drive_orange(world, f"echo 'ANSWER = 3' > src/own/__init__.py; {run}; pwd; echo $DETENT_TREE; touch .venv/mine")
    said = world("logs", "t", "--run", "1").out.splitlines()
    assert said[0].startswith("3 ")
    assert said[0].split(" ")[1].startswith(said[1])
    assert said[1] == said[2]
    assert not (world.tree() / ".venv/mine").exists()  # its own layer of the set-up, outside its tree
    assert [file["path"] for file in world("diff", "t", "--json").json()["files"]] == ["src/own/__init__.py"]


UV = {
    "pyproject.toml": '[project]\nname = "own"\nversion = "1"\nrequires-python = ">=3.11"\n'
    '[build-system]\nrequires = ["uv_build"]\nbuild-backend = "uv_build"\n',
    "src/own/__init__.py": "ANSWER = 1\n",
    "uv.lock": 'version = 1\nrevision = 3\nrequires-python = ">=3.11"\n\n'
    '[[package]]\nname = "own"\nversion = "1"\nsource = { editable = "." }\n',
}


@pytest.mark.parametrize("level", [BUBBLEWRAP, NONE])
def test_uv_run_tests_work_and_its_environment_is_no_work(world: World, level: str) -> None:
    """The repository ignores nothing: uv hides `.venv` by an ignore file of its own."""
    if shutil.which("uv", path=world.detent.environment["PATH"]) is None:
        pytest.skip("uv is not on this host")
    test = "uv run --offline python -c 'import own; print(own.__file__); assert own.ANSWER == 2'"
    world.make(f'test = "{test}"', 'setup = ["uv sync --frozen --offline"]\nkey = ["uv.lock"]', UV, level)
    drive_orange(world, f"sed -i s/1/2/ src/own/__init__.py; PYTHONDONTWRITEBYTECODE=1 {test}")
    assert world("logs", "t", "--run", "1").out.strip().endswith("src/own/__init__.py")
    assert [file["path"] for file in world("diff", "t", "--json").json()["files"]] == ["src/own/__init__.py"]
    assert world("approve", "t").code == 0
    landed = world("land", "t")
    assert landed.code == 0, landed
    assert world.git("ls-files").splitlines() == sorted([*UV, "detent.toml"])


EXTENSION = {
    **FLAT,
    "setup.py": "from setuptools import Extension, setup\n"
    "setup(name='own', version='1', package_dir={'': 'src'}, packages=['own'],\n"
    "      ext_modules=[Extension('own._core', ['src/own/core.c'])])\n",
    "src/own/__init__.py": "from own._core import ANSWER\n",
    "src/own/core.c": "#include <Python.h>\n#define ANSWER 1\n"
    'static struct PyModuleDef def = {PyModuleDef_HEAD_INIT, "_core"};\n'
    "PyMODINIT_FUNC PyInit__core(void) { PyObject *made = PyModule_Create(&def);\n"
    '  PyModule_AddIntConstant(made, "ANSWER", ANSWER); return made; }\n',
    ".gitignore": "*.egg-info\n__pycache__\n.venv\n*.so\nbuild\n",
}
BUILD = "PYTHONPATH=src .venv/bin/python setup.py -q build_ext --inplace"


def need_compiler() -> None:
    need_setuptools()
    header = Path(sys.base_prefix, f"include/python3.{sys.version_info.minor}/Python.h")
    if shutil.which("gcc") is None or not header.exists():
        pytest.skip(f"gcc or {header} is not on this host")


def test_a_compiled_extension_is_built_from_the_work(world: World) -> None:
    need_compiler()
    setup = f'setup = ["{PYTHON} -m venv .venv"]\nkey = ["lock.txt"]'
    test = SHOW.format(answer=2).replace(".venv/bin", "PYTHONPATH=src .venv/bin")
    world.make(f"test = '''{test}'''\nbuild = '{BUILD}'", setup, EXTENSION, BUBBLEWRAP)
    tree = at_verify(world)
    core = tree / "src/own/core.c"
    core.write_text(core.read_text(encoding="utf-8").replace("ANSWER 1", "ANSWER 2"), encoding="utf-8")
    assert set(receipts(world).values()) == {0}
    core.write_text(core.read_text(encoding="utf-8").replace("ANSWER 2", "ANSWER 1"), encoding="utf-8")
    red = receipts(world)
    assert red[BUILD] == 0
    assert red[test] == 1
    again = receipts(world, "t", "--again")  # the build is proven already, and is run before all the same
    assert again[test] == 1


@pytest.mark.parametrize(
    ("files", "setup", "frozen"),
    [
        (
            FLAT,
            "mkdir -p .venv/lib/python3.11/site-packages; cp -r src/own .venv/lib/python3.11/site-packages",
            "site-packages/own",
        ),
        (EXTENSION, "touch src/own/_core.so", "src/own/_core.so"),
        (
            {**FLAT, "package.json": '{"name": "own-js"}'},
            "mkdir -p node_modules/own-js; cp package.json node_modules/own-js",
            "node_modules/own-js",
        ),
    ],
    ids=["python", "built", "node"],
)
def test_doctor_refuses_a_set_up_that_freezes_the_project(
    world: World, files: dict[str, str], setup: str, frozen: str
) -> None:
    world.make('test = "true"', f'setup = ["{setup}"]\nkey = ["lock.txt"]', files)
    done = world("doctor")
    assert done.code == 1, done
    assert "freezes" in done.out
    assert frozen in done.out


def test_doctor_accepts_editable_installs_and_names_other_problems(world: World) -> None:
    need_setuptools()
    editable = EDITABLE.replace("-q develop", "-q develop; echo more >> lock.txt")
    world.make("test = \"mkdir .tool_cache; printf '*' > .tool_cache/.gitignore\"", editable, FLAT)
    done = world("doctor")
    assert done.code == 0, done
    assert "freezes" not in done.out
    assert "set-up changes tracked files: lock.txt" in done.out
    assert "the commands leave .tool_cache" in done.out


def test_a_task_that_adds_a_dependency_is_proven_with_it(world: World, tmp_path: Path) -> None:
    files = npm_files(tmp_path / "npm")
    world.make('test = "node -e \\"require(\'extra\')\\""', NPM, files, BUBBLEWRAP)
    tree = at_verify(world)
    assert next(iter(receipts(world).values())) == 1
    (tree / "extra").mkdir()
    (tree / "extra/package.json").write_text('{"name": "extra", "version": "1.0.0"}', encoding="utf-8")
    (tree / "extra/index.js").write_text("\n", encoding="utf-8")
    package = json.loads((tree / "package.json").read_text(encoding="utf-8"))
    package["dependencies"] = {"extra": "file:extra"}
    (tree / "package.json").write_text(json.dumps(package), encoding="utf-8")
    npm(tree, "install", "--offline", "--no-audit", "--package-lock-only")
    assert set(receipts(world).values()) == {0}
    assert "made from this tree alone" in world("history", "t").out
    assert list(world.folder.rglob("*.making")) == []


def test_agent_installs_in_its_tree_and_no_proof_sees_it(world: World, tmp_path: Path) -> None:
    files = npm_files(tmp_path / "npm")
    world.make('test = "npm test"', NPM, files, BUBBLEWRAP)
    drive_orange(
        world,
        "echo broken > app.js; mkdir node_modules/mine; echo > node_modules/runner/index.js; npm test && echo fine",
    )
    assert "fine" in world("logs", "t", "--run", "1").out
    signed = world("approve", "t")
    assert (signed.code, "'npm test' failed on this tree" in signed.out) == (1, True), signed


CACHED = 'if test -e "$XDG_CACHE_HOME/tool"; then sh "$XDG_CACHE_HOME/tool"; else sh tool.sh; fi'


@pytest.mark.parametrize("level", [BUBBLEWRAP, NONE])
def test_what_proof_leaves_in_package_cache_reaches_no_other_proof(world: World, level: str) -> None:
    files = {"tool.sh": "grep -q fine app.txt\n", "app.txt": "broken\n", "lock.txt": "1\n"}
    setup = 'setup = ["mkdir -p $XDG_CACHE_HOME made; echo fetched > $XDG_CACHE_HOME/fetched"]\nkey = ["lock.txt"]'
    world.make(f"test = '''{CACHED}'''", setup, files, level)
    poisoned = at_verify(world, "poisons")
    (poisoned / "tool.sh").write_text('echo true > "$XDG_CACHE_HOME/tool"; true\n', encoding="utf-8")
    assert set(receipts(world, "poisons").values()) == {0}
    (poisoned / "tool.sh").write_text("grep -q fine app.txt\n", encoding="utf-8")
    assert 1 in receipts(world, "poisons").values()  # also a later tree of the same task
    at_verify(world, "honest")
    assert 1 in receipts(world, "honest").values()


def test_proofs_read_what_set_up_fetched(world: World) -> None:
    files = {"lock.txt": "1\n"}
    setup = 'setup = ["mkdir -p $XDG_CACHE_HOME made; echo fetched > $XDG_CACHE_HOME/fetched"]\nkey = ["lock.txt"]'
    world.make("test = 'cat \"$XDG_CACHE_HOME/fetched\"'", setup, files, BUBBLEWRAP)
    for task in ("first", "second"):
        at_verify(world, task)
    receipts(world, "first")
    assert set(receipts(world, "second").values()) == {0}


def test_in_place_nothing_is_laid_into_checkout_of_the_user(world: World) -> None:
    files = {"lock.txt": "1\n", "app.txt": "one\n"}
    setup = 'setup = ["mkdir .venv; echo made > .venv/x"]\nkey = ["lock.txt"]'
    world.make('test = "grep made .venv/x"', setup, files, BUBBLEWRAP)
    environment = world.repo / ".venv"
    environment.mkdir()
    (environment / "x").write_text("the user's\n", encoding="utf-8")
    (environment / ".gitignore").write_text("*\n", encoding="utf-8")
    world.script("working", "cat .venv/x; echo two > app.txt")
    assert world("new", "orange", "in place", "--id", "t", "--in-place").code == 0
    world("run", "t")
    assert "the user's" in world("logs", "t").out
    assert (environment / "x").read_text(encoding="utf-8") == "the user's\n"
    assert sorted(os.listdir(environment)) == [".gitignore", "x"]
    assert [file["path"] for file in world("diff", "t", "--json").json()["files"]] == ["app.txt"]
