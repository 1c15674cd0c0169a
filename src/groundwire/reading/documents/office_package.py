"""ZIP-based documents, their XML and their metadata, read within limits that are checked before decompression.

XML is untrusted: parsed without document type and entities. Metadata follow ECMA-376, part 2 (core properties),
ODF 1.3 (meta.xml) and EPUB. Also the formulas of Word and PowerPoint (ECMA-376, part 1, 22.1).
"""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from typing import Final

from lxml import etree

from groundwire.reading.extracted import Extracted, UnreadableDocument
from groundwire.reading.metadata.dates import iso_date, later_day

MAX_ELEMENTS: Final = 200_000
"""Maximum elements of a document that are processed."""


def parse_xml(body: bytes) -> etree._Element | None:
    """Parse an XML document, with error recovery; None if it is not XML.

    Declared entities are not expanded, nothing external is loaded, and no input raises.

    Args:
        body: The document, with its encoding declaration.
    """
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        recover=True,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        return etree.fromstring(body, parser)
    except (etree.XMLSyntaxError, ValueError, LookupError):
        return None


def local_name(element: etree._Element) -> str:
    """Return an element's name without namespace or undeclared prefix; empty for non-elements."""
    tag = element.tag
    return tag.rpartition("}")[2].rpartition(":")[2] if isinstance(tag, str) else ""


def current_elements(root: etree._Element, closed: str = "") -> Iterator[etree._Element]:
    """Yield an element and those in it, without those for programs that cannot show the others.

    Args:
        root: The element.
        closed: The name of elements whose content is left out.
    """
    waiting = [root]
    while waiting:
        element = waiting.pop()
        name = local_name(element)
        if name != "Fallback":
            yield element
            waiting.extend(() if name == closed else reversed(element))


def whole_number(text: str, default: int) -> int:
    """Return the number that at most nine ASCII digits stand for; the default for anything else."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else default


_MAX_ENTRIES: Final = 10_000
_MAX_TOTAL: Final = 300_000_000  # bytes, uncompressed; most of it is images, which are never decompressed
_MAX_PART: Final = 40_000_000  # bytes, uncompressed, of one part
_STRICT: Final = re.compile(rb"http://purl\.oclc\.org/ooxml/(\w+)/")
"""The names of Strict Open XML, which Office also writes, for what others name by `schemas.openxmlformats.org`."""
_ENCRYPTION_FLAG: Final = 1  # the flag of an encrypted entry


class SafeZip:
    """An archive whose parts are read individually.

    Args:
        body: The whole file.
        name: Its description in an error, with its article.

    Raises:
        UnreadableDocument: it is damaged, encrypted, or over the uncompressed size limit.
    """

    def __init__(self, body: bytes, name: str) -> None:
        self._name = name
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(body))
            entries = self._zip.infolist()
        except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, RecursionError) as error:
            raise self._broken("its archive is damaged or cut off") from error
        total = sum(entry.file_size for entry in entries)
        if len(entries) > _MAX_ENTRIES or total > _MAX_TOTAL:
            raise UnreadableDocument(
                "large",
                f"The response is {name} that unpacks to {len(entries):,} parts of {total:,} bytes, over the "
                "limit. Look for a smaller document on the same subject.",
            )
        if any(entry.flag_bits & _ENCRYPTION_FLAG for entry in entries):
            raise UnreadableDocument("protected", f"The response is {name} that opens only with a password.")
        self._entries = {entry.filename: entry for entry in entries}
        self._bytes_left = _MAX_TOTAL

    def sizes(self) -> list[tuple[str, int]]:
        """Return the names of the parts and their uncompressed sizes in bytes."""
        return [(name, entry.file_size) for name, entry in self._entries.items()]

    def __contains__(self, part: str) -> bool:
        return part in self._entries

    def read(self, part: str) -> bytes:
        """Read a part of the archive; empty if it is missing.

        Raises:
            UnreadableDocument: it is damaged or too large.
        """
        entry = self._entries.get(part)
        if entry is None:
            return b""
        self._bytes_left -= entry.file_size
        if entry.file_size > _MAX_PART or self._bytes_left < 0:
            raise UnreadableDocument(
                "large",
                f"It is {self._name} with a part of {entry.file_size:,} bytes, over the limit. Look "
                "for a smaller document on the same subject.",
            )
        try:
            return self._zip.read(entry)
        except (zipfile.BadZipFile, zlib.error, OSError, EOFError, ValueError, RuntimeError) as error:
            raise self._broken("a part of it cannot be unpacked") from error

    def xml(self, part: str) -> etree._Element | None:
        """Parse a part as XML; None if it is missing or invalid."""
        data = _STRICT.sub(rb"http://schemas.openxmlformats.org/\1/2006/", self.read(part))
        return parse_xml(data) if data else None

    def relations(self, part: str) -> dict[str, str]:
        """Return the targets of an Open XML part's relationships: URLs, or names of parts."""
        folder, name = posixpath.split(part)
        root = self.xml(posixpath.join(folder, "_rels", name + ".rels"))
        targets: dict[str, str] = {}
        for relation in root if root is not None else ():
            if local_name(relation) == "Relationship":
                target = relation.get("Target", "")
                if relation.get("TargetMode") != "External":
                    target = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
                targets[relation.get("Id", "")] = target
        return targets

    def broken(self) -> UnreadableDocument:
        """Return the error for an archive that is not the expected document."""
        return self._broken("its main part is missing or damaged")

    def _broken(self, what: str) -> UnreadableDocument:
        return UnreadableDocument("broken", f"The response is {self._name}, but {what}. Look for another copy of it.")


