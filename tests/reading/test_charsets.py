"""Real-looking pages in legacy encodings, announced by the header, by the page, by both, wrongly, or by nobody."""

from __future__ import annotations

import itertools

import pytest

from components.standard_encodings import codec
from groundwire.reading.convert import convert
from groundwire.reading.encoding.decode import decode

pytestmark = pytest.mark.req("B2", "Y17")

TEXTS = {
    "cs": "Místní pekárna otevírá každé ráno v pět hodin a ještě před osmou bývá žitný chléb vyprodaný. "
    "Majitelka říká, "
    "že mouku kupuje ve mlýně za řekou, protože je čerstvější. V sobotu přijíždějí lidé i z vedlejších vesnic.",
    "pl": "Piekarnia przy moście otwiera się codziennie o piątej rano, a już przed ósmą brakuje żytniego chleba. "
    "Właścicielka mówi, że mąkę kupuje w młynie za rzeką, bo jest świeższa. W soboty przyjeżdżają też goście.",
    "hu": "A híd melletti pékség minden reggel ötkor nyit, és nyolc óra előtt már elfogy a rozskenyér. A tulajdonos "
    "szerint a lisztet a folyón túli malomból hozzák, mert frissebb. Szombaton a szomszéd falvakból is jönnek.",
    "ru": "Пекарня у моста открывается каждый день в пять утра, и уже к восьми ржаной хлеб заканчивается. Хозяйка "
    "говорит, что муку покупает на мельнице за рекой: она свежее. По субботам приезжают люди из соседних деревень.",
    "bg": "Пекарната до моста отваря всяка сутрин в пет часа и още преди осем ръженият хляб свършва. Собственичката "
    "казва, че купува брашното от воденицата отвъд реката, защото е по-прясно. В събота идват хора от селата.",
    "de": "Die Bäckerei an der Brücke öffnet täglich um fünf Uhr früh, und schon vor acht ist das Roggenbrot "
    "ausverkauft. Die Besitzerin kauft das Mehl in der Mühle jenseits des Flusses – es sei frischer. "
    "Süßes gibt es auch.",
    "fr": "La boulangerie près du pont ouvre chaque matin à cinq heures, et dès huit heures le pain de seigle est "
    "épuisé. La propriétaire achète sa farine au moulin, de l’autre côté du fleuve : elle serait plus fraîche, dit-on.",
    "el": "Ο φούρνος δίπλα στη γέφυρα ανοίγει κάθε πρωί στις πέντε και πριν από τις οκτώ το ψωμί σίκαλης έχει "
    "τελειώσει. Η ιδιοκτήτρια αγοράζει το αλεύρι από τον μύλο πέρα από το ποτάμι, γιατί είναι πιο φρέσκο.",
    "tr": "Köprünün yanındaki fırın her sabah beşte açılıyor ve sekizden önce çavdar ekmeği bitiyor. Sahibi, unu "
    "ırmağın öte yakasındaki değirmenden aldığını, çünkü daha taze olduğunu söylüyor. Cumartesi günleri "
    "köylüler geliyor.",
    "he": "המאפייה שליד הגשר נפתחת בכל בוקר בחמש, ועוד לפני שמונה נגמר לחם השיפון. בעלת המקום קונה את הקמח בטחנה "
    "שמעבר לנהר, משום שהוא טרי יותר. בימי שישי באים אנשים גם מן הכפרים הסמוכים.",
    "ar": "يفتح المخبز القريب من الجسر كل صباح في الساعة الخامسة، وقبل الثامنة ينفد خبز الجاودار. تقول صاحبته إنها "
    "تشتري الطحين من الطاحونة وراء النهر لأنه طازج أكثر. ويأتي الناس يوم الجمعة من القرى المجاورة أيضا.",
    "ja": "橋のそばのパン屋は毎朝五時に開き、八時前にはライ麦パンが売り切れてしまいます。店の主人は、川の向こ"
    "うの水車小屋で粉を"
    "買っているそうです。そのほうが新しいからです。土曜日には隣の村からも人が来ます。",
    "zh": "桥边的面包店每天早上五点开门,不到八点黑麦面包就卖完了。店主说,面粉是从河对岸的磨坊买来的,因为更新鲜。"
    "每逢星期六,邻村的人也会过来排队。",
    "tw": "橋邊的麵包店每天早上五點開門,不到八點黑麥麵包就賣完了。店主說,麵粉是從河對岸的磨坊買來的,因為更新鮮。"
    "每逢星期六,鄰村的人也會過來排隊。",
    "ko": "다리 옆 빵집은 매일 아침 다섯 시에 문을 열고, 여덟 시가 되기 전에 호밀빵이 다 팔린다. 주인은 강 건너 "
    "방앗간에서 밀가루를 사 온다고 한다. 더 신선하기 때문이다. 토요일에는 이웃 마을에서도 사람들이 온다.",
}
PAIRS = [
    ("cs", "windows-1250"), ("pl", "windows-1250"), ("hu", "windows-1250"), ("cs", "iso-8859-2"), ("pl", "iso-8859-2"),
    ("ru", "windows-1251"), ("bg", "windows-1251"), ("ru", "koi8-r"), ("de", "windows-1252"), ("fr", "windows-1252"),
    ("de", "iso-8859-15"), ("el", "windows-1253"), ("tr", "windows-1254"), ("he", "windows-1255"),
    ("ar", "windows-1256"), ("ja", "shift_jis"), ("ja", "euc-jp"), ("ja", "iso-2022-jp"), ("zh", "gbk"),
    ("zh", "gb18030"), ("tw", "big5"), ("ko", "euc-kr"), ("ru", "utf-16le"), ("ja", "utf-16be"),
]  # fmt: skip
WIDE = {"utf-16le", "utf-16be"}
GUESSES = {("hu", "windows-1250")}
"""Two sentences in this language and encoding are too few to know it from Western ones."""


