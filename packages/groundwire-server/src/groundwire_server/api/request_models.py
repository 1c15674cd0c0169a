"""Request models of the REST API. They validate requests and describe them in the OpenAPI document."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    PrivateAttr,
    RootModel,
    model_validator,
)

from groundwire.models import MAX_LIMIT, MAX_PAGE, MAX_QUERY, MAX_URL, SafeSearch, SearchSource, Strategy, TimeRange
from groundwire.models.argument_names import ASK, OPEN_PAGE, SEARCH, recent, translated
from groundwire.models.validators import TimeRangeName, time_range_of
from groundwire_server.error_body import ApiModel

_WORD = r"[^\s\x00-\x1f\x7f-\x9f]"  # text other than white space
_MAX_ANSWER = 1_000_000  # characters of an answer to check


def _whole(value: object) -> object:
    """Convert 5.0 to 5: both are the same number in JSON (JSON Schema 2020-12, core, section 4.2.3)."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _day(value: object) -> object:
    """Refuse numbers, which would count as seconds since 1970, also as text: `2e-168` has fewer hyphens than a date."""
    if isinstance(value, (int, float)) or (isinstance(value, str) and value.strip()[1:].count("-") < 2):
        raise ValueError("must be a date such as 2026-11-23")
    return value


WholeNumber: BeforeValidator = BeforeValidator(_whole)
"""Makes an integer type take 5.0; it stands after the bounds, so that these stay in the schema."""
Size = Annotated[int, Field(ge=1, le=10_000_000), WholeNumber]
"""A number of characters."""
Tokens = Annotated[int, Field(ge=1, le=2_500_000), WholeNumber]
"""A number of tokens."""

SessionName = Annotated[str, Field(min_length=1, max_length=128, pattern=r"^[A-Za-z0-9._~-]+$")]
"""A session's name: letters, digits, and `._~-`."""

Words = Annotated[str, Field(min_length=1, max_length=MAX_QUERY, pattern=_WORD)]
# Any letter, also of other scripts, and an emoji; whether the name is valid is checked later.
_SIGN, _DOT = r"[^\x00-/:-@\[-^`{-\xa0]", r"[^\x00-,/:-@\[-^`{-\xa0]"
_DOMAIN = rf"^(\*\.)?{_SIGN}({_DOT}*{_SIGN})?$"
Domain = Annotated[str, Field(min_length=1, max_length=253, pattern=_DOMAIN)]
Address = Annotated[str, Field(min_length=1, max_length=MAX_URL)]


class ApiRequest(BaseModel):
    """A request."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        frozen=True, extra="forbid", strict=True, use_attribute_docstrings=True
    )

    other_names: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """Other APIs' names of the members: understood at the paths of those APIs, and told the right word at ours."""

    @classmethod
    def renamed(cls, members: Mapping[str, Any]) -> dict[str, Any]:
        """Return members under their names here, where they are named as in other APIs; what is unknown stays.

        Args:
            members: The members of a request.
        """
        plain: dict[str, Any] = {}
        members = recent(members, cls.other_names) if cls.other_names is SEARCH else members
        for name, value in members.items():
            meant = translated(name, value, cls.other_names, cls.model_fields)
            both = meant is not None and any(other in plain or (other != name and other in members) for other in meant)
            plain.update({name: value} if meant is None or both else meant)
        return plain

    _sent_members: Mapping[str, Any] = PrivateAttr(default_factory=dict)

    @property
    def sent_members(self) -> Mapping[str, Any]:
        """The members as they were sent to a path of another API; empty at our own."""
        return self._sent_members

    def remember(self, members: Mapping[str, Any]) -> None:
        """Keep the members as they were sent.

        Args:
            members: The members.
        """
        self._sent_members = members

    timeout: float | None = Field(default=None, ge=1, le=600)
    """Seconds for the whole call; by default, and at most, the gateway's limit."""
    session: SessionName | None = None
    """The session that is charged and remembers its sources; without a name, the call is its own session."""


