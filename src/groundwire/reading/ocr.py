"""Text recognition (OCR) in images and scanned PDFs with Tesseract, a program of its own; off by default.

Each picture is recognized in a process with limits of memory and CPU time that has neither keys nor files to write. The
pages of a PDF are rendered in a worker process.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from groundwire.deadline import Deadline
from groundwire.reading.convert import Converted, cleaned
from groundwire.reading.documents.pdf.pdfium import open_pdf
from groundwire.reading.extracted import Extracted, Unreadable, UnreadableDocument
from groundwire.reading.markdown.escaping import escape_line, escape_text
from groundwire.reading.workers import NO_WINDOW, WorkerUnavailable, WorkTooHeavy, kill_group

__all__ = ["MISSING", "Ocr", "page_picture"]

MISSING: Final = (
    "Reading it needs text recognition (read.ocr), and Tesseract is not installed. On Debian and Ubuntu: apt-get "
    "install tesseract-ocr; on macOS: brew install tesseract. Elsewhere see the documentation of Tesseract."
)
_MAX_PAGES: Final = 20
_MEMORY: Final = 1_500_000  # kilobytes of address space
_CPU_SECONDS: Final = 30  # of CPU time for a picture
_SPARE_SECONDS: Final = 1.0  # seconds before the deadline at which the pages recognized so far are returned
_DPI: Final = 300  # Tesseract's documentation recommends it
_MAX_PIXELS: Final = 5_000  # pixels of a rendered page
_MAX_TEXT: Final = 1_000_000  # bytes of a picture's text
_RENDER: Final = "groundwire.reading.ocr:page_picture"
_LIMITED_COMMAND: Final = 'ulimit -v "$1"; ulimit -t "$2"; shift 2; exec "$@"'
_EMPTY_PAGE: Final = re.compile(r"^\[page (\d+)\]\n*(?=\[page \d+\]$|\Z)", re.MULTILINE)
_PICTURES: Final = "pages that are pictures without text"
_Run = Callable[[str, Mapping[str, Any], bytes], Awaitable[tuple[dict[str, Any], bytes]]]


class Ocr:
    """Recognizes text with Tesseract.

    Args:
        run: Renders the pages of a PDF in a worker process; see `Workers.run`.
        languages: Tesseract's codes of the languages, such as `eng`.
    """

    def __init__(self, run: _Run, languages: Sequence[str]) -> None:
        self._run = run
        self._languages = "+".join(languages)

    async def read_image(self, body: bytes, deadline: Deadline) -> Converted:
        """Return the text of an image; without text, the result says why."""
        try:
            text = await self._recognize(body, deadline)
        except UnreadableDocument as error:
            return Converted(extracted=Extracted(), unreadable=error.reason)
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
        if why != "scanned" and not any(note.startswith(_PICTURES) for note in converted.extracted.warnings):
            return converted
        pages = [int(page) for page in _EMPTY_PAGE.findall(content)] if content else list(range(1, _MAX_PAGES + 1))
        texts: dict[int, str] = {}
        count = 0
        try:
            for number in pages[:_MAX_PAGES]:
                if deadline.remaining() <= _SPARE_SECONDS or (count and number > count):
                    break
                count, picture = await self._picture(body, number)
                texts[number] = await self._recognize(picture, deadline)
        except UnreadableDocument as error:
            if not texts:
                return replace(converted, unreadable=error.reason if why else None)
        missing_count = len(pages if content else range(count)) - len(texts)
        if not any(texts.values()):
            return converted
        notes = [f"text recognized by OCR on pages: {', '.join(str(number) for number, text in texts.items() if text)}"]
        if missing_count > 0:
            notes.append(f"pages whose text was not recognized, for lack of time or beyond the limit: {missing_count}")
        if content:
            content = _EMPTY_PAGE.sub(lambda page: f"[page {page[1]}]\n\n{texts.get(int(page[1]), '')}\n\n", content)
        else:
            content = "\n\n".join(f"[page {number}]\n\n{text}".rstrip() for number, text in texts.items())
        others = tuple(warning for warning in converted.extracted.warnings if not warning.startswith(_PICTURES))
        extracted = replace(converted.extracted, content=content.strip(), kind="document", warnings=(*notes, *others))
        return replace(converted, extracted=cleaned(extracted), unreadable=None)

    async def _picture(self, body: bytes, number: int) -> tuple[int, bytes]:
        """Return the number of pages of a PDF and a picture of one of them."""
        try:
            fields, picture = await self._run(_RENDER, {"page": number}, body)
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
            command = ["/bin/sh", "-c", _LIMITED_COMMAND, "sh", str(_MEMORY), str(_CPU_SECONDS), *command]
        environment = {name: os.environ[name] for name in ("PATH", "TESSDATA_PREFIX", "TMPDIR") if name in os.environ}
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            env={**environment, "OMP_THREAD_LIMIT": "1"},
            start_new_session=True,
            creationflags=NO_WINDOW,
        )
        try:
            async with asyncio.timeout(max(0.0, deadline.remaining() - _SPARE_SECONDS / 2)):
                text, _ = await process.communicate(picture)
        except TimeoutError:
            return ""
        finally:
            if process.returncode is None:
                kill_group(process.pid)
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


def page_picture(request: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:
    """Render a page of a PDF as a gray PGM image; `request` has its number from 1."""
    with open_pdf(body) as pdf:
        number = int(request["page"])
        if not 1 <= number <= pdf.pages:
            return {"pages": pdf.pages}, b""
        with pdf.page(number - 1) as page:
            if page is None:
                return {"pages": pdf.pages}, b""
            picture = page.picture(_DPI / 72, _MAX_PIXELS, gray=True)
            starts = range(0, picture.stride * picture.height, picture.stride)
            gray = b"".join(picture.pixels[start : start + picture.width] for start in starts)
            return {"pages": pdf.pages}, b"P5 %d %d 255\n" % (picture.width, picture.height) + gray
