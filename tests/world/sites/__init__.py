"""The sites of the tests' miniature web: those that ship, and those that are hard to read."""

from __future__ import annotations

from datetime import date

from groundwire.testing import sites as shipped
from groundwire.testing.site import Site
from world.sites.non_pages import app_site, legacy_site, papers_site
from world.sites.redirects import Maze, Slow

__all__ = ["make_sites"]


def make_sites(today: date) -> tuple[Site, ...]:
    """Return every site of a world, dated from `today`."""
    plain = shipped.make_sites(today)
    return (
        *plain,
        legacy_site(today),
        app_site(today),
        papers_site(today),
        Maze(today, elsewhere=plain[0]),
        Slow(today),
    )
