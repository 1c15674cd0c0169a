"""What kind of content a body is: its header says so, unless its first bytes say otherwise."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from groundwire.reading.detect import utf16_without_mark

__all__ = ["Kind", "KindName", "media_type"]

KindName = Literal["html", "markdown", "text", "json", "binary"]
"""The kinds that are told apart; everything that has no text to read is `binary`."""

_SIGNATURES: Final[tuple[tuple[int, bytes, str], ...]] = (
    (0, b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (0, b"\xff\xd8\xff", "a JPEG image"),
    (0, b"GIF87a", "a GIF image"),
    (0, b"GIF89a", "a GIF image"),
    (8, b"WEBP", "a WebP image"),
    (8, b"WAVE", "a WAV recording"),
    (8, b"AVI ", "an AVI video"),
    (0, b"%PDF-", "a PDF document"),
    (0, b"PK\x03\x04", "a ZIP archive or an Office document"),
    (0, b"PK\x05\x06", "a ZIP archive"),
    (0, b"\x1f\x8b\x08", "a gzip archive"),
    (0, b"BZh", "a bzip2 archive"),
    (0, b"\xfd7zXZ\x00", "an xz archive"),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (0, b"Rar!\x1a\x07", "a RAR archive"),
    (0, b"\x28\xb5\x2f\xfd", "a Zstandard archive"),
    (257, b"ustar", "a tar archive"),
    (4, b"ftypavif", "an AVIF image"),
    (4, b"ftypheic", "a HEIC image"),
    (4, b"ftyp", "an MP4 video"),
    (0, b"\x1aE\xdf\xa3", "a WebM or Matroska video"),
    (0, b"OggS", "an Ogg recording"),
    (0, b"fLaC", "a FLAC recording"),
    (0, b"ID3", "an MP3 recording"),
    (0, b"\x7fELF", "a program"),
    (0, b"MZ\x90\x00", "a program"),
    (0, b"\xca\xfe\xba\xbe", "a program"),
    (0, b"\xcf\xfa\xed\xfe", "a program"),
    (0, b"\x00asm", "a WebAssembly program"),
    (0, b"wOFF", "a font"),
    (0, b"wOF2", "a font"),
    (0, b"\x00\x01\x00\x00\x00", "a font"),
    (0, b"OTTO\x00", "a font"),
    (0, b"\x00\x00\x01\x00", "an icon"),
    (0, b"II*\x00", "a TIFF image"),
    (0, b"MM\x00*", "a TIFF image"),
    (0, b"SQLite format 3\x00", "a SQLite database"),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Office document"),
    (0, b"{\\rtf", "an RTF document"),
    (0, b"%!PS", "a PostScript document"),
)
"""Offset, bytes and description, after the WHATWG MIME Sniffing Standard and the formats' own specifications."""

_TYPES: Final[dict[str, KindName]] = {
    "text/html": "html",
    "application/xhtml+xml": "html",
    "application/xhtml": "html",
    "text/markdown": "markdown",
    "text/x-markdown": "markdown",
    "application/markdown": "markdown",
    "application/json": "json",
    "text/json": "json",
    "application/x-json": "json",
    "application/x-ndjson": "text",
    "application/jsonl": "text",
    "application/javascript": "text",
    "application/x-javascript": "text",
    "application/ecmascript": "text",
    "application/yaml": "text",
    "application/x-yaml": "text",
    "application/toml": "text",
    "application/sql": "text",
    "application/x-sh": "text",
    "application/x-httpd-php": "text",
    "application/x-tex": "text",
    "application/x-latex": "text",
    "message/rfc822": "text",
    "image/svg+xml": "binary",
}
_UNSURE: Final = frozenset(
    {"", "application/octet-stream", "binary/octet-stream", "application/unknown", "unknown/unknown", "*/*"}
)
_NAMES: Final = {
    "image": "an image",
    "audio": "a recording",
    "video": "a video",
    "font": "a font",
    "model": "a 3D model",
}
_DESCRIPTIONS: Final[dict[KindName, str]] = {
    "html": "an HTML page",
    "markdown": "a Markdown document",
    "text": "a text",
    "json": "a JSON document",
    "binary": "a binary file",
}
_SNIFFED: Final = 1_024  # bytes; the MIME Sniffing Standard looks at 1,445
_HTML = re.compile(
    rb"(?:<!--(?:(?!-->).)*-->\s*|<\?xml(?:(?!\?>).)*\?>\s*)*"
    rb"<(?:!doctype\s+html|html|head|body|title|meta|link|script|style|div|table|main|article|section|header|nav|h[1-6]|p|a|br)[\s/>]",
    re.IGNORECASE | re.DOTALL,
)
_JSON = re.compile(rb"""\{\s*(?:"|\})|\[\s*(?:[\[{"\]\d-]|true|false|null)""")
_TYPE = re.compile(r"[a-z0-9!#$&^_.+*-]+/[a-z0-9!#$&^_.+*-]+")
_TEXT_CONTROLS: Final = frozenset(b"\t\n\x0b\x0c\r\x1b\x08")


@dataclass(frozen=True, slots=True)
class Kind:
    """What a body is."""

    kind: KindName
    """How it is read."""
    description: str
    """What to call it in a sentence, with its article: `a PNG image`."""


def media_type(content_type: str, body: bytes) -> Kind:
    """Return what kind of content `body` is.

    Args:
        content_type: The `Content-Type` header as it came; anything may stand in it.
        body: The beginning of the body, at least 1,024 bytes of it if it has as many.

    Returns:
        The kind. Known signatures win over the header; without a telling header the bytes decide.
    """
    for offset, signature, description in _SIGNATURES:
        if body.startswith(signature, offset):
            return Kind("binary", description)
    match = _TYPE.match(content_type.strip().lower()[:200])
    said = match[0] if match else ""
    top, _, sub = said.partition("/")
    kind = _TYPES.get(said)
    if kind is None and sub.endswith("+json"):
        kind = "json"
    if kind is None and (top in _NAMES or (top == "application" and said not in _UNSURE and not sub.endswith("xml"))):
        return Kind("binary", _NAMES.get(top) or f"a file of type {said}")
    if kind == "binary":
        return Kind("binary", _NAMES.get(top, _DESCRIPTIONS["binary"]))
    if _is_binary(body[:_SNIFFED]):
        return Kind("binary", _DESCRIPTIONS["binary"])
    if kind is None:
        kind = _sniff(body[:_SNIFFED], said)
    return Kind(kind, _DESCRIPTIONS[kind])


def _is_binary(head: bytes) -> bool:
    """Whether the bytes cannot be a text in any encoding: too many controls, and not UTF-16."""
    if _is_utf16(head):
        return False
    controls = sum(byte < 0x20 and byte not in _TEXT_CONTROLS for byte in head)
    return controls > len(head) // 50


def _is_utf16(head: bytes) -> bool:
    return head.startswith((b"\xff\xfe", b"\xfe\xff")) or utf16_without_mark(head) is not None


def _sniff(head: bytes, said: str) -> KindName:
    plain = head.removeprefix(b"\xef\xbb\xbf")
    if _is_utf16(head):
        plain = head.replace(b"\0", b"").lstrip(b"\xff\xfe")
    plain = plain.lstrip()
    if said == "text/plain":
        return "text"  # browsers show the source of a page that is served so
    if (said in _UNSURE or said.endswith("xml")) and _HTML.match(plain):
        return "html"
    return "json" if said in _UNSURE and _JSON.match(plain) else "text"
