"""Detection of the encoding of bytes without a declaration, and decoding as the WHATWG Encoding Standard says.

Encodings, labels, and tables are those of the standard (https://encoding.spec.whatwg.org), which the HTML parser has;
Python's codecs differ. Excluded are the standard's own `replacement` and `x-user-defined`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

__all__ = [
    "ENCODINGS",
    "MULTI_BYTE",
    "WESTERN",
    "decoded_text",
    "detect",
    "is_iso_2022_jp",
    "looks_western",
    "name_of",
    "utf8_letters",
    "utf16_without_mark",
]

ENCODINGS: Final = frozenset(
    {"utf-8", "utf-16be", "utf-16le", "ibm866", "koi8-r", "koi8-u", "macintosh", "x-mac-cyrillic", "iso-8859-8-i",
     "gbk", "gb18030", "big5", "euc-jp", "euc-kr", "iso-2022-jp", "shift_jis", "windows-874"}
    | {f"iso-8859-{part}" for part in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)}
    | {f"windows-{page}" for page in range(1_250, 1_259)}
)  # fmt: skip
"""The standard's encodings."""
_PYTHON_CODECS: Final[Mapping[str, str]] = {"utf-8": "utf-8", "utf-16be": "utf-16-be", "utf-16le": "utf-16-le"}

MULTI_BYTE: Final = frozenset({"gbk", "gb18030", "big5", "euc-jp", "shift_jis", "euc-kr"})
"""The encodings in which a non-ASCII letter takes at least two bytes, and not every pair is valid."""

WESTERN: Final = frozenset({"windows-1252", "iso-8859-15", "macintosh"})
"""Encodings that servers announce by default, regardless of the page."""


def name_of(label: str) -> str | None:
    """Return the encoding of a label, or None for an unknown label."""
    from turbohtml import parse

    try:
        name = parse(b"", encoding=label.strip(" \t\r\n\f\"'")).encoding or ""
    except (LookupError, ValueError):
        return None
    return name.lower() if name.lower() in ENCODINGS else None


def decoded_text(body: bytes, name: str) -> str:
    """Decode bytes in an encoding of the standard; U+FFFD stands for what is not in it.

    But for Unicode, the HTML parser decodes it, to which all of it is plain text. It normalizes line ends to LF, and
    would replace NUL, which therefore passes it as a control character that the bytes do not have.

    Args:
        body: The bytes.
        name: The encoding.
    """
    if (codec := _PYTHON_CODECS.get(name)) is not None:
        return body.decode(codec, "replace")
    from turbohtml import parse

    stand_in = next((code for code in range(1, 9) if code not in body), 0) if 0 in body else 0
    markup = b"<!doctype html><plaintext>" + body.replace(b"\0", bytes((stand_in,)))
    element = parse(markup, encoding=name, positions=False).find("plaintext")
    return element.text.replace(chr(stand_in), "\0") if element is not None else ""


_SAMPLE: Final = 200_000  # bytes that are examined
_LETTER_SAMPLE: Final = 12_000  # bytes examined for letters, which is plenty
_MANY_LETTERS: Final = 500  # non-ASCII letters, from which a single occurrence is an error rather than a letter
_LATIN: Final = frozenset(
    {"macintosh", *(f"windows-125{part}" for part in (0, 2, 4, 7, 8))}
    | {f"iso-8859-{part}" for part in (2, 3, 4, 10, 13, 14, 15, 16)}
)
_COMMON_LATIN: Final = ("windows-1252", "windows-1250", "iso-8859-2", "windows-1254", "windows-1257", "iso-8859-13")

