"""`groundwire doctor`."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from dataclasses import asdict
from typing import Final

import click

from groundwire.cli.call_runner import without_waiting
from groundwire.cli.help_pages import Command
from groundwire.cli.options import with_json
from groundwire.cli.terminal_text import (
    ExitCode,
    clean,
    write,
    write_json,
    write_problem,
)
from groundwire.doctor import CHECKS, CheckResult, DoctorReport, examine
from groundwire.errors import counted

_EXIT_CODES = "Exit code 1: there is at least one problem; notes do not count."
_TITLES = max(len(check.title) for check in CHECKS) + 2
_MARKS: Final[Mapping[str, tuple[str, str]]] = {
    "ok": ("ok", "green"),
    "problem": ("PROBLEM", "red"),
    "note": ("note", "yellow"),
    "skipped": ("-", "white"),
}


@click.command(cls=Command, epilog=_EXIT_CODES)
@click.option("--offline", is_flag=True, help="Make no network requests.")
@with_json
def doctor(offline: bool, as_json: bool) -> None:
    """Check this installation, and print what is wrong, why, and how to fix it.

    Each provider in use is called once, which costs the price of one call. Nothing is changed.
    Every problem has a stable name, such as key-wrong.
    """
    show = (lambda result: None) if as_json else _print
    report = asyncio.run(without_waiting(lambda: examine(offline=offline, on_result=show)))
    if as_json:
        write_json({"ok": report.ok} | asdict(report), indent=1)
    else:
        _summary(report)
    sys.exit(ExitCode.OK if report.ok else 1)


def _print(result: CheckResult) -> None:
    mark, color = _MARKS[result.state]
    head = click.style(f"{mark:<8}", fg=color, bold=result.state == "problem")
    write(
        f"{head}{result.title:<{_TITLES}}{'' if result.findings else clean(result.detail)}".rstrip(), hang=8 + _TITLES
    )
    for finding in result.findings:
        write(f"        {finding.fault}", fg="red" if finding.severity == "problem" else "yellow")
        write_problem(finding.what, finding.why, finding.fix, indent=10)


def _summary(report: DoctorReport) -> None:
    problems = sum(finding.severity == "problem" for finding in report.findings)
    counts = ((problems, "problem"), (len(report.findings) - problems, "note"))
    words = " and ".join(counted(count, word) for count, word in counts if count)
    cost = f", ${report.cost_usd:.4f} spent" if report.cost_usd else ""
    write(f"\n{words or 'No problems found'} ({report.seconds:.1f} s{cost}).")
