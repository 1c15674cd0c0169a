"""Phrases of block pages, in the most common languages of the web, from `data/block_pages.txt`; `classify` decides.

All are in lower case, and for text in lower case: a search that ignores case takes four times as long. A phrase is a
block page's own text: it asks, orders or rejects. A text about such things ("a CAPTCHA is a test
that ...") is not a match; `PageSentences` distinguishes the two.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Final


def _read() -> dict[str, re.Pattern[str]]:
    """Return a pattern for each part of the file."""
    patterns = {}
    text = files("groundwire.reading").joinpath("data", "block_pages.txt").read_text("utf-8")
    for part in text.split("\n== ")[1:]:
        head, *lines = part.splitlines()
        name, _, form = head.partition(": ")
        phrases = [line for line in lines if line and not line.startswith("#")]
        if form == "pairs":
            pairs = (f"(?=.*(?:{his}))(?=.*(?:{wrong})).+" for his, wrong in (line.split("\t") for line in phrases))
            patterns[name] = re.compile(rf"\A(?:{'|'.join(pairs)})", re.DOTALL)
        else:
            whole = "|".join(phrases)
            patterns[name] = re.compile(rf"\A\W*+(?:{whole})\W*+" if form == "lines" else whole)
    return patterns


PHRASES: Final[Mapping[str, re.Pattern[str]]] = _read()
"""The patterns by the names in the file, which says what each is for."""
