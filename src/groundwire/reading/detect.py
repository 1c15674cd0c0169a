"""Which encoding bytes are in when nobody says so."""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from groundwire.reading.encodings import CODECS

__all__ = ["detect", "is_iso_2022_jp", "looks_western", "utf8_letters", "utf16_without_mark"]

_SAMPLE: Final = 200_000  # bytes that are looked at
_STUDIED: Final = 12_000  # bytes of them that are studied for their letters, which is plenty
_MANY: Final = 500  # letters beyond ASCII, among which one of its kind is a fault rather than a letter
_LATIN: Final = frozenset(
    name for name, codec in CODECS.items() if codec in {"cp1250", "cp1252", "cp1254", "cp1257", "cp1258", "mac-roman"}
) | {f"iso-8859-{part}" for part in (2, 3, 4, 10, 13, 14, 15, 16)}
_OF_LANGUAGE: Final = {
    **dict.fromkeys(("bs", "cs", "hr", "hu", "pl", "ro", "sk", "sl", "sq"), ("windows-1250", "iso-8859-2")),
    **dict.fromkeys(("et", "lt", "lv"), ("windows-1257", "iso-8859-13")),
    **dict.fromkeys(("az", "ku", "tr"), ("windows-1254",)),
    **dict.fromkeys(
        ("ca", "da", "de", "en", "es", "eu", "fi", "fr", "ga", "gl", "is", "it", "nb", "nl", "nn", "no", "pt", "sv"),
        ("windows-1252",),
    ),
}
"""What pages in Latin letters are usually in, after the table of locales in the HTML Standard."""

_COMMON_LATIN: Final = ("windows-1252", "windows-1250", "iso-8859-2", "windows-1254", "windows-1257", "iso-8859-13")

_LETTERS: Final = {
    "da": "æøåéü",
    "de": "äöüßé",
    "es": "áéíóúüñ",
    "fr": "àâæçèéêëîïôœùûü",
    "it": "àèéìòù",
    "pt": "ãáâàçéêíóôõú",
    "sv": "åäöé",
    "bs": "čćđšž",
    "cs": "áčďéěíňóřšťúůýž",
    "hr": "čćđšž",
    "hu": "áéíóöőúüű",
    "pl": "ąćęłńóśźż",
    "ro": "ăâîşţ",
    "sk": "áäčďéíĺľňóôŕšťúýž",
    "sl": "čšž",
    "tr": "çğıöşüâîûi\u0307",
    "et": "äõöüšž",
    "lt": "ąčęėįšųūž",
    "lv": "āčēģīķļņšūž",
}
"""The letters beyond ASCII of languages whose encodings differ in a few places only."""

_MARKS: Final = frozenset("„“”‚‘’«»‹›–—…•·§©®°€£ \xa0¿¡")
_CLOSE: Final = 0.5  # of the best candidate's confidence; Hungarian and Estonian are close to Western languages
_SURE: Final = 0.97  # of the letters beyond ASCII; foreign names bring a few others

_LANGUAGE = re.compile(rb"""<html\b[^>]{0,500}?\slang\s*=\s*["']?([a-z]{2})\b""", re.IGNORECASE)
_WESTERN_LETTERS: Final = frozenset(
    "éèêëàâáäãåæçíìîïñóòôöõøœúùûüßÉÈÀÁÄÅÆÇÍÑÓÖØÚÜ".encode("cp1252")
    + bytes(
        [0x80, 0x84, 0x85, *range(0x91, 0x95), 0x96, 0x97, 0xA0, 0xA1, 0xA7, 0xA9, 0xAB, 0xAE, 0xB0, 0xB7, 0xBB, 0xBF]
    )
)
"""The bytes beyond ASCII that common texts in windows-1252 are made of: letters, quotation marks, dashes, the euro."""

_LINE_END = re.compile(rb"[\r\n]+")
_MARKUP = re.compile(
    rb"<!--.*?(?:-->|\Z)|<(script|style)\b.*?(?:</\1|\Z)|<[^<>]*>|&#?\w{1,20};", re.DOTALL | re.IGNORECASE
)
_NOT_IN_TEXT = re.compile("[\x00-\x08\x0e-\x1f\ud800-\udfff\ue000-\uf8ff\ufffd-\uffff]")
_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_PLAIN: Final = frozenset([*b"\t\n\r", *range(0x20, 0x7F)])
_C1: Final = bytes(range(0x80, 0xA0))
_PAIR = re.compile(rb"[\x80-\xff]{2}")


def utf8_letters(body: bytes) -> tuple[int, int]:
    """Return how many letters outside ASCII are valid UTF-8 in `body`, and how many faults there are."""
    try:
        text = body.decode("utf-8")
        faults = 0
    except UnicodeDecodeError as error:
        if error.reason == "unexpected end of data" and error.end == len(body) and len(body) - error.start < 4:
            text, faults = body[: error.start].decode("utf-8"), 0  # a sample that ends inside a letter
        else:
            text = body.decode("utf-8", "replace")
            faults = text.count("\ufffd")
    return len(text) - len(text.encode("ascii", "ignore")) - faults, faults


def detect(body: bytes) -> str | None:
    """Return the name of the encoding the bytes seem to be in, or None when there is no good guess.

    Valid UTF-8 is UTF-8; the escapes of ISO-2022-JP and the zeros of UTF-16 give them away; the rest is judged
    by its letters, which takes a few sentences.
    """
    sample = body[:_SAMPLE]
    if (name := utf16_without_mark(sample)) is not None:
        return name
    if is_iso_2022_jp(sample):
        return "iso-2022-jp"
    valid, faults = utf8_letters(sample)
    if faults <= valid // 5:  # hard to hit by chance, even with a few bytes broken
        return "utf-8"
    return _by_letters(sample)


