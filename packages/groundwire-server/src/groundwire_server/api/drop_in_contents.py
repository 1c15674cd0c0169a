"""What clients of other APIs ask for beside results or pages: the texts of the results, and an answer.

Their clients read no warnings: what cannot be given is refused.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Final

from groundwire import agent_loop
from groundwire.citations import render_answer
from groundwire.deadline import Deadline
from groundwire.errors import InvalidRequest
from groundwire.models.argument_names import OPEN_PAGE, argument_hint, translated, without_effect
from groundwire_server.api.context import Caller
from groundwire_server.api.request_models import ApiRequest, PagesRequest, SearchRequest

_EFFECTIVE: Final = frozenset(
    ("include_answer", "include_raw_content", "contents", "scrape_options", "highlights", "text")
)
"""Arguments that have their effect here, in snake case."""
DROP_INS: Final[Mapping[str, Any]] = tomllib.loads(
    files("groundwire_server.api").joinpath("drop_ins.toml").read_text(encoding="utf-8")
)
"""What is known of other APIs."""


def with_reasons(table: str) -> Mapping[str, str]:
    """Return the words of a table of `drop_ins.toml`, each with why it is not possible and what to use instead."""
    return MappingProxyType({word: why for words, why in DROP_INS[table].items() for word in words.split()})


_LOST: Final = with_reasons("lost")
"""Arguments that have no effect elsewhere, whose effect a client would miss, with what to use instead."""
_WITHOUT_AN_ANSWER: Final = (
    "safesearch",
    "time_range",
    "published_after",
    "published_before",
    "language",
    "region",
    "page",
    "sources",
)
_OF_PAGES: Final = frozenset({"refresh", "keep"})
_MAX_CHARS: Final = 10_000_000  # characters of all pages together


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """What is added to a response."""

    member: str = ""
    """The member of a row for the text of its page; empty for none."""
    length: int | None = None
    """Maximum characters of a text."""
    passage: bool = False
    """Whether each row has its snippet as Exa's `highlights`."""
    answer: Mapping[str, Any] | None = None
    """The arguments of the search whose question is answered."""
    options: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    """Arguments of `Web.open_pages`."""


def contents_of(members: Mapping[str, Any], *, reads: bool, lists: bool = False) -> Contents:
    """Return what a client of another API asks for beside results or pages.

    Args:
        members: The members of its request, as they were sent.
        reads: Whether it is a request for pages, whose texts are in the response anyway.
        lists: Whether it is a request for the addresses of a site, which have nothing beside them.

    Raises:
        InvalidRequest: there is something that it would not get.
    """
    plain = {_snake(name): value for name, value in members.items()}
    _refuse_lost(plain, () if lists else _EFFECTIVE - {"highlights"} if reads else _EFFECTIVE)
    if lists:
        return Contents()
    searched = SearchRequest.renamed(without_days(members))
    options: dict[str, Any] = {name: value for name, value in searched.items() if name in _OF_PAGES}
    text = plain.get("text") if isinstance(plain.get("text"), (bool, Mapping)) else None  # else it is the query
    if reads:
        return Contents(member="text" if text else "", length=_length(text))
    answer = _question(searched) if _is_wanted(plain.get("include_answer")) else None
    if scrape := plain.get("scrape_options"):
        return Contents(member="markdown", options=options | _page_options("scrapeOptions", scrape), answer=answer)
    passage, inner = _is_wanted(plain.get("highlights")), plain.get("contents")
    if inner:
        if not isinstance(inner, Mapping):
            raise InvalidRequest("contents", "is not an object", 'Pass {"text": true}.')
        inner = {_snake(name): value for name, value in inner.items()}
        text, passage = inner.pop("text", None), _is_wanted(inner.pop("highlights", None))
        options |= _page_options("contents", inner)
    raw = "raw_content" if _is_wanted(plain.get("include_raw_content")) else ""
    return Contents(
        member="text" if text else raw,
        length=_length(text),
        passage=passage,
        answer=answer,
        options=options,
    )


