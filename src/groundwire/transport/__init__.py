"""The HTTP client and its types."""

from groundwire.transport.client import MAX_HOPS, FetchPolicy, FetchSlot, Transport
from groundwire.transport.connector import Head, Response

__all__ = ["MAX_HOPS", "FetchPolicy", "FetchSlot", "Head", "Response", "Transport"]
