"""Further rules by which sentences of a page are said otherwise and made wrong, with the page's other sentences.

The false ones are what a careless summary does: a weaker or stronger word, the tail of another sentence, a name or a
number that is elsewhere on the same page. The true ones keep the sense.
"""

from __future__ import annotations

import calendar
import itertools
import random
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.resources import files

from benchmarks.citations.rewriting import WORDS_KEPT, exchanged, one_of
from groundwire.citations.verify.entities import dates_of, names_of
from groundwire.citations.verify.language_packs import Language
from groundwire.citations.verify.quantities import numbers_of

__all__ = ["FALSE", "TRUE", "PageRule", "foreign", "foreign_true"]

PageRule = Callable[[str, Sequence[str], random.Random], str | None]
"""Takes a sentence, the other sentences of its page, and a generator; returns None if nothing can be changed."""


def _rows(text: str) -> dict[str, tuple[str, ...]]:
    """Return a table of words and what may replace each: `all=some,few`."""
    return {one: tuple(others.split(",")) for one, others in (pair.split("=") for pair in text.split())}


def _both_ways(text: str) -> dict[str, tuple[str, ...]]:
    table: dict[str, tuple[str, ...]] = {}
    for one, other in (pair.split("/") for pair in text.split()):
        table.setdefault(one, (other,))
        table.setdefault(other, (one,))
    return table


_MODALS = _rows(
    "may=must,will might=will,must must=can,may can=must,cannot should=will,must will=may,can could=will would=might"
)
_QUANTIFIERS = _rows(
    "all=some,most every=no each=no some=all,no many=few,all most=all,few few=many,most several=all both=neither "
    "none=all half=most only=also always=sometimes,never often=rarely usually=always,rarely never=often,always "
    "sometimes=always,never rarely=often entire=partial everyone=nobody anyone=nobody everything=nothing"
)
_ORDINALS = _rows(
    "first=second,third second=first,third third=second,fourth fourth=third,fifth fifth=sixth,fourth sixth=seventh "
    "1st=2nd 2nd=3rd 3rd=4th 4th=5th 5th=4th 6th=7th 10th=9th 19th=18th,20th 20th=19th,21st 18th=17th 17th=16th"
)
_SCALES = _rows("million=billion,thousand billion=million,trillion thousand=million trillion=billion hundred=thousand")
_COMPARED = _both_ways(
    "before/after more/less higher/lower first/last most/least above/below earlier/later better/worse larger/smaller "
    "greater/smaller older/younger longer/shorter faster/slower best/worst highest/lowest largest/smallest "
    "stronger/weaker maximum/minimum newest/oldest latest/earliest cheaper/dearer easier/harder over/under"
)
_DIRECTIONS = _both_ways(
    "north/south northern/southern east/west eastern/western left/right up/down increase/decrease increases/decreases "
    "increased/decreased increasing/decreasing rise/fall rises/falls rose/fell win/lose wins/loses won/lost buy/sell "
    "buys/sells bought/sold buying/selling open/close opens/closes opened/closed start/end starts/ends started/ended "
    "add/remove adds/removes added/removed accept/reject accepted/rejected include/exclude includes/excludes "
    "including/excluding inside/outside internal/external import/export push/pull send/receive sends/receives "
    "sent/received allow/forbid allows/forbids allowed/forbidden enable/disable enables/disables improve/worsen "
    "improves/worsens improved/worsened reduce/increase reduces/increases reduced/increased front/back hot/cold "
    "public/private easy/difficult simple/complicated safe/dangerous free/paid large/small big/small new/old "
    "long/short high/low strong/weak early/late full/empty fast/slow good/bad positive/negative create/destroy "
    "created/destroyed support/oppose supports/opposes supported/opposed gain/lose gains/loses gained/lost day/night "
    "summer/winter morning/evening father/mother son/daughter brother/sister men/women male/female"
)
_WEEKDAYS = tuple(calendar.day_name)
_MONTHS = tuple(calendar.month_name)[1:]
_BOUNDS = _both_ways("at_least/at_most more_than/less_than up_to/at_least no_more_than/no_less_than over/under")


def _table(table: Mapping[str, tuple[str, ...]]) -> PageRule:
    return lambda sentence, page, chance: one_of(sentence, chance, table)


def _modal(sentence: str, page: Sequence[str], chance: random.Random) -> str | None:
    return None if re.search(r"\b(?:May|Will|not)\b|n['’]t\b", sentence) else one_of(sentence, chance, _MODALS)


