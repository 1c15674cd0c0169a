"""The parts of a sentence: what only attributes it, which cited page each is from, and if its words belong together."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Final

from groundwire.citations.verify.alignment import Alignment, WordToken, same_value, stretches
from groundwire.citations.verify.argument_roles import fold_text
from groundwire.citations.verify.entities import comparable, same_number
from groundwire.citations.verify.language_packs import Language, fold
from groundwire.citations.verify.passage_index import PageIndex
from groundwire.citations.verify.quantities import Number
from groundwire.citations.verify.report import CitedPage, Disagreement, Kind
from groundwire.citations.verify.segmentation import CONTENT_WORD, JOINS, NEW_CLAUSE, spelled_words, unjoined, words_of

__all__ = ["clauses", "exchanged_counts", "mismatched", "name_of_site", "parts_by_page", "unattributed"]

_LEAST: Final = 2  # words and numbers of a clause that is verified on its own
_OTHER_PAGE: Final = 0.9  # words that another page must have more to be taken for the one that says a part
_NEW_CLAUSE: Final = 0.7  # the same behind a comma and a conjunction

_ATTRIBUTED: Final = 80  # characters of an attribution
_OPENING: Final = re.compile(
    rf"([^,:，：]{{1,{_ATTRIBUTED}}}?)(?:[,:，：]|[,，]?\s(?:that|dass|daß|que|что)\s)\s*", re.IGNORECASE
)
_CLOSING: Final = re.compile(rf"\s*[,，]\s*([^,:，：]{{1,{_ATTRIBUTED}}})$")
_SITE: Final = re.compile(r"https?://(?:www\.)?([^/?#:@\s]{1,253})\.[a-z\d-]{1,63}(?=[/?#:]|$)", re.IGNORECASE)
_QUOTES: Final = frozenset('"“”„«»「」『』')
_SHARED: Final = 2  # words of a clause that the passage must have together
_CLAUSE: Final = 3  # words and numbers of a clause
_COUNTS: Final = 12  # numbers of a sentence and of a passage that are compared
_TITLE: Final = 3  # letters of an abbreviation before a name: Dr., St.
_KEPT: Final = 2  # words of a sentence without its attribution


def clauses(text: str) -> list[str]:
    """Split a sentence at commas and conjunctions; a part with too few words is joined to its neighbor."""
    found, said = list[str](), 0  # and the words of the last one
    for piece in _pieces(text):
        words = len(words_of(piece))
        if found and min(words, said) < _LEAST:
            found[-1] += piece
            words += said
        else:
            found.append(piece)
        said = words
    return found


def _pieces(text: str) -> Iterator[str]:
    cuts = [0, *(found.start() for found in JOINS.finditer(text)), len(text)]
    return (text[begin:end] for begin, end in itertools.pairwise(cuts))


def parts_by_page(
    text: str, pages: Sequence[CitedPage], indexes: Mapping[int, PageIndex]
) -> Iterator[tuple[str, CitedPage]]:
    """Yield the parts of a sentence, each with the page that has most of its words.

    The sentence is cut at commas and conjunctions only, and as seldom as possible: of all ways to give each piece a
    page, the one with most words is taken, less nearly a word for each change of the
    page, and less behind a semicolon or a comma with a conjunction.

    Args:
        text: The sentence.
        pages: The pages it cites, at least one.
        indexes: Their indexes, by number.
    """
    pieces, tongue = [""], indexes[pages[0].number].language
    for piece in _pieces(text):
        pieces[-1] += piece
        if not tongue.attribution.issuperset(words_of(piece, tongue)):  # else it goes with what follows
            pieces.append("")
    pieces[-2:] = ["".join(pieces[-2:])]
    total, before = [0.0] * len(pages), list[list[int]]()  # for each piece and page of it, the page of the one before
    for piece in pieces:
        best = total.index(max(total))
        least = total[best] - (_NEW_CLAUSE if NEW_CLAUSE.match(piece) else _OTHER_PAGE)
        before.append([at if one > least else best for at, one in enumerate(total)])
        said = (_words_on(indexes[page.number], piece) for page in pages)
        total = [max(one, least) + words for one, words in zip(total, said, strict=True)]
    at, by = total.index(max(total)), list[int]()
    for origins in reversed(before):
        by.append(at)
        at = origins[at]
    for of, some in itertools.groupby(zip(reversed(by), pieces, strict=True), key=itemgetter(0)):
        yield unjoined("".join(piece for _, piece in some)), pages[of]


def _words_on(index: PageIndex, piece: str) -> float:
    """Return how many words of a piece a page has together; all of them count for more than most."""
    tongue = index.language
    words = {form: word for form, word in spelled_words(piece, tongue) if form not in tongue.attribution}
    return index.best(words)[1] ** 2 * len(words)


def name_of_site(url: str) -> str:
    """Return the words of a URL's host without `www` and its last part; empty if it has none."""
    found = _SITE.match(url)
    return found[1].replace(".", " ").replace("-", " ") if found else ""


