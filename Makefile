# make run: set up and run the main job. make test: set up and run every check.
# Both work on a fresh machine with Python 3.11 or newer.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
VENV_GPU := .venv-gpu
TORCH ?= torch
# Small matrices: two BLAS threads are slower than one, and tests run on every core already.
export OPENBLAS_NUM_THREADS ?= 1

.PHONY: run test test-gpu lint bench bench-gpu bench-quality bench-service bench-soak browser clean

run: $(VENV)/ready
	$(BIN)/semibandit reproduce

# numba knows a compiled function by its own file alone: one that calls a changed one must be compiled anew
test: lint browser
	find src -name '*.nb[ic]' -delete
	$(BIN)/pytest -n auto

# pages are tested in a real browser; PostgreSQL comes with the extra `dev`, as a wheel
browser:
	@command -v chromium || command -v chromium-browser || command -v google-chrome || \
	if [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
		apt-get install -y --no-install-recommends chromium fonts-dejavu-core; \
	else \
		echo "No browser to test pages in: install chromium by your system's means."; \
	fi

# Full(device=...) in an environment of its own: torch with CUDA's libraries takes 4.7 GB. TORCH is what
# pip is told to install: make test-gpu TORCH='torch==2.13.0', or a build without CUDA from an index of yours
test-gpu: $(VENV_GPU)/ready
	$(VENV_GPU)/bin/pytest tests_gpu --ignore=tests_gpu/functions
	$(VENV_GPU)/bin/pytest tests_gpu/functions

bench-gpu: $(VENV_GPU)/ready
	$(VENV_GPU)/bin/python -m benchmarks.gpu

bench: $(VENV)/ready
	$(BIN)/python -m benchmarks

bench-quality: $(VENV)/ready
	$(BIN)/python -m benchmarks.quality

bench-service: $(VENV)/ready
	$(BIN)/python -m benchmarks.service

bench-soak: $(VENV)/ready
	$(BIN)/python -m benchmarks.soak

lint: $(VENV)/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python tools/check_privacy.py

$(VENV)/ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

# Triton's interpreter needs numpy below 2.4
$(VENV_GPU)/ready: pyproject.toml
	$(PYTHON) -m venv $(VENV_GPU)
	$(VENV_GPU)/bin/python -m pip install --quiet --upgrade pip
	$(VENV_GPU)/bin/python -m pip install --quiet $(TORCH)
	# a torch with CUDA brings its own Triton; the interpreter of newer ones than 3.6 refuses some of our masks
	$(VENV_GPU)/bin/python -m pip show --quiet triton || $(VENV_GPU)/bin/python -m pip install --quiet 'triton==3.6.*'
	$(VENV_GPU)/bin/python -m pip install --quiet 'numpy<2.4' 'hypothesis>=6.100' 'pytest>=8' --editable '.[gpu,service]'
	touch $@

clean:
	rm -rf $(VENV) $(VENV_GPU) semibandit-demo semibandit-report semibandit-tune semibandit-sweep .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist
