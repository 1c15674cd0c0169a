"""The settings and their defaults; a docstring under each says what it does and its unit."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from ipaddress import ip_network
from typing import Annotated, Any, Literal, TypeGuard

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    SecretStr,
    field_validator,
)

from groundwire._version import USER_AGENT
from groundwire.models import MAX_LIMIT, SafeSearch
from groundwire.models.checks import check_domains
from groundwire.settings.keyring import key_from_keyring
from groundwire.settings.rules import Decision, parse_rule
from groundwire.settings.suggest import did_you_mean

__all__ = [
    "KEY_VARIABLES",
    "MODEL_PROVIDERS",
    "ArchiveSettings",
    "CacheSettings",
    "Domains",
    "LocalSettings",
    "NativeSettings",
    "NetworkSettings",
    "PermissionSettings",
    "PolicySettings",
    "ReadSettings",
    "Row",
    "SearchSettings",
    "ServerSettings",
    "SessionSettings",
    "Settings",
    "StorageSettings",
    "Variables",
    "Words",
    "known_keys",
    "sections",
    "shown",
]

KEY_VARIABLES = (
    "BRAVE_API_KEY",
    "BRAVE_SEARCH_API_KEY",
    "EXA_API_KEY",
    "FIRECRAWL_API_KEY",
    "JINA_API_KEY",
    "KAGI_API_KEY",
    "LINKUP_API_KEY",
    "PARALLEL_API_KEY",
    "PERPLEXITY_API_KEY",
    "SEARXNG_API_KEY",
    "SERPER_API_KEY",
    "TAVILY_API_KEY",
    "YDC_API_KEY",
    "YOU_API_KEY",
)
"""The variables in which the services' own documentation and the five design documents keep keys."""

MODEL_PROVIDERS = ("anthropic", "gemini", "groq", "mistral", "openai", "openrouter", "perplexity", "xai")
"""The providers of models whose APIs have a hosted search that we know how to ask for."""

_MASK = "********"
_USER_PART = re.compile(r"([A-Za-z][\w+.-]*://)[^\s,]*@|(?<![^\s,])[^\s,:@/]+:[^\s,@]+@")  # of a URL, or of HOST:PORT
_SECRET_NAME = re.compile(
    r"(^|_)(key|token|secret|password|passwd|authorization|cookie)s?($|_(?!env$|file$))", re.IGNORECASE
)
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
        raise ValueError("has what is no name of an environment variable; write the names, not the values")
    return words


Variables = Annotated[Words, AfterValidator(_variables)]
"""A list of environment variables, by their names."""


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True, use_attribute_docstrings=True)


class NativeSettings(_Section):
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


class LocalSettings(_Section):
    """The tool `search`, for models without hosted search."""

    backend: Literal["ddg", "brave"] = "ddg"
    """Who answers a search that does not say: ddg (DuckDuckGo, without a key) or brave."""
    brave_api_key_env: str = Field(default="BRAVE_SEARCH_API_KEY", pattern=r"^[A-Z_][A-Z0-9_]*$", max_length=200)
    """The environment variable that holds the key for brave."""


class SearchSettings(_Section):
    """How to search."""

    providers: Words = ("searxng", "duckduckgo_lite", "brave", "tavily")
    """The search providers, in the order in which they are asked; one that is not configured is skipped."""
    strategy: Literal["fallback", "hedge", "fuse"] = "hedge"
    """How providers are asked: one after the other, the next when one is late, or several at once and merged."""
    latency: Literal["normal", "fast", "fastest"] = "normal"
    """How late a provider must be for `hedge` to pay for another: later than 95, 90 or 75 % of its own answers."""
    cost: Literal["normal", "strict"] = "normal"
    """Whether `hedge` may pay for being faster; `strict` pays only when the running provider failed or seems dead."""
    limit: int = Field(default=5, ge=1, le=MAX_LIMIT)
    """The results of a search that does not say how many."""
    timeout: float = Field(default=10.0, gt=0, le=600)
    """Seconds for a whole search, all attempts together."""
    attempt_timeout: float = Field(default=6.0, gt=0, le=600)
    """Seconds for one attempt of one provider."""
    safesearch: SafeSearch = "moderate"
    """How much to leave out for decency: off, moderate or strict."""
    mode: Literal["auto", "native", "local"] = "auto"
    """Who searches for a model: its own API where that can (auto), only that (native), or only we (local)."""
    native: NativeSettings = NativeSettings()
    """Search that the model's own API does."""
    local: LocalSettings = LocalSettings()
    """The tool `search`, for models without hosted search."""


