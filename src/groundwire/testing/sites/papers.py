"""A site of documents that are not pages: a PDF, a feed, a table, a Word document, and some that are mislabelled."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from datetime import date

from groundwire.testing.exchange import Recorded, Reply
from groundwire.testing.pages import Calendar, Page, Site

__all__ = ["papers_site", "plain_pdf"]

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
    "twice, as their lamps were of two colours.",
)
_FEED = """<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom"><title>Notices to Mariners</title><updated>{day}T06:00:00Z</updated>
<entry><title>The northern light is dark</title><link href="/notices/1"/><updated>{day}T06:00:00Z</updated>
<summary type="html">&lt;p&gt;The lamp is &lt;b&gt;being mended&lt;/b&gt; until May.&lt;/p&gt;</summary></entry>
</feed>
"""
_TABLE = "month;ships;days of fog\nJanuary;312;9\nFebruary;287;4\nMarch;401;2\n"
_WORD = (
    '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>'
    '<w:p><w:pPr><w:outlineLvl w:val="0"/></w:pPr><w:r><w:t>Rules of the harbour</w:t></w:r></w:p>'
    "<w:p><w:r><w:t>Ships moor where the keeper says.</w:t></w:r></w:p></w:body></w:document>"
)


def papers_site(calendar: Calendar) -> Site:
    """Return the site `papers`."""
    pdf = plain_pdf([[(72, _LEFT), (320, _RIGHT)]], title="Survey of the Night")
    pages = [
        _page("survey", "/survey.pdf", lambda _: Reply(body=pdf, content_type="application/pdf")),
        _page("mislabelled", "/survey", lambda _: Reply(body=pdf, content_type="text/html; charset=utf-8")),
        _page("cut", "/cut.pdf", lambda _: Reply(body=pdf[:200], content_type="application/pdf")),
        _page("blank", "/blank.pdf", lambda _: Reply(body=plain_pdf([[]]), content_type="application/pdf")),
        _page("excuse", "/excuse.pdf", lambda _: Reply(body=_EXCUSE, content_type="application/pdf")),
        _page("feed", "/feed.xml", lambda day: Reply(body=_FEED.format(day=day).encode(), content_type="text/xml")),
        _page("table", "/table.csv", lambda _: Reply(body=_TABLE.encode(), content_type="text/csv")),
        _page("rules", "/rules.docx", lambda _: Reply(body=_document(), content_type="application/octet-stream")),
    ]
    return Site("papers", "papers.test", pages, calendar)


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


def _document() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(zipfile.ZipInfo("word/document.xml"), _WORD)
    return file.getvalue()


def _page(name: str, path: str, answer: Callable[[date], Reply]) -> Page:
    def render(_: Recorded, published: date) -> Reply:
        return answer(published)

    return Page(name=name, path=path, render=render)
