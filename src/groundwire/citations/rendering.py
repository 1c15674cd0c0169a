"""Rendering of an answer with its markers as links and its sources in a footer, whole or as a stream.

Answers of model APIs with hosted search are given markers first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, get_args

from groundwire.citations.dialects import CHANNELS, Channel, ChannelName, one_line
from groundwire.citations.link_filter import LinkFilter, Untrusted
from groundwire.citations.markdown_blocks import BlockSplitter, render_block
from groundwire.citations.marker_parser import Mark, MarkScanner, find_marks
from groundwire.citations.verify.report import CitedPage
from groundwire.hosted.answers.types import HostedAnswer, HostedCitation
from groundwire.models import Source
from groundwire.models.validators import check_choice

__all__ = [
    "CHANNELS", "Channel", "ChannelName", "CitationStream", "MarkedAnswer", "RenderedAnswer", "marked", "one_line",
    "render_answer",
]  # fmt: skip

_REPLACED_COVERS: Final = ("link", "marker")  # citations that are themselves the reference to the source
# They fetch every URL they show.
_PREVIEW_CHANNELS: Final = frozenset({"telegram_markdown_v2", "telegram_html"})
# Before a Markdown link, the first makes it an image and the second disables it.
_JOINING_SIGNS: Final = frozenset("!\\")


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderedAnswer:
    """A rendered answer."""

    text: str
    """The answer with its sources, in the channel's markup."""
    used: tuple[int, ...]
    """The sources it cites, by number."""
    unknown: tuple[int, ...]
    """The cited numbers without a source; they are shown as written."""


class CitationStream:
    """Renders a streamed answer for a channel.

    On the Markdown channel the answer passes through immediately, unchanged except for the markers: only a possible
    marker, inline code, a tag, or an image is held back until it is complete. On other channels the Markdown is
    converted to the channel's markup, a block at a time. Images whose URL belongs to no source are written as text. The
    output does not depend on how the answer is split into chunks.

    Args:
        sources: The sources by number; of two with the same number the first counts.
        channel: Where the answer is shown.
        footer: Whether to list the cited sources below the answer.
        untrusted_images: The treatment of images whose URL belongs to no source: `drop` writes them as text, `keep`
            leaves them. Telegram fetches a preview of every URL, so there it applies to all URLs.
        untrusted_links: The same for links, by default `keep`: nothing follows them automatically.

    Raises:
        InvalidRequest: the channel is unknown, or the treatment is neither `drop` nor `keep`.
    """

    def __init__(
        self,
        sources: Iterable[Source],
        channel: ChannelName = "markdown",
        *,
        footer: bool = True,
        untrusted_images: Untrusted = "drop",
        untrusted_links: Untrusted = "keep",
    ) -> None:
        check_choice("untrusted_images", untrusted_images, get_args(Untrusted))
        check_choice("untrusted_links", untrusted_links, get_args(Untrusted))
        check_choice("channel", channel, tuple(CHANNELS))
        self._channel: Channel = CHANNELS[channel]
        self._sources: dict[int, Source] = {}
        for source in sources:
            self._sources.setdefault(source.citation_id, source)
        self._footer = footer
        if channel == "plain":
            untrusted_images = "keep"
        elif channel in _PREVIEW_CHANNELS and untrusted_images == "drop":
            untrusted_links = "drop"
        self._filter = LinkFilter(
            (source.url for source in self._sources.values()),
            images=untrusted_images,
            links=untrusted_links,
        )
        self._scanner = MarkScanner()
        self._blocks = BlockSplitter()
        self._has_begun = False
        self._used: set[int] = set()
        self._unknown: dict[int, None] = {}
        self._last = ""

    @property
    def used(self) -> tuple[int, ...]:
        """The sources cited so far, by number."""
        return tuple(sorted(self._used))

    @property
    def unknown(self) -> tuple[int, ...]:
        """The numbers cited so far that have no source, in order."""
        return tuple(self._unknown)

    def feed(self, chunk: str) -> str:
        """Take the next chunk of the answer and return the text that can be shown now."""
        if not self._channel.keeps_markdown:
            return "".join(map(self._render, self._blocks.feed(chunk)))
        return self._write(self._scanner.feed(self._filter.feed(chunk)))

    def close(self) -> str:
        """End the answer and return the text held back, followed by the cited sources."""
        if not self._channel.keeps_markdown:
            tail = "".join(map(self._render, self._blocks.close()))
        else:
            tail = self._write([*self._scanner.feed(self._filter.close()), *self._scanner.close()])
        if not self._footer or not self._used:
            return tail
        fence = f"\n{self._scanner.open_fence}" if self._channel.keeps_markdown and self._scanner.open_fence else ""
        return tail + fence + self._channel.sources([self._line(number) for number in self.used])

    def _render(self, block: str) -> str:
        """Render a block of the answer's Markdown."""
        if not block.strip():
            return ""
        written = render_block(block, self._channel, self._mark, self._filter)
        between = ("\n" if self._channel.html else "\n\n") if self._has_begun else ""
        self._has_begun = True
        return between + written

    def _write(self, pieces: Iterable[str | Mark]) -> str:
        out: list[str] = []
        for piece in pieces:
            out.append(self._mark(piece) if isinstance(piece, Mark) else piece)
            self._last = (piece.text if isinstance(piece, Mark) else piece)[-1:] or self._last
        return "".join(out)

    def _mark(self, mark: Mark) -> str:
        """Write a marker: known numbers become links, the rest is unchanged."""
        known_numbers = [number for number in mark.numbers if number in self._sources]
        self._used.update(known_numbers)
        self._unknown.update(dict.fromkeys(number for number in mark.numbers if number not in self._sources))
        text = self._channel.text
        if self._channel.name == "plain" or not known_numbers:
            return mark.text if self._channel.keeps_markdown else text(mark.text)
        if len(mark.numbers) == 1 and self._last not in _JOINING_SIGNS:
            return self._link(mark.numbers[0], text(mark.text))
        return "".join(
            self._link(piece, text(spelled)) if isinstance(piece, int) else text(spelled)
            for piece, spelled in zip(mark.pieces, mark.spelled, strict=True)
        )

    def _link(self, number: int, label: str) -> str:
        source = self._sources.get(number)
        return label if source is None else self._channel.link(label, source.url)

    def _line(self, number: int) -> str:
        """Write a source on one line: its number and its title as a link, or its URL on channels without links."""
        source, text = self._sources[number], self._channel.text
        title = one_line(source.title)
        if self._channel.name == "plain":
            return f"[{number}] {title} — {one_line(source.url)}" if title else f"[{number}] {one_line(source.url)}"
        return f"{text(f'[{number}]')} {self._link(number, text(title or one_line(source.url)))}"


