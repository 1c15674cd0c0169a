"""A PDF as Markdown, and what it says about itself: title, author, date, language, and where its links lead."""

from __future__ import annotations

import ctypes
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from groundwire.reading.documents.pdf.blocks import Block, blocks, join_broken
from groundwire.reading.documents.pdf.columns import regions, segments
from groundwire.reading.documents.pdf.grids import with_tables
from groundwire.reading.documents.pdf.headings import Headings, drop_furniture, outline_levels
from groundwire.reading.documents.pdf.hidden_text import look
from groundwire.reading.documents.pdf.lines import Line, lines
from groundwire.reading.documents.pdf.pdfium import Pdf, PdfPage, form_values, open_pdf, page_edges
from groundwire.reading.documents.pdf.words import (
    Word,
    joined_letters,
    level_scripts,
    page_words,
    strike,
    turned,
    turned_edge,
)
from groundwire.reading.extracted import MAX_CONTENT, Extracted, UnreadableDocument
from groundwire.reading.markdown.escaping import escape_line, escape_text
from groundwire.reading.metadata.dates import iso_date, later_day
from groundwire.reading.text.sanitize import removal_warning

_COMPOUNDS: Final = re.compile(r"(?<![^\W\d_])[^\W\d_]+-[^\W\d_]+")
_MARK: Final = re.compile(r"^(\\?)\[page (?=\d{1,6}\\?\]\s*$)", re.MULTILINE)
_MAX_LISTED_PAGES: Final = 12  # pages listed in a warning
_END_MARK: Final = b"%%EOF"
_TAIL_BYTES: Final = 2_048  # bytes


@dataclass(slots=True)
class _PdfDraft:
    """The content of the pages, before it is assembled."""

    pages: list[list[list[Line]]] = field(default_factory=list)
    heights: list[float] = field(default_factory=list)
    removed: int = 0
    letters: int = 0
    pictures: list[int] = field(default_factory=list)
    recognized: list[int] = field(default_factory=list)
    broken: list[int] = field(default_factory=list)
    crowded: bool = False
    fields: dict[int, list[str]] = field(default_factory=dict)


def read_pdf(body: bytes, *, seconds: float) -> Extracted:
    """Convert a PDF to Markdown in reading order.

    Each page begins with a line `[page 12]`; a line of the document that looks like one is escaped.

    Args:
        body: The whole file.
        seconds: The time limit; the pages converted by then are returned, and `cut` is set.

    Raises:
        UnreadableDocument: it is protected, broken, scanned or empty, or the PDF library is not installed.
    """
    until = time.monotonic() + seconds
    with open_pdf(body) as pdf:
        draft = _gather(pdf, until)
        details = read_details(pdf)
        outline = outline_levels(pdf.document)
        count = pdf.pages
    if not draft.letters:
        raise _without_text(draft, count, rebuilt=pdf.rebuilt)
    furniture = drop_furniture(draft.pages, draft.heights)
    headings = Headings([line for page in draft.pages for region in page for line in region], outline)
    content, first_title = _assemble(draft, headings)
    cut = len(draft.pages) < count or len(content) > MAX_CONTENT or draft.crowded
    if len(content) > MAX_CONTENT:
        content = content[:MAX_CONTENT].rstrip()
    return replace(
        details,
        title=details.title or first_title,
        content=content,
        cut=cut,
        warnings=_warnings(draft, count, furniture, has_end=_END_MARK in body[-_TAIL_BYTES:]),
    )


def _gather(pdf: Pdf, until: float) -> _PdfDraft:
    draft = _PdfDraft()
    for number in range(pdf.pages):
        if number and (time.monotonic() > until or draft.letters > MAX_CONTENT):
            break
        with pdf.page(number) as page:
            if page is None:
                draft.broken.append(number + 1)
                draft.pages.append([])
                draft.heights.append(0.0)
            else:
                _add(draft, page, number + 1)
                if field_lines := [f"{name}: {value}" if name else value for name, value in form_values(pdf, page)]:
                    draft.fields[number + 1] = field_lines
                    draft.letters += sum(map(len, field_lines))
    return draft


