"""Changes to an input: small ones anywhere, and such as HTML, encodings and compressed data are sensitive to."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

MAX_INPUT = 30_000  # bytes; what takes long is found faster in small inputs

_PIECES = [
    piece.encode("utf-8", "surrogatepass")
    for piece in (
        "<p>", "</p>", "<b>", "</b>", "<b id=1>", "<div>", "</div>", "<table>", "<tr>", "<td>", "</table>", "<ul><li>",
        "</ul>", "<a href='/x'>", "<a href=javascript:x>", "</a>", "<img src=x>", "<pre>", "</pre>", "<code>", "<h1>",
        "</h1>", "<script>", "</script>", "<style>", ".x{display:none}", "</style>", "<!--", "-->", "<![CDATA[", "]]>",
        "<template>", "<svg>", "<math>", "<select>", "<option>", "<form>", "<iframe>", "<noscript>", "<textarea>",
        "<title>", "<base href='//['>", "<meta charset=utf-16>", "<meta charset=koi8-r>", "<br>", "<hr>", "<dl><dt>",
        " hidden", ' style="display:none"', ' colspan="99999"', " lang=de", "&amp;", "&#0;", "&#xD800;", "&#x110000;",
        "&notit;", "&", "\0", "\x1b]0;x\x07", "\x1b[31m", "\u202e", "\u200d", "\ufeff", "\U000e0041", "\ud800",
        "\u0301", "<|im_start|>", "```", "~~~", "|", "\\", "[", "](", "**", "_", "$$", "\r\n", "\x0c", "\u2028",
        '<script type="application/ld+json">{"@context":"x","datePublished":', "<time datetime=9999-99-99>",
        "<frameset>", "\x1b$B", "\x1b(B", "\x8e", "\xa4", "\x81",
    )
] + [
    b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf", b"\x81\x30\x81\x30", b"\x1f\x8b\x08\x00", b"\x78\x9c", b"\x00", b"\xff",
]  # fmt: skip


def mutate(data: bytes, corpus: Sequence[bytes], chance: random.Random) -> bytes:
    """Return another input made of `data` and, now and then, of another one."""
    for _ in range(chance.choice((1, 1, 2, 3, 5))):
        data = chance.choice(_CHANGES)(data, corpus, chance)
    return data[:MAX_INPUT]


def _insert(data: bytes, corpus: Sequence[bytes], chance: random.Random) -> bytes:
    place = chance.randrange(len(data) + 1)
    return data[:place] + chance.choice(_PIECES) + data[place:]


def _repeat(data: bytes, corpus: Sequence[bytes], chance: random.Random) -> bytes:
    start = chance.randrange(len(data) + 1)
    part = data[start : start + chance.choice((1, 5, 20, 100))] or chance.choice(_PIECES)
    return data[:start] + part * chance.choice((2, 10, 100, 600)) + data[start:]


def _delete(data: bytes, corpus: Sequence[bytes], chance: random.Random) -> bytes:
    start = chance.randrange(len(data) + 1)
    return data[:start] + data[start + chance.choice((1, 1, 4, 30, 300)) :]


def _flip(data: bytes, corpus: Sequence[bytes], chance: random.Random) -> bytes:
    if not data:
        return data
    place = chance.randrange(len(data))
    return data[:place] + bytes([chance.randrange(256)]) + data[place + 1 :]


def _splice(data: bytes, corpus: Sequence[bytes], chance: random.Random) -> bytes:
    other = chance.choice(corpus)
    return data[: chance.randrange(len(data) + 1)] + other[chance.randrange(len(other) + 1) :]


def _recode(data: bytes, corpus: Sequence[bytes], chance: random.Random) -> bytes:
    text = data.decode("utf-8", "replace")
    return text.encode(chance.choice(("utf-16-le", "utf-16-be", "cp1251", "cp932", "gb18030", "iso2022_jp")), "replace")


_CHANGES: tuple[Callable[[bytes, Sequence[bytes], random.Random], bytes], ...] = (
    _insert, _insert, _insert, _repeat, _delete, _flip, _splice, _recode,
)  # fmt: skip
