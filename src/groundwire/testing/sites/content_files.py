"""The texts of the miniature web: files with a few header lines, an empty line, and HTML."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from html.parser import HTMLParser
from importlib.resources import files
from types import MappingProxyType

__all__ = ["ContentFile", "load_documents", "plain_text"]

_BREAKS = frozenset({"blockquote", "caption", "dd", "dt", "h1", "h2", "h3", "h4", "li", "p", "pre", "td", "th", "tr"})


@dataclass(frozen=True, slots=True)
class ContentFile:
    """One text."""

    slug: str
    """The file's name without its ending."""
    head: Mapping[str, str]
    """The header lines: title, summary, author, age_days."""
    html: str
    """The body, without the page around it."""

    @property
    def title(self) -> str:
        """The title."""
        return self.head["title"]

    @property
    def age_days(self) -> int:
        """How many days before today it was published."""
        return int(self.head["age_days"])


@cache
def load_documents(folder: str) -> tuple[ContentFile, ...]:
    """Return the texts of one folder of `data`, by name."""
    found = []
    for entry in sorted(files(__package__).joinpath("data", folder).iterdir(), key=lambda entry: entry.name):
        if entry.name.endswith(".html"):
            head, _, body = entry.read_text(encoding="utf-8").partition("\n\n")
            pairs = (line.partition(": ") for line in head.splitlines())
            fields = {name: value for name, _, value in pairs}
            found.append(ContentFile(entry.name.removesuffix(".html"), MappingProxyType(fields), body))
    return tuple(found)


@lru_cache(maxsize=256)  # every world has the same texts
def plain_text(html: str) -> str:
    """Return the words of a piece of HTML as one line."""
    words = _Words()
    words.feed(html)
    words.close()
    return " ".join("".join(words.parts).split())


class _Words(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []

    def handle_data(self, data: str) -> None:
        self.parts.append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag in _BREAKS:
            self.parts.append(" ")
