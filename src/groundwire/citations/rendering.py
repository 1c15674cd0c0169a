"""An answer with its marks as links and its sources below, whole or as it is being written.

Where an answer is shown: how text is escaped there, and how a link is written.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal
from urllib.parse import quote, urlsplit

from groundwire.citations.link_filter import LinkFilter
from groundwire.citations.marker_parser import Mark, MarkScanner
from groundwire.models import Source
from groundwire.models.validators import check_choice

__all__ = ["CHANNELS", "Channel", "ChannelName", "CitationStream", "RenderedAnswer", "one_line", "render_answer"]

ChannelName = Literal["markdown", "html", "telegram_markdown_v2", "telegram_html", "slack", "plain", "ansi"]
"""The channels that are known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """How text and links are written on a channel."""

    name: ChannelName
    """What it is called."""
    answer: Callable[[str], str]
    """Writes text of the answer: it is shown as the model wrote it, and nothing in it gets out of its place."""
    text: Callable[[str], str]
    """Writes other text, such as a source's title: none of it means anything to the channel."""
    link: Callable[[str, str], str]
    """Writes a link from its label, which is written already, and its address."""
    sources: Callable[[Sequence[str]], str]
    """Writes what stands below an answer, from one line a source, each written already."""


_MARKDOWN_SPECIAL: Final = re.compile(r"([\\`*_{}\[\]<>()#+\-.!|~&$^=:@])")
_TELEGRAM_SPECIAL: Final = re.compile(r"([_*\[\]()~`>#+\-=|{}.!\\])")  # core.telegram.org/bots/api#markdownv2-style
_CONTROLS: Final = {number: 0x2400 + number for number in range(32) if chr(number) not in "\n\t"}
_TERMINAL: Final = {**_CONTROLS, 0x7F: 0x2421, **dict.fromkeys(range(0x80, 0xA0), 0xFFFD)}
_SAFE_IN_URLS: Final = "!#$%&'*+,-./:;=?@_~"  # of RFC 3986 all but brackets and parentheses, which end links


def _address(url: str) -> str:
    """Return an address in characters that end a link nowhere; those of other scripts are percent-encoded."""
    return quote(url, safe=_SAFE_IN_URLS)


def _same(text: str) -> str:
    return text


def _bracketed_link(label: str, url: str) -> str:
    return f"[{label}]({_address(url)})"


def _html(text: str) -> str:
    return html.escape(text, quote=False)


def _html_link(label: str, url: str) -> str:
    return f'<a href="{html.escape(_address(url))}" rel="nofollow noopener noreferrer">{label}</a>'


def _telegram_html_link(label: str, url: str) -> str:
    return f'<a href="{html.escape(_address(url))}">{label}</a>'


def _telegram(text: str) -> str:
    return _TELEGRAM_SPECIAL.sub(r"\\\1", text)


def _slack_link(label: str, url: str) -> str:
    return f"<{_html(_address(url))}|{label}>"  # docs.slack.dev/messaging/formatting-message-text


def _terminal(text: str) -> str:
    """Return text with control characters made visible: none may move the cursor or color the screen."""
    return text.translate(_TERMINAL)


def _terminal_link(label: str, url: str) -> str:
    return f"\x1b]8;;{_address(url)}\x1b\\{label}\x1b]8;;\x1b\\"


def _listed(heading: str, before: str = "") -> Callable[[Sequence[str]], str]:
    """Return what writes sources one below the other, under a heading."""
    return lambda lines: "\n".join([f"\n\n{heading}", *(f"{before}{line}" for line in lines)])


def _html_list(lines: Sequence[str]) -> str:
    items = "".join(f"<li>{line}</li>" for line in lines)
    return f'\n<section class="sources"><strong>Sources</strong><ul>{items}</ul></section>'


