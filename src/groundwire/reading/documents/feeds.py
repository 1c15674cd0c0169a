"""Feeds (RSS 0.9 to 2.0, RDF, Atom, JSON Feed) as a list of entries, sitemaps as a list of URLs, and drawings (SVG)."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final
from urllib.parse import urljoin

from lxml import etree

from groundwire.reading.documents.office_package import MAX_ELEMENTS, local_name, parse_xml
from groundwire.reading.extract import fragment_to_markdown
from groundwire.reading.extracted import MAX_CONTENT, Extracted
from groundwire.reading.markdown.escaping import escape_line, escape_text
from groundwire.reading.metadata.dates import iso_date
from groundwire.reading.text.sanitize import strip_controls
from groundwire.reading.text.truncate import truncate

__all__ = ["is_json_feed", "read_feed", "read_json_feed", "read_svg"]

_MAX_ENTRIES: Final = 200
_MAX_ADDRESSES: Final = 5_000
_MAX_MARKUP: Final = 200_000  # characters of an entry's HTML
_JSON_FEED: Final = "https://jsonfeed.org/version/"
_UNSAFE: Final[Mapping[str, str]] = {" ": "%20", "(": "%28", ")": "%29", "<": "%3C", ">": "%3E", "\n": "", "\t": ""}


@dataclass(frozen=True, slots=True, kw_only=True)
class _FeedEntry:
    title: str = ""
    link: str = ""
    date: str = ""
    author: str = ""
    body: str = ""
    """The full text if the feed has it, else the summary, as HTML."""


def read_feed(text: str, url: str) -> Extracted | None:
    """Convert a feed or a sitemap to Markdown; None if the XML is neither.

    Args:
        text: The XML.
        url: Its URL, for relative links.
    """
    head = text[:5_000].lower()
    if not any(mark in head for mark in ("<rss", "<feed", ":feed", "rdf", "<channel", "urlset", "sitemapindex")):
        return None
    root = parse_xml(_without_declaration(text).encode("utf-8", "replace"))
    name = local_name(root) if root is not None else ""
    if root is None:
        return None
    if name in {"urlset", "sitemapindex"}:
        return _sitemap(root)
    if name == "feed":
        entries = [_atom_entry(entry) for entry in _children(root, "entry")]
        return _feed(
            _plain(_text(root, "title")), _text(root, "subtitle"), entries, url, _language(root), _text(root, "updated")
        )
    if name not in {"rss", "RDF"}:
        return None
    channel = next(iter(_children(root, "channel")), root)
    items = _children(channel, "item") or _children(root, "item")
    entries = [_rss_entry(item) for item in items]
    return _feed(
        _plain(_text(channel, "title")),
        _text(channel, "description"),
        entries,
        url,
        _language(channel),
        _text(channel, "lastBuildDate"),
    )


def is_json_feed(text: str) -> bool:
    """Return whether a text in JSON looks like a JSON Feed."""
    return _JSON_FEED in text[:5_000].replace("\\/", "/")


def read_json_feed(text: str, url: str) -> Extracted | None:
    """Convert a JSON Feed (https://www.jsonfeed.org/version/1.1/) to Markdown; None if it is not one."""
    try:
        feed = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(feed, dict) or not isinstance(items := feed.get("items"), list):
        return None
    entries = [_json_entry(item) for item in items if isinstance(item, dict)]
    return _feed(
        _string(feed, "title"), _escaped(_string(feed, "description")), entries, url, _string(feed, "language")
    )


def _feed(
    title: str, about: str, entries: Sequence[_FeedEntry], url: str, language: str, changed: str = ""
) -> Extracted:
    removed: Counter[str] = Counter()
    parts = [f"# {escape_text(title)}" if title else "", _summary(about, url, removed)]
    size = 0
    for entry in entries[:_MAX_ENTRIES]:
        label = escape_text(entry.title or "Untitled", in_label=True)
        address = "".join(_UNSAFE.get(letter, letter) for letter in _joined(url, entry.link)) if entry.link else ""
        parts.append(f"## [{label}]({address})" if address else f"## {label}")
        said = [part for part in (iso_date(entry.date), escape_text(entry.author)) if part]
        text = _summary(entry.body, (entry.link and _joined(url, entry.link)) or url, removed, MAX_CONTENT - size)
        size += len(text)
        parts += [" \u00b7 ".join(said), text]
    warnings = []
    if len(entries) > _MAX_ENTRIES:
        warnings.append(f"the feed has {len(entries):,} entries; the first {_MAX_ENTRIES} are shown")
    if removed["cut"]:
        warnings.append(f"entries shortened: {removed['cut']}")
    if removed["hidden"]:
        warnings.append(f"hidden text removed: {removed['hidden']}")
    return Extracted(
        title=title,
        content="\n\n".join(part for part in parts if part) if entries or title else "",
        modified=iso_date(changed),
        language=language or None,
        cut=len(entries) > _MAX_ENTRIES,
        kind="listing",
        warnings=tuple(warnings),
    )


def _summary(markup: str, url: str, removed: Counter[str], room: int = MAX_CONTENT) -> str:
    markup = markup.strip()
    if not markup:
        return ""
    if room <= 0:
        removed["cut"] += 1
        return ""
    markdown = fragment_to_markdown(markup[:_MAX_MARKUP], url, removed, below=2)
    short = truncate(markdown, room)
    removed["cut"] += len(short) < len(markdown) or len(markup) > _MAX_MARKUP
    return short


def _sitemap(root: etree._Element) -> Extracted:
    rows = []
    for entry in _limited(root):
        address = "".join(_UNSAFE.get(letter, letter) for letter in _text(entry, "loc"))
        if address.startswith(("http://", "https://")):
            changed = iso_date(_text(entry, "lastmod")) or ""
            rows.append(f"- {address}" + (f" ({changed})" if changed else ""))
    cut = len(rows) > _MAX_ADDRESSES
    return Extracted(
        title="Sitemap",
        content="\n".join(rows[:_MAX_ADDRESSES]),
        cut=cut,
        kind="listing",
        warnings=(f"the sitemap has {len(rows):,} addresses; the first {_MAX_ADDRESSES:,} are shown",) if cut else (),
    )


def _rss_entry(item: etree._Element) -> _FeedEntry:
    link = _text(item, "link")
    if not link:
        guid = next(iter(_children(item, "guid")), None)
        link = _own_text(guid) if guid is not None and guid.get("isPermaLink") != "false" else ""
    return _FeedEntry(
        title=_plain(_text(item, "title")),
        link=link if link.startswith(("http://", "https://", "/")) else "",
        date=_text(item, "pubDate") or _text(item, "date"),
        author=_plain(_text(item, "creator") or _text(item, "author")),
        body=_text(item, "encoded") or _text(item, "description"),
    )


def _atom_entry(entry: etree._Element) -> _FeedEntry:
    links = {link.get("rel", "alternate"): link for link in reversed(_children(entry, "link"))}
    link = links.get("alternate")
    bodies = (_markup(element) for name in ("content", "summary") for element in _children(entry, name))
    author = next(iter(_children(entry, "author")), None)
    title = next(iter(_children(entry, "title")), None)
    return _FeedEntry(
        title=_plain(_markup(title))
        if title is not None and title.get("type") in {"html", "xhtml"}
        else _text(entry, "title"),
        link=_joined(link.base or "", link.get("href", "")) if link is not None else "",
        date=_text(entry, "published") or _text(entry, "updated") or _text(entry, "issued"),
        author=_text(author, "name") if author is not None else "",
        body=next((body for body in bodies if body.strip()), ""),
    )


def _json_entry(item: dict[str, Any]) -> _FeedEntry:
    authors = item.get("authors")
    first = authors[0] if isinstance(authors, list) and authors else item.get("author")
    html, text = _string(item, "content_html"), _string(item, "content_text")
    return _FeedEntry(
        title=_string(item, "title"),
        link=_string(item, "url") or _string(item, "external_url"),
        date=_string(item, "date_published"),
        author=_string(first, "name") if isinstance(first, dict) else "",
        body=html or _escaped(text or _string(item, "summary")),
    )


def _joined(base: str, address: str) -> str:
    """Return an address relative to another; empty if it is none."""
    try:
        return urljoin(base, address)
    except ValueError:
        return ""


def _markup(element: etree._Element) -> str:
    """Return an Atom text construct or content as HTML (RFC 4287, 3.1 and 4.1.3); empty for binary content."""
    kind = element.get("type", "text").lower()
    if "/" in kind and not kind.startswith("text/") and not kind.endswith("xml"):
        return ""
    if kind == "xhtml":
        return "".join(etree.tostring(child, encoding="unicode", with_tail=True) for child in element)
    text = "".join(element.itertext())
    return text if "html" in kind else _escaped(text)


def _plain(markup: str) -> str:
    """Return a title, which often contains HTML, as one line of text."""
    if "<" in markup or "&" in markup:
        from turbohtml import parse

        markup = " ".join(parse(markup).strings)
    return " ".join(strip_controls(markup).split())


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _children(element: etree._Element, name: str) -> list[etree._Element]:
    return [child for child in _limited(element) if local_name(child) == name]


def _limited(element: etree._Element) -> Iterator[etree._Element]:
    for count, child in enumerate(element):
        if count >= MAX_ELEMENTS:
            return
        yield child


def _text(element: etree._Element, name: str) -> str:
    """Return the text of the first non-empty child with a name."""
    return next((text for child in _children(element, name) if (text := _own_text(child))), "")


def _own_text(element: etree._Element) -> str:
    return "".join(element.itertext()).strip()


def _language(element: etree._Element) -> str:
    return element.get("{http://www.w3.org/XML/1998/namespace}lang", "") or _text(element, "language")


def _string(value: dict[str, Any], name: str) -> str:
    text = value.get(name)
    return (
        " ".join(text.split())
        if isinstance(text, str) and name != "content_html"
        else text
        if isinstance(text, str)
        else ""
    )


def _without_declaration(text: str) -> str:
    """Remove the encoding declaration of decoded XML."""
    text = text.lstrip("\ufeff \t\r\n")
    return text.partition("?>")[2] if text.startswith("<?xml") and "?>" in text[:1_000] else text


def read_svg(text: str) -> Extracted | None:
    """Return the title, description and text of a drawing (SVG 2); None if it has none."""
    root = parse_xml(text.encode("utf-8", "replace"))
    if root is None or local_name(root) != "svg":
        return None
    title = ""
    lines: list[str] = []
    skipped: set[etree._Element] = set()
    removed = 0
    for element in islice(root.iter(), MAX_ELEMENTS):
        parent, name = element.getparent(), local_name(element)
        if not isinstance(element.tag, str):  # an entity, a comment
            continue
        if parent in skipped or name == "defs" or _is_unseen(element):
            skipped.add(element)
            removed += name in {"text", "tspan"} and parent not in skipped
        elif name in {"title", "desc", "text"} and (said := " ".join("".join(_seen(element)).split())):
            title = title or (said if name == "title" and parent is root else "")
            lines.append(said)
    embedded = sum(1 for element in islice(root.iter("{*}foreignObject"), MAX_ELEMENTS))
    warnings = ["only the text of the drawing was read"]
    if removed:
        warnings.append(f"hidden text removed: {removed}")
    if embedded:
        warnings.append(f"embedded HTML left out: {embedded}")
    content = "\n\n".join(escape_line(escape_text(line)) for line in lines)
    return Extracted(title=title, content=content, kind="document", warnings=tuple(warnings)) if content else None


def _is_unseen(element: etree._Element) -> bool:
    style = dict(part.partition(":")[::2] for part in "".join(element.get("style", "").lower().split()).split(";"))
    said = {
        name: style.get(name, element.get(name, "")) for name in ("display", "visibility", "opacity", "fill-opacity")
    }
    unseen = said["display"] == "none" or said["visibility"] in {"hidden", "collapse"}
    return unseen or any(re.fullmatch(r"0(?:\.0*)?%?", said[name]) for name in ("opacity", "fill-opacity"))


def _seen(element: etree._Element) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        if isinstance(child.tag, str) and not _is_unseen(child):
            yield from _seen(child)
        yield child.tail or ""
