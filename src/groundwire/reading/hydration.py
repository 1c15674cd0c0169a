"""Extraction of an app shell's text from the data embedded for its scripts, so that no browser is needed.

Much of such data is never shown: settings, numbers, translations, teasers of other pages. Extracted is what resembles
page text: titles, prose, HTML and the trees of common editors. If in doubt, a value is skipped, and with too little
text the page counts as unread.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from groundwire.reading.block_pages.empty_shell import word_count
from groundwire.reading.extract import fragment_to_markdown
from groundwire.reading.extracted import Extracted
from groundwire.reading.html.limits import fit, trim
from groundwire.reading.metadata.embedded_json import islands, json_within
from groundwire.reading.text.sanitize import clean, clean_text, hygiene_warnings, removal_warning, strip_controls

_MIN_WORDS: Final = 40  # of the whole text; fewer are a teaser
_MAX_CHARACTERS: Final = 2_000_000
_MAX_VALUES: Final = 200_000
_MAX_DEPTH: Final = 60
_SENTENCE: Final = 12  # words from which a string under any name may be prose
_NAMED: Final = 4  # the same under a name typical of prose

_TITLES: Final = ("headline", "title", "heading", "question", "name", "displaytitle", "subject")
_BODIES: Final = re.compile(
    r"(?:.*_)?(?:body|content|contents|html|text|markdown|md|description|desc|summary|abstract|excerpt|intro|introduction"
    r"|lead|lede|standfirst|deck|dek|subtitle|subheadline|paragraphs?|article_?body|review_?body|copy|story|bio|biography"
    r"|answer|comment|review|quote|caption|instructions?|steps?|ingredients?|recipe_?\w+|details|overview|synopsis"
    r"|transcript|notes?|about|rendered|readme|message)"
)
_SKIPPED: Final = re.compile(
    r"_?i18n\w*|_?intl\w*|locales?|translations?|dictionar(?:y|ies)|strings|labels?|languages?"
    r"|(?:\w+_)?config(?:uration)?|settings|env(?:ironment)?|(?:public_)?runtime\w*|(?:feature_?)?flags?|experiments?|ab_?tests?|theme\w*|styles?|css"
    r"|class(?:_?names?)?"
    r"|seo\w*|meta|meta_?(?:data|tags?|title|description|keywords)|open_?graph|og|og_\w+|twitter\w*|footer\w*|nav"
    r"|navbar|navigation\w*|menus?"
    r"|(?:site_?)?menu\w*|breadcrumbs?|cookie\w*|consent\w*|gdpr\w*|privacy\w*|legal\w*|terms\w*|disclaimers?|banners?|ads?|ad_\w+"
    r"|advert\w*|sponsor\w*|promos?|promotions?|tracking\w*|analytics\w*|gtm\w*|data_?layer|related\w*|recommend\w*|similar\w*"
    r"|more_\w+|popular\w*|trending\w*|latest\w*|most_\w+|sidebar\w*|newsletter\w*|subscri\w+|paywall\w*|auth|session\w*|user|viewer"
    r"|current_user|csrf\w*|token\w*|secret\w*|password\w*|api_?keys?|permissions?|roles|errors?|warnings?"
    r"|query|mutation|variables|schema|build\w*"
    r"|assets?|scripts?|src_?set|alt|url\w*|href|slug|_?id|uu?id|guid|icons?|svg|hash|fonts?|placeholder|aria\w*"
    r"|tooltips?|validation\w*"
    r"|copyright\w*|credits?|license|a11y\w*|accessibility\w*|__typename|_?type|kind|publisher|logo|same_as|breadcrumb|is_part_of"
    r"|site|site_settings|custom_html|suggested\w*"
    r"|potential_action|image_?alt|source_?code|template|routes?|router|preview|debug\w*|search_?placeholder|button\w*|cta\w*|share\w*"
)
"""Names of values that are never shown, or shown on every page of a site."""

_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_MARKUP: Final = re.compile(
    r"<(?:p|div|h[1-6]|ul|ol|li|br|table|blockquote|section|article|pre|figure|strong|em|a|span)\b[^<>]*>",
    re.IGNORECASE,
)
_CODE: Final = re.compile(
    r"\bfunction\s*\(|=>\s*[{(]|\bvar \w+ ?=|\bconst \w+ ?=|[{;]\s*[\w-]+\s*:\s*[^;{}]+;\s*[\w-]+\s*:"
    r"|^\s*(?:query|mutation|fragment|subscription)\s+\w+|^\s*[@.#][\w-]+\s*\{|\bimport .+ from ['\"]|</?[a-z]+:[a-z]"
)
_STOP: Final = re.compile(r"[.!?…。！？](?:[\s\"'”’)\]]|$)|[。！？]")
_LETTERS: Final = re.compile(r"[^\W\d_]")
_TEMPLATE: Final = re.compile(r"\{\{?\s*[\w.]+\s*\}?\}|%[sd]\b|\$t\(")
_PARAGRAPHS: Final = re.compile(r"\n[ \t]*\n")
_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d(?!\d)", re.ASCII)
_MARKDOWN: Final = re.compile(r"(#{1,6})[ \t]+(\S.*)")
_BLOCKS: Final[Mapping[str, str]] = {
    "paragraph": "p", "p": "p", "unstyled": "p", "text-block": "p", "blockquote": "blockquote", "quote": "blockquote",
    "list-item": "li", "list_item": "li", "listitem": "li", "li": "li", "unordered-list-item": "li",
    "ordered-list-item": "li", "code": "pre", "code_block": "pre", "code-block": "pre", "codeblock": "pre",
    "pre": "pre", "heading": "h2",
    "header": "h2", "heading-1": "h2", "heading-2": "h2", "heading-3": "h3", "heading-4": "h4",
    "header-one": "h2", "header-two": "h2", "header-three": "h3", "h1": "h2", "h2": "h2", "h3": "h3", "h4": "h4",
    "block": "p",
}  # fmt: skip
"""Block names of common editors (ProseMirror, Contentful, Slate, Portable Text, Draft.js, Editor.js)."""
_UNRELATED: Final = re.compile(
    r"(?:Web[Ss]ite|Organization|NewsMediaOrganization|BreadcrumbList|SiteNavigationElement|Person)"
)


@dataclass(slots=True)
class _Collector:
    """Collects the text of one data island."""

    rows: list[tuple[str, str]] = field(default_factory=list)
    """An element's name and content: text, or HTML for `div`."""
    budget: int = _MAX_VALUES
    room: int = _MAX_CHARACTERS

    def walk(self, value: object, name: str, depth: int, level: int) -> None:
        """Collect the text of a value.

        Args:
            value: Any JSON.
            name: Its key, in lower case with underscores.
            depth: Its depth.
            level: The level of the next heading.
        """
        self.budget -= 1
        if self.budget < 0 or self.room < 0 or depth > _MAX_DEPTH:
            return
        if isinstance(value, str):
            if (packed := json_within(value)) is not None:
                self.walk(packed, name, depth + 1, level)
            else:
                self._text(value, name)
        elif isinstance(value, list):
            for item in value:
                self.walk(item, name, depth + 1, level)
        elif isinstance(value, dict) and not self._block(value, level):
            self._thing(value, depth, level)

    def _thing(self, value: dict[str, object], depth: int, level: int) -> None:
        """Collect the text of an object, preceded by its title if it has any."""
        kind = value.get("@type")
        if isinstance(kind, str) and _UNRELATED.fullmatch(kind):
            return
        names = {key: _CAMEL.sub("_", key).replace("-", "_").lower() for key in value}
        entitled = next((key for title in _TITLES for key in value if names[key].replace("_", "") == title), None)
        title = value.get(entitled) if entitled else None
        if isinstance(title, dict):
            title = title.get("rendered")  # the WordPress format
        at = len(self.rows)
        deeper = level + 1 if isinstance(title, str) and title.strip() else level
        for key, item in value.items():
            if key == entitled and isinstance(title, str):
                continue
            if _SKIPPED.fullmatch(names[key]) or (names[key] == "messages" and isinstance(item, dict)):
                continue
            self.walk(item, names[key], depth + 1, deeper)
        if len(self.rows) > at and (by := _byline(value)):
            self.rows.insert(at, ("p", by))
        if len(self.rows) > at and isinstance(title, str) and 0 < len(title.strip()) <= 300:
            self.rows.insert(at, (f"h{min(level, 6)}", " ".join(_stripped(title).split())))

    def _block(self, value: dict[str, object], level: int) -> bool:
        """Collect a block of an editor's tree; return whether it is one."""
        kind = next((str(value[key]).lower() for key in ("nodeType", "type", "_type", "tag") if key in value), "")
        element = _BLOCKS.get(kind)
        if element is None:
            return False
        data = value.get("data")
        content = data.get("text") if isinstance(data, dict) else None
        text = content if isinstance(content, str) else "".join(_leaves(value, 0))
        if not text.strip():
            return isinstance(value.get("content") or value.get("children"), list)
        style = str(value.get("style", "")).lower()
        if kind == "block" and style in _BLOCKS:
            element = _BLOCKS[style]
        if element.startswith("h"):
            element = f"h{max(level, min(6, int(element[1])))}"
        self._add(element, _stripped(text) if element != "pre" else text)
        return True

    def _text(self, text: str, name: str) -> None:
        """Collect a string if it resembles page text."""
        text = text.strip()
        if word_count(text) < _NAMED:
            return
        if _MARKUP.search(text):
            if word_count(_stripped(text)) >= (_NAMED if _BODIES.fullmatch(name) else _SENTENCE):
                self._add("div", text)
            return
        start = text[:2_000]
        if len(_LETTERS.findall(start)) < 0.6 * len("".join(start.split())):
            return
        if _CODE.search(start) or _TEMPLATE.search(start[:500]):
            return
        words = word_count(text)
        if _BODIES.fullmatch(name) is None:
            if words < _SENTENCE or not _STOP.search(text):
                return
        elif words < _NAMED:
            return
        for paragraph in _PARAGRAPHS.split(text):
            heading = _MARKDOWN.fullmatch(paragraph.strip())
            self._add(f"h{min(6, max(2, len(heading[1])))}" if heading else "p", heading[2] if heading else paragraph)

    def _add(self, element: str, text: str) -> None:
        self.room -= len(text)
        if text.strip() and self.room >= 0:
            self.rows.append((element, text.strip()))


