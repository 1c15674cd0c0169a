"""Quality of readers on the developers' pages, from bytes to Markdown.

    python -m benchmarks.extraction.quality FOLDER [--web FOLDER] [--model FILE] [--fold 1] [--sample 40] [--only A,B]

FOLDER has pages with reviewed text: word F1 by kind of page, 4-shingle F1 on its articles and on the sets of
`readability` and `defuddle`. `--web` has whole pages with snippets that must and must not be in the text: precision,
recall and F1 over all snippets. Every reader gets the bytes as they were served and does all that it does: decoding,
style sheets, metadata, Markdown. Their speed is measured by `python -m benchmarks.reading`.

Folds are drawn by site. Fold 0 is touched once, for the figures in the docs, with a model that has not seen it
(`train.py --held-out`, then `--model`); fold 1 is for choosing; the package's own model was trained by the same command
without `--held-out` and has seen all pages, so its quality here is not to be quoted, and a line says so. Markdown is
turned to text by the set's own `scoring.py`. Peers (trafilatura 2.3.1, resiliparse, readability-lxml with markdownify)
are run when they are installed.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import itertools
import json
import random
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from benchmarks.extraction.pages import KINDS, TUNING, Page, read_pages, read_web_pages

Reader = Callable[[bytes, str], str]
_SETS = ("", "readability", "defuddle")


def groundwire_reader(model_path: Path | None) -> Reader:
    """Return Groundwire's complete reader, as `open_page` uses it: from bytes to Markdown."""
    from groundwire.reading.convert import convert
    from groundwire.reading.main_content.classifier import load_model, read_model

    model = read_model(model_path.read_bytes()) if model_path else load_model()
    return lambda body, url: convert(body, "text/html", url, headers={}, model=model).extracted.content


def trafilatura_reader(**options: Any) -> Reader:
    """Return trafilatura with Markdown and links."""
    import trafilatura

    def read(body: bytes, url: str) -> str:
        return (
            trafilatura.extract(
                body, url=url or None, output_format="markdown", include_links=True, include_tables=True, **options
            )
            or ""
        )

    return read


def resiliparse_reader() -> Reader:
    """Return resiliparse's main content."""
    from resiliparse.extract.html2text import extract_plain_text
    from resiliparse.parse.encoding import detect_encoding
    from resiliparse.parse.html import HTMLTree

    def read(body: bytes, url: str) -> str:
        tree = HTMLTree.parse_from_bytes(body, detect_encoding(body))
        return extract_plain_text(tree, main_content=True, links=False, preserve_formatting=True)

    return read


def readability_reader() -> Reader:
    """Return readability-lxml, with markdownify for its HTML."""
    import markdownify
    import readability

    def read(body: bytes, url: str) -> str:
        try:
            return markdownify.markdownify(readability.Document(body).summary())
        except (readability.readability.Unparseable, ValueError, TypeError):
            return ""

    return read


READERS: dict[str, tuple[str, Callable[[Path | None], Reader]]] = {
    "groundwire": ("", groundwire_reader),
    "trafilatura": ("trafilatura", lambda _: trafilatura_reader()),
    "trafilatura, precision": ("trafilatura", lambda _: trafilatura_reader(favor_precision=True)),
    "resiliparse": ("resiliparse", lambda _: resiliparse_reader()),
    "readability-lxml": ("readability-lxml", lambda _: readability_reader()),
}


def wanted_pages(options: argparse.Namespace) -> list[Page]:
    """Return the pages of the requested fold, or a fixed sample of them."""
    pages = [page for name in _SETS for page in read_pages(options.folder, name) if page.truth is not None]
    pages = [page for page in pages if page.fold == options.fold]
    if options.web:
        pages += [page for page in read_web_pages(options.web) if page.fold == options.fold]
    if not options.sample:
        return pages
    sample: list[Page] = []
    for _, group in itertools.groupby(pages, key=lambda page: page.collection):
        every = list(group)
        sample += random.Random(5).sample(every, min(options.sample, len(every)))
    return sample


