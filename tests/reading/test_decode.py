from __future__ import annotations

import re
import sys
from types import FrameType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.standard_encodings import codec
from components.work import growth
from groundwire.reading.encoding import decode as decode_module
from groundwire.reading.encoding.decode import PRESCAN, decode
from groundwire.reading.encoding.detect import decoded_text, name_of

pytestmark = pytest.mark.req("B2")

TEXTS = {
    "ru": "Библиотека на набережной открыта каждый день, кроме понедельника. "
    "Читатели приносят старые газеты, и мы их сканируем.",
    "ja": "川沿いの図書館は月曜日をのぞいて毎日ひらいています。"
    "古い新聞を持ってきてくだされば、わたしたちが読み取ります。",
    "zh": "河边的图书馆除了星期一以外每天开放。读者可以把旧报纸带来,我们会把它们扫描下来,放在网上供大家阅读。",
    "tw": "河邊的圖書館除了星期一以外每天開放。讀者可以把舊報紙帶來,我們會把它們掃描下來,放在網上供大家閱讀。",
    "ko": "강가의 도서관은 월요일을 빼고 날마다 문을 엽니다. "
    "오래된 신문을 가져오시면 우리가 읽어서 누구나 볼 수 있게 합니다.",
    "el": "Η βιβλιοθήκη δίπλα στο ποτάμι είναι ανοιχτή κάθε μέρα εκτός από τη Δευτέρα. "
    "Οι αναγνώστες φέρνουν παλιές εφημερίδες.",
    "he": "הספרייה שעל גדת הנהר פתוחה בכל יום חוץ מיום שני. הקוראים מביאים עיתונים ישנים ואנחנו סורקים אותם.",
    "ar": "المكتبة على ضفة النهر مفتوحة كل يوم ما عدا يوم الاثنين. يجلب القراء الصحف القديمة ونحن نقوم بمسحها.",
    "th": "ห้องสมุดริมแม่น้ำเปิดทุกวันยกเว้นวันจันทร์ ผู้อ่านนำหนังสือพิมพ์เก่ามาให้และเราจะสแกนเก็บไว้",
    "tr": "Nehir kıyısındaki kütüphane pazartesi dışında her gün açıktır. "
    "Okuyucular eski gazeteleri getiriyor, biz de tarıyoruz.",
    "pl": "Biblioteka nad rzeką jest czynna codziennie oprócz poniedziałku. Czytelnicy przynoszą stare gazety, a my je "
    "skanujemy i wkładamy do sieci, żeby każdy mógł je przeczytać.",
    "fr": "La bibliothèque au bord du fleuve est ouverte tous les jours sauf le lundi. "
    "Les lecteurs y apportent de vieux "
    "journaux, que nous numérisons à côté.",
    "lt": "Biblioteka prie upės atidaryta kasdien, išskyrus pirmadienį. "
    "Skaitytojai atneša senus laikraščius, o mes juos "
    "nuskaitome ir įkeliame į tinklą.",
}
LEGACY = [
    ("ru", "windows-1251"),
    ("ru", "koi8-r"),
    ("ru", "iso-8859-5"),
    ("ru", "ibm866"),
    ("ru", "x-mac-cyrillic"),
    ("ja", "shift_jis"),
    ("ja", "euc-jp"),
    ("ja", "iso-2022-jp"),
    ("zh", "gbk"),
    ("zh", "gb18030"),
    ("tw", "big5"),
    ("ko", "euc-kr"),
    ("el", "windows-1253"),
    ("el", "iso-8859-7"),
    ("he", "windows-1255"),
    ("he", "iso-8859-8"),
    ("ar", "windows-1256"),
    ("ar", "iso-8859-6"),
    ("th", "windows-874"),
    ("tr", "windows-1254"),
    ("pl", "windows-1250"),
    ("pl", "iso-8859-2"),
    ("fr", "windows-1252"),
    ("fr", "iso-8859-15"),
    ("fr", "macintosh"),
    ("lt", "windows-1257"),
    ("lt", "iso-8859-13"),
]
NEEDS_LANGUAGE = {"pl", "lt"}  # Latin letters with rare accents: without the page's language it is a guess


def page(text: str, head: str = "", language: str = "") -> str:
    attribute = f' lang="{language}"' if language else ""
    return f"<!doctype html><html{attribute}><head>{head}<title>Library</title></head><body><p>{text}</p></body></html>"


