"""PDF files: text order, pages per second and peak memory, beside pypdf and pdfminer.six.

    python benchmarks/pdf.py [--peers PYTHON] [--rounds 3] [FILE.pdf ...]
    python benchmarks/pdf.py --tables FOLDER

Each reader runs in a process of its own over the same files: ones made here (one column, two, three, 500 pages), whose
order is known, and those given, such as the manuals that Debian's packages ship. Order is the share of neighboring
sentences that are in the order in which they were written; whole is the share of sentences that come back
word by word. `--peers` names a Python that has the peers; without it, they are installed into a folder of their own
first.

`--tables` reads the files of the ICDAR 2013 table competition in a folder instead (each `NAME.pdf` with what people
say of its tables, `NAME-str.xml`; a checkout of tabulapdf/tabula-java has them), beside PyMuPDF, PyMuPDF4LLM and
pdfplumber. It prints the competition's own measure: of the pairs of cells that are neighbors in a row or a column, the
share of those given that are right (precision), and of those in the file that are given (recall), averaged over the
files. Tables of PyMuPDF and pdfplumber are those of `find_tables` and `extract_tables`.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import textwrap
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise, zip_longest
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

CHILD = """
import json, re, resource, sys, time
name, path, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
body = open(path, "rb").read()
if name == "groundwire":
    from groundwire.reading.documents.pdf.convert import read_pdf
    def read(): return read_pdf(body, seconds=600).content
elif name == "pypdfium2, plain":
    import pypdfium2
    def read():
        document = pypdfium2.PdfDocument(body)
        return chr(10).join(page.get_textpage().get_text_range() for page in document)
elif name == "pypdf":
    import io, pypdf
    def read(): return chr(10).join(page.extract_text() for page in pypdf.PdfReader(io.BytesIO(body)).pages)
else:
    import io
    from pdfminer.high_level import extract_text
    def read(): return extract_text(io.BytesIO(body))
best = None
for _ in range(rounds):
    started = time.perf_counter()
    text = read()
    taken = time.perf_counter() - started
    best = taken if best is None else min(best, taken)
peak = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM:")) / 1024
json.dump({"seconds": best, "peak": peak, "text": text}, open(sys.argv[4], "w"))
"""
TABLES_CHILD = """
import io, itertools, json, re, sys, pathlib
name, folder = sys.argv[1], pathlib.Path(sys.argv[2])
def tables_of(text):
    lines = text.splitlines()
    for is_table, group in itertools.groupby(lines, lambda line: line.strip().startswith("|")):
        rows = [re.split(r"(?<!\\\\)[|]", line.strip().strip("|")) for line in group] if is_table else []
        yield [row for row in rows if not all(re.fullmatch(" *:?-+:? *", cell) for cell in row)]
def read(body):
    if name == "groundwire":
        from groundwire.reading.documents.pdf.convert import read_pdf
        return list(tables_of(read_pdf(body, seconds=600).content))
    if name == "pdfplumber":
        import pdfplumber
        with pdfplumber.open(io.BytesIO(body)) as pdf:
            return [table for page in pdf.pages for table in page.extract_tables()]
    import pymupdf
    pdf = pymupdf.open(stream=body, filetype="pdf")
    if name == "pymupdf4llm":
        import pymupdf4llm
        return list(tables_of(pymupdf4llm.to_markdown(pdf, show_progress=False)))
    return [table.extract() for page in pdf for table in page.find_tables().tables]
found = {}
for path in sorted(folder.glob("**/*.pdf")):
    if path.with_name(path.stem + "-str.xml").exists():
        try:
            found[str(path)] = read(path.read_bytes())
        except Exception as error:
            print(path.stem, repr(error)[:200], file=sys.stderr)
            found[str(path)] = []