def unattributed(text: str, index: PageIndex) -> str:
    """Return a sentence without what attributes it to the page: According to the report; according to Reuters.

    An attribution is at the start or the end, behind or before a comma, and has words of attribution only, besides
    those of the page's title and site. A label before a colon of whose words the page has none is the author's own.
    """
    tongue = index.language
    if not _QUOTES.isdisjoint(text):  # who says it matters
        return text
    known = tongue.attribution.union(words_of(index.title, tongue))

    def attributes(clause: str) -> bool:
        words = words_of(clause, tongue)
        return not tongue.attribution.isdisjoint(words) and known.issuperset(words)

    rest = text
    opening = _OPENING.match(text)
    label = spelled_words(opening[1], tongue) if opening and opening[0].rstrip().endswith((":", "：")) else []
    own = label and tongue.passive.isdisjoint(fold(opening[1] if opening else "").split())  # no statement
    if opening and (attributes(opening[1]) or (own and not any(index.has(*one) for one in label))):
        rest = text[opening.end() :]
    if (closing := _CLOSING.search(rest, max(0, len(rest) - _ATTRIBUTED - 9))) and attributes(closing[1].rstrip(" .")):
        rest = rest[: closing.start()]
    return rest if rest == text or len(words_of(rest, tongue)) >= _KEPT else text


def mismatched(aligned: Alignment) -> Iterator[Disagreement]:
    """Yield a name, number or word that the passage has, but with something else.

    Each clause of the sentence is compared with the clause of the passage that has most of its words: "adults need 15,
    and people over 70 need 20" does not say that adults over 70 need 15, though it has all these words.
    """
    clauses = _clauses(aligned.page, aligned.tongue, elliptic=True)
    if len(clauses) < 2:
        return
    keys = [frozenset(token.key for token in clause) for clause in clauses]
    for part in _clauses(aligned.claim, aligned.tongue, elliptic=False):
        told = _words(part)
        has = [[_has(token, clause, own) for token in told] for clause, own in zip(clauses, keys, strict=True)]
        counts = [sum(one) for one in has]
        most = max(counts)
        if most < _SHARED or 2 * most < len(told):
            continue
        homes = [at for at, count in enumerate(counts) if count == most]
        if len(homes) > 1:  # the one that has the subject
            homes = [at for at in homes if has[at][0]]
        if len(homes) != 1:
            continue
        (home,) = homes
        for place, token in enumerate(told):
            elsewhere = [one for one in has if one[place] and not has[home][place]]
            strays = {other for one in elsewhere for other in _only(one, has[home])} - {place}
            alone = all(token.name and told[other].name for other in strays)  # further parts of a name
            if not alone or not any(_only(has[home], one) for one in elsewhere):
                continue  # what only the home clause has ties the sentence to it
            whole = sum(has[home]) == len(told) - 1
            rival = _rival(token, place, part, clauses[home], aligned, whole=whole)
            if rival is None and isinstance(token.value, Number):
                rival = _pair(has, home, place, told, clauses)
            if rival is not None:
                kind: Kind = "number" if token.value else "name" if token.name else "opposite"
                if kind == "opposite" and not aligned.tongue.are_opposite(token.key, rival.key):
                    kind = "word"
                yield Disagreement(kind=kind, claimed=token.text, stated=rival.text)
                return


