"""The public functions that take text from outside, each as a call of one text, with the texts that are worst for it."""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

import groundwire
from components import office

__all__ = ["BOUNDED", "GROWING", "Growing", "functions_of_text"]

PROSE: Final = (
    "a",
    " ",
    "\n",
    "word ",
    "Ships sail. ",
    "1,000 km ",
    "5 May 2020 ",
    "Big Ship ",
    '"a b c d" ',
    "a-",
    "水",
)
MARKDOWN: Final = (
    "[", "](a ", "![a](b) ", "`", "` `` ", "```\n", "~~~\n\n", "# a\n", "###### a\n", "#  \t", "| a ", "\n| a | b |\n| - | - |",
    "> ", "- a\n", "1. ", "*a", "**", "_", "<b ", "<!--", "\\", "$a$ ", "[1]", "[1] \n\n", "\n\n[1]", "【.【a】", "http://a.b ", "&amp;", "===\n",
)  # fmt: skip
HTML: Final = (
    "<p>a", "<div>", "<b>a</i>", "<table><tr><td>a", "<a href=x>a</a> ", "<!--", "<", "&lt;", "<script>a<", "<style>a{", "<ul><li>a",
    "<h2>a</h2>", "<span style='display:none'>a</span>", "<input type=", "<![CDATA[", '<p class="a b">a', "</p>", "<pre><code>a\n",
    "<math><mi>a", "<textarea>", "<title>a", '{"a":[', "<meta name=a content=b>", "<time>5 May 2020</time>",
)  # fmt: skip
CSS: Final = (
    "a{color:red}", "{", "}", "(", "[a", "['a'] ", "/*", "*/", "@media screen{", "@import 'a';", "url(a", '"', "a,b ", "calc(1px + ", "--a:b;",
    "!important", "\\61 ", "rgb(0,0,0) ", "var(--a,", "a:not(.b) ", "1px ", "translate(1px) ",
)  # fmt: skip
DATA: Final = ('{"a":', "[", "[1,", '"', "a,b\n", "a\tb\n", '""', "\\u0041", "a:b\n", "{\\rtf1 a", "\\par ", "{\\*\\a ")
MARKS: Final = ("<a>", "<a b='c'>", "<item><title>a</title></item>", "&a;", "<!ENTITY a 'b'>", "<text>a</text>", "</a>")
CUES: Final = ("00:00 --> 00:01\na\n\n", "1\n", "\n\n", "-->", "WEBVTT\n", "\n \n")
ADDRESS: Final = (
    "a",
    "/",
    "../",
    "./",
    "%2e/",
    ".",
    "?a=b",
    "&a=b",
    "a.b.",
    "-",
    ":",
    "[",
    "@",
    "#",
    "xn--",
    "é",
    "%41",
)
RULES: Final = (
    "User-agent: a\n",
    "Disallow: /a\n",
    "#",
    "\r",
    "Allow: /*a*",
    "user agent",
    "a/1 ",
    "a-",
    "://",
    "Sitemap: a\n",
)
SIGNS: Final = (
    "\x1b[",
    "\x1b]a",
    "\u200b",
    "\U000e0041",
    "\x00",
    "<|a|>",
    "<a",
    "[INST]",
    "Human: ",
    "\nHuman:",
    "\u202e",
    "<<SYS>>",
    "a\u0301",
)
ALL: Final = (*PROSE, *MARKDOWN)


class Growing(NamedTuple):
    """One function."""

    call: Callable[[str], object]
    """Calls it with a text, in all places at once where it takes one."""
    units: tuple[str, ...]
    """What the text repeats."""
    heavy: bool = False
    """Whether it is counted with the slow tests only; a test of its own counts it with the others."""


def _module(name: str) -> Any:
    return importlib.import_module(f"groundwire.{name}")


def _plain(module: str, name: str, *rest: Any, **more: Any) -> Callable[[str], object]:
    """Return a call of a function whose first argument is the text."""

    def call(text: str) -> object:
        made = getattr(_module(module), name)(text, *rest, **more)
        return list(made) if inspect.isgenerator(made) else made

    return call


