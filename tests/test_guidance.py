"""What agents are told."""

from __future__ import annotations

import pytest

from groundwire.settings import Settings
from groundwire.tools.definitions import CITATIONS, CITING, UNTRUSTED, guidance, instructions, search_limits


@pytest.mark.req("H10")
def test_the_limits_are_told_in_the_documents_words() -> None:
    assert search_limits() == (
        "## Web Search Guidelines\n"
        "\n"
        "- You have a LIMITED number of web searches per session (default: 20)\n"
        "- The tool will warn you when approaching the limit\n"
        "- Plan your searches carefully - combine related queries when possible\n"
        "- If limit is reached, rely on your training knowledge\n"
        "- Prioritize searches for: market size, competitors, recent trends"
    )
    assert "(default: 7)" in search_limits(7)
    assert "Prioritize" not in search_limits(topics=())
    assert search_limits(0) == ""


@pytest.mark.req("Y11")
def test_the_sentence_about_citing_is_the_documents() -> None:
    sentence = "When stating facts from web search results, append the citation ID in brackets, e.g. [1]."
    assert sentence == CITATIONS
    settings = Settings.model_validate({"session": {"max_searches": 9}, "read": {"max_length": 1234}})
    whole = guidance(settings)
    for part in (sentence, UNTRUSTED, "(default: 9)", "1,234 characters"):
        assert part in whole
    assert "9 searches" in instructions(settings)
    without = guidance(Settings.model_validate({"session": {"max_searches": 0}}))
    assert "LIMITED" not in without
    assert sentence in without


@pytest.mark.req("Y11")
def test_the_longer_text_on_citing_has_the_form_of_the_marks() -> None:
    assert "[1]" in CITING
    assert "citation_id" in CITING
