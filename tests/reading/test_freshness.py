"""What a server says about keeping a page."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from multidict import CIMultiDict

from groundwire.models import Page
from groundwire.reading.local import freshness
from groundwire.routing.cache import CacheTtl
from groundwire.routing.cache_codec import pack_page, page_ttl, unpack_page

URL = "https://a.example/x#y"
WHOLE = CacheTtl(900.0, 83_600.0)
DATE = "Sat, 21 Nov 2026 10:00:00 GMT"


def said(**headers: str) -> CIMultiDict[str]:
    return CIMultiDict({name.replace("_", "-"): value for name, value in headers.items()})


@pytest.mark.req("B19")
@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        (said(), None),
        (said(cache_control="max-age=60"), 60.0),
        (said(cache_control="public, MAX-AGE=60 , s-maxage=30"), 30.0),
        (said(cache_control='max-age="60"'), 60.0),
        (said(cache_control="max-age=60", age="50"), 10.0),
        (said(cache_control="max-age=60", age="500"), 0.0),
        (said(cache_control="max-age=soon"), 0.0),
        (said(cache_control="max-age=60, no-cache"), 0.0),
        (said(cache_control="max-age=60", expires=DATE), 60.0),
        (said(expires="Sat, 21 Nov 2026 10:05:00 GMT", date=DATE), 300.0),
        (said(expires="0", date=DATE), 0.0),
        (said(expires="Thu, 01 Jan 1970 00:00:00 GMT"), 0.0),
        (said(cache_control="private"), None),
    ],
)
def test_how_long_it_is_fresh(headers: CIMultiDict[str], seconds: float | None) -> None:
    assert freshness(URL, headers).seconds == seconds


def test_its_validators_are_those_that_can_be_sent_back() -> None:
    found = freshness(URL, said(etag='W/"a-b"', last_modified=DATE))
    assert found.url == "https://a.example/x"
    assert found.conditions == {"If-None-Match": 'W/"a-b"', "If-Modified-Since": DATE}
    for etag in ("abc", '"a"b"', '"a\r\nX: y"', '"' + "a" * 600 + '"', ""):
        assert freshness(URL, said(etag=etag, last_modified="yesterday")).conditions == {}


@given(
    st.dictionaries(st.sampled_from(["cache-control", "expires", "age", "date", "etag", "last-modified"]), st.text())
)
def test_any_headers_are_read(headers: dict[str, str]) -> None:
    found = freshness(URL, CIMultiDict(headers))
    assert found.seconds is None or 0 <= found.seconds <= 31_536_000
    assert all("\n" not in value and "\r" not in value for value in found.conditions.values())


@pytest.mark.req("B19")
@pytest.mark.parametrize(
    ("headers", "life"),
    [
        (said(), WHOLE),
        (said(cache_control="max-age=86400"), WHOLE),
        (said(cache_control="max-age=300"), CacheTtl(300.0, 83_600.0)),
        (said(cache_control="max-age=1"), CacheTtl(60.0, 83_600.0)),
        (said(cache_control="no-cache"), CacheTtl(60.0, 83_600.0)),
        (said(cache_control="max-age=86400, must-revalidate"), CacheTtl(900.0, 83_600.0)),
        (said(cache_control="no-store"), CacheTtl(60.0)),
    ],
)
def test_how_long_a_page_is_kept(headers: CIMultiDict[str], life: CacheTtl) -> None:
    page = Page(url=URL, content="words", freshness=freshness(URL, headers))
    assert page_ttl(page, WHOLE) == life


def test_it_is_kept_with_the_page_and_is_no_part_of_it() -> None:
    page = Page(url=URL, content="words\nmore", freshness=freshness(URL, said(etag='"a"')))
    assert unpack_page(pack_page(page)) == page
    assert "freshness" not in page.model_dump()
    bare = page.model_copy(update={"freshness": None})
    assert unpack_page(pack_page(bare)) == bare
    with pytest.raises(ValueError, match="JSON"):
        unpack_page(page.model_dump_json().encode())
