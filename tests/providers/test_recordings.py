"""What services answered, read as it should be: our own recordings, and the larger set when it is there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from components.data_sets import RECORDINGS, is_own
from components.exchanges import Recording, recorded, texts
from components.services import APIS, offline
from groundwire.errors import PageError, ProviderError
from groundwire.providers.query_mapping import Mapped

FOLDERS = {
    "brave": "brave",
    "duckduckgo_lite": "duckduckgo",
    "exa": "exa",
    "firecrawl": "firecrawl",
    "jina": "jina_reader",
    "kagi": "kagi",
    "linkup": "linkup",
    "parallel": "parallel",
    "perplexity": "perplexity_search",
    "searxng": "searxng",
    "serper": "serper",
    "tavily": "tavily",
    "tavily_free": "tavily_free",
    "wikipedia": "wikipedia",
    "you": "you",
}
"""The folder of each provider's recordings."""
LEAST = {"brave": 7, "exa": 10, "perplexity": 2, "searxng": 5, "serper": 5, "tavily": 10}
"""How many of a provider's recordings are read at least, in either set."""
SNIPPETS = {"exa": 500, "tavily": 500}
"""How many characters of its long snippets the larger set noted."""
APART = {"duckduckgo_lite", "firecrawl", "jina"}
"""Providers of which the larger set notes too little for this test; the tests of the provider read it."""

CASES = [
    pytest.param(provider, root, id=f"{provider}-{'own' if is_own(root) else 'beside'}")
    for provider, folder in FOLDERS.items()
    for root in RECORDINGS
    if is_own(root) or ((root / folder).is_dir() and provider not in APART)
]


@pytest.mark.req("Y5", "Y6", "B1", "S2", "C3")
@pytest.mark.parametrize(("provider", "root"), CASES)
def test_every_recording_reads_as_expected(provider: str, root: Path) -> None:
    reader = offline(provider)
    seen = 0
    for one in recorded(root, FOLDERS[provider]):
        if one.want is None:
            assert (provider, is_own(root)) == ("exa", False), f"nobody has said how {one.name} reads"
            continue
        seen += 1
        (check_own if is_own(root) else check_noted)(reader, one, SNIPPETS.get(provider))
    assert seen >= LEAST.get(provider, 0)


def check_own(reader: Any, one: Recording, _: int | None) -> None:
    """Check a recording of ours, of which every field that is read was noted."""
    want = dict(one.want or {})
    asked = want.get("asked")

    def read() -> Any:
        return reader.to_page(one.reply, asked) if asked else reader.to_results(one.reply, Mapped({}))

    if not want["ok"]:
        with pytest.raises((ProviderError, PageError)) as caught:
            read()
        assert type(caught.value).__name__ == want["error"], one.name
        assert getattr(caught.value, "retry_after", None) == want.get("retry_after"), one.name
        return
    found = read()
    if asked:
        assert {key: _plain(getattr(found, key)) for key in want["page"]} == want["page"], one.name
        assert found.success
        return
    rows = [{key: getattr(row, key) for key in said} for row, said in zip(found, want["results"], strict=True)]
    assert rows == want["results"], one.name
    assert list(found.warnings) == want.get("warnings", []), one.name
    assert found.partial is want.get("partial", False), one.name


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


def check_noted(reader: Any, one: Recording, snippet: int | None) -> None:
    """Check a recording of the larger set, of which address, title and the beginning of the text were noted."""
    want = one.want or {}
    if not want["ok"] or (want.get("unresponsive") and not want["results"]):
        with pytest.raises(ProviderError) as caught:
            reader.to_results(one.reply, Mapped({}))
        assert caught.value.status == want["status"], one.name
    elif want["kind"] in {"contents", "extract"}:
        [row] = want["results"]
        page = reader.to_page(one.reply, row["url"])
        assert page.title == (row["title"] if want["kind"] == "contents" else ""), one.name
        assert page.content.startswith(row["snippet"]), one.name
    else:
        found = reader.to_results(one.reply, Mapped({}))
        assert texts(found, snippet=snippet) == texts(want["results"], snippet=snippet), one.name


def test_our_own_recordings_show_every_provider_succeeding_finding_nothing_and_refusing() -> None:
    [own] = [root for root in RECORDINGS if is_own(root)]
    free = {name for name in APIS if name.endswith("_free")}
    unrecorded = {
        "arxiv",
        "brave_context",
        "openalex",
        "wayback",
    } | free  # they have outcome tables
    assert {*APIS, "searxng"} - unrecorded == set(FOLDERS) - free
    for provider, folder in FOLDERS.items():
        if provider in free:
            continue
        wanted = [one.want or {} for one in recorded(own, folder)]
        errors = {want["error"] for want in wanted if not want["ok"]}
        assert any(want.get("results") or want.get("page") for want in wanted), provider
        assert provider == "jina" or any(want["ok"] and want.get("results") == [] for want in wanted), provider
        assert "RateLimited" in errors, provider
        assert len(errors) >= 2, provider
