"""A verification report as text, as HTML, and as JSON data, with the confidence and the reason of each finding."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import groupby, islice
from types import MappingProxyType
from typing import Any, Final

from groundwire.citations.dialects import one_line
from groundwire.citations.verify.alignment import Alignment
from groundwire.citations.verify.language_packs import fold
from groundwire.citations.verify.passage_index import PageIndex
from groundwire.citations.verify.report import Disagreement, Finding, Report, Verdict
from groundwire.citations.verify.segmentation import MAX_SENTENCE, CitedSentence, TextSpan

__all__ = ["evidence", "explained", "report_html", "report_json", "report_text", "weighed"]

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
_SYNONYM: Final = 0.45  # confidence that a sentence with another word than the page's is not what the page says
_OWN_WORDS: Final = 0.6  # share of its tokens that are the page's, below which a sentence is in other words
_LITTLE: Final = 0.3  # share of a sentence's words, by weight
_BRIEF: Final = 4  # words of a sentence
_LOST: Final = 8  # words without a counterpart that are compared by their letters
_FREE: Final = 100  # words of a passage that they are compared with
_WEIGHTS: Final[Mapping[str, float]] = MappingProxyType(
    {
        "every sentence": 1.81,
        "altered": -2.65,
        "not found": -1.81,
        "copies": -0.37,
        "copies and differs": -1.30,
        "brief": -0.71,
        "little found": -1.30,
        "missing in a row": -2.08,
        "last word missing": -0.75,
        "numbers found": 1.55,
        "opposite": -1.32,
        "word": -0.70,
        "flagged, in other words": 1.24,
        "flagged, letters in common": -1.64,
    }
)
"""How much each piece of evidence adds to the logit of the probability that the page states a sentence.

Fitted by logistic regression to the tuning halves of the hand-written sentences and to sentences changed by rule.
"""


def weighed(finding: Finding, aligned: Alignment) -> Finding:
    """Return a finding with its confidence: the probability that its verdict is right."""
    told = evidence(finding, aligned)
    stated = 1.0 / (1.0 + math.exp(-sum(weight * told[name] for name, weight in _WEIGHTS.items())))
    sure = stated if finding.verdict == "supported" else 1.0 - stated
    if finding.verdict == "not_found" and {one.kind for one in finding.disagreements} == {"word"}:
        sure = min(sure, _SYNONYM)
    return replace(finding, confidence=sure)


def evidence(finding: Finding, aligned: Alignment) -> dict[str, float]:
    """Return the evidence for and against a sentence, by the names of the weights.

    Args:
        finding: The verdict of the rules.
        aligned: The word alignment with the passage.
    """
    words = [at for at, token in enumerate(aligned.claim) if token.kind in {"word", "number"}]
    lost = [at for at in words if at not in aligned.pairs and aligned.claim[at].key not in aligned.tongue.attribution]
    runs = (len(list(run)) for is_lost, run in groupby(words, frozenset(lost).__contains__) if is_lost)
    numbers = sum(aligned.claim[at].value is not None for at in aligned.pairs)
    kinds = {one.kind for one in finding.disagreements}
    flagged = finding.verdict != "supported"
    return {
        "every sentence": 1.0,
        "altered": finding.verdict == "altered",
        "not found": finding.verdict == "not_found",
        "copies": aligned.copies,
        "copies and differs": aligned.copies and bool(kinds),
        "brief": len(words) <= _BRIEF,
        "little found": finding.share < _LITTLE,
        "missing in a row": min(max(runs, default=0) / 6, 1.0),
        "last word missing": bool(lost) and lost[-1] == words[-1],
        "numbers found": min(numbers / 3, 1.0),
        "opposite": aligned.literal_share * ("opposite" in kinds),
        "word": aligned.literal_share * ("word" in kinds),
        "flagged, in other words": flagged and aligned.literal_share < _OWN_WORDS,
        "flagged, letters in common": _likeness(aligned, lost) if flagged else 0.0,
    }


def _likeness(aligned: Alignment, lost: Sequence[int]) -> float:
    """Return the trigrams that the least similar missing word has in common with any free word of the page, 0 to 1."""
    free = (token.text for at, token in enumerate(aligned.page) if token.kind == "word" and at not in aligned.back)
    others = [_trigrams(word) for word in islice(free, _FREE)]
    mine = [_trigrams(aligned.claim[at].text) for at in lost[:_LOST] if aligned.claim[at].kind == "word"]
    shares = (max((len(one & other) / len(one | other) for other in others), default=0.0) for one in mine)
    return min(shares, default=1.0)


def _trigrams(word: str) -> frozenset[str]:
    text = f"^{fold(word)}$"
    return frozenset(text[at : at + 3] for at in range(max(1, len(text) - 2)))


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
        yield f"{_kind(one)}: the answer says “{one_line(one.claimed)}”, [{finding.source}] says {stated}"
    if finding.verdict == "altered" and finding.passage:
        yield f"[{finding.source}]: {one_line(finding.passage)}"
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
