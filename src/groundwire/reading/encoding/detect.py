"""Detection of the encoding of bytes without a declaration, and the list of supported encodings.

The labels are those of the WHATWG Encoding Standard (https://encoding.spec.whatwg.org/#names-and-labels).
Excluded on purpose: UTF-7 and Python codecs outside the standard (rot13, unicode_escape, idna, punycode ...), and the
standard's own `replacement` and `x-user-defined`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from groundwire.reading.encoding.tables import decoded_text

__all__ = [
    "CODECS",
    "LABELS",
    "MULTI_BYTE",
    "WESTERN",
    "detect",
    "is_iso_2022_jp",
    "looks_western",
    "name_of",
    "utf8_letters",
    "utf16_without_mark",
]

CODECS: Final[Mapping[str, str]] = {
    "utf-8": "utf-8",
    "ibm866": "cp866",
    "iso-8859-2": "iso8859-2",
    "iso-8859-3": "iso8859-3",
    "iso-8859-4": "iso8859-4",
    "iso-8859-5": "iso8859-5",
    "iso-8859-6": "iso8859-6",
    "iso-8859-7": "iso8859-7",
    "iso-8859-8": "iso8859-8",
    "iso-8859-8-i": "iso8859-8",
    "iso-8859-10": "iso8859-10",
    "iso-8859-13": "iso8859-13",
    "iso-8859-14": "iso8859-14",
    "iso-8859-15": "iso8859-15",
    "iso-8859-16": "iso8859-16",
    "koi8-r": "koi8-r",
    "koi8-u": "koi8-u",
    "macintosh": "mac-roman",
    "windows-874": "cp874",
    "windows-1250": "cp1250",
    "windows-1251": "cp1251",
    "windows-1252": "cp1252",
    "windows-1253": "cp1253",
    "windows-1254": "cp1254",
    "windows-1255": "cp1255",
    "windows-1256": "cp1256",
    "windows-1257": "cp1257",
    "windows-1258": "cp1258",
    "x-mac-cyrillic": "mac-cyrillic",
    "gbk": "gb18030",
    "gb18030": "gb18030",
    "big5": "big5hkscs",
    "euc-jp": "euc_jp",
    "iso-2022-jp": "iso2022_jp",
    "shift_jis": "cp932",
    "euc-kr": "cp949",
    "utf-16be": "utf-16-be",
    "utf-16le": "utf-16-le",
}
"""The standard's encodings, each with the nearest Python codec; see `groundwire.reading.encoding.tables`."""

_ALIASES: Final[Mapping[str, str]] = {
    "utf-8": "unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf8 x-unicode20utf8",
    "ibm866": "866 cp866 csibm866",
    "iso-8859-2": "csisolatin2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2",
    "iso-8859-3": "csisolatin3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3",
    "iso-8859-4": "csisolatin4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4",
    "iso-8859-5": "csisolatincyrillic cyrillic iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988",
    "iso-8859-6": "arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6-e iso-8859-6-i "
    "iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987",
    "iso-8859-7": "csisolatingreek ecma-118 elot_928 greek greek8 iso-ir-126 iso8859-7 iso88597 iso_8859-7 "
    "iso_8859-7:1987 sun_eu_greek",
    "iso-8859-8": "csiso88598e csisolatinhebrew hebrew iso-8859-8-e iso-ir-138 iso8859-8 iso88598 iso_8859-8 "
    "iso_8859-8:1988 visual",
    "iso-8859-8-i": "csiso88598i logical",
    "iso-8859-10": "csisolatin6 iso-ir-157 iso8859-10 iso885910 l6 latin6",
    "iso-8859-13": "iso8859-13 iso885913",
    "iso-8859-14": "iso8859-14 iso885914",
    "iso-8859-15": "csisolatin9 iso8859-15 iso885915 iso_8859-15 l9",
    "koi8-r": "cskoi8r koi koi8 koi8_r",
    "koi8-u": "koi8-ru",
    "macintosh": "csmacintosh mac x-mac-roman",
    "windows-874": "dos-874 iso-8859-11 iso8859-11 iso885911 tis-620",
    "windows-1250": "cp1250 x-cp1250",
    "windows-1251": "cp1251 x-cp1251",
    "windows-1252": "ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 "
    "iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii x-cp1252",
    "windows-1253": "cp1253 x-cp1253",
    "windows-1254": "cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 "
    "latin5 x-cp1254",
    "windows-1255": "cp1255 x-cp1255",
    "windows-1256": "cp1256 x-cp1256",
    "windows-1257": "cp1257 x-cp1257",
    "windows-1258": "cp1258 x-cp1258",
    "x-mac-cyrillic": "x-mac-ukrainian",
    "gbk": "chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 iso-ir-58 x-gbk",
    "big5": "big5-hkscs cn-big5 csbig5 x-x-big5",
    "euc-jp": "cseucpkdfmtjapanese x-euc-jp",
    "iso-2022-jp": "csiso2022jp",
    "shift_jis": "csshiftjis ms932 ms_kanji shift-jis sjis windows-31j x-sjis",
    "euc-kr": "cseuckr csksc56011987 iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 windows-949",
    "utf-16be": "unicodefffe",
    "utf-16le": "csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16",
}

