"""What a sentence asserts, requires or allows where its passage hedges, forbids, or leaves it open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from groundwire.citations.verify.alignment import Alignment, WordToken, home_of, is_close
from groundwire.citations.verify.argument_roles import fold_text, joined
from groundwire.citations.verify.language_packs import Marker, fold
from groundwire.citations.verify.quantities import Number
from groundwire.citations.verify.report import Disagreement

__all__ = ["other_duty", "overstated", "said_by"]

_SHOWN: Final = 4  # words of the passage that are shown
_DENIED: Final = 2  # words before a duty of which one may deny it
_DENIED_BEHIND: Final[Mapping[str, int]] = MappingProxyType({"de": 4, "en": 1, "fr": 1})  # words behind it
_DENIED_IS: Final[Mapping[str, str]] = MappingProxyType(
    {"must": "need not", "may": "must not", "must not": "may", "need not": "must"}
)
_LIMITS: Final = frozenset({"not", "only", "over", "under"})  # only with a ticket, nothing without one
_SHARES: Final = (("most", 50.0, 100.0), ("half", 45.0, 55.0), ("few", 0.0, 20.0))  # percent
_CONTRARY: Final = frozenset(
    map(frozenset, (("must", "may"), ("must", "must not"), ("must", "need not"), ("may", "must not")))
)


def other_duty(aligned: Alignment) -> Iterator[Disagreement]:
    """Yield what a sentence requires, allows or forbids, if the passage says otherwise of it in other words.

    Compulsory, and they may; not required, and they must; forbidden, and it is allowed.

    Args:
        aligned: A sentence and its passage.
    """
    home = [aligned.page[at] for at in home_of(aligned)]
    mine, theirs = _duties(aligned.claim, aligned), _duties(home, aligned)
    limited = any(
        token.marker
        and token.marker.family in {"negation", "bound", "quantifier"}
        and token.marker.kind in _LIMITS
        and not any(fold_text(token) in words for words in (*mine.values(), *theirs.values()))
        for token in (*aligned.claim, *home)
    )
    if limited or not mine.keys().isdisjoint(_duties(aligned.page, aligned)):
        return
    if len(mine) == len(theirs) == 1:
        (kind, claimed), (other, stated) = *mine.items(), *theirs.items()
        if frozenset((kind, other)) in _CONTRARY:
            yield Disagreement(kind="modal", claimed=claimed, stated=stated)


def _duties(tokens: Sequence[WordToken], aligned: Alignment) -> dict[str, str]:
    """Return what some words require, allow or forbid, with the words that say so."""
    tongue, text = aligned.tongue, joined(tokens, aligned.tongue.dense).replace("’", "'")
    found: dict[str, str] = {}
    for match in tongue.duty.finditer(fold(text)):
        kind = tongue.duties[match[0]]
        behind = text[match.end() :].split()[: _DENIED_BEHIND.get(tongue.code, 0)]
        beside = [] if tongue.dense else [*text[: match.start()].split()[-_DENIED:], *behind]
        if any((marker := tongue.markers.get(fold(word))) and marker.family == "negation" for word in beside):
            kind = _DENIED_IS[kind]
        found.setdefault(kind, text[slice(*match.span())])
    return found


def overstated(aligned: Alignment) -> Iterator[Disagreement]:
    """Yield what a sentence asserts or extends where the passage hedges, limits or counts a part.

    "Has approved" where a decision is expected; "also" where the passage has "not"; nine where it is two of the nine.
    """
    claim, page, tongue = aligned.claim, aligned.page, aligned.tongue
    for place, token in enumerate(page):  # two of the nine members, one of the lanes
        if place in aligned.back or not (isinstance(token.value, Number) or fold_text(token) in tongue.vague):
            continue
        whole = next((at for at in range(len(page))[place + 1 : place + 4] if page[at].kind != "function"), place)
        here = aligned.back.get(whole)
        if here is None or tongue.partitive.isdisjoint(map(fold_text, page[place + 1 : whole])):
            continue
        before = claim[:here][-3:]
        every = next((one for one in before if one.marker and one.marker.kind == "all"), None)
        if every or (page[whole].value is not None and tongue.partitive.isdisjoint(map(fold_text, before))):
            stated = joined(page[place : whole + 1], tongue.dense)
            yield Disagreement(kind="quantifier", claimed=(every or claim[here]).text, stated=stated)
            return
    also = [token for at, token in enumerate(claim) if at not in aligned.pairs and fold_text(token) in tongue.additive]
    guarded = not tongue.hedging.isdisjoint(map(fold_text, claim))
    for place in home_of(aligned):
        token, form = page[place], fold_text(page[place])
        if place in aligned.back or not token.keys or not is_close(aligned, place):
            continue
        stated = joined(page[place : place + _SHOWN], tongue.dense)
        denies = token.denies or token.key in tongue.denying
        if also and (denies or form in tongue.limiting):
            yield Disagreement(kind="negation", claimed=also[0].text, stated=stated)
            return
        if form in tongue.hedging and not guarded and (sure := _asserts(aligned, form)):
            yield Disagreement(kind="modal", claimed=sure, stated=stated)
            return


def _asserts(aligned: Alignment, hedge: str) -> str:
    """Return the word of a sentence that states as a fact what the passage hedges; empty if none does."""
    if any(token.marker and token.marker.kind in {"may", "shall", "should"} for token in aligned.claim):
        return ""
    added = (token for at, token in enumerate(aligned.claim) if at not in aligned.pairs)
    sure = aligned.tongue.certain - {hedge}
    return next((token.text for token in added if fold_text(token) in sure), "")


def said_by(aligned: Alignment, marker: Marker, *, of_page: bool = False) -> bool:
    """Return whether the other side says it otherwise: can be, is allowed to be; most, 61 percent."""
    other = aligned.claim if of_page else aligned.page
    if marker.kind == "may" and any(token.marker and token.marker.kind == "under" for token in other):  # up to
        return True
    shares = [one.value.amount for one in other if isinstance(one.value, Number) and one.value.unit == "%"]
    words = aligned.tongue.modal_words.get(marker.kind, frozenset()) if marker.family == "modal" else frozenset()
    said = (aligned.tongue.normal_form(token.text) in words for token in other)
    spans = ((low, high) for kind, low, high in _SHARES if kind == marker.kind)
    return any(low < share < high for low, high in spans for share in shares) or any(said)
