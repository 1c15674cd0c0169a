"""The ASGI middleware in front of every server: Host and Origin, API keys and access tokens, limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Final, cast

from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from groundwire.errors import ConfigurationError
from groundwire.fair_queue import CURRENT_TENANT
from groundwire.settings import ServerSettings, Settings
from groundwire.storage.base import Store, StoreError
from groundwire_server.auth.access_log import AccessRecord, with_access_log
from groundwire_server.auth.admission import Admission
from groundwire_server.auth.authentication import (
    TENANT,
    Authenticator,
    Pages,
    Tenant,
    client_address,
    credential,
    note_key,
    without_key,
)
from groundwire_server.auth.error_response import refuse
from groundwire_server.auth.keys import KeyFile
from groundwire_server.auth.rate_limits import (
    LimitedRequest,
    Rates,
    check_encoding,
    check_headers,
    check_path,
    client_network,
    declared_length,
    too_large,
)
from groundwire_server.error_body import Failed, failed
from groundwire_server.host_check import HostCheck, is_loopback

_PUBLIC = frozenset({"/healthz", "/readyz"})  # paths that need no key and have no rate limit
_OPERATORS = "/metrics"  # which only keys of operators may see
_SUGGESTIONS = "/page/suggestions"  # of the web page, while a query is typed
_SUGGESTIONS_PER_SEARCH = 10
CHANGEABLE: Final = frozenset(
    {"access_log", "body_timeout", "burst", "max_body_bytes", "max_concurrent_requests", "requests_per_minute"}
)
"""The settings of `server` that change while it runs."""
_NO_LARGER: Mapping[str, int] = MappingProxyType({})


def check_listening(settings: Settings, keys: KeyFile, *, host: str = "", takes_access_tokens: bool = True) -> None:
    """Check that a server may listen where the settings say.

    Args:
        settings: The settings.
        keys: The keys.
        host: Where it listens, if not as the settings say.
        takes_access_tokens: Whether it accepts those of the settings' issuers.

    Raises:
        ConfigurationError: other machines could reach it and there is no key and no issuer of access tokens, so that
            either anyone could use it or no one; or the key file cannot be used.
    """
    host = host or settings.server.host
    now, has_issuers = datetime.now(UTC), bool(settings.server.oauth.issuers)
    usable = (has_issuers and takes_access_tokens) or any(not record.why_dead(now) for record in keys.records())
    if usable or (is_loopback(host) and not settings.server.require_key and not has_issuers):
        return
    if has_issuers:
        raise ConfigurationError(
            "The setting server.oauth.issuers makes every client need a key or an access token, but this server takes "
            f"no access tokens, and {keys.path} has no valid key. Create one with: groundwire keys create NAME."
        )
    raise ConfigurationError(
        f"The gateway would listen on {host} and require a key, but {keys.path} has no valid one. "
        "Create one with: groundwire keys create NAME. Or listen on 127.0.0.1."
    )


def needs_key(settings: ServerSettings, host: str = "") -> bool:
    """Whether a server asks for a key even where there has never been one, such as where other machines can reach it.

    Args:
        settings: The section `server`.
        host: Where it listens, if not as the settings say.
    """
    is_exposed = "*" in settings.allowed_hosts or not is_loopback(host or settings.host)
    return settings.require_key or bool(settings.oauth.issuers) or is_exposed


class Access:
    """ASGI middleware that passes on only well-formed, authorized requests within limits.

    A key is asked for where the settings say so, and everywhere once there has been one. The application finds out
    whose request it is with `tenant_of(scope)`; it does not see the key.

    Args:
        app: What is behind it.
        settings: The section `server`.
        authenticator: Says whose a request is.
        store: Where limits are counted.
        host: Where it listens, if not as the settings say.
        larger: Maximum bytes of a body below a path, where that is more than the settings say.
        count: Called with the facts of each request that has ended.
    """

    def __init__(
        self,
        app: ASGIApp,
        settings: ServerSettings,
        authenticator: Authenticator,
        store: Store,
        *,
        host: str = "",
        larger: Mapping[str, int] = _NO_LARGER,
        count: Callable[[AccessRecord], None] | None = None,
    ) -> None:
        self._app = app
        self._settings = settings
        tokens, self._pages = authenticator.tokens, authenticator.pages
        self._public = _PUBLIC | (tokens.metadata_paths if tokens is not None else frozenset())
        self._larger = dict(larger)
        origins = frozenset(settings.allowed_origins)
        self._hosts = HostCheck.of(host or settings.host, settings.allowed_hosts, origins)
        self._authenticator = authenticator
        self._store = store
        self._rates = Rates(store, settings.requests_per_minute, settings.burst)
        self._count = count
        self._running = 0
        trusted, log = list(settings.trusted_proxies), cast("Any", self._log)  # uvicorn's types of ASGI are its own
        self._logged = cast("ASGIApp", ProxyHeadersMiddleware(log, trusted) if trusted else log)
        self._shared = CORSMiddleware(
            self._enter,
            allow_origins=settings.allowed_origins,
            allow_methods=("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"),
            allow_headers=("*",),
            expose_headers=("*",),
        )
        self.admission: Admission = Admission(_places(settings))
        """Who is let in."""

    @property
    def asks(self) -> bool:
        """Whether a key is currently required.

        Raises:
            ConfigurationError: the key file cannot be used.
        """
        return self._authenticator.asks

    def reload(self, settings: ServerSettings) -> ServerSettings:
        """Take over what can change while the server runs, and return the settings that it has now.

        Args:
            settings: The section `server` as it is now.
        """
        self._settings = settings = self._settings.model_copy(update=settings.model_dump(include=set(CHANGEABLE)))
        self._rates = Rates(self._store, settings.requests_per_minute, settings.burst)
        self.admission.resize(_places(settings))
        return settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request, or reject it."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        await self._logged(scope, receive, send)

    async def _log(self, scope: Scope, receive: Receive, send: Send) -> None:
        client, logs = client_address(scope), self._settings.access_log
        await with_access_log(self._open, scope, receive, send, client=client, logs=logs, count=self._count)

    async def _open(self, scope: Scope, receive: Receive, send: Send) -> None:
        origin = next((value.decode("latin-1") for name, value in scope["headers"] if name == b"origin"), None)
        if self._hosts.opens_to(origin):
            without_cookies = [(name, value) for name, value in scope["headers"] if name != b"cookie"]
            await self._shared({**scope, "headers": without_cookies}, receive, send)
        else:
            await self._enter(scope, receive, send)

    async def _enter(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            headers = self._well_formed(scope)
            if scope["path"] in self._public:
                await self._pass(scope, receive, send, None)
                return
            await self._admit(scope, receive, send, headers)
        except Failed as refusal:
            await refuse(refusal, scope, receive, send)

    async def aclose(self) -> None:
        """Stop background tasks. The store is not closed."""
        self.admission.close()

    def _well_formed(self, scope: Scope) -> Mapping[str, str]:
        """Return the relevant headers of a well-formed request with an accepted host and origin."""
        check_path(scope)
        headers = check_headers(scope["headers"])
        if "host" not in headers and scope["path"] in self._public:
            return headers  # load balancers probe with HTTP/1.0, and a browser always sends a host
        fault = self._hosts.judge(headers.get("host"), headers.get("origin"))
        if fault == "name":
            text = "Unknown host name; the setting server.allowed_hosts lists the allowed ones."
            raise failed(421, "wrong_host", text)
        foreign = not self._hosts.opens_to(headers.get("origin")) and _is_of_a_page(scope, headers, self._pages)
        if fault == "page" or foreign:
            text = "Requests from other origins are refused; the setting server.allowed_origins lists the allowed ones."
            raise failed(403, "foreign_page", text)
        return headers

    async def _admit(self, scope: Scope, receive: Receive, send: Send, headers: Mapping[str, str]) -> None:
        if self._running >= self._settings.max_concurrent_requests:
            raise failed(429, "busy", "The server is at its limit of concurrent requests.", retry_after=1.0)
        self._running += 1
        try:
            tenant = await self._authenticator.find(scope, headers)
            if tenant is not None:
                note_key(scope, tenant)
            check_encoding(scope, headers)
            if (declared_length(headers) or 0) > (limit := self._limit(scope)):
                raise too_large(limit)
            network = client_network(client_address(scope))
            owner = tenant.id if tenant is not None else network
            CURRENT_TENANT.set(owner)
            self.admission.note(credential(scope["headers"]) or network.encode(), owner)
            async with self.admission.turn(owner) as leave:

                async def sending(message: Message) -> None:
                    if _begins_events(message):
                        leave()  # the rest waits for events, for as long as the client stays
                    await send(message)

                if tenant is not None:
                    await self._take(scope, tenant)
                await self._pass(scope, receive, sending if scope["method"] == "GET" else send, tenant)
        finally:
            self._running -= 1

    async def _take(self, scope: Scope, tenant: Tenant) -> None:
        """Count a request against the limits of its key."""
        if not tenant.operator and _is_below(scope["path"], _OPERATORS):
            raise failed(403, "operators_only", "This requires an operator's key; see groundwire keys create.")
        share = _SUGGESTIONS_PER_SEARCH if scope["path"] == _SUGGESTIONS else 1
        try:
            await self._rates.take(tenant.key_id, tenant.limits, share)
        except StoreError:
            text = "The store of the rate limits does not respond."
            raise failed(503, "no_store", text, retry_after=1.0) from None

    async def _pass(self, scope: Scope, receive: Receive, send: Send, tenant: Tenant | None) -> None:
        inner = dict(scope)
        inner["headers"] = without_key(list(scope["headers"]))
        if tenant is not None and not tenant.digest:  # an access token is for this server only
            inner["headers"] = [pair for pair in inner["headers"] if pair[0].lower() != b"authorization"]
        inner[TENANT] = tenant
        limited = LimitedRequest(
            receive,
            send,
            limit=self._limit(scope),
            seconds=self._settings.body_timeout,
            allowed=lambda: tenant is None or self._authenticator.is_still_valid(tenant),
        )
        await limited.run(self._app, inner)

    def _limit(self, scope: Scope) -> int:
        default = self._settings.max_body_bytes
        return max([default, *(size for path, size in self._larger.items() if _is_below(scope["path"], path))])


def _is_of_a_page(scope: Scope, headers: Mapping[str, str], pages: Pages | None) -> bool:
    """Whether a browser marks a request as sent by a page of another site (https://www.w3.org/TR/fetch-metadata/).

    Following a link to one of Groundwire's pages is allowed as long as it starts no call: it has no query, or
    leads to a page that asks for confirmation.
    """
    if "access-control-request-method" in headers:
        return True
    if headers.get("sec-fetch-site", "none") in {"same-origin", "none"}:
        return False
    link = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
    asks_nothing = not scope.get("query_string") or (pages is not None and pages.has(scope))
    return not (link and scope["method"] == "GET" and asks_nothing)


def _begins_events(message: Message) -> bool:
    """Whether a response begins that is a stream of events."""
    return message["type"] == "http.response.start" and any(
        name.lower() == b"content-type" and value.startswith(b"text/event-stream") for name, value in message["headers"]
    )


def _places(settings: ServerSettings) -> int:
    """Return the requests that may be in progress or wait: those that are being refused need places, too."""
    return max(1, 9 * settings.max_concurrent_requests // 10)


def _is_below(path: str, above: str) -> bool:
    return path == above or path.startswith(f"{above.rstrip('/')}/")
