"""Deploy commands from preferences.md, run by the engine against a real target: a folder served on loopback."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from detent.store.disk.digest import sha256_of
from tests.conftest import SAMPLE_FILES, Detent, MakeRepo, let_out
from tests.e2e.agent_runs import Agents
from tests.e2e.pipeline_task import PipelineTask

MACHINE = Path(__file__).resolve().parents[1] / "data" / "deploying.toml"
SERVER = (
    "import functools, http.server as h, sys\n"
    "live = functools.partial(h.SimpleHTTPRequestHandler, directory=sys.argv[1])\n"
    "made = h.ThreadingHTTPServer(('127.0.0.1', 0), live)\n"
    "print(made.server_port, flush=True)\n"
    "made.serve_forever()\n"
)
HONEST = r"""printf '# Delivery\n\n## Summary\n\nrun %s\n' "$DETENT_RUN_NUMBER" > DELIVERY.md"""
COMMANDS = {
    "Pre-flight": 'test -n "$TARGET"',
    "Deploy": 'echo deployed >> "$TARGET/../count"; cp app.py "$TARGET/app.py"',
    "Check": "python -c \"import os, urllib.request as u; u.urlopen(os.environ['LIVE'] + '/app.py', timeout=10)\"",
    "Rollback": 'rm -f "$TARGET/app.py"',
}


class Target:
    """What is deployed to: a folder, and the address under which its files are live."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "live"
        self.folder.mkdir()
        self.process = subprocess.Popen(
            [sys.executable, "-c", SERVER, str(self.folder)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self.process.stdout is not None
        self.url = f"http://127.0.0.1:{int(self.process.stdout.readline())}"

    def get(self, name: str) -> str:
        try:
            with urlopen(f"{self.url}/{name}", timeout=10) as answer:
                return str(answer.read().decode())
        except HTTPError as error:
            with error:
                return f"{error.code}"

    def deployed(self) -> int:
        count = self.folder.parent / "count"
        return len(count.read_text(encoding="utf-8").splitlines()) if count.exists() else 0

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()


class Deployments(Agents):
    def __init__(self, detent: Detent, repo: MakeRepo, folder: Path) -> None:
        super().__init__(detent, repo, folder)
        self.target = Target(folder)
        more = {"TARGET": str(self.target.folder), "LIVE": self.target.url}
        self.detent = Detent(self.detent.directory, {**self.detent.environment, **more})
        self.script("Deploying", HONEST)

    def begun(self, more: Mapping[str, str] = SAMPLE_FILES, /, **commands: str) -> PipelineTask:
        rows = {**COMMANDS, **{name.replace("_", "-"): line for name, line in commands.items()}}
        listed = "".join(f"- {label}: `{line}`\n" for label, line in rows.items() if line)
        files = {**SAMPLE_FILES, **more, "preferences.md": f"# Preferences\n\n## Deploy Commands\n\n{listed}"}
        repo = self.make_repo("repo", {**files, "detent.toml": self.settings()})
        let_out(repo)
        assert self.detent("new", MACHINE, "Ship it", "--id", "p", cwd=repo).code == 0
        task = PipelineTask(self.detent, repo, self.make_repo, "p")
        self.tasks.append(task)
        task.done("move", "Deploying")
        return task

    def close(self) -> None:
        super().close()
        self.target.close()


@pytest.fixture
def deployments(detent: Detent, repo: MakeRepo, tmp_path: Path) -> Iterator[Deployments]:
    made = Deployments(detent, repo, tmp_path)
    yield made
    made.close()


def stages(task: PipelineTask) -> list[str]:
    return [entry["stage"] for entry in task.entries("deploy")]


def test_nothing_is_deployed_before_a_person_has_confirmed_the_commands(deployments: Deployments) -> None:
    task = deployments.begun()
    done = task.run(expect=4)
    assert "a person must confirm the deploy commands first" in done.out
    assert COMMANDS["Rollback"] in done.out
    assert (task.state(), deployments.target.deployed()) == ("Deploying", 0)
    assert task.path_of_moves() == ["Deploying"], "waiting is no failed gate"
    letter = task("inbox", "--json").json()["waiting"][0]
    assert letter["run"] == 'detent approve p --reason "why they may run"'
    assert task.json("status", "p")["waiting_for"] == "a person: to confirm deploy commands"
    assert task("approve", "p").code == 1, "a reason is wanted"
    assert stages(task) == []
    task.done("approve", "--reason", "it is our own host")
    assert deployments.target.deployed() == 0, "a word runs nothing"
    task.run(expect=4)
    assert task.state() == "Complete"
    assert deployments.target.get("app.py") == SAMPLE_FILES["app.py"]
    task.audit()


def test_the_way_back_is_written_down_before_anything_is_deployed(deployments: Deployments) -> None:
    task = deployments.begun()
    task.run(expect=4)
    task.done("approve", "--reason", "ours")
    task.run(expect=4)
    confirmed, begun, ended = task.entries("deploy")
    assert (confirmed["by"], begun["by"], ended["by"]) == ("person", "engine", "engine")
    assert ["Rollback", COMMANDS["Rollback"]] in begun["commands"]
    assert ended["ok"]
    assert len(ended["receipts"]) == 3
    assert begun["tree"] == task.entries("moved")[-1]["tree"]
    assert "deployed" in task.entries("moved")[-1]["facts"]
    assert deployments.target.deployed() == 1
    assert task.subjects_of("deploying") == ["docs(deploy): pass the deploy gate"]


@pytest.mark.parametrize(
    ("commands", "why", "count"),
    [
        ({"Pre_flight": 'test -n "$NO_SUCH_NAME"'}, "Pre-flight failed (exit 1)", 0),
        ({"Deploy": "exit 7"}, "Deploy failed (exit 7)", 0),
        ({"Check": "false"}, "Check failed (exit 1)", 2),
        ({"Persistence": "echo lost; exit 3"}, "Persistence failed (exit 3)", 2),
    ],
)
def test_each_failing_command_is_failed_gate_and_is_tried_again(
    deployments: Deployments, commands: dict[str, str], why: str, count: int
) -> None:
    task = deployments.begun(**commands)
    task.run(expect=4)
    task.done("approve", "--reason", "ours")
    task.run(expect=4)
    assert task.path_of_moves() == ["Deploying", "DeployRetrying", "Deploying", "DeployRetrying", "Blocked"]
    failed = [entry for entry in task.entries("moved") if entry["to"] == "DeployRetrying"]
    assert all(why in entry["facts"]["deployed"]["why"] for entry in failed)
    assert f"to go back: {COMMANDS['Rollback']}" in failed[0]["facts"]["deployed"]["why"]
    assert deployments.target.deployed() == count
    task.audit()


def test_what_a_deploy_command_starts_goes_on(deployments: Deployments) -> None:
    """A service that is started from a shell is often the whole deployment."""
    pid = deployments.target.folder.parent / "pid"
    alive = f'grep -q "^State:.[RS]" "/proc/$(cat {pid})/status"'  # one that ended may still be in the table
    task = deployments.begun(Deploy=f"sleep 600 > /dev/null 2>&1 & echo $! > {pid}", Check=alive)
    task.run(expect=4)
    task.done("approve", "--reason", "ours")
    try:
        task.run(expect=4)
        assert task.state() == "Complete"
        assert subprocess.run(["sh", "-c", alive], check=False).returncode == 0
    finally:
        subprocess.run(["sh", "-c", f'kill "$(cat {pid})"'], check=False)


def test_missing_documents_fail_the_gate_without_a_deployment(deployments: Deployments) -> None:
    task = deployments.begun()
    deployments.script("Deploying", "true")
    task.run(expect=4)
    assert task.path_of_moves()[:2] == ["Deploying", "DeployRetrying"]
    assert (stages(task), deployments.target.deployed()) == ([], 0)


def test_other_commands_need_another_word(deployments: Deployments) -> None:
    task = deployments.begun(Check="false")
    task.run(expect=4)
    task.done("approve", "--reason", "ours")
    deployments.script("Deploying", f"{HONEST}; sed -i 's/`false`/`echo mine > $TARGET\\/x`/' preferences.md", run=2)
    done = task.run(expect=4)
    assert "a person must confirm the deploy commands first" in done.out
    assert not (deployments.target.folder / "x").exists(), "what an agent wrote there did not run"


@pytest.mark.parametrize("broken", [{"Rollback": ""}, {"Deploy": "TODO"}])
def test_plan_with_a_part_missing_is_refused_with_its_name(deployments: Deployments, broken: dict[str, str]) -> None:
    task = deployments.begun(**broken)
    task.run()
    facts = next(entry["facts"] for entry in task.entries("moved") if entry["to"] == "DeployRetrying")
    assert f"names no command for {next(iter(broken))}" in facts["deployed"]["why"]
    assert deployments.target.deployed() == 0


def test_a_deployment_that_was_cut_short_is_not_repeated_unasked(deployments: Deployments) -> None:
    meeting = deployments.meeting()
    wait = f"echo up 1 > {deployments.scripts}/here.up; read -r _ < {deployments.scripts}/here.go"
    task = deployments.begun(Deploy=f'echo deployed >> "$TARGET/../count"; {wait}; cp app.py "$TARGET/app.py"')
    task.run(expect=4)
    task.done("approve", "--reason", "ours")
    driving = deployments.begin("run", "p", cwd=task.repo)
    with pytest.raises(ValueError, match="up"):
        meeting.reached()  # it is there; its words are no run's
    driving.process.send_signal(signal.SIGKILL)
    driving.process.wait()
    os.close(os.open(deployments.scripts / "here.go", os.O_RDWR))
    done = task.run(expect=4)
    assert "its end is not known" in done.out
    assert (stages(task), deployments.target.deployed()) == (["confirmed", "begun"], 1)
    assert task.state() == "Deploying"
    assert "its end is not known" in task("rollback", "--reason", "it is cut", "p").err
    task.done("rollback", "--reason", "it is cut, and over", "--yes")
    assert "a person must confirm the deploy commands first" in task.run(expect=4).out
    (task.repo / "preferences.md").write_text(
        (task.repo / "preferences.md").read_text(encoding="utf-8").replace(f"; {wait}", ""), encoding="utf-8"
    )
    task.done("approve", "--reason", "looked at it; once more")
    task.run(expect=4)
    assert task.state() == "Complete"
    assert deployments.target.deployed() == 2
    assert deployments.target.get("app.py") == SAMPLE_FILES["app.py"]


SECRET = "s3cr3t-of-the-person"
STEAL = 'echo "$MY_TOKEN" > "$TARGET/../stolen"'


def stolen(deployments: Deployments) -> bool:
    return (deployments.target.folder.parent / "stolen").exists()


def with_token(deployments: Deployments) -> None:
    environment = {**deployments.detent.environment, "MY_TOKEN": SECRET}
    deployments.detent = Detent(deployments.detent.directory, environment)


def test_script_rewritten_after_the_word_does_not_run_unseen(deployments: Deployments) -> None:
    """The first deployment fails, and the agent of the retry writes what it wants to run outside the sandbox."""
    with_token(deployments)
    deployments.script("Deploying", f"{HONEST}; echo 'exit 1' > deploy.sh", run=1)
    deployments.script("Deploying", f"{HONEST}; echo '{STEAL}' > deploy.sh", run=2)
    task = deployments.begun(Deploy="sh deploy.sh")
    task.run(expect=4)
    task.done("approve", "--reason", "read deploy.sh")
    done = task.run(expect=4)
    assert not stolen(deployments), "what the agent wrote ran with the person's rights"
    assert stages(task) == ["confirmed", "begun", "ended"]
    tree = task.entries("deploy")[0]["tree"]
    assert "deploy.sh changed since" in done.out
    assert f"confirmed deploying {tree[:12]}" in done.out
    assert f"detent diff --since {tree[:12]}" in done.out
    assert "deploy.sh changed since" in task("inbox").out
    shown = task("diff", "--since", tree[:12], "p").out
    assert "-exit 1" in shown
    assert f"+{STEAL}" in shown
    task.done("approve", "--reason", "read it again", "--tree", task("diff", "p", "--json").json()["tree"][:12])
    task.run(expect=4)
    assert stolen(deployments), "a person who looked may want exactly this"
    task.audit()


def test_confirmation_of_another_tree_than_the_shown_one_is_refused(deployments: Deployments) -> None:
    task = deployments.begun()
    task.run(expect=4)
    done = task("approve", "--reason", "looked", "--tree", "0123456789ab", "p")
    assert done.code == 1
    assert "not 0123456789ab" in done.err
    assert stages(task) == []


def test_rollback_runs_no_files_that_changed_since_the_deployment(deployments: Deployments) -> None:
    with_token(deployments)
    deployments.script("Deploying", f"{HONEST}; echo 'rm $TARGET/app.py' > back.sh")
    task = deployments.begun(Rollback="sh back.sh")
    task.run(expect=4)
    task.done("approve", "--reason", "ours")
    task.run(expect=4)
    assert task.state() == "Complete"
    (task.repo / "back.sh").write_text(f"{STEAL}\n", encoding="utf-8")
    done = task("rollback", "--reason", "the page is empty", "p")
    assert done.code == 1
    assert "changed since it was deployed: back.sh" in done.err
    assert "detent diff --since" in done.err
    assert not stolen(deployments)
    assert stages(task)[-1] == "ended"
    tree = task("diff", "p", "--json").json()["tree"]
    task.done("rollback", "--tree", tree[:12], "--reason", "read it")
    assert stolen(deployments)
    requested = task.entries("deploy")[-2]
    assert (requested["tree"], requested["differs"]) == (tree, ["back.sh"])
    task.audit()


def test_files_that_deploying_makes_need_no_other_word(deployments: Deployments) -> None:
    """A retry finds what the first attempt built; no agent touched it."""
    task = deployments.begun(Deploy='mkdir -p dist && cp app.py dist/ && echo x >> "$TARGET/../count"', Check="false")
    task.run(expect=4)
    task.done("approve", "--reason", "ours")
    task.run(expect=4)
    assert stages(task) == ["confirmed", *["begun", "ended"] * 2]
    task.audit()


def test_deployment_holds_for_its_tree_and_is_not_repeated(deployments: Deployments) -> None:
    task = deployments.begun()
    deployments.script("Deploying", "printf '# Delivery\\n\\n## Summary\\n\\nshipped\\n' > DELIVERY.md")
    task.run(expect=4)
    task.done("approve", "--reason", "ours")
    task.run(expect=4)
    task.done("move", "Deploying")
    assert task("prove", "p").code == 0, "proving never deploys"
    assert deployments.target.deployed() == 1


def test_a_rolled_back_deployment_is_not_deployed_again_unasked(deployments: Deployments) -> None:
    task = deployments.begun(Check="false", Rollback='echo "gone" && rm "$TARGET/app.py"')
    assert "nothing was deployed" in task("rollback", "--reason", "why", "p").err
    task.run(expect=4)
    task.done("approve", "--reason", "ours")
    task.run(expect=4)
    assert task.state() == "Blocked"
    assert deployments.target.get("app.py") == SAMPLE_FILES["app.py"], "what was never found to work is live"
    assert task("rollback", "p").code == 1, "a reason is wanted"
    done = task("rollback", "--reason", "the check failed", "p")
    assert (done.code, deployments.target.get("app.py")) == (0, "404"), done
    assert 'ran:  echo "gone" && rm "$TARGET/app.py"' in done.out
    requested, ended = task.entries("deploy")[-2:]
    assert (requested["stage"], requested["by"], requested["reason"]) == ("rolling_back", "person", "the check failed")
    assert (ended["stage"], ended["ok"], len(ended["receipts"])) == ("rolled_back", True, 1)
    assert "takes the deployment back: the check failed" in task("history", "p").out
    assert "nothing was deployed" in task("rollback", "--reason", "again", "p").err
    task.audit()


def test_failed_rollback_is_reported_and_may_be_requested_again(deployments: Deployments) -> None:
    task = deployments.begun(Rollback='test -e "$TARGET/../ready" && rm "$TARGET/app.py"')
    task.run(expect=4)
    task.done("approve", "--reason", "ours")
    task.run(expect=4)
    assert task.state() == "Complete"
    done = task("rollback", "--reason", "the page is empty", "p")
    assert done.code == 1
    assert "could not take the deployment back: exit 1" in done.out
    (deployments.target.folder.parent / "ready").touch()
    assert task("rollback", "--reason", "once more", "p").code == 0
    assert deployments.target.get("app.py") == "404"
    task.done("move", "Deploying")
    assert "a person must confirm the deploy commands first" in task.run(expect=4).out
    assert deployments.target.deployed() == 1, "it is not deployed again unasked"
    task.audit()


def test_audit_names_a_deployment_of_files_that_were_not_confirmed(deployments: Deployments) -> None:
    deployments.script("Deploying", f"{HONEST}; echo true > deploy.sh")
    task = deployments.begun(Deploy="sh deploy.sh")
    first = task("diff", "p", "--json").json()["tree"]
    task.run(expect=4)
    task.done("approve", "--reason", "ours")
    task.run(expect=4)
    assert "begun" in stages(task)
    control = task.repo / ".git" / "detent" / "tasks" / "p"
    previous, raws = "0" * 64, []
    for line in (control / "journal.jsonl").read_bytes().splitlines():
        entry = json.loads(line)
        if entry.get("stage") == "confirmed":
            entry["tree"] = first
        raws.append(json.dumps({**entry, "prev": previous}, ensure_ascii=False, separators=(",", ":")).encode())
        previous = sha256_of(raws[-1])
    (control / "journal.jsonl").write_bytes(b"\n".join(raws) + b"\n")
    (control / "snapshot.json").unlink()
    found = task("audit", "p", "--json").json()["findings"]
    assert any(
        finding["kind"] == "tree" and "other files than" in finding["what"] and "deploy.sh" in finding["what"]
        for finding in found
    )


PLANT = """cat > plant.py <<'END'
import importlib.util, py_compile
unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
with open("evil.py", "w") as file:
    file.write("import os; open(os.environ['TARGET'] + '/../stolen', 'w').close()")
py_compile.compile("evil.py", importlib.util.cache_from_source("shipping.py"), invalidation_mode=unchecked)
END
python plant.py; rm plant.py evil.py"""


def test_compiled_file_that_an_agent_planted_does_not_run_unseen(deployments: Deployments) -> None:
    """No tree id counts Python's compiled files, so a person confirms a tree without seeing them."""
    deployments.script("Deploying", f"{HONEST}\n{PLANT}")
    files = {"ship.py": "import shipping\n", "shipping.py": "print('shipped')\n"}
    task = deployments.begun(files, Deploy="python ship.py", Check="true")
    task.run(expect=4)
    assert [path.name.partition(".")[0] for path in (task.repo / "__pycache__").iterdir()] == ["shipping"]
    task.done("approve", "--reason", "read ship.py and shipping.py")
    task.run(expect=4)
    assert task.state() == "Complete"
    assert not stolen(deployments)
