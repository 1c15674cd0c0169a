"""What is fuzzed: each takes bytes, calls one thing, and checks what must hold of any input."""

from __future__ import annotations

import re
from collections.abc import Callable

import turbohtml

from groundwire.reading.convert import convert
from groundwire.reading.encoding.decode import decode
from groundwire.reading.extract import extract
from groundwire.reading.html.limits import MAX_DEPTH, MAX_MARKUP, fit, trim
from groundwire.transport.body_reader import BodyDecoder, UndecodableBody

URL = "https://gazette.example.com/news/"
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_LABELS = (
    "utf-8",
    "utf-16le",
    "windows-1251",
    "iso-8859-2",
    "shift_jis",
    "euc-jp",
    "iso-2022-jp",
    "gb18030",
    "big5",
    "euc-kr",
)
_MAX_OUT = 3_000_000  # characters; twenty times what thirty thousand bytes of a page can reasonably say


def read_page(data: bytes) -> None:
    """Markup to Markdown."""
    found = extract(data.decode("utf-8", "replace"), URL)
    assert _CONTROL.search(found.content) is None, "a control character in the content"
    assert _CONTROL.search(found.title) is None, "a control character in the title"
    assert len(found.content) <= _MAX_OUT, "more content than a small page can have"
    found.content.encode("utf-8")


def decode_bytes(data: bytes) -> None:
    """Bytes and a header to text; the first byte chooses the header."""
    label = _LABELS[data[0] % len(_LABELS)] if data and data[0] < 240 else ""
    text = decode(data[1:], f"text/html; charset={label}" if label else "").text
    text.encode("utf-8")
    assert "\0" not in text, "a NUL in the text"
    assert len(text) <= len(data) + 1, "more characters than bytes"


def convert_body(data: bytes) -> None:
    """A body of any kind to Markdown, as the reader does it; its first line is the content type."""
    kind, _, body = data.partition(b"\n")
    converted = convert(body, kind.decode("latin-1"), URL, headers={})
    content = converted.extracted.content
    content.encode("utf-8")
    assert not content or any(map(str.isalnum, content)) or converted.warnings, "no words, and not said to be"
    str(converted.block)


def bound_tree(data: bytes) -> None:
    """Markup to a tree within bounds."""
    text = data.decode("utf-8", "replace")
    markup, cut = fit(text)
    assert len(markup) <= MAX_MARKUP
    assert cut or _words(markup) == _words(text), "changed, and not said to be"
    document = turbohtml.parse(markup, positions=False)
    assert sum(1 for _ in document.descendants) < 2_000_000, "an explosion of nodes"
    trim(document)
    levels: dict[object, int] = {}
    for element in document.iter_elements():
        levels[element] = levels.get(element.parent, 0) + 1
    assert max(levels.values(), default=0) <= MAX_DEPTH, "nested too deeply"


def _words(markup: str) -> str:
    """Return the text, without names of tags, which are text in a `noscript`; those that are surplus have another."""
    tokens = turbohtml.tokenize(markup, resolve_references=False, capture_attributes=False)
    text = "".join(token.data or "" for token in tokens if token.type == turbohtml.TokenType.TEXT)
    return re.sub(r"<\w+", "<", text)


def inflate(data: bytes) -> None:
    """Compressed bytes to bytes, in pieces; the first byte chooses the coding and the size of the pieces."""
    first = data[0] if data else 0
    decoder = BodyDecoder(("gzip", "deflate", "")[first % 3])
    size, total = 1 + first // 3, 0
    try:
        for start in range(1, len(data), size):
            for piece in decoder.feed(data[start : start + size]):
                assert len(piece) <= max(65_536, size), "a piece that is too large"
                total += len(piece)
                if total > 10_000_000:
                    return
        decoder.finish()
    except UndecodableBody:
        return


TARGETS: dict[str, Callable[[bytes], None]] = {
    "extract": read_page,
    "decode": decode_bytes,
    "convert": convert_body,
    "bounds": bound_tree,
    "inflate": inflate,
}
"""What can be fuzzed, by name."""

SEEDS: dict[str, tuple[bytes, ...]] = {
    "extract": (
        b"<!doctype html><html lang=en><head><title>Bread</title><meta name=author content=Ada></head><body><nav><a "
        b"href=/>Home</a></nav><main><article><h1>Bread</h1><p>The bakery opens at five in the morning, every day.</p>"
        b"<ul><li>Rye<li>Wheat</ul><pre><code class=language-sh>ls</code></pre><table><tr><th>Day<td>Mon</table>",
        b"<style>@font-face{font-family:b;src:url(data:;base64,AAEAAAAC)}@property --o{initial-value:0}.v{font:1em b;"
        b"opacity:var(--o);columns:2;height:9px;overflow:hidden;clip-path:url(#c);filter:invert(1)}</style><svg>"
        b"<clipPath id=c></clipPath></svg><p class=v style='position:fixed;left:-9px;opacity:attr(x type(*))'>Rye</p>"
        b"<x-a><template shadowrootmode=open><style>:host{grid:0/1fr}</style><slot></slot></template>Wheat</x-a>",
    ),
    "decode": (b"\xf0<meta charset=koi8-r><p>\xc4\xcf\xcd", "\x05Библиотека на набережной".encode("cp1251")),
    "convert": (
        b"text/html; charset=utf-8\n<title>Just a moment...</title><p>Are you a robot?",
        b'application/json\n{"a": [1, 2]}',
        b"text/markdown\n# Bread\n\nrye",
    ),
    "bounds": (
        b"<p><b id=1><p><b id=2><table></b></table><div><div><a href=x>y</a>",
        b"<html><body>" * 11 + b"<<html lang=en>b>Rye",
    ),
    "inflate": (
        b"\x3c\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff\xb3\x29\xb0\xab\xc8\x2c\xd1\x07\x00\x5d\x98\x8b\x4e\x08\x00\x00\x00",
    ),
}
"""What each begins with, besides the pages that are at hand."""
