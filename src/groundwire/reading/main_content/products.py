"""What scores rarely tell from the rest of a product's page: its price, and the table of its properties."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from groundwire.reading.main_content.classifier import KINDS
from groundwire.reading.main_content.page_blocks import PageBlocks
from groundwire.reading.main_content.page_parts import BYLINE, names_around

_PRICE: Final = re.compile(r"pric(?:e|ing)|preis|prezz|prijs|preci?o|(?<![a-z])(?:prix|cenas?)(?![a-z])", re.IGNORECASE)
_PRODUCT: Final = KINDS.index("product")
_BELOW_NAME: Final = 40  # blocks
_TOGETHER: Final = 2  # blocks with the old price and the new one
_ROWS, _PAIRS = 3, 0.7  # rows of a table of properties, and the share of those with a name and a value


def product_price(page: PageBlocks) -> Iterator[int]:
    """Yield the price of a product: the first text with digits and the name of a price below the product's name.

    Args:
        page: The page.
    """
    if page.verdict.kinds[_PRODUCT] < max(page.verdict.kinds):
        return
    tags, owners = page.layout.tags, page.layout.owners
    name = next((number for number, owner in enumerate(owners) if tags[owner] == "h1"), len(owners))
    prices = [n for n in range(name + 1, min(len(owners), name + 1 + _BELOW_NAME)) if _is_price(page, n)]
    yield from (number for number in prices if number < prices[0] + _TOGETHER)


def _is_price(page: PageBlocks, number: int) -> bool:
    text = page.layout.texts[number]
    if len(text) > BYLINE or page.layout.linked[number] or not any(map(str.isdigit, text)):
        return False
    return any(map(_PRICE.search, names_around(page.layout, page.verdict.names, number, 2)))


def specifications(page: PageBlocks) -> Iterator[int]:
    """Yield the tables of a product's properties: two cells in almost each row, a name and a value.

    Args:
        page: The page.
    """
    tags, parents = page.layout.tags, page.layout.parents
    if page.verdict.kinds[_PRODUCT] < max(page.verdict.kinds) or "table" not in tags:
        return
    cells, rows, pairs, tables = [0] * len(tags), [0] * len(tags), [0] * len(tags), [0] * len(tags)
    for element, tag in enumerate(tags):
        tables[element] = element if tag == "table" else tables[parents[element]]
        cells[parents[element]] += tag in {"td", "th"}
    for element, tag in enumerate(tags):
        if tag == "tr":
            rows[tables[element]] += 1
            pairs[tables[element]] += cells[element] == 2
    for number, owner in enumerate(page.layout.owners):
        table = tables[owner]
        if table and pairs[table] >= max(_ROWS, _PAIRS * rows[table]) and not page.layout.linked[number]:
            yield number
