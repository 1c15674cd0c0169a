"""Editing of the server's entry in the text of a configuration: JSON, with or without comments."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from groundwire.errors import ConfigurationError

if TYPE_CHECKING:
    from groundwire.mcp_server.client_configs import Client

_TOKEN = re.compile(r'"(?:\\.|[^"\\])*+(?:"|\Z)|//[^\r\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_COMMA = re.compile(r'"(?:\\.|[^"\\])*+(?:"|\Z)|,(?=\s*[\]}])', re.DOTALL)


def has_comments(text: str) -> bool:
    """Whether there is a comment outside of strings."""
    return any(_is_comment(match[0]) for match in _TOKEN.finditer(text))


def _is_comment(token: str) -> bool:
    """Whether a token is a comment; an unterminated one is not JSON, whatever precedes it."""
    return token.startswith("//") or (token.startswith("/*") and token.endswith("*/") and len(token) > 3)


def without_comments(text: str) -> str:
    """Return the text as plain JSON: without comments and trailing commas."""
    bare = _TOKEN.sub(lambda match: " " if _is_comment(match[0]) else match[0], text.removeprefix("\ufeff"))
    return _COMMA.sub(lambda match: match[0] if match[0].startswith('"') else "", bare)


NAME = "groundwire"
"""The server's name in configurations."""


def read_json(client: Client, text: str) -> dict[str, Any]:
    """Parse a configuration in JSON; empty for no text.

    Raises:
        ConfigurationError: it is not a JSON object.
    """
    if not text.strip():
        return {}
    try:
        configuration = json.loads(without_comments(text) if client.format == "jsonc" or has_comments(text) else text)
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(
            f"The configuration of {client.title} is not JSON ({error}). Fix it first; nothing was changed."
        ) from error
    if not isinstance(configuration, dict):
        raise ConfigurationError(f"The configuration of {client.title} is not a JSON object. Nothing was changed.")
    return configuration


def json_servers(client: Client, configuration: dict[str, Any]) -> dict[str, Any]:
    """Return the mutable servers of a configuration, which are added if they are missing.

    Args:
        client: Whose configuration it is.
        configuration: The configuration.

    Raises:
        ConfigurationError: a parent is not an object.
    """
    parent: Any = configuration
    for key in client.keys:
        if key not in parent or parent[key] is None:
            parent[key] = {}
        parent = parent[key]
        if not isinstance(parent, dict):
            raise ConfigurationError(
                f"In the configuration of {client.title}, {key} is not an object. Fix it first; nothing was changed."
            )
    servers: dict[str, Any] = parent
    return servers


def json_text(configuration: Mapping[str, Any], text: str) -> str:
    """Serialize JSON with the original indentation and line endings."""
    match = re.search(r"^([ \t]+)\S", text, re.MULTILINE)
    indent = match[1] if match else "  "
    written = json.dumps(configuration, indent=indent, ensure_ascii=False) + "\n"
    return written.replace("\n", "\r\n") if "\r\n" in text else written
