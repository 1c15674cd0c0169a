"""Test suites of other projects, run against Groundwire from a checkout of the reader's own.

    python -m benchmarks.suites NAME FOLDER [--peers] [--worst 10]

| NAME | FOLDER | what is scored |
| --- | --- | --- |
| readability | a checkout of mozilla/readability | words of the text, titles, bylines, days |
| defuddle | of kepano/defuddle | words of the text, footnote marks, titles, authors, days |
| markitdown | of microsoft/markitdown | strings that the Markdown of each file must include |
| htmldate | of adbar/htmldate | days of publication |
| trafilatura | of adbar/trafilatura | passages that the text must and must not include |
| url | any folder with the `urltestdata.json` of the Web Platform Tests | URLs read as browsers do, and refused |
| mcp | any, unused; needs `npx` | the checks of the MCP conformance suite for servers |

Nothing of these projects is part of this one. Their expectations are read as data, and none of their code is run,
except for the conformance suite. `--peers` runs trafilatura and htmldate in their own environment on the same pages.

Word F1 is that of the lower-cased words of a page, regardless of order, averaged over the pages. Markdown and HTML are
turned to text first. Titles and authors are right as the `wider` ones of `benchmarks.extraction.metadata` are.
"""

from __future__ import annotations

import argparse
import ast
import html
import json
import re
import shutil
import statistics
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from markdown_it import MarkdownIt

from benchmarks import peers
from benchmarks.extraction.metadata import is_right
from groundwire.errors import GroundwireError
from groundwire.reading.convert import convert
from groundwire.safety.urls import join_url, parse_url

_OUTPUT_OF_PEERS: Final = """
import json, sys
from htmldate import find_date
from trafilatura import bare_extraction, extract
pages = []
for path, url in json.load(sys.stdin):
    with open(path, "rb") as file:
        body = file.read()
    page = {}
    try:
        page["text"] = extract(body, url=url, include_comments=False, include_tables=True) or ""
        found = bare_extraction(body, url=url, with_metadata=True)
        page |= {name: getattr(found, name, None) or "" for name in ("title", "author")}
    except Exception as error:
        print("trafilatura", path, repr(error)[:100], file=sys.stderr)
    try:
        page["date"] = find_date(body, original_date=True, extensive_search=True) or ""
    except Exception as error:
        print("htmldate", path, repr(error)[:100], file=sys.stderr)
    pages.append(page)
json.dump(pages, sys.stdout)
"""
_CONFORMANCE: Final = ("-p", "node@22", "-p", "@modelcontextprotocol/conformance@0.1.16", "conformance", "server")
_OWN_SERVER: Final = re.compile(
    r"tools-call|elicitation|resources-(?:read|templates|subscribe|unsubscribe)|prompts-get"
)
"""The scenarios that call tools, prompts, and resources which only the conformance suite's own server has."""
_MARKDOWN: Final = MarkdownIt("commonmark", {"html": True}).enable("table")
_UNSEEN: Final = re.compile(r"<!--.*?-->|<(script|style)\b.*?</\1\s*>", re.DOTALL | re.IGNORECASE)
_INLINE: Final = re.compile(
    r"</?(?:a|abbr|b|bdi|bdo|big|cite|code|del|em|font|i|ins|kbd|mark|q|s|samp|small|span|strong|sub|sup|tt|u|var|wbr)"
    r"(?:\s[^>]*)?>",
    re.IGNORECASE,
)
_TAG: Final = re.compile(r"<[^>]*>")
_WORD: Final = re.compile(r"\w+")
_MARK: Final = re.compile(r"\[\^[^\]\s]+\](?!:)")
_STATED: Final = re.compile(r"```json\n(.*?)\n```\s*", re.DOTALL)
_ADDRESS: Final = re.compile(r"<!--\s*(\{\"url\":.*?\})\s*-->")


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    measure: str
    cases: int
    ours: str
    peer: str = ""


@dataclass(frozen=True)
class Page:
    """One page and what is expected of it: its text, its number of footnote marks, and metadata that is known."""

    name: str
    path: Path
    url: str
    text: str = ""
    stated: dict[str, str] = field(default_factory=dict)
    marks: int = 0


Output = dict[str, str]
"""What a reader returned for a page: `text`, `title`, `author`, `date`, and `markdown` if it writes that."""
Measure = Callable[[list[Page], list[Output]], Row]


