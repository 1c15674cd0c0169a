"""The one HTTP client, and what it hands out."""

from groundwire.transport.client import MAX_HOPS, Transport
from groundwire.transport.request_response import FetchPolicy, FetchSlot, Head, Response

__all__ = ["MAX_HOPS", "FetchPolicy", "FetchSlot", "Head", "Response", "Transport"]
