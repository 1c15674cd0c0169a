"""What is asked: the words, and what a result must satisfy."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Literal, get_args

from groundwire.errors import InvalidRequest
from groundwire.models.checks import check_choice, check_date, check_domains, check_int, check_pattern, check_text

__all__ = ["MAX_LIMIT", "MAX_PAGE", "NO_FILTERS", "Filters", "Query", "SafeSearch", "TimeRange"]

TimeRange = Literal["d", "w", "m", "y", "all"]
"""How recent a result must be: a day, a week, a month, a year, or any age."""

SafeSearch = Literal["off", "moderate", "strict"]
"""How much a provider should leave out for decency."""

MAX_LIMIT = 50  # results; no provider of the reference gives more than 20 to 50 for one request
MAX_PAGE = 10  # pages of results; Brave's own limit, and more than anybody reads


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What a result must satisfy beyond matching the words."""

    allowed_domains: tuple[str, ...] = ()
    """Only these domains and their sub-domains; empty means every domain."""
    blocked_domains: tuple[str, ...] = ()
    """Never these domains nor their sub-domains."""
    time_range: TimeRange = "all"
    """How recent a result must be."""
    published_after: date | None = None
    """The first day on which a result may have been published."""
    published_before: date | None = None
    """The last day on which a result may have been published."""
    language: str | None = None
    """A BCP 47 language tag such as `en` or `pt-BR`."""
    region: str | None = None
    """An ISO 3166-1 country code of two letters such as `us`."""
    safesearch: SafeSearch = "moderate"
    """How much a provider should leave out for decency."""
    page: int = 1
    """Which page of results, from 1 to 10."""


NO_FILTERS = Filters()
"""Every result will do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Query(Filters):
    """A validated question to the web; it is its own `Filters`.

    Raises:
        InvalidRequest: a value is out of bounds; the error names the field and what to do.
    """

    text: str
    """The words to search for: 1 to 2,000 characters once white space is trimmed."""
    limit: int = 5
    """The most results to return: 1 to 50."""

    def __post_init__(self) -> None:
        set_ = object.__setattr__  # how a frozen dataclass brings its own fields into one form
        set_(self, "text", check_text(self.text))
        check_int("limit", self.limit, 1, MAX_LIMIT)
        check_choice("time_range", self.time_range, get_args(TimeRange))
        check_choice("safesearch", self.safesearch, get_args(SafeSearch))
        for name in ("allowed_domains", "blocked_domains"):
            set_(self, name, check_domains(name, getattr(self, name)))
        check_int("page", self.page, 1, MAX_PAGE)
        for name in ("published_after", "published_before"):
            set_(self, name, check_date(name, getattr(self, name)))
        if self.published_after and self.published_before and self.published_after > self.published_before:
            raise InvalidRequest("published_before", "is before published_after", "Swap the two days.")
        check_pattern("language", self.language, r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*", "en or pt-BR")
        check_pattern("region", self.region, r"[A-Za-z]{2}", "us or de")
