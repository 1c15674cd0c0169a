"""Checking in nine languages: what is said otherwise, what is made wrong, who did what to whom, and several pages."""

from __future__ import annotations

import pytest

from components.work import lines
from groundwire.citations.verify import CitedPage, Finding, verify_answer
from groundwire.citations.verify.cited_parts import name_of_site, parts_by_page
from groundwire.citations.verify.language_detection import language_of
from groundwire.citations.verify.language_packs import LANGUAGES, language
from groundwire.citations.verify.passage_index import PageIndex
from groundwire.citations.verify.quantities import numbers_of

pytestmark = pytest.mark.req("B35")


def check(sentence: str, *pages: str) -> Finding:
    cited = [CitedPage(number=number, url="", content=text) for number, text in enumerate(pages, start=1)]
    (finding,) = verify_answer(sentence, cited).findings
    return finding


@pytest.mark.parametrize(
    ("page", "right", "wrong", "kind"),
    [
        (
            "Some doors of the old barn stay open at night.",
            "At night some doors of the old barn stay open",
            "All doors of the old barn stay open at night",
            "quantifier",
        ),
        (
            "The syrup may harm small dogs.",
            "The syrup might harm small dogs",
            "The syrup must harm small dogs",
            "modal",
        ),
        (
            "The barn lends its ladders to farmers.",
            "Farmers can borrow ladders from the barn",
            "The barn lends its ladders to sailors",
            "word",
        ),
        ("The box weighs 500 g.", "The box weighs 0.5 kg", "The box weighs 5 kg", "number"),
        (
            "Ida Holm beat Lea Voss in the race.",
            "Lea Voss was beaten by Ida Holm in the race",
            "Lea Voss beat Ida Holm in the race",
            "order",
        ),
        (
            "Ida Holm beat Lea Voss in the race.",
            "Lea Voss lost the race to Ida Holm",
            "Lea Voss was not beaten by Ida Holm in the race",
            "negation",
        ),
        (
            "Ulm sold 12 carts in April and 19 in May.",
            "In April Ulm sold 12 carts, and in May 19",
            "Ulm sold 19 carts in April and 12 in May",
            "order",
        ),
        (
            "The mill is older than the barn.",
            "The barn is younger than the mill",
            "The barn is older than the mill",
            "order",
        ),
        (
            "Die Scheune hat neun Tore und wurde 1880 erbaut.",
            "Die 1880 gebaute Scheune hat 9 Tore",
            "Die Scheune hat acht Tore",
            "number",
        ),
        (
            "Alle Tore der Scheune sind nachts geschlossen.",
            "Nachts sind alle Tore der Scheune geschlossen",
            "Einige Tore der Scheune sind nachts geschlossen",
            "quantifier",
        ),
        (
            "La grange compte neuf portes rouges.",
            "La grange a 9 portes rouges",
            "La grange compte huit portes rouges",
            "number",
        ),
        ("Le moulin est fermé en hiver.", "En hiver, le moulin est fermé", "Le moulin est ouvert en hiver", "opposite"),
        (
            "El granero tiene nueve puertas rojas.",
            "El granero cuenta con 9 puertas rojas",
            "El granero tiene ocho puertas rojas",
            "number",
        ),
        ("El molino no abre en enero.", "En enero el molino no abre", "El molino abre en enero", "negation"),
        (
            "O celeiro tem nove portas vermelhas.",
            "O celeiro conta com 9 portas vermelhas",
            "O celeiro tem oito portas vermelhas",
            "number",
        ),
        (
            "Todos os barcos saem no sábado.",
            "No sábado saem todos os barcos",
            "Alguns barcos saem no sábado",
            "quantifier",
        ),
        (
            "В сарае девять дверей и два окна.",
            "В сарае 9 дверей и два окна",
            "В сарае восемь дверей и два окна",
            "number",
        ),
        (
            "Der Stadtrat genehmigte den Bau der Brücke.",
            "Der Gemeinderat billigte die Errichtung der Brücke",
            "Der Stadtrat genehmigte den Abriss der Brücke",
            "opposite",
        ),
        (
            "La mairie a embauché deux jardiniers en mars.",
            "En mars, l'hôtel de ville a recruté deux jardiniers",
            "La mairie a licencié deux jardiniers en mars",
            "opposite",
        ),
        (
            "El ayuntamiento derribó el puente viejo en abril.",
            "En abril el consistorio demolió el viejo puente",
            "El ayuntamiento construyó el puente viejo en abril",
            "opposite",
        ),
        (
            "A prefeitura demoliu a ponte velha em abril.",
            "Em abril o município derrubou a velha ponte",
            "A prefeitura construiu a ponte velha em abril",
            "opposite",
        ),
        ("Лодка длиннее плота.", "Плот короче лодки", "Лодка короче плота", "opposite"),
        ("谷仓有九扇红门。", "谷仓有9扇红门", "谷仓有八扇红门", "number"),
        ("納屋には九つの赤い扉がある。", "納屋には9つの赤い扉がある", "納屋には八つの赤い扉がある", "number"),
        ("納屋は冬に閉まる。", "冬に納屋は閉まる", "納屋は冬に開く", "opposite"),
        ("للحظيرة تسعة أبواب حمراء.", "للحظيرة 9 أبواب حمراء", "للحظيرة ثمانية أبواب حمراء", "number"),
        ("المخزن مغلق في الشتاء.", "في الشتاء المخزن مغلق", "المخزن مفتوح في الشتاء", "opposite"),
        (
            "Билет на паром стал дешевле на 10 %.",
            "Билет на паром подешевел на 10 процентов",
            "Билет на паром подорожал на 10 процентов",
            "opposite",
        ),
        (
            "В субботу в порту загорелся паром.",
            "Пожар на пароме в порту вспыхнул в субботу",
            "В субботу в порту загорелся автобус",
            "word",
        ),
        ("法院以诈骗罪判处商人五年有期徒刑。", "商人因诈骗被判刑五年", "商人因盗窃被判刑五年", "word"),
        ("七岁以下儿童免费入场。", "七岁以下的孩子免票入场", "七岁以下儿童付费入场", "opposite"),
        (
            "納屋では自転車の通行が認められている。",
            "納屋では自転車の通行が許可されている",
            "納屋では自転車の通行が禁止されている",
            "opposite",
        ),
        ("りんごの値段は10%下がった。", "りんごの価格は10%安くなった", "りんごの値段は10%上がった", "opposite"),
        (
            "الدخول إلى القلعة مجاني للأطفال.",
            "يدخل الأطفال القلعة بلا مقابل",
            "الدخول إلى القلعة مدفوع للأطفال",
            "opposite",
        ),
        ("تدوم بطارية المصباح يومين.", "تكفي بطارية المصباح يومين", "تدوم بطارية المصباح تسعة أيام", "number"),
    ],
)
def test_what_is_said_otherwise_and_what_is_made_wrong(page: str, right: str, wrong: str, kind: str) -> None:
    assert check(f"{right} [1].", page).verdict == "supported"
    finding = check(f"{wrong} [1].", page)
    assert (finding.verdict == "supported", [one.kind for one in finding.disagreements]) == (False, [kind])


