"""What real services answered, read as it should be."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from components.exchanges import recorded, texts
from groundwire.errors import ProviderError


@pytest.mark.req("Y5", "Y6", "B1")
@pytest.mark.parametrize(
    ("provider", "folder", "least", "snippet"),
    [
        ("brave", "brave", 7, None),
        ("exa", "exa", 10, 500),  # of its long snippets the beginning was noted
        ("kagi", "kagi", 1, None),
        ("perplexity", "perplexity_search", 2, None),
        ("serper", "serper", 5, None),
        ("tavily", "tavily", 10, 500),
    ],
)
def test_every_recording_reads_as_expected(
    recordings: Path, provider: str, folder: str, least: int, snippet: int | None
) -> None:
    module = import_module(f"groundwire.providers.{provider}")
    seen = 0
    for one in recorded(recordings, folder):
        if (want := one.want) is None:
            assert provider == "exa", f"nobody has said how {one.name} reads"
            continue
        seen += 1
        if not want["ok"]:
            with pytest.raises(ProviderError) as caught:
                module.parse(one.reply)
            assert caught.value.status == want["status"], one.name
        elif want["kind"] in {"contents", "extract"}:
            [row] = want["results"]
            page = module.parse_page(one.reply, row["url"])
            assert page.title == (row["title"] if provider == "exa" else ""), one.name
            assert page.content.startswith(row["snippet"]), one.name
        else:
            found = module.parse(one.reply)
            assert texts(found, snippet=snippet) == texts(want["results"], snippet=snippet), one.name
    assert seen >= least
