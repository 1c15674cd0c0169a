"""The common format of answers of models with hosted search, and access to their JSON."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from groundwire.json_text import json_or_none
from groundwire.models import Outcome

_MAX_COUNT = 2**53  # beyond it, numbers in JSON are not exact
_ASSISTANTS = (
    r"openai|chatgpt(?:\.com)?|perplexity(?:\.ai)?|claude(?:\.ai)?|anthropic|gemini(?:\.google\.com)?"
    r"|copilot(?:\.com|\.microsoft\.com)?|grok(?:\.com)?|x\.ai|xai|mistral(?:\.ai)?|openrouter(?:\.ai)?"
)
_SURROGATE = re.compile("[\ud800-\udfff]")
_MARK = re.compile(rf"(?<=[?&])utm_source=(?:{_ASSISTANTS})(?:&|(?=#)|$)", re.IGNORECASE)


@cache
def answer_words() -> dict[str, dict[Any, Any]]:
    """Return how model APIs say that an answer ended (`finishes`), their errors (`outcomes`), and their `usage`."""
    return tomllib.loads(files("groundwire.hosted").joinpath("data", "answers.toml").read_text(encoding="utf-8"))


def text_of(value: object) -> str:
    """Return `value` if it is text, else an empty string; a lone surrogate becomes U+FFFD, which keeps the length."""
    if not isinstance(value, str):
        return ""
    return value if value.isascii() else _SURROGATE.sub("\ufffd", value)


def first_text(*values: object) -> str:
    """Return the first of `values` that is a non-empty string, or an empty string."""
    return next((text for value in values if (text := text_of(value))), "")


def object_of(value: object) -> dict[str, Any]:
    """Return `value` if it is a JSON object, else an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: object) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects in a list, skipping everything else."""
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, dict))


def texts(value: object) -> Iterator[str]:
    """Yield the strings in a list, skipping everything else."""
    if isinstance(value, list):
        yield from (text for item in value if (text := text_of(item)))


def count(value: object) -> int:
    """Return `value` if it is a non-negative integer, or 0."""
    return offset(value) or 0


def offset(value: object) -> int | None:
    """Return `value` if it is a non-negative integer, else None."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _MAX_COUNT:
        return None
    return value


def parsed(text: object) -> object:
    """Parse the JSON in a text; return an object unchanged, and None for anything else."""
    if not isinstance(text, (str, bytes)):
        return text if isinstance(text, dict) else None
    return json_or_none(text)


def clean_url(value: object) -> str:
    """Return a URL without the `utm_source` added by an assistant, otherwise unchanged."""
    url = text_of(value)
    if "utm_source=" not in url:
        return url
    head, mark, fragment = url.partition("#")
    return _MARK.sub("", head).rstrip("?&") + mark + fragment if _MARK.search(head) else url


SourcesFrom = Literal["results", "citations", "none"]
"""Whether the sources are those listed by the API as found or, if it lists none, those cited in the answer."""

Covers = Literal["claim", "block", "link", "marker", "nothing"]
"""What the span of a citation covers: the words it supports (Gemini), the whole text block that contains it
(Anthropic, Bedrock), the link that the model wrote after them (OpenAI), a marker such as `[2]` (Perplexity), or
nothing, because the API gives no span."""

Finish = Literal["end", "length", "tool_calls", "pause", "refused", "failed", "unknown"]
"""Why the model stopped, normalized: it finished, it ran out of tokens, it called functions, the API expects the
turn to be sent back (Anthropic's `pause_turn`), a filter stopped it, the request failed, or unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostedSource:
    """One page that a hosted search found or fetched."""

    url: str
    """The URL, without the API's tracking parameter (`utm_source=openai`)."""
    title: str = ""
    """The title as the API gives it; Gemini gives the name of the site."""
    snippet: str = ""
    """A passage of the page, if the API returns one."""
    published: str = ""
    """When the page was published, as formatted by the API."""
    site: str = ""
    """The page's host, if the URL only redirects to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostedCitation:
    """One citation of a hosted answer."""

    url: str
    """The URL of the cited page, without the API's tracking parameter."""
    title: str = ""
    """Its title, as given by the API."""
    cited_text: str = ""
    """The text that the API gives with the citation: of the page (Anthropic), or of the answer (Gemini)."""
    start: int | None = None
    """The start of its span in the answer's text, in code points; None if the API gives no span."""
    end: int | None = None
    """The end of its span, exclusive."""
    covers: Covers = "nothing"
    """What the span covers."""
    position: int | None = None
    """The position of a marker for it: the span's end, or the length of the text so far; None if unknown."""
    site: str = ""
    """The page's host, if the URL only redirects to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostedError:
    """An error of a whole request, or of one search inside an otherwise successful answer."""

    code: str
    """The API's own code, such as `max_uses_exceeded`; `http_502` and the like if it has none."""
    outcome: Outcome
    """The kind of failure, normalized."""
    message: str = ""
    """The API's message, at most 300 characters, without secrets."""
    tool: str = ""
    """The tool that failed (`web_search`, `web_fetch`), or empty for the request as a whole."""
    status: int | None = None
    """The HTTP status, if it was not 200."""
    retry_after: float | None = None
    """Seconds after which the API allows another request, as stated by it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostedUsage:
    """The usage of an answer, as far as the API reports it."""

    searches: int = 0
    """Searches made by the API: the number it bills if it reports one, else those visible in the answer."""
    fetches: int = 0
    """Pages that the API opened."""
    input_tokens: int = 0
    """Input tokens, including cached ones."""
    output_tokens: int = 0
    """Output tokens, including reasoning tokens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostedCall:
    """A call of one of the caller's own functions that is waiting for a result."""

    id: str
    """The id that the result refers to; empty if the API has no ids."""
    name: str
    """The function's name."""
    arguments: Any
    """The arguments as sent by the API: an object, or text with one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostedAnswer:
    """The answer of a model with hosted search."""

    api: str
    """The API it comes from, such as `anthropic`."""
    model: str = ""
    """The model as the API names it."""
    text: str = ""
    """The text of the answer, all parts joined, without reasoning."""
    queries: tuple[str, ...] = ()
    """The search queries, in order, without duplicates."""
    sources: tuple[HostedSource, ...] = ()
    """The pages found or fetched, in order, without duplicate URLs."""
    sources_from: SourcesFrom = "none"
    """Where the sources come from."""
    citations: tuple[HostedCitation, ...] = ()
    """The citations, in the order of the API."""
    opened: tuple[str, ...] = ()
    """URLs of pages that the model opened, without duplicates."""
    error: HostedError | None = None
    """The first error, or None."""
    errors: tuple[HostedError, ...] = ()
    """All errors, in order."""
    usage: HostedUsage = field(default_factory=HostedUsage)
    """The usage."""
    stop_reason: str | None = None
    """Why the model stopped, in the API's terms."""
    finish: Finish = "unknown"
    """Why the model stopped, normalized."""
    calls: tuple[HostedCall, ...] = ()
    """The calls of the caller's own functions that are waiting for a result."""
    turn: tuple[dict[str, Any], ...] = ()
    """The messages to send back to continue the conversation, as received: one assistant message, or the output
    items (OpenAI Responses, Gemini Interactions). Encrypted content, signatures and reasoning are unchanged."""
