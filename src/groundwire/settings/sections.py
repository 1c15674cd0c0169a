"""The sections of the settings; a docstring under each field says what it does and its unit."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import ip_network
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, field_validator

from groundwire._version import USER_AGENT
from groundwire.models import MAX_LIMIT, SafeSearch
from groundwire.models.validators import check_domains, did_you_mean

__all__ = [
    "MODEL_PROVIDERS",
    "AnswerSettings",
    "ArchiveSettings",
    "CacheSettings",
    "Decision",
    "Domains",
    "LocalSettings",
    "NativeSettings",
    "NetworkSettings",
    "PermissionRule",
    "PermissionSettings",
    "PolicySettings",
    "ReadSettings",
    "SearchSettings",
    "ServerSettings",
    "SessionSettings",
    "SettingsSection",
    "StorageSettings",
    "Variables",
    "Words",
    "parse_rule",
]

MODEL_PROVIDERS = (
    *("anthropic", "bedrock", "deepseek", "gemini", "groq", "kimi", "mistral", "openai", "openrouter", "perplexity"),
    *("qwen", "xai", "zai"),
)

"""The providers of models whose APIs have a hosted search that we know how to ask for."""

_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,253}[A-Za-z0-9])?")

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def _split(value: object) -> object:
    if isinstance(value, str):
        return tuple(word for part in value.split(",") if (word := part.strip()))
    return value


Words = Annotated[tuple[str, ...], BeforeValidator(_split)]

"""A list of words; in an environment variable they are separated by commas."""


def _domains(words: tuple[str, ...]) -> tuple[str, ...]:
    return check_domains("domains", words)


Domains = Annotated[Words, AfterValidator(_domains)]

"""A list of domains."""


def _variables(words: tuple[str, ...]) -> tuple[str, ...]:
    if not all(_VARIABLE.fullmatch(word) for word in words):  # not told which: it may be the secret itself
        raise ValueError("holds something that is not the name of an environment variable; write names, not values")
    return words


Variables = Annotated[Words, AfterValidator(_variables)]

"""A list of environment variables, by their names."""


class SettingsSection(BaseModel):
    """The base of every section: frozen, and an unknown key is an error."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        frozen=True, extra="forbid", hide_input_in_errors=True, defer_build=True
    )


