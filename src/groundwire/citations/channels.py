"""Where an answer is shown: how text is escaped there, and how a link is written."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal
from urllib.parse import quote

__all__ = ["CHANNELS", "Channel", "ChannelName", "one_line"]

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
    """Return text with control characters made visible: none may move the cursor or colour the screen."""
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
