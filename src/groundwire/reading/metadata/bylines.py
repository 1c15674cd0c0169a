"""What a page displays near its heading: the day of publication and the authors.

Structured data come first; this is for pages without, and for dates and authors that their software fills in wrongly.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import islice, takewhile
from typing import Final

from turbohtml import Document, Element, Node

from groundwire.reading.metadata.dates import (
    OTHER_LABELS,
    date_in_address,
    day_order,
    iso_date,
    label_before,
    same_day,
    written_dates,
    written_day,
)
from groundwire.reading.metadata.page_metadata import NO_AUTHORS, UNDATED, Metadata, is_front_page
from groundwire.reading.text.sanitize import bared, lower

_MARKS: Final = "time, [id*=date i], [id*=datum i], [itemprop*=date i], [rel~=author], [itemprop~=author]"
_ADDRESSES: Final = ("/author", "/user", "/member", "/people/", "/profile", "/u/")
"""The same by parts of links' addresses, few of which a page has."""
_CLASSES: Final = (
    "date", "datum", "publi", "fecha", "byline", "author", "meta", "time", "posted", "writer", "username",
)  # fmt: skip
"""The same by parts of class names. Looking for each takes as long as for all of `_MARKS`; few pages have most."""
_EVENT: Final = re.compile(r"(?:^|[\s_-])(?:event|calendar|termin|veranstaltung)")
"""This and the next two are for names in lower case."""
_UPDATED_CLASS: Final = re.compile(r"(?:^|\s)(?:dt-)?updated(?=\s|$)")
"""The class of the time of the last change (https://microformats.org/wiki/h-entry)."""
_WRITER: Final = re.compile(r"author|byline|writer|username|autor|contributor(?!s)")
_PROFILE: Final = re.compile(r"/(?:authors?|users?|members?|people|profile|u)/[^/?#]")
_OTHER_PARTS: Final = (
    "nav, footer, aside, [class*=comment i], [class*=related i], [class*=sidebar i], [class*=teaser i],"
    "[class*=recent i]"
)
_ATTRIBUTES: Final = ("datetime", "title", "content")
_VERBS: Final = (
    r"written|posted|published|created|started|submitted|asked|words|story|text|verfasst|geschrieben|article|escrito"
    r"|scritto|écrit|geschreven|skrevet|skriven|hosted"
)
_PREPOSITIONS: Final = r"by|von|par|por|di|door|av|af"
_ROLES: Final = (
    r"autor(?:in|a|ka)?|authors?|auteurs?|autore|writer|words|text(?: und fotos?)?|texte|texto|testo|tekst|teksti|yazar"
    r"|oprac\.?|автор|текст|作者|著者|文|執筆者?|書いた人|글"
)
_BY: Final = re.compile(
    rf"(?:(?:{_VERBS})\s+)?(?:{_PREPOSITIONS}|autor(?:in)?|authors?|writer|words)\b\s*:?\s*"
    rf"|(?:{_ROLES})\s*[:：]\s*|(?:記者|记者|oprac\.)\s*",
    re.IGNORECASE,
)
_NAME: Final = re.compile(
    r"(?:[^\W\d_a-z][^\W\d_]*(?:[-'\u2019.][^\W\d_]+)*\.?)"
    r"(?:\s(?:(?:van|von|de|der|den|del|della|di|da|dos|la|le|el|al|bin|ben|y|ter|zu|[^\W\d_a-z])"
    r"|[^\W\d_a-z][^\W\d_]*(?:[-'\u2019.][^\W\d_]+)*)\.?){0,4}"
)
_AFTER_NAME: Final = re.compile(r"(?<!\s)\s+[|\u2022\u00b7]\s+|(?:(?<!\s)\s+)?[(\[][^()\[\]]{0,60}[)\]]\s*\Z")
"""What separates a name from a date or a section in its line, or from its role in parentheses."""
_BETWEEN_NAMES: Final = re.compile(r"(?:(?<!\s)\s+)?(?:,|&|\band\b|\bund\b|\bet\b|\by\b)\s*")
_EAST_ASIAN_NAME: Final = re.compile(
    r"(?=[\u3400-\u9fff々])(?!.*(?:作者|著者|[編编][集輯辑]|[記记]者|[関关]注|投稿|匿名|管理|来源|[責责][編编]|[评評][论論]|更多|[登注][录錄册冊]))[\u3400-\u9fff々]{2,5}"
    r"|(?=[가-힣])(?!더보기|로그인|회원가입|구독|댓글|기자|작성자|관리자|편집부)[가-힣]{2,4}"
)
_PRESS: Final = re.compile(r"(?<!\s)\s+(?:기자|記者|记者)\Z")
"""What follows the names of journalists."""
_NO_NAME: Final = re.compile(
    r"\b(?:about|account|all|analyst|article|articles|author|authors|blog|by|click|comments?|community|consultant"
    r"|contributing|contributor|dashboard|director|edited|editor|editorial|follow|former|forum|founder|guest|home"
    r"|log|login|logout|manager|meet|member|messages|min|moderator|more|news|newsletters?|notifications|officer|on"
    r"|originally|our|owner|post|posts|posted|posting|profile|published|read|register|reporter|reviewed|see|senior|settings|share"
    r"|sign|signup|specialist|staff|strategist|subscribe|team|the|this|updated|view|website|who|writer|written|you"
    r"|your|times|magazine|gazette|tribune|university|institute|agency|foundation|ministry|association|january|february|march|april|june|july|august|september|october|november|december|monday|tuesday"
    r"|wednesday|thursday|friday|saturday|sunday|inc|llc|ltd|gmbh)\b",
    re.IGNORECASE,
)
_GIVEN_NAMES: Final = frozenset({"April", "August", "June", "Min", "On", "See"})
"""The words above that are parts of names, too."""
_GROUPS: Final = (" Team", " Staff")
"""Ends of the names of groups that write together."""
_USER: Final = re.compile(r"(?:[^\W\u0590-\uffff]|[.\-]){3,25}")  # in other scripts, labels have no spaces either
_USERS: Final = re.compile(r"/(?:users?|members?|profile|u)[/.]|member(?:list)?\.php|\busername\b", re.IGNORECASE)
_MAX_TEXT: Final = 200_000  # characters of a page
_MAX_MARKS: Final = 400
_MAX_WRITTEN: Final = 400  # days in the text
_MAX_MARK: Final = 250  # characters of an element marked as a date
_MAX_BEFORE: Final = 250  # characters before the heading
_MAX_AFTER: Final = 1_000  # characters after the heading
_MAX_BESIDE: Final = 80  # characters after the heading in which a line with a date counts as a mark
_MAX_LINE: Final = 70  # characters of a byline
_MIN_NAME: Final = 4  # letters of a site's name that is recognized in longer ones
_PROSE: Final = re.compile(r"[^\W\d_]{2}[.!?]\Z|[。！？]\Z")
"""The end of a sentence, which has a date of something else."""
_DATELINE: Final = re.compile(r"\s{0,3}(?:--|[-\u2013\u2014:])")
"""What separates the day of a report from its first sentence."""
_NEAR_RANK: Final = 3
"""The last rank of what is near the heading."""
_FAR_LABEL_RANK: Final = 4
"""The rank of a day with a label that is far from the heading."""
_BELOW_RANK: Final = 5
"""The rank of what is far below, marked or not."""


