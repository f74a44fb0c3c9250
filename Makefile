# Every target makes its own virtual environment first; nothing outside this folder is touched.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: demo test fuzz fuzz-properties coverage lint types tables docs benchmark page page-test clean

$(VENV)/.runs: pyproject.toml
	$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(None if v >= (3, 11) else f"mustlink needs Python 3.11 or later, and this is {v.major}.{v.minor}: run make with PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

$(VENV)/.develops: $(VENV)/.runs
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

$(VENV)/.documents: $(VENV)/.runs
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	touch $@

$(VENV)/.benchmarks: $(VENV)/.develops benchmarks/peers.txt
	touch $@

demo: $(VENV)/.runs
	$(BIN)/mustlink demo

# One process per core; ask pytest for -n 0 to debug a test.
test: $(VENV)/.develops
	$(BIN)/python -m pytest -n auto --dist worksteal

# Run every clusterer on random problems and compare with brute force; METHOD=cop runs one method alone.
PROBLEMS ?= 2000
SEED ?= 0
METHOD ?=
fuzz: $(VENV)/.develops
	PYTHONPATH=tests $(BIN)/python -m fuzz --problems $(PROBLEMS) --seed $(SEED) $(addprefix --method ,$(METHOD))

# Draw new random examples for the tests, again and again, until MINUTES are over or one fails.
MINUTES ?= 30
fuzz-properties: $(VENV)/.develops
	end=$$(( $$(date +%s) + 60 * $(MINUTES) )); \
	while [ $$(date +%s) -lt $$end ]; do \
	    $(BIN)/python -m pytest -q -x -m hypothesis --hypothesis-profile=fuzz tests || exit 1; \
	done

coverage: $(VENV)/.develops
	$(BIN)/python -m pytest --cov --cov-report=term:skip-covered --cov-report=html

lint: $(VENV)/.develops
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.develops
	$(BIN)/mypy

# Write the lists of methods in README, guide, reference and stub from the catalogue.
tables: $(VENV)/.runs
	$(BIN)/python docs/tables.py

docs: $(VENV)/.documents
	rm -rf docs/api/generated
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html

benchmark: $(VENV)/.benchmarks
	$(BIN)/python -m benchmarks

# Build the page of the studio from web/ into the package, where it is committed; needs Node 20.19 or later.
page: web/node_modules/.package-lock.json
	npm --prefix web run build
	$(PYTHON) web/source_hashes.py

page-test: web/node_modules/.package-lock.json
	npm --prefix web run check
	npm --prefix web test

web/node_modules/.package-lock.json: web/package.json web/package-lock.json
	cd web && npm ci
	touch $@

clean:
	rm -rf $(VENV) web/node_modules docs/_build docs/gallery docs/api/generated .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage htmlcov
