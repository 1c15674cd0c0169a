"""What is made of a table of short pages: their outline, passages, scores, pieces, excerpts and matches.

`cases.jsonl` has a line for each case: the stage, its arguments, and the result.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from groundwire.errors import InvalidRequest
from groundwire.models import Page
from groundwire.reading.passages.bm25 import passages_of, rank
from groundwire.reading.passages.excerpts import choose, wants_links
from groundwire.reading.passages.outline import Outline
from groundwire.reading.passages.pagination import cut_piece
from groundwire.reading.passages.terms import Terms
from groundwire.reading.passages.token_budget import TextBudget, load_token_bound
from groundwire.reading.passages.view import check_ask, view

pytestmark = pytest.mark.req("B8", "B9")

URL: Final = "https://library.example/guide"
TABLE: Final = Path(__file__).with_name("cases.jsonl")


def _outline(text: str) -> object:
    outline = Outline(text)
    starts = [0, *(at + 1 for at, character in enumerate(text) if character == "\n" and at + 1 < len(text))]
    return [
        [[text[one.start : one.end], one.level, one.title] for one in outline.headings],
        [[one.title, one.start, one.length] for one in outline.sections],
        [" > ".join(outline.path(start)) for start in starts],
        [text[code.start : code.end] for code in outline.codes],
        [at for at in range(len(text)) if outline.code_at(at)],
        [outline.table_head(start) for start in starts],
    ]


def _passages(text: str) -> object:
    outline = Outline(text)
    return [[text[one.start : one.end], " > ".join(outline.path(one.start)), one.head] for one in passages_of(outline)]


def _scores(query: str, text: str) -> object:
    return [[text[one.passage.start :][:30], one.score, text[one.focus :][:20]] for one in rank(Outline(text), query)]


def _terms(text: str) -> object:
    return Terms()(text)


def _tokens(text: str) -> object:
    bound = load_token_bound()
    whole = bound(text)
    return [whole, [bound.reach(text, start, room) for start in (0, 1) for room in range(min(whole, 40) + 1)]]


def _pieces(text: str, characters: int, tokens: int | None = None) -> object:
    outline, found, place = Outline(text), [], 0
    while place < len(text):
        piece = cut_piece(outline, place, TextBudget(characters=characters, tokens=tokens))
        found.append([piece.before, piece.text, piece.after])
        place = piece.end
    return found


def _excerpts(query: str, text: str, characters: int, tokens: int | None = None) -> object:
    outline = Outline(text)
    room = TextBudget(characters=characters, tokens=tokens)
    chosen = choose(outline, rank(outline, query), room, links=wants_links(query))
    return [chosen.content, [[one.start, one.end, one.heading, one.score] for one in chosen.excerpts]]


def _view(text: str, asked: dict[str, Any]) -> object:
    page = Page(url=URL, content=text)
    try:
        shown = view(page, check_ask(**asked, usual=15_000))
    except InvalidRequest as error:
        return str(error)
    return [
        shown.content, shown.start, shown.end, shown.truncated, shown.next_cursor, list(shown.warnings),
        [[one.start, one.end] for one in shown.matches], shown.match_count, [one.text for one in shown.excerpts],
    ]  # fmt: skip


STAGES: Final[Mapping[str, Callable[..., object]]] = {
    "outline": _outline,
    "passages": _passages,
    "scores": _scores,
    "terms": _terms,
    "tokens": _tokens,
    "pieces": _pieces,
    "excerpts": _excerpts,
    "view": _view,
}


@pytest.mark.parametrize("stage", STAGES)
def test_each_stage_gives_what_the_table_says(stage: str) -> None:
    cases = [json.loads(line) for line in TABLE.read_text("utf-8").splitlines()]
    mine = [case for case in cases if case["stage"] == stage]
    assert mine
    wrong = [
        (case["arguments"], found, case["result"])
        for case in mine
        if (found := json.loads(json.dumps(STAGES[stage](*case["arguments"])))) != case["result"]
    ]
    assert wrong == []
