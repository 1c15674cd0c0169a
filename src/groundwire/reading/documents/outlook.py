"""Messages that Outlook saved ([MS-OXMSG]) in a compound file ([MS-CFB]): headers, text, and names of attachments."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from email.utils import format_datetime
from typing import Final, NamedTuple

from groundwire.reading.extracted import UnreadableDocument

__all__ = ["OLE", "to_mail"]

OLE: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""The first bytes of a compound file."""
_ENTRY: Final = 128  # bytes of a directory entry
_STREAM, _ROOT = 2, 5  # types of entries
_MAX_ENTRIES: Final = 20_000
_IN_DIFAT: Final = 109  # sectors of the allocation table that the header lists
_END_OF_CHAIN: Final = 0xFFFFFFFA  # a higher sector number ends a chain
_HEADERS: Final = (("Subject", "0037"), ("To", "0E04"), ("Cc", "0E03"))
_NAME, _ADDRESS = "0C1A", ("5D01", "0C1F")  # of the sender
_BODY, _HTML = "1000", "1013"
_ATTACHMENT_NAMES: Final = ("3707", "3704")
_TIMES: Final = (0x0039, 0x0E06)  # sent, delivered
_FILETIME: Final = 0x0040
_MAX_TICKS: Final = 2_500_000_000_000_000_000  # in the year 9523
_EPOCH: Final = datetime(1601, 1, 1, tzinfo=UTC)


class _DirectoryEntry(NamedTuple):
    name: str
    kind: int
    left: int
    right: int
    child: int
    start: int
    size: int


