"""Learns the weights by which the best passages are put in order, and compares them with BM25 alone.

The questions are the halves `tune` of the sets of `passages.py`, those marked `learn` in `passages_further.tsv`, which
were written from a random piece of each of 236 sites' pages, and questions that pages ask themselves: the heading is
taken out of the page, and the first sentence below it is the answer. No page is of a site that a half `quoted` asks
about.

The weights maximize the probability that a passage with the answer is drawn if each is drawn in proportion to the
exponential of its sum: a conditional logit, with a penalty for large weights. Newton's method takes the curvature of
its convex part, so that every step is uphill. Needs NumPy (`pip install numpy`). Run from the root of the repository:

    python -m benchmarks.learn_passages FOLDER

FOLDER has `extraction`, `web_pages`, and `dates`, the developers' pages. Shown are the weights, and in five parts by
site, each with weights learned from the other four, how many answers 150 to 1,500 tokens have more than by BM25 alone.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import random
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

from benchmarks.passages import SETS, Question, plain, questions
from groundwire.reading.convert import convert
from groundwire.reading.passages.bm25 import Ranked, score_passages
from groundwire.reading.passages.excerpts import choose, wants_links
from groundwire.reading.passages.outline import Outline
from groundwire.reading.passages.reranking import features, worth
from groundwire.reading.passages.token_budget import TextBudget

FOLDS = 5
PENALTY = 5.0  # of the square of a weight, with features of unit variance
STEPS = 40
ASKED_BY_PAGES = 0.1  # weight of a question that a page asks itself
ROOMS = ((150, 103), (300, 253), (800, 753), (1_500, 1_380))  # tokens, and those without the tool's frame
_NAME = re.compile(r"^(?:\d+[.)]|Q\d*[:.]|[-*])\s*")
_SENTENCE = re.compile(r".{40,}?(?:[.!?]\s|$)")


@dataclass(frozen=True)
class Task:
    """A question, the page that answers it, and the passages that do."""

    question: Question
    text: str
    site: str
    ranked: Sequence[Ranked]
    numbers: list[int]
    known: np.ndarray
    right: np.ndarray
    weight: float

    @property
    def fold(self) -> int:
        return int(hashlib.md5(self.site.encode()).hexdigest(), 16) % FOLDS


def sites(folder: Path) -> dict[str, str]:
    """Return the site of each page."""
    truth = json.loads((folder / "extraction" / "truth.json").read_text("utf-8"))
    found = {f"extraction/{name}": row.get("url") or "" for name, row in truth.items()}
    for kind in ("web_pages", "dates"):
        labels = json.loads((folder / kind / "labels.json").read_text("utf-8"))
        found |= {f"{kind}/{row['file'].split('.')[0]}": url.rpartition("::")[2] for url, row in labels.items()}
    return {name: _site(url) for name, url in found.items()}


def _site(url: str) -> str:
    host = (urlsplit(url).hostname or re.split("[-/]", url)[0]).lower().removeprefix("www.")
    parts = host.split(".")
    return ".".join(parts[-3:] if len(parts) > 2 and len(parts[-2]) <= 3 and len(parts[-1]) == 2 else parts[-2:])


def asked_by(page: str, text: str, chance: random.Random) -> list[tuple[Question, str]]:
    """Return up to three questions that a page asks in its headings, each with the page without that heading."""
    document, found = Outline(text), []
    for at, heading in enumerate(document.headings):
        question = _NAME.sub("", heading.title).strip()
        stop = document.headings[at + 1].start if at + 1 < len(document.headings) else len(text)
        body = text[heading.end : stop].strip()
        sentence = _SENTENCE.search(plain(body[:400]))
        if question[-1:] not in ("?", "\uff1f") or not 12 <= len(question) <= 90 or len(body) < 60 or sentence is None:
            continue
        answer = sentence[0][:70].strip()
        rest = f"{text[: heading.start].rstrip()}\n\n{text[heading.end :].lstrip()}"
        if plain(rest).count(answer) == 1 and not body.startswith(("```", "|", "!")):
            found.append((Question(page, "", "", question.rstrip("?\uff1f"), answer), rest))
    chance.shuffle(found)
    return found[:3]


def tasks(folder: Path) -> list[Task]:
    """Return what is learned from: the questions of people, and up to four of a site's pages."""
    of, texts = sites(folder), dict[str, str]()
    asked = [row for name in SETS for half in ("tune", "learn") for row in questions(half, name)]
    left_out = {of[row.page] for name in SETS for row in questions("quoted", name)}
    for page in sorted(of):
        path = folder / page.partition("/")[0] / "html" / f"{page.partition('/')[2]}.html.gz"
        if path.is_file() and (of[page] not in left_out or page in {row.page for row in asked}):
            url = f"http://127.0.0.1/{page}"  # as `passages.py` reads them
            texts[page] = convert(gzip.decompress(path.read_bytes()), "text/html", url, headers={}).extracted.content
    found = [_task(row, texts[row.page], of[row.page], 1.0) for row in asked if row.page in texts]
    chance, count = random.Random(3), Counter[str]()
    pages = [page for page, text in texts.items() if len(text) >= 4_000 and of[page] not in left_out]
    chance.shuffle(pages)
    for page in pages:
        for question, text in asked_by(page, texts[page], chance) if count[of[page]] < 4 else ():
            count[of[page]] += 1
            found.append(_task(question, text, of[page], ASKED_BY_PAGES))
    return [task for task in found if task.numbers]


