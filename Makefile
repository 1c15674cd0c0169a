# The handful of commands a developer needs. README's second command makes .venv.
PYTHON := .venv/bin/python

.PHONY: help check lint format types test quick coverage docs docs-serve lock demo

help:  ## Say what there is
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

check: lint types test  ## All that CI checks

lint:  ## Formatting and lint rules
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m ruff check .

format:  ## Mend formatting and what lint rules can mend
	$(PYTHON) -m ruff format .
	$(PYTHON) -m ruff check --fix .

types:  ## Strict types, and the floors of the house
	$(PYTHON) -m mypy
	.venv/bin/lint-imports

test:  ## All tests
	$(PYTHON) -m pytest

quick:  ## The tests that need no real component
	$(PYTHON) -m pytest -m "not real"

coverage:  ## All tests, and the lines that none of them reached
	$(PYTHON) -m coverage run -m pytest
	$(PYTHON) -m coverage combine -q
	$(PYTHON) -m coverage report

docs:  ## Write the reference anew, and build the site into site/; a broken link fails
	$(PYTHON) docs/generate.py
	$(PYTHON) -m zensical build --clean --strict

docs-serve:  ## Show the site while you write, at http://127.0.0.1:8000
	$(PYTHON) -m zensical serve

lock:  ## Pin the requirements of development anew
	$(PYTHON) -m uv pip compile -q --universal --generate-hashes --python-version 3.11 pyproject.toml --group dev \
		--no-header --no-annotate --upgrade -o requirements/dev.txt

demo:  ## The whole path on a miniature web
	.venv/bin/groundwire demo
