"""Addresses of pages of the sites: which reader takes them, and what it asks for first."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote, urlencode

import pytest

from groundwire.reading.sites import SITES
from groundwire.reading.sites.reader import SiteReaders
from groundwire.reading.workers.pool import Workers
from groundwire.safety.guard import Guard
from groundwire.safety.urls import parse_url
from groundwire.storage.memory import MemoryStore
from groundwire.transport import Transport

pytestmark = pytest.mark.req("B26")

_TELLING = ("page", "pageid", "id_list", "site", "comment", "variant", "ref")
"""The parameters of a request that say what is asked for."""


def addresses() -> list[tuple[str, str]]:
    """Return what is in addresses.txt: an address, and the first request; `-` if any reader reads it, or `(file)`."""
    lines = (Path(__file__).parent / "addresses.txt").read_text("utf-8").splitlines()
    pairs = (line.rpartition(" ") for line in lines if not line.startswith("#"))
    return [(url, request) for url, _, request in pairs]


@pytest.fixture(scope="module")
def readers() -> SiteReaders:
    """All site readers; they only look at addresses here."""
    names = [site.name for site in SITES]
    return SiteReaders(Transport(Guard()), MemoryStore(), Workers(), names=names)


@pytest.mark.parametrize(("url", "request_url"), addresses())
def test_what_an_address_asks_for(readers: SiteReaders, url: str, request_url: str) -> None:
    target = parse_url(url)
    found = readers.site_of(target)
    visit = found.visit(target) if found is not None else None
    if visit is None:
        assert request_url == "-"
        return
    _, requests = visit
    telling = {name: value for name, value in requests[0].params.items() if name in _TELLING} if requests else {}
    query = f"?{urlencode(telling, quote_via=quote)}" if telling else ""
    assert (f"{requests[0].url}{query}" if requests else "(file)") == request_url