def _data(
    module: str, name: str, *rest: Any, before: bytes = b"", after: bytes = b"", **more: Any
) -> Callable[[str], object]:
    """Return the same for a function of bytes."""

    def call(text: str) -> object:
        try:
            return getattr(_module(module), name)(before + text.encode() + after, *rest, **more)
        except _module("reading.extracted").UnreadableDocument:
            return None

    return call


def _refusing(call: Callable[[str], object]) -> Callable[[str], object]:
    """Return a call that may refuse what it gets."""

    def refusing(text: str) -> object:
        try:
            return call(text)
        except (ValueError, groundwire.GroundwireError, RecursionError):
            return None

    return refusing


URL: Final = "https://a.example/"


def _sources() -> Any:
    return [groundwire.Source(citation_id=1, title="Ships", url=URL)]


def _page(text: str) -> Any:
    return _module("citations.verify").CitedPage(number=1, url=URL, content=text)


def _report(text: str) -> Any:
    verify = _module("citations.verify")
    return verify.verify_answer(text, [_page("The ship sails. A b c.")])


def _view(**asked: Any) -> Callable[[str], object]:
    def call(text: str) -> object:
        view = _module("reading.passages.view")
        ask = view.check_ask(**{"usual": 300, **asked})
        page = groundwire.Page(url=URL, content=text, content_length=len(text), title="a", final_url=URL)
        return view.view(page, ask)

    return _refusing(call)


def _worker(job: str) -> Callable[[str], object]:
    def call(text: str) -> object:
        if job == "verify":
            body = json.dumps([text, [{"number": 1, "url": URL, "content": "The ship sails."}]]).encode()
            return _module("citations.verify.verifier").verify_in_worker({}, body)
        if job == "convert":
            asked: dict[str, Any] = {"content_type": "text/html", "url": URL, "headers": {}, "seconds": 60}
            return _module("reading.convert").convert_in_worker(asked, text.encode())
        view = _module("reading.passages.view")
        page = groundwire.Page(url=URL, content=text, content_length=len(text), title="a", final_url=URL)
        packed = view.pack_view(page, view.check_ask(query="ship word", usual=300))
        return view.unpack_view(*view.view_in_worker(*packed))

    return call


def _styled(text: str) -> object:
    from turbohtml import parse

    return _module("reading.css.stylesheets").read_styles(parse(f"<style>{text}</style><p class=a>a"))


def _sentences(text: str) -> object:
    parts = _module("citations.verify.segmentation")
    return [list(parts.sentences_of_block(text, block)) for block in parts.blocks(text)]


def _wording(text: str) -> object:
    features = _module("reading.main_content.text_features")
    words = _module("reading.main_content.classifier").load_model().lexicon
    line = text.replace("\n", " ")
    return features.read_wording([line, line], [len(line)] * 2, [False, True], words)


def _fragment(text: str) -> object:
    return _module("reading.extract").fragment_to_markdown(text, URL, Counter())


def _ranked(text: str) -> object:
    outline = _module("reading.passages.outline").Outline(text)
    return _module("reading.passages.bm25").rank(outline, "ship word 5")


