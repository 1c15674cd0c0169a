"""The content type of a body: from its header, unless its first bytes contradict it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from groundwire.reading.encoding.detect import utf16_without_mark
from groundwire.reading.encoding.file_types import (
    DESCRIPTIONS,
    TYPES,
    KindName,
    archive_kind,
    kind_of_address,
    language_of,
)

_SIGNATURES: Final[tuple[tuple[re.Pattern[bytes], KindName, str], ...]] = (
    (re.compile(rb"PK(?:\x03\x04|\x05\x06)"), "archive", ""),
    (re.compile(rb"\x1f\x8b\x08"), "archive", "a gzip archive"),
    (re.compile(rb".{257}ustar", re.DOTALL), "binary", "a tar archive"),
    (re.compile(rb"\{\\rtf"), "rtf", ""),
    (re.compile(rb"%!PS"), "binary", "a PostScript document"),
    (
        re.compile(rb"\x89PNG\r\n\x1a\n|\xff\xd8\xff|GIF8|II\*\0|MM\0\*|RIFF.{4}WEBP", re.DOTALL),
        "binary",
        "an image",
    ),
)
"""First bytes, the kind that they show, and its description where it is more precise."""
_UNSURE_TYPES: Final = frozenset(
    {"", "application/octet-stream", "binary/octet-stream", "application/unknown", "unknown/unknown", "*/*"}
)
_NAMES: Final[Mapping[str, str]] = {
    "image": "an image",
    "audio": "a recording",
    "video": "a video",
    "font": "a font",
    "model": "a 3D model",
}
_SNIFF_BYTES: Final = 1_024  # bytes; the MIME Sniffing Standard uses 1,445
_HTML = re.compile(
    rb"(?:<!--(?:(?!-->).)*-->\s*|<\?xml(?:(?!\?>).)*\?>\s*)*"
    rb"<(?:!doctype\s+html|html|head|body|title|meta|link|script|style|div|table|main|article|section|header|nav|h[1-6]|p|a|br)[\s/>]",
    re.IGNORECASE | re.DOTALL,
)
_JSON = re.compile(rb"""\{\s*(?:"|\})|\[\s*(?:[\[{"\]\d-]|true|false|null)""")
_TYPE = re.compile(r"[a-z0-9!#$&^_.+*-]+/[a-z0-9!#$&^_.+*-]+")
_PDF = re.compile(rb"(?:\xef\xbb\xbf)?[\s\0]{0,64}%PDF-")
_XML = re.compile(rb"<\?xml\s|<(?:rss|feed|rdf:RDF|urlset|sitemapindex|svg)[\s>]")
_PROLOG: Final = rb"(?:<!--(?:(?!-->).)*-->\s*|<[?](?:(?![?]>).)*[?]>\s*|<!DOCTYPE\s[^<>\[]*>\s*)*"
_FEED = re.compile(_PROLOG + rb"<(?:rss|feed|rdf:RDF)[\s>]", re.DOTALL)
_OBJECT = re.compile(rb"""\{\s*"[^"\n]{0,200}"\s*:|\[\s*\{\s*"[^"\n]{0,200}"\s*:""")
_ROW = re.compile(rb"[^\n<]+[\t;,]")
_OLE: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ARCHIVES: Final = frozenset({"word", "slides", "sheet", "opendocument", "epub"})
_TEXTS: Final[frozenset[KindName | None]] = frozenset(
    {"text", "markdown", "json", "source", "delimited", "notebook", "xml", "html", "mail", "subtitles"}
)
_CONTROLS: Final = bytes(sorted(set(range(0x20)).difference(b"\t\n\x0b\x0c\r\x1b\x08")))
"""The control characters that no text has."""


@dataclass(frozen=True, slots=True)
class Kind:
    """The kind of a body."""

    kind: KindName
    """The converter to use."""
    description: str
    """Its description in a sentence, with its article: `an image`."""
    remark: str = ""
    """A phrase if the header states another type; otherwise empty."""


def media_type(content_type: str, body: bytes, url: str = "") -> Kind:
    """Detect the kind of `body`.

    Args:
        content_type: The `Content-Type` header as received, possibly invalid.
        body: The beginning of the body, at least 1,024 bytes if it is that long.
        url: Its URL; the extension counts if header and bytes show only that it is text.

    Returns:
        The kind. Known signatures take precedence over the header; without a useful header, the bytes decide.
    """
    match = _TYPE.match(content_type.strip().lower()[:200])
    declared = match[0] if match else ""
    announced = _kind_of_type(declared)
    kind = _by_signature(body, announced, url) or _by_header(body[:_SNIFF_BYTES], declared, announced, url)
    differs = announced is not None and kind.kind != announced and not {kind.kind, announced} <= _TEXTS
    if not differs or declared in _UNSURE_TYPES:
        return kind
    return Kind(kind.kind, kind.description, f"the server declares {declared}, but it is {kind.description}")


def _kind_of_type(declared: str) -> KindName | None:
    """Return the kind for a content type; None if it is ambiguous."""
    kind = TYPES.get(declared)
    if kind is None and language_of(declared, ""):
        return "source"
    if kind is None and declared.endswith("+json"):
        return "json"
    return kind


def _by_signature(body: bytes, announced: KindName | None, url: str) -> Kind | None:
    """Return the kind proved by the first bytes."""
    if _PDF.match(body[:_SNIFF_BYTES]) or (
        "pdf" in {announced, kind_of_address(url)} and b"%PDF-" in body[:_SNIFF_BYTES]
    ):
        return Kind("pdf", DESCRIPTIONS["pdf"])
    if body.startswith(b"PK\x03\x04") and (kind := archive_kind(body[:4_096], announced, url)):
        return Kind(kind, DESCRIPTIONS[kind])
    if body.startswith(_OLE):
        if "sheet" in {announced, kind_of_address(url)}:
            return Kind("sheet", DESCRIPTIONS["sheet"])
        return Kind("binary", "an old or encrypted Office document or an Outlook message")
    shown = ((kind, what) for pattern, kind, what in _SIGNATURES if pattern.match(body))
    return next((Kind(kind, what or DESCRIPTIONS[kind]) for kind, what in shown), None)


def _by_header(head: bytes, declared: str, announced: KindName | None, url: str) -> Kind:
    """Return the kind of a body without a signature, from its header or else from its bytes."""
    top, _, sub = declared.partition("/")
    is_unsure = declared in _UNSURE_TYPES
    kind = announced
    if kind in _ARCHIVES or kind == "pdf":
        kind = None  # it does not have the signature of that type
        if announced == "sheet" and not _is_binary(head) and _ROW.match(_plain(head)):
            return Kind("delimited", DESCRIPTIONS["delimited"])
        if not _is_binary(head) and not _HTML.match(_plain(head)):
            return Kind("binary", f"a damaged file of type {declared}")
    elif kind is None and (top in _NAMES or (top == "application" and not sub.endswith("xml") and not is_unsure)):
        if top in _NAMES or not head or _is_binary(head):
            return Kind("binary", _NAMES.get(top) or f"a file of type {declared}")
        declared = ""  # of a program such as BibTeX, or `application/force-download`, but a text
    if kind == "binary":
        return Kind("binary", _NAMES.get(top, DESCRIPTIONS["binary"]))
    if _is_binary(head):
        return Kind("binary", DESCRIPTIONS["binary"])
    if kind is None:
        kind = _sniff(head, declared, url)
    elif kind == "html":
        plain = _plain(head)
        if _FEED.match(plain):  # as in the MIME Sniffing Standard, 7.3
            kind = "xml"
        elif _OBJECT.match(plain):
            kind = "json"
    return Kind(kind, DESCRIPTIONS[kind])


def _is_binary(head: bytes) -> bool:
    """Whether the bytes cannot be text in any encoding: too many control characters, and not UTF-16."""
    if _is_utf16(head):
        return False
    return len(head) - len(head.translate(None, _CONTROLS)) > len(head) // 50


def _is_utf16(head: bytes) -> bool:
    return head.startswith((b"\xff\xfe", b"\xfe\xff")) or (b"\0" in head and utf16_without_mark(head) is not None)


def _plain(head: bytes) -> bytes:
    """Return the first bytes of a text as ASCII."""
    plain = head.removeprefix(b"\xef\xbb\xbf")
    if _is_utf16(head):
        plain = head.replace(b"\0", b"").lstrip(b"\xff\xfe")
    return plain.lstrip()


def _sniff(head: bytes, declared: str, url: str) -> KindName:
    plain = _plain(head)
    is_unsure = declared in _UNSURE_TYPES
    if (is_unsure or declared.startswith(("text/", "multipart/"))) and _FEED.match(plain):
        return "xml"
    if declared.startswith("text/") and not declared.endswith("xml"):
        return _by_address(url)  # browsers show the source of a page with this type
    if (is_unsure or declared.endswith("xml") or declared in TYPES) and _HTML.match(plain):
        return "html"
    if declared.endswith("xml") or (is_unsure and _XML.match(plain)):
        return "xml"
    if is_unsure and _JSON.match(plain):
        return "notebook" if kind_of_address(url) == "notebook" else "json"
    return _by_address(url) if is_unsure else "text"


def _by_address(url: str) -> KindName:
    kind = kind_of_address(url)
    if kind is not None and kind in _TEXTS:
        return kind
    return "source" if language_of("", url) else "text"