HALL, ORGAN = "The barn seats 700.", "The bell dates from 1811."


@pytest.mark.parametrize(
    ("answer", "verdict", "unsupporting"),
    [
        ("The barn seats 700, and the bell dates from 1811 [1][2].", "supported", ()),
        ("The barn seats 700 [1], and the bell dates from 1811 [2].", "supported", ()),
        ("The barn seats 700 [1][2].", "supported", (2,)),
        ("The barn seats 800, and the bell dates from 1811 [1][2].", "altered", ()),
        ("The bell dates from 1811 [1], and the barn seats 700 [2].", "not_found", ()),
    ],
)
def test_a_sentence_over_two_pages(answer: str, verdict: str, unsupporting: tuple[int, ...]) -> None:
    finding = check(answer, HALL, ORGAN)
    assert (finding.verdict, finding.unsupporting) == (verdict, unsupporting)
    assert bool(unsupporting) is any("does not say it" in note for note in finding.notes)


PARTS = (
    "The Holt bakery bakes 300 loaves a day, and its ovens are fired with beech and ash. Sometimes it sells buns.",
    "The weir at Stoke was repaired in May. Unfortunately, its sluice leaks again, and the miller has been fined.",
    "Das Museum in Thal zeigt 300 Uhren. Es ist montags geschlossen.",
    "Das Museum in Thal liegt am Fluss. Der Eintritt kostet 6 Euro.",
    "The parcel weighs 500 g and costs 12.50 euros. The inn is run by two sisters, and its counter is made of oak.",
)


