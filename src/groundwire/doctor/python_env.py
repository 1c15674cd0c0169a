"""Checks of Python, optional packages and programs, and the operating system's keyring."""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping, Sequence
from typing import Final, cast

from groundwire._version import __version__, install_extra, python
from groundwire.doctor.context import CheckOutput, Examination, has_module
from groundwire.doctor.report import DoctorFinding, Fault
from groundwire.errors import GroundwireError, ProviderUnavailable
from groundwire.reading.browser.chromium import LIBRARY_MISSING, NO_SANDBOX
from groundwire.reading.browser.launch import HINT, find_chromium
from groundwire.settings.schema import parse_store_url
from groundwire.setup.key_storage import KeyringState
from groundwire.setup.provider_status import opened

_RENDERERS = ("browser", "crawl4ai")


async def check_extras(examination: Examination) -> CheckOutput:
    """Check that what the settings use is installed, and that the browser starts."""
    settings = examination.settings
    used = {name.partition(":")[0]: name for name in (*settings.read.providers, *settings.search.providers)}
    crawl4ai_is_here = "crawl4ai" in used and not settings.providers.get(used["crawl4ai"], {}).get("python")
    needs = (
        ("valkey", "redis", "storage.url names a server", parse_store_url(settings.storage.url).kind == "server"),
        ("postgres", "psycopg", "archive.url names a server", settings.archive.enabled and settings.archive.url),
        ("crawl4ai", "crawl4ai", "the reader crawl4ai is in use", crawl4ai_is_here),
        ("ddgs", "ddgs", "the provider duckduckgo is in use (duckduckgo_lite needs nothing)", "duckduckgo" in used),
        ("browser", "playwright", "the reader browser is in use", "browser" in used),
    )
    findings = [
        _missing(extra, use, package) for extra, package, use, needed in needs if needed and not has_module(package)
    ]
    details: list[str] = []
    if has_module("playwright") and "browser" in used:
        findings += await _browser(examination, used["browser"], details)
    if settings.read.render_domains and not used.keys() & set(_RENDERERS):
        findings.append(
            DoctorFinding(
                fault="settings-wrong",
                subject="read.render_domains",
                what="read.render_domains lists sites whose scripts should run, but no configured reader runs scripts.",
                why=f"It is set in: {settings.origin('read.render_domains')}.",
                fix='Add browser to read.providers: read.providers = ["local", "browser"].',
            )
        )
    return ", ".join(details) or "none needed", findings


async def _browser(examination: Examination, name: str, details: list[str]) -> Sequence[DoctorFinding]:
    settings = examination.settings
    chosen = settings.providers.get(name, {}).get("executable")
    if not chosen and find_chromium() is None:
        return [_no_browser("browser-missing", "There is no Chromium on this machine.", HINT)]
    try:
        async with opened(name, settings) as reader:
            if (start := getattr(reader, "start", None)) is not None:
                await start()
                details.append(f"Chromium starts ({chosen or find_chromium()})")
    except ProviderUnavailable as error:
        return [_does_not_start(error.reason)]
    except GroundwireError as error:
        return [_no_browser("browser-missing", str(error), HINT)]
    return []


def _does_not_start(reason: str) -> DoctorFinding:
    if LIBRARY_MISSING in reason:
        fix = f"sudo {python()} -m playwright install-deps chromium, or: sudo apt install chromium-headless-shell"
        return _no_browser("browser-libraries", reason, fix)
    if NO_SANDBOX in reason:
        fix = 'sudo sysctl -w kernel.unprivileged_userns_clone=1, or set providers.browser.sandbox = "off"'
        return _no_browser("browser-sandbox", reason, fix)
    return _no_browser("browser-failing", reason, "Run it by hand: chromium --headless --dump-dom about:blank")


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
        fault="extra-missing",
        subject=package,
        what=f"The package {package} is not installed, and {used}.",
        fix=install_extra(extra),
    )


async def check_keyring(examination: Examination) -> CheckOutput:
    """Check for a keyring; it is missed only if a key is missing that may be in it."""
    state = await examination.keyring()
    if state.usable:
        return state.detail, ()
    if examination.settings.origin("search.providers") != "default":
        rows = await examination.provider_statuses()
        if any(row.in_use and row.state == "needs_key" for row in rows):
            return state.kind, (_finding(state),)
    return f"{state.problem[:-1].lower()}; keys come from the environment and files", ()


def _finding(state: KeyringState) -> DoctorFinding:
    return DoctorFinding(
        fault=cast("Fault", f"keyring-{state.kind.replace('not_installed', 'missing')}"),
        severity="problem" if state.kind in {"locked", "failing"} else "note",
        subject="keyring",
        what=state.problem,
        why=state.detail,
        fix=state.fix,
    )


_PLATFORM_GAPS: Final[Mapping[str, str]] = {
    "darwin": "; on macOS, worker processes have no sandbox and no memory limit",
    "win32": "; on Windows, worker processes have no sandbox and no limits of memory and CPU time",
}


async def check_python(examination: Examination) -> CheckOutput:
    """Name the versions, and say what this system does not have."""
    return f"{platform.python_version()}, Groundwire {__version__}{_PLATFORM_GAPS.get(sys.platform, '')}", ()
