"""Reading local files as pages."""

from __future__ import annotations

import asyncio
from typing import Final

from groundwire.deadline import Deadline
from groundwire.errors import DeadlineExceeded, PageEmpty, UnsupportedContent
from groundwire.models import Page
from groundwire.reading.documents.document import FILES
from groundwire.reading.encoding.content_type import media_type
from groundwire.reading.extracted import read_result
from groundwire.reading.local import unreadable_error
from groundwire.reading.text.sanitize import clean, strip_invisible
from groundwire.reading.workers.pool import Conversion, Workers
from groundwire.safety.files import LocalFile
from groundwire.settings import ReadSettings

FILES_READER: Final = "files"
"""The name of what reads and searches local files, as the source of a page and of a result."""


class FileReader:
    """Reads local files of every format that pages have, with the limits of the settings; nothing leaves the machine.

    Args:
        settings: The limits.
        workers: Convert documents and large pages.
    """

    def __init__(self, settings: ReadSettings, workers: Workers) -> None:
        self._settings = settings
        self._conversion = Conversion.of(settings, workers)

    async def read(self, file: LocalFile, deadline: Deadline) -> Page:
        """Return a file as a whole page.

        Args:
            file: The file.
            deadline: The deadline.

        Raises:
            PermissionDenied: it may not be read. PageError: it cannot be read. DeadlineExceeded.
        """
        url = file.url

        def limit(head: bytes) -> int:
            if not head:
                raise PageEmpty(url, "The file is empty.")
            kind = media_type("", head, url)
            if kind.kind == "binary":
                raise UnsupportedContent(url, f"The file is {kind.description}, which cannot be read as text.")
            return self._settings.max_document_bytes if kind.kind in FILES else self._settings.max_bytes

        try:
            with deadline.timeout():
                body, changed = await asyncio.to_thread(file.read, limit)
        except TimeoutError as error:
            raise DeadlineExceeded("The file could not be read in time. Try again.") from error
        converted = await self._conversion.convert(body, "", url, headers={}, deadline=deadline)
        if converted.unreadable is not None:
            raise unreadable_error(url, converted.unreadable)
        if not converted.extracted.content:
            raise PageEmpty(url, "The file has no readable text.")
        result = read_result(url, converted, final_url=url, content_type="")
        return Page.of(
            result,
            title=result.title or " ".join(strip_invisible(clean(file.path.name))[0].split()),
            modified=result.modified or changed.date().isoformat(),
            reader=FILES_READER,
        )

    async def aclose(self) -> None:
        """Release its threads."""
        await self._conversion.aclose()
