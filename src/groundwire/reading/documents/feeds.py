"""Feeds (RSS 0.9 to 2.0, RDF, Atom) as a list of entries, and sitemaps as a list of URLs."""

from __future__ import annotations

import binascii
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import unescape
from itertools import islice
from typing import Final, Literal
from urllib.parse import urljoin

from lxml import etree

from groundwire.reading.documents.office_package import MAX_ELEMENTS, local_name, parse_xml
from groundwire.reading.documents.runs import TARGET
from groundwire.reading.extract import fragment_to_markdown
from groundwire.reading.extracted import MAX_CONTENT, Extracted
from groundwire.reading.markdown.escaping import escape_text
from groundwire.reading.metadata.dates import iso_date
from groundwire.reading.text.sanitize import removal_warning, strip_controls
from groundwire.reading.text.truncate import truncate

_BARE_AMPERSAND: Final = re.compile(
    r"<!\[CDATA\[.*?(?:\]\]>|\Z)|&(?!(?:#\d|#x[0-9a-f]|[a-z])\w{0,30};)", re.IGNORECASE | re.DOTALL
)
"""A character section, or an ampersand that begins no reference: error recovery would drop the word after it."""
_C1: Final = re.compile(r"[\x80-\x9f]|&#(?:1(?:2[89]|[345]\d)|x[89][0-9a-f]);", re.IGNORECASE)
"""Control characters, with which feeds mean those of windows-1252 as HTML does: `&#146;` is an apostrophe."""
_SITEMAPS: Final[Mapping[str, Literal["sitemap", "index"]]] = {"urlset": "sitemap", "sitemapindex": "index"}
_MAX_ENTRIES: Final = 200
_MAX_ADDRESSES: Final = 5_000
_MAX_MARKUP: Final = 200_000  # characters of an entry's HTML
_PREFIXES: Final[Mapping[str, str]] = {
    "http://purl.org/rss/1.0": "",
    "http://my.netscape.com/rdf/simple/0.9": "",
    "http://channel.netscape.com/rdf/simple/0.9": "",
    "http://backend.userland.com/rss2": "",
    "http://www.w3.org/2005/atom": "",
    "http://purl.org/atom/ns": "",
    "http://www.sitemaps.org/schemas/sitemap/0.9": "",
    "http://purl.org/rss/1.0/modules/content": "content",
    "http://purl.org/dc/elements/1.1": "dc",
    "http://purl.org/dc/terms": "dcterms",
    "http://search.yahoo.com/mrss": "media",
    "http://www.itunes.com/dtds/podcast-1.0.dtd": "itunes",
    "http://www.w3.org/1999/xhtml": "xhtml",
}
"""The usual prefixes of vocabularies, by namespace in lower case without its last sign; those of feeds have none."""
_ABOUT: Final = ("description", "subtitle", "tagline", "info", "dc:description", "itunes:summary", "itunes:subtitle")
_AUTHOR: Final = ("dc:creator", "dc:author", "author", "itunes:author", "managingEditor", "dc:publisher")
_BODY: Final = (
    "content:encoded", "xhtml:body", "xhtml:div", "body", "fullitem", "content", "description", "summary",
    "dc:description", "itunes:summary", "itunes:subtitle", "media:description",
)  # fmt: skip
"""The elements that may have the text of an entry, the fullest first."""
_CHANGE_DATE: Final = ("lastBuildDate", "updated", "modified", "dcterms:modified", "dc:date", "pubDate")
_DATE: Final = (
    "pubDate", "published", "issued", "dcterms:issued", "dc:date", "created", "dcterms:created", "updated", "modified",
    "dcterms:modified",
)  # fmt: skip
_TITLE: Final = ("title", "dc:title", "itunes:title", "media:title")
_MEDIA: Final = ("media:group", "media:content")  # elements that media elements of an entry may be in
_FILES: Final[Mapping[str, str]] = {"audio": "Audio", "video": "Video"}
_TAG_PREFIX: Final = re.compile(r"(</?)[A-Za-z][\w.-]{0,30}:(?=[A-Za-z])")
_MAX_AUTHORS: Final = 10
_MAX_FILES: Final = 5  # of an entry