@pytest.mark.parametrize(("language", "encoding"), LEGACY)
def test_the_header_names_the_encoding(language: str, encoding: str) -> None:
    html = page(TEXTS[language])
    decoded = decode(html.encode(codec(encoding)), f'text/html; charset="{encoding.upper()}"')
    assert (decoded.text, decoded.encoding, decoded.source, decoded.warnings) == (html, encoding, "header", ())


@pytest.mark.parametrize(("language", "encoding"), LEGACY)
@pytest.mark.parametrize(
    "template",
    ['<meta charset="{}">', "<META http-equiv='Content-Type' content='text/html; charset={}'>"],
    ids=["charset", "http-equiv"],
)
def test_the_page_names_the_encoding(language: str, encoding: str, template: str) -> None:
    html = page(TEXTS[language], template.format(encoding))
    decoded = decode(html.encode(codec(encoding)), "text/html")
    assert (decoded.text, decoded.encoding, decoded.source, decoded.warnings) == (html, encoding, "meta", ())


@pytest.mark.parametrize(("language", "encoding"), [pair for pair in LEGACY if "mac" not in pair[1]])
def test_nobody_names_the_encoding(language: str, encoding: str) -> None:
    html = page(TEXTS[language], language=language if language in NEEDS_LANGUAGE else "")
    decoded = decode(html.encode(codec(encoding)))
    assert (decoded.text, decoded.source) == (html, "detected")


@pytest.mark.parametrize(
    ("language", "encoding"),
    [
        ("cs", "iso-8859-2"),
        ("cs", "windows-1250"),
        ("pl", "windows-1250"),
        ("lt", "windows-1257"),
        ("fr", "windows-1252"),
    ],
)
def test_the_language_of_the_page_decides_between_encodings_of_latin_letters(language: str, encoding: str) -> None:
    czech = (
        "Knihovna u řeky je otevřená každý den kromě pondělí. Čtenáři přinášejí staré noviny a my je přepisujeme, "
        "aby si je mohl přečíst každý."
    )
    html = f"<html lang={language}><p>{TEXTS.get(language, czech)}</p></html>"
    assert decode(html.encode(codec(encoding))).text == html


def test_common_western_letters_are_taken_for_western() -> None:
    html = f"<html><head><title>x</title></head><body><p>{TEXTS['fr']}</p></body></html>"
    assert decode(html.encode("cp1252")).encoding == "windows-1252"


@pytest.mark.parametrize("codec", ["utf-8", "utf-16-le", "utf-16-be"])
def test_a_byte_order_mark_wins_over_everything(codec: str) -> None:
    html = page(TEXTS["ja"], '<meta charset="koi8-r">')
    decoded = decode(("\ufeff" + html).encode(codec), "text/html; charset=windows-1252")
    assert (decoded.text, decoded.source) == (html, "bom")


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_a_mark_is_known_by_its_zeros(codec: str) -> None:
    assert decode(page(TEXTS["ru"]).encode(codec)).text == page(TEXTS["ru"])


def test_an_xml_declaration_names_the_encoding() -> None:
    text = f'<?xml version="1.0" encoding="euc-jp"?><feed>{TEXTS["ja"]}</feed>'
    decoded = decode(text.encode("euc-jp"), "application/xml")
    assert (decoded.text, decoded.source) == (text, "meta")


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("gb2312", "gbk"),
        ("ISO-8859-1", "windows-1252"),
        ("us-ascii", "windows-1252"),
        (" latin1\t", "windows-1252"),
        ("ks_c_5601-1987", "euc-kr"),
        ("x-sjis", "shift_jis"),
        ("tis-620", "windows-874"),
        ("iso-8859-9", "windows-1254"),
        ("unicode", "utf-16le"),
        ("'utf8'", "utf-8"),
    ],
)
def test_labels_mean_what_browsers_take_them_for(label: str, name: str) -> None:
    assert name_of(label) == name


@pytest.mark.parametrize(
    "label",
    [
        "utf-7",
        "rot13",
        "unicode_escape",
        "idna",
        "punycode",
        "zlib",
        "base64",
        "hex",
        "mbcs",
        "undefined",
        "raw_unicode_escape",
        "replacement",
        "iso-2022-kr",
        "x-user-defined",
    ],
)
@pytest.mark.parametrize("where", ["header", "meta"])
def test_a_label_outside_the_list_is_not_followed(label: str, where: str) -> None:
    html = page("+ADw-script+AD4- caf\u00e9 \\u0041", f'<meta charset="{label}">' if where == "meta" else "")
    decoded = decode(html.encode(), f"text/html; charset={label}" if where == "header" else "text/html")
    assert (decoded.text, decoded.encoding, decoded.source) == (html, "utf-8", "detected")
    assert label in decoded.warnings[0]


