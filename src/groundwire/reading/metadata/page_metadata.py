"""Metadata of a page: title, author, site, dates, language.

Authors and sites are declared invisibly in the head of a page, so names are checked for plausibility: a sentence is not
a name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import unescape
from typing import Final
from urllib.parse import urlsplit

from turbohtml import Document, Element

from groundwire.reading.metadata.dates import iso_date
from groundwire.reading.metadata.embedded_json import Thing, main_thing, name_of, things
from groundwire.reading.text.sanitize import strip_controls

__all__ = ["Metadata", "is_name", "is_site", "read_metadata", "read_metas", "read_title", "title_element"]

_BETWEEN_NAMES: Final = re.compile(r"[,;&/|\u2022\u00b7]")


def is_name(text: str) -> bool:
    """Return whether a text is plausible as a person's name, or a list of names."""
    return "://" not in text and all(_is_titled(part.split(), 3, 7) for part in _BETWEEN_NAMES.split(text))


def is_site(text: str) -> bool:
    """Return whether a text is plausible as a site name."""
    return "://" not in text and _is_titled(text.split(), 4, 14)


def _is_titled(words: Sequence[str], few: int, many: int) -> bool:
    """Return whether words are few, or not many and mostly capitalized, if their script has capitals."""
    return len(words) <= few or (len(words) <= many and 2 * sum(not word[0].islower() for word in words) >= len(words))


