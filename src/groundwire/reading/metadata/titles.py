"""The title of a page, without the name of its site."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Final
from urllib.parse import unquote, urljoin, urlsplit

from turbohtml import Document, Element, Text

from groundwire.reading.main_content.blocks import INLINE
from groundwire.reading.metadata.embedded_json import Thing, main_thing
from groundwire.reading.metadata.page_metadata import COMMON, SEPARATOR, first_text, is_front_page, string_of
from groundwire.reading.text.sanitize import bared

_MAX_HEADINGS: Final = 10
_MAX_PARTS: Final = 6  # strings of a heading beside its title
_MAX_TEXT: Final = 100_000  # characters of a page in which its title is searched
_TITLES: Final = ("citation_title", "og:title", "dc.title", "twitter:title")
_BAR: Final = re.compile(r"(?:(?<!\s)\s+)?[|\u2223\uff5c]\s*|(?<!\s)\s+[\u2022\u00b7\u00bb]\s+")
"""What separates a title from a slogan or a section; dashes are often part of a title."""
_NOT_WORD: Final = re.compile(r"[\W_]+")
_SITE_WORDS: Final = 5  # of a part of a title that has the site's name in it
_LONG_WORD: Final = 24  # bytes, which are eight Chinese characters: a title without spaces, and no name of a section
_MAX_URL: Final = 2_000  # characters
_LAST_SEGMENTS: Final = 3
_MIN_NAME: Final = 4  # letters of a name that is recognized in longer ones
_BESIDE_TAGS: Final = ("button", "time")
"""Elements in a heading that are no part of the title."""
_ANCHORS: Final = frozenset({"\u00b6", "#", "\u00a7", "\U0001f517"})
_LABEL: Final = re.compile(r"\w+:\s*(\S.*)")
"""A heading after a label, such as `Title:`."""
_FRONT_TITLES: Final = frozenset({"home", "homepage", "startseite", "accueil", "inicio", "start", "index", "welcome"})
"""What the title of a front page has beside the site's name, which is its title then."""


def read_title(
    document: Document, text: str, entitled: str, metas: dict[str, str], graph: list[Thing], site: str, url: str
) -> str:
    """Return a page's title without the site name, and only if it is visible too.

    On a site's front page, it is `<title>` if that begins with the site's name. Else it is the first-level heading that
    is a part of `<title>`, or shares most words with the page's other titles: `<title>`, meta tags, and JSON-LD are
    often written for search engines, with the site's name. A label before a colon is left out if the rest is one of
    those titles. Without such a heading, the title in the meta tags or in JSON-LD is used if it occurs in the page's
    `<title>`, its headings or its text, else `<title>`; but the page's only heading is used if it has more words of
    the URL than that title, of whose parts between bars one remains unless the page shows all. A heading with the
    site's name, or that of a book whose page this is, is no title. A page that shows none
    has the one of JSON-LD or the Open Graph.

    Args:
        document: The page, without invisible parts.
        text: Its texts, a line each.
        entitled: The text of its `<title>`.
        metas: The result of `read_metas`.
        graph: The result of `groundwire.reading.metadata.embedded_json.things`.
        site: The site's name.
        url: The page's URL.
    """
    thing, _ = main_thing(graph, url)
    entitled = first_text("title", entitled[:2_000]) or ""
    candidates = [string_of(thing.get("headline")), *(metas.get(name) for name in _TITLES)]
    texts = (first_text("title", candidate) for candidate in candidates)
    titles = [text for text in texts if text and bared(text) not in _FRONT_TITLES]
    names, parts = _SiteNames(site, url), SEPARATOR.split(entitled)
    bare_titles = {bared(title) for title in titles}
    is_section = names.are_in(parts[0]) or bared(parts[0]) in COMMON | _FRONT_TITLES
    shorter = [part for part in parts[1:-1] if _count(part) <= _count(parts[0])]  # a longer one follows a tag
    site_parts = set() if is_section else {bared(part) for part in (*shorter, *parts[1:][-1:])} - bare_titles
    own_titles = {bared(names.strip(title)) for title in titles}
    every, headings = _top_headings(document, own_titles, site_parts, names)
    page = _PageText(text, [entitled, *every])
    if names.begin(entitled):
        return names.strip(entitled)
    if own := _own_heading(headings, [entitled, *titles], parts):
        return _spelled(names.strip(own), [*titles, *parts])
    if title := next(filter(page.has, titles), "") or entitled:
        title = names.strip(title)
        only = headings[0] if len(headings) == 1 else ""
        url_words = _words_of_path(url)
        if len(url_words & _words(only)) > len(url_words & _words(title)):
            return only
        return title if page.shows(title) else _best_part(page.shorten(title), url_words)
    stated = first_text("title", candidates[0], metas.get("og:title")) or ""  # what every link to the page shows
    return next(iter(headings or every), "") or names.strip(stated)


