"""What a page says in other words: the true sentence is supported, and the one beside it that is false is not."""

from __future__ import annotations

import pytest

from groundwire.citations.verify import CitedPage, verify_answer
from groundwire.citations.verify.entities import dates_of, same_date
from groundwire.citations.verify.language_packs import language

pytestmark = pytest.mark.req("B9")

CAUSES = [
    (
        "The concert in Elmsford was moved to Friday because of a burst pipe in the hall.",
        "The concert in Elmsford was moved because of a pipe.",
        "The concert in Elmsford was moved because of a lack of singers.",
    ),
    (
        "Most of the bees in the orchard died in May. The keepers blame a mild winter.",
        "Most of the bees in the orchard died in May because of the mild winter, according to the keepers.",
        "Most of the bees in the orchard died in May, owing to new pesticides.",
    ),
    (
        "The bridge was repaired with a loan that the town will have repaid by 2031.",
        "The bridge was repaired with a loan due to be paid back by 2031.",
        "The bridge was repaired due to a flood.",
    ),
    (
        "Die Fähre nach Borum fiel am Montag aus, weil ein Motor ausgefallen war.",
        "Die Fähre nach Borum fiel am Montag wegen eines Motors aus.",
        "Die Fähre nach Borum fiel am Montag wegen eines Streiks aus.",
    ),
    (
        "La course de Valmer a été annulée samedi : la route était inondée.",
        "La course de Valmer a été annulée samedi parce que la route était inondée.",
        "La course de Valmer a été annulée samedi en raison d'un manque de bénévoles.",
    ),
    (
        "La carrera de Olmedo se suspendió el sábado porque la carretera estaba helada.",
        "La carrera de Olmedo se suspendió el sábado porque la carretera estaba helada.",
        "La carrera de Olmedo se suspendió el sábado por falta de corredores.",
    ),
    (
        "A feira de Alvite foi adiada no domingo por causa da chuva.",
        "A feira de Alvite foi adiada no domingo devido à chuva.",
        "A feira de Alvite foi adiada no domingo devido a uma greve.",
    ),
    (
        "Концерт в Лугове отменили в субботу из-за болезни певицы.",
        "Концерт в Лугове отменили в субботу по причине болезни певицы.",
        "Концерт в Лугове отменили в субботу из-за сильной метели.",
    ),
]
OPPOSITES = [
    (
        "The pool is free for children.",
        "Children do not pay for the pool.",
        "Children pay for the pool.",
    ),
    (
        "Der Eintritt in das Museum von Aldau ist am Sonntag kostenlos.",
        "Am Sonntag muss man für den Eintritt in das Museum von Aldau nicht bezahlen.",
        "Am Sonntag muss man für den Eintritt in das Museum von Aldau bezahlen.",
    ),
    (
        "По средам вход в галерею бесплатный.",
        "По средам за вход в галерею не нужно платить.",
        "По средам вход в галерею платный.",
    ),
    (
        "Aos sábados a biblioteca de Alvor fecha.",
        "Aos sábados a biblioteca de Alvor não abre.",
        "Aos sábados a biblioteca de Alvor está aberta.",
    ),
    (
        "La tienda de Olmedo abre de martes a viernes. Vende queso, miel y vino. Los lunes permanece cerrada.",
        "Los lunes, la tienda de Olmedo permanece cerrada.",
        "Los lunes, la tienda de Olmedo permanece abierta.",
    ),
    (
        "温泉「月の湯」は毎週火曜日は休みです。",
        "「月の湯」は火曜日が休みです。",
        "「月の湯」は火曜日も営業しています。",
    ),
    ("展望台への入場は無料です。", "展望台への入場は無料です。", "展望台への入場は300円です。"),
    ("باب التسجيل فُتح يوم الخميس.", "باب التسجيل فتح يوم الخميس.", "باب التسجيل أُغلق يوم الخميس."),
    (
        "وقال المدير إن الشركة فتحت أبواب المصنع.",
        "فتحت الشركة أبواب المصنع.",
        "أغلقت الشركة أبواب المصنع.",
    ),
]
COMPARISONS = [
    (
        "The theater sold 900 tickets this spring, more than in the previous one.",
        "The theater sold more tickets this spring than in the previous one.",
        "The theater sold a smaller number of tickets this spring than in the previous one.",
    ),
    (
        "Dieses Jahr stieg der Umsatz der Mühle auf 9 Millionen Euro.",
        "Der Umsatz der Mühle war dieses Jahr höher als im Jahr davor.",
        "Der Umsatz der Mühle war dieses Jahr niedriger als im Jahr davor.",
    ),
    (
        "Cette année, la récolte de pommes est plus importante que l'an dernier.",
        "Cette année, la récolte de pommes est supérieure à celle de l'an dernier.",
        "Cette année, la récolte de pommes est inférieure à celle de l'an dernier.",
    ),
    (
        "El museo recibió 9.000 visitantes, un 12 % más que el año anterior.",
        "El número de visitantes del museo subió un 12 %.",
        "El número de visitantes del museo bajó un 12 %.",
    ),
    (
        "Зарплаты на заводе теперь выше, чем до реформы.",
        "Теперь зарплаты на заводе выше, чем до реформы.",
        "Теперь зарплаты на заводе ниже, чем до реформы.",
    ),
    ("今年公司的出口收入超过国内收入。", "今年公司的国内收入少于出口收入。", "今年公司的国内收入多于出口收入。"),
]
FOUND = [
    (
        "Harlow Bikes is based in Denby. Founded by Ann Harlow, the firm employs 41 people and sells abroad.",
        "Harlow Bikes has a workforce of 41.",
        "Harlow Bikes has a workforce of 57.",
    ),
]
QUANTITIES = [
    (
        "Die Forscher beobachteten die Wölfe ein Jahr lang mit neun Kameras.",
        "Die Forscher beobachteten die Wölfe zwölf Monate lang.",
        "Die Forscher beobachteten die Wölfe zwanzig Monate lang.",
    ),
    (
        "Para la masa, mezcle un kilo de harina con agua y sal.",
        "Para la masa, mezcle 1 kg de harina con agua y sal.",
        "Para la masa, mezcle 3 kg de harina con agua y sal.",
    ),
    ("The survey took a year and had 4,100 answers.", "The survey took 12 months.", "The survey took 18 months."),
    ("该工程耗资三兆元，历时五年。", "该工程耗资3兆元。", "该工程耗资3亿元。"),
]
DUTIES = [
    (
        "Cats are welcome in the inn from May to June only. All cats must wear a bell. Guests pay 80 euros.",
        "Every cat in the inn has to wear a bell.",
        "No cat in the inn has to wear a bell.",
    ),
    ("Le moulin de 1842 tourne encore.", "Le moulin de 1842 tourne toujours.", "Le moulin de 1842 ne tourne pas."),
    ("全員が4分以内に校庭へ避難した。", "全員が4分たたないうちに校庭へ避難した。", "全員は校庭へ避難しなかった。"),
]
UNITS = [
    (
        "Change the filter every 10,000 to 15,000 miles.",
        "The filter must be changed every 16,000 to 24,000 kilometers.",
        "The filter must be changed every 10,000 to 15,000 kilometers.",
    ),
    (
        "Filters come in two kinds, paper and cloth, and must be replaced according to the schedule.\n\nInterval: "
        "10,000-15,000 miles\n\nPrice: $20-$30",
        "Paper filters must be replaced at 10,000 to 15,000 miles.",
        "Paper filters must be replaced every 10,000 to 15,000 kilometers.",
    ),
    (
        "The sledge is built of ash. Empty it weighs 4 to 8 kilograms, most with iron runners, and is 1 meter long.",
        "An empty sledge weighs 9 to 18 pounds.",
        "An empty sledge weighs 4 to 8 pounds.",
    ),
    ("The bridge cost £5 million.", "The bridge cost 5 million pounds.", "The bridge cost 5 million dollars."),
    (
        "Im Jahr 2018 umfasste der Markt für Kupfer ca. 74 Mt.",
        "Der Markt für Kupfer umfasste 2018 etwa 74 Millionen Tonnen.",
        "Der Markt für Kupfer umfasste 2018 etwa 74 Kilotonnen.",
    ),
    ("The works emit 12 Mt a year.", "The works emit 12 million tonnes a year.", "The works emit 12 kt a year."),
    (
        "Если книгу не вернуть в течение суток, спишут штраф 300 рублей.",
        "Если не вернуть книгу в течение суток, придётся заплатить штраф 300 рублей.",
        "Если не вернуть книгу в течение часа, придётся заплатить штраф 300 рублей.",
    ),
    (
        "Wird das Rad nicht innerhalb eines Tages zurückgegeben, werden 300 Euro Strafe fällig.",
        "Wer das Rad nicht innerhalb von 24 Stunden zurückgibt, zahlt 300 Euro Strafe.",
        "Wer das Rad nicht innerhalb einer Stunde zurückgibt, zahlt 300 Euro Strafe.",
    ),
    ("يزن السمك من 4 إلى 8 كيلوغرامات.", "يزن السمك من 4 إلى 8 كغ.", "يزن السمك من 4 إلى 8 أرطال."),
    ("市场出售4到8公斤的鱼。", "市场出售的鱼重4到8公斤。", "市场出售的鱼重4到8磅。"),
]
DEGREES = [
    (
        "E-Kraftstoffe sind weniger energieeffizient als Wasserstoff, der wiederum teuer ist.",
        "Wasserstoff ist energieeffizienter als E-Kraftstoffe.",
        "E-Kraftstoffe sind energieeffizienter als Wasserstoff.",
    ),
    (
        "Der Bus ist schneller als die Bahn.",
        "Die Bahn ist weniger schnell als der Bus.",
        "Der Bus ist weniger schnell als die Bahn.",
    ),
    (
        "The bus is less cheap than the tram, but faster.",
        "The tram is cheaper than the bus.",
        "The bus is cheaper than the tram.",
    ),
    (
        "The Gull carries 180 passengers, the older Heron 240.",
        "The Gull is newer than the Heron.",
        "The Heron is newer than the Gull.",
    ),
    (
        "The Gull carries 180 passengers, the older Heron 240.",
        "The Heron is older than the Gull.",
        "The Gull is older than the Heron.",
    ),
    (
        "Die Möwe fasst 180 Fahrgäste, der ältere Reiher 240.",
        "Die Möwe ist neuer als der Reiher.",
        "Der Reiher ist neuer als die Möwe.",
    ),
    (
        "An adult badger weighs 8 to 14 kilograms, most in autumn and least in spring, and lives in woods.",
        "Badgers weigh more in autumn than in spring.",
        "Badgers weigh more in spring than in autumn.",
    ),
    (
        "The badger lives in woods below 900 meters. An adult weighs 8 to 14 kilograms, most in autumn.",
        "Badgers weigh more in autumn than in spring.",
        "Badgers weigh more in spring than in autumn.",
    ),
    (
        "Der Dachs lebt im Wald. Er wiegt 8 bis 14 Kilogramm, am meisten im Herbst.",
        "Der Dachs wiegt im Herbst mehr als im Frühling.",
        "Der Dachs wiegt im Frühling mehr als im Herbst.",
    ),
    (
        "Барсук живёт в лесу. Он весит от 8 до 14 килограммов, больше всего осенью.",
        "Барсук весит больше осенью, чем весной.",
        "Барсук весит больше весной, чем осенью.",
    ),
    (
        "Un blaireau pèse de 8 à 14 kilogrammes, le plus en automne.",
        "Un blaireau pèse plus en automne qu'au printemps.",
        "Un blaireau pèse plus au printemps qu'en automne.",
    ),
    (
        "En 2022 la línea llevó a 5 millones.\n\nEl ayuntamiento de Olmeda podría prolongarla hasta el estadio"
        ", aunque falta el presupuesto.",
        "El ayuntamiento podría prolongar la línea hasta el estadio.",
        "Es seguro que el ayuntamiento prolongará la línea hasta el estadio.",
    ),
]
PLACES = [
    (
        "Le marché de Valbonne a été inauguré le 3 mai 1901 par le maire Luc Tessier. La halle, dessinée par l'"
        "architecte Jean Morel, mesure 40 mètres.",
        "La halle a été dessinée par Jean Morel et inaugurée par Luc Tessier.",
        "La halle a été dessinée par Luc Tessier et inaugurée par Jean Morel.",
    ),
    (
        "The bridge was opened in 1931 by the mayor, Carl Olsen. Its arches, designed by the engineer Ida Lund, span "
        "90 meters.",
        "The bridge was designed by Ida Lund and opened by Carl Olsen.",
        "The bridge was designed by Carl Olsen and opened by Ida Lund.",
    ),
    (
        "Die Brücke wurde 1931 von Bürgermeister Karl Ohlsen eröffnet. Die Bögen, entworfen von der Ingenieurin "
        "Ida Lund, sind 90 Meter weit.",
        "Die Brücke wurde von Ida Lund entworfen und von Karl Ohlsen eröffnet.",
        "Die Brücke wurde von Karl Ohlsen entworfen und von Ida Lund eröffnet.",
    ),
    (
        "Мост в 1931 году открыл мэр Иван Орлов. Арки, которые спроектировала инженер Анна Лунина, имеют 90 метров.",
        "Мост спроектировала Анна Лунина, а открыл Иван Орлов.",
        "Мост спроектировал Иван Орлов, а открыла Анна Лунина.",
    ),
    (
        "Ana Rey carved the doors. The ceiling was painted by Leo Paz.",
        "Leo Paz painted the ceiling and Ana Rey carved the doors.",
        "Ana Rey painted the ceiling and Leo Paz carved the doors.",
    ),
    (
        "On 4 March 2021 the Swedish boat builder Pellin announced that it had acquired its Finnish rival Nordak.",
        "The boat builder Pellin announced in March 2021 that it had acquired its rival Nordak.",
        "The boat builder Nordak announced in March 2021 that it had acquired its rival Pellin.",
    ),
    (
        "Первые 20 минут бесплатны. Билет на месяц обойдётся в 380 рублей, на сезон — в 1200.",
        "Месячный билет стоит 380 рублей, а сезонный — 1200.",
        "Месячный билет стоит 1200 рублей, а сезонный — 380.",
    ),
    (
        "Eine Karte kostet je Monat 45 Euro und je Saison 300 Euro.",
        "Die Monatskarte kostet 45 Euro, die Saisonkarte 300.",
        "Die Monatskarte kostet 300 Euro, die Saisonkarte 45.",
    ),
]


