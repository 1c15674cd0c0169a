"""Domain lists in the body of a request, as many and as long as a service takes."""

from __future__ import annotations

from groundwire.models import Filters
from groundwire.providers.api import Mapped

__all__ = ["domain_lists"]


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
    """Return the domains that can go out; the others are left to the check of the rows afterwards, and that is said.

    Allowed domains go out all or none: with a part of them the pages of the others would never come.

    Args:
        mapped: The request so far; its warnings and receipts are added to.
        filters: Where the domains are.
        name: The provider's name, for the warnings.
        keys: What the service calls the list of what is allowed, and that of what is blocked.
        most: How many domains of a list the service takes; None for any number.
        most_blocked: How many blocked ones, where that is another number.
        one_list: Whether it takes one list only: the allowed domains, which are the narrower one.
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
