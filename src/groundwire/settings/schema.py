"""The settings and their defaults; a docstring under each says what it does and its unit."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from functools import cache, reduce
from importlib.util import find_spec
from typing import Any, ClassVar, Final, Literal, NamedTuple, TypedDict, TypeGuard
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, SecretStr

from groundwire.errors import ConfigurationError
from groundwire.settings.sections import (
    AnswerSettings,
    ArchiveSettings,
    CacheSettings,
    McpSettings,
    NetworkSettings,
    PermissionSettings,
    PolicySettings,
    ReadSettings,
    SearchSettings,
    ServerSettings,
    SessionSettings,
    SettingsSection,
    StorageSettings,
)
from groundwire.settings.user_folders import expand_user

SERVICE = "groundwire"
"""The keyring service of keys: `keyring set groundwire BRAVE_API_KEY`."""


def has_keyring() -> bool:
    """Return whether the package is installed and this machine may have a keyring, without loading either.

    On Linux and BSD, a keyring is reached through the bus of a desktop session; other backends are named by
    PYTHON_KEYRING_BACKEND or keyring's own configuration, or are packages below `keyrings`.
    """
    if not _is_installed("keyring"):
        return False
    environment = os.environ
    system: str = sys.platform
    if (
        system in {"win32", "darwin"}
        or "DBUS_SESSION_BUS_ADDRESS" in environment
        or "PYTHON_KEYRING_BACKEND" in environment
    ):
        return True
    runtime = environment.get("XDG_RUNTIME_DIR", "")
    if not runtime and sys.platform != "win32":
        runtime = f"/run/user/{os.getuid()}"
    config = environment.get("XDG_CONFIG_HOME") or f"{environment.get('HOME', '')}/.config"
    files = f"{runtime}/bus", f"{config}/python_keyring/keyringrc.cfg"  # not `Path`: every key that is sought asks
    return _is_installed("keyrings") or any(map(os.path.exists, files))


@cache
def _is_installed(package: str) -> bool:
    """Return whether a package is installed; each key asks, and one that is missing is sought everywhere."""
    return find_spec(package) is not None


def key_from_keyring(variable: str) -> SecretStr | None:
    """Return the key stored under a variable's name, or None: no keyring, a locked one, or no such entry.

    Args:
        variable: The name of the environment variable that would hold the key.
    """
    if not has_keyring():
        return None
    import keyring  # takes a quarter of a second, so it is imported only where there may be one

    try:
        value = keyring.get_password(SERVICE, variable)
    except Exception:  # noqa: BLE001 - no desktop, no session bus, locked, a backend named that is not installed
        return None  # the environment is used instead
    return SecretStr(value.strip()) if value and value.strip() else None


class ProviderKeys(TypedDict, total=False):
    """Keys as arguments of a client."""

    brave_api_key: str | None
    brave_search_api_key: str | None
    exa_api_key: str | None
    firecrawl_api_key: str | None
    jina_api_key: str | None
    kagi_api_key: str | None
    linkup_api_key: str | None
    parallel_ai_api_key: str | None
    parallel_api_key: str | None
    perplexity_api_key: str | None
    perplexityai_api_key: str | None
    pplx_api_key: str | None
    searxng_api_key: str | None
    serper_api_key: str | None
    tavily_api_key: str | None
    ydc_api_key: str | None
    you_api_key: str | None
    youcom_api_key: str | None


KEY_VARIABLES = tuple(sorted(map(str.upper, ProviderKeys.__annotations__)))
"""The variables in which the services' documentation, LiteLLM, LangChain, and the five design documents keep keys."""


_MASK = "********"
_WORD = re.compile(r"[^\s,]+")
_SECRET_NAME = re.compile(
    r"(^|_)(key|token|secret|password|passwd|authorization|cookie)s?($|_(?!env$|file$))", re.IGNORECASE
)


class SettingValue(BaseModel):
    """A setting in effect."""

    model_config: ClassVar[ConfigDict] = ConfigDict(defer_build=True)

    key: str
    """Its dotted key."""
    value: str
    """Its value as text, with masked secrets."""
    origin: str
    """The origin of the value."""


