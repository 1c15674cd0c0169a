"""The passage of a page that a sentence is based on: which words are there, and which sentences are the nearest."""

from __future__ import annotations

import math

import pytest

from groundwire.citations.verify.language_packs import language
from groundwire.citations.verify.passage_index import IndexedPassage, PageIndex

pytestmark = pytest.mark.req("B9")

TEXT = """# The harbour

The ferry leaves at seven. It carries forty cars. Dogs travel free.

The old mill burned in 1931. Anna Berg built it again.

| depot | gate |
| --- | --- |
| north | 12 |

The end is near the northern lighthouse.
"""


def page(text: str = TEXT) -> PageIndex:
    return PageIndex(text, "The harbour")


def words(*given: str) -> dict[str, str]:
    return {language("en").normal_form(word): word for word in given}


def best(index: PageIndex, *given: str, widest: int = 3, also: tuple[str, ...] = ()) -> tuple[str, float]:
    passage, share = index.best(words(*given), widest=widest, also=also)
    return (passage.text if passage else "", share)


def passage(index: PageIndex, text: str) -> IndexedPassage:
    found = index.literally(text)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (("ferry", "seven"), "The ferry leaves at seven."),
        (("forty", "car"), "It carries forty cars."),
        (("ferry", "dog"), "The ferry leaves at seven. It carries forty cars. Dogs travel free."),
        (("mill", "burn"), "The old mill burned in 1931."),
        (("mill", "anna"), "The old mill burned in 1931. Anna Berg built it again."),
        (("lighthouse",), "The end is near the northern lighthouse."),
    ],
)
def test_the_fewest_sentences_with_the_words(given: tuple[str, ...], text: str) -> None:
    found, share = best(page(), *given)
    assert found == text
    assert share == pytest.approx(1.0)


def test_the_share_is_of_the_words_weight() -> None:
    index = page()
    weights = [index.weight(word, word) for word in ("mill", "zeppelin")]
    found, share = best(index, "mill", "zeppelin")
    assert "old mill" in found
    assert share == pytest.approx(weights[0] / sum(weights))
    assert best(index, "zeppelin") == ("", 0.0)
    assert best(index) == ("", 0.0)


def test_the_width_is_bounded() -> None:
    assert best(page(), "ferry", "dog", widest=1)[0] in ("The ferry leaves at seven.", "Dogs travel free.")
    assert best(page(), "ferry", "dog", widest=2)[1] < 1
    wide = "One ferry. Two. Three. Four dogs."
    assert best(page(wide), "ferry", "dog", widest=4)[0] == wide
    assert best(page(wide), "ferry", "dog")[1] < 1


def test_digits_decide_between_passages_but_do_not_count() -> None:
    text = "The toll was raised in 1931.\n\nThe toll was raised in 1948."
    assert best(page(text), "toll", "raise")[0].endswith("1931.")
    found, share = best(page(text), "toll", "raise", also=("1948",))
    assert found == "The toll was raised in 1948."
    assert share == pytest.approx(1.0)
    assert best(page(text), "toll", also=("1999",))[0].endswith("1931.")


def test_a_rare_word_weighs_more() -> None:
    index = page("ferry ferry ferry ferry and the mill. " + "Other words stand here. " * 40)
    assert index.weight("mill", "mill") > index.weight("ferry", "ferry")
    size = len(index.content) / 90
    assert index.weight("mill", "mill") == pytest.approx(math.log(1 + size / 2))
    assert index.weight("ferry", "ferry") == pytest.approx(math.log(1 + size / 5))
    assert index.weight("zeppelin", "zeppelin") == pytest.approx(
        math.log(1 + size / 5)
    )  # as one that occurs four times
    assert page("mill").weight("mill", "mill") == pytest.approx(math.log(1.5))  # never less than one sentence


@pytest.mark.parametrize(
    ("word", "there"),
    [
        ("ferry", True), ("carry", True), ("car", True), ("zeppelin", False), ("1931", True), ("193", False),
        ("harbour", True), ("north", True), ("arbour", False), ("ight", False), ("12", True), ("2", False),
    ],
)  # fmt: skip
def test_whole_words_in_any_form_are_there(word: str, there: bool) -> None:
    assert page().has(word, word) is there


