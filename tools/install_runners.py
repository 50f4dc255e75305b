"""Installs pinned test runners of Node into a folder for the tests: `install_runners.py FOLDER [RUNNER...]`.

tox and nox are among the pinned tools of `requirements/dev.lock`; node, go and cargo are the system's.
"""

from __future__ import annotations

import sys

from tools.install_agents import Pin, main

# The last releases that run on Node 20.
PINS = {
    "jest": Pin("npm", "jest@30.5.2", "node_modules/jest/bin/jest.js", "30.5.2"),
    "vitest": Pin("npm", "vitest@4.1.12", "node_modules/vitest/vitest.mjs", "4.1.12"),
    "ava": Pin("npm", "ava@7.0.0", "node_modules/ava/entrypoints/cli.mjs", "7.0.0"),
}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], PINS, "install_runners.py"))
