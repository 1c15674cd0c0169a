"""Finding out what is wrong with an installation, and what mends it."""

from __future__ import annotations

from groundwire.onboarding.checks.examination import Check, Examination
from groundwire.onboarding.checks.faults import Fault
from groundwire.onboarding.checks.machine import Machine
from groundwire.onboarding.checks.report import CheckResult, Finding, Report, Severity
from groundwire.onboarding.checks.running import CHECKS, examine

__all__ = [
    "CHECKS",
    "Check",
    "CheckResult",
    "Examination",
    "Fault",
    "Finding",
    "Machine",
    "Report",
    "Severity",
    "examine",
]
