"""The reader view: a page as inert HTML, the requested part, and what is missing of it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from markupsafe import Markup

from groundwire.errors import GroundwireError
from groundwire.models import Excerpt, Page
from groundwire.web import Web
from groundwire_server.ui.formatting import web_url
from groundwire_server.ui.query_params import ViewQuery

_NESTING = 30  # blocks within blocks; what is deeper stays as it is written
_TOP_LEVEL = 3  # the level of the highest heading of a page, below those of the template
_LOWEST_LEVEL = 6


def inert_html(markdown: str, *, title: str = "") -> Markup:
    """Return Markdown as HTML that is safe to embed in the web page.

    HTML in the Markdown is shown as text, pictures as their descriptions. A link keeps its address only if that is one
    of http or https, and tells the browser to send no referrer. Headings begin at the third level and skip none.

    Args:
        markdown: CommonMark with the tables and the struck out text of GitHub's dialect.
        title: The heading shown above it; an identical heading at the start of the page is omitted.
    """
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": _NESTING}).enable(["table", "strikethrough"])
    parser.validateLink = lambda url: True  # type: ignore[method-assign]  # judged below, where its words can be kept
    for name, rule in _RULES.items():
        parser.add_render_rule(name, rule)
    tokens = parser.parse(markdown)
    if len(tokens) > 2 and tokens[0].type == "heading_open" and _words(tokens[1]) == title.casefold().split() != []:
        del tokens[:3]
    _set_headings(tokens)
    for block in tokens:
        if block.children:
            block.children = list(_inline(block.children))
    return Markup(parser.renderer.render(tokens, parser.options, {}))  # noqa: S704  # made of escaped text


def _words(token: Token) -> list[str]:
    return "".join(child.content for child in token.children or ()).casefold().split()


def _set_headings(tokens: Sequence[Token]) -> None:
    """Shift headings below those of the template, without skipping a level, as screen readers expect."""
    last = _TOP_LEVEL - 1
    for token in tokens:
        if token.type == "heading_open":
            last = min(int(token.tag[1:]) + _TOP_LEVEL - 1, last + 1, _LOWEST_LEVEL)
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{last}"


def _inline(children: Sequence[Token]) -> Iterator[Token]:
    """Yield the inline content of a line, with only safe links."""
    stack: list[Token] = []
    for number, token in enumerate(children):
        if token.type == "link_open":
            if children[number + 1].type == "link_close":  # a link without text would be invisible
                stack.append(_as_span(token))
                continue
            stack.append(_safe_link(token))
        elif token.type == "link_close":
            opened = stack.pop()
            if children[number - 1].type == "link_open":
                continue
            token.tag = opened.tag
        yield token


def _safe_link(token: Token) -> Token:
    url = web_url(str(token.attrGet("href") or ""))
    if not url:
        return _as_span(token)
    token.attrs = {"href": url, "rel": "noopener noreferrer nofollow", "target": "_blank", "title": url}
    return token


def _as_span(token: Token) -> Token:
    token.tag, token.attrs = "span", {"class": "unlinked"}
    return token


_Tokens = Sequence[Token]


def _picture(_renderer: RendererHTML, tokens: _Tokens, at: int, _options: OptionsDict, _env: EnvType) -> str:
    text = " ".join(tokens[at].content.split()) or "image without a description"
    return f'<span class="picture">{escapeHtml(text)}</span>'


def _code(_renderer: RendererHTML, tokens: _Tokens, at: int, _options: OptionsDict, _env: EnvType) -> str:
    return f'<pre tabindex="0"><code>{escapeHtml(tokens[at].content)}</code></pre>\n'


def _table(renderer: RendererHTML, tokens: _Tokens, at: int, options: OptionsDict, env: EnvType) -> str:
    """Return the end of a table, or its beginning; it can be scrolled with the keyboard, as code can."""
    tag = renderer.renderToken(tokens, at, options, env)
    frame = '<div class="wide" tabindex="0" role="group" aria-label="Table">\n'
    return f"{frame}{tag}" if tokens[at].nesting == 1 else f"{tag}</div>\n"


def _cell(renderer: RendererHTML, tokens: _Tokens, at: int, options: OptionsDict, env: EnvType) -> str:
    """Return the beginning of a cell; a heading without words would be one that a screen reader cannot say."""
    token = tokens[at]
    if not tokens[at + 1].content.strip():
        token.tag = tokens[at + 2].tag = "td"
    align = str(token.attrGet("style") or "").removeprefix("text-align:")
    token.attrs = {"class": f"to-{align}"} if align in {"left", "center", "right"} else {}
    return renderer.renderToken(tokens, at, options, env)


_RULES: Final[Mapping[str, Callable[..., str]]] = {
    **dict.fromkeys(("table_open", "table_close"), _table),
    **dict.fromkeys(("th_open", "td_open"), _cell),
    **dict.fromkeys(("fence", "code_block"), _code),
    "image": _picture,
}
"""How elements are rendered that are not as CommonMark says."""


_PIECE_CHARS = 20_000  # characters per piece; more would keep a browser busy


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownPassage:
    """A part of a page that is shown."""

    html: Markup
    """It as inert HTML."""
    excerpt: Excerpt | None = None
    """Its position, if it is an excerpt; None for a piece from beginning to end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What the reader shows."""

    url: str
    """The requested URL."""
    page: Page | None = None
    """The page; None when it cannot be read."""
    error: GroundwireError | None = None
    """The reason, if it cannot be read."""
    passages: Sequence[ShownPassage] = ()
    """What is shown of it."""
    answers: Sequence[ShownPassage] = ()
    """The most relevant part, if all of it is shown."""
    milliseconds: float = 0.0
    """How long it took."""

    @property
    def failed(self) -> str:
        """Why the page could not be read; empty when it was."""
        if self.error is not None:
            return str(self.error)
        return self.page.error if self.page is not None and self.page.status == "error" else ""


async def read_page(web: Web, query: ViewQuery) -> Reading:
    """Open the requested page; a failure is part of the result."""
    url = query.get("open")
    started = time.perf_counter()
    try:
        part = {**_part(query), "max_length": _room(query, web.settings.read.max_length)}
        page = await web.open_page(url, refresh=bool(query.get("refresh")), **part)
    except GroundwireError as error:
        return Reading(url=url, error=error, milliseconds=elapsed_ms(started))
    took = elapsed_ms(started)
    # A long page takes longer to be put into HTML than others may wait for.
    passages, answers = await asyncio.to_thread(_passages, page)
    return Reading(url=url, page=page, passages=passages, answers=answers, milliseconds=took)


def _part(query: ViewQuery) -> dict[str, Any]:
    """Return the requested part of the page; a query takes precedence over a position."""
    for field, argument in (("about", "query"), ("find", "find"), ("at", "cursor")):
        if value := query.get(field):
            return {argument: value}
    return {}


def _room(query: ViewQuery, max_length: int) -> int:
    chosen = bool(query.get("about") or query.get("find"))
    return min(max_length, 4_000 if chosen else _PIECE_CHARS)


def _passages(page: Page) -> tuple[list[ShownPassage], list[ShownPassage]]:
    chosen = [ShownPassage(html=inert_html(excerpt.text), excerpt=excerpt) for excerpt in page.excerpts]
    # Of a page that is shown from beginning to end the excerpts only point at some of it.
    is_piece = (page.end or 0) - page.start <= len(page.content)
    if chosen and not is_piece:
        return chosen, []
    return [ShownPassage(html=inert_html(page.content, title=page.title))], chosen


def elapsed_ms(started: float) -> float:
    """Return the milliseconds since a moment of `time.perf_counter`."""
    return (time.perf_counter() - started) * 1_000
