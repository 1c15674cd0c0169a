"""legacy.test: pages in old encodings, announced in a meta element, in the header, or not at all."""

from __future__ import annotations

import codecs
from datetime import date

from groundwire.testing.exchange import Recorded, Reply
from groundwire.testing.pages import Calendar, Page, Site

__all__ = ["legacy_site"]

_CHINESE = (
    "zh",
    "茶馆的清晨",
    "天刚亮,老茶馆的木门就打开了。店主先把炉火生好,再把铜壶装满井水。第一批客人总是附近的菜农,他们把担子放在门外,"
    "坐下来喝一碗热茶,谈论今年的雨水和萝卜的价钱。等到太阳照进院子,茶馆里已经坐满了人。",
)
_RUSSIAN = (
    "ru",
    "Библиотека у реки",
    "Маленькая библиотека стоит на самом берегу реки. Весной вода подходит к нижней ступеньке, и тогда читатели "
    "приносят с собой резиновые сапоги. Библиотекарь уверяет, что ни одна книга за сорок лет не промокла.",
)
_JAPANESE = (
    "ja",
    "駅前の時計",
    "駅前の大きな時計は、毎日三分だけ遅れています。町の人はみんなそれを知っているので、電車に乗り遅れることはありません。"
    "旅行者だけが、ときどき走ることになります。",
)
_FRENCH = (
    "fr",
    "Le marché d'été",
    "À l'aube, les forains déplient leurs bâches près de la fontaine. On y achète des pêches, du miel et des œufs "
    "tout frais. Vers midi, la chaleur chasse déjà les derniers clients sous les platanes.",
)
_PLAIN = (
    "en",
    "The clockmaker's café",
    "Every table in the café has a clock of its own, and no two agree. “Time is a matter of taste”, says the owner — "
    "and serves breakfast until four. 日本 and Россия are written on the wall in chalk.",
)


def legacy_site(calendar: Calendar) -> Site:
    """Return the site of old encodings."""
    french_latin = (_FRENCH[0], _FRENCH[1], _FRENCH[2].replace("œ", "oe"))
    pages = [
        _page("gbk-meta", _CHINESE, "gbk", meta="gb2312"),
        _page("gbk-header", _CHINESE, "gbk", header="gbk"),
        _page("gbk-silent", _CHINESE, "gbk"),
        _page("windows-1251", _RUSSIAN, "windows-1251", header="windows-1251"),
        _page("windows-1251-meta", _RUSSIAN, "windows-1251", meta="windows-1251"),
        _page("shift-jis", _JAPANESE, "shift_jis", header="Shift_JIS"),
        _page("shift-jis-meta", _JAPANESE, "shift_jis", meta="Shift_JIS"),
        _page("iso-8859-1", french_latin, "iso-8859-1", header="ISO-8859-1"),
        _page("utf-8-bom", _PLAIN, "utf-8", mark=codecs.BOM_UTF8),
        _page("utf-16-bom", _PLAIN, "utf-16-le", mark=codecs.BOM_UTF16_LE),
        _page("wrong-header", _PLAIN, "utf-8", header="iso-8859-1", meta="utf-8"),
    ]
    return Site("legacy", "legacy.test", pages, calendar)


def _page(
    name: str,
    story: tuple[str, str, str],
    codec: str,
    *,
    header: str = "",
    meta: str = "",
    mark: bytes = b"",
) -> Page:
    language, title, text = story
    announced = f'<meta http-equiv="Content-Type" content="text/html; charset={meta}">\n' if meta else ""
    page = (
        f'<!doctype html>\n<html lang="{language}">\n<head>\n{announced}<title>{title}</title>\n</head>\n'
        f"<body>\n<h1>{title}</h1>\n<p>{text}</p>\n</body>\n</html>\n"
    )
    reply = Reply(
        body=mark + page.encode(codec), content_type=f"text/html; charset={header}" if header else "text/html"
    )

    def render(request: Recorded, published: date) -> Reply:
        return reply

    return Page(name=name, path=f"/{name}.html", render=render, title=title, age_days=4000)