def _only(one: Sequence[bool], other: Sequence[bool]) -> list[int]:
    """Return the words that a clause has and another has not."""
    return [place for place, (here, there) in enumerate(zip(one, other, strict=True)) if here and not there]


def _clauses(tokens: Sequence[WordToken], tongue: Language, *, elliptic: bool) -> list[Sequence[WordToken]]:
    """Split a text at the ends of its sentences, and where a conjunction begins a contrast.

    Args:
        tokens: The text.
        tongue: Its language.
        elliptic: Whether a clause that begins with "and" and a name may lack its verb, and is not split off; then
            commas split clauses, too, where three words or more are on both sides.
    """
    starts = [0]
    ends = {at: one.stop for one in stretches([token.breaks for token in tokens]) for at in one}
    for place, token in enumerate(tokens[1:], start=1):
        small = token.kind == "function"
        joins = small and fold_text(token) in tongue.conjunctions
        counts = joins and _counts_apart(tokens, starts[-1], place)
        joins = joins and not elliptic
        goes_on = joins and len(_words(tokens[place + 1 : ends[place]])) > 1
        if (
            (token.stops and not (len(tokens[place - 1].text) <= _TITLE and tokens[place - 1].text.istitle()))
            or (small and fold_text(token) in tongue.contrasting)
            or (elliptic and token.breaks and _is_long(tokens[starts[-1] : place], tokens[place : ends[place]]))
            or counts
            or (joins and tokens[place + 1 : place + 2] and tokens[place + 1].name and goes_on)
        ):
            starts.append(place)
    return [tokens[slice(*span)] for span in itertools.pairwise([*starts, len(tokens)])]


def _counts_apart(tokens: Sequence[WordToken], start: int, place: int) -> bool:
    """Return whether "and" joins two clauses that begin with a number each: a third had this, and 8 % had that."""
    rest = tokens[place + 1 : place + 2 + _CLAUSE]
    begins = len(rest) > _CLAUSE and rest[0].value is not None and rest[-1].value is None
    return begins and tokens[start].value is not None and len(_words(tokens[start:place])) >= _CLAUSE


def _is_long(*sides: Sequence[WordToken]) -> bool:
    """Return whether a comma has enough words on both sides for a clause each."""
    span = all(one.value is not None for one in (sides[0][-1], sides[1][0]))  # $500 – $800
    return not span and all(len(_words(side)) >= _CLAUSE for side in sides)


def _has(token: WordToken, clause: Sequence[WordToken], keys: frozenset[str]) -> bool:
    said = token.value
    return token.key in keys if said is None else any(same_value(said, one.value) for one in clause)


def _rival(
    token: WordToken,
    place: int,
    claim: Sequence[WordToken],
    clause: Sequence[WordToken],
    aligned: Alignment,
    *,
    whole: bool,
) -> WordToken | None:
    """Return what a clause of the passage has instead of a word that is elsewhere in it.

    Args:
        token: The word.
        place: Its position among the words of its clause.
        claim: Its clause.
        clause: The clause of the passage.
        aligned: The word alignment.
        whole: Whether the clause of the passage has all other words.
    """
    tongue = aligned.tongue
    if isinstance(token.value, Number):
        numbers = (one for one in clause if isinstance(one.value, Number) and comparable(token.value, one.value))
        left = (one for one in numbers if not _has(one, claim, frozenset()))
        counted = _counted(aligned, token)
        return next((one for one in left if not counted or counted & _behind(clause, one)), None)
    known = frozenset(key for one in claim for key in one.keys)
    if token.name:
        if tongue.dense or tongue.script == "arabic":  # any unknown word is taken for a name
            return None
        pronouns = tongue.pronouns - tongue.articles
        if any(one.kind == "function" and fold_text(one) in pronouns for one in clause):
            return None
        names = [at for at, one in enumerate(clause) if one.name and at and known.isdisjoint(one.keys)]
        return clause[names[0]] if names and names[-1] - names[0] < len(names) else None
    if token.value is not None or any(one.denies for one in (*claim, *clause)):
        return None
    opposite = (one for one in clause if tongue.are_opposite(token.key, one.key))
    rival = next((one for one in opposite if one.key not in known), None)
    ends = whole and token.kind == "word" and (not place or token is _words(claim)[-1])
    if rival is None and ends and not tongue.dense:
        return _at_end(token, clause, known, tongue, last=bool(place))
    return rival