class ReadSettings(_Section):
    """How to read pages."""

    providers: Words = ("local",)
    """The read providers, in the order in which they are asked; the next one when a page needs what one cannot do."""
    render: Words = ()
    """Domains, sub-domains included, whose pages go first to the readers that run scripts: `browser`, `crawl4ai`."""
    max_length: int = Field(default=15_000, ge=1, le=10_000_000)
    """The most characters of Markdown of a page; longer pages are cut at a block and say so."""
    timeout: float = Field(default=20.0, gt=0, le=600)
    """Seconds for reading a page, all attempts together."""
    max_bytes: int = Field(default=10_000_000, ge=1_000, le=1_000_000_000)
    """The most bytes of a page's body, on the wire and again after decompression."""
    max_document_bytes: int = Field(default=50_000_000, ge=1_000, le=60_000_000)
    """The same for PDF, Office documents and EPUB, which are larger than pages."""
    robots: bool = True
    """Whether robots.txt files are respected (RFC 9309), by readers of our own and by those of others."""
    robots_exceptions: Domains = ()
    """Domains, sub-domains included, whose robots.txt is not asked for: your own, or where you have an agreement."""
    delay: float = Field(default=0.0, ge=0, le=60)
    """Seconds between two requests to one site; if its robots.txt asks for more, that counts, up to five seconds."""
    per_host: int = Field(default=6, ge=1, le=100)
    """The most requests to one site at once, in each process."""


class SessionSettings(_Section):
    """What one session (one `Web` object) may use."""

    limit: int = Field(default=20, ge=0)
    """The most searches; 0 means no limit. Also WEB_SEARCH_SESSION_LIMIT."""
    warning_threshold: int = Field(default=15, ge=0)
    """From how many searches on the agent is warned. Also WEB_SEARCH_WARNING_THRESHOLD."""
    cost_usd: float = Field(default=0.0, ge=0)
    """The most US dollars; 0 means no limit."""
    tokens: int = Field(default=0, ge=0)
    """The most tokens of page text, estimated at four characters each; 0 means no limit."""
    id: str = Field(default="", max_length=200)
    """The session's name; processes that share a name and a store share one budget. Empty means a new session."""
    citations: Literal["session", "call"] = "session"
    """Whether a page has one number in the whole session, or the results of each search are numbered from 1."""


class StorageSettings(_Section):
    """Where state lives: the cache, the budgets of sessions, paces and leases."""

    url: str = "sqlite://"
    """`memory://`, `sqlite://` (a file in the user's cache folder), `sqlite:////PATH`, `valkey://HOST:PORT/0`."""


class CacheSettings(_Section):
    """What is kept, so that the same is not fetched twice."""

    enabled: bool = True
    """Whether anything is kept."""
    search_ttl: float = Field(default=600.0, ge=0, le=31_536_000)
    """Seconds for which an answer is fresh; one that is empty or in part stays for a minute at most."""
    page_ttl: float = Field(default=900.0, ge=0, le=31_536_000)
    """Seconds for which a page is fresh."""
    stale: float = Field(default=86_400.0, ge=0, le=31_536_000)
    """Seconds after those for which it is still used, said to be stale: at once for an hour, then on failure only."""


class ArchiveSettings(_Section):
    """The offline archive: what was read and found stays searchable, and answers when nothing else does."""

    enabled: bool = True
    """Whether pages and results are kept in the archive."""
    path: str = ""
    """Its file; empty means `archive.db` in the user's cache folder."""
    max_bytes: int = Field(default=500_000_000, ge=1_000_000)
    """The most bytes that it takes; the oldest entries make room."""
    max_age_days: float = Field(default=365.0, gt=0, le=36_500)
    """Days after which an entry is forgotten."""


class PolicySettings(_Section):
    """What may be found and opened."""

    allowed_domains: Words = ()
    """Only these domains and their sub-domains, in results and in pages; empty means every domain."""
    blocked_domains: Words = ()
    """Never these domains nor their sub-domains; stronger than the list of allowed ones."""
    allow_origins: Words = ()
    """Exact origins such as `http://127.0.0.1:8080` that may be opened although they are not public."""
    open_only: Literal["any", "known"] = "any"
    """Which addresses may be opened: any, or only those the session knows from its user, results or opened pages."""
    secret_variables: Variables = ()
    """Environment variables whose values, of 8 characters or more, must go out in no address and no query."""


