"""app.test: what is not a page to read: a script's shell, data, files, pictures, and nothing at all."""

from __future__ import annotations

import json
import struct
import zlib
from datetime import date

from groundwire.testing.exchange import Recorded, Reply
from groundwire.testing.faults import Fault
from groundwire.testing.pages import Calendar, Page, Site

__all__ = ["app_site"]

_SHELL = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Orchard planner</title></head>
<body>
<noscript>You need to enable JavaScript to run this app.</noscript>
<div id="root"></div>
<script src="/app.js" defer></script>
</body>
</html>
"""

_SCRIPT = """fetch("/api/items.json")
  .then((answer) => answer.json())
  .then((data) => {
    const list = data.items.map((item) => `<li>${item.name}: ${item.trees} trees</li>`).join("");
    document.getElementById("root").innerHTML = `<h1>Orchard planner</h1><ul>${list}</ul>`;
  });
"""

_ITEMS = {
    "items": [
        {"name": "Apple", "trees": 42, "harvest": "September"},
        {"name": "Quince", "trees": 7, "harvest": "October"},
        {"name": "Plum", "trees": 19, "harvest": "August"},
    ],
    "total": 68,
}

_NOTES = """Notes from the orchard

The ladder is in the shed behind the quince.
Water the young plums twice a week while it is dry; <three> buckets each are enough.
Ünlike last year, nobody has seen a wasp.
"""

_MARKDOWN = """# Orchard planner

A planner for people with *too many* trees.

## Install

```bash
orchard init --trees 68
```

| tree | count |
| --- | --- |
| apple | 42 |
| quince | 7 |

1. Plant.
2. Wait.
"""


def app_site(calendar: Calendar) -> Site:
    """Return the application's site."""
    pages = [
        _page("shell", "/app", Reply.html(_SHELL)),
        _page("script", "/app.js", Reply(body=_SCRIPT.encode(), content_type="text/javascript; charset=utf-8")),
        _page("json", "/api/items.json", Reply.json(_ITEMS)),
        _page("broken-json", "/api/broken.json", Reply(body=b'{"items": [', content_type="application/json")),
        _page("text", "/notes.txt", Reply.text(_NOTES)),
        _page("markdown", "/readme.md", Reply(body=_MARKDOWN.encode(), content_type="text/markdown; charset=utf-8")),
        _page("image", "/pixel.png", Reply(body=_png(), content_type="image/png")),
        _page("mislabelled-image", "/pixel.html", Reply(body=_png())),
        _page("untyped", "/untyped", Reply(body=_SHELL.encode(), content_type=None)),
        _page("nothing", "/nothing", Reply(status=204, content_type=None)),
        _page("empty", "/empty", Reply()),
        _page("pdf", "/paper.pdf", Reply(body=_pdf(), content_type="application/pdf")),
        _page("video", "/film.mp4", Reply(content_type="video/mp4", fault=Fault.endless(bytes(range(256)) * 32))),
        _page("download", "/report", Reply(body=b"PK\x05\x06" + bytes(18), content_type="application/zip")),
    ]
    return Site("app", "app.test", pages, calendar)


def _page(name: str, path: str, reply: Reply) -> Page:
    def render(request: Recorded, published: date) -> Reply:
        return reply

    return Page(name=name, path=path, render=render, title=name)


def _png() -> bytes:
    """Return one green pixel."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    pixel = zlib.compress(b"\x00\x20\xa0\x40")
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixel) + chunk(b"IEND", b"")


def _pdf() -> bytes:
    """Return a PDF of one page that says where the ladder is."""
    drawing = b"BT /F1 18 Tf 72 700 Td (The ladder is in the shed.) Tj ET"
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R"
        b" /Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length " + json.dumps(len(drawing)).encode() + b" >>\nstream\n" + drawing + b"\nendstream",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    data, places = b"%PDF-1.4\n", []
    for number, text in enumerate(objects, start=1):
        places.append(len(data))
        data += f"{number} 0 obj\n".encode() + text + b"\nendobj\n"
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    size = len(objects) + 1
    return (
        data
        + (
            f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n<< /Size {size} /Root 1 0 R >>\n"
            f"startxref\n{len(data)}\n%%EOF\n"
        ).encode()
    )
