# The two commands of the README: make demo, make test. Both set everything up in .venv first.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
export SHOAL_DATA ?= $(abspath ../shared/data)
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo test lint types suite bench clean

$(VENV)/.core: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --editable .
	touch $@

$(VENV)/.test: $(VENV)/.core
	$(BIN)/pip install --quiet --editable '.[test,data]'
	touch $@

demo: $(VENV)/.core
	$(BIN)/shoal demo

test: lint types suite

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.test
	$(BIN)/mypy

suite: $(VENV)/.test
	$(BIN)/python -m pytest -n 2

bench: $(VENV)/.test
	$(BIN)/python bench/core.py

clean:
	rm -rf $(VENV) dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
