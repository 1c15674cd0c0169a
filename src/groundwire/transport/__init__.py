"""The HTTP client and its types."""

from groundwire.transport.client import MAX_HOPS, Transport
from groundwire.transport.responses import FetchPolicy, FetchSlot, Head, Response

__all__ = ["MAX_HOPS", "FetchPolicy", "FetchSlot", "Head", "Response", "Transport"]
