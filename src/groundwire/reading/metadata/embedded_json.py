"""JSON embedded in a page: data for its scripts, and JSON-LD metadata (https://schema.org).

It is read from script elements, assignments and attributes, within limits and with error tolerance.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Final
from urllib.parse import unquote, urldefrag

from turbohtml import Document, Element, Text

Thing = dict[str, object]

_MAX_SCRIPTS: Final = 20
_MAX_LENGTH: Final = 500_000  # characters of all scripts in total
_MAX_THINGS: Final = 1_000
_ARTICLE_TYPES: Final = frozenset(
    {
        "AdvertiserContentArticle", "AnalysisNewsArticle", "Article", "BlogPosting", "DiscussionForumPosting",
        "LiveBlogPosting", "MedicalScholarlyArticle", "NewsArticle", "OpinionNewsArticle", "QAPage", "Question",
        "Report", "ReportageNewsArticle", "ReviewNewsArticle", "ScholarlyArticle", "SocialMediaPosting", "TechArticle",
    }
)  # fmt: skip
_OTHER_TYPES: Final = (
    "Product", "ProductGroup", "Recipe", "Event", "JobPosting", "Book", "Movie", "VideoObject", "SoftwareApplication",
    "Course", "HowTo", "FAQPage", "Dataset", "Review", "ItemPage", "AboutPage", "CollectionPage", "ProfilePage",
    "WebPage",
)  # fmt: skip
_CONTAINERS: Final = ("@graph", "mainEntity", "mainEntityOfPage")
_COMMENT: Final = re.compile(
    r"^\s*(?:<!--|//\s*<!\[CDATA\[|/\*\s*<!\[CDATA\[\s*\*/|<!\[CDATA\[)|(?:-->|//\s*\]\]>|\]\]>)\s*;?\s*$"
)
_STATED_DATE: Final = re.compile(r'"(datePublished|dateModified)"\s{0,9}:\s{0,9}"([^"\\\n]{4,40})"')
_TRAILING_COMMA: Final = re.compile(r",(\s*[}\]])")


def things(document: Document) -> list[Thing]:
    """Return the top-level objects of a page's JSON-LD, in order, without those in lists of other pages."""
    graph: list[Thing] = []
    room, scripts = _MAX_LENGTH, 0
    for script in document.select('script[type*="ld+json" i]'):
        if (script.attr("type") or "").partition(";")[0].strip().lower() != "application/ld+json":
            continue
        text = "".join(node.data for node in script if isinstance(node, Text))
        room -= len(text)
        scripts += 1
        if room < 0 or scripts > _MAX_SCRIPTS:
            break
        graph.extend(_objects(_load(text)))
    return graph[:_MAX_THINGS]


def _load(text: str) -> object:
    with suppress(ValueError, RecursionError):
        return _DECODER.decode(text)
    text = _COMMENT.sub("", text.strip()).strip().rstrip(";")
    for attempt in (text, _TRAILING_COMMA.sub(r"\1", text)):
        try:
            return json.loads(attempt, strict=False)
        except (ValueError, RecursionError):
            continue
    if any(f'"{kind}"' in text for kind in _ARTICLE_TYPES):  # broken, as by quotes in a headline: keep its dates
        return {"@type": "Article"} | dict(_STATED_DATE.findall(text)[::-1])
    return None


def _objects(value: object) -> Iterator[Thing]:
    stack, count = [value], 0
    while stack and count < _MAX_THINGS:
        item = stack.pop()
        if isinstance(item, list):
            stack.extend(reversed(item[:_MAX_THINGS]))
        elif isinstance(item, dict):
            count += 1
            yield item
            stack.extend(item[key] for key in _CONTAINERS if key in item)


def main_thing(graph: list[Thing], url: str) -> tuple[Thing, str]:
    """Return the object for the page at `url`, and its type; an empty one if there is none or it is ambiguous.

    An article takes precedence over other objects. Among several articles, the one with the page's URL is used.
    """
    kinds = ((thing, next((kind for kind in types_of(thing) if kind in _ARTICLE_TYPES), "")) for thing in graph)
    articles = [pair for pair in kinds if pair[1]]
    if len(articles) > 1:
        here = _comparable(url)
        named = [pair for pair in articles if here in {_comparable(address) for address in _addresses(pair[0])}]
        contents = [pair for pair in articles if pair[1] != "QAPage"]  # it only holds its question
        articles = named or (contents if len(contents) == 1 else [])
    if articles:
        return articles[0]
    for kind in _OTHER_TYPES:
        for thing in graph:
            if kind in types_of(thing):
                return thing, kind
    return {}, ""


def types_of(thing: Thing) -> list[str]:
    """Return the type names of an object."""
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


def name_of(value: object, graph: list[Thing]) -> str:
    """Return the names of the people or organizations in a property, given by value or by `@id`.

    Where both are named, only the people are returned.
    """
    items = (value if isinstance(value, list) else [value])[:10]
    if len(items) > 1:
        items = [item for item in items if not (isinstance(item, dict) and "Organization" in types_of(item))] or items
    names: list[str] = []
    for item in items:
        name = item
        if isinstance(item, dict):
            if "name" not in item and isinstance(item.get("@id"), str):
                item = next((thing for thing in graph if thing.get("@id") == item["@id"] and "name" in thing), item)
            parts = (item.get(part) for part in ("givenName", "additionalName", "familyName"))
            name = item.get("name") or " ".join(part for part in parts if isinstance(part, str))
        if isinstance(name, list):
            name = name[0] if name else None
        if isinstance(name, str) and name.strip() and name.strip() not in names:
            names.append(name.strip())
    return ", ".join(names)


