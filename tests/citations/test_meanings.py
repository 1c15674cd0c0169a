"""Sentences that say what their page says, or something else, in one respect: the verdict follows the meaning.

Each pair was written for its respect, and its verdict by what the sentences mean, before verification was run on it.
"""

from __future__ import annotations

from typing import Final

import pytest

from groundwire.citations.verify import CitedPage, verify_answer

pytestmark = pytest.mark.req("B9", "B35")

PAIRS: Final = (
    ("The museum doesn't open on Mondays.", "The museum does not open on Mondays.", "supported", ()),
    (
        "The museum doesn't open on Mondays.",
        "The museum opens on Mondays.",
        "altered",
        ("negation", "n't open on Mondays .", "The museum opens on Mondays."),
    ),
    (
        "The museum opens on Mondays.",
        "The museum doesn't open on Mondays.",
        "altered",
        ("negation", "The museum opens on Mondays .", "n't open on Mondays."),
    ),
    ("The mine is safe.", "The mine is dangerous.", "altered", ("opposite", "safe", "dangerous")),
    ("Nobody was hurt in the fire.", "In the fire, nobody was hurt.", "supported", ()),
    (
        "Somebody was hurt in the fire.",
        "Nobody was hurt in the fire.",
        "altered",
        ("negation", "Somebody was hurt in the fire .", "Nobody was hurt in the fire."),
    ),
    (
        "The bridge can't carry trucks.",
        "The bridge can carry trucks.",
        "altered",
        ("negation", "n't carry trucks .", "The bridge can carry trucks."),
    ),
    (
        "The council rejected the plan.",
        "The council approved the plan.",
        "altered",
        ("opposite", "rejected", "approved"),
    ),
    ("The council did not approve the plan.", "The council rejected the plan.", "supported", ()),
    (
        "Without a ticket, visitors may enter the garden.",
        "Visitors may enter the garden only with a ticket.",
        "altered",
        ("negation", "Without a ticket, visitors may enter", "Visitors may enter the garden only with a ticket."),
    ),
    (
        "Visitors must wear a helmet in the tunnel.",
        "Visitors should wear a helmet in the tunnel.",
        "altered",
        ("modal", "must", "should"),
    ),
    (
        "Visitors should wear a helmet in the tunnel.",
        "Visitors must wear a helmet in the tunnel.",
        "altered",
        ("modal", "should", "must"),
    ),
    ("The treatment may reduce pain in adults.", "The treatment may reduce pain in adults.", "supported", ()),
    (
        "The treatment reduces pain in adults.",
        "The treatment may reduce pain in adults.",
        "altered",
        ("modal", "", "may reduce pain in"),
    ),
    (
        "The treatment will reduce pain in adults.",
        "The treatment might reduce pain in adults.",
        "altered",
        ("modal", "will", "might"),
    ),
    ("All ships reached the port.", "Most ships reached the port.", "altered", ("quantifier", "All", "Most")),
    ("Every ship reached the port.", "All ships reached the port.", "supported", ()),
    (
        "Some ships reached the port.",
        "No ships reached the port.",
        "altered",
        ("negation", "Some ships reached the port .", "No ships reached the port."),
    ),
    ("Few members voted for it.", "Many members voted for it.", "altered", ("quantifier", "Few", "Many")),
    (
        "At least 40 people came to the meeting.",
        "At most 40 people came to the meeting.",
        "altered",
        ("comparison", "At least", "At most"),
    ),
    (
        "More than 40 people came to the meeting.",
        "Fewer than 40 people came to the meeting.",
        "altered",
        ("comparison", "More than", "Fewer than"),
    ),
    (
        "The ferry always leaves at noon.",
        "The ferry usually leaves at noon.",
        "altered",
        ("quantifier", "always", "usually"),
    ),
    ("The ferry often leaves late.", "The ferry rarely leaves late.", "altered", ("quantifier", "often", "rarely")),
    (
        "The bakery sells 600 loaves every week.",
        "The bakery sells 600 loaves every day.",
        "altered",
        ("word", "week", "day"),
    ),
    ("The bakery sells 600 loaves every day.", "The bakery sells 600 loaves a day.", "supported", ()),
    ("The committee meets each month.", "The committee meets every month.", "supported", ()),
    ("The committee meets each week.", "The committee meets every month.", "altered", ("word", "week", "month")),
    (
        "Anna Berg hired Otto Lund in 1931.",
        "Otto Lund hired Anna Berg in 1931.",
        "altered",
        ("order", "Anna Berg hired Otto Lund", "Otto Lund hired Anna Berg"),
    ),
    ("Otto Lund was hired by Anna Berg in 1931.", "Anna Berg hired Otto Lund in 1931.", "supported", ()),
    (
        "Anna Berg was hired by Otto Lund in 1931.",
        "Anna Berg hired Otto Lund in 1931.",
        "altered",
        ("order", "Anna Berg was hired by Otto Lund", "Anna Berg hired Otto Lund"),
    ),
    ("Otto Lund bought the mill from Anna Berg.", "Anna Berg sold the mill to Otto Lund.", "supported", ()),
    (
        "Anna Berg bought the mill from Otto Lund.",
        "Anna Berg sold the mill to Otto Lund.",
        "altered",
        ("opposite", "bought", "sold"),
    ),
    ("Otto Lund married Anna Berg in 1931.", "Anna Berg married Otto Lund in 1931.", "supported", ()),
    (
        "Peru beat Norway in the final.",
        "Norway beat Peru in the final.",
        "altered",
        ("order", "Peru beat Norway", "Norway beat Peru"),
    ),
    ("Norway lost to Peru in the final.", "Peru beat Norway in the final.", "supported", ()),
    ("Peru lost to Norway in the final.", "Peru beat Norway in the final.", "altered", ("opposite", "lost", "beat")),
    (
        "The mill was built by Anna Berg and painted by Otto Lund.",
        "The mill was built by Otto Lund and painted by Anna Berg.",
        "altered",
        ("order", "Anna Berg and painted by Otto Lund", "Otto Lund and painted by Anna Berg"),
    ),
    ("Otto Lund and Anna Berg built the mill.", "Anna Berg and Otto Lund built the mill.", "supported", ()),
    ("Pears, plums and apples grow in the valley.", "Apples, pears and plums grow in the valley.", "supported", ()),
    (
        "The price rose from 40 to 60 crowns.",
        "The price rose from 60 to 40 crowns.",
        "altered",
        ("order", "40 to 60", "60 to 40"),
    ),
    (
        "The train goes from Ulm to Bonn.",
        "The train goes from Bonn to Ulm.",
        "altered",
        ("order", "Ulm to Bonn", "Bonn to Ulm"),
    ),
    (
        "Kiel sold 38 boats in May and 41 in June.",
        "Kiel sold 41 boats in May and 38 in June.",
        "altered",
        ("order", "38 boats in May and 41", "41 boats in May and 38"),
    ),
    ("In June Kiel sold 38 boats, and 41 in May.", "Kiel sold 41 boats in May and 38 in June.", "supported", ()),
    (
        "The north tower has 12 floors and the south tower has 9.",
        "The south tower has 12 floors and the north tower has 9.",
        "altered",
        ("order", "north tower has 12 floors and the south", "south tower has 12 floors and the north"),
    ),
    (
        "The father of Anna Berg taught Otto Lund.",
        "The father of Otto Lund taught Anna Berg.",
        "altered",
        ("order", "Anna Berg taught Otto Lund", "Otto Lund taught Anna Berg"),
    ),
    ("The mill burned before the war.", "The mill burned after the war.", "altered", ("opposite", "before", "after")),
    (
        "The harbour lies north of the town.",
        "The harbour lies south of the town.",
        "altered",
        ("opposite", "north", "south"),
    ),
    ("The cathedral was built in Ulm.", "The cathedral was built in Bonn.", "altered", ("name", "Ulm", "Bonn")),
    (
        "The doctor founded the school in 1908.",
        "A teacher founded the school in 1908.",
        "altered",
        ("word", "doctor", "teacher"),
    ),
    ("The school was founded in 1908 by a doctor.", "A doctor founded the school in 1908.", "supported", ()),
    (
        "Exports increased by 12% in 2020.",
        "Exports decreased by 12% in 2020.",
        "altered",
        ("opposite", "increased", "decreased"),
    ),
    ("Exports grew by 12% in 2020.", "Exports increased by 12 percent in 2020.", "supported", ()),
    (
        "The first volume appeared in March.",
        "The second volume appeared in March.",
        "altered",
        ("word", "first", "second"),
    ),
    (
        "The oldest bridge in town is closed.",
        "The newest bridge in town is closed.",
        "altered",
        ("opposite", "oldest", "newest"),
    ),
    ("The left wing burned down.", "The right wing burned down.", "altered", ("opposite", "left", "right")),
    ("The tunnel is 9.2 km long.", "The tunnel is 9.2 miles long.", "altered", ("unit", "9.2 km", "9.2 mile")),
    ("The tunnel is 9,200 m long.", "The tunnel is 9.2 km long.", "supported", ()),
    ("The tunnel is about 9 km long.", "The tunnel is 9.2 km long.", "supported", ()),
    ("The tunnel is 9 km long.", "The tunnel is 9.2 km long.", "altered", ("number", "9", "9.2")),
    ("The hall seats nine hundred people.", "The hall seats 900 people.", "supported", ()),
    ("The hall seats 90 people.", "The hall seats 900 people.", "altered", ("number", "90", "900")),
    ("The mill burned on 3 May 1931.", "The mill burned on May 3, 1931.", "supported", ()),
    (
        "The mill burned on 3 June 1931.",
        "The mill burned on 3 May 1931.",
        "altered",
        ("date", "3 June 1931", "3 May 1931"),
    ),
    ("The mill burned in May 1931.", "The mill burned on 3 May 1931.", "supported", ()),
    ("The mill burned in 1931.", "The mill burned on 3 May 1931.", "supported", ()),
    ("The mill burned in 1913.", "The mill burned on 3 May 1931.", "altered", ("number", "1913", "")),
    (
        "It cost 40 million euros.",
        "It cost 40 million dollars.",
        "altered",
        ("unit", "40 million eur", "40 million usd"),
    ),
    ("It cost $40 million.", "It cost 40 million dollars.", "supported", ()),
    ("Two thirds of the bees died.", "Half of the bees died.", "altered", ("number", "Two thirds", "")),
    (
        "Version 3.12 was released in October.",
        "Version 3.11 was released in October.",
        "altered",
        ("number", "3.12", "3.11"),
    ),
    ("It opens at 9:30.", "It opens at 9:00.", "altered", ("number", "30", "00")),
    ("Anna Berg built the mill.", "Anna Berg built the mill with her sister.", "supported", ()),
    ("Anna Lund built the mill.", "Anna Berg built the mill.", "altered", ("name", "Anna Lund", "Anna Berg")),
    ("Berg built the mill.", "Anna Berg built the mill.", "supported", ()),
    ("The WHO published the report.", "The World Health Organization published the report.", "supported", ()),
    (
        '"The mill is lost," she said.',
        '"The mill is saved," she said.',
        "altered",
        ("quote", "The mill is lost,", '"The mill is saved,"'),
    ),
    ('She said that "nothing can be saved".', "She said that “nothing can be saved” and left.", "supported", ()),
    ("The Gulf of Riga froze.", "The Gulf of Finland froze.", "altered", ("name", "Riga", "Finland")),
    (
        "Anna Berg sold the mill to Otto Lund, and the barn to Eva Holm.",
        "Anna Berg sold the mill to Eva Holm, and the barn to Otto Lund.",
        "altered",
        ("order", "Otto Lund and the barn to Eva Holm", "Eva Holm and the barn to Otto Lund"),
    ),
    ("Between 1931 and 1948 the mill stood empty.", "The mill stood empty between 1931 and 1948.", "supported", ()),
    ("In 1931, according to the town, the mill burned.", "The mill burned in 1931.", "supported", ()),
    (
        "The mill, which Anna Berg had built in 1908, burned in 1931.",
        "Anna Berg built the mill in 1908. It burned in 1931.",
        "supported",
        (),
    ),
    (
        "Ulm is larger than Bonn.",
        "Bonn is larger than Ulm.",
        "altered",
        ("order", "Ulm is larger than Bonn", "Bonn is larger than Ulm"),
    ),
    ("Bonn is smaller than Ulm.", "Ulm is larger than Bonn.", "supported", ()),
    (
        "The son of the king killed the bishop.",
        "The son of the bishop killed the king.",
        "altered",
        ("order", "king killed the bishop", "bishop killed the king"),
    ),
    (
        "The dog chased the cat through the garden.",
        "The cat chased the dog through the garden.",
        "altered",
        ("order", "dog chased the cat", "cat chased the dog"),
    ),
    (
        "The cat was chased by the dog through the garden.",
        "The dog chased the cat through the garden.",
        "supported",
        (),
    ),
    ("Teachers and pupils left the school at noon.", "Pupils and teachers left the school at noon.", "supported", ()),
    (
        "Red wine and white bread were served.",
        "White wine and red bread were served.",
        "altered",
        ("order", "Red wine and white", "White wine and red"),
    ),
    (
        "She moved from the north to the south.",
        "She moved from the south to the north.",
        "altered",
        ("order", "north to the south", "south to the north"),
    ),
    (
        "The company reported a profit of 3 million euros and sales of 40 million.",
        "The company reported sales of 3 million euros and a profit of 40 million.",
        "altered",
        ("order", "profit of 3 million euros and sales", "sales of 3 million euros and a profit"),
    ),
    (
        "Sales fell by 3% and costs rose by 12%.",
        "Sales rose by 12% and costs fell by 3%.",
        "altered",
        ("order", "fell by 3% and costs rose by 12%", "rose by 12% and costs fell by 3%"),
    ),
    ("Costs rose by 12% and sales fell by 3%.", "Sales fell by 3% and costs rose by 12%.", "supported", ()),
    (
        "Neither the church nor the school was damaged.",
        "Both the church and the school were damaged.",
        "altered",
        ("negation", "Neither the church nor the school", "Both the church and the school were damaged."),
    ),
    (
        "The plan was never approved.",
        "The plan was approved in 1931.",
        "altered",
        ("negation", "never approved .", "The plan was approved in 1931."),
    ),
    (
        "No member voted against it.",
        "Every member voted against it.",
        "altered",
        ("negation", "No member voted against it .", "Every member voted against it."),
    ),
    ("It is not dangerous.", "It is dangerous.", "altered", ("negation", "not dangerous .", "It is dangerous.")),
    (
        "The bridge opened later than planned.",
        "The bridge opened earlier than planned.",
        "altered",
        ("opposite", "later", "earlier"),
    ),
    (
        "The bridge cost more than the tunnel.",
        "The bridge cost less than the tunnel.",
        "altered",
        ("comparison", "more than", "less than"),
    ),
    (
        "The hotel has 12 rooms on two floors.",
        "The hotel has 12 rooms on three floors.",
        "altered",
        ("number", "two", "three"),
    ),
    ("The hotel has twelve rooms.", "The hotel has a dozen rooms.", "supported", ()),
    ("The river is 1,200 kilometres long.", "The river is 1.2 million metres long.", "supported", ()),
    ("It weighs 2 tonnes.", "It weighs 2,000 kilograms.", "supported", ()),
    ("It weighs 2 tonnes.", "It weighs 200 kilograms.", "altered", ("number", "2", "200")),
    ("It takes two hours.", "It takes 120 minutes.", "supported", ()),
    ("It takes two days.", "It takes two weeks.", "altered", ("unit", "two", "two")),
    ("The temperature fell to -5 °C.", "The temperature fell to 5 °C.", "altered", ("number", "5", "5")),
    ("The shop sold 1.5 million books.", "The shop sold 1,500,000 books.", "supported", ()),
    ("The shop sold nearly 1.5 million books.", "The shop sold 1,480,000 books.", "supported", ()),
    (
        "The shop sold 1.5 billion books.",
        "The shop sold 1.5 million books.",
        "altered",
        ("number", "1.5 billion", "1.5 million"),
    ),
    ("It opened on 1 March.", "It opened on 1 April.", "altered", ("date", "1 March", "1 April")),
    ("It opened on Monday.", "It opened on Tuesday.", "altered", ("word", "Monday", "Tuesday")),
    (
        "It opened in the spring of 1931.",
        "It opened in the autumn of 1931.",
        "altered",
        ("opposite", "spring", "autumn"),
    ),
    ("Professor Eva Holm teaches in Bergen.", "Eva Holm teaches in Bergen.", "supported", ()),
    (
        "Eva Holm teaches at the University of Oslo.",
        "Eva Holm teaches at the University of Bergen.",
        "altered",
        ("name", "Oslo", "Bergen"),
    ),
    ("The EU signed the treaty.", "The European Union signed the treaty.", "supported", ()),
    ("The UN signed the treaty.", "The European Union signed the treaty.", "altered", ("name", "UN", "European Union")),
    ("Smith, the author, lives in Rome.", "The author Smith lives in Rome.", "supported", ()),
    ("The vaccine protects children.", "The vaccine protects adults.", "altered", ("word", "children", "adults")),
    ("The road is closed to cars.", "The road is open to cars.", "altered", ("opposite", "closed", "open")),
    (
        "The first train left at noon, the last at midnight.",
        "The first train left at midnight, the last at noon.",
        "altered",
        ("order", "noon the last at midnight", "midnight the last at noon"),
    ),
    (
        "Students must not use phones.",
        "Students may use phones.",
        "altered",
        ("negation", "not use phones .", "Students may use phones."),
    ),
    (
        "Members can borrow five books.",
        "Members cannot borrow five books.",
        "altered",
        ("negation", "Members can borrow five books .", "cannot borrow five books."),
    ),
    ("About half of the members voted.", "About half of the members voted.", "supported", ()),
    (
        "More than half of the members voted.",
        "Less than half of the members voted.",
        "altered",
        ("comparison", "More than", "Less than"),
    ),
    (
        "Almost nobody voted.",
        "Almost everybody voted.",
        "altered",
        ("negation", "nobody voted .", "Almost everybody voted."),
    ),
    (
        "The majority of members voted.",
        "A minority of members voted.",
        "altered",
        ("quantifier", "majority of members voted", ""),
    ),
    (
        "Das Museum ist montags geschlossen.",
        "Das Museum ist montags geöffnet.",
        "altered",
        ("opposite", "geschlossen", "geöffnet"),
    ),
    ("Das Museum ist montags nicht geöffnet.", "Das Museum ist montags geschlossen.", "supported", ()),
    ("Den Preis gewann Anna Berg.", "Anna Berg gewann den Preis.", "supported", ()),
    ("Anna Berg wurde von Otto Lund besiegt.", "Otto Lund besiegte Anna Berg.", "supported", ()),
    (
        "Anna Berg besiegte Otto Lund.",
        "Otto Lund besiegte Anna Berg.",
        "altered",
        ("order", "Anna Berg besiegte Otto Lund", "Otto Lund besiegte Anna Berg"),
    ),
    (
        "Alle Schulen sind seit Januar geschlossen.",
        "Die meisten Schulen sind seit Januar geschlossen.",
        "altered",
        ("quantifier", "Alle", "meisten"),
    ),
    ("Le musée est ouvert le lundi.", "Le musée est fermé le lundi.", "altered", ("opposite", "ouvert", "fermé")),
    (
        "Le musée n'est pas ouvert le lundi.",
        "Le musée est ouvert le lundi.",
        "altered",
        ("negation", "pas ouvert le lundi .", "Le musée est ouvert le lundi."),
    ),
    (
        "Tous les élèves mangent à la cantine.",
        "La plupart des élèves mangent à la cantine.",
        "altered",
        ("quantifier", "Tous", "plupart"),
    ),
    ("El tren sale a las nueve.", "El tren sale a las diez.", "altered", ("number", "nueve", "diez")),
    (
        "El parque no está abierto los lunes.",
        "El parque está abierto los lunes.",
        "altered",
        ("negation", "no está abierto los lunes .", "El parque está abierto los lunes."),
    ),
    (
        "Ana venció a Carla en la final.",
        "Carla venció a Ana en la final.",
        "altered",
        ("order", "Ana venció a Carla", "Carla venció a Ana"),
    ),
    ("O museu fecha às segundas.", "O museu abre às segundas.", "altered", ("opposite", "fecha", "abre")),
    ("Музей открыт по понедельникам.", "Музей закрыт по понедельникам.", "altered", ("opposite", "открыт", "закрыт")),
    (
        "Анна победила Марию в финале.",
        "Мария победила Анну в финале.",
        "altered",
        ("order", "Анна победила Марию", "Мария победила Анну"),
    ),
    ("Марию победила Анна в финале.", "Анна победила Марию в финале.", "supported", ()),
    ("Все школы закрыты.", "Некоторые школы закрыты.", "altered", ("quantifier", "Все", "Некоторые")),
    ("博物馆星期一开放。", "博物馆星期一不开放。", "altered", ("negation", "", "不 开放")),
    ("李娜被王芳击败。", "王芳击败了李娜。", "supported", ()),
    ("王芳被李娜击败。", "王芳击败了李娜。", "altered", ("order", "王芳被李娜", "王芳击败了李娜")),
    ("大多数学校关闭了。", "所有学校都关闭了。", "altered", ("quantifier", "大多数", "所有")),
    ("佐藤は田中を破った。", "田中は佐藤を破った。", "altered", ("order", "佐藤は田中", "田中は佐藤")),
    ("佐藤は田中に敗れた。", "田中は佐藤を破った。", "supported", ()),
    ("博物館は月曜日に開いている。", "博物館は月曜日に閉まっている。", "altered", ("opposite", "開い", "閉まっ")),
    ("ارتفعت الأسعار في مايو.", "انخفضت الأسعار في مايو.", "altered", ("opposite", "ارتفعت", "انخفضت")),
    (
        "لم ترتفع الأسعار في مايو.",
        "ارتفعت الأسعار في مايو.",
        "altered",
        ("negation", "لم ترتفع الأسعار في مايو .", "ارتفعت الأسعار في مايو."),
    ),
    ("هزمت ليلى مريم في النهائي.", "هزمت مريم ليلى في النهائي.", "altered", ("order", "ليلى مريم", "مريم ليلى")),
    ("Wien liegt an der Donau.", "Wien liegt am Rhein.", "altered", ("name", "Donau", "Rhein")),
    ("Der Zug fährt um neun Uhr ab.", "Der Zug fährt um zehn Uhr ab.", "altered", ("number", "neun", "zehn")),
    ("Der Turm ist 61 Meter hoch.", "Der Turm ist 61 m hoch.", "supported", ()),
    ("Die Brücke wurde 1931 gebaut.", "Die Brücke wurde 1913 gebaut.", "altered", ("number", "1931", "1913")),
    (
        "Der Hund biss den Mann.",
        "Der Mann biss den Hund.",
        "altered",
        ("order", "Hund biss den Mann", "Mann biss den Hund"),
    ),
    ("Den Mann biss der Hund.", "Der Hund biss den Mann.", "supported", ()),
    (
        "Kein Mitglied stimmte zu.",
        "Alle Mitglieder stimmten zu.",
        "altered",
        ("negation", "Kein Mitglied stimmte zu .", "Alle Mitglieder stimmten zu."),
    ),
    ("Kinder dürfen hinein.", "Kinder müssen hinein.", "altered", ("modal", "dürfen", "müssen")),
    ("La tour mesure 61 mètres.", "La tour mesure 16 mètres.", "altered", ("number", "61", "16")),
    (
        "Claire a battu Anne en finale.",
        "Anne a battu Claire en finale.",
        "altered",
        ("order", "Claire a battu Anne", "Anne a battu Claire"),
    ),
    ("Anne a été battue par Claire en finale.", "Claire a battu Anne en finale.", "supported", ()),
    ("Le prix a augmenté de 5 %.", "Le prix a baissé de 5 %.", "altered", ("opposite", "augmenté", "baissé")),
    ("Les enfants doivent entrer.", "Les enfants peuvent entrer.", "altered", ("modal", "doivent", "peuvent")),
    ("La torre mide 61 metros.", "La torre mide 16 metros.", "altered", ("number", "61", "16")),
    ("Los precios subieron un 5 %.", "Los precios bajaron un 5 %.", "altered", ("opposite", "subieron", "bajaron")),
    ("A torre tem 61 metros.", "A torre tem 61 metros de altura.", "supported", ()),
    (
        "A Ana venceu a Carla.",
        "A Carla venceu a Ana.",
        "altered",
        ("order", "Ana venceu a Carla", "Carla venceu a Ana"),
    ),
    ("Os preços subiram 5%.", "Os preços caíram 5%.", "altered", ("opposite", "subiram", "caíram")),
    ("Цены выросли на 5%.", "Цены упали на 5%.", "altered", ("opposite", "выросли", "упали")),
    ("Башня высотой 61 метр.", "Башня высотой 16 метров.", "altered", ("number", "61", "16")),
    ("Поезд не опоздал.", "Поезд опоздал.", "altered", ("negation", "не опоздал .", "Поезд опоздал.")),
    ("塔高61米。", "塔高16米。", "altered", ("number", "61", "16")),
    ("价格上涨了5%。", "价格下降了5%。", "altered", ("opposite", "上涨", "下降")),
    ("火车不晚点。", "火车晚点。", "altered", ("negation", "不 晚 点", "")),
    ("塔の高さは61メートルである。", "塔の高さは16メートルである。", "altered", ("number", "61", "16")),
    ("価格は5%上昇した。", "価格は5%下落した。", "altered", ("opposite", "上昇", "下落")),
    ("田中は佐藤に破られた。", "佐藤は田中を破った。", "supported", ()),
    ("電車は遅れなかった。", "電車は遅れた。", "altered", ("negation", "なかった", "")),
    ("ارتفاع البرج 61 مترا.", "ارتفاع البرج 16 مترا.", "altered", ("number", "61", "16")),
    ("كل المدارس مغلقة.", "بعض المدارس مغلقة.", "altered", ("quantifier", "كل", "بعض")),
)
"""The sentence, the page, the verdict, and the first disagreement: its kind, what is claimed, and what is stated."""


