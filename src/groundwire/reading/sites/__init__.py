"""Readers for well-known sites, through APIs, feeds and raw files instead of web pages; most in a file each."""

from __future__ import annotations

from typing import Final

from groundwire.reading.sites.discussions import HACKER_NEWS, REDDIT, STACK_EXCHANGE
from groundwire.reading.sites.github import GITHUB
from groundwire.reading.sites.packages import CRATES, DOCS_RS, NPM, PYPI
from groundwire.reading.sites.references import ARXIV, MEDIAWIKI
from groundwire.reading.sites.site import SiteSpec
from groundwire.reading.sites.youtube import YOUTUBE

__all__ = ["SITES"]

SITES: Final[tuple[SiteSpec, ...]] = (
    ARXIV,
    CRATES,
    DOCS_RS,
    GITHUB,
    HACKER_NEWS,
    MEDIAWIKI,
    NPM,
    PYPI,
    REDDIT,
    STACK_EXCHANGE,
    YOUTUBE,
)
"""Every site, by name."""