def _bound(sentence: str, page: Sequence[str], chance: random.Random) -> str | None:
    """Replace the bound before a number: at least 20, at most 20."""
    phrases = "|".join(one.replace("_", " ") for one in _BOUNDS)
    found = list(re.finditer(rf"\b({phrases})(?= [$€£]?\d)", sentence, re.IGNORECASE))
    if not found:
        return None
    match = chance.choice(found)
    other = _BOUNDS[match[1].lower().replace(" ", "_")][0].replace("_", " ")
    return (
        sentence[: match.start()] + (other.capitalize() if match[1][0].isupper() else other) + sentence[match.end() :]
    )


def _calendar(sentence: str, page: Sequence[str], chance: random.Random) -> str | None:
    """Replace a weekday, a month or a decade."""
    found = list(re.finditer(rf"\b(?:{'|'.join((*_WEEKDAYS, *_MONTHS))})(?=s?\b)|\b(?:1[5-9]|20)\d0s\b", sentence))
    found = [match for match in found if match[0] not in {"May", "March"}]
    if not found:
        return None
    match = chance.choice(found)
    if match[0][0].isdecimal():
        other = f"{int(match[0][:4]) + chance.choice((-20, -10, 10))}s"
    else:
        other = chance.choice([one for one in (_WEEKDAYS if match[0] in _WEEKDAYS else _MONTHS) if one != match[0]])
    return sentence[: match.start()] + other + sentence[match.end() :]


def _currency(sentence: str, page: Sequence[str], chance: random.Random) -> str | None:
    for one, other in (("$", "€"), ("€", "$"), ("£", "€"), ("%", " percentage points")):
        if re.search(rf"\d{re.escape(one)}|{re.escape(one)}\d", sentence):
            return sentence.replace(one, other, 1)
    return None


def _negation(sentence: str, page: Sequence[str], chance: random.Random) -> str | None:
    """Deny what is stated with another word than "not", or state what is denied."""
    changed = re.sub(r"\b(do|does|did|is|are|was|were|would|could|should|has|have)n['’]t\b", r"\1", sentence, count=1)
    if changed == sentence and re.search(r"\b(?:not|never|no|without|none|neither|nor|cannot)\b|n['’]t", sentence):
        changed = re.sub(r"\b(?:not|never) ", "", sentence, count=1)
        return None if changed == sentence or re.search(r"not (?:only|just)", sentence) else changed
    ways = [(r"\b(has|have) (?=\w+ed\b)", r"\1 never "), (r"\bwith (?=an? |the )", "without "), (r"\balso\b", "never")]
    for form, instead in chance.sample(ways, len(ways)) if changed == sentence else ():
        changed = re.sub(form, instead, sentence, count=1)
        if changed != sentence:
            return changed
    return None if changed == sentence else changed


def _tense(sentence: str, page: Sequence[str], chance: random.Random) -> str | None:
    """Make a plan a fact, or a fact a plan."""
    ways = (
        (r"\bwill be\b", "was"), (r"\bhas been\b", "will be"), (r"\b(was|were) (?=\w+ed\b)", "will be "),
        (r"\bwill (launch|open|start|end|receive|replace|offer)\b", r"has \1ed"), (r"\bused to be\b", "will be"),
    )  # fmt: skip
    for form, instead in chance.sample(ways, len(ways)):
        changed = re.sub(form, instead, sentence, count=1)
        if changed != sentence:
            return changed.replace("starteded", "started").replace("receiveed", "received").replace("ceed ", "ced ")
    return None


_PASSIVE = re.compile(
    r"(?P<object>(?:The|A|An|This|These|[A-Z]\w+)(?: [\w'’-]+){0,3}) (?P<be>was|were) (?P<verb>\w+ed) by "
    r"(?P<agent>(?:the |a |an )?[\w'’-]+(?: [A-Z][\w'’-]+){0,3})(?P<rest>(?: (?:in|on|at|for|after|during) [^,;:]+)?\.)"
)


def _roles(sentence: str, page: Sequence[str], chance: random.Random) -> str | None:
    """Let the one to whom something was done do it."""
    found = _PASSIVE.fullmatch(sentence)
    return (
        _spoken(f"{found['agent']} {found['be']} {found['verb']} by {found['object']}{found['rest']}")
        if found
        else None
    )


def _active(sentence: str, page: Sequence[str], chance: random.Random) -> str | None:
    found = _PASSIVE.fullmatch(sentence)
    return _spoken(f"{found['agent']} {found['verb']} {found['object']}{found['rest']}") if found else None


def _spoken(sentence: str) -> str:
    """Capitalize the first word, and write an article inside in lower case."""
    inner = re.sub(r"(?<= )(The|A|An|This|These)(?= )", lambda found: found[0].lower(), sentence)
    return inner[0].upper() + inner[1:]