class PermissionSettings(_Section):
    """What a model's tool calls may do when tools are guarded; a rule is TOOL, TOOL(DOMAIN), either with @SESSION."""

    default: Decision = "confirm"
    """What happens to a call that no rule speaks of: allow, confirm (somebody is asked) or deny."""
    allow: Words = ()
    """Calls that need no question, such as `web_search` or `open_page(python.org)`."""
    confirm: Words = ()
    """Calls about which somebody is asked; stronger than allow."""
    deny: Words = ()
    """Calls that are refused; stronger than everything else."""
    patience: float = Field(default=120.0, gt=0, le=86_400)
    """Seconds to wait for somebody's answer; no answer is a refusal."""

    @field_validator("allow", "confirm", "deny")
    @classmethod
    def _rules(cls, rules: tuple[str, ...]) -> tuple[str, ...]:
        for rule in rules:
            parse_rule(rule)
        return rules


class NetworkSettings(_Section):
    """How to reach the network."""

    proxy: str = Field(default="", repr=False)  # it may hold a password
    """A forward proxy such as `http://proxy.example:3128`, trusted to resolve names; the environment's are ignored."""
    user_agent: str = Field(default=USER_AGENT, min_length=1, max_length=500, pattern=r"^[\x20-\x7e]+$")
    """How we introduce ourselves to servers."""


class ServerSettings(_Section):
    """The gateway: where it listens, who may use it, and how much."""

    host: str = Field(default="127.0.0.1", min_length=1, max_length=255)
    """The name or address of this machine at which it listens; elsewhere than on loopback it asks for keys."""
    port: int = Field(default=8780, ge=0, le=65_535)
    """The port; 0 is any that is free."""
    hosts: Words = ()
    """Names by which it may be called, beside the address where it listens; `*` is any name, for keys only."""
    key_file: str = ""
    """The file of API keys; empty means `keys.json` in the user's configuration folder."""
    require_key: bool = False
    """Whether a key is asked for on loopback, too, where there has never been one."""
    rate: int = Field(default=0, ge=0, le=1_000_000)
    """Requests in a minute of a key that has no rate of its own; 0 means no limit."""
    burst: int = Field(default=0, ge=0, le=1_000_000)
    """How many of them may come at once after a silence; 0 means a sixth of the rate."""
    concurrent: int = Field(default=1_000, ge=1, le=100_000)
    """The most requests under way in one process; one more is told to come again."""
    connections: int = Field(default=2_000, ge=1, le=100_000)
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

    @field_validator("hosts")
    @classmethod
    def _names(cls, words: tuple[str, ...]) -> tuple[str, ...]:
        for word in words:
            if word != "*" and not _HOST.fullmatch(word):
                raise ValueError(f"{word[:60]!r} is no name such as tools.example.com; write it without port and path")
        return tuple(word.lower() for word in words)


class Row(BaseModel):
    """One setting in force."""

    key: str
    """Its dotted name."""
    value: str
    """Its value as text, secrets masked."""
    origin: str
    """Where the value came from."""


