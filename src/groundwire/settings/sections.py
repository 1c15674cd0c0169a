"""The sections of the settings; a docstring under each field says what it does and its unit."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from ipaddress import ip_network
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, TypeVar, get_args, get_origin

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo, field_validator
from pydantic.fields import FieldInfo

from groundwire._version import USER_AGENT
from groundwire.models import MAX_LIMIT, SafeSearch
from groundwire.models.validators import (
    PAGE_PARTS,
    SITE_READERS,
    check_domains,
    check_folders,
    check_names,
    check_variables,
)

MODEL_PROVIDERS = (
    *("anthropic", "bedrock", "deepseek", "gemini", "groq", "kimi", "mistral", "openai", "openrouter", "perplexity"),
    *("qwen", "venice", "xai", "zai"),
)
"""The model providers whose APIs have a supported hosted search."""

_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,253}[A-Za-z0-9])?")
_ORIGIN = re.compile(rf"https?://{_HOST.pattern}(:\d{{1,5}})?")
_SECURE_URL = re.compile(
    rf"(https://{_HOST.pattern}|http://(localhost|127\.0\.0\.1|\[::1\]))(:\d{{1,5}})?(/[^\s?#\"\\]*)?"
)
_STRICT = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True, defer_build=True)


def _split(value: object) -> object:
    return tuple(word for part in value.split(",") if (word := part.strip())) if isinstance(value, str) else value


_SPLIT = BeforeValidator(_split)
Words = Annotated[tuple[str, ...], _SPLIT]
"""A list of words; in an environment variable they are separated by commas."""

Folders = Annotated[Words, AfterValidator(check_folders)]
"""A list of folders, by their whole paths."""

Domains = Annotated[
    Words, AfterValidator(partial(check_domains, "domains", most=100_000))
]  # lists of blocked sites are long
"""A list of domains."""

Variables = Annotated[Words, AfterValidator(check_variables)]
"""A list of environment variables, by their names."""


class SettingsSection(BaseModel):
    """The base of every section: frozen, and an unknown key is an error."""

    model_config: ClassVar[ConfigDict] = _STRICT


_M = TypeVar("_M", bound=BaseModel)


def validated(model: type[_M], values: Mapping[str, Any]) -> _M:
    """Return a section, or a provider's options, of values.

    The first schema that pydantic builds in a process costs a search more than all that it loads of its own, as plugins
    are looked for in every installed package: what is plainly right needs none. A model of another package may have
    rules of any kind, and always has its schema.

    Raises:
        ValidationError: a value is wrong, or its key.
    """
    fields, rules = model.model_fields, model.__pydantic_decorators__
    unusual = rules.field_validators or rules.model_validators or model.model_config != _STRICT
    unusual = unusual or not model.__module__.startswith("groundwire.")
    if not (unusual or any(field.is_required() or field.validation_alias for field in fields.values())):
        section: dict[str, Any] = {
            key: _plain_value(fields[key], value) for key, value in values.items() if key in fields
        }
        if len(section) == len(values) and None not in section.values():
            return model.model_construct(**section)
    return model.model_validate(dict(values))


def _plain_value(field: FieldInfo, value: object) -> object:
    """Return a value as the field holds it; None where that takes more than a look."""
    kind = field.annotation
    if kind == tuple[str, ...] and field.metadata == [_SPLIT]:
        words = _split(value)
        return tuple(words) if isinstance(words, (tuple, list)) and all(type(word) is str for word in words) else None
    if get_origin(kind) is Literal and not field.metadata:
        return value if type(value) is str and value in get_args(kind) else None
    return value if type(value) is kind and kind in {bool, str} and not field.metadata else None


class NativeSettings(SettingsSection):
    """Hosted search by the model's API."""

    providers: Annotated[
        Words, AfterValidator(partial(check_names, MODEL_PROVIDERS, "has no hosted search that Groundwire knows"))
    ] = ("openai", "anthropic")
    """The model providers whose hosted search may be used; all others get the local tools."""


class LocalSettings(SettingsSection):
    """The tool `search`, for models without hosted search."""

    backend: Literal["ddg", "brave"] = "ddg"
    """The default backend of a search: ddg (DuckDuckGo, without a key) or brave."""
    brave_api_key_env: str = Field(default="BRAVE_SEARCH_API_KEY", pattern=r"^[A-Z_][A-Z0-9_]*$", max_length=200)
    """The environment variable that holds the key for brave."""


