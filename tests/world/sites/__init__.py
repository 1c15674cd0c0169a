"""The sites of the tests' miniature web: those that ship, and those that are hard to read."""

from __future__ import annotations

from groundwire.testing import sites as shipped
from groundwire.testing.site import Calendar, Site
from world.sites.non_pages import app_site, legacy_site, papers_site
from world.sites.redirects import Maze, Slow

__all__ = ["make_sites"]


def make_sites(calendar: Calendar) -> tuple[Site, ...]:
    """Return every site of a world, dated by `calendar`."""
    plain = shipped.make_sites(calendar)
    return (
        *plain,
        legacy_site(calendar),
        app_site(calendar),
        papers_site(calendar),
        Maze(calendar, elsewhere=plain[0]),
        Slow(calendar),
    )
