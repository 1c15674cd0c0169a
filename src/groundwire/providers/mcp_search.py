"""Base class of searches that a public MCP server answers without a key, and what a refusal without one means.

A search is one stateless `tools/call` (Model Context Protocol, Streamable HTTP), answered as JSON or as an event
stream.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from groundwire.errors import (
    ProviderBlocked,
    ProviderError,
    ProviderUnavailable,
    QuotaExceeded,
    RequestRefused,
    UnexpectedResponse,
)
from groundwire.json_text import json_object
from groundwire.models import Results, SearchResult
from groundwire.providers.http_api import SearchApiProvider
from groundwire.providers.http_parsing import (
    ErrorRule,
    joined,
    masked,
    objects,
    raise_for_error,
    result,
    short_message,
    text_or_empty,
)
from groundwire.providers.mcp_messages import messages, text_rows
from groundwire.providers.query_mapping import Mapped
from groundwire.transport import Response

_BLOCKED = re.compile(r"(?i)suspicious|forbidden|unauthori[sz]ed|\b40[13]\b|sign[ -]?in|api[ _-]?key")
_USED_UP = re.compile(r"(?i)rate.?limit|too many|quota|credits?\b|\blimits?\b|free tier|\b4(02|29)\b")
_NOTHING = re.compile(r"(?i)\bno (?:search )?results\b")
_INVALID, _UNKNOWN_METHOD = -32602, -32601  # error codes of JSON-RPC


def refusal_rules(variable: str) -> tuple[ErrorRule, ...]:
    """Return the errors of a service that is asked without a key: no status of a refusal is about a wrong key.

    Args:
        variable: The variable of the key that lifts its limits.
    """
    fix = f"Set {variable}"
    return (
        ErrorRule(QuotaExceeded, "the free searches without a key are used up", fix, status=(402, 429)),
        ErrorRule(ProviderBlocked, "it requires a key from this machine", fix, status=(401, 403)),
    )


class McpSearchProvider(SearchApiProvider):
    """A search by a tool of a public MCP server, which needs no key."""

    keyless: ClassVar[bool] = True
    search_path = "/mcp"
    tool: ClassVar[str]
    """The name of the tool."""
    limited_meta: ClassVar[str] = ""
    """The name in the metadata of a result that is true when the answer is only that the limit is reached."""

    def headers(self, key: str | None) -> Mapping[str, str]:
        """Return the headers of a request; the protocol requires both types."""
        return {"Accept": "application/json, text/event-stream"}

    def call(self, mapped: Mapped) -> Mapped:
        """Return a request whose values are the arguments of the tool, as a call of it."""
        params = {"name": self.tool, "arguments": mapped.values}
        mapped.values = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        return mapped

    def payload(self, reply: Response) -> dict[str, Any]:
        """Return what the tool answered: its JSON object, or the rows of its text as the list `results`.

        Raises:
            ProviderError: the call failed, or the answer is of another form.
        """
        raise_for_error(reply, self.name, self.errors)
        message = next(messages(reply), None)
        answer = None if message is None else message.get("result")
        if message is not None and isinstance(message.get("error"), dict):
            code, words = message["error"].get("code"), text_or_empty(message["error"].get("message"))
            raise self._failure(words, reply.status, code if isinstance(code, int) else 0)
        if not isinstance(answer, dict):
            raise UnexpectedResponse(self.name, "answered with something that is not JSON-RPC", status=reply.status)
        parts = objects(answer.get("content"))
        text = next((part["text"] for part in parts if isinstance(part.get("text"), str)), "")
        meta = answer.get("_meta")
        limited = isinstance(meta, dict) and meta.get(self.limited_meta) is True
        if limited or answer.get("isError") is True:
            raise self._failure(text, reply.status, limited=limited)
        structured = answer.get("structuredContent")
        data = structured if isinstance(structured, dict) else json_object(text)
        if data is None:
            data = {"results": list(text_rows(text))}
            if not data["results"] and (not _NOTHING.search(text[:1_000]) or _USED_UP.search(text[:1_000])):
                raise self._failure(text, reply.status, form=True)
        if data.get("success") is False or ("error" in data and len(data) == 1):
            raise self._failure(text_or_empty(data.get("error")), reply.status)
        return data

    def _failure(
        self, words: str, status: int, code: int = 0, *, limited: bool = False, form: bool = False
    ) -> ProviderError:
        """Return the error of a tool that failed, by its code and its words."""
        fix = next((rule.fix for rule in self.errors), "")
        detail = f": {masked(short_message(words))}" if words.strip() else ""
        if code == _INVALID or str(_INVALID) in words[:1_000]:
            return RequestRefused(self.name, f"the request was refused{detail}", status=status)
        if limited or _USED_UP.search(words[:1_000]):
            return QuotaExceeded(
                self.name, f"the free searches without a key are used up{detail}", status=status, fix=fix
            )
        if _BLOCKED.search(words[:1_000]):
            return ProviderBlocked(self.name, f"it requires a key from this machine{detail}", status=status, fix=fix)
        if form or code == _UNKNOWN_METHOD:
            return UnexpectedResponse(self.name, "answered in an unknown format", status=status)
        return ProviderUnavailable(self.name, f"failed{detail}", status=status)

    def to_results(self, reply: Response, mapped: Mapped) -> Results:
        """Parse the results in a response."""
        return self.rows(reply, self.payload(reply).get("results"), mcp_row)


def mcp_row(item: dict[str, Any], name: str) -> SearchResult | None:
    """Return a row of any of the servers as a result, or None if it has no URL."""
    texts = (text_or_empty(item.get(key)) for key in ("snippet", "description", "text"))
    dates = (text_or_empty(item.get(key)) for key in ("date", "publish_date", "publishedDate"))
    return result(
        name,
        url=item.get("url"),
        title=item.get("title"),
        snippet=joined(item.get("excerpts") or item.get("highlights"), "\n\n") or next(filter(None, texts), ""),
        date=next(filter(None, dates), ""),
    )
