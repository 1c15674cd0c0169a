"""Verification measured on claims that people judged, beside a plain baseline.

The claims are sentences of real assistants with the text that they cite (AttributionBench), and sentences of Wikipedia
with the pages that they cite (WiCE). The folder has `attributionbench-dev.jsonl` and `wice-dev.jsonl`, with a claim, a
page, and whether people said that the page supports it. Run from the root of the repository:

    python -m benchmarks.claims FOLDER

`supported` is measured against all other verdicts. The evidence is learned, so the figures of the first table are of
trees that have not seen the claim's page (five parts by page; needs NumPy); those of `--shipped` are of the project as
it is, whose weights were learned from these very claims: use it on claims that it has not seen. The baseline is nine
counts and a logistic regression, learned from the same parts, for each set alone.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

from groundwire.citations.verify import CitedPage, Finding, verify_answer
from groundwire.citations.verify.evidence import Claim, evidence
from groundwire.citations.verify.passage_index import PageIndex
from groundwire.reading.passages.terms import Terms, is_common

FOLDS: Final = 5
TERMS: Final = Terms()


@dataclass(frozen=True)
class LabeledClaim:
    """A claim that people judged."""

    name: str
    """The set that it is of."""
    text: str
    page: str
    supported: bool

    def fold(self, seed: str = "") -> int:
        """Return the part that it is in: claims with the same page are in one."""
        return int(hashlib.md5(f"{seed}{self.page[:2_000]}".encode()).hexdigest(), 16) % FOLDS


def read_claims(folder: Path) -> list[LabeledClaim]:
    """Return the claims of all files of a folder."""
    found = []
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            row = json.loads(line)
            found.append(LabeledClaim(path.stem, row["claim"], row["page"], bool(row["supported"])))
    return found


def counts_of(claim: LabeledClaim) -> tuple[float, ...]:
    """Return the evidence for a claim on its page."""
    index = PageIndex(claim.page, "", TERMS)
    return evidence(Claim(claim.text, TERMS, index.language), [index]).counts


def findings_of(claim: LabeledClaim) -> tuple[Finding, ...]:
    """Return the findings of the project on a claim that cites its page."""
    said = re.sub(r"\[\d+\]", "", claim.text).rstrip(" .!?")
    page = CitedPage(number=1, url="https://a.example/", content=claim.page)
    return tuple(one for one in verify_answer(f"{said} [1].", [page]).findings if one.sources)


_WORD: Final = re.compile(r"\d[\d.,]*\d|\d|[^\W\d_]+(?:['’][^\W\d_]+)?")
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+|\n+")


def plain_counts(claim: LabeledClaim) -> list[float]:
    """Return the nine counts of the baseline: shares of the claim's words, pairs, numbers and names on the page."""
    said = [word.replace(",", "") for word in _WORD.findall(claim.text)]
    terms = TERMS(claim.text)
    content = [term for term in dict.fromkeys(terms) if not is_common(term)] or list(dict.fromkeys(terms))
    sentences = [TERMS(one) for one in _SENTENCE.split(claim.page) if one.strip()] or [[]]
    spread = Counter(term for one in sentences for term in set(one))
    rarity = {term: math.log(1 + (len(sentences) + 1) / (spread[term] + 0.5)) for term in content}
    total = sum(rarity.values()) or 1.0
    windows = [set().union(*sentences[at : at + 3]) for at in range(len(sentences))]
    pairs, on_page = list(pairwise(terms)), {pair for one in sentences for pair in pairwise(one)}
    numbers = [word for word in said if word[0].isdecimal()]
    names = [term for word in said[1:] if word[0].isupper() for term in TERMS(word)]
    return [
        sum(rarity[term] for term in content if term in spread) / total,
        sum(term in spread for term in content) / max(1, len(content)),
        max(sum(rarity[term] for term in content if term in one) / total for one in map(set, sentences)),
        max(sum(term in one for term in content) / max(1, len(content)) for one in windows),
        sum(number not in spread for number in numbers) / max(1, len(numbers)),
        sum(name not in spread for name in names) / max(1, len(names)),
        sum(pair in on_page for pair in pairs) / max(1, len(pairs)),
        math.log(1 + len(content)) / 3,
        math.log(1 + len(claim.page)) / 10,
    ]


