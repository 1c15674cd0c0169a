"""The parts of a site's page as Markdown: Groundwire's own frame, and user texts in Markdown, HTML or plain text.

Markdown of others becomes HTML first, so that one set of rules decides what a person could see: comments, unused link
definitions and hidden elements go, and are counted.
"""

from __future__ import annotations

import json
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

from groundwire.reading.extracted import MAX_CONTENT
from groundwire.reading.text.sanitize import clean, clean_text, hygiene_warnings, removal_warning
from groundwire.reading.text.truncate import truncate

_MAX_PART: Final[Mapping[str, int]] = {
    "own": 5_000_000,
    "html": 5_000_000,
    "markdown": 1_000_000,
    "restructured": 500_000,
}
"""Characters of one text; long articles have a million of HTML. Markdown takes a second per 300,000, and
reStructuredText two."""
_NESTING: Final = 30  # blocks within blocks of Markdown


@dataclass(frozen=True, slots=True)
class SitePart:
    """One text of a page."""

    kind: Literal["own", "markdown", "restructured", "html"]
    """`own` is Markdown generated here, with user text escaped."""
    text: str
    """The text."""
    base: str = ""
    """The address that its relative links start from; by default that of the page."""
    below: int = 0
    """The level of the heading above it: its own headings go below."""
    pick: str = ""
    """A CSS selector: only the first such element of the HTML is read."""
    drop: str = ""
    """A CSS selector: such elements are removed."""


@dataclass(frozen=True, slots=True)
class RenderedParts:
    """The rendered parts."""

    content: str
    """The Markdown."""
    warnings: tuple[str, ...]
    """What was removed, counted."""
    cut: bool
    """Whether a text was too long."""


def heading(level: int, title: str, target: str = "") -> SitePart:
    """Return a heading.

    Args:
        level: 1 to 6.
        title: Plain text.
        target: Where it leads.
    """
    return SitePart("own", f"{'#' * level} {_linked(title, target)}")


def say(*words: str) -> SitePart:
    """Return a line of facts with dots between them; empty ones are left out."""
    return SitePart("own", " \u00b7 ".join(_line(word) for word in words if word))


def facts(*pairs: tuple[str, str]) -> SitePart:
    """Return names with their values as a list; those without a value are left out."""
    return SitePart("own", "\n".join(f"- {_line(name)}: {_value(value)}" for name, value in pairs if value))


def markdown(source: str, *, base: str = "", below: int = 0) -> SitePart:
    """Return a user's Markdown (CommonMark with GitHub's tables), with any HTML in it."""
    return SitePart("markdown", source, base, below)


def restructured(source: str, *, below: int = 0) -> SitePart:
    """Return a user's reStructuredText, without its table of contents and the messages of docutils about it."""
    return SitePart("restructured", source, below=below, drop="nav.contents, .system-messages, .system-message > p")


def html(source: str, *, base: str = "", below: int = 0, pick: str = "", drop: str = "") -> SitePart:
    """Return a user's HTML; see `SitePart`."""
    return SitePart("html", source, base, below, pick, drop)


def plain(source: str) -> SitePart:
    """Return plain text with its lines and paragraphs; addresses in it stay as they are."""
    from html import escape

    blocks = [block.strip() for block in source.replace("\r\n", "\n").split("\n\n")]
    return SitePart("html", "".join(f"<p>{escape(block).replace(chr(10), '<br>')}</p>" for block in blocks if block))


def code(source: str, language: str = "") -> SitePart:
    """Return a block of code."""
    from groundwire.reading.markdown.escaping import fence

    return SitePart("own", fence(clean(source), language))


def _line(words: str) -> str:
    from groundwire.reading.markdown.escaping import escape_text

    return escape_text(" ".join(words.split()))


def _linked(title: str, target: str) -> str:
    from groundwire.reading.markdown.escaping import escape_text, web_url

    address = web_url(target) if target else ""
    return f"[{escape_text(' '.join(title.split()), in_label=True)}]({address})" if address else _line(title)


def _value(value: str) -> str:
    """Return a value; an address stays one."""
    from groundwire.reading.markdown.escaping import web_url

    if value.startswith(("http://", "https://")) and " " not in value and (address := web_url(value)):
        return f"<{address}>"
    return _line(value)


def render(parts: Sequence[SitePart], url: str) -> RenderedParts:
    """Return the parts as Markdown that may be given to a model.

    Args:
        parts: The parts, in order.
        url: The page's address, for relative links.
    """
    removed: Counter[str] = Counter()
    blocks: list[str] = []
    room, cut = MAX_CONTENT, 0
    for part in parts:
        source = part.text[: _MAX_PART[part.kind]]
        cut += len(source) < len(part.text)
        block = source if part.kind == "own" else _foreign(part, source, url, removed)
        short = truncate(block, room) if room > 0 else ""
        cut += len(short) < len(block)
        room -= len(short)
        blocks.append(short)
    joined = unicodedata.normalize("NFC", "\n\n".join(block for block in blocks if block))
    content, counts = clean_text(clean(joined))
    cut += removed["cut"]
    shortened = [f"long texts shortened: {cut}"] if cut else []
    warnings = (*removal_warning(removed["hidden"]), *shortened, *hygiene_warnings(counts))
    return RenderedParts(clean(content), warnings, bool(cut))


def render_in_worker(request: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:
    """Render parts that another process sent as JSON."""
    rendered = render([SitePart(**part) for part in json.loads(body)], request["url"])
    return {"warnings": rendered.warnings, "cut": rendered.cut}, rendered.content.encode("utf-8", "replace")


def pack(parts: Sequence[SitePart]) -> bytes:
    """Return parts as `render_in_worker` takes them."""
    return json.dumps([asdict(part) for part in parts]).encode()


def _foreign(part: SitePart, source: str, url: str, removed: Counter[str]) -> str:
    from groundwire.reading.extract import fragment_to_markdown

    if part.kind == "markdown":
        source = _as_html(source)
    elif part.kind == "restructured":
        from groundwire.reading.sites.restructured import to_html

        source = to_html(source)
    return fragment_to_markdown(source, part.base or url, removed, below=part.below, pick=part.pick, drop=part.drop)


def _as_html(source: str) -> str:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": True, "maxNesting": _NESTING}).enable(["table", "strikethrough"])
    return str(parser.render(source))
