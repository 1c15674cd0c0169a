"""The version, and the User-Agent sent to servers."""

from __future__ import annotations

__all__ = ["PROJECT_URL", "USER_AGENT", "__version__"]

__version__ = "0.1.0"
PROJECT_URL = "https://github.com/groundwire/groundwire"
USER_AGENT = f"groundwire/{__version__} (+{PROJECT_URL})"
