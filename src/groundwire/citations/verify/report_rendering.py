"""A verification report as text, and as JSON data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from types import MappingProxyType
from typing import Any, Final

from groundwire.citations.dialects import one_line
from groundwire.citations.verify.report import Finding, Report, Verdict

__all__ = ["reason_of", "report_json", "report_text"]

_LABELS: Final[Mapping[Verdict, tuple[str, str]]] = MappingProxyType(
    {
        "supported": ("✓", "supported"),
        "contradicted": ("≠", "contradicted"),
        "not_found": ("?", "not found"),
        "not_opened": ("?", "page not opened"),
        "unknown_source": ("✗", "source unknown"),
        "not_comparable": ("?", "not comparable"),
        "uncited": ("!", "no source given"),
        "no_claim": ("·", "nothing to check"),
    }
)
"""A symbol and words for each verdict, as nothing is conveyed by color alone."""


def reason_of(finding: Finding) -> str:
    """Return the reason of a verdict in one sentence."""
    page = f"[{finding.source}]" if finding.source is not None else "the page"
    first = finding.disagreements[0] if finding.disagreements else None
    match finding.verdict:
        case "supported" | "not_found" if finding.judge == "model":
            says = "says" if finding.verdict == "supported" else "does not say"
            return f"A model read {page} and judged that it {says} it."
        case "supported" if finding.exact:
            return f"{page} says it in the same words."
        case "supported":
            return f"{page} has a passage that says it, judged by the words."
        case "contradicted" if first:
            claimed, stated = one_line(first.claimed), one_line(first.stated)
            if first.kind == "negation":
                denied = "denies it" if stated else "does not"
                return f"The answer {'denies it' if claimed else 'does not deny it'}, and {page} {denied}."
            if not stated:
                return f"{page} does not have the quotation “{claimed}”."
            return f"The answer says “{claimed}”, {page} says “{stated}”."
        case _:
            return _REASONS[finding.verdict].format(page)


_NOT_FOUND: Final = "{} has no passage that says it, judged by the words."
_REASONS: Final[Mapping[Verdict, str]] = {
    "contradicted": _NOT_FOUND,
    "not_found": _NOT_FOUND,
    "not_opened": "{} was not opened, and its snippet does not say it.",
    "unknown_source": "No source has the number that it cites.",
    "not_comparable": "{} is in another language or script.",
    "uncited": "It cites nothing.",
    "no_claim": "It states nothing that could be checked.",
}


def report_json(report: Report) -> dict[str, Any]:
    """Return a report as plain data, with the counts of its verdicts."""
    return {
        "supported": report.supported,
        "counts": {verdict: report.count(verdict) for verdict in _LABELS if report.count(verdict)},
        **asdict(report),
    }


def report_text(report: Report) -> str:
    """Return a report as text: a line per sentence with its differences, and a summary at the end."""
    lines = []
    for finding in report.findings:
        sign, label = _LABELS[finding.verdict]
        of = f" by [{finding.source}]" if finding.source is not None and finding.verdict == "supported" else ""
        if of and not finding.exact and finding.probability is not None:
            of += f" ({finding.probability:.0%})"
        lines.append(f"{sign} {label}{of}: {one_line(finding.text)}")
        lines += [f"    {line}" for line in _details(finding)]
    return "\n".join([*lines, *([""] if lines else []), *_summary(report)])


def _details(finding: Finding) -> Iterator[str]:
    for difference in finding.disagreements:
        stated = f"“{one_line(difference.stated)}”" if difference.stated else "nothing like it"
        claimed = f"says “{one_line(difference.claimed)}”" if difference.claimed else "leaves that out"
        yield f"{difference.kind}: the answer {claimed}, [{finding.source}] says {stated}"
    if finding.verdict == "contradicted" and finding.passage:
        yield f"[{finding.source}]: {one_line(finding.passage)}"
    elif finding.verdict == "not_found" and finding.passage and not finding.disagreements:
        yield f"nearest in [{finding.source}]: {one_line(finding.passage)}"
    yield from finding.notes


def _summary(report: Report) -> list[str]:
    counted = [f"{report.count(verdict)} {_LABELS[verdict][1]}" for verdict in _LABELS if report.count(verdict)]
    many = "sentence" if len(report.findings) == 1 else "sentences"
    lines = [f"{len(report.findings)} {many}: {', '.join(counted)}."] if counted else ["There is nothing to check."]
    return [*lines, *(f"Note: {warning}." for warning in report.warnings)]
