"""Access tokens of OAuth authorization servers: JSON Web Tokens (RFC 9068), verified with their issuer's public keys.

The server is an OAuth resource server, as MCP requires of one with authorization
(https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization): its metadata name the authorization
servers, and the response to a request without a valid token names the metadata (RFC 9728).
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import jwt
from mcp.client.auth.utils import build_oauth_authorization_server_metadata_discovery_urls
from mcp.server.auth.routes import build_resource_metadata_url, create_protected_resource_routes
from mcp.shared.auth import ProtectedResourceMetadata
from starlette.routing import Route

from groundwire.errors import ConfigurationError
from groundwire.settings.sections import OAuthSettings
from groundwire_server.auth.authentication import Tenant
from groundwire_server.auth.keys import KeyLimits
from groundwire_server.error_body import Failed, failed

_logger = logging.getLogger(__name__)

_WELL_KNOWN = "/.well-known/oauth-protected-resource"
# Those with public keys (RFC 7518, 3.1, and RFC 8037): HMAC would take a public key for its secret.
_ALGORITHMS = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "EdDSA"),
)
_LEEWAY = timedelta(seconds=30)  # of the issuer's clock
_MALFORMED = (jwt.PyJWTError, ValueError, TypeError, OverflowError, RecursionError)
_FAULTS = (
    (jwt.ExpiredSignatureError, "expired_token", "The access token has expired. Get a new one."),
    (jwt.InvalidAudienceError, "wrong_audience", "The access token is for another audience. Get one for {audience}."),
    (jwt.MissingRequiredClaimError, "wrong_token", "The access token has no claim {claim}."),
    (
        jwt.InvalidAlgorithmError,
        "wrong_token",
        f"The access token must be signed with the algorithm of its key, one of {', '.join(_ALGORITHMS)}.",
    ),
    (jwt.ImmatureSignatureError, "early_token", "The access token is not valid yet."),
)
"""What can be wrong with a token that is one."""


class KeySet:
    """The public keys of an issuer, fetched when they are needed, and again in the background.

    Args:
        issuer: The issuer's URL, whose metadata (RFC 8414, OpenID Connect Discovery) name the key set.
        clock: Seconds that only grow.
    """

    REFRESH = 600.0
    """Seconds after which it is fetched again."""
    LIFETIME = 3600.0
    """Seconds for which it is used while its server cannot be reached; few tokens live longer."""
    PAUSE = 10.0
    """Seconds between two requests for it, whatever the tokens ask for."""
    TIMEOUT = 10.0
    """Seconds for one."""
    LARGEST = 500_000
    """Bytes of a response."""

    def __init__(self, issuer: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._issuer = issuer
        self._clock = clock
        self._keys: list[jwt.PyJWK] = []
        self._fetched = self._tried = float("-inf")
        self._fetching: asyncio.Task[None] | None = None

    async def find(self, key_id: str | None) -> jwt.PyJWK | None:
        """Return the key with an ID, or the only key for a token that names none; None if there is no such key.

        Raises:
            Failed: the key set cannot be fetched, and there is none, or it is too old.
        """
        now = self._clock()
        key = self._find(key_id)
        if (key is None or now - self._fetched > self.REFRESH) and now - self._tried >= self.PAUSE:
            self._tried = now
            self._fetching = asyncio.create_task(self._fetch())
        if key is None and self._fetching is not None:
            await asyncio.shield(self._fetching)  # others wait for it, too
            key = self._find(key_id)
        if not self._is_usable():
            text = f"The signing keys of {self._issuer} cannot be fetched, so its tokens cannot be checked."
            raise failed(503, "no_key_set", text, retry_after=self.PAUSE)
        return key

    def _is_usable(self) -> bool:
        return self._clock() - self._fetched <= self.LIFETIME

    def _find(self, key_id: str | None) -> jwt.PyJWK | None:
        if not self._is_usable():
            return None
        if key_id is None and len(self._keys) == 1:
            return self._keys[0]
        return next((key for key in self._keys if key.key_id is not None and key.key_id == key_id), None)

    async def _fetch(self) -> None:
        try:
            async with asyncio.timeout(self.TIMEOUT), aiohttp.ClientSession(trust_env=False) as client:
                keys = jwt.PyJWKSet.from_dict(await self._get(client, await self._url(client))).keys
        except (aiohttp.ClientError, OSError, TimeoutError, *_MALFORMED) as error:
            _logger.error("The key set of %s cannot be fetched: %s", self._issuer, str(error) or "timeout")
            return
        self._keys = [key for key in keys if key.public_key_use in (None, "sig")]
        self._fetched = self._clock()

    async def _url(self, client: aiohttp.ClientSession) -> str:
        """Return the URL of the key set in the issuer's metadata."""
        urls = build_oauth_authorization_server_metadata_discovery_urls(self._issuer, self._issuer)
        problems = []
        for url in urls:
            try:
                metadata = await self._get(client, url)
                if str(metadata.get("issuer")).rstrip("/") != self._issuer.rstrip("/"):
                    raise ValueError(f"{url} is of another issuer")
                key_set = urlsplit(str(metadata.get("jwks_uri")))
                if key_set.scheme != "https" and key_set.scheme != urlsplit(self._issuer).scheme:
                    raise ValueError(f"{url} names no jwks_uri with https")
                return key_set.geturl()
            except ValueError as error:
                problems.append(str(error))
        raise ValueError("; ".join(problems))

    async def _get(self, client: aiohttp.ClientSession, url: str) -> dict[str, Any]:
        async with client.get(url, allow_redirects=False, headers={"Accept": "application/json"}) as response:
            if response.status != 200:
                raise ValueError(f"{url} answered with status {response.status}")
            data = bytearray()
            async for piece in response.content.iter_any():
                data += piece
                if len(data) > self.LARGEST:
                    raise ValueError(f"{url} answered with more than {self.LARGEST:,} bytes")
        document = json.loads(data)
        if not isinstance(document, dict):
            raise ValueError(f"{url} is not a JSON object")
        return document


