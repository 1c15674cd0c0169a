"""Dates, authors, titles: how often readers are right, and how often what they give is right, in one run.

    python -m benchmarks.extraction.metadata PAGES --dates DATES [--folds 0] [--only A;B] [--errors date]
    python -m benchmarks.extraction.metadata --written tests/reading/metadata_pages.txt [--folds 0]

PAGES has pages of all kinds with their title, author, and day of publication where known; DATES has articles with their
day of publication. Of the written pages everything is known, also what they do not have: what is given for it is wrong.
Of a page that was not changed after the day of publication, `modified`, the day of the last change, is empty.
Accuracy is right of all that have a label; precision is right of what is given for these. Folds are drawn by site, as
in `quality.py`: fold 0 is touched once, for the figures in the docs. Every reader gets the bytes as served; Groundwire
converts the whole page, and the peers (htmldate, fast and extensive; trafilatura) read its metadata only. Peers are run
when they are installed.

A day is right if it is the label's day. A title is right if its letters and digits are the label's. Authors are right
if their names consist of the same words, regardless of order, accents, the words between them, and titles and degrees.
`wider` also counts titles and authors of which one contains the other, as a heading and a `<title>` with a slogan do.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import re
import statistics
import sys
import time
import unicodedata
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from benchmarks.extraction.pages import TOUCHED_ONCE, Page, read_dated_pages, read_pages, read_written_pages

Found = dict[str, str | None]
Reader = Callable[[bytes, str], Found]
_FIELDS: Final = {
    "date": "publish_date",
    "author": "author",
    "title": "title",
    "site": "site",
    "language": "language",
    "modified": "modified",
}
_WORD: Final = re.compile(r"[^\W_]+")
_CREDIT: Final = frozenset(
    _WORD.findall(
        "by and und et y e mr mrs ms dr prof phd md rd rdn ld do dds dvm vmd rn np mph mba msc ma ba bs jd esq cpa cfp"
        " cfa dpt pt cscs lcsw lmft edd pharmd facp dacvb faan faap ceo"
    )
)


def groundwire_reader() -> Reader:
    """Return Groundwire's complete reader."""
    from groundwire.reading.convert import convert

    def read(body: bytes, url: str) -> Found:
        extracted = convert(body, "text/html", url, headers={}).extracted
        return {name: getattr(extracted, "published" if name == "date" else name) for name in _FIELDS}

    return read


def htmldate_reader(*, extensive: bool) -> Reader:
    """Return htmldate in one of its modes."""
    from htmldate import find_date

    return lambda body, url: {"date": find_date(body, url=url or None, original_date=True, extensive_search=extensive)}


def trafilatura_reader() -> Reader:
    """Return trafilatura's metadata."""
    from trafilatura import extract_metadata

    def read(body: bytes, url: str) -> Found:
        found = extract_metadata(body, default_url=url or None)
        return {
            name: getattr(found, "sitename" if name == "site" else name, None) for name in _FIELDS if name != "language"
        }

    return read


READERS: Final[dict[str, tuple[str, Callable[[], Reader]]]] = {
    "groundwire": ("", groundwire_reader),
    "htmldate, fast": ("htmldate", lambda: htmldate_reader(extensive=False)),
    "htmldate, extensive": ("htmldate", lambda: htmldate_reader(extensive=True)),
    "trafilatura": ("trafilatura", trafilatura_reader),
}


def is_right(name: str, given: str, label: str, *, wider: bool = False) -> bool:
    """Return whether a value is the label's."""
    if name in {"date", "modified"}:
        return given[:10] == label[:10]
    if name == "language":
        return given.casefold() == label.casefold()
    given_words, label_words = _words(given), _words(label)
    if name in {"title", "site"}:
        inner, outer = sorted((f" {' '.join(words)} " for words in (given_words, label_words)), key=len)
        return inner == outer or (wider and bool(inner.strip()) and inner in outer)
    one, other = ({word for word in words if word not in _CREDIT} for words in (given_words, label_words))
    return one == other or (wider and bool(one) and bool(other) and (one <= other or other <= one))


