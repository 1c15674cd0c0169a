"""The one HTTP client, and what it hands out."""

from groundwire.transport.client import MAX_HOPS, Transport
from groundwire.transport.fetch_policy import Gate, Visit
from groundwire.transport.request_response import Head, Reply

__all__ = ["MAX_HOPS", "Gate", "Head", "Reply", "Transport", "Visit"]