class AccessTokens:
    """Verifies access tokens, and tells clients where they get one.

    Args:
        settings: The section `server.oauth`, with at least one issuer.
        clock: Seconds that only grow.

    Raises:
        ConfigurationError: the settings do not fit together.
    """

    def __init__(self, settings: OAuthSettings, *, clock: Callable[[], float] = time.monotonic) -> None:
        if not settings.resource:
            raise ConfigurationError(
                "server.oauth.issuers is set without server.oauth.resource. Set it to the URL by which clients know "
                "the server, such as https://tools.example.com/mcp."
            )
        self._settings = settings
        self._limits = KeyLimits(calls_per_day=settings.calls_per_day, usd_per_day=settings.usd_per_day)
        self._metadata = ProtectedResourceMetadata.model_validate(
            {"resource": settings.resource, "authorization_servers": list(settings.issuers)}
        )
        metadata_url = build_resource_metadata_url(self._metadata.resource)
        self._path = urlsplit(settings.resource).path.rstrip("/")
        self._audience = settings.audience or settings.resource
        self._key_sets = {issuer: KeySet(issuer, clock=clock) for issuer in settings.issuers}
        scope = f', scope="{" ".join(settings.scopes)}"' if settings.scopes else ""
        self.challenge: str = f', resource_metadata="{metadata_url}"{scope}'
        """What `WWW-Authenticate` says in addition."""
        self.metadata_paths: frozenset[str] = frozenset({_WELL_KNOWN, _WELL_KNOWN + self._path})
        """The paths of the resource's metadata, which need no key."""
        self.how: str = f"Or send an access token of {' or '.join(settings.issuers)}."
        """How a client gets in."""

    def covers(self, path: str) -> bool:
        """Whether tokens are accepted at a path: that of the resource, and those below."""
        return path == self._path or path.startswith(f"{self._path}/")

    def routes(self) -> list[Route]:
        """Return the routes of the resource's metadata."""
        metadata = self._metadata
        (route,) = create_protected_resource_routes(
            metadata.resource, metadata.authorization_servers, list(self._settings.scopes) or None, "Groundwire"
        )
        return [Route(path, route.endpoint, methods=["GET"]) for path in sorted(self.metadata_paths)]

    async def tenant(self, token: str) -> Tenant:
        """Return the tenant of a token.

        Raises:
            Failed: the token is not valid, or its issuer's keys cannot be fetched.
        """
        try:
            header = jwt.get_unverified_header(token)
            unverified = jwt.decode(token, options={"verify_signature": False})
        except _MALFORMED:
            raise self._refusal("wrong_token", "The access token is not a JSON Web Token.") from None
        issuer = unverified.get("iss")
        if not isinstance(issuer, str) or issuer not in self._key_sets:
            text = f"The access token is not of an accepted issuer. Get one from {' or '.join(self._key_sets)}."
            raise self._refusal("wrong_token", text)
        key_id = header.get("kid")
        key = await self._key_sets[issuer].find(key_id if isinstance(key_id, str) else None)
        if key is None:
            text = "The access token is signed with a key that is not in its issuer's key set. Get a new token."
            raise self._refusal("wrong_token", text)
        return self._tenant(issuer, self._verified(token, key, issuer))

    def _verified(self, token: str, key: jwt.PyJWK, issuer: str) -> Mapping[str, Any]:
        """Return the claims of a valid token."""
        try:
            return jwt.decode(
                token,
                key,
                algorithms=_ALGORITHMS,
                audience=self._audience,
                issuer=issuer,
                leeway=_LEEWAY,
                options={"require": ["exp", "iss", "aud"], "verify_sub": False, "verify_jti": False},
            )
        except _MALFORMED as error:
            claim = getattr(error, "claim", "")
            code, text = next(
                ((code, text) for kind, code, text in _FAULTS if isinstance(error, kind)),
                ("wrong_token", "The access token has no valid signature of its issuer."),
            )
            raise self._refusal(code, text.format(audience=self._audience, claim=claim)) from None

    def _tenant(self, issuer: str, claims: Mapping[str, Any]) -> Tenant:
        scope_claim = claims.get("scope", claims.get("scp", ""))  # RFC 9068, 2.2.3; Entra ID and Okta say scp
        scopes = (
            scope_claim.split()
            if isinstance(scope_claim, str)
            else scope_claim
            if isinstance(scope_claim, list)
            else []
        )
        if not set(self._settings.scopes) <= {str(scope) for scope in scopes}:
            text = f"The access token needs the scope {' '.join(self._settings.scopes)}. Get one with it."
            raise self._refusal("insufficient_scope", text, 403)
        name = claims.get(self._settings.tenant_claim)
        if not isinstance(name, str) or not name:
            text = f"The access token has no text in the claim {self._settings.tenant_claim}, which names the tenant."
            raise self._refusal("no_tenant", text)
        try:
            expires = datetime.fromtimestamp(float(claims["exp"]), UTC) + _LEEWAY
        except (*_MALFORMED, OSError):
            raise self._refusal("wrong_token", "The access token has no valid time of expiry.") from None
        # Neither another issuer nor the holder of an API key can have this tenant.
        id_ = "oauth-" + hashlib.sha256(f"{issuer}\n{name}".encode("utf-8", "surrogatepass")).hexdigest()[:32]
        return Tenant(id_, id_, id_, operator=False, limits=self._limits, expires=expires)

    def _refusal(self, code: str, text: str, status: int = 401) -> Failed:
        error = "insufficient_scope" if status == 403 else "invalid_token"
        challenge = f'Bearer realm="groundwire", error="{error}"{self.challenge}'
        return failed(status, code, text, headers={"www-authenticate": challenge})
