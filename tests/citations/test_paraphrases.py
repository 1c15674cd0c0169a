"""Sentences in other words than their page, and others that differ in a fact: only the first are supported."""

from __future__ import annotations

import pytest

from groundwire.citations.verify import CitedPage, verify_answer

pytestmark = pytest.mark.req("B35")

HALL = "The hall, which opened in 1931, seats 900."
ORGAN = "The organ, built by Otto Lund, has 48 stops."


@pytest.mark.parametrize(
    ("pages", "right", "wrong"),
    [
        pytest.param(
            ("61 percent of the bees died.",), "Most of the bees died", "Half of the bees died", id="percentage"
        ),
        pytest.param(
            ("El pozo tiene 9 metros. Dio agua a la aldea hasta 1912.",),
            "Hasta 1912 suministró agua al barrio",
            "Hasta 1921 suministró agua al barrio",
            id="other words, with the page's numbers",
        ),
        pytest.param(
            ("El puente cayó en mayo. No hubo heridos.",),
            "El puente cayó en mayo",
            "Hubo heridos",
            id="quotation without its not",
        ),
        pytest.param(
            ("Der Umbau kostete 4 Millionen Euro.",),
            "Der Umbau kostete 4 Mio. Euro",
            "Der Umbau kostete 6 Mio. Euro",
            id="abbreviation in a sentence",
        ),
        pytest.param(
            ("Das Wasserkraftwerk hat drei Turbinen.",),
            "Das Kraftwerk hat drei Turbinen",
            "Das Wasserkraftwerk hat drei Schornsteine",
            id="part of a compound",
        ),
        pytest.param(
            ("Le musée est fermé le lundi.",),
            "Le lundi, le musée est fermé",
            "Le mardi, le musée est fermé",
            id="fronted phrase",
        ),
        pytest.param(
            ("Завод «Сталевар» открыт в 1950 году. На нём работают 90 человек.",),
            "На «Сталеваре» работают 90 человек",
            "На «Стекольщике» работают 90 человек",
            id="quoted name in another case",
        ),
        pytest.param(
            ("Учась в Перми, она работала в Казани.",),
            "Она работала в Казани, учась в Перми",
            "Учась в Казани, она работала в Перми",
            id="places of one case",
        ),
        pytest.param(
            ("В 2020 году в городе жили 41 тысячу человек.",),
            "В 2020 году в городе жили 41 000 человек",
            "В 2020 году в городе жили 14 000 человек",
            id="scale in another case",
        ),
        pytest.param(
            ("العمال يأكلون التمر والخبز.",),
            "العمال يأكلون الخبز والتمر",
            "العمال لا يأكلون الخبز والتمر",
            id="list whose and is a letter",
        ),
        pytest.param(
            ("لا يمكن للشاحنات عبور الجسر.",),
            "الشاحنات لا يمكنها عبور الجسر",
            "يمكن للشاحنات عبور الجسر",
            id="cannot",
        ),
        pytest.param(
            ("社長は工場を閉鎖しないと強調した。",),
            "社長は工場の閉鎖を否定した",
            "社長は工場を閉鎖すると強調した",
            id="denial",
        ),
        pytest.param(
            (HALL, ORGAN),
            f"{HALL[:-1]}, and the o{ORGAN[5:-1]}",
            f"{HALL[:-1]}, and the o{ORGAN[5:-1].replace('48', '84')}",
            id="two pages, with commas on both sides",
        ),
        pytest.param(
            ("Oil changes are due at intervals of 5,000 to 7,500 miles and cost $40.",),
            "Oil changes cost $40 and are due every 5,000 to 7,500 miles",
            "Oil changes cost $60 and are due every 5,000 to 7,500 miles",
            id="a number of miles is no count of things",
        ),
        pytest.param(
            ("Wartung: Intervall 15.000 km oder 12 Monate, Preis 240 Euro.",),
            "Die Wartung ist alle 15.000 km oder 12 Monate fällig",
            "Die Wartung ist alle 25.000 km oder 12 Monate fällig",
            id="two periods, in German",
        ),
        pytest.param(
            ("Vidange : intervalle de 20 000 km, prix 90 euros.",),
            "La vidange, au prix de 90 euros, se fait tous les 20 000 km",
            "La vidange, au prix de 90 euros, se fait tous les 30 000 km",
            id="period in French",
        ),
        pytest.param(
            ("Most of the 12 members voted for the plan in May.",),
            "The members voted for the plan in May",
            "All 12 members voted for the plan in May",
            id="all of a number",
        ),
        pytest.param(
            ("The first phones gave you something like 8-16 megabytes of memory.",),
            "The first phones had only 8 to 16 megabytes of memory",
            "The first phones had only 80 to 160 megabytes of memory",
            id="only before a range",
        ),
        pytest.param(
            ("The hall seats at least 300 people.",),
            "The hall seats 300 people or more",
            "The hall seats only 300 people",
            id="only is not at least",
        ),
        pytest.param(
            ("В первых классах школы было 40 учеников.",),
            "В первых классах школы было всего лишь 40 учеников",
            "В первых классах школы было всего лишь 60 учеников",
            id="only before a count, in Russian",
        ),
        pytest.param(
            ("Le premier modèle avait 64 Mo de mémoire.",),
            "Le premier modèle avait seulement 64 Mo de mémoire",
            "Le premier modèle avait seulement 32 Mo de mémoire",
            id="only before a quantity, in French",
        ),
        pytest.param(
            ("Depending on its age and whether or not it has an alarm, it may qualify for a lower premium.",),
            "A car with an alarm may qualify for a lower premium",
            "A car with an alarm may not qualify for a lower premium",
            id="whether or not denies nothing",
        ),
        pytest.param(
            ("Je nachdem, ob das Fahrzeug eine Alarmanlage hat oder nicht, sinkt die Prämie um 5 Prozent.",),
            "Die Prämie sinkt um 5 Prozent, je nachdem, ob das Fahrzeug eine Alarmanlage hat",
            "Die Prämie sinkt nicht um 5 Prozent",
            id="whether or not, in German",
        ),
        pytest.param(
            ("Que le véhicule ait une alarme ou non, la prime baisse de 5 pour cent.",),
            "La prime du véhicule baisse de 5 pour cent",
            "La prime du véhicule ne baisse pas de 5 pour cent",
            id="whether or not, in French",
        ),
        pytest.param(
            ("The workshop wasn't just repairing bicycles: it was building new ones.",),
            "The workshop was repairing bicycles and building new ones",
            "The workshop was repairing bicycles and not building new ones",
            id="was not just doing one thing",
        ),
        pytest.param(
            ("Das Café röstet nicht nur Kaffee, sondern backt auch Brot.",),
            "Das Café röstet Kaffee und backt Brot",
            "Das Café röstet nur Kaffee",
            id="not only is not only, in German",
        ),
        pytest.param(
            ("L'atelier ne répare pas seulement des vélos, il en construit aussi.",),
            "L'atelier répare et construit des vélos",
            "L'atelier répare des vélos, mais n'en construit pas",
            id="not only, in French",
        ),
        pytest.param(
            ("El taller no solo repara bicicletas, sino que también las construye.",),
            "El taller repara bicicletas y las construye",
            "El taller solo repara bicicletas",
            id="not only, in Spanish",
        ),
        pytest.param(
            ("A oficina não só conserta bicicletas, mas também fabrica barcos.",),
            "A oficina conserta bicicletas e fabrica barcos",
            "A oficina não conserta bicicletas",
            id="not only, in Portuguese",
        ),
        pytest.param(
            ("Мастерская не только чинит велосипеды, но и строит лодки.",),
            "Мастерская чинит велосипеды и строит лодки",
            "Мастерская не чинит велосипеды",
            id="not only, in Russian",
        ),
        pytest.param(
            ("这家工坊不仅修理自行车，还制造小船。",),
            "这家工坊修理自行车，也制造小船",
            "这家工坊不修理自行车",
            id="not only, in Chinese",
        ),
        pytest.param(
            ("この工房は自転車を修理するだけでなく、小舟も作る。",),
            "この工房は自転車を修理し、小舟も作る",
            "この工房は自転車を修理しない",
            id="not only, in Japanese",
        ),
        pytest.param(
            ("The café roasts coffee and bakes bread.",),
            "The café not only roasts coffee but also bakes bread",
            "The café does not roast coffee but bakes bread",
            id="not only in the sentence",
        ),
        pytest.param(
            ("The museum shows only local paintings.",),
            "The museum shows local paintings only",
            "The museum shows not only local paintings",
            id="only is not denied",
        ),
        pytest.param(
            ("Die Betriebe müssen zuerst das Wasser filtern und dann die Reste verbrennen.",),
            "Die Betriebe sollen zuerst das Wasser filtern",
            "Die Betriebe können zuerst das Wasser filtern",
            id="what must be done shall be done, in German",
        ),
        pytest.param(
            ("Besucher sollten feste Schuhe tragen.",),
            "Besucher sollten feste Schuhe tragen",
            "Besucher müssen feste Schuhe tragen",
            id="what should be done need not be",
        ),
        pytest.param(
            ("Filtro de aire: intervalo de 30 000 km, precio 25 euros.",),
            "El filtro de aire, de 25 euros, se cambia cada 30 000 km",
            "El filtro de aire, de 25 euros, se cambia cada 50 000 km",
            id="period in Spanish",
        ),
        pytest.param(
            ("Der alte Akku hält etwa 3 Stunden, der neue 9.",),
            "Der alte Akku hält nur etwa 3 Stunden",
            "Der alte Akku hält nur etwa 5 Stunden",
            id="only, in German",
        ),
        pytest.param(
            ("The lift is for guests and staff.",),
            "The lift is for staff and guests",
            "The lift is only for staff",
            id="only some of all",
        ),
        pytest.param(
            ("الورشة ليست فقط تصلح الدراجات بل تصنع القوارب أيضا.",),
            "الورشة تصلح الدراجات وتصنع القوارب",
            "الورشة لا تصلح الدراجات",
            id="not only, in Arabic",
        ),
        pytest.param(
            ("Houses built to modern codes are likely to better withstand storms.",),
            "Houses built to modern codes are likely to withstand storms better",
            "Houses built to modern codes are likely to withstand storms worse",
            id="an adverb behind its object",
        ),
        pytest.param(
            ("The new engine quickly warms the cabin.",),
            "The new engine warms the cabin quickly",
            "The new engine slowly warms the cabin",
            id="an adverb behind its object, that may be another",
        ),
        pytest.param(
            ("A shade-loving fern would be suitable for a bathroom or a dark hall.",),
            "A shade-loving fern suits a bathroom or a dark hall",
            "A sun-loving fern suits a bathroom or a dark hall",
            id="a verb for its adjective",
        ),
        pytest.param(
            ("The firm announced the closure of its plant in Leeds.",),
            "The announcement of the firm was about the closure of its plant in Leeds",
            "The announcement of the firm was about the closure of its plant in York",
            id="a noun for its verb",
        ),
        pytest.param(
            ("Bicycles are carried for £4 each way. Dogs travel free.",),
            "Bicycles cost £4 each way",
            "Bicycles cost £6 each way",
            id="a price of something else",
        ),
        pytest.param(
            ("Der Eintritt kostet 6 Euro. Fahrräder werden für 4 Euro mitgenommen, Hunde fahren kostenlos.",),
            "Fahrräder kosten 4 Euro",
            "Fahrräder fahren kostenlos",
            id="a price of something else, in German",
        ),
        pytest.param(
            ("Dogs travel free; bicycles are carried for £4.",),
            "Dogs travel free",
            "Dogs cost £4",
            id="free and priced",
        ),
        pytest.param(
            ("A storm damaged the roof in 2020; the repair ended in 2022 and cost less than planned.",),
            "Damaged by a storm in 2020, the roof was repaired two years later, for less than planned",
            "Damaged by a storm in 2020, the roof was repaired three years later, for less than planned",
            id="years after a year",
        ),
        pytest.param(
            ("Mill Lane Museum\n\nThe museum is closed on Mondays. Visitors may borrow a guide for two hours.",),
            "Mill Lane Museum lends visitors a guide for two hours",
            "Mill Lane Museum lends visitors a guide for five hours",
            id="a name that the page shortens",
        ),
        pytest.param(
            ("Mill Lane Museum\n\nThe museum is closed on Mondays. Visitors may borrow a guide for two hours.",),
            "Mill Lane Museum is closed on Mondays",
            "Mill Lane Museum is closed on Fridays",
            id="a name whose last word the passage has",
        ),
        pytest.param(
            ("Les vélos sont transportés pour 4 euros par trajet. Les chiens voyagent gratuitement.",),
            "Les vélos coûtent 4 euros par trajet",
            "Les vélos voyagent gratuitement",
            id="a price of something else, in French",
        ),
        pytest.param(
            ("Las bicicletas se transportan por 4 euros. Los perros viajan gratis.",),
            "Las bicicletas cuestan 4 euros",
            "Las bicicletas viajan gratis",
            id="a price of something else, in Spanish",
        ),
        pytest.param(
            ("Велосипеды перевозят за 90 рублей. Собаки ездят бесплатно.",),
            "Велосипеды стоят 90 рублей",
            "Велосипеды стоят 60 рублей",
            id="a price in Russian",
        ),
        pytest.param(
            ("As bicicletas são levadas por 4 euros. Os cães viajam grátis.",),
            "As bicicletas custam 4 euros",
            "As bicicletas viajam grátis",
            id="a price of something else, in Portuguese",
        ),
        pytest.param(
            ("The old bridge closed in May, while the new tunnel stays open.",),
            "The old bridge was shut in May",
            "The old bridge was shut in June",
            id="an opposite of something else",
        ),
        pytest.param(
            ("Die Preise in der Stadt sind 2020 gestiegen, auf dem Land sind sie gefallen.",),
            "Die Preise in der Stadt haben 2020 zugenommen",
            "Die Preise in der Stadt sind 2020 gefallen",
            id="an opposite of something else, in German",
        ),
        pytest.param(
            ("Les loyers en ville ont augmenté en 2020, ceux de la campagne ont baissé.",),
            "En 2020, les loyers en ville ont augmenté",
            "Les loyers en ville ont baissé en 2020",
            id="an opposite of something else, in French",
        ),
        pytest.param(
            ("The pass is closed in winter, and the road below stays open.",),
            "The road below the pass stays open",
            "The pass is open in winter",
            id="an opposite of the same",
        ),
        pytest.param(
            ("Mill Lane Library opened in 1990. Members may borrow up to six films.",),
            "Mill Lane Library lends up to six films",
            "Members may lend up to six films to Mill Lane Library",
            id="lent by one and borrowed by others",
        ),
        pytest.param(
            ("Le musée Varenne a rouvert en 2022.\n\nLe musée ferme le lundi.",),
            "Le musée Varenne ferme le lundi",
            "Le musée Rodin ferme le lundi",
            id="a short name, in French",
        ),
        pytest.param(
            ("Die Pflanze ist für dunkle Räume brauchbar.",),
            "Die Pflanze ist in dunklen Räumen zu brauchen",
            "Die Pflanze ist für helle Räume brauchbar",
            id="derived in German",
        ),
        pytest.param(
            ("El puente es transitable en invierno.",),
            "En invierno se transita por el puente",
            "El puente es transitable en verano",
            id="derived in Spanish",
        ),
        pytest.param(
            ("Le gouvernement a annoncé le remplacement des vieux trains.",),
            "L'annonce du gouvernement : il remplace les vieux trains",
            "Le gouvernement a annoncé le remplacement des vieux bus",
            id="derived in French",
        ),
        pytest.param(
            ("The town will replace the old pumps in June.",),
            "The replacement of the old pumps by the town will be in June",
            "The replacement of the old pumps by the town will be in July",
            id="derived from a verb",
        ),
        pytest.param(
            ("Gut gebaute Häuser können Stürmen besser widerstehen.",),
            "Gut gebaute Häuser können besser Stürmen widerstehen",
            "Schlecht gebaute Häuser können Stürmen besser widerstehen",
            id="an adverb moved, in German",
        ),
        pytest.param(
            ("El pan de la tienda es aceptable para los niños.",),
            "Los niños aceptan el pan de la tienda",
            "Los niños aceptan el queso de la tienda",
            id="an adjective of a verb, in Spanish",
        ),
        pytest.param(
            ("O preço do pão é aceitável para os clientes.",),
            "Os clientes aceitam o preço do pão",
            "Os clientes aceitam o preço do leite",
            id="an adjective of a verb, in Portuguese",
        ),
        pytest.param(
            ("The farm in the valley is big.",),
            "The farm in the valley is big",
            "The farmer in the valley is big",
            id="who does it is not what is done",
        ),
        pytest.param(
            ("Ivo Berg (1865-1940) was a painter from Thal.", "Sales rose by 12 % in 2023, to 64 million euros."),
            "The painter was born in Thal in 1865 and died in 1940 and sales rose by 12 % in 2023, to 64 million euros",
            "The painter was born in Thal in 1865 and died in 1930 and sales rose by 12 % in 2023, to 64 million euros",
            id="two sentences joined, of which one has its own and",
        ),
        pytest.param(
            ("Ein Zusammenhang zwischen Lärm und Schlaf wurde nicht gefunden.",),
            "Die Forscher fanden keinen Zusammenhang zwischen Lärm und Schlaf",
            "Die Forscher fanden einen Zusammenhang zwischen Lärm und Schlaf",
            id="none found is not found, in German",
        ),
        pytest.param(
            ("A link between noise and sleep was not found.",),
            "The researchers found no link between noise and sleep",
            "The researchers found a link between noise and sleep",
            id="none found is not found",
        ),
        pytest.param(
            ("They sell bread, but no cake.",),
            "They sell bread, but they sell no cake",
            "They sell cake, but no bread",
            id="another thing is denied",
        ),
        pytest.param(
            ("افتتح المخبز عام 1984 ويبيع 400 رغيف يوميا.",),
            "يبيع المخبز 400 رغيف كل يوم",
            "يبيع المخبز 400 رغيف كل أسبوع",
            id="daily is every day, in Arabic",
        ),
        pytest.param(
            ("The bakery in the square opened in 1984 and sells 400 loaves daily.",),
            "The bakery sells 400 loaves every day",
            "The bakery sells 400 loaves every week",
            id="daily is every day",
        ),
        pytest.param(
            ("The club in the valley celebrated its 21st anniversary in May.",),
            "The club celebrated its twenty-first anniversary in May",
            "The club celebrated its twenty-second anniversary in May",
            id="an ordinal in words",
        ),
        pytest.param(
            ("The pause of 20 seconds annoyed the audience.",),
            "The twenty-second pause annoyed the audience",
            "The thirty-second pause annoyed the audience",
            id="seconds that may be an ordinal",
        ),
        pytest.param(
            ("Le pont sur la rivière fut construit au 18e siècle.",),
            "Le pont fut construit au dix-huitième siècle",
            "Le pont fut construit au dix-neuvième siècle",
            id="an ordinal in words, in French",
        ),
        pytest.param(
            ("Der Verein feierte im Mai sein 21. Jubiläum mit vielen Gästen.",),
            "Der Verein feierte im Mai sein einundzwanzigstes Jubiläum",
            "Der Verein feierte im Mai sein zweiundzwanzigstes Jubiläum",
            id="an ordinal in words, in German",
        ),
        pytest.param(
            ("Мост через реку построили в 21-м веке.",),
            "Мост построили в двадцать первом веке",
            "Мост построили в двадцать втором веке",
            id="an ordinal in words, in Russian",
        ),
        pytest.param(
            ("El club del valle celebró su 21.º aniversario en mayo.",),
            "El club celebró su vigésimo primer aniversario en mayo",
            "El club celebró su vigésimo segundo aniversario en mayo",
            id="an ordinal in words, in Spanish",
        ),
        pytest.param(
            ("O clube do vale celebrou o seu 21º aniversário em maio.",),
            "O clube celebrou o seu vigésimo primeiro aniversário em maio",
            "O clube celebrou o seu vigésimo segundo aniversário em maio",
            id="an ordinal in words, in Portuguese",
        ),
    ],
)
def test_other_words_are_supported_and_other_facts_are_not(pages: tuple[str, ...], right: str, wrong: str) -> None:
    cited = [CitedPage(number=number, url="", content=text) for number, text in enumerate(pages, start=1)]
    marks = "".join(f"[{page.number}]" for page in cited)
    verdicts = [
        {one.verdict for one in verify_answer(f"{said} {marks}.", cited).findings} == {"supported"}
        for said in (right, wrong)
    ]
    assert verdicts == [True, False]