def _outlined(text: str) -> object:
    outline = _module("reading.passages.outline").Outline(text)
    return [outline.path(place) for place in range(0, len(text), max(1, len(text) // 20))], outline.sections


def _said(text: str) -> object:
    talk = _module("server.openai.conversations")
    return talk._contexts(talk.said_in([{"role": "assistant", "content": text}]))


def _events(text: str) -> object:
    decoder = _module("hosted.answers.event_streams").EventDecoder()
    return list(decoder.feed(text.encode())) + list(decoder.close())


def _robots(text: str) -> object:
    robots = _module("safety.robots_txt")
    return robots.parse_robots(text.encode(), frozenset({"groundwire"})).permits("/a")


def _furniture(text: str) -> object:
    lines = _module("reading.documents.pdf.headings")
    return lines._ONLY_NUMBER.fullmatch(text[:160]), lines._NUMBERING.sub("", text)


def _pdf(text: str) -> bytes:
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


def _read(body: Callable[[str], bytes], kind: str) -> Callable[[str], object]:
    """Return a call that reads a document made of a text."""

    def call(text: str) -> object:
        try:
            return _module("reading.documents.document").read_file(kind, body(text), URL, seconds=60)
        except _module("reading.extracted").UnreadableDocument:
            return None

    return call


def _tongue() -> Any:
    return _module("citations.verify.language_packs").language("en")


GROWING: Final[Mapping[str, Growing]] = {
    # answers and their verification
    "agent_loop.citation_ledger.citations_in": Growing(
        lambda text: list(_module("agent_loop.citation_ledger").citations_in(text, _module("agent_loop.citation_ledger").CitationLedger(_sources()))), MARKDOWN
    ),
    "agent_loop.citation_ledger.marks_in": Growing(_plain("agent_loop.citation_ledger", "marks_in"), MARKDOWN),
    "citations.dialects.one_line": Growing(_plain("citations.dialects", "one_line"), ALL),
    "citations.link_filter.neutralized": Growing(_plain("citations.link_filter", "neutralized", [URL], links="known"), ALL),
    "citations.markdown_blocks.render_block": Growing(lambda text: _module("citations.rendering").render_answer(text, _sources(), "telegram_html"), ALL, heavy=True),
    "citations.marker_parser.find_marks": Growing(_plain("citations.marker_parser", "find_marks"), ALL),
    "citations.rendering.render_answer": Growing(
        lambda text: [_module("citations.rendering").render_answer(text, _sources(), channel) for channel in ("markdown", "html", "slack")], ALL, heavy=True),
    "citations.text_fragments.fragment_link": Growing(lambda text: _module("citations.text_fragments").fragment_link(URL, text, 0, len(text)), ALL),
    "citations.verify.alignment.tokens_of": Growing(lambda text: _module("citations.verify.alignment").tokens_of(text, _tongue()), PROSE),
    "citations.verify.entities.dates_of": Growing(_plain("citations.verify.entities", "dates_of"), PROSE),
    "citations.verify.entities.denied": Growing(_plain("citations.verify.entities", "denied"), PROSE),
    "citations.verify.entities.names_of": Growing(_plain("citations.verify.entities", "names_of"), PROSE),
    "citations.verify.entities.quotes_of": Growing(_plain("citations.verify.entities", "quotes_of"), PROSE),
    "citations.verify.language_packs.fold": Growing(_plain("citations.verify.language_packs", "fold"), PROSE),
    "citations.verify.language_packs.language_of": Growing(_plain("citations.verify.language_packs", "language_of"), PROSE),
    "citations.verify.language_packs.script_of": Growing(_plain("citations.verify.language_packs", "script_of"), PROSE),
    "citations.verify.quantities.numbers_of": Growing(_plain("citations.verify.quantities", "numbers_of"), PROSE),
    "citations.verify.report.pages_from_json": Growing(_refusing(_plain("citations.verify.report", "pages_from_json")), DATA),
    "citations.verify.report_rendering.report_html": Growing(lambda text: _module("citations.verify").report_html(_report(text), text), ALL, heavy=True),
    "citations.verify.segmentation.blank_markup": Growing(_plain("citations.verify.segmentation", "blank_markup"), ALL),
    "citations.verify.segmentation.blocks": Growing(_plain("citations.verify.segmentation", "blocks"), ALL),
    "citations.verify.segmentation.clauses": Growing(_plain("citations.verify.segmentation", "clauses"), ALL),
    "citations.verify.segmentation.normal_form": Growing(_plain("citations.verify.segmentation", "normal_form"), PROSE),
    "citations.verify.segmentation.sentences": Growing(_plain("citations.verify.segmentation", "sentences"), ALL),
    "citations.verify.segmentation.sentences_of": Growing(_plain("citations.verify.segmentation", "sentences_of"), ALL),
    "citations.verify.segmentation.sentences_of_block": Growing(_sentences, ALL),
    "citations.verify.segmentation.spelled_words": Growing(_plain("citations.verify.segmentation", "spelled_words"), PROSE),
    "citations.verify.segmentation.squeezed": Growing(_plain("citations.verify.segmentation", "squeezed"), PROSE),
    "citations.verify.segmentation.table_heads": Growing(_plain("citations.verify.segmentation", "table_heads"), MARKDOWN),
    "citations.verify.segmentation.words_of": Growing(_plain("citations.verify.segmentation", "words_of"), PROSE),
    "citations.verify.verifier.cited_numbers": Growing(_plain("citations.verify.verifier", "cited_numbers"), MARKDOWN),
    "citations.verify.verifier.verify_answer": Growing(lambda text: (_report(text), _module("citations.verify").verify_answer('On 5 May 2020 ship A said "b c d e" [1].', [_page(text)])), ALL, heavy=True),
    "citations.verify.verifier.verify_in_worker": Growing(_worker("verify"), MARKDOWN),
    # what comes over HTTP
    "hosted.answers.event_streams.EventDecoder": Growing(_events, ("data: a\n\n", "\r", "\n", "a", ": a\n", "data:", "event: a\n")),
    "providers.duckduckgo_lite.document": Growing(_data("providers.duckduckgo_lite", "document"), HTML),
    "providers.http_parsing.day": Growing(_plain("providers.http_parsing", "day"), PROSE),
    "providers.http_parsing.masked": Growing(_plain("providers.http_parsing", "masked"), (*PROSE, "key=", "bearer ", "token:'", "api_key ")),
    "providers.http_parsing.said": Growing(_plain("providers.http_parsing", "said"), ALL),
    "providers.result_rows.any_date": Growing(_plain("providers.result_rows", "any_date"), PROSE),
    "routing.result_merging.plain": Growing(_plain("routing.result_merging", "plain", 500), (*ALL, *HTML, *SIGNS)),
    "server.openai.conversations.said_in": Growing(_said, MARKDOWN),
    "server.mcp.config_text.has_comments": Growing(_plain("server.mcp.config_text", "has_comments"), ('"', '\\"', "//", "/*", "*/", ",", "{", "\n")),
    "server.mcp.config_text.without_comments": Growing(_plain("server.mcp.config_text", "without_comments"), ('"', '\\"', "//", "/*", "*/", ",", ", ", "{")),
    "server.ui.page_view.inert_html": Growing(_plain("server.ui.page_view", "inert_html"), ALL, heavy=True),
    "server.ui.login_sessions.local_path": Growing(_plain("server.ui.login_sessions", "local_path"), ADDRESS),
    "storage.archive.fts.Question": Growing(lambda text: _module("storage.archive.fts").Question.read(text), PROSE),
    "storage.archive.fts.joined": Growing(_plain("storage.archive.fts", "joined"), PROSE),
    "storage.archive.fts.readable": Growing(_plain("storage.archive.fts", "readable"), ALL),
    "storage.archive.fts.split": Growing(_plain("storage.archive.fts", "split"), PROSE),
    "storage.archive.fts.storable": Growing(_plain("storage.archive.fts", "storable"), (*PROSE, "\x1f", "\x00", "\ud800")),
    "storage.archive.records.read_line": Growing(lambda text: _refusing(lambda line: _module("storage.archive.records").read_line(line.encode(), 0.0))(text), DATA),
    "settings.schema.shown": Growing(lambda text: _module("settings.schema").shown("a", text), ("a://", "@", "a:b@", ":", "a", ", ", "/")),
    "tools.rendering.fence": Growing(_plain("tools.rendering", "fence"), (*ALL, "<web", "<web_content")),
    # pages
    "reading.block_pages.classify.known_wall": Growing(lambda text: _module("reading.block_pages.classify").known_wall({}, text), HTML),
    "reading.block_pages.classify.page_remarks": Growing(lambda text: _module("reading.block_pages.classify").page_remarks(text, title=text, content=text), (*ALL, "your network ", "404 "), heavy=True),
    "reading.block_pages.classify.soft_block": Growing(lambda text: _module("reading.block_pages.classify").soft_block({}, URL, text, title=text, content=text), (*ALL, "your network ", "subscribe to "), heavy=True),
    "reading.block_pages.empty_shell.is_shell": Growing(lambda text: _module("reading.block_pages.empty_shell").is_shell(text, text), HTML),
    "reading.block_pages.empty_shell.word_count": Growing(_plain("reading.block_pages.empty_shell", "word_count"), PROSE),
    "reading.convert.convert": Growing(lambda text: _module("reading.convert").convert(text.encode(), "text/html", URL, headers={}), HTML, heavy=True),
    "reading.convert.convert_in_worker": Growing(_worker("convert"), HTML[:4]),
    "reading.convert.json_to_markdown": Growing(_plain("reading.convert", "json_to_markdown"), DATA),
    "reading.convert.to_markdown": Growing(
        lambda text: [_module("reading.convert").to_markdown(kind, text, URL) for kind in ("markdown", "text", "source", "xml", "subtitles", "svg", "delimited", "json")], (*MARKDOWN, *DATA)
    ),
    "reading.css.parser.declarations": Growing(_plain("reading.css.parser", "declarations"), CSS),
    "reading.css.parser.read_sheet": Growing(lambda text: _module("reading.css.parser").read_sheet(text, _module("reading.css.parser").Sheet()), CSS),
    "reading.css.at_rules.in_container": Growing(_plain("reading.css.at_rules", "in_container"), CSS),
    "reading.css.at_rules.is_supported": Growing(_plain("reading.css.at_rules", "is_supported"), CSS),
    "reading.css.at_rules.on_screen": Growing(_plain("reading.css.at_rules", "on_screen"), CSS),
    "reading.css.colors.gradient_colors": Growing(lambda text: list(_module("reading.css.colors").gradient_colors(text)), CSS),
    "reading.css.colors.legacy_color": Growing(_plain("reading.css.colors", "legacy_color"), CSS),
    "reading.css.longhands.longhands": Growing(lambda text: list(_module("reading.css.longhands").longhands("background", text)), CSS),
    "reading.css.rendered_size.may_be_tiny": Growing(_plain("reading.css.rendered_size", "may_be_tiny"), CSS),
    "reading.css.stylesheets.read_styles": Growing(_styled, CSS),
    "reading.css.stylesheets.with_imports": Growing(_plain("reading.css.stylesheets", "with_imports"), CSS),
    "reading.css.values.arguments": Growing(_plain("reading.css.values", "arguments"), CSS),
    "reading.css.values.comma_parts": Growing(_plain("reading.css.values", "comma_parts"), CSS),
    "reading.css.values.fraction": Growing(_plain("reading.css.values", "fraction"), CSS),
    "reading.css.values.pixels": Growing(_plain("reading.css.values", "pixels"), CSS),
    "reading.css.values.ratio": Growing(_plain("reading.css.values", "ratio"), CSS),
    "reading.documents.feeds.is_json_feed": Growing(_plain("reading.documents.feeds", "is_json_feed"), DATA),
    "reading.documents.feeds.read_feed": Growing(lambda text: [_module("reading.documents.feeds").read_feed(f"{head}{text}", URL) for head in ("<rss><channel>", "<feed>")], MARKS),
    "reading.documents.feeds.read_json_feed": Growing(
        lambda text: _module("reading.documents.feeds").read_json_feed(json.dumps({"version": "https://jsonfeed.org/version/1.1", "items": [{"title": text, "content_html": text}]}), URL), HTML
    ),
    "reading.documents.notebook.read_notebook": Growing(
        lambda text: _module("reading.documents.notebook").read_notebook(json.dumps({"nbformat": 4, "cells": [{"cell_type": "markdown", "source": text}] * 2})), ALL
    ),
    "reading.documents.epub.read_epub": Growing(_read(office.book, "epub"), HTML[:3]),
    "reading.documents.opendocument.read_opendocument": Growing(
        _read(office.opendocument, "opendocument"), ("<text:p>a</text:p>", "<text:h>a</text:h>")
    ),
    "reading.documents.pdf.convert.read_pdf": Growing(_read(_pdf, "pdf"), ("word ", "a", "a-", "1. a ")),
    "reading.documents.slides.read_slides": Growing(_read(lambda text: office.presentation(text), "slides"), ("<a:p><a:r><a:t>a</a:t></a:r></a:p>",)),
    "reading.documents.tabular.read_sheets": Growing(
        _read(lambda text: office.workbook({"a": [[cell, "b"] for cell in text.split(",")]}), "sheet"), ("a,", "1,", "|,")
    ),
    "reading.documents.word.read_word": Growing(
        _read(office.word, "word"), ("<w:p><w:r><w:t>a</w:t></w:r></w:p>", "<w:p><w:r><w:tab/></w:r></w:p>")
    ),
    "reading.documents.office_package.parse_xml": Growing(_refusing(_data("reading.documents.office_package", "parse_xml", before=b"<a>", after=b"</a>")), MARKS),
    "reading.documents.pdf.blocks.join_broken": Growing(lambda text: _module("reading.documents.pdf.blocks").join_broken(text, text, frozenset()), PROSE),
    "reading.documents.pdf.headings.drop_furniture": Growing(_furniture, (*PROSE, "-", "page ", "#")),
    "reading.documents.simple_formats.read_mail": Growing(_data("reading.documents.simple_formats", "read_mail", URL), (*DATA, "a: b\n", "--a\n", "=?a?q?b?= ")),
    "reading.documents.simple_formats.read_rtf": Growing(_data("reading.documents.simple_formats", "read_rtf", before=b"{\\rtf1 "), DATA),
    "reading.documents.simple_formats.read_subtitles": Growing(_plain("reading.documents.simple_formats", "read_subtitles"), CUES),
    "reading.documents.simple_formats.read_svg": Growing(lambda text: _module("reading.documents.simple_formats").read_svg(f"<svg>{text}</svg>"), MARKS),
    "reading.documents.tabular.cell_text": Growing(_plain("reading.documents.tabular", "cell_text"), ALL),
    "reading.documents.tabular.read_delimited": Growing(_plain("reading.documents.tabular", "read_delimited"), DATA),
    "reading.encoding.content_type.media_type": Growing(lambda text: _module("reading.encoding.content_type").media_type(text, text.encode(), URL), (*HTML, "a/b;", ";charset=", '"')),
    "reading.encoding.decode.decode": Growing(lambda text: _module("reading.encoding.decode").decode(text.encode(), text), (*HTML, "charset=", "<meta charset=a>", "\xe9")),
    "reading.encoding.detect.detect": Growing(_data("reading.encoding.detect", "detect"), ("a", "\xe9", "\x1b$B", "水", "\x00")),
    "reading.encoding.detect.is_iso_2022_jp": Growing(_data("reading.encoding.detect", "is_iso_2022_jp"), ("a", "\x1b$B", "\x1b(B", "\x1b")),
    "reading.encoding.detect.looks_western": Growing(_data("reading.encoding.detect", "looks_western"), ("a", "\xe9", "水")),
    "reading.encoding.detect.name_of": Growing(_plain("reading.encoding.detect", "name_of"), PROSE),
    "reading.encoding.detect.utf16_without_mark": Growing(_data("reading.encoding.detect", "utf16_without_mark"), ("a\x00", "\x00a", "a")),
    "reading.encoding.detect.utf8_letters": Growing(_data("reading.encoding.detect", "utf8_letters"), ("a", "\xe9", "水")),
    "reading.extract.extract": Growing(lambda text: _module("reading.extract").extract(text, URL), HTML[:6]),
    "reading.extract.fragment_to_markdown": Growing(_fragment, HTML),
    "reading.html.limits.fit": Growing(_plain("reading.html.limits", "fit"), HTML),
    "reading.html.limits.is_heavy": Growing(_data("reading.html.limits", "is_heavy"), HTML),
    "reading.html.limits.shorten": Growing(_plain("reading.html.limits", "shorten", 300), HTML),
    "reading.html.limits.tokens": Growing(_plain("reading.html.limits", "tokens"), HTML),
    "reading.html.math.is_formula": Growing(_plain("reading.html.math", "is_formula"), ("\\a", "{", "a", "^", "$", " ")),
    "reading.html.parse.mend_comments": Growing(_plain("reading.html.parse", "mend_comments"), (*HTML, "--!>", "-->")),
    "reading.html.parse.parse_page": Growing(_plain("reading.html.parse", "parse_page"), HTML),
    "reading.html.semantics.may_have_roles": Growing(_plain("reading.html.semantics", "may_have_roles"), HTML),
    "reading.hydration.hydrate": Growing(
        lambda text: _module("reading.hydration").hydrate(f"<script type=application/json>{json.dumps({'title': text[:9], 'articleBody': text})}</script>", URL, _module("reading.extracted").Extracted()),
        (*PROSE, *HTML[:6]),
    ),
    "reading.main_content.text_features.beginning": Growing(_plain("reading.main_content.text_features", "beginning"), PROSE),
    "reading.main_content.text_features.first_words": Growing(_plain("reading.main_content.text_features", "first_words"), PROSE),
    "reading.main_content.text_features.group_of": Growing(_plain("reading.main_content.text_features", "group_of"), PROSE),
    "reading.main_content.text_features.read_wording": Growing(_wording, PROSE),
    "reading.main_content.text_features.split_name": Growing(_plain("reading.main_content.text_features", "split_name"), ("a", "A", "a-", "_", "1", "aB")),
    "reading.markdown.escaping.escape_line": Growing(_plain("reading.markdown.escaping", "escape_line"), ALL),
    "reading.markdown.escaping.escape_text": Growing(_plain("reading.markdown.escaping", "escape_text"), ALL),
    "reading.markdown.escaping.fence": Growing(_plain("reading.markdown.escaping", "fence"), ALL),
    "reading.markdown.escaping.inline_code": Growing(_plain("reading.markdown.escaping", "inline_code"), ALL),
    "reading.markdown.footnotes.is_back_reference": Growing(_plain("reading.markdown.footnotes", "is_back_reference"), ALL),
    "reading.markdown.footnotes.note_label": Growing(_plain("reading.markdown.footnotes", "note_label"), ALL),
    "reading.metadata.dates.iso_date": Growing(_plain("reading.metadata.dates", "iso_date"), PROSE),
    "reading.metadata.dates.same_day": Growing(lambda text: _module("reading.metadata.dates").same_day(text, text), PROSE),
    "reading.metadata.page_metadata.is_name": Growing(_plain("reading.metadata.page_metadata", "is_name"), PROSE),
    "reading.metadata.page_metadata.is_site": Growing(_plain("reading.metadata.page_metadata", "is_site"), PROSE),
    "reading.passages.bm25.rank": Growing(_ranked, ALL),
    "reading.passages.excerpts.find_all": Growing(_plain("reading.passages.excerpts", "find_all", "ship a"), ALL),
    "reading.passages.excerpts.wants_links": Growing(_plain("reading.passages.excerpts", "wants_links"), PROSE),
    "reading.passages.outline.Outline": Growing(_outlined, ALL),
    "reading.passages.outline.plain": Growing(_plain("reading.passages.outline", "plain"), ALL),
    "reading.passages.outline.version_of": Growing(_plain("reading.passages.outline", "version_of"), PROSE),
    "reading.passages.pagination.read_cursor": Growing(_plain("reading.passages.pagination", "read_cursor"), ("a", "=", "-")),
    "reading.passages.terms.readable_run": Growing(_plain("reading.passages.terms", "readable_run"), PROSE),
    "reading.passages.view.view": Growing(lambda text: [_view(**asked)(text) for asked in ({}, {"query": "ship word 5"}, {"find": "a"}, {"max_length": 200})], ALL),
    "reading.passages.view.view_in_worker": Growing(_worker("view"), PROSE),
    "reading.text.sanitize.clean": Growing(_plain("reading.text.sanitize", "clean"), (*PROSE, *SIGNS)),
    "reading.text.sanitize.clean_text": Growing(_plain("reading.text.sanitize", "clean_text"), (*ALL, *SIGNS)),
    "reading.text.sanitize.strip_controls": Growing(_plain("reading.text.sanitize", "strip_controls"), SIGNS),
    "reading.text.sanitize.strip_invisible": Growing(_plain("reading.text.sanitize", "strip_invisible"), SIGNS),
    "reading.text.truncate.codes_in": Growing(_plain("reading.text.truncate", "codes_in"), MARKDOWN),
    "reading.text.truncate.is_rule": Growing(_plain("reading.text.truncate", "is_rule"), ("|", " ", "-", "| ", ":-", " |-")),
    "reading.text.truncate.truncate": Growing(lambda text: _module("reading.text.truncate").truncate(text, max(1, len(text) // 2)), ALL),
    "reading.text.truncate.whole_blocks": Growing(lambda text: _module("reading.text.truncate").whole_blocks(text, max(1, len(text) - 2), _module("reading.text.truncate").codes_in(text)), ALL),
    "reading.text.truncate.whole_character": Growing(lambda text: _module("reading.text.truncate").whole_character(text, len(text) - 1), SIGNS),
    "reading.visibility.unrendered.may_have_shortcodes": Growing(_plain("reading.visibility.unrendered", "may_have_shortcodes"), ("[a ", "[", "]", "[/a]")),
    # addresses, robots.txt, secrets
    "safety.chat_template_tokens.break_marks": Growing(_plain("safety.chat_template_tokens", "break_marks"), (*SIGNS, *MARKDOWN)),
    "safety.chat_template_tokens.break_reserved": Growing(_plain("safety.chat_template_tokens", "break_reserved"), (*SIGNS, *MARKDOWN)),
    "safety.hostnames.canonical_host": Growing(_refusing(_plain("safety.hostnames", "canonical_host")), ADDRESS),
    "safety.ip_ranges.parse_address": Growing(_refusing(_plain("safety.ip_ranges", "parse_address")), ("1", ".", ":", "a", "0x", "::")),
    "safety.robots_txt.agent_names": Growing(_plain("safety.robots_txt", "agent_names"), RULES),
    "safety.robots_txt.parse_robots": Growing(_robots, RULES),
    "safety.secret_scanner.SecretScanner": Growing(
        lambda text: _module("safety.secret_scanner").SecretScanner(["BSAx7Qm1LmZpa0T7hYcV3nRsWb2Ke"]).found_in(text), (*ADDRESS, "BSAx7Q", "H4sI"), heavy=True),
    "safety.url_extraction.addresses_in": Growing(_plain("safety.url_extraction", "addresses_in"), (*ALL, "http://", "](http://a.b/(", "https://a.b/)")),
    "safety.url_redaction.has_secret": Growing(lambda text: _refusing(_module("safety.url_redaction").has_secret)(URL + text), ADDRESS),
    "safety.urls.parse_url": Growing(lambda text: [_refusing(_module("safety.urls").parse_url)(before + text) for before in ("", "https://", "https://a.example/")], ADDRESS),
}  # fmt: skip
"""By module and name, as they are imported."""

BOUNDED: Final[Mapping[str, str]] = {
    "citations.verify.verifier.verify_off_loop": "verify_answer in another process",
    "hosted.answers.upstream_errors.outcome_of": "a code is cut at 100 characters",
    "reading.browser.visit.unreachable": "a code of the browser's own",
    "reading.browser.visit.why_not": "a code of the browser's own",
    "reading.documents.document.read_file": "chooses one of those that are counted",
    "reading.documents.pdf.metadata.read_details": "part of read_pdf",
    "reading.documents.pdf.pdfium.open_pdf": "part of read_pdf",
    "reading.documents.simple_formats.list_archive": "lists as many names as a page has room for",
    "reading.passages.view.unpack_view": "part of view_in_worker",
    "reading.visibility.hidden_styles.text_hidden": "one of the declarations that read_styles reads",
}
"""Functions without a count of their own, and why."""


def functions_of_text() -> Iterator[str]:
    """Yield the public functions of the packages that read what comes from outside, as module and name."""
    for found in pkgutil.walk_packages(groundwire.__path__, "groundwire."):
        name = found.name.removeprefix("groundwire.")
        if name.partition(".")[0] not in _READING or name.endswith("__main__"):
            continue
        module = importlib.import_module(found.name)
        for public in getattr(module, "__all__", ()):
            function = getattr(module, public, None)
            if not inspect.isfunction(function) or function.__module__ != found.name:
                continue
            takes = {one.name: str(one.annotation) for one in inspect.signature(function).parameters.values()}
            if any(takes.get(parameter) in ("str", "bytes", "Sequence[str]") for parameter in _TEXTS):
                yield f"{name}.{public}"


_READING: Final = ("agent_loop", "citations", "hosted", "reading", "routing", "safety", "storage", "tools")
_TEXTS: Final = (
    "answer", "body", "code", "condition", "content", "html", "label", "line", "markdown", "markup", "sample", "snippet", "tex", "text",
    "texts", "user_agent", "value", "words",
)  # fmt: skip