def _verdict(sentence: str, page: str) -> str:
    answer = f"{sentence[:-1]} [1]{sentence[-1]}"
    (finding,) = verify_answer(answer, [CitedPage(number=1, url="", content=page)]).findings
    return finding.verdict


@pytest.mark.parametrize(("page", "right", "wrong"), CAUSES)
def test_another_cause_is_not_supported(page: str, right: str, wrong: str) -> None:
    assert (_verdict(right, page), _verdict(wrong, page) == "supported") == ("supported", False)


@pytest.mark.parametrize(("page", "right", "wrong"), OPPOSITES)
def test_an_opposite_is_the_same_only_if_it_is_denied(page: str, right: str, wrong: str) -> None:
    assert (_verdict(right, page), _verdict(wrong, page)) == ("supported", "altered")


@pytest.mark.parametrize(("page", "right", "wrong"), COMPARISONS)
def test_more_is_not_less_in_other_words(page: str, right: str, wrong: str) -> None:
    assert (_verdict(right, page), _verdict(wrong, page) == "supported") == ("supported", False)


@pytest.mark.parametrize(("page", "right", "wrong"), FOUND)
def test_a_passage_is_found_by_synonyms(page: str, right: str, wrong: str) -> None:
    assert (_verdict(right, page), _verdict(wrong, page) == "supported") == ("supported", False)