json.dump(found, open(sys.argv[3], "w"))
"""
TABLE_READERS = ("groundwire", "pymupdf", "pymupdf4llm", "pdfplumber")
READERS = ("groundwire", "pypdfium2, plain", "pypdf", "pdfminer.six")
_PEERS = (
    "pypdf==7.1.0",
    "pdfminer.six==20260107",
    "pypdfium2",
    "pymupdf==2.0",
    "pymupdf4llm==2.0",
    "pdfplumber==0.11.10",
)


def main() -> int:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("files", nargs="*", type=Path)
    options.add_argument("--peers", type=Path, default=ROOT / ".venv-peers-pdf" / "bin" / "python")
    options.add_argument("--rounds", type=int, default=2)
    options.add_argument("--tables", type=Path, help="the folder with the files of ICDAR 2013")
    chosen = options.parse_args()
    if not chosen.peers.exists():
        _install(chosen.peers)
    if chosen.tables is not None:
        return _compare_tables(chosen.peers, chosen.tables)
    with tempfile.TemporaryDirectory() as folder:
        files = _made(Path(folder)) + [(path.name, path, 0) for path in chosen.files]
        for title, path, sentences in files:
            pages = _pages(path)
            print(f"{title}: {pages} pages, {path.stat().st_size:,} bytes")
            own = 0.0
            for name in READERS:
                found = _run(name, path, chosen.rounds, chosen.peers, Path(folder) / "answer.json")
                if found is None:
                    print(f"  {name:18} failed, or took more than ten minutes")
                    continue
                rate = pages / found["seconds"]
                own = own or rate
                order, whole = _order(found["text"], sentences) if sentences else (None, None)
                said = f"  order {order:6.1%}  whole {whole:6.1%}" if order is not None else ""
                print(
                    f"  {name:18}{said}  {rate:8.1f} pages/s (we: x{own / rate:.1f})  peak {found['peak']:6.0f} MB  "
                    f"{len(found['text']):>9,} characters"
                )
    return 0


def _compare_tables(peers: Path, folder: Path) -> int:
    print(f"{'':12} precision  recall     F1")
    for reader in TABLE_READERS:
        python = sys.executable if reader == "groundwire" else str(peers)
        environment = {"PYTHONPATH": str(ROOT / "src")} if reader == "groundwire" else {}
        with tempfile.NamedTemporaryFile() as answer:
            command = [python, "-c", TABLES_CHILD, reader, str(folder), answer.name]
            subprocess.run(command, check=True, env=environment)
            tables = json.loads(Path(answer.name).read_text())
        shares = [_table_shares(Path(name), given) for name, given in tables.items()]
        means = [sum(column) / len(shares) for column in zip(*shares, strict=True)]
        print(f"{reader:12} " + "  ".join(f"{mean:8.3f}" for mean in means) + f"  of {len(shares)} files")
    return 0


def _table_shares(path: Path, given: list[list[list[str | None]]]) -> tuple[float, float, float]:
    """Return precision, recall and F1 of the neighbors of cells in a file's tables."""
    stated = _neighbors(_stated_tables(path.with_name(f"{path.stem}-str.xml")))
    found = _neighbors(given)
    right = (stated & found).total()
    precision, recall = right / max(1, found.total()), right / max(1, stated.total())
    return precision, recall, 2 * precision * recall / max(1e-9, precision + recall)


def _stated_tables(path: Path) -> list[list[list[str]]]:
    """Return the tables that people found in a file; a cell that spans others stands at its first place."""
    tables = []
    for region in ET.parse(path).iter("region"):
        cells = {
            (int(cell.get("start-row", 0)), int(cell.get("start-col", 0))): " ".join(
                content.text or "" for content in cell.iter("content")
            )
            for cell in region.iter("cell")
        }
        rows, columns = (max((place[axis] for place in cells), default=0) + 1 for axis in (0, 1))
        tables.append([[cells.get((row, column), "") for column in range(columns)] for row in range(rows)])
    return tables


def _neighbors(tables: Iterable[list[list[Any]]]) -> Counter[tuple[str, str, str]]:
    """Count the pairs of texts that follow each other in a row or in a column, without empty cells and signs."""
    found: Counter[tuple[str, str, str]] = Counter()
    for table in tables:
        for direction, lines in (("right", table), ("down", zip_longest(*table))):
            for line in lines:
                texts = ["".join(filter(str.isalnum, cell or "")).lower() for cell in line]
                found.update((direction, *pair) for pair in pairwise(filter(None, texts)))
    return found


def _made(folder: Path) -> list[tuple[str, Path, int]]:
    from components.papers import column_paper, many_pages, sentences

    texts = sentences(400)
    made = [(f"{columns} columns", column_paper(texts, columns), len(texts)) for columns in (1, 2, 3)]
    made.append(("2 columns written line by line across both", _across(texts), len(texts)))
    made.append(("500 pages", many_pages(500), 0))
    found = []
    for title, body, count in made:
        path = folder / f"{title.replace(' ', '-')}.pdf"
        path.write_bytes(body)
        found.append((title, path, count))
    return found


def _across(texts: list[str]) -> bytes:
    """Return a paper of two columns whose file holds the lines from left to right, as some programs write them."""
    from world.sites.non_pages import plain_pdf

    rows = [line for text in texts for line in textwrap.wrap(text, 42)]
    pages = []
    for start in range(0, len(rows), 100):
        left, right = rows[start : start + 50], rows[start + 50 : start + 100]
        pages.append([(60, tuple(left)), (320, tuple(right))])
    return plain_pdf(pages)


def _order(text: str, count: int) -> tuple[float, float]:
    """Return the share of sentences that follow their predecessor, and the share that is there word by word."""
    from components.papers import sentences

    places = [int(number) for number in re.findall(r"Note\s+(\d+)\s+says", text)]
    follow = sum(other == one + 1 for one, other in pairwise(places))
    plain = re.sub(r"\[page \d+\]", "", text)
    plain = " ".join(re.sub(r"-\n(?=[a-z])", "", plain).split())
    return follow / (count - 1), sum(sentence in plain for sentence in sentences(count)) / count


def _pages(path: Path) -> int:
    import pypdfium2

    return len(pypdfium2.PdfDocument(path))


def _run(name: str, path: Path, rounds: int, peers: Path, answer: Path) -> dict[str, float | str] | None:
    python = sys.executable if name == "groundwire" else str(peers)
    environment = {"PYTHONPATH": str(ROOT / "src")} if name == "groundwire" else {}
    command = [python, "-c", CHILD, name, str(path), str(rounds), str(answer)]
    try:
        subprocess.run(command, check=True, timeout=600, env=environment, capture_output=True)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        return None
    return json.loads(answer.read_text())


def _install(python: Path) -> None:
    folder = python.parents[1]
    print("installing the peers ...", file=sys.stderr)
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    subprocess.run([str(python), "-m", "pip", "install", "-q", *_PEERS], check=True)


if __name__ == "__main__":
    sys.exit(main())
