"""The requirements table: the rows that a test run proves, also with several workers."""

from __future__ import annotations

from collections.abc import Collection, Generator, Sequence
from pathlib import Path

import pytest

_PROPERTY = "requirements"
_NARROWING = ("keyword", "markexpr", "deselect", "ignore", "ignore_glob", "lf", "stepwise", "collectonly")


class RequirementsTable:
    """A pytest plugin that prints which requirements are proven, and fails a whole run that proves too few.

    The rows of a test travel with its reports: under pytest-xdist the tests run in other processes.

    Args:
        rows: The ids of all requirements.
        unproven: The ids of those that no test is known to prove yet.
    """

    def __init__(self, rows: Sequence[str], unproven: Collection[str]) -> None:
        self._rows = rows
        self._unproven = frozenset(unproven)
        self._tested: set[str] = set()
        self._passed: set[str] = set()
        self._failed: set[str] = set()
        self._problems: list[str] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Fail a test whose mark names no known row; an error while workers collect would be lost."""
        for mark in item.iter_markers("req"):
            if not mark.args or not set(self._rows).issuperset(mark.args):
                pytest.fail(f"req({', '.join(map(repr, mark.args))}) names no known row", pytrace=False)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Put the rows of a test into its reports."""
        report = yield
        if rows := {row for mark in item.iter_markers("req") for row in mark.args}:
            report.user_properties.append((_PROPERTY, " ".join(sorted(rows))))
        return report

    @pytest.hookimpl
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Record the outcome of a test's rows."""
        rows = {row for name, value in report.user_properties if name == _PROPERTY for row in str(value).split()}
        self._tested |= rows
        if report.failed:
            self._failed |= rows
        elif report.when == "call" and report.passed:
            self._passed |= rows

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail a whole run in which a row lost its last passing test."""
        if hasattr(session.config, "workerinput") or not is_whole_run(session.config):
            return
        if session.exitstatus not in {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED}:
            return
        proven = self._passed - self._failed
        if lost := self._named((set(self._rows) - self._unproven | self._tested) - proven):
            remedy = "write one that is not marked slow, or see above why theirs were skipped"
            self._problems.append(f"No passing test proves {lost}: {remedy}.")
        if found := self._named(proven & self._unproven):
            self._problems.append(f"{found} is proven now: take it out of UNPROVEN in conftest.py.")
        if self._problems:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    @pytest.hookimpl
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
        """Print the table."""
        proven = self._passed - self._failed
        if config.option.collectonly or not (proven or self._problems):
            return
        missing = set(self._rows) - proven
        terminalreporter.write_sep("-", "requirements")
        terminalreporter.write_line(f"touched by passing tests: {self._named(proven) or 'none'}")
        terminalreporter.write_line(f"proven by no passing test: {self._named(missing) or 'none'}")
        for problem in self._problems:
            terminalreporter.write_line(f"ERROR: {problem}", red=True)

    def _named(self, rows: set[str]) -> str:
        return " ".join(row for row in self._rows if row in rows)


def is_whole_run(config: pytest.Config) -> bool:
    """Tell whether a run was asked for the whole suite: no paths, and no option that leaves tests out."""
    if any(getattr(config.option, name, None) for name in _NARROWING):
        return False
    whole = {config.rootpath / path for path in config.getini("testpaths")}
    return {config.invocation_params.dir / Path(argument) for argument in config.args} == whole
