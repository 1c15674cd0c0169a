"""The sites of the miniature web, a file each."""

from __future__ import annotations

from groundwire.testing.pages import Calendar, Site
from groundwire.testing.sites.app import app_site
from groundwire.testing.sites.articles import articles_site
from groundwire.testing.sites.docs import docs_site
from groundwire.testing.sites.forum import forum_site
from groundwire.testing.sites.legacy import legacy_site
from groundwire.testing.sites.maze import Maze
from groundwire.testing.sites.papers import papers_site
from groundwire.testing.sites.slow import Slow

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