def words_of(language: str, encoding: str) -> str:
    """Return the text as far as the encoding has its characters: ISO 8859-15 has no dashes and no curly quotes."""
    text = TEXTS[language]
    return text.replace("–", "-").replace("’", "'") if encoding.startswith("iso-8859") else text


def page(language: str, encoding: str, head: str = "", length: int = 1, lang: bool = True) -> tuple[bytes, str]:
    words = words_of(language, encoding)
    attribute = f' lang="{language}"' if lang else ""
    body = "".join(f"<p>{words}</p>\n" for _ in range(length))
    text = (
        f"<!doctype html><html{attribute}><head>{head}<title>{words[:20]}</title><style>p {{ margin: 0 }}</style>"
        f"</head><body><main>{body}</main></body></html>"
    )
    return text.encode(codec(encoding)), text


@pytest.mark.parametrize(("language", "encoding"), PAIRS)
def test_the_header_says_it(language: str, encoding: str) -> None:
    for length in (1, 40):
        body, text = page(language, encoding, length=length)
        assert decode(body, f"text/html; charset={encoding}").text == text


@pytest.mark.parametrize(("language", "encoding"), [pair for pair in PAIRS if pair[1] not in WIDE])
def test_the_page_says_it(language: str, encoding: str) -> None:
    for length in (1, 40):
        body, text = page(language, encoding, f'<meta charset="{encoding}">', length)
        assert decode(body, "text/html").text == text


@pytest.mark.parametrize(("language", "encoding"), [pair for pair in PAIRS if pair not in GUESSES])
def test_nobody_says_it(language: str, encoding: str) -> None:
    for length, lang in itertools.product((1, 40), (True, False)):
        body, text = page(language, encoding, length=length, lang=lang)
        assert decode(body, "text/html").text == text, (length, lang)


@pytest.mark.parametrize(
    ("language", "encoding"),
    [pair for pair in PAIRS if pair[1] not in WIDE | {"windows-1252", "iso-8859-15"} and pair not in GUESSES],
)
def test_the_header_is_wrong_and_the_page_is_right(language: str, encoding: str) -> None:
    for wrong in ("utf-8", "iso-8859-1", "windows-1252"):
        body, text = page(language, encoding, f'<meta charset="{encoding}">', 3)
        assert decode(body, f"text/html; charset={wrong}").text == text, wrong


@pytest.mark.parametrize("wrong", ["utf-8", "windows-1251", "shift_jis"])
@pytest.mark.parametrize("encoding", ["utf-16le", "utf-16be"])
def test_a_byte_order_mark_wins(encoding: str, wrong: str) -> None:
    body, text = page("ru", encoding, f'<meta charset="{wrong}">')
    mark = "\ufeff".encode(codec(encoding))
    assert decode(mark + body, f"text/html; charset={wrong}").text == text


@pytest.mark.parametrize(("language", "encoding"), PAIRS)
def test_the_right_words_come_out_of_the_reader(language: str, encoding: str) -> None:
    body, _ = page(language, encoding, length=2)
    found = convert(body, f"text/html; charset={encoding}", "https://bakery.example/", headers={}).extracted
    assert words_of(language, encoding)[:60] in found.content


@pytest.mark.parametrize("language", ["de", "fr"])
@pytest.mark.parametrize("wrong", ["windows-1251", "windows-1250", "shift_jis"])
def test_the_header_is_right_and_the_page_is_wrong(language: str, wrong: str) -> None:
    body, text = page(language, "windows-1252", f'<meta charset="{wrong}">', 3)
    assert decode(body, "text/html; charset=iso-8859-1").text == text


