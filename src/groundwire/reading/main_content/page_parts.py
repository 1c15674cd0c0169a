"""What parts of a page are, by the names that they have in the markup, and on which kinds of pages they are left out.

Most of a page is chosen by its scores. These parts are recognized with more certainty by their names.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from itertools import compress
from types import MappingProxyType
from typing import Final

from turbohtml import Element, Text

from groundwire.reading.main_content.blocks import HEADINGS, Layout
from groundwire.reading.main_content.classifier import KINDS
from groundwire.reading.main_content.text_features import NameIndex

__all__ = ["CONTROLS", "PARTS", "STEMS", "attribute_posts", "choose_parts", "label_posts", "part_blocks"]


def _named(*words: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![a-z])(?:{'|'.join(words)})(?![a-z])", re.IGNORECASE)


PARTS: Final[Mapping[str, re.Pattern[str]]] = MappingProxyType(
    {
        "bylines": _named(
            "byline", r"author(?:-?(?:info|name|box|bio))?", "dateline", r"(?:entry|post|article)-?meta"
        ),
        "captions": _named(r"(?:fig)?caption", r"(?:image-?|photo-?)?credit"),
        "comments": _named(
            r"(?<!tsd-)(?<!doc-)(?<!deprecation-)comments?(?:area|body|list|listing|section)?", "disqus",
            "replies", "respond", r"kommentare?", r"comentarios?", r"commentaires?",
        ),
        "controls": _named(
            r"shar(?:e|ing)(?:-?(?:bar|box|buttons?|icons?|links?|tools?|this))?",
            r"social-?(?:bar|buttons?|icons?|links?|media|shar(?:e|ing))?", "toolbar", r"sort-?by",
            r"print-?(?:button|link)?",
        ),
        "dates": _named(
            "date", "datum", "datetime", "timestamp", r"pub-?date", r"posted-?on", "dateline", r"date-?published"
        ),
        "dialogs": _named(r"modals?", r"dialogs?", r"pop-?ups?", r"pop-?overs?", r"tool-?tips?"),
        "filters": _named(r"filters?", r"facets?", r"refinements?"),
        "navigation": _named(
            "nav", "navbar", "navigation", "menu", r"breadcrumbs?", "toc", r"table-?of-?contents", "pagination",
            "pager", r"skip-?(?:link|nav)", "rolenavigation",
        ),
        "notices": _named(
            r"cookies?[-_]?(?:alert|bar|banner|consent|info|law|message|modal|notice|overlay|policy|popup|warning)",
            "consent", "gdpr", "disclaimer", "copyright",
            r"(?<!category-)(?<!tag-)legal(?:-(?:copy|disclaimer|notes?|notice|text))?(?![\w-])",
        ),
        "profiles": _named("avatar", "profile", "signature", "(?:reaction|like|badge)s?", "online-?list", "whosonline"),
        "promotions": _named(
            r"promos?", r"promotions?", r"ads?", r"advert(?:s|isements?|ising|orials?)?", r"sponsor(?:ed|s|ship)?",
            r"newsletters?", "subscribe", "subscription",
        ),
        "related": _named(
            "related", r"recommend(?:ed|ations?)", r"read-?next", r"more-?(?:stories|posts|articles|from)", r"you-?may",
            r"also-?(?:like|read)", "trending", r"most-?(?:read|popular)", r"(?:popular|recent)-?posts", "similar",
        ),
        "reviews": _named("reviews?", "yotpo", "bazaarvoice", "trustpilot", "okendo", "judgeme"),
        "subtitles": _named("dek", "standfirst", r"sub-?(?:title|head|heading|headline)", "strapline", "lede"),
    }
)  # fmt: skip
"""The words for each part, one of which the names of an element have."""
STEMS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "bylines": ("byline", "author", "dateline", "meta"),
        "captions": ("caption", "credit"),
        "comments": ("comment", "disqus", "replies", "respond", "comentario", "kommentar"),
        "controls": ("shar", "social", "toolbar", "sort", "print"),
        "dates": ("dat", "timestamp", "posted"),
        "dialogs": ("modal", "dialog", "pop", "tip"),
        "filters": ("filter", "facet", "refine"),
        "navigation": ("nav", "menu", "breadcrumb", "toc", "contents", "pag", "skip"),
        "notices": ("cookie", "consent", "gdpr", "disclaimer", "copyright", "legal"),
        "profiles": ("avatar", "profile", "signature", "reaction", "like", "badge", "online"),
        "promotions": ("promo", "ad", "sponsor", "newsletter", "subscri"),
        "related": (
            "related", "recommend", "next", "more", "you", "also", "trend", "read", "popular", "posts", "similar",
        ),
        "reviews": ("review", "yotpo", "bazaarvoice", "trustpilot", "okendo", "judgeme"),
        "subtitles": ("dek", "standfirst", "sub", "strapline", "lede"),
    }
)  # fmt: skip
"""What every word for a part has in it; looking for these takes a tenth of the time."""

_ARTICLE: Final = frozenset({"article"})
_WITH_EXTRAS: Final = frozenset(KINDS) - {"documentation", "forum"}
"""Kinds of pages that have credits, notices, and links to other pages around their text; elsewhere these may be it."""
_LEFT_OUT: Final[Mapping[str, Collection[str]]] = MappingProxyType(
    {
        "bylines": _ARTICLE,
        "captions": _ARTICLE,
        "comments": frozenset(KINDS) - {"forum"},
        "dialogs": frozenset({"collection", "listing", "product"}),
        "filters": frozenset({"collection"}),
        "notices": _WITH_EXTRAS,
        "profiles": frozenset(KINDS) - {"article", "documentation"},
        "promotions": frozenset({"product"}),
        "related": frozenset({"article", "service"}),
        "reviews": frozenset({"product"}),
    }
)
"""The kinds of pages on which a part is left out whatever its score; elsewhere its score decides."""
_LIKELY: Final = 0.5
"""The probability of these kinds from which that applies, including the likeliest kind of the page."""
_LEADS: Final = re.compile(
    r"\W{0,9}(?:also read|auch interessant|czytaj (?:też|także|również)|don[\u2019']t miss|l[aæä]s (?:auch|også|också)"
    r"|le puede interesar|leggi anche|leia (?:também|mais)|lesen sie (?:auch|mehr)|lee también|lea(?: también| más)?"
    r"|lees ook|les også|lire aussi|lue myös|mehr (?:dazu|zum thema)|mira(?: también)?|more (?:from|on this)"
    r"|read (?:also|more)|related|schon gelesen|see also|siehe auch|(?:también )?te puede interesar|veja também"
    r"|ver también|zobacz (?:też|także|również)|à lire aussi|читайте также)"
    r"(?:\s{0,3}[:|\u2192\u00bb>]|[?!]|\s{1,3}[\u2013-]\s|\Z)"
)
"""What a line between paragraphs, in lower case, begins with that leads to another page. This and the next two patterns
do not ignore case, which makes looking for the first letter several times as fast."""
_LEAD: Final = 200  # characters of such a line
_OTHERS: Final = re.compile(
    r"\W*(?:(?:weitere|mehr|ähnliche|neueste|aktuelle|passende|verwandte) (?:\w+ ){0,2}?(?:artikel|themen|beiträge"
    r"|meldungen|nachrichten|news|links|informationen|infos|tipps|inhalte|videos|rezepte|produkte)\b.{0,30}"
    r"|mehr (?:aus|zu|zum|von|über)\b.{0,40}|das könnte (?:sie|dich|euch) .{0,40}"
    r"|(?:related|similar|recommended|more|latest|recent|popular|trending|further|additional|other) (?:\w+ ){0,2}?"
    r"(?:articles?|posts?|stories|news|reading|links?|topics?|content|resources|videos?|products?|recipes)\b.{0,30}"
    r"|you (?:may|might) also (?:like|be interested).{0,30}"
    r"|(?:artículos|noticias|notas|contenidos?|temas) (?:relacionad|similares|recomendad)\w*.{0,20}"
    r"|más (?:noticias|sobre|información|artículos)\b.{0,30}|(?:à lire|sur le même|plus d.articles|voir aussi).{0,30}"
    r"|(?:articles?|sujets|contenus?) (?:similaires|liés|connexes|associés|recommandés).{0,20}"
    r"|tags?|categor(?:y|ies)|kategorien?|schlagw[oö]rter|comments?|kommentare?|newsletter|anzeige|werbung"
    r"|advertisements?(?:\W{1,3}(?:scroll|skip|continu|article|story|close|remove)\w*.{0,40})?|publici(?:dade?|té)"
    r"|(?:article|content|story) continues (?:after|below).{0,30}|pubblicità|reklam[ae]?|annons|iklan|реклама|広告|광고"
    r"|(?:was|is) this (?:article|page|post|information|content|answer) (?:helpful|useful).{0,40}|rate this.{0,20}"
    r"|war der artikel (?:nützlich|hilfreich).{0,60}|bewerten|(?:möchten sie )?(?:den|diesen) artikel teilen"
    r"|share this.{0,20}|teilen|follow us.{0,20}|(?:about the|über den) auth?or.{0,20})\W*"
)
"""The heading of links to other pages, and labels without anything of their own."""
_HEADING: Final = 70  # characters of it
_CREDIT: Final = re.compile(
    r"\W*(?:(?:(?:ph|f)oto|image|bild|picture|illustration|titelbild|crédits?|credits?)(?:s|graphy|credits?|nachweis)?"
    r"(?: credits?| by| courtesy(?: of)?| photos?)?\s?[:©].{0,100}"
    r"|.{0,60}(?:/|\bvia )\s?(?:getty images|shutterstock|unsplash|afp|reuters|dpa|istock).{0,20}|© ?\D{0,80})"
)
"""A line that says whose picture it is."""
_CREDITED: Final = 150  # characters of such a line
_TAGS: Final[Mapping[str, str]] = MappingProxyType(
    {"figcaption": "captions", "button": "controls", "nav": "navigation", "h1": "headline"}
)
_OF_TITLE: Final = frozenset({"headline", "subtitles"})
"""Parts that may be headings. The names of other headings repeat their words."""
_VERBATIM: Final = HEADINGS | {"td", "th", "pre"}
CONTROLS: Final = frozenset({"button", "label", "legend"})
"""Elements that are left out of an included part, unless that is `controls`."""
_BY_KIND: Final[Mapping[str, bool]] = MappingProxyType({})
"""No wishes: the kind of the page decides."""
_MOST_OF_IT: Final = 0.7
_ENOUGH: Final = 2_000  # characters
"""An element with more than this share of the selected text is the content, whatever its name says, unless so much is
left without it: below some articles there are more comments than it has text."""


def choose_parts(
    layout: Layout, names: Sequence[str], kinds: Sequence[float], keep: list[bool], parts: Mapping[str, bool] = _BY_KIND
) -> None:
    """Leave out the parts that a page of its kind does not need, and follow the caller's wishes.

    Args:
        layout: The page.
        names: The names of each element.
        kinds: The probability of each of `KINDS`.
        keep: Whether each block is selected; changed in place. At least one remains.
        parts: For some of `PARTS`, whether they are kept, without their buttons, or left out, on every kind of page.
    """
    before, index = list(keep), NameIndex(names)
    likeliest = KINDS[kinds.index(max(kinds))]

    def is_left_out(part: str, on: Collection[str]) -> bool:
        return not parts[part] if part in parts else _share(kinds, on) > _LIKELY and likeliest in on

    for part, on, find in (
        ("related", _WITH_EXTRAS, _leads_away),
        ("captions", _WITH_EXTRAS, _credits),
        ("related", _ARTICLE, _other_pages),
    ):
        if is_left_out(part, on):
            found = find(layout, keep)
            for number in found if len(found) < sum(keep) else ():
                keep[number] = False
    for part in sorted({*_LEFT_OUT, *parts} - {"copies"}, key=lambda part: (parts.get(part, False), part)):  # what is
        wanted = parts.get(part, False)  # wanted wins
        if not wanted and not is_left_out(part, _LEFT_OUT.get(part, ())):
            continue
        for number in part_blocks(layout, names, keep, part, index):
            is_control = layout.tags[layout.owners[number]] in CONTROLS and part != "controls"
            keep[number] = wanted and not is_control
    if not any(keep):
        keep[:] = before


def _leads_away(layout: Layout, keep: Sequence[bool]) -> list[int]:
    """Return the lines that lead to another page."""
    texts, tags, owners = layout.texts, layout.tags, layout.owners
    return [
        number
        for number, kept in enumerate(keep)
        if kept and len(texts[number]) <= _LEAD and tags[owners[number]] not in HEADINGS
        if _LEADS.match(texts[number].lower()) is not None
    ]


def _credits(layout: Layout, keep: Sequence[bool]) -> list[int]:
    """Return the lines that say whose picture it is."""
    texts, tags, owners = layout.texts, layout.tags, layout.owners
    return [
        number
        for number, kept in enumerate(keep)
        if kept and len(texts[number]) <= _CREDITED and tags[owners[number]] not in _VERBATIM
        if _CREDIT.fullmatch(texts[number].lower()) is not None
    ]


def _other_pages(layout: Layout, keep: Sequence[bool]) -> list[int]:
    """Return the headings of links to other pages, and the links below them."""
    found, below = [], False
    for number, (kept, text) in enumerate(zip(keep, layout.texts, strict=True)):
        if not kept:
            continue
        is_heading = len(text) <= _HEADING and _OTHERS.fullmatch(text.lower()) is not None
        below = is_heading or (below and 2 * layout.linked[number] >= layout.lengths[number] > 0)
        if below:
            found.append(number)
    return found


def _share(kinds: Sequence[float], some: Collection[str]) -> float:
    return sum(share for kind, share in zip(KINDS, kinds, strict=True) if kind in some)


def part_blocks(
    layout: Layout, names: Sequence[str], keep: Sequence[bool], part: str, index: NameIndex | None = None
) -> list[int]:
    """Return the blocks of a part, by the names of the elements around them.

    Args:
        layout: The page.
        names: The names of each element.
        keep: The selected blocks. An element with most of their text is the content, whatever its name.
        part: One of `PARTS`, or `headline`.
        index: The same names, to be searched for several parts.
    """
    parents, owners, tags = layout.parents, layout.owners, layout.tags
    near = (NameIndex(names) if index is None else index).having(STEMS.get(part, ()))
    told = {name for name in near if PARTS[part].search(name) is not None}
    tagged = {tag for tag, what in _TAGS.items() if what == part}
    if not told and tagged.isdisjoint(tags) and part != "dates":
        return []
    held = [0] * len(parents)
    for text, owner, kept in zip(layout.texts, owners, keep, strict=True):
        held[owner] += len(text) if kept else 0
    for element in range(len(parents) - 1, 0, -1):
        held[parents[element]] += held[element]
    most = max(_MOST_OF_IT * held[0], held[0] - _ENOUGH)
    inside = [False] * len(parents)
    for element in range(1, len(parents)):
        inside[element] = inside[parents[element]] or (
            (names[element] in told or tags[element] in tagged)
            and held[element] <= most
            and (part in _OF_TITLE or tags[element] not in HEADINGS)
        )
    found = [number for number, owner in enumerate(owners) if inside[owner]]
    if part == "dates":
        texts, leads = layout.texts, layout.leads
        told_by = {number for number, lead in enumerate(leads) if lead == "time"}.union(found)
        found = sorted(n for n in told_by if len(texts[n]) <= _BYLINE and _WHEN.search(texts[n]) is not None)
    return found if sum(len(layout.texts[number]) for number in found if keep[number]) <= most else []


_WRITER: Final = _named(
    "author", r"(?:big)?user-?_?name", r"message-+name", r"poster", r"posted-?by", r"post-?author", "creator",
    r"nick-?name", r"member-?name", r"name-with-attributions", r"\w*authorpane_author", r"crawler-post-meta", "tagline",
    "hnuser",
)  # fmt: skip
_NO_WRITER: Final = re.compile(
    r"(?<![a-z])(?:avatar|signature|\w*stats|\w*title|quote\w*|\w*quote|reactions?\w*|role|badges?|group|rank|buttons?"
    r"|controls|latest|sidebar|related|codeblock\w*)(?![a-z])",
    re.IGNORECASE,
)
_WHEN: Final = re.compile(
    r"(?:19|20)\d\d|\b(?:yesterday|today|gestern|heute|hier|ayer|ieri)\b|\d\s?(?:[hdwy]|mo|(?:min|hour|day|week|month|year)\w*)"
    r"\.? ago\b|\b\d{1,2}:\d\d\b",
    re.IGNORECASE,
)
_OTHER_TIME: Final = re.compile(
    r"\b(?:join\w*|member since|registered|posts|messages|edited|modified|updated|last|latest|dabei seit|inscrit)\b",
    re.IGNORECASE,
)
_COMMENT: Final = _named("comment")
_BYLINE: Final = 60  # characters of a writer's name or a time
_POST: Final = 40  # characters of a text
_NEAR: Final = 12  # blocks between a post's text and its byline
_MAX_POSTS: Final = 1_000
_FORUM: Final = KINDS.index("forum")


def attribute_posts(layout: Layout, names: Sequence[str], kinds: Sequence[float], keep: list[bool]) -> None:
    """Keep who wrote each selected post of a forum, and when, which scores seldom tell from the menus around it.

    A post is the innermost element with the name of a writer and selected text. The time is the last one before that
    text, else the first after it.

    Args:
        layout: The page.
        names: The names of each element.
        kinds: The probability of each of `KINDS`.
        keep: Whether each block is selected; changed in place.
    """
    if kinds[_FORUM] < max(kinds):
        return
    parents, owners, texts = layout.parents, layout.owners, layout.texts
    held, firsts, lasts = [0] * len(parents), [len(owners)] * len(parents), [-1] * len(parents)
    for number, (owner, text) in enumerate(zip(owners, texts, strict=True)):
        held[owner] += len(text) if keep[number] and len(text) >= _POST else 0
        firsts[owner], lasts[owner] = min(firsts[owner], number), number
    for element in range(len(parents) - 1, 0, -1):
        parent = parents[element]
        held[parent] += held[element]
        firsts[parent], lasts[parent] = min(firsts[parent], firsts[element]), max(lasts[parent], lasts[element])
    writers = [number for number in range(len(owners)) if _names_writer(layout, names, number)][:_MAX_POSTS]
    done = set[int]()
    for number in writers:
        post = owners[number]
        while post and not held[post]:
            post = 0 if _COMMENT.search(names[post]) else parents[post]  # a comment whose text is not selected
        if not post or post in done or (held[post] > _MOST_OF_IT * held[0] and len(writers) > 1):
            continue
        done.add(post)
        near = range(max(firsts[post], number - _NEAR), min(lasts[post], number + _NEAR) + 1)
        body = next((n for n in near if keep[n] and len(texts[n]) >= _POST), near.stop)
        times = [n for n in near if n != number and _tells_time(texts[n]) and not _labels_other(texts[n - 1])]
        before = [n for n in times if n < body]
        keep[number] = True
        if times and _WHEN.search(texts[number]) is None:
            keep[before[-1] if before else times[0]] = True


_POST_KINDS: Final = MappingProxyType({"question": "Question", "answer": "Answer", "comment": "Comment"})
_ACCEPTED: Final = re.compile(r"(?<![a-z])accepted-?answer(?![a-z])", re.IGNORECASE)


def label_posts(layout: Layout, names: Sequence[str], kinds: Sequence[float], keep: Sequence[bool]) -> None:
    """Write at each selected post of a forum whether it is a question, an answer, or a comment on one.

    Only where the page marks questions or answers, as schema.org does or by class.

    Args:
        layout: The page, whose elements are modified.
        names: The names of each element.
        kinds: The probability of each of `KINDS`.
        keep: Whether each block is selected.
    """
    if kinds[_FORUM] < max(kinds):
        return
    parents, posts, labels = layout.parents, [0] * len(names), {0: ""}
    for number, name in enumerate(names):
        around = posts[number] = posts[parents[number]]
        if name or layout.elements[number].attr("itemtype"):
            marked = (layout.elements[number].attr("itemtype") or "").rpartition("/")[2].lower()
            classes = (layout.elements[number].attr("class") or "").lower().split()
            label = next((_POST_KINDS[word] for word in (marked, *classes) if word in _POST_KINDS), "")
            if label and not labels[around].lower().endswith(label.lower()):
                label = "Accepted answer" if label == "Answer" and _ACCEPTED.search(name) else label
                posts[number], labels[number] = number, label
    if {"Question", "Answer"}.isdisjoint(labels.values()):
        return
    done = {0}
    for owner in compress(layout.owners, keep):
        if posts[owner] not in done and layout.tags[owner] not in _VERBATIM:
            done.add(posts[owner])
            mark = Element("strong", {}, [Text(f"{labels[posts[owner]]}:")])
            layout.elements[owner].insert(0, Text(" "))
            layout.elements[owner].insert(0, mark)


def _names_writer(layout: Layout, names: Sequence[str], number: int) -> bool:
    text, owner = layout.texts[number], layout.owners[number]
    if len(text) > _BYLINE or layout.tags[owner] in CONTROLS or not any(map(str.isalpha, text)):
        return False
    around = (names[owner], names[layout.parents[owner]])
    return any(map(_WRITER.search, around)) and not any(map(_NO_WRITER.search, around))


def _tells_time(text: str) -> bool:
    return len(text) <= _BYLINE and _WHEN.search(text) is not None and _OTHER_TIME.search(text) is None


def _labels_other(text: str) -> bool:
    return _OTHER_TIME.match(text) is not None and not any(map(str.isdigit, text))
