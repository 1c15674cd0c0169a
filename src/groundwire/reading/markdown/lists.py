"""Lists, definition lists, footnotes, and margin notes as Markdown, with the references whose note is on the page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Final
from urllib.parse import unquote

from turbohtml import Element, Node, Text

from groundwire.reading.markdown.writer import MarkdownWriter

_BULLETS: Final = frozenset("\u2022\u2023\u25e6\u25aa\u25cf\u25cb\u00b7\u2013\u2014-*")
_MAX_NUMBER: Final = 999_999_999  # CommonMark allows nine digits
_MAX_SEARCHES: Final = 20_000  # definition lists that are inspected
_MARKED_REFERENCES: Final = (
    'a[role="doc-noteref"], a.footnote-ref, a.footnote-reference, a.footnote-anchor, a.noteref, a[data-footnote-ref],'
    ' a[epub\\:type~="noteref"], a[href*="#_ftn"]'
)
_REFERENCES: Final = f'sup a[href*="#"], a[href*="#"] sup, {_MARKED_REFERENCES}'
_NUMBER: Final = re.compile(r"[\[(]?\d{1,4}[\])]?|[\u21a9\u2191^\u21b5\u2934]\ufe0e?\s*\d{1,3}")
_DIGITS: Final = re.compile(r"[\[(]?(\d{1,4})[\])]?")
_NOTE_CLASS: Final = re.compile(r"(?:foot|end)-?_?note", re.IGNORECASE)
_NOTES: Final = re.compile(r"(?:foot|end)?notes?|references(?: and notes)?|notes and references", re.IGNORECASE)
_FIRST_STRINGS: Final = 5  # of an element that may begin with a number
_MAX_SIBLINGS: Final = 200
_INLINE: Final = frozenset(
    {
        "a", "abbr", "b", "big", "cite", "code", "del", "em", "font", "i", "ins", "kbd", "label", "mark", "q", "s",
        "samp", "small", "span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var",
    }
)  # fmt: skip
_SIDENOTES: Final = "span.sidenote, span.marginnote, span.footnoteContent, span.footnote-content"
_MAY_HAVE_NOTES: Final = f'sup, a[href*="#"], [data-definition], {_SIDENOTES}'
_ANCHORS: Final = 'a[id], a[name], a[href*="ref"], span[id], sup[id]'
_LABEL: Final = re.compile(r"\[?\s*([\w*\u2020\u2021.-]{1,20}(?: \d{1,4})?)\s*\]?")
_BACK_ARROWS: Final = frozenset("\u21a9\u2191^\u2b06\u21b5\u2934\u23ce\u21e7\u2912")
_MAX_NOTES: Final = 5_000
HOLDERS: Final = frozenset({"li", "p", "div", "aside", "dd", "dt"})
"""The elements that a footnote may be."""
_HEADINGS: Final = ("h1", "h2", "h3", "h4", "h5", "h6")
_APART: Final = ("ul", "ol", "dl", "table", "pre", "blockquote", *_HEADINGS)
_PERMALINK: Final = re.compile(
    r"(?:^|\s)(?:headerlink|header-anchor|heading-anchor|heading-link|anchor(?:js)?-?link|anchor|permalink|hash-link|direct-link)(?=\s|$)"
)
_PERMALINK_TEXT: Final = frozenset(
    {"", "#", "\u00b6", "\u00a7", "\u25c6", "\U0001f517", "\u200b", "Link", "link", "\ue157", "Anchor"}
)


def footnotes(root: Element) -> dict[str, str]:
    """Return the labels of the footnotes with a reference on the page, by the id of the note's element.

    A reference is marked as one, or a link of digits right after a word to a text that begins with the number. Notes
    without an id get one, and lose the number that they begin with.

    Args:
        root: The element to serialize.
    """
    if root.select_one(_MAY_HAVE_NOTES) is None:  # as most pages
        return {}
    _link_notes(root)
    labels = _marked_notes(root)
    plain = _plain_marks(root, labels)
    labels |= plain
    if not labels:
        return {}
    holders = _note_holders(root, labels)
    places: dict[Element, int] = {}
    for target in plain:
        if target in holders and not _begins_with(holders[target], labels[target], places):
            del holders[target]
    present = {target: label for target, label in labels.items() if target in holders}
    for target, label in present.items():
        _drop_number(holders[target], label)
    for link in root.select('a[href*="#"]') if present else ():  # with the address of the page, too
        address, _, fragment = (link.attr("href") or "").partition("#")
        target = unquote(fragment)
        if address and target in present:
            link.attrs["href"] = f"#{fragment}"
        if target in plain and target in present and _DIGITS.fullmatch(link.text.strip()):
            link.attrs["role"] = "doc-noteref"  # without its number, the note no longer shows what the link is
    return present


def _marked_notes(root: Element) -> dict[str, str]:
    """Return the labels of the links that are marked as references to notes, by their targets."""
    labels: dict[str, str] = {}
    for reference in root.select(_MARKED_REFERENCES if root.find("sup") is None else _REFERENCES):
        link = reference.closest("a") or reference
        target = unquote((link.attr("href") or "").partition("#")[2])
        label = note_label(link.text) if target and target not in labels else ""
        if label and len(labels) < _MAX_NOTES:
            labels[target] = label
    return labels


def _note_holders(root: Element, labels: Mapping[str, str]) -> dict[str, Element]:
    """Return the elements of notes by their ids; those that only an anchor names get its id."""
    ids = ", ".join(f"{tag}[id]" for tag in sorted(HOLDERS))
    found = {name: element for element in root.select(ids) if (name := element.attr("id") or "") in labels}
    holders = {name: _described(element, labels) for name, element in found.items()}
    missing = labels.keys() - holders.keys()
    for anchor in root.select(_ANCHORS) if missing else ():
        back = (anchor.attr("href") or "").partition("#")[2].replace("ref", "")
        for target in (anchor.attr("id") or "", anchor.attr("name") or "", back):
            if target in missing and (holder := _holder(anchor, labels[target], root)) is not None:
                missing.discard(target)
                part = _part_from(anchor, holder) if (holder.attr("id") or "") in labels else holder
                if part is not None:
                    part.attrs["id"] = target
                    holders[target] = part
    return holders


def _described(note: Element, labels: Mapping[str, str]) -> Element:
    """Return what has all of a note: of a term, itself and its description, or only that if the term is the number."""
    name = note.attr("id") or ""
    below = next((node for node in note.next_siblings if isinstance(node, Element)), None)
    if note.tag != "dt" or below is None or below.tag != "dd" or below.attr("id") in labels:
        return note
    if note_label(note.text) == labels[name]:  # as docutils wrote
        note.extract()
        below.attrs["id"] = name
        return below
    both = Element("div", {"id": name})
    note.insert_before(both)
    del note.attrs["id"]
    both.extend([note, below])
    return both


def _unique(texts: Mapping[str, str]) -> dict[str, str]:
    """Return a label for each text of a reference; equal ones, as when each part has its own count, get a number."""
    labels, counts = dict[str, str](), Counter[str]()
    for target, text in texts.items():
        counts[text] += 1
        labels[target] = text if counts[text] == 1 else f"{text}-{counts[text]}"
    return labels


def _part_from(anchor: Element, holder: Element) -> Element | None:
    """Split a paragraph with several notes before the anchor of one of them; return its note."""
    if anchor.parent != holder or not _begins_line(anchor):
        return None
    part = Element("p", {}, [anchor, *list(anchor.next_siblings)])
    holder.insert_after(part)
    return part


def _link_notes(root: Element) -> None:
    """Link marks to their notes where a page has no links: raised numbers, and what a script opens."""
    for mark in root.select("[data-definition]"):
        if (link := mark.find("a")) is not None:
            link.attrs["href"], link.attrs["role"] = f"#{mark.attr('data-definition')}", "doc-noteref"
    for link in root.select("sup a[id*=ref]"):
        if "#" not in (link.attr("href") or ""):
            link.attrs["href"] = f"#{(link.attr('id') or '').replace('ref', '')}"
    for note in root.select(_SIDENOTES):
        _drop_mark(note)
    marks: dict[str, list[Element]] = {}
    for raised in root.find_all("sup"):
        number = raised.text.strip(" []()\n")
        if _DIGITS.fullmatch(number) and raised.find("a") is None and raised.closest("a") is None:
            marks.setdefault(number, []).append(raised)
    notes = _loose_notes(root, marks) if marks else {}
    for number, note in notes.items():
        own = [mark for mark in marks[number] if note not in set(mark.ancestors)]
        apart = [mark for mark in own if not text_before(mark)[-1:].isdigit()]  # an exponent, otherwise
        name = note.attr("id") or f"note-{number}"
        for mark in apart or own:
            mark.clear()
            mark.append(Element("a", {"href": f"#{name}"}, [Text(number)]))
            note.attrs["id"] = name


def _drop_mark(note: Element) -> None:
    """Remove the number before a note within text, which may be a label that shows it, and the one in the note."""
    for node in islice(note.previous_siblings, _FIRST_STRINGS):
        if text := node.text.strip():
            is_mark = not isinstance(node, Element) or (node.tag in {"label", "sup"} and node.find("a") is None)
            if is_mark and _DIGITS.fullmatch(text):
                node.extract()
            break
    if (first := note.find("sup")) is not None and _DIGITS.fullmatch(first.text.strip()):
        _drop_number(note, first.text.strip())


def _loose_notes(root: Element, marks: Container[str]) -> dict[str, Element]:
    """Return the notes that begin with a number, or are items of a list of notes, by their numbers."""
    notes: dict[str, Element] = {}
    for first in root.select("p > sup, p > strong, p > b, div > sup, li > sup, b > sup"):
        note, number = first.parent, first.text.strip(" []().\n")
        if isinstance(note, Element) and note.tag == "b":
            note = note.parent
        if number not in marks or not isinstance(note, Element) or note.tag not in HOLDERS:
            continue
        text = "".join(islice(note.strings, _FIRST_STRINGS)).strip(" \n\t[(")
        is_named = bool(_NOTE_CLASS.search(note.attr("class") or ""))
        if (
            text.startswith(number)
            and len(text) > len(number)
            and (first.tag == "sup" or is_named or _is_after_rule(note))
        ):
            notes.setdefault(number, note)
    for ordered in root.find_all("ol") if not notes else ():
        if ordered.closest("aside") is not None or _is_of_notes(ordered):
            for item, place in numbered(ordered):
                if str(place) in marks and item.select_one('a[href*="ref"]') is None:
                    notes.setdefault(str(place), item)
    return notes


def _is_after_rule(note: Element) -> bool:
    return any(isinstance(node, Element) and node.tag == "hr" for node in islice(note.previous_siblings, _MAX_SIBLINGS))


def _is_of_notes(ordered: Element) -> bool:
    """Return whether a list is named as one of notes, or right below a heading that is."""
    named = (ordered, ordered.parent)
    if any(isinstance(element, Element) and _NOTE_CLASS.search(element.attr("class") or "") for element in named):
        return True
    above = next((node for node in ordered.previous_siblings if isinstance(node, Element)), None)
    return above is not None and _NOTES.fullmatch(above.text[: _FIRST_STRINGS * 10].strip()) is not None


def numbered(ordered: Element) -> Iterator[tuple[Element, int]]:
    """Yield the items of a list with their numbers."""
    items = [item for item in ordered if isinstance(item, Element) and item.tag == "li"]
    step = -1 if ordered.attr("reversed") is not None else 1
    number = _number(ordered.attr("start"), len(items) if step < 0 else 1)
    for item in items:
        number = _number(item.attr("value"), number)
        yield item, number
        number += step


def _plain_marks(root: Element, labels: Container[str]) -> dict[str, str]:
    """Return the labels of links of digits right after a word, by their targets."""
    plain: dict[str, str] = {}
    for link in root.select('a[href*="#"]'):
        target, match = unquote((link.attr("href") or "").partition("#")[2]), _DIGITS.fullmatch(link.text.strip())
        if not target or match is None or target in labels or target in plain or len(plain) >= _MAX_NOTES:
            continue
        before = text_before(link)
        if link.text.strip()[0] in "[(" or before[-1:].strip() or before.endswith((", ", "; ")):
            plain[target] = match[1]
    return plain


def text_before(mark: Element) -> str:
    """Return the text right before an element in its line."""
    node: Node = mark
    while True:
        before = node.previous_sibling
        if isinstance(before, Text) and before.data:
            return before.data
        if isinstance(before, Element) and before.tag in _INLINE:
            return before.text
        around = node.parent
        if before is not None or not isinstance(around, Element) or around.tag not in _INLINE:
            return ""
        node = around


def _begins_with(holder: Element, label: str, places: dict[Element, int]) -> bool:
    """Return whether a note begins with its number, or has it in its list.

    Args:
        holder: The note.
        label: The number.
        places: The numbers of the items of lists so far; each list is counted once.
    """
    text = "".join(islice(holder.strings, _FIRST_STRINGS)).lstrip(" \n\t[(")
    if text.startswith(label) and not text[len(label) :][:1].isdigit():
        return True
    around = holder.parent
    if holder.tag == "li" and holder not in places and isinstance(around, Element) and around.tag == "ol":
        places.update(numbered(around))
    return str(places.get(holder, "")) == label


def _drop_number(holder: Element, label: str) -> None:
    """Remove the number at the beginning of a note; items of a list have none in their text."""
    around = holder.parent
    if holder.tag == "li" and isinstance(around, Element) and around.tag == "ol":
        return
    for node in islice(holder.descendants, 2 * _FIRST_STRINGS):
        if isinstance(node, Text) and node.data.strip():
            inside = node.parent
            if isinstance(inside, Element) and not inside.attr("href"):
                start = re.match(rf"\s*[\[(]?{re.escape(label)}(?!\w)[\])]?[.:]?\s*", node.data)
                if start is None:
                    return
                tail = node.data[start.end() :]
                node.replace_with(Text(tail))
                if not tail and isinstance(inside.next_sibling, Text):
                    inside.next_sibling.replace_with(Text(inside.next_sibling.data.lstrip()))
            return


def note_label(text: str) -> str:
    """Return the label of a reference to a note, or "" if its text is not one."""
    match = _LABEL.fullmatch(text.strip())
    return match[1].replace(" ", "-") if match else ""


def _holder(anchor: Element, label: str, root: Element) -> Element | None:
    """Return the element of a note of which, as in Word, Google Docs and Substack, only an anchor in it has an id."""
    for around in anchor.ancestors:
        if not isinstance(around, Element) or around == root:
            return None
        if around.tag in _HEADINGS:  # as in manuals by Texinfo
            note = next((node for node in around.next_siblings if isinstance(node, Element)), None)
            if note is None or note.tag not in HOLDERS or not _NOTE_CLASS.search(around.attr("class") or ""):
                return None
            around.extract()
            return note
        if around.tag in HOLDERS:
            first = anchor.parent == around and _begins_line(anchor) and not anchor.attr("href")
            return around if first or around.text.lstrip().startswith(anchor.text.strip() or label) else None
    return None


def _begins_line(anchor: Element) -> bool:
    """Return whether an anchor is at the beginning of its block, or after a line break in it."""
    before = next((node for node in anchor.previous_siblings if not isinstance(node, Text) or node.data.strip()), None)
    return before is None or (isinstance(before, Element) and before.tag == "br")


def is_backlink(link: Element) -> bool:
    """Whether a link inside a note only leads back to its reference, according to its text or role."""
    return (link.attr("role") or "") == "doc-backlink" or _NUMBER.fullmatch(link.text.strip()) is not None


def is_back_reference(text: str) -> bool:
    """Whether a link's text is only the arrow of a backlink."""
    return text.rstrip("\ufe0e\ufe0f") in _BACK_ARROWS


