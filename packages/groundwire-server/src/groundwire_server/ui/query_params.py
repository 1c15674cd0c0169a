"""Query parameters of the web page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlencode

from groundwire.errors import InvalidRequest
from groundwire.models import MAX_LIMIT, MAX_PAGE, SafeSearch, Strategy, TimeRange

SEARCH_FIELDS = (
    "q",
    "follows",
    "time",
    "site",
    "without",
    "after",
    "before",
    "language",
    "region",
    "safe",
    "limit",
    "strategy",
    "p",
    "refresh",
)
"""The form fields that identify a search."""

_FIELD_CHARS = 4_000  # characters of a field; longer ones are neither a query nor a URL


@dataclass(frozen=True, slots=True)
class ViewQuery:
    """The form fields of a URL, trimmed, without empty ones."""

    fields: Mapping[str, str]

    @classmethod
    def from_form(cls, form: Mapping[str, str]) -> ViewQuery:
        """Return the fields of a form.

        Raises:
            InvalidRequest: one is far too long.
        """
        fields = {name: value.strip() for name, value in form.items()}
        for name, value in fields.items():
            if len(value) > _FIELD_CHARS:
                raise InvalidRequest(name[:40], f"has {len(value):,} characters", f"Pass at most {_FIELD_CHARS:,}.")
        return cls({name: value for name, value in fields.items() if value})

    def get(self, name: str) -> str:
        """Return a field, empty if it was not given."""
        return self.fields.get(name, "")

    @property
    def search(self) -> dict[str, str]:
        """The fields that identify the search."""
        return {name: self.fields[name] for name in SEARCH_FIELDS if name in self.fields}

    @property
    def link_fields(self) -> dict[str, str]:
        """The same without `refresh`, which counts once: the fields of links to the next page."""
        return {name: value for name, value in self.search.items() if name != "refresh"}

    @property
    def follows(self) -> str:
        """The question to which this one is a follow-up, empty without one."""
        return self.get("follows")

    @property
    def filters(self) -> int:
        """The number of filters set."""
        return len(set(self.search) - {"q", "follows", "p"})

    def search_arguments(self) -> dict[str, Any]:
        """Return the arguments of `Web.search` besides the query.

        Raises:
            InvalidRequest: a field has a value of the wrong kind.
        """
        arguments: dict[str, Any] = {
            "allowed_domains": _domains(self.get("site")),
            "blocked_domains": _domains(self.get("without")),
            "time_range": cast("TimeRange", self.get("time") or "all"),
            "published_after": self.get("after") or None,
            "published_before": self.get("before") or None,
            "language": self.get("language") or None,
            "region": self.get("region") or None,
            "safesearch": cast("SafeSearch | None", self.get("safe") or None),
            "strategy": cast("Strategy | None", self.get("strategy") or None),
            "page": parse_integer("p", self.get("p"), 1, MAX_PAGE) if self.get("p") else 1,
            "refresh": bool(self.get("refresh")) and not self.get("open"),  # which is then what is read again
        }
        if self.get("limit"):
            arguments["limit"] = parse_integer("limit", self.get("limit"), 1, MAX_LIMIT)
        return arguments


def parse_integer(field: str, text: str, low: int, high: int) -> int:
    """Parse an integer from a field.

    Raises:
        InvalidRequest: it is not a whole number, or out of range.
    """
    if not (text.isascii() and text.isdigit() and len(text) < 10 and low <= int(text) <= high):
        raise InvalidRequest(field, f"is {text[:40]!r}", f"Pass a whole number from {low:,} to {high:,}.")
    return int(text)


def link(path: str, fields: Mapping[str, object] | None = None, /, **more: object) -> str:
    """Return a local URL, without empty parameters.

    Args:
        path: Where.
        fields: What is asked for.
        more: The same, in place of what is in `fields`.
    """
    parameters = {**(fields or {}), **more}
    query = urlencode([(name, str(value)) for name, value in parameters.items() if value not in (None, "", False)])
    return f"{path}?{query}" if query else path


def _domains(text: str) -> tuple[str, ...]:
    return tuple(text.replace(",", " ").split())