def _top_headings(
    document: Document, titles: set[str], site_parts: set[str], names: _SiteNames
) -> tuple[list[str], list[str]]:
    """Return the first-level headings, all and those without the site's names; what else names it is added to these."""
    every, headings = [], []
    for h1 in document.find_all("h1")[:_MAX_HEADINGS]:
        if text := first_text("title", _without_label(list(_spaced(h1)), titles)[:2_000]):
            every.append(text)
            if bared(text) in site_parts or names.leads_home(h1):
                names.add(text)
            elif not names.has(text):
                headings.append(text)
    return every, headings


def _spelled(heading: str, titles: list[str]) -> str:
    """Return a heading as the page's titles spell it, without a label that they do not have."""
    if (label := _LABEL.match(heading)) and bared(label[1]) in {bared(title) for title in titles}:
        heading = label[1]
    same = [title for title in titles if bared(title) == bared(heading)]
    return max(heading, *same, key=_count) if same else heading  # lines of a heading may have no space between them


def title_element(document: Document) -> str:
    """Return the text of a page's `<title>`, before anything is removed."""
    element = next((title for title in document.find_all("title") if title.namespace.value == "html"), None)
    return element.text[:2_000] if element is not None else ""


def _spaced(heading: Element) -> Iterator[str]:
    """Yield a heading's text, with spaces between its lines, without dates, buttons, and marks that link to it."""
    beside = {node for element in heading.find_all(list(_BESIDE_TAGS))[:_MAX_HEADINGS] for node in element.descendants}
    for node in heading.descendants:
        if isinstance(node, Text) and node not in beside and node.data.strip() not in _ANCHORS:
            yield node.data
        elif isinstance(node, Element) and (node.tag == "br" or node.tag not in INLINE):
            yield " "


def _without_label(strings: list[str], titles: set[str]) -> str:
    """Return a heading without what its first or last elements add to one of the page's titles, if that is less."""
    heading = "".join(strings)
    if bared(heading) in titles:
        return heading
    for cut in range(1, min(len(strings), _MAX_PARTS)):
        for part in ("".join(strings[cut:]), "".join(strings[:-cut])):
            if bared(part) in titles and 2 * len(part) > len(heading):
                return part
    return heading


def _own_heading(headings: list[str], titles: list[str], parts: list[str]) -> str:
    """Return the heading that is a part of the title, or shares most words with the titles.

    These are half of its own, and a fifth of the shortest title.
    """
    bare_parts = {bared(part) for part in parts}
    if len(equal := [heading for heading in headings if bared(heading) in bare_parts]) == 1:
        return equal[0]
    word_sets = [words for title in titles if (words := _words(title))]
    title_words = set().union(*word_sets)
    best, most = "", min(map(len, word_sets), default=0) / 5
    for heading in headings:
        words = _words(heading)
        shared = sum(word in title_words for word in words)
        if shared >= most and 2 * shared >= len(words) > 0:
            best, most = heading, shared + 1
    return best


def _best_part(title: str, url_words: set[str]) -> str:
    """Return the part of a title between bars that has most words of the URL, else the first."""
    parts = [part for part in _BAR.split(title) if bared(part)]
    return max(parts, key=lambda part: len(url_words & _words(part)), default=title)


def _words_of_path(url: str) -> set[str]:
    """Return the words of the longest of the last segments of a URL's path, which often repeats the page's title."""
    try:
        segments = urlsplit(url[:_MAX_URL]).path.split("/")[-_LAST_SEGMENTS:]
    except ValueError:
        return set()
    return max((set(_NOT_WORD.split(unquote(segment).casefold())) - {""} for segment in segments), key=len)


