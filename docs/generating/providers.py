"""The page of providers, from what each says of itself."""

from __future__ import annotations

from generating.docstrings import first_paragraph, row
from generating.settings import listing
from groundwire.providers.http_api import ApiOptions
from groundwire.providers.registry import provider_class, provider_names
from groundwire.setup.apply import load_offers


def providers() -> str:
    """Return the page."""
    rows = ["| name | search | read | API key | description |", "| --- | --- | --- | --- | --- |"]
    details, shared = [], listing(ApiOptions).splitlines()
    for name in provider_names():
        cls = provider_class(name)
        able = cls.capabilities
        variables = getattr(cls, "key_variables", ())
        needed = getattr(cls, "key_needed", False)
        key = f"`{variables[0]}`" + ("" if needed else " (optional)") if variables else "none"
        rows.append(
            row(f"`{name}`", "yes" if able.search else "", "yes" if able.read else "", key, first_paragraph(cls))
        )
        options = getattr(cls, "Options", None)
        if options is not None and options.model_fields:
            own = [line for line in listing(options).splitlines() if line not in shared]
            details += [f"## `[providers.{name}]`", "\n".join(own)] if own else []
    intro = (
        "Use these names in `search.providers` and `read.providers`. "
        "To configure a second instance of a provider, add a suffix, such as `searxng:mine`; "
        'its options are in a file, below `[providers."searxng:mine"]`.'
    )
    common = (
        "## Options of most providers\n\nEvery provider but `archive` has `delay`; services with an HTTP API have all "
        "three. The sections below list what else a provider has, or where it differs.\n\n" + "\n".join(shared)
    )
    return "\n\n".join(["# Providers", intro, "\n".join(rows), _keyless(), common, *details])


def _keyless() -> str:
    """Return the section of services that are asked without a key."""
    rows = ["| name | what it allows | who sees queries | terms of use |", "| --- | --- | --- | --- |"]
    for name, offer in load_offers().items():
        if offer.open_host:
            free = offer.prices.free or "its limit is not published"
            rows.append(row(f"`{name}`", free, f"`{offer.open_host}`", f"<{offer.terms}>"))
    intro = "They see the query and the address of this machine. `search.keyless = false` turns them off."
    return "\n\n".join(["## Services without a key", intro, "\n".join(rows)])
