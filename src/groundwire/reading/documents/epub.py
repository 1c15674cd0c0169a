"""EPUB books (EPUB 3.3) as Markdown: the chapters in spine order, converted like web pages."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from typing import Final
from urllib.parse import unquote

from lxml import etree

from groundwire.reading.documents.office_package import SafeZip, local_name, read_properties
from groundwire.reading.encoding.decode import decode
from groundwire.reading.extract import fragment_to_markdown
from groundwire.reading.extracted import MAX_CONTENT, Extracted, UnreadableDocument

__all__ = ["read_epub"]

_MAX_CHAPTERS: Final = 3_000
_PAGES: Final = frozenset({"application/xhtml+xml", "text/html", "application/x-dtbook+xml"})
_SELF_CLOSED: Final = re.compile(
    r"<(a|b|div|em|i|p|script|span|strong|style|sub|sup|td|th|title)(\s[^<>]*)?/>", re.IGNORECASE
)
"""Elements that may be self-closed in XML; an HTML parser would leave them open."""


def read_epub(body: bytes, url: str) -> Extracted:
    """Convert a book to Markdown.

    Args:
        body: The whole file.
        url: Its URL.

    Raises:
        UnreadableDocument: it is damaged, protected, or over the size limit.
    """
    archive = SafeZip(body, "an EPUB book")
    package = _package(archive)
    root = archive.xml(package)
    if root is None:
        raise archive.broken()
    removed: Counter[str] = Counter()
    parts: list[str] = []
    length = 0
    chapters = _chapters(root, posixpath.dirname(package))
    protected = _protected(archive)
    if chapters and all(chapter in protected for chapter in chapters):
        raise UnreadableDocument("protected", "The EPUB book is protected against copying and cannot be read.")
    for chapter in chapters[:_MAX_CHAPTERS]:
        if length > MAX_CONTENT:
            break
        text = decode(archive.read(chapter), "application/xhtml+xml").text
        markdown = fragment_to_markdown(_SELF_CLOSED.sub(r"<\1\2></\1>", text), url, removed, web_links_only=True)
        if markdown:
            parts.append(markdown)
            length += len(markdown)
    said = read_properties(root)
    content = "\n\n".join(parts)
    return Extracted(
        title=said.title,
        content=content[:MAX_CONTENT],
        author=said.author,
        published=said.published,
        language=said.language,
        cut=length > MAX_CONTENT or len(chapters) > _MAX_CHAPTERS,
        kind="document",
        warnings=(f"hidden text removed: {removed['hidden']}",) if removed["hidden"] else (),
    )


def _package(archive: SafeZip) -> str:
    root = archive.xml("META-INF/container.xml")
    for element in root.iter() if root is not None else ():
        if local_name(element) == "rootfile" and element.get("full-path"):
            return str(element.get("full-path"))
    raise archive.broken()


def _chapters(root: etree._Element, folder: str) -> list[str]:
    """Return the names of the chapters' files, in order."""
    files: dict[str, str] = {}
    for item in root.iter():
        if local_name(item) == "item" and item.get("media-type", "") in _PAGES:
            name = unquote(item.get("href", "").partition("#")[0])
            files[item.get("id", "")] = posixpath.normpath(posixpath.join(folder, name))
    return [
        files[item.get("idref", "")]
        for item in root.iter()
        if local_name(item) == "itemref" and item.get("idref", "") in files and item.get("linear") != "no"
    ]


def _protected(archive: SafeZip) -> set[str]:
    root = archive.xml("META-INF/encryption.xml")
    return {
        unquote(element.get("URI", ""))
        for element in (root.iter() if root is not None else ())
        if local_name(element) == "CipherReference"
    }
