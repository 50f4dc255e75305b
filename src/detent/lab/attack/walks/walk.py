"""What the lab must know of a machine: where its agents work and judge, what is asked of them, what a person signs."""

from __future__ import annotations

from detent.core.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from detent.lab.attack.inside import Inside
    from detent.lab.attack.scene import Scene
    from detent.lab.attack.values import Course

    Stages = Mapping[str, tuple[str, Callable[[Scene], None]]]

_MOST_RUNS = 12


class Walk(Record):
    course: Course
    hand_in: Callable[[Inside], None]  # all that is asked of an agent in its state, but for the code
    begin: Callable[[Scene], None]  # what a person does after `detent new`, until agents work
    finish: Callable[[Scene], None]  # what a person signs once the agents are done
    stages: Stages  # stage -> the stage before it, and how to get on from there
    files: Mapping[str, str] = {}  # more that the repository holds
    is_long: bool = False  # whether the way to its states takes many runs
    has_two: bool = True  # whether a project can have two of its tasks at once
    takes_check: bool = False  # whether a task has a plan of its own that names commands
    needs: str = ""  # a module without which no task of it gets to its end


def until(*states: str) -> Callable[[Scene], None]:
    """Honest agents work until the task is in one of these states."""

    def walk(scene: Scene) -> None:
        for _ in range(_MOST_RUNS):
            if scene.state() in states:
                return
            scene.let_loose("honest")
        raise scene.stuck(f"honest agents did not get to {' or '.join(states)}")

    return walk


def nothing(_scene: Scene) -> None:
    """No person is needed."""
