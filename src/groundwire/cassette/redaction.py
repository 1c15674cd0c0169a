"""Redaction of secrets in recorded exchanges.

A request header is written with its value only if it is known to be harmless. Parameters and body fields are judged by
name, in any spelling. A redacted value is remembered and removed everywhere else too: some services repeat the key that
they reject.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote, quote_plus, unquote, unquote_plus

MASK = "***"
"""The placeholder for a secret."""

_PLAIN_REQUEST_HEADERS = frozenset(
    re.findall(
        r"[\w-]+",
        "accept accept-language content-type dnt user-agent x-engine x-no-cache x-retain-images x-return-format "
        "x-tavily-access-mode x-token-budget",
    )
)
_OMITTED_HEADERS = frozenset({"x-timeout"})  # the client's timeout, which varies
_RESPONSE_HEADERS = frozenset(
    re.findall(
        r"[\w-]+",
        "cf-mitigated content-disposition content-language content-location content-type date etag last-modified "
        "location refresh retry-after",
    )
)
_RESPONSE_HEADER_STARTS = ("ratelimit", "x-rate-limit", "x-ratelimit", "x-usage")
_SECRET = frozenset(
    re.findall(
        r"\w+",
        "accesstoken apikey apitoken auth authorization authtoken bearer clientsecret cookie credential credentials "
        "jwt key passcode passphrase passwd password pwd refreshtoken secret sig signature token",
    )
)
# If the value looks random.
_AMBIGUOUS = frozenset({"code", "nonce", "sas", "session", "sessionid", "sid", "ticket"})
_PAGING = frozenset({"continuation", "cursor", "next", "page", "paging", "pagination", "prev", "start"})
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_PARAMETER = re.compile(r"([?&;#])([^=&;#?/]+)=([^&;#]*)")
_SHORTEST = 6  # characters; shorter values also occur in ordinary text
_RANDOM = 16  # characters
_DEPTH = 2  # URLs nested in parameters of URLs


class Masks:
    """The known secrets, and their redaction."""

    def __init__(self) -> None:
        self._secrets: tuple[str, ...] = ()

    def learn(self, secret: str) -> None:
        """Redact a secret from now on; one of fewer than six characters is ignored."""
        if len(secret) < _SHORTEST or secret in self._secrets or secret == MASK:
            return
        spellings = {secret, quote(secret, safe=""), quote_plus(secret), json.dumps(secret)[1:-1]}
        self._secrets = tuple(sorted({*self._secrets, *spellings}, key=len, reverse=True))

    def text(self, text: str) -> str:
        """Return a text without the known secrets."""
        for secret in self._secrets:
            text = text.replace(secret, MASK)
        return text

    def body(self, body: bytes) -> bytes:
        """Return a body without the known secrets."""
        for secret in self._secrets:
            body = body.replace(secret.encode("utf-8", "surrogatepass"), MASK.encode())
        return body

    def url(self, url: str) -> str:
        """Return a URL without its secret parameters. Idempotent."""
        return self.text(self._parameters(url, _DEPTH))

    def value(self, value: Any, name: str = "") -> Any:
        """Return a JSON value without its secret fields.

        Args:
            value: The value.
            name: The field that holds it.
        """
        match value:
            case dict():
                return {self.text(str(key)): self.value(item, str(key)) for key, item in value.items()}
            case list() | tuple():
                return [self.value(item, name) for item in value]
            case str() if value and _is_secret(name, value):
                self._remember(name, value)
                return MASK
            case str():
                return self.url(value) if "://" in value else self.text(value)
            case _:
                return value

    def request_headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        """Return the headers of a request; possibly secret values are redacted and remembered."""
        masked = {}
        for name, value in headers.items():
            if name.lower() in _OMITTED_HEADERS:
                continue
            if name.lower() not in _PLAIN_REQUEST_HEADERS:
                self._remember_header(name, value)
            masked[name] = self.text(value) if name.lower() in _PLAIN_REQUEST_HEADERS else MASK
        return masked

    def response_headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        """Return the response headers that are used, the first of each; never cookies."""
        masked: dict[str, str] = {}
        for name, value in headers.items():
            if name.lower() in _RESPONSE_HEADERS or name.lower().startswith(_RESPONSE_HEADER_STARTS):
                masked.setdefault(name, self.url(value))
        return masked

    def _remember(self, name: str, value: str) -> None:
        """Remember a value that cannot be an ordinary word elsewhere."""
        if _looks_random(value) or _words(name) & {"apikey", "apitoken", "authorization"}:
            self.learn(value)

    def _remember_header(self, name: str, value: str) -> None:
        if not (_words(name) & _SECRET or _looks_random(value)):
            return
        if "cookie" in _words(name):
            parts = [part.partition("=")[2].strip() for part in value.split(";")]
            for part in parts:
                self.learn(part)
            return
        scheme, _, credentials = value.strip().partition(" ")
        self.learn(credentials.strip() or scheme)
        if scheme.lower() == "basic":
            for part in _basic(credentials):
                self.learn(part)

    def _parameters(self, url: str, depth: int) -> str:
        def masked(match: re.Match[str]) -> str:
            before, name, value = match.groups()
            plain = unquote_plus(value)
            if not value:
                return match[0]
            if _is_secret(unquote_plus(name), plain):
                self._remember(unquote_plus(name), plain)
                return f"{before}{name}={MASK}"
            if depth and "=" in plain and (inner := self._parameters(plain, depth - 1)) != plain:
                return f"{before}{name}={quote(inner, safe='*')}"
            return match[0]

        return _PARAMETER.sub(masked, url)


def _is_secret(name: str, value: str) -> bool:
    words = _words(name)
    if _PAGING & words:
        words -= {"key", "token"}
    return bool(_SECRET & words) or (bool(_AMBIGUOUS & words) and _looks_random(value))


def _words(name: str) -> set[str]:
    joined = re.sub(r"[^A-Za-z0-9]", "", unquote(name)).lower()
    parts = [word.lower() for part in re.split(r"[^A-Za-z0-9]+", unquote(name)) for word in _HUMP.split(part) if word]
    return {*parts, joined}


def _looks_random(value: str) -> bool:
    return (
        len(value) >= _RANDOM
        and re.fullmatch(r"[A-Za-z0-9._~+/=%-]+", value) is not None
        and any(char.isdigit() for char in value)
        and any(char.isalpha() for char in value)
    )


def _basic(text: str) -> Iterator[str]:
    """Yield user name and password of an RFC 7617 header."""
    try:
        yield base64.b64decode(text, validate=True).decode("utf-8").partition(":")[2]
    except (binascii.Error, UnicodeDecodeError):
        return