def _name_here(sentence: str, page: Sequence[str], chance: random.Random) -> str | None:
    """Replace a name by one of another sentence of the page."""
    mine = [name for name in names_of(sentence) if not name.first and len(name.text) > 3]
    known = set(re.findall(r"\w+", sentence.lower()))
    others = [name.text for one in page for name in names_of(one) if not name.first and len(name.text) > 3]
    others = [name for name in others if known.isdisjoint(re.findall(r"\w+", name.lower())) and name.isascii()]
    if not mine or not others:
        return None
    name = chance.choice(mine)
    return sentence[: name.start] + chance.choice(others) + sentence[name.end :]


def _speaker(sentence: str, page: Sequence[str], chance: random.Random) -> str | None:
    """Let somebody else of the page have said it."""
    said = re.search(r"\b(?:said|says|told|wrote|writes|argues|explains|announced|added|according to)\b", sentence)
    return _name_here(sentence, page, chance) if said else None


def _number_here(sentence: str, page: Sequence[str], chance: random.Random) -> str | None:
    """Replace a number by one of another sentence of the page."""
    dates = dates_of(sentence)
    plain = re.compile(r"\d[\d.,]*\d|\d\d")
    mine = [
        one
        for one in numbers_of(sentence)
        if plain.fullmatch(one.text) and not any(date.start <= one.start < date.end for date in dates)
    ]
    others = [one.text for other in page for one in numbers_of(other) if plain.fullmatch(one.text)]
    if not mine or not others:
        return None
    number = chance.choice(mine)
    alike = [one for one in others if len(one) == len(number.text) and one not in sentence]
    return sentence[: number.start] + chance.choice(alike) + sentence[number.end :] if alike else None


def _word_here(sentence: str, page: Sequence[str], chance: random.Random) -> str | None:
    """Replace a word by one of another sentence of the page with the same ending."""
    spans = [one for one in re.finditer(r"(?<![\w'’-])[a-z]{6,}(?![\w'’-])", sentence) if one[0] not in WORDS_KEPT]
    known = set(re.findall(r"\w+", sentence.lower()))
    for match in chance.sample(spans, len(spans)):
        pool = sorted(
            {w for one in page for w in re.findall(r"(?<![\w'’-])[a-z]{6,}(?![\w'’-])", one)} - known - WORDS_KEPT
        )
        alike = [w for w in pool if w[-3:] == match[0][-3:] and w[:4] != match[0][:4]]
        if alike:
            return sentence[: match.start()] + chance.choice(alike) + sentence[match.end() :]
    return None


def _spliced(sentence: str, page: Sequence[str], chance: random.Random) -> str | None:
    """Give a sentence the reason, the purpose or the relative clause of another one of the page."""
    cut = re.compile(r" (because|which|that|when|so that|if|while|to|for|by|with) ")
    mine = [one for one in cut.finditer(sentence) if len(sentence[: one.start()].split()) >= 4]
    if not mine:
        return None
    match = chance.choice(mine)
    tails = [
        other[found.end() :]
        for other in page
        for found in cut.finditer(other)
        if found[1] == match[1] and 4 <= len(other[found.end() :].split()) <= 20
    ]
    rest = sentence[match.end() :]
    tails = [tail for tail in tails if tail not in sentence and not set(tail.split()[:1]) & set(rest.split()[:1])]
    return sentence[: match.end()] + chance.choice(tails) if tails and len(rest.split()) >= 4 else None


_LIST = re.compile(
    r"(?P<one>[A-Za-z][\w'’-]+), (?P<two>[A-Za-z][\w'’-]+),? (?P<and>and|or) (?P<three>[A-Za-z][\w'’-]+)(?=[.,;]|$)"
)


def _member(sentence: str, page: Sequence[str], chance: random.Random) -> str | None:
    """Replace an item of a list by an item of another one of the page."""
    found = _LIST.search(sentence)
    others = [item for one in page for match in _LIST.finditer(one) for item in match.group("one", "two", "three")]
    others = [item for item in others if item.lower() not in sentence.lower() and not item.endswith("ly")]
    if not found or not others:
        return None
    part = chance.choice(("one", "two", "three"))
    return sentence[: found.start(part)] + chance.choice(others) + sentence[found.end(part) :]


def _added(sentence: str, page: Sequence[str], chance: random.Random) -> str | None:
    """Add an item of another list of the page to a list."""
    found = _LIST.search(sentence)
    others = [item for one in page for match in _LIST.finditer(one) for item in match.group("one", "two", "three")]
    others = [item for item in others if item.lower() not in sentence.lower() and not item.endswith("ly")]
    if not found or not others:
        return None
    return f"{sentence[: found.end('one')]}, {chance.choice(others)}{sentence[found.end('one') :]}"