@pytest.mark.parametrize(
    ("answer", "supported"),
    [
        ("Its ovens are fired with beech and ash, and the weir at Stoke was repaired in May [1][2].", True),
        ("Its ovens are fired with beech and oak, and the weir at Stoke was repaired in May [1][2].", False),
        ("Its sluice is fired with beech and ash, and the weir at Stoke was repaired in May [1][2].", False),
        ("It bakes 300 loaves a day, and the weir at Stoke was repaired in July [1][2].", False),
        ("The weir at Stoke was repaired in May, and its ovens are wired with beech and ash [2][1].", False),
        ("It sells buns, and according to the page, the weir at Stoke was repaired in May [1][2].", True),
        ("Das Museum in Thal ist montags geöffnet und liegt am Fluss [3][4].", False),
        ("Das Museum in Thal ist montags geschlossen und liegt am Fluss [3][4].", True),
        ("It bakes 300 loaves a day, and unfortunately, the sluice leaks again [1][2].", True),
        ("It bakes 300 loaves a day [1], and the miller has been painted [2].", False),
        ("It bakes 300 loaves a day [1], and the parcel weighs 500 g and costs 12.50 singing [5].", False),
        ("The inn is run by two brothers, and according to the page, the miller has been fined [5][2].", False),
        ("It bakes 300 loaves a day [1], and the miller has been fined [2].", True),
    ],
)
def test_each_part_of_a_sentence_is_compared_with_the_page_that_has_most_of_it(answer: str, supported: bool) -> None:
    assert (check(answer, *PARTS).verdict == "supported") is supported


def test_work_on_many_parts_and_many_pages_grows_with_both() -> None:
    def work(parts: int, pages: int) -> int:
        text = ", and ".join(f"the {chr(97 + at % 26)}{at}ton mill grinds {at} sacks" for at in range(parts))
        cited = [CitedPage(number=at, url="", content=f"The {chr(97 + at % 26)}{at}ton mill.") for at in range(pages)]
        indexes = {page.number: PageIndex(page.content or "") for page in cited}
        return lines(lambda: list(parts_by_page(text, cited, indexes)))

    work(3, 3)  # the language is read once
    assert work(40, 5) < 2.5 * work(20, 5)
    assert work(80, 5) < 2.5 * work(40, 5)
    assert work(20, 40) < 2.5 * work(20, 20)


def test_across_languages_figures_are_compared_and_the_rest_is_not() -> None:
    page = "The barn has nine doors and was built in 1880."
    assert check("Das Haus hat sehr viele alte Fenster [1].", page).verdict == "not_comparable"
    assert check("Das Haus wurde im Jahr 1890 gebaut [1].", page).verdict == "altered"


