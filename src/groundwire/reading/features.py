"""What is known of each block of a page, as numbers from 0 to 254.

The numbers stand in columns, one byte a block, because the trees that judge the blocks read them column by column.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import add
from typing import Final

from groundwire.reading.blocks import Layout

__all__ = [
    "FEATURES",
    "SECOND",
    "Facts",
    "Lexicon",
    "describe",
    "ending",
    "group_of",
    "names_of",
    "opening",
    "second_look",
    "split_name",
]

_TOP: Final = 254
_LOG: Final = bytes(
    min(_TOP, int(16 * ((n + 1).bit_length() - 1 + (n + 1) / (1 << ((n + 1).bit_length() - 1)) - 1)))
    for n in range(32768)
)
"""16 times the logarithm to the base 2 of n + 1, with straight lines between the powers."""

_GROUPS: Final = (
    "nav", "foot", "related", "consent", "byline", "caption", "comment", "thread", "article", "product", "listing",
)  # fmt: skip
_KEYWORDS: Final = re.compile(
    r"(?P<nav>nav|menu|breadcrumb|toolbar|pagin)"
    r"|(?P<foot>foot|copyright|sidebar|rail)"
    r"|(?P<related>relat|recommend|popular|trending|teaser|promo|advert|sponsor|newsletter|subscri|share|social|^ads?$)"
    r"|(?P<consent>cookie|consent|gdpr|modal|popup|overlay|banner)"
    r"|(?P<byline>meta|byline|author|^date|timestamp|^tags?$)"
    r"|(?P<caption>caption|figure|gallery|carousel|slider)"
    r"|(?P<comment>comment|disqus|respond|reply|review)"
    r"|(?P<thread>thread|topic|forum|message|answer|question|^posts?$|^replies$)"
    r"|(?P<article>article|entry|story|prose|markdown|paragraph|content|^(?:text|body|copy)$)"
    r"|(?P<product>product|price|spec|descri|detail|sku|variant)"
    r"|(?P<listing>result|item|card|grid|tile|list)"
)
_BITS: Final = {name: 1 << bit for bit, name in enumerate(_GROUPS)}
_SEMANTIC: Final = (
    "main", "article", "footer", "aside", "figure", "nav", "header", "form", "table", "list", "section", "quote",
    "button", "noscript", "details", "pre",
)  # fmt: skip
_FLAGS: Final = {
    **{name: 1 << bit for bit, name in enumerate(_SEMANTIC)},
    "ul": 1 << 9, "ol": 1 << 9, "dl": 1 << 9, "menu": 1 << 9, "blockquote": 1 << 11,
}  # fmt: skip
_ROLES: Final = {
    "main": 1, "article": 1 << 1, "contentinfo": 1 << 2, "complementary": 1 << 3, "navigation": 1 << 5,
    "banner": 1 << 6, "form": 1 << 7, "search": 1 << 7, "dialog": 1 << 5, "menu": 1 << 5, "menubar": 1 << 5,
}  # fmt: skip
_TAGS: Final = {
    name: number
    for number, names in enumerate(
        (
            "p", "div", "section", "article", "main", "header", "footer", "nav", "aside", "form", "h1", "h2", "h3",
            "h4", "h5 h6", "li", "td", "th", "dt", "dd", "blockquote", "pre", "figcaption caption", "button",
            "label", "summary", "address", "tr table tbody", "ul ol dl", "body", "noscript", "figure", "details",
        )
    )
    for name in names.split()
}  # fmt: skip
_OTHER_TAG: Final = 40
_HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_LEADS: Final = {"": 0, "a": 1, "strong": 2, "b": 2, "em": 3, "i": 3, "span": 4, "time": 5, "code": 6, "small": 7}
_ENDS: Final = {
    **dict.fromkeys(".!?…。！？", 1), **dict.fromkeys(",;、，", 2), ":": 3, "：": 3, **dict.fromkeys("\"”’)»]」", 4),
    **dict.fromkeys("›→>»|", 5),
}  # fmt: skip
_SIGNS: Final = re.compile(
    "(?P<c>[©®™])|(?P<m>[$€£¥₹])|(?P<a>@)|(?P<p>[|•·›»→←])|(?P<t>\\d{1,2}:\\d\\d)|(?P<y>\\b(?:19|20)\\d\\d\\b)"
)
_SIGN_CODES: Final = {"c": 1, "m": 2, "a": 3, "p": 4, "t": 5, "y": 6}
_DIGITS: Final = re.compile(r"\d")
_WORDS: Final = re.compile(r"[A-Z]?[a-z]{2,}|[A-Z]{2,}")


@dataclass(frozen=True, slots=True)
class Lexicon:
    """What words mean for a block: 128 is neutral, less is boilerplate, more is content. Learned in training."""

    names: Mapping[str, int]
    """Parts of class names, ids, roles and item properties."""
    phrases: Mapping[str, int]
    """Whole short blocks, in small letters."""
    openings: Mapping[str, int]
    """First two words of a block, in small letters; one word and a space for the first word alone."""
    endings: Mapping[str, int]
    """Last two words of a block, in small letters."""
    groups: Mapping[str, int]
    """Parts of names that tell what an element is for; see `group_of`."""


@dataclass(slots=True)
class Facts:
    """What is known of a page's blocks."""

    columns: list[bytes]
    """One column a feature, in the order of `FEATURES`; one byte a block."""
    ancestors: list[list[int]]
    """The element of each block, then the next one around it, and so on."""
    siblings: list[int]
    """For each element: the number of its group of brothers of one kind."""
    kinds: list[int]
    """For each block: the number of its group of blocks of one shape, anywhere on the page."""
    parents: list[int]
    """For each element: the next one around it."""
    owners: list[int]
    """The element of each block."""
    sizes: list[int]
    """Characters of each block."""
    headings: list[bool]
    """Whether each block is a heading."""


