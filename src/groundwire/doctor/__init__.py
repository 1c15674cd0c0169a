"""Diagnosis of an installation: what is wrong with it, and how to fix it; all checks within one deadline."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence

from groundwire.deadline import Deadline
from groundwire.doctor.context import Check, CheckOutput, Examination
from groundwire.doctor.files import check_settings, load_settings
from groundwire.doctor.network import check_clock, check_network, explained
from groundwire.doctor.python_env import check_extras, check_keyring, check_python
from groundwire.doctor.report import CheckResult, DoctorFinding, DoctorReport, Fault, Severity, State
from groundwire.doctor.store import check_archive, check_store
from groundwire.errors import GroundwireError
from groundwire.safety.guard import Resolver
from groundwire.settings import Settings
from groundwire.setup.key_storage import KeyringState, keyring_state
from groundwire.setup.provider_check import CallFault, Verification
from groundwire.setup.provider_status import ProviderStatus

__all__ = [
    "CHECKS",
    "Check",
    "CheckResult",
    "DoctorFinding",
    "DoctorReport",
    "Examination",
    "Fault",
    "Severity",
    "check_providers",
    "examine",
]


async def check_providers(examination: Examination) -> CheckOutput:
    """Check that the providers in use have what they need, and call each once."""
    settings = examination.settings
    rows = await examination.provider_statuses()
    findings = [*_status_findings(settings, rows)]
    calls = await examination.calls()
    for name, call in calls.items():
        if call.verdict != "works" and not explained(call):
            row = next(row for row in rows if row.name == name)
            findings.append(_call_finding(row, call, call.verdict))
    working = [f"{name} ({call.latency_ms:.0f} ms)" for name, call in calls.items() if call.works]
    ready = [row.name for row in rows if row.in_use and row.state == "ready"]
    if calls and not working:
        return "none answered", findings
    return ", ".join(working) or f"ready: {', '.join(ready)}", findings


def _status_findings(settings: Settings, rows: Sequence[ProviderStatus]) -> Iterator[DoctorFinding]:
    """Yield what is missing; an unconfigured provider of the default list is not reported."""
    used = [row for row in rows if row.in_use]
    for row in used:
        role = "search" if row.search_place is not None else "read"
        able = row.offer.capabilities
        if not (able.search if role == "search" else able.read):
            yield DoctorFinding(
                "settings-wrong",
                row.name,
                f"{row.name} is in {role}.providers, but cannot {'search' if role == 'search' else 'read pages'}.",
                f"Remove {row.name} from {role}.providers ({settings.origin(f'{role}.providers')}).",
            )
        elif row.state == "wrong":
            yield DoctorFinding("settings-wrong", row.name, row.reason, "Change that setting.")
        elif row.state != "ready" and settings.origin(f"{role}.providers") != "default" and not _is_extra(row):
            yield _missing(row)
    for role in ("search", "read"):
        places = [row for row in used if (row.search_place if role == "search" else row.read_place) is not None]
        if not any(row.state == "ready" for row in places):
            what = "search the web" if role == "search" else "read pages"
            yield DoctorFinding(
                "no-search-provider" if role == "search" else "no-read-provider",
                f"{role}.providers",
                f"No provider can be used to {what}.",
                "groundwire setup" if role == "search" else 'Set read.providers = ["local"], which needs nothing.',
                why="; ".join(row.reason for row in places) or f"{role}.providers is empty.",
            )


def _is_extra(row: ProviderStatus) -> bool:
    """Return whether the check of optional packages reports it."""
    return row.offer.name in {"browser", "crawl4ai", "duckduckgo"}


def _missing(row: ProviderStatus) -> DoctorFinding:
    if row.state == "needs_key":
        page = f" (get a key at {row.offer.key_page})" if row.offer.key_page else ""
        fix = f"groundwire setup --provider {row.name}{page}, or set {row.variable} in the environment."
        return DoctorFinding("key-missing", row.name, f"{row.name} is in use and has no key.", fix)
    what = f"{row.name} is in use and not set up: {row.reason}."
    return DoctorFinding("provider-not-set-up", row.name, what, f"groundwire setup --provider {row.name}")


def _call_finding(row: ProviderStatus, call: Verification, fault: CallFault) -> DoctorFinding:
    """Return what a call of one provider revealed."""
    fix = call.fix
    if fault in {"key-wrong", "key-plan", "quota-used-up"} and row.offer.key_page:
        fix = f"{fix} Then: groundwire setup --provider {row.name}"
    key = f"The key comes from {row.key_from} ({row.variable})." if row.key_from else ""
    severity: Severity = "note" if fault == "rate-limited" else "problem"
    return DoctorFinding(fault, row.name, f"{row.name}: {call.what}", fix, why=call.why or key, severity=severity)


CHECKS = (
    Check("python", "Python", check_python),
    Check("settings", "Settings", check_settings),
    Check("keyring", "Keyring", check_keyring),
    Check("store", "Store", check_store, needs=("settings",)),
    Check("archive", "Archive", check_archive, needs=("settings",)),
    Check("extras", "Optional packages", check_extras, needs=("settings",)),
    Check("network", "Network", check_network, needs=("settings", "network")),
    Check("clock", "Clock", check_clock, needs=("settings", "network")),
    Check("providers", "Providers", check_providers, needs=("settings",)),
)
"""The checks, in the order in which their findings make sense: what is first may be the cause of what follows."""

_CHECK_SHARE = 0.5  # of all the time for one check, so that one that hangs leaves some for those after it
_RESERVE_SECONDS = 1.0  # seconds at the end in which what is not finished is ended


async def examine(
    *,
    seconds: float = 30.0,
    offline: bool = False,
    on_result: Callable[[CheckResult], None] = lambda result: None,
    checks: Sequence[Check] = CHECKS,
    keyring: Callable[[], KeyringState] = keyring_state,
    resolver: Resolver | None = None,
) -> DoctorReport:
    """Examine this machine.

    Args:
        seconds: After how many seconds the report must be there; what is not finished then says so.
        offline: Whether to make no network requests.
        on_result: Called with each check as soon as it is finished.
        checks: What is to be looked at.
        keyring: Checks for a keyring.
        resolver: Resolves host names instead of the system resolver.

    Raises:
        ConfigurationError: the working directory was removed.
    """
    began = time.monotonic()
    settings, findings = load_settings()
    deadline = Deadline.after(seconds - _RESERVE_SECONDS)
    is_valid = settings is not None
    examination = Examination(settings or Settings(), is_valid, findings, deadline, offline, keyring, resolver)
    results = []
    for check in checks:
        examination.deadline = deadline.capped(_CHECK_SHARE * seconds)
        results.append(await _run(check, examination))
        on_result(results[-1])
    seconds = round(time.monotonic() - began, 3)
    return DoctorReport(checks=tuple(results), seconds=seconds, cost_usd=examination.cost_usd)


async def _run(check: Check, examination: Examination) -> CheckResult:
    began = time.monotonic()

    def result(findings: Sequence[DoctorFinding] = (), detail: str = "", *, skipped: bool = False) -> CheckResult:
        worst_first = tuple(sorted(findings, key=lambda finding: finding.severity != "problem"))
        state: State = "skipped" if skipped else worst_first[0].severity if worst_first else "ok"
        seconds = round(time.monotonic() - began, 3)
        return CheckResult(
            name=check.name, title=check.title, state=state, detail=detail, seconds=seconds, findings=worst_first
        )

    if "settings" in check.needs and not examination.has_valid_settings:
        return result(detail="fix the settings first", skipped=True)
    if "network" in check.needs and examination.offline:
        return result(detail="skipped: --offline", skipped=True)
    try:
        async with asyncio.timeout(max(0.05, examination.deadline.remaining())):
            detail, findings = await check.run(examination)
    except TimeoutError:
        return result([_unfinished(check)])
    except (GroundwireError, OSError) as error:
        return result([_unfinished(check, f"{type(error).__name__}: {error}")])
    return result(findings, detail)


def _unfinished(check: Check, why: str = "The timeout was reached.") -> DoctorFinding:
    return DoctorFinding(
        fault="not-finished",
        subject=check.name,
        what=f"The check of {check.title.lower()} did not finish.",
        why=why,
        fix="Fix the other problems, then run groundwire doctor again.",
    )
