"""Mapping of a query's filters to a service: domain lists, search operators, country names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date

from groundwire.models import Filters
from groundwire.providers.http_api import Mapped
from groundwire.providers.http_parsing import window

__all__ = [
    "american_date",
    "country_name",
    "domain_lists",
    "google_dates",
    "language_code",
    "time_filter",
    "with_site_operators",
]


def domain_lists(
    mapped: Mapped,
    filters: Filters,
    name: str,
    keys: tuple[str, str],
    *,
    most: int | None = None,
    most_blocked: int | None = None,
    one_list: bool = False,
) -> dict[str, list[str]]:
    """Return the domains to send; the others are filtered from the results afterwards, with a warning.

    Allowed domains are sent all or none: with only some of them, the pages of the others would be missing.

    Args:
        mapped: The request so far; warnings and receipts are added to it.
        filters: The filters with the domains.
        name: The provider's name, for the warnings.
        keys: The service's names of the allowed and of the blocked list.
        most: The maximum length of a list; None for unlimited.
        most_blocked: The maximum number of blocked domains, if it differs.
        one_list: Whether the service accepts only one list: the allowed domains, which are narrower.
    """
    lists = {"allowed_domains": filters.allowed_domains, "blocked_domains": filters.blocked_domains}
    if one_list and all(lists.values()):
        mapped.applied["blocked_domains"] = "post_filter"
        lists["blocked_domains"] = ()
    found = {}
    for key, (which, wanted), bound in zip(keys, lists.items(), (most, most_blocked or most), strict=True):
        if bound is not None and len(wanted) > bound:
            mapped.applied[which] = "post_filter"
            rest = "results were checked against all of them afterwards"
            mapped.warnings.append(f"{name}: it takes {bound} {which} at most, not {len(wanted)}; {rest}")
            wanted = () if which == "allowed_domains" else wanted[:bound]
        if wanted:
            found[key] = list(wanted)
    return found


_MAX_OPERATORS = 5  # operators; engines ignore or reject queries with many more
_MAX_QUERY = 380  # characters; Brave, the index behind several of the services, allows 400


def with_site_operators(text: str, filters: Filters) -> tuple[str, str | None]:
    """Add `site:` operators for the domains of the filters.

    Allowed domains become `text (site:a OR site:b)`: without the parentheses, OR would bind to the text.

    Args:
        text: The query.
        filters: The filters with the domains.

    Returns:
        The query, and a warning if there were more domains than a query can hold. Results are checked against the
        domains afterwards in any case.
    """
    wanted = [f"site:{domain}" for domain in filters.allowed_domains]
    parts = [text]
    if wanted and len(wanted) <= _MAX_OPERATORS:
        parts.append(wanted[0] if len(wanted) == 1 else f"({' OR '.join(wanted)})")
    unwanted = [f"-site:{domain}" for domain in filters.blocked_domains]
    room = _MAX_OPERATORS - len(wanted) if len(wanted) <= _MAX_OPERATORS else _MAX_OPERATORS
    parts += unwanted[: max(0, room)]
    query = " ".join(parts)
    if len(query) > max(_MAX_QUERY, len(text)):
        return text, "the domains did not fit into the query; results were checked against them afterwards"
    if len(wanted) > _MAX_OPERATORS or len(unwanted) > max(0, room):
        return query, "not all domains fitted into the query; results were checked against them afterwards"
    return query, None


# Names as English-language services write them; an unknown one makes a service reject the request.
_COUNTRY_NAMES = """
af afghanistan | al albania | dz algeria | ad andorra | ao angola | ar argentina | am armenia | au australia
at austria | az azerbaijan | bs bahamas | bh bahrain | bd bangladesh | bb barbados | by belarus | be belgium
bz belize | bj benin | bt bhutan | bo bolivia | ba bosnia and herzegovina | bw botswana | br brazil | bn brunei
bg bulgaria | bf burkina faso | bi burundi | kh cambodia | cm cameroon | ca canada | cv cape verde
cf central african republic | td chad | cl chile | cn china | co colombia | km comoros | cg congo | cr costa rica
hr croatia | cu cuba | cy cyprus | cz czech republic | dk denmark | dj djibouti | do dominican republic | ec ecuador
eg egypt | sv el salvador | gq equatorial guinea | er eritrea | ee estonia | et ethiopia | fj fiji | fi finland
fr france | ga gabon | gm gambia | ge georgia | de germany | gh ghana | gr greece | gt guatemala | gn guinea
ht haiti | hn honduras | hu hungary | is iceland | in india | id indonesia | ir iran | iq iraq | ie ireland
il israel | it italy | jm jamaica | jp japan | jo jordan | kz kazakhstan | ke kenya | kw kuwait | kg kyrgyzstan
lv latvia | lb lebanon | ls lesotho | lr liberia | ly libya | li liechtenstein | lt lithuania | lu luxembourg
mg madagascar | mw malawi | my malaysia | mv maldives | ml mali | mt malta | mr mauritania | mu mauritius | mx mexico
md moldova | mc monaco | mn mongolia | me montenegro | ma morocco | mz mozambique | mm myanmar | na namibia | np nepal
nl netherlands | nz new zealand | ni nicaragua | ne niger | ng nigeria | kp north korea | mk north macedonia | no norway
om oman | pk pakistan | pa panama | pg papua new guinea | py paraguay | pe peru | ph philippines | pl poland
pt portugal | qa qatar | ro romania | ru russia | rw rwanda | sa saudi arabia | sn senegal | rs serbia | sg singapore
sk slovakia | si slovenia | so somalia | za south africa | kr south korea | ss south sudan | es spain | lk sri lanka
sd sudan | se sweden | ch switzerland | sy syria | tw taiwan | tj tajikistan | tz tanzania | th thailand | tg togo
tt trinidad and tobago | tn tunisia | tr turkey | tm turkmenistan | ug uganda | ua ukraine | ae united arab emirates
gb united kingdom | us united states | uy uruguay | uz uzbekistan | ve venezuela | vn vietnam | ye yemen | zm zambia
zw zimbabwe
"""


def country_name(code: str) -> str:
    """Return a country's English name in lower case, or an empty string for an unlisted code."""
    entries = (
        entry.split(maxsplit=1) for line in _COUNTRY_NAMES.split("\n") for entry in line.split("|") if entry.strip()
    )
    return next((name.strip() for key, name in entries if key == code.lower()), "")


