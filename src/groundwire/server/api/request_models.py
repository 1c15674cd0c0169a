"""Request models of the REST API. They validate requests and describe them in the OpenAPI document."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Annotated, ClassVar, Literal, Self

from pydantic import (
    AfterValidator,
    AliasChoices,
    AliasGenerator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    RootModel,
    model_validator,
)
from pydantic.config import JsonDict

from groundwire.models import MAX_LIMIT, MAX_PAGE, MAX_QUERY, MAX_URL, SafeSearch, TimeRange
from groundwire.models.aliases import ASK, OPEN_PAGE, SEARCH
from groundwire.models.validators import TimeRangeName, time_range_of
from groundwire.routing.hedging_policy import Strategy

__all__ = [
    "ApiRequest",
    "AskRequest",
    "GivenSource",
    "JsonObject",
    "PagesRequest",
    "PrepareCall",
    "PrepareQuery",
    "ResolveRequest",
    "SearchRequest",
    "SessionName",
    "Size",
    "Tokens",
    "ToolCall",
    "ToolName",
    "ToolPath",
    "ToolQuery",
    "VerifyRequest",
    "Whole",
    "Words",
]

_WORD = r"[^\s\x00-\x1f\x7f-\x9f]"  # text that is more than blanks
_MAX_ANSWER = 1_000_000  # characters of an answer to check


def _whole(value: object) -> object:
    """Return 5.0 as 5: to JSON both are the same number (JSON Schema 2020-12, core, section 4.2.3)."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Whole: BeforeValidator = BeforeValidator(_whole)
"""Makes an integer type take 5.0; it stands after the bounds, so that these stay in the schema."""
Size = Annotated[int, Field(ge=1, le=10_000_000), Whole]
"""A number of characters."""
Tokens = Annotated[int, Field(ge=1, le=2_500_000), Whole]
"""A number of tokens."""

SessionName = Annotated[str, Field(min_length=1, max_length=128, pattern=r"^[A-Za-z0-9._~-]+$")]
"""A session's name: letters, digits, and `._~-`."""

Words = Annotated[str, Field(min_length=1, max_length=MAX_QUERY, pattern=_WORD)]
_SIGN = r"A-Za-z0-9_\u00a1-\uffff"
_DOMAIN = rf"^(\*\.)?[{_SIGN}]([{_SIGN}.-]*[{_SIGN}])?$"  # whether there is such a name is judged later
Domain = Annotated[str, Field(min_length=1, max_length=253, pattern=_DOMAIN)]
Address = Annotated[str, Field(min_length=1, max_length=MAX_URL)]


def _given(*names: str, without: tuple[str, ...] = ()) -> JsonDict:
    """Return the schema of objects that have some members, not null, and do not have others."""
    have: JsonDict = {name: {"not": {"type": "null"}} for name in names}
    lack: JsonDict = {name: {"type": "null"} for name in without}
    return {"required": list(names), "properties": have | lack}


def _names(aliases: Mapping[str, str]) -> AliasGenerator:
    """Return what lets a request name its members as other APIs do, too."""
    return AliasGenerator(
        validation_alias=lambda field: AliasChoices(field, *(name for name, right in aliases.items() if right == field))
    )