class SearchRequest(ApiRequest):
    """A search."""

    other_names: ClassVar[Mapping[str, str]] = SEARCH

    query: Words
    """The query."""
    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT), WholeNumber] | None = None
    """Maximum results; by default the gateway's setting `search.limit`."""
    allowed_domains: tuple[Domain, ...] = Field(default=(), max_length=100)
    """Only these domains and their subdomains; none means every domain."""
    blocked_domains: tuple[Domain, ...] = Field(default=(), max_length=100)
    """Exclude these domains and their subdomains."""
    time_range: Annotated[TimeRange | TimeRangeName, AfterValidator(time_range_of)] = "all"
    """How recent: within a day, a week, a month, a year, or any age."""
    published_after: Annotated[date, Field(strict=False), BeforeValidator(_day)] | None = None
    """The first publication date allowed."""
    published_before: Annotated[date, Field(strict=False), BeforeValidator(_day)] | None = None
    """The last publication date allowed."""
    language: str | None = Field(default=None, pattern=r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$", max_length=35)
    """A language tag such as `en` or `pt-BR`."""
    region: str | None = Field(default=None, pattern=r"^[A-Za-z]{2}$")
    """A country code such as `us`."""
    safesearch: SafeSearch | None = None
    """The SafeSearch level; by default the gateway's setting."""
    page: Annotated[int, Field(ge=1, le=MAX_PAGE), WholeNumber] = 1
    """The page of results."""
    sources: tuple[SearchSource, ...] = Field(default=("web",), max_length=1)
    """What to search: the web, papers, or `files`: those below the folders of the caller's key, if it has any."""
    strategy: Strategy | None = None
    """The strategy for calling providers; by default the gateway's setting."""
    refresh: bool = False
    """Whether to skip the cache."""
    keep: bool = True
    """Whether the call may be stored: in the cache, the archive, and the session's sources."""


class AskRequest(ApiRequest):
    """A question. The gateway's settings determine the model."""

    other_names: ClassVar[Mapping[str, str]] = ASK

    question: Words
    """The question."""
    quote: bool = False
    """Whether to quote the best passages instead of asking a model."""
    stream: bool = False
    """Whether to stream events, as with `Accept: text/event-stream`."""


class PagesRequest(ApiRequest):
    """The pages to read: `url` for one, or `urls` for several in parallel."""

    other_names: ClassVar[Mapping[str, str]] = OPEN_PAGE

    url: Address | None = None
    """An http or https URL, or a `file:` URL below the folders of the caller's key."""
    urls: tuple[Address, ...] | None = Field(default=None, min_length=1, max_length=50)
    """Several URLs; pages that cannot be read have `status` error in the response, beside the others."""
    query: Words | None = None
    """Return only the passages relevant to this query. Pass at most one of query, cursor and find."""
    cursor: str | None = Field(default=None, min_length=1, max_length=6_100)
    """Continue reading one page: its `next_cursor`, `#3` for its third section, or `@5120` for a position."""
    find: Words | None = None
    """Show only the literal matches of this text, with context."""
    max_length: Size | None = None
    """Maximum characters of Markdown, for several pages in total."""
    max_tokens: Tokens | None = None
    """Maximum tokens of Markdown, for several pages in total."""
    refresh: bool = False
    """Whether to skip the cache."""
    keep: bool = True
    """Whether the call may be stored: in the cache, the archive, and the session's sources."""

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if (self.url is None) == (self.urls is None):
            raise ValueError("pass either url for one page or urls for several")
        if self.urls is not None and self.cursor is not None:
            raise ValueError("cursor continues one page: pass url instead of urls")
        if sum(value is not None for value in (self.query, self.cursor, self.find)) > 1:
            raise ValueError("pass at most one of query, cursor and find")
        return self


class GivenSource(BaseModel):
    """A source of an answer, as shown to the model that wrote it."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        frozen=True, extra="forbid", strict=True, use_attribute_docstrings=True
    )

    number: Size
    """The number it is cited by."""
    url: str = Field(default="", max_length=MAX_URL)
    """Its URL."""
    title: str = Field(default="", max_length=1_000)
    """Its title."""
    content: str | None = None
    """The page as Markdown, if it was opened."""
    snippet: str = ""
    """Its search snippet."""


class VerifyRequest(ApiRequest):
    """An answer to verify, sentence by sentence, against the sources of a session or given ones."""

    answer: str = Field(max_length=_MAX_ANSWER)
    """The answer in Markdown, with markers such as `[1]`; at most 10,000 brackets, and 10,000 sentences and lines."""
    sources: tuple[GivenSource, ...] | None = Field(default=None, max_length=1_000)
    """The sources by number, instead of a session."""

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if (self.session is None) == (self.sources is None):
            raise ValueError("pass either the session that the answer cites or sources")
        return self


class JsonObject(RootModel[dict[str, JsonValue]]):
    """A JSON object: a model's tool arguments, or a request to a model API."""


class EmptyQuery(BaseModel):
    """A request without parameters."""


ToolName = Literal["web_search", "open_page", "search"]


class ToolQuery(ApiRequest):
    """The tool to call, and the parameters of the call."""

    name: ToolName
    """The tool; `search` searches once with DuckDuckGo or Brave and takes codelia's arguments."""


class ToolCall(ToolQuery):
    """A tool, and the model's arguments."""

    arguments: dict[str, JsonValue]


_Provider = Annotated[str, Field(min_length=1, max_length=100, pattern=_WORD)]
_Model = Annotated[str, Field(min_length=1, max_length=200, pattern=_WORD)]
_Mode = Literal["auto", "native", "local"]


class ResolveRequest(ApiModel):
    """A model whose search is to be planned."""

    provider: _Provider
    """The model provider or API, such as `anthropic`, `openai`, `ollama`; an unknown one has no hosted search."""
    model: _Model
    """The model."""
    mode: _Mode | None = None
    """Hosted search where possible, only hosted, or only local; by default the gateway's setting `search.mode`."""


class PrepareQuery(ApiModel):
    """The parameters of preparing a request to a model API."""

    provider: _Provider
    """The model provider or API, such as `anthropic`, `openai`, `ollama`; an unknown one has no hosted search."""
    model: _Model | None = None
    """The model, if the body does not name it."""
    mode: _Mode | None = None
    """Hosted search where possible, only hosted, or only local; by default the gateway's setting `search.mode`."""
    tool: Literal["web_search", "search"] | None = None
    """The function tool to add for a model without hosted search, even to a body without a search. By default, a
    function tool `web_search` in the body is kept, and a body without a search is returned unchanged. Chat Completions
    of OpenAI then answer with the model that searches, and the header `X-Groundwire-Warning` says so."""


class PrepareCall(PrepareQuery):
    """A request to a model API, with the parameters of its preparation."""

    body: dict[str, JsonValue]
