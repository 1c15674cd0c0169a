"""Boxes with a note or a warning, known by their names: kept whole, with a label in bold."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from turbohtml import Element, Text

from groundwire.reading.main_content.blocks import HEADINGS
from groundwire.reading.main_content.page_blocks import PageBlocks, blocks_in
from groundwire.reading.main_content.page_parts import CONTROLS

_BOX_NAME: Final = re.compile(
    r"(?<![\w-])(?:(?P<manual>(?:theme-)?admonition(?:block)?|markdown-alert|custom-block|hint-container|starlight-aside"
    r"|confluence-information-macro|(?:gdoc|book)-hint|notecard)|(?:ant-|el-|v-|bs-)?(?:alert|callout)(?:_\w+)?|notices"
    r"|note|tip|hint|warning|caution|important|danger|messagebox|rolenote)(?![\w-])",
    re.IGNORECASE | re.ASCII,
)
"""Names of a box with a note or a warning; the group is those that only generators of documentation use."""
_IN_TABLE: Final = frozenset({"table", "tbody", "thead", "tr", "td", "th", "li", "body"})
_STEMS: Final = (
    "admonition", "alert", "callout", "caution", "custom-block", "danger", "hint", "important", "messagebox", "note",
    "notice", "starlight-aside", "information-macro", "tip", "warning",
)  # fmt: skip
"""One of these is in each name that `_NAMED` matches."""
_NO_LABELS: Final = HEADINGS | {"li", "dt", "dd", "pre", "summary"}
_BOLD: Final = frozenset({"strong", "b", "code", "a"})
_MAX_BOX: Final = 2_000  # characters of such a box; larger ones are parts of the page
_MAX_LABEL: Final = 40  # characters of its label
_ICON: Final = ".icon i[title],.icon img[alt]"
_ENDS_OF_TEXT: Final = (".", ",", ";", "…", "。")


def _boxes(page: PageBlocks) -> Mapping[int, list[int]]:
    """Return the blocks of each box, by the number of its element, which are looked for once."""
    if page.boxes is None:
        page.boxes = _find_boxes(page)
    return page.boxes


def _find_boxes(page: PageBlocks) -> Mapping[int, list[int]]:
    """Return the blocks of each box; the innermost box counts."""
    layout, names = page.layout, page.verdict.names
    called = {name for name in page.index.having(_STEMS) if _BOX_NAME.search(name) is not None}
    if not called:
        return {}
    boxes = [0] * len(layout.tags)
    for element in range(1, len(boxes)):
        is_box = names[element] in called and layout.tags[element] not in _IN_TABLE
        boxes[element] = element if is_box else boxes[layout.parents[element]]
    return blocks_in(layout, boxes)


def _is_manual(page: PageBlocks, box: int) -> bool:
    """Return whether only generators of documentation name a box so."""
    match = _BOX_NAME.search(page.verdict.names[box])
    return match is not None and match["manual"] is not None


def torn_boxes(page: PageBlocks) -> Iterator[int]:
    """Yield the text of boxes of which some is kept, and of those that are beside kept text.

    A box that only generators of documentation name so needs text on one side, any other on both.

    Args:
        page: The page.
    """
    layout, keep = page.layout, page.keep
    for box, numbers in _boxes(page).items():
        beside = sum(keep[number] for number in (numbers[0] - 1, numbers[-1] + 1) if 0 <= number < len(keep))
        is_near = beside >= (1 if _is_manual(page, box) else 2)
        size = sum(len(layout.texts[number]) for number in numbers)
        if size <= _MAX_BOX and (is_near or any(keep[number] for number in numbers)):
            yield from (number for number in numbers if layout.tags[layout.owners[number]] not in CONTROLS)


def label_boxes(page: PageBlocks) -> None:
    """Write the label of each kept box in bold: a short text at its beginning, or else what its icon stands for.

    Args:
        page: The page, whose elements are modified.
    """
    layout = page.layout
    for box, inside in _boxes(page).items():
        numbers = [number for number in inside if page.keep[number]]
        first = numbers[0] if numbers else 0
        tag, text, nodes = layout.tags[layout.owners[first]], layout.texts[first], layout.nodes[first]
        if len(numbers) > 1 and len(text) <= _MAX_LABEL and not text.endswith(_ENDS_OF_TEXT):
            if len(nodes) == 1 and tag not in _NO_LABELS and layout.leads[first] not in _BOLD:
                nodes[0].replace_with(Element("strong", {}, [Text(text)]))
        elif numbers and (icon := layout.elements[box].select_one(_ICON)) is not None:
            label = (icon.attr("title") or icon.attr("alt") or "").strip()
            if label and len(label) <= _MAX_LABEL and not text.startswith(label):
                nodes[0].insert_before(Element("strong", {}, [Text(f"{label}:")]), Text(" "))
