"""Token cost of reading: the size relative to the markup, and how often 1,000 tokens contain the answer.

The questions are built by rule, without a model: from the reviewed text of each long page of the extraction set, a
sentence of 60 to 300 characters is drawn in each third of the text, from a seed, among those with at least four words
that stand in one or two sentences of the page only. Its query is a share of its content words (`--share`, at least
three words), drawn from the same seed and without the rarest one, in their order; words of fewer than three letters
and common ones are left out. A sentence counts as kept when all of its letters and digits stand in the text in a row;
the addresses of links do not count. What no reader has on the page counts as not kept for all.

Shown are: a `query` excerpt of 1,000 tokens; the first 1,000 tokens of our page; the first 1,000 of trafilatura's; and
the whole pages. The excerpt keeps within 1,000 as we bound them, the others have 1,000 by o200k_base exactly.

    python benchmarks/tokens.py FOLDER [--model FILE] [--fold 0] [--pages 300] [--share 0.6] [--peers .venv-peers]

FOLDER is the extraction set. The package's model has learned from all of it: `--model` takes one that was trained
without fold 0 (`extraction/train.py --held-out`), and `--fold 0` the pages that it has not seen. The peers' environment
needs `pip install trafilatura==2.3.1 lxml_html_clean==0.4.6`.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import statistics
import subprocess
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.extraction.pages import Page as Known
from benchmarks.extraction.pages import read_pages
from groundwire.models import Page
from groundwire.reading.extract import extract
from groundwire.reading.main_content.classifier import read_model
from groundwire.reading.passages.terms import is_common
from groundwire.reading.passages.view import check_ask, view

TOKENS = 1_000
LONG = 6_000  # characters of reviewed text from which a page is long
THIRDS = ("first third", "second third", "last third")

PEER = """
import json, sys, trafilatura
for line in sys.stdin:
    markup, url = json.loads(line)
    text = trafilatura.extract(markup, url=url or None, output_format="markdown", include_links=True,
                               include_tables=True) or ""
    print(json.dumps(text), flush=True)
"""

_SENTENCE = re.compile(r"[^.!?\n]{60,300}[.!?](?=\s|$)")
_WORD = re.compile(r"[^\W\d_]{3,}|\d[\d.,]*\d")
_TARGET = re.compile(r"\]\([^()\s]*\)|<https?://[^>\s]*>")


@dataclass(frozen=True)
class Question:
    third: int
    query: str
    answer: str


def letters(text: str) -> str:
    return "".join(re.findall(r"[^\W_]+", _TARGET.sub("]", text).casefold()))


def questions(page: Known, seed: str, share: float) -> Iterator[Question]:
    """Yield up to three questions of a page, one in each third of its reviewed text."""
    text = page.truth or ""
    draw = random.Random(f"{seed} {page.name}")
    sentences = [(match.start(), match[0].strip()) for match in _SENTENCE.finditer(text)]
    words = [{word.casefold() for word in _WORD.findall(sentence)} for _, sentence in sentences]
    spread = Counter(word for found in words for word in found)
    flat = letters(text)
    for third in range(3):
        fit = []
        for (start, sentence), found in zip(sentences, words, strict=True):
            rare = [word for word in found if spread[word] <= 2 and not is_common(word)]
            if len(rare) >= 4 and start * 3 // len(text) == third and flat.count(letters(sentence)) == 1:
                fit.append(sentence)
        if not fit:
            continue
        sentence = draw.choice(fit)
        content = [word for word in dict.fromkeys(_WORD.findall(sentence)) if not is_common(word.casefold())]
        rarest = min(content, key=lambda word: (spread[word.casefold()], -len(word), word))
        content.remove(rarest)
        kept = set(draw.sample(content, min(len(content), max(3, round(share * len(content))))))
        yield Question(third, " ".join(word for word in content if word in kept), letters(sentence))


def first_tokens(count: int) -> Callable[[str], str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # how the tokenizer loads its own data
        import bpe_openai

        encoding = bpe_openai.get_encoding("o200k_base")
    return lambda text: encoding.decode(encoding.encode_ordinary(text)[:count])


def excerpt(content: str, url: str, query: str) -> str:
    asked = check_ask(query=query, max_tokens=TOKENS, default_length=15_000)
    return view(Page(url=url or "https://site.example/", content=content), asked).content


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--model", type=Path, help="a model trained with --held-out")
    parser.add_argument("--fold", type=int, help="only this fifth of the sites")
    parser.add_argument("--pages", type=int, default=300, help="long pages that are asked about")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--share", type=float, default=0.6, help="of an answer's content words that the query has")
    parser.add_argument("--peers", type=Path, default=Path(".venv-peers"))
    asked = parser.parse_args()

    model = read_model(asked.model.read_bytes()) if asked.model else None
    pages = [page for page in read_pages(asked.folder) if asked.fold in {None, page.fold}]
    random.Random(asked.seed).shuffle(pages)
    chosen = [page for page in pages if len(page.truth or "") >= LONG][: asked.pages]
    python = asked.peers / "bin" / "python"
    peer = None
    if python.exists() and not subprocess.run([python, "-c", "import trafilatura"], capture_output=True).returncode:
        peer = subprocess.Popen([python, "-c", PEER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    else:
        print(f"trafilatura is not in {asked.peers}: its column is left out", file=sys.stderr)
    first = first_tokens(TOKENS)

    shares: list[float] = []
    kept: Counter[tuple[str, int]] = Counter()
    count: Counter[int] = Counter()
    spent = 0.0
    for page in chosen:
        markup = page.markup()
        ours = extract(markup, page.url, model).content
        shares.append(len(ours) / len(markup))
        texts = {"first 1,000 tokens": letters(first(ours)), "whole page": letters(ours)}
        if peer is not None and peer.stdin and peer.stdout:
            peer.stdin.write(json.dumps([markup, page.url]) + "\n")
            peer.stdin.flush()
            theirs = json.loads(peer.stdout.readline())
            texts |= {"trafilatura, first 1,000": letters(first(theirs)), "trafilatura, whole": letters(theirs)}
        for question in questions(page, asked.seed, asked.share):
            count[question.third] += 1
            started = time.process_time()
            found = excerpt(ours, page.url, question.query)
            spent += time.process_time() - started
            for name, text in {"query, 1,000 tokens": letters(found), **texts}.items():
                kept[name, question.third] += question.answer in text
    total = count.total()
    print(f"{len(chosen)} long pages, {total} questions, share {asked.share:g}, seed {asked.seed}")
    print(f"characters of Markdown to one of HTML: median {statistics.median(shares):.3f} ", end="")
    print(f"(tenth {sorted(shares)[len(shares) // 10]:.3f}, ninetieth {sorted(shares)[len(shares) * 9 // 10]:.3f})")
    print(f"a query takes {1_000 * spent / max(1, total):.1f} ms on a page of median length\n")
    print("| answers kept in | all | " + " | ".join(THIRDS) + " |\n| --- | --- | --- | --- | --- |")
    for name in dict.fromkeys(name for name, _ in kept):
        cells = [sum(kept[name, third] for third in range(3)) / total]
        cells += [kept[name, third] / max(1, count[third]) for third in range(3)]
        print(f"| {name} | " + " | ".join(f"{cell:.3f}" for cell in cells) + " |")


if __name__ == "__main__":
    main()