_LETTERS: Final[Mapping[str, str]] = {
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
"""The non-ASCII letters of languages whose encodings differ in only a few code points."""

_MARKS: Final = frozenset("„“”‚‘’«»‹›–—…•·§©®°€£ \xa0¿¡")
_CLOSE_CONFIDENCE: Final = 0.5  # of the best candidate's; Hungarian and Estonian are close to Western languages
_MIN_SHARE: Final = 0.97  # of the non-ASCII letters; foreign names add a few others

_WESTERN_LETTERS: Final = frozenset(
    "éèêëàâáäãåæçíìîïñóòôöõøœúùûüßÉÈÀÁÄÅÆÇÍÑÓÖØÚÜ".encode("cp1252")
    + bytes(
        [0x80, 0x84, 0x85, *range(0x91, 0x95), 0x96, 0x97, 0xA0, 0xA1, 0xA7, 0xA9, 0xAB, 0xAE, 0xB0, 0xB7, 0xBB, 0xBF]
    )
)
"""The non-ASCII bytes of ordinary windows-1252 text: letters, quotation marks, dashes, the euro."""

_LINE_END = re.compile(rb"[\r\n]+")
_MARKUP = re.compile(
    rb"<!--.*?(?:-->|\Z)|<(script|style)\b.*?(?:</\1|\Z)|<[^<>]*>|&#?\w{1,20};", re.DOTALL | re.IGNORECASE
)
_NOT_IN_TEXT = re.compile("[\x00-\x08\x0e-\x1f\ud800-\udfff\ue000-\uf8ff\ufffd-\uffff]")
_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_PLAIN: Final = frozenset([*b"\t\n\r", *range(0x20, 0x7F)])
_PAIR = re.compile(rb"[\x80-\xff]{2}")


def utf8_letters(body: bytes) -> tuple[int, int]:
    """Return the number of valid non-ASCII UTF-8 letters in `body`, and of errors."""
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
    """Detect the encoding of bytes, or return None if there is no good guess.

    Valid UTF-8 is UTF-8; ISO-2022-JP is recognized by its escapes and UTF-16 by its zeros; the rest is judged by its
    letters, which takes a few sentences.
    """
    sample = body[:_SAMPLE]
    if (name := utf16_without_mark(sample)) is not None:
        return name
    if is_iso_2022_jp(sample):
        return "iso-2022-jp"
    valid, faults = utf8_letters(sample)
    if faults <= valid // 5:  # unlikely by chance, even with a few broken bytes
        return "utf-8"
    return _by_letters(sample)


def utf16_without_mark(sample: bytes) -> str | None:
    """Detect UTF-16 by the zeros beside its ASCII letters and spaces, nearly all on one side."""
    pairs = len(sample) // 2
    big, little = sample[0 : 2 * pairs : 2], sample[1 : 2 * pairs : 2]
    if max(big.count(0), little.count(0)) < max(2, pairs // 50):
        return None
    high, low = _plain_beside_zeros(big, little), _plain_beside_zeros(little, big)
    if max(high, low) < max(2, pairs // 50) or min(high, low) > max(high, low) // 5:
        return None
    if max(high, low) < pairs // 10:  # few ASCII letters, as in long Chinese texts, or stray zeros
        valid, faults = utf8_letters(sample)
        if faults <= valid // 50 and len(_CONTROLS.findall(sample)) <= len(sample) // 20:
            return None
    name = "utf-16be" if high > low else "utf-16le"
    text = decoded_text(sample[: 2 * pairs], name)
    return name if len(_NOT_IN_TEXT.findall(text)) <= pairs // 50 else None


def _plain_beside_zeros(zeros: bytes, others: bytes) -> int:
    """Return how many ASCII characters are in pairs with one zero byte."""
    return sum(not zero and other in _PLAIN for zero, other in zip(zeros, others, strict=True))


def _by_letters(sample: bytes) -> str | None:
    from turbohtml.detect import detect_all  # most pages are UTF-8

    words = b"\n".join(line for line in _LINE_END.split(_MARKUP.sub(b" ", sample)) if not line.isascii())
    if not words:
        return None
    matches = detect_all(
        b" " + _without_odd_lines(words[:_LETTER_SAMPLE])
    )  # the prefix prevents a false byte order mark
    guesses = [(name, match.confidence) for match in matches if (name := (match.encoding or "").lower()) in ENCODINGS]
    if not guesses:
        return None
    name, confidence = guesses[0]
    if name == "windows-1251" and words.count(0xDF) > words.count(0xFF):  # as if each lower-case ya were a capital one
        return "x-mac-cyrillic"
    if name not in _LATIN:
        return name
    strange = bytes(byte for byte in words if byte >= 0x80)
    if not confidence:
        return _by_alphabet(strange, ("windows-1252", "macintosh"))
    close = [other for other, its in guesses if its > confidence * _CLOSE_CONFIDENCE]
    return _by_alphabet(strange, close) or name


def _without_odd_lines(words: bytes) -> bytes:
    """Return a long text without the lines that have a unique byte, if they are few."""
    counts = Counter(byte for byte in words if byte >= 0x80)
    if sum(counts.values()) < _MANY_LETTERS:
        return words
    single = bytes(byte for byte, count in counts.items() if count == 1)
    lines = words.split(b"\n")
    sound = [line for line in lines if len(line.translate(None, single)) == len(line)]
    return b"\n".join(sound) if 2 * len(sound) > len(lines) else words


def _by_alphabet(strange: bytes, names: Sequence[str]) -> str | None:
    """Return the encoding in which nearly all non-ASCII letters belong to one language, if any."""
    best, encoding = _MIN_SHARE, None
    for name in names if len(names) > 1 else ():
        text = decoded_text(strange, name).lower()
        for letters in _LETTERS.values():
            score = sum(char in letters or char in _MARKS for char in text) / max(1, len(text))
            if score > best or (encoding is None and score == best):
                best, encoding = score, name
    return encoding


def looks_western(body: bytes) -> bool:
    """Return whether bytes are plausible windows-1252: Western letters, seldom two in a row."""
    strange = bytes(byte for byte in body[:_SAMPLE] if byte >= 0x80)
    if not _WESTERN_LETTERS.issuperset(strange) or len(_PAIR.findall(body[:_SAMPLE])) > len(strange) // 5:
        return False
    return _by_alphabet(strange, _COMMON_LATIN) in {None, "windows-1252"}


def is_iso_2022_jp(sample: bytes) -> bool:
    """Return whether bytes contain the alphabet escapes of ISO-2022-JP, which are ASCII."""
    return b"\x1b" in sample and b"\x1b$" in sample and sample.isascii() and _has_pairs(sample)


def _has_pairs(sample: bytes) -> bool:
    """Return whether every pair of bytes, but for the last one, is a character."""
    text = decoded_text(sample, "iso-2022-jp")
    return "\ufffd" not in text[:-1]