def hydrate(markup: str, url: str, shell: Extracted, *, stated: bool = False) -> Extracted | None:
    """Return the text in an app shell's data, or None if it is not enough to represent the page.

    Args:
        markup: The page's HTML.
        url: Its URL, for relative links.
        shell: The result for the shell itself; its title, dates and other metadata are kept.
        stated: Whether only JSON-LD counts, which is about the page; other data may be of others that it links to.
    """
    from groundwire.reading.html.semantics import parse_page

    best: list[tuple[str, str]] = []
    source, most = "", _MIN_WORDS - 1
    document = parse_page(fit(strip_controls(markup))[0])
    trim(document)
    for island in islands(document):
        if stated and island.name != "JSON-LD":
            continue
        texts = pieces(island.value)
        words = sum(word_count(_stripped(text)) for _, text in texts)
        if words > most:
            best, source, most = texts, island.name, words
    if not best:
        return None
    base = document.base_url(url)
    removed = Counter[str]()
    markdown = fragment_to_markdown(_as_html(best), base, removed)
    content, counts = clean_text(unicodedata.normalize("NFC", markdown))
    content = clean(content)
    if word_count(content) < _MIN_WORDS:
        return None
    note = f"read from the data that the page embeds for its scripts ({clean(source)[:60]}), without running them"
    title = shell.title or next((text for element, text in best if element == "h1"), "")
    warnings = (f"{note}; parts may be missing", *removal_warning(removed["hidden"]), *hygiene_warnings(counts))
    return replace(shell, title=title, content=content, warnings=warnings, later=())


