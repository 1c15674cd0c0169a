"""Drop-ins for the APIs of Perplexity, Tavily, Exa and Firecrawl.

Of Perplexity there is the whole Search API (https://docs.perplexity.ai/api-reference/search-post).

Its clients only change the URL. Features that only that service has, such as its index of papers, are rejected rather
than ignored. Tavily and Exa have their search at the same path: their arguments are taken as everywhere, and
the response has the members that their clients read.
"""

from __future__ import annotations

import asyncio
import re
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Annotated, Any, Final

from pydantic import Field

from groundwire.models import MAX_LIMIT, SearchResponse, SearchResult
from groundwire.models.argument_names import SEARCH
from groundwire_server.api.context import Caller
from groundwire_server.api.drop_in_contents import DROP_INS, ignored
from groundwire_server.api.request_models import SearchRequest, Tokens, WholeNumber, Words
from groundwire_server.error_body import ApiModel, failed

_CHARACTERS = 4  # of a token, on average


class PerplexityRequest(SearchRequest):
    """A search with what only Perplexity has; its names of the other arguments, Tavily's and Exa's are understood."""

    query: Words | Annotated[tuple[Words, ...], Field(min_length=1, max_length=5)]  # type: ignore[assignment]
    """One query, or several whose results are merged into one list."""
    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT), WholeNumber] = 10
    """Maximum results."""
    max_tokens: Tokens | None = None
    """Maximum tokens of all snippets together, at four characters each."""
    max_tokens_per_page: Tokens | None = None
    """Maximum tokens of one snippet. Open the page for more text."""
    display_server_time: bool = False
    """Whether to return the server's time."""


class PerplexityResult(ApiModel):
    """A result in Perplexity's format."""

    title: str
    """The page's title."""
    url: str
    """Its address."""
    snippet: str
    """A passage of the page."""
    date: str | None
    """The day of publication, if known."""
    last_updated: str | None = None
    """Always unknown."""
    id: str = ""
    """Its address, as in Exa's responses."""
    content: str = ""
    """The passage, as in Tavily's responses."""
    publishedDate: str | None = None  # noqa: N815  # Exa's own name
    """The day, as in Exa's responses."""
    score: float | None = None
    """The provider's own score, as in Tavily's responses."""


class PerplexityReply(ApiModel):
    """A response in Perplexity's format. No results means that the search succeeded and found nothing."""

    results: tuple[PerplexityResult, ...]
    """The results, best first."""
    id: str
    """The ID of this response."""
    server_time: str | None = None
    """The server's time, if requested."""
    query: str | None = None
    """The query, if there was only one."""
    warnings: tuple[str, ...] = ()
    """Warnings: results of an earlier search, or arguments without effect, each with a replacement."""


def with_notice(response: SearchResponse) -> Sequence[SearchResult]:
    """Return the results for a form in which clients read nothing else: the snippets begin with the notice, if any."""
    if not response.notice:
        return response.results
    notice = f"({response.notice})"
    return [replace(row, snippet=f"{notice} {row.snippet}".rstrip()) for row in response.results]


async def search_perplexity(caller: Caller, request: PerplexityRequest) -> PerplexityReply:
    """Search for a client of Perplexity."""
    queries = (request.query,) if isinstance(request.query, str) else request.query
    arguments = request.model_dump(include=set(SearchRequest.model_fields) - {"query", "session"})
    web = caller.session(request.session)
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(web.search(query, **arguments)) for query in dict.fromkeys(queries)]
    except BaseExceptionGroup as errors:  # a query that failed must not look like one without results
        raise errors.exceptions[0] from None
    responses = [task.result() for task in tasks]
    rows = list(_merged(map(with_notice, responses)))[: request.limit]
    others = {name: value for name, value in request.sent_members.items() if name not in type(request).model_fields}
    notices = dict.fromkeys(response.notice for response in responses if response.notice)
    return PerplexityReply(
        results=tuple(_rows(rows, request)),
        id=str(uuid.uuid4()),
        server_time=datetime.now(UTC).isoformat() if request.display_server_time else None,
        query=queries[0] if len(queries) == 1 else None,
        warnings=(*notices, *ignored(others, SEARCH)),
    )


