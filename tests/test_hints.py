"""A wrong name is an error whose message names the right one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import pytest

import groundwire
from groundwire import Page, SearchResult, SyncWeb
from groundwire.agent_loop import CitedAnswer, TextDelta
from groundwire.models import SearchResponse
from groundwire.settings import Settings

pytestmark = pytest.mark.req("B32")

QUERY = "reciprocal rank fusion"
ROW = SearchResult(title="One", url="https://a.test/", snippet="A passage.", citation_id=1)
RESPONSE = SearchResponse(query="one", results=(ROW,), provider="brave")
PAGE = Page(url="https://a.test/", content="# One")


@pytest.mark.parametrize(
    ("model", "name", "hint"),
    [
        (ROW, "link", "; did you mean 'url'?"),
        (ROW, "href", "; did you mean 'url'?"),
        (ROW, "domain", "; did you mean 'url'?"),
        (ROW, "content", "; did you mean 'snippet'?"),
        (ROW, "publishedDate", "; did you mean 'published'?"),
        (ROW, "highlights", "; did you mean 'snippet'?"),
        (ROW, "rank", "; did you mean 'citation_id'?"),
        (ROW, "fetch", "; did you mean 'open'?"),
        (ROW, "favicon", "; use urljoin(result.url, '/favicon.ico')"),
        (ROW, "to_dict", "; use model_dump()"),
        (ROW, "get", "; use an attribute, such as .url"),
        (ROW, "nonsense", ""),
        (RESPONSE, "items", "; did you mean 'results'?"),
        (RESPONSE, "total", "; use len(response)"),
        (RESPONSE, "first", "; use response[0]"),
        (RESPONSE, "links", "; use [result.url for result in response]"),
        (PAGE, "text", "; did you mean 'content'?"),
        (PAGE, "markdown", "; did you mean 'content'?"),
        (PAGE, "html", "; did you mean 'content'?"),
        (PAGE, "next_offset", "; did you mean 'next_cursor'?"),
        (PAGE, "status_code", "; did you mean 'status'?"),
        (PAGE, "raise_for_status", "; did you mean 'status'?"),
        (PAGE, "lastModified", "; did you mean 'modified'?"),
        (PAGE, "save", "; use Path(...).write_text(str(page))"),
        (TextDelta("One"), "text", "; did you mean 'delta'?"),
    ],
)
def test_a_field_of_another_library_is_told_the_right_word(model: Any, name: str, hint: str) -> None:
    with pytest.raises(AttributeError) as error:
        getattr(model, name)
    assert str(error.value) == f"{type(model).__name__!r} has no attribute {name!r}{hint}"


@pytest.mark.parametrize(
    ("model", "key", "hint"),
    [
        (ROW, "href", "did you mean 'url'"),
        (ROW, "url", r"use the attribute \.url"),
        (RESPONSE, "results", r"use the attribute \.results"),
        (PAGE, "markdown", "did you mean 'content'"),
        (PAGE, "nonsense", "is not a dictionary with 'nonsense'$"),
        (ROW, 0, r"is neither a list nor a dictionary; use model_dump\(\)$"),
    ],
)
def test_a_result_is_no_dictionary(model: Any, key: Any, hint: str) -> None:
    with pytest.raises(TypeError, match=hint):
        model[key]


def test_the_fields_of_an_answer(settings: Callable[..., Settings]) -> None:
    with SyncWeb(settings()) as web:
        said = groundwire.ask(QUERY, web, quote=True)
    assert isinstance(said, CitedAnswer)
    assert str(said) == said.text
    assert asdict(said)["sources"]
    answer: Any = said
    for name, right in (("answer", "text"), ("citations", "sources"), ("supported", "report.supported")):
        with pytest.raises(AttributeError, match=f"has no attribute {name!r}; did you mean {right!r}"):
            getattr(answer, name)
        with pytest.raises(TypeError, match=f"did you mean {right!r}"):
            answer[name]


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("Exa", "; did you mean 'SyncWeb'?"),
        ("AsyncClient", "; did you mean 'Web'?"),
        ("fetch", "; did you mean 'open_page'?"),
        ("exceptions", "; did you mean 'errors'?"),
        ("web_search", "; did you mean 'search'?"),
        ("crawl", "; use SyncWeb().map"),
        ("answer", "; use groundwire.ask(question, web), or await groundwire.agent_loop.ask(question, web=web)"),
        ("langchain", "; use groundwire.integrations.langchain.web_tools(web)"),
        ("verify_claim", "; use SyncWeb().verify"),
        ("RateLimitError", "; did you mean 'groundwire.errors.RateLimited'?"),
        ("DDGSException", "; did you mean 'groundwire.errors.GroundwireError'?"),
        ("nonsense", ""),
    ],
)
def test_a_name_of_another_package_is_told_the_right_word(name: str, hint: str) -> None:
    with pytest.raises(AttributeError) as error:
        getattr(groundwire, name)
    assert str(error.value) == f"module 'groundwire' has no attribute {name!r}{hint}"


@pytest.mark.parametrize(
    ("name", "right"),
    [
        ("NotFoundError", "PageNotFound"),
        ("BudgetExceededError", "BudgetExceeded"),
        ("MissingKeyError", "MissingKey"),
        ("HTTPError", "GroundwireError"),
    ],
)
def test_an_error_of_another_package_is_told_the_right_word(name: str, right: str) -> None:
    with pytest.raises(AttributeError, match=f"'groundwire.errors' has no attribute {name!r}; did you mean {right!r}"):
        getattr(groundwire.errors, name)
    assert not hasattr(groundwire.errors, "Nonsense")


def test_a_response_is_a_sequence_of_results() -> None:
    assert len(RESPONSE) == 1
    assert RESPONSE[0] is RESPONSE.results[0]
    assert RESPONSE[:1] == tuple(RESPONSE) == RESPONSE.results
    assert RESPONSE
    assert not RESPONSE.model_copy(update={"results": ()})


def test_a_response_and_a_page_print_as_text() -> None:
    assert str(RESPONSE) == str(ROW) == "1. One\n   https://a.test/\n   A passage."
    assert str(PAGE) == PAGE.content
    assert str(Page(url="https://a.test/", status="error", error="Gone.")) == "Gone."


def test_a_page_knows_its_links() -> None:
    content = "[a](https://a.test/x_(y)) and <https://b.test/> [b](https://b.test/ 'title') [no](/relative) ![i](i.png)"
    links = Page(url="https://a.test/", content=content).links
    assert [(link, link.text, link.url) for link in links] == [
        ("https://a.test/x_(y)", "a", "https://a.test/x_(y)"),
        ("https://b.test/", "", "https://b.test/"),
    ]