def render_answer(
    answer: str,
    sources: Iterable[Source],
    channel: ChannelName = "markdown",
    *,
    footer: bool = True,
    untrusted_images: Untrusted = "drop",
    untrusted_links: Untrusted = "keep",
) -> RenderedAnswer:
    """Render a finished answer for a channel; see `CitationStream` for the arguments.

    Raises:
        InvalidRequest: the channel is unknown.
    """
    stream = CitationStream(
        sources,
        channel,
        footer=footer,
        untrusted_images=untrusted_images,
        untrusted_links=untrusted_links,
    )
    text = stream.feed(answer) + stream.close()
    return RenderedAnswer(text=text, used=stream.used, unknown=stream.unknown)


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedAnswer:
    """An answer with markers such as `[1]`."""

    text: str
    """The text. Links and markers of the API are rewritten as Groundwire's markers; other text that looks like a
    marker is escaped with a backslash."""
    pages: tuple[CitedPage, ...]
    """The sources by number: first the cited ones, in order of citation, then those that were only found."""

    @property
    def sources(self) -> tuple[Source, ...]:
        """The sources as rendering expects them."""
        return tuple(Source(citation_id=page.number, title=page.title, url=page.url) for page in self.pages)


def marked(answer: HostedAnswer) -> MarkedAnswer:
    """Convert a hosted answer to the form that is rendered and verified.

    A citation without a position in the answer gets a number but no marker.

    Args:
        answer: The answer, as `groundwire.hosted.answers.read_answer` returns it.
    """
    placed = sorted(
        (citation for citation in answer.citations if _place(citation) is not None),
        key=lambda citation: _place(citation) or 0,
    )
    urls = [citation.url for citation in placed]
    urls += [citation.url for citation in answer.citations] + [source.url for source in answer.sources]
    numbers = {url: number for number, url in enumerate(dict.fromkeys(filter(None, urls)), start=1)}
    return MarkedAnswer(
        text="".join(_pieces(answer.text, placed, numbers)),
        pages=tuple(_page(answer, url, number) for url, number in numbers.items()),
    )


def _place(citation: HostedCitation) -> int | None:
    return citation.end if citation.end is not None else citation.position


def _pieces(text: str, placed: list[HostedCitation], numbers: dict[str, int]) -> Iterator[str]:
    """Yield the text with markers; `placed` is in order of position."""
    at = 0
    waiting: dict[int, None] = {}
    for citation in placed:
        end = min(len(text), _place(citation) or 0)
        start = citation.start if citation.covers in _REPLACED_COVERS and citation.start is not None else end
        start = min(max(start, at), len(text))
        if start > at:
            yield _markers(waiting) + _escaped(text[at:start])
            waiting = {}
        at = max(at, end)
        if citation.url in numbers:
            waiting[numbers[citation.url]] = None
    yield _markers(waiting) + _escaped(text[at:])


def _markers(numbers: dict[int, None]) -> str:
    return "".join(f"[{number}]" for number in numbers)


def _escaped(text: str) -> str:
    """Escape everything in a text that looks like a marker."""
    return "".join(f"\\{piece.text}" if isinstance(piece, Mark) else piece for piece in find_marks(text))


def _page(answer: HostedAnswer, url: str, number: int) -> CitedPage:
    source = next((source for source in answer.sources if source.url == url), None)
    cited = [citation for citation in answer.citations if citation.url == url]
    quoted = [
        citation.cited_text
        for citation in cited
        if citation.covers == "block" and citation.cited_text and citation.cited_text not in answer.text
    ]  # the others refer to the text of the answer
    snippets = [source.snippet] if source is not None and source.snippet else []
    titles = [source.title] if source is not None else []
    titles += [citation.title for citation in cited]
    return CitedPage(
        number=number,
        url=url,
        title=next(filter(None, titles), ""),
        snippet=" … ".join(dict.fromkeys([*snippets, *quoted])),
    )
