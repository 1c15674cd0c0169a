"""The sites of the miniature web, a file each."""

from __future__ import annotations

from groundwire.testing.site import Calendar, Site
from groundwire.testing.sites.articles import articles_site, docs_site, forum_site
from groundwire.testing.sites.non_pages import app_site, legacy_site, papers_site
from groundwire.testing.sites.redirects import Maze, Slow

__all__ = ["make_sites"]


def make_sites(calendar: Calendar) -> tuple[Site, ...]:
    """Return every site of a world, dated by `calendar`."""
    articles = articles_site(calendar)
    return (
        articles,
        docs_site(calendar),
        forum_site(calendar),
        legacy_site(calendar),
        app_site(calendar),
        papers_site(calendar),
        Maze(calendar, elsewhere=articles),
        Slow(calendar),
    )
