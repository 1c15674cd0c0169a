"""A drop-in for SearXNG's search in JSON (https://docs.searxng.org/dev/search_api.html).

Its clients only change the URL. Where SearXNG would report a failure as no results, the response has an error status,
so that a client cannot confuse the two.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import ClassVar, Final, Literal
from urllib.parse import parse_qsl, urlparse

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.requests import Request
from starlette.responses import Response

from groundwire.models import MAX_PAGE, SafeSearch, SearchResponse, SearchResult, SearchSource, TimeRange
from groundwire.web import Web
from groundwire_server.api.compat_apis import with_notice
from groundwire_server.api.context import Caller
from groundwire_server.api.request_models import Words
from groundwire_server.error_body import ApiModel, Failed, Problem, failed

_LIMIT = 20  # results; the page size of an instance
_FIELDS = 100  # of a form; there are eight
_TIME_RANGES: Final[Mapping[str, TimeRange]] = {"": "all", "day": "d", "week": "w", "month": "m", "year": "y"}
_SAFESEARCH: Final[Mapping[str, SafeSearch]] = {"0": "off", "1": "moderate", "2": "strict"}
_CATEGORIES: Final[Mapping[str, SearchSource | Literal["news"]]] = {
    **dict.fromkeys(("general", "web"), "web"),
    "news": "news",
    **dict.fromkeys(("science", "scientific publications"), "papers"),
}
"""What is searched for a category."""
_MESSAGES: Final[Mapping[str, str]] = {
    "rate_limited": "too many requests",
    "timeout": "timeout",
    "blocked": "access denied",
    "network": "network error",
    "invalid_response": "parsing error",
}
"""SearXNG's messages for the outcomes of an attempt."""


class SearxngRequest(BaseModel):
    """The parameters of a SearXNG search. Others of SearXNG's, such as `theme`, are ignored."""

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, extra="ignore", use_attribute_docstrings=True)

    q: Words
    """The query."""
    format: Literal["json"]
    """The response format; only `json` is supported."""
    pageno: str = Field(default="", pattern=rf"^([1-9]|{MAX_PAGE})?$")
    """The page of results."""
    language: str = Field(default="", pattern=r"^(|all|auto|(all|[A-Za-z]{2,3})([-_][A-Za-z]{2,4}){0,2})$")
    """A language such as `en` or `de-DE`; `all`, `auto` or nothing for any."""
    time_range: Literal["", "day", "week", "month", "year"] = ""
    """The maximum age of results."""
    safesearch: Literal["", "0", "1", "2"] = ""
    """The SafeSearch level: 0 nothing, 1 moderate, 2 strict; by default the gateway's setting."""
    categories: str = Field(default="", max_length=500)
    """Comma-separated names: `general`; `news` for pages of the last month, or of the time range; `science` for
    papers. Others are not supported."""
    engines: str = Field(default="", max_length=500)
    """Comma-separated names of the gateway's providers to use; `duckduckgo` stands for `duckduckgo_lite`.
    If none of the names is known, the request is rejected."""


class SearxngResult(ApiModel):
    """A result in SearXNG's format."""

    url: str
    """The page's address."""
    title: str
    """Its title."""
    content: str
    """A passage of the page."""
    engine: str
    """The provider that found it."""
    engines: tuple[str, ...]
    """All providers that found it."""
    positions: tuple[int, ...]
    """Its position in the response."""
    score: float
    """A score computed from its position."""
    category: str = "general"
    """The category searched."""
    parsed_url: tuple[str, str, str, str, str, str]
    """The parts of its address."""
    publishedDate: str | None  # noqa: N815  # SearXNG's own name
    """When it was published, ISO 8601."""


class SearxngReply(ApiModel):
    """A response in SearXNG's format. No results means that the search succeeded and found nothing."""

    query: str
    """The words."""
    number_of_results: int
    """The number of results."""
    results: tuple[SearxngResult, ...]
    """The results, best first."""
    answers: tuple[str, ...] = ()
    """Always empty."""
    corrections: tuple[str, ...] = ()
    """Always empty."""
    infoboxes: tuple[str, ...] = ()
    """Always empty."""
    suggestions: tuple[str, ...] = ()
    """Always empty."""
    unresponsive_engines: tuple[tuple[str, str], ...] = ()
    """Providers that failed and requested options that are not supported, each with a reason."""


class SearxngFailure(ApiModel):
    """A failure in SearXNG's format."""

    error: str
    """What went wrong, and what to do."""


