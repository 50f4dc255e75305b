# Each check is defined here once; .ci/run and people call the same targets.
# PYTHON is the interpreter that makes .venv; ARGS goes to the program behind test, attack, requirements, bench, bench-liars, replay and mutate.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
ARGS   ?=

# Settings of another virtual environment or of the user's pip must not leak into ours. Without bytecode every process of the
# tests would compile all of them again.
unexport PYTHONHOME PYTHONPATH PYTHONDONTWRITEBYTECODE VIRTUAL_ENV PIP_PREFIX PIP_TARGET PIP_USER

# An existing .venv keeps its Python unless the caller names one.
ASKED = $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)
FOUND = $(shell sed -n 's/^version *= *\([0-9]*\.[0-9]*\).*/\1/p' $(VENV)/pyvenv.cfg 2>/dev/null)
VERSION := $(or $(if $(filter file,$(origin PYTHON)),$(FOUND)),$(ASKED))

# The stamp's name holds what it vouches for, so a second call is silent and offline, whatever git did to file times.
PINNED := requirements/dev.lock pyproject.toml
READY  := $(VENV)/.ready-$(VERSION)-$(shell cat $(PINNED) 2>/dev/null | cksum | tr ' ' '-')

.DEFAULT_GOAL := help
.PHONY: help setup demo check format check-format check-lint check-types check-imports check-docs check-house
.PHONY: test attack crash tlc agents runners test-agents requirements bench bench-liars replay mutate lock clean check-python

help:
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' $(firstword $(MAKEFILE_LIST)) | awk -F'|' '{ printf "%-14s%s\n", $$1, $$2 }'

setup: $(READY) ## make .venv with the pinned tools and this project in it
	@echo "ready: $(BIN)/detent"

demo: $(READY) ## watch a lying agent being caught, in a throw-away repository
	$(BIN)/detent demo

check: check-format check-lint check-types check-imports check-docs check-house ## format, lint, types, import contracts, generated docs, house rules

check-format: $(READY)
	$(BIN)/ruff format --check .

check-lint: $(READY)
	$(BIN)/ruff check .

check-types: $(READY)
	$(BIN)/mypy

check-imports: $(READY)
	$(BIN)/lint-imports --no-logo

check-docs: $(READY)
	$(BIN)/python tools/generate_docs.py --check

check-house: $(READY)
	$(BIN)/python -m pytest -q tests/unit/test_house.py

format: $(READY) ## rewrite the code in the house format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Tests wait for disks and processes, so four keep two cores busy; who is done early takes over from the others.
# What pytest makes of the test files is kept, whatever the host says: in a new clone it is made once before, instead of by
# all four at once. tests/walks is the last folder that it comes to.
test: export PYTHONDONTWRITEBYTECODE =
test: $(READY) ## run all tests on four processes and print why any were skipped
	-@test -d tests/walks/__pycache__ || $(BIN)/python -m pytest --collect-only --quiet > /dev/null
	$(BIN)/python -m pytest -n 4 --dist worksteal $(ARGS)

attack: $(READY) ## let every attacker loose on every machine, at every sandbox level of this host (long)
	$(BIN)/detent attack --all $(ARGS)

crash: $(READY) ## kill at every system call, every disk after a power cut, every error (long)
	DETENT_CRASH=full $(BIN)/python -m pytest -n 2 tests/crash $(ARGS)

tlc: $(READY) ## let TLC check every machine and every seeded bug (long, needs Java)
	DETENT_TLC=full $(BIN)/python -m pytest -n 2 tests/conformance/test_tla.py $(ARGS)

agents: $(READY) ## install pinned agents into .venv/agents for the tests (AGENTS="pi codex" for some)
	$(BIN)/python tools/install_agents.py $(VENV)/agents $(AGENTS)

runners: $(READY) ## install pinned test runners into .venv/runners for the tests (RUNNERS="jest ava" for some)
	$(BIN)/python -m tools.install_runners $(VENV)/runners $(RUNNERS)

test-agents: agents ## run real agents against a scripted model
	$(BIN)/python -m pytest -n 2 tests/agents $(ARGS)

requirements: $(READY) ## count the requirements that passing tests show (ARGS=--run, --open, --told or --table)
	$(BIN)/python -m tools.requirements_table $(ARGS)

bench: $(READY) ## measure cold start, commit point and step, with peers in the same run
	$(BIN)/python bench/run.py $(ARGS)

bench-liars: $(READY) ## play the same lying agents through Detent and its peers (long, installs the peers)
	$(BIN)/python -m bench.liars $(ARGS)

replay: $(READY) ## take honest changes of published packages to the last move (long, downloads them; ARGS=NAME for some)
	$(BIN)/python -m tools.replay_honest $(ARGS)

mutate: $(READY) ## break each guard on purpose and see a test turn red
	$(BIN)/python tools/mutate.py $(ARGS)

# The oldest Python asks for the most backports, so its answer also holds for the newer ones.
lock: check-python $(READY) ## pin the packages of requirements/*.in again (ARGS=--upgrade for newer ones)
	@test "$(ASKED)" = 3.11 || { echo "lock: needs Python 3.11, $(PYTHON) is $(ASKED); next: make lock PYTHON=python3.11"; exit 1; }
	@scratch=$$(mktemp -d) && trap 'rm -rf "$$scratch"' EXIT && \
	$(PYTHON) -m venv "$$scratch" && \
	"$$scratch/bin/python" -m pip install --quiet --require-hashes -r requirements/lock.lock && \
	for name in dev lock bench-burr bench-langgraph bench-dbos; do \
		CUSTOM_COMPILE_COMMAND='make lock' "$$scratch/bin/pip-compile" --quiet --generate-hashes --allow-unsafe --strip-extras \
			--no-emit-index-url --no-emit-trusted-host --no-emit-find-links --no-emit-options $(ARGS) \
			--output-file requirements/$$name.lock requirements/$$name.in || exit 1; \
	done
	@for pair in bench-work:3.11 bench-specify:3.11 bench-orkestra:3.12 bench-bernstein:3.12; do \
		name=$${pair%:*} && $(BIN)/uv pip compile --quiet --python-version $${pair#*:} --generate-hashes --no-emit-index-url \
			--custom-compile-command 'make lock' $(ARGS) --output-file requirements/$$name.lock requirements/$$name.in || exit 1; \
	done
	@for name in bench-takt bench-ralphy; do \
		(cd requirements/$$name && npm install --package-lock-only --ignore-scripts --omit-lockfile-registry-resolved --no-audit --no-fund) || exit 1; \
	done

clean: ## remove .venv and everything else that make and the tools left behind
	rm -rf $(VENV) .bench .test-results.json* build dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find src tests tools -name __pycache__ -type d -prune -exec rm -rf {} +

check-python:
	@$(PYTHON) -c '' 2>/dev/null || { echo "setup: $(PYTHON) does not run; next: install Python 3.11 or newer, or run: make setup PYTHON=/path/to/python3"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "setup: $(PYTHON) is $(ASKED), Detent needs 3.11 or newer; next: make setup PYTHON=python3.11"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "setup: $(PYTHON) has no venv module; next: install it (on Debian and Ubuntu: apt-get install python3-venv)"; exit 1; }

# check-python is not a prerequisite here: a phony one would make the stamp stale on every call.
$(READY):
	@$(MAKE) --no-print-directory check-python
	@$(BIN)/python -c 'import pip' 2>/dev/null && grep -q '^version *= *$(VERSION)\.' $(VENV)/pyvenv.cfg || $(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@rm -f $(VENV)/.ready-*
	@touch $@
