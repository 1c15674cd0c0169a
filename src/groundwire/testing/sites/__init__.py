"""The sites of the miniature web."""

from __future__ import annotations

from groundwire.testing.site import Calendar, Site
from groundwire.testing.sites.articles import articles_site, docs_site, forum_site

__all__ = ["make_sites"]


def make_sites(calendar: Calendar) -> tuple[Site, ...]:
    """Return every site of a world, dated by `calendar`."""
    return (articles_site(calendar), docs_site(calendar), forum_site(calendar))