def is_permalink(link: Element, reference: str, *, in_heading: bool) -> bool:
    """Whether a link only exists to copy the URL of a heading.

    Args:
        link: The link.
        reference: Its address, as written; "" if it has none.
        in_heading: Whether it is in a heading.
    """
    classes = link.attr("class")
    if classes and ("link" in classes or "anchor" in classes) and _PERMALINK.search(classes):
        return link.text.strip() in _PERMALINK_TEXT
    if not reference or "#" not in reference:
        return False
    if in_heading:
        return link.text.strip() in _PERMALINK_TEXT
    return reference[0] == "#" and link.text == "\u00b6"  # RFCs have one after every paragraph


Close = Callable[[], None]
"""Ends what a handler has started."""


class Notes:
    """Opens footnote definitions.

    Args:
        root: The element to serialize.
        writer: The output.
    """

    def __init__(self, root: Element, writer: MarkdownWriter) -> None:
        self.texts: dict[str, str] = footnotes(root)
        """The text of the references to each footnote, by the id of the element that defines it."""
        self.labels: dict[str, str] = _unique(self.texts)
        """The label of each footnote, the same by its id."""
        self.depth: int = 0
        """The nesting depth of definitions."""
        self._writer = writer

    def define(self, label: str) -> Close:
        """Open a footnote definition."""
        if not self._writer.open_container(f"[^{label}]: ", "    "):
            return self._writer.flush
        self.depth += 1

        def close() -> None:
            self.depth -= 1
            self._writer.close_container()

        return close