ENCODINGS = [
    *("utf-8", "utf-16be", "utf-16le", "ibm866", "koi8-r", "koi8-u", "macintosh", "x-mac-cyrillic", "iso-8859-8-i"),
    *("gbk", "gb18030", "big5", "euc-jp", "euc-kr", "iso-2022-jp", "shift_jis", "windows-874"),
    *(f"iso-8859-{part}" for part in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)),
    *(f"windows-{page}" for page in range(1_250, 1_259)),
]
"""The standard's encodings."""


def test_every_encoding_of_the_list_exists_and_decodes() -> None:
    for name in ENCODINGS:
        assert name_of(name.upper()) == name
        assert isinstance(decoded_text(b"abcd", name), str)


@pytest.mark.parametrize("lie", ["iso-8859-1", "windows-1251", "shift_jis", "utf-16", "iso-2022-jp"])
def test_utf_8_under_a_wrong_header_is_read_as_utf_8(lie: str) -> None:
    html = page("Café naïve — 5 €, schön, über Brücken, à côté", '<meta charset="utf-8">')
    decoded = decode(html.encode(), f"text/html; charset={lie}")
    assert (decoded.text, decoded.source) == (html, "meta")
    assert "header" in decoded.warnings[0]


def test_a_legacy_page_under_a_header_of_utf_8_is_read_by_its_meta() -> None:
    html = page(TEXTS["ru"], '<meta charset="koi8-r">')
    decoded = decode(html.encode("koi8-r"), "text/html; charset=utf-8")
    assert (decoded.text, decoded.source) == (html, "meta")


def test_a_legacy_page_under_a_header_of_utf_8_is_detected() -> None:
    html = page(TEXTS["ja"])
    decoded = decode(html.encode("cp932"), "text/html; charset=utf-8")
    assert (decoded.text, decoded.source) == (html, "detected")


def test_one_broken_byte_does_not_change_the_encoding() -> None:
    decoded = decode(page(TEXTS["ru"]).encode() + b"\xff", "text/html; charset=utf-8")
    assert (decoded.encoding, decoded.source) == ("utf-8", "header")
    assert decoded.text.endswith("\ufffd")
    assert "could not be read" in decoded.warnings[0]


def test_a_text_about_html_is_not_scanned_for_a_meta() -> None:
    assert decode('<meta charset="koi8-r"> café'.encode(), "text/plain").encoding == "utf-8"


def test_a_meta_in_a_comment_or_too_far_down_does_not_count() -> None:
    assert decode(page(TEXTS["fr"], '<!-- <meta charset="koi8-r"> -->').encode(), "text/html").source == "detected"
    assert (
        decode(page(TEXTS["fr"], " " * PRESCAN + '<meta charset="koi8-r">').encode(), "text/html").source == "detected"
    )


def test_nul_and_what_encodes_no_character_are_replaced() -> None:
    text = decode("a\ufffdéüß\x00g".encode() + b"\xed\xa0\x80h", "text/html; charset=utf-8").text
    assert text.replace("\ufffd", "?") == "a?éüß?g???h"


def test_a_long_text_is_searched_by_no_pattern() -> None:
    searched = set()

    def note(_: FrameType, event: str, called: object) -> None:
        owner = getattr(called, "__self__", None)
        if event == "c_call" and isinstance(owner, re.Pattern):
            searched.add(owner)

    for body in (b"a" * 1_000_000, "длинный ".encode() * 50_000):
        sys.setprofile(note)
        try:
            decode(body, "text/html")
        finally:
            sys.setprofile(None)
    of_the_header, *of_the_beginning = (
        getattr(decode_module, name) for name in ("_HEADER_CHARSET", "_XML_DECLARATION", "_COMMENT", "_META")
    )
    assert searched == {of_the_header, *of_the_beginning}


def test_a_lone_surrogate_in_utf_16_is_replaced() -> None:
    body = b"\xff\xfe" + "ab".encode("utf-16-le") + b"\x00\xd8" + "c".encode("utf-16-le")
    assert decode(body).text == "ab\ufffdc"


