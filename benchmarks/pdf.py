"""PDF files: text order, pages per second and peak memory, beside pypdf and pdfminer.six.

    python benchmarks/pdf.py [--peers PYTHON] [--rounds 3] [FILE.pdf ...]
    python benchmarks/pdf.py --kinds [--seeds 6-13]

Each reader runs in a process of its own over the same files: ones made here (one column, two, three, 500 pages), whose
order is known, and those given, such as the manuals that Debian's packages ship. Order is the share of neighboring
sentences that are in the order in which they were written; whole is the share of sentences that come back
word by word. `--peers` names a Python that has the peers; without it, they are installed into a folder of their own
first.

`--kinds` reads files of 38 kinds instead (`tests/components/pdf_kinds.py`: columns, tables, forms, rotated, encrypted
and truncated pages, in six scripts), which ReportLab, Chromium and groff write from seeds, beside PyMuPDF, PyMuPDF4LLM
and pdfplumber, and prints four shares for each kind: the words that come back (recall), the sentences and cells that
follow their predecessor (order), the cells that stand whole in the right row of a table (cells), and the form
values (values). Tables of PyMuPDF and pdfplumber are those of `find_tables` and `extract_tables`.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import textwrap
from itertools import pairwise
from pathlib import Path

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
KINDS_CHILD = """
import io, json, re, sys, pathlib
name, folder = sys.argv[1], pathlib.Path(sys.argv[2])
def rows_of(text):
    lines = [line.strip() for line in text.splitlines() if line.strip().startswith("|")]
    rows = [[cell.strip() for cell in re.split(r"(?<!\\\\)[|]", line.strip("|"))] for line in lines]
    return [row for row in rows if not all(re.fullmatch(":?-+:?", cell) for cell in row)]
def read(body):
    if name == "groundwire":
        from groundwire.reading.documents.pdf.convert import read_pdf
        text = read_pdf(body, seconds=600).content
        return text, rows_of(text)
    if name == "pdfplumber":
        import pdfplumber
        with pdfplumber.open(io.BytesIO(body)) as pdf:
            tables = [table for page in pdf.pages for table in page.extract_tables()]
            return chr(10).join(page.extract_text() for page in pdf.pages), [row for table in tables for row in table]
    import pymupdf
    pdf = pymupdf.open(stream=body, filetype="pdf")
    if name == "pymupdf4llm":
        import pymupdf4llm
        text = pymupdf4llm.to_markdown(pdf, show_progress=False)
        return text, rows_of(text)
    flags = pymupdf.TEXTFLAGS_TEXT | pymupdf.TEXT_DEHYPHENATE
    tables = [table.extract() for page in pdf for table in page.find_tables().tables]
    return chr(10).join(page.get_text(flags=flags) for page in pdf), [row for table in tables for row in table]
found = {}
for path in sorted(folder.glob("*.pdf")):
    try:
        found[path.stem] = read(path.read_bytes())
    except Exception as error:
        print(path.stem, repr(error)[:200], file=sys.stderr)
        found[path.stem] = ["", []]
json.dump(found, open(sys.argv[3], "w"))
"""
KIND_READERS = ("groundwire", "pymupdf", "pymupdf4llm", "pdfplumber")
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
    options.add_argument(
        "--kinds", action="store_true", help="recall, order and tables of generated files of many kinds"
    )
    options.add_argument("--seeds", default="6-13", help="the first and the last seed of each kind")
    chosen = options.parse_args()
    if not chosen.peers.exists():
        _install(chosen.peers)
    if chosen.kinds:
        return _compare_kinds(chosen.peers, *map(int, chosen.seeds.split("-")))
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


def _compare_kinds(peers: Path, first: int, last: int) -> int:
    from components.pdf_kinds import KINDS, make, scores

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made = {
            f"{place:02}-{seed}": make(kind, seed)
            for place, kind in enumerate(KINDS)
            for seed in range(first, last + 1)
        }
        for stem, one in made.items():
            (folder / f"{stem}.pdf").write_bytes(one.body)
        whole: dict[str, dict[str, list[float]]] = {}
        shown: dict[tuple[str, str], dict[str, list[float]]] = {}
        for reader in KIND_READERS:
            python = sys.executable if reader == "groundwire" else str(peers)
            environment = {"PYTHONPATH": str(ROOT / "src")} if reader == "groundwire" else {}
            answer = folder / "answer.json"
            subprocess.run([python, "-c", KINDS_CHILD, reader, name, str(answer)], check=True, env=environment)
            for stem, (text, rows) in json.loads(answer.read_text()).items():
                for measure, share in scores(made[stem], text, rows).items():
                    shown.setdefault((made[stem].kind, reader), {}).setdefault(measure, []).append(share)
                    whole.setdefault(reader, {}).setdefault(measure, []).append(share)
        print(f"{'recall/order/cells/values':28}" + "".join(f"{reader:>26}" for reader in KIND_READERS))
        for kind in KINDS:
            print(f"{kind:28}" + "".join(f"{_shares(shown[kind, reader]):>26}" for reader in KIND_READERS))
        print(f"{'all':28}" + "".join(f"{_shares(whole[reader]):>26}" for reader in KIND_READERS))
    return 0


def _shares(measured: dict[str, list[float]]) -> str:
    names = ("recall", "order", "cells", "values")
    return " ".join(f"{sum(measured[name]) / len(measured[name]):.3f}" if name in measured else "-" for name in names)


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
