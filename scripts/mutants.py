"""Mutate the modules with logic, one small change at a time, and run their tests.

The changes are made in a copy of the package, never in the checkout. Each mutant runs in a forked process, in which the
libraries are imported already; the tests that reach the changed statement run first, then the module's others.
"""

from __future__ import annotations

import argparse
import contextlib
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
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, TextIO

import pytest

from equivalent_mutants import EQUIVALENT
from mutations import Mutation, mutations

__all__ = ["MODULES", "main"]

ROOT: Final = Path(__file__).resolve().parent.parent
_VERIFICATION: Final = (
    "tests/citations/test_facts.py",
    "tests/citations/test_verify.py",
    "tests/citations/test_languages.py",
    "tests/citations/test_copies.py",
)
MODULES: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    ("src/groundwire/safety/guard.py", ("tests/safety/test_guard.py", "tests/safety/test_vectors.py")),
    ("src/groundwire/safety/ip_ranges.py", ("tests/safety/test_addresses.py", "tests/safety/test_vectors.py")),
    ("src/groundwire/safety/hostnames.py", ("tests/safety/test_urls.py", "tests/safety/test_vectors.py")),
    ("src/groundwire/safety/hostnames.py", ("tests/safety/test_url_lengths.py",)),
    ("src/groundwire/safety/urls.py", ("tests/safety/test_urls.py", "tests/safety/test_vectors.py")),
    ("src/groundwire/safety/urls.py", ("tests/safety/test_url_lengths.py",)),
    ("src/groundwire/safety/robots_txt.py", ("tests/safety/test_robots_txt.py",)),
    ("src/groundwire/routing/politeness.py", ("tests/routing/test_robots.py", "tests/test_polite.py")),
    ("src/groundwire/safety/hostnames.py", ("tests/safety/test_domains.py",)),
    ("src/groundwire/routing/budget.py", ("tests/routing/test_budget.py", "tests/routing/test_reserve_searches.py")),
    ("src/groundwire/routing/budget.py", ("tests/routing/test_daily_quota.py", "tests/routing/test_cost_ledger.py")),
    ("src/groundwire/routing/budget.py", ("tests/routing/test_budget.py", "tests/routing/test_reserve_searches.py")),
    ("src/groundwire/routing/daily_quota.py", ("tests/routing/test_daily_quota.py", "tests/routing/test_budget.py")),
    ("src/groundwire/routing/calls.py", ("tests/routing/test_cost_ledger.py", "tests/routing/test_budget.py")),
    ("src/groundwire/routing/calls.py", ("tests/routing/test_load.py",)),
    ("src/groundwire/routing/health.py", ("tests/routing/test_health.py", "tests/routing/test_shared_health.py")),
    ("src/groundwire/routing/hedging.py", ("tests/routing/test_hedging.py", "tests/routing/test_router.py")),
    ("src/groundwire/routing/hedging_policy.py", ("tests/routing/test_hedging.py", "tests/routing/test_router.py")),
    ("src/groundwire/routing/provider_call.py", ("tests/routing/test_latency.py",)),
    ("src/groundwire/routing/shared_health.py", ("tests/routing/test_latency.py", "tests/routing/test_hedging.py")),
    ("src/groundwire/routing/hedging.py", ("tests/routing/test_hedging_numbers.py",)),
    ("src/groundwire/routing/hedging_policy.py", ("tests/routing/test_hedging_numbers.py",)),
    ("src/groundwire/routing/cache_codec.py", ("tests/routing/test_cache_codec.py",)),
    ("src/groundwire/routing/cache_codec.py", ("tests/routing/test_cache.py",)),
    ("src/groundwire/routing/cache_codec.py", ("tests/routing/test_cache_ttl.py", "tests/routing/test_cache.py")),
    ("src/groundwire/citations/marker_parser.py", ("tests/citations/test_tables.py", "tests/citations/test_marks.py")),
    ("src/groundwire/citations/marker_parser.py", ("tests/citations/test_session.py",)),
    ("src/groundwire/citations/link_filter.py", ("tests/citations/test_exfiltration.py", "tests/test_exfiltration.py")),
    *(
        (f"src/groundwire/citations/verify/{module}.py", ("tests/citations/test_tables.py", *tests, *_VERIFICATION))
        for module, tests in (
            ("alignment", ()),
            ("argument_roles", ()),
            ("copied_sentences", ()),
            ("differences", ()),
            ("entities", ("tests/citations/test_numbers.py",)),
            ("facts", ("tests/citations/test_report.py",)),
            ("quantities", ("tests/citations/test_numbers.py", "tests/citations/test_number_words.py")),
            ("segmentation", ("tests/citations/test_session.py",)),
            ("verifier", ("tests/citations/test_report.py",)),
        )
    ),
    (
        "src/groundwire/reading/main_content/select.py",
        ("tests/reading/test_choosing.py", "tests/reading/test_select.py"),
    ),
    (
        "src/groundwire/reading/main_content/select.py",
        ("tests/reading/test_choosing.py", "tests/reading/test_select.py"),
    ),
    ("src/groundwire/server/auth/keys.py", ("tests/server/auth/test_keys.py",)),
    ("src/groundwire/server/auth/keys.py", ("tests/server/auth/test_key_file.py",)),
    ("src/groundwire/server/auth/rate_limits.py", ("tests/server/auth/test_limits.py",)),
)
"""The mutated modules, and the files of their tests; a module may have several rows."""