def test_a_word_in_the_target_of_a_link_is_no_word_of_the_sentence() -> None:
    text = "The [old place](https://a.example/mill) is open today."
    assert best(page(text), "mill", "zeppelin")[1] == 0.0
    assert best(page(text), "place")[1] == 1.0


def test_names_are_capitalized_within_a_sentence() -> None:
    index = page("Mill owners came. The Berg family stayed. Then, Anna left the mill.")
    assert index.is_name("berg", "Berg")
    assert index.is_name("anna", "Anna")
    assert not index.is_name("mill", "Mill")
    assert not index.is_name("family", "family")
    assert not index.is_name("zeppelin", "Zeppelin")


def test_an_exact_text_is_found_in_whole_words() -> None:
    index = page()
    found = passage(index, "It carries forty")
    assert found.text == "It carries forty cars."
    assert passage(index, "cars. Dogs").text == "It carries forty cars. Dogs travel free."
    assert passage(index, "# The harbour").text.strip() == "The harbour"
    assert index.content[found.span.start : found.span.end] == "It carries forty cars."
    for absent in ("", "carries fort", "arries forty", "nothing like it", "free.\n\nThe old"):
        assert index.literally(absent) is None


def test_a_passage_can_be_extended_over_blocks_to_the_ends() -> None:
    index = page()
    found = passage(index, "Dogs travel free.")
    assert found.around(1, 0).text == "It carries forty cars. Dogs travel free."
    assert found.around(0, 1).text.split() == ["Dogs", "travel", "free.", "The", "old", "mill", "burned", "in", "1931."]
    assert [text for text, _ in found.around(2, 1).sentences] == [
        "The ferry leaves at seven.",
        "It carries forty cars.",
        "Dogs travel free.",
        "The old mill burned in 1931.",
    ]
    whole = found.around(50, 50)
    assert whole.text.split()[:2] == ["The", "harbour"]
    assert whole.text.rstrip().endswith("lighthouse.")
    assert found.around(0, 0).span == found.span


def test_numbers_and_dates_of_a_passage_and_of_the_page() -> None:
    index = page("It opened on 3 May 1931 and cost 40 crowns.\n\nNow it costs 50 crowns.")
    found = passage(index, "It opened")
    assert [number.values[0] for number in found.numbers] == [3, 1931, 40]
    assert [date.readings[0] for date in found.dates] == [(1931, 5, 3)]
    numbers, dates = index.figures
    assert [number.values[0] for number in numbers] == [3, 1931, 40, 50]
    assert len(dates) == 1
    assert index.squeezed == "it opened on 3 may 1931 and cost 40 crowns now it costs 50 crowns"


GERMAN = "Der Hafen liegt an der Küste und ist für die Stadt nicht mehr so wichtig, wie er es früher einmal war. "
ENGLISH = "The harbour lies on the coast and is not as important for the town as it was in the days of old. "


@pytest.mark.parametrize(
    ("text", "claim", "may"),
    [
        (ENGLISH * 5, ENGLISH, True),
        (ENGLISH * 5, GERMAN, False),
        (GERMAN * 5, ENGLISH, False),
        (GERMAN * 5, GERMAN, True),
        (ENGLISH * 5, "Гавань находится на берегу моря.", False),
        (ENGLISH * 5, "12 + 30", True),
        ("12 + 30", ENGLISH, True),
        (ENGLISH * 5, "Oslo Bergen Ulm", True),  # no language of its own
        ("Гавань находится на берегу моря.", "Город стоит на реке.", True),
        ("港は海岸にあります。", "港口位于海岸。", True),  # the one may quote the other
        ("الميناء على الساحل.", "Гавань на берегу.", False),
        ("Ulm " * 200 + "the of and", GERMAN, True),  # three words say little of a long page
        (ENGLISH * 5, "Casa de Ulm", True),  # of several languages
    ],
)
def test_a_page_can_say_in_its_own_words_only_what_is_in_its_language(text: str, claim: str, may: bool) -> None:
    assert page(text).may_say(claim) is may


