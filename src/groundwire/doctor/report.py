"""The findings of the checks, and the stable names of all problems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from groundwire.setup.provider_check import CallFault

Fault = Literal[
    CallFault,
    "settings-wrong", "keys-file-open", "keys-file-unreadable", "keyring-missing", "keyring-absent",
    "keyring-locked", "keyring-failing", "store-not-writable", "store-damaged", "store-foreign",
    "store-unreachable", "extra-missing", "browser-missing", "browser-libraries", "browser-sandbox",
    "browser-failing", "no-search-provider", "no-read-provider", "key-missing", "dns-failing", "name-unknown",
    "tls-untrusted", "tls-failing", "proxy-unreachable", "clock-skew", "not-finished",
]  # fmt: skip
"""The stable names of problems, for scripts; the guide to onboarding says what each means."""

Severity = Literal["problem", "note"]
"""Whether a finding is a problem or only a note."""

State = Literal["ok", "problem", "note", "skipped"]
"""The outcome of a check: the worst of its findings."""


@dataclass(frozen=True, slots=True)
class DoctorFinding:
    """A finding."""

    fault: Fault
    """Its name."""
    subject: str
    """The subject: a provider, a file, a package."""
    what: str
    """The problem, as a sentence."""
    fix: str
    """How to fix it: a command or an instruction."""
    why: str = ""
    """The cause or the consequence, as a sentence; empty if it is obvious."""
    severity: Severity = "problem"
    """Its severity."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """The result of a check."""

    name: str
    """Its name."""
    title: str
    """Its description, for people."""
    state: State
    """Its outcome."""
    detail: str
    """What was seen if nothing is wrong, or why it was skipped."""
    seconds: float
    """How long it took."""
    findings: tuple[DoctorFinding, ...]
    """The findings, the worst first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorReport:
    """The results of all checks."""

    seconds: float
    """How long all checks took."""
    cost_usd: float
    """The cost of the calls to providers, in US dollars."""
    checks: tuple[CheckResult, ...]
    """The results, in order of dependency."""

    @property
    def findings(self) -> tuple[DoctorFinding, ...]:
        """All findings."""
        return tuple(finding for check in self.checks for finding in check.findings)

    @property
    def ok(self) -> bool:
        """Whether there is no problem; notes do not count."""
        return all(finding.severity != "problem" for finding in self.findings)
