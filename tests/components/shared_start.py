"""What each worker of pytest-xdist would do for itself as it starts, done once for all of them."""

from __future__ import annotations

import compileall
import multiprocessing
import os
import re
import sysconfig
import tempfile
import warnings
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from _pytest.assertion import rewrite
from hypothesis.internal.constants_ast import constants_from_module

from components.requirements_table import is_whole_run
from components.warm_python import warm_python

__all__ = ["SharedStart", "compile_modules"]

_SOURCE, _TEST, _PACKAGE = "source", "test", "package"
_IMPORT = re.compile(r"^ *(?:from|import) (\w+)", re.MULTILINE)


class SharedStart:
    """A pytest plugin: modules are compiled before the workers start, and all fork from one warm Python.

    Args:
        sources: The folders of modules, beside those of tests.
        modules: What the warm Python imports instead of all of Groundwire.
    """

    WARM_PYTHON = "warm_python"
    """The key of its program in a worker's `workerinput`."""

    def __init__(self, sources: Sequence[Path], modules: Sequence[str] = ()) -> None:
        self._sources = sources
        self._modules = modules
        self._started = ExitStack()
        self._program = ""

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_setupnodes(self, config: pytest.Config) -> None:
        """Compile the modules of a whole run, and start the warm Python, which imports when it is first asked."""
        if not hasattr(os, "fork"):
            return
        if is_whole_run(config):
            compile_modules(config, self._sources, [config.rootpath / one for one in config.getini("testpaths")])
        folder = self._started.enter_context(tempfile.TemporaryDirectory())
        self._program = str(self._started.enter_context(warm_python(Path(folder), modules=self._modules)))

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell a worker where it is."""
        node.workerinput[self.WARM_PYTHON] = self._program

    @pytest.hookimpl
    def pytest_unconfigure(self) -> None:
        """End the warm Python."""
        self._started.close()


def compile_modules(config: pytest.Config, sources: Iterable[Path], tests: Iterable[Path]) -> None:
    """Compile modules, and the packages that they import, on all processors, unless they are.

    Workers import the same modules at the same moment, so none would find what another has compiled: in a fresh
    checkout, the collection took each some 13 seconds of CPU time instead of 6.

    Args:
        config: That of the run.
        sources: Folders of modules, from which Hypothesis takes constants, too.
        tests: Folders of tests and what they import.
    """
    modules = [(path, _SOURCE) for folder in sources for path in folder.rglob("*.py")]
    modules += [(path, _TEST) for folder in tests for path in folder.rglob("*.py")]
    packages = Path(sysconfig.get_path("purelib"))
    named = {name for path, _ in modules for name in _IMPORT.findall(path.read_text("utf-8"))}
    modules += [(path, _PACKAGE) for name in sorted(named) for path in (packages / name).rglob("*.py")]
    count = os.cpu_count() or 1
    context = multiprocessing.get_context("fork")
    shares = [context.Process(target=_compile, args=(config, modules[start::count])) for start in range(count)]
    for share in shares:
        share.start()
    for share in shares:
        share.join()


def _compile(config: pytest.Config, modules: Iterable[tuple[Path, str]]) -> None:
    warnings.simplefilter("ignore")  # of packages
    for path, kind in modules:
        if kind == _TEST and (path.name.startswith("test_") or path.name == "conftest.py"):
            _rewrite(config, path)
        else:
            compileall.compile_file(path, quiet=2)
        if kind == _SOURCE:
            module = ModuleType(path.stem)
            module.__file__ = str(path)
            constants_from_module(module)


def _rewrite(config: pytest.Config, path: Path) -> None:
    """Compile a module as pytest's import hook does, which would also run it."""
    folder = rewrite.get_cache_dir(path)
    target = folder / (path.stem + rewrite.PYC_TAIL)
    if not target.exists() and rewrite.try_makedirs(folder):
        digest, code = rewrite._rewrite_test(path, config)
        rewrite._write_pyc(config.stash[rewrite.assertstate_key], code, digest, target)
