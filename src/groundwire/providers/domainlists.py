"""Domain lists in the body of a request, no longer than a service takes."""

from __future__ import annotations

from typing import Literal

from groundwire.providers.api import Mapped

__all__ = ["add_domains"]


def add_domains(
    mapped: Mapped,
    name: Literal["allowed_domains", "blocked_domains"],
    key: str,
    domains: tuple[str, ...],
    most: int,
) -> None:
    """Add a list of domains to a body; what is too much is left to the check of the rows afterwards, and said.

    Args:
        mapped: The request so far; its values, warnings and receipts are added to.
        name: The filter's name.
        key: What the service calls it.
        domains: The domains.
        most: How many the service takes.
    """
    if domains:
        mapped.values[key] = list(domains[:most])
    if len(domains) > most:
        mapped.applied[name] = "post_filter"
        rest = "results were checked against the others afterwards"
        mapped.warnings.append(f"only the first {most} of {len(domains)} {name} could be sent; {rest}")
