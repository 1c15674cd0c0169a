# The handful of commands a developer needs. README's second command makes .venv.
PYTHON := .venv/bin/python
UPGRADE := --upgrade

.PHONY: help check mutants lint format types test matrix quick slow pythons doctor-dev coverage docs docs-serve man lock demo completions dist check-dist sbom

help:  ## Say what there is
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

check: lint types test  ## All that CI checks

lint:  ## Formatting and lint rules
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m ruff check .

format:  ## Mend formatting and what lint rules can mend
	$(PYTHON) -m ruff format .
	$(PYTHON) -m ruff check --fix .

types:  ## Strict types, and the import layers
	$(PYTHON) -m mypy
	.venv/bin/lint-imports

test:  ## All tests but those marked slow
	$(PYTHON) -m pytest -n auto

matrix:  ## Compare what is known of hosted search with the installed SDKs, and print what is due for another look
	$(PYTHON) scripts/check_matrix.py

quick:  ## The tests that need no real component
	$(PYTHON) -m pytest -n auto -m "not real and not slow"

slow:  ## All tests, those marked slow too, and every property with its full number of examples
	SLOW=1 $(PYTHON) -m pytest -n auto -m "slow or not slow"

pythons:  ## The tests that need no real component, with the oldest and the newest other Python of this machine
	.ci/pythons

doctor-dev:  ## Say which Debian packages and Pythons this machine lacks for the tests, and how to install them
	@if [ -x $(PYTHON) ]; then $(PYTHON) scripts/doctor_dev.py; else python3 scripts/doctor_dev.py; fi

coverage:  ## All tests in one process, and the lines that none of them reached
	$(PYTHON) -m coverage run -m pytest
	$(PYTHON) -m coverage combine -q
	$(PYTHON) -m coverage report

mutants:  ## Change the modules that decide something and see whether their tests notice: MUTANTS="--seed 7 --module budget"
	nice $(PYTHON) scripts/mutants.py $(MUTANTS)

docs: man  ## Write the reference and the manual page anew, and build the site into site/; a broken link fails
	$(PYTHON) docs/generate.py
	$(PYTHON) -m zensical build --clean --strict

docs-serve:  ## Show the site while you write, at http://127.0.0.1:8000
	$(PYTHON) -m zensical serve

man:  ## Write docs/groundwire.1 anew
	$(PYTHON) docs/manual.py

completions:  ## Write the scripts that complete the command in shells, for who packages it
	mkdir -p build/completions
	.venv/bin/groundwire completion bash >build/completions/groundwire
	.venv/bin/groundwire completion fish >build/completions/groundwire.fish
	.venv/bin/groundwire completion zsh >build/completions/_groundwire

dist:  ## Build sdist and wheel of the last commit into dist
	$(PYTHON) scripts/make_dist.py

check-dist: dist  ## Build them and test just these
	DIST=dist $(PYTHON) -m pytest -m "slow or not slow" tests/release

sbom: dist  ## Build them and write the wheel's bill of materials beside it
	$(PYTHON) scripts/sbom.py dist/*.whl

lock:  ## Pin the development requirements anew; UPGRADE= keeps the versions that still fit
	$(PYTHON) -m uv pip compile -q --universal --generate-hashes --python-version 3.11 pyproject.toml --group dev \
		--no-header --no-annotate $(UPGRADE) -o requirements/dev.txt

demo:  ## The whole path on a miniature web
	.venv/bin/groundwire demo
