"""The page of providers, from what each says of itself."""

from __future__ import annotations

from generating.docstrings import first_paragraph, row
from generating.settings import listing
from groundwire.providers.registry import provider_class, provider_names

__all__ = ["providers"]


def providers() -> str:
    """Return the page."""
    rows = ["| name | search | read | API key | description |", "| --- | --- | --- | --- | --- |"]
    details = []
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
            details += [f"## `[providers.{name}]`", listing(options)]
    intro = (
        "Use these names in `search.providers` and `read.providers`. "
        "To configure a second instance of a provider, add a suffix, such as `searxng:mine`."
    )
    return "\n\n".join(["# Providers", intro, "\n".join(rows), *details])