@dataclass(frozen=True, slots=True)
class Byline:
    """What a page displays about itself; None if it does not."""

    published: str | None = None
    """The day of publication, as ISO 8601."""
    is_marked: bool = False
    """Whether that is marked or labelled as a date, near the heading, or directly below it."""
    is_alone: bool = True
    """Whether no other day is displayed than that, or none at all."""
    changed: str | None = None
    """The day that is labelled as the last change's, near the heading, as ISO 8601."""
    author: str | None = None
    """The authors, separated by commas."""


def read_byline(document: Document, text: str, metadata: Metadata, title: str, classes: str) -> Byline:
    """Read what a page displays about itself.

    Args:
        document: The page, without invisible parts.
        text: Its texts, a line each.
        metadata: The structured data. With days that are certain, none are looked for, nor on pages of events and
            products. The language determines the order of numeric dates.
        title: The page's title, by which its heading is found.
        classes: The class names of its elements in lower case.
    """
    text = text[:_MAX_TEXT]
    start, end, around = _heading(document, text, title)
    may_be_dated = metadata.kind not in UNDATED
    is_certain = metadata.published and metadata.disputed is None and not _is_rewritten(metadata)
    wants_publication = may_be_dated and not is_certain
    wants_days = wants_publication or (may_be_dated and not metadata.modified)
    order = cache(lambda: day_order(text, metadata.language))
    days = _Days(text, start, end, order, wants_days)
    writers = _read_marks(document, classes, around, days)
    if wants_days:
        _read_written(days)
    rank, _, published = min(days.published) if days.published else (9, 0, None)
    last = min(days.changed) if days.changed else (9, 0, None)
    changed = last[2] if last[0] <= _NEAR_RANK else None
    if wants_publication and rank > _NEAR_RANK and changed:  # dates far from the heading are often of other pages
        published = None
    if wants_days and not (published or changed):
        changed = last[2]
    return Byline(
        published=published,
        is_marked=rank in {0, 2},
        changed=changed,
        is_alone=len({day for _, _, day in days.published}) < 2,
        author=_nearest_writers(writers) or _names_after_by(text, start, end),
    )