class Settings(BaseModel):
    """All settings. `groundwire.settings.load` reads them from files and the environment."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        frozen=True, extra="forbid", hide_input_in_errors=True, defer_build=True
    )

    search: SearchSettings = Field(default_factory=SearchSettings.model_construct)
    """How to search."""
    read: ReadSettings = Field(default_factory=ReadSettings.model_construct)
    """How to read pages."""
    session: SessionSettings = Field(default_factory=SessionSettings.model_construct)
    """What one session may use."""
    storage: StorageSettings = Field(default_factory=StorageSettings.model_construct)
    """Where state lives."""
    cache: CacheSettings = Field(default_factory=CacheSettings.model_construct)
    """The cache of search results and pages."""
    archive: ArchiveSettings = Field(default_factory=ArchiveSettings.model_construct)
    """The offline archive."""
    policy: PolicySettings = Field(default_factory=PolicySettings.model_construct)
    """What may be found and opened."""
    permission: PermissionSettings = Field(default_factory=PermissionSettings.model_construct)
    """What a model's tool calls may do."""
    answer: AnswerSettings = Field(default_factory=AnswerSettings.model_construct)
    """The model that answers questions."""
    network: NetworkSettings = Field(default_factory=NetworkSettings.model_construct)
    """How to reach the network."""
    mcp: McpSettings = Field(default_factory=McpSettings.model_construct)
    """The tools over MCP."""
    server: ServerSettings = Field(default_factory=ServerSettings.model_construct)
    """The gateway."""
    providers: Mapping[str, Mapping[str, Any]] = Field(default_factory=dict, repr=False)
    """Each provider's own options by the provider's name; the provider's file says which there are."""
    keys: Mapping[str, SecretStr] = Field(default_factory=dict, repr=False)
    """Keys by the name of their environment variable; shown masked wherever they are shown."""

    _origins: Mapping[str, str] = PrivateAttr(default_factory=dict)
    _ambient: Mapping[str, SecretStr] | None = PrivateAttr(default=None)
    _warnings: tuple[str, ...] = PrivateAttr(default=())
    _asks_keyring: bool = PrivateAttr(default=True)
    _proxies: Mapping[str, str] = PrivateAttr(default_factory=dict)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Problems of the settings that were corrected."""
        return self._warnings

    @property
    def loaded(self) -> bool:
        """Whether `groundwire.settings.load` created them, which has already rejected conflicts."""
        return self._ambient is not None

    def proxy_for(self, url: str) -> str:
        """Return the forward proxy for a provider, or an empty string: `network.proxy`, else that of the environment.

        HTTPS_PROXY, HTTP_PROXY and ALL_PROXY are read as curl reads them, in both cases, but for the hosts that
        NO_PROXY names. Settings that were made by hand look at no environment.

        Args:
            url: The provider's address.
        """
        if self.network.proxy or not self._proxies:
            return self.network.proxy
        parts = urlsplit(url)
        host = parts.hostname or ""
        for name in self._proxies.get("no", "").lower().split(","):
            bare = name.strip().removeprefix("*.").lstrip(".").partition(":")[0]
            if bare and (bare in {"*", host} or host.endswith(f".{bare}")):
                return ""
        return self._proxies.get(parts.scheme) or self._proxies.get("all", "")

    def origin(self, key: str) -> str:
        """Return the origin of a dotted key's value: `default`, a file, a variable, `argument`."""
        return self._origins.get(key, "default")

    def secret(self, variable: str) -> SecretStr | None:
        """Return the key stored under a variable's name, or None.

        One that was given as an argument comes first. Settings that were loaded then ask the keyring, the
        environment and `.env`; settings that were made by hand have what they were given and nothing more.
        """
        argument = self.keys.get(variable)
        if self._ambient is None or (argument is not None and self.origin(f"keys.{variable}") == "argument"):
            return argument
        stored = key_from_keyring(variable) if self._asks_keyring else None
        return stored or self._ambient.get(variable)

    def without_keyring(self) -> Settings:
        """Return a copy that does not use the keyring, such as one that waits for the user to unlock it."""
        less = self.model_copy()
        object.__setattr__(less, "_asks_keyring", False)
        return less

    @property
    def asks_keyring(self) -> bool:
        """Whether the keyring is searched for keys."""
        return self.loaded and self._asks_keyring

    def with_key(self, variable: str, key: SecretStr) -> Settings:
        """Return a copy with one more key, as if given as an argument."""
        more = self.model_copy(update={"keys": {**self.keys, variable: key}})
        object.__setattr__(more, "_origins", {**self._origins, f"keys.{variable}": "argument"})
        return more

    def rows(self) -> list[SettingValue]:
        """Return every setting in effect, with masked secrets, in the order of the documentation."""
        rows = [self._row(key, reduce(getattr, key.split("."), self)) for key in known_keys()]
        for provider, options in self.providers.items():
            rows += [self._row(f"providers.{provider}.{key}", value) for key, value in options.items()]
        rows += [
            SettingValue(key=f"keys.{name}", value=_MASK, origin=self.origin(f"keys.{name}")) for name in self.keys
        ]
        return rows

    def _row(self, key: str, value: object) -> SettingValue:
        return SettingValue(key=key, value=display_text(key, value), origin=self.origin(key))


