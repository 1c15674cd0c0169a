"""Text recognition in images and scanned PDFs: off unless set, marked as such, and bounded."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pypdfium2
import pytest
from PIL import Image
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from components.needs import require
from components.papers import HEIGHT, WIDTH, canvas_pdf, scan
from groundwire import Settings, Web
from groundwire.errors import PageEmpty, PageUnavailable, UnsupportedContent
from groundwire.testing import EmulatedResponse, EmulatedServer, Recorded
from world import World

pytestmark = pytest.mark.req("B2")
Make = Callable[..., Settings]
DATA = "/usr/share/tesseract-ocr/5/tessdata/eng.traineddata"
LINES = ("The harbor office counts", "every ship that enters", "by night: 4,012 in 1931.")


class Shelf(EmulatedServer):
    """Serves one body under every path."""

    def __init__(self, body: bytes, content_type: str) -> None:
        super().__init__("shelf", "shelf.test")
        self._reply = EmulatedResponse(body=body, content_type=content_type)

    def handle(self, request: Recorded) -> EmulatedResponse:
        return self._reply


def picture(lines: tuple[str, ...] = LINES, form: str = "PNG") -> bytes:
    """Return a picture of lines of text."""

    def draw(canvas: Canvas) -> None:
        canvas.setFont("Helvetica", 22)
        for row, line in enumerate(lines):
            canvas.drawString(72, 700 - 40 * row, line)

    file = io.BytesIO()
    page: Image.Image = pypdfium2.PdfDocument(canvas_pdf(draw))[0].render(scale=2).to_pil()
    page.save(file, form)
    return file.getvalue()


def pictures(*pages: tuple[str, ...], text: str = "") -> bytes:
    """Return a PDF of pictures of lines, and a last page of text."""

    def draw(canvas: Canvas) -> None:
        for lines in pages:
            canvas.drawImage(ImageReader(io.BytesIO(picture(lines))), 0, 0, WIDTH, HEIGHT)
            canvas.showPage()
        if text:
            canvas.drawString(72, 700, text)

    return canvas_pdf(draw)


async def opened(world: World, settings: Make, body: bytes, content_type: str, **read: Any) -> Any:
    shelf = world.add(Shelf(body, content_type))
    async with Web(settings(policy={"allowed_origins": (shelf.url,)}, read={"timeout": 60, **read})) as web:
        return await web.open_page(shelf.url + "/file", timeout=60)


@pytest.mark.parametrize("form", ["PNG", "JPEG", "TIFF"])
async def test_the_text_of_an_image_is_recognized_and_marked(world: World, settings: Make, form: str) -> None:
    require("tesseract", DATA)
    page = await opened(world, settings, picture(form=form), f"image/{form.lower()}", ocr=True)
    assert "The harbor office counts every ship that enters by night: 4,012 in 1931." in " ".join(page.content.split())
    assert "text recognized by OCR" in page.warnings


async def test_scanned_pages_are_recognized_in_their_place(world: World, settings: Make) -> None:
    require("tesseract", DATA)
    body = pictures(LINES, ("The second page is a picture",), text="The third page is text.")
    page = await opened(world, settings, body, "application/pdf", ocr=True)
    parts = ("[page 1]", "The harbor office", "[page 2]", "second page is a picture", "[page 3]", "third page is text")
    places = [page.content.index(part) for part in parts]
    assert places == sorted(places)
    assert "text recognized by OCR on pages: 1, 2" in page.warnings


async def test_a_scan_of_pictures_alone_is_recognized(world: World, settings: Make) -> None:
    require("tesseract", DATA)
    page = await opened(world, settings, pictures(LINES), "application/pdf", ocr=True)
    assert "4,012 in 1931" in page.content
    assert "text recognized by OCR on pages: 1" in page.warnings


async def test_an_image_without_text_says_so(world: World, settings: Make) -> None:
    require("tesseract", DATA)
    with pytest.raises(PageEmpty, match="No text was recognized"):
        await opened(world, settings, picture(("",)), "image/png", ocr=True)


async def test_a_damaged_image_says_why(world: World, settings: Make) -> None:
    require("tesseract", DATA)
    with pytest.raises(UnsupportedContent, match="Tesseract failed"):
        await opened(world, settings, picture()[:2_000], "image/png", ocr=True)


async def test_without_tesseract_it_is_said_what_to_install(
    world: World, settings: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(UnsupportedContent, match="apt-get install tesseract-ocr"):
        await opened(world, settings, picture(), "image/png", ocr=True)


async def test_it_is_off_by_default(world: World, settings: Make) -> None:
    with pytest.raises(UnsupportedContent, match="is an image"):
        await opened(world, settings, picture(), "image/png")


async def test_a_scan_names_the_setting(world: World, settings: Make) -> None:
    with pytest.raises((PageEmpty, PageUnavailable), match="read\\.ocr"):
        await opened(world, settings, scan(1), "application/pdf")