def split_name(name: str) -> list[str]:
    """Return the words that a class name or an id is made of, in small letters."""
    return [word.lower() for word in _WORDS.findall(name)]


def group_of(word: str) -> int:
    """Return what a part of a name says an element is for: a bit for each of the groups of keywords."""
    bits = 0
    for match in _KEYWORDS.finditer(word):
        bits |= _BITS[match.lastgroup or ""]
    return bits


def opening(text: str) -> tuple[str, str]:
    """Return the keys of a block's first word and of its first two words."""
    words = text[:60].lower().split(" ", 2)
    return words[0] + " ", " ".join(words[:2])


def ending(text: str) -> str:
    """Return the key of a block's last two words."""
    return " ".join(text[-40:].lower().rsplit(" ", 2)[-2:])


def names_of(layout: Layout) -> list[str]:
    """Return what each element says of itself: its classes, id, role and item property."""
    names = []
    for element in layout.elements:
        get = element.attr
        text = get("class") or ""
        if (more := get("id")) is not None:
            text = f"{text} {more}"
        if (more := get("itemprop")) is not None:
            text = f"{text} {more}"
        if (more := get("role")) is not None:
            text = f"{text} role{more}"
        names.append(text)
    return names


def _ratio(part: float, whole: float) -> int:
    return int(200 * part / whole) if whole > 0 else 0


def _take(column: Sequence[int], picks: Iterable[int]) -> bytes:
    return bytes(map(column.__getitem__, picks))


def _log(value: int) -> int:
    return _LOG[value if value < 32767 else 32767]


def _logs(values: Sequence[int]) -> bytes:
    if max(values, default=0) > 32767:
        values = [min(value, 32767) for value in values]
    return bytes(map(_LOG.__getitem__, values))


def _bits(masks: Sequence[int], count: int) -> list[bytes]:
    """Return a column of zeros and ones for each of the lowest bits of some masks, of which few are different."""
    numbers: dict[int, int] = {}
    places = [numbers.setdefault(mask, len(numbers)) for mask in masks]
    if len(numbers) > 256:
        return [bytes(mask >> bit & 1 for mask in masks) for bit in range(count)]
    row = bytes(places)
    rest = bytes(256 - len(numbers))
    return [row.translate(bytes(mask >> bit & 1 for mask in numbers) + rest) for bit in range(count)]


