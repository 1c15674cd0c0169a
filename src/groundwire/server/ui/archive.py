"""The archive: what was read and seen before, searched and read without a network."""

from __future__ import annotations

from groundwire.server.ui.asking import whole
from groundwire.server.ui.html import Html
from groundwire.server.ui.reading import read_kept
from groundwire.server.ui.room import Visit

__all__ = ["archive"]

_ROWS = 20
_DEEPEST = 10_000  # the last page of the list


async def archive(visit: Visit) -> Html:
    """Show the list, what answers a question, or one kept page."""
    asked = visit.asked
    kept = visit.visitor.web.archive
    if kept is None or not visit.visitor.sees_all:
        return Html(template="archive.html", values={"asked": asked, "kept": None}, status=200)
    reading = None
    status = 200
    if asked.get("open"):
        reading = await read_kept(kept, asked, visit.visitor.web.settings.read.max_length)
        status = 200 if reading is not None else 404
    number = whole("p", asked.get("p"), 1, _DEEPEST) if asked.get("p") else 1
    offset = (number - 1) * _ROWS
    words = asked.get("q")
    if words:
        rows = await kept.search(words[:2_000], limit=_ROWS + 1, offset=offset)
    else:
        rows = await kept.list(limit=_ROWS + 1, offset=offset)
    values = {
        "asked": asked,
        "kept": await kept.statistics(),
        "rows": rows[:_ROWS],
        "number": number,
        "more": len(rows) > _ROWS,
        "reading": reading,
        "is_missing": status == 404,
    }
    return Html(template="archive.html", values=values, status=status)
