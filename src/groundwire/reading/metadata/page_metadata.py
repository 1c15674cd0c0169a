"""Metadata of a page: author, site, dates, language.

Authors and sites are declared invisibly in the head of a page, so names are checked for plausibility: a sentence is not
a name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import unescape
from itertools import islice
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from turbohtml import Document, Element

from groundwire.json_text import json_object
from groundwire.reading.metadata.dates import OTHER_LABELS, date_in_address, iso_date, label_before
from groundwire.reading.metadata.embedded_json import Thing, main_thing, name_of
from groundwire.reading.text.sanitize import bared, strip_controls
from groundwire.safety.url_redaction import is_tracking

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


SEPARATOR: Final = re.compile(
    r"(?<!\s)\s+(?:[|\u2022\u00b7\u2013\u2014\u00bb\u00ab\u2039\u203a]|-{1,2}|::|//?)\s+|(?:(?<!\s)\s+)?[|\u2223\uff5c]\s*"
    r"|(?<=[\u3000-\u9fff\uff01-\uff60])(?:_+|--?)(?=\S)"
)
"""What separates a title from the name of its site; after Chinese and Japanese also a hyphen without spaces."""


def is_front_page(url: str) -> bool:
    """Return whether a URL is that of a site's front page, perhaps with parameters for tracking."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    is_plain = all(is_tracking(name) for name, _ in parse_qsl(parts.query[:2_000], keep_blank_values=True))
    return bool(parts.hostname) and parts.path in {"", "/"} and is_plain and parts.fragment[:1] not in {"!", "/"}


