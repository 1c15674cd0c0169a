"""The public functions that take text from outside, each with a call of one text and the texts worst for it."""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple

import groundwire
from components import office
from components.text_calls import (
    ADDRESS,
    ALL,
    CSS,
    CUES,
    DATA,
    HTML,
    MARKDOWN,
    MARKS,
    PROSE,
    RULES,
    SIGNS,
    URL,
    data,
    events,
    fragment,
    furniture,
    module,
    outlined,
    page,
    pdf,
    plain,
    ranked,
    read,
    refusing,
    report,
    robots,
    sources,
    stated,
    styled,
    tongue,
    view,
    wording,
    worker,
)


class Growing(NamedTuple):
    """One function."""

    call: Callable[[str], object]
    """Calls it with a text, in all places at once where it takes one."""
    units: tuple[str, ...]
    """What the text repeats."""
    heavy: bool = False
    """Whether it is counted with the slow tests only; a test of its own counts it with the others."""


_USUAL: Final[Mapping[tuple[str, ...], str]] = {
    MARKDOWN: """
        agent_loop.citation_ledger: marks_in
        citations.segmentation: table_heads
        citations.marker_parser: cited_numbers plain_marks without_sources
        reading.text.truncate: codes_in
    """,
    ALL: """
        evaluation: comparable
        citations.dialects: one_line
        citations.marker_parser: find_marks placed_pieces
        citations.segmentation: blank_markup blocks sentences sentences_of
        providers.http_parsing: short_message
        storage.archive.fts: readable
        reading.documents.tabular: cell_text
        reading.markdown.escaping: escape_line escape_text fence inline_code web_url
        reading.markdown.lists: is_back_reference note_label
        reading.passages.outline: plain
        reading.passages.terms: folded
    """,
    PROSE: """
        citations.verify.language_data: fold language_of
        citations.segmentation: quotes_of squeezed
        providers.http_parsing: day
        storage.archive.fts: joined split
        transport.http_date: http_date
        reading.block_pages.empty_shell: word_count
        reading.text.sanitize: bared lower lower_ascii
        reading.encoding.detect: name_of
        reading.extract: one_line
        reading.main_content.page_parts: named
        reading.main_content.text_features: beginning
        reading.metadata.dates: iso_date label_before
        reading.metadata.page_metadata: is_name is_site
        reading.passages.excerpts: wants_links
        reading.passages.outline: version_of
        reading.passages.terms: readable_run
    """,
    ADDRESS: """
        safety.url_redaction: is_capability
    """,
    DATA: """
        reading.convert: json_to_markdown
        reading.documents.tabular: read_delimited
    """,
    CSS: """
        reading.css.parser: declarations
        reading.css.at_rules: in_container is_supported on_screen
        reading.css.colors: color legacy_color
        reading.css.values: arguments comma_parts fraction nested_levels pixels radians ratio
    """,
    CUES: """
        reading.documents.simple_formats: read_subtitles
    """,
    HTML: """
        reading.html.limits: fit
        reading.html.semantics: parse_page
    """,
    SIGNS: """
        reading.text.sanitize: strip_controls strip_invisible
    """,
    RULES: """
        safety.robots_txt: agent_names
    """,
}
"""Functions that are called with the text alone, by what it repeats: their modules, and the names in each."""