_HANG: Final = 30.0  # seconds beside ten times the time of the module's unchanged tests
_MEMORY: Final = 4 << 30  # bytes of address space; a loop that never ends may fill a list
_SHIFT: Final = 10  # seconds between the times of change of two versions, so that no old bytecode is taken for new
_OPTIONS: Final = (
    "-q", "-x", "--no-header", "-m", "not slow and not real", "-p", "no:randomly", "-p", "no:cacheprovider",
    "--hypothesis-seed=1", "-W", "ignore::pytest.PytestAssertRewriteWarning",
)  # fmt: skip

Fate = Literal["killed", "hung", "survived", "equivalent"]


@dataclass(slots=True)
class Baseline:
    """The test results of the unchanged module."""

    seconds: float = 0.0
    """Their duration."""
    reach: dict[int, list[str]] = field(default_factory=dict)
    """The tests that run each line, the fastest first, except for those in separate processes."""
    libraries: list[str] = field(default_factory=list)
    """The modules of others that they import."""


class _Recorder:
    """A pytest plugin that records which tests run which line of a module."""

    def __init__(self, module: Path) -> None:
        import coverage

        self._module = module
        self._seconds: dict[str, float] = {}
        self._coverage = coverage.Coverage(data_file=None, config_file=False, include=[str(module)])
        self._coverage.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._coverage.switch_context(item.nodeid)
        started = time.perf_counter()
        try:
            return (yield)
        finally:
            self._seconds[item.nodeid] = time.perf_counter() - started

    def reach(self) -> dict[int, list[str]]:
        """Return the tests of each line, the fastest first."""
        self._coverage.stop()
        contexts = self._coverage.get_data().contexts_by_lineno(str(self._module))
        return {
            line: sorted((test for test in tests if test in self._seconds), key=self._seconds.__getitem__)
            for line, tests in contexts.items()
        }


class _Chosen:
    """A pytest plugin that runs some of the tests, in a given order."""

    def __init__(self, tests: Sequence[str]) -> None:
        self._order = {test: number for number, test in enumerate(tests)}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted(
            (item for item in items if item.nodeid in self._order), key=lambda item: self._order[item.nodeid]
        )


class Workshop:
    """A copy of the package in which one module at a time is mutated.

    Args:
        folder: Where the copy is made.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._version = int(time.time()) - 1_000_000
        shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__"))
        os.environ["PYTHONPATH"] = str(folder / "src")
        os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = str(folder / "hypothesis")

    def write(self, module: str, source: str) -> None:
        """Replace the text of a module in the copy."""
        path = self._folder / module
        path.write_text(source)
        self._version += _SHIFT
        os.utime(path, (self._version, self._version))

    def baseline(self, module: str, tests: Sequence[str]) -> Baseline:
        """Run a module's tests on the unchanged module.

        Raises:
            SystemExit: they fail.
        """
        noted = self._folder / "baseline.json"

        def run() -> int:
            recorder = _Recorder(self._folder / module)
            code = pytest.main([*_OPTIONS, *tests], plugins=[recorder])
            libraries = [
                name
                for name, imported in list(sys.modules.items())
                if "-packages/" in (getattr(imported, "__file__", None) or "") and not name.startswith("groundwire")
            ]
            noted.write_text(json.dumps({"reach": recorder.reach(), "libraries": libraries}))
            return code

        started = time.monotonic()
        code = self._forked(run, hang=3_600)
        if code != 0:
            sys.exit(f"The tests of {module} fail without any change:\n{self._said()[-4_000:]}")
        read = json.loads(noted.read_text())
        reach = {int(line): found for line, found in read["reach"].items()}
        return Baseline(time.monotonic() - started, reach, read["libraries"])

    def fate(self, module: str, mutation: Mutation, tests: Sequence[str], baseline: Baseline) -> Fate:
        """Change a module and run its tests."""
        first, last = mutation.lines
        reached = dict.fromkeys(test for line in range(first, last + 1) for test in baseline.reach.get(line, ()))
        original = (self._folder / module).read_text()
        self.write(module, mutation.source)
        try:
            code: int | None = 0
            if reached:
                files = [file for file in tests if any(test.startswith(f"{file}::") for test in reached)]
                code = self._forked(lambda: self._run(files, [_Chosen(list(reached))]), _HANG + 10 * baseline.seconds)
            if code == 0:
                code = self._forked(lambda: self._run(tests, []), _HANG + 10 * baseline.seconds)
        finally:
            self.write(module, original)
        return "hung" if code is None else "survived" if code == 0 else "killed"

    @staticmethod
    def _run(tests: Sequence[str], plugins: list[object]) -> int:
        return pytest.main([*_OPTIONS, *tests], plugins=plugins)

    def _said(self) -> str:
        return (self._folder / "output").read_text(errors="replace")

    def _forked(self, run: Callable[[], int], hang: float) -> int | None:
        """Return the result of a function run in a separate process, or None if it timed out."""
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            code = 70
            with contextlib.suppress(BaseException):
                os.setsid()
                resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
                output = os.open(self._folder / "output", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
                os.dup2(output, 1)
                os.dup2(output, 2)
                sys.path.insert(0, str(self._folder / "src"))
                code = int(run())
            with contextlib.suppress(BaseException):
                sys.stdout.flush()
            os._exit(code)
        until = time.monotonic() + hang
        while time.monotonic() < until:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                self._end(child)
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.05)
        self._end(child)
        os.waitpid(child, 0)
        return None

    @staticmethod
    def _end(child: int) -> None:
        """End a process and its children."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)


