"""How often `ask` without a model quotes the answer first, and how often it quotes something where nothing answers.

    python benchmarks/quotes.py FILE.json... [--questions 300] [--least 0.48]

A FILE has questions and answers by people in the format of SQuAD, such as `xquad.en.json` of XQuAD (240 paragraphs of
48 articles in eleven languages; Artetxe et al., arXiv 1910.11856). An article is a page; a question is searched by
BM25, and the best three articles are quoted from, the article with the answer among them; then three without it. The
baseline is the sentence with most of the question's words that have three or more letters.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import re
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from groundwire.reading.passages.quotes import best_quotes

_WORD = re.compile(r"\w+")
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s+")
Pages = Sequence[tuple[str, str]]


def by_shared_words(pages: Pages, question: str) -> tuple[int, str] | None:
    """Return the page and the sentence that has most of the question's words."""
    wanted = {word for word in _WORD.findall(question.casefold()) if len(word) > 2}
    sentences = [(page, one) for page, (_, text) in enumerate(pages) for one in _SENTENCE_END.split(text)]
    shared = [len(wanted & set(_WORD.findall(one.casefold()))) for _, one in sentences]
    return sentences[shared.index(max(shared))] if max(shared, default=0) else None


def by_quotes(pages: Pages, question: str, least: float) -> tuple[int, str] | None:
    quotes = best_quotes(pages, question, least)
    return (quotes[0].page, quotes[0].text) if quotes else None


class Articles:
    """The articles of a file, searched by BM25."""

    def __init__(self, file: Path) -> None:
        articles = json.loads(file.read_text("utf-8"))["data"]
        self.pages = [("", "\n\n".join(part["context"] for part in article["paragraphs"])) for article in articles]
        self.questions = [
            (number, asked["question"], [answer["text"] for answer in asked["answers"]])
            for number, article in enumerate(articles)
            for part in article["paragraphs"]
            for asked in part["qas"]
            if asked["answers"]
        ]
        self._rows = [Counter(_WORD.findall(text.casefold())) for _, text in self.pages]
        self._spread = Counter(word for row in self._rows for word in row)
        self._mean = sum(row.total() for row in self._rows) / len(self._rows)

    def search(self, question: str) -> list[int]:
        words = set(_WORD.findall(question.casefold()))
        scores = [sum(self._score(row, word) for word in words) for row in self._rows]
        return sorted(range(len(scores)), key=lambda number: -scores[number])

    def _score(self, row: Counter[str], word: str) -> float:
        count, spread = len(self._rows), self._spread[word]
        rarity = math.log(1 + (count - spread + 0.5) / (spread + 0.5))
        return rarity * row[word] * 2.2 / (row[word] + 1.2 * (0.25 + 0.75 * row.total() / self._mean))


def plain(text: str) -> str:
    return " ".join(text.casefold().split())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--least", type=float, default=0.48)
    asked = parser.parse_args()
    print("| file | rule | answer in the first quote | another quote | nothing | quoted where nothing answers |")
    print("| --- | --- | --- | --- | --- | --- |")
    for file in asked.files:
        articles = Articles(file)
        chosen = random.Random(5).sample(articles.questions, min(asked.questions, len(articles.questions)))
        for rule in ("quotes", "shared words"):
            counts: Counter[str] = Counter()
            for number, question, answers in chosen:
                ranked = articles.search(question)
                found = ranked[:3] if number in ranked[:3] else [number, *ranked[:2]]
                for numbers, case in ((found, "with"), ([one for one in ranked if one != number][:3], "without")):
                    pages = [articles.pages[one] for one in numbers]
                    if rule == "quotes":
                        first = by_quotes(pages, question, asked.least)
                    else:
                        first = by_shared_words(pages, question)
                    if first is None:
                        counts[f"{case} none"] += 1
                    elif numbers[first[0]] == number and any(plain(one) in plain(first[1]) for one in answers):
                        counts[f"{case} right"] += 1
                    else:
                        counts[f"{case} other"] += 1
            names = ("with right", "with other", "with none", "without other")
            print(f"| {file.name} | {rule} | {' | '.join(f'{counts[name] / len(chosen):.3f}' for name in names)} |")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
