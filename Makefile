# The handful of commands a developer needs. README's second command makes .venv.
PYTHON := .venv/bin/python
UPGRADE := --upgrade

.PHONY: help check check-library check-server mutants lint format types test matrix quick slow pythons doctor-dev coverage docs docs-serve man lock demo completions dist check-dist sbom

help:  ## List the commands
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

check: lint types test  ## Everything that CI checks

check-library:  ## Check groundwire alone
	$(PYTHON) -m ruff format --check --exclude packages .
	$(PYTHON) -m ruff check --exclude packages .
	.venv/bin/codespell conftest.py src tests scripts docs examples deploy ./*.md
	$(PYTHON) -m mypy conftest.py src tests docs scripts
	.venv/bin/lint-imports
	$(PYTHON) -m pytest -n auto tests

check-server:  ## Check groundwire-server alone
	$(MAKE) -C packages/groundwire-server check

lint:  ## Check formatting and lint rules
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m ruff check .
	.venv/bin/codespell conftest.py src tests packages/groundwire-server scripts docs examples deploy ./*.md

format:  ## Format, and fix what lint rules can fix
	$(PYTHON) -m ruff format .
	$(PYTHON) -m ruff check --fix .

types:  ## Check types and import layers
	$(PYTHON) -m mypy
	$(PYTHON) -m mypy --platform win32 --cache-dir .mypy_cache/win32 src
	$(PYTHON) -m mypy --platform darwin --cache-dir .mypy_cache/darwin src packages/groundwire-server/src
	.venv/bin/lint-imports
	.venv/bin/lint-imports --config packages/groundwire-server/pyproject.toml

test:  ## Run all tests except slow ones
	$(PYTHON) -m pytest -n auto

matrix:  ## Compare what is known of hosted search with the installed SDKs, and print what is due for another look
	$(PYTHON) scripts/check_matrix.py

quick:  ## Run the tests that need no real component
	$(PYTHON) -m pytest -n auto -m "not real and not slow"

slow:  ## Run all tests, including slow ones, and every property with its full number of examples
	SLOW=1 $(PYTHON) -m pytest -n auto -m "slow or not slow"

pythons:  ## Run the tests that need no real component with the oldest and the newest other Python
	.ci/pythons

doctor-dev:  ## List missing Debian packages and Pythons, and how to install them
	@if [ -x $(PYTHON) ]; then $(PYTHON) scripts/doctor_dev.py; else python3 scripts/doctor_dev.py; fi

coverage:  ## Run all tests in one process, and list the lines that they do not reach
	$(PYTHON) -m coverage run -m pytest
	$(PYTHON) -m coverage combine -q
	$(PYTHON) -m coverage report

mutants:  ## Test the tests with mutants of modules with logic: MUTANTS="--seed 7 --module budget"
	nice $(PYTHON) scripts/mutants.py $(MUTANTS)

docs: man  ## Generate the reference and the manual page, and build the site in site/; a broken link is an error
	$(PYTHON) docs/generate.py
	$(PYTHON) -m zensical build --clean --strict

docs-serve:  ## Serve the site at http://127.0.0.1:8000 while you write
	$(PYTHON) -m zensical serve

man:  ## Generate docs/groundwire.1
	$(PYTHON) docs/manual.py

completions:  ## Write the shell completion scripts, for packagers
	mkdir -p build/completions
	_GROUNDWIRE_COMPLETE=bash_source .venv/bin/groundwire >build/completions/groundwire
	_GROUNDWIRE_COMPLETE=fish_source .venv/bin/groundwire >build/completions/groundwire.fish
	_GROUNDWIRE_COMPLETE=zsh_source .venv/bin/groundwire >build/completions/_groundwire

dist:  ## Build the sdists and the wheels of the last commit in dist
	$(PYTHON) scripts/make_dist.py

check-dist: dist  ## Build and test them
	DIST=dist $(PYTHON) -m pytest -m "slow or not slow" tests/release

sbom: dist  ## Build them, and write the wheels' bills of materials
	$(PYTHON) scripts/sbom.py dist/groundwire-*.whl
	$(PYTHON) scripts/sbom.py dist/groundwire_server-*.whl

lock:  ## Pin the development requirements; UPGRADE= keeps current versions where possible
	$(PYTHON) -m uv pip compile -q --universal --generate-hashes --python-version 3.11 pyproject.toml --group dev \
		packages/groundwire-server/pyproject.toml --no-emit-package groundwire --no-header --no-annotate --no-strip-extras $(UPGRADE) -o requirements/dev.txt

demo:  ## Run the demo on the miniature web
	.venv/bin/groundwire demo
