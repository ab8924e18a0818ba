# Two commands: `make app` and `make test`. Each makes its own environment first, and only when something changed.
# While working: `make quick`, which leaves out the browser and all that takes long.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet

WORKERS ?= 2 # processes that share the tests

.PHONY: app test quick lint types javascript unit browser bench docs lock screenshots clean

app: $(VENV)/.run
	$(BIN)/python -m streamlit run app/main.py

test: $(VENV)/.dev
	$(MAKE) --jobs=2 lint types javascript
	$(MAKE) unit
	$(MAKE) browser

quick: $(VENV)/.dev
	$(MAKE) --jobs=2 lint types
	HYPOTHESIS_PROFILE=quick $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal --ignore=tests/browser -m 'not slow'

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/mypy

# node_modules is made where there is a Node.js that the tools run on, and only when its package.json changed.
NODE := $(and $(wildcard tools/js/package.json),$(shell command -v npm),$(shell node -e \
	'const [major, minor] = process.versions.node.split("."); if (major * 100 + +minor >= 2019) console.log("fits")'))

javascript: $(if $(NODE),tools/js/node_modules/.made)
	@$(if $(NODE),npm --prefix tools/js run --silent check,echo "JavaScript was not checked: that needs Node.js 20.19 or newer with npm (https://nodejs.org)")

tools/js/node_modules/.made: tools/js/package.json tools/js/package-lock.json
	npm --prefix tools/js ci --no-audit --no-fund --loglevel=error
	touch $@

unit: $(VENV)/.dev
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal --ignore=tests/browser

# Each process has its own app and its own Chromium; nothing runs beside them: these tests drag knobs.
browser: $(VENV)/.dev
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal tests/browser

# Speed as ratios within one run, on one thread; wants an otherwise idle machine.
bench: $(VENV)/.dev
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest tests/benchmarks -s -o python_files='bench_*.py'

# The guide and the API reference, in docs/site; fails where a name or a link leads nowhere.
docs: $(VENV)/.dev
	$(BIN)/python docs/build.py

# requirements.lock: hashes of all that requirements.txt installs, but for the builds of torch (docs/install.md says why);
# what torch itself needs is named here, since it is left out, and what builds our own package.
TORCH_NEEDS := filelock fsspec networkx setuptools sympy
BUILD_NEEDS := hatchling==1.33.0 editables
lock: $(VENV)/.dev
	echo "# Made by 'make lock' from requirements.txt without torch and torchvision; docs/install.md says how to use it." > $@.part
	(grep -v '^torch' requirements.txt; printf '%s\n' $(TORCH_NEEDS) $(BUILD_NEEDS)) | $(BIN)/uv pip compile - --universal --python-version 3.11 --generate-hashes \
		--no-header --no-annotate --quiet >> $@.part
	mv $@.part requirements.lock

screenshots: $(VENV)/.dev
	$(BIN)/python -m tools.screenshots

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run: requirements.txt requirements.lock pyproject.toml | $(BIN)/python
	$(PIP) --require-hashes -r requirements.lock
	$(PIP) -r requirements.txt # torch and torchvision: all others are there
	$(PIP) --no-deps --no-build-isolation --editable . # isolation would fetch the builder without hashes
	touch $@

$(VENV)/.dev: $(VENV)/.run
	$(PIP) --editable '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache build dist docs/site tools/js/node_modules *.egg-info
