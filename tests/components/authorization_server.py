"""An OAuth authorization server on loopback: metadata, registration, codes with PKCE, signed tokens, its key set."""

from __future__ import annotations

import base64
import hashlib
import itertools
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlencode

import jwt
from cryptography.hazmat.primitives.asymmetric import ec
from jwt.algorithms import ECAlgorithm
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route


def from_now(seconds: float) -> int:
    """Return a time in a token."""
    return int(time.time() + seconds)


class AuthorizationServer:
    """It signs in every user, as `subject`. Serve its `app`, and set `url`."""

    def __init__(self) -> None:
        self.key_set_url = ""
        self.url = ""
        self.subject = "alice"
        self.is_down = False
        self.more_keys: list[dict[str, str]] = []
        self.requests: Counter[str] = Counter()
        """How often each path was asked for."""
        self.granted: list[dict[str, str]] = []
        """What the clients asked for that got a token."""
        self._codes: dict[str, dict[str, str]] = {}
        self._numbers = itertools.count(1)
        self.rotate()
        paths = {
            "/.well-known/oauth-authorization-server": self._metadata,
            "/jwks": self._jwks,
            "/huge": self._huge,
            "/register": self._register,
            "/authorize": self._authorize,
            "/token": self._token,
        }
        self.app = Starlette(
            routes=[Route(path, self._counted(path, end), methods=["GET", "POST"]) for path, end in paths.items()]
        )

    def rotate(self) -> None:
        """Sign with a new key, and forget the old one."""
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.key_id = f"key-{next(self._numbers)}"

    @property
    def key_set(self) -> dict[str, Any]:
        public = ECAlgorithm.to_jwk(self.key.public_key(), as_dict=True)
        return {"keys": [public | {"kid": self.key_id, "use": "sig"}, *self.more_keys]}

    def token(self, *, key: Any = None, algorithm: str = "ES256", kid: str | None = "", **claims: Any) -> str:
        """Return a token; a claim that is None is left out."""
        usual = {
            "iss": self.url,
            "sub": self.subject,
            "iat": from_now(0),
            "exp": from_now(600),
            "client_id": "a client",
        }
        said = {name: value for name, value in {**usual, **claims}.items() if value is not None}
        headers = {"typ": "at+jwt"} | ({} if kid is None else {"kid": kid or self.key_id})
        return jwt.encode(said, self.key if key is None else key, algorithm, headers=headers)

    def _counted(
        self, path: str, endpoint: Callable[[Request], Awaitable[Response]]
    ) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            self.requests[path] += 1
            return Response("down", 500) if self.is_down else await endpoint(request)

        return answer

    async def _metadata(self, _request: Request) -> Response:
        return JSONResponse(
            {
                "issuer": self.url,
                "authorization_endpoint": f"{self.url}/authorize",
                "token_endpoint": f"{self.url}/token",
                "registration_endpoint": f"{self.url}/register",
                "jwks_uri": self.key_set_url or f"{self.url}/jwks",
                "response_types_supported": ["code"],
                "grant_types_supported": ["authorization_code"],
                "code_challenge_methods_supported": ["S256"],
                "token_endpoint_auth_methods_supported": ["none"],
                "scopes_supported": ["web"],
            }
        )

    async def _jwks(self, _request: Request) -> Response:
        return JSONResponse(self.key_set)

    async def _huge(self, _request: Request) -> Response:
        return JSONResponse(self.key_set | {"more": "x" * 500_000})

    async def _register(self, request: Request) -> Response:
        wanted = await request.json()
        return JSONResponse({**wanted, "client_id": "a client", "token_endpoint_auth_method": "none"}, 201)

    async def _authorize(self, request: Request) -> Response:
        asked = dict(request.query_params)
        code = f"code-{next(self._numbers)}"
        self._codes[code] = asked
        back = {"code": code} | ({"state": asked["state"]} if "state" in asked else {})
        return RedirectResponse(f"{asked['redirect_uri']}?{urlencode(back)}", 302)

    async def _token(self, request: Request) -> Response:
        form = {name: str(value) for name, value in (await request.form()).items()}
        asked = self._codes.pop(form.get("code", ""), None)
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if asked is None or challenge != asked["code_challenge"]:
            return JSONResponse({"error": "invalid_grant"}, 400)
        self.granted.append(asked)
        scope = asked.get("scope", "")
        token = self.token(aud=asked.get("resource"), scope=scope)
        return JSONResponse({"access_token": token, "token_type": "Bearer", "expires_in": 600, "scope": scope})