@pytest.mark.parametrize(("page", "right", "wrong"), QUANTITIES)
def test_one_of_a_unit_is_a_quantity(page: str, right: str, wrong: str) -> None:
    assert (_verdict(right, page), _verdict(wrong, page) == "supported") == ("supported", False)


@pytest.mark.parametrize(("page", "right", "wrong"), DUTIES)
def test_what_a_page_asks_for_must_be_done(page: str, right: str, wrong: str) -> None:
    assert (_verdict(right, page), _verdict(wrong, page) == "supported") == ("supported", False)


@pytest.mark.parametrize(("page", "right", "wrong"), UNITS)
def test_a_number_of_another_unit_is_another_quantity(page: str, right: str, wrong: str) -> None:
    assert (_verdict(right, page), _verdict(wrong, page) == "supported") == ("supported", False)


@pytest.mark.parametrize(("page", "right", "wrong"), DEGREES)
def test_more_sooner_or_surer_is_not_less(page: str, right: str, wrong: str) -> None:
    assert (_verdict(right, page), _verdict(wrong, page) == "supported") == ("supported", False)


@pytest.mark.parametrize(("page", "right", "wrong"), PLACES)
def test_names_and_numbers_belong_to_what_is_around_them(page: str, right: str, wrong: str) -> None:
    assert (_verdict(right, page), _verdict(wrong, page) == "supported") == ("supported", False)


