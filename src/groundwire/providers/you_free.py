"""You.com without a key: 100 searches a day (https://you.com/docs/agents, read on 2026-11-28).

`GET /v1/agents/search` has the parameters and the answer of the API with a key, and refuses one (litellm 1.110.2 and
github.com/infiniflow/ragflow, read on 2026-11-28).
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, Literal

from pydantic import Field

from groundwire.models import Filters
from groundwire.providers.base import Capabilities
from groundwire.providers.http_api import ApiOptions
from groundwire.providers.http_parsing import ErrorRule
from groundwire.providers.mcp_search import refusal_rules
from groundwire.providers.query_mapping import Mapped
from groundwire.providers.you import YouSearchProvider


class YouFreeOptions(ApiOptions):
    """`[providers.you_free]`."""

    daily_searches: int = Field(default=100, ge=0)
    """Maximum searches a day, counted by all processes that share the store, until midnight UTC; 0 means no limit."""


class YouFreeSearchProvider(YouSearchProvider):
    """Web search with You.com, without a key."""

    service = "https://api.you.com"
    key_variables: ClassVar[tuple[str, ...]] = ()
    key_page = ""
    keyless: ClassVar[bool] = True
    terms: ClassVar[str] = "https://about.you.com/terms-of-service/"
    capabilities: Capabilities = replace(YouSearchProvider.capabilities, read=False, renders=False)
    search_method: ClassVar[Literal["GET", "POST"]] = "GET"
    search_path = "/v1/agents/search"
    errors: ClassVar[tuple[ErrorRule, ...]] = refusal_rules("YDC_API_KEY")
    Options: ClassVar[type[YouFreeOptions]] = YouFreeOptions
    _options: YouFreeOptions

    def to_request(self, query: str, limit: int, filters: Filters) -> Mapped:
        """Convert a query to a request, whose parameters are those of the API with a key."""
        mapped = super().to_request(query, limit, filters)
        values = {
            key: ",".join(value) if isinstance(value, tuple | list) else str(value)
            for key, value in mapped.values.items()
        }
        mapped.values.update(values)
        return mapped
