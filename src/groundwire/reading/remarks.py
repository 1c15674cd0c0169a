"""What a reader should know of a page that is a page, but not the one he may expect: gone, down, parked, cut off."""

from __future__ import annotations

import re
from typing import Final

from groundwire.reading.pleas import PAYWALL
from groundwire.reading.said import Said
from groundwire.reading.shell import word_count

__all__ = ["page_remarks"]

_FEW: Final = 180  # words; a page that says that it is none has no more, with its menus and suggestions
_FEWER: Final = 60  # words of a page that says that its site is down
_MANY: Final = 600  # words; the free beginning of an article has no more
_SAID: Final = 4_000  # characters; a few words may be long ones
_END: Final = 600  # characters in which a page says that there is more for those who pay
_NOT_FREE = re.compile(r"\"isAccessibleForFree\"\s*:\s*\"?[Ff]alse")
_NOT_FOUND: Final = re.compile(
    r"^\W*(?:error |http )?404\b|\b404\b.{0,20}(?:error|not found)|(?:page|site|resource|document|product|item"
    r"|file)(?: you(?:(?:'|’)re| are)? (?:requested|looking for))?"
    r"(?: was| is| could| can(?:'|’)?t| cannot| could not be)*(?: be)? (?:not found|not be found|found"
    r"|no longer (?:available|exists?))"
    r"|(?:page|site) (?:does not|doesn(?:'|’)t) exist|seite (?:wurde )?nicht gefunden|page (?:introuvable"
    r"|non trouvée)"
    r"|página no encontrada|pagina non trovata|página não encontrada|pagina niet gevonden|nie znaleziono strony"
    r"|страница не найдена|ページ(?:が|は)見つかりません|页面不存在|找不到(?:页面|頁面)|페이지를 찾을 수 없"
    r"|sayfa bulunamadı|الصفحة غير موجودة|stránka ne(?:byla )?nalezena|sidan (?:kunde inte hittas|hittades inte)"
    r"|siden (?:ble ikke funnet|blev ikke fundet)|sivua ei löytynyt|không tìm thấy trang|halaman tidak ditemukan",
    re.IGNORECASE,
)
"""How a page says in its title, or at its beginning, that it is none."""

_PARKED: Final = re.compile(
    r"(?:this|the) domain(?: name)? (?:[\w.-]+ )?(?:is|may be) (?:for sale|parked|available for)|buy this domain"
    r"|domain (?:is )?parked|diese domain (?:steht|ist) (?:zum verkauf|geparkt)|ce (?:nom de )?domaine est à vendre"
    r"|este dominio está en venta|questo dominio è in vendita|домен (?:продается|продаётся|припаркован)"
    r"|域名(?:正在)?出售|このドメインは(?:販売中|売り出し中)",
    re.IGNORECASE,
)
"""What stands on a domain without a site."""

_DOWN: Final = re.compile(
    r"\bwe(?:(?:'|’)ll| will) be (?:right )?back\b.{0,20}(?:soon|shortly|$)|(?:down|unavailable"
    r"|closed) for (?:\w+ )?maintenance"
    r"|(?:performing|undergoing) (?:\w+ )?maintenance|under (?:scheduled |planned )?maintenance(?! until)"
    r"|temporarily (?:unavailable|down|offline)|^\W*maintenance(?: mode)?\W*$"
    r"|(?:an )?(?:unexpected |internal )?(?:server )?error (?:has )?occurred|^\W*(?:oops\W+)?something went wrong\W*$"
    r"|wegen wartung|wartungsarbeiten\W*$|vorübergehend nicht (?:erreichbar|verfügbar)"
    r"|(?:site|page) en maintenance|temporairement (?:indisponible|inaccessible)|(?:en|tareas de) mantenimiento"
    r"|temporalmente no disponible"
    r"|in manutenzione|temporaneamente non disponibile|em manutenção|temporariamente indisponível|wegens onderhoud"
    r"|prac\w* (?:konserwacyjn|technicz)|(?:ведутся|проводятся) технические работы|временно недоступ|bakım çalışması"
    r"|メンテナンス中|系统维护|網站維護|网站维护|점검 ?중|تحت الصيانة",
    re.IGNORECASE | re.MULTILINE,
)
"""How a site says that it cannot show anything for now."""


def page_remarks(markup: str, *, title: str, content: str) -> tuple[str, ...]:
    """Return what is to be known of a page, as phrases.

    Args:
        markup: The page's HTML.
        title: Its title.
        content: What was made of it.
    """
    words = word_count(content)
    start, begun = title[:_SAID], content[:_SAID]
    remarks = []
    if words <= _FEW:
        first = "\n".join(line for line in content[:150].split("\n") if not line.startswith(("- ", "|")))
        if _NOT_FOUND.search(start) or _NOT_FOUND.search(first):
            remarks.append("the page says that there is no such page, though its status says there is")
        if _PARKED.search(f"{start}\n{begun}"):
            remarks.append("there seems to be no site at this domain: it is parked or for sale")
    if words <= _FEWER and Said(title, content).pleads(_DOWN):
        remarks.append("the site says that it is down or has failed, though its status says otherwise; try again later")
    if words <= _MANY and _ends_early(markup, content):
        remarks.append("the site says that this page is not free, so this may be only its beginning")
    return tuple(remarks)


def _ends_early(markup: str, content: str) -> bool:
    """Tell whether a page is for those who pay, by its data or by how it ends."""
    if "isAccessibleForFree" in markup and _NOT_FREE.search(markup):
        return True
    phrases, heads = PAYWALL
    end = content[-_END:]
    return phrases.search(end) is not None or any(heads.fullmatch(line) for line in end.split("\n"))