def _counted(aligned: Alignment, token: WordToken) -> set[str]:
    """Return what a number counts, its unit or the word behind it, if its counterpart counts that, too."""
    there = aligned.to[aligned.claim.index(token)]
    return _behind(aligned.claim, token) & _behind(aligned.page, aligned.page[there]) if there is not None else set()


def _behind(tokens: Sequence[WordToken], token: WordToken) -> set[str]:
    """Return the unit of a number, else the words behind it."""
    unit = token.value.unit if isinstance(token.value, Number) else ""
    at = next(at for at, one in enumerate(tokens) if one is token)
    return {unit} if unit else {one.key for one in tokens[at + 1 : at + 1 + _CLAUSE] if one.kind == "word"}


def _words(tokens: Sequence[WordToken]) -> list[WordToken]:
    return [one for one in tokens if one.kind in {"word", "number"}]


def _at_end(
    token: WordToken, clause: Sequence[WordToken], known: frozenset[str], tongue: Language, *, last: bool
) -> WordToken | None:
    """Return the first or the last word of a clause of which a sentence has all others: who does it, or by whom."""
    words = _words(clause)
    first = words[-1 if last else 0]
    if len(words) < _CLAUSE or first.kind != "word" or first.name != token.name or not known.isdisjoint(first.keys):
        return None
    return None if first.key in tongue.generic or token.key in tongue.generic else first


def _pair(
    has: Sequence[Sequence[bool]],
    home: int,
    place: int,
    told: Sequence[WordToken],
    clauses: Sequence[Sequence[WordToken]],
) -> WordToken | None:
    """Return the number that a clause pairs with a number of the sentence: over 70, it is 20."""
    mine = [token.value for other, token in enumerate(told) if has[home][other] and isinstance(token.value, Number)]
    for clause, one in zip(clauses, has, strict=True):
        for token in clause if one[place] else ():
            value = token.value
            if not isinstance(value, Number) or _has(token, told, frozenset()) or _is_fronted(clause, told[place]):
                continue
            if any(comparable(each, value) for each in mine):
                return token
    return None


def _is_fronted(clause: Sequence[WordToken], token: WordToken) -> bool:
    """Return whether a clause opens with a date or number before a comma, which holds for what follows, too."""
    ends = next((at for at, one in enumerate(clause) if at and one.breaks), 0)
    return 0 < ends <= _CLAUSE and _has(token, clause[:ends], frozenset())


def exchanged_counts(
    claim: tuple[str, Sequence[Number]], page: tuple[str, Sequence[Number]], tongue: Language
) -> tuple[str, str] | None:
    """Return two counts that have changed places: 9 dogs and 12 cats for 12 dogs and 9 cats.

    Args:
        claim: A sentence and its numbers.
        page: A passage and its numbers.
        tongue: Their language.
    """
    mine, theirs = (
        [(one, _what_counts(text, one, tongue)) for one in numbers[:_COUNTS]] for text, numbers in (claim, page)
    )

    def stated(number: Number, counted: str) -> list[Number]:
        return [other for other, what in theirs if what == counted and same_number(number, other)]

    for (one, ones), (two, others) in itertools.combinations(mine, 2):
        if not ones or not others or ones == others or same_number(one, two):
            continue
        if (there := stated(two, ones)) and stated(one, others) and not (stated(one, ones) or stated(two, others)):
            return one.text, there[0].text
    return None


def _what_counts(text: str, number: Number, tongue: Language) -> str:
    """Return the word behind a number, in normal form: what it counts."""
    word = CONTENT_WORD.match(text, number.end + 1) if text[number.end : number.end + 1].isspace() else None
    return "" if word is None or tongue.is_function(word[0]) else tongue.normal_form(word[0])
