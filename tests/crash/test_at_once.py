"""Many processes at once: each move is made by exactly one of them, no task is lost, and readers never disturb."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Sequence

from tests.crash.lab import Lab, ending_state
from tests.crash.world import JOURNAL, LOG, TASK, ending, read_journal, temporaries, whole_lines

MANY = 20
TIMEOUT_S = 120
REFUSED = 1


def start(lab: Lab, words: Sequence[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        lab.argv(words),
        cwd=lab.cwd,
        env=lab.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(processes: Sequence[subprocess.Popen[str]]) -> list[tuple[int, str, str]]:
    ended = []
    for process in processes:
        out, err = process.communicate(timeout=TIMEOUT_S)
        ended.append((process.returncode, out, err))
    return ended


def test_of_twenty_equal_moves_one_is_made(lab: Lab) -> None:
    kind = lab.kinds["move"]
    lab.world.put(kind.before)
    ended = finish([start(lab, ("move", "--json", "--edge", "intake_to_shape", TASK)) for _ in range(MANY)])
    answers = [json.loads(out) for _, out, _ in ended]
    assert Counter(code for code, _, _ in ended) == {0: 1, REFUSED: MANY - 1}, ended
    assert sum(answer["moved"] for answer in answers) == 1
    assert lab.problems(kind, is_acknowledged=True) == []


def test_of_twenty_moves_forward_each_edge_is_taken_once(lab: Lab) -> None:
    """Everything is ready for two moves; twenty agents and the engine at the same time make them once each."""
    lab.world.put(lab.kinds["move"].before)
    edges = ("intake_to_shape", "shape_to_implement") * (MANY // 2)
    winners: Counter[str] = Counter()
    for _round in range(2):
        ended = finish([start(lab, ("move", "--json", "--edge", edge, TASK)) for edge in edges])
        winners += Counter(json.loads(out)["edge"] for code, out, _ in ended if code == 0)
        assert {code for code, _, _ in ended} <= {0, REFUSED}, ended
    assert winners == {"intake_to_shape": 1, "shape_to_implement": 1}
    files = lab.world.read()
    assert [entry.get("edge") for entry in read_journal(files)] == [None, "intake_to_shape", "shape_to_implement"]
    assert [json.loads(line)["seq"] for line in whole_lines(files[LOG] or b"")] == [1, 2, 3]
    assert ending(files, lab.committed).differences(lab.kinds["move and lock"].end) == []
    assert temporaries(files) == []


def test_twenty_new_tasks_get_twenty_names_and_folders(lab: Lab) -> None:
    lab.world.put(lab.kinds["new"].before)
    ended = finish([start(lab, ("new", "--json", "--in-place", "phase", "the same words")) for _ in range(MANY)])
    assert [code for code, _, _ in ended] == [0] * MANY, ended
    answers = [json.loads(out) for _, out, _ in ended]
    names = {answer["id"] for answer in answers}
    assert names == {"the-same-words", *(f"the-same-words-{number}" for number in range(2, MANY + 1))}
    assert len({answer["dir"] for answer in answers}) == MANY
    (listed,) = lab.run(("list", "--json"))
    assert {(row["id"], row["state"]) for row in json.loads(listed["out"])["tasks"]} == {
        (name, "intake") for name in names
    }
    assert temporaries(lab.world.read()) == []


def test_readers_of_a_moving_task_never_fail(lab: Lab) -> None:
    lab.world.put(lab.kinds["move"].before)
    readers = [("status", "--json", TASK), ("next", "--json", TASK), ("list", "--json"), ("history", "--json", TASK)]
    processes = [start(lab, words) for words in readers * 2]
    movers = [start(lab, ("move", "--edge", edge, TASK)) for edge in ("intake_to_shape", "shape_to_implement")]
    processes += [start(lab, words) for words in readers * 2]
    for code, out, err in finish(processes):
        assert code == 0, err
        answer = json.loads(out)
        if "state" in answer:
            assert answer["state"] in ("intake", "shape", "implement")
    assert {code for code, _, _ in finish(movers)} <= {0, REFUSED}
    assert ending_state(lab.world.read()) in ("shape", "implement")


def test_readers_write_nothing(lab: Lab) -> None:
    for name in ("move and prove", "settle", "locked field restored"):
        lab.world.put(lab.kinds[name].before)
        assert JOURNAL in lab.kinds[name].before
        before = lab.world.marks()
        words = [(word, "--json", TASK) for word in ("status", "next", "history", "dir", "route")]
        ended = finish([start(lab, command) for command in (*words, ("list", "--json"), ())])
        assert [code for code, _, _ in ended] == [0] * len(ended), ended
        assert lab.world.marks() == before
