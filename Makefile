# make run: set up and run the main job. make test: set up and run every check.
# Both work on a fresh machine with Python 3.11 or newer, with the versions of constraints.txt.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
VENV_GPU := .venv-gpu
VENV_LOWEST := .venv-lowest
LINES := .line_coverage
COMPILED := $(wildcard src/semibandit/*/compiled*.py src/semibandit/_util/jit.py src/semibandit/_util/reproducible.py src/semibandit/models/simd.py \
	src/semibandit/models/fading.py)
TORCH ?= torch
# Small matrices: two BLAS threads are slower than one, and tests run on every core already.
export OPENBLAS_NUM_THREADS ?= 1

.PHONY: docs serve-docs run test test-gpu lint bench bench-gpu bench-quality bench-service bench-overload bench-soak bench-paper bench-regret browser clean examples test-peers test-lowest test-pythons tests-alone constraints quick compiled

run: $(VENV)/ready
	$(BIN)/semibandit reproduce

# Linters and numba take a core each; then the tests have both.
test: $(VENV)/ready
	$(MAKE) --no-print-directory -j 2 lint browser compiled
	rm -rf $(LINES)
	LINE_COVERAGE=$(CURDIR)/$(LINES) $(BIN)/pytest -n auto --dist worksteal --durations 10
	$(BIN)/python tests/support/line_coverage.py $(LINES)

# Less than a minute: the tests that start no processes (tests/support/quick.py says which).
quick: lint $(VENV)/numba
	$(BIN)/pytest -n auto --dist worksteal --quick

# What many test processes would otherwise compile at the same time.
compiled: $(VENV)/numba
	$(BIN)/python tests/support/compile.py

# numba knows a compiled function by its own file alone: one that calls a changed one must be compiled anew
$(VENV)/numba: $(COMPILED) | $(VENV)/ready
	find src -name '*.nb[ic]' -delete
	touch $@

# pages are tested in a real browser; PostgreSQL comes with the extra `dev`, as a wheel
browser:
	@command -v chromium || command -v chromium-browser || command -v google-chrome || \
	if [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
		apt-get install -y --no-install-recommends chromium fonts-dejavu-core; \
	else \
		echo "No browser to test pages in: install chromium by your system's means."; \
	fi

# the tests with the lowest versions that pyproject.toml allows for what the library and its extras need, on the
# lowest Python of this machine. What tests need besides is as new as constraints.txt has it; tests of the site, of
# other libraries and of the wheel are left out, because their tools cannot live beside versions that old. Old packages
# use what newer ones deprecate, and leave files and processes to the interpreter: no errors here.
TOOLS_TESTED := tests/docs/test_site.py tests/docs/test_site_sources.py tests/docs/test_compared.py tests/packaging/test_distribution.py
test-lowest: $(VENV_LOWEST)/ready browser
	find src -name '*.nb[ic]' -delete
	$(VENV_LOWEST)/bin/pytest -n auto -W default::DeprecationWarning -W default::pytest.PytestUnraisableExceptionWarning $(addprefix --ignore=,$(TOOLS_TESTED))

# the tests on every Python from 3.11 on that this machine has, each in an environment of its own
test-pythons: $(VENV)/ready
	@failed=; for python in $$($(BIN)/python -m tools.environments pythons); do \
		echo "== $$python"; \
		$(MAKE) --no-print-directory tests-alone PYTHON=$$python VENV=.venv-$$(basename $$python) || failed="$$failed $$python"; \
	done; if [ -n "$$failed" ]; then echo "failed on:$$failed"; exit 1; fi

tests-alone: $(VENV)/ready browser
	find src -name '*.nb[ic]' -delete
	$(BIN)/pytest -n auto

# every version of the environment, resolved anew; needs nothing installed but Python
constraints:
	$(PYTHON) -m tools.environments constraints

# Full(device=...) in an environment of its own: torch with CUDA's libraries takes 4.7 GB. TORCH is what
# pip is told to install: make test-gpu TORCH='torch==2.13.0', or a build without CUDA from an index of yours
test-gpu: $(VENV_GPU)/ready
	$(VENV_GPU)/bin/pytest tests_gpu --ignore=tests_gpu/functions
	$(VENV_GPU)/bin/pytest tests_gpu/functions

# programs of docs/compared for libraries that have to be compiled: each in an environment of its own, build/peers
test-peers: $(VENV)/ready
	$(BIN)/pytest tests_peers

bench-gpu: $(VENV_GPU)/ready
	$(VENV_GPU)/bin/python -m benchmarks.gpu

bench: $(VENV)/ready
	$(BIN)/python -m benchmarks

bench-quality: $(VENV)/ready
	$(BIN)/python -m benchmarks.quality

bench-service: $(VENV)/ready
	$(BIN)/python -m benchmarks.service

bench-overload: $(VENV)/ready
	$(BIN)/python -m benchmarks.overload

bench-soak: $(VENV)/ready
	$(BIN)/python -m benchmarks.soak

# goes on where it was stopped
bench-paper: $(VENV)/ready
	$(BIN)/semibandit reproduce --seeds 10
	$(BIN)/python -m benchmarks.paper semibandit-report

bench-regret: $(VENV)/ready
	$(BIN)/python -m benchmarks.regret

# strict: a page, link or anchor that is missing is an error (but not with --quiet, which hides it from
# MkDocs as well). Nothing is fetched, now or when the site is read.
docs: $(VENV)/ready
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --clean
	@echo "the site is in site/: open site/index.html, no server is needed"

# the same at http://127.0.0.1:8000, made anew when a page changes
serve-docs: $(VENV)/ready
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs serve

# what the gallery prints and draws: examples/output, which the tests compare with new runs
examples: $(VENV)/ready
	mkdir -p build/examples
	cd build/examples && for script in $(CURDIR)/examples/*.py; do \
		$(CURDIR)/$(BIN)/python $$script > $$(basename $$script .py).txt || exit 1; \
	done
	cp build/examples/*.txt build/examples/*.svg examples/output

lint: $(VENV)/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python tools/check_privacy.py

$(VENV)/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --upgrade pip setuptools
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --no-build-isolation --editable '.[dev]'
	touch $@

$(VENV_LOWEST)/ready: pyproject.toml constraints.txt $(VENV)/ready
	$$($(BIN)/python -m tools.environments pythons | head -1) -m venv $(VENV_LOWEST)
	$(BIN)/python -m tools.environments lowest > $(VENV_LOWEST)/lowest.txt
	$(VENV_LOWEST)/bin/python -m pip install --quiet --constraint constraints.txt --upgrade pip setuptools
	$(VENV_LOWEST)/bin/python -m pip install --quiet --constraint $(VENV_LOWEST)/lowest.txt --no-build-isolation --editable '.[all,test]'
	touch $@

# Triton's interpreter needs numpy below 2.4
$(VENV_GPU)/ready: pyproject.toml
	$(PYTHON) -m venv $(VENV_GPU)
	$(VENV_GPU)/bin/python -m pip install --quiet --upgrade pip
	$(VENV_GPU)/bin/python -m pip install --quiet $(TORCH)
	# a torch with CUDA brings its own Triton; the interpreter of newer ones than 3.6 refuses some of our masks
	$(VENV_GPU)/bin/python -m pip show --quiet triton || $(VENV_GPU)/bin/python -m pip install --quiet 'triton==3.6.*'
	$(VENV_GPU)/bin/python -m pip install --quiet 'numpy<2.4' 'hypothesis>=6.100' 'httpx2>=2' 'pytest>=8' --editable '.[gpu,service]'
	touch $@

clean:
	rm -rf $(VENV) $(VENV_GPU) $(VENV_LOWEST) .venv-python3.* $(LINES) semibandit-demo semibandit-report semibandit-tune semibandit-sweep .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist site