ENGLISH: Final = PAIRS[: next(at for at, pair in enumerate(PAIRS) if pair[0].startswith("Das Museum"))]


def check(pair: tuple[str, str, str, tuple[str, ...]], content: str) -> None:
    claim, stated, verdict, disagreement = pair
    page = CitedPage(number=1, url="https://a.example/", content=content)
    (finding,) = verify_answer(f"{claim[:-1]} [1]{claim[-1]}", [page]).findings
    assert finding.verdict == verdict
    found = [(one.kind, one.claimed, one.stated) for one in finding.disagreements]
    assert found == ([disagreement] if disagreement else [])
    assert finding.passage is not None
    assert finding.passage.startswith(stated)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair[0])
def test_the_verdict_follows_the_meaning(pair: tuple[str, str, str, tuple[str, ...]]) -> None:
    check(pair, pair[1])


@pytest.mark.parametrize("pair", ENGLISH, ids=lambda pair: pair[0])
def test_what_else_is_on_the_page_does_not_matter(pair: tuple[str, str, str, tuple[str, ...]]) -> None:
    check(pair, f"# Notes\n\nThe sun rose over the hills.\n\n{pair[1]}\n\nIt rained on the next day.")


def test_an_answer_of_many_sentences_is_checked_sentence_by_sentence() -> None:
    several = [pair for pair in ENGLISH if '"' not in pair[0]]
    pages = [
        CitedPage(number=number, url="https://a.example/", content=stated)
        for number, (_, stated, _, _) in enumerate(several, start=1)
    ]
    answer = " ".join(f"{claim[:-1]} [{number}]." for number, (claim, _, _, _) in enumerate(several, start=1))
    findings = verify_answer(answer, pages).findings
    assert [finding.verdict for finding in findings] == [verdict for _, _, verdict, _ in several]
    assert [finding.source for finding in findings] == list(range(1, len(several) + 1))
