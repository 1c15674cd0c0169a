"""Where in a settings file a key stands."""

from __future__ import annotations

import re

__all__ = ["line_of"]

_KEY = r"""(?:[A-Za-z0-9_-]+|"(?:\\.|[^"\\])*"|'[^']*')"""
_DOTTED = rf"{_KEY}(?:\s*\.\s*{_KEY})*"
_HEADER = re.compile(rf"\s*\[\[?\s*({_DOTTED})\s*\]\]?")
_PAIR = re.compile(rf"\s*({_DOTTED})\s*=")
_PART = re.compile(_KEY)
_QUOTES = re.compile(r'"""|\'\'\'')


def line_of(text: str, dotted: str) -> int | None:
    """Return the line, from 1, of a key or of the section that holds it; None when neither is there.

    Args:
        text: The file.
        dotted: The key with its sections, such as `search.limit`; what is not found is looked for one level higher.
    """
    places = _places(text)
    while dotted:
        if dotted in places:
            return places[dotted]
        dotted = dotted.rpartition(".")[0]
    return None


def _places(text: str) -> dict[str, int]:
    places: dict[str, int] = {}
    section = ""
    closing = ""
    for number, line in enumerate(text.split("\n"), 1):  # TOML knows no other line ends
        if closing:  # inside a string of several lines
            if closing in line:
                closing = ""
            continue
        if header := _HEADER.match(line):
            section = _plain(header[1])
            places.setdefault(section, number)
        elif pair := _PAIR.match(line):
            key = _plain(pair[1])
            places.setdefault(f"{section}.{key}" if section else key, number)
            rest = line[pair.end() :]
            if (opening := _QUOTES.search(rest)) and rest.count(opening[0]) % 2:
                closing = opening[0]
    return places


def _plain(dotted: str) -> str:
    """Return a key without quotes and white space."""
    return ".".join(part[1:-1] if part[0] in "\"'" else part for part in _PART.findall(dotted))
