"""A piece of HTML inside of another document, such as the summary in a feed, by the rules that hold for pages."""

from __future__ import annotations

from collections import Counter

from groundwire.reading.bounds import fit, trim
from groundwire.reading.clean import strip_controls

__all__ = ["fragment_to_markdown"]


def fragment_to_markdown(markup: str, url: str, removed: Counter[str], *, web_links_only: bool = False) -> str:
    """Return all of a piece of HTML that a person could see, as Markdown.

    Args:
        markup: The HTML; any text is taken.
        url: The address that relative links start from.
        removed: Counts, under `hidden`, the pieces that nobody could see.
        web_links_only: Whether links that do not name their host lose their targets.
    """
    from groundwire.reading.markdown import to_markdown  # the tree's library takes a while to load
    from groundwire.reading.mend import parse_page
    from groundwire.reading.visible import drop_unseen

    document = parse_page(fit(strip_controls(markup))[0])
    trim(document)
    removed["hidden"] += sum(drop_unseen(document).counts.values())
    if web_links_only:
        for link in document.find_all("a"):
            if not (link.attr("href") or "").lower().startswith(("http://", "https://")):
                link.attrs.pop("href", None)
    body = document.find("body")
    return to_markdown(body, url).strip() if body is not None else ""