def _task(question: Question, text: str, site: str, weight: float) -> Task:
    document = Outline(text)
    ranked, matches = score_passages(document, question.question)
    known = features(document, ranked, matches)
    right = [question.is_answered_by(text[ranked[at].passage.start : ranked[at].passage.end]) for at in known]
    return Task(question, text, site, ranked, list(known), np.array(list(known.values())), np.array(right), weight)


def learn(learned: Sequence[Task]) -> np.ndarray:
    """Return the weights of the features."""
    learned = [task for task in learned if task.right.any()]
    spread = np.vstack([task.known for task in learned]).std(0) + 1e-9
    weights = np.zeros(len(spread))
    for _ in range(STEPS):
        slope, curve = -2 * PENALTY * weights, 2 * PENALTY * np.eye(len(weights))
        for task in learned:
            known = task.known / spread
            sums = np.exp(known @ weights - (known @ weights).max())
            every, those = sums / sums.sum(), sums * task.right / (sums @ task.right + 1e-12)
            slope += task.weight * known.T @ (those - every)
            away = known - every @ known
            curve += task.weight * (away * every[:, None]).T @ away
        weights = weights + np.linalg.solve(curve, slope)
    return np.asarray(weights / spread)


def answered(task: Task, weights: np.ndarray | None) -> list[int]:
    """Return for each budget whether the excerpts have the answer."""
    document, ranked = Outline(task.text), task.ranked
    if weights is not None:
        texts = {row.number: task.text[row.passage.start : row.passage.end] for row in ranked}
        sums = [
            worth(known, len(plain(texts[at])), weights.tolist())
            for at, known in zip(task.numbers, task.known.tolist(), strict=True)
        ]
        order = [at for _, at in sorted(zip(sums, task.numbers, strict=True), reverse=True)]
        scores = {number: 1 - 0.001 * place for place, number in enumerate(order)}
        ranked = [replace(row, score=scores.get(row.number, 0.0)) for row in ranked]
    found = []
    for _, tokens in ROOMS:
        room = TextBudget(characters=10_000_000, tokens=tokens)
        shown = task.text if room.holds(task.text) else ""
        shown = shown or choose(document, ranked, room, links=wants_links(task.question.question)).content
        found.append(int(task.question.is_answered_by(shown)))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder", type=Path)
    every = tasks(parser.parse_args().folder)
    people = [task for task in every if task.weight == 1]
    unused = {row.question for row in (*questions("tune", "further"), *questions("learn", "further"))}
    print(f"{len(people)} questions of people, {len(every) - len(people)} of pages")
    print("weights:", ", ".join(f"{weight:.2f}" for weight in learn(every)))
    rows = []
    for fold in range(FOLDS):
        weights = learn([task for task in every if task.fold != fold])
        asked = [task for task in people if task.fold == fold]
        rows += [(task.question.question in unused, answered(task, None), answered(task, weights)) for task in asked]
    for name, some in (("people", rows), ("not used to choose weights before", [row for row in rows if row[0]])):
        before, after = np.array([row[1] for row in some]), np.array([row[2] for row in some])
        print(f"\n{name}: {len(some)}\n\n| tokens | BM25 | learned | more |\n| --- | --- | --- | --- |")
        for at, (tokens, _) in enumerate(ROOMS):
            more = after[:, at] - before[:, at]
            sure = 1.96 * more.std() / len(some) ** 0.5
            means = f"{before[:, at].mean():.3f} | {after[:, at].mean():.3f}"
            print(f"| {tokens:,} | {means} | {more.mean():+.3f} (\u00b1{sure:.3f}) |")


if __name__ == "__main__":
    main()