def _reordered(sentence: str, page: Sequence[str], chance: random.Random) -> str | None:
    """Exchange two items of a list."""
    found = _LIST.search(sentence)
    return exchanged(sentence, [found.span("one"), found.span("three")]) if found else None


def _rounded(sentence: str, page: Sequence[str], chance: random.Random) -> str | None:
    """Round a number to two digits: 1,234 to about 1,200."""
    found = re.search(
        r"(?<=[a-z] )(\d{1,3}(?:,\d{3})+|[1-9]\d{2})(?= [a-z])(?! (?:percent|million|billion|thousand))", sentence
    )
    if not found or re.search(
        r"(?:about|around|over|than|nearly|almost|least|to|up|under|page|the|or) $", sentence[: found.start()]
    ):
        return None
    value = int(found[0].replace(",", ""))
    coarse = round(value, 2 - len(str(value)))
    return None if coarse == value else f"{sentence[: found.start()]}about {coarse:,}{sentence[found.end() :]}"


def _converted(sentence: str, page: Sequence[str], chance: random.Random) -> str | None:
    """Give a length, a mass or a time in another unit."""
    units = (
        (r"(?:km|kilometers|kilometres)", 0.621371, "miles"), (r"miles", 1.609344, "km"),
        (r"(?:kg|kilograms)", 2.20462, "pounds"),
        (r"(?:pounds|lbs)", 0.453592, "kg"), (r"(?:feet|ft)", 0.3048, "meters"),
        (r"(?:meters|metres|m)", 3.28084, "feet"),
        (r"inches", 2.54, "cm"), (r"cm", 0.393701, "inches"), (r"hours", 60.0, "minutes"), (r"weeks", 7.0, "days"),
    )  # fmt: skip
    for unit, factor, other in units:
        found = re.search(rf"(?<=[a-z] )(\d+(?:\.\d+)?) {unit}(?= [a-z]|[.,;])(?! (?:and|or|to|per))", sentence)
        if found and not re.search(
            r"(?:about|around|over|than|nearly|almost|least|to|up|under|or) $", sentence[: found.start()]
        ):
            value = float(found[1]) * factor
            said = f"{value:,.0f}" if factor in (60.0, 7.0) else f"about {float(f'{value:.3g}'):,g}"
            return f"{sentence[: found.start()]}{said} {other}{sentence[found.end() :]}"
    return None


def _shares(sentence: str, page: Sequence[str], chance: random.Random) -> str | None:
    """Say a percentage in words: more than half of."""
    found = re.search(r"\b(\d\d)(?:%| percent| per cent) of (?=the|all|their|its|our|your|[a-z]+s\b)", sentence)
    if not found or re.search(r"(?:than|about|around|nearly|over|least|to|under|another) $", sentence[: found.start()]):
        return None
    value = int(found[1])
    spans = ((51, 60, "more than half of "), (61, 95, "most of "), (32, 35, "about a third of "),
             (36, 49, "less than half of "),
             (24, 26, "about a quarter of "), (50, 50, "half of "))  # fmt: skip
    said = next((words for low, high, words in spans if low <= value <= high), None)
    if said is None:
        return None
    said = said if found.start() else said[0].upper() + said[1:]
    return sentence[: found.start()] + said + sentence[found.end() :]


def _merged(sentence: str, page: Sequence[str], chance: random.Random) -> str | None:
    """Join a sentence and the one after it."""
    at = page.index(sentence) + 1 if sentence in page else len(page)
    if at >= len(page) or len(sentence.split()) + len(page[at].split()) > 40:
        return None
    after = page[at]
    first = after.split()[0]
    small = after[0].lower() + after[1:] if first in {"The", "A", "An", "It", "This", "They", "In", "These"} else after
    return f"{sentence.rstrip('.!')}{chance.choice((', and ', '; ', ' and '))}{small}"


def _without_which(sentence: str, page: Sequence[str], chance: random.Random) -> str | None:
    changed = re.sub(r", (?:which|who|where|whose)\b[^,;()]{10,80}, ", " ", sentence, count=1)
    return None if changed == sentence else changed


def _pronoun(sentence: str, page: Sequence[str], chance: random.Random) -> str | None:
    """Say "it", "he" or "she" instead of the name with which a sentence begins."""
    found = re.match(r"(?:[A-Z][\w’-]+ ){1,4}(?=(?:is|was|has|will|can|offers|uses|provides|said|says)\b)", sentence)
    if not found or found[0].split()[0] in {"The", "A", "An", "It", "This", "There", "He", "She", "That", "What", "If"}:
        return None
    if len(found[0].split()) < 2 and not names_of(f"x {sentence}")[:1]:
        return None
    said = (
        "She" if re.search(r"\b(?:her|she)\b", sentence) else "He" if re.search(r"\b(?:his|he)\b", sentence) else "It"
    )
    return f"{said} {sentence[found.end() :]}"


