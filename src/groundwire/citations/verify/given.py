"""Sources that come in as JSON."""

from __future__ import annotations

from dataclasses import field

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from groundwire.citations.verify.report import CitedPage
from groundwire.errors import InvalidRequest

__all__ = ["pages_from_json"]


@dataclass(frozen=True, kw_only=True, config=ConfigDict(extra="ignore", strict=True))
class _Given:
    number: int | None = None
    citation_id: int | None = None
    url: str = ""
    title: str = ""
    content: str | None = None
    snippet: str = ""


@dataclass(frozen=True, kw_only=True, config=ConfigDict(extra="ignore", strict=True))
class _Result:
    results: list[_Given] = field(default_factory=list)
    sources: list[_Given] = field(default_factory=list)


def pages_from_json(text: str) -> tuple[CitedPage, ...]:
    """Return sources from a JSON list of objects, or from an object with such a list as `sources` or `results`.

    Each has a `number` (or `citation_id`, as our tools say) and what is known of `url`, `title`, `content` and
    `snippet`; other members are passed by.

    Raises:
        InvalidRequest: it is no such list; the text says where.
    """
    form = 'Pass [{"number": 1, "url": "https://…", "content": "…"}].'
    try:
        whole = TypeAdapter(list[_Given] | _Result).validate_json(text)
    except (ValidationError, RecursionError) as error:
        first = error.errors(include_url=False, include_input=False)[0] if isinstance(error, ValidationError) else None
        where = f" ({'.'.join(map(str, first['loc']))}: {first['msg']})" if first else ""
        raise InvalidRequest("sources", f"are no list of sources in JSON{where}", form) from error
    pages = []
    rows = whole if isinstance(whole, list) else whole.results or whole.sources
    for place, row in enumerate(rows, start=1):
        number = row.number if row.number is not None else row.citation_id
        if number is None:
            raise InvalidRequest("sources", f"have no number in entry {place}", form)
        pages.append(CitedPage(number=number, url=row.url, title=row.title, content=row.content, snippet=row.snippet))
    return tuple(pages)