_MAX_METAS: Final = 500
_MAX_TIMES: Final = 200
_MAX_HEADINGS: Final = 10
_MAX_TEXT: Final = 100_000  # characters of a page in which its title is searched
_MOSTLY: Final = 0.8  # share of a title's words that a page must contain if it has no other title
_TITLES: Final = ("citation_title", "og:title", "dc.title", "twitter:title")
_LENGTHS: Final[Mapping[str, int]] = {"title": 300, "author": 200, "site": 100, "description": 500}  # characters
_LANGUAGE: Final = re.compile(
    r"([A-Za-z]{2,3})(?:[-_]([A-Za-z]{4}))?(?:[-_]([A-Za-z]{2}|\d{3}))?(?:[-_][A-Za-z0-9-]{1,20})?"
)
_SEPARATOR: Final = re.compile(
    r"(?<!\s)\s+(?:[|\u2022\u00b7\u2013\u2014\u00bb\u00ab\u2039\u203a]|-{1,2}|::|//?)\s+|(?:(?<!\s)\s+)?[|\u2223\uff5c]\s*"
)
_NOT_WORD: Final = re.compile(r"[\W_]+")
_ASCII: Final = bytes(range(0x80))
_NO_WORD: Final = bytes(code for code in _ASCII if not chr(code).isalnum())
_MAX_SIGNS: Final = 40  # characters that are replaced one by one
_BYLINE: Final = re.compile(r"^(?:(?:written|posted|published)\s+)?by[:\s]\s*", re.IGNORECASE)
_URL: Final = re.compile(r"https?://", re.IGNORECASE)
_PUBLISHED: Final = (
    "article:published_time", "og:article:published_time", "citation_publication_date", "citation_date",
    "citation_online_date", "dc.date.issued", "dcterms.issued", "dc.date.publication", "dcterms.created",
    "dc.date.created", "dc.created", "dc:created", "dc.date", "dc:date", "dcterms.date", "parsely-pub-date",
    "sailthru.date", "datepublished", "date_published", "published", "published_date", "published-date",
    "publisheddate", "published_time", "date", "pubdate", "publish-date", "publish_date", "publishdate", "publish_time",
    "publication_date", "originalpublicationdate", "article_date_original", "article.published", "article.created",
    "article:published", "article:published_date", "article:publicationdate", "article:post_date",
    "prism.publicationdate", "og:published_time", "og:pubdate", "og:publish_date", "og:datepublished",
    "og:article:published", "og:question:published_time", "rnews:datepublished", "release_date", "displaydate", "pdate",
    "dateposted", "datecreated", "date_created", "uploaddate", "created",
)  # fmt: skip
_MODIFIED: Final = (
    "article:modified_time", "og:updated_time", "og:article:modified_time", "datemodified", "dcterms.modified",
    "dc.date.modified", "dc.modified", "dc:modified", "last-modified", "article.updated", "article:modified",
    "modified_date", "revised", "revision_date", "updated_time", "lastmod",
)  # fmt: skip
_MARKED: Final = '[itemprop*="date"], [itemprop="author"], [rel="author"]'
_WORKS: Final = (
    'article, main, [itemtype$="Article"], [itemtype$="Posting"], [itemtype$="Question"], [itemtype$="Recipe"]'
)
_REPLIES: Final = '[itemtype$="Answer"], [itemtype$="Comment"], [itemtype$="Review"], [class*=comment i]'
_DATE_CLASS: Final = re.compile(
    r"(?:^|\s)(?:dt-published|entry-date|published|post-?date|article-?date|pubdate|publish-?date)(?=\s|$)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata:
    """The metadata of a page; empty or None if missing."""

    author: str | None = None
    """The authors, separated by commas."""
    site: str | None = None
    """The site's name."""
    published: str | None = None
    """When it was published, as ISO 8601, with the page's precision."""
    modified: str | None = None
    """When it was last modified, as ISO 8601."""
    language: str | None = None
    """The language as a BCP 47 tag."""
    description: str | None = None
    """A short description."""
    kind: str | None = None
    """Its type: of schema.org, such as `NewsArticle` or `Product`, else of the Open Graph."""


def read_metadata(
    document: Document, url: str, metas: dict[str, str] | None = None, found: list[Thing] | None = None
) -> Metadata:
    """Read metadata from JSON-LD, `<meta>`, microdata and `<time>`; the title is read later.

    Nothing is guessed: a date is returned only if the page marks it as its own. Does not modify the tree and never
    raises because of its content.

    Args:
        document: The page, before anything is removed.
        url: Its URL.
        metas: The result of `read_metas`, if available.
        found: The result of `groundwire.reading.metadata.embedded_json.things`, if available.
    """
    metas = read_metas(document) if metas is None else metas
    found = things(document) if found is None else found
    thing, kind = main_thing(found, url)
    marked = document.select(_MARKED)  # in a single search, which takes as long as everything else here
    sites = (
        metas.get("og:site_name"),
        name_of(thing.get("publisher"), found) if thing.get("publisher") else None,
        next((_string(item.get("name")) for item in found if item.get("@type") == "WebSite"), None),
        metas.get("citation_journal_title"),
        metas.get("application-name"),
    )
    site = _text("site", *(name for name in sites if name and is_site(name)))
    return Metadata(
        author=_author(marked, metas, thing, found),
        site=site,
        published=_published(document, marked, metas, thing),
        modified=_first_date(_string(thing.get("dateModified")), *(metas.get(name) for name in _MODIFIED))
        or _marked_date(marked, "dateModified"),
        language=_language(document, metas, thing),
        description=_text(
            "description", metas.get("description"), metas.get("og:description"), _string(thing.get("description"))
        ),
        kind=kind or _kind(metas.get("og:type")),
    )


def read_metas(document: Document) -> dict[str, str]:
    """Return the contents of the page's `<meta>` elements by name, joining several authors."""
    metas: dict[str, str] = {}
    for meta in document.find_all("meta")[:_MAX_METAS]:
        content = (meta.attr("content") or "")[:2_000].strip()
        name = (
            (meta.attr("property") or meta.attr("name") or meta.attr("itemprop") or meta.attr("http-equiv") or "")
            .strip()
            .lower()
        )
        if not content or not name:
            continue
        if name not in metas:
            metas[name] = content
        elif (
            name in {"citation_author", "dc.creator", "author"}
            and len(metas[name]) < 300
            and content not in metas[name]
        ):
            metas[name] = f"{_family_last(metas[name])}, {_family_last(content)}"
    return metas


def _family_last(name: str) -> str:
    """Convert a name of the form `Family, Given` to the usual order."""
    family, comma, given = name.partition(", ")
    return f"{given} {family}" if comma and "," not in given and " " not in family else name


def _string(value: object) -> str | None:
    if isinstance(value, list):
        value = value[0] if value else None
    if isinstance(value, dict):
        value = value.get("@value") or value.get("name")
    return value if isinstance(value, str) else None


def _text(name: str, *candidates: str | None) -> str | None:
    """Return the first non-empty candidate, on one line, without control characters, and not too long."""
    limit = _LENGTHS[name]
    for candidate in candidates:
        if candidate and (text := " ".join(strip_controls(candidate[: 4 * limit].replace("\xad", "")).split())):
            if "&" in text:
                text = " ".join(unescape(text).split())
            return text if len(text) <= limit else text[: limit - 1].rstrip() + "\u2026"
    return None


def read_title(
    document: Document, entitled: str, metas: dict[str, str], found: list[Thing], site: str, url: str
) -> str:
    """Return a page's title without the site name, and only if it is visible too.

    It is the first-level heading that shares most words with the page's other titles: `<title>`, meta tags, and
    JSON-LD are often written for search engines, with the site's name. Without such a heading, the title in the meta
    tags or in JSON-LD is used if it occurs in the page's `<title>`, its headings or its text, else `<title>`.

    Args:
        document: The page, without invisible parts.
        entitled: The text of its `<title>`.
        metas: The result of `read_metas`.
        found: The result of `groundwire.reading.metadata.embedded_json.things`.
        site: The site's name.
        url: The page's URL.
    """
    thing, _ = main_thing(found, url)
    entitled = _text("title", entitled[:2_000]) or ""
    headings = [text for h1 in document.find_all("h1")[:_MAX_HEADINGS] if (text := _text("title", h1.text[:2_000]))]
    seen = _Seen(document, [entitled, *headings])
    candidates = [_string(thing.get("headline")), *(metas.get(name) for name in _TITLES)]
    titles = [title for candidate in candidates if (title := _text("title", candidate))]
    title = next(filter(seen.has, titles), "") or entitled
    if own := _own_heading(headings, [entitled, *titles], site):
        return own
    if title:
        return _without_site(title, site, headings[0] if headings else "", url)
    return next(iter(headings), "") or next(filter(seen.has_words_of, titles), "")


def _own_heading(headings: list[str], titles: list[str], site: str) -> str:
    """Return the heading that shares most words with the titles: half of its own, a fifth of the shortest title."""
    said = [words for title in titles if (words := _words(title))]
    told = set().union(*said)
    best, most = "", min(map(len, said), default=0) / 5
    for heading in headings:
        words = _words(heading)
        shared = sum(word in told for word in words)
        if shared >= most and 2 * shared >= len(words) > 0 and _bare(heading) != _bare(site):
            best, most = heading, shared + 1
    return best


def _words(text: str) -> set[str]:
    return {bare for word in text.split() if (bare := _bare(word))}


class _Seen:
    """Checks whether a text is visible on a page."""

    def __init__(self, document: Document, titles: list[str]) -> None:
        self._document = document
        self._titles = [_bare(title) for title in titles]
        self._text: str | None = None

    def has(self, text: str) -> bool:
        bare = _bare(text.removesuffix("\u2026"))
        if not bare or any(bare in title for title in self._titles):
            return bool(bare)
        return text in self._shown or bare in _bare(self._shown)

    def has_words_of(self, text: str) -> bool:
        words, shown = _words(text), _words(self._shown)
        return bool(words) and sum(word in shown for word in words) >= _MOSTLY * len(words)

    @property
    def _shown(self) -> str:
        if self._text is None:
            root = self._document.root
            self._text = root.text[:_MAX_TEXT] if root is not None else ""
        return self._text


def title_element(document: Document) -> str:
    """Return the text of a page's `<title>`, before anything is removed."""
    element = next((title for title in document.find_all("title") if title.namespace.value == "html"), None)
    return element.text[:2_000] if element is not None else ""


def _without_site(title: str, site: str, heading: str, url: str) -> str:
    """Remove the site name from the start or end of a title, if it is certain."""
    marks = list(_SEPARATOR.finditer(title))
    if not marks:
        return title
    host = (urlsplit(url).hostname or "") if _URL.match(url) else ""
    labels = {_bare(label) for label in host.removeprefix("www.").split(".")[:-1]} | {_bare(host.removeprefix("www."))}
    names = {_bare(site), *labels} - {""}
    first, last = marks[0], marks[-1]
    if _bare(heading) and len(_bare(heading)) > 3:
        for mark in marks:
            if _bare(title[: mark.start()]) == _bare(heading):
                return title[: mark.start()].strip()
    if _bare(title[last.end() :]) in names:
        return title[: last.start()].strip() or title
    if _bare(title[: first.start()]) in names:
        return title[first.end() :].strip() or title
    return title


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


def _author(marked: list[Element], metas: dict[str, str], thing: Thing, found: list[Thing]) -> str | None:
    candidates: list[str | None] = [
        name_of(thing.get("author") or thing.get("creator"), found),
        metas.get("citation_author") and _family_last(metas["citation_author"]),
        metas.get("author"),
        metas.get("article:author"),
        metas.get("dc.creator"),
        metas.get("parsely-author"),
        metas.get("sailthru.author"),
        metas.get("twitter:data1") if metas.get("twitter:label1", "").lower() == "written by" else None,
    ]
    element = next(filter(_names_author, marked), None)
    if element is not None:
        named = element.find(attrs={"itemprop": "name"})
        candidates.append((named if named is not None else element).text[:300])
    for candidate in candidates:
        if candidate and not _URL.match(candidate.strip()):
            author = _text("author", _BYLINE.sub("", candidate.strip()))
            if (
                author
                and is_name(author)
                and author.lower() not in {"admin", "administrator", "none", "null", "undefined", "unknown"}
            ):
                return author
    return None


def _names_author(element: Element) -> bool:
    if element.attr("rel") == "author":
        return True
    around = element.parent
    return (
        element.attr("itemprop") == "author"
        and isinstance(around, Element)
        and around.closest(_WORKS) is not None
        and around.closest(_REPLIES) is None
    )


def _first_date(*candidates: str | None) -> str | None:
    return next((day for candidate in candidates if candidate and (day := iso_date(candidate))), None)


def _published(document: Document, marked: list[Element], metas: dict[str, str], thing: Thing) -> str | None:
    day = _first_date(
        _string(thing.get("datePublished")),
        *(metas.get(name) for name in _PUBLISHED),
        *(_string(thing.get(name)) for name in ("dateCreated", "uploadDate")),
    )
    stated = (_marked_date(marked, name) for name in ("datePublished", "dateCreated", "uploadDate"))
    return day or next(filter(None, stated), None) or _time(document)


def _marked_date(marked: list[Element], name: str) -> str | None:
    for element in marked[:_MAX_TIMES]:
        if name in (element.attr("itemprop") or "").split() and element.closest(_REPLIES) is None:
            return _first_date(element.attr("datetime"), element.attr("content"), element.text[:64])
    return None


def _time(document: Document) -> str | None:
    """Return the date of the `<time>` that is marked as the article's, or the only one in it."""
    own: list[Element] = []
    for time in document.find_all("time")[:_MAX_TIMES]:
        if time.attr("pubdate") is not None or _DATE_CLASS.search(time.attr("class") or ""):
            if day := _first_date(time.attr("datetime"), time.text[:64]):
                return day
        elif time.closest("article, main") is not None:
            own.append(time)
    if own:
        days = {_first_date(time.attr("datetime"), time.text[:64]) for time in own}
        if len(days) == 1:
            return days.pop()
    return None


def _language(document: Document, metas: dict[str, str], thing: Thing) -> str | None:
    root = document.root
    declared = (root.attr("lang") or root.attr("xml:lang")) if root is not None else None
    for value in (declared, metas.get("content-language"), _string(thing.get("inLanguage")), metas.get("og:locale"),
                  metas.get("dc.language"), metas.get("citation_language")):  # fmt: skip
        match = _LANGUAGE.fullmatch(value.partition(",")[0].strip()) if value else None
        if match and match[1].lower() not in {"und", "mul", "zxx"}:
            parts = (match[1].lower(), (match[2] or "").title(), (match[3] or "").upper())
            return "-".join(part for part in parts if part)
    return None


def _kind(value: str | None) -> str | None:
    value = (value or "").strip().lower()
    return value if re.fullmatch(r"[a-z][a-z0-9_.:-]{1,40}", value) else None
