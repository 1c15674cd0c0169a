"""What is said of the sentences of an answer: each verdict, each kind of disagreement, and what must always hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from components.examples import examples
from groundwire.citations.verify import CitedPage, Finding, verify_answer, verify_off_loop
from groundwire.citations.verify.alignment import Alignment, align, tokens_of
from groundwire.citations.verify.copied_sentences import exchanged, substituted
from groundwire.citations.verify.language_packs import language
from groundwire.citations.verify.segmentation import sentences
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
    ("sentence", "kind", "claimed", "stated"),
    [
        ("The tower is 342 metres tall [1].", "number", "342", "324"),
        ("The tower is 324 feet tall [1].", "unit", "324 foot", "324 m"),
        ("It was opened on 13 March 1889 [1].", "date", "13 March 1889", "31 March 1889"),
        ("It was opened on 31 March 1889 by Thomas Edison [1].", "name", "Thomas Edison", "Gustave Eiffel"),
        ("The tower was not opened on 31 March 1889 [1].", "negation", "not opened on 31 March 1889", None),
        ("The lift was repaired before 1946 [1].", "negation", None, "not repaired before 1946."),
        (
            "A visitor wrote of “the most boring thing in the city” [1].",
            "quote",
            "the most boring thing in the city",
            "The most beautiful thing in the city",
        ),
        ("In 2019 there were 2.6 million visitors [1].", "number", "2.6 million", "6.2 million"),
    ],
)
def test_what_is_altered_is_shown_side_by_side(
    sentence: str, kind: str, claimed: str | None, stated: str | None
) -> None:
    finding = check(sentence)
    assert finding.verdict == "altered"
    (one,) = finding.disagreements
    assert one.kind == kind
    assert claimed is None or one.claimed.startswith(claimed)
    assert stated is None or stated in one.stated


@pytest.mark.req("B9")
@pytest.mark.parametrize(
    ("page", "true", "false", "kind"),
    [
        ("Version 3.12.4 is out since March.", "Since March version 3.12.4 is out", "Version 3.12.5 is out", "number"),
        ("Shares rose 4.5% to €32.10.", "Shares rose 4.5 percent to 32.10 euros", "Shares rose 4.5% to $32.10", "unit"),
        (
            "Sales increased by 20 percent.",
            "Sales increased by 20 percent",
            "Sales decreased by 20 percent",
            "opposite",
        ),
        ("Between 10 and 15 people came.", "10–15 people came", "10 to 16 people came", "number"),
        ("The meeting is at 14:30.", "At 14:30 is the meeting", "The meeting is at 15:30", "number"),
        ("It cost $1.25 billion.", "It cost about $1.3 billion", "It cost $1.25 million", "number"),
        (
            "Eiffel built the tower himself.",
            "The tower was built by Eiffel",
            "Eiffel did not build the tower",
            "negation",
        ),
        ("Der Turm wurde am 31. März 1889 eröffnet.", "Am 31. März 1889 eröffnet", "Am 30. März 1889 eröffnet", "date"),
        ("塔は高さ333メートルの建物である。", "塔は高さ333メートルの建物", "塔は高さ343メートルの建物", "number"),
        (
            "Гагарин полетел в космос в 1961 году.",
            "В 1961 году Гагарин в космос полетел",
            "Гагарин в 1962 году",
            "number",
        ),
        (
            "| Land | People |\n| --- | --- |\n| Spain | 48 million |",
            "Spain has 48 million people",
            "Spain has 84 million",
            "number",
        ),
        (
            "It opened in 1932. Its arch spans 503 metres.",
            "Opened in 1932, its arch spans 503 metres",
            "It opened in 1923",
            "number",
        ),
    ],
)
def test_figures_of_many_kinds(page: str, true: str, false: str, kind: str) -> None:
    source = CitedPage(number=1, url="", content=page)
    assert check(f"{true} [1].", source).verdict == "supported"
    finding = check(f"{false} [1].", source)
    assert (finding.verdict, [one.kind for one in finding.disagreements]) == ("altered", [kind])


@pytest.mark.req("B9")
@pytest.mark.parametrize(
    ("sentence", "verdict"),
    [
        ("Penguins live in the southern hemisphere and eat krill [1].", "not_found"),
        ("The tower is made of cheese and bolts [1].", "not_found"),  # code is no statement
        ("The tower is 324 metres tall [2].", "unknown_source"),
        ("The tower is 324 metres tall.", "uncited"),
        ("Gustave Eiffel lived in Paris.", "uncited"),
        ("Here is what I found:", "no_claim"),
        ("Is it 324 metres tall?", "no_claim"),
    ],
)
def test_the_other_verdicts(sentence: str, verdict: str) -> None:
    assert check(sentence).verdict == verdict


def test_half_of_a_sentence_from_nowhere_is_not_supported() -> None:
    finding = check(
        "It was opened on 31 March 1889 by Gustave Eiffel, whose sister collected rare Bolivian butterflies [1]."
    )
    assert finding.verdict in {"not_found", "altered"}
    assert any("butterflies" in note for note in finding.notes) or finding.disagreements


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

    def test_a_page_that_changed_is_compared_and_said_to_be_another(self) -> None:
        changed = CitedPage(number=1, url="https://tower.example/", content=TOWER, changed=True)
        newer = CitedPage(number=1, url="https://tower.example/", content=TOWER, newer=True)
        assert "not stored" in check("The tower is 324 metres tall [1].", changed).notes[0]
        assert "what it said then" in check("The tower is 324 metres tall [1].", newer).notes[0]

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


def test_a_model_may_be_asked() -> None:
    asked: list[tuple[str, str]] = []

    def says(sure: float) -> Finding:
        def entailment(passage: str, sentence: str) -> float:
            asked.append((passage, sentence))
            return sure

        return verify_answer("The tower is 324 metres tall, as is known [1].", [PAGE], entailment=entailment).findings[
            0
        ]

    assert says(0.9).verdict == says(0.5).verdict == "supported"
    denied = says(0.1)
    assert (denied.verdict, denied.disagreements[0].kind) == ("altered", "entailment")
    assert len(asked) == 3


@pytest.mark.parametrize(("sure", "verdict"), [(0.9, "not_found"), (0.91, "supported")])
def test_a_model_that_is_sure_adds_support(sure: float, verdict: str) -> None:
    answer = "The tower, loved by sailors and poets and painters everywhere, is tall [1]."
    assert check(answer).verdict == "not_found"
    (finding,) = verify_answer(answer, [PAGE], entailment=lambda _passage, _sentence: sure).findings
    assert finding.verdict == verdict


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
        ("The tower is 325 metres tall [1].", "altered"),
        ("Zeppelins cross oceans every summer [1].", "not_found"),
        ("Der Turm ist sehr schön und liegt an einem Fluss in der Stadt [1].", "not_comparable"),
    ],
)
def test_a_model_is_asked_only_of_what_the_rules_leave_open(answer: str, verdict: str) -> None:
    asked: list[str] = []

    def entailment(passage: str, _sentence: str) -> float:
        asked.append(passage)
        return 0.0

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


async def test_a_model_is_called_in_this_process() -> None:
    asked: list[str] = []

    def entailment(passage: str, _sentence: str) -> float:
        asked.append(passage)
        return 0.0

    workers, page = Counted(), CitedPage(number=1, url="", content=padded(9_000))
    report = await verify_off_loop(workers, "The tower's height is 324 metres [1].", [page], entailment=entailment)
    assert (workers.jobs, len(asked), report.findings[0].verdict) == ([], 1, "altered")


async def test_an_answer_that_another_process_refuses_is_refused() -> None:
    with pytest.raises(InvalidRequest) as refused:
        await verify_off_loop(Counted(), "Ships sail [1]. " * (MAX_COMPARISONS + 1), [PAGE])
    with pytest.raises(InvalidRequest) as same:
        verify_answer("Ships sail [1]. " * (MAX_COMPARISONS + 1), [PAGE])
    assert str(refused.value) == str(same.value)
    assert (refused.value.field, refused.value.fix) == ("answer", "Check it in parts.")


def aligned(claim: str, page: str) -> Alignment:
    english = language("en")
    return align(tokens_of(claim, english), tokens_of(page, english), english)


@pytest.mark.parametrize(
    ("before", "after", "compared"), [(0, 0, True), (95, 0, True), (96, 0, False), (0, 395, True), (0, 396, False)]
)
def test_sentences_of_100_words_are_compared_with_400_word_for_word(before: int, after: int, compared: bool) -> None:
    first, last = "tall " * before, " tall" * after
    found = aligned(f"{first}the mayor praised the pupil", f"{first}the pupil praised the mayor{last}")
    assert bool(exchanged(found)) is compared
    other = aligned(f"{first}the red wine tastes good", f"{first}the blue wine tastes good{last}")
    assert (substituted(other) is not None) is compared


@pytest.mark.parametrize(
    ("page", "sentence", "verdict"),
    [
        (
            "Our sofas aren’t just big, they’re comfortable.",
            "Our sofas are not just big, they are comfortable",
            "supported",
        ),
        ("The company won’t sell the mill.", "The company will not sell the mill", "supported"),
        ("The company's founder hasn’t sold the mill.", "The company’s founder has not sold the mill", "supported"),
        ("The company’s mill is old.", "The company's mill is old", "supported"),
        ("The company’s founder hasn’t sold the mill.", "The company's founder has sold the mill", "altered"),
        ("The company's founder hasn't sold the mill.", "The company’s founder has sold the mill", "altered"),
    ],
)
def test_typographic_apostrophes_are_apostrophes(page: str, sentence: str, verdict: str) -> None:
    cited = CitedPage(number=1, url="", content=page)
    assert [one.verdict for one in verify_answer(f"{sentence} [1].", [cited]).findings] == [verdict]


@pytest.mark.parametrize(
    ("page", "sentence", "verdict"),
    [
        ("The field is close to artificial intelligence.", "The field is close to AI", "supported"),
        ("The field is close to AI.", "The field is close to artificial intelligence", "supported"),
        ("The trust runs a marine rescue center.", "The trust runs the MRC", "not accused"),
        ("The trust runs a marine rescue center.", "The trust runs the NATO", "accused"),
    ],
)
def test_an_abbreviation_has_the_initials_of_what_it_stands_for(page: str, sentence: str, verdict: str) -> None:
    cited = CitedPage(number=1, url="", content=page)
    (finding,) = verify_answer(f"{sentence} [1].", [cited]).findings
    assert verdict in {finding.verdict, "accused" if finding.verdict == "altered" else "not accused"}
