"""Diagnosis of an installation: what is wrong with it, and how to fix it; all checks within one deadline."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence

from groundwire.deadline import Deadline
from groundwire.doctor.context import Check, Examination, Machine
from groundwire.doctor.files import check_files, check_settings, load_settings
from groundwire.doctor.network import check_clock, check_network, check_port
from groundwire.doctor.providers import check_providers
from groundwire.doctor.python_env import check_extras, check_keyring, check_packages, check_python
from groundwire.doctor.report import CheckResult, DoctorFinding, DoctorReport, Fault, Severity
from groundwire.doctor.store import check_archive, check_disk, check_store
from groundwire.errors import GroundwireError

__all__ = [
    "CHECKS",
    "Check",
    "CheckResult",
    "DoctorFinding",
    "DoctorReport",
    "Examination",
    "Fault",
    "Machine",
    "Severity",
    "examine",
]


CHECKS = (
    Check("python", "Python", check_python),
    Check("packages", "Packages", check_packages),
    Check("settings", "Settings", check_settings),
    Check("files", "Files with keys", check_files),
    Check("keyring", "Keyring", check_keyring),
    Check("disk", "Disk space", check_disk),
    Check("store", "Store", check_store, needs_settings=True),
    Check("archive", "Archive", check_archive, needs_settings=True),
    Check("extras", "Optional packages", check_extras, needs_settings=True),
    Check("network", "Network", check_network, needs_settings=True, online=True),
    Check("clock", "Clock", check_clock, needs_settings=True, online=True),
    Check("providers", "Providers", check_providers, needs_settings=True),
    Check("port", "Port of the gateway", check_port, needs_settings=True),
)
"""The checks, in the order in which their findings make sense: what is first may be the cause of what follows."""

_RESERVE = 0.3  # seconds before the deadline in which what is not finished is ended


async def examine(
    machine: Machine,
    *,
    seconds: float = 30.0,
    offline: bool = False,
    done: Callable[[CheckResult], None] = lambda result: None,
    checks: Sequence[Check] = CHECKS,
) -> DoctorReport:
    """Examine a machine.

    Args:
        machine: What is examined; `Machine.here()` is this one.
        seconds: After how many seconds the report must be there; what is not finished then says so.
        offline: Whether to make no network requests.
        done: Called with each check, in their order, as soon as it and those before it are finished.
        checks: What is to be looked at.
    """
    began = time.monotonic()
    deadline = Deadline.after(seconds)
    settings, wrong = load_settings(machine)
    examination = Examination(machine, settings, wrong, deadline, offline)
    tasks = {check.name: asyncio.ensure_future(_run(check, examination)) for check in checks}
    results = []
    try:
        for check in checks:
            results.append(await tasks[check.name])
            done(results[-1])
        cost = examination.cost_usd
    finally:
        for task in tasks.values():
            task.cancel()
        await asyncio.gather(*tasks.values(), return_exceptions=True)
        await examination.aclose()
    return DoctorReport(checks=tuple(results), seconds=time.monotonic() - began, cost_usd=cost)


async def _run(check: Check, examination: Examination) -> CheckResult:
    began = time.monotonic()

    def result(findings: Sequence[DoctorFinding] = (), detail: str = "", *, skipped: bool = False) -> CheckResult:
        worst_first = tuple(sorted(findings, key=lambda one: one.severity != "problem"))
        seconds = time.monotonic() - began
        return CheckResult(
            name=check.name, title=check.title, findings=worst_first, detail=detail, skipped=skipped, seconds=seconds
        )

    if check.needs_settings and examination.settings is None:
        return result(detail="fix the settings first", skipped=True)
    if check.online and examination.offline:
        return result(detail="skipped: --offline", skipped=True)
    try:
        async with asyncio.timeout(max(0.05, examination.deadline.remaining() - _RESERVE)):
            detail, findings = await check.run(examination)
    except TimeoutError:
        return result([_unfinished(check)])
    except (GroundwireError, OSError) as error:
        return result([_unfinished(check, f"{type(error).__name__}: {error}")])
    return result(findings, detail)


def _unfinished(check: Check, why: str = "The timeout was reached.") -> DoctorFinding:
    return DoctorFinding(
        fault=Fault.NOT_FINISHED,
        severity="problem",
        subject=check.name,
        what=f"The check of {check.title.lower()} was not finished.",
        why=why,
        fix="Fix the other problems, then run groundwire doctor again, perhaps with a longer --timeout.",
    )
