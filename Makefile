# A newcomer's two commands: `make demo` and `make test`. Everything goes into .venv; packages come from PyPI.

SHELL := /bin/bash
PYTHON ?= $(shell for one in python3.13 python3.12 python3.11 python3.14 python3 python; do \
	$$one -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$one && break; done)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
INSTALL := $(PIP) install --no-compile # compiling on first import costs less than compiling everything
SERVE ?= 1
HOST ?= 127.0.0.1
PORT ?= 8000
TEMPLATES := $(shell find templates */templates -name '*.html' 2>/dev/null)

.PHONY: help demo install test lint types bench pictures clean

help:
	@echo 'make demo     a household to try, on http://$(HOST):$(PORT)  (SERVE=0: only the three questions)'
	@echo 'make test     lint, types, migrations, import contract, tests with coverage'
	@echo 'make bench    the benchmarks'
	@echo 'make pictures  the pictures of the README, of the demo household (needs Chromium)'
	@echo 'make install  the `rekal` command in $(VENV)'

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo 'Rekal needs Python 3.11 or newer; install it, or name it: make demo PYTHON=/path/to/python3' >&2; exit 1; }
	@echo "· making $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.core: pyproject.toml setup.py | $(BIN)/python
	@echo '· installing rekal and what it needs (once; about half a minute)'
	@$(INSTALL) -e . && touch $@

$(VENV)/.dev: pyproject.toml setup.py | $(BIN)/python
	@echo '· installing rekal and its development tools (once; about a minute)'
	@$(INSTALL) -e '.[dev]' && touch $@ $(VENV)/.core

install: $(VENV)/.core
	@echo 'Ready: $(BIN)/rekal --help'

demo: $(VENV)/.core
	@REKAL_DB=.demo/memory.db $(BIN)/python manage.py demo --host $(HOST) --port $(PORT) $(if $(filter 0 no false,$(SERVE)),--no-serve)

lint: $(VENV)/.dev
	@echo '· ruff, djade, import contract'
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(if $(TEMPLATES),$(BIN)/djade --check --target-version 5.2 $(TEMPLATES))
	@$(BIN)/lint-imports --no-cache --no-logo

types: $(VENV)/.dev
	@echo '· mypy'
	@REKAL_DB=.demo/check.db $(BIN)/mypy

test: lint types
	@echo '· migrations'
	@REKAL_DB=.demo/check.db $(BIN)/python manage.py makemigrations --check --dry-run
	@echo '· tests'
	@REKAL_DB=.demo/check.db $(BIN)/python -m pytest --cov --cov-report=term $(ARGS)

bench: $(VENV)/.dev
	@REKAL_DB=.demo/check.db $(BIN)/python -m pytest --benchmark-only --benchmark-columns=median,min,max,rounds -p no:randomly $(ARGS)

pictures: $(VENV)/.dev
	@REKAL_DB=.demo/check.db $(BIN)/python -m tests.pictures

clean:
	rm -rf $(VENV) .venv-transformers .demo build dist *.egg-info .coverage htmlcov .mypy_cache .ruff_cache .pytest_cache .hypothesis