def test_the_language_of_a_page() -> None:
    assert page(GERMAN * 5).language.code == "de"
    assert page(ENGLISH * 5).language.code == "en"
    assert page("Oslo Bergen").language.code == "en"
    assert page(GERMAN * 5).spoken[:2] == ("latin", "de")
    assert page("Der Hafen und die Stadt").spoken[1] == "de"
    assert page("Ulm " * 200 + "der und").spoken[1] == ""  # two words say little of a long page
    assert page(GERMAN * 100).sample == (GERMAN * 100)[:6_000]


def test_the_best_blocks_are_chosen_and_the_ones_before_them() -> None:
    filler = "\n\n".join(f"The ferry number {at} is here." for at in range(20))
    text = f"{filler}\n\nThe captain of the ferry is Anna Berg.\n\n{filler}"
    found, share = best(page(text), "captain", "ferry", "berg")
    assert found == "The captain of the ferry is Anna Berg."
    assert share == pytest.approx(1.0)
    across = f"{filler}\n\nThe captain is old.\n\nShe sails the zeppelin.\n\n{filler}"
    assert best(page(across), "captain", "zeppelin")[0].split()[:4] == ["The", "captain", "is", "old."]


def test_words_of_other_scripts_are_found() -> None:
    assert page("这座塔高三百米。").has("塔", "塔")
    assert page("Завод построили в Туле.").has("тул", "Туле") or page("Завод построили в Туле.").has("туле", "Туле")
    assert page("افتتح المتحف في دمشق.").has("متحف", "المتحف")
    assert page("Die Häuser sind alt.").has("haus", "Haus") or page("Die Häuser sind alt.").has("hauser", "Häuser")


@pytest.mark.parametrize(
    ("length", "said", "code"),
    [
        (399, "the", "en"),
        (400, "the", ""),
        (400, "the of and", ""),
        (400, "the of and the", "en"),
    ],
)
def test_a_longer_page_needs_more_small_words_for_a_language(length: int, said: str, code: str) -> None:
    assert PageIndex(f"{said} {'Ulm ' * length}"[:length]).spoken[1] == code


def test_of_a_very_long_passage_the_beginning_is_compared() -> None:
    span = passage(PageIndex("mill " + "stone " * 3_000 + "end"), "mill stone").span
    assert (span.start, span.end) == (0, 12_000)
    row = passage(PageIndex("Rows of " + "7, " * 900 + "end"), "Rows of 7")
    assert len(row.numbers) == 800


def test_further_occurrences_of_a_word_do_not_lower_its_weight() -> None:
    few, most, more = (
        PageIndex("mill " * often + "hall " * (500 - often)).weight("mill", "mill") for often in (399, 400, 401)
    )
    assert few > most == more


@pytest.mark.parametrize(("before", "share"), [(5, 1.0), (6, 0.5)])
def test_six_blocks_are_searched(before: int, share: float) -> None:
    far = "Apples. It was so. It was so. It was so. Pears. It was so. It was so. It was so."
    index = PageIndex("\n\n".join([*[far] * before, "Apples and pears.", *[far] * 3]))
    assert best(index, "apples", "pears")[1] == pytest.approx(share, abs=0.01)


def test_neighbors_decide_which_blocks_are_searched() -> None:
    alone = "Apples and red pears."
    index = PageIndex(
        "\n\n".join([*[f"{alone}\n\nNothing."] * 7, "Red apples.\n\nRed apples, and pears of wine.", "Nothing."])
    )
    assert best(index, "apples", "pears", "red", "wine")[0] == "Red apples, and pears of wine."


@pytest.mark.parametrize(
    ("text", "word", "spelled", "there"),
    [
        ("Two cities grew.", "city", "city", True),
        ("A city grew.", "city", "cities", True),
        ("Das Haus wurde von der Stadt gebaut und ist alt.", "bau", "baut", True),
        ("Die Stadt baut das Haus und die Halle.", "bau", "gebaut", True),
        ("Die Stadt hat das Ufer und den Hof verbaut.", "bau", "baut", False),
        ("Die Stadt hat das Ufer und den Hof zugebaut.", "bau", "baut", False),
        ("Die Straße und der Abbau.", "bau", "bau", False),
        ("Авиазавод стоит в Туле.", "завод", "завод", True),  # within a compound
    ],
)
def test_a_word_may_have_another_ending_or_a_prefix(text: str, word: str, spelled: str, there: bool) -> None:
    index = page(text)
    assert index.language.normal_form(spelled) == word
    assert index.has(word, spelled) is there


