"""Whether the pages that an answer cites say what it says."""

from groundwire.citations.verify.judge import Entailment, cited_numbers, verify_answer
from groundwire.citations.verify.report import CitedPage, Disagreement, Finding, Kind, Report, Verdict

__all__ = [
    "CitedPage",
    "Disagreement",
    "Entailment",
    "Finding",
    "Kind",
    "Report",
    "Verdict",
    "cited_numbers",
    "verify_answer",
]