def as_text(markup: str) -> str:
    """Return the text of HTML, with words that a block or a break separates apart."""
    return html.unescape(_TAG.sub(" ", _INLINE.sub("", _UNSEEN.sub(" ", markup))))


def word_f1(expected: str, text: str) -> float:
    """Return the F1 of the words of a text, regardless of order and case; 1 if both have none."""
    wanted, given = (Counter(_WORD.findall(one.lower())) for one in (expected, text))
    total = wanted.total() + given.total()
    return 2 * (wanted & given).total() / total if total else 1.0


def ours(pages: Iterable[Page]) -> list[Output]:
    """Read every page as `open_page` does."""
    outputs = []
    for page in pages:
        found = convert(page.path.read_bytes(), "text/html", page.url, headers={}).extracted
        known = {"title": found.title, "author": found.author, "date": found.published}
        text = as_text(_MARKDOWN.render(found.content))
        outputs.append({"text": text, "markdown": found.content, **{name: known[name] or "" for name in known}})
    return outputs


def theirs(pages: Iterable[Page]) -> list[Output]:
    """Read every page with trafilatura, and its day with htmldate."""
    asked = json.dumps([(str(page.path), page.url) for page in pages])
    command = [str(peers.install_converters()), "-c", _OUTPUT_OF_PEERS]
    done = subprocess.run(command, input=asked, stdout=subprocess.PIPE, text=True, check=True)
    outputs: list[Output] = json.loads(done.stdout)
    return outputs


def _compared(pages: list[Page], measures: Sequence[Measure], options: Any) -> list[Row]:
    """Return a row for each measure, with the peer's figure beside ours."""
    if not pages:
        raise SystemExit(f"{options.folder} has no pages in the layout of this suite. Give the root of a checkout.")
    outputs, others = ours(pages), theirs(pages) if options.peers else []
    scored = [(word_f1(page.text, output["text"]), page.name) for page, output in zip(pages, outputs, strict=True)]
    for score, name in sorted(scored)[: options.worst if pages[0].text else 0]:
        print(f"{score:.3f} {name}", file=sys.stderr)
    rows = []
    for measure in measures:
        row = measure(pages, outputs)
        rows.append(Row(row.measure, row.cases, row.ours, measure(pages, others).ours if others else ""))
    return rows


def _words(pages: list[Page], outputs: list[Output]) -> Row:
    scores = [word_f1(page.text, output.get("text", "")) for page, output in zip(pages, outputs, strict=True)]
    return Row("word F1", len(pages), f"{statistics.fmean(scores):.3f}")


def _marks(pages: list[Page], outputs: list[Output]) -> Row:
    given = [len(_MARK.findall(output.get("markdown", ""))) for output in outputs]
    wanted = sum(page.marks for page in pages)
    kept = sum(min(page.marks, count) for page, count in zip(pages, given, strict=True))
    return Row("footnote marks kept", wanted, f"{kept / max(1, wanted):.2f}")


def _right(name: str) -> Measure:
    """Return a measure that counts the right and the wrong values of a field."""

    def measure(pages: list[Page], outputs: list[Output]) -> Row:
        pairs = [(page.stated.get(name), output.get(name)) for page, output in zip(pages, outputs, strict=True)]
        given = [(label, value) for label, value in pairs if label and value]
        right = sum(is_right(name, value, label, wider=True) for label, value in given)
        return Row(f"{name} right", sum(bool(label) for label, _ in pairs), f"{right} ({len(given) - right} wrong)")

    return measure


def _stated(known: dict[str, Any], **names: str) -> dict[str, str]:
    """Return what is known about a page under our names."""
    return {ours: value for ours, their in names.items() if isinstance(value := known.get(their), str)}


def readability(options: Any) -> list[Row]:
    """Score the pages of mozilla/readability by the HTML that its own tests expect."""
    pages = []
    for folder in sorted((options.folder / "test" / "test-pages").glob("*/")):
        known = json.loads((folder / "expected-metadata.json").read_text("utf-8"))
        stated = _stated(known, title="title", author="byline", date="publishedTime")
        text = as_text((folder / "expected.html").read_text("utf-8"))
        address = "http://fakehost/test/page.html"  # as in its own tests
        pages.append(Page(folder.name, folder / "source.html", address, text, stated))
    return _compared(pages, (_words, _right("title"), _right("author"), _right("date")), options)