class Settings(BaseModel):
    """Everything that can be set. `groundwire.settings.load` fills it from files and the environment."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True, use_attribute_docstrings=True)

    search: SearchSettings = SearchSettings()
    """How to search."""
    read: ReadSettings = ReadSettings()
    """How to read pages."""
    session: SessionSettings = SessionSettings()
    """What one session may use."""
    storage: StorageSettings = StorageSettings()
    """Where state lives."""
    cache: CacheSettings = CacheSettings()
    """What is kept."""
    archive: ArchiveSettings = ArchiveSettings()
    """The offline archive."""
    policy: PolicySettings = PolicySettings()
    """What may be found and opened."""
    permission: PermissionSettings = PermissionSettings()
    """What a model's tool calls may do."""
    network: NetworkSettings = NetworkSettings()
    """How to reach the network."""
    server: ServerSettings = ServerSettings()
    """The gateway."""
    providers: Mapping[str, Mapping[str, Any]] = Field(default_factory=dict, repr=False)
    """Each provider's own options by the provider's name; the provider's file says which there are."""
    keys: Mapping[str, SecretStr] = Field(default_factory=dict, repr=False)
    """Keys by the name of their environment variable; shown masked wherever they are shown."""

    _origins: Mapping[str, str] = PrivateAttr(default_factory=dict)
    _ambient: Mapping[str, SecretStr] | None = PrivateAttr(default=None)
    _warnings: tuple[str, ...] = PrivateAttr(default=())
    _asks_keyring: bool = PrivateAttr(default=True)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was wrong with the settings and could be put right."""
        return self._warnings

    @property
    def loaded(self) -> bool:
        """Whether `groundwire.settings.load` made them, which has refused contradictions already."""
        return self._ambient is not None

    def origin(self, key: str) -> str:
        """Return where the value of a dotted key came from: `default`, a file, a variable, `argument`."""
        return self._origins.get(key, "default")

    def secret(self, variable: str) -> SecretStr | None:
        """Return the key kept under a variable's name, or None.

        One that was given as an argument comes first. Settings that were loaded then ask the keyring, the
        environment and `.env`; settings that were made by hand have what they were given and nothing more.
        """
        given = self.keys.get(variable)
        if self._ambient is None or (given is not None and self.origin(f"keys.{variable}") == "argument"):
            return given
        kept = key_from_keyring(variable) if self._asks_keyring else None
        return kept or self._ambient.get(variable)

    def without_keyring(self) -> Settings:
        """Return these settings so that the keyring is not asked, such as one that waits for somebody to unlock it."""
        less = self.model_copy()
        object.__setattr__(less, "_asks_keyring", False)
        return less

    @property
    def asks_keyring(self) -> bool:
        """Whether a key is looked for in the keyring."""
        return self.loaded and self._asks_keyring

    def with_key(self, variable: str, key: SecretStr) -> Settings:
        """Return these settings with one more key, as if it had been given as an argument."""
        more = self.model_copy(update={"keys": {**self.keys, variable: key}})
        object.__setattr__(more, "_origins", {**self._origins, f"keys.{variable}": "argument"})
        return more

    def rows(self) -> list[Row]:
        """Return every setting in force, secrets masked, in the order of the documentation."""
        rows = [self._row(key, value) for name, section in self for key, value in _values(name, section)]
        for provider, options in self.providers.items():
            rows += [self._row(f"providers.{provider}.{key}", value) for key, value in options.items()]
        rows += [Row(key=f"keys.{name}", value=_MASK, origin=self.origin(f"keys.{name}")) for name in self.keys]
        return rows

    def _row(self, key: str, value: object) -> Row:
        return Row(key=key, value=shown(key, value), origin=self.origin(key))


def sections() -> tuple[str, ...]:
    """Return the names of the sections that have keys of their own; `providers` and `keys` are not among them."""
    return tuple(dict.fromkeys(key.partition(".")[0] for key in known_keys()))


def known_keys() -> Iterator[str]:
    """Yield the dotted key of every setting but those of the providers."""
    for section, field in Settings.model_fields.items():
        if _is_section(field.annotation):
            yield from _keys(section, field.annotation)


def _keys(path: str, section: type[_Section]) -> Iterator[str]:
    for key, field in section.model_fields.items():
        if _is_section(field.annotation):
            yield from _keys(f"{path}.{key}", field.annotation)
        else:
            yield f"{path}.{key}"


def _values(path: str, section: object) -> Iterator[tuple[str, object]]:
    if isinstance(section, _Section):
        for key, value in section:
            if isinstance(value, _Section):
                yield from _values(f"{path}.{key}", value)
            else:
                yield f"{path}.{key}", value


def _is_section(annotation: object) -> TypeGuard[type[_Section]]:
    return isinstance(annotation, type) and issubclass(annotation, _Section)


def shown(key: str, value: object) -> str:
    """Return a setting's value as text for people: passwords in addresses and whatever is named a secret are masked."""
    if value and isinstance(value, str) and _SECRET_NAME.search(key.rpartition(".")[2]):
        return _MASK
    if value is None:
        return ""
    text = ", ".join(map(str, value)) if isinstance(value, (tuple, list)) else str(value)
    return _USER_PART.sub(lambda found: f"{found[1] or ''}{_MASK}@", text)