_ALL: Final = (
    Channel(
        name="markdown",
        answer=_same,
        text=lambda text: _MARKDOWN_SPECIAL.sub(r"\\\1", text),
        link=_bracketed_link,
        sources=_listed("**Sources**\n", "- "),
    ),
    Channel(name="html", answer=_html, text=_html, link=_html_link, sources=_html_list),
    Channel(
        name="telegram_markdown_v2",
        answer=_telegram,
        text=_telegram,
        link=_bracketed_link,
        sources=_listed("*Sources*"),
    ),
    Channel(
        name="telegram_html",
        answer=_html,
        text=_html,
        link=_telegram_html_link,
        sources=_listed("<b>Sources</b>"),
    ),
    Channel(name="slack", answer=_html, text=_html, link=_slack_link, sources=_listed("*Sources*")),
    Channel(name="plain", answer=_same, text=_same, link=lambda label, _url: label, sources=_listed("Sources")),
    Channel(
        name="ansi",
        answer=_terminal,
        text=_terminal,
        link=_terminal_link,
        sources=_listed("\x1b[1mSources\x1b[0m"),
    ),
)

CHANNELS: Final[Mapping[ChannelName, Channel]] = MappingProxyType({channel.name: channel for channel in _ALL})
"""The channels by their names."""


def one_line(text: str) -> str:
    """Return a text with single blanks for whatever parts its words."""
    return " ".join(text.split())


Untrusted = Literal["drop", "keep"]
"""What becomes of images or links whose addresses are none of the sources'."""
_UNTRUSTED: Final = ("drop", "keep")
_PREVIEWING: Final = frozenset({"slack", "telegram_markdown_v2", "telegram_html"})  # they fetch every address they show
_FETCHING: Final = frozenset({"markdown", "html"}) | _PREVIEWING  # what shows the text may load what is in it
_JOINING: Final = frozenset("!\\")  # before a link in Markdown the one makes an image of it, the other no link
_LINKED: Final = ("http", "https")  # what a link may lead to


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderedAnswer:
    """An answer as a channel shows it."""

    text: str
    """The answer with its sources below, in the channel's markup."""
    used: tuple[int, ...]
    """The sources that it cites, by number."""
    unknown: tuple[int, ...]
    """The numbers it cites that no source has; they are shown as they were written."""


