"""The filter of links and images, character by character, with every setting; and what it makes of each construct."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.citations.link_filter import LinkFilter, neutralized

pytestmark = pytest.mark.req("B9")

KNOWN = "https://known.example/a"
PARTS = st.lists(
    st.sampled_from(
        [
            KNOWN, "https://other.example/x", "http://o.example", "[label](", "![label](", ")", "[", "]", "(", "]: ",
            "[1]", "![1]", "[1]: ", "`", "```\n", "~~~\n", "\n", "\n\n", " ", "    ", "\\", "<", ">", "<img src=",
            "<!--", "<https://other.example>", "word", "!", "*", ".", "- ", "> ", "|", "h", "ht", "https:", "HTTPS://O.example",
        ]
    ),
    max_size=14,
).map("".join)  # fmt: skip


def made(images: str, links: str, markdown: bool = True) -> LinkFilter:
    return LinkFilter([KNOWN], images=images, links=links, markdown=markdown)  # type: ignore[arg-type]


@pytest.mark.parametrize("images", ["known", "any"])
@pytest.mark.parametrize("links", ["known", "any"])
@pytest.mark.parametrize("markdown", [True, False])
@given(answer=PARTS, cuts=st.sets(st.integers(0, 200), max_size=6))
def test_chunks_do_not_matter_and_no_length_changes(
    images: str, links: str, markdown: bool, answer: str, cuts: set[int]
) -> None:
    whole = made(images, links, markdown)
    expected = whole.feed(answer) + whole.close()
    assert len(expected) == len(answer)
    one = made(images, links, markdown)
    assert "".join(map(one.feed, answer)) + one.close() == expected
    some, places = made(images, links, markdown), sorted({0, len(answer), *(cut for cut in cuts if cut < len(answer))})
    parts = [some.feed(answer[start:end]) for start, end in itertools.pairwise(places)]
    assert "".join(parts) + some.close() == expected
    if images == links == "any":
        assert expected == answer


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        (f"See {KNOWN} there.", f"See {KNOWN} there."),
        ("See https://other.example/x there.", "See https-//other.example/x there."),
        ("HTTP://O.example/x", "HTTP-//O.example/x"),
        (f"[label]({KNOWN})", f"[label]({KNOWN})"),
        (f"[label]({KNOWN}b)", f"[label](#{KNOWN[1:]}b)"),
        (f"{KNOWN}.", f"{KNOWN}."),
        (f"{KNOWN}).,;:!?'*", f"{KNOWN}).,;:!?'*"),
        (f"{KNOWN}/more", f"{KNOWN.replace(':', '-', 1)}/more"),
        (f"`{KNOWN}b`", f"`{KNOWN}b`"),
        ("``code ` https://other.example``", "``code ` https://other.example``"),
        ("`code https://other.example", "`code https-//other.example"),
        (
            "```\nhttps://other.example\n```\nhttps://other.example",
            "```\nhttps://other.example\n```\nhttps-//other.example",
        ),
        (r"\[label](https://other.example)", r"\[label](#ttps://other.example)"),
        (r"\\ https://other.example", r"\\ https-//other.example"),
        (f"<{KNOWN}>", f"<{KNOWN}>"),
        ("<https://other.example>", "‹https-//other.example>"),
        ("a < b", "a < b"),
        ('<img src="x">', '‹img src="x">'),
        ("<!-- x -->", "‹!-- x -->"),
        (f"![label]({KNOWN})", f"![label]({KNOWN})"),
        ("![label](relative)", "\\[label](#elative)"),
        ("![1] and ![2]", "![1] and ![2]"),
        ("![label]", "\\[label]"),
        ("wow!", "wow!"),
    ],
)
def test_only_known_addresses_are_kept(answer: str, shown: str) -> None:
    assert neutralized(answer, [KNOWN], links="known") == shown


def test_an_unknown_link_leads_nowhere() -> None:
    shown = neutralized("[label](https://other.example/x)", [KNOWN], links="known")
    assert shown == "[label](#ttps://other.example/x)"
    assert neutralized("[label](/x)", [KNOWN], links="known") == "[label](#x)"
    assert neutralized("[label]()", [KNOWN], links="known") == "[label](#"
