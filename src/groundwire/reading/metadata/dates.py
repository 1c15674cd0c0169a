"""Dates as ISO 8601, from markup, URLs, and text; anything ambiguous is ignored."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from email.utils import parsedate_to_datetime
from itertools import islice
from typing import Final
from urllib.parse import urlsplit

from groundwire.reading.text.sanitize import occurrences

__all__ = [
    "CHANGE",
    "LABEL",
    "ORIGINALLY",
    "OTHER_DAY",
    "WRITTEN",
    "date_in_address",
    "day_order",
    "iso_date",
    "labelled_day",
    "later_day",
    "same_day",
    "written_day",
]

_MAX_LENGTH: Final = 64  # characters
_ISO: Final = re.compile(
    r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})"
    r"(?:[T ]+(\d{2}:\d{2}(?::\d{2})?)(?:[.,]\d{1,9})?\s*(Z|UTC|GMT|[+-]\d{2}:?\d{2}|[+-]\d{2})?)?(?!\d)"
)
_MONTH_ONLY: Final = re.compile(r"(\d{4})[-/](\d{2})")
_DAY_MONTH_YEAR: Final = re.compile(r"(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})(?!\d)")
"""With full stops, the day is first wherever such dates are used."""
_EAST_ASIAN: Final = re.compile(r"(\d{4})\s?[年년.]\s?(\d{1,2})\s?[月월.]\s?(\d{1,2})(?:\s?[日일]|\.?(?!\d))")
_SCRIPT: Final = re.compile(r"[A-Za-z]{3} [A-Za-z]{3} \d{2} \d{4} \d{2}:\d{2}:\d{2} (?:GMT|UTC)[+-]\d{4}(?=\s|$)")
"""JavaScript's date format."""
_YEAR_FIRST: Final = re.compile(r"(\d{4})\s([A-Za-z]{3})[a-z]{0,6}\.?\s(\d{1,2})(?!\d)")
_YEAR_ONLY: Final = re.compile(r"\d{4}")
_EPOCH: Final = re.compile(r"(1\d{9})(?:\d{3})?")
"""Seconds or milliseconds since 1970, from 2001 to 2033."""
_COMPACT: Final = re.compile(r"(\d{4})(\d{2})(\d{2})(?:T\d{4,6}Z?)?")
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NAME: Final = r"(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?"
_MONTH_FIRST: Final = re.compile(
    rf"(?:[a-z]{{3,9}},?\s+)?{_NAME}\s+(\d{{1,2}})(?:st|nd|rd|th)?,?\s+(\d{{4}})\b", re.IGNORECASE
)
_DAY_FIRST: Final = re.compile(
    rf"(?:[a-z]{{3,9}},?\s+)?(\d{{1,2}})(?:st|nd|rd|th)?(?:\s+of)?[\s-]+{_NAME},?[\s-]+(\d{{4}})\b", re.IGNORECASE
)
_EARLIEST: Final = 1450  # the first printed books; an earlier year is an error
_AHEAD: Final = timedelta(days=400)


def iso_date(value: str, *, today: date | None = None) -> str | None:
    """Convert a date to ISO 8601, with its original precision, or return None.

    Supported are ISO 8601 and near misses, RFC 5322, seconds and milliseconds since 1970, dates with an English month
    name, script output, and East Asian dates. A numeric date whose order depends on the country is not supported: with
    slashes it does, with full stops the day is first. Rejected are nonexistent days, the zero of clocks (1 January
    1970), and days more than about a year ahead.

    Args:
        value: The text on the page.
        today: The reference date; the current one if None.
    """
    value = value.strip().replace("\u2212", "-")
    if not 4 <= len(value) <= _MAX_LENGTH:
        return None
    try:
        return _parse(value, today or datetime.now(UTC).date())
    except (ValueError, OverflowError, TypeError, IndexError):
        return None