def _question(searched: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the arguments of a search whose question can be answered.

    Raises:
        InvalidRequest: the answer would not be of what is searched.
    """
    filters = [name for name in _WITHOUT_AN_ANSWER if searched.get(name) not in (None, "all", 1, ["web"])]
    for name in filters if isinstance(searched.get("query"), str) else ["several queries"]:
        raise InvalidRequest("include_answer", f"cannot be combined with {name}", "Leave out one of them.")
    return searched


def _is_wanted(value: object) -> bool:
    return value not in (None, False, 0, "", "false", [], {})


def _refuse_lost(plain: Mapping[str, Any], served: Iterable[str], inside: str = "") -> None:
    for name, value in plain.items():
        if name in _LOST and name not in served and _is_wanted(value):
            raise InvalidRequest(f"{inside}{name}", "is not possible here", f"Leave it out: {_LOST[name]}.")
    formats = plain.get("formats")
    for form in formats if isinstance(formats, list) else ():
        if form != "markdown" and form != {"type": "markdown"}:
            raise InvalidRequest(f"{inside}formats", "can only be markdown", 'Pass ["markdown"].')
    if plain.get("format") == "text":  # of Tavily's pages
        raise InvalidRequest(f"{inside}format", "can only be markdown", "Leave it out.")


def _page_options(name: str, options: Any) -> dict[str, Any]:
    """Return the arguments of `Web.open_pages` in another API's options for the pages of a search.

    Raises:
        InvalidRequest: an option asks for what there is not.
    """
    if not isinstance(options, Mapping):
        raise InvalidRequest(name, "is not an object", "Pass its options, such as the formats.")
    _refuse_lost({_snake(key): value for key, value in options.items()}, (), f"{name}.")
    meant: dict[str, Any] = {}
    for key, value in options.items():
        right = translated(key, value, OPEN_PAGE, PagesRequest.model_fields)
        if right is None or right.keys() - _OF_PAGES - {"timeout"}:  # the whole call has a limit
            fix = argument_hint(key, PagesRequest.model_fields, OPEN_PAGE) or "; leave it out"
            raise InvalidRequest(f"{name}.{key}", "is not possible here", f"{fix[2:].capitalize()}.")
        meant |= right
    return {key: value for key, value in meant.items() if key in _OF_PAGES}


def _length(text: object) -> int | None:
    """Return the maximum characters of a text, of Exa's `{"maxCharacters": 1000}`.

    Raises:
        InvalidRequest: it has other options.
    """
    options = {_snake(name): value for name, value in text.items()} if isinstance(text, Mapping) else {}
    length = options.pop("max_characters", None)
    if any(map(_is_wanted, options.values())) or not (length is None or (isinstance(length, int) and length > 0)):
        raise InvalidRequest("text", "is invalid", 'Pass true, or {"maxCharacters": 1000}; pages are Markdown.')
    return length


async def add_contents(caller: Caller, request: ApiRequest, contents: Contents, urls: Iterable[str]) -> None:
    """Read the pages of the results, and answer the question, as far as a client wants it, into `caller.extra`.

    Args:
        caller: The caller.
        request: The request.
        contents: What is wanted.
        urls: The addresses of the results.

    Raises:
        GroundwireError: there is no answer. A page that cannot be read has no text.
    """
    web = caller.session(request.session)
    deadline = None if request.timeout is None else Deadline.after(request.timeout)
    wished = list(dict.fromkeys(urls))
    if contents.member and wished:
        seconds = None if deadline is None else max(1.0, deadline.remaining())
        pages = await web.open_pages(wished, max_length=_MAX_CHARS, timeout=seconds, **contents.options)
        pages_by_url = dict(zip(wished, pages, strict=True))
        caller.extra["texts"] = {url: page.content for url, page in pages_by_url.items() if page.status == "success"}
        caller.extra["unread"] = [
            f"{url}: {page.error}" for url, page in pages_by_url.items() if page.status == "error"
        ]
    if contents.answer is not None:
        view = web.restricted(
            allowed_domains=contents.answer.get("allowed_domains") or (),
            blocked_domains=contents.answer.get("blocked_domains") or (),
            keep=contents.options.get("keep", True),
        )
        seconds = None if deadline is None else max(1.0, deadline.remaining())
        answer = await agent_loop.ask(contents.answer["query"], web=view, timeout=seconds)
        caller.extra["answer"] = render_answer(answer.text, answer.sources).text


def with_contents(
    body: dict[str, Any], rows: Iterable[dict[str, Any]], contents: Contents, extra: Mapping[str, Any]
) -> dict[str, Any]:
    """Return a response with what was wanted beside its rows.

    Args:
        body: The response.
        rows: Its rows, which get the texts.
        contents: What is wanted.
        extra: The texts by URL, and the answer.
    """
    for row in rows:
        text = row.get(contents.member) or extra.get("texts", {}).get(row.get("url"))
        if contents.member == "markdown" and text:  # Firecrawl's clients take a row with this member for a page
            row["metadata"] = {"url": row["url"], "sourceURL": row["url"], "title": row["title"]}
        if text or contents.member == "raw_content":  # Tavily's clients know a page without a text by null
            row[contents.member] = text and text[: contents.length]
        if contents.passage and row.get("content"):
            row["highlights"] = [row["content"]]
    if extra.get("unread"):
        body["warnings"] = [*body.get("warnings", ()), *extra["unread"]]
    if "answer" in extra:
        body["answer"] = extra["answer"]
    return body


def without_days(members: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the members of a request without `days`, which Tavily's clients send for every topic, but for news."""
    is_general = members.get("topic", "news") != "news"
    return {name: value for name, value in members.items() if name != "days"} if is_general else members


def ignored(members: Mapping[str, Any], names: Mapping[str, str]) -> tuple[str, ...]:
    """Return a warning for each argument of a request that has no effect; see `without_effect`."""
    return without_effect({name: value for name, value in members.items() if _snake(name) not in _EFFECTIVE}, names)


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