class _SiteNames:
    """The names of a page's site: the one it gives itself, and those in its host name."""

    def __init__(self, site: str, url: str) -> None:
        try:
            parts = urlsplit(url if url[:8].casefold().startswith(("http://", "https://")) else "")
        except ValueError:
            parts = urlsplit("")
        self._url = parts.geturl()
        host = (parts.hostname or "").removeprefix("www.")
        labels = [bared(label) for label in host.split(".")[:-1]]
        self._names = {bared(site), bared(host), *labels} - {""}
        self._long_names = [name for name in self._names - COMMON if len(name) >= _MIN_NAME]
        segments = parts.path[:_MAX_URL].rstrip("/").split("/")[:-1]
        self._sections = {bared(unquote(segment)) for segment in segments} - {""}
        self._is_home = parts.path in {"", "/"}
        self._is_front = is_front_page(self._url)

    def add(self, text: str) -> None:
        self._names.add(bared(text))
        self._long_names.append(bared(text))

    def has(self, text: str) -> bool:
        return bared(text) in self._names

    def leads_home(self, heading: Element) -> bool:
        """Return whether a heading is a link to the site's front page, as its name is."""
        if not self._url or self._is_home:
            return False
        outer = heading.closest("a")
        links = ([] if outer is None else [outer]) + heading.find_all("a")[:3]
        front = urljoin(self._url, "/")
        return any(
            href == "/" or href.rstrip("/") == front.rstrip("/") for link in links if (href := link.attr("href"))
        )

    def strip(self, title: str) -> str:
        """Remove the site's name from both ends of a title."""
        for _ in range(3):
            marks = list(SEPARATOR.finditer(title))
            if marks and bared(title[marks[-1].end() :]) in _FRONT_TITLES | self._sections:
                title = title[: marks[-1].start()].strip() or title
            elif marks and self.are_in(title[marks[-1].end() :]):
                front = title[: marks[-1].start()].strip()
                title = (title[marks[-1].end() :] if bared(front) in _FRONT_TITLES else front) or title
            elif marks and self.has(title[: marks[0].start()]) and not self.begin(title):
                title = title[marks[0].end() :].strip() or title
            else:
                break
        return title

    def begin(self, title: str) -> bool:
        """Return whether a title is that of a front page: the site's name, and what it is."""
        return self._is_front and self.has(SEPARATOR.split(title)[0])

    def are_in(self, part: str) -> bool:
        """Return whether a part of a title is the site's name, or a few words with it."""
        bare = bared(part)
        if bare in self._names or not bare:
            return True
        few = len(part.split()) <= _SITE_WORDS and len(bare) > 2
        return few and any(
            name in bare or name.startswith(bare) or (len(bare) >= _MIN_NAME and name.endswith(bare))
            for name in self._long_names
        )


class _PageText:
    """Checks whether a text is visible on a page."""

    def __init__(self, text: str, titles: list[str]) -> None:
        self._text = text[:_MAX_TEXT]
        self._titles = [bared(title) for title in titles]

    def has(self, text: str) -> bool:
        bare = bared(text.removesuffix("\u2026"))
        if not bare or any(bare in title for title in self._titles):
            return bool(bare)
        return self.shows(text)

    def shorten(self, title: str) -> str:
        """Return a title without its last parts if only the first ones, of several words, are on the page."""
        ends = [mark.start() for mark in SEPARATOR.finditer(title)]
        if ends and not self.shows(title):
            for end in reversed(ends):
                is_long = len(title[:end].split()) > 1 or len(title[:end].encode()) > _LONG_WORD
                if is_long and self.shows(title[:end]):
                    return title[:end]
        return title

    def shows(self, text: str) -> bool:
        """Return whether a text is on the page, beside its titles."""
        return text in self._text or bared(text) in self._bare_text

    @cached_property
    def _bare_text(self) -> str:
        return bared(self._text)


def _words(text: str) -> set[str]:
    return {bare for word in text.split() if (bare := bared(word))}


def _count(text: str) -> int:
    return len(_NOT_WORD.sub(" ", text).split())
