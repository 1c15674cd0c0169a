"""Text recognition (OCR) in images and scanned PDFs with Tesseract, a program of its own; off by default.

Each picture is recognized in a process with limits of memory and CPU time that has neither keys nor files to write. The
pages of a PDF are rendered in a worker process.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import re
import shutil
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from groundwire.deadline import Deadline
from groundwire.reading.convert import Converted, cleaned
from groundwire.reading.documents.pdf.pdfium import open_pdf
from groundwire.reading.extracted import Extracted, Unreadable, UnreadableDocument
from groundwire.reading.markdown.escaping import escape_line, escape_text
from groundwire.reading.workers.pool import Conversion, WorkerUnavailable, WorkTooHeavy

__all__ = ["MISSING", "Ocr", "page_picture"]

MISSING: Final = (
    "Reading it needs text recognition (read.ocr), and Tesseract is not installed. On Debian and Ubuntu: apt-get "
    "install tesseract-ocr; on macOS: brew install tesseract. Elsewhere see the documentation of Tesseract."
)
_MAX_PAGES: Final = 20
_MEMORY: Final = 1_500_000  # kilobytes of address space
_SECONDS: Final = 30  # of CPU time for a picture
_SPARE: Final = 1.0  # seconds before the deadline at which the pages recognized so far are returned
_DPI: Final = 300  # Tesseract's documentation recommends it
_LONGEST: Final = 5_000  # pixels of a rendered page
_MAX_TEXT: Final = 1_000_000  # bytes of a picture's text
_RENDER: Final = "groundwire.reading.ocr:page_picture"
_LIMITED: Final = 'ulimit -v "$1"; ulimit -t "$2"; shift 2; exec "$@"'
_EMPTY_PAGE: Final = re.compile(r"^\[page (\d+)\]\n*(?=\[page \d+\]$|\Z)", re.MULTILINE)
_PICTURES: Final = "pages that are pictures without text"


class Ocr:
    """Recognizes text with Tesseract.

    Args:
        conversion: Its worker processes render the pages of a PDF.
        languages: Tesseract's codes of the languages, such as `eng`.
    """

    def __init__(self, conversion: Conversion, languages: Sequence[str]) -> None:
        self._conversion = conversion
        self._languages = "+".join(languages)

    async def read_image(self, body: bytes, deadline: Deadline) -> Converted:
        """Return the text of an image; without text, the result says why."""
        try:
            text = await self._recognize(body, deadline)
        except UnreadableDocument as error:
            return Converted(extracted=Extracted(), unreadable=error.found)
        if not text:
            return Converted(
                extracted=Extracted(), unreadable=Unreadable("empty", "No text was recognized in the image.")
            )
        return Converted(extracted=cleaned(Extracted(content=text, warnings=("text recognized by OCR",))))

    async def read_scan(self, body: bytes, converted: Converted, deadline: Deadline) -> Converted:
        """Return a PDF with the text of its pages that are pictures; a PDF that has none is returned as it is.

        Args:
            body: The PDF.
            converted: The PDF as read without text recognition.
            deadline: The pages recognized shortly before it are returned.
        """
        why = converted.unreadable.why if converted.unreadable is not None else ""
        content = converted.extracted.content
        if why != "scanned" and not any(said.startswith(_PICTURES) for said in converted.extracted.warnings):
            return converted
        wanted = [int(number) for number in _EMPTY_PAGE.findall(content)] if content else list(range(1, _MAX_PAGES + 1))
        found: dict[int, str] = {}
        count = 0
        try:
            for number in wanted[:_MAX_PAGES]:
                if deadline.remaining() <= _SPARE or (count and number > count):
                    break
                count, picture = await self._picture(body, number)
                found[number] = await self._recognize(picture, deadline)
        except UnreadableDocument as error:
            if not found:
                return replace(converted, unreadable=error.found if why else None)
        missed = len(wanted if content else range(count)) - len(found)
        if not any(found.values()):
            return converted
        said = [f"text recognized by OCR on pages: {', '.join(str(number) for number, text in found.items() if text)}"]
        if missed > 0:
            said.append(f"pages whose text was not recognized, for lack of time or beyond the limit: {missed}")
        if content:
            content = _EMPTY_PAGE.sub(lambda page: f"[page {page[1]}]\n\n{found.get(int(page[1]), '')}\n\n", content)
        else:
            content = "\n\n".join(f"[page {number}]\n\n{text}".rstrip() for number, text in found.items())
        kept = tuple(one for one in converted.extracted.warnings if not one.startswith(_PICTURES))
        extracted = replace(converted.extracted, content=content.strip(), kind="document", warnings=(*said, *kept))
        return replace(converted, extracted=cleaned(extracted), unreadable=None)

    async def _picture(self, body: bytes, number: int) -> tuple[int, bytes]:
        """Return the number of pages of a PDF and a picture of one of them."""
        try:
            fields, picture = await self._conversion.run(_RENDER, {"page": number}, body)
        except (WorkTooHeavy, WorkerUnavailable) as error:
            raise UnreadableDocument("large", "The scanned PDF is too large to recognize its text.") from error
        return int(fields["pages"]), picture

    async def _recognize(self, picture: bytes, deadline: Deadline) -> str:
        """Return the text of a picture as Markdown; empty if there is none or the time was up."""
        program = shutil.which("tesseract")
        if program is None:
            raise UnreadableDocument("missing", MISSING)
        if not picture:
            return ""
        command = [program, "stdin", "stdout", "-l", self._languages, "--dpi", str(_DPI)]
        if sys.platform != "win32":
            command = ["/bin/sh", "-c", _LIMITED, "sh", str(_MEMORY), str(_SECONDS), *command]
        kept = {name: os.environ[name] for name in ("PATH", "TESSDATA_PREFIX", "TMPDIR") if name in os.environ}
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            env={**kept, "OMP_THREAD_LIMIT": "1"},
            start_new_session=True,
        )
        try:
            async with asyncio.timeout(max(0.0, deadline.remaining() - _SPARE / 2)):
                text, _ = await process.communicate(picture)
        except TimeoutError:
            return ""
        finally:
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL) if sys.platform != "win32" else process.kill()
                await process.wait()
        if process.returncode:
            raise UnreadableDocument(
                "broken",
                f"Tesseract failed (exit code {process.returncode}): the image is damaged or too large, or a language "
                f"of read.ocr_languages ({self._languages}) is not installed.",
            )
        paragraphs = text[:_MAX_TEXT].decode("utf-8", "replace").replace("\f", "\n\n").split("\n\n")
        lines = (" ".join(paragraph.split()) for paragraph in paragraphs)
        return "\n\n".join(escape_line(escape_text(line)) for line in lines if line)


def page_picture(asked: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:
    """Render a page of a PDF as a gray PGM image; `asked` has its number from 1."""
    with open_pdf(body) as pdf:
        number = int(asked["page"])
        if not 1 <= number <= pdf.pages:
            return {"pages": pdf.pages}, b""
        with pdf.page(number - 1) as page:
            if page is None:
                return {"pages": pdf.pages}, b""
            raw = pdf.raw
            across, down = raw.FPDF_GetPageWidthF(page.handle), raw.FPDF_GetPageHeightF(page.handle)
            scale = min(_DPI / 72, _LONGEST / max(across, down, 1.0))
            width, height = max(1, int(across * scale)), max(1, int(down * scale))
            bitmap = raw.FPDFBitmap_CreateEx(width, height, raw.FPDFBitmap_Gray, None, 0)
            if not bitmap:
                raise MemoryError
            try:
                raw.FPDFBitmap_FillRect(bitmap, 0, 0, width, height, 0xFFFFFFFF)
                raw.FPDF_RenderPageBitmap(bitmap, page.handle, 0, 0, width, height, 0, 0)
                stride = raw.FPDFBitmap_GetStride(bitmap)
                rows = ctypes.string_at(raw.FPDFBitmap_GetBuffer(bitmap), stride * height)
            finally:
                raw.FPDFBitmap_Destroy(bitmap)
            gray = b"".join(rows[row * stride : row * stride + width] for row in range(height))
            return {"pages": pdf.pages}, b"P5 %d %d 255\n" % (width, height) + gray
