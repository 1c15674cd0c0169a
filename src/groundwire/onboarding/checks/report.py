"""What the checks found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from groundwire.onboarding.checks.faults import Fault

__all__ = ["CheckResult", "Finding", "Report", "Severity", "State"]

Severity = Literal["problem", "note"]
"""Whether something does not work, or only should be known."""

State = Literal["ok", "problem", "note", "skipped"]
"""How a check ended; the worst of its findings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that is wrong."""

    fault: Fault
    """Its name."""
    severity: Severity
    """How bad it is."""
    subject: str
    """What it is about: a provider, a file, a package."""
    what: str
    """What is wrong, as a sentence."""
    why: str = ""
    """Why, or what comes of it, as a sentence; empty when it is plain."""
    fix: str = ""
    """Exactly what mends it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """One check."""

    name: str
    """Its name."""
    title: str
    """What it looks at, for people."""
    findings: tuple[Finding, ...] = ()
    """What is wrong; the worst first."""
    detail: str = ""
    """What was seen when nothing is wrong, or why it was left out."""
    skipped: bool = False
    """Whether it was left out."""
    seconds: float = 0.0
    """How long it took."""

    @property
    def state(self) -> State:
        """How it ended."""
        if self.skipped:
            return "skipped"
        if not self.findings:
            return "ok"
        return "problem" if any(one.severity == "problem" for one in self.findings) else "note"


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """All checks."""

    checks: tuple[CheckResult, ...]
    """In the order in which they make sense."""
    seconds: float = 0.0
    """How long all of it took."""
    cost_usd: float = 0.0
    """What the calls of providers cost, in US dollars."""

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Everything that is wrong."""
        return tuple(finding for check in self.checks for finding in check.findings)

    @property
    def ok(self) -> bool:
        """Whether there is no problem; notes are none."""
        return all(finding.severity != "problem" for finding in self.findings)
