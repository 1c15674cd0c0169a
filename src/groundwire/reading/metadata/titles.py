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

__all__ = ["read_title", "title_element"]

_MAX_HEADINGS: Final = 10
_MAX_PARTS: Final = 6  # strings of a heading beside its title
_MAX_TEXT: Final = 100_000  # characters of a page in which its title is searched
_MOSTLY: Final = 0.8  # share of a title's words that a page must contain if it has no other title
_TITLES: Final = ("citation_title", "og:title", "dc.title", "twitter:title")
_BAR: Final = re.compile(r"\s*[|\u2223\uff5c]\s*|\s+[\u2022\u00b7\u00bb]\s+")
"""What separates a title from a slogan or a section; dashes are often part of a title."""
_NOT_WORD: Final = re.compile(r"[\W_]+")
_ASCII: Final = bytes(range(0x80))
_NO_WORD: Final = bytes(code for code in _ASCII if not chr(code).isalnum())
_MAX_SIGNS: Final = 40  # characters that are replaced one by one
_SITE_WORDS: Final = 5  # of a part of a title that has the site's name in it
_MAX_URL: Final = 2_000  # characters
_LAST_SEGMENTS: Final = 3
_TELLING: Final = 4  # letters of a name that is recognized in longer ones
_BESIDE: Final = ("button", "time")
"""Elements in a heading that are no part of the title."""
_ANCHORS: Final = frozenset({"\u00b6", "#", "\u00a7", "\U0001f517"})
_LABEL: Final = re.compile(r"\w+:\s*(\S.*)")
"""A heading after a label, such as `Title:`."""
_FRONT: Final = frozenset({"home", "homepage", "startseite", "accueil", "inicio", "start", "index", "welcome"})
"""What the title of a front page has beside the site's name, which is its title then."""


