"""Hosted citations against domain lists, and the pages behind redirecting links."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from groundwire.deadline import Deadline
from groundwire.errors import Closed, InvalidRequest
from groundwire.hosted.answers import HostedAnswer, HostedCitation, HostedSource, audit, read_answer, resolve_redirects
from groundwire.safety.guard import Guard
from groundwire.testing import EmulatedResponse, EmulatedServer, InjectedFault, Recorded
from groundwire.transport import Transport
from world import World

GOOGLE = "https://vertexaisearch.cloud.google.com/grounding-api-redirect/"


def cited(*urls: str) -> HostedAnswer:
    return HostedAnswer(
        api="anthropic",
        citations=tuple(HostedCitation(url=url) for url in urls),
        sources=tuple(HostedSource(url=url) for url in urls),
    )


@pytest.mark.req("B4")
def test_what_lies_within_the_lists_is_clean() -> None:
    found = audit(cited("https://docs.python.org/3/", "https://python.org/"), ["python.org"], ["docs.rs"])
    assert found.clean
    assert [(one.filter, one.applied, one.note) for one in found.receipts] == [
        ("allowed_domains", "native", ""),
        ("blocked_domains", "native", ""),
    ]


@pytest.mark.req("B4")
def test_leaks_are_flagged_and_named() -> None:
    answer = cited("https://python.org/", "https://notpython.org/", "https://ads.example.com/x", "http://[::1", "urn:x")
    found = audit(answer, ["python.org"], ["example.com"])
    assert [one.url for one in found.citations] == [one.url for one in answer.citations[1:]]
    assert [one.url for one in found.sources] == [one.url for one in answer.sources[1:]]
    first, second = found.receipts
    assert first.note.startswith(
        "4 of 5 citations break it: notpython.org, ads.example.com, [::1, urn:x; 4 of 5 sources"
    )
    assert second.note.startswith("3 of 5 citations break it: ads.example.com")


def test_without_lists_there_is_nothing_to_find() -> None:
    found = audit(cited("https://a.example/"))
    assert (found.clean, found.receipts) == (True, ())


def test_a_wrong_list_is_named() -> None:
    with pytest.raises(InvalidRequest, match="allowed_domains"):
        audit(cited(), ["https://a.example/"])


def gemini(*chunks: dict[str, Any]) -> HostedAnswer:
    supports = [{"segment": {"text": "Claim"}, "groundingChunkIndices": list(range(len(chunks)))}]
    metadata = {"groundingChunks": [{"web": chunk} for chunk in chunks], "groundingSupports": supports}
    content = {"parts": [{"text": "Claim"}]}
    return read_answer("gemini", {"candidates": [{"content": content, "groundingMetadata": metadata}]})


@pytest.mark.req("B4", "B7")
def test_googles_redirects_are_judged_by_the_site_that_is_named() -> None:
    answer = gemini(
        {"uri": GOOGLE + "a", "title": "python.org"},
        {"uri": GOOGLE + "b", "title": "A title", "domain": "docs.python.org"},
        {"uri": GOOGLE + "c", "title": "leak.example"},
        {"uri": GOOGLE + "d", "title": "Nobody knows where"},
        {"uri": "https://vertexaisearch.cloud.google.com@evil.example/", "title": "python.org"},
    )
    assert [one.site for one in answer.sources] == ["python.org", "docs.python.org", "leak.example", "", ""]
    found = audit(answer, ["python.org"])
    assert [one.url[-1] for one in found.citations] == ["c", "d", "/"]


class Redirector(EmulatedServer):
    """Redirects as Google does; the path says where to."""

    def handle(self, request: Recorded) -> EmulatedResponse:
        match request.path:
            case "/page":
                return EmulatedResponse.redirect("https://docs.example.org/guide?utm_source=openai")
            case "/again":
                return EmulatedResponse.redirect("https://docs.example.org/guide")
            case "/inside":
                return EmulatedResponse.redirect("http://169.254.169.254/latest/meta-data/")
            case "/file":
                return EmulatedResponse.redirect("file:///etc/passwd")
            case "/long":
                return EmulatedResponse(status=200, body=b"x" * 200_000)
        return EmulatedResponse.html("gone", status=404)


@pytest.fixture
def redirector(world: World) -> Redirector:
    return world.add(Redirector("redirector"))


@pytest.fixture
async def transport(world: World, redirector: Redirector) -> AsyncIterator[Transport]:
    made = Transport(Guard(allowed_origins=(redirector.url,)))
    yield made
    await made.aclose()


HOSTS = ("127.0.0.1",)


@pytest.mark.req("B7")
async def test_links_are_replaced_by_where_they_lead(redirector: Redirector, transport: Transport) -> None:
    page, again = f"{redirector.url}/page", f"{redirector.url}/again"
    answer = HostedAnswer(
        api="gemini",
        citations=(HostedCitation(url=page, start=0, end=3), HostedCitation(url=page), HostedCitation(url=again)),
        sources=(HostedSource(url=page, title="A"), HostedSource(url=again), HostedSource(url="https://a.example/")),
        opened=(page,),
    )
    found = await resolve_redirects(answer, transport, deadline=Deadline.after(60), hosts=HOSTS)
    target = "https://docs.example.org/guide"
    assert [one.url for one in found.citations] == [target] * 3
    assert found.citations[0].start == 0
    assert [(one.url, one.title) for one in found.sources] == [(target, "A"), ("https://a.example/", "")]
    assert found.opened == (target,)
    assert sorted(one.path for one in redirector.requests) == ["/again", "/page"]


@pytest.mark.req("B7", "S1")
@pytest.mark.parametrize("path", ["/inside", "/file", "/long", "/none"])
async def test_links_that_lead_nowhere_stay(redirector: Redirector, transport: Transport, path: str) -> None:
    answer = cited(f"{redirector.url}{path}", f"{redirector.url}/page")
    found = await resolve_redirects(answer, transport, deadline=Deadline.after(60), hosts=HOSTS)
    assert [one.url for one in found.citations] == [f"{redirector.url}{path}", "https://docs.example.org/guide"]


async def test_what_is_not_resolved_in_time_stays(redirector: Redirector, transport: Transport) -> None:
    redirector.fail(InjectedFault.hang(), times=None)
    answer = cited(*(f"{redirector.url}/page?{number}" for number in range(20)))
    assert await resolve_redirects(answer, transport, deadline=Deadline.after(0.2), hosts=HOSTS) == answer


async def test_other_links_are_not_asked_for(redirector: Redirector, transport: Transport) -> None:
    answer = cited(f"{redirector.url}/page")
    assert await resolve_redirects(answer, transport, deadline=Deadline.after(60)) is answer
    assert redirector.requests == []


async def test_a_closed_transport_says_so(redirector: Redirector, transport: Transport) -> None:
    await transport.aclose()
    with pytest.raises(Closed):
        await resolve_redirects(cited(f"{redirector.url}/page"), transport, deadline=Deadline.after(60), hosts=HOSTS)
