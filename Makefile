# make demo: the main job on the shipped example. make test: the whole suite.
# make check-fast: format, lint, types, import contracts and the quick unit tests, for while you work.
# make docs: the documentation site, in build/docs/index.html; a broken link is an error.
# make check: format, lint, types, import contracts, the site and the suite: all that CI asks.
PYTHON ?= python3
# How many processes run tests side by side; each may start a backend that takes 2 GB.
PROCESSES ?= 2
VENV := .venv
BIN := $(VENV)/bin
TORCH := 2.13.0

# Twice: pip's warnings (a folder of packages that is not there) are noise, its errors are shown.
# One after another in one environment, also under make -j, where the system has flock.
INSTALL := $(if $(shell command -v flock 2>/dev/null),flock $(VENV)) $(BIN)/pip install --quiet --quiet --no-compile
# The processes that run tests side by side would each compile all of it.
COMPILE := $(BIN)/python -m compileall -q
# On all cores; pip uses one, and compiles what only a package's own tests import, and every model of transformers. What is compiled is
# left as it is, and some packages have files of other versions of Python. onnx/backend/test is what the suite onnx-node is built from.
COMPILE_PACKAGES := $(BIN)/python -W ignore -m compileall -q -q -j 0 -x 'site-packages/((?!onnx/backend/).*/tests?|transformers/models)/' $(VENV)/lib || true
# Else each of the thousands of processes that the tests start compiles Assay again: a third of what a small check costs.
unexport PYTHONDONTWRITEBYTECODE
SOURCES := packages tests benchmarks examples tools deploy docs/conf.py docs/_extensions

.PHONY: demo test docs check check-fast static lint types unit format lock system clean

demo: $(VENV)/.demo
	$(BIN)/assay demo

# Tests that fail are run once more: each talks with other processes, and ten thousand of them on a busy machine must not hang on one that
# was out of time. pytest-rerunfailures asks between processes about each of the ten thousand, which costs a millisecond.
BESIDE := -m 'not slow and not alone' --numprocesses $(PROCESSES) --dist worksteal -p no:rerunfailures
AGAIN := { [ $$? = 1 ] && echo 'make: run again: tests that failed' && $(BIN)/pytest $(BESIDE) --last-failed -r P; }
# Tests that measure time or load the whole machine come last, one at a time, so that they disturb nobody and nobody disturbs them.
test: $(VENV)/.test
	$(BIN)/pytest $(BESIDE) || $(AGAIN)
	$(BIN)/pytest -m 'not slow and alone' --reruns 1 --reruns-delay 1 -r R $$(grep -rlE 'three_tries|mark\.alone' tests --include='test_*.py')

docs: $(VENV)/.docs
	$(BIN)/sphinx-build --fail-on-warning --keep-going --quiet --jobs auto --fresh-env \
	  --doctree-dir build/docs-cache docs build/docs
	@echo "wrote build/docs/index.html"

# Types take one core for as long as the site takes the other. What the site needs is there before: types are looked at meanwhile.
check: lint test $(VENV)/.docs
	$(MAKE) --jobs=2 types docs

static: lint types

lint: $(VENV)/.test
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/lint-imports

types: $(VENV)/.test
	$(BIN)/mypy

# Side by side: the types take as long as the tests where nothing is cached.
check-fast: $(VENV)/.test
	$(MAKE) --jobs=2 static unit

# They are small, and wait for processes of their own a third of the time: one more process.
unit: $(VENV)/.test
	$(BIN)/pytest -m 'not slow and not alone and not heavy' --numprocesses $$(($(PROCESSES) + 1)) --dist worksteal -p no:rerunfailures tests/unit

format: $(VENV)/.test
	$(BIN)/ruff format $(SOURCES)
	$(BIN)/ruff check --fix $(SOURCES)

# A real browser, a real PostgreSQL and a real sandbox for the tests that want them (Debian, Ubuntu; as root).
system:
	apt-get update
	apt-get install --yes --no-install-recommends bubblewrap chromium postgresql

$(VENV)/.made:
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "assay needs Python 3.11 or newer; give one with make PYTHON=...")'
	$(PYTHON) -m venv $(VENV)
	touch $@

$(VENV)/.demo: $(VENV)/.made requirements/demo.txt packages/assay/pyproject.toml packages/assay/hatch_build.py packages/assay/src/assay/numerics/pairs.c
	$(INSTALL) --require-hashes -r requirements/demo.txt
	$(INSTALL) --no-deps --no-build-isolation -e packages/assay
	$(COMPILE) packages/assay/src
	$(COMPILE_PACKAGES)
	touch $@

# torch first and by itself (requirements/without-torch.txt says why); the lock holds everything else that is needed.
$(VENV)/.test: $(VENV)/.made requirements/test.txt packages/assay/pyproject.toml packages/assay-zoo/pyproject.toml packages/assay/hatch_build.py packages/assay/src/assay/numerics/pairs.c
	$(INSTALL) torch==$(TORCH)
	$(INSTALL) --require-hashes --no-deps -r requirements/test.txt
	$(INSTALL) --no-deps --no-build-isolation -e packages/assay -e packages/assay-zoo
	$(COMPILE) packages/assay/src packages/assay-zoo/src
	$(COMPILE_PACKAGES)
	$(BIN)/pytest --collect-only -qq -p no:cacheprovider >/dev/null || true  # compiles the tests, as pytest rewrites them
	touch $@ $(VENV)/.demo

$(VENV)/.docs: $(VENV)/.demo requirements/docs.txt
	$(INSTALL) --require-hashes --no-deps -r requirements/docs.txt
	$(INSTALL) --no-deps --no-build-isolation -e packages/assay-zoo
	touch $@

# Needs uv. Pinned with hashes, for every platform and Python from 3.11 on.
lock:
	for name in demo test docs; do \
	  uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --quiet \
	    --override requirements/without-torch.txt \
	    requirements/$$name.in --no-emit-package assay --no-emit-package assay-zoo -o requirements/$$name.txt || exit 1; \
	done

clean:
	rm -rf $(VENV) build docs/_generated .assay .mypy_cache .ruff_cache .pytest_cache