class CitationStream:
    """Writes an answer for a channel while it comes in.

    Every character of the answer is written but for the marks, and at once: only what may be a mark, code within a
    line, a tag or an image is held back until that is certain. Images whose address is that of no source are written as
    text. However the answer is cut into chunks, the text written is the same.

    Args:
        sources: What the numbers stand for; of two with one number the first counts.
        channel: Where the answer is shown.
        footer: Whether the sources that were used stand below the answer.
        links: Other addresses to lead to than the sources' own, by number, such as one of a passage in the page.
        untrusted_images: What becomes of images whose address is that of no source: `drop` writes them as text, `keep`
            leaves them. Slack and Telegram fetch a preview of every address, so that on those all addresses count.
        untrusted_links: The same for links, by default `keep`: nothing follows them unasked.

    Raises:
        InvalidRequest: there is no such channel, or something else than `drop` or `keep` is to be done.
    """

    def __init__(
        self,
        sources: Iterable[Source],
        channel: ChannelName = "markdown",
        *,
        footer: bool = True,
        links: Mapping[int, str] | None = None,
        untrusted_images: Untrusted = "drop",
        untrusted_links: Untrusted = "keep",
    ) -> None:
        check_choice("untrusted_images", untrusted_images, _UNTRUSTED)
        check_choice("untrusted_links", untrusted_links, _UNTRUSTED)
        check_choice("channel", channel, tuple(CHANNELS))
        self._channel: Channel = CHANNELS[channel]
        self._sources: dict[int, Source] = {}
        for source in sources:
            self._sources.setdefault(source.citation_id, source)
        self._links = dict(links or {})
        self._footer = footer
        if channel not in _FETCHING:
            untrusted_images = "keep"
        elif channel in _PREVIEWING and untrusted_images == "drop":
            untrusted_links = "drop"
        self._filter = LinkFilter(
            (*(source.url for source in self._sources.values()), *self._links.values()),
            images="known" if untrusted_images == "drop" else "any",
            links="known" if untrusted_links == "drop" else "any",
            markdown=channel == "markdown",
        )
        self._scanner = MarkScanner()
        self._used: set[int] = set()
        self._unknown: dict[int, None] = {}
        self._last = ""

    @property
    def used(self) -> tuple[int, ...]:
        """The sources cited so far, by number."""
        return tuple(sorted(self._used))

    @property
    def unknown(self) -> tuple[int, ...]:
        """The numbers cited so far that no source has, in the order in which they came."""
        return tuple(self._unknown)

    def feed(self, chunk: str) -> str:
        """Take the next part of the answer; return what can be shown now."""
        return self._written(self._scanner.feed(self._filter.feed(chunk)))

    def close(self) -> str:
        """Return what was held back and, when sources were used, the sources; the answer has ended."""
        rest = self._written(self._scanner.feed(self._filter.close())) + self._written(self._scanner.close())
        if not self._footer or not self._used:
            return rest
        fence = f"\n{self._scanner.open_fence}" if self._channel.name == "markdown" and self._scanner.open_fence else ""
        return rest + fence + self._channel.sources([self._line(number) for number in self.used])

    def _written(self, pieces: Iterable[str | Mark]) -> str:
        out: list[str] = []
        for piece in pieces:
            out.append(self._mark(piece) if isinstance(piece, Mark) else self._channel.answer(piece))
            self._last = (piece.text if isinstance(piece, Mark) else piece)[-1:] or self._last
        return "".join(out)

    def _mark(self, mark: Mark) -> str:
        """Write a mark: the numbers that are known are links, the rest stands as it was."""
        known = [number for number in mark.numbers if number in self._sources]
        self._used.update(known)
        self._unknown.update(dict.fromkeys(number for number in mark.numbers if number not in self._sources))
        if self._channel.name == "plain" or not known:
            return self._channel.answer(mark.text)
        text = self._channel.text
        if len(mark.numbers) == 1 and self._last not in _JOINING:
            return self._linked(mark.numbers[0], text(mark.text))
        return "".join(
            self._linked(piece, text(spelled)) if isinstance(piece, int) else text(spelled)
            for piece, spelled in zip(mark.pieces, mark.spelled, strict=True)
        )

    def _linked(self, number: int, label: str) -> str:
        url = self._address(number)
        return self._channel.link(label, url) if url else label

    def _address(self, number: int) -> str:
        source = self._sources.get(number)
        if source is None:
            return ""
        url = self._links.get(number, source.url)
        try:
            return url if urlsplit(url).scheme.lower() in _LINKED else ""
        except ValueError:
            return ""

    def _line(self, number: int) -> str:
        """Write a source on one line: its number, its title as a link, or its address where there are no links."""
        source, text = self._sources[number], self._channel.text
        title, url = one_line(source.title), self._address(number)
        if self._channel.name == "plain":
            return f"[{number}] {title} — {one_line(source.url)}" if title else f"[{number}] {one_line(source.url)}"
        label = text(title or one_line(source.url))
        return f"{text(f'[{number}]')} {self._channel.link(label, url) if url else label}"


def render_answer(
    answer: str,
    sources: Iterable[Source],
    channel: ChannelName = "markdown",
    *,
    footer: bool = True,
    links: Mapping[int, str] | None = None,
    untrusted_images: Untrusted = "drop",
    untrusted_links: Untrusted = "keep",
) -> RenderedAnswer:
    """Return a finished answer as a channel shows it; see `CitationStream` for the arguments.

    Raises:
        InvalidRequest: there is no such channel.
    """
    stream = CitationStream(
        sources,
        channel,
        footer=footer,
        links=links,
        untrusted_images=untrusted_images,
        untrusted_links=untrusted_links,
    )
    text = stream.feed(answer) + stream.close()
    return RenderedAnswer(text=text, used=stream.used, unknown=stream.unknown)
