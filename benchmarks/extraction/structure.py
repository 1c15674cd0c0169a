"""How much of the structure of real pages survives: headings, items, links, code, and rows whose text is kept.

    python -m benchmarks.extraction.structure FOLDER [--model FILE] [--fold 1] [--sample 100]

FOLDER has pages with reviewed text. Of each visible element whose text occurs exactly once in the page, in its reviewed
text, and in the returned Markdown, the Markdown is asked whether it is still that: a heading, a list item, a link, a
code block, a row of a table with all its cells. Text that was not selected is not counted here but in `quality.py`.
Last, of the series of siblings of one shape (one parent, tag, and first class), of which the reviewed text has all or
none, those that are torn: some of them have a line in the Markdown and others have none. The Markdown is read by a
CommonMark parser with tables (markdown-it-py). Folds and models are those of `quality.py`: the
package's own model has learned from every page, so `--model` is needed for figures to quote.
"""

from __future__ import annotations

import argparse
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token
from turbohtml import Document, Element

from benchmarks.extraction.pages import TUNING, Page, read_pages
from groundwire.reading.convert import convert
from groundwire.reading.encoding.decode import decode
from groundwire.reading.html.semantics import parse_page
from groundwire.reading.main_content.classifier import Model, read_model
from groundwire.reading.visibility.visible import drop_unseen

_KINDS: Final = {"heading": "h1,h2,h3,h4,h5,h6", "item": "li", "link": "a[href]", "code": "pre", "row": "tr"}
_SHORTEST: Final = 12  # letters and digits; shorter text is rarely unique
_MAX_ELEMENTS: Final = 400  # of a kind, on a page
_SIBLINGS: Final = "div[class], section[class], article, li[class], details, dl"
_SERIES: Final = 3
_MAX_MEMBERS: Final = 60
_TARGET: Final = re.compile(r"\]\([^)]*\)")
_OTHER: Final = re.compile(r"[\W_]+")


def bare(text: str) -> str:
    """Return the letters and digits of a text, in lower case."""
    return _OTHER.sub("", text).lower()


def without_targets(markdown: str) -> str:
    """Return a Markdown text without the addresses of its links."""
    return _TARGET.sub("]", markdown)


def shown(tokens: list[Token] | None) -> str:
    """Return the text of inline tokens."""
    return "".join(token.content for token in tokens or () if token.type in {"text", "code_inline", "image"})


def things(markdown: str) -> Iterator[tuple[str, str]]:
    """Yield each heading, item, link, code block, and row of a Markdown text, with its letters and digits."""
    open_items: list[list[str]] = []
    row: list[str] = []
    tokens = MarkdownIt("commonmark").enable("table").parse(markdown)
    for place, token in enumerate(tokens):
        if token.type == "list_item_open":
            open_items.append([])
        elif token.type == "list_item_close":
            item = open_items.pop()
            yield "item", bare("".join(item))
        elif token.type == "tr_open":
            row = []
        elif token.type == "tr_close":
            yield "row", bare("".join(row))
        elif token.type in {"fence", "code_block"}:
            yield "code", bare(token.content)
        elif token.type == "inline":
            text, children = shown(token.children), token.children or []
            row.append(text)
            for item in open_items:
                item.append(text)
            if tokens[place - 1].type == "heading_open":
                yield "heading", bare(text)
            starts = [at for at, child in enumerate(children) if child.type == "link_open"]
            for start in starts:
                end = next(at for at in range(start, len(children)) if children[at].type == "link_close")
                yield "link", bare(shown(children[start:end]))


def series_of(document: Document) -> list[list[Element]]:
    """Return the siblings of one shape on a page, three or more of each."""
    series: dict[tuple[Element, str, str], list[Element]] = defaultdict(list)
    for element in document.select(_SIBLINGS):
        if isinstance(element.parent, Element):
            first = (element.attr("class") or "").partition(" ")[0]
            series[element.parent, element.tag, first].append(element)
    return [members for members in series.values() if len(members) >= _SERIES][:_MAX_ELEMENTS]


def torn(document: Document, whole: str, truth: str, markdown: str) -> Iterator[bool]:
    """Yield for each series that the reviewed text has wholly or not at all whether the Markdown has some of it."""
    for members in series_of(document):
        lines = [[bare(text) for text in member.stripped_strings] for member in members[:_MAX_MEMBERS]]
        lines = [[line for line in own if len(line) >= _SHORTEST and whole.count(line) == 1] for own in lines]
        wanted, found = (
            [any(line in text for line in own) for own in lines if own] for text in (truth, markdown)
        )  # a member without a line of its own says nothing
        if len(wanted) >= _SERIES and len(set(wanted)) == 1:
            yield len(set(found)) == 2


def count(page: Page, model: Model | None) -> tuple[Counter[str], Counter[str]]:
    """Return how many elements of each kind a page's text has, and how many of them survive; series that are torn."""
    body = page.body()
    markdown = convert(body, "text/html", page.url, headers={}, model=model).extracted.content
    document = parse_page(decode(body, "text/html").text)
    drop_unseen(document)
    whole = bare(document.root.text if document.root is not None else "")
    texts = [whole, bare(page.truth or ""), bare(without_targets(markdown))]
    found = set(things(markdown))
    asked, kept = Counter[str](), Counter[str]()
    for kind, selector in _KINDS.items():
        for element in document.select(selector)[:_MAX_ELEMENTS]:
            text = bare(element.text)
            jumps = (element.attr("href") or "").startswith(("#", "javascript:"))
            if len(text) >= _SHORTEST and not jumps and all(other.count(text) == 1 for other in texts):
                asked[kind] += 1
                kept[kind] += (kind, text) in found
    for is_torn in torn(document, *texts):
        asked["torn series"] += 1
        kept["torn series"] += is_torn
    return asked, kept


def main() -> None:
    """Count and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the developers' pages")
    parser.add_argument("--model", type=Path, help="a model trained with --held-out")
    parser.add_argument("--fold", type=int, default=TUNING, help="the fifth of the sites to read; 0 is touched once")
    parser.add_argument("--sample", type=int, help="at most so many pages")
    options = parser.parse_args()
    pages = [page for page in read_pages(options.folder) if page.fold == options.fold]
    model = read_model(options.model.read_bytes()) if options.model else None
    asked, kept = Counter[str](), Counter[str]()
    for page in random.Random(5).sample(pages, min(options.sample or len(pages), len(pages))):
        for total, part in zip((asked, kept), count(page, model), strict=True):
            total.update(part)
    for kind in (*_KINDS, "torn series"):
        print(f"{kind}: {kept[kind] / max(1, asked[kind]):.3f} of {asked[kind]}")


if __name__ == "__main__":
    main()
