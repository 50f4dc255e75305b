"""The agent of the lab: `python -m detent.lab.attack.attacker` plays the attack that a file at home names."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from detent.lab.attack.inside import BEGUN, TRIED, Inside, read_play
from detent.lab.attack.table import ATTACKS, CONTROLS
from detent.lab.attack.walks.table import WALKS


def main() -> None:
    if "--version" in sys.argv:
        sys.stdout.write("1.0 of the attack lab\n")
        return
    name, machine = read_play(os.environ["HOME"])
    walk = WALKS[machine]
    agent = Inside(os.environ, walk.course, walk.hand_in)
    attack = next(attack for attack in (*ATTACKS, *CONTROLS) if attack.name == name)
    agent.write(os.path.join(agent.out, f"{BEGUN}-{agent.run}"), name)
    attack.act(agent)
    with suppress(OSError):  # the attack may have damaged its own folders
        agent.write(os.path.join(agent.out, f"{TRIED}-{agent.run}"), name)


if __name__ == "__main__":
    main()
