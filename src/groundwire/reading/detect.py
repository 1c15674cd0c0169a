"""Which encoding bytes are in when nobody says so."""

from __future__ import annotations

import codecs
import re
from collections import Counter
from typing import Final

from groundwire.reading.encodings import CODECS

__all__ = ["detect", "is_iso_2022_jp", "looks_western", "utf8_letters", "utf16_without_mark"]

_SAMPLE: Final = 200_000  # bytes that are looked at
_STUDIED: Final = 12_000  # bytes of them that are studied for their letters, which costs about 0.2 s
_MANY: Final = 500  # letters beyond ASCII, among which one of its kind is a fault rather than a letter
_UNDETECTED: Final = frozenset(
    {
        "utf-8", "utf-16be", "utf-16le", "iso-2022-jp", "iso-8859-8-i", "gbk",
        "iso-8859-3", "iso-8859-10", "iso-8859-14", "iso-8859-16", "x-mac-cyrillic",
    }
)  # fmt: skip
"""What tells itself, and what next to no page is in, but which short texts in other encodings are taken for."""

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
"""The letters beyond ASCII of languages whose encodings differ in a few places only; the Western ones first."""

_MARKS: Final = frozenset("„“”‚‘’«»‹›–—…•·§©®°€£ \xa0¿¡")
_SURE: Final = 0.97  # of the letters beyond ASCII; foreign names bring a few others

_LANGUAGE = re.compile(rb"""<html\b[^>]{0,500}?\slang\s*=\s*["']?([a-z]{2})\b""", re.IGNORECASE)
_WESTERN_LETTERS: Final = frozenset(
    "éèêëàâáäãåæçíìîïñóòôöõøœúùûüßÉÈÀÁÄÅÆÇÍÑÓÖØÚÜ".encode("cp1252")
    + bytes(
        [0x80, 0x84, 0x85, *range(0x91, 0x95), 0x96, 0x97, 0xA0, 0xA1, 0xA7, 0xA9, 0xAB, 0xAE, 0xB0, 0xB7, 0xBB, 0xBF]
    )
)
"""The bytes beyond ASCII that common texts in windows-1252 are made of: letters, quotation marks, dashes, the euro."""

_MARKUP = re.compile(
    rb"<!--.*?(?:-->|\Z)|<(script|style)\b.*?(?:</\1|\Z)|<[^<>]*>|&#?\w{1,20};", re.DOTALL | re.IGNORECASE
)
_NOT_IN_TEXT = re.compile("[\x00-\x08\x0e-\x1f\ud800-\udfff\ue000-\uf8ff\ufffd-\uffff]")
_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_PLAIN: Final = frozenset([*b"\t\n\r", *range(0x20, 0x7F)])
_KANA = re.compile("[\u3041-\u3093\u30a1-\u30f6]")
_JAPANESE: Final = ("shift_jis", "euc-jp")
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
    lines = [line for line in re.split(rb"[\r\n]+", _MARKUP.sub(b" ", sample)) if not line.isascii()]
    words, half = _without_odd_lines(b"\n".join(lines)[:_STUDIED]), len(lines) // 2
    if not words:
        return None
    if (name := _japanese(words) or _by_statistics(words, sample)) is not None:
        return name
    # a byte that is broken is in one half only
    parts = (b"\n".join(lines[:half]), b"\n".join(lines[half:]), _without_rare(words))
    found = (_by_statistics(part[:_STUDIED], sample) for part in parts)
    return next(filter(None, found), None) or _arabic(words)


def _arabic(words: bytes) -> str | None:
    """Return the encoding of Windows for Arabic if a text has its letters and none of the French ones in it."""
    strange = [char for char in words.decode("cp1256", "replace") if not char.isascii()]
    letters = sum("\u0600" <= char <= "\u06ff" or char in _MARKS or char == "\u200c" for char in strange)
    return "windows-1256" if letters > _SURE * len(strange) else None


def _japanese(words: bytes) -> str | None:
    """Return in which encoding a text is full of kana, which only Japanese has."""
    for name in _JAPANESE:
        text = words.decode(CODECS[name], "replace")
        strange = len(text) - len(text.encode("ascii", "ignore"))
        if len(_KANA.findall(text)) > strange // 4 and text.count("\ufffd") <= strange // 50:
            return name
    return None


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
    if sum(0x80 <= byte < 0xA0 for byte in words) > count // 20:
        return b""
    return words.translate(None, bytes(range(0x80, 0xA0)))


def _by_statistics(words: bytes, sample: bytes) -> str | None:
    import charset_normalizer  # takes 50 ms, and most pages are UTF-8

    if not words:
        return None
    names = {codecs.lookup(codec).name: name for name, codec in CODECS.items() if name not in _UNDETECTED}
    best = charset_normalizer.from_bytes(
        words,
        cp_isolation=[CODECS[name].replace("-", "_") for name in names.values()],
        preemptive_behaviour=False,
        enable_fallback=False,
        language_threshold=0.05,
    ).best()
    name = None if best is None else names.get(codecs.lookup(best.encoding).name)
    if name == "windows-1251" and words.count(0xDF) > words.count(0xFF):  # as if each small ya were a capital one
        return "x-mac-cyrillic"
    return _latin(words, sample) or name if name in _LATIN else name


def _latin(words: bytes, sample: bytes) -> str | None:
    """Choose among the encodings of Latin letters, which statistics of letters confuse."""
    strange = bytes(byte for byte in words if byte >= 0x80)
    if match := _LANGUAGE.search(sample[:4_096]):
        language = match[1].decode("ascii").lower()
        own = _LETTERS.get(language, "")
        scores: dict[str, int] = {}
        for name in _OF_LANGUAGE.get(language, ()):
            text = strange.decode(CODECS[name], "replace").lower()
            scores[name] = sum(char in own if own else char.isalpha() for char in text)
        if scores:
            return max(scores, key=lambda name: scores[name])
    return _by_alphabet(strange) or ("windows-1252" if _WESTERN_LETTERS.issuperset(strange) else None)


def _by_alphabet(strange: bytes) -> str | None:
    """Return the encoding in which nearly all the letters beyond ASCII belong to one language, or None."""
    best, name = _SURE, None
    for language, letters in _LETTERS.items():
        for candidate in next((names for code, names in _OF_LANGUAGE.items() if code == language), ()):
            text = strange.decode(CODECS[candidate], "replace").lower()
            score = sum(char in letters or char in _MARKS for char in text) / max(1, len(text))
            if score > best or (name is None and score == best):
                best, name = score, candidate
    return name


def looks_western(body: bytes) -> bool:
    """Return whether bytes may be a text in windows-1252: letters of Western languages, seldom two in a row."""
    strange = bytes(byte for byte in body[:_SAMPLE] if byte >= 0x80)
    if not _WESTERN_LETTERS.issuperset(strange) or len(_PAIR.findall(body[:_SAMPLE])) > len(strange) // 5:
        return False
    return _by_alphabet(strange) in {None, "windows-1252"}


def is_iso_2022_jp(sample: bytes) -> bool:
    """Return whether bytes switch between alphabets by the escapes of ISO-2022-JP, which are ASCII."""
    return b"\x1b$" in sample and sample.isascii() and _decodes(sample, "iso-2022-jp")


def _decodes(sample: bytes, name: str) -> bool:
    try:
        codecs.getincrementaldecoder(CODECS[name])().decode(sample)
    except UnicodeDecodeError:
        return False
    return True
