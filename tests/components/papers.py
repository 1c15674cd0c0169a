"""PDF files for tests and benchmarks: pages of known text, laid out as papers, reports and scans."""

from __future__ import annotations

import io
import random
import re
from collections.abc import Callable, Sequence
from typing import Any

from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.lib.styles import ParagraphStyle, getSampleStyleSheet
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import (
    BaseDocTemplate,
    Frame,
    FrameBreak,
    ListFlowable,
    NextPageTemplate,
    PageTemplate,
    Paragraph,
    Spacer,
    Table,
    TableStyle,
)

WIDTH, HEIGHT = A4
_TEXT = """harbour lantern keeper signal evening record vessel channel current season weather barometer ledger village
island northern passage schooner anchor compass reading measure distance average interval account between several
without because another through however towards against important observation"""
_WORDS = re.findall(r"\w+", _TEXT)


def sentences(count: int, seed: int = 1) -> list[str]:
    """Return distinct sentences, each numbered so that its position can be checked."""
    chance = random.Random(seed)
    return [
        f"Note {number} says that the {' '.join(chance.choices(_WORDS, k=chance.randint(6, 16)))}."
        for number in range(1, count + 1)
    ]


def canvas_pdf(draw: Callable[[Canvas], None], **options: Any) -> bytes:
    """Return what `draw` paints on a canvas of A4 pages."""
    file = io.BytesIO()
    canvas = Canvas(file, pagesize=A4, invariant=1, **options)
    draw(canvas)
    canvas.save()
    return file.getvalue()


def column_paper(texts: Sequence[str], columns: int = 2, *, title: str = "On the Lights of the Coast") -> bytes:
    """Return a paper whose title spans the page and whose text runs in justified columns below it."""
    styles = getSampleStyleSheet()
    body = ParagraphStyle("body", styles["BodyText"], alignment=4, fontSize=9, leading=11)
    gap, margin, head = 18.0, 54.0, 120.0
    width = (WIDTH - 2 * margin - (columns - 1) * gap) / columns

    def frames(height: float) -> list[Frame]:
        return [Frame(margin + number * (width + gap), margin, width, height, 0, 0, 0, 0) for number in range(columns)]

    spanning = Frame(margin, HEIGHT - margin - head, WIDTH - 2 * margin, head, 0, 0, 0, 0)
    file = io.BytesIO()
    paper = BaseDocTemplate(file, pagesize=A4, invariant=1, title=title, author="A. Keeper")
    paper.addPageTemplates(
        [
            PageTemplate("first", [spanning, *frames(HEIGHT - 2 * margin - head - 10)]),
            PageTemplate("later", frames(HEIGHT - 2 * margin)),
        ]
    )
    story: list[Any] = [
        NextPageTemplate("later"),
        Paragraph(title, styles["Title"]),
        Paragraph("A. Keeper and B. Sailor", styles["Normal"]),
        FrameBreak(),
    ]
    for number, text in enumerate(texts):
        if number % 6 == 0:
            story.append(Paragraph(f"{number // 6 + 1} Section of the paper", styles["Heading2"]))
        story.append(Paragraph(text, body))
    paper.build(story)
    return file.getvalue()


def report(*, pages: int = 1) -> bytes:
    """Return a report with headings, a list, a table, a link, running heads and page numbers."""
    styles = getSampleStyleSheet()

    def furniture(canvas: Canvas, paper: Any) -> None:
        canvas.setFont("Helvetica", 8)
        canvas.drawString(72, HEIGHT - 36, "Harbour Office Yearbook")
        canvas.drawCentredString(WIDTH / 2, 30, f"- {paper.page} -")

    file = io.BytesIO()
    paper = BaseDocTemplate(file, pagesize=A4, invariant=1, title="Yearbook", author="Harbour Office")
    paper.addPageTemplates(
        [PageTemplate("all", [Frame(72, 72, WIDTH - 144, HEIGHT - 144, 0, 0, 0, 0)], onPage=furniture)]
    )
    story: list[Any] = []
    for number in range(1, pages + 1):
        story += [
            Paragraph(f"Year {1900 + number}", styles["Heading1"]),
            Paragraph(" ".join(sentences(5, number)), styles["BodyText"]),
            ListFlowable(
                [Paragraph(text, styles["BodyText"]) for text in ("first light", "second light", "third light")],
                bulletType="bullet",
            ),
            Spacer(1, 12),
            Table(
                [["Month", "Ships", "Fog days"], ["January", "12", "9"], ["February", "17", "4"], ["March", "31", "2"]],
                style=TableStyle([("GRID", (0, 0), (-1, -1), 0.5, colors.black)]),
                colWidths=[120, 90, 90],
            ),
            Spacer(1, 12),
            Paragraph('See <a href="https://harbour.example/tides">the tables of tides</a>.', styles["BodyText"]),
            FrameBreak(),
        ]
    paper.build(story[:-1])
    return file.getvalue()


def many_pages(count: int, rows: int = 45) -> bytes:
    """Return a file of many pages of lines."""
    texts = [sentences(rows, seed) for seed in range(min(count, 40))]

    def draw(canvas: Canvas) -> None:
        for page in range(1, count + 1):
            canvas.setFont("Times-Roman", 11)
            for row, text in enumerate(texts[page % len(texts)]):
                canvas.drawString(60, HEIGHT - 60 - 15 * row, f"{text[:80]}")
            canvas.showPage()

    return canvas_pdf(draw)


def encrypted(password: str) -> bytes:
    """Return a file that requires a password; an empty one makes a file that anyone may read."""
    return canvas_pdf(
        lambda canvas: canvas.drawString(72, 700, "The secret of the lighthouse."),
        encrypt=StandardEncryption(password, ownerPassword="owner", strength=128),
    )


def scan(pages: int = 1, *, recognized: str = "", mode: int = 3) -> bytes:
    """Return pages that are one picture each, with or without the text that a program recognized in it."""
    picture = ImageReader(io.BytesIO(_picture()))

    def draw(canvas: Canvas) -> None:
        for _ in range(pages):
            canvas.drawImage(picture, 0, 0, WIDTH, HEIGHT)
            if recognized:
                text = canvas.beginText(72, 700)
                text.setTextRenderMode(mode)
                text.textLine(recognized)
                canvas.drawText(text)
            canvas.showPage()

    return canvas_pdf(draw)


def _picture() -> bytes:
    from PIL import Image

    file = io.BytesIO()
    Image.effect_noise((100, 140), 60).save(file, "PNG")
    return file.getvalue()
