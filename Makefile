# Two commands: `make app` and `make test`. Each makes its own environment first, and only when something changed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet

.PHONY: app test lint types unit bench screenshots clean

app: $(VENV)/.run
	$(BIN)/python -m streamlit run app/main.py

test: lint types unit

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/mypy

unit: $(VENV)/.dev
	$(BIN)/python -m pytest

# Speed as ratios within one run, on one thread; wants an otherwise idle machine.
bench: $(VENV)/.dev
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest tests/benchmarks -s -o python_files='bench_*.py'

screenshots: $(VENV)/.dev
	$(BIN)/python -m app.screenshots

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run: requirements.txt pyproject.toml | $(BIN)/python
	$(PIP) -r requirements.txt
	$(PIP) --no-deps --editable .
	touch $@

$(VENV)/.dev: $(VENV)/.run
	$(PIP) --editable '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache build *.egg-info