@dataclass(slots=True)
class _Days:
    """The days that a page displays, and where."""

    text: str
    """The page's texts, a line each."""
    start: int
    """Where its heading begins."""
    end: int
    """Where that ends."""
    order: Callable[[], str]
    """Returns the order of day, month, and year in numeric dates."""
    wants_days: bool
    """Whether days are looked for at all."""
    published: list[tuple[int, int, str]] = field(default_factory=list)
    """Days that may be that of publication, each after its rank and place."""
    changed: list[tuple[int, int, str]] = field(default_factory=list)
    """Days that may be that of the last change."""
    others: list[tuple[int, int]] = field(default_factory=list)
    """The beginnings and ends of texts whose days are of something else, such as an event."""

    def rank(self, place: int, *, marked: bool) -> tuple[int, int]:
        """Return the rank of a place and its distance from the heading: after, before, far after, far before it."""
        if self.end <= place <= self.end + _MAX_AFTER:
            return (0 if marked else 1), place - self.end
        if self.start - _MAX_BEFORE <= place < self.start:
            return (2 if marked else _NEAR_RANK), self.start - place
        return (_BELOW_RANK, place - self.end) if place >= self.end else (6, self.start - place)

    def add_marked(self, element: Element, names: str, place: int, size: int, day: str | None) -> None:
        """Add the day of an element that is marked as a date or an event."""
        position = self.rank(place, marked=True)
        if _EVENT.search(names) is not None:
            self.others.append((place, place + size))
        elif day and "dateModified" in (element.attr("itemprop") or ""):
            self.changed.append((*position, day))
            self.others.append((place, place + size))
        elif day and (label := label_before(self.text[max(0, place - 60) : place])) in OTHER_LABELS:
            if label != "other":
                self.changed.append((*position, day))
        elif day:
            self.published.append((*position, day))
            if _UPDATED_CLASS.search(names):
                self.changed.append((*position, day))


def _marked_elements(document: Document, classes: str) -> Iterator[Element]:
    """Yield the elements that may be marked as dates or authors."""
    addresses = "\n".join([link.attr("href") or "" for link in document.find_all("a")])
    marks = ",".join(
        (
            _MARKS,
            *(f"[class*={part} i]" for part in _CLASSES if part in classes),
            *(f"a[href*='{part}']" for part in _ADDRESSES if part in addresses),
        )
    )
    return islice(document.select(marks), _MAX_MARKS)


def _read_marks(
    document: Document, classes: str, around: Container[Node], days: _Days
) -> list[tuple[int, int, int, str]]:
    """Add the days that are marked as such, and return the authors that are, each after its rank, place, and end.

    Far below the heading, the first day and the first author count, and whether all others are the same: as soon as
    another is found, no more are looked for, as in a list of comments.
    """
    writers: list[tuple[int, int, int, str]] = []
    cursor, wants_day, wants_writer = 0, days.wants_days, True
    for element in _marked_elements(document, classes):
        strings = list(element.stripped_strings)
        mark_text = "\n".join(strings)
        place = days.text.find(mark_text, cursor) if len(mark_text) <= _MAX_MARK else -1
        if place < 0:
            continue
        cursor = place
        if place > days.end + _MAX_AFTER:
            wants_day = wants_day and not (_differ(days.published) and min(days.published)[0] <= _BELOW_RANK)
            wants_writer = wants_writer and not (_differ(writers) or (writers and min(writers)[0] <= _NEAR_RANK))
            if not (wants_day or wants_writer):
                break
        names = f"{element.attr('class')} {element.attr('id')}".lower()
        day = _marked_day(element, mark_text, days.order) if wants_day else None
        author = ""
        if wants_writer and mark_text and _is_writer(element, names):
            author = _names_in(strings) or _user_in(element, names, strings)
        if not (day or author or _EVENT.search(names)):
            continue
        if (part := element.closest(_OTHER_PARTS)) is not None and part not in around:
            continue
        days.add_marked(element, names, place, len(mark_text), day)
        if author:
            writers.append((*days.rank(place, marked=True), place + len(mark_text), author))
    return writers


