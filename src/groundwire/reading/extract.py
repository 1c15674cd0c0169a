"""Extraction of a page's main content as Markdown, with its metadata.

A pipeline from HTML to text, with a function per step: limits, tree, metadata, invisible text, main content, Markdown,
sanitizing. The order matters: metadata are read from the complete page, and invisible text must not influence the
selection of the main content. Embedded HTML, such as the summary in a feed, is converted without that selection.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from groundwire.reading.extracted import MAX_CONTENT, Extracted
from groundwire.reading.html.limits import fit, trim
from groundwire.reading.text.sanitize import clean, clean_text, hygiene_warnings, strip_controls, strip_invisible

if TYPE_CHECKING:
    from turbohtml import Element, Text

    from groundwire.reading.main_content.classifier import Model

__all__ = ["Extracted", "extract", "fragment_to_markdown", "one_line"]

_MAX_PICTURES: Final = 200


def extract(
    html: str, url: str, model: Model | None = None, *, parts: Mapping[str, bool] | None = None, opened: bool = False
) -> Extracted:
    """Extract the main content of a page.

    Args:
        html: The page's HTML. No input raises.
        url: The page's URL, for its relative links.
        model: The classifier of the main content; by default the built-in one.
        parts: Those that are kept or left out on every kind of page; see `groundwire.reading.main_content.page_parts`.
        opened: Whether texts for browsers without scripts are shown, as they are if nearly nothing else is.

    Returns:
        The content and the metadata; `warnings` count what was removed. A page with visible text has an empty result
        only if it has scripts and all its text is menus.
    """
    from groundwire.reading.block_pages.empty_shell import FEW, has_program, later_parts, word_count
    from groundwire.reading.html.semantics import apply_roles, fallbacks, marked_elements, parse_page
    from groundwire.reading.main_content.page_type import read_hints
    from groundwire.reading.main_content.select import MENUS_ONLY, select_main
    from groundwire.reading.main_content.stated_content import stated_content
    from groundwire.reading.markdown.serializer import to_markdown
    from groundwire.reading.metadata.bylines import author_of, publication_day, read_byline
    from groundwire.reading.metadata.dates import later_day
    from groundwire.reading.metadata.embedded_json import things
    from groundwire.reading.metadata.page_metadata import read_metadata, read_metas
    from groundwire.reading.metadata.titles import read_title, title_element
    from groundwire.reading.visibility.visible import drop_unseen

    markup, cut = fit(strip_controls(html))
    document = parse_page(markup, opened=opened)
    may_open = not opened and bool(fallbacks(document))
    cut = trim(document) or cut
    marked = marked_elements(document)
    _show_addresses(marked)
    metas, json_things = read_metas(document), things(document)
    metadata, entitled = read_metadata(document, marked, url, metas, json_things), title_element(document)
    hints = read_hints(json_things, metas, url)
    base = document.base_url(url) if document.find("base") is not None else url
    scripted, programmed = document.find("script") is not None, has_program(document, 1)
    removed = drop_unseen(document)
    body = document.find("body")
    text = "\n".join(body.stripped_strings) if body is not None else ""
    title = read_title(document, text, entitled, metas, json_things, metadata.site or "", url)
    later = later_parts(document, marked, text, markup) if programmed else ()
    byline = read_byline(document, text, metadata, title, removed.class_names)
    stated = stated_content(json_things, marked)
    chosen = select_main(document, model, hints, url=url, title=title, stated=stated, parts=parts)
    apply_roles(chosen.root)
    warnings: tuple[str, ...]
    if scripted and chosen.best < MENUS_ONLY:
        content, warnings = "", ("the response has only menus; the content may need a browser",)
    else:
        content, counts = clean_text(unicodedata.normalize("NFC", to_markdown(chosen.root, base)))
        content, warnings = clean(content), removed.warnings + hygiene_warnings(counts)
        warnings += _omissions(content, chosen.root, removed.described)
    if may_open and word_count(content, FEW) <= FEW:
        shown = extract(html, url, model, parts=parts, opened=True)
        if word_count(shown.content, FEW) > FEW:  # and no request to enable scripts
            return shown
    published = publication_day(metadata, url, byline)
    own = publication_day(metadata, url, replace(byline, changed=None))
    if published and own is None:
        warnings += ("the page states only the day of its last change",)
    if len(content) > MAX_CONTENT:
        content, cut = content[:MAX_CONTENT].rstrip(), True
    return Extracted(
        title=one_line(title),
        content=content,
        published=published,
        modified=later_day(metadata.modified, own) or later_day(byline.changed, own),
        language=metadata.language,
        author=one_line(author_of(metadata, byline)) or None,
        site=one_line(metadata.site) or None,
        kind=chosen.kind,
        cut=cut,
        warnings=warnings,
        later=later,
    )


def _show_addresses(marked: Sequence[Element]) -> None:
    """Write out the mail addresses that Cloudflare hides from robots; to people, a script of its own shows them."""
    for element in marked:
        if code := element.attr("data-cfemail"):
            with suppress(ValueError):
                key, *hidden = bytes.fromhex(code)
                address = bytes(key ^ byte for byte in hidden).decode()
                if "@" in address and address.isprintable():
                    element.set_text(address)


def _omissions(content: str, root: Element, described: Sequence[tuple[Text, Text]]) -> tuple[str, ...]:
    """Return warnings about what Markdown does not have: formulas that are only drawn, and described pictures."""
    from groundwire.reading.html.math import UNREAD

    pictures = sum(all(root in text.ancestors for text in around) for around in described[:_MAX_PICTURES])
    counts = {"formulas that could not be read": content.count(UNREAD), "described images left out": pictures}
    return tuple(f"{what}: {count}" for what, count in counts.items() if count)


def one_line(text: str | None) -> str:
    """Clean a name or a title to one line."""
    return " ".join(strip_invisible(clean(text or ""))[0].split())


def fragment_to_markdown(
    markup: str,
    url: str,
    removed: Counter[str],
    *,
    web_links_only: bool = False,
    below: int = 0,
    pick: str = "",
    drop: str = "",
) -> str:
    """Convert all visible text of an HTML fragment to Markdown.

    Args:
        markup: The HTML.
        url: The base URL of relative links.
        removed: Counts the invisible pieces of text under `hidden`, and under `cut` what was too large.
        web_links_only: Whether links without a host lose their targets.
        below: The level of the heading above the fragment; its own headings are demoted below it.
        pick: A CSS selector. Only the first matching element is converted, and nothing without a match.
        drop: A CSS selector. Matching elements are left out and not counted.
    """
    from groundwire.reading.html.semantics import marked_elements, parse_page
    from groundwire.reading.markdown.serializer import to_markdown
    from groundwire.reading.visibility.visible import drop_unseen

    markup, cut = fit(strip_controls(markup))
    document = parse_page(markup)
    removed["cut"] += trim(document) or cut
    _show_addresses(marked_elements(document))
    removed["hidden"] += sum(drop_unseen(document).counts.values())
    root = document.select_one(pick) if pick else document.find("body")
    if root is None:
        return ""
    for element in root.select(drop) if drop else ():
        element.decompose()
    for block in root.select("p, figure"):
        pictures = block.find_all("img")
        alt = (pictures[0].attr("alt") or "").strip() if len(pictures) == 1 else ""
        if alt.count(" ") + 1 >= _MIN_SENTENCE and not block.text.strip():
            block.set_text(f"[image: {alt}]")
    if web_links_only:
        for link in root.find_all("a"):
            if not (link.attr("href") or "").lower().startswith(("http://", "https://")):
                link.attrs.pop("href", None)
    if below:
        for heading in root.find_all(list(_HEADINGS)):
            heading.tag = f"h{min(_HEADINGS.index(heading.tag) + 1 + below, len(_HEADINGS))}"
    return to_markdown(root, url).strip()


_MIN_SENTENCE = 4  # words of what a lone picture shows, which then are part of the text and not the name of a file
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