def utf16_without_mark(sample: bytes) -> str | None:
    """Recognise UTF-16 by the zeros beside its ASCII letters and spaces, which nearly all stand on one side."""
    pairs = len(sample) // 2
    big, little = sample[0 : 2 * pairs : 2], sample[1 : 2 * pairs : 2]
    if max(big.count(0), little.count(0)) < max(2, pairs // 50):
        return None
    high, low = _plain_beside_zeros(big, little), _plain_beside_zeros(little, big)
    if max(high, low) < max(2, pairs // 50) or min(high, low) > max(high, low) // 5:
        return None
    if max(high, low) < pairs // 10:  # few ASCII letters, as in long Chinese texts, or a text with stray zeros in it
        valid, faults = utf8_letters(sample)
        if faults <= valid // 50 and len(_CONTROLS.findall(sample)) <= len(sample) // 20:
            return None
    name = "utf-16be" if high > low else "utf-16le"
    text = sample[: 2 * pairs].decode(CODECS[name], "replace")
    return name if len(_NOT_IN_TEXT.findall(text)) <= pairs // 50 else None


def _plain_beside_zeros(zeros: bytes, others: bytes) -> int:
    """Return how many signs of ASCII stand in pairs whose one byte is zero."""
    return sum(not zero and other in _PLAIN for zero, other in zip(zeros, others, strict=True))


def _by_letters(sample: bytes) -> str | None:
    from turbohtml.detect import detect_all  # most pages are UTF-8

    words = b"\n".join(line for line in _LINE_END.split(_MARKUP.sub(b" ", sample)) if not line.isascii())
    if not words:
        return None
    sound = _without_rare(_without_odd_lines(words[:_STUDIED]))
    matches = detect_all(b" " + sound)  # whose first bytes are no byte order mark
    found = [(name, match.confidence) for match in matches if (name := (match.encoding or "").lower()) in CODECS]
    if not found:
        return None
    name, confidence = found[0]
    if name == "windows-1251" and words.count(0xDF) > words.count(0xFF):  # as if each small ya were a capital one
        return "x-mac-cyrillic"
    if name not in _LATIN:
        return name
    strange = bytes(byte for byte in words if byte >= 0x80)
    if not confidence:
        return _by_alphabet(strange, ("windows-1252", "macintosh"))
    close = [other for other, its in found if its > confidence * _CLOSE]
    return _by_language(strange, sample, name) or _by_alphabet(strange, close) or name


def _without_odd_lines(words: bytes) -> bytes:
    """Return a long text without the lines that have a byte which is nowhere else, if those are few."""
    counts = Counter(byte for byte in words if byte >= 0x80)
    if sum(counts.values()) < _MANY:
        return words
    single = bytes(byte for byte, count in counts.items() if count == 1)
    lines = words.split(b"\n")
    sound = [line for line in lines if len(line.translate(None, single)) == len(line)]
    return b"\n".join(sound) if 2 * len(sound) > len(lines) else words


def _without_rare(words: bytes) -> bytes:
    """Return a text without the bytes that are letters in few encodings, where it has hardly any."""
    count = sum(byte >= 0x80 for byte in words)
    rare = sum(0x80 <= byte < 0xA0 for byte in words)
    return words.translate(None, _C1) if rare <= count // 20 else words


def _by_language(strange: bytes, sample: bytes, guess: str) -> str | None:
    """Return the encoding that has most letters of the language which the page says it is in; in doubt, the guess."""
    match = _LANGUAGE.search(sample[:4_096])
    language = match[1].decode("ascii").lower() if match else ""
    own = _LETTERS.get(language, "")
    scores: dict[str, int] = {}
    for name in _OF_LANGUAGE.get(language, ()):
        text = strange.decode(CODECS[name], "replace").lower()
        scores[name] = sum(char in own if own else char.isalpha() for char in text)
    return max(scores, key=lambda name: (scores[name], name == guess), default=None)


def _by_alphabet(strange: bytes, names: Sequence[str]) -> str | None:
    """Return the encoding in which most letters beyond ASCII belong to one language, if nearly all do."""
    best, found = _SURE, None
    for name in names if len(names) > 1 else ():
        text = strange.decode(CODECS[name], "replace").lower()
        for letters in _LETTERS.values():
            score = sum(char in letters or char in _MARKS for char in text) / max(1, len(text))
            if score > best or (found is None and score == best):
                best, found = score, name
    return found


def looks_western(body: bytes) -> bool:
    """Return whether bytes may be a text in windows-1252: letters of Western languages, seldom two in a row."""
    strange = bytes(byte for byte in body[:_SAMPLE] if byte >= 0x80)
    if not _WESTERN_LETTERS.issuperset(strange) or len(_PAIR.findall(body[:_SAMPLE])) > len(strange) // 5:
        return False
    return _by_alphabet(strange, _COMMON_LATIN) in {None, "windows-1252"}


def is_iso_2022_jp(sample: bytes) -> bool:
    """Return whether bytes switch between alphabets by the escapes of ISO-2022-JP, which are ASCII."""
    return b"\x1b$" in sample and sample.isascii() and _decodes(sample, "iso-2022-jp")


def _decodes(sample: bytes, name: str) -> bool:
    try:
        codecs.getincrementaldecoder(CODECS[name])().decode(sample)
    except UnicodeDecodeError:
        return False
    return True
