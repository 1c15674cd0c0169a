"""The OpenAPI document: it says what the gateway does, and what it says is attacked with schemathesis."""

from __future__ import annotations

import asyncio
import json
import urllib.request
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from components import heavy
from world import World

pytestmark = pytest.mark.xdist_group(heavy.GROUP)


@pytest.mark.req("B18")
@pytest.mark.parametrize(
    ("mode", "examples"),
    [
        ("positive", 2),
        ("negative", 1),
        pytest.param("positive", 10, marks=[pytest.mark.slow, pytest.mark.timeout(1_800)]),
        pytest.param("negative", 3, marks=[pytest.mark.slow, pytest.mark.timeout(1_800)]),
    ],
)
async def test_no_request_breaks_it_and_every_answer_is_described(
    gateway: Any, world: World, mode: str, examples: int
) -> None:
    policy = {"allowed_origins": world.origins, "allowed_domains": ("127.0.0.1",)}
    searching = {"providers": ("searxng",), "paper_providers": (), "timeout": 2}  # papers are on the real web
    served = await gateway(policy=policy, session={"max_searches": 0}, search=searching)
    # Asked from a thread: schemathesis waits for its answers without the event loop.
    assert await asyncio.to_thread(attack, served.url, mode, examples) >= 5 * examples


def attack(url: str, mode: str, examples: int) -> int:
    """Send requests of every operation that takes something, and return how many.

    Args:
        url: The gateway.
        mode: Whether the requests keep to the document, "positive", or not, "negative".
        examples: How many of each operation.
    """
    import schemathesis  # here: it takes seconds, and every worker collects this module
    from schemathesis.core.result import Ok
    from schemathesis.generation import GenerationMode
    from schemathesis.specs.openapi import checks

    every = [
        schemathesis.checks.not_a_server_error,
        checks.content_type_conformance,
        checks.negative_data_rejection,
        checks.response_headers_conformance,
        checks.response_schema_conformance,
        checks.status_code_conformance,
    ]
    with urllib.request.urlopen(f"{url}/openapi.json", timeout=100) as answer:
        schema = schemathesis.openapi.from_dict(json.load(answer))
    schema.config.update(base_url=url)
    tried = 0
    for found in schema.get_all_operations():
        assert isinstance(found, Ok)
        operation = found.ok()
        if mode == "negative" and not (operation.body or operation.query):
            continue

        @given(case=operation.as_strategy(generation_mode=GenerationMode(mode)))
        @settings(max_examples=examples, database=None, deadline=None, suppress_health_check=list(HealthCheck))
        def check(case: Any) -> None:
            nonlocal tried
            tried += 1
            response = case.call(timeout=100)
            refused = (
                response.status_code == 414
            )  # a URL that is too long, which schemathesis does not count as refused
            case.validate_response(
                response, checks=[one for one in every if not (refused and one is checks.negative_data_rejection)]
            )

        check()
    return tried


async def test_the_document(gateway: Any) -> None:
    client = await (await gateway()).client()
    async with client.get("/openapi.json") as response:
        document = await response.json()
    assert document["openapi"].startswith("3.1")
    names = [operation["operationId"] for path in document["paths"].values() for operation in path.values()]
    assert len(names) == len(set(names))
    for path in document["paths"].values():
        for operation in path.values():
            for response_ in operation["responses"].values():
                assert response_["description"]
                assert response_["content"]["application/json"]["schema"]
    for schema in document["components"]["schemas"].values():
        heavy.jsonschema.Draft202012Validator.check_schema(schema)