def sections() -> tuple[str, ...]:
    """Return the names of the sections with fixed keys, without `providers` and `keys`."""
    return tuple(dict.fromkeys(key.partition(".")[0] for key in known_keys()))


@cache
def known_keys() -> tuple[str, ...]:
    """Return the dotted key of every setting but those of the providers."""
    fields = Settings.model_fields.items()
    return tuple(key for name, field in fields if is_section(field.annotation) for key in _keys(name, field.annotation))


def _keys(path: str, section: type[SettingsSection]) -> Iterator[str]:
    for key, field in section.model_fields.items():
        if is_section(field.annotation):
            yield from _keys(f"{path}.{key}", field.annotation)
        else:
            yield f"{path}.{key}"


def is_section(annotation: object) -> TypeGuard[type[SettingsSection]]:
    """Tell whether a field of this annotation is a section of its own."""
    return isinstance(annotation, type) and issubclass(annotation, SettingsSection)


def display_text(key: str, value: object) -> str:
    """Return a setting's value as text; passwords in URLs and anything named a secret are masked."""
    if value and isinstance(value, str) and _SECRET_NAME.search(key.rpartition(".")[2]):
        return _MASK
    if value is None:
        return ""
    if isinstance(value, bool):  # as TOML, JSON, and the environment have it
        return str(value).lower()
    text = ", ".join(map(str, value)) if isinstance(value, (tuple, list)) else str(value)
    return _WORD.sub(lambda match: _without_password(match[0]), text) if "@" in text else text


def _without_password(word: str) -> str:
    """Return a URL, or HOST:PORT, whose user name and password are masked; any other word as it is."""
    before, at, after = word.rpartition("@")
    scheme, slashes, _ = before.partition("://")
    if slashes:
        return f"{scheme}://{_MASK}@{after}"
    name, colon, tail = word.partition(":")
    password, at, after = tail.partition("@")
    return f"{_MASK}@{after}" if name and colon and password and at and not set("@/") & set(name) else word


_FORMS = (
    "memory://, sqlite:// (a file in the user's cache folder), sqlite:///relative/path, sqlite:////absolute/path, "
    "valkey://HOST:PORT/DATABASE or redis://..., with TLS valkeys://... or rediss://..., "
    "a password as valkey://:PASSWORD@HOST"
)
_SERVERS: Final[Mapping[str, str]] = {"valkey": "redis", "redis": "redis", "valkeys": "rediss", "rediss": "rediss"}


class StoreAddress(NamedTuple):
    """A parsed store URL."""

    kind: Literal["memory", "sqlite", "server"]
    """The kind of store."""
    target: str = ""
    """The path of the file, empty for the default in the user's cache folder; or the server's URL, redis or rediss."""


def parse_store_url(url: str) -> StoreAddress:
    """Parse a store's URL.

    Raises:
        ConfigurationError: the URL is invalid; the message lists the supported forms and never repeats a password.
    """
    try:
        parts = urlsplit(url)
        _ = parts.port  # the property validates it
    except ValueError as exc:
        raise _wrong("it cannot be parsed") from exc
    if url == "memory://":
        return StoreAddress("memory")
    if parts.scheme == "sqlite" and not (parts.netloc or parts.query or parts.fragment):
        return StoreAddress("sqlite", _file(parts.path))
    if parts.scheme in _SERVERS and parts.hostname and not parts.fragment:
        return StoreAddress("server", _server(parts))
    raise _wrong("it has none of the forms")


def _file(path: str) -> str:
    """Return the path of a file from that of a URL, which begins with another slash."""
    text = unquote(path.removeprefix("/"))
    if not path:
        return ""
    if not path.startswith("/") or not text or text.endswith("/") or "\0" in text or text == ":memory:":
        raise _wrong("the path names no file")
    try:
        os.fsencode(text)
        return str(expand_user(text))
    except (UnicodeError, RuntimeError) as exc:  # a name that no file can have, or the home of a user there is not
        raise _wrong("the path names no file") from exc


def _server(parts: SplitResult) -> str:
    scheme = _SERVERS[parts.scheme]
    database = parts.path.strip("/")
    if database and not (database.isascii() and database.isdigit()):
        raise _wrong("the database is a number, such as /0")
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    if options and (scheme != "rediss" or options.keys() - {"ssl_ca_certs"} or not all(options.values())):
        raise _wrong("the only option is ?ssl_ca_certs=FILE, with TLS")
    return parts._replace(scheme=scheme).geturl()


def _wrong(problem: str) -> ConfigurationError:
    return ConfigurationError(f"The store URL is invalid: {problem}. Forms: {_FORMS}.")
