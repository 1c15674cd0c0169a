"""How often the result of `open_page(query=, max_tokens=)` contains the answer to a person's question.

`passages.tsv` has the questions: each was written in other words than the page's, before it was used for tuning, as by
someone who has not seen the page, with the short string that answers it there. A site's questions are all in
one half: `tune`, by which weights were chosen, or `quoted`, which was run once for the documentation.
`passages_everyday.tsv` has a second set, nearer to what people ask: one question about each of 100 other sites, and
`passages_further.tsv` a third, written on 2026-11-24 by somebody who saw the title and one random piece of each page;
of what is marked `learn` there, written in the same way, `learn_passages.py` learns. `passages_independent.tsv` has one
question about each of 120 other sites, by somebody who knew no code and no other set; nothing learns from it.
`passages_random.tsv` has 64 about random pieces of 60 further sites' pages, written before any result by somebody who
knew the code; of the sites' pages, `learn_passages.py` may have learned what they ask in their own headings.

Shown are, at each budget: the text of the tool as a model gets it, frame included; the best paragraphs by plain BM25,
the last one cut; and the first tokens of the page. The last two have the whole budget, without a frame. "Whole page"
says how often the reader has the answer at all. Every answer is counted; one above its budget ends this with 1.

    python benchmarks/passages.py FOLDER [--set everyday|further|independent|random] [--half tune]
        [--tokens 150 300 800 1500] [--missed] [--ranker embeddings]

FOLDER has `extraction/html`, `web_pages/html`, and `dates/html`, the developers' pages.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import gzip
import math
import re
import statistics
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from groundwire import Settings, Web
from groundwire.reading.passages.token_budget import TextBudget, load_token_bound
from groundwire.testing.http_messages import EmulatedResponse, Recorded
from groundwire.testing.server import EmulatedServer, ServerThread
from groundwire.tools import open_page_tool
from groundwire.tools.results import render_text

SETS = {"hard": Path(__file__).with_suffix(".tsv")}
SETS |= {
    name: Path(__file__).with_name(f"passages_{name}.tsv") for name in ("everyday", "further", "independent", "random")
}
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^)\s]*(?:\s\"[^\"]*\")?\)")
_MARKUP = re.compile(r"\\(?=[!-/:-@\[-`{-~])|[*_`]+")
_BLANKS = re.compile(r"[\s|>]+")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Question:
    page: str
    language: str
    half: str
    question: str
    answer: str

    def is_answered_by(self, text: str) -> bool:
        return plain(self.answer) in plain(text)


def questions(half: str = "", name: str = "hard") -> list[Question]:
    """Return the questions of a half of a set, or all."""
    with SETS[name].open(encoding="utf-8", newline="") as lines:
        rows = [Question(**row) for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)]
    return [row for row in rows if half in ("", row.half)]


def plain(markdown: str) -> str:
    return " ".join(_BLANKS.sub(" ", _MARKUP.sub("", _LINK.sub(r"\1", markdown))).split()).casefold()


def by_bm25(page: str, query: str, tokens: int) -> str:
    """Return the paragraphs that plain BM25 puts first, in its order, as far as they fit."""
    paragraphs = [part for part in re.split(r"\n\s*\n", page) if part.strip()]
    rows = [Counter(_WORD.findall(part.casefold())) for part in paragraphs]
    spread = Counter(word for row in rows for word in row)
    mean = sum(row.total() for row in rows) / max(1, len(rows)) or 1.0
    scores = [sum(_weight(row, word, spread, len(rows), mean) for word in set(_words(query))) for row in rows]
    best = sorted(range(len(rows)), key=lambda at: -scores[at])
    return first_tokens("\n\n".join(paragraphs[at] for at in best), tokens)


def _words(text: str) -> Iterable[str]:
    return _WORD.findall(text.casefold())


def _weight(row: Counter[str], word: str, spread: Counter[str], count: int, mean: float) -> float:
    often = row[word]
    rarity = math.log(1 + (count - spread[word] + 0.5) / (spread[word] + 0.5))
    return rarity * often * 2.2 / (often + 1.2 * (0.25 + 0.75 * row.total() / mean))


def first_tokens(text: str, tokens: int) -> str:
    return text[: TextBudget(characters=len(text), tokens=tokens).reach(text, 0)]


class StoredPages(EmulatedServer):
    """Serves the developers' pages under their names."""

    def __init__(self, folder: Path) -> None:
        super().__init__("stored")
        self._folder = folder

    def handle(self, request: Recorded) -> EmulatedResponse:
        kind, _, name = request.path.strip("/").partition("/")
        path = self._folder / kind / "html" / f"{name}.html.gz"
        if not path.is_file():
            return EmulatedResponse(status=404)
        return EmulatedResponse(body=gzip.decompress(path.read_bytes()), content_type="text/html")