class SearchSettings(SettingsSection):
    """How to search."""

    providers: Words = (
        *("searxng", "brave", "tavily"),
        *("you_free", "parallel_free", "exa_free", "tavily_free", "firecrawl_free", "duckduckgo_lite"),
    )
    """The search providers, in order of preference; one that is not configured is skipped."""
    paper_providers: Words = ("openalex", "arxiv")
    """The providers of searches for papers (`sources=["papers"]`), in order; empty turns those searches off."""
    keyless: bool = True
    """Whether public services are asked without a key: `*_free`, `duckduckgo_lite`, `openalex`, and `arxiv`."""
    strategy: Literal["fallback", "hedge", "fuse"] = "hedge"
    """The strategy: one provider after another, the next one when one is late, or several at once and merged."""
    limit: int = Field(default=5, ge=1, le=MAX_LIMIT)
    """The default number of results."""
    timeout: float = Field(default=10.0, gt=0, le=600)
    """Seconds for a whole search, all attempts together."""
    attempt_timeout: float = Field(default=6.0, gt=0, le=600)
    """Seconds for one attempt while another provider can be called instead; of a longer search, in proportion."""
    safesearch: SafeSearch = "moderate"
    """The SafeSearch level: off, moderate or strict."""
    mode: Literal["auto", "native", "local"] = "auto"
    """Hosted search where possible (auto), only hosted (native), or only local search (local)."""
    native: NativeSettings = Field(default_factory=NativeSettings.model_construct)
    """Hosted search by the model's API."""
    local: LocalSettings = Field(default_factory=LocalSettings.model_construct)
    """The tool `search`, for models without hosted search."""


_Parts = Annotated[Words, AfterValidator(partial(check_names, PAGE_PARTS, "is not a part of a page"))]


class ReadSettings(SettingsSection):
    """How to read pages."""

    providers: Words = ("local",)
    """The read providers, in order of preference; the next one is used when a page needs what one cannot do."""
    render_domains: Domains = ()
    """Domains, including subdomains, whose pages are first read with a browser: `browser`, `crawl4ai`."""
    include: _Parts = ()
    """Parts of a page that are kept although they may not belong to its main content; the guide to reading has all."""
    exclude: _Parts = ()
    """Parts of a page that are left out, from the same list; what is in both is kept."""
    max_length: int = Field(default=15_000, ge=1, le=10_000_000)
    """Maximum characters of Markdown of a page; longer pages are cut between blocks and marked as truncated."""
    timeout: float = Field(default=20.0, gt=0, le=600)
    """Seconds for reading a page, all attempts together."""
    max_bytes: int = Field(default=10_000_000, ge=1_000, le=1_000_000_000)
    """Maximum bytes of a page's body, on the wire and again after decompression."""
    max_document_bytes: int = Field(default=50_000_000, ge=1_000, le=60_000_000)
    """The same for PDF, Office documents and EPUB, which are larger than pages."""
    isolation: Literal["auto", "heavy", "process"] = "auto"
    """Pages parsed in a worker process without keys, files or network: all (process), large ones (heavy), or auto."""
    ranker: Literal["bm25", "embeddings"] = "bm25"
    """How passages are ranked for a query: by their words, or also by meaning, which needs the extra `embeddings`."""
    robots: bool = True
    """Whether robots.txt files are respected (RFC 9309), by local and by remote readers."""
    robots_exceptions: Domains = ()
    """Domains, including subdomains, whose robots.txt is ignored: your own, or those you have an agreement with."""
    site_readers: Annotated[Words, AfterValidator(partial(check_names, SITE_READERS, "has no site reader"))] = (
        SITE_READERS
    )
    """The sites whose pages are read over their official APIs, if `local` is a reader; empty means none."""
    crawl_delay: float = Field(default=0.0, ge=0, le=60)
    """Seconds between two requests to one site; a longer crawl delay in its robots.txt applies, up to five seconds."""
    max_per_host: int = Field(default=6, ge=1, le=100)
    """Maximum concurrent requests to one site, in each process."""

    @property
    def parts(self) -> dict[str, bool]:
        """The parts of a page that are kept, and those that are left out, on every kind of page."""
        return dict.fromkeys(self.exclude, False) | dict.fromkeys(self.include, True)


