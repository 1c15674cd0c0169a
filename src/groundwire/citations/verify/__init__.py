"""Whether the pages that an answer cites say what it says."""

from groundwire.citations.verify.judge import Entailment, verify_answer
from groundwire.citations.verify.report import CitedPage, Disagreement, Finding, Kind, Report, Verdict

__all__ = ["CitedPage", "Disagreement", "Entailment", "Finding", "Kind", "Report", "Verdict", "verify_answer"]