def defuddle(options: Any) -> list[Row]:
    """Score the fixtures of kepano/defuddle by the Markdown that its own tests expect."""
    pages = []
    for expected in sorted((options.folder / "tests" / "expected").glob("*.md")):
        path = options.folder / "tests" / "fixtures" / f"{expected.stem}.html"
        content = expected.read_text("utf-8")
        head = _STATED.match(content)
        known, content = (json.loads(head[1]), content[head.end() :]) if head else ({}, content)
        stated = _stated(known, title="title", author="author", date="published")
        found = _ADDRESS.search(path.read_text("utf-8", "replace"))
        address = json.loads(found[1])["url"] if found else f"https://{re.sub(r'^[a-z]+--', '', expected.stem)}"
        text, marks = as_text(_MARKDOWN.render(content)), len(_MARK.findall(content))
        pages.append(Page(expected.stem, path, address, text, stated, marks))
    return _compared(pages, (_words, _marks, _right("title"), _right("author"), _right("date")), options)


def markitdown(options: Any) -> list[Row]:
    """Count the strings that microsoft/markitdown's own tests look for in the Markdown of its files."""
    tests = next(options.folder.glob("**/_test_vectors.py"), None)
    if tests is None:
        raise SystemExit(f"{options.folder} has no _test_vectors.py. Give the root of a checkout.")
    total, kept = 0, 0
    for vector in _vectors(ast.parse(tests.read_text("utf-8"))):
        kind = (vector["mimetype"] or "") + (f"; charset={vector['charset']}" if vector["charset"] else "")
        body = (tests.parent / "test_files" / vector["filename"]).read_bytes()
        url = vector["url"] or f"https://example.com/{vector['filename']}"
        content = convert(body, kind, url, headers={}).extracted.content
        missed = [text for text in vector["must_include"] if text not in content]
        total, kept = total + len(vector["must_include"]), kept + len(vector["must_include"]) - len(missed)
        for text in missed if options.worst else ():
            print(f"{vector['filename']}: {text[:90]}", file=sys.stderr)
    return [Row("strings included", total, str(kept))]


def _vectors(tree: ast.Module) -> Iterable[dict[str, Any]]:
    """Yield the expectations of the general list, without running the file."""
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "GENERAL_TEST_VECTORS":
            for call in ast.walk(statement.value):
                if isinstance(call, ast.Call):
                    yield {part.arg: ast.literal_eval(part.value) for part in call.keywords if part.arg}


def _evaluation(tests: Path, names: Iterable[str]) -> Iterator[tuple[Page, dict[str, Any]]]:
    """Yield the pages of an evaluation by the same author, with their entries; the first folder with a file wins."""
    files = [tests / name for name in names if (tests / name).is_file()]
    entries = {address: entry for file in files for address, entry in json.loads(file.read_text("utf-8")).items()}
    for address, entry in entries.items():
        places = [tests / folder / entry["file"] for folder in ("test_set", "cache", "eval")]
        if path := next((place for place in places if place.is_file()), None):
            yield Page(entry["file"], path, address, stated=_stated(entry, date="date")), entry


def htmldate(options: Any) -> list[Row]:
    """Count the days that are right on the pages of adbar/htmldate's evaluation."""
    found = _evaluation(options.folder / "tests", ("eval_mediacloud_2020.json", "eval_default.json"))
    return _compared([page for page, _ in found], (_right("date"),), options)


def trafilatura(options: Any) -> list[Row]:
    """Score the pages of adbar/trafilatura's evaluation by the passages that the text must and must not include."""
    found = list(_evaluation(options.folder / "tests", ("evaldata.json",)))
    entries = [entry for _, entry in found]

    def measure(_: list[Page], outputs: list[Output]) -> Row:
        right, wrong, wanted = 0, 0, 0
        for entry, output in zip(entries, outputs, strict=True):
            flat = " ".join(output.get("text", "").split())
            right += sum(" ".join(one.split()) in flat for one in entry["with"])
            wrong += sum(" ".join(one.split()) in flat for one in entry["without"])
            wanted += len(entry["with"])
        scores = right / max(1, right + wrong), right / max(1, wanted), 2 * right / max(1, right + wrong + wanted)
        return Row("passages: precision, recall, F1", wanted, " ".join(f"{score:.3f}" for score in scores))

    return _compared([page for page, _ in found], (measure,), options)


