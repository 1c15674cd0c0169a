"""A verification report as text, as HTML, and as JSON data."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Final

from groundwire.citations.dialects import one_line
from groundwire.citations.verify.report import Finding, Report, Verdict

_LABELS: Final[Mapping[Verdict, tuple[str, str, str, str]]] = MappingProxyType(
    {
        "supported": ("✓", "supported", "#d8f3dc", "#163d22"),
        "contradicted": ("≠", "contradicted", "#ffd9d6", "#541b17"),
        "not_found": ("?", "not found", "#ffe8b8", "#4a3400"),
        "not_opened": ("?", "page not opened", "#e3e6ff", "#272c5c"),
        "unknown_source": ("✗", "source unknown", "#ffd9d6", "#541b17"),
        "not_comparable": ("?", "not comparable", "#e3e6ff", "#272c5c"),
        "uncited": ("!", "no source given", "#ececec", "#333333"),
        "no_claim": ("·", "nothing to check", "transparent", "transparent"),
    }
)
"""A symbol and words for each verdict, as nothing is conveyed by color alone, and its background, light and dark.

Each background has a contrast of at least 7:1 to the text.
"""


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
        sign, label, *_ = _LABELS[finding.verdict]
        of = f" by [{finding.source}]" if finding.source is not None and finding.verdict == "supported" else ""
        if of and not finding.exact and finding.probability is not None:
            of += f" ({finding.probability:.0%})"
        lines.append(f"{sign} {label}{of}: {one_line(finding.text)}")
        lines += [f"    {line}" for line in _details(finding)]
    return "\n".join([*lines, *([""] if lines else []), *_summary(report)])


def report_html(report: Report, answer: str, *, title: str = "Checked answer") -> str:
    """Return a report as a self-contained HTML page, without scripts and external resources.

    Args:
        report: The report.
        answer: The verified answer, shown as written, each sentence on the color of its verdict.
        title: The title of the page.
    """
    name, style = html.escape(title), files(__package__).joinpath("report.css").read_text("utf-8")
    items = "".join(map(_item, _numbered_findings(report)))
    rules = "".join(f".{verdict}{{background:{light}}}" for verdict, (*_, light, _) in _LABELS.items())
    dark = "".join(f".{verdict}{{background:{dark}}}" for verdict, (*_, dark) in _LABELS.items())
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{name}</title>\n<style>{style}{rules}@media (prefers-color-scheme:dark){{{dark}}}</style>\n</head>\n"
        f"<body>\n<main>\n<h1>{name}</h1>\n"
        + "".join(f"<p>{html.escape(line)}</p>\n" for line in _summary(report))
        + f'<h2>The answer</h2>\n<div class="answer">{"".join(_marked(report, answer))}</div>\n'
        + f"<h2>Sentence by sentence</h2>\n<ol>\n{items}</ol>\n</main>\n</body>\n</html>\n"
    )


def _numbered_findings(report: Report) -> list[tuple[int, Finding]]:
    """Return the findings to show, with their numbers."""
    return [row for row in enumerate(report.findings, start=1) if row[1].verdict != "no_claim"]


def _marked(report: Report, answer: str) -> Iterator[str]:
    """Yield the answer, each judged sentence as a link to its finding."""
    place = 0
    for number, finding in _numbered_findings(report):
        yield html.escape(answer[place : finding.start])
        label = html.escape(_LABELS[finding.verdict][1])
        sentence = html.escape(answer[finding.start : finding.end])
        yield f'<mark class="{finding.verdict}" title="{label}"><a href="#s{number}">{sentence}</a></mark>'
        place = finding.end
    yield html.escape(answer[place:])


def _item(numbered: tuple[int, Finding]) -> str:
    number, finding = numbered
    sign, label, *_ = _LABELS[finding.verdict]
    parts = [f'<li id="s{number}"><strong class="{finding.verdict}">{sign} {label}</strong>']
    if finding.source is not None:
        parts.append(f" (source {finding.source})")
    parts.append(f"<blockquote>{html.escape(one_line(finding.text))}</blockquote>")
    if finding.disagreements:
        parts.append('<table><thead><tr><th scope="col">What</th><th scope="col">The answer says</th>')
        parts.append('<th scope="col">The page says</th></tr></thead><tbody>')
        parts += [
            f'<tr><th scope="row">{html.escape(difference.kind)}</th>'
            f"<td>{html.escape(one_line(difference.claimed))}</td>"
            f"<td>{html.escape(one_line(difference.stated)) or 'nothing like it'}</td></tr>"
            for difference in finding.disagreements
        ]
        parts.append("</tbody></table>")
    if finding.passage and finding.verdict in {"supported", "contradicted", "not_found"}:
        parts.append(f"<p>The page:</p><blockquote>{html.escape(one_line(finding.passage))}</blockquote>")
    parts += [f"<p>{html.escape(note)}</p>" for note in finding.notes]
    return "".join(parts) + "</li>\n"


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