@dataclass(slots=True)
class _List:
    numbers: dict[Element, int] | None
    """Of the items; None for bullets."""
    width: int
    """Of the marker of the last item."""


class Lists:
    """Opens lists, their items, terms and definitions.

    Args:
        writer: The output.
    """

    def __init__(self, writer: MarkdownWriter) -> None:
        self._writer = writer
        self._marker = ""
        self._lists: list[_List] = []
        self._terms: list[bool] = []
        self._in_term = False
        self._headed = False
        self._searches = 0

    @property
    def inside(self) -> bool:
        """Whether a list is open."""
        return bool(self._lists)

    def repeats_marker(self, element: Element) -> bool:
        """Whether an element at the start of an item only repeats the list marker."""
        if self._writer.line or not self._lists or getattr(element.parent, "tag", "") != "li":
            return False
        if any(node.text.strip() for node in islice(element.previous_siblings, _FIRST_STRINGS)):
            return False
        text = element.text.strip()
        return text in _BULLETS or text == self._marker

    def list_(self, element: Element) -> Close:
        """Start a list."""
        writer, around = self._writer, element.parent
        writer.flush()
        numbers, indented = dict(numbered(element)) if element.tag == "ol" else None, False
        if self._lists and isinstance(around, Element) and around.tag in {"ul", "ol", "menu"}:
            indent = " " * self._lists[-1].width
            indented = writer.open_container(indent, indent, tight=True)
        self._lists.append(_List(numbers, 2 if numbers is None else 3))
        if len(self._lists) > 1 and (not numbers or next(iter(numbers.values())) == 1):
            writer.next_tight()

        def close() -> None:
            self._lists.pop()
            if indented:
                writer.close_container()
            else:
                writer.flush()

        return close

    def item(self, element: Element) -> Close:
        """Start an item."""
        writer, marker = self._writer, "- "
        writer.flush()
        if self._lists and (numbers := self._lists[-1].numbers) is not None:
            number = numbers.setdefault(element, next(reversed(numbers.values()), 0) + 1)  # if it is not right below it
            marker = f"{max(0, min(number, _MAX_NUMBER))}. "
            self._lists[-1].width = len(marker)
        if writer.in_cell:
            writer.bullet = "\u2022 " if marker == "- " else marker
            return writer.flush
        self._marker = marker.strip()
        opened = writer.open_container(marker, " " * len(marker), tight=_follows_item(element))
        return writer.close_container if opened else writer.flush

    def definitions(self, element: Element) -> Close:
        """Open a definition list; without terms, as some wikis use it to indent, it is not one."""
        self._writer.flush()
        self._searches += 1
        self._terms.append(self._searches <= _MAX_SEARCHES and element.find("dt") is not None)

        def close() -> None:
            self._terms.pop()
            self._writer.flush()

        return close

    def term(self, element: Element) -> Close:
        """Start a term."""
        writer = self._writer
        writer.flush()
        if self._in_term:
            return writer.flush
        self._in_term = True
        self._headed = next(element.iter_elements(_HEADINGS), None) is not None
        marked = (
            not self._headed
            and element.find("code") is None
            and element.find("strong") is None
            and writer.open_mark("strong")
        )

        def close() -> None:
            self._in_term = False
            if marked:
                writer.close_mark()
            writer.flush()

        return close

    def definition(self, element: Element) -> Close:
        """Start a definition."""
        writer = self._writer
        writer.flush()
        if self._headed or writer.in_cell or not (self._terms and self._terms[-1]) or not _is_line(element):
            return writer.flush
        if sum(1 for child in element if type(child) is Element and child.tag == "p") > 1:
            opened = writer.open_container(": ", "  ", tight=True)
            return writer.close_container if opened else writer.flush
        writer.lead = ": "

        def close() -> None:
            writer.flush()
            writer.lead = ""

        return close


def _number(value: str | None, default: int) -> int:
    text = (value or "").strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 9 else default


def _follows_item(element: Element) -> bool:
    """Whether the previous element is an item of the same list."""
    for node in element.previous_siblings:
        if type(node) is Element:
            return node.tag in {"li", "ul", "ol"}
    return False


def _is_line(element: Element) -> bool:
    """Whether a definition begins with text, not with a list, a table or code."""
    for node in element:
        if type(node) is Element:
            return node.tag not in _APART and not (node.tag == "div" and any(node.iter_elements((*_APART, "div"))))
        if type(node) is Text and not node.data.isspace():
            return True
    return False
