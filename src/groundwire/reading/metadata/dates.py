"""Dates as ISO 8601, from markup, URLs, and text; anything ambiguous is ignored."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from email.utils import parsedate_to_datetime
from itertools import islice
from typing import Final
from urllib.parse import urlsplit

from groundwire.reading.text.sanitize import lower

_MAX_LENGTH: Final = 64  # characters
_ISO: Final = re.compile(
    r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})"
    r"(?:[T ]+(\d{2}:\d{2}(?::\d{2})?)(?:[.,]\d{1,9})?\s*(Z|UTC|GMT|[+-]\d{2}:?\d{2}|[+-]\d{2})?)?(?!\d)"
)
_MONTH_ONLY: Final = re.compile(r"(\d{4})[-/](\d{2})")
_SCRIPT_DATE: Final = re.compile(r"[A-Za-z]{3} [A-Za-z]{3} \d{2} \d{4} \d{2}:\d{2}:\d{2} (?:GMT|UTC)[+-]\d{4}(?=\s|$)")
"""JavaScript's date format."""
_YEAR_ONLY: Final = re.compile(r"\d{4}")
_EPOCH: Final = re.compile(r"(1\d{9})(?:\d{3})?")
"""Seconds or milliseconds since 1970, from 2001 to 2033."""
_COMPACT: Final = re.compile(r"(\d{4})(\d{2})(\d{2})(?:T\d{4,6}Z?)?")
_CLOCK: Final = re.compile(r"\d{2}:\d{2}:\d{2}")
_HYPHEN: Final = re.compile(r"-(?=[A-Za-z])|(?<=[A-Za-z])-")
_YEAR_FIRST: Final = re.compile(r"(\d{4})\s([A-Za-z]{3,9}\.?)\s(\d{1,2})(?!\d)")
_EARLIEST_YEAR: Final = 1450  # the first printed books; an earlier year is an error
_MAX_AHEAD: Final = timedelta(days=400)


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
    if match := _MONTH_ONLY.fullmatch(value):
        return value.replace("/", "-") if _is_sensible(date(int(match[1]), int(match[2]), 2), today) else None
    if _YEAR_ONLY.fullmatch(value):
        return value if _EARLIEST_YEAR <= int(value) <= today.year + 1 else None
    moment = _moment(value)
    day = moment.date() if isinstance(moment, datetime) else moment
    if moment is None or day is None or not _is_sensible(day, today):
        return None
    return moment.isoformat().replace("+00:00", "Z")


def _moment(value: str) -> date | None:
    """Return a day or a time of it."""
    if match := _ISO.match(value):
        day = date(int(match[1]), int(match[2]), int(match[3]))
        if not match[4] or (match[4].startswith("00:00") and not match[5]):
            return day
        zone = {"UTC": "Z", "GMT": "Z"}.get(match[5] or "", match[5] or "")
        return datetime.fromisoformat(f"{day.isoformat()}T{match[4]}{zone}")
    if match := _SCRIPT_DATE.match(value):
        return datetime.strptime(match[0].replace("UTC", "GMT"), "%a %b %d %Y %H:%M:%S GMT%z")
    if match := _EPOCH.fullmatch(value):
        return datetime.fromtimestamp(int(match[1]), UTC)
    if match := _COMPACT.fullmatch(value):
        return date(int(match[1]), int(match[2]), int(match[3]))
    if _CLOCK.search(value):
        return parsedate_to_datetime(value)
    plain = _YEAR_FIRST.sub(r"\3 \2 \1", _HYPHEN.sub(" ", value))
    match = _WRITTEN.match(plain) or _WRITTEN.match(plain, plain.find(" ") + 1)  # the name of the day may come first
    numbers = _numbers(match, lambda: "") if match and "/" not in match[0] else None
    return date(*numbers) if numbers else None


def _is_sensible(day: date, today: date) -> bool:
    return day.year >= _EARLIEST_YEAR and day <= today + _MAX_AHEAD and (day.year, day.month, day.day) != (1970, 1, 1)


_ARCHIVE_PATH: Final = re.compile(r"/web/\d{14}[a-z_]*/")
_IN_ADDRESS: Final = (
    (re.compile(r"(?<!\d)((?:19|20)\d\d)([-/_.])(\d{1,2})\2(\d{1,2})(?!\d)"), (1, 3, 4)),
    (re.compile(r"(?<!\d)(\d\d)([-.])(\d\d)\2(20\d\d)(?!\d)"), (4, 3, 1)),
    (re.compile(r"(?<!\d)(20\d\d)(\d\d)(\d\d)(?!\d)"), (1, 2, 3)),
    (re.compile(r"(?<=/)([12]\d)(\d\d)(\d\d)(?=[_-][A-Za-z])"), (1, 2, 3)),
)