def _add(draft: _PdfDraft, page: PdfPage, number: int) -> None:
    words, crowded = page_words(page)
    visible = look(page, words)
    add_links(page, visible.words)
    draft.crowded = draft.crowded or crowded
    draft.removed += visible.removed
    draft.letters += sum(len(word.text) for word in visible.words)
    if visible.images and not visible.words:
        draft.pictures.append(number)
    if visible.recognized:
        draft.recognized.append(number)
    level_scripts(visible.words)
    page_regions: list[list[Line]] = []
    edges = page_edges(page)
    for direction, group in turned(page, joined_letters(visible.words)).items():
        group = with_tables(group, strike(group, [turned_edge(page, direction, edge) for edge in edges]))
        page_regions += [lines(part) for part in regions(segments(group))]
    draft.pages.append(page_regions)
    draft.heights.append(page.top - page.bottom)


def _assemble(draft: _PdfDraft, headings: Headings) -> tuple[str, str]:
    """Assemble the Markdown, and find the first heading of the highest level on the first pages."""
    compounds = {
        match.lower()
        for page in draft.pages
        for region in page
        for line in region
        if "-" in line.plain
        for match in _COMPOUNDS.findall(line.plain)
    }
    parts: list[str] = []
    title, best = "", 7
    carried: Block | None = None
    for number, page in enumerate(draft.pages, 1):
        page_blocks = [block for region in page for block in blocks(region, compounds, code=not headings.typewritten)]
        if carried is not None and page_blocks and page_blocks[0].kind == "text":
            _join_across_pages(carried, page_blocks, compounds, parts)
        parts.append(f"[page {number}]")
        start = len(parts)
        for text, level, plain in _rendered(page_blocks, headings):
            parts.append(text)
            if level and number <= 2 and level < best:
                title, best = plain, level
        if number in draft.fields:
            parts.append("\n".join(f"- {escape_line(escape_text(value))}" for value in draft.fields[number]))
        last = page_blocks[-1] if page_blocks and number not in draft.fields else None
        carried = last if last is not None and last.broken and last.kind == "text" and len(parts) > start else None
    return "\n\n".join(part for part in parts if part), " ".join(title.split())


def _join_across_pages(before: Block, page_blocks: list[Block], compounds: set[str], parts: list[str]) -> None:
    """Join a word broken across two pages."""
    first, space, tail = page_blocks[0].text.partition(" ")
    if not first[:1].islower():
        return
    parts[-1] = join_broken(parts[-1], first, compounds)
    if space:
        page_blocks[0].text = tail
    else:
        del page_blocks[0]


def _rendered(page_blocks: list[Block], headings: Headings) -> list[tuple[str, int, str]]:
    """Render the blocks of a page as Markdown, each with its heading level and plain text."""
    rows: list[tuple[str, int, str]] = []
    indents: list[float] = []
    for block in page_blocks:
        level = headings.level(block)
        if level:
            text = block.text if block.kind == "text" else f"{block.mark} {block.text}".removeprefix("- ")
            rows.append((f"{'#' * level} {text}", level, block.plain))
            indents = []
        elif block.kind == "item":
            depth = _depth(indents, block.indent)
            item = f"{'  ' * depth}{block.mark} {block.text}".rstrip()
            if depth or len(indents) > 1 or (rows and not rows[-1][1] and _is_item(rows[-1][0])):
                before, _, _plain = rows.pop() if rows and _is_item(rows[-1][0]) else ("", 0, "")
                item = f"{before}\n{item}" if before else item
            rows.append((item, 0, block.plain))
        else:
            rows.append((_MARK.sub(r"\\[page ", block.text) if block.kind != "code" else block.text, 0, block.plain))
            indents = []
    return rows


def _is_item(text: str) -> bool:
    return bool(re.match(r"(?:-|\d{1,3}[.)]) ", text))


def _depth(indents: list[float], indent: float) -> int:
    """Return the nesting depth of an item, and remember the indentations around it."""
    while indents and indents[-1] > indent + 3:
        indents.pop()
    if not indents or indent > indents[-1] + 3:
        indents.append(indent)
    return min(len(indents) - 1, 5)


def _without_text(draft: _PdfDraft, count: int, *, rebuilt: bool) -> UnreadableDocument:
    pages = f"{count:,} page{'s' if count != 1 else ''}"
    if draft.pictures:
        are = "are pictures" if count != 1 else "is a picture"
        return UnreadableDocument(
            "scanned",
            f"The PDF is scanned: its {pages} {are} without text. Look for a version with text.",
        )
    if rebuilt or len(draft.broken) == len(draft.pages):
        return UnreadableDocument(
            "broken", "The PDF is broken: none of its pages can be read. Look for another copy of it."
        )
    hidden = " that is visible" if draft.removed else ""
    return UnreadableDocument("empty", f"The PDF has no text{hidden} on its {pages}.")


