"""Languages and countries in the codes and names that services know: the lists in `locales.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from groundwire.models import Filters
from groundwire.providers.http_api import Mapped

__all__ = ["country_code", "country_name", "known_language", "language_code", "language_of"]


@cache
def _lists() -> Mapping[str, Any]:
    text = files("groundwire.providers").joinpath("locales.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


@cache
def _countries(service: str) -> frozenset[str]:
    return frozenset(str(_lists()[service]["countries"]).split())


@cache
def _languages(service: str) -> frozenset[str]:
    return frozenset((*str(_lists()[service]["languages"]).split(), *_lists()[service]["other"].values()))


def country_code(mapped: Mapped, filters: Filters, service: str) -> str:
    """Return the wanted country in two capital letters; nothing, with a receipt, when a service does not know it.

    Args:
        mapped: The request so far; its receipts are added to.
        filters: Where the country is.
        service: Whose list counts.
    """
    code = (filters.region or "").lower()
    if not code or code in _countries(service):
        return code.upper()
    mapped.applied["region"] = "not_possible"
    return ""


def country_name(code: str) -> str:
    """Return a country's English name in lower case, or an empty text for a code that is not in the list."""
    return str(_lists()["names"].get(code.lower(), ""))


def language_of(tag: str, service: str, region: str = "") -> str:
    """Return a service's own code for a language, in lower case; nothing for one that it does not know.

    Args:
        tag: The language, such as `pt-BR` or `zh-Hant-HK`; the part that the service tells apart counts.
        service: Whose list counts.
        region: Tells the kinds of a language apart where the tag does not: those of Portuguese and of Chinese.
    """
    base, *more = tag.lower().split("-")
    other, known = _lists()[service]["other"], _languages(service)
    names = [f"{base}-{part}" for part in more or [region.lower()]]
    codes = (other.get(name, name) for name in (*names, base))
    return next((code for code in codes if code in known), "")


def known_language(mapped: Mapped, filters: Filters, service: str) -> str:
    """Return a service's own code for the wanted language; nothing, with a receipt, for one that it does not know.

    Args:
        mapped: The request so far; its receipts are added to.
        filters: Where language and country are.
        service: Whose list counts; see `language_of`.
    """
    code = language_of(filters.language, service, filters.region or "") if filters.language else ""
    if filters.language and not code:
        mapped.applied["language"] = "not_possible"
    return code


def language_code(mapped: Mapped, filters: Filters) -> str:
    """Return the wanted language in the two letters of ISO 639-1; nothing, with a receipt, when it has three."""
    code = (filters.language or "").partition("-")[0].lower()
    if len(code) == 2:
        return code
    if code:
        mapped.applied["language"] = "not_possible"
    return ""
