"""Numbers and dates of a sentence: what each way of writing means, and when two of them say the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest

from groundwire.citations.verify import CitedPage, verify_answer
from groundwire.citations.verify.cited_parts import exchanged_counts
from groundwire.citations.verify.entities import dates_of, same_date, same_number, same_quantity
from groundwire.citations.verify.language_packs import language
from groundwire.citations.verify.quantities import numbers_of

pytestmark = pytest.mark.req("B9", "B35")


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1234", (1234.0,)),
        ("12.5", (12.5,)),
        ("0,5", (0.5,)),
        ("12,34", (12.34,)),
        ("1.2345", (1.2345,)),
        ("1.234", (1.234, 1234.0)),  # rather a decimal point
        ("1,234", (1234.0,)),  # rather a comma between thousands
        ("1.234,5", (1234.5,)),
        ("1,234.5", (1234.5,)),
        ("1,234,567.25", (1_234_567.25,)),
        ("1.234.567,25", (1_234_567.25,)),
        ("1.234.567", (1_234_567.0,)),
        ("1'234.567.89", (123_456_789.0,)),  # nobody writes so; it must not fail
        ("1,234,567", (1_234_567.0,)),
        ("1'234", (1234.0,)),
        ("1’234’567", (1_234_567.0,)),
        ("1 234 567", (1_234_567.0,)),
        ("1\u202f234,5", (1234.5,)),
        ("-5", (-5.0,)),
        ("\u22125.5", (-5.5,)),
        ("3.12.4", (30_001_200_004.0,)),  # a version
        ("3.12.40", (30_001_200_040.0,)),
        ("10.1.2.3", (100_000_100_002.0,)),
    ],
)
def test_what_digits_may_mean(text: str, values: tuple[float, ...]) -> None:
    (number,) = numbers_of(f"was {text} then")
    assert number.values == values
    assert (number.unit, number.rounded) == ("", False)
    assert number.start == 4 + text.startswith(("-", "\u2212"))
    assert number.end == 4 + len(text)
    assert number.text == text.lstrip("-\u2212")


@pytest.mark.parametrize(
    ("text", "shown", "value", "unit"),
    [
        ("20%", "20%", 20, "%"),
        ("20 %", "20 %", 20, "%"),
        ("20 percent", "20 percent", 20, "%"),
        ("12-km", "12", 12, "km"),
        ("5 kg.", "5", 5, "kg"),
        ("5 KG", "5", 5, "kg"),
        ("5 in", "5", 5, ""),  # rather the preposition
        ("5 inches", "5", 5, "inch"),
        ("90 km/h", "90", 90, "kmh"),
        ("21 °C", "21", 21, "celsius"),
        ("21st", "21", 21, ""),
        ("5 million", "5 million", 5e6, ""),
        ("5 Million.", "5 Million.", 5e6, ""),
        ("2 dozen", "2 dozen", 24, ""),
        ("5k", "5k", 5_000, ""),
        ("5 k", "5", 5, ""),
        ("5b", "5b", 5e9, ""),
        ("5 b", "5", 5, ""),
        ("5m", "5", 5, "m"),  # metres
        ("5 m", "5", 5, "m"),
        ("$5m", "$5m", 5e6, "usd"),
        ("$5 m", "$5 m", 5e6, "usd"),
        ("$5 k", "$5 k", 5_000, "usd"),
        ("€3.2bn", "€3.2bn", 3.2e9, "eur"),
        ("$ 7", "$ 7", 7, "usd"),
        ("£7 km", "£7", 7, "gbp"),
        ("five", "five", 5, ""),
        ("zero", "zero", 0, ""),
        ("nineteen", "nineteen", 19, ""),
        ("twenty", "twenty", 20, ""),
        ("twenty-one", "twenty-one", 21, ""),
        ("twenty-five", "twenty-five", 25, ""),
        ("Ninety nine", "Ninety nine", 99, ""),
        ("two metres", "two", 2, "m"),
        ("two m", "two", 2, "m"),
        ("five k", "five", 5, ""),
        ("five in", "five", 5, ""),
        ("two million", "two million", 2e6, ""),
        ("one hundred", "one hundred", 100, ""),
        ("three dozen", "three dozen", 36, ""),
        ("a hundred", "a hundred", 100, ""),
        ("a dozen", "a dozen", 12, ""),
        ("half a million", "half a million", 500_000, ""),
        ("Half a dozen", "Half a dozen", 6, ""),
    ],
)
def test_what_is_counted_and_what_scales_it(text: str, shown: str, value: float, unit: str) -> None:
    (number,) = numbers_of(f"it: {text}")
    assert (number.text, number.values, number.unit) == (shown, (float(value),), unit)
    assert (number.start, number.end) == (4, 4 + len(shown))


@pytest.mark.parametrize("text", ["a tower", "half a loaf", "x.5", "x5", "1.5.", "A million-dollar"])
def test_what_is_no_number_of_its_own(text: str) -> None:
    assert [number.text for number in numbers_of(text)] in ([], ["1.5"], ["A million"])


@pytest.mark.parametrize(
    "words", ["about", "approximately", "more than", "fewer than", "Just  under", "ca.", "up to", "at least"]
)
def test_a_number_says_that_it_is_not_exact(words: str) -> None:
    for text in (f"{words} 500 people", f"It was {words} five people"):
        assert [number.rounded for number in numbers_of(text)] == [True]
    assert [number.rounded for number in numbers_of(f"{words} $500")] == [True]
    assert [number.rounded for number in numbers_of(f"{words} the 500 people")] == [False]
    assert [number.rounded for number in numbers_of(f"500 {words} it")] == [False]


@pytest.mark.parametrize(("text", "rounded"), [("~5", True), ("≈5", True), ("5~", False), ("approximately 5", True)])
def test_signs_say_so_too(text: str, rounded: bool) -> None:
    assert [number.rounded for number in numbers_of(text)] == [rounded]


def test_numbers_stand_in_order() -> None:
    assert numbers_of("twenty ten")[0].values == (20.0,)
    found = numbers_of("Between 10 and fifteen people came at 14:30")
    assert [number.values[0] for number in found] == [10, 15, 14, 30]


@pytest.mark.parametrize(
    ("claimed", "stated", "same"),
    [
        ("1,234", "1234", True),
        ("1.234", "1234", True),
        ("1,234", "1.234", True),
        ("1234", "1235", False),
        ("500,000", "half a million", True),
        ("0", "zero", True),
        ("zero", "one", False),
        ("0.1", "0.10000000000001", True),
        ("0.1", "0.100000000001", False),
        ("1000000000000", "1000000000001", True),
        ("1000000000000", "1000000000002", False),
        ("-5", "5", False),
        # Rounded as it says: half of the last digit that counts.
        ("about 1300", "1250", True),
        ("about 1300", "1350", True),
        ("about 1300", "1249", False),
        ("about 1300", "1351", False),
        ("about 1234", "1234.4", True),
        ("about 1234", "1234.6", False),
        ("about 0.5", "0.54", True),
        ("about 0.5", "0.56", False),
        ("about 100", "149", True),
        ("about 100", "151", False),
        ("about 0", "0.4", True),
        ("about 0", "0.6", False),
        ("about 5", "0", False),
        ("about 0.4", "0", False),
        ("1300", "1251", False),
        ("1300", "about 1251", False),
        # A scale says that the number was rounded, from a hundred thousand on.
        ("6.2 million", "6,234,567", True),
        ("6.2 million", "6,251,000", False),
        ("100 thousand", "100,400", True),
        ("99 thousand", "99,400", False),
        ("6200000", "6,234,567", False),
        ("100000", "100001", False),
        ("1.234 million", "1234100", False),
    ],
)
def test_when_two_numbers_are_the_same(claimed: str, stated: str, same: bool) -> None:
    (one,), (other,) = numbers_of(claimed), numbers_of(stated)
    assert same_number(one, other) is same


@pytest.mark.parametrize(
    ("text", "readings"),
    [
        ("2020-02-03", [(2020, 2, 3)]),
        ("3/4/2020", [(2020, 4, 3), (2020, 3, 4)]),
        ("3.4.2020", [(2020, 4, 3), (2020, 3, 4)]),
        ("4/4/2020", [(2020, 4, 4)]),
        ("1/12/2020", [(2020, 12, 1), (2020, 1, 12)]),
        ("13/12/2020", [(2020, 12, 13)]),
        ("12/31/2020", [(2020, 12, 31)]),
        ("31/1/2020", [(2020, 1, 31)]),
        ("31 March 1889", [(1889, 3, 31)]),
        ("March 31st, 1889", [(1889, 3, 31)]),
        ("March, 1889", [(1889, 3, None)]),
        ("3rd of May", [(None, 5, 3)]),
        ("May 3", [(None, 5, 3)]),
        ("3 de mayo de 2020", [(2020, 5, 3)]),
        ("31. März 1889", [(1889, 3, 31)]),
        ("3 September 2020", [(2020, 9, 3)]),
        ("5 Juni 2020", [(2020, 6, 5)]),
        ("12 Sept 2021", [(2021, 9, 12)]),
        ("7 июля 1941", [(1941, 7, 7)]),
        ("1889年3月31日", [(1889, 3, 31)]),
        ("1889年3月", [(1889, 3, None)]),
        ("1889年", [(1889, None, None)]),
    ],
)
def test_what_a_date_may_mean(text: str, readings: list[tuple[int | None, int | None, int | None]]) -> None:
    (date,) = dates_of(f"on {text} it was")
    assert list(date.readings) == readings
    assert (date.text, date.start, date.end) == (text, 3, 3 + len(text))


@pytest.mark.parametrize(
    "text", ["13/13/2020", "0/0/2020", "0/5/2020", "5/0/2020", "32/5/2020", "in March", "1889", "3/4/20201", ""]
)
def test_what_is_no_date(text: str) -> None:
    assert dates_of(text) == []


@pytest.mark.parametrize(
    ("claimed", "stated", "same"),
    [
        ("31 March 1889", "1889-03-31", True),
        ("March 1889", "31 March 1889", True),
        ("31 March", "31 March 1889", True),
        ("31 March 1889", "March 1889", False),
        ("31 March 1889", "31 March", False),
        ("31 March 1889", "31 March 1890", False),
        ("30 March 1889", "31 March 1889", False),
        ("3/4/2020", "4 March 2020", True),
        ("3/4/2020", "3 April 2020", True),
        ("3/4/2020", "4 April 2020", False),
    ],
)
def test_when_two_dates_are_the_same(claimed: str, stated: str, same: bool) -> None:
    (one,), (other,) = dates_of(claimed), dates_of(stated)
    assert same_date(one, other) is same


@pytest.mark.parametrize(
    ("claimed", "stated", "same"),
    [
        ("2 tonnes", "2,000 kg", True),
        ("5 miles", "8 km", True),  # both are rounded when units are no simple multiple of one another
        ("5 miles", "9 km", False),
        ("1 km", "1000.4 m", False),
        ("24 hours", "1 day", True),
        ("24 hours", "1.01 days", False),
        ("1 day", "24.4 hours", False),
        ("3 feet", "36 inches", True),
        ("3 feet", "36.4 inches", False),
        ("about 3 feet", "36.4 inches", True),
        ("2 km", "2 kg", False),
        ("2 km", "2 km", False),  # that is the same number
    ],
)
def test_quantities_in_two_units(claimed: str, stated: str, same: bool) -> None:
    (one,), (other,) = numbers_of(claimed), numbers_of(stated)
    assert same_quantity(one, other) is same


@pytest.mark.parametrize(
    ("code", "text", "shown", "value", "unit"),
    [
        ("fr", "2,3 millions d'euros", "2,3 millions", 2.3e6, "eur"),
        ("fr", "3 millions de dollars", "3 millions", 3e6, "usd"),
        ("fr", "deux millions d'euros", "deux millions", 2e6, "eur"),
        ("fr", "quatre-vingt-dix-neuf jours", "quatre-vingt-dix-neuf", 99, "day"),
        ("fr", "soixante et onze ans", "soixante et onze", 71, "year"),
        ("fr", "vingt pour cent", "vingt pour cent", 20, "%"),
        ("fr", "neuf portes", "neuf", 9, ""),
        ("es", "tres mil millones de euros", "tres mil millones", 3e9, "eur"),
        ("pt", "dois mil e quinhentos euros", "dois mil e quinhentos", 2_500, "eur"),
        ("de", "dreihundertfünfundzwanzig Meter", "dreihundertfünfundzwanzig", 325, "m"),
        ("de", "zweitausend Euro", "zweitausend", 2_000, "eur"),
        ("de", "tausend Euro", "tausend", 1_000, "eur"),
        ("de", "zwölfhundert Jahre", "zwölfhundert", 1_200, "year"),
        ("de", "1,5 Millionen Euro", "1,5 Millionen", 1.5e6, "eur"),
        ("ru", "двадцать пять километров", "двадцать пять", 25, "km"),
        ("ru", "3 млн рублей", "3 млн", 3e6, "rub"),
        ("ar", "خمسة وعشرون كيلومترا", "خمسة وعشرون", 25, "km"),
        ("ar", "ألف كتاب", "ألف", 1_000, ""),
        ("zh", "12 公里", "12", 12, "km"),
        ("zh", "三万五千公里", "三万五千", 35_000, "km"),
        ("zh", "百分之十二", "百分之十二", 12, "%"),
        ("zh", "3万公里", "3万", 30_000, "km"),
        ("zh", "2亿元", "2亿", 2e8, "cny"),
        ("zh", "三十年", "三十", 30, "year"),
        ("zh", "两公斤", "两", 2, "kg"),
        ("zh", "一九八四年", "一九八四", 1_984, "year"),
        ("zh", "二〇〇五年", "二〇〇五", 2_005, "year"),
        ("ja", "二十三個", "二十三", 23, ""),
        ("en", "half a mile", "half a", 0.5, "mile"),
        ("en", "two thirds", "two thirds", 2 / 3 * 100, "%"),
        ("en", "five thousand, two hundred men", "five thousand, two hundred", 5_200, ""),
        ("en", "one hundred and five days", "one hundred and five", 105, "day"),
        ("en", "three hundred and", "three hundred", 300, ""),
        ("en", "a hundred and one", "a hundred and one", 101, ""),
        ("en", "two hundred million and six", "two hundred million and six", 200_000_006, ""),
        ("zh", "三万亿元", "三万亿", 3e12, "cny"),
        ("zh", "1亿2000万元", "1亿2000万", 1.2e8, "cny"),
        ("zh", "3万5千人", "3万5千", 35_000, ""),
        ("ja", "3万5000円", "3万5000", 35_000, "jpy"),
        ("ja", "2億3,000万5000円", "2億3,000万5000", 230_005_000, "jpy"),
        ("ja", "8万人以上", "8万", 80_000, ""),
        ("zh", "一百零五", "一百零五", 105, ""),
        ("zh", "两千零二十", "两千零二十", 2020, ""),
        ("zh", "十二", "十二", 12, ""),
        ("zh", "二十", "二十", 20, ""),
        ("zh", "一万二千", "一万二千", 12000, ""),
        ("zh", "一亿二千万", "一亿二千万", 1.2e08, ""),
        ("zh", "百分之百", "百分之百", 100, "%"),
        ("zh", "三百二十一万五千", "三百二十一万五千", 3.215e06, ""),
        ("zh", "十亿", "十亿", 1e09, ""),
        ("zh", "一千五百米", "一千五百", 1500, "m"),
        ("zh", "零", "零", 0, ""),
        ("ja", "三兆五千億円", "三兆五千億", 3.5e12, "jpy"),
        ("ja", "一万二千人", "一万二千", 12000, ""),
        ("ja", "百二十五", "百二十五", 125, ""),
        ("ja", "二時間", "二", 2, "hour"),
        ("ja", "千五百キロ", "千五百", 1500, "km"),
        ("ja", "一億二千万", "一億二千万", 1.2e08, ""),
        ("de", "zweihundertfünfzig", "zweihundertfünfzig", 250, ""),
        ("de", "dreitausendvierhundert", "dreitausendvierhundert", 3400, ""),
        ("de", "einundzwanzig", "einundzwanzig", 21, ""),
        ("de", "hundertzwölf", "hundertzwölf", 112, ""),
        ("de", "zwölftausend", "zwölftausend", 12000, ""),
        ("de", "zwei Milliarden Euro", "zwei Milliarden", 2e09, "eur"),
        ("de", "tausendzweihundert", "tausendzweihundert", 1200, ""),
        ("de", "neunzehnhundertachtzig", "neunzehnhundertachtzig", 1980, ""),
        ("de", "zweitausendeinundzwanzig", "zweitausendeinundzwanzig", 2021, ""),
        ("de", "sechs Millionen", "sechs Millionen", 6e06, ""),
        ("de", "dreihunderttausend", "dreihunderttausend", 300000, ""),
        ("de", "siebenundneunzig", "siebenundneunzig", 97, ""),
        ("fr", "quatre-vingts", "quatre-vingts", 80, ""),
        ("fr", "quatre-vingt-onze", "quatre-vingt-onze", 91, ""),
        ("fr", "soixante-quinze", "soixante-quinze", 75, ""),
        ("fr", "deux cent trente", "deux cent trente", 230, ""),
        ("fr", "mille neuf cent quatre-vingt", "mille neuf cent quatre-vingt", 1980, ""),
        ("fr", "trois mille deux cents", "trois mille deux cents", 3200, ""),
        ("fr", "deux millions cinq cent mille", "deux millions cinq cent mille", 2.5e06, ""),
        ("fr", "vingt et un", "vingt et un", 21, ""),
        ("fr", "huit mille", "huit mille", 8000, ""),
        ("fr", "deux milliards d'euros", "deux milliards", 2e09, "eur"),
        ("es", "mil novecientos ochenta y cuatro", "mil novecientos ochenta y cuatro", 1984, ""),
        ("es", "dos millones quinientos mil", "dos millones quinientos mil", 2.5e06, ""),
        ("es", "treinta y cinco", "treinta y cinco", 35, ""),
        ("es", "dos mil", "dos mil", 2000, ""),
        ("es", "veintiséis", "veintiséis", 26, ""),
        ("pt", "duzentos e cinquenta", "duzentos e cinquenta", 250, ""),
        ("pt", "mil novecentos e oitenta", "mil novecentos e oitenta", 1980, ""),
        ("pt", "dois milhões de euros", "dois milhões", 2e06, "eur"),
        ("pt", "vinte e três", "vinte e três", 23, ""),
        ("ru", "двести пятьдесят", "двести пятьдесят", 250, ""),
        ("ru", "три тысячи двести", "три тысячи двести", 3200, ""),
        ("ru", "два миллиона", "два миллиона", 2e06, ""),
        ("ru", "тысяча девятьсот восемьдесят", "тысяча девятьсот восемьдесят", 1980, ""),
        ("ru", "сорок пять", "сорок пять", 45, ""),
        ("ar", "مئة وخمسة وعشرون", "مئة وخمسة وعشرون", 125, ""),
        ("ar", "ألفان", "ألفان", 2000, ""),
        ("ar", "ثلاثة ملايين", "ثلاثة ملايين", 3e06, ""),
        ("ar", "اثنا عشر", "اثنا عشر", 12, ""),
        ("ar", "ثلاثة آلاف وخمسمئة", "ثلاثة آلاف وخمسمئة", 3500, ""),
        ("ar", "عشرون", "عشرون", 20, ""),
        ("en", "nineteen hundred", "nineteen hundred", 1900, ""),
        ("en", "two hundred and fifty thousand", "two hundred and fifty thousand", 250000, ""),
        ("en", "three million two hundred thousand", "three million two hundred thousand", 3.2e06, ""),
        ("en", "one thousand two hundred thirty-four", "one thousand two hundred thirty-four", 1234, ""),
        ("en", "a thousand", "a thousand", 1000, ""),
        ("en", "fifteen hundred people", "fifteen hundred", 1500, ""),
        ("en", "seventy-five", "seventy-five", 75, ""),
        ("en", "half a billion dollars", "half a billion", 5e08, "usd"),
        ("en", "two dozen", "two dozen", 24, ""),
        ("en", "two thousand and six", "two thousand and six", 2006, ""),
        ("en", "a hundred thousand", "a hundred thousand", 100000, ""),
        ("en", "six hundred thousand", "six hundred thousand", 600000, ""),
        ("en", "two trillion", "two trillion", 2e12, ""),
        ("en", "a billion", "a billion", 1e09, ""),
        ("en", "twenty-first", "twenty-first", 21, ""),
        ("en", "one hundred and thirty-third", "one hundred and thirty-third", 133, ""),
        ("fr", "dix-huitième", "dix-huitième", 18, ""),
        ("fr", "vingt et unième", "vingt et unième", 21, ""),
        ("fr", "quatre-vingt-douzième", "quatre-vingt-douzième", 92, ""),
        ("ru", "двадцать первого", "двадцать первого", 21, ""),
        ("de", "einundzwanzigsten", "einundzwanzigsten", 21, ""),
        ("es", "vigésimo primera", "vigésimo primera", 21, ""),
        ("pt", "trigésimo segundo", "trigésimo segundo", 32, ""),
    ],
)
def test_numbers_of_each_language(code: str, text: str, shown: str, value: float, unit: str) -> None:
    for before in ("", "= "):
        (number,) = numbers_of(before + text, language(code))
        assert (number.text, number.unit) == (shown, unit)
        assert number.values[0] == value
        assert (number.start, number.end) == (len(before), len(before) + len(shown))


@pytest.mark.parametrize(
    ("code", "text"),
    [("zh", "星期一"), ("zh", "一"), ("zh", "十"), ("de", "ein Haus"), ("fr", "un livre"), ("fr", "neuf"),
     ("en", "thousand islands")],
)  # fmt: skip
def test_words_that_only_look_like_numbers(code: str, text: str) -> None:
    assert numbers_of(text, language(code)) == []


@pytest.mark.parametrize(
    ("code", "text", "values"),
    [
        ("en", "two hundred, three hundred or four hundred", [200, 300, 400]),
        ("en", "five million, two hundred thousand", [5_200_000]),
        ("en", "one, two and three", [1, 2, 3]),
        ("en", "twenty ten", [20, 10]),
        ("ar", "عشرة عشرون", [10, 20]),
        ("en", "eighty ten", [80, 10]),
        ("en", "sixty eleven", [60, 11]),
        ("fr", "soixante et onze", [71]),
        ("fr", "deux cents, trois cents", [200, 300]),
        ("es", "veintiuno y treinta", [21, 30]),
        ("en", "a twenty-second pause", [20]),
        ("en", "twenty second-hand cars and thirty first readers", [20, 30]),
        ("fr", "vingt maisons au deuxième étage", [20]),
        ("ru", "двадцать домов и первый мост", [20]),
        ("de", "zwanzig oder dreißig", [20, 30]),
        ("ru", "двадцать и пятьдесят", [20, 50]),
        ("zh", "二十或三十人", [20, 30]),
        ("ja", "三時間から五時間", [3, 5]),
        ("ar", "عشرون أو خمسون", [20, 50]),
    ],
)
def test_numbers_beside_each_other_are_several(code: str, text: str, values: list[float]) -> None:
    assert [number.values[0] for number in numbers_of(text, language(code))] == values


@pytest.mark.parametrize(
    ("code", "text", "rounded"),
    [
        ("zh", "约三百人", True), ("zh", "超过二十公里", True), ("zh", "三百人", False), ("ja", "約五十人", True),
        ("de", "fast zwölf Meter", True), ("de", "zwölf Meter", False), ("fr", "environ trois cents", True),
        ("es", "casi doscientos", True), ("pt", "cerca de duzentos", True), ("ru", "около двухсот", True),
        ("ar", "حوالي عشرون", True), ("es", "aproximadamente 1.234", True),
    ],
)  # fmt: skip
def test_each_language_says_that_a_number_is_not_exact(code: str, text: str, rounded: bool) -> None:
    assert [number.rounded for number in numbers_of(text, language(code))] == [rounded]


def counts(claim: str, page: str) -> tuple[str, str] | None:
    english = language("en")
    return exchanged_counts((claim, numbers_of(claim, english)), (page, numbers_of(page, english)), english)


ANIMALS = [
    "ants",
    "bees",
    "cats",
    "dogs",
    "elks",
    "foxes",
    "geese",
    "hares",
    "ibises",
    "jays",
    "kites",
    "lions",
    "mice",
    "newts",
]


def zoo(*numbers: int) -> str:
    return ", ".join(f"{number} {animal}" for number, animal in zip(numbers, ANIMALS, strict=False))


@pytest.mark.parametrize(
    ("claim", "page", "found"),
    [
        ("9 dogs and 12 cats live here.", "It has 12 dogs and 9 cats.", ("9", "12")),
        ("9 dogs and 12 cats live here.", "It has 12\tdogs and 9\u00a0cats.", ("9", "12")),
        ("9 dogs and 12 cats live here.", "It has 12 dogs, 9 cats and another twelve dogs.", ("9", "12")),
        ("9 dogs and 12 cats live here.", "It has 9 dogs and 12 cats.", None),
        ("9 dogs and 12 cats live here.", "It has 12 dogs and 9 cats, and then 9 dogs.", None),
        ("9 dogs and 12 cats live here.", "It has 12 dogs and 9 cats, and then 12 cats.", None),
        ("9 dogs and 12 cats live here.", "It has 12 dogs.", None),
        ("9 dogs and 12 cats live here.", "It has 9 cats.", None),
        ("9 dogs and 12 dogs live here.", "It has 12 dogs and 9 dogs.", None),
        ("12 dogs and 12 cats live here.", "It has 12 dogs and 12 cats.", None),
        ("9 of the dogs and 12 of the cats live here.", "It has 12 of the dogs and 9 of the cats.", None),
        ("Rooms 9, 12", "Rooms 12, 9", None),
        ("9-dog teams and 12-dog teams", "12-dog teams and 9-dog teams", None),
        (zoo(*range(20, 32)), zoo(*range(20, 30), 31, 30), ("30", "31")),
        (zoo(*range(20, 33)), zoo(*range(20, 31), 32, 31), None),  # of many numbers the first are looked at
    ],
)
def test_counts_that_have_changed_places(claim: str, page: str, found: tuple[str, str] | None) -> None:
    assert counts(claim, page) == found


WORDS: Final[dict[str, dict[str, str]]] = json.loads(Path(__file__).with_name("number_words.json").read_text("utf-8"))
"""Language, number, and how it is written; not what is rather another word when it stands alone, as neuf is."""


def _chinese(number: int) -> str:
    """Write a number below 10^16 in Chinese characters: a zero stands for the places that are left out."""
    digits, small, large = "零一二三四五六七八九", ("", "十", "百", "千"), ("", "万", "亿", "万亿")
    groups, rest = [], number
    while rest:
        rest, group = divmod(rest, 10_000)
        groups.append(group)
    written = ""
    for place in range(len(groups) - 1, -1, -1):
        text, skipped = "", bool(written) and groups[place] < 1_000
        for power in (3, 2, 1, 0):
            digit = groups[place] // 10**power % 10
            if digit:
                text += ("零" if skipped and (text or written) else "") + digits[digit] + small[power]
            skipped = not digit
        written += text + large[place] if text else ""
    return written.removeprefix("一") if written.startswith("一十") else written


def _misread(code: str, words: dict[int, str]) -> dict[str, tuple[int, object]]:
    """Return what is read otherwise, in parentheses: with what was meant and what was read."""
    wrong: dict[str, tuple[int, object]] = {}
    for number, text in words.items():
        found = [(one.text, one.values) for one in numbers_of(f"({text})", language(code))]
        if found != [(text, (float(number),))]:
            wrong[text] = (number, found)
    return wrong


@pytest.mark.parametrize("code", WORDS)
def test_numbers_in_words_are_read(code: str) -> None:
    assert _misread(code, {int(number): words for number, words in WORDS[code].items()}) == {}


def test_chinese_numbers_are_read() -> None:
    numbers = [int(number) for number in WORDS["de"] if number != "10"] + [10**8 + 7, 3 * 10**12 + 20_500]
    assert _misread("zh", {number: _chinese(number) for number in numbers}) == {}


@pytest.mark.parametrize(
    ("text", "amounts", "unit"),
    [
        ("It costs £9–12 million", (9e6, 12e6), "gbp"),
        ("It costs between £9 million and £12 million", (9e6, 12e6), "gbp"),
        ("from 9 to 12 thousand visitors", (9e3, 12e3), ""),
        ("in 1990 to 2 million visitors", (1990.0, 2e6), ""),
        ("an area of 61 square kilometres or 61 km²", (61.0, 61.0), "km²"),
    ],
)
def test_a_range_has_the_scale_and_the_currency_of_one_end(text: str, amounts: tuple[float, ...], unit: str) -> None:
    found = numbers_of(text)
    assert tuple(one.amount for one in found) == amounts
    assert {one.unit for one in found} == {unit}


@pytest.mark.parametrize("wrong", ["38 nautical miles", "38 hectares", "38 acres", "38 square metres"])
def test_a_unit_of_another_size_is_another_quantity(wrong: str) -> None:
    page = CitedPage(number=1, url="", content="The park in Ulm has an area of 38 square kilometres and many trees.")
    (found,) = verify_answer(f"The park in Ulm has an area of {wrong} and many trees [1].", [page]).findings
    assert (found.verdict, {one.kind for one in found.disagreements}) == ("altered", {"unit"})
