"""What each worker of pytest-xdist would start for itself, started once for all of them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from components.warm_python import warm_python


class SharedStart:
    """A pytest plugin: all workers fork from one warm Python.

    Args:
        modules: What it imports instead of all of Groundwire.
    """

    WARM_PYTHON = "warm_python"
    """The key of its program in a worker's `workerinput`."""

    def __init__(self, modules: Sequence[str] = ()) -> None:
        self._modules = modules
        self._started = ExitStack()
        self._program = ""

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_setupnodes(self) -> None:
        """Start it; it imports when it is first asked."""
        if not hasattr(os, "fork"):
            return
        folder = self._started.enter_context(tempfile.TemporaryDirectory())
        self._program = str(self._started.enter_context(warm_python(Path(folder), modules=self._modules)))

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell a worker where it is."""
        node.workerinput[self.WARM_PYTHON] = self._program

    @pytest.hookimpl
    def pytest_unconfigure(self) -> None:
        """End it."""
        self._started.close()