@pytest.mark.parametrize(
    ("page", "right"),
    [
        ("The treaty between Kiel and Ulm was signed.", "The treaty between Ulm and Kiel was signed."),
        ("The old road from Ulm to Kiel is long, and Kiel is rich.", "The old road from Ulm to Kiel is long."),
        ("In the race Ana Rey met Leo Paz.", "Leo Paz met Ana Rey in the race."),
        ("Das Museum bauten Ida Lund und Karl Ohlsen.", "Karl Ohlsen und Ida Lund bauten das Museum."),
    ],
)
def test_two_names_of_one_list_may_change_places(page: str, right: str) -> None:
    assert _verdict(right, page) == "supported"


@pytest.mark.parametrize(
    ("page", "sentence", "verdict"),
    [
        ("The bakers rented the old mill in Ulm.", "The farmers rented the old mill in Ulm", "altered"),
        ("The club gave its cup to a nurse.", "The club gave its cup to a plumber", "altered"),
        # a word of the same row that stands elsewhere in the page's sentence
        ("A painter who had taught dentists rented the mill.", "An artist rented the mill, it is said", "supported"),
        (
            "A nurse runs the old mill in Ulm, and the town sells flour there.",
            "The old mill in Ulm sells flour there to a plumber who hums odd tunes",
            "not_found",
        ),
        ("The hall in Ulm is no hospital but a school.", "The hall in Ulm is a school", "supported"),
        ("The new line carried 900 passengers up to 12 times.", "The new line carried 900 passengers", "supported"),
        ("They gave up the plan in May.", "They abandoned the plan in May", "supported"),
        ("The lorry carried the oak to Kiel.", "The truck transported the oak to Kiel", "supported"),
        ("The pupils passed the exam in June.", "The pupils failed the exam in June", "altered"),
    ],
)
def test_words_that_exclude_each_other_accuse_and_synonyms_do_not(page: str, sentence: str, verdict: str) -> None:
    (found,) = verify_answer(f"{sentence} [1].", [CitedPage(number=1, url="", content=page)]).findings
    assert found.verdict == verdict