@dataclass(frozen=True, slots=True)
class Listing:
    """What a sitemap, an index of sitemaps, or a feed lists."""

    kind: Literal["sitemap", "index", "feed"]
    """What lists it."""
    rows: tuple[tuple[str, str], ...]
    """The addresses, and the days of their last change or publication, empty if unknown."""


def read_listing(text: str, url: str) -> Listing | None:
    """Return the addresses that a sitemap or a feed in XML lists; None if the text is neither.

    Args:
        text: The XML.
        url: Its URL, for relative addresses.
    """
    if (root := _root(text)) is None:
        return None
    if (name := local_name(root)) in _SITEMAPS:
        return Listing(_SITEMAPS[name], tuple(_addresses(root)))
    entries = ((_joined(url, _link(item)), _date(item)) for item in _items(root))
    return Listing("feed", tuple(row for row in entries if row[0]))


def read_feed(text: str, url: str) -> Extracted | None:
    """Convert a feed or a sitemap to Markdown; None if the XML is neither.

    Args:
        text: The XML.
        url: Its URL, for relative links.
    """
    if (root := _root(text)) is None:
        return None
    if local_name(root) in _SITEMAPS:
        return _sitemap(root)
    channel, items = next(iter(_children(root, "channel")), root), _items(root)
    removed: Counter[str] = Counter()
    title, author, about = _title(channel), _author(channel), _first(channel, _ABOUT)
    parts = [f"# {escape_text(title)}" if title else "", _facts(escape_text(author), _address(url, _link(channel)))]
    parts.append(_summary(_markup(about) if about is not None else "", url, removed))
    size = 0
    for item in items[:_MAX_ENTRIES]:
        heading, *texts = _entry(item, url, removed, MAX_CONTENT - size)
        size += sum(map(len, texts))
        parts += [heading, *texts, *_files(item, url)]
    warnings = []
    if len(items) > _MAX_ENTRIES:
        warnings.append(f"the feed has {len(items):,} entries; the first {_MAX_ENTRIES} are shown")
    if removed["cut"]:
        warnings.append(f"entries shortened: {removed['cut']}")
    return Extracted(
        title=title,
        content="\n\n".join(part for part in parts if part),
        author=author or None,
        modified=iso_date(_text(channel, *_CHANGE_DATE)),
        language=_language(root) or _language(channel) or None,
        cut=len(items) > _MAX_ENTRIES,
        kind="listing",
        warnings=(*warnings, *removal_warning(removed["hidden"])),
    )


def _entry(item: etree._Element, url: str, removed: Counter[str], room: int) -> tuple[str, str, str]:
    """Return the heading of an entry, its day and author, and its text."""
    label, link = escape_text(_title(item) or "Untitled", in_label=True), _link(item)
    address = _address(url, link)
    body, base = _body(item)
    return (
        f"## [{label}]({address})" if address else f"## {label}",
        _facts(_date(item), escape_text(_author(item))),
        _summary(body, _joined(url, base or link) or url, removed, room),
    )


def _facts(*facts: str) -> str:
    return " \u00b7 ".join(filter(None, facts))


def _date(item: etree._Element) -> str:
    return iso_date(_text(item, *_DATE)) or ""


def _root(text: str) -> etree._Element | None:
    """Return the root of a feed or a sitemap; None for any other text."""
    head = text[:5_000].lower()
    if not any(mark in head for mark in ("<rss", "<feed", ":feed", "rdf", "<channel", "urlset", "sitemapindex")):
        return None
    mended = _BARE_AMPERSAND.sub(
        lambda match: match[0] if len(match[0]) > 1 else "&amp;", _C1.sub(_of_windows_1252, _without_declaration(text))
    )
    root = parse_xml(mended.encode("utf-8", "replace"))
    return root if root is not None and local_name(root) in {"rss", "RDF", "feed", *_SITEMAPS} else None


def _of_windows_1252(match: re.Match[str]) -> str:
    """Return the character that HTML has for a control character, or for a reference to one."""
    return unescape(match[0] if match[0][0] == "&" else f"&#{ord(match[0])};")


