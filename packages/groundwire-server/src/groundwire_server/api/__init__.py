"""The one HTTP server: one application with the REST API, the web page, MCP and the OpenAI-compatible endpoint."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from urllib.parse import urlsplit

from groundwire.settings import Settings, load
from groundwire.telemetry import Metrics
from groundwire.web import Web
from groundwire_server.api.app import Gateway, build_app
from groundwire_server.api.context import AppContext
from groundwire_server.api.mounts import Mount, mcp_mounts, openai_mounts
from groundwire_server.api.peers import Peers
from groundwire_server.auth import AccessPolicy, KeyFile, check_listening, key_file_of

__all__ = ["Gateway", "build_gateway", "build_mcp", "build_proxy"]

_LOOPBACK = "127.0.0.1"
_PROXY_PATHS = ("", "v1", "v1beta", "api")  # the first parts of its paths


def build_gateway(
    source: Settings | Web | None = None,
    *,
    host: str = "",
    upstream: str | None = None,
    upstream_key: str = "",
    mcp: bool = True,
    page: bool = True,
    metrics: Metrics | None = None,
    peers: Peers | None = None,
) -> Gateway:
    """Build the whole server, as run by `groundwire serve`: REST API, web page, MCP, OpenAI-compatible endpoint.

    Args:
        source: The current settings, from which the server creates and closes its own `Web`; or a `Web`, which
            stays the caller's to close. By default the settings are read from the environment and files.
        host: Where it is going to listen; by default where the settings say.
        upstream: Where a model server's OpenAI-compatible API begins: the proxy in front of it is then at `/openai/v1`.
        upstream_key: The key for that server, of clients that send none of their own.
        mcp: Whether MCP is at `/mcp`.
        page: Whether the web page is at `/`.
        metrics: What watches a `Web` that is the caller's, for `/metrics`.
        peers: The other worker processes, where it is one of several.

    Raises:
        ConfigurationError: the settings are invalid, or a server is not allowed to listen on the address.
        InvalidRequest: `upstream` is not a URL.
    """
    source, settings, keys = _source_parts(source)
    check_listening(settings, keys, host=host)

    def mounts(context: AppContext) -> Iterator[Mount]:
        if mcp:
            yield from mcp_mounts(context, peers=peers, keys=keys)
        if upstream is not None:
            yield from openai_mounts(context, upstream, key=upstream_key)

    policy = AccessPolicy.of(settings.server, host)
    return build_app(source, mounts, policy=policy, keys=keys, rest_api=True, page=page, metrics=metrics, peers=peers)


def build_mcp(
    source: Settings | Web | None = None,
    *,
    host: str = _LOOPBACK,
    token: str = "",
    allowed_hosts: Collection[str] = (),
    sse: bool = False,
) -> Gateway:
    """Build a server of only MCP, as run by `groundwire mcp --http`.

    Args:
        source: See `build_gateway`.
        host: Where it is going to listen.
        token: What clients may send in place of an API key; with it, and everywhere but on loopback, one of both is
            asked for.
        allowed_hosts: Names by which it may be called, beside those of the settings.
        sse: Whether to speak the older SSE transport at `/sse`, too.

    Raises:
        ConfigurationError: the settings are invalid, or a server is not allowed to listen on the address.
    """
    source, settings, keys = _source_parts(source)
    check_listening(settings, keys, host=host, token=token)
    names = {name.lower() for name in allowed_hosts}
    policy = AccessPolicy.of(settings.server, host, also=names, token=token, any_port=True)
    return build_app(source, lambda context: mcp_mounts(context, sse=sse), policy=policy, keys=keys)


def build_proxy(
    upstream: str,
    source: Settings | Web | None = None,
    *,
    host: str = _LOOPBACK,
    session: str | None = None,
    max_rounds: int = 12,
    timeout: float = 900.0,
) -> Gateway:
    """Build a server of only the OpenAI-compatible endpoint, at `/v1`, as run by `groundwire proxy`.

    Ollama's API is at `/api`, Gemini's at `/v1beta`, and the model server's health at `/health`.

    Args:
        upstream: Where the model server's API begins, such as `http://127.0.0.1:11434/v1`.
        source: See `build_gateway`.
        host: Where it is going to listen.
        session: The name of one session that pays for all; by default every conversation has a budget of its own.
        max_rounds: Maximum calls of the model for one request, 1 to 100.
        timeout: Seconds for one request.

    Raises:
        ConfigurationError: the settings are invalid, or a server is not allowed to listen on the address.
        InvalidRequest: an argument is invalid.
    """
    source, settings, keys = _source_parts(source)
    # Access tokens are accepted at the path of their resource alone, which is that of MCP as a rule.
    covered = urlsplit(settings.server.oauth.resource).path.strip("/").partition("/")[0] in _PROXY_PATHS
    check_listening(settings, keys, host=host, takes_access_tokens=covered)

    def mounts(context: AppContext) -> Iterator[Mount]:
        yield from openai_mounts(context, upstream, "/v1", session=session, max_rounds=max_rounds, timeout=timeout)

    how = "Send a key of `groundwire keys` as X-API-Key; Authorization goes to the model server."
    policy = AccessPolicy.of(settings.server, host, any_port=True, how=how)
    return build_app(source, mounts, policy=policy, keys=keys)


def _source_parts(source: Settings | Web | None) -> tuple[Settings | Web, Settings, KeyFile]:
    source = load() if source is None else source
    settings = source.settings if isinstance(source, Web) else source
    return source, settings, KeyFile(key_file_of(settings))