def scores(claims: Sequence[LabeledClaim], sure: Sequence[float]) -> dict[str, dict[str, float]]:
    """Return macro-F1, balanced accuracy and expected calibration error (10 equal bins) for each set."""
    found = {}
    for name in dict.fromkeys(claim.name for claim in claims):
        rows = [(claim.supported, p) for claim, p in zip(claims, sure, strict=True) if claim.name == name]
        counts = Counter((label, p >= 0.5) for label, p in rows)
        tp, fn, fp, tn = counts[True, True], counts[True, False], counts[False, True], counts[False, False]
        tenths = ([label - p for label, p in rows if min(9, int(p * 10)) == tenth] for tenth in range(10))
        found[name] = {
            "macro-F1": (2 * tp / max(1, 2 * tp + fp + fn) + 2 * tn / max(1, 2 * tn + fp + fn)) / 2,
            "balanced accuracy": (tp / max(1, tp + fn) + tn / max(1, tn + fp)) / 2,
            "calibration error": sum(abs(sum(inside)) for inside in tenths) / max(1, len(rows)),
        }
    return found


def _cpu(claims: Sequence[LabeledClaim]) -> tuple[float, float, int]:
    """Return the least CPU time, in seconds, of five for claims of 1,000 words that cite 20 pages.

    Also return that of the pages' index alone, which is part of it, and the characters of the pages.
    """
    chosen = [claim for claim in claims if 1_500 < len(claim.page) < 20_000][:20]
    pages = [CitedPage(number=at, url="", content=claim.page) for at, claim in enumerate(chosen, start=1)]
    said: list[str] = []
    while sum(len(one.split()) for one in said) < 1_000 and chosen:
        number = len(said) % len(chosen)
        said.append(f"{chosen[number].text.rstrip('. ')} [{number + 1}].")
    times, of_index = [], []
    for _ in range(5):
        begun = time.process_time()
        verify_answer(" ".join(said), pages)
        times.append(time.process_time() - begun)
        terms, begun = Terms(), time.process_time()
        for claim in chosen:
            PageIndex(claim.page, "", terms)
        of_index.append(time.process_time() - begun)
    return min(times), min(of_index), sum(len(page.content or "") for page in pages)


def _show(title: str, told: Mapping[str, Mapping[str, float]]) -> None:
    for name, figures in told.items():
        print(f"{title:32} {name:24}", "  ".join(f"{kind} {value:.3f}" for kind, value in figures.items()))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--shipped", action="store_true", help="measure the weights as they are, and learn nothing")
    parser.add_argument("--show", action="store_true", help="print the wrong accusations")
    arguments = parser.parse_args()
    claims = read_claims(arguments.data)
    found = [findings_of(claim) for claim in claims]
    accused = [any(one.verdict == "contradicted" for one in findings) for findings in found]
    exact = [bool(findings) and all(one.exact for one in findings) for findings in found]

    def judged(sure: Sequence[float]) -> list[float]:
        """Return probabilities as the project gives them: accusations and copies do not depend on the weights."""
        least = (max(p, 0.97) if is_copy else p for p, is_copy in zip(sure, exact, strict=True))
        return [min(p, 0.1) if is_accused else p for p, is_accused in zip(least, accused, strict=True)]

    if arguments.shipped:
        least = [min((one.probability or 0.0 for one in findings), default=0.0) for findings in found]
        _show("shipped weights", scores(claims, least))
    else:
        from benchmarks.learn_claims import baseline_odds, cross_validated

        for seed in ("", "a", "b"):
            _show("cross-validated", scores(claims, judged(cross_validated(claims, seed))))
            _show("baseline, on the same parts", scores(claims, baseline_odds(claims, seed)))
    for name in dict.fromkeys(claim.name for claim in claims):
        rows = [not claim.supported for claim, bad in zip(claims, accused, strict=True) if bad and claim.name == name]
        print(f"accusations, {name}: {sum(rows)} of {len(rows)} right")
    kinds = Counter(
        (findings[0].disagreements[0].kind, claim.supported)
        for claim, findings, bad in zip(claims, found, accused, strict=True)
        if bad and findings[0].disagreements
    )
    print("  by kind, right and wrong:", {kind: (kinds[kind, False], kinds[kind, True]) for kind, _ in sorted(kinds)})
    seconds, index, size = _cpu([claim for claim in claims if claim.name.startswith("wice")] or claims)
    print(f"1,000 words over 20 pages of {size:,} characters in all: {seconds * 1_000:.1f} ms of CPU, ", end="")
    print(f"{index * 1_000:.1f} of them for the index of the pages")
    for claim, findings, bad in zip(claims, found, accused, strict=True):
        if arguments.show and bad and claim.supported:
            print("-", claim.text, [(one.kind, one.claimed, one.stated[:200]) for one in findings[0].disagreements])
            print("    ", findings[0].passage[:600].replace("\n", " "))


if __name__ == "__main__":
    main()
