"""How often a fact that appears once in a long page is found in at most two calls, within a token limit.

Pages are made from a seed out of the reviewed texts of the extraction set, one after the other under headings, until
they have 10,000 to 500,000 characters; without the set, out of words. A fact in one of several forms (a figure, a
name, a date, a line of code, a row of a table; in English, German, Russian, Chinese and Arabic) is planted at 5, 50 and
95 % of the page, and asked for in other words. The first call is `query`; if the fact is not in what comes back, the
second is `find` with one rare word of the question. Both have the same budget. Every answer is counted by cl100k_base
and o200k_base; one above its budget ends the benchmark with 1, as does a fact that is not reached.

    python benchmarks/needle.py [FOLDER] [--tokens 1000] [--seed 1]
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.extraction.pages import read_pages
from groundwire.models import Page
from groundwire.reading.passages.view import check_ask, view

SIZES = (10_000, 30_000, 100_000, 250_000, 500_000)
PLACES = (0.05, 0.5, 0.95)
FACTS = (
    # the fact, what must be there of it, the question, the word for find
    ("The toll on the Skerrivore bridge was set at 37 crowns in the spring of 1987.", "37 crowns",
     "How much did crossing the Skerrivore bridge cost?", "Skerrivore"),
    ("Dr. Ingvild Haugerud has kept the seed vault of Tarnwick since her return from Chile.", "Haugerud",
     "Who is the keeper of the Tarnwick seed vault?", "Tarnwick"),
    ("On 14 March 2019 the glassworks at Ombersley put out its last furnace.", "14 March 2019",
     "when was the Ombersley glassworks closed down, last furnace", "Ombersley"),
    ("Set `quorum_lease_ttl = 45` to let a follower of Vexilla serve reads.", "= 45",
     "which value for the Vexilla quorum lease ttl setting", "quorum_lease_ttl"),
    ("Die Fähre nach Ostholm kostet für Kinder unter sechs Jahren nur 1,80 Euro.", "1,80 Euro",
     "Was kostet die Fähre nach Ostholm für Kinder?", "Ostholm"),
    ("Маяк на острове Вайгун построил инженер Лебедянский в 1903 году.", "Лебедянский",
     "кто построил маяк на острове Вайгун", "Вайгун"),
    ("青石渡口的末班船晚上九点十分开出，周日停航。", "九点十分", "青石渡口末班船几点开", "青石渡口"),
    ("بُني سدّ وادي الرمّان سنة ١٩٥٤ بأيدي ثلاثمئة عامل.", "ثلاثمئة",
     "متى بني سد وادي الرمان وكم كان عدد العمال", "الرمّان"),
)  # fmt: skip


def sources(folder: Path | None, seed: str) -> list[str]:
    if folder is not None:
        texts = [page.truth for page in read_pages(folder) if page.truth and len(page.truth) > 1_500]
    else:
        draw = random.Random(seed)
        words = ["".join(draw.choices("abdeghiklmnoprstuvw", k=draw.randint(2, 9))) for _ in range(3_000)]

        def line() -> str:
            return " ".join(draw.choices(words, k=draw.randint(6, 20))).capitalize() + "."

        texts = ["\n\n".join(" ".join(line() for _ in range(4)) for _ in range(12)) for _ in range(300)]
    random.Random(seed).shuffle(texts)
    return texts


def haystack(texts: list[str], size: int, draw: random.Random) -> list[str]:
    parts: list[str] = []
    length = 0
    while length < size:
        text = draw.choice(texts)
        parts.append(f"## {' '.join(text.split()[:6])}")
        parts += [part for part in text.split("\n\n") if part.strip()]
        length += len(text)
    while parts and sum(len(part) + 2 for part in parts) > size + 600:
        parts.pop()
    return parts


def planted(parts: list[str], fact: str, place: float) -> str:
    size, at = sum(len(part) + 2 for part in parts), 0
    for number, part in enumerate(parts):
        at += len(part) + 2
        if at >= place * size:
            return "\n\n".join([*parts[: number + 1], fact, *parts[number + 1 :]])
    return "\n\n".join([*parts, fact])


def counter() -> Callable[[str], int]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # how the tokenizer loads its own data
        import bpe_openai

        encodings = [bpe_openai.get_encoding(name) for name in ("cl100k_base", "o200k_base")]
    return lambda text: max(len(encoding.encode_ordinary(text)) for encoding in encodings)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--tokens", type=int, default=1_000)
    parser.add_argument("--seed", default="1")
    asked = parser.parse_args()
    count = counter()
    texts = sources(asked.folder, asked.seed)
    draw = random.Random(asked.seed)

    calls: dict[tuple[int, float], Counter[int]] = {}
    above, spent, used = 0, [], []
    for size in SIZES:
        parts = haystack(texts, size, draw)
        for place in PLACES:
            row = calls.setdefault((size, place), Counter())
            for fact, wanted, question, word in FACTS:
                page = Page(url="https://site.example/", content=planted(parts, fact, place))
                reached = 0
                for number, how in enumerate(({"query": question}, {"find": word}), start=1):
                    started = time.process_time()
                    answer = view(page, check_ask(max_tokens=asked.tokens, default_length=15_000, **how))
                    spent.append(time.process_time() - started)
                    used.append(count(answer.content))
                    above += used[-1] > asked.tokens
                    if wanted in answer.content:
                        reached = number
                        break
                row[reached] += 1
    print(f"budget {asked.tokens:,} tokens, {len(FACTS)} facts at each place, seed {asked.seed}")
    print("\n| characters | " + " | ".join(f"at {place:.0%}: query / find / not" for place in PLACES) + " |")
    print("| --- | " + " | ".join("---" for _ in PLACES) + " |")
    for size in SIZES:
        cells = [calls[size, place] for place in PLACES]
        print(f"| {size:,} | " + " | ".join(f"{cell[1]} / {cell[2]} / {cell[0]}" for cell in cells) + " |")
    missed = sum(row[0] for row in calls.values())
    print(f"\nnot reached: {missed}; answers above the budget: {above} of {len(used)}; most tokens: {max(used):,}")
    print(f"a call takes {1_000 * statistics.median(spent):.0f} ms, at most {1_000 * max(spent):.0f} ms")
    return int(bool(missed or above))


if __name__ == "__main__":
    raise SystemExit(main())
