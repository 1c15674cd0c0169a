from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.reading.convert import convert, json_to_markdown, to_markdown
from groundwire.reading.encoding.file_types import KindName

URL = "https://library.example/"
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=15,
)


@given(values)
def test_json_is_laid_out_and_says_the_same(value: object) -> None:
    markdown = json_to_markdown(json.dumps(value))
    match = re.fullmatch(r"(`{3,})json\n(.*)\n\1", markdown, re.DOTALL)
    assert match is not None
    assert json.loads(match[2]) == json.loads(json.dumps(value))
    assert match[1] not in match[2]
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028]", markdown)
    markdown.encode()


@pytest.mark.parametrize(
    ("kind", "text", "content", "title"),
    [
        ("json", '{"a":[1]}', '```json\n{\n  "a": [\n    1\n  ]\n}\n```', ""),
        ("json", "{broken \x1b[1m```", "````json\n{broken ```\n````", ""),
        ("json", "  ", "", ""),
        ("json", "[" * 100_000, "```json\n" + "[" * 100_000 + "\n```", ""),
        ("text", "a  \r\n\r\n\r\n\r\n\r\nb\x00\n", "a  \n\n\n\n\nb", ""),
        ("markdown", "intro\n\n# The library #\n\ntext \n", "intro\n\n# The library #\n\ntext", "The library"),
    ],
)
def test_each_kind_has_its_markdown(kind: KindName, text: str, content: str, title: str) -> None:
    found = to_markdown(kind, text, URL)
    assert (found.content, found.title) == (content, title)


def test_huge_json_is_left_as_it_is() -> None:
    text = json.dumps(list(range(100_000)))
    assert json_to_markdown(text) == f"```json\n{text}\n```"


def test_a_huge_number_does_not_matter() -> None:
    assert "9" * 5_000 in json_to_markdown("[" + "9" * 5_000 + "]")


@pytest.mark.req("B3")
@pytest.mark.parametrize("kind", ["text/html", "text/plain", "text/markdown"])
def test_a_text_of_signs_only_is_said_to_have_no_words(kind: str) -> None:
    said = "the content has no letters and no digits"
    for body in ("-->" * 90, "}{ \\ /", "\ufffd" * 40):
        found = convert(body.encode(), kind, URL, headers={})
        assert found.extracted.content
        assert said in found.warnings
    for body in ("-->" * 90 + "4", "東京", "\u0661"):
        assert said not in convert(body.encode(), kind, URL, headers={}).warnings
    assert convert(b"", kind, URL, headers={}).warnings == ()