def read_searxng(request: Request, body: bytes) -> SearxngRequest:
    """Parse the query or form of a request.

    Raises:
        Failed: it is invalid; the message is SearXNG's.
    """
    parameters = dict(request.query_params)
    if request.method == "POST":
        try:
            parameters |= dict(
                parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=_FIELDS)
            )
        except ValueError:
            raise failed(400, "invalid_request", f"The form has more than {_FIELDS} fields") from None
    if not parameters.get("q", "").strip():
        hint = "; send q in the form, or JSON with Content-Type: application/json" if body.strip() else ""
        raise failed(400, "invalid_request", f"No query{hint}")
    form = parameters.get("format", "html")
    if form != "json":
        raise failed(403, "wrong_format", f"The format {form[:20]} is not enabled; use format=json")
    fields = SearxngRequest.model_fields
    values = {name: value for name, value in parameters.items() if name in fields and value}
    try:
        return SearxngRequest.model_validate(values)
    except ValidationError as error:
        name = str(error.errors(include_url=False, include_input=False)[0]["loc"][0])
        text = f"Invalid value {parameters[name][:60]} for parameter {name}"
        raise Failed(400, Problem(code="invalid_request", message=text, field=name)) from None


def refuse_searxng(failure: Failed) -> Response:
    """Return a failure in SearXNG's form."""
    response = failure.response()
    body = SearxngFailure(error=failure.problem.message).model_dump_json()
    headers = {name: value for name, value in response.headers.items() if name != "content-length"}
    return Response(body, response.status_code, headers)


async def search_searxng(caller: Caller, request: SearxngRequest) -> SearxngReply:
    """Search for a client of SearXNG."""
    categories, engines = _names(request.categories), _names(request.engines)
    kinds = {name: _CATEGORIES[name] for name in categories if name in _CATEGORIES}
    kind = next((candidate for candidate in ("web", "news", "papers") if candidate in kinds.values()), "web")
    if categories and not kinds:
        text = f"This gateway searches the categories general, news, and science, not {', '.join(categories)}."
        raise failed(400, "invalid_request", text)
    unlike = [name for name in categories if kinds.get(name) != kind and (kinds.get(name), kind) != ("news", "web")]
    missing = [(name, "not searched by this gateway") for name in unlike]
    web, unknown = _with_providers(caller.session(None), engines)
    language, region = _language(request.language)
    response = await web.search(
        request.q,
        limit=_LIMIT,
        time_range=_TIME_RANGES[request.time_range or ("month" if kind == "news" else "")],
        language=language,
        region=region,
        safesearch=_SAFESEARCH.get(request.safesearch),
        page=int(request.pageno or 1),
        sources=["papers" if kind == "papers" else "web"],
    )
    missing += [(name, "not a provider of this gateway") for name in unknown]
    category = next((name for name in categories if kinds.get(name) == kind), "general")
    rows = tuple(_row(row, place, category) for place, row in enumerate(with_notice(response), start=1))
    return SearxngReply(
        query=request.q,
        number_of_results=len(rows),
        results=rows,
        unresponsive_engines=(*dict(_unresponsive(response)).items(), *missing),
    )


def _with_providers(web: Web, engines: list[str]) -> tuple[Web, list[str]]:
    """Return a view of a `Web` with only the named providers, and the unknown names.

    Raises:
        Failed: all names are unknown.
    """
    here = [provider.name for provider in web.search_providers]
    matches = {
        name: [provider_name for provider_name in here if name in (provider_name, provider_name.split("_")[0])]
        for name in engines
    }
    providers = [provider_name for names in matches.values() for provider_name in names]
    if engines and not providers:
        text = f"This gateway has no engine {', '.join(engines)}; its engines are {', '.join(here)}."
        raise failed(400, "invalid_request", text)
    return (web.restricted(providers=providers) if engines else web), [name for name in engines if not matches[name]]


def _names(text: str) -> list[str]:
    return list(dict.fromkeys(name for part in text.split(",") if (name := part.strip().lower())))


def _language(text: str) -> tuple[str | None, str | None]:
    """Return the language and country of a SearXNG language such as `de-DE`, `zh-Hans-CN` or `all-US`."""
    language, *more = text.replace("_", "-").split("-")
    region = next((part for part in reversed(more) if len(part) == 2), None)
    return (language or None) if language not in ("all", "auto") else None, region


def _row(row: SearchResult, place: int, category: str) -> SearxngResult:
    engines = tuple(_engines(row.source)) or ("groundwire",)
    return SearxngResult(
        url=row.url,
        title=row.title,
        content=row.snippet,
        engine=engines[0],
        engines=engines,
        positions=(place,),
        score=1.0 / place,
        category=category,
        parsed_url=urlparse(row.url),
        publishedDate=f"{row.published}T00:00:00" if row.published and len(row.published) == 10 else row.published,
    )


def _engines(source: str) -> Iterator[str]:
    """Yield the providers in a source: `brave, searxng (bing, mojeek)` names two."""
    for part in re.sub(r"\([^()]*\)", "", source).split(","):
        if name := part.strip():
            yield name


def _unresponsive(response: SearchResponse) -> Iterator[tuple[str, str]]:
    for attempt in response.attempts:
        if attempt.outcome not in {"ok", "partial", "empty"} and not attempt.abandoned:
            yield attempt.provider, _MESSAGES.get(attempt.outcome) or attempt.reason or attempt.outcome
