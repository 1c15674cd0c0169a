"""A verification report as text, as HTML, and as JSON data, with the reason of each finding."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from types import MappingProxyType
from typing import Any, Final

from groundwire.citations.dialects import one_line
from groundwire.citations.verify.passage_index import PageIndex
from groundwire.citations.verify.report import Disagreement, Finding, Report, Verdict
from groundwire.citations.verify.segmentation import (
    CONTENT_WORD,
    MAX_SENTENCE,
    CitedSentence,
    TextSpan,
    blank_markup,
    spelled_words,
)

__all__ = ["explained", "report_html", "report_json", "report_text"]

_LABELS: Final[Mapping[Verdict, tuple[str, str]]] = MappingProxyType(
    {
        "supported": ("✓", "supported"),
        "altered": ("≠", "altered"),
        "not_found": ("✗", "not found"),
        "not_opened": ("?", "page not opened"),
        "unknown_source": ("✗", "source unknown"),
        "not_comparable": ("?", "not comparable"),
        "uncited": ("!", "no source given"),
        "no_claim": ("·", "nothing to check"),
    }
)
"""A symbol and words for each verdict: nothing is conveyed by color alone."""

_KINDS: Final[Mapping[str, str]] = MappingProxyType({"entailment": "meaning"})
_COLORS: Final[Mapping[Verdict, tuple[str, str]]] = MappingProxyType(
    {  # background of a sentence, light and dark; each has a contrast of at least 7:1 to the text
        "supported": ("#d8f3dc", "#163d22"),
        "altered": ("#ffe8b8", "#4a3400"),
        "not_found": ("#ffd9d6", "#541b17"),
        "not_opened": ("#e3e6ff", "#272c5c"),
        "unknown_source": ("#ffd9d6", "#541b17"),
        "not_comparable": ("#e3e6ff", "#272c5c"),
        "uncited": ("#ececec", "#333333"),
        "no_claim": ("transparent", "transparent"),
    }
)


def explained(finding: Finding, sentence: CitedSentence, index: PageIndex | None) -> Finding:
    """Add the positions of differences, the confidence and the reason to a finding.

    A sentence that the page may well state in other words is not called altered.
    """
    known = index is not None and index.may_say(sentence.plain)  # else only figures are compared
    doubtful = known and all(one.kind not in _CERTAIN for one in finding.disagreements)
    if doubtful and finding.verdict == "altered" and 0.0 < finding.confidence < _SURE:
        finding = replace(finding, verdict="not_found")
    differ = tuple(_with_places(one, finding, sentence, index) for one in finding.disagreements)
    if index is not None and known and finding.verdict == "not_found":
        differ = tuple(told for one in differ for told in _compared(one, finding, sentence, index))
    finding = replace(finding, disagreements=differ)
    sure = finding.confidence or _certainty(finding.verdict)
    return replace(finding, confidence=round(sure, 2), reason=_reason(finding))


def _with_places(one: Disagreement, finding: Finding, sentence: CitedSentence, index: PageIndex | None) -> Disagreement:
    claimed = _find(one.claimed, sentence.text[:MAX_SENTENCE])
    if claimed is not None:
        claimed = TextSpan(sentence.start + claimed.start, sentence.start + claimed.end)
    stated = None
    if index is not None and finding.passage_start is not None and finding.passage_end is not None:
        begin, end = max(0, finding.passage_start - 1_000), finding.passage_end + 1_000
        stated = _find(one.stated, finding.passage)
        begin = finding.passage_start if stated else begin
        stated = stated or _find(one.stated, index.content[begin:end])
        stated = TextSpan(begin + stated.start, begin + stated.end) if stated else None
    return replace(
        one,
        claimed=one.claimed.removesuffix(" ."),  # a marker left the space
        source=finding.source,
        claimed_start=claimed.start if claimed else None,
        claimed_end=claimed.end if claimed else None,
        stated_start=stated.start if stated else None,
        stated_end=stated.end if stated else None,
    )


def _compared(one: Disagreement, finding: Finding, sentence: CitedSentence, index: PageIndex) -> Iterator[Disagreement]:
    """Yield a difference that was not enough to accuse a sentence, if the page speaks of the same thing there.

    Both then have a word before or behind them in common, or two. Otherwise only what the page does not have is shown.
    """
    ends = (one.claimed_start, one.claimed_end, one.stated_start, one.stated_end)
    begin, end, first, last = (-1 if at is None else at for at in ends)
    told = min(begin, first) >= 0 and one.kind in _PLACED and sentence.text.count(one.claimed) == 1
    mine = _beside(sentence.text, begin - sentence.start, end - sentence.start, index) if told else []
    theirs = _beside(index.content, first, last, index) if told else []
    common = [here & there for here in mine for there in theirs]
    beside = any(common[::3]) or sum(map(len, common)) > 1 or (one.kind == "word" and not told and one.stated)
    if one.kind not in _PLACED or index.language.dense or beside:
        yield one
    elif one.kind in {"number", "name"} or (one.kind == "quantifier" and " " in one.claimed):
        words = spelled_words(one.claimed, index.language)
        if not words or not all(index.has(form, word) for form, word in words):
            said = " ".join(one.claimed.split()[:2]) if one.kind == "quantifier" else one.claimed
            yield replace(one, claimed=said, stated="", stated_start=None, stated_end=None)


def _beside(text: str, start: int, end: int, index: PageIndex) -> list[set[str]]:
    """Return the keys of the two content words before a stretch of a text, and of those behind it."""
    before, after = blank_markup(text[max(0, start - _NEAR) : start]), blank_markup(text[end : end + _NEAR])
    words = ([one[0] for one in CONTENT_WORD.finditer(side)] for side in (before, after))
    said = [[one for one in some if not index.language.is_function(one)] for some in words]
    return [{key for word in some for key in index.language.keys(word)} for some in (said[0][-2:], said[1][:2])]


def _find(words: str, text: str) -> TextSpan | None:
    """Return the positions of words in a text, ignoring markup between them."""
    if not words.strip():
        return None
    at = text.find(words)
    if at >= 0:
        return TextSpan(at, at + len(words))
    found = re.search(r"[\W_]{1,40}".join(map(re.escape, re.findall(r"[^\W_]+", words)[:40])), text) if words else None
    return TextSpan(*found.span()) if found and found[0] else None


_CERTAIN: Final = frozenset({"date", "unit", "quote", "entailment"})  # differences that always accuse a sentence
_SURE: Final = 0.85  # confidence from which others do
_PLACED: Final = frozenset({"number", "name", "word", "order", "quantifier"})  # differences of what is in a place
_NEAR: Final = 60  # characters beside a difference


def _certainty(verdict: Verdict) -> float:
    """Return the confidence of a finding for which no passage was compared."""
    match verdict:
        case "supported" | "unknown_source" | "not_opened" | "uncited":
            return 1.0
        case "altered" | "not_found":
            return 0.9
        case _:
            return 0.5


def _reason(finding: Finding) -> str:
    """Return the reason of a verdict in one sentence."""
    page = f"[{finding.source}]" if finding.source is not None else "the page"
    match finding.verdict:
        case "supported" if finding.exact:
            return f"{page} says it in the same words."
        case "supported":
            return f"{page} says it in other words."
        case "altered" if finding.disagreements:
            one = finding.disagreements[0]
            claimed, stated = one_line(one.claimed), one_line(one.stated)
            if not stated:
                return f"You say “{claimed}”, and {page} has nothing like it."
            if not claimed:
                return f"{page} says “{stated}”, and you leave that out."
            return f"You say “{claimed}”, {page} says “{stated}”."
        case "altered":
            return f"{page} says nearly that."
        case "not_found" if finding.disagreements and (claimed := one_line(finding.disagreements[0].claimed)):
            if stated := one_line(finding.disagreements[0].stated):
                perhaps = (
                    "which may mean the same"
                    if finding.disagreements[0].kind == "word"
                    else "perhaps of something else"
                )
                return f"You say “{claimed}”, and {page} says “{stated}”, {perhaps}."
            return f"{page} does not say “{claimed}” in words that could be compared."
        case "not_found":
            return f"{page} does not say it."
        case "not_opened":
            return f"{page} was not opened, and what was seen of it does not say it."
        case "unknown_source":
            return "No source has the number that it cites."
        case "not_comparable":
            return f"{page} is in another language or script."
        case "uncited":
            return "It states facts and cites nothing."
        case _:
            return "It states nothing that could be checked."


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
    name = html.escape(title)
    rules = "".join(f".{verdict}{{background:{light}}}" for verdict, (light, _) in _COLORS.items())
    dark = "".join(f".{verdict}{{background:{dark}}}" for verdict, (_, dark) in _COLORS.items())
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{name}</title>\n<style>{_STYLE}{rules}@media (prefers-color-scheme:dark){{{dark}}}</style>\n</head>\n"
        f"<body>\n<main>\n<h1>{name}</h1>\n"
        + "".join(f"<p>{html.escape(line)}</p>\n" for line in _summary(report))
        + f'<h2>The answer</h2>\n<div class="answer">{"".join(_marked(report, answer))}</div>\n'
        + f"<h2>Sentence by sentence</h2>\n<ol>\n{''.join(map(_item, _told(report)))}</ol>\n</main>\n</body>\n</html>\n"
    )


_STYLE: Final = (
    ":root{color-scheme:light dark}"
    "body{font:1rem/1.6 system-ui,sans-serif;margin:0;color:#1a1a1a;background:#fff}"
    "main{max-width:48rem;margin:auto;padding:1.5rem}"
    ".answer{white-space:pre-wrap;overflow-wrap:anywhere}"
    "a,mark{color:inherit}mark{border-radius:.2em;padding:.05em .1em}mark a{text-decoration:none}"
    "li{margin:0 0 1rem;overflow-wrap:anywhere}"
    "blockquote{margin:.3rem 0;padding-left:.8rem;border-left:.2rem solid #999}"
    "table{border-collapse:collapse;width:100%}th,td{text-align:left;vertical-align:top;padding:.2rem .6rem;"
    "border:1px solid #999;font-weight:inherit}"
    ":target{outline:.15rem solid currentColor}"
    "@media (prefers-color-scheme:dark){body{color:#f0f0f0;background:#161616}}"
)


def _told(report: Report) -> list[tuple[int, Finding]]:
    """Return the findings to show, with their numbers."""
    return [
        (number, finding) for number, finding in enumerate(report.findings, start=1) if finding.verdict != "no_claim"
    ]


def _marked(report: Report, answer: str) -> Iterator[str]:
    """Yield the answer, each judged sentence as a link to its finding."""
    place = 0
    for number, finding in _told(report):
        yield html.escape(answer[place : finding.start])
        label = html.escape(_LABELS[finding.verdict][1])
        said = html.escape(answer[finding.start : finding.end])
        yield f'<mark class="{finding.verdict}" title="{label}"><a href="#s{number}">{said}</a></mark>'
        place = finding.end
    yield html.escape(answer[place:])


def _item(numbered: tuple[int, Finding]) -> str:
    number, finding = numbered
    sign, label = _LABELS[finding.verdict]
    parts = [f'<li id="s{number}"><strong class="{finding.verdict}">{sign} {label}</strong>']
    if finding.source is not None:
        parts.append(f" (source {finding.source})")
    parts.append(f"<blockquote>{html.escape(one_line(finding.text))}</blockquote>")
    if finding.disagreements:
        parts.append('<table><thead><tr><th scope="col">What</th><th scope="col">The answer says</th>')
        parts.append('<th scope="col">The page says</th></tr></thead><tbody>')
        parts += [
            f'<tr><th scope="row">{html.escape(_kind(one))}</th><td>{html.escape(one_line(one.claimed))}</td>'
            f"<td>{html.escape(one_line(one.stated)) or 'nothing like it'}</td></tr>"
            for one in finding.disagreements
        ]
        parts.append("</tbody></table>")
    if _passage_tells(finding):
        parts.append(f"<p>The page:</p><blockquote>{html.escape(one_line(finding.passage))}</blockquote>")
    parts += [f"<p>{html.escape(note)}</p>" for note in finding.notes]
    return "".join(parts) + "</li>\n"


def _details(finding: Finding) -> Iterator[str]:
    for one in finding.disagreements:
        stated = f"“{one_line(one.stated)}”" if one.stated else "nothing like it"
        claimed = f"says “{one_line(one.claimed)}”" if one.claimed else "leaves that out"
        yield f"{_kind(one)}: the answer {claimed}, [{finding.source}] says {stated}"
    if finding.verdict == "altered" and finding.passage:
        yield f"[{finding.source}]: {one_line(finding.passage)}"
    elif finding.verdict == "not_found" and finding.passage and not finding.disagreements:
        yield f"nearest in [{finding.source}]: {one_line(finding.passage)}"
    yield from finding.notes


def _passage_tells(finding: Finding) -> bool:
    return bool(finding.passage) and finding.verdict in {"supported", "altered"}


def _kind(disagreement: Disagreement) -> str:
    return _KINDS.get(disagreement.kind, disagreement.kind)


def _summary(report: Report) -> list[str]:
    counted = [f"{report.count(verdict)} {_LABELS[verdict][1]}" for verdict in _LABELS if report.count(verdict)]
    many = "sentence" if len(report.findings) == 1 else "sentences"
    lines = [f"{len(report.findings)} {many}: {', '.join(counted)}."] if counted else ["There is nothing to check."]
    return [*lines, *(f"Note: {warning}." for warning in report.warnings)]
