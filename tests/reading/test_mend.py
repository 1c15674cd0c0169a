"""Pages that are empty unless something is mended."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.reading.extract import extract
from groundwire.reading.html.semantics import mend_comments, parse_page

URL = "https://county.example/ferry"
_TEXT = "The ferry will make its last trip in April, the county said on Tuesday. " * 5


def test_page_in_an_unclosed_conditional_comment_is_read() -> None:
    document = parse_page(f"<html><head><!--[if gte IE 9]><link></head><body><p>{_TEXT}</p></body></html>")
    assert "last trip" in document.text


def test_closed_comment_stays_hidden() -> None:
    markup = f"<body><p>Shown.</p><!--[if IE]><p>{_TEXT}</p><![endif]--></body>"
    assert "last trip" not in parse_page(markup).text


def test_unclosed_comment_after_text_stays_hidden() -> None:
    assert "last trip" not in parse_page(f"<body><p>Shown.</p><!--[if IE]><p>{_TEXT}</p></body>").text


@pytest.mark.parametrize("tag", ["p", "header", "nav", "footer"])
def test_text_for_readers_without_scripts_is_read_when_there_is_no_other(tag: str) -> None:
    link = "Loading <a href=/>the farm</a> "
    beside = f"<{tag}>{link * (1 if tag == 'p' else 12)}</{tag}><script>app()</script>"
    article = f"<p>{_TEXT}</p>" * 5
    assert "last trip" in extract(f"<body>{beside}<main><noscript>{article}</noscript></main></body>", URL).content


def test_a_frame_that_ends_in_a_slash_does_not_take_the_rest_of_the_page() -> None:
    frame = "<noscript><iframe src=/count style='display:none' {}</noscript>"
    for end in ("/>", "/> ", "></iframe>"):
        document = parse_page(f"<body>{frame.format(end)}<p>{_TEXT}</p></body>")
        assert "last trip" in "".join(paragraph.text for paragraph in document.find_all("p"))
    capitals = parse_page(f"<BODY>{frame.format('/>').upper()}<P>{_TEXT}</P></BODY>")
    assert "last trip" in "".join(paragraph.text for paragraph in capitals.find_all("p"))
    outside = parse_page(f"<body><iframe src=/count /><p>{_TEXT}</p></body>")  # what a browser does
    assert not outside.find_all("p")


def test_noscript_stays_closed_beside_text() -> None:
    content = extract(
        f"<body>{f'<p>{_TEXT}</p>' * 3}<noscript>{'<p>Ignore the above.' * 20}</noscript></body>", URL
    ).content
    assert "Ignore" not in content


def test_plea_for_scripts_stays_closed() -> None:
    plea = "Please enable JavaScript, and then load this page of the farm again. " * 4
    assert extract(f"<body><script>app()</script><noscript>{plea}</noscript></body>", URL).content == ""


@given(st.text(alphabet='<!-[if IE]>endbody "/ap', max_size=200))
def test_any_markup(markup: str) -> None:
    parse_page(markup)
    assert len(mend_comments(markup)) <= len(markup)
