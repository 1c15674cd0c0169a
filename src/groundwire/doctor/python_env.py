"""Checks of Python, Groundwire's dependencies, optional packages and programs, and the operating system's keyring."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from importlib.metadata import PackageNotFoundError, distribution, requires, version
from typing import Final

from groundwire._version import __version__, install_command, install_extra, python
from groundwire.doctor.context import CheckOutput, Examination
from groundwire.doctor.report import DoctorFinding, Fault, Severity
from groundwire.errors import GroundwireError, ProviderUnavailable
from groundwire.reading.browser.chromium import LIBRARY_MISSING, NO_SANDBOX
from groundwire.reading.browser.launch import HINT, find_chromium
from groundwire.settings.schema import parse_store_url
from groundwire.setup.key_storage import KeyringState
from groundwire.setup.provider_status import opened
from groundwire.transport.clients import HttpClients

__all__ = ["check_extras", "check_keyring", "check_packages", "check_python", "faults_of_requirements"]

_RENDERERS = ("browser", "crawl4ai")


async def check_extras(examination: Examination) -> CheckOutput:
    """Check that what the settings use is installed, and that the browser starts."""
    settings, has = examination.valid_settings, examination.machine.has_module
    used = {name.partition(":")[0]: name for name in (*settings.read.providers, *settings.search.providers)}
    findings: list[DoctorFinding] = []
    details: list[str] = []
    if parse_store_url(settings.storage.url).kind == "server" and not has("redis"):
        findings.append(_missing("valkey", "storage.url names a server", "redis"))
    if settings.archive.enabled and settings.archive.url and not has("psycopg"):
        findings.append(_missing("postgres", "archive.url names a server", "psycopg"))
    if "crawl4ai" in used and not has("crawl4ai") and not settings.providers.get(used["crawl4ai"], {}).get("python"):
        findings.append(_missing("crawl4ai", "the reader crawl4ai is in use", "crawl4ai"))
    if "duckduckgo" in used and not has("ddgs"):
        findings.append(_missing("ddgs", "the provider duckduckgo is in use (duckduckgo_lite needs nothing)", "ddgs"))
    if "browser" in used:
        if has("playwright"):
            findings += await _browser(examination, used["browser"], details)
        else:
            findings.append(_missing("browser", "the reader browser is in use", "playwright"))
    elif has("playwright") and find_chromium(examination.machine.environment) is None:
        what = "Playwright is installed, but Chromium is not."
        findings.append(replace(_no_browser(Fault.BROWSER_MISSING, what, HINT), severity="note"))
    if settings.read.render_domains and not used.keys() & set(_RENDERERS):
        findings.append(
            DoctorFinding(
                fault=Fault.SETTINGS_CONTRADICTORY,
                subject="read.render_domains",
                what="read.render_domains lists sites whose scripts should run, but no configured reader runs scripts.",
                why=f"It is set in: {settings.origin('read.render_domains')}.",
                fix='Add browser to read.providers: read.providers = ["local", "browser"].',
            )
        )
    return ", ".join(details) or "none needed", findings


async def _browser(examination: Examination, name: str, details: list[str]) -> Sequence[DoctorFinding]:
    settings = examination.valid_settings
    chosen = settings.providers.get(name, {}).get("executable")
    if not chosen and find_chromium(examination.machine.environment) is None:
        return [_no_browser(Fault.BROWSER_MISSING, "There is no Chromium on this machine.", HINT)]
    clients = HttpClients(settings, examination.machine.resolver, None)
    try:
        async with opened(name, settings, clients) as reader:
            if (start := getattr(reader, "start", None)) is not None:
                await start()
                details.append(f"Chromium starts ({chosen or find_chromium(examination.machine.environment)})")
    except ProviderUnavailable as error:
        return [_does_not_start(error.reason)]
    except GroundwireError as error:
        return [_no_browser(Fault.BROWSER_MISSING, str(error), HINT)]
    finally:
        await clients.aclose()
    return []


def _does_not_start(reason: str) -> DoctorFinding:
    if LIBRARY_MISSING in reason:
        fix = f"sudo {python()} -m playwright install-deps chromium, or: sudo apt install chromium-headless-shell"
        return _no_browser(Fault.BROWSER_LIBRARIES, reason, fix)
    if NO_SANDBOX in reason:
        fix = 'sudo sysctl -w kernel.unprivileged_userns_clone=1, or set providers.browser.sandbox = "off"'
        return _no_browser(Fault.BROWSER_SANDBOX, reason, fix)
    return _no_browser(Fault.BROWSER_FAILING, reason, "Run it by hand: chromium --headless --dump-dom about:blank")


def _no_browser(fault: Fault, what: str, fix: str) -> DoctorFinding:
    return DoctorFinding(
        fault=fault,
        subject="browser",
        what=f"{what[:1].upper()}{what[1:].rstrip('.')}.",
        why="Pages rendered by scripts cannot be read.",
        fix=fix,
    )


def _missing(extra: str, used: str, package: str) -> DoctorFinding:
    return DoctorFinding(
        fault=Fault.EXTRA_MISSING,
        subject=package,
        what=f"The package {package} is not installed, and {used}.",
        fix=install_extra(extra),
    )


async def check_keyring(examination: Examination) -> CheckOutput:
    """Check for a keyring; its absence is a problem only if a missing key may be in it."""
    state = await examination.keyring()
    if state.usable:
        return state.detail, ()
    severity: Severity = "note"
    if state.kind in {"locked", "failing"} and examination.settings is not None:
        rows = await examination.provider_statuses()
        if any(row.in_use and row.state == "needs_key" for row in rows):
            severity = "problem"
    if state.kind in {"not_installed", "absent"} and examination.settings is not None:
        return f"{state.problem[:-1].lower()}; keys come from the environment and files", (
            () if not await _lacking(examination) else (_finding(state, severity),)
        )
    return state.kind, (_finding(state, severity),)


async def _lacking(examination: Examination) -> bool:
    """Return whether a key is missing that is expected in the keyring."""
    rows = await examination.provider_statuses()
    explicit = examination.valid_settings.origin("search.providers") != "default"
    return any(row.in_use and row.state == "needs_key" and explicit for row in rows)


def _finding(state: KeyringState, severity: Severity) -> DoctorFinding:
    return DoctorFinding(
        fault=Fault(f"keyring-{state.kind.replace('not_installed', 'missing')}"),
        severity=severity,
        subject="keyring",
        what=state.problem,
        why=state.detail,
        fix=state.fix,
    )


_OLDEST_PYTHON = (3, 11)
_REQUIREMENT = re.compile(r"(?P<name>[A-Za-z0-9._-]+)(?:\[[^\]]*\])?\s*(?P<range>[^;]*)(?:;(?P<marker>.*))?")
_BOUND = re.compile(r"(>=|<=|==|!=|<|>|~=)\s*([0-9][0-9A-Za-z.]*)")
_COMPILED_MODULES = ("lxml.etree", "pydantic_core", "aiohttp", "turbohtml", "pypdfium2")


_PLATFORM_GAPS: Final[Mapping[str, str]] = {
    "darwin": "; on macOS, worker processes have no sandbox and no memory limit",
    "win32": "; on Windows, worker processes have no sandbox and no limits of memory and CPU time",
}


async def check_python(examination: Examination) -> CheckOutput:
    """Check that this Python is new enough, and say what its system does not have."""
    current = ".".join(map(str, examination.machine.python))
    if examination.machine.python[:2] >= _OLDEST_PYTHON:
        return f"{current}, Groundwire {__version__}{_PLATFORM_GAPS.get(sys.platform, '')}", ()
    oldest = ".".join(map(str, _OLDEST_PYTHON))
    return current, [
        DoctorFinding(
            fault=Fault.PYTHON_TOO_OLD,
            subject="Python",
            what=f"This is Python {current}; Groundwire needs {oldest} or later.",
            fix="Install a later Python and Groundwire in it, e.g.: uv tool install --python 3.13 groundwire",
        )
    ]


async def check_packages(examination: Examination) -> CheckOutput:
    """Check that the required packages are installed in a suitable version and can be imported."""
    requirements = requires("groundwire") or []
    with suppress(PackageNotFoundError):
        requirements = [*requirements, *(requires("groundwire-server") or [])]
    findings = [*faults_of_requirements(requirements), *await asyncio.to_thread(lambda: list(_broken(examination)))]
    return f"{len(requirements)} requirements checked", findings


def _broken(examination: Examination) -> Iterator[DoctorFinding]:
    for module in _COMPILED_MODULES:
        name = module.partition(".")[0]
        if not examination.machine.has_module(name):
            continue
        try:
            import_module(module)
        except Exception as error:  # noqa: BLE001  # a broken package may raise anything when it is imported
            yield DoctorFinding(
                fault=Fault.PACKAGE_BROKEN,
                subject=name,
                what=f"The package {name} is installed but cannot be imported ({type(error).__name__}).",
                why="It was built for another Python or another machine, or is incomplete.",
                fix=install_command("--force-reinstall", "--no-cache-dir", name),
            )


def faults_of_requirements(requirements: list[str] | tuple[str, ...]) -> Iterator[DoctorFinding]:
    """Yield what is wrong with the installed versions.

    Args:
        requirements: As in a package's metadata (PEP 508). Requirements of an extra are checked only if they are
            installed; all others must be.
    """
    for text in requirements:
        requirement = _REQUIREMENT.match(text)
        if requirement is None:
            continue
        name, marker = requirement["name"], requirement["marker"] or ""
        extra = re.search(r"extra\s*==\s*['\"]([^'\"]+)", marker)
        try:
            installed = version(name)
        except PackageNotFoundError:
            if not marker:
                yield _misfit(name, "is not installed", text)
            continue
        if not _fits(installed, requirement["range"]):
            bounds = requirement["range"].strip()
            use = f", which the extra {extra[1]} needs" if extra else ""
            yield _misfit(name, f"is installed as {installed}, and {bounds} is required{use}", text, note=bool(extra))


def _misfit(name: str, problem: str, requirement: str, *, note: bool = False) -> DoctorFinding:
    specifier = requirement.partition(";")[0].strip()
    try:
        place = f" It is in {distribution(name).locate_file('')}."
    except PackageNotFoundError:
        place = ""
    return DoctorFinding(
        fault=Fault.PACKAGE_VERSION,
        severity="note" if note else "problem",
        subject=name,
        what=f"The package {name} {problem}.",
        why=f"Another package may have replaced it.{place}",
        fix=install_command(specifier),
    )


def _fits(installed: str, bounds: str) -> bool:
    """Return whether a version is within bounds; only release numbers are compared."""
    have = _numbers(installed)
    for operator, text in _BOUND.findall(bounds):
        bound = _numbers(text)
        width = max(len(have), len(bound))
        padded, padded_bound = (have + (0,) * width)[:width], (bound + (0,) * width)[:width]
        fits = {
            ">=": padded >= padded_bound,
            "<=": padded <= padded_bound,
            "==": padded == padded_bound,
            "!=": padded != padded_bound,
            "<": padded < padded_bound,
            ">": padded > padded_bound,
            "~=": padded >= padded_bound and have[: max(1, len(bound) - 1)] == bound[: max(1, len(bound) - 1)],
        }[operator]
        if not fits:
            return False
    return True


def _numbers(version_: str) -> tuple[int, ...]:
    release = re.match(r"[0-9]+(?:\.[0-9]+)*", version_)
    return tuple(int(part) for part in release[0].split(".")) if release else ()
