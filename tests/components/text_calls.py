"""Worst-case texts for text processing, and calls of Groundwire's functions with one text each."""

from __future__ import annotations

import importlib
import inspect
import json
from collections import Counter
from collections.abc import Callable
from typing import Any, Final

import groundwire

PROSE: Final = (
    "a", " ", "\n", "word ", "Ships sail. ", "1,000 km ", "5 May 2020 ", "Big Ship ", '"a b c d" ', "a-", "水",
)  # fmt: skip
MARKDOWN: Final = (
    "[", "](a ", "![a](b) ", "`", "` `` ", "```\n", "~~~\n\n", "# a\n", "###### a\n", "#  \t", "| a ",
    "\n| a | b |\n| - | - |", "> ", "- a\n", "1. ", "*a", "**", "_", "<b ", "<!--", "\\", "$a$ ", "[1]",
    "[1] \n\n", "\n\n[1]", "【.【a】", "http://a.b ", "&amp;", "===\n",
)  # fmt: skip
HTML: Final = (
    "<p>a", "<div>", "<b>a</i>", "<table><tr><td>a", "<a href=x>a</a> ", "<!--", "<", "&lt;", "<script>a<",
    "<style>a{", "<ul><li>a", "<h2>a</h2>", "<span style='display:none'>a</span>", "<input type=", "<![CDATA[",
    '<p class="a b">a', "</p>", "<pre><code>a\n", "<math><mi>a", "<textarea>", "<title>a", '{"a":[',
    "<meta name=a content=b>", "<time>5 May 2020</time>",
)  # fmt: skip
CSS: Final = (
    "a{color:red}", "{", "}", "(", "[a", "['a'] ", "/*", "*/", "@media screen{", "@import 'a';", "url(a", '"',
    "a,b ", "calc(1px + ", "--a:b;", "!important", "\\61 ", "rgb(0,0,0) ", "var(--a,", "a:not(.b) ", "1px ",
    "translate(1px) ", "@font-face{src:", "font:b;",
)  # fmt: skip
DATA: Final = (
    '{"a":', "[", "[1,", '"', "a,b\n", "a\tb\n", '""', "\\u0041", "a:b\n", "{\\rtf1 a", "\\par ", "{\\*\\a ",
)  # fmt: skip
MARKS: Final = (
    "<a>", "<a b='c'>", "<item><title>a</title></item>", "&a;", "<!ENTITY a 'b'>", "<text>a</text>", "</a>",
)  # fmt: skip
CUES: Final = (
    "00:00 --> 00:01\na\n\n", "1\n", "\n\n", "-->", "WEBVTT\n", "\n \n",
)  # fmt: skip
ADDRESS: Final = (
    "a", "/", "../", "./", "%2e/", ".", "?a=b", "&a=b", "a.b.", "-", ":", "[", "@", "#", "xn--", "é", "%41",
)  # fmt: skip
RULES: Final = (
    "User-agent: a\n", "Disallow: /a\n", "#", "\r", "Allow: /*a*", "user agent", "a/1 ", "a-", "://",
    "Sitemap: a\n",
)  # fmt: skip
SIGNS: Final = (
    "\x1b[", "\x1b]a", "\u200b", "\U000e0041", "\x00", "<|a|>", "<a", "[INST]", "Human: ", "\nHuman:", "\u202e",
    "<<SYS>>", "a\u0301",
)  # fmt: skip
ALL: Final = (
    *PROSE, *MARKDOWN,
)  # fmt: skip


def module(name: str) -> Any:
    return importlib.import_module(f"groundwire.{name}")


def plain(where: str, name: str, *rest: Any, **more: Any) -> Callable[[str], object]:
    """Return a call of a function whose first argument is the text."""

    def call(text: str) -> object:
        made = getattr(module(where), name)(text, *rest, **more)
        return list(made) if inspect.isgenerator(made) else made

    return call


def data(
    where: str, name: str, *rest: Any, before: bytes = b"", after: bytes = b"", **more: Any
) -> Callable[[str], object]:
    """Return the same for a function of bytes."""

    def call(text: str) -> object:
        try:
            return getattr(module(where), name)(before + text.encode() + after, *rest, **more)
        except module("reading.extracted").UnreadableDocument:
            return None

    return call


def refusing(call: Callable[[str], object]) -> Callable[[str], object]:
    """Return a call that may refuse what it gets."""

    def refusing(text: str) -> object:
        try:
            return call(text)
        except (ValueError, groundwire.GroundwireError, RecursionError):
            return None

    return refusing


URL: Final = "https://a.example/"


def sources() -> Any:
    return [groundwire.Source(citation_id=1, title="Ships", url=URL)]


