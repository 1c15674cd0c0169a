"""How much of each part of real pages is in the text by default, when it is included, and when it is excluded.

    python -m benchmarks.extraction.parts FOLDER --web FOLDER [--folds 1234] [--sample 100] [--misses]

The lines of a part are those of its elements (`page_parts.part_blocks`), menus among them, whose letters and digits
occur once in the page; lines of buttons count for `controls` only. Pages are read with the package's own model, so this
measures what settings do, not how well pages are read. Folds are those of `quality.py`.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter, defaultdict
from pathlib import Path
from typing import Final

from benchmarks.extraction.pages import Page, read_pages, read_web_pages
from benchmarks.extraction.structure import bare, without_targets
from groundwire.models.validators import PAGE_PARTS
from groundwire.reading.convert import convert
from groundwire.reading.encoding.decode import decode
from groundwire.reading.html.semantics import parse_page
from groundwire.reading.main_content.blocks import lay_out
from groundwire.reading.main_content.page_parts import CONTROLS, part_blocks
from groundwire.reading.main_content.select import is_tiny
from groundwire.reading.main_content.text_features import names_of
from groundwire.reading.visibility.visible import drop_unseen

_SHORTEST: Final = 10  # letters and digits; shorter lines are rarely unique
_MOST: Final = 60  # lines of a part on a page
_WAYS: Final = ("default", "include", "exclude")


def lines_of(page: Page) -> dict[str, list[str]]:
    """Return the letters and digits of the lines of each part of a page."""
    document = parse_page(decode(page.body(), "text/html").text)
    drop_unseen(document)
    layout = lay_out(document, page.url, menus=True)
    if not layout.texts or is_tiny(layout) or document.root is None:
        return {}
    names, whole = names_of(layout), bare(document.root.text)
    lines = {}
    for part in sorted(set(PAGE_PARTS) - {"copies"}):
        found = [
            bare(layout.texts[number])
            for number in part_blocks(layout, names, [True] * len(layout.texts), part)
            if part == "controls" or layout.tags[layout.owners[number]] not in CONTROLS
        ]
        lines[part] = [line for line in found if len(line) >= _SHORTEST and whole.count(line) == 1][:_MOST]
    return {part: found for part, found in lines.items() if found}


def main() -> None:
    """Read the pages and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the developers' pages")
    parser.add_argument("--web", type=Path, required=True, help="whole pages with snippets as labels")
    parser.add_argument("--folds", default="1234", help="the fifths of the sites to read")
    parser.add_argument("--sample", type=int, default=100, help="how many pages are read")
    parser.add_argument("--misses", action="store_true", help="print the pages where a setting did not do all")
    options = parser.parse_args()
    every = (*read_pages(options.folder), *read_web_pages(options.web))
    pages = [page for page in every if str(page.fold) in options.folds]
    asked, held, there = Counter[str](), Counter[str](), defaultdict[str, Counter[str]](Counter)
    for page in random.Random(3).sample(pages, min(options.sample, len(pages))):
        body = page.body()
        for part, lines in lines_of(page).items():
            held[part] += 1
            asked[part] += len(lines)
            for way, parts in zip(_WAYS, (None, {part: True}, {part: False}), strict=True):
                read = convert(body, "text/html", page.url, headers={}, parts=parts).extracted.content
                found = sum(line in bare(without_targets(read)) for line in lines)
                there[way][part] += found
                if options.misses and found != {"include": len(lines), "exclude": 0}.get(way, found):
                    print(page.collection or "mixed", page.name, part, way, f"{found} of {len(lines)}")
    for part in sorted(asked):
        shares = "  ".join(f"{way} {there[way][part] / asked[part]:.3f}" for way in _WAYS)
        print(f"{part}: {held[part]} pages, {asked[part]} lines  {shares}")


if __name__ == "__main__":
    main()