def test_stray_zeros_do_not_make_a_text_utf_16() -> None:
    text = "<p>The bakery by the bridge opens at five in the morning.</p>"
    assert decode((text + "\0 ").encode() * 20).text == (text + "\ufffd ") * 20


@pytest.mark.parametrize(
    "body",
    [
        b"\xff\n" + b"a" * 199_000,
        b"<" * 199_000 + b"\xff",
        b"<!--" * 50_000 + b"\xff\xe9",
        b"<script" * 28_000 + b"\xff\xe9",
        b"&a" * 99_000 + b"\xe9\xff",
        b"\xe9\xff" + b"<html lang" * 19_000,
    ],
    ids=["line", "brackets", "comments", "scripts", "entities", "languages"],
)
def test_no_bytes_take_more_time_than_their_length(body: bytes) -> None:
    assert decode(body, "").text  # what looks for a match from each byte on takes minutes


@pytest.mark.parametrize(("language", "encoding"), [pair for pair in PAIRS if pair[1] not in WIDE | {"iso-2022-jp"}])
def test_a_page_may_say_it_far_down(language: str, encoding: str) -> None:
    filler = "<script>let counted = 1;</script>" * 600
    body, text = page(language, encoding, f'{filler}<meta charset="{encoding}">')
    assert decode(body, "text/html").text == text


@pytest.mark.parametrize("language", [language for language in TEXTS if language not in {"ja", "zh", "tw", "ko"}])
def test_one_broken_byte_does_not_make_utf_8_something_else(language: str) -> None:
    text = f"<title>{TEXTS[language][:20]}</title><p>{TEXTS[language]}</p>"
    found = decode(text.encode().replace(b"</p>", b"\xff</p>"), "text/html")
    assert (found.encoding, found.text) == ("utf-8", text.replace("</p>", "\ufffd</p>"))


@pytest.mark.parametrize("language", ["cs", "ru", "zh", "tw", "ko"])
def test_one_broken_byte_does_not_hide_the_encoding_of_a_long_page(language: str) -> None:
    encoding = next(pair[1] for pair in PAIRS if pair[0] == language)
    body, _ = page(language, encoding, length=30, lang=False)
    assert TEXTS[language] in decode(body.replace(b"</main>", b"\xff</main>"), "text/html").text


@pytest.mark.parametrize("encoding", ["utf-16le", "utf-16be"])
@pytest.mark.parametrize("length", [1, 40])
@pytest.mark.parametrize("language", ["zh", "tw", "ko", "ja", "vi", "th"])
def test_utf_16_without_a_mark_is_found_in_texts_with_few_spaces(language: str, length: int, encoding: str) -> None:
    more = {
        "vi": "Tháp chuông cũ bên sông điểm mỗi giờ hơi muộn, vì ngày xưa có người chỉnh sai.",
        "th": "หอระฆังเก่าริมแม่น้ำตีบอกเวลาช้าไปเล็กน้อยทุกชั่วโมง เพราะมีคนตั้งไว้ไม่ดี",
    }
    text = "<title>1</title>" + "".join(f"<p>{(TEXTS | more)[language]}</p>\n" for _ in range(length))
    assert decode(text.encode(encoding), "text/html").text == text


def test_serbian_and_persian_letters_are_not_taken_for_those_of_old_macs() -> None:
    serbian = "Стари звоник крај реке откуцава сваки сат помало касно, јер га је неко лоше подесио. Ђаци љубе часовник."
    persian = "برج ناقوس قديمي کنار رود هر ساعت را کمي دير مي\u200cزند، چون روزي کسي آن را بد تنظيم کرده است."
    for text, encoding in ((serbian, "windows-1251"), (persian, "windows-1256")):
        for length in (1, 30):
            markup = "".join(f"<p>{text}</p>\n" for _ in range(length))
            assert decode(markup.encode(codec(encoding)), "text/html").text == markup


def test_short_japanese_is_not_taken_for_korean() -> None:
    text = "<p>川沿いの古い鐘楼は毎時すこし遅れて鐘を打つ。直し方を知る者はもういない。</p>"
    for encoding in ("shift_jis", "euc-jp"):
        assert decode(text.encode(codec(encoding)), "text/html").text == text


@pytest.mark.parametrize("label", ["utf-7", "x-user-defined", "rot13", "utf-16-surrogatepass", "unicode_escape"])
def test_an_encoding_that_no_browser_knows_is_not_used(label: str) -> None:
    found = decode(b"<p>1 +AGE- 2</p>", f"text/html; charset={label}")
    assert found.text == "<p>1 +AGE- 2</p>"
    assert any("unknown encoding" in warning for warning in found.warnings)