def page(text: str) -> Any:
    return module("citations.verify").CitedPage(number=1, url=URL, content=text)


def report(text: str) -> Any:
    verify = module("citations.verify")
    return verify.verify_answer(text, [page("The ship sails. A b c.")])


def view(**asked: Any) -> Callable[[str], object]:
    def call(text: str) -> object:
        view = module("reading.passages.view")
        ask = view.check_ask(**{"default_length": 300, **asked})
        page = groundwire.Page(url=URL, content=text, content_length=len(text), title="a", final_url=URL)
        return view.view(page, ask)

    return refusing(call)


def worker(job: str) -> Callable[[str], object]:
    def call(text: str) -> object:
        if job == "verify":
            body = json.dumps([text, [{"number": 1, "url": URL, "content": "The ship sails."}]]).encode()
            return module("citations.verify.verifier").verify_in_worker({}, body)
        if job == "convert":
            asked: dict[str, Any] = {
                "content_type": "text/html",
                "url": URL,
                "headers": {},
                "seconds": 60,
                "parts": {},
            }
            return module("reading.convert").convert_in_worker(asked, text.encode())
        view = module("reading.passages.view")
        page = groundwire.Page(url=URL, content=text, content_length=len(text), title="a", final_url=URL)
        packed = view.pack_view(page, view.check_ask(query="ship word", default_length=300))
        return view.unpack_view(*view.view_in_worker(*packed))

    return call


def styled(text: str) -> object:
    from turbohtml import parse

    return module("reading.css.stylesheets").read_styles(parse(f"<style>{text}</style><p class=a>a"))


def stated(text: str) -> object:
    from turbohtml import parse

    markup = f"<ul itemprop=recipeIngredient><li>{text}</ul>"
    thing = {"@type": "Recipe", "recipeIngredient": [text], "recipeInstructions": text}
    return module("reading.main_content.stated_content").stated_content(
        [thing], module("reading.html.semantics").marked_elements(parse(markup))
    )


def wording(text: str) -> object:
    features = module("reading.main_content.text_features")
    words = module("reading.main_content.classifier").load_model().lexicon
    line = text.replace("\n", " ")
    return features.read_wording([line, line], [len(line)] * 2, [0, 0], [False, True], words)


def fragment(text: str) -> object:
    return module("reading.extract").fragment_to_markdown(text, URL, Counter())


def ranked(text: str) -> object:
    outline = module("reading.passages.outline").Outline(text)
    return module("reading.passages.reranking").rank(outline, "ship word 5")


def outlined(text: str) -> object:
    outline = module("reading.passages.outline").Outline(text)
    return [outline.path(place) for place in range(0, len(text), max(1, len(text) // 20))], outline.sections


def events(text: str) -> object:
    decoder = module("hosted.answers.event_streams").EventDecoder()
    return list(decoder.feed(text.encode())) + list(decoder.close())


def robots(text: str) -> object:
    robots = module("safety.robots_txt")
    return robots.parse_robots(text.encode(), frozenset({"groundwire"})).permits("/a")


def furniture(text: str) -> object:
    lines = module("reading.documents.pdf.headings")
    return lines._ONLY_NUMBER.fullmatch(text[:160]), lines._NUMBERING.sub("", text)


def pdf(text: str) -> bytes:
    """Return a PDF of one page with a line for every eighty characters."""
    lines = [text[at : at + 80] for at in range(0, len(text), 80)]
    shown = "".join(f"1 0 0 1 50 {750 - 9 * (at % 80)} Tm ({line}) Tj\n" for at, line in enumerate(lines))
    stream = f"BT /F1 8 Tf {shown} ET".encode("latin-1", "replace")
    font = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>"
    parts = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        page,
        b"<</Length %d>>stream\n%s\nendstream" % (len(stream), stream),
        font,
    ]
    body = b"%PDF-1.4\n" + b"".join(b"%d 0 obj%s endobj\n" % (number, part) for number, part in enumerate(parts, 1))
    return body + b"trailer<</Root 1 0 R/Size 6>>\nstartxref\n0\n%%EOF"


def read(body: Callable[[str], bytes], kind: str) -> Callable[[str], object]:
    """Return a call that reads a document made of a text."""

    def call(text: str) -> object:
        try:
            return module("reading.documents.document").read_file(kind, body(text), URL, lambda *_: "", seconds=60)
        except module("reading.extracted").UnreadableDocument:
            return None

    return call


LANGUAGES = ("en", "de", "fr", "es", "pt", "ru", "zh", "ja", "ar", "it", "nl")
"""The languages whose numbers, dates, units and negations the verification knows."""


def tongue() -> Any:
    return module("citations.verify.language_data").language("en")