LABELS: Final[Mapping[str, str]] = {name: name for name in CODECS} | {
    label: name for name, labels in _ALIASES.items() for label in labels.split()
}
"""Every label of the standard, in lower case, with its encoding."""

MULTI_BYTE: Final = frozenset({"gbk", "gb18030", "big5", "euc-jp", "shift_jis", "euc-kr"})
"""The encodings in which a non-ASCII letter takes at least two bytes, and not every pair is valid."""

WESTERN: Final = frozenset({"windows-1252", "iso-8859-15", "macintosh"})
"""Encodings that servers announce by default, regardless of the page."""


def name_of(label: str) -> str | None:
    """Return the encoding of a label, or None for an unknown label."""
    return LABELS.get(label.strip(" \t\r\n\f\"'").lower())


_SAMPLE: Final = 200_000  # bytes that are examined
_LETTER_SAMPLE: Final = 12_000  # bytes examined for letters, which is plenty
_MANY_LETTERS: Final = 500  # non-ASCII letters, from which a single occurrence is an error rather than a letter
_LATIN: Final = frozenset(
    name for name, codec in CODECS.items() if codec in {"cp1250", "cp1252", "cp1254", "cp1257", "cp1258", "mac-roman"}
) | {f"iso-8859-{part}" for part in (2, 3, 4, 10, 13, 14, 15, 16)}
_ENCODINGS_OF_LANGUAGE: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(("bs", "cs", "hr", "hu", "pl", "ro", "sk", "sl", "sq"), ("windows-1250", "iso-8859-2")),
    **dict.fromkeys(("et", "lt", "lv"), ("windows-1257", "iso-8859-13")),
    **dict.fromkeys(("az", "ku", "tr"), ("windows-1254",)),
    **dict.fromkeys(
        ("ca", "da", "de", "en", "es", "eu", "fi", "fr", "ga", "gl", "is", "it", "nb", "nl", "nn", "no", "pt", "sv"),
        ("windows-1252",),
    ),
}
"""The usual encodings of Latin-script pages, after the table of locales in the HTML Standard."""

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

_LANGUAGE = re.compile(rb"""<html\b[^>]{0,500}?\slang\s*=\s*["']?([a-z]{2})\b""", re.IGNORECASE)
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
_C1: Final = bytes(range(0x80, 0xA0))
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
    text = sample[: 2 * pairs].decode(CODECS[name], "replace")
    return name if len(_NOT_IN_TEXT.findall(text)) <= pairs // 50 else None


def _plain_beside_zeros(zeros: bytes, others: bytes) -> int:
    """Return how many ASCII characters are in pairs with one zero byte."""
    return sum(not zero and other in _PLAIN for zero, other in zip(zeros, others, strict=True))


def _by_letters(sample: bytes) -> str | None:
    from turbohtml.detect import detect_all  # most pages are UTF-8

    words = b"\n".join(line for line in _LINE_END.split(_MARKUP.sub(b" ", sample)) if not line.isascii())
    if not words:
        return None
    sound = _without_rare(_without_odd_lines(words[:_LETTER_SAMPLE]))
    matches = detect_all(b" " + sound)  # the prefix prevents a false byte order mark
    guesses = [(name, match.confidence) for match in matches if (name := (match.encoding or "").lower()) in CODECS]
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
    return _by_language(strange, sample, name) or _by_alphabet(strange, close) or name


def _without_odd_lines(words: bytes) -> bytes:
    """Return a long text without the lines that have a unique byte, if they are few."""
    counts = Counter(byte for byte in words if byte >= 0x80)
    if sum(counts.values()) < _MANY_LETTERS:
        return words
    single = bytes(byte for byte, count in counts.items() if count == 1)
    lines = words.split(b"\n")
    sound = [line for line in lines if len(line.translate(None, single)) == len(line)]
    return b"\n".join(sound) if 2 * len(sound) > len(lines) else words


def _without_rare(words: bytes) -> bytes:
    """Return a text without bytes that are letters in few encodings, if it has very few of them."""
    count = sum(byte >= 0x80 for byte in words)
    rare = sum(0x80 <= byte < 0xA0 for byte in words)
    return words.translate(None, _C1) if rare <= count // 20 else words


def _by_language(strange: bytes, sample: bytes, guess: str) -> str | None:
    """Return the encoding with most letters of the declared language of the page; if in doubt, the guess."""
    match = _LANGUAGE.search(sample[:4_096])
    language = match[1].decode("ascii").lower() if match else ""
    own = _LETTERS.get(language, "")
    scores: dict[str, int] = {}
    for name in _ENCODINGS_OF_LANGUAGE.get(language, ()):
        text = strange.decode(CODECS[name], "replace").lower()
        scores[name] = sum(char in own if own else char.isalpha() for char in text)
    return max(scores, key=lambda name: (scores[name], name == guess), default=None)


def _by_alphabet(strange: bytes, names: Sequence[str]) -> str | None:
    """Return the encoding in which nearly all non-ASCII letters belong to one language, if any."""
    best, encoding = _MIN_SHARE, None
    for name in names if len(names) > 1 else ():
        text = strange.decode(CODECS[name], "replace").lower()
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
    text = decoded_text(sample, "iso-2022-jp", CODECS["iso-2022-jp"])
    return "\ufffd" not in text[:-1]
