"""The page of errors and outcomes, from the tree of errors."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Iterator
from typing import get_args

from generating.docstrings import markdown, row
from groundwire import errors
from groundwire.cli.terminal_text import exit_code
from groundwire.errors import GroundwireError
from groundwire.models import Outcome


def error_page() -> str:
    """Return the page."""
    return "\n\n".join(
        [
            "# Errors and outcomes",
            "Every error message says what happened, where, and what to do next, without secrets or private addresses. "
            "A tool never raises an error: it returns a result with the status `error` and the same message.",
            f"```text\n{_tree()}\n```",
            "## Outcomes",
            "The outcomes of an attempt, and the errors that belong to each. What happens next is explained in "
            "[outcomes](../explanation/outcomes.md).",
            "\n".join(_outcomes()),
            "## Exit codes",
            f"`groundwire` exits with {int(exit_code(errors.ConfigurationError('')))} for a `ConfigurationError` or an "
            f"`InvalidRequest`, and with {int(exit_code(GroundwireError()))} for every other error; see "
            "[commands](commands.md#exit-codes).",
            *_classes(),
        ]
    )


def _tree() -> str:
    """Return the tree of errors as `errors.py` draws it."""
    drawn = (inspect.getdoc(errors) or "").partition("    GroundwireError")
    return textwrap.dedent(drawn[1] + drawn[2]).rstrip()


def _outcomes() -> Iterator[str]:
    yield "| outcome | errors |"
    yield "| --- | --- |"
    for outcome in get_args(Outcome):
        names = [cls.__name__ for cls in _all() if cls.__dict__.get("outcome") == outcome]
        yield row(f"`{outcome}`", ", ".join(f"`{name}`" for name in names))


def _classes() -> Iterator[str]:
    """Return the classes of which the tree does not say everything: those with attributes, or with no words there."""
    words = dict(re.findall(r"(\w+) {2,}(\S.*)$", _tree(), re.MULTILINE))
    for cls in _all():
        said = inspect.getdoc(cls) or ""
        if "\nArgs:" in said or cls.__name__ not in words:
            yield f"## `{cls.__name__}`"
            yield markdown(said)


def _all() -> list[type[GroundwireError]]:
    return [getattr(errors, name) for name in errors.__all__ if isinstance(getattr(errors, name), type)]