def table() -> dict[str, list[str]]:
    """Return the files of the tests of each module."""
    tests: dict[str, list[str]] = defaultdict(list)
    for module, files in MODULES:
        tests[module] += [file for file in files if file not in tests[module]]
    return dict(tests)


def sample(modules: Sequence[str], number: int, seed: int) -> dict[str, list[Mutation]]:
    """Return a random sample of mutations of some modules."""
    every = [(module, mutation) for module in modules for mutation in mutations((ROOT / module).read_text())]
    drawn = sorted(random.Random(seed).sample(range(len(every)), min(number, len(every))))
    chosen: dict[str, list[Mutation]] = defaultdict(list)
    for index in drawn:
        module, mutation = every[index]
        chosen[module].append(mutation)
    return dict(chosen)


def equivalents(modules: Sequence[str]) -> set[tuple[str, str, str]]:
    """Return the mutants known to be equivalent, and report entries that name none."""
    known = {(module, function, after): reason for module, function, after, reason in EQUIVALENT}
    there = {
        (module, mutation.function, mutation.after)
        for module in modules
        for mutation in mutations((ROOT / module).read_text())
    }
    for module, function, after in known:
        if module in modules and (module, function, after) not in there:
            print(f"equivalent_mutants.py names no mutant: {module} {function}: {after}")
    return set(known)


def show(module: str, mutation: Mutation, fate: str, to: TextIO = sys.stdout) -> None:
    """Print a mutant as a one-line diff."""
    print(f"{fate}: {module}:{mutation.line} {mutation.function}", file=to)
    print(f"    - {mutation.before}\n    + {mutation.after}", file=to, flush=True)


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
    parser.add_argument("--verbose", action="store_true", help="print the mutants that are killed, too")
    asked = parser.parse_args(arguments)
    seed = asked.seed if asked.seed is not None else int(time.time() // 86_400)
    tests = table()
    modules = [module for module in tests if not asked.module or any(part in module for part in asked.module)]
    if not modules:
        parser.error(f"no module is named so; there are {', '.join(tests)}")
    known = equivalents(modules)
    chosen = sample(modules, asked.number, seed)
    fates: list[Fate] = []
    survivors: list[tuple[str, Mutation]] = []
    os.chdir(ROOT)
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        workshop = None if asked.list else Workshop(Path(folder))
        for module, drawn in chosen.items():
            baseline = Baseline()
            if workshop is not None:
                baseline = workshop.baseline(module, tests[module])
                warm(baseline.libraries)
                print(f"{module}: {len(drawn)} mutants, {baseline.seconds:.0f} s a run", flush=True)
            for mutation in drawn:
                fate: Fate | Literal["listed"] = "listed"
                if (module, mutation.function, mutation.after) in known:
                    fate = "equivalent"
                elif workshop is not None:
                    fate = workshop.fate(module, mutation, tests[module], baseline)
                if fate == "survived":
                    survivors.append((module, mutation))
                if fate != "listed":
                    fates.append(fate)
                if asked.list or asked.verbose or fate == "survived":
                    show(module, mutation, fate)
    if not asked.list:
        report(fates, survivors, seed)
    return 0


def warm(libraries: Sequence[str]) -> None:
    """Import libraries once, so that the mutants' processes need not."""
    with warnings.catch_warnings(action="ignore"):
        for library in libraries:
            if library not in sys.modules:
                with contextlib.suppress(Exception):
                    importlib.import_module(library)


def report(fates: Sequence[Fate], survivors: Sequence[tuple[str, Mutation]], seed: int) -> None:
    """Print the survivors and the share of the killed ones."""
    print("\nsurvivors:" if survivors else "\nno survivors")
    for module, mutation in survivors:
        show(module, mutation, "survived")
    killed = fates.count("killed") + fates.count("hung")
    judged = killed + fates.count("survived")
    share = f"{killed / judged:.1%}" if judged else "none"
    print(
        f"seed {seed}: {len(fates)} mutants, {killed} killed ({fates.count('hung')} of them hung), "
        f"{fates.count('survived')} survived, {fates.count('equivalent')} equivalent; killed {share}"
    )


if __name__ == "__main__":
    sys.exit(main())
