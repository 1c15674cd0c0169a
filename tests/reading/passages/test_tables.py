"""What is made of a table of short pages and words: their outline, their terms, and what is shown of them.

`cases.jsonl` has a line for each case: the stage, its arguments, and the result, which follows from the text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from groundwire.errors import InvalidRequest
from groundwire.models import Page
from groundwire.reading.passages.bm25 import score_passages
from groundwire.reading.passages.excerpts import choose
from groundwire.reading.passages.outline import Outline
from groundwire.reading.passages.pagination import cut_piece
from groundwire.reading.passages.terms import Terms
from groundwire.reading.passages.token_budget import TextBudget
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


def _terms(text: str) -> object:
    return Terms()(text)


def _view(text: str, asked: dict[str, Any]) -> object:
    page = Page(url=URL, content=text)
    try:
        shown = view(page, check_ask(**asked, default_length=15_000))
    except InvalidRequest as error:
        return str(error)
    return [
        shown.content, shown.start, shown.end, shown.truncated, shown.next_cursor, list(shown.warnings),
        [[one.start, one.end] for one in shown.matches], shown.match_count, [one.text for one in shown.excerpts],
    ]  # fmt: skip


def _growth(text: str, query: str, least: int, most: int) -> object:
    """Return from which budgets on something else is shown; a part of a passage leaves room for a line after it."""
    document, found = Outline(text), [[0, ""]]
    ranked = score_passages(document, query)[0]
    for size in range(least, most):
        content = choose(document, ranked, TextBudget(characters=size)).content
        if content != found[-1][1]:
            found.append([size, content])
    return found[1:]


def _cuts(text: str, start: int, least: int, most: int, stop: int | None = None) -> object:
    """Return from which limits on another piece is cut: what precedes its text, the text, and what follows."""
    document, found = Outline(text), [[0, "", "", ""]]
    for size in range(least, most):
        piece = cut_piece(document, start, TextBudget(characters=size), stop)
        if [piece.before, piece.text, piece.after] != found[-1][1:]:
            found.append([size, piece.before, piece.text, piece.after])
    return found[1:]


STAGES: Final[Mapping[str, Callable[..., object]]] = {
    "outline": _outline,
    "terms": _terms,
    "view": _view,
    "growth": _growth,
    "cuts": _cuts,
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
