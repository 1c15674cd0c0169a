"""What a page says about itself in JSON-LD (https://schema.org), within bounds and whatever is wrong with it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import urldefrag

from turbohtml import Document, Text

__all__ = ["Thing", "main_thing", "name_of", "things", "types_of"]

Thing = dict[str, object]

_MAX_SCRIPTS: Final = 20
_MAX_LENGTH: Final = 500_000  # characters of all scripts together
_MAX_THINGS: Final = 1_000
_ARTICLES: Final = frozenset(
    {
        "AdvertiserContentArticle", "AnalysisNewsArticle", "Article", "BlogPosting", "DiscussionForumPosting",
        "LiveBlogPosting", "MedicalScholarlyArticle", "NewsArticle", "OpinionNewsArticle", "QAPage", "Question",
        "Report", "ReportageNewsArticle", "ReviewNewsArticle", "ScholarlyArticle", "SocialMediaPosting", "TechArticle",
    }
)  # fmt: skip
_OTHERS: Final = (
    "Product", "ProductGroup", "Recipe", "Event", "JobPosting", "Book", "Movie", "VideoObject", "SoftwareApplication",
    "Course", "HowTo", "FAQPage", "Dataset", "Review", "ItemPage", "AboutPage", "CollectionPage", "ProfilePage",
    "WebPage",
)  # fmt: skip
_DESCENDED: Final = ("@graph", "mainEntity", "mainEntityOfPage")
_COMMENT: Final = re.compile(
    r"^\s*(?:<!--|//\s*<!\[CDATA\[|/\*\s*<!\[CDATA\[\s*\*/|<!\[CDATA\[)|(?:-->|//\s*\]\]>|\]\]>)\s*;?\s*$"
)
_TRAILING: Final = re.compile(r",(\s*[}\]])")


def things(document: Document) -> list[Thing]:
    """Return the objects that a page's JSON-LD is about, in their order; those in lists of other pages are left out."""
    found: list[Thing] = []
    room, scripts = _MAX_LENGTH, 0
    for script in document.select('script[type*="ld+json" i]'):
        if (script.attr("type") or "").partition(";")[0].strip().lower() != "application/ld+json":
            continue
        text = "".join(node.data for node in script if isinstance(node, Text))
        room -= len(text)
        scripts += 1
        if room < 0 or scripts > _MAX_SCRIPTS:
            break
        found.extend(_objects(_load(text)))
    return found[:_MAX_THINGS]


def _load(text: str) -> object:
    text = _COMMENT.sub("", text.strip()).strip().rstrip(";")
    for attempt in (text, _TRAILING.sub(r"\1", text)):
        try:
            return json.loads(attempt, strict=False)
        except (ValueError, RecursionError):
            continue
    return None


def _objects(value: object) -> Iterator[Thing]:
    stack, seen = [value], 0
    while stack and seen < _MAX_THINGS:
        item = stack.pop()
        if isinstance(item, list):
            stack.extend(reversed(item[:_MAX_THINGS]))
        elif isinstance(item, dict):
            seen += 1
            yield item
            stack.extend(item[key] for key in _DESCENDED if key in item)


def main_thing(found: list[Thing], url: str) -> tuple[Thing, str]:
    """Return the object that the page at `url` is, and its type; an empty one when there is none or no telling.

    An article goes before any other thing. Among several articles the one with the page's address is taken.
    """
    articles = [(thing, kind) for thing in found if (kind := next((t for t in types_of(thing) if t in _ARTICLES), ""))]
    if len(articles) > 1:
        here = _comparable(url)
        named = [pair for pair in articles if here in {_comparable(address) for address in _addresses(pair[0])}]
        rest = [pair for pair in articles if pair[1] != "QAPage"]  # it only holds its question
        articles = named or (rest if len(rest) == 1 else [])
    if articles:
        return articles[0]
    for kind in _OTHERS:
        for thing in found:
            if kind in types_of(thing):
                return thing, kind
    return {}, ""


def types_of(thing: Thing) -> list[str]:
    """Return the names of the types of a thing."""
    value = thing.get("@type")
    values = value if isinstance(value, list) else [value]
    return [item.rpartition("/")[2] for item in values[:10] if isinstance(item, str)]


def _addresses(thing: Thing) -> Iterator[str]:
    for key in ("url", "@id", "mainEntityOfPage"):
        value = thing.get(key)
        if isinstance(value, dict):
            value = value.get("@id") or value.get("url")
        if isinstance(value, str):
            yield value


def _comparable(url: str) -> str:
    return urldefrag(url)[0].partition("?")[0].rstrip("/").partition("://")[2].removeprefix("www.").lower()


def name_of(value: object, found: list[Thing]) -> str:
    """Return the name or names of the people or the organisation that a property holds, by value or by `@id`."""
    names: list[str] = []
    for item in (value if isinstance(value, list) else [value])[:10]:
        name = item
        if isinstance(item, dict):
            if "name" not in item and isinstance(item.get("@id"), str):
                item = next((thing for thing in found if thing.get("@id") == item["@id"] and "name" in thing), item)
            name = item.get("name")
        if isinstance(name, list):
            name = name[0] if name else None
        if isinstance(name, str) and name.strip() and name.strip() not in names:
            names.append(name.strip())
    return ", ".join(names)
