"""Sites of the miniature web whose APIs are read in place of their pages; a `World` starts one when asked for it."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Final, cast

from groundwire.testing.site_apis.base import SiteApi

__all__ = ["SITE_APIS", "SiteApi", "make_site_api"]

SITE_APIS: Final[Mapping[str, str]] = {
    "arxiv": "references:ArXiv",
    "crates": "packages:Crates",
    "docs_rs": "packages:DocsRs",
    "github": "github:GitHub",
    "hackernews": "discussions:HackerNews",
    "markdown": "references:MarkdownTwins",
    "mediawiki": "references:MediaWiki",
    "npm": "packages:Npm",
    "pypi": "packages:PyPi",
    "reddit": "discussions:Reddit",
    "stackexchange": "discussions:StackExchange",
    "youtube": "references:YouTube",
}
"""The module and the class of each site."""


def make_site_api(name: str) -> SiteApi:
    """Make a site.

    Raises:
        KeyError: There is no such site; the message lists the known ones.
    """
    if name not in SITE_APIS:
        raise KeyError(f"No site {name!r}; there are {', '.join(SITE_APIS)}.")
    module, _, kind = SITE_APIS[name].partition(":")
    return cast("SiteApi", getattr(import_module(f"groundwire.testing.site_apis.{module}"), kind)())