class SessionSettings(SettingsSection):
    """The limits of a session (one `Web` object)."""

    max_searches: int = Field(default=0, ge=0)
    """Maximum searches; 0 means no limit. Also WEB_SEARCH_SESSION_LIMIT."""
    warning_threshold: int = Field(default=15, ge=0)
    """The number of searches from which the agent is warned. Also WEB_SEARCH_WARNING_THRESHOLD."""
    max_cost_usd: float = Field(default=0.0, ge=0)
    """The most US dollars; 0 means no limit."""
    max_tokens: int = Field(default=0, ge=0)
    """Maximum tokens of page text, estimated at four characters each; 0 means no limit."""
    idle_timeout: float = Field(default=3_600.0, ge=0, le=604_800)
    """Seconds without a call after which a session ends and its counts reset; 0 means never."""
    id: str = Field(default="", max_length=200)
    """The session's name; processes that share a name and a store share one budget. Empty means a new session."""


class StorageSettings(SettingsSection):
    """The store of the cache, the budgets of sessions, rate limits and leases."""

    url: str = "sqlite://"
    """`memory://`, `sqlite://` (a file in the user's cache folder), `sqlite:////PATH`, `valkey://HOST:PORT/0`."""
    timeout: float | None = Field(default=None, gt=0, le=60)
    """Seconds to wait for the store; after twice as long process memory takes over. By default 1 for a file and 0.25
    for a server."""


class CacheSettings(SettingsSection):
    """The cache of search results and pages."""

    enabled: bool = True
    """Whether anything is cached."""
    search_ttl: float = Field(default=600.0, ge=0, le=31_536_000)
    """Seconds for which a response is fresh; an empty or partial one is cached for a minute at most."""
    page_ttl: float = Field(default=900.0, ge=0, le=31_536_000)
    """Seconds for which a page is fresh."""
    stale_ttl: float = Field(default=86_400.0, ge=0, le=31_536_000)
    """Seconds after those for which it is used, as stale, if fetching a new one fails."""


class ArchiveSettings(SettingsSection):
    """The offline archive: pages and results stay searchable, and are used when every provider fails."""

    enabled: bool = True
    """Whether pages and results are archived."""
    path: str = ""
    """Its file; empty means `archive.db` in the user's cache folder."""
    url: str = ""
    """A PostgreSQL database instead of a file, for several gateways: `postgresql://USER:PASSWORD@HOST/NAME`."""
    max_bytes: int = Field(default=500_000_000, ge=1_000_000)
    """Its maximum size in bytes; the oldest entries are deleted, in PostgreSQL by whole weeks."""
    max_age_days: float = Field(default=365.0, gt=0, le=36_500)
    """Days after which an entry is deleted."""


class PolicySettings(SettingsSection):
    """What may be found and opened."""

    files: Folders = ()
    """Folders whose files models may open and search, such as `~/papers`; never hidden files, keys and passwords."""

    allowed_domains: Domains = ()
    """Only these domains and their subdomains, in results and in pages; empty means every domain."""
    blocked_domains: Domains = ()
    """Exclude these domains and their subdomains; takes precedence over the allowed ones."""
    allowed_origins: Words = ()
    """Exact origins such as `http://127.0.0.1:8080` that may be opened, read-only, although they are not public."""
    origin_redirects: Literal["same", "allowed"] = "same"
    """Where an allowed origin may redirect: within itself, or also to the other allowed origins."""
    open_only: Literal["any", "known"] = "any"
    """The URLs that may be opened: any, or only those known to the session from its user, results or opened pages."""
    untrusted_images: Literal["drop", "keep"] = "drop"
    """The treatment of images in answers of the agent loop or the proxy whose URL belongs to no source."""
    untrusted_links: Literal["drop", "keep"] = "keep"
    """The treatment of such links."""
    secret_env_vars: Variables = ()
    """Environment variables whose values, of at least 8 characters, are never sent in a URL or a query."""