async def ask(folder: Path, rows: list[Question], budgets: list[int], *, ranker: str, missed: bool) -> int:
    bound, above = load_token_bound(), 0
    found: dict[str, Counter[int]] = {name: Counter() for name in ("query", "BM25", "first tokens")}
    whole, sizes = 0, []
    frames: dict[int, list[int]] = {tokens: [] for tokens in budgets}
    server, thread = StoredPages(folder), ServerThread()
    thread.start()
    thread.serve([server])
    settings = Settings.model_validate(
        {
            "storage": {"url": "memory://"},
            "archive": {"enabled": False},
            "policy": {"allowed_origins": (server.url,)},
            "read": {"ranker": ranker},
        }
    )
    try:
        async with Web(settings) as web:
            tool = open_page_tool(web)
            for row in rows:
                url = f"{server.url}/{row.page}"
                page = (await web.open_page(url, max_length=10_000_000)).content
                whole += row.is_answered_by(page)
                sizes.append(bound(page))
                for tokens in budgets:
                    result = await tool.call(url=url, query=row.question, max_tokens=tokens)
                    text = render_text(result)
                    above += bound(text) > tokens
                    frames[tokens].append(bound(text) - bound(getattr(result, "content", "")))
                    shown = {
                        "query": text,
                        "BM25": by_bm25(page, row.question, tokens),
                        "first tokens": first_tokens(page, tokens),
                    }
                    for name, content in shown.items():
                        found[name][tokens] += row.is_answered_by(content)
                    if bound(text) > tokens:
                        print(f"above {tokens}: {bound(text)} {row.page} {row.question}")
                    if missed and not row.is_answered_by(text):
                        print(f"{tokens} {row.page} {row.question} -> {row.answer}")
    finally:
        thread.stop()
    count = len(rows)
    print(f"{count} questions in {len({row.language for row in rows})} languages")
    print(f"\n| answer within tokens | {' | '.join(f'{tokens:,}' for tokens in budgets)} |")
    print(f"| --- | {' | '.join('---' for _ in budgets)} |")
    for name, hits in found.items():
        print(f"| {name} | {' | '.join(f'{hits[tokens] / count:.3f}' for tokens in budgets)} |")
    print(f"\nwhole page: {whole / count:.3f}, {statistics.median(sizes):,.0f} tokens in the median")
    for tokens, around in frames.items():
        print(f"frame within {tokens:,}: {statistics.median(around):.0f} tokens in the median, at most {max(around)}")
    print(f"above the budget: {above} of {count * len(budgets)}")
    return int(above > 0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--set", choices=tuple(SETS), default="hard")
    parser.add_argument("--half", choices=("tune", "quoted"), default="tune")
    parser.add_argument("--tokens", type=int, nargs="+", default=[150, 300, 800, 1_500])
    parser.add_argument("--ranker", choices=("bm25", "embeddings"), default="bm25")
    parser.add_argument("--missed", action="store_true", help="print the questions that were not answered")
    asked = parser.parse_args()
    rows = questions(asked.half, asked.set)
    return asyncio.run(ask(asked.folder, rows, asked.tokens, ranker=asked.ranker, missed=asked.missed))


if __name__ == "__main__":
    raise SystemExit(main())