def _parse(value: str, today: date) -> str | None:
    if match := _ISO.match(value):
        day = date(int(match[1]), int(match[2]), int(match[3]))
        if not _is_sensible(day, today):
            return None
        if not match[4] or (match[4].startswith("00:00") and not match[5]):
            return day.isoformat()
        zone = {"UTC": "Z", "GMT": "Z"}.get(match[5] or "", match[5] or "")
        moment = datetime.fromisoformat(f"{day.isoformat()}T{match[4]}{zone}")
        return moment.isoformat().replace("+00:00", "Z")
    if match := _SCRIPT.match(value):
        moment = datetime.strptime(match[0].replace("UTC", "GMT"), "%a %b %d %Y %H:%M:%S GMT%z")
        return moment.isoformat().replace("+00:00", "Z") if _is_sensible(moment.date(), today) else None
    if (numbers := _numbers_of(value)) is not None:
        day = date(*numbers)
        return day.isoformat() if _is_sensible(day, today) else None
    if match := _EPOCH.fullmatch(value):
        moment = datetime.fromtimestamp(int(match[1]), UTC)
        return moment.isoformat().replace("+00:00", "Z") if _is_sensible(moment.date(), today) else None
    if match := _MONTH_ONLY.fullmatch(value):
        day = date(int(match[1]), int(match[2]), 2)
        return f"{match[1]}-{match[2]}" if _is_sensible(day, today) else None
    if _YEAR_ONLY.fullmatch(value):
        return value if _EARLIEST <= int(value) <= today.year + 1 else None
    if (numbers := _numbers_by_name(value)) is not None:
        day = date(*numbers)
        return day.isoformat() if _is_sensible(day, today) else None
    moment = parsedate_to_datetime(value)
    return moment.isoformat().replace("+00:00", "Z") if _is_sensible(moment.date(), today) else None


def _numbers_of(value: str) -> tuple[int, int, int] | None:
    """Return the year, month, and day of a date in figures, or with the name of the month after the year."""
    for pattern, order in ((_EAST_ASIAN, (1, 2, 3)), (_DAY_MONTH_YEAR, (3, 2, 1))):
        if match := pattern.match(value):
            year, month, day = (int(match[index]) for index in order)
            return year, month, day
    if match := None if _EPOCH.fullmatch(value) else _COMPACT.fullmatch(value):
        return int(match[1]), int(match[2]), int(match[3])
    if (match := _YEAR_FIRST.match(value)) and match[2].lower() in _MONTHS:
        return int(match[1]), _MONTHS.index(match[2].lower()) + 1, int(match[3])
    return None


def _numbers_by_name(value: str) -> tuple[int, int, int] | None:
    """Return the year, month, and day of a date without a time that names its month first or second."""
    for pattern, order in ((_MONTH_FIRST, (3, 1, 2)), (_DAY_FIRST, (3, 2, 1))):
        if match := pattern.match(value):
            if re.search(r"\d{2}:\d{2}:\d{2}", value):
                return None
            year, name, day = (match[index] for index in order)
            return int(year), _MONTHS.index(name[:3].lower()) + 1, int(day)
    return None


def _is_sensible(day: date, today: date) -> bool:
    return day.year >= _EARLIEST and day <= today + _AHEAD and (day.year, day.month, day.day) != (1970, 1, 1)


_ARCHIVED: Final = re.compile(r"/web/\d{14}[a-z_]*/")
_IN_ADDRESS: Final = (
    (re.compile(r"(?<!\d)((?:19|20)\d\d)([-/_.])(\d{1,2})\2(\d{1,2})(?!\d)"), (1, 3, 4)),
    (re.compile(r"(?<!\d)(\d\d)([-.])(\d\d)\2(20\d\d)(?!\d)"), (4, 3, 1)),
    (re.compile(r"(?<!\d)(20\d\d)(\d\d)(\d\d)(?!\d)"), (1, 2, 3)),
    (re.compile(r"(?<=/)([12]\d)(\d\d)(\d\d)(?=[_-][A-Za-z])"), (1, 2, 3)),
)


def date_in_address(url: str) -> str | None:
    """Return the date in the path of a URL, as ISO 8601."""
    try:
        path = _ARCHIVED.sub("/", urlsplit(url[:2_000]).path)
    except ValueError:
        return None
    for pattern, order in _IN_ADDRESS:
        for match in pattern.finditer(path):
            year, month, day = (match[group] for group in order)
            if (found := _day(year if len(year) == 4 else f"20{year}", month, day)) is not None:
                return found
    return None


