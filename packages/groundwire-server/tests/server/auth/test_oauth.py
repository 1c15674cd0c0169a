"""Access tokens: which are accepted, what is said of each other, and the key sets by which they are checked."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from components.authorization_server import AuthorizationServer, from_now
from components.processes import ReservedPort
from groundwire.errors import ConfigurationError
from groundwire.settings.sections import OAuthSettings
from groundwire_server.auth.oauth import AccessTokens, KeySet
from groundwire_server.error_body import Failed
from groundwire_server.uvicorn_runner import serving
from server.auth.conftest import Clock, Gateway, Serve

RESOURCE = "https://tools.example.com/mcp"
METADATA = "https://tools.example.com/.well-known/oauth-protected-resource/mcp"


@pytest.fixture
async def issuer() -> AsyncIterator[AuthorizationServer]:
    made = AuthorizationServer()
    async with serving(made.app) as made.url:
        yield made


@pytest.fixture
async def gateway(serve: Serve, issuer: AuthorizationServer) -> Gateway:
    oauth = {"issuers": [issuer.url], "resource": RESOURCE, "scopes": ["web"]}
    made: Gateway = await serve(oauth=oauth)
    return made


def unsigned(
    issuer: AuthorizationServer, algorithm: str, sign: Callable[[bytes], bytes] = lambda _: b"", **more: Any
) -> str:
    """Return a token that no library makes."""
    claims = {"iss": issuer.url, "sub": "alice", "aud": RESOURCE, "exp": from_now(600), "scope": "web"} | more
    parts = [{"alg": algorithm, "kid": issuer.key_id}, claims]
    head = b".".join(base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=") for part in parts)
    return (head + b"." + base64.urlsafe_b64encode(sign(head)).rstrip(b"=")).decode()


def with_the_public_key_as_secret(issuer: AuthorizationServer) -> str:
    secret = issuer.key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    return unsigned(issuer, "HS256", lambda head: hmac.digest(secret, head, "sha256"))


def of(**claims: Any) -> Callable[[AuthorizationServer], str]:
    return lambda issuer: issuer.token(**{"aud": RESOURCE, "scope": "web"} | claims)


def timed(claim: str, seconds: int) -> Callable[[AuthorizationServer], str]:
    """Return what makes a token with a time from now."""
    return lambda issuer: of(**{claim: from_now(seconds)})(issuer)


ACCEPTED: dict[str, Callable[[AuthorizationServer], str]] = {
    "as usual": of(),
    "for several audiences": of(aud=["https://other.example", RESOURCE]),
    "with more scopes": of(scope="mail web"),
    "scopes as Entra ID says them": of(scope=None, scp="web"),
    "scopes as Okta says them": of(scope=None, scp=["web"]),
    "just expired, by a clock that is fast": timed("exp", -1),
    "without a key's name, of which there is one": of(kid=None),
    "with a number for its own ID": of(jti=7),
}


@pytest.mark.parametrize("case", ACCEPTED)
async def test_a_token_is_let_in_as_its_subject(case: str, gateway: Gateway, issuer: AuthorizationServer) -> None:
    answer = await gateway.ask("/mcp", key=ACCEPTED[case](issuer))
    assert answer.status == 200, answer.body
    digest = hashlib.sha256(f"{issuer.url}\nalice".encode()).hexdigest()
    assert answer.json["tenant"] == f"oauth-{digest[:32]}"
    assert "authorization" not in answer.json["headers"]  # it is for this server, and goes nowhere else


REFUSED: dict[str, tuple[Callable[[AuthorizationServer], str], int, str]] = {
    "of another audience": (of(aud="https://other.example/mcp"), 401, "wrong_audience"),
    "of no audience": (of(aud=None), 401, "wrong_token"),
    "expired": (timed("exp", -60), 401, "expired_token"),
    "without expiry": (of(exp=None), 401, "wrong_token"),
    "expiry out of range": (of(exp=10**30), 401, "wrong_token"),
    "not valid yet": (timed("nbf", 600), 401, "early_token"),
    "of another issuer": (of(iss="https://evil.example"), 401, "wrong_token"),
    "of an issuer that is no text": (lambda issuer: unsigned(issuer, "ES256", iss=[issuer.url]), 401, "wrong_token"),
    "of an unknown key": (of(kid="unknown"), 401, "wrong_token"),
    "signed by another key": (of(key=ec.generate_private_key(ec.SECP256R1())), 401, "wrong_token"),
    "unsigned": (lambda issuer: unsigned(issuer, "none"), 401, "wrong_token"),
    "unsigned, by its name": (lambda issuer: unsigned(issuer, "ES256"), 401, "wrong_token"),
    "signed with the public key": (with_the_public_key_as_secret, 401, "wrong_token"),
    "of a missing scope": (of(scope="mail"), 403, "insufficient_scope"),
    "of scopes that are no text": (of(scope=7), 403, "insufficient_scope"),
    "of no subject": (of(sub=None), 401, "no_tenant"),
    "of a subject that is a number": (of(sub=7), 401, "no_tenant"),
    "no token": (lambda _: "a.b.c", 401, "wrong_token"),
    "nested deeply": (lambda _: f"{base64.urlsafe_b64encode(b'[' * 20_000).decode()}.e30.e30", 401, "wrong_token"),
    "no key either": (lambda _: "opaque", 401, "wrong_key"),
}


@pytest.mark.parametrize("case", REFUSED)
async def test_what_is_no_valid_token_is_told_why(case: str, gateway: Gateway, issuer: AuthorizationServer) -> None:
    make, status, code = REFUSED[case]
    token = make(issuer)
    answer = await gateway.ask("/mcp", key=token)
    assert (answer.status, answer.code) == (status, code)
    challenge = answer.headers["www-authenticate"]
    error = "insufficient_scope" if status == 403 else "invalid_token"
    assert challenge == f'Bearer realm="groundwire", error="{error}", resource_metadata="{METADATA}", scope="web"'
    assert gateway.echo.seen == []
    assert token not in answer.body.decode()
    assert (await gateway.ask("/mcp", key=of()(issuer))).status == 200  # it harmed nobody else


@pytest.mark.parametrize("algorithm", ["HS256", "ES256"])
async def test_a_secret_in_a_key_set_signs_nothing(
    algorithm: str, tokens: AccessTokens, issuer: AuthorizationServer
) -> None:
    secret = b"published" * 8
    encoded = base64.urlsafe_b64encode(secret).rstrip(b"=").decode()
    issuer.more_keys = [{"kty": "oct", "kid": "secret", "k": encoded, "alg": "HS256"}]
    own, issuer.key_id = issuer.key_id, "secret"
    forged = unsigned(issuer, algorithm, lambda head: hmac.digest(secret, head, "sha256"))
    issuer.key_id = own
    assert await refused(tokens, forged) == (401, "wrong_token")


async def test_forged_tokens_count_as_wrong_keys_and_expired_ones_do_not(
    gateway: Gateway, issuer: AuthorizationServer
) -> None:
    expired = of(exp=from_now(-60))(issuer)
    assert [(await gateway.ask("/mcp", key=expired)).code for _ in range(5)] == ["expired_token"] * 5
    forged = [(await gateway.ask("/mcp", key=unsigned(issuer, "none"))).code for _ in range(4)]
    assert forged == ["wrong_token"] * 3 + ["too_many_wrong_keys"]


async def test_a_client_finds_out_where_it_gets_a_token(gateway: Gateway, issuer: AuthorizationServer) -> None:
    answer = await gateway.ask("/mcp")
    assert (answer.status, answer.code) == (401, "missing_key")
    assert answer.headers["www-authenticate"] == (
        f'Bearer realm="groundwire", resource_metadata="{METADATA}", scope="web"'
    )
    assert issuer.url in answer.json["error"]["message"]
    for path in ("/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"):
        assert (await gateway.ask(path)).status == 200  # what is there is the application's
    assert (await gateway.ask("/.well-known/oauth-protected-resource/other")).status == 401


async def test_tokens_are_for_the_resource_and_keys_for_all(gateway: Gateway, issuer: AuthorizationServer) -> None:
    token, key = of()(issuer), gateway.key()
    for path, status in (("/mcp", 200), ("/mcp/below", 200), ("/mcpx", 401), ("/v1/search", 401)):
        answer = await gateway.ask(path, key=token)
        assert answer.status == status, path
        assert ("resource_metadata" in answer.headers.get("www-authenticate", "")) is False
    for path in ("/mcp", "/v1/search"):
        assert (await gateway.ask(path, key=key)).status == 200
    assert (await gateway.ask("/mcp", X_API_Key=token)).code == "wrong_key"  # RFC 6750 has it in Authorization


async def test_the_tenant_is_of_the_claim_and_of_the_issuer(serve: Serve, issuer: AuthorizationServer) -> None:
    other = AuthorizationServer()
    async with serving(other.app) as other.url:
        both = [issuer.url, other.url]
        gateway = await serve(oauth={"issuers": both, "resource": RESOURCE, "tenant_claim": "org"})
        key = gateway.key(tenant="acme")

        async def tenant(token: str) -> str:
            answer = await gateway.ask("/mcp", key=token)
            assert answer.status == 200, answer.body
            return str(answer.json["tenant"])

        acme = await tenant(of(org="acme")(issuer))
        assert await tenant(of(org="acme", sub="bob")(issuer)) == acme
        others = [await tenant(of(org="acme")(other)), await tenant(of(org="b")(issuer)), await tenant(key)]
        assert len({acme, *others}) == 4
        answer = await gateway.ask("/mcp", key=of()(issuer))
        assert (answer.status, answer.code) == (401, "no_tenant")
        assert "org" in answer.json["error"]["message"]


async def test_the_rate_of_a_tenant_is_limited(serve: Serve, issuer: AuthorizationServer) -> None:
    oauth = {"issuers": [issuer.url], "resource": RESOURCE}
    gateway = await serve(oauth=oauth, requests_per_minute=1, burst=1)
    assert [(await gateway.ask("/mcp", key=of()(issuer))).status for _ in range(2)] == [200, 429]
    assert (await gateway.ask("/mcp", key=of(sub="bob")(issuer))).status == 200


async def test_a_stream_ends_with_its_token(serve: Serve, issuer: AuthorizationServer) -> None:
    resource = "https://tools.example.com/stream"
    expires = from_now(60)
    later = datetime.fromtimestamp(expires, UTC) + timedelta(seconds=30)
    gateway = await serve(now=lambda: later, oauth={"issuers": [issuer.url], "resource": resource})
    gateway.echo.go.set()
    answer = await gateway.ask("/stream", key=of(aud=resource, exp=expires)(issuer))
    assert (answer.status, answer.body) == (200, b"")
    assert gateway.echo.ended.is_set()


@pytest.fixture
def tokens(issuer: AuthorizationServer, clock: Clock) -> AccessTokens:
    return AccessTokens(OAuthSettings(issuers=(issuer.url,), resource=RESOURCE), clock=clock)


@pytest.fixture
def clock() -> Clock:
    return Clock()


async def refused(tokens: AccessTokens, token: str) -> tuple[int, str]:
    with pytest.raises(Failed) as caught:
        await tokens.tenant(token)
    return caught.value.status, caught.value.problem.code


async def test_a_new_key_is_fetched_and_unknown_ones_do_not_ask_for_it_often(
    tokens: AccessTokens, issuer: AuthorizationServer, clock: Clock
) -> None:
    old = of()(issuer)
    await tokens.tenant(old)
    for number in range(50):
        assert await refused(tokens, of(kid=f"unknown-{number}")(issuer)) == (401, "wrong_token")
    assert issuer.requests["/jwks"] == 1
    issuer.rotate()
    clock.now += KeySet.PAUSE
    assert (await tokens.tenant(of()(issuer))).id == (await tokens.tenant(of()(issuer))).id
    assert issuer.requests["/jwks"] == 2
    assert await refused(tokens, old) == (401, "wrong_token")  # its key is withdrawn


async def test_a_key_set_is_used_for_a_while_without_its_server(
    tokens: AccessTokens, issuer: AuthorizationServer, clock: Clock
) -> None:
    issuer.is_down = True
    assert await refused(tokens, of()(issuer)) == (503, "no_key_set")
    assert await refused(tokens, of()(issuer)) == (503, "no_key_set")
    assert issuer.requests.total() == 1
    issuer.is_down = False
    clock.now += KeySet.PAUSE
    await tokens.tenant(of()(issuer))
    issuer.is_down = True
    clock.now += KeySet.LIFETIME
    await tokens.tenant(of()(issuer))
    clock.now += 1
    assert await refused(tokens, of()(issuer)) == (503, "no_key_set")
    issuer.is_down = False
    clock.now += KeySet.PAUSE
    await tokens.tenant(of()(issuer))


async def test_key_sets_that_cannot_be_had(issuer: AuthorizationServer, caplog: pytest.LogCaptureFixture) -> None:
    closed = f"http://127.0.0.1:{ReservedPort().number}"
    for key_set, says in (
        (f"{closed}/jwks", "Cannot connect"),
        (f"{issuer.url}/elsewhere", "status 404"),
        (f"{issuer.url}/.well-known/oauth-authorization-server", "did not contain any keys"),
        (f"{issuer.url}/huge", "more than 500,000 bytes"),
        ("", "status 404"),
    ):
        caplog.clear()
        issuer.key_set_url = key_set
        name = issuer.url if key_set else f"{issuer.url}/tenant"  # which has no metadata
        tokens = AccessTokens(OAuthSettings(issuers=(name,), resource=RESOURCE))
        assert await refused(tokens, of(iss=name)(issuer)) == (503, "no_key_set")
        assert says in caplog.text


def test_an_issuer_needs_a_resource() -> None:
    with pytest.raises(ConfigurationError, match=r"server\.oauth\.resource"):
        AccessTokens(OAuthSettings(issuers=("https://login.example.com",)))


@pytest.mark.parametrize("url", ["http://login.example.com", "https://a.example/?x=1", "ftp://a", "login.example.com"])
def test_addresses_are_secure(url: str) -> None:
    for name in ("issuers", "resource"):
        with pytest.raises(ValueError, match="https://"):
            OAuthSettings.model_validate({name: url})