class PermissionSettings(SettingsSection):
    """Permissions of a model's tool calls; a rule is TOOL or TOOL(DOMAIN)."""

    default: Decision = "confirm"
    """The default for calls without a rule: allow, confirm (ask the user) or deny."""
    allow: Words = ()
    """Calls that are allowed, such as `web_search` or `open_page(python.org)`."""
    confirm: Words = ()
    """Calls that the user must confirm; takes precedence over allow."""
    deny: Words = ()
    """Calls that are denied; takes precedence over everything else."""
    confirm_timeout: float = Field(default=120.0, gt=0, le=86_400)
    """Seconds to wait for the user's answer; no answer means no."""

    @field_validator("allow", "confirm", "deny")
    @classmethod
    def _rules(cls, rules: tuple[str, ...]) -> tuple[str, ...]:
        for rule in rules:
            parse_rule(rule)
        return rules


class AnswerSettings(SettingsSection):
    """The model of `groundwire ask`. Without one, it quotes the best passages."""

    api: Literal["openai_chat", "anthropic", "gemini"] = "openai_chat"
    """The model's API; most local servers support `openai_chat`."""
    base_url: str = ""
    """Its base URL, such as `http://127.0.0.1:11434/v1`; empty means the vendor's own, with the key of
    OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY."""
    model: str = ""
    """The model's name; empty means the first one listed by a server in `local_servers`, except for embeddings."""
    local_servers: Words = (
        "http://127.0.0.1:11434/v1",
        "http://127.0.0.1:1234/v1",
        "http://127.0.0.1:8080/v1",
        "http://127.0.0.1:8000/v1",
    )
    """The base URLs of local model servers: the default ports of Ollama, LM Studio, llama.cpp and vLLM."""
    judge: Literal["words", "model"] = "words"
    """What decides, when an answer is verified, on sentences of which words are not certain: the words, or also the
    model, in at most two calls of some 6,000 tokens. Applies to `ask`, `verify` and the gateway."""
    timeout: float = Field(default=120.0, gt=0, le=600)
    """Seconds for the whole answer."""


class NetworkSettings(SettingsSection):
    """How to reach the network."""

    proxy: str = Field(default="", repr=False)  # it may hold a password
    """A forward proxy such as `http://proxy.example:3128`, trusted to resolve names, or with the extra `socks`
    `socks5h://proxy.example:1080`; with `socks5://` names are resolved here. Empty means that search services are
    called through HTTPS_PROXY, except for the hosts of NO_PROXY, and pages are read without a proxy."""
    user_agent: str = Field(default=USER_AGENT, min_length=1, max_length=500, pattern=r"^[\x20-\x7e]+$")
    """The User-Agent header of requests."""


class McpSettings(SettingsSection):
    """The tools as clients of the Model Context Protocol see them."""

    tools: Literal["groundwire", "openai"] = "groundwire"
    """`web_search` and `open_page`, or the pair `search` and `fetch` with the results that ChatGPT's connectors and
    deep research require."""


class OAuthSettings(SettingsSection):
    """Access tokens that the gateway accepts beside API keys, as an OAuth resource server (RFC 9728)."""

    issuers: Words = ()
    """The authorization servers whose tokens are accepted, by their exact URLs; none accepts only keys."""
    resource: str = ""
    """The public URL of the resource, such as `https://tools.example.com/mcp`; tokens are for its path and below."""
    audience: str = ""
    """The audience of the tokens; empty means the resource."""
    scopes: Words = ()
    """The scopes that a token must have."""
    tenant_claim: str = Field(default="sub", min_length=1, max_length=200)
    """The claim whose value identifies the tenant; tokens of one issuer with the same value share sessions."""
    calls_per_day: int = Field(default=0, ge=0)
    """Maximum searches and pages in total of each tenant per day, UTC; 0 means no limit."""
    usd_per_day: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    """The most US dollars of each tenant per day, UTC; 0 means no limit."""

    @field_validator("issuers", "resource")
    @classmethod
    def _urls(cls, value: str | tuple[str, ...]) -> str | tuple[str, ...]:
        for url in (value,) if isinstance(value, str) else value:
            if url and not _SECURE_URL.fullmatch(url):
                raise ValueError(f"{url[:60]!r} is not an https:// URL without query; loopback may have http://")
        return value