def date_in_address(url: str) -> str | None:
    """Return the date in the path of a URL, as ISO 8601."""
    try:
        path = _ARCHIVE_PATH.sub("/", urlsplit(url[:2_000]).path)
    except ValueError:
        return None
    for pattern, order in _IN_ADDRESS:
        for match in pattern.finditer(path):
            year, month, day = (int(match[group]) for group in order)
            if (written := _day(year if year > 99 else 2000 + year, month, day)) is not None:
                return written
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
_WRITTEN: Final = re.compile(  # what no date begins with is skipped quickly, and no shorter name of a month is tried
    r"(?=\d)(?<![\d.,/-])(?:"
    r"(?P<y1>(?:19|20)\d\d)(?:[-/]|\.\s?)(?P<m1>\d{1,2})(?:[-/]|\.\s?)(?P<d1>\d{1,2})"
    r"|(?P<y2>(?:19|20)\d\d)\s?[年년]\s?(?P<m2>\d{1,2})\s?[月월]\s?(?P<d2>\d{1,2})\s?[日일]"
    r"|(?P<d3>\d{1,2})(?P<s3>[./-])\s?(?P<m3>\d{1,2})(?P=s3)\s?(?P<y3>(?:19|20)?\d\d)"
    r"|(?P<d4>\d{1,2})(?:st|nd|rd|th|er|º|°|\.)?\s?(?:de |of |d')?\s?(?P<m4>[^\W\d_]{3,12}+)"
    r"\.?,?\s(?:de |del )?(?P<y4>(?:19|20)\d\d)"
    r")(?![\d%€$])"
    r"|\b(?P<m5>[^\W\d_]{3,12}+)\.?\s(?P<d5>\d{1,2})(?:st|nd|rd|th)?,?\s(?P<y5>(?:19|20)\d\d)(?!\d)"
)
_PART: Final = re.compile(r"\d(?:(?<=[12])[09]\d\d|\d?([./-])\s?\d\d?\1)")
"""A year, or a day and a month: one of them is in each match of `_WRITTEN`."""
_LONGEST: Final = 31  # characters of a match of `_WRITTEN`
_OTHER_LABEL: Final = re.compile(
    r"(?:(?P<changed>updat\w{1,3}|modifi\w{1,4}|changed|revised|reviewed|(?:last )?edited"
    r"|aktualisier\w*|geändert|änderung|bearbeitet|stand|mise? à jour|actualizad\w*|actualización|aggiornat\w*"
    r"|aggiornamento|modifica(?:to)?|atualizad\w*|bijgewerkt|gewijzigd|обновлен\w*|изменен\w*|(?:z?aktualiz\w*)|opdateret"
    r"|oppdatert|uppdaterad|(?:sist|senast) (?:endret|ändrad)|päivitetty|güncelle(?:me|nme|ndi)|оновлено"
    r"|更新[日于於]?(?:时间|時間|日時)?|수정일?시?|업데이트)"
    r"|(?:when|wann|takes? place|held|opens?|opening|begins?|starts|event|concert|festival|konzert|findet|termin)"
    r"(?=.*\Z)"
    r"|accessed|abgerufen|zugriff|copyright|©|\bborn|geboren|expires?|deadline|until|\bbis|\bzum|joined|since|\bseit|depuis|\bdesde"
    r"|sinds|registered|registriert|founded|rejestracj[ai]|registra(?:do|ción|ce)|inscrit\w*|inscription|iscritt\w*"
    r"|iscrizione|geregistreerd|зарегистрирован\w*|регистрация|注册|註冊|가입일?|登録日?)"
    r"[^\w]{0,12}(?:(?:on|am|le|el|il|em|op|date|at|in|the|vom|den|dne|dnia)\b)?[^\w]{0,5}"
    r"(?:[^\W\d_]{2,10}[,.]?\s{1,3})?\Z"
)
"""What precedes a date that is not the day of publication, in lower case, in which the first letters are found several
times as fast; the group, if it is the day of a change."""
_PLAIN_LABEL_END: Final = re.compile(r"[\s:：]{1,20}(?:(?:on|am|le|el|il|em|op|\$date)[\s:：]{1,20})?")
_OF_REPLIES: Final = frozenset({"edited", "reviewed"})
OTHER_LABELS: Final = frozenset({"changed", "edited", "other"})
"""The results of `label_before` that say that a day is not that of publication."""
_LABEL: Final = re.compile(
    r"\b(?:(?P<first>(?:originally|first|initially) (?:published|posted|appeared)"
    r"|ursprünglich (?:veröffentlicht|erschienen)|publiée? initialement|publicad[oa] originalmente"
    r"|pubblicat[oa] originariamente|oorspronkelijk gepubliceerd|(?:zuerst|erstmals) (?:veröffentlicht|erschienen))"
    r"|erschienen|erstellt|veröffentlicht|publiziert|datum|published|publish date|posted|submitted|asked|started"
    r"|date|released|created|publiée?|publicad[oa]|pubblicat[oa]|gepubliceerd|опубликован[оа]?|опубліковано|opublikowano"
    r"|data(?: publikacji| de publicação| di pubblicazione)?|fecha(?: de publicación)?|date de publication"
    r"|publisert|publicerad|udgivet|julkaistu|zveřejněno|publicat|yayın(?:lanma)?(?: tarihi)?"
    r"|(?:公開|投稿|掲載|発表)日?時?|(?:发布|發布|发表|發表)[于於]?(?:时间|時間|日期)?|(?:입력|등록|작성|게시)일?)"
    r"(?: am| on| the| le| el| il| op| em| den| dne| dnia)?[\s:：]{1,20}\Z"
)
"""What precedes the day of publication, in lower case; the group, on pages that were changed since."""
_NUMERIC: Final = re.compile(r"(\d(?<![\d/-]\d)\d?)([/-])(\d{1,2})\2(?:20|19)?\d\d(?![\d/-])")
"""Begins with a digit and looks back only afterwards, which passes other text several times as fast."""