def _differ(rows: Sequence[tuple[object, ...]]) -> bool:
    """Return whether the last values of rows are not all the same."""
    return len({row[-1] for row in rows}) > 1


def _read_written(days: _Days) -> None:
    """Add the days that are written: with a label anywhere, or else near the heading."""
    text, end = days.text, days.end
    for match in islice(written_dates(text), _MAX_WRITTEN):
        place = match.start()
        if (day := written_day(match, days.order)) is None or any(a <= place < b for a, b in days.others):
            continue
        before = text[max(0, place - 60) : place]
        label, position = label_before(before), days.rank(place, marked=True)
        is_near = days.start - _MAX_BEFORE <= place <= end + _MAX_AFTER
        line = text[text.rfind("\n", 0, place) + 1 : (text.find("\n", match.end()) + 1 or len(text) + 1) - 1]
        if label == "first":
            days.published.append((0, -1, day))
        elif label == "changed" or (label == "edited" and is_near):
            days.changed.append((*position, day))
        elif label == "published":
            days.published.append((*(position if is_near else (_FAR_LABEL_RANK, place)), day))
        elif label or not is_near:
            continue
        elif len(line) <= _MAX_LINE and not _PROSE.search(line):
            days.published.append((*days.rank(place, marked=end <= place <= end + _MAX_BESIDE), day))
        elif before.endswith("(") or (before[-1:] in {"", "\n"} and _DATELINE.match(text, match.end())):
            days.published.append((7, place, day))  # any other day in a sentence is of what it tells


def publication_day(metadata: Metadata, url: str, byline: Byline) -> str | None:
    """Return when a page was published, as ISO 8601; None if that is not clear.

    Structured data come first, then the URL, then what is displayed. But a publication no earlier than the last change
    may be the day on which software wrote the page again; then an earlier day that is displayed is the right one. Of
    two days that are stated, the one that is displayed is right. Of several days on a front page, none is its own. If
    only the day of the last change is displayed, the page is as old as that.

    Args:
        metadata: The structured data.
        url: The page's URL.
        byline: What the page displays.
    """
    in_address = date_in_address(url)
    if not metadata.published:
        if not byline.is_alone and is_front_page(url):
            return None
        return in_address or byline.published or byline.changed
    if metadata.disputed and byline.published == metadata.disputed[:10]:
        return metadata.disputed
    if _is_rewritten(metadata) and byline.is_marked and byline.published and byline.published < metadata.published[:10]:
        return byline.published
    return same_day(metadata.published, in_address)


def _is_rewritten(metadata: Metadata) -> bool:
    published, modified = metadata.published, metadata.modified
    return bool(published and modified and published[:10] >= modified[:10])


def author_of(metadata: Metadata, byline: Byline) -> str | None:
    """Return the authors of a page: those of the structured data, unless the page displays a person or more of them.

    Software often fills in the site, or the first of several authors.

    Args:
        metadata: The structured data.
        byline: What the page displays.
    """
    if not metadata.author or not byline.author:
        return metadata.author or byline.author
    author, site = bared(metadata.author), bared(metadata.site or "")
    is_site = author in site or (len(site) >= _MIN_NAME and site in author)
    is_user = " " not in metadata.author and metadata.author.isascii() and _is_person(byline.author.partition(",")[0])
    labels = set(_NO_NAME.findall(metadata.author)) - _GIVEN_NAMES
    is_label = bool(labels) and not metadata.author.endswith(_GROUPS)
    better = is_site or is_user or is_label or byline.author.startswith(f"{metadata.author}, ")
    return byline.author if better else metadata.author


def _heading(document: Document, text: str, title: str) -> tuple[int, int, set[Node]]:
    """Return where the page's heading is in its text, and what contains it.

    It is the first-level heading that the title has, or the only one if it shares a word with it, else the title.
    """
    elements, body = document.find_all("h1")[:10], document.find("body")
    headings = ["\n".join(h1.stripped_strings) for h1 in elements]
    bare = bared(title)
    same = [heading for heading in headings if (own := bared(heading)) and (own in bare or bare in own)]
    shared = set(title.casefold().split()).intersection(*(heading.casefold().split() for heading in headings))
    only = headings if len(headings) == 1 and (shared or title not in text) else []
    for heading in (*sorted(same, key=len, reverse=True), *only, title, *headings):
        if heading and (place := text.find(heading)) >= 0:
            element = elements[headings.index(heading)] if heading in headings else body
            return place, place + len(heading), _with_ancestors(element)
    return 0, 0, _with_ancestors(body)


