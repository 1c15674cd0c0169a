"""Footnotes: which references of a page have their note on the page."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote

from turbohtml import Element

__all__ = ["footnotes", "is_back_reference"]

_MARKED: Final = 'a[role="doc-noteref"], a.footnote-ref, a.footnote-reference, a.footnote-anchor'
_REFERENCES: Final = f'sup a[href^="#"], a[href^="#"] sup, {_MARKED}'
_LABEL: Final = re.compile(r"\[?\s*([\w*\u2020\u2021.-]{1,20}(?: \d{1,4})?)\s*\]?")
_BACK: Final = frozenset("\u21a9\u2191^\u2b06\u21b5\u2934\u23ce\u21e7\u2912")
_MAX_NOTES: Final = 5_000


def footnotes(root: Element) -> dict[str, str]:
    """Return the labels of the footnotes that are referred to and present, by the id of the note's element."""
    labels: dict[str, str] = {}
    for reference in root.select(_MARKED if root.find("sup") is None else _REFERENCES):
        link: object = reference
        if reference.tag != "a":
            link = reference.closest("a")
        if not isinstance(link, Element):
            continue
        target = unquote((link.attr("href") or "")[1:])
        match = _LABEL.fullmatch(link.text.strip()) if target and target not in labels else None
        if match and len(labels) < _MAX_NOTES:
            labels[target] = match[1].replace(" ", "-")
    if not labels:
        return {}
    present = {element.attr("id") or "" for element in root.select("li[id], p[id], div[id], aside[id], dd[id], dt[id]")}
    return {target: label for target, label in labels.items() if target in present}


def is_back_reference(text: str) -> bool:
    """Whether a link's text is only the arrow with which a note points back to where it belongs."""
    text = text.strip().rstrip("\ufe0e\ufe0f")
    return len(text) == 1 and text in _BACK
