# Needs nothing but Python 3.11+ and make: the environment is made in .venv the first time.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test slow torture lint types imports docs clean

demo: .venv/demo
	$(BIN)/nary demo

test: .venv/dev
	$(BIN)/pytest -n auto

slow: .venv/dev
	$(BIN)/pytest -m slow

# Ten minutes of kills, mutated files and hostile clients on two idle cores; SCALE=0.1 tries a tenth.
SCALE ?= 1
torture: .venv/dev
	$(BIN)/python benchmarks/torture --scale $(SCALE) --write

lint: .venv/dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: .venv/dev
	$(BIN)/mypy
	$(BIN)/mypy --strict docs/notebooks/first-steps.py
	$(BIN)/mypy --strict docs/notebooks/your-data-to-a-service.py

imports: .venv/dev
	$(BIN)/lint-imports

# The site, in build/docs. A warning is an error, and so is a link to a page or section that does not exist.
docs: .venv/dev
	$(BIN)/sphinx-build -q -n -W --keep-going -b html docs build/docs
	@echo "Open build/docs/index.html"

clean:
	rm -rf .venv dist build

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/demo: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[plots,serve]'
	touch $@

.venv/dev: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@