class ServerSettings(SettingsSection):
    """The gateway: where it listens, who may use it, and its limits."""

    host: str = Field(default="127.0.0.1", min_length=1, max_length=255)
    """The host name or address that it listens on; other than on loopback, it requires keys."""
    port: int = Field(default=8780, ge=0, le=65_535)
    """The port; 0 uses a free one."""
    workers: int = Field(default=1, ge=1, le=64)
    """The number of processes of `groundwire serve`, all on one port; more than 1 need a store that they share."""
    allowed_hosts: Words = ()
    """Accepted host names in addition to the address; `*` accepts any, but only with keys."""
    allowed_origins: Words = ()
    """Origins of other sites that may call it from a browser, such as `https://chat.example.com`; without cookies."""
    key_file: str = ""
    """The file of API keys; empty means `keys.json` in the user's configuration folder."""
    require_key: bool = False
    """Whether a key is required on loopback, too, even if there has never been one."""
    requests_per_minute: int = Field(default=0, ge=0, le=1_000_000)
    """The default rate limit of a key in requests per minute; 0 means no limit."""
    burst: int = Field(default=0, ge=0, le=1_000_000)
    """The burst after a quiet period; 0 means a sixth of the rate."""
    max_concurrent_requests: int = Field(default=1_000, ge=1, le=100_000)
    """Maximum concurrent requests of one process; further ones get status 429 with Retry-After."""
    max_connections: int = Field(default=2_000, ge=1, le=100_000)
    """Maximum open connections of one process; one more ends the oldest without a request, else the longest idle."""
    max_mcp_sessions: int = Field(default=1_000, ge=1, le=9_000)
    """Maximum open MCP sessions of a tenant in a process; a further one ends the one that was unused for longest."""
    max_body_bytes: int = Field(default=2_000_000, ge=1_000, le=1_000_000_000)
    """Maximum bytes of a request's body."""
    header_timeout: float = Field(default=10.0, gt=0, le=600)
    """The timeout for the head of a request in seconds, from its first byte."""
    body_timeout: float = Field(default=30.0, gt=0, le=3_600)
    """The timeout for the body of a request in seconds."""
    trusted_proxies: Words = ()
    """Addresses and networks of load balancers whose `X-Forwarded-For` header is trusted."""
    access_log: bool = True
    """Whether each request is logged at level INFO, to the logger `groundwire_server.access`."""
    oauth: OAuthSettings = Field(default_factory=OAuthSettings.model_construct)
    """Access tokens that the gateway accepts beside API keys."""

    @field_validator("trusted_proxies")
    @classmethod
    def _networks(cls, words: tuple[str, ...]) -> tuple[str, ...]:
        for word in words:
            try:
                ip_network(word)
            except ValueError:
                raise ValueError(f"{word[:60]!r} is neither an address nor a network such as 10.0.0.0/8") from None
        return words

    @field_validator("allowed_hosts", "allowed_origins")
    @classmethod
    def _names(cls, words: tuple[str, ...], about: ValidationInfo) -> tuple[str, ...]:
        form, what = (_ORIGIN, "an origin") if about.field_name == "allowed_origins" else (_HOST, "a host name")
        example = "tools.example.com, without port and" if form is _HOST else "https://tools.example.com, without"
        for word in words:
            if not form.fullmatch(word) and (word != "*" or form is _ORIGIN):
                raise ValueError(f"{word[:60]!r} is not {what}; write one like {example} path")
        return tuple(word.lower() for word in words)


Decision = Literal["allow", "confirm", "deny"]
"""The decision on a call: it is made, the user is asked, or it is rejected."""

_RULE = re.compile(r"(?P<tool>\*|[A-Za-z_][\w-]{0,63})(\((?P<domain>[^()\s@/:]{1,253})\))?")


class PermissionRule(NamedTuple):
    """The calls that a rule applies to."""

    tool: str
    """The tool's name, or `*` for every tool."""
    domain: str | None = None
    """Only calls concerning this domain and its subdomains; None means any."""

    def __str__(self) -> str:
        return f"{self.tool}({self.domain})" if self.domain else self.tool


def parse_rule(text: str) -> PermissionRule:
    """Parse a rule: TOOL or `*`, optionally (DOMAIN).

    Raises:
        ValueError: it is not in that format.
    """
    match = _RULE.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text[:80]!r} is not a rule; write TOOL or TOOL(DOMAIN)")
    domain = match["domain"].lower().removeprefix("*.").strip(".") if match["domain"] else None
    if domain == "":
        raise ValueError(f"{text[:80]!r} names no domain; write e.g. open_page(python.org)")
    return PermissionRule(match["tool"], domain)
