# Needs python3 (3.11 or newer) with venv and pip, and make. Everything else is installed into .venv.
PYTHON ?= python3
# One more than two cores: who tests a page waits for the frames of a browser.
WORKERS ?= 3
BIN := .venv/bin

export PYTHONNOUSERSITE := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# An active conda or another checkout must not leak into our environment.
unexport PYTHONPATH
unexport PYTHONHOME
# Commands are started a hundred times by the tests: without kept bytecode each start compiles every source again.
unexport PYTHONDONTWRITEBYTECODE

# What most changes break first: the order of rooms, keys, the table, one quantity of each kind, laws on small robots.
QUICK := tests/test_layers.py tests/test_rooms.py tests/test_once.py tests/test_references.py \
    tests/test_robot.py tests/test_gradient.py tests/test_kernel_counts.py tests/spatial tests/model \
    tests/engine/test_keys.py tests/recursions/test_newton_euler.py \
    tests/recursions/test_composite_body.py tests/recursions/test_poses.py tests/docs/test_links.py

.PHONY: help quick demo test check lint format fuzz flip examples bench docs browser truth clean

help:
	@echo "make demo     install what is needed and run the main job"
	@echo "make test     install what is needed and run all tests"
	@echo "make quick    a selection of the tests for the inner loop, under a minute"
	@echo "make check    format, lint, types, sign-flip mutations, examples"
	@echo "make fuzz     hostile calls and files, many of them"
	@echo "make truth    a million verdicts and distances against Pinocchio and coal"
	@echo "make bench    measure, beside peers; the tables of README and docs follow"
	@echo "make docs     build the pages into site/; a warning is an error"
	@echo "make browser  install chromium for the browser tests"
	@echo "make clean    remove what make made"

# pip arrives last in a new environment, so a half-made one is made again.
$(BIN)/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
	    { echo "linkwork needs Python 3.11 or newer, and $(PYTHON) is $$($(PYTHON) --version 2>&1); choose one: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -m venv .venv || \
	    { rm -rf .venv; echo "python's venv module is incomplete; on Debian: apt-get install python3-venv"; exit 1; }

# One stamp a set of extras: .venv/installed-test, .venv/installed-view,plots
.venv/installed-%: pyproject.toml | $(BIN)/pip
	@echo "installing linkwork[$*] into .venv (once)"
	@$(BIN)/python -m pip install -qq --editable '.[$*]'
	@touch $@

demo: .venv/installed-view,plots,meshes
	@$(BIN)/python examples/demo.py

test: .venv/installed-test
	@$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -q

quick: .venv/installed-test
	@$(BIN)/python -m pytest -n $(WORKERS) -q -m "not slow" $(QUICK)

check: lint flip examples

lint: .venv/installed-dev
	@code=0; $(BIN)/ruff format --check . || code=1; $(BIN)/ruff check . || code=1; $(BIN)/mypy || code=1; exit $$code

format: .venv/installed-dev
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

# A million configurations, distances of 100 000 placements a pair of kinds, 10 000 motions, 100 tasks of nine points,
# 200 paths: some fifteen minutes.
truth: .venv/installed-test
	@LINKWORK_TRUTH=1 $(BIN)/python -m pytest -q -n $(WORKERS) tests/collision/test_many.py \
	    tests/inverse/test_analytic_peers.py tests/synthesis/test_many.py tests/synthesis/test_verdicts.py \
	    tests/planning/test_many_problems.py

# Hostile calls and files for as long as it takes: about 390 000 calls, 20 000 files of each of five formats, bombs, forks.
# The tests run the same with a small budget.
fuzz: .venv/installed-test
	@LINKWORK_FUZZ=430 $(BIN)/python -m pytest -q -n $(WORKERS) tests/test_knocking.py tests/formats \
	    tests/engine/test_forks.py tests/cli/test_hostile_options.py -k "knock or fuzz or answers or forks or option or none_is or flag or without_end"
	@$(BIN)/python -m tests.formats.fuzzing 100000
	@$(BIN)/python -m tests.formats.bombs 0.5

flip: .venv/installed-dev
	@$(BIN)/python tools/flip_signs.py

examples: .venv/installed-dev
	@for example in $(wildcard examples/*.py); do \
	    echo "$$example"; CI=true MPLBACKEND=Agg $(BIN)/python "$$example" > /dev/null || exit 1; done

bench: .venv/installed-bench
	@$(BIN)/python -m benchmarks --json docs/benchmarks.json
	@$(BIN)/python tools/readme_table.py

docs: .venv/installed-docs
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

browser:
	@command -v chromium > /dev/null || \
	    { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium > /dev/null; } || \
	    { echo "chromium could not be installed; make browser needs root on Debian (sudo make browser)"; exit 1; }
	@chromium --version

clean:
	rm -rf .venv build dist site out .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests tools examples benchmarks -name __pycache__ -type d -prune -exec rm -rf {} + 2> /dev/null || true