_LEVELS: Final = (0, 1, 2, 3, 5)
FEATURES: Final[tuple[str, ...]] = (
    "size", "words", "link_share", "links", "end", "sentences", "commas", "start", "title_case", "digits", "sign",
    "tag", "lead", "heading", "phrase", "opening1", "opening2", "ending", "repeat", "same_as_h1",
    "place", "good_place", "since_h1", "since_heading", "last_heading_size",
    *(f"{what}{step:+d}" for step in (-2, -1, 1, 2) for what in ("size", "link_share", "tag", "phrase")),
    "window_links", "window_good",
    *(f"{what}@{level}" for level in _LEVELS for what in ("size", "link_share", "good", "blocks", "paragraphs")),
    "depth", *(f"in_{name}" for name in _SEMANTIC), "articles_around",
    *(f"kw_{name}" for name in _GROUPS), "name_low@0", "name_high@0", "name_low@1", "name_high@1", "name_low@2",
    "name_high@2", "name_low_any", "name_high_any", "name_sum",
    *(f"brothers{what}@{level}" for level in (0, 1, 2, 3) for what in ("", "_size")),
    "kind_count", "kind_size", "kind_links",
    "in_core", "in_half", "below_core", "below_half", "core_place", "half_place", "branch_size", "branch_links",
    "branch_good",
    "page_blocks", "page_size", "page_links", "page_paragraphs", "page_good", "core_size", "core_good",
    "page_article", "page_articles", "page_headings", "page_pre", "page_cells", "page_items", "page_money",
    "page_times", "page_forms", "page_main", "page_kind_share", "page_kind_size", "page_kind_count", "page_comment",
    "page_thread", "page_product", "page_listing",
)  # fmt: skip
"""The names of the columns."""


