"""Python itself, and the packages that we stand on."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import PackageNotFoundError, distribution, requires, version

from groundwire._version import __version__
from groundwire.onboarding.checks.examination import Examination, Seen
from groundwire.onboarding.checks.faults import Fault
from groundwire.onboarding.checks.report import Finding

__all__ = ["check_packages", "check_python", "faults_of_requirements"]

_OLDEST = (3, 11)
_REQUIREMENT = re.compile(r"(?P<name>[A-Za-z0-9._-]+)(?:\[[^\]]*\])?\s*(?P<range>[^;]*)(?:;(?P<marker>.*))?")
_BOUND = re.compile(r"(>=|<=|==|!=|<|>|~=)\s*([0-9][0-9A-Za-z.]*)")
_COMPILED = ("lxml.etree", "pydantic_core", "aiohttp", "turbohtml", "pypdfium2")


async def check_python(examination: Examination) -> Seen:
    """See whether this Python is new enough."""
    found = ".".join(map(str, examination.machine.python))
    if examination.machine.python[:2] >= _OLDEST:
        return f"{found}, Groundwire {__version__}", ()
    oldest = ".".join(map(str, _OLDEST))
    return found, [
        Finding(
            fault=Fault.PYTHON_TOO_OLD,
            severity="problem",
            subject="Python",
            what=f"This is Python {found}; Groundwire needs {oldest} or later.",
            fix="Install a later Python and Groundwire in it, e.g.: uv tool install --python 3.13 groundwire",
        )
    ]


async def check_packages(examination: Examination) -> Seen:
    """See whether the packages that are needed are there, fit, and can be imported."""
    needed = requires("groundwire") or []
    findings = [*faults_of_requirements(needed), *await asyncio.to_thread(lambda: list(_broken(examination)))]
    return f"{len(needed)} requirements looked at", findings


def _broken(examination: Examination) -> Iterator[Finding]:
    for module in _COMPILED:
        name = module.partition(".")[0]
        if not examination.machine.has_module(name):
            continue
        try:
            import_module(module)
        except Exception as error:  # noqa: BLE001  # a broken package may raise anything when it is imported
            yield Finding(
                fault=Fault.PACKAGE_BROKEN,
                severity="problem",
                subject=name,
                what=f"The package {name} is installed and cannot be imported ({type(error).__name__}).",
                why="It was built for another Python or another machine, or half of it is missing.",
                fix=f"pip install --force-reinstall --no-cache-dir {name}",
            )


def faults_of_requirements(requirements: list[str] | tuple[str, ...]) -> Iterator[Finding]:
    """Yield what is wrong with the installed versions.

    Args:
        requirements: As a package's own metadata has them (PEP 508). What belongs to an extra is only looked at when
            it is installed; one without an extra must be.
    """
    for text in requirements:
        found = _REQUIREMENT.match(text)
        if found is None:
            continue
        name, marker = found["name"], found["marker"] or ""
        extra = re.search(r"extra\s*==\s*['\"]([^'\"]+)", marker)
        try:
            installed = version(name)
        except PackageNotFoundError:
            if not marker:
                yield _misfit(name, "is not installed", text)
            continue
        if not _fits(installed, found["range"]):
            wanted = found["range"].strip()
            use = f", which the extra {extra[1]} needs" if extra else ""
            yield _misfit(name, f"is installed as {installed}, and {wanted} is wanted{use}", text, note=bool(extra))


def _misfit(name: str, problem: str, requirement: str, *, note: bool = False) -> Finding:
    wanted = requirement.partition(";")[0].strip()
    try:
        place = f" It is in {distribution(name).locate_file('')}."
    except PackageNotFoundError:
        place = ""
    return Finding(
        fault=Fault.PACKAGE_VERSION,
        severity="note" if note else "problem",
        subject=name,
        what=f"The package {name} {problem}.",
        why=f"Another package may have replaced it.{place}",
        fix=f'pip install "{wanted}"',
    )


def _fits(installed: str, bounds: str) -> bool:
    """Tell whether a version is within bounds; only the numbers of a release are compared."""
    have = _numbers(installed)
    for operator, text in _BOUND.findall(bounds):
        bound = _numbers(text)
        width = max(len(have), len(bound))
        left, right = (have + (0,) * width)[:width], (bound + (0,) * width)[:width]
        fits = {
            ">=": left >= right,
            "<=": left <= right,
            "==": left == right,
            "!=": left != right,
            "<": left < right,
            ">": left > right,
            "~=": left >= right and have[: max(1, len(bound) - 1)] == bound[: max(1, len(bound) - 1)],
        }[operator]
        if not fits:
            return False
    return True


def _numbers(version_: str) -> tuple[int, ...]:
    found = re.match(r"[0-9]+(?:\.[0-9]+)*", version_)
    return tuple(int(part) for part in found[0].split(".")) if found else ()