_SHORT = {
    "United States": "US", "United Kingdom": "UK", "European Union": "EU", "Doctor": "Dr.", "percent": "%",
    "kilometers": "km",
    "kilograms": "kg", "versus": "vs.", "information technology": "IT", "artificial intelligence": "AI",
    "approximately": "approx.", "January": "Jan.", "February": "Feb.", "August": "Aug.", "September": "Sept.",
    "October": "Oct.", "November": "Nov.", "December": "Dec.", "Street": "St.", "Professor": "Prof.",
}  # fmt: skip


def _abbreviated(sentence: str, page: Sequence[str], chance: random.Random) -> str | None:
    for long, short in _SHORT.items():
        for one, other in ((long, short), (short, long)):
            changed = re.sub(rf"(?<![\w.]){re.escape(one)}(?![\w.])", other, sentence)
            if changed != sentence and len(one) > 1:
                return changed.replace(" %", "%")
    return None


def _fronted(sentence: str, page: Sequence[str], chance: random.Random) -> str | None:
    """Put a clause that begins with a conjunction first, or the first one last."""
    found = re.fullmatch(
        r"(?P<if>(?:If|When|While|After|Before|Although|Because|Since|Once) [^,;:]{10,80}), (?P<main>[^;:]{15,})\.",
        sentence,
    )
    if found:
        main = found["main"]
        return f"{main[0].upper()}{main[1:]} {found['if'][0].lower()}{found['if'][1:]}."
    found = re.fullmatch(
        r"(?P<main>[A-Z][^,;:]{15,}) (?P<if>(?:if|when|because|although|once) [^,;:]{10,80})\.", sentence
    )
    if not found or not re.match(r"(?:The|A|An|It|This|You|We|They|These)\b", found["main"]):
        return None
    return f"{found['if'][0].upper()}{found['if'][1:]}, {found['main'][0].lower()}{found['main'][1:]}."


FALSE: Mapping[str, PageRule] = {
    "modal": _modal, "quantifier": _table(_QUANTIFIERS), "bound": _bound, "comparison": _table(_COMPARED),
    "direction": _table(_DIRECTIONS), "ordinal": _table(_ORDINALS), "scale": _table(_SCALES), "currency": _currency,
    "calendar": _calendar, "negation": _negation, "tense": _tense, "roles": _roles, "name of the page": _name_here,
    "speaker": _speaker, "number of the page": _number_here, "word of the page": _word_here, "spliced": _spliced,
    "list item": _member, "item added": _added,
}  # fmt: skip
"""The rules by which a sentence is made wrong."""

TRUE: Mapping[str, PageRule] = {
    "true: active": _active, "true: fronted": _fronted, "true: list order": _reordered, "true: rounded": _rounded,
    "true: converted": _converted, "true: share": _shares, "true: merged": _merged, "true: shorter": _without_which,
    "true: pronoun": _pronoun, "true: abbreviated": _abbreviated,
}  # fmt: skip
"""The rules by which it is said otherwise."""


_NEGATED = {
    "de": ((r"\bnicht ", ""), (r"\bkeine", "eine"), (r"\b(ist|sind|war|waren|kann|wird|hat|haben)\b", r"\1 nicht")),
    "fr": (
        (r"\b(?:ne |n['’])(\w+) (?:pas|plus|jamais) ", r"\1 "),
        (r"\b(est|sont|sera|peut|était|ont|a) ", r"ne \1 pas "),
    ),
    "es": ((r"\bno (?=\w)", ""), (r"\b(es|son|está|fue|puede|tiene|ha|han|se) ", r"no \1 ")),
    "pt": ((r"\bnão (?=\w)", ""), (r"\b(é|são|está|foi|pode|tem|foram) ", r"não \1 ")),
    "it": ((r"\bnon (?=\w)", ""), (r"\b(è|sono|può|ha) ", r"non \1 ")),
    "ru": ((r"\bне (?=\w)", ""), (r"\b(может|могут|был|была|были|было|будет|будут|стал|стала) ", r"не \1 ")),
    "zh": (
        ("没有", "有"), ("不(?=[^仅但同断])", ""), ("可以", "不可以"), ("(?<=[^但还就只而若总])是(?=[^否])", "不是"),
    ),
    "ja": (
        ("ません", "ます"), ("できる", "できない"), ("ではない", "である"), ("である", "ではない"),
        ("した。", "しなかった。"), ("する。", "しない。"), ("された。", "されなかった。"), ("った。", "らなかった。"),
    ),
    "ar": ((r"\b(?:لا|لم|لن) (?=\w)", ""), (r"\bكان ", "لم يكن "), (r"\bكانت ", "لم تكن "), (r"\bيمكن ", "لا يمكن ")),
}  # fmt: skip
"""How a denial is removed or added, in this order."""

