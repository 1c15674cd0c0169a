"""Requests that real services answered: the matrix knows their models can search, and they are sent as they were."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from components.data_sets import is_own
from components.model_bodies import EVERYBODY
from groundwire.hosted import plan_for, prepare

APIS = ("anthropic", "openai_chat", "openai_responses", "gemini", "gemini_interactions", "openrouter", "xai")
SEARCHING = set(APIS) - {"openai_chat"}
"""APIs whose requests have the search among their tools."""
RECORDED = datetime(2025, 1, 1, tzinfo=UTC)  # a day on which none of these models had ended
LEGACY = "web_search_preview"


def requests(folder: Path) -> Iterator[tuple[str, str, dict[str, Any], str, str]]:
    """Yield name, API, body, model and cloud of each recorded request that has a hosted search among its tools."""
    for api in APIS:
        for path in sorted((folder / api).glob("*.json")):
            recorded = json.loads(path.read_text())
            asked = recorded.get("request") or {}
            body, url = asked.get("body"), asked.get("url") or ""
            if not isinstance(body, dict) or "_cut" in body or recorded["response"]["status"] != 200:
                continue
            if "search" not in json.dumps(body.get("tools") or ()):
                continue
            named = re.search(r"models/([^:/]+):", url)
            cloud = "vertex" if "aiplatform" in url else "api"
            yield path.stem, api, body, named[1] if named else body["model"], cloud


@pytest.mark.req("B7")
def test_what_was_sent_is_sent_again(recordings: Path) -> None:
    seen: Counter[str] = Counter()
    for name, api, body, model, cloud in requests(recordings):
        before = json.dumps(body)
        found = plan_for(body, api, model=model, cloud=cloud, settings=EVERYBODY, now=RECORDED)
        if api == "openrouter" and model.startswith("openai/") and "max_uses" in before:
            assert "a limit of searches reaches Anthropic's models" in found.reason
            continue
        assert found.path == "native", (api, name, found.reason)
        sent = prepare(body, found)
        assert json.dumps(body) == before
        if LEGACY in before:
            assert LEGACY not in json.dumps(sent["tools"]), (api, name)
        else:
            assert _known(sent) == _known(body), (api, name)
        seen[api] += 1
    if is_own(recordings):
        assert set(seen) == SEARCHING
    else:
        assert seen.total() >= 40


def _known(body: dict[str, Any]) -> dict[str, Any]:
    """Return a request without what says nothing, in one spelling."""
    text = json.dumps(body).replace('"google_search"', '"googleSearch"')
    whole: dict[str, Any] = json.loads(text)
    whole["tools"] = [{key: value for key, value in tool.items() if value is not None} for tool in whole["tools"]]
    return whole
