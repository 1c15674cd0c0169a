from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.work import growth, memory
from groundwire.reading.encoding.content_type import media_type

pytestmark = pytest.mark.req("B2")

HTML = b"<!DOCTYPE html><title>x</title><p>Hello"


@pytest.mark.parametrize(
    ("content_type", "body", "kind"),
    [
        ("text/html; charset=utf-8", HTML, "html"),
        ("TEXT/HTML", b"plain words without a tag", "html"),
        ("application/xhtml+xml", b'<?xml version="1.0"?><html>', "html"),
        ("text/markdown", b"# Title", "markdown"),
        ("text/x-markdown; variant=GFM", b"# Title", "markdown"),
        ("text/plain", b"# Title", "text"),
        ("text/plain", HTML, "text"),
        ("text/csv", b"a,b", "delimited"),
        ("application/rss+xml", b"<?xml version='1.0'?><rss>", "xml"),
        ("application/xml", b"<?xml version='1.0'?><!-- page --><html xmlns='x'>", "html"),
        ("application/json", b"[]", "json"),
        ("application/problem+json", b"{}", "json"),
        ("application/javascript", b"let a", "source"),
        ("", HTML, "html"),
        ("", b"\xef\xbb\xbf\n <!-- a --><html>", "html"),
        ("", b'{"a": 1}', "json"),
        ("", b"[1, 2]", "json"),
        ("", b"just words", "text"),
        ("", "\ufeff<html>".encode("utf-16-le"), "html"),
        ("", "слова и слова".encode("utf-16-be"), "text"),
        ("application/octet-stream", HTML, "html"),
        ("application/octet-stream", bytes(range(200)), "binary"),
        ("nonsense", b"<p>Hello", "html"),
        ("", b"", "text"),
        ("text/html", b"\x00\x01\x02\x03" * 100, "binary"),
        ("text/html", "Привет".encode("koi8-r") * 50, "html"),
        ("image/svg+xml", b"<svg>", "binary"),
        ("message/rfc822", b"Subject: x", "mail"),
        ("text/vtt", b"WEBVTT", "subtitles"),
        ("text/html", b"PK\x03\x04", "archive"),
        ("text/html", b"<?xml version='1.0'?><?xml-stylesheet href='a'?>\n<!-- a --><rss version='2.0'>", "xml"),
        ("text/html; charset=utf-8", b"\xef\xbb\xbf<feed xmlns='http://www.w3.org/2005/Atom'>", "xml"),
        ("text/html", b"<p><rss>", "html"),
        ("text/html", b'{"a": "<p>b</p>"}', "json"),
        ("text/html", b'[ {"a": 1}]', "json"),
        ("text/html", b"{% if a %}<p>b", "html"),
        ("text/html", b"[1] a footnote", "html"),
        ("", b"<svg width='1'>", "xml"),
        ("text/plain", b"<svg width='1'>", "text"),
        ("text/plain", b"<?xml version='1.0'?><feed xmlns='x'>", "xml"),
        ("text/vtt", b"\xef\xbb\xbfWEBVTT\n\n00:01.000 --> 00:02.000\nHello", "subtitles"),
        ("multipart/related; boundary=x", b"anything", "mail"),
        ("text/plain", b"{\\rtf1 x}", "rtf"),
        ("application/pdf", b"anything", "binary"),
        ("video/mp4", b"anything", "binary"),
        ("application/vnd.ms-excel", b"anything", "binary"),
        ("application/vnd.ms-excel", b"lamp\tprice\r\nred\t42\r\n", "delimited"),
        ("application/vnd.ms-excel", "lamp;price\n".encode("utf-16"), "delimited"),
        ("application/vnd.ms-excel", b"<table><tr><td>lamp, red", "html"),
        ("application/x-bibtex", b"@article{fog,\n title={The Fog}\n}", "text"),
        ("application/x-bibtex", b"", "binary"),
        ("application/force-download", b"words", "text"),
        ("application/msword", HTML, "html"),
        ("application/msword", bytes(range(200)), "binary"),
        ("application/postscript", b"%!PS-Adobe-3.0\n", "binary"),
    ],
)
def test_the_kind_of_a_body(content_type: str, body: bytes, kind: str) -> None:
    assert media_type(content_type, body).kind == kind


def test_lines_before_a_pdf_are_no_text_if_its_name_says_that_it_is_one() -> None:
    body = b"Warning: something\nelse\n%PDF-1.4\n\0\1\2"
    assert media_type("", body, "file:///notes/Report.PDF").kind == "pdf"
    assert media_type("text/plain", b"In a PDF, the first line is %PDF-1.4.", "https://a.test/pdf").kind == "text"


@pytest.mark.parametrize(
    ("body", "description"),
    [
        (b"\x89PNG\r\n\x1a\n0000", "an image"),
        (b"\xff\xd8\xff\xe0", "an image"),
        (b"GIF89a", "an image"),
        (b"RIFF0000WEBP", "an image"),
        (b"\x1f\x8b\x08\x00", "a gzip archive"),
        (b"\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00", "a binary file"),
        (b"\x7fELF\x02\x01\x01\x00", "a binary file"),
        (b"\x00" * 257 + b"ustar", "a tar archive"),
    ],
)
@pytest.mark.parametrize("content_type", ["text/html", "", "application/json", "text/markdown"])
def test_a_signature_wins_over_the_header(body: bytes, description: str, content_type: str) -> None:
    found = media_type(content_type, body)
    kind = "archive" if description == "a gzip archive" else "binary"
    assert (found.kind, found.description) == (kind, description)


@given(st.text(max_size=80), st.binary(max_size=300))
def test_any_header_and_body_have_a_kind(content_type: str, body: bytes) -> None:
    assert media_type(content_type, body).description.startswith(("a ", "an "))


@pytest.mark.parametrize("body", [b"<!---->" * 1_000_000, b"<?xml?>" * 1_000_000, b" " * 10_000_000, b"[" * 10_000_000])
def test_the_cost_does_not_grow_with_the_body(body: bytes) -> None:
    assert growth(lambda body: media_type("", body), body[:2_000], body) < 1.1
    assert memory(lambda: media_type("", body)) < 100_000