_MAX_METAS: Final = 500
_MAX_LINKS: Final = 40
_MAX_TIMES: Final = 200
_MAX_LENGTHS: Final[Mapping[str, int]] = {"title": 300, "author": 200, "site": 100}  # characters
_LANGUAGE: Final = re.compile(
    r"([A-Za-z]{2,3})(?:[-_]([A-Za-z]{4}))?(?:[-_]([A-Za-z]{2}|\d{3}))?(?:[-_][A-Za-z0-9-]{1,20})?"
)
_BYLINE: Final = re.compile(r"^(?:(?:written|posted|published)\s+)?by[:\s]\s*", re.IGNORECASE)
COMMON: Final = frozenset(
    {
        "blog", "blogs", "community", "docs", "documentation", "forum", "forums", "help", "home", "homepage", "news",
        "shop", "start", "store",
    }
)  # fmt: skip
"""Labels of host names, and texts of links to front pages, that are no names."""
_COLON: Final = re.compile(r"(?:(?<!\s)\s+)?(?::\s+|：)")
_PUBLISHED_NAMES: Final = (
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
_MODIFIED_NAMES: Final = (
    "article:modified_time", "og:updated_time", "og:article:modified_time", "datemodified", "dcterms.modified",
    "dc.date.modified", "dc.modified", "dc:modified", "last-modified", "article.updated", "article:modified",
    "modified_date", "revised", "revision_date", "updated_time", "lastmod",
)  # fmt: skip
_DATE_NAME: Final = re.compile(r"(?:^|[.:_-])(?:pub(?:lish(?:ed)?|lication)?[._-]?(?:date|time|on)|date)$")
"""Ends of other names of a day of publication."""
_WORK_SELECTOR: Final = (
    'article, main, [itemtype$="Article"], [itemtype$="Posting"], [itemtype$="Question"], [itemtype$="Recipe"],'
    ' [itemtype$="VideoObject"]'
)
_REPLY_SELECTOR: Final = '[itemtype$="Answer"], [itemtype$="Comment"], [itemtype$="Review"], [class*=comment i]'
_BESIDE_SELECTOR: Final = f"nav, footer, {_REPLY_SELECTOR}"
"""What has dates of other pages or of replies, unless it contains the heading."""
_MAX_LABELLED: Final = 200  # characters of an element that may label a date in it
UNDATED: Final = frozenset({"Event", "Product", "ProductGroup", "product"})
"""Kinds of pages that display days of the event, of reviews, and of offers, but not of publication."""
_DATE_CLASS: Final = re.compile(
    r"(?:^|\s)(?:dt-published|entry-date|published|post-?date|article-?date|pubdate|publish-?date)(?=\s|$)"
)


NO_AUTHORS: Final = frozenset(
    {
        "admin", "administrator", "none", "null", "undefined", "unknown", "bluesky", "email", "e-mail", "facebook",
        "github", "instagram", "linkedin", "mastodon", "pinterest", "reddit", "rss", "telegram", "threads", "tiktok",
        "twitter", "website", "whatsapp", "wikipedia", "x", "x.com", "xing", "youtube", "home",
    }
)  # fmt: skip
"""Services to which links marked as the author's lead, and placeholders."""


_LABEL: Final = re.compile(
    r"(?:see|view|read|more|full|about|contact|follow|visit|all (?:posts|articles|stories)|meet|posts by)\b"
    r"|プロフィール|ユーザー|名片|.*\b(?:bio|profile|biography|posts|articles|about the author)\Z",
    re.IGNORECASE,
)
"""What such a link is called instead of by a name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata:
    """The metadata of a page; empty or None if missing."""

    author: str | None = None
    """The authors, separated by commas."""
    site: str | None = None
    """The site's name."""
    published: str | None = None
    """When it was published, as ISO 8601, with the page's precision."""
    disputed: str | None = None
    """Another day of publication that `<meta>` states than JSON-LD, as ISO 8601."""
    modified: str | None = None
    """When it was last modified, as ISO 8601."""
    language: str | None = None
    """The language as a BCP 47 tag."""
    kind: str | None = None
    """Its type: of schema.org, such as `NewsArticle` or `Product`, else of the Open Graph."""


def read_metadata(
    document: Document, marked: list[Element], url: str, metas: dict[str, str], graph: list[Thing]
) -> Metadata:
    """Read metadata from JSON-LD, `<meta>`, microdata and `<time>`; the title is not; see `read_title`.

    Nothing is guessed: a date is returned only if the page marks it as its own. Does not modify the tree and never
    raises because of its content.

    Args:
        document: The page, before anything is removed.
        marked: The result of `groundwire.reading.html.semantics.marked_elements`.
        url: Its URL.
        metas: The result of `read_metas`.
        graph: The result of `groundwire.reading.metadata.embedded_json.things`.
    """
    thing, kind = main_thing(graph, url)
    sites = (
        metas.get("og:site_name"),
        name_of(thing.get("publisher"), graph) if thing.get("publisher") else None,
        next((string_of(item.get("name")) for item in graph if item.get("@type") == "WebSite"), None),
        metas.get("citation_journal_title"),
        metas.get("application-name"),
        _site_in_title(document, url),
    )
    plausible = [name for name in sites if name and is_site(name)]
    same = [name for name in plausible if bared(name) == bared(plausible[0])]
    site = first_text("site", max(same, key=lambda name: len(name.split()), default=None))
    page_kind = kind or _kind(metas.get("og:type"))
    published, disputed = _published(document, marked, metas, thing, page_kind, url)
    return Metadata(
        author=_author(marked, metas, thing, graph),
        site=site,
        published=published,
        disputed=disputed,
        modified=_first_date(string_of(thing.get("dateModified")), *(metas.get(name) for name in _MODIFIED_NAMES))
        or _marked_date(marked, "dateModified"),
        language=_language(document, metas, thing),
        kind=page_kind,
    )


def _site_in_title(document: Document, url: str) -> str | None:
    """Return the last or first part of `<title>` that is the text of a link to the site's front page, or its host."""
    try:
        address = urlsplit(url)
    except ValueError:
        return None
    title = document.find("title")
    title_text = title.text[:2_000].strip() if title is not None else ""
    parts = [
        part
        for split in (SEPARATOR, _COLON)
        if len(pieces := split.split(title_text)) > 1
        for part in pieces[:: len(pieces) - 1]
    ]
    if not parts or address.path in {"", "/"}:
        return None
    names = {bared(label) for label in (address.hostname or "").removeprefix("www.").split(".")[:-1]}
    front = {f"{scheme}//{address.netloc}" for scheme in ("", "http:", "https:")}
    links = (link for link in document.find_all("a") if link.attr("href") is not None)
    for link in islice(links, _MAX_LINKS):
        href = (link.attr("href") or "").strip()
        if href == "/" or href.removesuffix("/") in front:
            names.add(bared(link.text[:100]))
    return next((part.strip() for part in parts[::-1] if bared(part) in names - COMMON - {""}), None)


def read_metas(document: Document) -> dict[str, str]:
    """Return the contents of the page's `<meta>` elements by name, joining several authors."""
    metas: dict[str, str] = {}
    for meta in document.find_all("meta")[:_MAX_METAS]:
        content = (meta.attr("content") or "")[:2_000].strip()
        key = meta.attr("property") or meta.attr("name") or meta.attr("itemprop") or meta.attr("http-equiv") or ""
        name = key.strip().lower()
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
    if metas.get("parsely-page", "")[:1] == "{":
        _add_parsely(metas)
    return metas


def _add_parsely(metas: dict[str, str]) -> None:
    """Add what Parse.ly's meta tag says in JSON under the names that it has in tags of its own."""
    page = json_object(metas["parsely-page"]) or {}
    authors = page.get("authors")
    author = ", ".join(filter(None, map(string_of, authors))) if isinstance(authors, list) else page.get("author")
    values = {"pub-date": page.get("pub_date"), "author": author, "title": page.get("title")}
    for name, value in values.items():
        if text := string_of(value):
            metas.setdefault(f"parsely-{name}", text)


def _family_last(name: str) -> str:
    """Convert a name of the form `Family, Given` to the usual order."""
    family_name, comma, given_name = name.partition(", ")
    return f"{given_name} {family_name}" if comma and "," not in given_name and " " not in family_name else name


def string_of(value: object) -> str | None:
    """Return the text of a value in JSON-LD, which may be an object, or a list of which the first counts; else None."""
    if isinstance(value, list):
        value = value[0] if value else None
    if isinstance(value, dict):
        value = value.get("@value") or value.get("name")
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    return value if isinstance(value, str) else None


def first_text(name: str, *candidates: str | None) -> str | None:
    """Return the first non-empty candidate, on one line, without control characters, and not too long.

    Args:
        name: What it is: `title`, `author` or `site`, which bounds its length.
        *candidates: The texts, best first.
    """
    limit = _MAX_LENGTHS[name]
    for candidate in candidates:
        if candidate and (text := " ".join(strip_controls(candidate[: 4 * limit].replace("\xad", "")).split())):
            if "&" in text:
                text = " ".join(unescape(text).split())
            return text if len(text) <= limit else text[: limit - 1].rstrip() + "\u2026"
    return None


def _author(marked: list[Element], metas: dict[str, str], thing: Thing, graph: list[Thing]) -> str | None:
    candidates: list[str | None] = [
        name_of(thing.get("author") or thing.get("creator"), graph),
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
        source = element.find(attrs={"itemprop": "name"})
        if source is None:  # a user's reputation may follow the link
            line = element.text.strip()
            links = (
                link for link in element.find_all("a")[:3] if (text := link.text.strip()) and line.startswith(text)
            )
            source = next(links, element)
        candidates.append(source.attr("content") or source.text[:300])
    for candidate in candidates:
        if candidate:
            author = first_text("author", _BYLINE.sub("", candidate.strip()))
            if not author or author.isdigit() or not is_name(author):
                continue
            if author.lower() not in NO_AUTHORS and not _LABEL.match(author):
                return author
    return None


def _names_author(element: Element) -> bool:
    if element.attr("rel") == "author":
        return True
    around = element.parent
    return (
        element.attr("itemprop") == "author"
        and isinstance(around, Element)
        and around.closest(_WORK_SELECTOR) is not None
        and around.closest(_REPLY_SELECTOR) is None
    )


def _first_date(*candidates: str | None) -> str | None:
    return next((day for candidate in candidates if candidate and (day := iso_date(candidate))), None)


def _published(
    document: Document, marked: list[Element], metas: dict[str, str], thing: Thing, kind: str | None, url: str
) -> tuple[str | None, str | None]:
    """Return the day of publication, and the one in `<meta>` if that is another."""
    linked = _first_date(string_of(thing.get("datePublished")))
    meta = _first_date(*(metas.get(name) for name in _PUBLISHED_NAMES))
    day = (
        linked
        or meta
        or _first_date(
            *(string_of(thing.get(name)) for name in ("dateCreated", "uploadDate", "datePosted")),
            *(content for name, content in metas.items() if _DATE_NAME.search(name)),
        )
    )
    stated = (_marked_date(marked, name) for name in ("datePublished", "dateCreated", "uploadDate"))
    disputed = meta if linked and meta and linked[:10] != meta[:10] else None
    day = day or next(filter(None, stated), None)
    if day is None and kind not in UNDATED:
        time_day, in_address = _time(document), date_in_address(url)
        day = time_day if time_day and in_address in {None, time_day[:10]} else None  # the address is surer
    return day, disputed


def _marked_date(marked: list[Element], name: str) -> str | None:
    for element in marked[:_MAX_TIMES]:
        if name in (element.attr("itemprop") or "").split() and element.closest(_REPLY_SELECTOR) is None:
            return _first_date(element.attr("datetime"), element.attr("content"), element.text[:64])
    return None


def _time(document: Document) -> str | None:
    """Return the date of the `<time>` that is marked as the article's, or the only one in it."""
    own: list[Element] = []
    parts: dict[Element, bool] = {}
    headed = document.find("h1") is not None
    for time in document.find_all("time")[:_MAX_TIMES]:
        if "dateModified" in (time.attr("itemprop") or ""):
            continue
        part = time.closest(_BESIDE_SELECTOR) if headed else None
        if part is not None and parts.setdefault(part, part.find("h1") is None):
            continue
        around = time.parent.text[:_MAX_LABELLED] if isinstance(time.parent, Element) else ""
        if label_before(around[: max(0, around.find(time.text))]) in OTHER_LABELS:
            continue
        if time.attr("pubdate") is not None or _DATE_CLASS.search(time.attr("class") or ""):
            if day := _first_date(time.attr("datetime"), time.text[:64]):
                return day
        elif time.closest("article, main") is not None:
            own.append(time)
    days = {_first_date(time.attr("datetime"), time.text[:64]) for time in own}
    return days.pop() if len(days) == 1 else None


def _language(document: Document, metas: dict[str, str], thing: Thing) -> str | None:
    root = document.root
    declared = (root.attr("lang") or root.attr("xml:lang")) if root is not None else None
    for value in (declared, metas.get("content-language"), string_of(thing.get("inLanguage")), metas.get("og:locale"),
                  metas.get("dc.language"), metas.get("citation_language")):  # fmt: skip
        match = _LANGUAGE.fullmatch(value.partition(",")[0].strip()) if value else None
        if match and match[1].lower() not in {"und", "mul", "zxx"}:
            parts = (match[1].lower(), (match[2] or "").title(), (match[3] or "").upper())
            return "-".join(part for part in parts if part)
    return None


def _kind(value: str | None) -> str | None:
    value = (value or "").strip().lower()
    return value if re.fullmatch(r"[a-z][a-z0-9_.:-]{1,40}", value) else None