def same_day(moment: str, day: str | None) -> str:
    """Return the date in a URL instead of a UTC time at most one day away from it, else the time.

    URLs have the local date of the author.
    """
    if day is None or not moment.endswith("Z") or "T" not in moment:
        return moment
    apart = abs((date.fromisoformat(moment[:10]) - date.fromisoformat(day)).days)
    return day if apart == 1 else moment


def later_day(changed: str | None, published: str | None) -> str | None:
    """Return when something was changed, if that is a later day than that of publication, or if that is unknown."""
    return changed if changed and (not published or changed[:10] > published[:10]) else None


_MONTH_NAMES: Final = (
    "january jan januar jänner jaenner janvier janv enero ene gennaio gen janeiro januari stycznia января yanvar "
    "oca ocak sty янв січня tammikuuta ledna ianuarie ιανουαρίου",
    "february feb februar feber février fevrier févr febrero febbraio fevereiro fev februari lutego февраля şubat "
    "lut şub фев лютого helmikuuta února februarie φεβρουαρίου",
    "march mar märz maerz mrz mars marzo março marco maart marca марта mart мар marts березня maaliskuuta března "
    "martie maret μαρτίου",
    "april apr nis kwi avril avr abril abr aprile april kwietnia апреля nisan апр квітня huhtikuuta dubna aprilie "
    "απριλίου",
    "may mai mayo maggio mag maio mei maja мая mayıs maj травня toukokuuta května μαΐου",
    "june jun haz cze juni juin junio giugno giu junho czerwca июня haziran июн червня kesäkuuta června iunie ιουνίου",
    "july jul tem lip juli juillet juil julio luglio lug julho lipca июля temmuz июл липня heinäkuuta července "
    "iulie ιουλίου",
    "august aug ağu sie août aout agosto ago augustus sierpnia августа ağustos авг augusti серпня elokuuta srpna "
    "agustus αυγούστου",
    "september sep wrz eyl sept septembre septiembre settembre set setembro września сентября eylül сен сент "
    "вересня syyskuuta září septembrie σεπτεμβρίου",
    "october oct paź eki oktober okt octobre octubre ottobre ott outubro out październik października октября ekim "
    "окт жовтня lokakuuta října octombrie οκτωβρίου",
    "november nov kas novembre noviembre novembro listopada ноября kasım ноя нояб листопада marraskuuta listopadu "
    "noiembrie νοεμβρίου",
    "december dec gru ara dezember dez décembre decembre déc diciembre dic dicembre dezembro desember grudnia "
    "декабря aralık дек грудня joulukuuta prosince decembrie δεκεμβρίου",
)
_MONTH_NUMBERS: Final[Mapping[str, int]] = {
    name: number for number, names in enumerate(_MONTH_NAMES, 1) for name in names.split()
}
WRITTEN: Final = re.compile(
    r"(?<![\d.,/-])(?:"
    r"(?P<y1>(?:19|20)\d\d)(?:[-/]|\.\s?)(?P<m1>\d{1,2})(?:[-/]|\.\s?)(?P<d1>\d{1,2})"
    r"|(?P<y2>(?:19|20)\d\d)\s?[年년]\s?(?P<m2>\d{1,2})\s?[月월]\s?(?P<d2>\d{1,2})\s?[日일]"
    r"|(?P<d3>\d{1,2})(?P<s3>[./-])\s?(?P<m3>\d{1,2})(?P=s3)\s?(?P<y3>(?:19|20)?\d\d)"
    r"|(?P<d4>\d{1,2})(?:st|nd|rd|th|er|º|°|\.)?\s?(?:de |of |d')?\s?(?P<m4>[^\W\d_]{3,12})"
    r"\.?,?\s(?:de |del )?(?P<y4>(?:19|20)\d\d)"
    r")(?![\d%€$])"
    r"|\b(?P<m5>[^\W\d_]{3,12})\.?\s(?P<d5>\d{1,2})(?:st|nd|rd|th)?,?\s(?P<y5>(?:19|20)\d\d)(?!\d)"
)
OTHER_DAY: Final = re.compile(
    r"(?:(?P<changed>updat\w{1,3}|modifi\w{1,4}|changed|revised|reviewed|edited|aktualisier\w*|geändert|änderung"
    r"|bearbeitet|stand|mise? à jour|actualizad\w*|actualización|aggiornat\w*|aggiornamento|modifica(?:to)?"
    r"|atualizad\w*|bijgewerkt|gewijzigd|обновлен\w*|изменен\w*|(?:z?aktualiz\w*)|opdateret|oppdatert|uppdaterad"
    r"|(?:sist|senast) (?:endret|ändrad)|päivitetty|güncelle(?:me|nme|ndi)|оновлено|更新[日于於]?(?:时间|時間|日時)?"
    r"|수정일?시?|업데이트)"
    r"|(?:when|wann|takes? place|held|opens?|opening|begins?|starts|event|concert|festival|konzert|findet|termin)"
    r"(?=.*\Z)"
    r"|accessed|abgerufen|zugriff|copyright|©|\bborn|geboren|expires?|deadline|until|\bbis|\bzum|joined|since|\bseit|depuis|\bdesde"
    r"|sinds|registered|registriert|founded|rejestracj[ai]|registra(?:do|ción|ce)|inscrit\w*|inscription|iscritt\w*"
    r"|iscrizione|geregistreerd|зарегистрирован\w*|регистрация|注册|註冊|가입일?|登録日?)"
    r"[^\w]{0,12}(?:(?:on|am|le|el|il|em|op|date|at|in|the|vom|den|dne|dnia)\b)?[^\w]{0,5}"
    r"(?:[^\W\d_]{2,10}[,.]?\s{1,3})?\Z",
    re.IGNORECASE,
)
"""What precedes a date that is not the day of publication; the group, if it is the day of a change."""
LABEL: Final = re.compile(
    r"\b(?:erschienen|erstellt|veröffentlicht|publiziert|datum|published|publish date|posted|submitted|asked|started"
    r"|date|released|created|publiée?|publicad[oa]|pubblicat[oa]|gepubliceerd|опубликован[оа]?|опубліковано|opublikowano"
    r"|data(?: publikacji| de publicação| di pubblicazione)?|fecha(?: de publicación)?|date de publication"
    r"|publisert|publicerad|udgivet|julkaistu|zveřejněno|publicat|yayın(?:lanma)?(?: tarihi)?"
    r"|(?:公開|投稿|掲載|発表)日?時?|(?:发布|發布|发表|發表)[于於]?(?:时间|時間|日期)?|(?:입력|등록|작성|게시)일?)"
    r"(?: am| on| the| le| el| il| op| em| den| dne| dnia)?[\s:：]{1,20}",
    re.IGNORECASE,
)
"""What precedes a date on pages."""
_LABEL_WORDS: Final = (
    "erschienen", "erstellt", "veröffentlicht", "publi", "datum", "posted", "submitted", "asked", "started", "date",
    "released", "created", "pubblicat", "gepubliceerd", "опубликован", "Опубликован", "ОПУБЛИКОВАН", "verÖffentlicht",
    "опубліковано", "Опубліковано", "opublikowano", "data", "fecha", "udgivet", "julkaistu", "zveřejněno", "yay",
    "公開", "投稿", "掲載", "発表", "发布", "發布", "发表", "發表", "입력", "등록", "작성", "게시",
)  # fmt: skip
"""The beginning of every word of `LABEL`, in text of which only ASCII letters are in lower case."""
ORIGINALLY: Final = re.compile(
    r"\b(?:(?:originally|first|initially) (?:published|posted|appeared)|ursprünglich (?:veröffentlicht|erschienen)"
    r"|publiée? initialement|publicad[oa] originalmente|pubblicat[oa] originariamente|oorspronkelijk gepubliceerd"
    r"|(?:zuerst|erstmals) (?:veröffentlicht|erschienen))(?: on| am| le| el| il| op| em)?[\s:]{1,20}",
    re.IGNORECASE,
)
"""What precedes the day of publication on pages that were changed since."""
_ORIGINALLY_WORDS: Final = (
    "originally", "first ", "initially", "ursprünglich", "publi", "pubblicat", "oorspronkelijk", "zuerst", "erstmals",
)  # fmt: skip
CHANGE: Final = re.compile(
    r"\b(?:(?:updated|modified|revised|last edited)(?: on)?|(?:aktualisiert|geändert)(?: am)?|stand|mise à jour(?: le)?"
    r"|actualizaci[óo]n|actualizado(?: el)?|aggiornamento|aggiornato(?: il)?|atualizado(?: em)?|bijgewerkt(?: op)?"
    r"|обновлено|aktualizacja|aktualizováno|opdateret|oppdatert|uppdaterad|päivitetty|güncelle(?:me|nme)|更新日?|수정일?)"
    r"[\s:：]{1,20}",
    re.IGNORECASE,
)
"""What precedes the day of the last change on pages that state no other day."""
_CHANGE_WORDS: Final = (
    "updated", "modified", "revised", "last edited", "aktualisiert", "geändert", "stand", "mise", "actualiza",
    "aggiorna", "atualizado", "bijgewerkt", "обновлено", "Обновлено", "aktualiz", "opdateret", "oppdatert",
    "uppdaterad", "päivitetty", "güncelle", "更新", "수정",
)  # fmt: skip
_FIRST_WORDS: Final[Mapping[re.Pattern[str], tuple[str, ...]]] = {
    LABEL: _LABEL_WORDS, ORIGINALLY: _ORIGINALLY_WORDS, CHANGE: _CHANGE_WORDS
}  # fmt: skip
_MAX_LABELS: Final = 400
_NUMERIC: Final = re.compile(r"(\d(?<![\d/-]\d)\d?)([/-])(\d{1,2})\2(?:20|19)?\d\d(?![\d/-])")
"""Begins with a digit and looks back only afterwards, which passes other text several times as fast."""


