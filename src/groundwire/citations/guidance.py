"""What to tell a model so that it cites."""

from __future__ import annotations

__all__ = ["guidance"]


def guidance() -> str:
    """Return what a system prompt says so that a model cites what the tools gave it, as marks of the form `[1]`."""
    return (
        "When you use information from web_search or open_page, cite it: put the citation_id of the source in square "
        "brackets right after the sentence it supports, like [1], and [1][3] for several. A page keeps its number for "
        "the whole conversation. Cite only sources that the tools gave you, and do not write a list of sources: it is "
        "added for you."
    )
