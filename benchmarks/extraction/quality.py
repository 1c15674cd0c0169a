"""What readers make of the developers' pages, side by side in one run on one core.

    python -m benchmarks.extraction.quality ../shared/data/extraction [--model FILE] [--only groundwire,trafilatura]

Word F1 by kind of page on the held-out fifth of the sites, 4-shingle F1 on its articles and on the sets of
`readability` and `defuddle`, pages a second, the slowest page in a hundred, and the most memory a reader's process
took. Markdown is turned to text by the set's own `scoring.py`. Peers (trafilatura 2.3.1, resiliparse, readability-lxml
with markdownify) are run when they are installed; each reader has a process of its own. With `--model`, a model that
was trained with `--held-out`: the package's own has seen all pages, and its figures here are not to be quoted.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import json
import multiprocessing
import resource
import sys
import time
from collections.abc import Callable
from multiprocessing.queues import Queue
from pathlib import Path
from typing import Any

from benchmarks.extraction.pages import KINDS, read_pages

Reader = Callable[[str, str], str]
_SETS = ("", "readability", "defuddle")


def groundwire_reader(model_path: Path | None) -> Reader:
    """Return our reader, whole: from markup to Markdown, metadata and cleaning included."""
    from groundwire.reading.extract import extract
    from groundwire.reading.main_content.classifier import load_model, read_model

    model = read_model(model_path.read_bytes()) if model_path else load_model()
    return lambda markup, url: extract(markup, url, model).content


def trafilatura_reader(**options: Any) -> Reader:
    """Return trafilatura with Markdown and links."""
    import trafilatura

    def read(markup: str, url: str) -> str:
        return (
            trafilatura.extract(
                markup, url=url or None, output_format="markdown", include_links=True, include_tables=True, **options
            )
            or ""
        )

    return read


def resiliparse_reader() -> Reader:
    """Return resiliparse's main content."""
    from resiliparse.extract.html2text import extract_plain_text
    from resiliparse.parse.html import HTMLTree

    def read(markup: str, url: str) -> str:
        return extract_plain_text(HTMLTree.parse(markup), main_content=True, links=False, preserve_formatting=True)

    return read


def readability_reader() -> Reader:
    """Return readability-lxml, its HTML turned by markdownify."""
    import markdownify
    import readability

    def read(markup: str, url: str) -> str:
        try:
            return markdownify.markdownify(readability.Document(markup).summary())
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


def run(name: str, folder: Path, model: Path | None, fold: int, answers: Queue[Any]) -> None:
    """Read every page with one reader and send the texts' scores; runs in a process of its own."""
    sys.path.insert(0, str(folder))
    scoring = importlib.import_module("scoring")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    reader = READERS[name][1](model)
    rows = []
    for collection in _SETS:
        for page in read_pages(folder, collection):
            if page.truth is None or (not collection and page.fold != fold):
                continue
            markup = page.markup()
            start = time.process_time()
            try:
                output = reader(markup, page.url)
            except Exception as error:  # noqa: BLE001 -- a reader that fails has read nothing
                print(name, page.name, repr(error)[:100], file=sys.stderr)
                output = ""
            took = time.process_time() - start
            text = output if name == "resiliparse" else scoring.md_text(output)
            precision, recall, f1 = scoring.word_prf(page.truth, text)
            rows.append(
                {
                    "set": collection,
                    "name": page.name,
                    "kind": page.kind,
                    "seconds": took,
                    "precision": precision,
                    "recall": recall,
                    "f1": f1,
                    "shingles": scoring.shingle_counts(page.truth, text),
                }
            )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    answers.put((rows, peak / 1024, (peak - before) / 1024))


def summarize(scoring: Any, rows: list[dict[str, Any]]) -> dict[str, float]:
    """Return one reader's line of the table."""
    mixed = [row for row in rows if not row["set"]]
    line = {"mixed": _mean([row["f1"] for row in mixed])}
    for kind in KINDS:
        line[kind] = _mean([row["f1"] for row in mixed if row["kind"] == kind])
    articles = [row["shingles"] for row in mixed if row["kind"] == "article"]
    summary = scoring.shingle_summary(articles)
    line |= {"4-shingle": summary["f1"], "4-precision": summary["precision"], "4-recall": summary["recall"]}
    for collection in _SETS[1:]:
        line[collection] = scoring.shingle_summary([r["shingles"] for r in rows if r["set"] == collection])["f1"]
    seconds = sorted(row["seconds"] for row in mixed)
    line["pages/s"] = len(seconds) / sum(seconds)
    line["median ms"] = 1000 * seconds[len(seconds) // 2]
    line["p99 ms"] = 1000 * seconds[int(0.99 * len(seconds))]
    return line


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else float("nan")


def main() -> None:
    """Run the readers one after the other and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the developers' pages")
    parser.add_argument("--model", type=Path, help="a model trained with --held-out")
    parser.add_argument("--only", help="readers, with commas between them")
    parser.add_argument("--fold", type=int, default=0, help="the fifth of the sites to read")
    parser.add_argument("--rows", type=Path, help="write every page's figures here, as JSON")
    options = parser.parse_args()
    sys.path.insert(0, str(options.folder))
    scoring = importlib.import_module("scoring")
    context = multiprocessing.get_context("spawn")
    wanted = options.only.split(",") if options.only else list(READERS)
    every: dict[str, Any] = {}
    for name in wanted:
        package = READERS[name][0]
        try:
            version = importlib.metadata.version(package) if package else ""
        except importlib.metadata.PackageNotFoundError:
            print(f"{name}: not installed, left out")
            continue
        answers = context.Queue()
        process = context.Process(target=run, args=(name, options.folder, options.model, options.fold, answers))
        process.start()
        rows, peak, growth = answers.get()
        process.join()
        every[name] = rows
        line = summarize(scoring, rows) | {"peak MB": peak, "growth MB": growth}
        print(f"{name} {version}: " + "  ".join(f"{key} {value:.3f}" for key, value in line.items()), flush=True)
    if options.rows:
        options.rows.write_text(json.dumps(every))


if __name__ == "__main__":
    main()