_OTHERS: Final[Mapping[str, Growing]] = {
    # answers and their verification
    "agent_loop.citation_ledger.citations_in": Growing(
        lambda text: list(
            module("agent_loop.citation_ledger").citations_in(
                text, module("agent_loop.citation_ledger").CitationLedger(sources())
            )
        ),
        MARKDOWN,
    ),
    "citations.link_filter.LinkFilter": Growing(
        lambda text: module("citations.link_filter").LinkFilter([URL], links="drop").whole(text), ALL
    ),
    "citations.marker_parser.address_of_link": Growing(plain("citations.marker_parser", "address_of_link", 0), ALL),
    "citations.marker_parser.written_address": Growing(plain("citations.marker_parser", "written_address"), ALL),
    "citations.markdown_blocks.render_block": Growing(
        lambda text: module("citations.rendering").render_answer(text, sources(), "telegram_html"), ALL, heavy=True
    ),
    "citations.rendering.render_answer": Growing(
        lambda text: [
            module("citations.rendering").render_answer(text, sources(), channel) for channel in ("markdown", "html")
        ],
        ALL,
        heavy=True,
    ),
    "citations.verify.limits.check_size": Growing(
        refusing(lambda text: module("citations.verify").check_size(text, [page(text)])), (*ALL, "[1-9]")
    ),
    "citations.verify.values.tokens_of": Growing(
        lambda text: module("citations.verify.values").tokens_of(text, tongue()), PROSE
    ),
    "citations.verify.report.pages_from_json": Growing(
        refusing(plain("citations.verify.report", "pages_from_json")), DATA
    ),
    "citations.verify.report_rendering.report_html": Growing(
        lambda text: module("citations.verify").report_html(report(text), text), ALL, heavy=True
    ),
    "citations.verify.verifier.verify_answer": Growing(
        lambda text: (
            report(text),
            module("citations.verify").verify_answer('On 5 May 2020 ship A said "b c d e" [1].', [page(text)]),
        ),
        ALL,
        heavy=True,
    ),
    "citations.verify.verifier.verify_in_worker": Growing(worker("verify"), MARKDOWN),
    # what comes over HTTP
    "hosted.answers.event_streams.EventDecoder": Growing(
        events, ("data: a\n\n", "\r", "\n", "a", ": a\n", "data:", "event: a\n")
    ),
    "providers.duckduckgo_page.document": Growing(data("providers.duckduckgo_page", "document"), HTML),
    "providers.http_parsing.masked": Growing(
        plain("providers.http_parsing", "masked"), (*PROSE, "key=", "bearer ", "token:'", "api_key ")
    ),
    "routing.result_merging.plain": Growing(plain("routing.result_merging", "plain", 500), (*ALL, *HTML, *SIGNS)),
    "mcp_server.config_text.has_comments": Growing(
        plain("mcp_server.config_text", "has_comments"), ('"', '\\"', "//", "/*", "*/", ",", "{", "\n")
    ),
    "mcp_server.config_text.without_comments": Growing(
        plain("mcp_server.config_text", "without_comments"), ('"', '\\"', "//", "/*", "*/", ",", ", ", "{")
    ),
    "storage.archive.questions.Question": Growing(
        lambda text: module("storage.archive.questions").Question.parse(text), PROSE
    ),
    "storage.archive.questions.terms": Growing(
        lambda text: list(module("storage.archive.questions").terms(text)), PROSE
    ),
    "storage.archive.fts.storable": Growing(
        plain("storage.archive.fts", "storable"), (*PROSE, "\x1f", "\x00", "\ud800")
    ),
    "settings.schema.display_text": Growing(
        lambda text: module("settings.schema").display_text("a", text), ("a://", "@", "a:b@", ":", "a", ", ", "/")
    ),
    "tools.conversions.harmless": Growing(plain("tools.conversions", "harmless"), (*ALL, *SIGNS)),
    "tools.results.fence": Growing(plain("tools.results", "fence"), (*ALL, "<web", "<web_content")),
    # pages
    "reading.block_pages.classify.known_wall": Growing(
        lambda text: module("reading.block_pages.classify").known_wall({}, text), HTML
    ),
    "reading.block_pages.classify.ends_early": Growing(
        lambda text: module("reading.block_pages.classify").ends_early(text, text), (*ALL, "subscribe to "), heavy=True
    ),
    "reading.block_pages.classify.soft_block": Growing(
        lambda text: module("reading.block_pages.classify").soft_block({}, URL, text, title=text, content=text),
        (*ALL, "your network ", "subscribe to "),
        heavy=True,
    ),
    "reading.block_pages.empty_shell.later_parts": Growing(
        lambda text: module("reading.block_pages.empty_shell").later_parts(
            page := module("reading.html.semantics").parse_page(text),
            module("reading.html.semantics").marked_elements(page),
            text,
            text,
        ),
        (*HTML, "loading ", "loading\n", "load more "),
    ),
    "reading.metadata.bylines.read_byline": Growing(
        lambda text: module("reading.metadata.bylines").read_byline(
            module("reading.html.semantics").parse_page(text),
            text,
            module("reading.metadata.page_metadata").Metadata(),
            "",
            "date\nauthor",
        ),
        (*PROSE, "date ", "posted: 4 ", "<time>1</time>", "| by Jo ", "a, "),
    ),
    "reading.metadata.titles.read_title": Growing(
        lambda text: module("reading.metadata.titles").read_title(
            module("reading.html.semantics").parse_page(text), text, text, {"og:title": text}, [], "Town News", URL
        ),
        (*PROSE, "<h1>a</h1>", "a | ", "a - "),
    ),
    "reading.block_pages.empty_shell.is_shell": Growing(
        lambda text: module("reading.block_pages.empty_shell").is_shell(text, text), HTML
    ),
    "reading.convert.convert": Growing(
        lambda text: module("reading.convert").convert(text.encode(), "text/html", URL, headers={}), HTML, heavy=True
    ),
    "reading.convert.convert_in_worker": Growing(worker("convert"), HTML[:4]),
    "reading.convert.to_markdown": Growing(
        lambda text: [
            module("reading.convert").to_markdown(kind, text, URL)
            for kind in ("markdown", "text", "source", "xml", "subtitles", "delimited", "json")
        ],
        (*MARKDOWN, *DATA),
    ),
    "reading.sites.parts.render_in_worker": Growing(
        lambda text: module("reading.sites.parts").render_in_worker(
            {"url": URL}, json.dumps([{"kind": kind, "text": text} for kind in ("markdown", "html")]).encode()
        ),
        (*HTML[:4], *MARKDOWN[:4]),
    ),
    "reading.css.parser.read_sheet": Growing(
        lambda text: module("reading.css.parser").read_sheet(text, module("reading.css.parser").Sheet()), CSS
    ),
    "reading.css.colors.gradient_colors": Growing(
        lambda text: list(module("reading.css.colors").gradient_colors(text)), CSS
    ),
    "reading.css.longhands.may_hide": Growing(
        lambda text: module("reading.css.longhands").may_hide("width", text), CSS
    ),
    "reading.css.longhands.longhands": Growing(
        lambda text: list(module("reading.css.longhands").longhands("background", text)), CSS
    ),
    "reading.css.stylesheets.read_styles": Growing(styled, CSS),
    "reading.documents.feeds.read_listing": Growing(
        lambda text: [
            module("reading.documents.feeds").read_listing(f"{head}{text}", URL)
            for head in ("<rss><channel>", "<feed>", "<urlset>")
        ],
        (*MARKS, "<url><loc>https://a.example/</loc></url>"),
    ),
    "reading.site_links.read_site_links": Growing(
        lambda text: module("reading.site_links").read_site_links(text.encode(), "text/html", URL),
        (*HTML, "<a href='b'>", "<a rel=nofollow ", "<link rel=alternate href="),
    ),
    "reading.documents.feeds.read_feed": Growing(
        lambda text: [
            module("reading.documents.feeds").read_feed(f"{head}{text}", URL) for head in ("<rss><channel>", "<feed>")
        ],
        MARKS,
    ),
    "reading.documents.simple_formats.read_notebook": Growing(
        lambda text: module("reading.documents.simple_formats").read_notebook(
            json.dumps({"nbformat": 4, "cells": [{"cell_type": "markdown", "source": text}] * 2})
        ),
        ALL,
    ),
    "reading.documents.opendocument.read_epub": Growing(read(office.book, "epub"), HTML[:3]),
    "reading.documents.opendocument.read_opendocument": Growing(
        read(office.opendocument, "opendocument"), ("<text:p>a</text:p>", "<text:h>a</text:h>")
    ),
    "reading.documents.pdf.convert.read_pdf": Growing(read(pdf, "pdf"), ("word ", "a", "a-", "1. a ")),
    "reading.documents.slides.read_slides": Growing(
        read(lambda text: office.presentation(text), "slides"), ("<a:p><a:r><a:t>a</a:t></a:r></a:p>",)
    ),
    "reading.documents.tabular.read_sheets": Growing(
        read(lambda text: office.workbook({"a": [[cell, "b"] for cell in text.split(",")]}), "sheet"),
        ("a,", "1,", "|,"),
    ),
    "reading.documents.word.read_word": Growing(
        read(office.word, "word"), ("<w:p><w:r><w:t>a</w:t></w:r></w:p>", "<w:p><w:r><w:tab/></w:r></w:p>")
    ),
    "reading.documents.office_package.parse_xml": Growing(
        refusing(data("reading.documents.office_package", "parse_xml", before=b"<a>", after=b"</a>")), MARKS
    ),
    "reading.documents.pdf.blocks.join_broken": Growing(
        lambda text: module("reading.documents.pdf.blocks").join_broken(text, text, frozenset()), PROSE
    ),
    "reading.documents.pdf.words.is_to_left": Growing(plain("reading.documents.pdf.words", "is_to_left"), PROSE),
    "reading.documents.pdf.headings.drop_furniture": Growing(furniture, (*PROSE, "-", "page ", "#")),
    "reading.documents.simple_formats.read_mail": Growing(
        data("reading.documents.simple_formats", "read_mail", URL), (*DATA, "a: b\n", "--a\n", "=?a?q?b?= ")
    ),
    "reading.documents.simple_formats.read_rtf": Growing(
        data("reading.documents.simple_formats", "read_rtf", before=b"{\\rtf1 "), DATA
    ),
    "reading.encoding.content_type.media_type": Growing(
        lambda text: module("reading.encoding.content_type").media_type(text, text.encode(), URL),
        (*HTML, "a/b;", ";charset=", '"'),
    ),
    "reading.encoding.decode.decode": Growing(
        lambda text: module("reading.encoding.decode").decode(text.encode(), text),
        (*HTML, "charset=", "<meta charset=a>", "\xe9"),
    ),
    "reading.encoding.detect.decoded_text": Growing(
        lambda text: [
            module("reading.encoding.detect").decoded_text(text.encode("utf-8", "replace"), name)
            for name in ("big5", "euc-jp", "iso-2022-jp")
        ],
        ("a", "\xe9", "\x1b$B", "\x1b(I", "水", "\x1b$B\xff"),
    ),
    "reading.encoding.detect.detect": Growing(
        data("reading.encoding.detect", "detect"), ("a", "\xe9", "\x1b$B", "水", "\x00")
    ),
    "reading.encoding.detect.is_iso_2022_jp": Growing(
        data("reading.encoding.detect", "is_iso_2022_jp"), ("a", "\x1b$B", "\x1b(B", "\x1b")
    ),
    "reading.encoding.detect.utf16_without_mark": Growing(
        data("reading.encoding.detect", "utf16_without_mark"), ("a\x00", "\x00a", "a")
    ),
    "reading.encoding.detect.utf8_letters": Growing(
        data("reading.encoding.detect", "utf8_letters"), ("a", "\xe9", "水")
    ),
    "reading.extract.extract": Growing(lambda text: module("reading.extract").extract(text, URL), HTML[:6]),
    "reading.extract.fragment_to_markdown": Growing(fragment, HTML),
    "reading.html.limits.is_heavy": Growing(data("reading.html.limits", "is_heavy"), HTML),
    "reading.html.limits.shorten": Growing(plain("reading.html.limits", "shorten", 300), HTML),
    "reading.html.math.is_formula": Growing(plain("reading.html.math", "is_formula"), ("\\a", "{", "a", "^", "$", " ")),
    "reading.html.semantics.mend_comments": Growing(
        plain("reading.html.semantics", "mend_comments"), (*HTML, "--!>", "-->")
    ),
    "reading.hydration.hydrate": Growing(
        lambda text: module("reading.hydration").hydrate(
            f"<script type=application/json>{json.dumps({'title': text[:9], 'articleBody': text})}</script>",
            URL,
            module("reading.extracted").Extracted(),
        ),
        (*PROSE, *HTML[:6]),
    ),
    "reading.main_content.stated_content.stated_content": Growing(stated, (*PROSE, *HTML[:6])),
    "reading.main_content.text_features.read_wording": Growing(wording, PROSE),
    "reading.main_content.text_features.split_name": Growing(
        plain("reading.main_content.text_features", "split_name"), ("a", "A", "a-", "_", "1", "aB")
    ),
    "reading.metadata.embedded_json.json_within": Growing(
        plain("reading.metadata.embedded_json", "json_within"), (*DATA, '{"a": ', '[{"a": "', "undefined, ")
    ),
    "reading.metadata.dates.day_order": Growing(
        lambda text: module("reading.metadata.dates").day_order(text, "en"), (*PROSE, "1/2/2024 ", "1/", "13-")
    ),
    "reading.metadata.dates.later_day": Growing(
        lambda text: module("reading.metadata.dates").later_day(text, text), PROSE
    ),
    "reading.metadata.dates.same_day": Growing(
        lambda text: module("reading.metadata.dates").same_day(text, text), PROSE
    ),
    "reading.metadata.dates.written_dates": Growing(
        lambda text: list(module("reading.metadata.dates").written_dates(text)),
        (*PROSE, "1/2/2024 ", "1/", "13-", "May ", "2024 "),
    ),
    "reading.passages.excerpts.find_all": Growing(plain("reading.passages.excerpts", "find_all", "ship a"), ALL),
    "reading.passages.reranking.rank": Growing(ranked, ALL),
    "reading.passages.outline.Outline": Growing(outlined, ALL),
    "reading.passages.view.view": Growing(
        lambda text: [
            view(**asked)(text) for asked in ({}, {"query": "ship word 5"}, {"find": "a"}, {"max_length": 200})
        ],
        ALL,
    ),
    "reading.passages.view.view_in_worker": Growing(worker("view"), PROSE),
    "reading.text.sanitize.clean": Growing(plain("reading.text.sanitize", "clean"), (*PROSE, *SIGNS)),
    "reading.text.sanitize.clean_text": Growing(plain("reading.text.sanitize", "clean_text"), (*ALL, *SIGNS)),
    "reading.text.truncate.is_rule": Growing(
        plain("reading.text.truncate", "is_rule"), ("|", " ", "-", "| ", ":-", " |-")
    ),
    "reading.text.truncate.truncate": Growing(
        lambda text: module("reading.text.truncate").truncate(text, max(1, len(text) // 2)), ALL
    ),
    "reading.text.truncate.whole_blocks": Growing(
        lambda text: module("reading.text.truncate").whole_blocks(
            text, max(1, len(text) - 2), module("reading.text.truncate").codes_in(text)
        ),
        ALL,
    ),
    "reading.text.truncate.whole_character": Growing(
        lambda text: module("reading.text.truncate").whole_character(text, len(text) - 1), SIGNS
    ),
    "reading.sites.parts.say": Growing(lambda text: module("reading.sites.parts").say(text, text), PROSE),
    # addresses, robots.txt, secrets
    "safety.secret_scanner.break_marks": Growing(plain("safety.secret_scanner", "break_marks"), (*SIGNS, *MARKDOWN)),
    "safety.secret_scanner.break_reserved": Growing(
        plain("safety.secret_scanner", "break_reserved"), (*SIGNS, *MARKDOWN)
    ),
    "safety.hostnames.canonical_host": Growing(refusing(plain("safety.hostnames", "canonical_host")), ADDRESS),
    "safety.ip_ranges.parse_address": Growing(
        refusing(plain("safety.ip_ranges", "parse_address")), ("1", ".", ":", "a", "0x", "::")
    ),
    "safety.robots_txt.parse_robots": Growing(robots, RULES),
    "safety.secret_scanner.SecretScanner": Growing(
        lambda text: module("safety.secret_scanner").SecretScanner(["BSAx7Qm1LmZpa0T7hYcV3nRsWb2Ke"]).found_in(text),
        (*ADDRESS, "BSAx7Q", "H4sI"),
        heavy=True,
    ),
    "web.known_urls.addresses_in": Growing(
        plain("web.known_urls", "addresses_in"), (*ALL, "http://", "](http://a.b/(", "https://a.b/)")
    ),
    "safety.url_redaction.has_secret": Growing(
        lambda text: refusing(module("safety.url_redaction").has_secret)(URL + text), ADDRESS
    ),
    "safety.urls.parse_url": Growing(
        lambda text: [
            refusing(module("safety.urls").parse_url)(before + text)
            for before in ("", "https://", "https://a.example/")
        ],
        ADDRESS,
    ),
    "safety.urls.url_or_none": Growing(
        lambda text: [module("safety.urls").url_or_none(before + text) for before in ("", "https://a.example/")],
        ADDRESS,
    ),
    "safety.urls.with_scheme": Growing(plain("safety.urls", "with_scheme"), ADDRESS),
    "safety.urls.plain_url": Growing(
        lambda text: [module("safety.urls").plain_url(before + text) for before in ("", "https://a.example/")],
        ADDRESS,
    ),
}


def _usual() -> Iterator[tuple[str, Growing]]:
    for units, lines in _USUAL.items():
        for line in lines.strip().splitlines():
            module, _, names = line.strip().partition(": ")
            for name in names.split():
                yield f"{module}.{name}", Growing(plain(module, name), units)


GROWING: Final[Mapping[str, Growing]] = {**dict(_usual()), **_OTHERS}
"""By module and name, as they are imported."""

BOUNDED: Final[Mapping[str, str]] = {
    "agent_loop.entailment.verify": "verify_answer in another process, and a bounded number of calls of a model",
    "citations.verify.verifier.verify_off_loop": "verify_answer in another process",
    "hosted.answers.upstream_errors.outcome_of": "a code is cut at 100 characters",
    "storage.archive.tables.matching_lines": "words of 200 characters, and 2,000 rows of bounded titles and queries",
    "reading.local.convert_body": "convert, in a thread or a worker",
    "reading.browser.visit.unreachable": "a code of the browser's own",
    "reading.browser.visit.why_not": "a code of the browser's own",
    "reading.documents.document.read_file": "chooses one of those that are counted",
    "reading.documents.pdf.convert.read_details": "part of read_pdf",
    "reading.documents.pdf.pdfium.open_pdf": "part of read_pdf",
    "reading.documents.office_package.whole_number": "reads at most nine digits",
    "reading.documents.office_package.gunzipped": "unpacks at most 40 MB, in one pass of zlib",
    "citations.verify.differences.unquoted": "part of verify_answer",
    "citations.verify.passage_index.terms_in": "cuts the words that `Terms` finds",
    "citations.verify.language_data.language": "takes the code of a language",
    "citations.verify.language_data.unit_size": "takes the name of a unit",
    "reading.documents.archives.read_archive": "unpacks at most 60 MB, and reads them with those that are counted",
    "reading.documents.number_formats.format_number": "takes no format of more than 200 characters",
    "reading.documents.pdf.table_rows.is_entry": "looks at no more than 41 characters",
    "reading.passages.view.unpack_view": "part of view_in_worker",
    "reading.site_links.site_links_in_worker": "read_site_links in another process",
    "reading.workers.unpack": "takes one line of JSON, as long as a frame may be",
}
"""Functions without a count of their own, and why."""


def functions_of_text() -> Iterator[str]:
    """Yield the public functions of the packages that read what comes from outside, as module and name."""
    for found in pkgutil.walk_packages(groundwire.__path__, "groundwire."):
        name = found.name.removeprefix("groundwire.")
        if name.partition(".")[0] not in _READING or name.endswith("__main__"):
            continue
        module = importlib.import_module(found.name)
        for public, function in inspect.getmembers(module, inspect.isfunction):
            if public.startswith("_") or function.__module__ != found.name:
                continue
            takes = {one.name: str(one.annotation) for one in inspect.signature(function).parameters.values()}
            if any(takes.get(parameter) in ("str", "bytes", "Sequence[str]") for parameter in _TEXTS):
                yield f"{name}.{public}"


_READING: Final = ("agent_loop", "citations", "hosted", "reading", "routing", "safety", "storage", "tools", "web")
_TEXTS: Final = frozenset(
    {
        *("answer", "body", "code", "condition", "content", "html", "label", "line", "markdown", "markup", "sample"),
        *("snippet", "tex", "text", "texts", "user_agent", "value", "words"),
    }
)