@given(
    st.binary(max_size=400),
    st.text(max_size=60) | st.sampled_from(ENCODINGS).map("text/html;charset={}".format),
)
def test_no_bytes_and_no_header_make_it_raise(body: bytes, header: str) -> None:
    text = decode(body, header).text
    text.encode("utf-8")
    assert "\0" not in text


@given(st.text(min_size=1, max_size=200).filter(lambda text: "\0" not in text))
def test_utf_8_comes_back_as_it_was(text: str) -> None:
    whole = text.removeprefix("\ufeff")
    assert decode(whole.encode(), "text/html; charset=utf-8").text == whole


@pytest.mark.parametrize(
    ("unit", "header"),
    [
        (b"<!--", ""),
        (b"<script", ""),
        (b"\xff", "charset=utf-8"),
        (b"\x81\x20", "charset=shift_jis"),
        (b"\xe4\xf6\xfc ", ""),
        (b"\x1b$", ""),
        (b"<\xe4", ""),
        ("Дом ".encode("koi8-r"), ""),
        (b"a\0", "charset=utf-16"),
        (b"\x81", "charset=big5"),
    ],
)
def test_ten_megabytes_take_a_bounded_time(unit: bytes, header: str) -> None:
    body = (unit * (10_000_000 // len(unit) + 1))[:10_000_000]
    decode(body, header)
    assert growth(lambda beginning: decode(beginning, header), body[:50_000], body[:200_000]) < 5


@pytest.mark.parametrize(
    ("label", "body", "text"),
    [
        ("euc-jp", b"\xad\xa1\xad\xea\xad\xb5", "\u2460\u3231\u2160"),
        ("euc-jp", b"\xfc\xe2\xb6\xb6\xa4\xb5\xa4\xf3", "\u9ad9\u6a4b\u3055\u3093"),
        ("euc-jp", b"\xa1\xc1\xa1\xdd\x8e\xb1\x8f\xb0\xa1", "\uff5e\uff0d\uff71\u4e02"),
        ("euc-jp", b"\xad\xa1\xff\xb6\xb6\xa4", "\u2460\ufffd\u6a4b\ufffd"),
        ("iso-2022-jp", b"a\x1b$B-!\x1b(Bb\x1b(I1\x1b(B\n", "a\u2460b\uff71\n"),
        (
            "big5",
            b"\x87\x7a\x8e\x69\xa3\xc0\xa3\xe0\xa1\x45\xa4\xa4a\xff",
            "\u3875\u7bb8\u2400\u2421\u2027\u4e2da\ufffd",
        ),
        ("koi8-u", b"\xae\xbe\xc1", "\u045e\u040e\u0430"),
        ("windows-1252", b"a\x81\x80", "a\x81\u20ac"),
        ("windows-1255", b"\xca\xd9", "\u05ba\ufffd"),
        ("gb18030", b"\xa6\xd9\xa3\xa0", "\ufe10\u3000"),
    ],
)
def test_text_is_decoded_by_the_tables_of_the_standard(label: str, body: bytes, text: str) -> None:
    assert decoded_text(body, label) == text


@pytest.mark.parametrize(
    ("encoding", "text"),
    [("windows-1251", "Это обычный текст."), ("shift_jis", "東京都港区"), ("iso-2022-jp", "東京都港区")],
)
@pytest.mark.parametrize("more", ["", "\x01", "\x01\x02\x03\x04\x05\x06\x07"])
def test_nul_does_not_contradict_an_encoding(encoding: str, text: str, more: str) -> None:
    found = decode((text + more + "\0" * 9).encode(encoding), f"text/plain; charset={encoding}")
    assert (found.text, found.encoding, found.source) == (text + more + "\ufffd" * 9, encoding, "header")
    assert found.warnings == ()


def test_a_page_in_japanese_keeps_its_circled_numbers() -> None:
    words = "\u6771\u4eac\u90fd\u6e2f\u533a\u306e\u516c\u5f0f\u30b5\u30a4\u30c8\u3067\u3059\u3002" * 5
    for body, name in (
        (words.encode("euc_jp") + b"\xad\xa1" + words.encode("euc_jp"), "euc-jp"),
        (words.encode("iso2022_jp").removesuffix(b"\x1b(B") + b"-!\x1b(B", "iso-2022-jp"),
    ):
        found = decode(body, f"text/html; charset={name}")
        assert (found.encoding, found.warnings) == (name, ())
        assert words + "\u2460" in found.text
