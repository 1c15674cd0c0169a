"""`Web`, and the two flows behind it: searching, and opening a page."""

from groundwire.web.client import Web

__all__ = ["Web"]