def day_order(text: str, language: str | None) -> str:
    """Return the order of numeric dates with slashes or hyphens in a text: `dmy`, `mdy`, or empty if unclear.

    Dates whose day is over 12 show it; without such, the language does, for English only with its country.

    Args:
        text: The text.
        language: Its language as a BCP 47 tag.
    """
    dates = [(int(match[1]) > 12, int(match[3]) > 12) for match in islice(_NUMERIC.finditer(text), 50)]
    is_first, is_second = any(first for first, _ in dates), any(second for _, second in dates)
    if is_first is not is_second:
        return "dmy" if is_first else "mdy"
    if language is None or language == "en":
        return ""
    return "mdy" if language in {"en-US", "en-PH"} else "dmy"


def written_day(match: re.Match[str], order: Callable[[], str]) -> str | None:
    """Return the day of a match of `_WRITTEN` as ISO 8601; None if there is no such day, or its order is unclear.

    Args:
        match: The match.
        order: Returns the order of numeric dates, which few pages need; see `day_order`.
    """
    numbers = _numbers(match, order)
    return None if numbers is None else _day(*numbers)


def _numbers(match: re.Match[str], order: Callable[[], str]) -> tuple[int, int, int] | None:
    """Return the year, the month, and the day of a match of `_WRITTEN`; None if their order is unclear."""
    parts = {name[0]: value for name, value in match.groupdict().items() if value is not None}
    year, day, sign = int(parts["y"]), int(parts["d"]), parts.get("s", "")
    if not parts["m"].isdigit():
        number = _MONTH_NUMBERS.get(parts["m"].casefold())
        return (year, number, day) if number else None
    month = int(parts["m"])
    if year < 100:
        if sign == "-" or year > 40:
            return None
        year += 2000
    if sign and sign != "." and month != day:
        written = "mdy" if month > 12 else "dmy" if day > 12 else order()
        if not written:
            return None  # it depends on the country
        if written == "mdy":
            day, month = month, day
    return year, month, day


def written_dates(text: str) -> Iterator[re.Match[str]]:
    """Yield the matches of `_WRITTEN` in a text, looking only around what each has, which is several times as fast."""
    done = 0
    for part in _PART.finditer(text):
        match = _WRITTEN.search(text, max(done, part.start() - _LONGEST), part.end() + _LONGEST)
        if match and match.start() < part.end():
            yield match
            done = match.end()


def label_before(before: str) -> str:
    """Return what the label at the end of a text says about the day after it; "" without a label.

    Args:
        before: What is before the day.

    Returns:
        `published`, `first` for the first publication of what was changed since, `changed`, `edited` for a change that
        may be that of a reply or of something in a sentence, or `other`.
    """
    before = lower(before)
    label = _LABEL.search(before)
    if label and label["first"]:
        return "first"
    if other := _OTHER_LABEL.search(before):
        is_plain = _PLAIN_LABEL_END.fullmatch(before, other.end("changed")) and other["changed"] not in _OF_REPLIES
        return "other" if not other["changed"] else "changed" if is_plain else "edited"
    return "published" if label else ""


def _day(year: int, month: int, day: int) -> str | None:
    try:
        calendar_day = date(year, month, day)
    except ValueError:
        return None
    today = datetime.now(UTC).date()
    return calendar_day.isoformat() if calendar_day.year >= 1990 and calendar_day <= today + timedelta(days=2) else None