class ApiRequest(BaseModel):
    """A request."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        frozen=True, extra="forbid", strict=True, use_attribute_docstrings=True
    )

    timeout: float | None = Field(default=None, ge=1, le=600)
    """Seconds for the whole call; by default, and at most, what the gateway gives."""
    session: SessionName | None = None
    """The session that pays and that remembers its sources; without a name the call is a session by itself."""


class SearchRequest(ApiRequest):
    """What to search for."""

    model_config: ClassVar[ConfigDict] = ConfigDict(alias_generator=_names(SEARCH))

    query: Words
    """The words."""
    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT), Whole] | None = None
    """The most results; by default the gateway's setting `search.limit`."""
    allowed_domains: tuple[Domain, ...] = Field(default=(), max_length=100)
    """Only these domains and their sub-domains; none means every domain."""
    blocked_domains: tuple[Domain, ...] = Field(default=(), max_length=100)
    """Never these domains nor their sub-domains."""
    time_range: Annotated[TimeRange | TimeRangeName, AfterValidator(time_range_of)] = "all"
    """How recent: within a day, a week, a month, a year, or any age."""
    published_after: date | None = None
    """The first day on which a result may have been published."""
    published_before: date | None = None
    """The last such day."""
    language: str | None = Field(default=None, pattern=r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$", max_length=35)
    """A language tag such as `en` or `pt-BR`."""
    region: str | None = Field(default=None, pattern=r"^[A-Za-z]{2}$")
    """A country code such as `us`."""
    safesearch: SafeSearch | None = None
    """The SafeSearch level; by default the gateway's setting."""
    page: Annotated[int, Field(ge=1, le=MAX_PAGE), Whole] = 1
    """Which page of results."""
    strategy: Strategy | None = None
    """How providers are asked; by default the gateway's setting."""
    refresh: bool = False
    """Whether to skip the cache."""
    keep: bool = True
    """Whether anything of it may be kept: in caches, in the archive, among the session's sources."""


class AskRequest(ApiRequest):
    """A question. The gateway's own settings say which model answers."""

    model_config: ClassVar[ConfigDict] = ConfigDict(alias_generator=_names(ASK))

    question: Words
    """The question."""
    quote: bool = False
    """Whether to ask no model and quote the passages that answer best."""
    stream: bool = False
    """Whether to answer with events, as `Accept: text/event-stream` asks for, too."""


class PagesRequest(ApiRequest):
    """Which pages to read: `url` for one, or `urls` for several side by side."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        alias_generator=_names(OPEN_PAGE),
        json_schema_extra={
            "oneOf": [_given("url", without=("urls",)), _given("urls", without=("url", "cursor"))],
            "not": {"anyOf": [_given(*pair) for pair in (("query", "cursor"), ("query", "find"), ("cursor", "find"))]},
        },
    )

    url: Address | None = None
    """One http or https address."""
    urls: tuple[Address, ...] | None = Field(default=None, min_length=1, max_length=50)
    """Several; pages that cannot be read have `status` error in the answer, the others are there all the same."""
    query: Words | None = None
    """Only the passages that answer this. Give at most one of query, cursor and find."""
    cursor: str | None = Field(default=None, min_length=1, max_length=200)
    """Read on: a page's `next_cursor`, `#3` for its third section, or `@5120` for a position. Of one page only."""
    find: Words | None = None
    """Show only the literal matches of this text, with context."""
    max_length: Size | None = None
    """The most characters of Markdown, of several pages together."""
    max_tokens: Tokens | None = None
    """The most tokens of Markdown, of several pages together."""
    refresh: bool = False
    """Whether to skip the cache."""
    keep: bool = True
    """Whether anything of it may be kept: in caches, in the archive, among the session's sources."""

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if (self.url is None) == (self.urls is None):
            raise ValueError("give url for one page or urls for several, and not both")
        if self.urls is not None and self.cursor is not None:
            raise ValueError("cursor reads on in one page: give url instead of urls")
        if sum(value is not None for value in (self.query, self.cursor, self.find)) > 1:
            raise ValueError("give at most one of query, cursor and find")
        return self


class GivenSource(BaseModel):
    """One source of an answer, as it was shown to the model that wrote it."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        frozen=True, extra="forbid", strict=True, use_attribute_docstrings=True
    )

    number: Size
    """The number it is cited by."""
    url: str = Field(default="", max_length=MAX_URL)
    """Its address."""
    title: str = Field(default="", max_length=1_000)
    """Its title."""
    content: str | None = None
    """The page as Markdown, if it was opened."""
    snippet: str = ""
    """What a search showed of it."""


class VerifyRequest(ApiRequest):
    """An answer to check, sentence by sentence, against what it cites: what a session was shown, or given sources."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        json_schema_extra={"oneOf": [_given("session", without=("sources",)), _given("sources", without=("session",))]}
    )

    answer: str = Field(max_length=_MAX_ANSWER)
    """The answer in Markdown, with marks such as `[1]`."""
    sources: tuple[GivenSource, ...] | None = Field(default=None, max_length=1_000)
    """What the numbers stand for, instead of a session."""

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if (self.session is None) == (self.sources is None):
            raise ValueError("give the session whose numbers the answer cites, or sources, and not both")
        return self


class JsonObject(RootModel[dict[str, JsonValue]]):
    """A JSON object: the arguments that a model wrote for a tool, or a request to a model API."""


ToolName = Literal["web_search", "open_page", "search"]


class ToolPath(BaseModel):
    """Which tool is called."""

    model_config: ClassVar[ConfigDict] = ConfigDict(use_attribute_docstrings=True)

    name: ToolName
    """The tool; `search` is one search by DuckDuckGo or Brave, with codelia's arguments."""


class ToolQuery(ApiRequest):
    """How a tool is called."""


class ToolCall(ToolQuery):
    """A tool, and the arguments that a model wrote."""

    name: ToolName
    arguments: dict[str, JsonValue]


_Provider = Annotated[str, Field(min_length=1, max_length=100, pattern=_WORD)]
_Model = Annotated[str, Field(min_length=1, max_length=200, pattern=_WORD)]
_Mode = Literal["auto", "native", "local"]


class ResolveRequest(BaseModel):
    """Whose model is to search."""

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    provider: _Provider
    """The model provider or API, such as `anthropic`, `openai`, `ollama`; an unknown one has no hosted search."""
    model: _Model
    """The model."""
    mode: _Mode | None = None
    """Hosted search where it fits, only that, or only ours; by default the gateway's setting `search.mode`."""


class PrepareQuery(BaseModel):
    """How a request to a model API is prepared."""

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    provider: _Provider
    """The model provider or API, such as `anthropic`, `openai`, `ollama`; an unknown one has no hosted search."""
    model: _Model | None = None
    """The model, where the body does not name it."""
    mode: _Mode | None = None
    """Hosted search where it fits, only that, or only ours; by default the gateway's setting `search.mode`."""
    tool: Literal["web_search", "search"] | None = None
    """Which function tool a model without hosted search gets; a body without a search gets one then, too. By default
    the function tool `web_search` that is in the body stays, and a body without a search comes back unchanged."""


class PrepareCall(PrepareQuery):
    """A request to a model API, and how it is prepared."""

    body: dict[str, JsonValue]
