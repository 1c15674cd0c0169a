"""What parts of a page are, by the names that they have in the markup, and on which kinds of pages they are left out.

Most of a page is chosen by its scores. These parts are recognized with more certainty by their names.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import compress
from types import MappingProxyType
from typing import Final

from turbohtml import Element

from groundwire.reading.main_content.blocks import HEADINGS, INLINE, Layout
from groundwire.reading.main_content.classifier import KINDS
from groundwire.reading.main_content.page_blocks import PageBlocks, sums_of
from groundwire.reading.main_content.text_features import NameIndex


def named(*words: str) -> re.Pattern[str]:
    """Return what finds one of several words, given as patterns, in the names of an element."""
    return re.compile(rf"(?<![a-z])(?:{'|'.join(words)})(?![a-z])", re.IGNORECASE)


_INLINE_LEVELS: Final = 5


def names_around(layout: Layout, names: Sequence[str], number: int, levels: int) -> list[str]:
    """Return the names of the elements around a block's first text: inline ones, its own, and some above that.

    Args:
        layout: The page.
        names: The names of each element.
        number: The block.
        levels: How many elements above the block's own.
    """
    around, inline, owner = list[str](), layout.nodes[number][0].parent, layout.owners[number]
    while isinstance(inline, Element) and inline.tag in INLINE and len(around) < _INLINE_LEVELS:
        around.append(inline.attr("class") or "")
        inline = inline.parent
    for _ in range(levels + 1):
        around.append(names[owner])
        owner = layout.parents[owner]
    return around


PARTS: Final[Mapping[str, re.Pattern[str]]] = MappingProxyType(
    {
        "bylines": named(
            "byline", r"author(?:-?(?:info|name|box|bio))?", "dateline", r"(?:entry|post|article)-?meta"
        ),
        "captions": named(r"(?:fig)?caption", r"(?:image-?|photo-?)?credit"),
        "comments": named(
            r"(?<!tsd-)(?<!doc-)(?<!deprecation-)comments?(?:area|body|list|listing|section)?", "disqus",
            "replies", "respond", r"(?:leser)?kommentare?r?", r"comentarios?", r"commentaires?", "commenti", "reacties",
            "komentarze", r"leserbriefe?", r"wpdcom\w*", r"wpdiscuz\w*", "viafoura", r"postbit(?:legacy)?",
        ),
        "controls": named(
            r"shar(?:e|ing)(?:-?(?:bar|box|buttons?|icons?|links?|tools?|this))?",
            r"social-?(?:bar|buttons?|icons?|links?|media|shar(?:e|ing))?", "toolbar", r"sort-?by",
            r"print-?(?:button|link)?",
        ),
        "dates": named(
            "date", "datum", "datetime", "timestamp", r"pub-?date", r"posted-?on", "dateline", r"date-?published"
        ),
        "dialogs": named(r"modals?", r"dialogs?", r"pop-?ups?", r"pop-?overs?", r"tool-?tips?"),
        "filters": named(r"filters?", r"facets?", r"refinements?"),
        "navigation": named(
            "nav", "navbar", "navigation", "menu", r"breadcrumbs?", "toc", r"table-?of-?contents", "pagination",
            "pager", r"skip-?(?:link|nav)", "rolenavigation",
        ),
        "notices": named(
            r"cookies?[-_]?(?:alert|bar|banner|consent|info|law|message|modal|notice|overlay|policy|popup|warning)",
            "consent", "gdpr", "disclaimer", "copyright",
            r"(?<!category-)(?<!tag-)legal(?:-(?:copy|disclaimer|notes?|notice|text))?(?![\w-])",
        ),
        "profiles": named("avatar", "profile", "signature", "(?:reaction|like|badge)s?", "online-?list", "whosonline"),
        "promotions": named(
            r"promos?", r"promotions?", r"ads?", r"advert(?:s|isements?|ising|orials?)?", r"sponsor(?:ed|s|ship)?",
            r"newsletters?", "subscribe", "subscription",
        ),
        "related": named(
            "related", r"recommend(?:ed|ations?)", r"read-?next", r"more-?(?:stories|posts|articles|from)", r"you-?may",
            r"also-?(?:like|read)", "trending", r"most-?(?:read|popular)", r"(?:popular|recent)-?posts", "similar",
        ),
        "reviews": named("reviews?", "yotpo", "bazaarvoice", "trustpilot", "okendo", "judgeme"),
        "subtitles": named("dek", "standfirst", r"sub-?(?:title|head|heading|headline)", "strapline", "lede"),
    }
)  # fmt: skip
"""The words for each part, one of which the names of an element have."""
STEMS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "bylines": ("byline", "author", "dateline", "meta"),
        "captions": ("caption", "credit"),
        "comments": (
            "comment", "disqus", "replies", "respond", "comentario", "kommentar", "reacties", "komentarz", "leserbrief",
            "wpd", "viafoura", "postbit",
        ),
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
WITH_EXTRAS: Final = frozenset(KINDS) - {"documentation", "forum"}
"""Kinds of pages that have credits, notices, and links to other pages around their text; elsewhere these may be it."""
KINDS_WITHOUT: Final[Mapping[str, Collection[str]]] = MappingProxyType(
    {
        "bylines": _ARTICLE,
        "captions": _ARTICLE,
        "comments": frozenset(KINDS) - {"forum"},
        "dialogs": frozenset({"collection", "listing", "product"}),
        "filters": frozenset({"collection"}),
        "notices": WITH_EXTRAS,
        "profiles": frozenset(KINDS) - {"article", "documentation"},
        "related": frozenset({"article", "service"}),
    }
)
"""The kinds of pages on which a part is left out whatever its score; elsewhere its score decides."""
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
_MAX_LEAD: Final = 200  # characters of such a line
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
    r"|share this.{0,20}|teilen|follow us.{0,20}|(?:about the|über den) auth?or.{0,20}"
    r"|(?:関連|おすすめ|最新|.{0,8}新着|人気)の?(?:記事|ニュース|キーワード|リンク|情報|動画)?(?:一覧)?"
    r"|あわせて読みたい|(?:アクセス|人気|記事)ランキング)\W*"
)
"""The heading of links to other pages, and labels without anything of their own."""
_MAX_HEADING: Final = 70  # characters of it
_CREDIT: Final = re.compile(
    r"\W*(?:(?:(?:ph|f)oto|image|bild|picture|illustration|titelbild|crédits?|credits?)(?:s|graphy|credits?|nachweis)?"
    r"(?: credits?| by| courtesy(?: of)?| photos?)?\s?[:©].{0,100}"
    r"|.{0,60}(?:/|\bvia )\s?(?:getty images|shutterstock|unsplash|afp|reuters|dpa|istock).{0,20}|© ?\D{0,80})"
)
"""A line that says whose picture it is."""
_CREDIT_SIGN: Final = re.compile("[:©/]|via ")
"""One of these is in each such line; looking for them takes a tenth of the time."""
_MAX_CREDIT: Final = 150  # characters of such a line
_TAGS: Final[Mapping[str, str]] = MappingProxyType(
    {"figcaption": "captions", "button": "controls", "nav": "navigation", "h1": "headline"}
)
_OF_TITLE: Final = frozenset({"headline", "subtitles"})
"""Parts that may be headings. The names of other headings repeat their words."""
VERBATIM: Final = HEADINGS | {"td", "th", "pre"}
CONTROLS: Final = frozenset({"button", "label", "legend"})
"""Elements that are left out of an included part, unless that is `controls`."""
MOST_OF_IT: Final = 0.7
_MIN_REMAINDER: Final = 2_000  # characters
"""An element with more than this share of the selected text is the content, whatever its name says, unless so much is
left without it: below some articles there are more comments than it has text."""


WHEN: Final = re.compile(
    r"(?:19|20)\d\d|\b(?:yesterday|today|gestern|heute|hier|ayer|ieri)\b|\d\s?(?:[hdwy]|mo|(?:min|hour|day|week|month|year)\w*)"
    r"\.? ago\b|\b\d{1,2}:\d\d\b",
    re.IGNORECASE,
)
BYLINE: Final = 60  # characters of a writer's name or a time
_STANDFIRST: Final = re.compile(
    r"(?<![a-z])(?:leads?|lede|dek|deck|standfirst|strapline|sub-?(?:title|head|heading|headline|line)s?|summary|excerpt"
    r"|intro(?:duction)?|teaser|hero|description|abstract|preamble|vorspann|anriss|ingress|bajada|entradilla|sumario"
    r"|resumen|epigraph|epigrafe|chapeau|chapo|occhiello|sommario|sapo)(?![a-z])",
    re.IGNORECASE,
)
"""Names of what stands between the headline of an article and its text, in the languages of newspapers."""
_NO_STANDFIRST: Final = re.compile(
    r"(?<![a-z])(?:author|byline|meta|date|share|social|breadcrumbs?|tags?|nav|menu|credit|related|caption|comments?|ads?"
    r"|affiliate|discl\w+|reviewed)(?![a-z])",
    re.IGNORECASE,
)
_HEADERS: Final = frozenset({"header", "hgroup"})
_ASIDE: Final = frozenset(
    {"aside", "button", "figcaption", "figure", "footer", "label", "li", "nav", "pre", "td", "th"}
)
_BELOW_HEADLINE: Final = 12  # blocks
_MIN_STANDFIRST, _MAX_STANDFIRST = 60, 500  # characters of a standfirst
_BODY: Final = 80  # characters of a block that the text begins with


def lines_leading_away(page: PageBlocks) -> Iterator[int]:
    """Yield the lines that lead to another page.

    Args:
        page: The page.
    """
    texts, tags, owners = page.layout.texts, page.layout.tags, page.layout.owners
    for number in compress(range(len(texts)), page.keep):
        is_line = len(texts[number]) <= _MAX_LEAD and tags[owners[number]] not in HEADINGS
        if is_line and _LEADS.match(texts[number].lower()) is not None:
            yield number


def credit_lines(page: PageBlocks) -> Iterator[int]:
    """Yield the lines that say whose picture it is.

    Args:
        page: The page.
    """
    texts, tags, owners = page.layout.texts, page.layout.tags, page.layout.owners
    for number in compress(range(len(texts)), page.keep):
        is_line = len(texts[number]) <= _MAX_CREDIT and tags[owners[number]] not in VERBATIM
        text = texts[number].lower() if is_line else ""
        if _CREDIT_SIGN.search(text) is not None and _CREDIT.fullmatch(text) is not None:
            yield number


def other_pages(page: PageBlocks) -> Iterator[int]:
    """Yield the headings of links to other pages, and the links below them.

    Args:
        page: The page.
    """
    layout, below = page.layout, False
    for number in compress(range(len(layout.texts)), page.keep):
        text = layout.texts[number]
        is_heading = len(text) <= _MAX_HEADING and _OTHERS.fullmatch(text.lower()) is not None
        below = is_heading or (below and 2 * layout.linked[number] >= layout.lengths[number] > 0)
        if below:
            yield number


def standfirst(page: PageBlocks) -> Iterator[int]:
    """Yield what is between the headline of an article and its text, which tells the essence of it.

    It is known by the names of its elements, or by a header around it. Scores seldom tell it from a teaser.

    Args:
        page: The page.
    """
    names, tags, parents, owners = page.verdict.names, page.layout.tags, page.layout.parents, page.layout.owners
    headline = next((number for number, owner in enumerate(owners) if tags[owner] == "h1"), len(owners))
    around, element = {0}, owners[headline] if headline < len(owners) else 0
    while element:
        around.add(element)
        element = parents[element]
    for number in range(headline + 1, min(len(owners), headline + 1 + _BELOW_HEADLINE)):
        size, inside, element = len(page.layout.texts[number]), list[int](), owners[number]
        if page.keep[number] and size >= _BODY:
            return
        while element not in around:
            inside.append(element)
            element = parents[element]
        own, called = {tags[level] for level in inside}, " ".join([names[level] for level in inside])
        if (
            _MIN_STANDFIRST <= size <= _MAX_STANDFIRST
            and 3 * page.layout.linked[number] <= page.layout.lengths[number]
            and own.isdisjoint(_ASIDE)
            and _NO_STANDFIRST.search(called) is None
            and (_STANDFIRST.search(called) or not _HEADERS.isdisjoint({*own, tags[element]}))
        ):
            yield number


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
    matches = {name for name in near if PARTS[part].search(name) is not None}
    tagged = {tag for tag, what in _TAGS.items() if what == part}
    if not matches and tagged.isdisjoint(tags) and part != "dates":
        return []
    sizes = sums_of(layout, (len(text) * is_kept for text, is_kept in zip(layout.texts, keep, strict=True)))
    most = max(MOST_OF_IT * sizes[0], sizes[0] - _MIN_REMAINDER)
    inside = [False] * len(parents)
    for element in range(1, len(parents)):
        inside[element] = inside[parents[element]] or (
            (names[element] in matches or tags[element] in tagged)
            and sizes[element] <= most
            and (part in _OF_TITLE or tags[element] not in HEADINGS)
        )
    numbers = [number for number, owner in enumerate(owners) if inside[owner]]
    if part == "dates":
        texts, leads = layout.texts, layout.leads
        candidates = {number for number, lead in enumerate(leads) if lead == "time"}.union(numbers)
        numbers = sorted(n for n in candidates if len(texts[n]) <= BYLINE and WHEN.search(texts[n]) is not None)
    return numbers if sum(len(layout.texts[number]) for number in numbers if keep[number]) <= most else []