def test_a_finding_says_why_and_where_both_sides_stand() -> None:
    answer, page = "The **barn** has 8 doors [1].", "An old place. The barn has 9 doors."
    finding = check(answer, page)
    (one,) = finding.disagreements
    assert finding.reason == "You say “8”, [1] says “9”."
    assert 0 < finding.confidence <= 1
    assert (one.claimed_start, one.claimed_end, one.stated_start, one.stated_end) == (17, 18, 27, 28)
    assert (answer[17:18], page[27:28]) == ("8", "9")


def test_heads_of_tables_and_code_are_no_sentences() -> None:
    answer = "| Barn | 1880 |\n| --- | --- |\n| Doors | 9 [1] |\n\n```\nbarn = 1880\n```\n"
    (finding,) = verify_answer(answer, [CitedPage(number=1, url="", content="Doors: 9")]).findings
    assert finding.text == "| Doors | 9 [1] |"


@pytest.mark.parametrize(
    ("code", "text", "value", "unit"),
    [
        ("de", "dreihundertfünfundzwanzig Meter", 325, "m"),
        ("de", "2,4 Mio. Euro", 2.4e6, "eur"),
        ("fr", "quatre-vingt-dix-sept", 97, ""),
        ("fr", "2,4 millions d'euros", 2.4e6, "eur"),
        ("es", "2,4 mil millones de euros", 2.4e9, "eur"),
        ("pt", "vinte e cinco", 25, ""),
        ("ru", "двадцать пять", 25, ""),
        ("zh", "240万欧元", 2.4e6, "eur"),
        ("zh", "百分之十二", 12, "%"),
        ("ja", "約八十人", 80, ""),
        ("ar", "خمسة وعشرون", 25, ""),
    ],
)
def test_numbers_of_each_language(code: str, text: str, value: float, unit: str) -> None:
    (number,) = numbers_of(text, language(code))
    assert (number.values[0], number.unit) == (value, unit)


@pytest.mark.parametrize("code", LANGUAGES)
def test_a_pack_names_twelve_months_and_denies(code: str) -> None:
    assert set(language(code).months.values()) == set(range(1, 13))
    assert "not" in {marker.kind for marker in language(code).markers.values()}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("The house has seven rooms.", "en"),
        ("Das Haus hat sieben Zimmer.", "de"),
        ("Дом имеет семь комнат.", "ru"),
        ("这栋房子有七个房间。", "zh"),
        ("その家には七つの部屋がある。", "ja"),
        ("في البيت سبع غرف.", "ar"),
        ("1234", ""),
    ],
)
def test_the_language_of_a_text(text: str, code: str) -> None:
    assert language_of(text)[0] == code


def test_work_grows_with_the_answer_and_no_faster() -> None:
    """Counted by the calls of a model that is asked about each sentence: one for each, however long the page is."""
    page = "The barn has nine doors. " * 2_000
    for many in (10, 20, 40):
        asked: list[str] = []

        def entails(passage: str, sentence: str, asked: list[str] = asked) -> float:
            assert len(passage) < 200
            asked.append(sentence)
            return 1.0

        answer = "The doors of the barn are nine [1]. " * many
        verify_answer(answer, [CitedPage(number=1, url="", content=page)], entailment=entails)
        assert len(asked) == many


