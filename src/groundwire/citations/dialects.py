"""The markup of each channel: how text is escaped, how a link is written, and the rest."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal
from urllib.parse import quote, urlsplit

ChannelName = Literal["markdown", "html", "telegram_markdown_v2", "telegram_html", "plain"]
"""The supported channels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """How a channel writes an answer and its sources. Arguments are already in the channel's markup, but for `text`."""

    name: ChannelName
    """The name of the channel."""
    text: Callable[[str], str]
    """Escapes plain text."""
    link: Callable[[str, str], str]
    """Writes a link from its label and its URL, or only the label if no link may lead there."""
    strong: tuple[str, str] = ("", "")
    """Text before and after bold text."""
    emphasis: tuple[str, str] = ("", "")
    """The same for italic text."""
    struck: tuple[str, str] = ("", "")
    """The same for strikethrough text."""
    code: Callable[[str], str] = str
    """Writes inline code, from plain text."""
    block: Callable[[str, str], str] = lambda text, _language: text.rstrip("\n")
    """Writes a code block, from plain text and its language."""
    quote: Callable[[str], str] = lambda text: _prefixed("> ", text)
    """Writes a block quotation."""
    html: bool = False
    """Whether paragraphs, lists and tables are HTML elements; otherwise they are lines."""
    keeps_markdown: bool = False
    """Whether the answer's Markdown is shown as the model wrote it."""

    def sources(self, lines: Sequence[str]) -> str:
        """Return the footer of an answer, from one line per source."""
        if self.html:
            items = "".join(f"<li>{line}</li>" for line in lines)
            return f'\n<section class="sources"><strong>Sources</strong><ul>{items}</ul></section>'
        gap, sign = ("\n", "- ") if self.keeps_markdown else ("", "")
        heading = f"\n\n{self.strong[0]}Sources{self.strong[1]}{gap}"
        return "\n".join([heading, *(f"{sign}{line}" for line in lines)])


_MARKDOWN_SPECIAL: Final = re.compile(r"([\\`*_{}\[\]<>()#+\-.!|~&$^=:@])")
_TELEGRAM_SPECIAL: Final = re.compile(r"([_*\[\]()~`>#+\-=|{}.!\\])")  # core.telegram.org/bots/api#markdownv2-style
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


def _prefixed(sign: str, text: str) -> str:
    """Return text with a sign before each line."""
    return "\n".join(f"{sign}{line}" for line in text.split("\n"))


_CHANNELS: Final = (
    Channel(
        name="markdown",
        text=lambda text: _MARKDOWN_SPECIAL.sub(r"\\\1", text),
        link=_linking(_bracketed_link),
        strong=("**", "**"),
        keeps_markdown=True,
    ),
    Channel(
        name="html",
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
    Channel(
        name="telegram_html",
        text=_html,
        link=_linking(_telegram_html_link),
        strong=("<b>", "</b>"),
        emphasis=("<i>", "</i>"),
        struck=("<s>", "</s>"),
        code=_html_inline,
        block=lambda text, language: _html_code(text, language).replace("\n</code>", "</code>"),
        quote=lambda text: f"<blockquote>{_unquoted(text)}</blockquote>",
    ),
    Channel(
        name="telegram_markdown_v2",
        text=_telegram,
        link=_linking(_bracketed_link),
        strong=("*", "*"),
        emphasis=("_", "_"),
        struck=("~", "~"),
        code=lambda text: f"`{_telegram_code(text)}`",
        block=lambda text, language: f"```{_telegram_code(_word(language))}\n{_telegram_code(text)}```",
        quote=lambda text: "\n".join(f">{line.lstrip('>')}" for line in text.split("\n")),
    ),
    Channel(
        name="plain",
        text=str,
        link=lambda label, url: label if url in label else f"{label} ({url})",
    ),
)
CHANNELS: Final[Mapping[ChannelName, Channel]] = MappingProxyType({channel.name: channel for channel in _CHANNELS})
"""The channels by name."""


def one_line(text: str) -> str:
    """Collapse the whitespace of a text to single spaces."""
    return " ".join(text.split())
