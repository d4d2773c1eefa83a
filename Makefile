# The two commands of the README: make demo, make test. Both set everything up in .venv first.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
export SHOAL_DATA ?= $(abspath ../shared/data)
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo test lint types reference docs suite bench package oldest clean

$(VENV)/.core: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --editable .
	touch $@

$(VENV)/.test: $(VENV)/.core
	$(BIN)/pip install --quiet --editable '.[test,data,docs]'
	touch $@

demo: $(VENV)/.core
	$(BIN)/shoal demo

test: lint types docs suite

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.test
	$(BIN)/mypy

# The tables of docs/reference, from what the code declares.
reference: $(VENV)/.core
	$(BIN)/python docs/tables.py

# The documentation as a site in build/docs; a warning is an error.
docs: $(VENV)/.test
	$(BIN)/python -m sphinx -q -W --keep-going -b html docs build/docs

suite: $(VENV)/.test
	$(BIN)/python -m pytest -n 2

# Every benchmark, with the machine and all versions, into bench/results. ONLY="core refine" runs some.
bench: $(VENV)/.test
	$(BIN)/python bench/run.py $(ONLY)

# The source archive, and the wheel made from it, which is installed into an empty environment and used.
package:
	rm -rf dist build/package build/smoke
	$(PYTHON) -m venv build/package
	build/package/bin/pip install --quiet build
	build/package/bin/python -m build --outdir dist .
	$(PYTHON) -m venv build/smoke
	build/smoke/bin/pip install --quiet dist/*.whl
	cd build/smoke && bin/python $(abspath tests/smoke.py)

# The fast tests on the oldest versions that pyproject.toml allows; kernels are cached apart from those of .venv.
oldest:
	$(PYTHON) -m venv build/oldest
	build/oldest/bin/pip install --quiet --constraint tests/oldest.txt --editable '.[data,db,dp,ml,ui]' \
		pandas polars httpx pytest hypothesis scipy
	NUMBA_CACHE_DIR=$(abspath build/oldest/kernels) build/oldest/bin/python -m pytest tests/unit \
		tests/property/test_mondrian.py tests/frames tests/ui -m "not browser and not spark and not postgres" \
		-W "ignore::DeprecationWarning"

clean:
	rm -rf $(VENV) dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