_FAMILIES = (
    ("quantifier", "all", "some"), ("quantifier", "all", "few"), ("quantifier", "many", "few"),
    ("quantifier", "most", "few"), ("quantifier", "some", "all"), ("quantifier", "few", "many"),
    ("quantifier", "half", "all"), ("modal", "may", "must"), ("modal", "must", "may"), ("modal", "should", "may"),
    ("modal", "will", "may"), ("bound", "over", "under"), ("bound", "under", "over"), ("degree", "more", "less"),
    ("degree", "less", "more"),
)  # fmt: skip
_NEIGHBORS = (
    ("km", "mile"), ("m", "km"), ("cm", "m"), ("kg", "tonne"), ("g", "kg"), ("minute", "hour"), ("hour", "day"),
    ("day", "week"), ("week", "month"), ("month", "year"), ("year", "century"), ("%", "eur"), ("usd", "eur"),
)  # fmt: skip
_SOURCE = {
    "de": "Der Quelle zufolge gilt: ", "fr": "Selon la source, ", "es": "Según la fuente, ", "pt": "Segundo a fonte, ",
    "ru": "По данным источника, ", "zh": "据报道，", "ja": "記事によると、", "ar": "وفقا للمصدر، ",
}  # fmt: skip
_TITLED = {
    "zh": (
        r"(?<![\u4e00-\u9fff])[王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许邓韩冯曹彭曾萧田董潘袁蔡蒋余于杜叶程魏苏吕丁任沈姚卢]"
        r"[\u4e00-\u9fff]{1,2}(?=[，、和与在说表把将被获于的])|[\u4e00-\u9fff]{2,3}(?:大学|公司|博物馆|市|县|省|医院|银行)"
        r"|《[^》]{2,12}》|“[^”]{2,8}”"
    ),
    "ja": (
        r"[\u30a1-\u30ff]{3,}|[\u4e00-\u9fff]{2,4}(?=さん|氏|教授|市長|社長|監督|選手|博士)"
        r"|[\u4e00-\u9fff]{2,4}(?:大学|公司|博物館|市|町|県|病院|銀行)|「[^」]{2,8}」"
    ),
}
"""Names in scripts without capitals, by what is before or after them."""


def _lines(code: str, table: str) -> list[str]:
    pack = files("groundwire.citations.verify").joinpath("languages", f"{code}.toml")
    text = pack.read_text("utf-8") if pack.is_file() else ""
    return tomllib.loads(text).get(table, "").strip().split("\n")


def _exchangeable(sentence: str, tongue: Language) -> list[tuple[int, int]]:
    """Return the places of the names of a sentence; in Arabic those of its words that no list has."""
    if tongue.dense:
        return [found.span() for found in re.finditer(_TITLED[tongue.code], sentence)]
    if tongue.code == "ar":
        words = re.finditer(r"(?<!\w)[^\W\d_]{4,}(?!\w)", sentence)
        return [one.span() for one in words if not tongue.is_function(one[0]) and one[0][0] not in "وفبلك"]
    names = names_of(sentence, tongue)
    return [(one.start, one.end) for one in names if (not one.first or len(one.words) > 1) and len(one.text) > 2]


def _pairs_apart(sentence: str, spans: Sequence[tuple[int, int]], tongue: Language) -> list[list[tuple[int, int]]]:
    """Return the pairs that are no items of one list, nor parts of one name."""
    joins = "|".join(map(re.escape, tongue.conjunctions)) or "(?!)"
    less = rf"[\W_]*(?:(?:{joins}|{'|'.join(map(re.escape, tongue.articles)) or '(?!)'})[\W_]*)*"
    found = []
    for one, two in itertools.combinations(spans, 2):
        between = sentence[one[1] : two[0]]
        apart = not re.fullmatch(less, between, re.IGNORECASE) and not re.search(r"[、،]", between)
        if apart and (tongue.dense or len(between.split()) >= 2):
            found.append([one, two])
    return found


def _replaced_once(sentence: str, old: str, new: str, edge: str) -> str | None:
    found = re.search(rf"{edge}{re.escape(old)}{edge}", sentence, re.IGNORECASE)
    if not found or found[0] == new:
        return None
    said = new.capitalize() if found[0][0].isupper() else new
    return sentence[: found.start()] + said + sentence[found.end() :]


