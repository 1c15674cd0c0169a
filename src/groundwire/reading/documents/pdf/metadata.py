"""Metadata of a PDF: title, author, date, language; and its link targets."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

from lxml import etree

from groundwire.reading.documents.office_package import parse_xml
from groundwire.reading.documents.pdf.pdfium import Pdf, PdfPage
from groundwire.reading.documents.pdf.words import Word
from groundwire.reading.metadata.dates import iso_date

__all__ = ["Details", "add_links", "read_details"]

_MAX_LINKS: Final = 500  # links per page
_MAX_URL: Final = 2_000  # bytes
_MAX_PACKET: Final = 1_000_000  # bytes
_WEB: Final = re.compile(r"https?://[^\s<>\"]+\Z", re.IGNORECASE)
_LANGUAGE: Final = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}\Z")
_DATE: Final = re.compile(r"(?:D:)?(\d{4})(\d{2})?(\d{2})?")
_NO_TITLE: Final = re.compile(
    r"untitled\b.*|(?:microsoft (?:word|powerpoint|excel)\s*-.*)|document\s*\d*|slide\s*\d*|title|\W*"
    r"|[^\s]+\.(?:docx?|dvi|tex|pdf|indd|qxd|pptx?|xlsx?|odt|rtf|txt|html?|ps|eps|cdr|ai)",
    re.IGNORECASE,
)
_NOBODY: Final = re.compile(r"\W*(?:anonymous|unknown|user|admin(?:istrator)?|unspecified|author)?\W*", re.IGNORECASE)
_DC: Final = "{http://purl.org/dc/elements/1.1/}"
_PRISM: Final = "publicationDate"


@dataclass(frozen=True, slots=True)
class Details:
    """Metadata of a file."""

    title: str = ""
    author: str | None = None
    published: str | None = None
    language: str | None = None


def read_details(pdf: Pdf, body: bytes) -> Details:
    """Read the metadata of a file.

    The date is that of publication in the XMP metadata (`prism:publicationDate`, `dc:date`) if present, else the
    creation date.
    """
    info = pdf.document.get_metadata_dict(skip_empty=True)
    packet = _packet(body)
    title = info.get("Title") or _first(packet, f"{_DC}title")
    author = info.get("Author") or _first(packet, f"{_DC}creator")
    said = _first(packet, _PRISM) or _first(packet, f"{_DC}date")
    published = iso_date(said[:10]) if said else None
    return Details(
        title="" if _NO_TITLE.fullmatch(title.strip()) else title.strip(),
        author=None if _NOBODY.fullmatch(author.strip()) else author.strip(),
        published=published or _day(info.get("CreationDate", "")),
        language=_language(pdf),
    )


def add_links(page: PdfPage, words: Sequence[Word]) -> None:
    """Set the link targets of the words of a page, in sheet coordinates."""
    raw, document = page.pdf.raw, page.pdf.document
    position = ctypes.c_int(0)
    link = raw.FPDF_LINK()
    box = raw.FS_RECTF()
    for _ in range(_MAX_LINKS):
        if not raw.FPDFLink_Enumerate(page.handle, position, link):
            return
        address = _address(raw, document, link)
        if not address or not raw.FPDFLink_GetAnnotRect(link, box):
            continue
        left, right = min(box.left, box.right), max(box.left, box.right)
        bottom, top = min(box.bottom, box.top), max(box.bottom, box.top)
        for word in words:
            if left <= (word.x0 + word.x1) / 2 <= right and bottom <= (word.y0 + word.y1) / 2 <= top:
                word.link = address


def _address(raw: Any, document: Any, link: Any) -> str:
    action = raw.FPDFLink_GetAction(link)
    if not action:
        return ""
    buffer = ctypes.create_string_buffer(_MAX_URL)
    length = raw.FPDFAction_GetURIPath(document, action, buffer, _MAX_URL)
    if not 1 < length <= _MAX_URL:
        return ""
    address = buffer.raw[: length - 1].decode("utf-8", "replace").strip()
    return address if _WEB.match(address) else ""


def _language(pdf: Pdf) -> str | None:
    letters = (ctypes.c_ushort * 50)()
    length = pdf.raw.FPDFCatalog_GetLanguage(pdf.document, letters, 100)  # bytes, including the terminating zero
    language = "".join(map(chr, letters[: max(0, min(length // 2, 50) - 1)]))
    return language if _LANGUAGE.match(language) else None


def _day(value: str) -> str | None:
    """Return the date of a PDF date string (ISO 32000-1, 7.9.4)."""
    match = _DATE.match(value)
    if match is None:
        return None
    try:
        day = date(int(match[1]), int(match[2] or 1), int(match[3] or 1))
    except ValueError:
        return None
    return iso_date(day.isoformat())


def _packet(body: bytes) -> etree._Element | None:
    """Return the file's last uncompressed XMP packet."""
    end = body.rfind(b"</x:xmpmeta>")
    start = body.rfind(b"<x:xmpmeta", max(0, end - _MAX_PACKET), end) if end > 0 else -1
    return parse_xml(body[start : end + len(b"</x:xmpmeta>")]) if start >= 0 else None


def _first(packet: etree._Element | None, name: str) -> str:
    """Return the first value of a property, written as an element or as an attribute."""
    if packet is None:
        return ""
    for element in packet.iter():
        if not isinstance(element.tag, str):
            continue
        if element.tag == name or element.tag.endswith("}" + name):
            return " ".join("".join(element.itertext()).split())
        for key, value in element.items():
            if key == name or key.endswith("}" + name):
                return str(value).strip()
    return ""