@pytest.mark.parametrize(
    ("claim", "page", "verdict"),
    [
        # A bound is on its own side of the value, and near it.
        ("The town has more than 40 shops", "The town has 39 shops.", "altered"),
        ("The town has more than 40 shops", "The town has 43 shops.", "supported"),
        ("The town has more than 45 shops", "The town has 47 shops.", "supported"),
        ("The town has more than 45 shops", "The town has more than 48 shops.", "altered"),
        ("The town has at least 40 shops", "The town has 71 shops.", "altered"),
        ("The town has fewer than 40 shops", "The town has 42 shops.", "altered"),
        ("The town has up to 40 shops", "The town has 37 shops.", "supported"),
        ("The town has nearly 40 shops", "The town has 39 shops.", "supported"),
        ("The town has nearly 40 shops", "The town has 41 shops.", "altered"),
        ("The town has about 40 shops", "The town has 41 shops.", "supported"),
        ("The trail is more than 5 miles long", "The trail is 7.9 km long.", "altered"),
        ("The trail is more than 5 miles long", "The trail is 8.2 km long.", "supported"),
        ("Die Stadt hat mindestens 40 Läden", "Die Stadt hat 39 Läden.", "altered"),
        ("Die Stadt hat bis zu 40 Läden", "Die Stadt hat 41 Läden.", "altered"),
        ("Die Stadt hat fast 40 Läden", "Die Stadt hat 39 Läden.", "supported"),
        ("La ville compte moins de 40 magasins", "La ville compte 41 magasins.", "altered"),
        ("La ville compte moins de 40 magasins", "La ville compte 38 magasins.", "supported"),
        ("La ciudad tiene casi 40 tiendas", "La ciudad tiene 41 tiendas.", "altered"),
        ("A cidade tem pelo menos 40 lojas", "A cidade tem 38 lojas.", "altered"),
        ("A cidade tem pelo menos 40 lojas", "A cidade tem 42 lojas.", "supported"),
        ("В городе более 40 магазинов", "В городе 39 магазинов.", "altered"),
        ("В городе более 40 магазинов", "В городе 44 магазина.", "supported"),
        ("这座城市有超过40家商店", "这座城市有39家商店。", "altered"),
        ("この町には40軒以上の店がある", "この町には39軒の店がある。", "altered"),
        ("この町には40軒以上の店がある", "この町には43軒の店がある。", "supported"),
        ("في المدينة أكثر من 40 متجرا", "في المدينة 39 متجرا.", "altered"),
        # A range holds the value; another range is another statement.
        ("The town has between 30 and 50 shops", "The town has 39 shops.", "supported"),
        ("The town has between 30 and 50 shops", "The town has 59 shops.", "altered"),
        ("The town has between 30 and 50 shops", "The town has between 35 and 50 shops.", "altered"),
        ("It ran between 1930 and 1950", "It ran between 1935 and 1950.", "altered"),
        ("Die Stadt hat zwischen 30 und 50 Läden", "Die Stadt hat 39 Läden.", "supported"),
        ("这座城市有30到50家之间的商店", "这座城市有39家商店。", "supported"),
        ("في المدينة بين 30 و50 متجرا", "في المدينة 39 متجرا.", "supported"),
        # A sum of lengths; a number without a unit is one of them from ten on, unless it is a year.
        ("The farm has 25 km of fences", "The farm has 12 km of fences in the north and 13 in the south.", "supported"),
        ("The farm has 22 km of fences", "The farm has 12 km of fences in the north and 10 in the south.", "supported"),
        ("The farm has 21 km of fences", "The farm has 12 km of fences in the north and 9 in the south.", "altered"),
        ("The farm has 2,012 km of fences", "The farm had 12 km of fences in the north in 2000.", "altered"),
        # Days from a date to another, both included or not; shares, as precise as they are written.
        ("The fair lasts 2 weeks", "The fair lasts from 4 to 18 August.", "supported"),
        ("The fair lasts 14 days", "The fair lasts from 4 to 17 August.", "supported"),
        ("The fair lasts 12 days", "The fair lasts from 4 to 17 August.", "altered"),
        ("15.0% of the cows are brown", "Of the 1,600 cows, 240 are brown.", "supported"),
        ("15.5% of the cows are brown", "Of the 1,600 cows, 240 are brown.", "altered"),
        ("收容所有30只狗和50只猫", "收容所有30只狗和40只猫。", "altered"),
        # An initial is that of a first name, unless a title precedes the name.
        ("A. Miller designed the bridge in 1920", "Peter Miller designed the bridge in 1920.", "altered"),
        ("P. Miller designed the bridge in 1920", "Peter Miller designed the bridge in 1920.", "supported"),
        ("J. P. Miller designed the bridge in 1920", "John Peter Miller designed the bridge in 1920.", "supported"),
        ("A. Miller designed the bridge in 1920", "Mayor Miller designed the bridge in 1920.", "supported"),
        ("A. Miller drew it in 1920", "Peter Miller drew it in 1920. Anna Miller drew it with him.", "supported"),
        ("Le pont a été dessiné par A. Martin", "Le pont a été dessiné par Pierre Martin.", "altered"),
        ("It was written by J. Smith", "It was written by John Smith.", "supported"),
        # Counts that change places.
        ("The shelter has 9 dogs and 12 cats", "The shelter has 12 dogs. It also has 9 cats.", "altered"),
        ("The shelter has 12 dogs and 9 cats", "The shelter has 9 cats. It also has 12 dogs.", "supported"),
        ("Das Tierheim hat 9 Hunde und 12 Katzen", "Das Tierheim hat 12 Hunde. Es hat auch 9 Katzen.", "altered"),
        ("El refugio tiene 9 perros y 12 gatos", "El refugio tiene 12 perros. También tiene 9 gatos.", "altered"),
        ("В приюте 9 собак и 12 кошек", "В приюте 12 собак. Там также 9 кошек.", "altered"),
    ],
)  # fmt: skip
def test_bounds_sums_initials_and_counts_are_compared(claim: str, page: str, verdict: str) -> None:
    pages = [CitedPage(number=1, url="", content=page)]
    assert [one.verdict for one in verify_answer(f"{claim} [1].", pages).findings] == [verdict]


