"""The markup of each channel: how text is escaped, how a link is written, and the rest."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal
from urllib.parse import quote, urlsplit

from groundwire.citations.markdown_blocks import Dialect

__all__ = ["CHANNELS", "Channel", "ChannelName", "one_line"]

ChannelName = Literal["markdown", "html", "telegram_markdown_v2", "telegram_html", "slack", "plain", "ansi"]
"""The supported channels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """The markup of text and links on a channel."""

    name: ChannelName
    """The name of the channel."""
    dialect: Dialect | None = None
    """How the answer's Markdown is written; None if it is shown as the model wrote it."""
    text: Callable[[str], str]
    """Escapes other text, such as a source's title."""
    link: Callable[[str, str], str]
    """Writes a link from its escaped label and its URL, or only the label if no link may lead there."""
    sources: Callable[[Sequence[str]], str]
    """Writes the footer of an answer, from one escaped line per source."""


_MARKDOWN_SPECIAL: Final = re.compile(r"([\\`*_{}\[\]<>()#+\-.!|~&$^=:@])")
_TELEGRAM_SPECIAL: Final = re.compile(r"([_*\[\]()~`>#+\-=|{}.!\\])")  # core.telegram.org/bots/api#markdownv2-style
_CONTROLS: Final[Mapping[int, int]] = {number: 0x2400 + number for number in range(32) if chr(number) not in "\n\t"}
_TERMINAL: Final[Mapping[int, int]] = {**_CONTROLS, 0x7F: 0x2421, **dict.fromkeys(range(0x80, 0xA0), 0xFFFD)}
_LINKED: Final = ("http", "https")  # schemes that a link may have
_SAFE_IN_URLS: Final = "!#$%&'*+,-./:;=?@_~"  # of RFC 3986, all but brackets and parentheses, which end links


def _linking(write: Callable[[str, str], str]) -> Callable[[str, str], str]:
    """Return what writes a link from its label and its URL, or only the label if no link may lead there.

    Args:
        write: Writes it, from the label and the URL in characters that never end a link; others are percent-encoded.
    """

    def link(label: str, url: str) -> str:
        try:
            is_allowed = urlsplit(url).scheme.lower() in _LINKED
        except ValueError:
            is_allowed = False
        return write(label, quote(url, safe=_SAFE_IN_URLS)) if is_allowed else label

    return link


def _bracketed_link(label: str, url: str) -> str:
    return f"[{label}]({url})"


def _html(text: str) -> str:
    return html.escape(text, quote=False)


def _html_link(label: str, url: str) -> str:
    return f'<a href="{html.escape(url)}" rel="nofollow noopener noreferrer">{label}</a>'


def _telegram_html_link(label: str, url: str) -> str:
    return f'<a href="{html.escape(url)}">{label}</a>'


def _telegram(text: str) -> str:
    return _TELEGRAM_SPECIAL.sub(r"\\\1", text)


def _slack_link(label: str, url: str) -> str:
    return f"<{_html(url)}|{label}>"  # docs.slack.dev/messaging/formatting-message-text


def _terminal(text: str) -> str:
    """Return text with visible control characters, so that none can move the cursor or color the screen."""
    return text.translate(_TERMINAL)


def _terminal_link(label: str, url: str) -> str:
    return f"\x1b]8;;{url}\x1b\\{label}\x1b]8;;\x1b\\"


def _html_inline(text: str) -> str:
    return f"<code>{_html(text)}</code>"


def _html_code(text: str, language: str) -> str:
    kind = f' class="language-{html.escape(_word(language))}"' if _word(language) else ""
    return f"<pre><code{kind}>{_html(text)}</code></pre>"


def _word(language: str) -> str:
    return language if re.fullmatch(r"[\w+#.-]{1,40}", language) else ""


def _telegram_code(text: str) -> str:
    return text.replace("\\", "\\\\").replace("`", "\\`")


def _unquoted(text: str) -> str:
    return text.replace("<blockquote>", "").replace("</blockquote>", "")  # Telegram has no nested quotations


def _prefixed(sign: str) -> Callable[[str], str]:
    """Return what writes a quotation: a sign before each line."""
    return lambda text: "\n".join(f"{sign}{line}" for line in text.split("\n"))