_ATTRIBUTES: Final = ("data-page", "data-props", "data-react-props", "data-initial-state", "data-preloaded")
_MAX_SCRIPT_LENGTH: Final = 8_000_000  # characters of all data in total
_MAX_ISLANDS: Final = 60
_MAX_TRIES: Final = 100  # assignments of a script that are examined
_MAX_REPAIRS: Final = 3  # of these, the ones that are repaired; each scans the rest of the script
_JSON: Final = re.compile(r"(?:application|text)/(?:[\w.+-]+\+)?json\b", re.IGNORECASE)
_PROGRAM: Final = re.compile(r"(?:(?:text|application)/(?:x-)?(?:java|ecma)script|module)?", re.IGNORECASE)
_ASSIGNMENT: Final = re.compile(
    r"(?:(?:window|self|globalThis|top)\s*(?:\.\s*|\[\s*[\"'])|(?:var(?<!\wvar)|let(?<!\wlet)|const(?<!\wconst))\s+)"
    r"([A-Za-z_$][\w$]{2,60})(?:[\"']\s*\])?\s*=\s*(JSON\.parse\(\s*)?(decodeURIComponent\(\s*)?(?=[\[{\"'])"
)
"""An assignment of data to a variable. Looks back only after the first letters, which passes other text faster."""
_UNDEFINED: Final = re.compile(r"(?<=[:\[,])\s*(?:undefined|void 0)(?=\s*[,}\]])")
_STRING: Final = re.compile(r"'((?:[^'\\\n]|\\.)*)'|(\"(?:[^\"\\\n]|\\.)*\")")
_ESCAPES: Final = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPE_VALUES: Final[Mapping[str, str]] = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": ""}
_DECODER: Final = json.JSONDecoder(strict=False)


@dataclass(frozen=True, slots=True)
class Island:
    """A piece of embedded data."""

    name: str
    """Its name."""
    value: object
    """The data."""


def islands(document: Document) -> Iterator[Island]:
    """Yield the embedded data of a page that can be parsed without running scripts."""
    linked = things(document)
    if linked:
        yield Island("JSON-LD", linked)
    room, count = _MAX_SCRIPT_LENGTH, 0
    for script in document.iter_elements("script"):
        kind, text = (script.attr("type") or "").strip(), script.text
        room -= len(text)
        if room < 0 or count >= _MAX_ISLANDS:
            return
        if "ld+json" in kind.lower():
            continue
        if _JSON.match(kind):
            name = script.attr("id") or script.attr("data-target") or "a JSON script"
            value = None if name == "__NUXT_DATA__" else _loaded(text)  # a list of values without names
            if isinstance(value, (dict, list)):
                count += 1
                yield Island(name, value)
        elif _PROGRAM.fullmatch(kind):
            for island in _assignments(text):
                count += 1
                yield island
    for element in document.select(", ".join([f"[{name}]" for name in _ATTRIBUTES])):
        if element.tag != "script" and count < _MAX_ISLANDS:
            yield from _of_attributes(element)
            count += 1


def _of_attributes(element: Element) -> Iterator[Island]:
    for name in _ATTRIBUTES:
        text = element.attr(name) or ""
        if text[:1] in {"{", "["} and isinstance(value := _loaded(text), (dict, list)):
            yield Island(name, value)


def _assignments(text: str) -> Iterator[Island]:
    """Yield the JSON, or JSON in strings, that a script assigns to variables."""
    end, repairs = 0, _MAX_REPAIRS
    for match in islice(_ASSIGNMENT.finditer(text), _MAX_TRIES):
        start = match.end()
        if start < end:
            continue  # inside of parsed data
        if text[start] in "\"'":
            string = _STRING.match(text, start)
            if string is None or not match[2]:
                continue
            literal = _string_value(string[1] if string[2] is None else string[2][1:-1])
            value, end = _loaded(unquote(literal) if match[3] else literal), string.end()
        else:
            value, end = _decoded(text, start, repair=repairs > 0)
            repairs -= value is None
        if isinstance(value, (dict, list)):
            yield Island(match[1], value)


def json_within(text: str) -> object:
    """Return the object or list in a string of data, as some pages pack them; None if it is a text."""
    value = _loaded(text) if text[:2] in {'{"', "[{", "[["} else None
    return value if isinstance(value, (dict, list)) else None


def _loaded(text: str) -> object:
    value, _ = _decoded(text.strip(), 0)
    return value


def _decoded(text: str, start: int, *, repair: bool = True) -> tuple[object, int]:
    """Parse the JSON that begins at `start`; return it and its end, or None.

    Args:
        text: The source.
        start: The start position.
        repair: Whether to parse `undefined`, which is not JSON, as null.
    """
    with suppress(ValueError, RecursionError):
        return _DECODER.raw_decode(text, start)
    if repair and ("undefined" in text or "void 0" in text):
        with suppress(ValueError, RecursionError):
            return _DECODER.raw_decode(_UNDEFINED.sub("null", text[start:]))[0], start + 1
    return None, start


def _string_value(text: str) -> str:
    """Return the value of a JavaScript string literal."""

    def plain(match: re.Match[str]) -> str:
        code = match[1]
        return chr(int(code[1:], 16)) if len(code) > 1 else _ESCAPE_VALUES.get(code, code)

    return _ESCAPES.sub(plain, text)