def day_order(text: str, language: str | None) -> str:
    """Return the order of numeric dates with slashes or hyphens in a text: `dmy`, `mdy`, or empty if unclear.

    Dates whose day is over 12 show it; without such, the language does, for English only with its country.

    Args:
        text: The text.
        language: Its language as a BCP 47 tag.
    """
    first = second = 0
    for match in islice(_NUMERIC.finditer(text), 50):
        first += int(match[1]) > 12
        second += int(match[3]) > 12
    if first and not second:
        return "dmy"
    if second and not first:
        return "mdy"
    if language is None or language == "en":
        return ""
    if language[:2] == "en":
        return "mdy" if language in {"en-US", "en-PH"} else "dmy"
    return "dmy"


def written_day(match: re.Match[str], order: str) -> str | None:
    """Return the day of a match of `WRITTEN` as ISO 8601; None if there is no such day, or its order is unclear.

    Args:
        match: The match.
        order: The order of numeric dates; see `day_order`.
    """
    parts = {name[0]: value for name, value in match.groupdict().items() if value is not None}
    year, month, day = parts["y"], parts["m"], parts["d"]
    if not month.isdigit():
        number = _MONTH_NUMBERS.get(month.casefold())
        return _day(year, str(number), day) if number else None
    sign = parts.get("s", "")
    if len(year) == 2:
        if sign == "-" or not 0 <= int(year) <= 40:
            return None
        year = f"20{year}"
    if sign and sign != ".":
        if int(month) > 12:
            day, month = month, day
        elif int(day) <= 12 and day != month:
            if not order:
                return None  # it depends on the country
            if order == "mdy":
                day, month = month, day
    return _day(year, month, day)


def labelled_day(text: str, low: str, order: str, pattern: re.Pattern[str]) -> str | None:
    """Return the first day after a label in a text, as ISO 8601.

    Args:
        text: The text.
        low: The same with its ASCII letters in lower case.
        order: The order of numeric dates; see `day_order`.
        pattern: `LABEL`, `ORIGINALLY`, or `CHANGE`.
    """
    for label in islice(_labels(text, low, pattern), _MAX_LABELS):
        if (match := WRITTEN.match(text, label.end())) and (day := written_day(match, order)):
            return day
    return None


def _labels(text: str, low: str, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
    """Yield the matches of a pattern, looking only where one of its first words is."""
    places = {place for word in _FIRST_WORDS[pattern] for place in occurrences(low, word)}
    for place in sorted(places):
        if label := pattern.match(text, place):
            yield label


def _day(year: str, month: str, day: str) -> str | None:
    try:
        found = date(int(year), int(month), int(day))
    except ValueError:
        return None
    today = datetime.now(UTC).date()
    return found.isoformat() if found.year >= 1990 and found <= today + timedelta(days=2) else None
