"""Diagnosis of an installation: what is wrong with it, and how to fix it."""

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
