"""`Web`, and the flows for searching and for opening a page."""

from groundwire.web.client import Web

__all__ = ["Web"]