def score(page: Page, output: str, scoring: Any, *, is_text: bool) -> dict[str, Any]:
    """Return a text's score by the labels of its page."""
    text = output if is_text else scoring.md_text(output)
    row: dict[str, Any] = {"set": page.collection, "name": page.name, "kind": page.kind}
    if page.truth is None:
        flat = "".join(text.split())
        inside = [sum("".join(part.split()) in flat for part in parts) for parts in (page.required, page.forbidden)]
        return row | {"with": inside[0], "required": len(page.required), "without": inside[1]}
    precision, recall, f1 = scoring.word_prf(page.truth, text)
    row |= {"precision": precision, "recall": recall, "f1": f1}
    return row | {"shingles": scoring.shingle_counts(page.truth, text)}


def run(names: Iterable[str], pages: list[Page], model: Path | None, scoring: Any) -> dict[str, list[dict[str, Any]]]:
    """Read every page with every reader."""
    readers = {name: READERS[name][1](model) for name in names}
    rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for page in pages:
        body = page.body()
        for name, reader in readers.items():
            try:
                output = reader(body, page.url)
            except Exception as error:  # noqa: BLE001 -- a reader that fails has read nothing
                print(name, page.name, repr(error)[:100], file=sys.stderr)
                output = ""
            rows[name].append(score(page, output, scoring, is_text=name == "resiliparse"))
    return rows


def summarize(scoring: Any, rows: list[dict[str, Any]]) -> dict[str, float]:
    """Return one reader's row of the quality table."""
    mixed = [row for row in rows if not row["set"]]
    line = {"mixed": _mean([row["f1"] for row in mixed])}
    for kind in KINDS:
        line[kind] = _mean([row["f1"] for row in mixed if row["kind"] == kind])
    articles = [row["shingles"] for row in mixed if row["kind"] == "article"]
    summary = scoring.shingle_summary(articles)
    line |= {"4-shingle": summary["f1"], "4-precision": summary["precision"], "4-recall": summary["recall"]}
    for collection in _SETS[1:]:
        line[collection] = scoring.shingle_summary([r["shingles"] for r in rows if r["set"] == collection])["f1"]
    web = [row for row in rows if row["set"] == "web_pages"]
    if web:
        found, wrong, asked = (sum(row[key] for row in web) for key in ("with", "without", "required"))
        precision, recall = found / max(1, found + wrong), found / max(1, asked)
        line |= {"web": 2 * precision * recall / max(1e-9, precision + recall), "web P": precision, "web R": recall}
    return {key: value for key, value in line.items() if value == value}  # what is no number was not measured


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else float("nan")


def main() -> None:
    """Run the readers and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the developers' pages")
    parser.add_argument("--web", type=Path, help="whole pages with snippets as labels")
    parser.add_argument("--model", type=Path, help="a model trained with --held-out")
    parser.add_argument("--only", help="readers, with commas between them")
    parser.add_argument("--fold", type=int, default=TUNING, help="the fifth of the sites to read; 0 is touched once")
    parser.add_argument("--sample", type=int, help="at most so many pages of each set")
    parser.add_argument("--rows", type=Path, help="write every page's figures here, as JSON")
    options = parser.parse_args()
    sys.path.insert(0, str(options.folder))
    scoring = importlib.import_module("scoring")
    names = []
    for name in options.only.split(",") if options.only else READERS:
        package = READERS[name][0]
        try:
            print(name, importlib.metadata.version(package) if package else "")
            names.append(name)
        except importlib.metadata.PackageNotFoundError:
            print(f"{name}: not installed, left out")
    if "groundwire" in names and not options.model:
        print("groundwire has learned from these pages: its quality is not to be quoted; see --model")
    rows = run(names, wanted_pages(options), options.model, scoring)
    for name in names:
        print(f"{name}: " + "  ".join(f"{key} {value:.3f}" for key, value in summarize(scoring, rows[name]).items()))
    if options.rows:
        options.rows.write_text(json.dumps(rows))


if __name__ == "__main__":
    main()