def test_a_phrase_has_all_forms_of_its_verb() -> None:
    groups = language("en").groups
    forms = ["give up", "gives up", "giving up", "gave up", "given up"]
    assert len({groups[form] for form in forms}) == 1
    assert language("en").phrases.findall("it sped up to 300 km/h, they gave up") == ["up to", "gave up"]


NOT_ACCUSED = [
    (  # a label is not a part of the sentence behind it
        "Opening a shop in Lindau takes many steps, from limited company formation to supplier/tenant agreements.",
        "- **Agreements**: supplier, tenant, and limited company.",
    ),
    (  # what is to be done instead is denied of the other thing
        "Please do not post a lost key on the notice board; instead hand your find privately to desk@lindau.example.",
        "Lost keys should be handed privately to desk@lindau.example instead of posted on the notice board.",
    ),
    (  # a denial belongs to what follows it, here as on the page
        "The shape hasn't changed much since 1974, so it earns its name. The lathe is compact and heavy. The Lindau "
        "Lathe isn't as simple as the more modern Borum machines, but it's built to last, and parts are sold.",
        "- **Lindau Lathe**: barely changed since 1974, built to last, but hard to learn.",
    ),
    (  # an opening date holds for both clauses
        "Since 2020, rents have surged by approximately 50%, while wages have only climbed 29%.",
        "Wages have grown only 29% since 2020.",
    ),
]


@pytest.mark.parametrize(("page", "sentence"), NOT_ACCUSED)
def test_an_assistants_sentence_is_not_accused(page: str, sentence: str) -> None:
    assert _verdict(sentence, page) == "supported"


@pytest.mark.parametrize(
    ("page", "sentence", "reason"),
    [
        (
            "The Marl 5 and Marl 5C are compact saws for wood. Both cut oak and pine. The difference is the color: the "
            "5 is red, while the 5C is blue.",
            "The two saws differ only in their color: red versus blue.",
            "[1] does not say “two” in words that could be compared.",
        ),
        (
            "*[The Spring Sale campaign](https://a.example/) offers **25% off** a Borum card for a year with the code "
            "spring25. It ends on 3 May.*",
            "Fill The Jar has 25% off yearly Borum cards until the start of May.",
            "[1] does not say “Jar” in words that could be compared.",
        ),
    ],
)
def test_an_explanation_compares_what_is_said_of_the_same_thing(page: str, sentence: str, reason: str) -> None:
    (finding,) = verify_answer(f"{sentence[:-1]} [1].", [CitedPage(number=1, url="", content=page)]).findings
    assert (finding.verdict, finding.reason) == ("not_found", reason)


