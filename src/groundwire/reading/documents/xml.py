"""XML from strangers: parsed without its document type, without entities of its own, and within bounds."""

from __future__ import annotations

import re
from typing import Final

from lxml import etree

__all__ = ["MAX_ELEMENTS", "local_name", "parse_xml"]

MAX_ELEMENTS: Final = 200_000
"""Elements of one document that are looked at."""
_DOCTYPE: Final = re.compile(rb"<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>", re.DOTALL | re.IGNORECASE)


def parse_xml(body: bytes) -> etree._Element | None:
    """Return the root of an XML document, as much of it as makes sense; None when it is none.

    Entities that the document declares stay unexpanded, nothing is loaded from anywhere, and nothing makes this raise.

    Args:
        body: The document; its own declaration says what encoding it is in.
    """
    parser = etree.XMLParser(
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        dtd_validation=False,
        huge_tree=False,
        recover=True,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        return etree.fromstring(_without_doctype(body), parser)
    except (etree.XMLSyntaxError, ValueError, LookupError):
        return None


def local_name(element: etree._Element) -> str:
    """Return an element's name without its namespace or undeclared prefix; empty for what is no element."""
    tag = element.tag
    return tag.rpartition("}")[2].rpartition(":")[2] if isinstance(tag, str) else ""


def _without_doctype(body: bytes) -> bytes:
    return _DOCTYPE.sub(b"", body, count=1) if b"<!DOCTYPE" in body[:100_000].upper() else body
