"""Parser of a store's URL; an error lists the supported forms."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final, Literal, NamedTuple
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from groundwire.errors import ConfigurationError
from groundwire.settings.user_folders import expand_user

__all__ = ["StoreAddress", "parse_store_url"]

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
    if parts.scheme == "memory":
        _only(parts, empty=("netloc", "path", "query", "fragment"))
        return StoreAddress("memory")
    if parts.scheme == "sqlite":
        return StoreAddress("sqlite", _path(parts))
    if parts.scheme in _SERVERS:
        return StoreAddress("server", _server(parts))
    raise _wrong(f"it begins with {parts.scheme!r}" if parts.scheme else "it has no scheme")


def _path(parts: SplitResult) -> str:
    if parts.netloc or (parts.path and not parts.path.startswith("/")):
        raise _wrong("a path follows three slashes, an absolute one four")
    _only(parts, empty=("query", "fragment"))
    text = unquote(parts.path.removeprefix("/"))
    if not text and not parts.path:
        return ""
    if not text or text.endswith("/") or "\0" in text:
        raise _wrong("the path names no file")
    if text == ":memory:":
        raise _wrong("for memory, write memory://")
    try:
        os.fsencode(text)
        return str(expand_user(text))
    except (UnicodeError, RuntimeError) as exc:  # a name that no file can have, or the home of a user there is not
        raise _wrong("the path names no file") from exc


def _server(parts: SplitResult) -> str:
    scheme = _SERVERS[parts.scheme]
    if not parts.hostname:
        raise _wrong("it has no host")
    _only(parts, empty=("fragment",))
    database = parts.path.strip("/")
    if database and not (database.isascii() and database.isdigit()):
        raise _wrong("the database is a number, such as /0")
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    if options and (scheme != "rediss" or options.keys() - {"ssl_ca_certs"} or not all(options.values())):
        raise _wrong("the only option is ?ssl_ca_certs=FILE, with TLS")
    return parts._replace(scheme=scheme).geturl()


def _only(parts: SplitResult, *, empty: tuple[str, ...]) -> None:
    for part in empty:
        if getattr(parts, part):
            raise _wrong(f"a {parts.scheme} address has no {'host' if part == 'netloc' else part}")


def _wrong(problem: str) -> ConfigurationError:
    return ConfigurationError(f"The store URL is invalid: {problem}. Forms: {_FORMS}.")