class _CompoundFile:
    """The streams of a compound file."""

    def __init__(self, body: bytes) -> None:
        self._body = body
        shift, short = struct.unpack_from("<HH", body, 30)
        directory, _, self._least, small, _ = struct.unpack_from("<5I", body, 48)
        next_table, tables = struct.unpack_from("<II", body, 68)
        self._size, self._short = 1 << min(shift, 16), 1 << min(short, 16)
        self._sectors_left = 4 * (len(body) // self._size) + _MAX_ENTRIES  # sectors that are read, some of them twice
        places = list(struct.unpack_from(f"<{_IN_DIFAT}I", body, 76))
        for _ in range(min(tables, len(body) // self._size)):
            if next_table >= _END_OF_CHAIN:
                break
            *more, next_table = struct.unpack(f"<{self._size // 4}I", self._sector(next_table))
            places += more
        self._table = self._numbers(self._sector(place) for place in places if place < _END_OF_CHAIN)
        data = self._chain(directory, _MAX_ENTRIES * _ENTRY)
        self.entries = [self._entry(data[at : at + _ENTRY]) for at in range(0, len(data) - _ENTRY + 1, _ENTRY)]
        root = next(entry for entry in self.entries if entry.kind == _ROOT)
        self.root: _DirectoryEntry = root
        self._small_table = self._numbers([self._chain(small, len(body))])
        self._small = self._chain(root.start, len(body))

    def _sector(self, number: int) -> bytes:
        at = (number + 1) * self._size
        return self._body[at : at + self._size].ljust(self._size, b"\0")

    @staticmethod
    def _numbers(parts: Iterator[bytes] | list[bytes]) -> tuple[int, ...]:
        data = b"".join(parts)
        return struct.unpack(f"<{len(data) // 4}I", data[: len(data) // 4 * 4])

    @staticmethod
    def _entry(data: bytes) -> _DirectoryEntry:
        length, kind, _, left, right, child = struct.unpack_from("<HBB3I", data, 64)
        start, size = struct.unpack_from("<II", data, 116)
        return _DirectoryEntry(
            data[: max(0, min(length, 64) - 2)].decode("utf-16-le", "replace"), kind, left, right, child, start, size
        )

    def _chain(self, number: int, size: int) -> bytes:
        parts: list[bytes] = []
        while number < len(self._table) and len(parts) * self._size < size:
            self._sectors_left -= 1
            if not self._sectors_left:
                raise IndexError("the streams overlap")
            parts.append(self._sector(number))
            number = self._table[number]
        return b"".join(parts)[:size]

    def read(self, entry: _DirectoryEntry) -> bytes:
        """Return a stream."""
        if entry.size >= self._least:
            return self._chain(entry.start, entry.size)
        parts: list[bytes] = []
        number = entry.start
        while number < len(self._small_table) and len(parts) * self._short < entry.size:
            parts.append(self._small[number * self._short : (number + 1) * self._short])
            number = self._small_table[number]
        return b"".join(parts)[: entry.size]

    def children(self, entry: _DirectoryEntry) -> Iterator[_DirectoryEntry]:
        """Yield what is directly in a storage."""
        waiting, numbers = [entry.child], set[int]()
        while waiting:
            number = waiting.pop()
            if number >= len(self.entries) or number in numbers:
                continue
            numbers.add(number)
            yield self.entries[number]
            waiting += self.entries[number].left, self.entries[number].right


def to_mail(body: bytes) -> bytes:
    """Return a message as an email message (RFC 5322) without the content of its attachments.

    Args:
        body: The whole file.

    Raises:
        UnreadableDocument: it is damaged, or no message.
    """
    try:
        file = _CompoundFile(body)
        properties = _properties(file, file.root)
        entries = file.children(file.root)
        times = next((file.read(entry) for entry in entries if entry.name == "__properties_version1.0"), b"")
    except (struct.error, StopIteration, IndexError) as error:
        raise UnreadableDocument("broken", "The Outlook message is damaged. Look for another copy of it.") from error
    if not times:
        raise UnreadableDocument("broken", "The file is an old Office document, which cannot be read as text.")
    message = EmailMessage()
    address = next((properties[name] for name in _ADDRESS if "@" in properties.get(name, "")), "")
    name = properties.get(_NAME, "")
    sender = f"{name} <{address}>" if address and name not in {"", address} else address or name
    for header, value in (("From", sender), *((header, properties.get(number, "")) for header, number in _HEADERS)):
        if header in {"To", "Cc"}:  # names between semicolons
            names = (" ".join(recipient.split()) for recipient in value.split(";"))
            value = ", ".join(f'"{recipient}"' if "," in recipient else recipient for recipient in names if recipient)
        if value := " ".join(value.split()):
            message[header] = value
    if (date := _sent_at(times)) is not None:
        message["Date"] = format_datetime(date)
    if _BODY in properties or _HTML not in properties:
        message.set_content(properties.get(_BODY, ""))
    else:
        message.set_content(properties[_HTML], subtype="html")
    for storage in file.children(file.root):
        if storage.name.startswith("__attach_version1.0"):
            own = _properties(file, storage)
            filename = next((own[number] for number in _ATTACHMENT_NAMES if own.get(number)), "a file")
            message.add_attachment(b"", maintype="application", subtype="octet-stream", filename=filename)
    return message.as_bytes()


def _properties(file: _CompoundFile, storage: _DirectoryEntry) -> dict[str, str]:
    """Return the texts of a storage by the number of their property."""
    texts = {}
    for entry in file.children(storage):
        name, number, kind = entry.name[:12], entry.name[12:16], entry.name[16:]
        if entry.kind != _STREAM or name != "__substg1.0_" or (kind == "0102" and number != _HTML):
            continue
        if kind in {"001F", "001E", "0102"}:
            texts[number] = file.read(entry).decode("utf-16-le" if kind == "001F" else "utf-8", "replace").rstrip("\0")
    return texts


def _sent_at(properties: bytes) -> datetime | None:
    for at in range(32, len(properties) - 15, 16):
        kind, number = struct.unpack_from("<HH", properties, at)
        if kind == _FILETIME and number in _TIMES:
            (ticks,) = struct.unpack_from("<Q", properties, at + 8)
            if 0 < ticks <= _MAX_TICKS:
                return _EPOCH + timedelta(microseconds=ticks // 10)
    return None