def read_title(
    document: Document, entitled: str, metas: dict[str, str], found: list[Thing], site: str, url: str
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
        entitled: The text of its `<title>`.
        metas: The result of `read_metas`.
        found: The result of `groundwire.reading.metadata.embedded_json.things`.
        site: The site's name.
        url: The page's URL.
    """
    thing, _ = main_thing(found, url)
    entitled = first_text("title", entitled[:2_000]) or ""
    candidates = [string_of(thing.get("headline")), *(metas.get(name) for name in _TITLES)]
    titles = [title for one in candidates if (title := first_text("title", one)) and _bare(title) not in _FRONT]
    names, parts = _SiteNames(site, url), SEPARATOR.split(entitled)
    told = {_bare(title) for title in titles}
    is_section = names.are_in(parts[0]) or _bare(parts[0]) in COMMON | _FRONT
    shorter = [part for part in parts[1:-1] if _count(part) <= _count(parts[0])]  # a longer one follows a tag
    around = set() if is_section else {_bare(part) for part in (*shorter, *parts[1:][-1:])} - told
    own_titles = {_bare(names.strip(title)) for title in titles}
    every, headings = _top_headings(document, own_titles, around, names)
    seen = _Seen(document, [entitled, *every])
    if names.begin(entitled):
        return names.strip(entitled)
    if own := _own_heading(headings, [entitled, *titles], parts):
        return _spelled(names.strip(own), [*titles, *parts])
    if title := next(filter(seen.has, titles), "") or entitled:
        title = names.strip(title)
        only = headings[0] if len(headings) == 1 else ""
        addressed = _words_of_path(url)
        if len(addressed & _words(only)) > len(addressed & _words(title)):
            return only
        return title if seen.shows(title) else _told(seen.shorten(title), addressed)
    stated = first_text("title", candidates[0], metas.get("og:title")) or ""  # what every link to the page shows
    return next(iter(headings or every), "") or next(filter(seen.has_words_of, titles), "") or names.strip(stated)


def _top_headings(
    document: Document, titles: set[str], around: set[str], names: _SiteNames
) -> tuple[list[str], list[str]]:
    """Return the first-level headings, all and those without the site's names; what else names it is added to these."""
    every, headings = [], []
    for h1 in document.find_all("h1")[:_MAX_HEADINGS]:
        if text := first_text("title", _without_label(list(_spaced(h1)), titles)[:2_000]):
            every.append(text)
            if _bare(text) in around or names.leads_home(h1):
                names.add(text)
            elif not names.has(text):
                headings.append(text)
    return every, headings


def _spelled(heading: str, titles: list[str]) -> str:
    """Return a heading as the page's titles spell it, without a label that they do not have."""
    if (label := _LABEL.match(heading)) and _bare(label[1]) in {_bare(title) for title in titles}:
        heading = label[1]
    same = [title for title in titles if _bare(title) == _bare(heading)]
    return max(heading, *same, key=_count) if same else heading  # lines of a heading may have no space between them


def title_element(document: Document) -> str:
    """Return the text of a page's `<title>`, before anything is removed."""
    element = next((title for title in document.find_all("title") if title.namespace.value == "html"), None)
    return element.text[:2_000] if element is not None else ""


def _spaced(heading: Element) -> Iterator[str]:
    """Yield a heading's text, with spaces between its lines, without dates, buttons, and marks that link to it."""
    beside = {node for element in heading.find_all(list(_BESIDE))[:_MAX_HEADINGS] for node in element.descendants}
    for node in heading.descendants:
        if isinstance(node, Text) and node not in beside and node.data.strip() not in _ANCHORS:
            yield node.data
        elif isinstance(node, Element) and (node.tag == "br" or node.tag not in INLINE):
            yield " "


def _without_label(strings: list[str], titles: set[str]) -> str:
    """Return a heading without what its first or last elements add to one of the page's titles, if that is less."""
    whole = "".join(strings)
    if _bare(whole) in titles:
        return whole
    for cut in range(1, min(len(strings), _MAX_PARTS)):
        for rest in ("".join(strings[cut:]), "".join(strings[:-cut])):
            if _bare(rest) in titles and 2 * len(rest) > len(whole):
                return rest
    return whole


def _own_heading(headings: list[str], titles: list[str], parts: list[str]) -> str:
    """Return the heading that is a part of the title, or shares most words with the titles.

    These are half of its own, and a fifth of the shortest title.
    """
    told = {_bare(part) for part in parts}
    if len(equal := [heading for heading in headings if _bare(heading) in told]) == 1:
        return equal[0]
    said = [words for title in titles if (words := _words(title))]
    words_told = set().union(*said)
    best, most = "", min(map(len, said), default=0) / 5
    for heading in headings:
        words = _words(heading)
        shared = sum(word in words_told for word in words)
        if shared >= most and 2 * shared >= len(words) > 0:
            best, most = heading, shared + 1
    return best


def _told(title: str, addressed: set[str]) -> str:
    """Return the part of a title between bars that has most words of the URL, else the first."""
    parts = [part for part in _BAR.split(title) if _bare(part)]
    return max(parts, key=lambda part: len(addressed & _words(part)), default=title)


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
        labels = [_bare(label) for label in host.split(".")[:-1]]
        self._names = {_bare(site), _bare(host), *labels} - {""}
        self._telling = [name for name in self._names - COMMON if len(name) >= _TELLING]
        self._sections = {_bare(unquote(segment)) for segment in parts.path[:_MAX_URL].rstrip("/").split("/")[:-1]} - {
            ""
        }
        self._is_home = parts.path in {"", "/"}
        self._is_front = is_front_page(self._url)

    def add(self, text: str) -> None:
        self._names.add(_bare(text))
        self._telling.append(_bare(text))

    def has(self, text: str) -> bool:
        return _bare(text) in self._names

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
            if marks and _bare(title[marks[-1].end() :]) in _FRONT | self._sections:
                title = title[: marks[-1].start()].strip() or title
            elif marks and self.are_in(title[marks[-1].end() :]):
                rest = title[: marks[-1].start()].strip()
                title = (title[marks[-1].end() :] if _bare(rest) in _FRONT else rest) or title
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
        bare = _bare(part)
        if bare in self._names or not bare:
            return True
        few = len(part.split()) <= _SITE_WORDS and len(bare) > 2
        return few and any(
            name in bare or name.startswith(bare) or (len(bare) >= _TELLING and name.endswith(bare))
            for name in self._telling
        )


class _Seen:
    """Checks whether a text is visible on a page."""

    def __init__(self, document: Document, titles: list[str]) -> None:
        self._document = document
        self._titles = [_bare(title) for title in titles]

    def has(self, text: str) -> bool:
        bare = _bare(text.removesuffix("\u2026"))
        if not bare or any(bare in title for title in self._titles):
            return bool(bare)
        return self.shows(text)

    def has_words_of(self, text: str) -> bool:
        words, shown = _words(text), _words(self._shown)
        return bool(words) and sum(word in shown for word in words) >= _MOSTLY * len(words)

    def shorten(self, title: str) -> str:
        """Return a title without its last parts if only the first ones, of several words, are on the page."""
        ends = [mark.start() for mark in SEPARATOR.finditer(title)]
        if ends and not self.shows(title):
            for end in reversed(ends):
                if len(title[:end].split()) > 1 and self.shows(title[:end]):
                    return title[:end]
        return title

    def shows(self, text: str) -> bool:
        """Return whether a text is on the page, beside its titles."""
        return text in self._shown or _bare(text) in self._bare_shown

    @cached_property
    def _shown(self) -> str:
        root = self._document.root
        return root.text[:_MAX_TEXT] if root is not None else ""

    @cached_property
    def _bare_shown(self) -> str:
        return _bare(self._shown)


def _words(text: str) -> set[str]:
    return {bare for word in text.split() if (bare := _bare(word))}


def _count(text: str) -> int:
    return len(_NOT_WORD.split(text))


def _bare(text: str) -> str:
    """Return a text in lower case with only letters and digits; also applied to whole pages."""
    if not text.isascii():
        signs = set(text.encode("utf-8", "surrogatepass").translate(None, _ASCII).decode("utf-8", "surrogatepass"))
        odd = [sign for sign in signs if not sign.isalnum()]
        if len(odd) > _MAX_SIGNS:
            return _NOT_WORD.sub("", text).casefold()
        for sign in odd:
            text = text.replace(sign, "")
    bare = text.encode("utf-8", "surrogatepass").translate(None, _NO_WORD).decode("utf-8", "surrogatepass")
    return bare.casefold()
