"""Sites of what is not a plain page: app shells, data and media; old encodings; PDF, feeds and office documents."""

from __future__ import annotations

import codecs
import io
import json
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping
from datetime import date
from typing import Final

from groundwire.testing.http_messages import EmulatedResponse, Recorded
from groundwire.testing.site import Site, SitePage
from world import wire_faults

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

_ITEMS: Final[Mapping[str, object]] = {
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
Ünlike last year, there is not one wasp.
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


def app_site(today: date) -> Site:
    """Return the application's site."""
    pages = [
        _fixed("shell", "/app", EmulatedResponse.html(_SHELL)),
        _fixed(
            "script", "/app.js", EmulatedResponse(body=_SCRIPT.encode(), content_type="text/javascript; charset=utf-8")
        ),
        _fixed("json", "/api/items.json", EmulatedResponse.json(_ITEMS)),
        _fixed(
            "broken-json", "/api/broken.json", EmulatedResponse(body=b'{"items": [', content_type="application/json")
        ),
        _fixed("text", "/notes.txt", EmulatedResponse.text(_NOTES)),
        _fixed(
            "markdown",
            "/readme.md",
            EmulatedResponse(body=_MARKDOWN.encode(), content_type="text/markdown; charset=utf-8"),
        ),
        _fixed("image", "/pixel.png", EmulatedResponse(body=_png(), content_type="image/png")),
        _fixed("mislabelled-image", "/pixel.html", EmulatedResponse(body=_png())),
        _fixed("untyped", "/untyped", EmulatedResponse(body=_SHELL.encode(), content_type=None)),
        _fixed("nothing", "/nothing", EmulatedResponse(status=204, content_type=None)),
        _fixed("empty", "/empty", EmulatedResponse()),
        _fixed("pdf", "/paper.pdf", EmulatedResponse(body=_pdf(), content_type="application/pdf")),
        _fixed(
            "video",
            "/film.mp4",
            EmulatedResponse(content_type="video/mp4", fault=wire_faults.endless(bytes(range(256)) * 32)),
        ),
        _fixed("download", "/report", EmulatedResponse(body=b"PK\x05\x06" + bytes(18), content_type="application/zip")),
    ]
    return Site("app", "app.test", pages, today)


def _fixed(name: str, path: str, reply: EmulatedResponse) -> SitePage:
    def render(request: Recorded, published: date) -> EmulatedResponse:
        return reply

    return SitePage(name=name, path=path, render=render, title=name)


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


_CHINESE = (
    "zh",
    "茶馆的清晨",
    "天刚亮,老茶馆的木门就打开了。店主先把炉火生好,再把铜壶装满井水。第一批客人总是附近的菜农,他们把担子放在门外,"
    "坐下来喝一碗热茶,谈论今年的雨水和萝卜的价钱。等到太阳照进院子,茶馆里已经坐满了人。",
)
_RUSSIAN = (
    "ru",
    "Библиотека у реки",
    "Маленькая библиотека стоит на самом берегу реки. Весной вода подходит к нижней ступеньке, и тогда читатели "
    "приносят с собой резиновые сапоги. Библиотекарь уверяет, что ни одна книга за сорок лет не промокла.",
)
_JAPANESE = (
    "ja",
    "駅前の時計",
    "駅前の大きな時計は、毎日三分だけ遅れています。町の人はみんなそれを知っているので、電車に乗り遅れることはありません。"
    "旅行者だけが、ときどき走ることになります。",
)
_FRENCH = (
    "fr",
    "Le marché d'été",
    "À l'aube, les forains déplient leurs bâches près de la fontaine. On y achète des pêches, du miel et des œufs "
    "tout frais. Vers midi, la chaleur chasse déjà les derniers clients sous les platanes.",
)
_PLAIN = (
    "en",
    "The clockmaker's café",
    "Every table in the café has a clock of its own, and no two agree. “Time is a matter of taste”, says the owner — "
    "and serves breakfast until four. 日本 and Россия are written on the mirror in chalk.",
)


def legacy_site(today: date) -> Site:
    """Return the site of old encodings."""
    french_latin = (_FRENCH[0], _FRENCH[1], _FRENCH[2].replace("œ", "oe"))
    pages = [
        _encoded_page("gbk-meta", _CHINESE, "gbk", meta="gb2312"),
        _encoded_page("gbk-header", _CHINESE, "gbk", header="gbk"),
        _encoded_page("gbk-silent", _CHINESE, "gbk"),
        _encoded_page("windows-1251", _RUSSIAN, "windows-1251", header="windows-1251"),
        _encoded_page("windows-1251-meta", _RUSSIAN, "windows-1251", meta="windows-1251"),
        _encoded_page("shift-jis", _JAPANESE, "shift_jis", header="Shift_JIS"),
        _encoded_page("shift-jis-meta", _JAPANESE, "shift_jis", meta="Shift_JIS"),
        _encoded_page("iso-8859-1", french_latin, "iso-8859-1", header="ISO-8859-1"),
        _encoded_page("utf-8-bom", _PLAIN, "utf-8", mark=codecs.BOM_UTF8),
        _encoded_page("utf-16-bom", _PLAIN, "utf-16-le", mark=codecs.BOM_UTF16_LE),
        _encoded_page("wrong-header", _PLAIN, "utf-8", header="iso-8859-1", meta="utf-8"),
    ]
    return Site("legacy", "legacy.test", pages, today)


def _encoded_page(
    name: str,
    story: tuple[str, str, str],
    codec: str,
    *,
    header: str = "",
    meta: str = "",
    mark: bytes = b"",
) -> SitePage:
    language, title, text = story
    announced = f'<meta http-equiv="Content-Type" content="text/html; charset={meta}">\n' if meta else ""
    page = (
        f'<!doctype html>\n<html lang="{language}">\n<head>\n{announced}<title>{title}</title>\n</head>\n'
        f"<body>\n<h1>{title}</h1>\n<p>{text}</p>\n</body>\n</html>\n"
    )
    reply = EmulatedResponse(
        body=mark + page.encode(codec), content_type=f"text/html; charset={header}" if header else "text/html"
    )

    def render(request: Recorded, published: date) -> EmulatedResponse:
        return reply

    return SitePage(name=name, path=f"/{name}.html", render=render, title=title, age_days=4000)


_LEFT = (
    "The harbour office counts every ship that",
    "enters by night. The first column of this",
    "paper tells how the counting is done, and",
    "the second one what came of it in a year.",
)
_RIGHT = (
    "In the year of the survey the keepers saw",
    "four thousand and twelve ships, of which",
    "nine were lost in fog. No ship was counted",
    "twice, as their lamps were of two colors.",
)
_FEED = """<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom"><title>Notices to Mariners</title><updated>{day}T06:00:00Z</updated>
<entry><title>The northern light is dark</title><link href="/notices/1"/><updated>{day}T06:00:00Z</updated>
<summary type="html">&lt;p&gt;The lamp is &lt;b&gt;being repaired&lt;/b&gt; until May.&lt;/p&gt;</summary></entry>
</feed>
"""
_TABLE = "month;ships;days of fog\nJanuary;312;9\nFebruary;287;4\nMarch;401;2\n"
_WORD = (
    '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>'
    '<w:p><w:pPr><w:outlineLvl w:val="0"/></w:pPr><w:r><w:t>Rules of the harbour</w:t></w:r></w:p>'
    "<w:p><w:r><w:t>Ships moor where the keeper says.</w:t></w:r></w:p></w:body></w:document>"
)


def papers_site(today: date) -> Site:
    """Return the site `papers`."""
    pdf = plain_pdf([[(72, _LEFT), (320, _RIGHT)]], title="Survey of the Night")
    pages = [
        _dated("survey", "/survey.pdf", lambda _: EmulatedResponse(body=pdf, content_type="application/pdf")),
        _dated("mislabelled", "/survey", lambda _: EmulatedResponse(body=pdf, content_type="text/html; charset=utf-8")),
        _dated("cut", "/cut.pdf", lambda _: EmulatedResponse(body=pdf[:200], content_type="application/pdf")),
        _dated("blank", "/blank.pdf", lambda _: EmulatedResponse(body=plain_pdf([[]]), content_type="application/pdf")),
        _dated("excuse", "/excuse.pdf", lambda _: EmulatedResponse(body=_EXCUSE, content_type="application/pdf")),
        _dated(
            "feed",
            "/feed.xml",
            lambda day: EmulatedResponse(body=_FEED.format(day=day).encode(), content_type="text/xml"),
        ),
        _dated("table", "/table.csv", lambda _: EmulatedResponse(body=_TABLE.encode(), content_type="text/csv")),
        _dated(
            "rules",
            "/rules.docx",
            lambda _: EmulatedResponse(body=_word_file(), content_type="application/octet-stream"),
        ),
    ]
    return Site("papers", "papers.test", pages, today)


_EXCUSE = b"<!doctype html><title>Moved</title><h1>Moved</h1><p>The survey has moved to the archive of the harbour.</p>"


def plain_pdf(pages: list[list[tuple[int, tuple[str, ...]]]], *, title: str = "") -> bytes:
    """Return a PDF whose pages hold columns of lines in Helvetica.

    Args:
        pages: The columns of each page: where they begin, in points from the left, and their lines.
        title: The title that it says it has.
    """
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        f"<</Type/Pages/Kids[{kids}]/Count {len(pages)}>>",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    for number, columns in enumerate(pages):
        objects.append(
            "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<</Font<</F 3 0 R>>>>"
            f"/Contents {5 + 2 * number} 0 R>>"
        )
        # line by line across the columns, as many programs write them
        rows = max((len(lines) for _, lines in columns), default=0)
        content = "".join(
            f"BT /F 11 Tf {left} {760 - 14 * row} Td ({_escaped(lines[row])}) Tj ET\n"
            for row in range(rows)
            for left, lines in columns
            if row < len(lines)
        )
        objects.append(f"<</Length {len(content)}>>\nstream\n{content}endstream")
    objects.append(f"<</Title({_escaped(title)})>>")
    body = "%PDF-1.4\n"
    places = []
    for number, text in enumerate(objects, 1):
        places.append(len(body))
        body += f"{number} 0 obj\n{text}\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    size = len(objects) + 1
    return (
        f"{body}xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n"
        f"<</Size {size}/Root 1 0 R/Info {len(objects)} 0 R>>\nstartxref\n{len(body)}\n%%EOF\n"
    ).encode("latin-1")


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")


def _word_file() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(zipfile.ZipInfo("word/document.xml"), _WORD)
    return file.getvalue()


def _dated(name: str, path: str, answer: Callable[[date], EmulatedResponse]) -> SitePage:
    def render(_: Recorded, published: date) -> EmulatedResponse:
        return answer(published)

    return SitePage(name=name, path=path, render=render)