def _warnings(draft: _PdfDraft, count: int, furniture: int, *, has_end: bool) -> tuple[str, ...]:
    warnings = []
    if len(draft.pages) < count:
        warnings.append(f"the first {len(draft.pages):,} of {count:,} pages were read")
    if not has_end:
        warnings.append("the end of the file is missing; pages may be missing")
    if draft.broken:
        warnings.append(f"damaged pages left out: {_listed(draft.broken)}")
    if draft.pictures:
        warnings.append(f"pages that are pictures without text: {_listed(draft.pictures)}")
    if draft.recognized:
        warnings.append(f"text recognized in a scan, unseen and perhaps wrong, on pages: {_listed(draft.recognized)}")
    warnings += removal_warning(draft.removed)
    if furniture:
        warnings.append(f"running heads, footers and page numbers removed: {furniture}")
    return tuple(warnings)


def _listed(pages: list[int]) -> str:
    further_pages = len(pages) - _MAX_LISTED_PAGES
    return ", ".join(map(str, pages[:_MAX_LISTED_PAGES])) + (f" and {further_pages} more" if further_pages > 0 else "")


_MAX_LINKS: Final = 500  # of one page
_MAX_URL: Final = 2_000  # bytes
_WEB: Final = re.compile(r"https?://[^\s<>\"]+\Z", re.IGNORECASE)
_LANGUAGE: Final = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}\Z")
_DATE: Final = re.compile(r"(?:D:)?(\d{4})(\d{2})?(\d{2})?")
_NO_TITLE: Final = re.compile(
    r"untitled\b.*|(?:microsoft (?:word|powerpoint|excel)\s*-.*)|document\s*\d*|slide\s*\d*|title|\W*"
    r"|[^\s]+\.(?:docx?|dvi|tex|pdf|indd|qxd|pptx?|xlsx?|odt|rtf|txt|html?|ps|eps|cdr|ai)",
    re.IGNORECASE,
)
_NOBODY: Final = re.compile(r"\W*(?:anonymous|unknown|user|admin(?:istrator)?|unspecified|author)?\W*", re.IGNORECASE)


def read_details(pdf: Pdf) -> Extracted:
    """Return what a file says about itself: when it was made, and when it was last changed if that is a later day."""
    info = pdf.document.get_metadata_dict(skip_empty=True)
    title, author = info.get("Title", "").strip(), info.get("Author", "").strip()
    published = _day(info.get("CreationDate", ""))
    return Extracted(
        kind="document",
        title="" if _NO_TITLE.fullmatch(title) else title,
        author=None if _NOBODY.fullmatch(author) else author,
        published=published,
        modified=later_day(_day(info.get("ModDate", "")), published),
        language=_language(pdf),
    )


def add_links(page: PdfPage, words: Sequence[Word]) -> None:
    """Tell the words of a page where they lead; their places are as on the sheet."""
    raw, document = page.pdf.raw, page.pdf.document
    position, link, box = ctypes.c_int(0), ctypes.c_void_p(), raw.FS_RECTF()
    for _ in range(_MAX_LINKS):
        if not raw.FPDFLink_Enumerate(page.handle, ctypes.byref(position), ctypes.byref(link)):
            return
        address = _address(raw, document, link)
        if not address or not raw.FPDFLink_GetAnnotRect(link, ctypes.byref(box)):
            continue
        left, right = min(box.left, box.right), max(box.left, box.right)
        bottom, top = min(box.bottom, box.top), max(box.bottom, box.top)
        for word in words:
            if left <= word.center <= right and bottom <= word.middle <= top:
                word.link = address


def _address(raw: Any, document: Any, link: Any) -> str:
    buffer = ctypes.create_string_buffer(_MAX_URL)
    raw.FPDFAction_GetURIPath(document, raw.FPDFLink_GetAction(link), buffer, _MAX_URL)
    address = buffer.value.decode("utf-8", "replace").strip()
    return address if _WEB.match(address) else ""


def _language(pdf: Pdf) -> str | None:
    buffer = ctypes.create_string_buffer(100)
    pdf.raw.FPDFCatalog_GetLanguage(pdf.document, buffer, 100)
    language = buffer.raw.decode("utf-16-le", "replace").partition("\0")[0]
    return language if _LANGUAGE.match(language) else None


def _day(value: str) -> str | None:
    """Return the day of a date in a PDF's own form (ISO 32000-1, 7.9.4)."""
    match = _DATE.match(value)
    return iso_date("-".join((match[1], match[2] or "01", match[3] or "01"))) if match is not None else None
