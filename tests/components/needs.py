"""Requirements of a test: a skip, or in CI a failure, that states how to meet them."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

import pytest

from components.processes import Unavailable
from doctor_dev import find, install_line, packages

_T = TypeVar("_T")


def needed(make: Callable[[], _T]) -> _T:
    """Return the result of `make`; if it is unavailable, skip the test, or fail it in CI."""
    try:
        return make()
    except Unavailable as error:
        if os.environ.get("CI"):
            pytest.fail(str(error), pytrace=False)
        pytest.skip(str(error))


def system_program(program: str) -> Path:
    """Return a program, or a file, of a Debian package that `requirements/debian.txt` names.

    Raises:
        Unavailable: It is not installed; the message is the line that installs it.
    """
    (package,) = (package for package, brings in packages().items() if brings == program)
    if found := find(program):
        return found
    raise Unavailable(f"{Path(program).name} is missing; install it with: {install_line([package])}")


def require(*programs: str) -> None:
    """Skip the test, or fail it in CI, unless these programs of Debian packages are installed."""
    for program in programs:
        needed(partial(system_program, program))
