"""Search operators, for services that take domains in the words only."""

from __future__ import annotations

from groundwire.models import Filters

__all__ = ["with_site_operators"]

_MOST = 5  # operators; engines ignore or refuse queries with many more
_LONGEST = 380  # characters; Brave, behind several of the services, takes 400


def with_site_operators(text: str, filters: Filters) -> tuple[str, str | None]:
    """Add `site:` operators for the domains of the filters.

    Allowed domains become `text (site:a OR site:b)`: without the parentheses the OR would bind to the words.

    Args:
        text: The words.
        filters: Where the domains are.

    Returns:
        The query, and a warning when there were more domains than a query can hold. Rows are checked against the
        domains afterwards in any case.
    """
    wanted = [f"site:{domain}" for domain in filters.allowed_domains]
    parts = [text]
    if wanted and len(wanted) <= _MOST:
        parts.append(wanted[0] if len(wanted) == 1 else f"({' OR '.join(wanted)})")
    unwanted = [f"-site:{domain}" for domain in filters.blocked_domains]
    room = _MOST - len(wanted) if len(wanted) <= _MOST else _MOST
    parts += unwanted[: max(0, room)]
    query = " ".join(parts)
    if len(query) > max(_LONGEST, len(text)):
        return text, "the domains did not fit into the query; results were checked against them afterwards"
    if len(wanted) > _MOST or len(unwanted) > max(0, room):
        return query, "not all domains fitted into the query; results were checked against them afterwards"
    return query, None