def url(options: Any) -> list[Row]:
    """Count the URLs of the Web Platform Tests that are read as browsers do, and refused where they have to be."""
    file = next(options.folder.glob("**/urltestdata.json"), None)
    if file is None:
        raise SystemExit(f"{options.folder} has no urltestdata.json.")
    counts = Counter[str]()
    for case in json.loads(file.read_text("utf-8")):
        if isinstance(case, str) or not re.match(r"https?:|$", case.get("base") or ""):
            continue  # a comment, or a base that is no page's
        web = bool(re.match(r"https?:", case.get("href", "")))
        try:
            base = case.get("base")
            given = (join_url(parse_url(base), case["input"]) if base else parse_url(case["input"])).text
        except GroundwireError:
            counts[f"{web} refused"] += 1
            continue
        counts[f"{web} {'equal' if given == case.get('href') else 'different'}"] += 1
        if options.worst and given != case.get("href"):
            print(repr(case["input"]), given, case.get("href"), file=sys.stderr)
    valid, invalid = (
        sum(counts[f"{web} {kind}"] for kind in ("equal", "refused", "different")) for web in (True, False)
    )
    read = ", ".join(f"{counts[f'True {kind}']} {kind}" for kind in ("equal", "refused", "different"))
    return [Row("http and https", valid, read), Row("to be refused", invalid, f"{counts['False refused']} refused")]


def mcp(options: Any) -> list[Row]:
    """Run the MCP conformance suite against `groundwire mcp --http`."""
    if shutil.which("npx") is None:
        raise SystemExit(f"npx is missing. Install Node.js, or run: npx -y {' '.join(_CONFORMANCE)} --url URL")
    serve = [sys.executable, "-m", "groundwire", "mcp", "--http", "--port", "0"]
    with subprocess.Popen(serve, stderr=subprocess.PIPE, text=True) as server:
        try:
            lines = (re.search(r"http://\S+/mcp", line) for line in server.stderr or ())
            address = next((found for found in lines if found), None)
            if address is None:
                raise SystemExit("The server did not start. Run groundwire mcp --http to see why.")
            check = ["npx", "-y", *_CONFORMANCE, "--url", address[0]]
            output = subprocess.run(
                check, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False
            ).stdout
        finally:
            server.terminate()
    return conformance_rows(output)


def conformance_rows(output: str) -> list[Row]:
    """Return the rows of the summary that the MCP conformance suite prints."""
    found = re.findall(r"^\S ([\w-]+): (\d+) passed, (\d+) failed", output, re.MULTILINE)
    ours = [(int(right), int(wrong)) for name, right, wrong in found if not _OWN_SERVER.match(name)]
    others = sum(int(right) + int(wrong) for name, right, wrong in found if _OWN_SERVER.match(name))
    passed, applies = sum(right for right, _ in ours), sum(map(sum, ours))
    if not applies:
        raise SystemExit(f"The conformance suite printed no summary:\n{output[-2_000:]}")
    return [
        Row("checks that apply", applies, f"{passed} passed"),
        Row("of the suite's own tools and resources", others, ""),
    ]


SUITES: Final[dict[str, Callable[[Any], list[Row]]]] = {
    suite.__name__: suite for suite in (readability, defuddle, markitdown, htmldate, trafilatura, url, mcp)
}


def table(name: str, rows: Iterable[Row]) -> str:
    """Return the table of one suite."""
    lines = ["| suite | measure | cases | Groundwire | trafilatura, htmldate |", "| --- | --- | --- | --- | --- |"]
    return "\n".join([*lines, *(f"| {name} | {row.measure} | {row.cases} | {row.ours} | {row.peer} |" for row in rows)])


def main() -> None:
    """Run one suite and print its table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=SUITES)
    parser.add_argument("folder", type=Path, nargs="?", default=Path(), help="a checkout of the suite's project")
    parser.add_argument("--peers", action="store_true", help="also run trafilatura and htmldate")
    parser.add_argument("--worst", type=int, default=0, help="print as many of the worst pages, or what is missing")
    options = parser.parse_args()
    print(table(options.name, SUITES[options.name](options)))


if __name__ == "__main__":
    main()
