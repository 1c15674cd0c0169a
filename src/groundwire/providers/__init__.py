"""Search and reader services, one module each, behind two small protocols."""

from __future__ import annotations

from groundwire.providers.base import Capabilities, ProviderContext, ReadProvider, SearchProvider

__all__ = ["Capabilities", "ProviderContext", "ReadProvider", "SearchProvider"]