GZIP: Final = b"\x1f\x8b\x08"
"""The first bytes of a file that gzip compressed."""


def gunzipped(body: bytes) -> bytes:
    """Return the file that a gzip archive (RFC 1952) has, or the beginning of it if the archive is cut off.

    Raises:
        UnreadableDocument: it is damaged or too large.
    """
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16)
    try:
        content = unpacker.decompress(body, _MAX_PART)
    except zlib.error as error:
        message = "The response is a gzip archive, but it is damaged. Look for another copy of it."
        raise UnreadableDocument("broken", message) from error
    if unpacker.unconsumed_tail:
        message = f"The response is a gzip archive that unpacks to more than {_MAX_PART:,} bytes, the limit."
        raise UnreadableDocument("large", message)
    return content


_MAX_AUTHORS: Final = 10


def read_properties(root: etree._Element | None) -> Extracted:
    """Return the metadata of a document, without content: the first value of each property below `root`, all creators.

    The date is that of publication (`date`) if present, else of the last change, else of creation. In OpenDocument,
    `date` is that of the last change; EPUB 3 states it as `property="dcterms:modified"`.
    """
    texts: dict[str, str] = {}
    authors: list[str] = []
    for element in root.iter("*") if root is not None else ():
        text = " ".join("".join(element.itertext()).split()) if not len(element) else ""
        if text and local_name(element) == "creator" and text not in authors and len(authors) < _MAX_AUTHORS:
            authors.append(text)
        elif text:
            texts.setdefault("modified" if element.get("property") == "dcterms:modified" else local_name(element), text)
    days = {name: iso_date(texts.get(name, "")[:10]) for name in ("date", "modified", "created", "creation-date")}
    published = next(filter(None, days.values()), None)
    created = days["created"] or days["creation-date"]
    changed = days["modified"] or (days["date"] if root is not None and local_name(root) == "document-meta" else None)
    return Extracted(
        kind="document",
        title=texts.get("title", ""),
        author=", ".join(authors) or texts.get("initial-creator"),
        published=published,
        modified=later_day(changed, created if changed == published else published),
        language=texts.get("language"),
    )


_MAX_FORMULA_DEPTH: Final = 40  # nested parts of a formula
_INTEGRAL: Final = "\u222b"  # the sign of a sum over something if none is named


def tex_of(place: etree._Element, depth: int = 0) -> str:
    """Return a formula (Office Math) in TeX, without the dollar signs around it."""
    name = local_name(place)
    if name == "t":
        return place.text or ""
    inside = [(local_name(child), tex_of(child, depth + 1)) for child in place] if depth < _MAX_FORMULA_DEPTH else []
    part = dict(inside).get
    scripts = _script("_", part("sub")) + _script("^", part("sup"))
    if name == "f":
        return f"\\frac{{{part('num', '')}}}{{{part('den', '')}}}"
    if name == "rad":
        degree = f"[{part('deg')}]" if part("deg") else ""
        return f"\\sqrt{degree}{{{part('e', '')}}}"
    if name in {"sSup", "sSub", "sSubSup"}:
        return part("e", "") + scripts
    if name in {"limLow", "limUpp"}:
        return part("e", "") + _script("_" if name == "limLow" else "^", part("lim"))
    if name == "func":
        return f"{part('fName', '')} {part('e', '')}"
    if name in {"d", "nary"}:
        marks = {local_name(mark): own_attribute(mark, "val") for mark in place.iterfind(f"{{*}}{name}Pr/*")}
        if name == "nary":
            return f"{marks.get('chr', _INTEGRAL)}{scripts} {part('e', '')}"
        first, last = marks.get("begChr", "("), marks.get("endChr", ")")
        return (
            first.replace("{", "\\{") + ", ".join(text for key, text in inside if key == "e") + last.replace("}", "\\}")
        )
    if name == "mr":
        return " & ".join(text for key, text in inside if key == "e")
    if name == "m":
        rows = " \\\\ ".join(text for key, text in inside if key == "mr")
        return f"\\begin{{matrix}}{rows}\\end{{matrix}}"
    return "".join(text for _, text in inside)


def _script(sign: str, text: str | None) -> str:
    return f"{sign}{{{text}}}" if text else ""


def own_attribute(element: etree._Element, name: str) -> str:
    """Return an attribute of an element, whatever its namespace."""
    return next((value for key, value in element.attrib.items() if str(key).rpartition("}")[2] == name), "")


def omissions(counts: Mapping[str, int]) -> tuple[str, ...]:
    """Return what was not read of a document as warnings: `comments left out: 2`."""
    return tuple(f"{name} left out: {count}" for name, count in counts.items() if count > 0)