def time_filter(
    filters: Filters,
    ranges: Mapping[str, str],
    range_key: str,
    day_keys: tuple[str, str],
    *,
    form: Callable[[date], str] = date.isoformat,
    today: date | None = None,
) -> dict[str, str]:
    """Return a time range under one key, or dates under two, for services that accept only one kind at a time.

    Args:
        filters: The filters; a range together with dates becomes a date.
        ranges: The service's values of the time ranges.
        range_key: The service's name of the range.
        day_keys: Its names of the first and the last day.
        form: Formats a day.
        today: The day on which a time range ends, by default that of the system's clock, in UTC.
    """
    if not filters.published_after and not filters.published_before:
        return {} if filters.time_range == "all" else {range_key: ranges[filters.time_range]}
    return {key: form(day) for key, day in zip(day_keys, window(filters, today), strict=True) if day}


def language_code(mapped: Mapped, filters: Filters) -> str:
    """Return the language as a two-letter ISO 639-1 code; empty, with a receipt, if it has three letters."""
    code = (filters.language or "").partition("-")[0].lower()
    if len(code) == 2:
        return code
    if code:
        mapped.applied["language"] = "not_possible"
    return ""


def american_date(day: date) -> str:
    """Format a date as month, day and year, without leading zeros."""
    return f"{day.month}/{day.day}/{day.year}"


def google_dates(
    mapped: Mapped, filters: Filters, today: date | None = None, *, form: Callable[[date], str] = american_date
) -> str:
    """Return Google's parameter `tbs`: `qdr` for a range, `cdr` with American dates for two days, or an empty string.

    A range that ends before it begins is omitted, with a receipt.

    Args:
        mapped: The request so far; receipts are added to it.
        filters: The filters; a range together with dates becomes a date.
        today: The day on which a time range ends, by default that of the system's clock, in UTC.
        form: Formats a day.
    """
    if not filters.published_after and not filters.published_before:
        return "" if filters.time_range == "all" else f"qdr:{filters.time_range}"
    first, last = window(filters, today)
    if first and last and first > last:
        mapped.applied["time_range"] = "post_filter"
        first = filters.published_after
    days = (("cd_min", first), ("cd_max", last))
    return ",".join(["cdr:1", *(f"{key}:{form(day)}" for key, day in days if day)])