def _items(root: etree._Element) -> list[etree._Element]:
    """Return the entries of a feed."""
    channel = next(iter(_children(root, "channel")), root)
    return _children(channel, "item") or _children(root, "item") or _children(root, "entry")


def _summary(markup: str, url: str, removed: Counter[str], room: int = MAX_CONTENT) -> str:
    markup = _without_cdata(markup).strip()
    if not markup:
        return ""
    if room <= 0:
        removed["cut"] += 1
        return ""
    markdown = fragment_to_markdown(markup[:_MAX_MARKUP], url, removed, below=2)
    short = truncate(markdown, room)
    removed["cut"] += len(short) < len(markdown) or len(markup) > _MAX_MARKUP
    return short


def _addresses(root: etree._Element) -> Iterator[tuple[str, str]]:
    """Yield the addresses of a sitemap with their days."""
    for entry in islice(root, MAX_ELEMENTS):
        address = _text(entry, "loc").translate(TARGET)
        if address.startswith(("http://", "https://")):
            yield address, iso_date(_text(entry, "lastmod")) or ""


def _sitemap(root: etree._Element) -> Extracted:
    rows = [f"- {address}" + (f" ({changed})" if changed else "") for address, changed in _addresses(root)]
    cut = len(rows) > _MAX_ADDRESSES
    return Extracted(
        title="Sitemap",
        content="\n".join(rows[:_MAX_ADDRESSES]),
        cut=cut,
        kind="listing",
        warnings=(f"the sitemap has {len(rows):,} addresses; the first {_MAX_ADDRESSES:,} are shown",) if cut else (),
    )


def _body(item: etree._Element) -> tuple[str, str]:
    """Return the fullest text of an entry as HTML, and the base of its links if one is stated."""
    for place in (item, *_media(item)):
        for name in _BODY:
            for child in _children(place, name):
                if (markup := _markup(child)).strip():
                    return markup, child.base or ""
    return "", ""


def _title(place: etree._Element) -> str:
    title = _first(place, _TITLE)
    if title is None:
        return ""
    return _plain(_markup(title) if title.get("type") or title.get("mode") or len(title) else _own_text(title))


def _link(place: etree._Element) -> str:
    """Return the address of the page that an entry or a feed is about."""
    links = [link for link in _children(place, "link") if link.get("rel", "alternate") == "alternate"]
    for link in links:
        if address := link.get("href", "").strip() or _own_text(link):
            address = _joined(link.base or "", address)
            return address if address.startswith(("http://", "https://")) or ":" not in address[:20] else ""
    guid = next(iter(_children(place, "guid")), None)
    address = _own_text(guid) if guid is not None and guid.get("isPermaLink") != "false" else ""
    return address if address.startswith(("http://", "https://", "/")) else ""


def _author(place: etree._Element) -> str:
    authors = next((children for name in _AUTHOR if (children := _children(place, name))), [])
    names = (_text(item, "name", "dc:title") or ("" if len(item) else _plain(_own_text(item))) for item in authors)
    return ", ".join(dict.fromkeys(filter(None, islice(names, _MAX_AUTHORS))))


def _media(item: etree._Element) -> Iterator[etree._Element]:
    """Yield the elements with the media of an entry (Media RSS)."""
    for name in _MEDIA:
        for place in _children(item, name):
            yield place
            yield from _children(place, "media:content") if name == "media:group" else ()


def _files(item: etree._Element, url: str) -> Iterator[str]:
    """Yield a list of an entry's recordings and attached files, if it has any."""
    files = [(place.get("type", ""), place.get("url", "")) for place in _children(item, "enclosure")]
    files += [
        (link.get("type", ""), _joined(link.base or "", link.get("href", "")))
        for link in _children(item, "link")
        if link.get("rel") == "enclosure"
    ]
    media = [(place.get("type") or place.get("medium", ""), place.get("url", "")) for place in _media(item)]
    files += [(kind, address) for kind, address in media if kind.partition("/")[0] in _FILES]
    links = [(_FILES.get(kind.partition("/")[0], "File"), _address(url, link)) for kind, link in dict.fromkeys(files)]
    yield "\n".join(f"- {label}: {link}" for label, link in links[:_MAX_FILES] if link)