def _swaps(tongue: Language) -> list[tuple[str, str, str]]:
    """Return a language's replacements as kind, word, and other word, from its pack."""
    by_kind: dict[tuple[str, str], list[str]] = {}
    for phrase, marker in tongue.markers.items():
        by_kind.setdefault((marker.family, marker.kind), []).append(phrase)
    swaps = [
        (family, old, by_kind[family, new][0])
        for family, one, new in _FAMILIES
        for old in by_kind.get((family, one), ())
        if (family, new) in by_kind
    ]
    names = sorted(tongue.months.items(), key=lambda one: (one[1], -len(one[0])))
    full = [name for at, (name, number) in enumerate(names) if not at or names[at - 1][1] != number]
    swaps += [("month", one, full[at - 5]) for at, one in enumerate(full) if not tongue.dense]
    for line in _lines(tongue.code, "contrasts"):
        words = line.split()
        kind = "weekday" if len(words) in {7, 8} else "contrast"
        swaps += [(kind, one, words[at - 2]) for at, one in enumerate(words) if len(words) > 2]
    words_for = {line.partition(":")[0]: line.partition(":")[2].split() for line in _lines(tongue.code, "units")}
    for one, other in itertools.chain(_NEIGHBORS, map(reversed, _NEIGHBORS)):
        left, right = words_for.get(one, []), words_for.get(other, [])
        swaps += [("unit", word, right[min(at, len(right) - 1)]) for at, word in enumerate(left) if right]
    for line in _lines(tongue.code, "opposites"):
        left, _, right = (part.split() for part in line.partition("|"))
        if left and right:
            swaps += [("opposite", one, right[min(at, len(right) - 1)]) for at, one in enumerate(left)]
            swaps += [("opposite", one, left[min(at, len(left) - 1)]) for at, one in enumerate(right)]
    return [(kind, one.replace("_", " "), other.replace("_", " ")) for kind, one, other in swaps]


_CUT = re.compile(r"[,，、،] ?")


def _tail(sentence: str, others: Sequence[str], chance: random.Random) -> str | None:
    """Return a sentence with the last part of one of another page behind its own."""
    some = chance.sample(others, min(40, len(others)))
    parts = [other[found[-1].end() :] for other in some if (found := list(_CUT.finditer(other)))]
    dense = not sentence.isascii() and " " not in sentence[:-1]
    parts = [part for part in parts if len(part) > 20 - 10 * dense and part[:20] not in sentence]
    if not parts:
        return None
    return f"{sentence[:-1]}{'，' if dense else ', '}{chance.choice(parts)}"


