"""The engine that finds a page's main content: trafilatura, and what it needs around it."""

from __future__ import annotations

import logging
import re
import unicodedata
from typing import TYPE_CHECKING, Any, Final

from groundwire.reading.clean import clean
from groundwire.reading.extracted import Extracted
from groundwire.reading.markup import web_address

if TYPE_CHECKING:
    from lxml.html import HtmlElement

__all__ = ["main_content"]

_MAX_ADDRESSES: Final = 1_000_000  # characters in all; a relative link of one character may become one of 2,000
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})*")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def main_content(markup: str, url: str) -> Extracted:
    """Return the main content of a page, empty when there is none to be told apart.

    Args:
        markup: The page's HTML; `extract` sees to it that it is of a size that the engine can take.
        url: The page's address.

    Raises:
        Exception: anything; the engine is made of heuristics, and so are its failures.
    """
    for name in ("trafilatura", "htmldate", "courlan", "justext"):
        if not (logger := logging.getLogger(name)).handlers:
            logger.addHandler(logging.NullHandler())  # their warnings would go to standard error
    from trafilatura import bare_extraction  # takes a second
    from trafilatura.settings import Document, Extractor
    from trafilatura.xml import xmltotxt

    tree = _parse(markup)
    if tree is None:
        return Extracted()
    language = _language(tree)
    _resolve_links(tree, url)
    dates: dict[str, Any] = {"original_date": True, "extensive_search": False}  # a guessed date is worse than none
    options = Extractor(
        output_format="markdown",
        comments=False,
        links=True,
        url=url,
        with_metadata=True,
        date_params=dates,
    )
    options.min_output_size = 0
    page = bare_extraction(tree, options=options)
    if not isinstance(page, Document):
        return Extracted(language=language)
    content = clean(unicodedata.normalize("NFC", xmltotxt(page.body, include_formatting=True)))
    return Extracted(
        title=clean(page.title or ""),
        content=content,
        published=page.date if page.date and _DATE.fullmatch(page.date) else None,
        language=language,
        author=clean(page.author) or None if page.author else None,
        site=clean(page.sitename) or None if page.sitename else None,
    )


def _parse(markup: str) -> HtmlElement | None:
    """Return the tree of a page, or None for one nested deeper than 255 elements, where the parser stops reading."""
    from lxml import etree
    from lxml.html import HTMLParser, document_fromstring

    parser = HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, collect_ids=False)
    tree = document_fromstring(markup.encode("utf-8", "replace"), parser=parser)
    if any(entry.type == etree.ErrorTypes.ERR_RESOURCE_LIMIT for entry in parser.error_log):
        return None
    return tree


def _language(tree: HtmlElement) -> str | None:
    """Return the language that a page declares for itself."""
    said = [tree.get("lang"), tree.get("{http://www.w3.org/XML/1998/namespace}lang"), tree.get("xml:lang")]
    for meta in tree.iter("meta"):
        names = {(meta.get(key) or "").lower() for key in ("http-equiv", "name", "property")}
        if names & {"content-language", "language", "og:locale", "dc.language"}:
            said.append(meta.get("content"))
    for value in said:
        tag = (value or "").strip()
        if len(tag) <= 35 and _LANGUAGE.fullmatch(tag):
            return tag.replace("_", "-")
    return None


def _resolve_links(tree: HtmlElement, url: str) -> None:
    """Make the links absolute, and drop the targets that are not addresses of web pages."""
    base = tree.find(".//base[@href]")
    room = _MAX_ADDRESSES
    start = url if base is None else web_address(url, base.get("href") or "") or url
    for link in tree.iter("a"):
        href = link.get("href")
        if href is None:
            continue
        if room > 0 and (target := web_address(start, href)):
            link.set("href", target)
            room -= len(target)
        else:
            del link.attrib["href"]