TURNED = [
    (  # denied in one sentence of several
        "The `Lathe` class has no way to apply torque limits, so when parts arrive faster than it turns them, they "
        "pile up. For a tool that limits torque automatically, see `LatheStream`.",
        "The `Lathe` class has no way to apply torque limits.",
        "The `Lathe` class applies torque limits automatically.",
    ),
    (  # more and less before the same word
        "It is wise to adjust the care of plants in lower light. Plants in these rooms use water more slowly, so they "
        "typically need less frequent watering and feeding.",
        "Plants in lower light typically need less frequent watering and feeding.",
        "Plants in lower light need more frequent watering and feeding.",
    ),
    (  # a denying word far away makes up for nothing
        "Besides theft cover, our insurance includes different options such as liability protection, driver protection "
        "and tool protection, and also the ability to cover your medical expenses.",
        "Our insurance includes the ability to cover medical expenses.",
        "The insurance doesn't cover medical expenses.",
    ),
    (  # synonyms of opposites
        "Solar panels: using the sun to heat water, reducing reliance on conventional energy.",
        "Solar panels reduce the reliance on conventional energy.",
        "Solar panels increase the reliance on conventional energy.",
    ),
    (  # each number counts what is behind it
        "## 7 Mills of Aldau is the largest mill museum here.\n\nFor over 10 years we have been the place to go.",
        "It is the largest mill museum there and has existed for more than ten years.",
        "It is the largest mill museum there and has existed for more than forty years.",
    ),
    (  # a price is one item's
        "- [Radio MAGNA](https://a.example)\n\n  from 16.43 €\n- [Radio LEVO](https://a.example/2)\n\n  from 13.10 €\n",
        "- **LEVO radio**: from €13.10.",
        "- **LEVO radio**: from €16.43.",
    ),
]


@pytest.mark.parametrize(("page", "right", "wrong"), TURNED)
def test_a_sentence_says_no_more_of_a_thing_than_its_page(page: str, right: str, wrong: str) -> None:
    assert (_verdict(right, page), _verdict(wrong, page) == "supported") == ("supported", False)


MERGED = [
    (  # an author counts what the page lists
        "# Mills\n\nAldau describes several trends in milling.\n\n### 1. Steel stones\n\nThey last.\n\n### 2. Quiet "
        "gears\n\nThey hum.\n\n### 3. Solar power\n\nIt is cheap.\n",
        "Aldau describes three trends in milling.",
        "Aldau describes seven trends in milling.",
    ),
    (
        "Hurry, this offer of the Borum club is valid thru 3/15.",
        "This offer of the Borum club is valid until March 15.",
        "This offer of the Borum club is valid until March 25.",
    ),
    (  # a label of which the page has no word
        "Apart from a caution to pregnant women and to people with serious illnesses, the book praises coffee.",
        "- **Warnings**: a caution to pregnant women and to people with serious illnesses.",
        "- **Warnings**: a caution to pregnant women and to children with serious illnesses.",
    ),
]


@pytest.mark.parametrize(("page", "right", "wrong"), MERGED)
def test_what_an_author_counts_rounds_or_labels_is_compared(page: str, right: str, wrong: str) -> None:
    assert (_verdict(right, page), _verdict(wrong, page) == "supported") == ("supported", False)


PRICES = "Basic\n\n###### $20\n\n**Per month**\n\n**When billed annually or $25 / mo if billed monthly**\n"
DISKS = "Usual disks hold 1.2 Tb per inch, and Holm believes its method brings that up to 6 Tb per inch."
TIMES = "Usual disks hold 1.2 Tb per inch, and Holm believes its method brings {} times as much."


@pytest.mark.parametrize(
    ("page", "sentence", "verdict"),
    [
        (PRICES, "So paying annually saves 20% on the Basic plan.", "supported"),
        (PRICES, "So paying annually saves 40% on the Basic plan.", "not_found"),
        (DISKS, TIMES.format("five"), "supported"),
        (DISKS, TIMES.format("nine"), "altered"),
        (
            "However, it's not clear what density Holm has managed to achieve so far.",
            "It's unclear what density Holm has reached so far.",
            "not_found",
        ),
    ],
)
def test_what_follows_from_two_numbers_or_a_prefix_accuses_nobody(page: str, sentence: str, verdict: str) -> None:
    assert _verdict(sentence, page) == verdict


@pytest.mark.parametrize(
    ("text", "same"),
    [("until the end of November", True), ("bis Ende November", True), ("until the end of October", False)],
)
def test_the_end_of_a_month_is_a_date(text: str, same: bool) -> None:
    (claimed,), (stated,) = dates_of(text), dates_of("until 30 November 2026")
    assert same_date(claimed, stated) == same
