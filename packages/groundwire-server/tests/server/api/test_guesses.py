"""What people type from memory of other APIs, over HTTP."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from pydantic import ValidationError

from groundwire.models.argument_names import argument_hint
from groundwire_server.api.request_models import AskRequest, PagesRequest, SearchRequest
from groundwire_server.error_body import invalid
from test_guesses import METHODS, QUERY, SDK_ARGUMENTS, spellings

pytestmark = pytest.mark.req("B32")

REQUESTS: dict[str, Any] = {"search": SearchRequest, "open_page": PagesRequest, "ask": AskRequest}


@pytest.mark.parametrize(
    ("given", "filters"),
    [
        ({"topic": "news"}, ["time_range"]),
        ({"category": "news", "timelimit": "y"}, ["time_range"]),
        ({"topic": "news", "days": 3650}, ["published_after"]),
    ],
)
def test_news_are_recent_pages(given: dict[str, Any], filters: list[str]) -> None:
    plain = SearchRequest.renamed({"query": QUERY, **given})
    assert {"time_range", "published_after"} & plain.keys() == set(filters)


@pytest.mark.parametrize("method", ["search", "open_page", "ask"])
def test_every_argument_of_the_sdks_is_ours_or_told_the_right_word(method: str) -> None:
    (function, names), request = METHODS[method], REQUESTS[method]
    known = set(inspect.signature(function).parameters) - {"self", "unknown", "context"}
    told = 0
    for spelled in (spelled for of, name in SDK_ARGUMENTS if of == method for spelled in spellings(name)):
        if spelled in known or spelled in request.model_fields:
            continue
        told += 1
        with pytest.raises(ValidationError) as wrong:
            request.model_validate({spelled: "x"})
        message = invalid(wrong.value, request.model_fields, names).problem.message
        assert argument_hint(spelled, sorted(known), names).lstrip("; ") in message
    assert told > 5