def _address(url: str, link: str) -> str:
    """Return an address as the target of a Markdown link."""
    return _joined(url, link).translate(TARGET) if link else ""


def _joined(base: str, address: str) -> str:
    """Return an address relative to another; empty if it is none."""
    try:
        return urljoin(base, address)
    except ValueError:
        return ""


def _markup(element: etree._Element) -> str:
    """Return the text of an element as HTML (RFC 4287, 3.1 and 4.1.3); empty for binary content.

    What RSS has is HTML whatever it says; what Atom has is plain text unless its type says otherwise.
    """
    kind = element.get("type", "").lower()
    if element.get("mode") == "base64" or ("/" in kind and not kind.startswith("text/") and not kind.endswith("xml")):
        try:  # Atom 0.3, or a file in Atom 1.0
            text = binascii.a2b_base64("".join(element.itertext()).encode("ascii", "replace")).decode()
        except ValueError:
            return ""
        return text if "ml" in kind else _escaped(text)
    if len(element) and "html" not in kind.replace("xhtml", ""):
        inside = (etree.tostring(child, encoding="unicode", with_tail=True) for child in element)
        return _escaped(element.text or "") + _TAG_PREFIX.sub(r"\1", "".join(inside))
    text = "".join(element.itertext())
    if "html" in kind or element.get("mode") == "escaped" or (not kind and not _is_atom(element)):
        return text
    return _escaped(text).replace("\n", "<br>") if _qualified(element).startswith("media:") else _escaped(text)


def _is_atom(element: etree._Element) -> bool:
    """Return whether an element without a type is plain text: one of Atom or Media RSS."""
    parent = element.getparent()
    return _qualified(element).startswith("media:") or (parent is not None and local_name(parent) in {"feed", "entry"})


def _plain(markup: str) -> str:
    """Return a title, which often contains HTML, as one line of text."""
    if "<" in markup or "&" in markup:
        from turbohtml import parse

        document = parse(_without_cdata(markup))
        for unseen in document.find_all(["script", "style", "template"]):
            unseen.decompose()
        markup = " ".join(document.strings)
    return " ".join(strip_controls(markup).split())


def _without_cdata(markup: str) -> str:
    """Return markup without the marks of a CDATA section that was escaped, which HTML takes for a comment."""
    return markup.replace("<![CDATA[", "").replace("]]>", "") if "<![CDATA[" in markup else markup


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _qualified(element: etree._Element) -> str:
    """Return an element's name with the usual prefix of its vocabulary: `title`, `media:title`.

    An element of another vocabulary never stands for one of the feed's own.
    """
    uri, _, name = element.tag.rpartition("}") if isinstance(element.tag, str) else ("", "", "")
    prefix = _PREFIXES.get(uri[1:].lower().rstrip("/#")) if uri else ""
    prefix = element.prefix or "" if prefix is None else prefix
    return f"{prefix}:{name}" if prefix else name


def _children(element: etree._Element, name: str) -> list[etree._Element]:
    return [child for child in islice(element, MAX_ELEMENTS) if _qualified(child) == name]


def _first(element: etree._Element, names: Sequence[str]) -> etree._Element | None:
    """Return the first non-empty child with the first of the names that one has."""
    children: dict[str, etree._Element] = {}
    for child in islice(element, MAX_ELEMENTS):
        if (name := _qualified(child)) in names and name not in children and (len(child) or _own_text(child)):
            children[name] = child
    return next((children[name] for name in names if name in children), None)


def _text(element: etree._Element, *names: str) -> str:
    """Return the text of the first non-empty child with the first of the names that one has."""
    child = _first(element, names)
    return _own_text(child) if child is not None else ""


def _own_text(element: etree._Element) -> str:
    return "".join(element.itertext()).strip()


def _language(element: etree._Element) -> str:
    return element.get("{http://www.w3.org/XML/1998/namespace}lang", "") or _text(element, "language", "dc:language")


def _without_declaration(text: str) -> str:
    """Remove the encoding declaration of decoded XML."""
    text = text.lstrip("\ufeff \t\r\n")
    return text.partition("?>")[2] if text.startswith("<?xml") and "?>" in text[:1_000] else text