def foreign(
    sentence: str, page: Sequence[str], tongue: Language, chance: random.Random, elsewhere: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """Yield the false sentences that can be made of one in another language, each with its kind.

    Args:
        sentence: A true sentence.
        page: The sentences of its page.
        tongue: The language; its pack has the words that count, weaken, and their opposites.
        chance: Decides.
        elsewhere: Sentences of other pages.
    """
    edge = "" if tongue.dense else r"\b"
    digits = list(re.finditer(r"(?<![\d.,/:-])\d{2,}(?![\d/:-])", sentence))
    if digits:
        at = chance.choice(digits)
        place = chance.randrange(len(at[0]))
        other = chance.choice([digit for digit in "123456789" if digit != at[0][place]])
        yield "number", sentence[: at.start() + place] + other + sentence[at.start() + place + 1 :]
    values = [(one.start(), one.end()) for one in re.finditer(r"(?<![\d.,/:-])\d+(?:[.,]\d+)*(?![\d/:-])", sentence)]
    pairs = [
        pair
        for pair in itertools.combinations(values, 2)
        if len(sentence[pair[0][1] : pair[1][0]]) > 4 - 2 * tongue.dense
        and (len(sentence[slice(*pair[0])]) == 4) == (len(sentence[slice(*pair[1])]) == 4)
    ]
    if pairs and (changed := exchanged(sentence, chance.choice(pairs))):
        yield "numbers swapped", changed
    mine = _exchangeable(sentence, tongue)
    apart = _pairs_apart(sentence, mine, tongue)
    if apart and (changed := exchanged(sentence, chance.choice(apart))):
        yield "words swapped" if tongue.code == "ar" else "names swapped", changed
    known = set(re.findall(r"\w+", sentence.lower()))
    names = [one[slice(*span)] for one in page for span in _exchangeable(one, tongue)]
    names = [name for name in names if known.isdisjoint(re.findall(r"\w+", name.lower())) and name not in sentence]
    if mine and names and tongue.code != "ar":
        start, end = chance.choice(mine)
        yield "name of the page", sentence[:start] + chance.choice(names) + sentence[end:]
    for form, instead in _NEGATED.get(tongue.code, ()):
        if (changed := re.sub(form, instead, sentence, count=1)) != sentence:
            yield "negation", changed
            break
    swaps = _swaps(tongue)
    done: set[str] = set()
    for kind, old, new in chance.sample(swaps, len(swaps)):
        least = 1 if kind in {"unit", "quantifier"} else 2
        if kind in done or old.casefold() not in sentence.casefold() or (tongue.dense and len(old) < least):
            continue
        behind = rf"(?<=\d ){edge}" if not tongue.dense else r"(?<=\d)"
        changed = _replaced_once(sentence, old, new, edge) if kind != "unit" else None
        if kind == "unit" and (found := re.search(rf"{behind}{re.escape(old)}{edge}", sentence)):
            changed = sentence[: found.start()] + new + sentence[found.end() :]
        if changed:
            done.add(kind)
            yield kind, changed
    if (changed := _tail(sentence, elsewhere, chance)) is not None:
        yield "clause added", changed
    if not tongue.dense:
        spans = [one for one in re.finditer(r"(?<![\w'’-])[^\W\d_]{6,}(?![\w'’-])", sentence) if one[0][0].islower()
                 or tongue.code == "ar"]  # fmt: skip
        pool = sorted(
            {word for one in page for word in re.findall(r"(?<![\w'’-])[^\W\d_]{6,}(?![\w'’-])", one)} - known
        )
        for match in chance.sample(spans, len(spans)):
            alike = [w for w in pool if w[0].islower() and w[-2:] == match[0][-2:] and w[:3] != match[0][:3]]
            if alike and not tongue.is_function(match[0]):
                yield "word of the page", sentence[: match.start()] + chance.choice(alike) + sentence[match.end() :]
                break


def foreign_true(
    sentence: str, page: Sequence[str], tongue: Language, chance: random.Random
) -> Iterator[tuple[str, str]]:
    """Yield what is said otherwise of a sentence in another language, each with its kind."""
    yield "true: verbatim", sentence
    if tongue.code in _SOURCE:
        yield "true: attributed", _SOURCE[tongue.code] + sentence
    spelled = {word: int(value) for word, value in tongue.numbers.items() if 2 <= value <= 12 and len(word) > 2}
    for word, value in spelled.items() if not tongue.dense else ():
        if found := re.search(rf"(?<![\w-]){re.escape(word)}(?= [^\W\d_]{{3}})", sentence):
            yield "true: in digits", f"{sentence[: found.start()]}{value}{sentence[found.end() :]}"
            break
    for line in _lines(tongue.code, "units"):
        words = [word.replace("_", " ") for word in line.partition(":")[2].split()]
        sign = line.partition(":")[0]
        signs = {"km": "km", "kg": "kg", "%": "%", "cm": "cm", "mm": "mm", "m": "m", "g": "g"}
        found = sign in signs and re.search(rf"(?<=\d) ?(?:{'|'.join(words)})(?!\w)", sentence)
        if found and found[0].strip() != signs[sign]:
            yield "true: unit abbreviated", f"{sentence[: found.start()]} {signs[sign]}{sentence[found.end() :]}"
            break
    if (changed := re.sub(r"(?<![\d.,])(\d{1,3})[. \u00a0](\d{3})(?![\d.,])", r"\1\2", sentence)) != sentence:
        yield "true: digits joined", changed
    if (changed := re.sub(r" ?[(（][^()（）]{3,60}[)）]", "", sentence)) != sentence and len(changed) > 20:
        yield "true: without brackets", changed
    after = page[page.index(sentence) + 1 :][:1] if sentence in page else ()
    for other in after:
        if len(sentence) + len(other) < 300:
            yield "true: merged", f"{sentence[:-1]}{'；' if tongue.dense else '; '}{other}"
    fronted = re.fullmatch(r"(.{15,}[^\W\d_]) ((?:en|in|em|в) \d{4}(?: году| год| г\.)?)[.]", sentence)
    if fronted and tongue.code in {"fr", "es", "pt", "ru"} and "," not in fronted[1]:
        first = fronted[1].split()[0]
        lowered = first.lower() if tongue.is_function(first) else first
        date = fronted[2][0].upper() + fronted[2][1:]
        yield "true: fronted", f"{date}{',' if tongue.code != 'ru' else ''} {lowered}{fronted[1][len(first) :]}."
    for date in dates_of(sentence)[:1]:
        year, month, day = date.readings[0]
        if len(date.readings) == 1 and year and month and day and not tongue.dense:
            yield "true: date in digits", f"{sentence[: date.start]}{year}-{month:02}-{day:02}{sentence[date.end :]}"
