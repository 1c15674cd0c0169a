"""Finding out what is wrong with an installation, and what mends it."""

from __future__ import annotations

from groundwire.doctor.context import Check, Examination, Machine
from groundwire.doctor.report import CheckResult, DoctorFinding, DoctorReport, Fault, Severity
from groundwire.doctor.runner import CHECKS, examine

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
