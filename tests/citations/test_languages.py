"""Numbers as values with units, dates as what is known of them, and the language of a text."""

from __future__ import annotations

import pytest

from components.text_calls import LANGUAGES
from groundwire.citations.verify.language_data import language, language_of
from groundwire.citations.verify.values import Date, same_date, same_number, tokens_of

pytestmark = pytest.mark.req("B9")


def told(code: str, text: str) -> list[object]:
    found: list[object] = []
    for token in tokens_of(text, language(code)):
        if token.kind == "number":
            found.append((token.values[0], token.unit) if token.unit else token.values[0])
        elif token.kind == "date":
            found.append(tuple(token.date))
        elif token.kind == "negation":
            found.append("not")
    return found


@pytest.mark.parametrize(
    ("code", "text", "expected"),
    [
        ("en", "10,100 tonnes, 1.5 km and 3,000", [(10_100.0, "tonne"), (1.5, "km"), 3_000.0]),
        ("en", "$1.25 billion, €32.10, 4.5% and 20 percent", [(1.25e9, "usd"), (32.1, "eur"), (4.5, "%"), (20.0, "%")]),
        ("en", "twenty-one ships, five million people", [21.0, 5e6]),
        ("en", "31 March 1889, March 31, 1889, 1889-03-31", [((1889, 1889), 3, 31)] * 3),
        (
            "en",
            "in March 1889, in the 1880s, in 1889",
            [((1889, 1889), 3, None), ((1880, 1889), None, None), ((1889, 1889), None, None)],
        ),
        ("en", "they may march 5 abreast", [5.0]),
        ("en", "it is not, can't, won’t, never", ["not"] * 4),
        ("de", "1.250,5 Meter, am 3. Mai 2019, 12 Mio. Euro", [(1_250.5, "m"), ((2019, 2019), 5, 3), (12e6, "eur")]),
        ("de", "einundzwanzig, nicht, 31.12.2019", [21.0, "not", ((2019, 2019), 12, 31)]),
        ("fr", "7 300 tonnes, le 3 mai 2019, pas", [(7_300.0, "tonne"), ((2019, 2019), 5, 3), "not"]),
        ("es", "3 de mayo de 1932, 2,5 millones, no", [((1932, 1932), 5, 3), 2.5e6, "not"]),
        ("pt", "3 de maio de 1932, 5 dias, não", [((1932, 1932), 5, 3), (5.0, "day"), "not"]),
        ("ru", "12 апреля 1961 года, 5 тысяч рублей, не", [((1961, 1961), 4, 12), (5_000.0, "rub"), "not"]),
        (
            "zh",
            "1932年5月3日, 长503米, 二十一个, 3万人, 没有",
            [((1932, 1932), 5, 3), (503.0, "m"), 21.0, 30_000.0, "not"],
        ),
        ("ja", "2019年, 333メートル, 5億円, 行かない", [((2019, 2019), None, None), (333.0, "m"), (5e8, "jpy"), "not"]),
        ("ar", "٣ مايو 2019, 5 ملايين, ليس", [((2019, 2019), 5, 3), 5e6, "not"]),
        ("it", "3 maggio 2019, non", [((2019, 2019), 5, 3), "not"]),
        ("nl", "3 mei 2019, niet", [((2019, 2019), 5, 3), "not"]),
    ],
)
def test_values(code: str, text: str, expected: list[object]) -> None:
    assert told(code, text) == expected


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (Date((1889, 1889), 3, 31), Date((1889, 1889)), True),
        (Date((1880, 1889)), Date((1889, 1889), 3, 31), True),
        (Date(None, 3, 31), Date((1889, 1889), 3, None), True),
        (Date((1880, 1889)), Date((1890, 1890)), False),
        (Date((1889, 1889), 3), Date((1889, 1889), 4), False),
        (Date((1889, 1889), 3, 30), Date((1889, 1889), 3, 31), False),
    ],
)
def test_dates_agree_in_what_is_known_of_both(one: Date, other: Date, same: bool) -> None:
    assert same_date(one, other) is same_date(other, one) is same


@pytest.mark.parametrize(
    ("one", "other", "rounded", "same"),
    [
        ("3 km", "3,000 m", False, True),
        ("10 miles", "16 km", False, True),
        ("10 thousand tonnes", "10,100 tonnes", True, True),
        ("10 thousand tonnes", "10,100 tonnes", False, False),
        ("3 km", "3 miles", False, False),
        ("3 km", "3 kg", True, False),
        ("3 days", "3", False, True),
    ],
)
def test_numbers_agree_as_quantities(one: str, other: str, rounded: bool, same: bool) -> None:
    (first,), (second,) = (tokens_of(text, language("en")) for text in (one, other))
    assert same_number(first, second, rounded=rounded) is same


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("The ship sails to the port and is not back.", "en"),
        ("Das Schiff fährt in den Hafen und ist nicht zurück.", "de"),
        ("Le bateau est dans le port et il ne part pas.", "fr"),
        ("El barco está en el puerto y no ha salido.", "es"),
        ("O navio não está no porto e não foi para casa.", "pt"),
        ("Корабль стоит в порту.", "ru"),
        ("船在港口。", "zh"),
        ("船は港にある。", "ja"),
        ("السفينة في الميناء", "ar"),
        ("Zxq", ""),
        ("12 34", ""),
    ],
)
def test_the_language_of_a_text(text: str, code: str) -> None:
    assert language_of(text) == code


def test_every_language_has_its_own_words() -> None:
    assert {language(code).code for code in LANGUAGES} == set(LANGUAGES)
    assert all(language(code).negations for code in LANGUAGES)
    assert language("greek").code == "en"