def _words(text: str) -> list[str]:
    plain = unicodedata.normalize("NFKD", text.replace("\u2019", "").replace("'", "")).casefold()
    return _WORD.findall("".join(sign for sign in plain if not unicodedata.combining(sign)))


def run(reader: Reader, pages: Iterable[Page]) -> tuple[list[tuple[Page, Found]], list[float]]:
    """Read the metadata of every page."""
    rows, seconds = [], []
    for page in pages:
        body, start = page.body(), time.process_time()
        try:
            found = reader(body, page.url)
        except Exception as error:  # noqa: BLE001 -- a reader that fails has read nothing
            print(page.name, repr(error)[:100], file=sys.stderr)
            found = {}
        seconds.append(time.process_time() - start)
        rows.append((page, found))
    return rows, seconds


def report(rows: list[tuple[Page, Found]], name: str, *, wider: bool = False) -> str:
    """Return the accuracy and the precision of one field."""
    labeled = [
        (page.metadata[_FIELDS[name]], found.get(name)) for page, found in rows if _FIELDS[name] in page.metadata
    ]
    excess = [value for label, value in labeled if not label]
    labeled = [(label, given) for label, given in labeled if label]
    given = [(label, value) for label, value in labeled if value]
    right = sum(is_right(name, value, label, wider=wider) for label, value in given)
    return (
        f"{right / max(1, len(labeled)):.3f} / {right / max(1, len(given)):.3f}"
        f" (n {len(labeled)}, none {len(labeled) - len(given)}"
        + (f"; without a label {len(excess)}, given {len([value for value in excess if value])})" if excess else ")")
    )


def main() -> None:
    """Run the readers and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", help="the developers' pages")
    parser.add_argument("--dates", type=Path, help="pages with their day of publication")
    parser.add_argument("--written", type=Path, help="the file of written pages")
    parser.add_argument("--folds", default=str(TOUCHED_ONCE), help="the fifths of the sites to read, such as 234")
    parser.add_argument("--only", help="readers, with semicolons between them")
    parser.add_argument("--errors", choices=sorted(_FIELDS), help="print what is wrong in this field")
    options = parser.parse_args()
    folds = {int(fold) for fold in options.folds}
    sets = {}
    if options.folder:
        sets["all kinds"] = [page for page in read_pages(options.folder) if page.fold in folds]
    if options.written:
        sets["written"] = [page for page in read_written_pages(options.written) if page.fold in folds]
    if options.dates:
        sets["dates"] = [page for page in read_dated_pages(options.dates) if page.fold in folds]
    print("right of all / right of those given")
    for name in options.only.split(";") if options.only else READERS:
        package, make = READERS[name]
        try:
            version = importlib.metadata.version(package) if package else ""
        except importlib.metadata.PackageNotFoundError:
            print(f"{name}: not installed, left out")
            continue
        reader = make()
        for collection, pages in sets.items():
            rows, seconds = run(reader, pages)
            labeled = {field for field in _FIELDS if any(_FIELDS[field] in page.metadata for page in pages)}
            parts = [
                f"{field} {report(rows, field)}"
                for field in _FIELDS
                if field in labeled and any(field in row for _, row in rows)
            ]
            parts += [
                f"{field}, wider {report(rows, field, wider=True)}"
                for field in ("author", "title")
                if any(field in row for _, row in rows)
            ]
            if collection == "dates":
                parts = [part for part in parts if part.startswith("date")]
            print(
                f"{name} {version}, {collection}: {'; '.join(parts)}; {1000 * statistics.median(seconds):.1f} ms a page"
            )
            for page, found in rows if options.errors else ():
                label, given = page.metadata.get(_FIELDS[options.errors]), found.get(options.errors)
                if (label or (given and label is not None)) and (
                    not given or not label or not is_right(options.errors, given, label)
                ):
                    print(f"  {page.name} {label!r} {given!r} {page.url}")


if __name__ == "__main__":
    main()
