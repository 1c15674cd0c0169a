"""What the gate knows of the web page, whose visitors sign in with a form."""

from __future__ import annotations

from typing import Protocol

from groundwire.server.mcp.presence import Scope

__all__ = ["Page"]


class Page(Protocol):
    """The web page. It asks who comes without a key for one, so its paths are open; what is behind them is not."""

    def has(self, path: str) -> bool:
        """Whether a path is one of the page."""
        ...

    async def key_id(self, scope: Scope) -> str:
        """Return what names the key with which who sent a request has signed in; empty when they have not.

        Raises:
            StoreError: nobody can say.
        """
        ...