def test_each_sign_of_a_run_is_an_occurrence() -> None:
    index = page("山" * 9 + "。" + "的" * 900)
    assert index.weight("山", "山") == pytest.approx(math.log(1 + len(index.content) / 90 / 10))


def test_a_number_in_the_sentence_counts_once() -> None:
    index = page("The toll was 40 crowns. The toll was 50 crowns.")
    assert best(index, "toll", "40", also=("40",)) == ("The toll was 40 crowns.", 1.0)
    assert index.best({}, also=("40",)) == (None, 0.0)
    assert index.best({}) == (None, 0.0)


def test_a_further_sentence_must_add_more_than_a_common_word() -> None:
    names = [f"{one}{two}rn" for one in "bdfgklmp" for two in "aeio"]
    text = f"{' '.join(names)} stand. It was a mill."
    assert best(page(text), *names, "mill")[0].endswith("stand.")
    assert best(page(text), *names[:9], "mill")[0].endswith("mill.")


SPREAD = " ".join(f"The {one} was so. It was so. It was so. It was so." for one in ("oak", "elm", "ash", "fir", "yew"))
TREES = ("oak", "elm", "ash", "fir", "yew")


@pytest.mark.parametrize(
    ("blocks", "found"),
    [
        (("Oak and elm.",), "The ash was so."),  # too few words to be searched
        (("Oak, elm and ash.",), "Oak, elm and ash."),
        (("Fir. It was so. It was so. It was so.", "Oak and elm."), "Oak and elm."),  # with its neighbor it is enough
        (("Oak and elm.", "It was so. It was so. It was so. Fir."), "Oak and elm."),
        (("Oak and elm.", "It was so.", "It was so. Fir."), "The ash was so."),
        (("Fir and yew.", "Oak, elm and ash."), "Fir and yew. Oak, elm and ash."),
        (("Fir.", "Oak, elm and ash."), "Fir. Oak, elm and ash."),
    ],
)
def test_blocks_are_searched_for_their_words_and_those_of_their_neighbors(blocks: tuple[str, ...], found: str) -> None:
    index = page("\n\n".join((SPREAD, *["It was so."] * 3, *blocks)))
    assert " ".join(best(index, *TREES)[0].split()) == found


def test_a_neighbor_counts_for_less_than_the_block_itself() -> None:
    together = "Oak, elm, ash and fir."
    index = page("\n\n".join((together, *["It was so."] * 3, "Oak. It was so. It was so. Elm.", "It was. Ash. It was.",
                             "It was so. It was so. It was so. Fir and yew.")))  # fmt: skip
    assert best(index, *TREES)[0] == together


def test_what_stands_before_the_first_block_is_no_passage() -> None:
    fenced = "```\nThe ferry and the mill, dogs, harbours and lamps.\n```"
    index = page(f"{fenced}\n\nNothing of that.\n\nThe ferry leaves at seven.")
    assert best(index, "ferry", "mill", "dog", "harbour", "lamp")[0] == "The ferry leaves at seven."
    assert index.literally("The ferry and the mill") is None
    assert page(fenced).literally("The ferry and the mill") is None
    assert page(fenced).best({"mill": "mill"}) == (None, 0.0)


@pytest.mark.parametrize(
    ("before", "said"),
    [
        ("They never", False),
        ("They do not", False),
        ("They do not unconditionally", False),
        ("At the casino interdisciplinary", True),
        ("We never did. They", True),
        ("Never! They", True),
    ],
)
def test_what_is_denied_is_not_said(before: str, said: bool) -> None:
    index = page(f"It is old. {before} teams support the plan. It is new.")
    assert (index.literally("teams support the plan") is not None) is said


@pytest.mark.parametrize(("before", "known"), [(1_999, True), (2_000, True), (2_001, False)])
def test_markup_that_begins_up_to_2000_characters_before_a_sentence_is_known(before: int, known: bool) -> None:
    words = "It was so, " * 300
    start = '[A mill](mill.html "'
    text = f'{start}{words[: before - 15]}. Ferries sail at noon.")'
    index = page(text)
    assert text.index("Ferries") - text.index("](") == before
    assert (index.best({"ferry": "ferry"})[1] == 0.0) is known
