"""Verification of an answer against the pages it cites."""

from groundwire.citations.marker_parser import cited_numbers
from groundwire.citations.verify.limits import check_size
from groundwire.citations.verify.report import CitedPage, Disagreement, Finding, Kind, Report, Verdict, pages_from_json
from groundwire.citations.verify.report_rendering import report_html, report_json, report_text
from groundwire.citations.verify.verifier import (
    Doubt,
    Entailment,
    doubts_of,
    judged_by_model,
    verify_answer,
    verify_off_loop,
)

__all__ = [
    "CitedPage",
    "Disagreement",
    "Doubt",
    "Entailment",
    "Finding",
    "Kind",
    "Report",
    "Verdict",
    "check_size",
    "cited_numbers",
    "doubts_of",
    "judged_by_model",
    "pages_from_json",
    "report_html",
    "report_json",
    "report_text",
    "verify_answer",
    "verify_off_loop",
]
