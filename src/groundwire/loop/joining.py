"""One answer of several: the pieces of a turn that its API paused, and what all rounds used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from groundwire.native.answers import HostedAnswer, HostedCitation, HostedUsage

__all__ = ["joined", "last_turn", "total"]


def joined(answers: Sequence[HostedAnswer]) -> HostedAnswer:
    """Return the pieces of one turn as one answer: texts follow each other, citations move with them.

    Args:
        answers: The pieces in order, at least one.
    """
    text = ""
    citations: list[HostedCitation] = []
    for one in answers:
        citations += [_moved(citation, len(text)) for citation in one.citations]
        text += one.text
    return replace(
        answers[-1],
        text=text,
        citations=tuple(citations),
        queries=tuple(dict.fromkeys(query for one in answers for query in one.queries)),
        sources=tuple({source.url: source for one in reversed(answers) for source in one.sources}.values()),
        opened=tuple(dict.fromkeys(url for one in answers for url in one.opened)),
        errors=tuple(dict.fromkeys(error for one in answers for error in one.errors)),
        error=next((one.error for one in answers if one.error is not None), None),
        usage=total(answers),
        turn=tuple(part for one in answers for part in one.turn),
        sources_from=next((one.sources_from for one in answers if one.sources), "none"),
    )


def last_turn(answers: Sequence[HostedAnswer]) -> Sequence[HostedAnswer]:
    """Return the pieces of the last turn: those that were paused before it belong to it."""
    first = len(answers) - 1
    while first > 0 and answers[first - 1].finish == "pause":
        first -= 1
    return answers[first:]


def total(answers: Sequence[HostedAnswer]) -> HostedUsage:
    """Return what several answers cost together."""
    return HostedUsage(
        searches=sum(one.usage.searches for one in answers),
        fetches=sum(one.usage.fetches for one in answers),
        input_tokens=sum(one.usage.input_tokens for one in answers),
        output_tokens=sum(one.usage.output_tokens for one in answers),
    )


def _moved(citation: HostedCitation, by: int) -> HostedCitation:
    def plus(place: int | None) -> int | None:
        return None if place is None else place + by

    return replace(citation, start=plus(citation.start), end=plus(citation.end), position=plus(citation.position))