ARTICLE = "The weir at Stoke was repaired in May. Unfortunately, its sluice leaks again."


@pytest.mark.parametrize(
    ("sentence", "verdict"),
    [
        ("According to Reuters, the weir at Stoke was repaired in May", "supported"),
        ("The weir at Stoke was repaired in May, according to The Stoke Herald", "supported"),
        ("According to the report, the weir at Stoke was repaired in May", "supported"),
        ("Reuters reports that the weir at Stoke was repaired in May", "supported"),
        ("According to Reuters, the weir at Stoke was destroyed in May", "not_found"),
        ("According to the report, the weir at Stoke was destroyed in May", "not_found"),
        ("The report says that the weir at Stoke was destroyed in May", "not_found"),
        ("The weir at Stoke was destroyed in May, according to the report", "not_found"),
        ("According to the report, the weir at Stoke was repaired in July", "altered"),
        ("According to Wikipedia, the weir at Stoke was repaired in May", "altered"),
    ],
)
def test_who_is_named_as_the_source_is_known_by_the_title_and_the_site(sentence: str, verdict: str) -> None:
    page = CitedPage(
        number=1, url="https://www.reuters.com/world/weir", title="Weir at work again | Stoke Herald", content=ARTICLE
    )
    assert verify_answer(f"{sentence} [1].", [page]).findings[0].verdict == verdict


@pytest.mark.parametrize(
    ("page", "sentence"),
    [
        ("Das Wehr wurde im Mai repariert.", "Laut dem Bericht: Das Wehr wurde im Mai zerstört"),
        ("Le barrage a été réparé en mai.", "Selon le rapport, le barrage a été détruit en mai"),
        ("El puente fue reparado en mayo.", "Según el informe, el puente fue vendido en mayo"),
        ("A ponte foi reparada em maio.", "Segundo o relatório, a ponte foi vendida em maio"),
    ],
)
def test_an_attribution_hides_no_replaced_word(page: str, sentence: str) -> None:
    assert check(f"{sentence} [1].", page).verdict != "supported"


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://www.reuters.com/world", "reuters"),
        ("https://news.example-site.co.uk:8080", "news example site co"),
        ("http://localhost/", ""),
        ("ftp://example.com/", ""),
        ("", ""),
        ("https://[::1]/", ""),
    ],
)
def test_the_name_of_a_site(url: str, name: str) -> None:
    assert name_of_site(url) == name