def _listed(heading: str, before: str = "") -> Callable[[Sequence[str]], str]:
    """Return a function that writes one source per line under a heading."""
    return lambda lines: "\n".join([f"\n\n{heading}", *(f"{before}{line}" for line in lines)])


def _html_list(lines: Sequence[str]) -> str:
    items = "".join(f"<li>{line}</li>" for line in lines)
    return f'\n<section class="sources"><strong>Sources</strong><ul>{items}</ul></section>'


_DIALECTS: Final[Mapping[ChannelName, Dialect]] = MappingProxyType(
    {
        "html": Dialect(
            text=_html,
            link=_linking(_html_link),
            strong=("<strong>", "</strong>"),
            emphasis=("<em>", "</em>"),
            struck=("<s>", "</s>"),
            code=_html_inline,
            block=_html_code,
            quote=lambda text: f"<blockquote>{text}</blockquote>",
            html=True,
        ),
        "telegram_html": Dialect(
            text=_html,
            link=_linking(_telegram_html_link),
            strong=("<b>", "</b>"),
            emphasis=("<i>", "</i>"),
            struck=("<s>", "</s>"),
            code=_html_inline,
            block=lambda text, language: _html_code(text, language).replace("\n</code>", "</code>"),
            quote=lambda text: f"<blockquote>{_unquoted(text)}</blockquote>",
        ),
        "telegram_markdown_v2": Dialect(
            text=_telegram,
            link=_linking(_bracketed_link),
            strong=("*", "*"),
            emphasis=("_", "_"),
            struck=("~", "~"),
            code=lambda text: f"`{_telegram_code(text)}`",
            block=lambda text, language: f"```{_telegram_code(_word(language))}\n{_telegram_code(text)}```",
            quote=lambda text: "\n".join(f">{line.lstrip('>')}" for line in text.split("\n")),
        ),
        "slack": Dialect(
            text=_html,
            link=_linking(_slack_link),
            strong=("*", "*"),
            emphasis=("_", "_"),
            struck=("~", "~"),
            code=lambda text: f"`{_html(text)}`",
            block=lambda text, _language: f"```\n{_html(text)}```",
            quote=_prefixed("> "),
        ),
        "plain": Dialect(
            text=str,
            link=lambda label, url: label if url in label else f"{label} ({url})",
            strong=("", ""),
            emphasis=("", ""),
            struck=("", ""),
            code=str,
            block=lambda text, _language: text.rstrip("\n"),
            quote=_prefixed("> "),
        ),
        "ansi": Dialect(
            text=_terminal,
            link=_linking(_terminal_link),
            strong=("\x1b[1m", "\x1b[22m"),
            emphasis=("\x1b[3m", "\x1b[23m"),
            struck=("\x1b[9m", "\x1b[29m"),
            code=lambda text: f"\x1b[36m{_terminal(text)}\x1b[39m",
            block=lambda text, _language: "\n".join(f"    {_terminal(line)}" for line in text.rstrip("\n").split("\n")),
            quote=_prefixed("│ "),
        ),
    }
)

_FOOTERS: Final[Mapping[ChannelName, Callable[[Sequence[str]], str]]] = {
    "html": _html_list,
    "telegram_markdown_v2": _listed("*Sources*"),
    "telegram_html": _listed("<b>Sources</b>"),
    "slack": _listed("*Sources*"),
    "plain": _listed("Sources"),
    "ansi": _listed("\x1b[1mSources\x1b[0m"),
}
"""How the channels with a dialect write the sources below an answer."""

_MARKDOWN: Final = Channel(
    name="markdown",
    text=lambda text: _MARKDOWN_SPECIAL.sub(r"\\\1", text),
    link=_linking(_bracketed_link),
    sources=_listed("**Sources**\n", "- "),
)

_FORMATTED: Final = {
    name: Channel(name=name, text=dialect.text, link=dialect.link, sources=_FOOTERS[name], dialect=dialect)
    for name, dialect in _DIALECTS.items()
}
CHANNELS: Final[Mapping[ChannelName, Channel]] = MappingProxyType({"markdown": _MARKDOWN, **_FORMATTED})
"""The channels by name."""


def one_line(text: str) -> str:
    """Collapse the whitespace of a text to single spaces."""
    return " ".join(text.split())
