"""Features that are configured and need packages or programs of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from groundwire.clients import Clients
from groundwire.errors import GroundwireError, ProviderUnavailable
from groundwire.onboarding.checks.examination import Examination, Seen
from groundwire.onboarding.checks.faults import Fault
from groundwire.onboarding.checks.report import Finding
from groundwire.providers.registry import create
from groundwire.reading.browser.finding import HINT, find_chromium
from groundwire.settings.store_url import parse_store_url

__all__ = ["check_extras"]

_DRAWING = ("browser", "crawl4ai")


async def check_extras(examination: Examination) -> Seen:
    """See whether what the settings use is installed, and whether the browser starts."""
    settings, has = examination.known, examination.machine.has_module
    used = {name.partition(":")[0]: name for name in (*settings.read.providers, *settings.search.providers)}
    findings: list[Finding] = []
    seen: list[str] = []
    if parse_store_url(settings.storage.url).kind == "server" and not has("redis"):
        findings.append(_missing("valkey", "storage.url names a server", "redis"))
    if "crawl4ai" in used and not has("crawl4ai") and not settings.providers.get(used["crawl4ai"], {}).get("python"):
        findings.append(_missing("crawl4ai", "the reader crawl4ai is in use", "crawl4ai"))
    if "duckduckgo" in used and not has("ddgs"):
        findings.append(_missing("ddgs", "the provider duckduckgo is in use (duckduckgo_lite needs nothing)", "ddgs"))
    if "browser" in used:
        if has("playwright"):
            findings += await _browser(examination, used["browser"], seen)
        else:
            findings.append(_missing("browser", "the reader browser is in use", "playwright"))
    elif has("playwright") and find_chromium(examination.machine.environment) is None:
        what = "Playwright is installed, and there is no Chromium on this machine."
        findings.append(replace(_no_browser(Fault.BROWSER_MISSING, what, HINT), severity="note"))
    if settings.read.render and not used.keys() & set(_DRAWING):
        findings.append(
            Finding(
                fault=Fault.SETTINGS_CONTRADICTORY,
                severity="problem",
                subject="read.render",
                what="read.render names sites whose scripts are to be run, and no reader in use runs scripts.",
                why=f"It stands in: {settings.origin('read.render')}.",
                fix='Add browser to read.providers: read.providers = ["local", "browser"].',
            )
        )
    return ", ".join(seen) or "nothing that is in use needs any", findings


async def _browser(examination: Examination, name: str, seen: list[str]) -> Sequence[Finding]:
    settings = examination.known
    chosen = settings.providers.get(name, {}).get("executable")
    if not chosen and find_chromium(examination.machine.environment) is None:
        return [_no_browser(Fault.BROWSER_MISSING, "There is no Chromium on this machine.", HINT)]
    clients = Clients(settings, examination.machine.resolver, None)
    reader = None
    try:
        reader = create(name, settings, clients)
        start = getattr(reader, "start", None)
        if start is not None:
            await start()
            seen.append(f"Chromium starts ({chosen or find_chromium(examination.machine.environment)})")
    except ProviderUnavailable as error:
        return [_does_not_start(error.reason)]
    except GroundwireError as error:
        return [_no_browser(Fault.BROWSER_MISSING, str(error), HINT)]
    finally:
        close = getattr(reader, "aclose", None)
        if close is not None:
            await close()
        await clients.aclose()
    return []


def _does_not_start(reason: str) -> Finding:
    if "a library that it needs" in reason:
        fix = "sudo playwright install-deps chromium, or: sudo apt install chromium-headless-shell"
        return _no_browser(Fault.BROWSER_LIBRARIES, reason, fix)
    if "lock its pages in" in reason:
        fix = 'sudo sysctl -w kernel.unprivileged_userns_clone=1, or set providers.browser.sandbox = "off"'
        return _no_browser(Fault.BROWSER_SANDBOX, reason, fix)
    return _no_browser(Fault.BROWSER_FAILING, reason, "Run it by hand: chromium --headless --dump-dom about:blank")


def _no_browser(fault: Fault, what: str, fix: str) -> Finding:
    return Finding(
        fault=fault,
        severity="problem",
        subject="browser",
        what=f"{what[:1].upper()}{what[1:].rstrip('.')}.",
        why="Pages that are made by scripts cannot be read.",
        fix=fix,
    )


def _missing(extra: str, used: str, package: str) -> Finding:
    return Finding(
        fault=Fault.EXTRA_MISSING,
        severity="problem",
        subject=package,
        what=f"The package {package} is not installed, and {used}.",
        fix=f'pip install "groundwire[{extra}]"',
    )