def _merged(by_query: Iterable[Sequence[SearchResult]]) -> Iterator[SearchResult]:
    """Yield the results of all queries, the best of each first, without duplicate URLs."""
    urls = set()
    columns = list(by_query)
    for place in range(max(map(len, columns), default=0)):
        for column in columns:
            if place < len(column) and column[place].url not in urls:
                urls.add(column[place].url)
                yield column[place]


def _rows(rows: Iterable[SearchResult], request: PerplexityRequest) -> Iterator[PerplexityResult]:
    remaining = None if request.max_tokens is None else request.max_tokens * _CHARACTERS
    each = None if request.max_tokens_per_page is None else request.max_tokens_per_page * _CHARACTERS
    for row in rows:
        room = min((size for size in (remaining, each) if size is not None), default=None)
        snippet = row.snippet if room is None or len(row.snippet) <= room else _cut(row.snippet, room)
        if remaining is not None:
            remaining -= len(snippet)
        day = row.published[:10] if row.published else None
        yield PerplexityResult(
            title=row.title,
            url=row.url,
            snippet=snippet,
            date=day,
            id=row.url,
            content=snippet,
            score=row.score,
            publishedDate=day,
        )


def _cut(text: str, room: int) -> str:
    """Truncate a text, between two words if possible."""
    head = text[:room]
    return re.sub(r"(?<!\s)\s+\S*$", "", head) if text[room : room + 1].strip() else head.rstrip()


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseForm:
    """The JSON form of another API's response."""

    ours: str = ""
    """Our path that answers, if it is not the same."""
    rows: str = ""
    """The member with the results or pages; dots lead into objects. Empty for the usual response."""
    fields: Mapping[str, str] = field(default_factory=dict)
    """Our field of each of its members."""
    failed: str = ""
    """The member with the pages that could not be read."""
    constants: Mapping[str, object] = field(default_factory=dict)
    """Members that are always the same."""
    is_one: bool = False
    """Whether a single page is an object, not a list of one."""
    defaults: Mapping[str, object] = field(default_factory=dict)
    """Arguments of a request for pages that says nothing of its part or size."""
    adds: bool = False
    """Whether the rows are added to the usual response."""
    text_errors: bool = False
    """Whether clients, those of Firecrawl and Exa, take `error` for a message; else it is in `detail.error`, too."""
    milliseconds: bool = False
    """Whether clients write `timeout` in milliseconds."""


def _forms() -> Iterator[tuple[str, ResponseForm]]:
    for row in DROP_INS["form"]:
        form = ResponseForm(**{name: value for name, value in row.items() if name != "paths"})
        yield from dict.fromkeys(row["paths"], form).items()


FORMS: Final[Mapping[str, ResponseForm]] = MappingProxyType(dict(_forms()))
"""What the clients at the paths of other APIs read: Perplexity, Tavily, Exa, and Firecrawl."""


def shaped(response: Mapping[str, Any], shape: ResponseForm) -> dict[str, Any]:
    """Return a response in the form of another API; warnings are kept.

    Args:
        response: The response, with `results` or `pages`.
        shape: The form.

    Raises:
        Failed: no page could be read, and the form has no member for that.
    """
    rows = next(response[name] for name in ("pages", "results", "sources") if name in response)
    if shape.adds:
        return {**response, shape.rows: [_members(row, shape.fields) for row in rows]}
    successes = [row for row in rows if row.get("status") != "error"]
    objects = [_members(row, shape.fields) for row in successes]
    body = _members(
        {"rows": objects[0] if shape.is_one and len(rows) == len(objects) == 1 else objects}, {shape.rows: "rows"}
    )
    errors = [
        {"id": row["url"], "url": row["url"], "status": "error", "error": row["error"]}
        for row in rows
        if row.get("status") == "error"
    ]
    if shape.is_one and errors and not successes:  # its clients know no list of failures
        raise failed(502, "page_unavailable", errors[0]["error"])
    if shape.failed and (errors or not shape.is_one):
        body[shape.failed] = errors
    return {**shape.constants, **body} | ({"warnings": response["warnings"]} if response.get("warnings") else {})


def _members(row: Mapping[str, Any], fields: Mapping[str, str]) -> dict[str, Any]:
    """Return an object with its members under other names, and its warnings."""
    members: dict[str, Any] = {"warnings": row["warnings"]} if row.get("warnings") else {}
    for path, name in fields.items():
        *outer, last = path.split(".")
        inner = members
        for part in outer:
            inner = inner.setdefault(part, {})
        inner[last] = row.get(name)
    return members
