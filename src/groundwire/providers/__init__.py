"""Search and reader services, one file each, behind two small contracts."""

from __future__ import annotations

from groundwire.providers.base import Capabilities, ProviderContext, ReadProvider, SearchProvider

__all__ = ["Capabilities", "ProviderContext", "ReadProvider", "SearchProvider"]
