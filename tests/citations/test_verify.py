"""What is said of the sentences of an answer: each verdict, each kind of disagreement, and what must always hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from components.examples import examples
from groundwire.citations.segmentation import sentences
from groundwire.citations.verify import (
    CitedPage,
    Doubt,
    Finding,
    doubts_of,
    judged_by_model,
    verify_answer,
    verify_off_loop,
)
from groundwire.citations.verify.verifier import MAX_COMPARISONS, verify_in_worker
from groundwire.errors import InvalidRequest
from groundwire.reading.workers.pool import Workers, WorkerUnavailable, WorkTooHeavy

TOWER = """# The tower

The tower is 324 metres tall and weighs 10,100 tonnes. It was opened on 31 March 1889 by Gustave Eiffel. The lift was
not repaired before 1946. “The most beautiful thing in the city”, a visitor wrote in the guest book.

| Year | Visitors |
| --- | --- |
| 2019 | 6.2 million |

- Restaurants: the Jules Verne on the second floor serves dinner.

```python
print("the tower is made of cheese and bolts")
```
"""
PAGE = CitedPage(number=1, url="https://tower.example/", title="The tower", content=TOWER)


def check(sentence: str, *pages: CitedPage) -> Finding:
    (finding,) = verify_answer(sentence, pages or (PAGE,)).findings
    return finding


@pytest.mark.req("B9")
@pytest.mark.parametrize(
    "sentence",
    [
        "The tower is 324 metres tall and weighs 10,100 tonnes [1].",
        "The tower is **324 m** tall [1].",
        "It weighs 10100 tonnes [1].",
        "The tower weighs about 10 thousand tonnes [1].",
        "It was opened by Gustave Eiffel on March 31, 1889 [1].",
        "Gustave Eiffel opened it on 1889-03-31.[1]",
        "Before 1946 the lift was not repaired [1].",
        "A visitor wrote of “the most beautiful thing in the city” [1].",
        "In 2019 there were 6.2 million visitors [1].",
        "The Jules Verne on the second floor serves dinner [1].",
        "According to the page, the tower is 324 metres tall [1].",
    ],
)
def test_what_the_page_says_is_supported(sentence: str) -> None:
    finding = check(sentence)
    assert (finding.verdict, finding.disagreements) == ("supported", ())
    assert finding.passage_start is not None
    assert TOWER[finding.passage_start : finding.passage_end] == finding.passage


@pytest.mark.req("B9")
@pytest.mark.parametrize(
    ("sentence", "verdict"),
    [
        ("Penguins live in the southern hemisphere and eat krill [1].", "not_found"),
        ("It was opened by Thomas Edison, who was born in Ohio [1].", "not_found"),
        ("The tower is made of cheese and bolts [1].", "not_found"),  # code is no statement
        ("The tower is 324 metres tall [2].", "unknown_source"),
        ("The tower is 324 metres tall.", "uncited"),
        ("Gustave Eiffel lived in Paris.", "uncited"),
        ("埃菲尔在巴黎居住多年。", "uncited"),
        ("Here is what I found:", "no_claim"),
        ("Is it 324 metres tall?", "no_claim"),
    ],
)
def test_the_other_verdicts(sentence: str, verdict: str) -> None:
    assert check(sentence).verdict == verdict


@pytest.mark.req("B35")
def test_the_probability_is_higher_for_a_copy_than_for_other_words_and_lowest_for_what_is_not_there() -> None:
    said = (
        "The tower is 324 metres tall and weighs 10,100 tonnes [1].",
        "The tower's height is 324 metres [1].",
        "Penguins live in the southern hemisphere and eat krill [1].",
    )
    copy, other, foreign = (check(sentence).probability or 0.0 for sentence in said)
    assert copy > other > 0.5 > foreign


@pytest.mark.req("B35")
def test_the_passage_is_verbatim_and_as_short_as_it_may_be() -> None:
    finding = check("Gustave Eiffel opened it on 31 March 1889 [1].")
    assert finding.passage == "It was opened on 31 March 1889 by Gustave Eiffel."
    assert TOWER[finding.passage_start : finding.passage_end] == finding.passage
    assert finding.reason == "[1] has a passage that says it, judged by the words."


class TestBadInput:
    """What cannot be compared is said, never guessed."""

    @pytest.mark.parametrize(
        "answer",
        ["Башня была открыта в прошлом веке и нравится всем [1].", "塔は市内で最も美しいものだと言われている [1]。"],
    )
    def test_another_script(self, answer: str) -> None:
        assert check(answer).verdict == "not_comparable"

    def test_another_language(self) -> None:
        said = (
            "Der Turm ist nicht nur ein Denkmal, sondern auch das Wahrzeichen der Stadt und wird von allen besucht [1]."
        )
        assert check(said).verdict == "not_comparable"

    def test_a_page_in_another_language_is_not_read_by_words(self) -> None:
        french = CitedPage(
            number=1, url="", content="La tour est le monument le plus visité de la ville et de la région."
        )
        finding = check("The tower is the most visited monument of the city and of the region [1].", french)
        assert (finding.verdict, finding.probability) == ("not_comparable", None)

    def test_a_page_that_changed_is_compared_and_said_to_be_another(self) -> None:
        changed = CitedPage(number=1, url="https://tower.example/", content=TOWER, changed=True)
        assert "not stored" in check("The tower is 324 metres tall [1].", changed).notes[0]

    def test_a_page_of_which_only_a_snippet_was_seen(self) -> None:
        seen = CitedPage(number=1, url="https://tower.example/", snippet="The tower is 324 metres tall.")
        assert check("The tower is 324 metres tall [1].", seen).verdict == "supported"
        finding = check("Its lift was not repaired before 1946 [1].", seen)
        assert (finding.verdict, finding.notes) == ("not_opened", ("only a snippet of the page was seen",))

    def test_a_page_that_was_opened_and_is_not_kept(self) -> None:
        gone = CitedPage(number=1, url="https://tower.example/", version="0123456789abcdef")
        finding = check("The tower is 324 metres tall [1].", gone)
        assert (finding.verdict, finding.notes) == (
            "not_opened",
            ("the page was opened, but its content is not stored any more",),
        )

    @pytest.mark.parametrize("answer", ["", " \n", "[1]", "```\n[1]\n```", "\0\ud800 [1]", "[1] [1] [1]"])
    def test_answers_that_say_nothing(self, answer: str) -> None:
        assert verify_answer(answer, [PAGE]).findings is not None


def test_the_best_of_several_sources_counts() -> None:
    other = CitedPage(number=2, url="https://b.example/", content="Nothing of that kind is written on this page.")
    finding = check("The tower is 324 metres tall [2][1].", PAGE, other)
    assert (finding.verdict, finding.source, finding.sources) == ("supported", 1, (2, 1))


def test_each_part_of_a_sentence_is_compared_with_its_own_page() -> None:
    bridge = CitedPage(number=2, url="", content="The bridge was built in 1750 from gray stone.")
    both = "The tower is 324 metres tall [1], and the bridge was built in 1750 [2]."
    assert check(both, PAGE, bridge).verdict == "supported"
    turned = "The tower is 324 metres tall [2], and the bridge was built in 1750 [1]."
    assert check(turned, PAGE, bridge).verdict == "not_found"


def test_a_sentence_that_two_pages_say_together() -> None:
    bridge = CitedPage(number=2, url="", content="The bridge was built in 1750 from gray stone by Ida Holm.")
    lake = CitedPage(number=3, url="", content="Ships sail across the lake each summer.")
    said = "The bridge was built in 1750 from gray stone by Ida Holm, and ships sail across the lake each summer"
    finding = check(f"{said} [1][2][3].", PAGE, bridge, lake)
    assert (finding.verdict, finding.unsupporting) == ("supported", (1,))
    assert finding.notes == ("[1] does not say it",)


UNSURE = "The tower's height is 324 metres [1]. Zeppelins cross oceans, and the tower weighs a lot [1]."


@pytest.mark.req("B9")
def test_a_model_judges_all_sentences_in_doubt_at_once() -> None:
    asked: list[tuple[Doubt, ...]] = []

    def entailment(doubts: Sequence[Doubt]) -> list[float | None]:
        asked.append(tuple(doubts))
        return [0.2, 0.9]

    report = verify_answer(UNSURE, [PAGE], entailment=entailment)
    assert [one.verdict for one in report.findings] == ["not_found", "supported"]
    assert [(one.judge, one.probability) for one in report.findings] == [("model", 0.2), ("model", 0.9)]
    assert [one.sentence for one in asked[0]] == [
        "The tower's height is 324 metres .",
        "Zeppelins cross oceans, and the tower weighs a lot .",
    ]
    assert all(one.passage in TOWER for one in asked[0])
    assert report.findings[1].reason == "A model read [1] and judged that it says it."
    assert len(asked) == 1


@pytest.mark.parametrize("judgments", [[], [None], [None, None, 0.0], [float("nan"), 2.0]])
def test_what_a_model_does_not_judge_stays_as_words_tell(judgments: list[float | None]) -> None:
    report = verify_answer(UNSURE, [PAGE])
    assert len(doubts_of(report)) == 2
    assert judged_by_model(report, judgments) == report


WORDS = st.lists(
    st.sampled_from(
        [
            *["The", "tower", "Paris", "was", "not", "324", "metres", "1889", "in", "March"],
            *"“”.,|-#塔ё",
            "**",
            "`a`",
            "[x](http://y.example)",
        ]
    ),
    max_size=40,
).map(" ".join)


class TestProperties:
    @given(answer=st.text() | WORDS, content=st.text() | WORDS)
    @settings(max_examples=examples(150))
    def test_it_never_fails_and_always_says_the_same(self, answer: str, content: str) -> None:
        page = CitedPage(number=1, url="", content=content)
        report = verify_answer(f"{answer} [1]", [page])
        assert report == verify_answer(f"{answer} [1]", [page])
        for finding in report.findings:
            assert finding.text == f"{answer} [1]"[finding.start : finding.end]
            if finding.passage_start is not None:
                assert finding.passage == content[finding.passage_start : finding.passage_end]

    @given(
        words=st.lists(st.from_regex(r"[A-Z]?[a-z]{2,9}|[1-9][0-9]{0,3}", fullmatch=True), min_size=5, max_size=30),
        before=WORDS,
    )
    @settings(max_examples=examples(150))
    def test_a_sentence_of_the_page_is_supported(self, words: list[str], before: str) -> None:
        sentence = " ".join(words) + "."
        page = CitedPage(number=1, url="", content=f"{before}\n\n{sentence}\n\nMore text.")
        spans = list(sentences(f"{sentence[:-1]} [1]."))
        assume(len(spans) == 1)
        assert "`" not in sentence
        finding = check(f"{sentence[:-1]} [1].", page)
        assert finding.verdict == "supported", finding


@pytest.mark.parametrize(
    ("sentence", "often", "fits"),
    [
        ("Ships sail [1]. ", MAX_COMPARISONS, True),
        ("Ships sail [1]. ", MAX_COMPARISONS + 1, False),
        ("Ships sail [1][2]. ", MAX_COMPARISONS // 2 + 1, False),
        ("Ships sail [9]. ", MAX_COMPARISONS + 1, True),  # of a source that is not known
    ],
)
def test_an_answer_with_too_much_to_compare_is_refused_before_the_work(sentence: str, often: int, fits: bool) -> None:
    pages = [PAGE, CitedPage(number=2, url="", content="")]
    if fits:
        assert len(verify_answer(sentence * often, pages).findings) == often
    else:
        with pytest.raises(InvalidRequest, match=r"at most 5,000 are.* in parts"):
            verify_answer(sentence * often, pages)


@pytest.mark.parametrize(
    ("pages", "warnings"),
    [
        ((), ("no source of this session is known: the markers cannot be checked",)),
        ((PAGE,), ("there is no source for [7], [8]",)),
        ((CitedPage(number=7, url="", content=""), CitedPage(number=8, url="", content="")), ()),
    ],
)
def test_numbers_without_a_source(pages: tuple[CitedPage, ...], warnings: tuple[str, ...]) -> None:
    report = verify_answer("The mill burned [7]. The hall stands [7][8].", pages)
    assert report.warnings == warnings
    assert report.unknown == (() if not warnings else (7, 8))


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ("The tower is 324 metres tall and weighs 10,100 tonnes [1].", "supported"),  # in the page's own words
        ("The tower is 325 metres tall [1].", "contradicted"),
        ("The tower is 325 metres tall.", "uncited"),
        ("The tower is 325 metres tall [2].", "unknown_source"),
    ],
)
def test_a_model_is_asked_only_of_what_words_leave_open(answer: str, verdict: str) -> None:
    asked: list[object] = []

    def entailment(doubts: Sequence[Doubt]) -> list[float | None]:
        asked.append(doubts)
        return [0.0]

    (finding,) = verify_answer(answer, [PAGE], entailment=entailment).findings
    assert (finding.verdict, asked) == (verdict, [])


class Counted(Workers):
    """Worker processes whose jobs are counted and done here."""

    def __init__(self, error: Exception | None = None) -> None:
        super().__init__()
        self.jobs: list[str] = []
        self._error = error

    async def run(self, job: str, asked: Mapping[str, Any], body: bytes = b"") -> tuple[dict[str, Any], bytes]:
        self.jobs.append(job)
        if self._error is not None:
            raise self._error
        return verify_in_worker(dict(asked), body)


LONG = "The tower is 324 metres tall. The mill burned in 1931."


def padded(size: int) -> str:
    return LONG + "\n" * (size - len(LONG))


@pytest.mark.parametrize(
    ("content", "snippet", "answer", "jobs"),
    [
        (1_000, 500, 500, 0),
        (1_001, 500, 500, 1),
        (1_000, 501, 500, 1),
        (1_000, 500, 501, 1),
        (None, 1_500, 500, 0),
        (None, 1_501, 500, 1),
    ],
)
async def test_a_long_answer_is_verified_in_another_process(
    content: int | None, snippet: int, answer: int, jobs: int
) -> None:
    said = "The tower is 324 metres tall [1]. The mill burned in 1932 [1]. Ships sail [2]."
    text = said + " " * (answer - len(said))
    page = CitedPage(number=1, url="", content=None if content is None else padded(content), snippet=padded(snippet))
    workers = Counted()
    assert await verify_off_loop(workers, text, [page]) == verify_answer(text, [page])
    assert workers.jobs == ["groundwire.citations.verify.verifier:verify_in_worker"] * jobs
    broken = Counted(WorkerUnavailable("none"))
    assert await verify_off_loop(broken, text, [page]) == verify_answer(text, [page])
    assert len(broken.jobs) == jobs
    if jobs:
        with pytest.raises(InvalidRequest, match="takes too long"):
            await verify_off_loop(Counted(WorkTooHeavy()), text, [page])


async def test_half_an_emoji_reaches_the_other_process() -> None:
    workers, page = Counted(), CitedPage(number=1, url="", content=padded(2_000))
    report = await verify_off_loop(workers, "The tower \ud83d is 324 metres tall [1].", [page])
    assert [finding.text for finding in report.findings] == ["The tower \ufffd is 324 metres tall [1]."]
    assert len(workers.jobs) == 1


async def test_a_model_is_called_in_this_process() -> None:
    asked: list[Doubt] = []

    def entailment(doubts: Sequence[Doubt]) -> list[float | None]:
        asked.extend(doubts)
        return [0.0]

    workers, page = Counted(), CitedPage(number=1, url="", content=padded(9_000))
    report = await verify_off_loop(workers, "The tower's height is 324 metres [1].", [page], entailment=entailment)
    assert (len(workers.jobs), len(asked), report.findings[0].verdict) == (1, 1, "not_found")


async def test_an_answer_that_another_process_refuses_is_refused() -> None:
    with pytest.raises(InvalidRequest) as refused:
        await verify_off_loop(Counted(), "Ships sail [1]. " * (MAX_COMPARISONS + 1), [PAGE])
    with pytest.raises(InvalidRequest) as same:
        verify_answer("Ships sail [1]. " * (MAX_COMPARISONS + 1), [PAGE])
    assert str(refused.value) == str(same.value)
    assert (refused.value.field, refused.value.fix) == ("answer", "Check it in parts.")
