"""The common format of answers of models with hosted search, and of the events of a streamed answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from groundwire.models import Outcome

__all__ = [
    "AnswerEvent",
    "CitationAdded",
    "Covers",
    "Ended",
    "ErrorMet",
    "Finish",
    "HostedAnswer",
    "HostedCall",
    "HostedCitation",
    "HostedError",
    "HostedSource",
    "HostedUsage",
    "PageOpened",
    "QueryIssued",
    "SourceFound",
    "SourcesFrom",
    "TextAdded",
    "UsageReported",
]

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


@dataclass(frozen=True, slots=True)
class TextAdded:
    """More text of the answer; all of these joined are the whole text."""

    text: str


@dataclass(frozen=True, slots=True)
class QueryIssued:
    """The model searches for this query."""

    query: str


@dataclass(frozen=True, slots=True)
class SourceFound:
    """A page was found or fetched."""

    source: HostedSource


@dataclass(frozen=True, slots=True)
class PageOpened:
    """The model opened a page."""

    url: str


@dataclass(frozen=True, slots=True)
class CitationAdded:
    """The answer cites a page; spans that depend on the whole text are sent at its end."""

    citation: HostedCitation


@dataclass(frozen=True, slots=True)
class ErrorMet:
    """An error occurred; the answer may continue."""

    error: HostedError


@dataclass(frozen=True, slots=True)
class UsageReported:
    """The usage of the answer."""

    usage: HostedUsage


@dataclass(frozen=True, slots=True)
class Ended:
    """The stream has ended, with the same answer as `read_answer` returns for the whole body."""

    answer: HostedAnswer


AnswerEvent = TextAdded | QueryIssued | SourceFound | PageOpened | CitationAdded | ErrorMet | UsageReported | Ended
"""Any of these events."""