def pieces(value: object) -> list[tuple[str, str]]:
    """Return the headings and texts in data, in order, as element names and contents.

    A text that is the beginning of another, such as an excerpt, and duplicates are omitted.
    """
    collector = _Collector()
    collector.walk(value, "", 0, 1)
    return list(_without_duplicates(collector.rows))


def _without_duplicates(rows: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    plain = [" ".join(_stripped(text).split()).rstrip("….") for _, text in rows]
    longest: dict[str, str] = {}
    for text in plain:
        start = text[:40]
        if len(text) > len(longest.get(start, "")):
            longest[start] = text
    texts: set[str] = set()
    for (element, text), words in zip(rows, plain, strict=True):
        above = longest[words[:40]]
        if words in texts or (len(words) < len(above) and above.startswith(words) and not element.startswith("h")):
            continue
        texts.add(words)
        yield element, text


def _byline(value: dict[str, object]) -> str:
    """Return who wrote a post, and when; empty if its data do not say both."""
    writer, day = value.get("username"), value.get("created_at")
    if not isinstance(writer, str) or not isinstance(day, str) or _DAY.match(day) is None:
        return ""
    return f"{' '.join(writer.split())[:60]}, {day[:10]}"


def _leaves(value: object, depth: int) -> Iterator[str]:
    """Yield the texts of the leaves of an editor's tree."""
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, list):
        for item in value:
            yield from _leaves(item, depth + 1)
    elif isinstance(value, dict):
        for key in ("text", "value"):
            if isinstance(value.get(key), str):
                yield str(value[key])
                break
        for key in ("content", "children", "leaves", "nodes"):
            yield from _leaves(value.get(key), depth + 1)


def _as_html(rows: list[tuple[str, str]]) -> str:
    parts = (f"<{element}>{text if element == 'div' else html.escape(text)}</{element}>" for element, text in rows)
    return f"<!doctype html><body><article>{''.join(parts)}</article></body>"


def _stripped(text: str) -> str:
    """Return a text without markup."""
    return html.unescape(re.sub(r"<[^<>]{0,2000}>", " ", text)) if "<" in text or "&" in text else text
