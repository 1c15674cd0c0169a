"""The one HTTP server: one application with the REST API, the web page, MCP and the OpenAI-compatible endpoint."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

from groundwire.settings import Settings, load
from groundwire_server.api.app import Gateway, build_app
from groundwire_server.api.context import AppContext
from groundwire_server.api.mcp_http import mcp_mount
from groundwire_server.api.mounts import Mount, openai_mounts
from groundwire_server.api.peers import Peers

__all__ = ["Gateway", "build_gateway", "build_mcp", "build_proxy"]

_LOOPBACK = "127.0.0.1"
_PROXY_PATHS = ("", "v1", "v1beta", "api")  # the first parts of its paths


def build_gateway(
    settings: Settings | None = None,
    *,
    host: str = "",
    upstream: str | None = None,
    upstream_key: str = "",
    page: bool = True,
    peers: Peers | None = None,
) -> Gateway:
    """Build the whole server, as run by `groundwire serve`: REST API, web page, MCP, OpenAI-compatible endpoint.

    Args:
        settings: The current settings; by default they are read from the environment and files.
        host: Where it is going to listen; by default where the settings say.
        upstream: Where a model server's OpenAI-compatible API begins: the proxy in front of it is then at `/openai/v1`.
        upstream_key: The key for that server, of clients that send none of their own.
        page: Whether the web page is at `/`.
        peers: The other worker processes, where it is one of several.

    Raises:
        ConfigurationError: the settings are invalid, or a server is not allowed to listen on the address.
        InvalidRequest: `upstream` is not a URL.
    """

    def mounts(context: AppContext) -> Iterator[Mount]:
        yield mcp_mount(context, peers=peers)
        if upstream is not None:
            yield from openai_mounts(context, upstream, key=upstream_key)

    return build_app(settings or load(), mounts, host=host, rest_api=True, page=page, peers=peers)


def build_mcp(settings: Settings | None = None, *, host: str = _LOOPBACK) -> Gateway:
    """Build a server of only MCP, as run by `groundwire mcp --http`.

    Args:
        settings: See `build_gateway`.
        host: Where it is going to listen.

    Raises:
        ConfigurationError: the settings are invalid, or a server is not allowed to listen on the address.
    """
    return build_app(settings or load(), lambda context: [mcp_mount(context)], host=host)


def build_proxy(upstream: str, settings: Settings | None = None, *, host: str = _LOOPBACK) -> Gateway:
    """Build a server of only the OpenAI-compatible endpoint, at `/v1`, as run by `groundwire proxy`.

    Ollama's API is at `/api`, Gemini's at `/v1beta`, and the model server's health at `/health`.

    Args:
        upstream: Where the model server's API begins, such as `http://127.0.0.1:11434/v1`.
        settings: See `build_gateway`.
        host: Where it is going to listen.

    Raises:
        ConfigurationError: the settings are invalid, or a server is not allowed to listen on the address.
        InvalidRequest: `upstream` is not a URL.
    """
    settings = settings or load()
    # Access tokens are accepted at the path of their resource alone, which is that of MCP as a rule.
    covered = urlsplit(settings.server.oauth.resource).path.strip("/").partition("/")[0] in _PROXY_PATHS
    return build_app(
        settings,
        lambda context: openai_mounts(context, upstream, "/v1"),
        host=host,
        how="Send a key of `groundwire keys` as X-API-Key; Authorization goes to the model server.",
        takes_access_tokens=covered,
    )