class NativeSettings(SettingsSection):
    """Search that the model's own API does."""

    providers: Words = ("openai", "anthropic")
    """The providers of models whose hosted search may be used; all others get our own tools."""

    @field_validator("providers")
    @classmethod
    def _known(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            if name not in MODEL_PROVIDERS:
                raise ValueError(
                    f"{name!r} has no hosted search that is known here{did_you_mean(name, MODEL_PROVIDERS)}"
                )
        return names


class LocalSettings(SettingsSection):
    """The tool `search`, for models without hosted search."""

    backend: Literal["ddg", "brave"] = "ddg"
    """Who answers a search that does not say: ddg (DuckDuckGo, without a key) or brave."""
    tool: Literal["web_search", "search"] = "web_search"
    """The search tool that MCP offers: ours, or `search`, which asks one backend and has codelia's arguments."""
    brave_api_key_env: str = Field(default="BRAVE_SEARCH_API_KEY", pattern=r"^[A-Z_][A-Z0-9_]*$", max_length=200)
    """The environment variable that holds the key for brave."""


class SearchSettings(SettingsSection):
    """How to search."""

    providers: Words = ("searxng", "duckduckgo_lite", "brave", "tavily")
    """The search providers, in the order in which they are asked; one that is not configured is skipped."""
    strategy: Literal["fallback", "hedge", "fuse"] = "hedge"
    """How providers are asked: one after the other, the next when one is late, or several at once and merged."""
    latency: Literal["normal", "fast", "fastest"] = "normal"
    """How late a provider must be for `hedge` to pay for another: later than 95, 90 or 75 % of its own answers."""
    cost: Literal["normal", "strict"] = "normal"
    """How many extra paid calls `hedge` may make: for a tenth of the searches, with `strict` for a hundredth."""
    limit: int = Field(default=5, ge=1, le=MAX_LIMIT)
    """The results of a search that does not say how many."""
    timeout: float = Field(default=10.0, gt=0, le=600)
    """Seconds for a whole search, all attempts together."""
    attempt_timeout: float = Field(default=6.0, gt=0, le=600)
    """Seconds for one attempt of one provider."""
    safesearch: SafeSearch = "moderate"
    """The SafeSearch level: off, moderate or strict."""
    mode: Literal["auto", "native", "local"] = "auto"
    """Who searches for a model: its own API where that can (auto), only that (native), or only we (local)."""
    native: NativeSettings = Field(default_factory=NativeSettings.model_construct)
    """Search that the model's own API does."""
    local: LocalSettings = Field(default_factory=LocalSettings.model_construct)
    """The tool `search`, for models without hosted search."""


class ReadSettings(SettingsSection):
    """How to read pages."""

    providers: Words = ("local",)
    """The read providers, in the order in which they are asked; the next one when a page needs what one cannot do."""
    render_domains: Words = ()
    """Domains, sub-domains included, whose pages go first to the readers that run scripts: `browser`, `crawl4ai`."""
    max_length: int = Field(default=15_000, ge=1, le=10_000_000)
    """The most characters of Markdown of a page; longer pages are cut at a block and say so."""
    timeout: float = Field(default=20.0, gt=0, le=600)
    """Seconds for reading a page, all attempts together."""
    max_bytes: int = Field(default=10_000_000, ge=1_000, le=1_000_000_000)
    """The most bytes of a page's body, on the wire and again after decompression."""
    max_document_bytes: int = Field(default=50_000_000, ge=1_000, le=60_000_000)
    """The same for PDF, Office documents and EPUB, which are larger than pages."""
    isolation: Literal["auto", "heavy", "process"] = "auto"
    """What is parsed in a process without keys, files or network: process is all, heavy what is; auto as it serves."""
    robots: bool = True
    """Whether robots.txt files are respected (RFC 9309), by local and by remote readers."""
    robots_exceptions: Domains = ()
    """Domains, sub-domains included, whose robots.txt is not asked for: your own, or where you have an agreement."""
    crawl_delay: float = Field(default=0.0, ge=0, le=60)
    """Seconds between two requests to one site; if its robots.txt asks for more, that counts, up to five seconds."""
    max_per_host: int = Field(default=6, ge=1, le=100)
    """The most requests to one site at once, in each process."""


class SessionSettings(SettingsSection):
    """What one session (one `Web` object) may use."""

    max_searches: int = Field(default=0, ge=0)
    """The most searches; 0 means no limit. Also WEB_SEARCH_SESSION_LIMIT."""
    warning_threshold: int = Field(default=15, ge=0)
    """From how many searches on the agent is warned. Also WEB_SEARCH_WARNING_THRESHOLD."""
    max_cost_usd: float = Field(default=0.0, ge=0)
    """The most US dollars; 0 means no limit."""
    max_tokens: int = Field(default=0, ge=0)
    """The most tokens of page text, estimated at four characters each; 0 means no limit."""
    idle_timeout: float = Field(default=3_600.0, ge=0, le=604_800)
    """Seconds without a call after which a session ends and its counts reset; 0 means that it does not end."""
    id: str = Field(default="", max_length=200)
    """The session's name; processes that share a name and a store share one budget. Empty means a new session."""
    citations: Literal["session", "call"] = "session"
    """Whether a page has one number in the whole session, or the results of each search are numbered from 1."""


class StorageSettings(SettingsSection):
    """Where state lives: the cache, the budgets of sessions, paces and leases."""

    url: str = "sqlite://"
    """`memory://`, `sqlite://` (a file in the user's cache folder), `sqlite:////PATH`, `valkey://HOST:PORT/0`."""
    timeout: float | None = Field(default=None, gt=0, le=60)
    """Seconds to wait for the store before process memory takes over; 1 for a file and 0.25 for a server by default."""
    sharing: Literal["none", "public", "all"] = "public"
    """What tenants and named sessions share: nothing, what is public by construction, or all; see the guide to keys."""


class CacheSettings(SettingsSection):
    """The cache of search results and pages."""

    enabled: bool = True
    """Whether anything is cached."""
    search_ttl: float = Field(default=600.0, ge=0, le=31_536_000)
    """Seconds for which an answer is fresh; one that is empty or in part stays for a minute at most."""
    page_ttl: float = Field(default=900.0, ge=0, le=31_536_000)
    """Seconds for which a page is fresh."""
    stale_ttl: float = Field(default=86_400.0, ge=0, le=31_536_000)
    """Seconds after those for which it is still used, said to be stale: at once for an hour, then on failure only."""


class ArchiveSettings(SettingsSection):
    """The offline archive: what was read and found stays searchable, and answers when nothing else does."""

    enabled: bool = True
    """Whether pages and results are kept in the archive."""
    path: str = ""
    """Its file; empty means `archive.db` in the user's cache folder."""
    max_bytes: int = Field(default=500_000_000, ge=1_000_000)
    """The most bytes that it takes; the oldest entries make room."""
    max_age_days: float = Field(default=365.0, gt=0, le=36_500)
    """Days after which an entry is forgotten."""


class PolicySettings(SettingsSection):
    """What may be found and opened."""

    allowed_domains: Words = ()
    """Only these domains and their sub-domains, in results and in pages; empty means every domain."""
    blocked_domains: Words = ()
    """Never these domains nor their sub-domains; stronger than the list of allowed ones."""
    allowed_origins: Words = ()
    """Exact origins such as `http://127.0.0.1:8080` that may be opened, and read only, although they are not public."""
    open_only: Literal["any", "known"] = "any"
    """Which addresses may be opened: any, or only those the session knows from its user, results or opened pages."""
    untrusted_images: Literal["drop", "keep"] = "drop"
    """What becomes of an image in an answer of the loop or the proxy when its address is that of no source."""
    secret_env_vars: Variables = ()
    """Environment variables whose values, of 8 characters or more, must go out in no address and no query."""


class PermissionSettings(SettingsSection):
    """What a model's tool calls may do when tools are guarded; a rule is TOOL, TOOL(DOMAIN), either with @SESSION."""

    default: Decision = "confirm"
    """What happens to a call that no rule speaks of: allow, confirm (somebody is asked) or deny."""
    allow: Words = ()
    """Calls that need no question, such as `web_search` or `open_page(python.org)`."""
    confirm: Words = ()
    """Calls about which somebody is asked; stronger than allow."""
    deny: Words = ()
    """Calls that are refused; stronger than everything else."""
    confirm_timeout: float = Field(default=120.0, gt=0, le=86_400)
    """Seconds to wait for somebody's answer; no answer is a refusal."""

    @field_validator("allow", "confirm", "deny")
    @classmethod
    def _rules(cls, rules: tuple[str, ...]) -> tuple[str, ...]:
        for rule in rules:
            parse_rule(rule)
        return rules


class AnswerSettings(SettingsSection):
    """The model that `groundwire ask` answers with. Without one it quotes the passages that answer best."""

    api: Literal["openai_chat", "anthropic", "gemini"] = "openai_chat"
    """The API that the model speaks; most local servers speak `openai_chat`."""
    base_url: str = ""
    """Its address, such as `http://127.0.0.1:11434/v1`; empty means the maker's own, with the key of OPENAI_API_KEY,
    ANTHROPIC_API_KEY or GEMINI_API_KEY."""
    model: str = ""
    """The model's name; empty means the first that a server at one of `local_servers` lists."""
    local_servers: Words = (
        "http://127.0.0.1:11434/v1",
        "http://127.0.0.1:1234/v1",
        "http://127.0.0.1:8080/v1",
        "http://127.0.0.1:8000/v1",
    )
    """Where a model on this machine is looked for: the usual ports of Ollama, LM Studio, llama.cpp and vLLM."""
    timeout: float = Field(default=120.0, gt=0, le=600)
    """Seconds for the whole answer."""


class NetworkSettings(SettingsSection):
    """How to reach the network."""

    proxy: str = Field(default="", repr=False)  # it may hold a password
    """A forward proxy such as `http://proxy.example:3128`, trusted to resolve names. Empty means that search services
    are called through HTTPS_PROXY, but for the hosts of NO_PROXY, and that pages are read without a proxy."""
    user_agent: str = Field(default=USER_AGENT, min_length=1, max_length=500, pattern=r"^[\x20-\x7e]+$")
    """How we introduce ourselves to servers."""


class ServerSettings(SettingsSection):
    """The gateway: where it listens, who may use it, and how much."""

    host: str = Field(default="127.0.0.1", min_length=1, max_length=255)
    """The name or address of this machine at which it listens; elsewhere than on loopback it asks for keys."""
    port: int = Field(default=8780, ge=0, le=65_535)
    """The port; 0 is any that is free."""
    allowed_hosts: Words = ()
    """Names by which it may be called, beside the address where it listens; `*` is any name, for keys only."""
    key_file: str = ""
    """The file of API keys; empty means `keys.json` in the user's configuration folder."""
    require_key: bool = False
    """Whether a key is asked for on loopback, too, where there has never been one."""
    requests_per_minute: int = Field(default=0, ge=0, le=1_000_000)
    """Requests in a minute of a key that has no rate of its own; 0 means no limit."""
    burst: int = Field(default=0, ge=0, le=1_000_000)
    """How many of them may come at once after a silence; 0 means a sixth of the rate."""
    max_concurrent_requests: int = Field(default=1_000, ge=1, le=100_000)
    """The most concurrent requests of one process; further ones get status 503 with Retry-After."""
    max_connections: int = Field(default=2_000, ge=1, le=100_000)
    """The most open connections of one process; one more is closed at once."""
    max_body_bytes: int = Field(default=2_000_000, ge=1_000, le=1_000_000_000)
    """The most bytes of a request's body."""
    header_timeout: float = Field(default=10.0, gt=0, le=600)
    """Seconds that a client has for the head of a request."""
    body_timeout: float = Field(default=30.0, gt=0, le=3_600)
    """Seconds that a client has for the body of a request."""
    trusted_proxies: Words = ()
    """Addresses and networks of load balancers, whose `X-Forwarded-For` says who the client is."""

    @field_validator("trusted_proxies")
    @classmethod
    def _networks(cls, words: tuple[str, ...]) -> tuple[str, ...]:
        for word in words:
            try:
                ip_network(word)
            except ValueError:
                raise ValueError(f"{word[:60]!r} is no address and no network such as 10.0.0.0/8") from None
        return words

    @field_validator("allowed_hosts")
    @classmethod
    def _names(cls, words: tuple[str, ...]) -> tuple[str, ...]:
        for word in words:
            if word != "*" and not _HOST.fullmatch(word):
                raise ValueError(
                    f"{word[:60]!r} is not a host name; write one like tools.example.com, without port and path"
                )
        return tuple(word.lower() for word in words)


Decision = Literal["allow", "confirm", "deny"]
"""What becomes of a call: it is made, somebody is asked, or it is refused."""

_RULE = re.compile(
    r"(?P<tool>\*|[A-Za-z_][\w-]{0,63})(\((?P<domain>[^()\s@/:]{1,253})\))?(@(?P<session>[^\s()]{1,200}))?"
)


@dataclass(frozen=True, slots=True)
class PermissionRule:
    """Which calls a rule speaks of."""

    tool: str
    """The tool's name, or `*` for every tool."""
    domain: str | None = None
    """Only calls about this domain and its sub-domains; None means about anything."""
    session: str | None = None
    """Only calls of the session of this name; None means of every session."""

    def __str__(self) -> str:
        domain = f"({self.domain})" if self.domain else ""
        return self.tool + domain + (f"@{self.session}" if self.session else "")


def parse_rule(text: str) -> PermissionRule:
    """Return a rule.

    Args:
        text: TOOL or `*`, then perhaps (DOMAIN), then perhaps @SESSION.

    Raises:
        ValueError: it is not of that form.
    """
    found = _RULE.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"{text[:80]!r} is not a rule; write TOOL, TOOL(DOMAIN) or TOOL(DOMAIN)@SESSION")
    domain = found["domain"].lower().removeprefix("*.").strip(".") if found["domain"] else None
    if domain == "":
        raise ValueError(f"{text[:80]!r} names no domain; write e.g. open_page(python.org)")
    return PermissionRule(found["tool"], domain, found["session"])
