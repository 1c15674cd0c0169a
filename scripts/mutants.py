"""Mutate the modules with logic, one small change at a time, and run their tests.

The changes are made in a copy of the package, never in the checkout. Each mutant runs in a forked process, in which the
libraries are imported already; the tests that reach the changed statement run first, then the module's others.

A mutant that uses up its CPU time has looped, and one that exceeds its wall-clock time twice is stuck; both count as
killed, and are listed. With `--journal`, an interrupted run continues where it stopped.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import importlib
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

import pytest

from equivalent_mutants import EQUIVALENT
from mutated_modules import MODULES
from mutations import Mutation, mutations

ROOT: Final = Path(__file__).resolve().parent.parent
_SOURCES = ("src", "packages/groundwire-server/src")
_CPU: Final = 20  # seconds of CPU time, beside five times those of the module's unchanged tests with coverage
_WALL: Final = 30.0  # seconds, beside six times the duration of those tests
_MEMORY: Final = 4 << 30  # bytes of address space; a loop that never ends may fill a list
_SHIFT: Final = 10  # seconds between the times of change of two versions, so that no old bytecode is taken for new
_OPTIONS: Final = (
    "-q", "-x", "--no-header", "-m", "not slow and not real", "-p", "no:randomly", "-p", "no:cacheprovider",
    "--hypothesis-seed=1", "-W", "ignore::pytest.PytestAssertRewriteWarning",
)  # fmt: skip

Fate = Literal["killed", "looped", "stuck", "survived", "equivalent"]
_KILLED: Final = frozenset({"killed", "looped", "stuck"})
_STUCK: Final = -1_000  # the result of a process that exceeded its wall-clock time


@dataclass(slots=True)
class Baseline:
    """The test results of the unchanged module."""

    seconds: float = 0.0
    """Their duration."""
    cpu: float = 0.0
    """Their CPU time in seconds."""
    reach: dict[int, list[str]] = field(default_factory=dict)
    """The tests that run each line, the fastest first, except for those in separate processes."""
    libraries: list[str] = field(default_factory=list)
    """The modules of others that they import."""


class _Recorder:
    """A pytest plugin that records which tests run which line of some modules."""

    def __init__(self, modules: Sequence[Path]) -> None:
        import coverage

        self._modules = modules
        self._seconds: dict[str, float] = {}
        self._coverage = coverage.Coverage(data_file=None, config_file=False, include=[str(one) for one in modules])
        self._coverage.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._coverage.switch_context(item.nodeid)
        started = time.perf_counter()
        try:
            return (yield)
        finally:
            self._seconds[item.nodeid] = time.perf_counter() - started

    def reach(self) -> list[dict[int, list[str]]]:
        """Return the tests of each line of each module, the fastest first."""
        self._coverage.stop()
        read = self._coverage.get_data()
        return [
            {
                line: sorted((test for test in tests if test in self._seconds), key=self._seconds.__getitem__)
                for line, tests in read.contexts_by_lineno(str(module)).items()
            }
            for module in self._modules
        ]


class _Chosen:
    """A pytest plugin that runs some of the tests, in a given order, or all the others."""

    def __init__(self, tests: Sequence[str], *, others: bool = False) -> None:
        self._order = {test: number for number, test in enumerate(tests)}
        self._others = others

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        if self._others:
            items[:] = [item for item in items if item.nodeid not in self._order]
        else:
            items[:] = [item for item in items if item.nodeid in self._order]
            items.sort(key=lambda item: self._order[item.nodeid])


class Workshop:
    """A copy of the package in which one module at a time is mutated.

    Args:
        folder: Where the copy is made.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._version = int(time.time()) - 1_000_000
        for source in _SOURCES:
            shutil.copytree(ROOT / source, folder / source, ignore=shutil.ignore_patterns("__pycache__"))
        os.environ["PYTHONPATH"] = os.pathsep.join(str(folder / source) for source in _SOURCES)
        os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = str(folder / "hypothesis")

    def write(self, module: str, source: str) -> None:
        """Replace the text of a module in the copy."""
        path = self._folder / module
        path.write_text(source)
        self._version += _SHIFT
        os.utime(path, (self._version, self._version))

    def baselines(self, modules: Sequence[str], tests: Sequence[str]) -> dict[str, Baseline]:
        """Run the tests of some modules without any change.

        Raises:
            SystemExit: they fail.
        """
        noted = self._folder / "baseline.json"

        def run() -> int:
            recorder = _Recorder([self._folder / module for module in modules])
            code = pytest.main([*_OPTIONS, *tests], plugins=[recorder])
            libraries = [
                name
                for name, imported in list(sys.modules.items())
                if "-packages/" in (getattr(imported, "__file__", None) or "") and not name.startswith("groundwire")
            ]
            noted.write_text(json.dumps({"reach": recorder.reach(), "libraries": libraries}))
            return code

        started = time.monotonic()
        code, cpu = self._forked(run, wall=3_600, cpu=3_600)
        if code != 0:
            sys.exit(f"The tests of {', '.join(modules)} fail without any change:\n{self._said()[-4_000:]}")
        seconds, read = time.monotonic() - started, json.loads(noted.read_text())
        return {
            module: Baseline(seconds, cpu, {int(line): found for line, found in reach.items()}, read["libraries"])
            for module, reach in zip(modules, read["reach"], strict=True)
        }

    def fate(self, module: str, mutation: Mutation, tests: Sequence[str], baseline: Baseline) -> Fate:
        """Change a module and run its tests."""
        first, last = mutation.lines
        reached = list(dict.fromkeys(test for line in range(first, last + 1) for test in baseline.reach.get(line, ())))
        files = [file for file in tests if any(test.startswith(f"{file}::") for test in reached)]
        original = (self._folder / module).read_text()
        self.write(module, mutation.source)
        try:
            code = self._tested(files, _Chosen(reached), baseline) if reached else 0
            if code == 0:
                code = self._tested(tests, _Chosen(reached, others=True), baseline)
        finally:
            self.write(module, original)
        if code == 0:
            return "survived"
        return "stuck" if code == _STUCK else "looped" if code == -signal.SIGXCPU else "killed"

    def _tested(self, tests: Sequence[str], chosen: _Chosen, baseline: Baseline) -> int:
        """Return 0 if the chosen tests pass, or if none is chosen."""
        wall, cpu = _WALL + 6 * baseline.seconds, _CPU + 5 * baseline.cpu
        code = _STUCK
        for _ in range(2):
            code, _used = self._forked(lambda: self._run(tests, [chosen]), wall, cpu)
            if code != _STUCK:
                break
        return 0 if code == pytest.ExitCode.NO_TESTS_COLLECTED else code

    @staticmethod
    def _run(tests: Sequence[str], plugins: list[object]) -> int:
        return pytest.main([*_OPTIONS, *tests], plugins=plugins)

    def _said(self) -> str:
        return (self._folder / "output").read_text(errors="replace")

    def _forked(self, run: Callable[[], int], wall: float, cpu: float) -> tuple[int, float]:
        """Return the result of a function run in a separate process, and its CPU time."""
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            code = 70
            with contextlib.suppress(BaseException):
                os.setsid()
                signal.signal(signal.SIGTERM, signal.SIG_DFL)
                resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
                resource.setrlimit(resource.RLIMIT_CPU, (int(cpu) + 1, int(cpu) + 11))
                output = os.open(self._folder / "output", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
                os.dup2(output, 1)
                os.dup2(output, 2)
                sys.path[:0] = [str(self._folder / source) for source in _SOURCES]
                code = int(run())
            with contextlib.suppress(BaseException):
                sys.stdout.flush()
            os._exit(code)
        until = time.monotonic() + wall
        try:
            while time.monotonic() < until:
                ended, status, used = os.wait4(child, os.WNOHANG)
                if ended:
                    self._end(child)
                    return os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime
                time.sleep(0.05)
        except BaseException:
            self._end(child)
            raise
        self._end(child)
        os.waitpid(child, 0)
        return _STUCK, 0.0

    @staticmethod
    def _end(child: int) -> None:
        """End a process and its children."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)


def table() -> dict[str, list[str]]:
    """Return the files of the tests of each module."""
    return {
        f"{module if module.startswith('packages/') else f'src/groundwire/{module}'}.py": list(dict.fromkeys(files))
        for module, files in MODULES
    }


def sample(modules: Sequence[str], number: int, seed: int) -> dict[str, list[Mutation]]:
    """Return a random sample of mutations of some modules."""
    every = [(module, mutation) for module in modules for mutation in mutations((ROOT / module).read_text())]
    drawn = sorted(random.Random(seed).sample(range(len(every)), min(number, len(every))))
    chosen: dict[str, list[Mutation]] = defaultdict(list)
    for index in drawn:
        module, mutation = every[index]
        chosen[module].append(mutation)
    return dict(chosen)


def equivalents(modules: Sequence[str]) -> set[tuple[str, str]]:
    """Return the mutants known to be equivalent, by module and change, and report entries that name none or several."""
    named: dict[tuple[str, str, str], list[Mutation]] = defaultdict(list)
    for module in modules:
        for mutation in mutations((ROOT / module).read_text()):
            for line in (mutation.after, f"{mutation.before} => {mutation.after}"):
                named[module, mutation.function, line].append(mutation)
    known: set[tuple[str, str]] = set()
    for module, function, line, _ in EQUIVALENT:
        found = named[module, function, line]
        if len({mutation.before for mutation in found}) > 1:
            print(f"equivalent_mutants.py names several mutants: {module} {function}: {line}")
        if module in modules and not found:
            print(f"equivalent_mutants.py names no mutant: {module} {function}: {line}")
        known.update((module, mutation.source) for mutation in found)
    return known


class Journal:
    """The fates of earlier runs, so that an interrupted one can continue.

    A fate is that of a changed module and its test files; it is forgotten if one of them has changed since.

    Args:
        path: The file, one JSON object a line; None keeps nothing.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._fates: dict[str, Fate] = {}
        if path is not None and path.exists():
            rows = map(json.loads, path.read_text().splitlines())
            self._fates = {row["key"]: row["fate"] for row in rows}

    @staticmethod
    def key(mutation: Mutation, tests: Sequence[str]) -> str:
        """Return what identifies a mutant and its tests."""
        digest = hashlib.sha256(mutation.source.encode())
        for test in tests:
            digest.update((ROOT / test).read_bytes())
        return digest.hexdigest()

    def get(self, key: str) -> Fate | None:
        """Return a known fate."""
        return self._fates.get(key)

    def add(self, key: str, fate: Fate) -> None:
        """Keep a fate."""
        self._fates[key] = fate
        if self._path is not None:
            with self._path.open("a") as file:
                print(json.dumps({"key": key, "fate": fate}), file=file)


def show(module: str, mutation: Mutation, fate: str) -> None:
    """Print a mutant as a one-line diff."""
    print(f"{fate}: {module}:{mutation.line} {mutation.function}")
    print(f"    - {mutation.before}\n    + {mutation.after}", flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Returns:
        0, whatever survives; the tests fail with 1 if they fail without a change.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, help="which sample is drawn; another one each day by default")
    parser.add_argument("--number", type=int, default=200, help="how many mutants are drawn (200)")
    parser.add_argument("--module", action="append", help="part of the path of a module; may be given several times")
    parser.add_argument("--list", action="store_true", help="print the sample and run nothing")
    parser.add_argument("--journal", type=Path, help="a file of results; those in it are not measured again")
    parser.add_argument("--verbose", action="store_true", help="print the mutants that are killed, too")
    asked = parser.parse_args(arguments)
    seed = asked.seed if asked.seed is not None else int(time.time() // 86_400)
    tests = table()
    modules = [module for module in tests if not asked.module or any(part in module for part in asked.module)]
    if not modules:
        parser.error(f"no module is named so; there are {', '.join(tests)}")
    known = equivalents(modules)
    chosen = sample(modules, asked.number, seed)
    fates: list[tuple[str, Mutation, Fate]] = []
    baselines: dict[str, Baseline] = {}
    journal = Journal(asked.journal)
    os.chdir(ROOT)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        workshop = None if asked.list else Workshop(Path(folder))
        for module, drawn in chosen.items():
            alike = [other for other in chosen if tests[other] == tests[module]]
            print(f"{module}: {len(drawn)} mutants", flush=True)
            for mutation in drawn:
                fate: Fate | None = None
                key = journal.key(mutation, tests[module])
                if (module, mutation.source) in known:
                    fate = "equivalent"
                elif workshop is not None and (fate := journal.get(key)) is None:
                    if module not in baselines:
                        baselines |= workshop.baselines(alike, tests[module])
                        warm(baselines[module].libraries)
                    fate = workshop.fate(module, mutation, tests[module], baselines[module])
                    journal.add(key, fate)
                if fate is not None:
                    fates.append((module, mutation, fate))
                if asked.list or asked.verbose or fate in {"survived", "looped", "stuck"}:
                    show(module, mutation, fate or "listed")
    if not asked.list:
        report(fates, seed)
    return 0


def warm(libraries: Sequence[str]) -> None:
    """Import libraries once, so that the mutants' processes need not."""
    with warnings.catch_warnings(action="ignore"):
        for library in libraries:
            if library not in sys.modules:
                with contextlib.suppress(Exception):
                    importlib.import_module(library)


def report(fates: Sequence[tuple[str, Mutation, Fate]], seed: int) -> None:
    """Print the survivors, what did not end, and the share of the killed ones, in all and of each package."""
    counts = Counter(fate for _, _, fate in fates)
    for named in ("looped", "stuck", "survived"):
        print(f"\n{named}: {counts[named]}")
        for module, mutation, fate in fates:
            if fate == named:
                show(module, mutation, fate)
    packages: dict[str, list[bool]] = defaultdict(list)
    for module, _, fate in fates:
        if fate != "equivalent":
            packages[module.rpartition("src/")[2].removeprefix("groundwire/").rpartition("/")[0]].append(
                fate in _KILLED
            )
    print()
    for package, killed in packages.items():
        print(f"{package}: {sum(killed)} of {len(killed)} killed")
    judged = [killed for package in packages.values() for killed in package]
    share = f"{sum(judged) / len(judged):.1%}" if judged else "none"
    print(
        f"seed {seed}: {len(fates)} mutants, {sum(judged)} killed ({counts['looped']} of them looped, "
        f"{counts['stuck']} stuck), {counts['survived']} survived, {counts['equivalent']} equivalent; killed {share}"
    )


if __name__ == "__main__":
    sys.exit(main())