def describe(layout: Layout, lexicon: Lexicon, names: list[str] | None = None) -> Facts:
    """Return what is known of each block of a page that has blocks."""
    names = names_of(layout) if names is None else names
    parents, tags, texts, owners = layout.parents, layout.tags, layout.texts, layout.owners
    count, total_elements = len(texts), len(parents)
    sizes = list(map(len, texts))
    link_shares = [_ratio(linked, length) for linked, length in zip(layout.linked, layout.lengths, strict=True)]
    good = [
        size * (200 - share) * (10 if size >= 80 else 3) // 2000 if size >= 40 else 0
        for size, share in zip(sizes, link_shares, strict=True)
    ]

    # what elements hold, from the inside out
    held = [0] * total_elements
    held_links = [0] * total_elements
    held_good = [0] * total_elements
    held_blocks = [0] * total_elements
    held_paragraphs = [0] * total_elements
    first = [count] * total_elements
    last = [-1] * total_elements
    for block, owner in enumerate(owners):
        held[owner] += sizes[block]
        held_links[owner] += sizes[block] * link_shares[block]
        held_good[owner] += good[block]
        held_blocks[owner] += 1
        if sizes[block] >= 80 and link_shares[block] < 80:
            held_paragraphs[owner] += 1
        if first[owner] > block:
            first[owner] = block
        last[owner] = block
    ends = list(range(total_elements))
    for element in range(total_elements - 1, 0, -1):
        parent = parents[element]
        if held_blocks[element]:
            held[parent] += held[element]
            held_links[parent] += held_links[element]
            held_good[parent] += held_good[element]
            held_blocks[parent] += held_blocks[element]
            held_paragraphs[parent] += held_paragraphs[element]
            if first[element] < first[parent]:
                first[parent] = first[element]
            if last[element] > last[parent]:
                last[parent] = last[element]
        if ends[element] > ends[parent]:
            ends[parent] = ends[element]
    total_size, total_good = held[0], held_good[0] or 1

    # what elements are called, and where they stand
    depths = [0] * total_elements
    flags = [0] * total_elements
    own = [0] * total_elements
    around = [0] * total_elements
    low, high = bytearray(b"\x80" * total_elements), bytearray(b"\x80" * total_elements)
    low_any, high_any = bytearray(low), bytearray(low)
    sums = [128] * total_elements
    articles = bytearray(total_elements)
    seen_names: dict[str, tuple[int, int, int, int]] = {}
    brother_ids: dict[tuple[int, str, str], int] = {}
    siblings = [0] * total_elements
    brother_count: list[int] = []
    brother_size: list[int] = []
    known, groups = lexicon.names, lexicon.groups.get
    for element in range(total_elements):
        parent = parents[element]
        tag, name = tags[element], names[element]
        if name:
            judged = seen_names.get(name)
            if judged is None:
                words = split_name(name)
                bits = 0
                for word in words:
                    bits |= groups(word, 0)
                scores = [known[word] for word in words if word in known]
                role = name.rfind(" role")
                judged = seen_names[name] = (
                    bits,
                    min(128, *scores, 128),
                    max(128, *scores, 128),
                    _ROLES.get(name[role + 5 :], 0) if role >= 0 else 0,
                )
            bits, low[element], high[element], flag = judged
        else:
            bits = flag = 0
        own[element] = bits
        flag |= _FLAGS.get(tag, 0)
        if element:
            depths[element] = depths[parent] + 1
            flags[element] = flags[parent] | flag
            around[element] = around[parent] | bits
            low_any[element] = min(low_any[parent], low[element])
            high_any[element] = max(high_any[parent], high[element])
            sums[element] = sums[parent] + (low[element] + high[element] - 256) // 2
            articles[element] = articles[parent] + 1 if tag == "article" and articles[parent] < 9 else articles[parent]
        if held_blocks[element]:
            key = (parent, tag, name)
            group = brother_ids.get(key)
            if group is None:
                group = brother_ids[key] = len(brother_count)
                brother_count.append(0)
                brother_size.append(0)
            siblings[element] = group
            brother_count[group] += 1
            brother_size[group] += held[element]

    # where most of the running text is
    core = half = 0
    core_depth = half_depth = -1
    for element in range(total_elements):
        share = held_good[element]
        if 20 * share >= 9 * total_good and depths[element] > half_depth:
            half, half_depth = element, depths[element]
        if 10 * share >= 7 * total_good and depths[element] > core_depth:
            core, core_depth = element, depths[element]
    core_end, half_end = ends[core], ends[half]
    branch = [0] * total_elements
    for element in range(core + 1, core_end + 1):
        branch[element] = element if parents[element] == core else branch[parents[element]]

    # blocks of one shape
    kind_ids: dict[tuple[str, str, str, str], int] = {}
    kinds = []
    for owner in owners:
        parent = parents[owner]
        shape = (tags[owner], names[owner], tags[parent], names[parent])
        kinds.append(kind_ids.setdefault(shape, len(kind_ids)))
    kind_count, kind_size, kind_links = [0] * len(kind_ids), [0] * len(kind_ids), [0] * len(kind_ids)
    for kind, size, share in zip(kinds, sizes, link_shares, strict=True):
        kind_count[kind] += 1
        kind_size[kind] += size
        kind_links[kind] += share

    # the text itself
    is_heading = [tags[owner] in _HEADINGS for owner in owners]
    main_heading = -1
    for block, owner in enumerate(owners):
        if tags[owner] == "h1" and not flags[owner] & 4:
            main_heading = block
            break
    heading_text = texts[main_heading].lower() if main_heading >= 0 else None
    ends_with, starts_with, title_case, digits, signs, phrase, opening1, opening2, closing, repeat, same = (
        bytearray(count) for _ in range(11)
    )
    sentences, commas = bytearray(count), bytearray(count)
    since_heading, heading_size = bytearray(count), bytearray(count)
    seen: dict[str, int] = {}
    since, heading_length = 200, 0
    money = times = 0
    phrases, openings, endings = lexicon.phrases.get, lexicon.openings.get, lexicon.endings.get
    for block, text in enumerate(texts):
        ends_with[block] = _ENDS.get(text[-1], 0)
        initial = text[0]
        starts_with[block] = (
            1
            if initial.isupper()
            else 2
            if initial.islower()
            else 3
            if initial.isdigit()
            else 4
            if initial.isalpha()
            else 5
        )
        size = sizes[block]
        if size < 100:
            title_case[block] = 1 if text.istitle() else 2 if text.isupper() else 0
            lowered = text.lower()
            phrase[block] = phrases(lowered, 128)
            repeats = seen.get(lowered, 0)
            seen[lowered] = repeats + 1
            repeat[block] = repeats if repeats < 4 else 4
            if lowered == heading_text:
                same[block] = 1
            digits[block] = _ratio(len(_DIGITS.findall(text)), size)
        else:
            phrase[block] = 128
        if size > 12:
            marks = text.count(". ") + text.count("? ") + text.count("! ") + text.count("。")
            sentences[block] = _LOG[marks if marks < 32767 else 32767]
            marks = text.count(",") + text.count("、") + text.count("，")
            commas[block] = _LOG[marks if marks < 32767 else 32767]
        match = _SIGNS.search(text, 0, 120)
        if match is not None:
            sign = signs[block] = _SIGN_CODES[match.lastgroup or ""]
            if sign == 2 and size < 40:
                money += 1
            elif sign >= 5 and size < 60:
                times += 1
        one, two = opening(text)
        opening1[block] = openings(one, 128)
        opening2[block] = openings(two, 128)
        closing[block] = endings(ending(text), 128)
        if is_heading[block]:
            since, heading_length = 0, size
        else:
            since += 1
        since_heading[block] = since if since < 200 else 200
        heading_size[block] = _LOG[heading_length if heading_length < 32767 else 32767]

    # columns
    size_column = _logs(sizes)
    link_column = bytes(link_shares)
    tag_codes = [_TAGS.get(tag, _OTHER_TAG) for tag in tags]
    tag_column = _take(tag_codes, owners)
    sums_good = list(accumulate(good, initial=0))
    sums_links = list(accumulate(link_shares, initial=0))
    span_core, span_half = last[core] - first[core] + 1, last[half] - first[half] + 1
    columns: list[bytes] = [
        size_column,
        _logs([text.count(" ") for text in texts]),
        link_column,
        _logs(layout.links),
        bytes(ends_with),
        bytes(sentences),
        bytes(commas),
        bytes(starts_with),
        bytes(title_case),
        bytes(digits),
        bytes(signs),
        tag_column,
        bytes(_LEADS.get(lead, 9) for lead in layout.leads),
        bytes(int(tags[owner][1]) if heading else 0 for heading, owner in zip(is_heading, owners, strict=True)),
        bytes(phrase),
        bytes(opening1),
        bytes(opening2),
        bytes(closing),
        bytes(repeat),
        bytes(same),
        bytes(200 * block // count for block in range(count)),
        bytes(200 * so_far // total_good for so_far in sums_good[:-1]) if held_good[0] else bytes(count),
        bytes(min(200, max(0, block - main_heading + 60)) if main_heading >= 0 else 220 for block in range(count)),
        bytes(since_heading),
        bytes(heading_size),
    ]
    for step in (-2, -1, 1, 2):
        for column in (size_column, link_column, tag_column, bytes(phrase)):
            columns.append(_shift(column, step))
    lows = [max(0, block - 5) for block in range(count)]
    highs = [min(count, block + 6) for block in range(count)]
    columns.append(bytes((sums_links[b] - sums_links[a]) // (b - a) for a, b in zip(lows, highs, strict=True)))
    columns.append(_logs([sums_good[b] - sums_good[a] for a, b in zip(lows, highs, strict=True)]))

    ancestors = [owners]
    for _ in range(5):
        ancestors.append([parents[element] for element in ancestors[-1]])
    share_codes = [links // whole if whole else 0 for links, whole in zip(held_links, held, strict=True)]
    size_codes = _logs(held)
    good_codes = bytes(200 * share // total_good for share in held_good)
    block_codes = _logs(held_blocks)
    paragraph_codes = [
        200 * some // every if every else 0 for some, every in zip(held_paragraphs, held_blocks, strict=True)
    ]
    for level in _LEVELS:
        picks = ancestors[level]
        for codes in (size_codes, share_codes, good_codes, block_codes, paragraph_codes):
            columns.append(_take(codes, picks))
    columns.append(bytes(min(_TOP, depths[owner]) for owner in owners))
    block_flags = [flags[owner] for owner in owners]
    columns.extend(_bits(block_flags, len(_SEMANTIC)))
    columns.append(_take(articles, owners))
    near = [own[owner] | own[parents[owner]] for owner in owners]
    far = [around[owner] for owner in owners]
    for here, anywhere in zip(_bits(near, len(_GROUPS)), _bits(far, len(_GROUPS)), strict=True):
        columns.append(bytes(map(add, here, anywhere)))
    for level in (0, 1, 2):
        columns.append(_take(low, ancestors[level]))
        columns.append(_take(high, ancestors[level]))
    columns.append(_take(low_any, owners))
    columns.append(_take(high_any, owners))
    columns.append(bytes(max(0, min(_TOP, sums[owner])) for owner in owners))
    counts = _take(_logs(brother_count), siblings)
    means = _take(_logs([size // n for size, n in zip(brother_size, brother_count, strict=True)]), siblings)
    for level in (0, 1, 2, 3):
        columns.append(_take(counts, ancestors[level]))
        columns.append(_take(means, ancestors[level]))
    columns.append(_take(_logs(kind_count), kinds))
    columns.append(_take(_logs([size // n for size, n in zip(kind_size, kind_count, strict=True)]), kinds))
    columns.append(_take([share // n for share, n in zip(kind_links, kind_count, strict=True)], kinds))
    in_core = bytes(core <= owner <= core_end for owner in owners)
    in_half = bytes(half <= owner <= half_end for owner in owners)
    columns.append(in_core)
    columns.append(in_half)
    columns.append(bytes(min(50, depths[o] - core_depth) + 1 if i else 0 for o, i in zip(owners, in_core, strict=True)))
    columns.append(bytes(min(50, depths[o] - half_depth) + 1 if i else 0 for o, i in zip(owners, in_half, strict=True)))
    columns.append(bytes(max(0, min(250, 50 + 100 * (block - first[core]) // span_core)) for block in range(count)))
    columns.append(bytes(max(0, min(250, 50 + 100 * (block - first[half]) // span_half)) for block in range(count)))
    branches = [branch[owner] for owner in owners]
    for codes in (size_codes, share_codes, good_codes):
        columns.append(bytes(codes[b] if b else 255 - 1 for b in branches))

    # the page as a whole
    every = around_all = 0
    for owner in owners:
        every |= flags[owner]
        around_all |= own[owner]
    widest = max(range(len(kind_count)), key=lambda kind: kind_size[kind])
    tag_counts: dict[str, int] = {}
    for owner in owners:
        tag_counts[tags[owner]] = tag_counts.get(tags[owner], 0) + 1
    keyword_size = [0] * len(_GROUPS)
    for bit in (6, 7, 9, 10):
        keyword_size[bit] = sum(size for size, mask in zip(sizes, far, strict=True) if mask >> bit & 1)
    page = (
        _log(count),
        _log(total_size),
        _ratio(held_links[0] / 200, total_size),
        _log(held_paragraphs[0]),
        _ratio(held_good[0], total_size),
        _log(held[core]),
        _ratio(held_good[core], held[core]),
        1 if every & 2 else 0,
        _log(tags.count("article")),
        _log(sum(is_heading)),
        _ratio(sum(size for size, flag in zip(sizes, block_flags, strict=True) if flag >> 15 & 1), total_size),
        _ratio(tag_counts.get("td", 0) + tag_counts.get("th", 0), count),
        _ratio(tag_counts.get("li", 0), count),
        _log(money),
        _log(times),
        _log(tags.count("form")),
        1 if every & 1 else 0,
        _ratio(kind_size[widest], total_size),
        _log(kind_size[widest] // kind_count[widest]),
        _log(kind_count[widest]),
        *(_ratio(keyword_size[bit], total_size) for bit in (6, 7, 9, 10)),
    )
    columns.extend(bytes((value,)) * count for value in page)
    return Facts(columns, ancestors, siblings, kinds, parents, owners, sizes, is_heading)


def _shift(column: bytes, step: int) -> bytes:
    """Return a column that shows of each block what stands `step` blocks further."""
    edge = bytes((_TOP,)) * min(abs(step), len(column))
    return column[step:] + edge if step > 0 else edge + column[:step]


SECOND: Final[tuple[str, ...]] = (
    "score",
    *(f"score{step:+d}" for step in (-4, -3, -2, -1, 1, 2, 3, 4)),
    "before", "after", "before_far", "after_far",
    *(f"score@{level}" for level in (0, 1, 2, 3, 4, 5)),
    "score_kind", "score_brothers@0", "score_brothers@1", "score_brothers@2", "score_section", "score_next_text",
    "since_first_sure", "until_last_sure", "sure_before", "sure_after", "rank",
    "in_main", "below_main", "main_precision", "main_share", "in_most", "below_most", "most_precision",
    "page_expected", "page_expected_share", "page_sure", "page_sure_share", "page_doubt",
)  # fmt: skip
"""The names of the columns that `second_look` adds."""


def second_look(facts: Facts, scores: Sequence[int]) -> list[bytes]:
    """Return what the first scores of the blocks around it say about each block.

    Args:
        facts: What is known of the page.
        scores: The first score of each block, 0 to 254.
    """
    sizes, owners, parents, ancestors = facts.sizes, facts.owners, facts.parents, facts.ancestors
    count, total_elements = len(scores), len(parents)
    mass = [size * score for size, score in zip(sizes, scores, strict=True)]
    total_size, total_mass = sum(sizes), sum(mass)
    column = bytes(scores)
    columns = [column]
    columns.extend(_shift(column, step) for step in (-4, -3, -2, -1, 1, 2, 3, 4))
    columns.extend(_trail(sizes, scores, scale) for scale in (200, 1500))
    columns[-2:] = [
        columns[-2],
        _trail(sizes[::-1], scores[::-1], 200)[::-1],
        columns[-1],
        _trail(sizes[::-1], scores[::-1], 1500)[::-1],
    ]

    held, held_mass = [0] * total_elements, [0] * total_elements
    for owner, size, part in zip(owners, sizes, mass, strict=True):
        held[owner] += size
        held_mass[owner] += part
    for element in range(total_elements - 1, 0, -1):
        if held[element]:
            held[parents[element]] += held[element]
            held_mass[parents[element]] += held_mass[element]
    means = bytes(part // size if size else 0 for part, size in zip(held_mass, held, strict=True))
    for level in (0, 1, 2, 3, 4, 5):
        columns.append(_take(means, ancestors[level]))
    columns.append(_group_means(facts.kinds, sizes, mass, facts.kinds))
    groups = facts.siblings
    texts = [element for element in range(total_elements) if held[element]]
    brothers = _group_column(groups, texts, held, held_mass, total_elements)
    for level in (0, 1, 2):
        columns.append(_take(brothers, ancestors[level]))

    # the section under each heading, and the next text that is no heading
    section, following = bytearray(count), bytearray(count)
    size_sum = mass_sum = 0
    next_score = 0
    for block in range(count - 1, -1, -1):
        section[block] = mass_sum // size_sum if size_sum else 0
        following[block] = next_score
        if facts.headings[block]:
            size_sum = mass_sum = 0
        else:
            size_sum += sizes[block]
            mass_sum += mass[block]
            next_score = scores[block]
    columns.append(bytes(section))
    columns.append(bytes(following))

    sure = [block for block, score in enumerate(scores) if score >= 178]
    first, last = (sure[0], sure[-1]) if sure else (count, -1)
    columns.append(bytes(max(0, min(200, block - first + 100)) for block in range(count)))
    columns.append(bytes(max(0, min(200, last - block + 100)) for block in range(count)))
    so_far, sure_before = 0, []
    for size, score in zip(sizes, scores, strict=True):
        sure_before.append(so_far)
        if score >= 178:
            so_far += size
    columns.append(_logs(sure_before))
    columns.append(_logs([max(0, so_far - before) for before in sure_before]))
    above = [0] * 256
    for score, size in zip(scores, sizes, strict=True):
        above[score] += size
    running, ranks = 0, bytearray(256)
    for score in range(255, -1, -1):
        ranks[score] = 200 * running // total_size
        running += above[score]
    columns.append(_take(ranks, scores))

    depths = [0] * total_elements
    ends = list(range(total_elements))
    main = most = 0
    for element in range(1, total_elements):
        depths[element] = depths[parents[element]] + 1
        part = held_mass[element]
        if 10 * part >= 9 * total_mass and depths[element] > depths[main]:
            main = element
        if 10 * part >= 6 * total_mass and depths[element] > depths[most]:
            most = element
    for element in range(total_elements - 1, 0, -1):
        if ends[element] > ends[parents[element]]:
            ends[parents[element]] = ends[element]
    in_main = bytes(main <= owner <= ends[main] for owner in owners)
    in_most = bytes(most <= owner <= ends[most] for owner in owners)
    page = {
        "main": (means[main], _ratio(held[main], total_size)),
        "most": (means[most],),
    }
    for inside, place, name in ((in_main, main, "main"), (in_most, most, "most")):
        columns.append(inside)
        columns.append(
            bytes(min(50, depths[o] - depths[place]) + 1 if i else 0 for o, i in zip(owners, inside, strict=True))
        )
        columns.extend(bytes((value,)) * count for value in page[name])
    doubt = sum(size for size, score in zip(sizes, scores, strict=True) if 50 < score < 200)
    for value in (
        _log(total_mass // 254),
        total_mass // total_size,
        _log(so_far),
        _ratio(so_far, total_size),
        _ratio(doubt, total_size),
    ):
        columns.append(bytes((min(_TOP, value),)) * count)
    return columns


def _trail(sizes: Sequence[int], scores: Sequence[int], scale: int) -> bytes:
    """Return the mean score of what stands before each block; what is `scale` characters away counts a third."""
    mean = 0.0
    trail = bytearray()
    for size, score in zip(sizes, scores, strict=True):
        trail.append(int(mean))
        fresh = (size + 10) / (size + 10 + scale)
        mean += (score - mean) * fresh
    return bytes(trail)


def _group_means(groups: Sequence[int], sizes: Sequence[int], mass: Sequence[int], picks: Sequence[int]) -> bytes:
    held, held_mass = [0] * (max(groups) + 1), [0] * (max(groups) + 1)
    for group, size, part in zip(groups, sizes, mass, strict=True):
        held[group] += size
        held_mass[group] += part
    return bytes(held_mass[group] // held[group] if held[group] else 0 for group in picks)


def _group_column(
    groups: Sequence[int], members: Sequence[int], held: Sequence[int], held_mass: Sequence[int], size: int
) -> bytes:
    """Return for each element the mean score of its group of brothers."""
    group_held, group_mass = [0] * size, [0] * size
    for element in members:
        group_held[groups[element]] += held[element]
        group_mass[groups[element]] += held_mass[element]
    return bytes(group_mass[group] // group_held[group] if group_held[group] else 0 for group in groups)
