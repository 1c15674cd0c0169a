"""Decoding as the WHATWG Encoding Standard says where Python's codecs have other tables.

EUC-JP and ISO-2022-JP have the characters of Shift_JIS, whose table in Python is the standard's: their pairs of bytes
are decoded as its own. Big5 has Hong Kong's extension of 2008. Bytes without a letter in a single-byte encoding are
control characters.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Mapping
from typing import Final

__all__ = ["decoded_text"]

_BIG5_ROW: Final = (
    "㡵𡵓𣚞𦀡㻬𥣞㫵竼龗𤅡𨤍𣇪𠪊𣉞䌊蒄龖鐯䤰蘓墖靊鈘秐稲晠権袝瑌篅枂稬剏遆㓦珄𥶹瓆鿇垳䤯呌䄱𣚎堘穲𧭥讏䚮𦺈"
    "䆁𥶙箮𢒼鿈𢓁𢓉𢓌鿉蔄𣖻䂴鿊䓡𪷿拁灮鿋"
)
"""The characters of Big5 from 0x877A on."""
_BIG5_OTHERS: Final = (
    "8e69箸8e6f簆8e7e糎8eab緒8eb4縝8ecd者8ed0耨8f57菁8f69蒨8f6e萏8fcb覦8fcc覩8ffe起906d都907a銹90dc靜90f1響"
    "91bf鼖9244蔃92af兙92b0兛92b1兝92b2兞92c8鍮92d1瑹9447浧94ca禛95d9邗9644靝96ed瀞96fc嬨9b76爁9b78矗9b7b纇"
    "9bc6駖9bde釔9bec惞9bf6澶9c42輶9c53侻9c62營9c68鄄9c6b鷰9c77菏9cbc尐9cbd秣9cd0婧9d57輋9d5a筑9dc4拐9ea9恢"
    "9eef痹9efd汊9f60鬮9f66鼗9fcb僭9fd8弌a063蠏a077拎a0d5瑨a0df煢a0e4牐c6cf廴c6d3无c6d5癶c6d7隶c6de〃c6df仝"
    "fa5f倩fa66偽fabd包fac5卄fad5卿fb48嘅fbb8婷fbf3幵fbf9廐fc4f彘fc6c悤fcb9撐fce2晴fcf1杞fdb7沜fdb8渝fdbb港"
    "fdf1煮fe52猪fe6f瑜feaa瓩fedd砉"
)
"""Two bytes of Big5 in hexadecimal, and the character that they stand for."""
_BIG5_OLD: Final = "a145 a14e a1c2 a1e3 a1f2 a1f3 a241 a242 a244 a246 a247 a3e1"
"""Two bytes of Big5 in hexadecimal that stand for what they stand for in code page 950."""
_BIG5_PIECE: Final = re.compile(rb"[\x81-\xfe][\x40-\x7e\xa1-\xfe]|[^\x81-\xfe]+|.", re.DOTALL)
_EUC_PIECE: Final = re.compile(
    rb"(?P<pairs>(?:[\xa1-\xfe]{2})+)|\x8f[\xa1-\xfe]{2}|\x8e[\xa1-\xdf]|[\0-\x80]+|.", re.DOTALL
)
_EUC_SIGNS: Final[Mapping[int, int]] = {
    0x301C: 0xFF5E,
    0x2016: 0x2225,
    0x2212: 0xFF0D,
    0xA2: 0xFFE0,
    0xA3: 0xFFE1,
    0xAC: 0xFFE2,
}
_GB18030: Final[Mapping[int, int]] = str.maketrans(
    "\ue5e5\ue78d\ue78e\ue78f\ue790\ue791\ue792\ue793\ue794\ue795"
    "\ue796\ue7c7\ue81e\ue826\ue82b\ue82c\ue832\ue843\ue854\ue864",
    "\u3000\ufe10\ufe12\ufe11\ufe13\ufe14\ufe15\ufe16\ufe17\ufe18"
    "\ufe19\u1e3f\u9fb4\u9fb5\u9fb6\u9fb7\u9fb8\u9fb9\u9fba\u9fbb",
)
"""Characters that had no code point of their own when the codec was written."""
_LETTERS: Final[Mapping[str, Mapping[int, str]]] = {
    "koi8-u": {0xAE: "\u045e", 0xBE: "\u040e"},
    "windows-1255": {0xCA: "\u05ba"},
}
_ESCAPE: Final = re.compile(rb"\x1b(?P<set>\([BJI]|\$[@B])")
_HIGH_BYTES: Final = bytes(byte | 0x80 if 0x21 <= byte <= 0x7E else byte for byte in range(256))
_KANA: Final = re.compile(rb"([\x21-\x5f])")


def decoded_text(body: bytes, name: str, codec: str) -> str:
    """Decode bytes in an encoding of the standard; U+FFFD stands for what is not in it.

    Args:
        body: The bytes.
        name: The encoding.
        codec: The Python codec that is nearest to it.
    """
    if name == "big5":
        return "".join(_big5(body))
    if name == "iso-2022-jp":
        body, name = _as_euc_jp(body), "euc-jp"
    if name == "euc-jp":
        try:
            return body.decode("euc_jp").translate(_EUC_SIGNS)
        except UnicodeDecodeError:
            return "".join(map(_euc_jp, _EUC_PIECE.finditer(body)))
    if name == "koi8-u" or name.startswith("windows-"):
        return codecs.charmap_decode(body, "replace", _letters(name, codec))[0]
    text = body.decode(codec, "replace")
    return text.translate(_GB18030) if codec == "gb18030" else text


def _letters(name: str, codec: str) -> str:
    """Return the 256 characters of a single-byte encoding."""
    letters = list(bytes(range(256)).decode(codec, "replace"))
    for byte in range(0x80, 0xA0):
        letters[byte] = chr(byte) if letters[byte] == "\ufffd" else letters[byte]
    for byte, letter in _LETTERS.get(name, {}).items():
        letters[byte] = letter
    return "".join(letters)


def _big5(body: bytes) -> Iterator[str]:
    others = _big5_others()
    for piece in _BIG5_PIECE.findall(body):
        yield others.get(piece) or piece.decode("big5hkscs", "replace")


def _big5_others() -> Mapping[bytes, str]:
    """Return what Python's table of Big5 does not have."""
    row = [bytes([0x87, trail]) for trail in (*range(0x7A, 0x7F), *range(0xA1, 0xFF))]
    pictures = [bytes([0xA3, trail]) for trail in range(0xC0, 0xE1)]
    table = dict(zip(row, _BIG5_ROW, strict=False))
    table |= {pair: chr(0x2400 + at) for at, pair in enumerate(pictures[:-1])} | {pictures[-1]: "\u2421"}
    table |= {bytes.fromhex(pair): bytes.fromhex(pair).decode("cp950") for pair in _BIG5_OLD.split()}
    table |= {bytes.fromhex(_BIG5_OTHERS[at : at + 4]): _BIG5_OTHERS[at + 4] for at in range(0, len(_BIG5_OTHERS), 5)}
    return table


def _as_euc_jp(body: bytes) -> bytes:
    """Return ISO-2022-JP, which switches between sets of characters, in EUC-JP, which has a byte range for each."""
    first, *parts = _ESCAPE.split(body)
    pieces = [first]
    for escape, text in zip(parts[::2], parts[1::2], strict=True):
        if escape[:1] == b"$":
            text = text.translate(_HIGH_BYTES)
        elif escape == b"(I":
            text = _KANA.sub(lambda kana: b"\x8e" + bytes([kana[0][0] | 0x80]), text)
        pieces.append(text)
    return b"".join(pieces)


def _euc_jp(piece: re.Match[bytes]) -> str:
    pairs = piece["pairs"]
    if pairs is None:
        return piece[0].decode("euc_jp", "replace")
    moved = bytearray()
    for lead, trail in zip(pairs[::2], pairs[1::2], strict=True):  # of a grid of 94 rows and cells, in Shift_JIS
        row, cell = lead - 0xA1, trail - 0xA1
        place = cell + 94 * (row & 1)
        moved += bytes([(row >> 1) + (0x81 if row < 62 else 0xC1), place + (0x40 if place < 63 else 0x41)])
    return moved.decode("cp932", "replace")