def _with_ancestors(element: Element | None) -> set[Node]:
    return set() if element is None else {element, *element.ancestors}


def _marked_day(element: Element, text: str, order: Callable[[], str]) -> str | None:
    for match in written_dates(text):
        before = text[max(0, match.start() - 60) : match.start()]
        if (day := written_day(match, order)) and label_before(before) not in OTHER_LABELS:
            return day
    for name in _ATTRIBUTES:
        if (value := element.attr(name)) and (moment := iso_date(value)) and len(moment) >= 10:
            return moment[:10]
    return None


def _is_writer(element: Element, names: str) -> bool:
    if _WRITER.search(names) or element.attr("rel") == "author" or "author" in (element.attr("itemprop") or ""):
        return True
    return element.tag == "a" and _PROFILE.search(element.attr("href") or "") is not None


def _names_in(strings: Iterable[str]) -> str:
    """Return the names of the first string that has only names, after "by"."""
    strings = list(islice(strings, 6))
    if any(_BETWEEN_NAMES.fullmatch(string) for string in strings):  # a link for each of several names
        strings = [" ".join(strings)]
    for string in strings:
        for piece in _AFTER_NAME.split(string)[:4]:
            names = piece.strip(" \u2022\u00b7|-\u2013\u2014,:")
            label = _BY.match(names)
            names = names[label.end() :] if label else names
            parts = [part for part in _BETWEEN_NAMES.split(_PRESS.sub("", names)) if part][:8]
            persons = list(takewhile(_is_person, parts))
            if persons and (len(persons) == len(parts) or label or len(parts) > 1):
                return ", ".join(persons)
    return ""


def _user_in(element: Element, names: str, strings: list[str]) -> str:
    """Return the user name that a forum links to its profile."""
    if len(strings) != 1 or not _USERS.search(f"{names} {element.attr('href') if element.tag == 'a' else ''}"):
        return ""
    return strings[0] if _is_user(strings[0]) else ""


def _is_user(text: str) -> bool:
    if text.isdigit() or text.lower() in NO_AUTHORS:
        return False
    return _USER.fullmatch(text) is not None and _NO_NAME.search(text) is None


def _is_person(text: str) -> bool:
    if text.endswith(".") and not text.endswith(("Jr.", "Sr.")):
        return False
    if text.endswith(_GROUPS):
        text = text.removeprefix("The ").rpartition(" ")[0]
        return _NAME.fullmatch(text) is not None and _NO_NAME.search(text) is None
    if _EAST_ASIAN_NAME.fullmatch(text):
        return True
    return " " in text and _NAME.fullmatch(text) is not None and _NO_NAME.search(text) is None


def _nearest_writers(writers: list[tuple[int, int, int, str]]) -> str:
    """Return the names nearest to the heading, and those that follow them closely."""
    if not writers:
        return ""
    best = min(writers)
    if best[0] > _NEAR_RANK:
        return best[3] if len({writer[3] for writer in writers}) == 1 else ""
    names, reach = [best[3]], best[2]
    for rank, _, end, name in writers:
        if rank == best[0] and reach < end <= reach + len(name) + 12:
            reach = end
            if name not in ", ".join(names):
                names.append(name)
    return ", ".join(dict.fromkeys(", ".join(names).split(", ")))


_BYLINE: Final = re.compile(
    rf"[\n\u2022\u00b7|][^\w\n]{{0,3}}(?:(?:(?:{_VERBS})\s){{0,2}}(?:{_PREPOSITIONS}):?\s|(?:{_ROLES})\s?[:：]|oprac\.\s)"
)


def _names_after_by(text: str, start: int, end: int) -> str | None:
    """Return the names after "by" at the start of a line near the heading.

    Elsewhere they are those after "written by", if these are the same everywhere.
    """
    text, far_names = "\n" + text, set[str]()  # the first line begins like all others
    low = lower(text)
    for match in _BYLINE.finditer(low, 0, len(low) if "written by" in low else end + _MAX_AFTER):
        line = text[match.end() : match.end() + 100].lstrip().partition("\n")[0]  # the most spaces to match below
        names = _names_in(["by " + re.split(r"\s{0,100}(?:[|\u2022\u00b7/(]|\s[-\u2013\u2014]\s|\bon\b)", line)[0]])
        if names and start - _MAX_BEFORE <= match.start() <= end + _MAX_AFTER:
            return names
        if "written by" in match[0]:
            far_names.add(names)
    return (far_names.pop() or None) if len(far_names) == 1 else None
