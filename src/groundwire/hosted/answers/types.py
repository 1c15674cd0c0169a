"""The one shape of an answer of a model that searched the web by itself, whatever its API.

What a streamed answer says while it comes.
"""

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
"""Whether the sources are what the API lists as found, or, where it lists nothing, what the answer cites."""

Covers = Literal["claim", "block", "link", "marker", "nothing"]
"""What the span of a citation covers: the words it supports (Gemini), the whole text block that carries it
(Anthropic, Bedrock), the link that the model wrote behind them (OpenAI), a mark such as `[2]` (Perplexity), or
nothing, because the API gives no span."""

Finish = Literal["end", "length", "tool_calls", "pause", "refused", "failed", "unknown"]
"""Why the model stopped, in one vocabulary: it was done, it ran out of tokens, it wants its functions called, the
API wants the turn sent back (Anthropic's `pause_turn`), a filter stopped it, the request failed, or it is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostedSource:
    """One page that a hosted search found or fetched."""

    url: str
    """The address, without the mark of the API that handed it out (`utm_source=openai`)."""
    title: str = ""
    """The title as the API gives it; Gemini gives the name of the site."""
    snippet: str = ""
    """A passage of the page, where the API shows one."""
    published: str = ""
    """When the page was published, in the API's own words."""
    site: str = ""
    """The page's host, where the address only redirects to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostedCitation:
    """One citation of a hosted answer."""

    url: str
    """The address of the cited page, without the mark of the API that handed it out."""
    title: str = ""
    """Its title as the API gives it."""
    cited_text: str = ""
    """The text that the API gives with the citation: words of the page (Anthropic), or of the answer (Gemini)."""
    start: int | None = None
    """Where its span begins in the answer's text, in code points; None where the API gives no span."""
    end: int | None = None
    """Where its span ends, exclusive."""
    covers: Covers = "nothing"
    """What the span covers."""
    position: int | None = None
    """Where a mark for it belongs: the span's end, or how much text had been said when it came; None if unknown."""
    site: str = ""
    """The page's host, where the address only redirects to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostedError:
    """Something that went wrong: of a whole request, or of one search inside an answer that is otherwise good."""

    code: str
    """The API's own code, such as `max_uses_exceeded`; `http_502` and the like where it has none."""
    outcome: Outcome
    """What kind of failure it is, in our words."""
    message: str = ""
    """What the API says, at most 300 characters, without secrets."""
    tool: str = ""
    """The tool that failed (`web_search`, `web_fetch`), or empty for the request as a whole."""
    status: int | None = None
    """The HTTP status, where it was not 200."""
    retry_after: float | None = None
    """Seconds after which the API itself says it may be asked again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostedUsage:
    """What an answer cost, as far as its API says."""

    searches: int = 0
    """Searches that the API made: the number it bills where it says so, else those that can be seen."""
    fetches: int = 0
    """Pages that the API opened."""
    input_tokens: int = 0
    """Tokens read, those from a cache among them."""
    output_tokens: int = 0
    """Tokens written, those of reasoning among them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostedCall:
    """A call of one of the caller's own functions, which the model waits for."""

    id: str
    """What the result must be sent back under; empty where the API has no ids."""
    name: str
    """The function's name."""
    arguments: Any
    """The arguments as the API sent them: an object, or text that holds one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostedAnswer:
    """The answer of a model that could search the web by itself."""

    api: str
    """The API that gave it, such as `anthropic`."""
    model: str = ""
    """The model as the API names it."""
    text: str = ""
    """What the model says, all text parts joined; its reasoning is not part of it."""
    queries: tuple[str, ...] = ()
    """What it searched for, in order, no words twice."""
    sources: tuple[HostedSource, ...] = ()
    """The pages that were found or fetched, in order, no address twice."""
    sources_from: SourcesFrom = "none"
    """Where the sources come from."""
    citations: tuple[HostedCitation, ...] = ()
    """The citations, in the order of the API."""
    opened: tuple[str, ...] = ()
    """Addresses of pages that the model opened, no address twice."""
    error: HostedError | None = None
    """The first thing that went wrong, or None."""
    errors: tuple[HostedError, ...] = ()
    """Everything that went wrong, in order."""
    usage: HostedUsage = field(default_factory=HostedUsage)
    """What it cost."""
    stop_reason: str | None = None
    """Why the model stopped, in the API's own words."""
    finish: Finish = "unknown"
    """Why the model stopped, in one vocabulary."""
    calls: tuple[HostedCall, ...] = ()
    """The calls of the caller's own functions that wait for a result."""
    turn: tuple[dict[str, Any], ...] = ()
    """What must be sent back to continue the conversation, as received: one assistant message, or the output items
    (OpenAI Responses, Gemini Interactions). Encrypted content, signatures and reasoning in it are untouched."""


@dataclass(frozen=True, slots=True)
class TextAdded:
    """More of the answer's text; all of them joined are the text of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class QueryIssued:
    """The model searches for these words."""

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
    """The answer cites a page; spans that depend on the whole text come at its end."""

    citation: HostedCitation


@dataclass(frozen=True, slots=True)
class ErrorMet:
    """Something went wrong; the answer may go on."""

    error: HostedError


@dataclass(frozen=True, slots=True)
class UsageReported:
    """What the answer cost."""

    usage: HostedUsage


@dataclass(frozen=True, slots=True)
class Ended:
    """The stream is over; this is the whole answer, as `read_answer` gives it for the whole body."""

    answer: HostedAnswer


AnswerEvent = TextAdded | QueryIssued | SourceFound | PageOpened | CitationAdded | ErrorMet | UsageReported | Ended
"""Any of them."""
