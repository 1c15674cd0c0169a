"""Writing as tags and text what a page means by its appearance.

What style sheets raise, strike, number or add, what icons and pictures say in a sentence or a table, lines of code that
are boxes, and the drawing of a value in pieces: after this, the tree alone says it. Runs before the main content is
selected, so that it counts there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Final

from turbohtml import Comment, Document, Element, Node, Text

from groundwire.reading.css.cascade import Styles
from groundwire.reading.css.values import pixels, ratio
from groundwire.reading.markdown.lists import numbered, text_before
from groundwire.reading.text.numerals import numeral
from groundwire.reading.visibility.hidden_styles import BLOCKS

_MAX_MARK: Final = 12  # characters of a text that is raised or lowered as a mark, not for its looks
_SMALL_RATIO: Final = 0.9  # of the font size around
_MIN_SHIFT: Final = 2.0  # pixels
_MAX_PIECES: Final = 50  # strings of an element that are looked at
_NUMERALS: Final[Mapping[str, str]] = {
    "a": "lowerAlpha", "A": "upperAlpha", "i": "lowerRoman", "I": "upperRoman", "lower-alpha": "lowerAlpha",
    "lower-latin": "lowerAlpha", "upper-alpha": "upperAlpha", "upper-latin": "upperAlpha", "lower-roman": "lowerRoman",
    "upper-roman": "upperRoman",
}  # fmt: skip
"""The form of a list's numerals by its `type` or style; see `numeral`."""
_PRESERVED: Final = frozenset({"pre", "pre-wrap", "pre-line", "break-spaces"})
_BOX: Final = re.compile(r"(?:block|flex|grid|table|table-row|list-item)")


def write_appearance(document: Document, styles: Styles) -> tuple[tuple[Text, Text], ...]:
    """Write what a page says by its styles, pictures and boxes.

    Args:
        document: The page, without invisible parts; modified in place.
        styles: Its styles.

    Returns:
        The texts before and after each picture with a description that is not written.
    """
    _write_generated(styles)
    for element, style in styles.where(_gives_meaning):
        if not (text := _beginning(element)):
            continue
        if (name := _script_of(element, style, text)) and element.closest("sup, sub, pre") is None:
            element.wrap_children(Element(name))
        if "line-through" in style.get("text-decoration-line", "") and element.tag not in {"html", "body"}:
            _strike(element)
        if (kind := _list_type(style)) and element.tag in {"ol", "li"}:
            ordered = element if element.tag == "ol" else element.parent
            if isinstance(ordered, Element) and ordered.tag == "ol":
                ordered.attrs["type"] = kind
        if style.get("white-space") in _PRESERVED and element.tag not in {"pre", "textarea", "code"}:
            _keep_lines(element, style["white-space"], styles)
    for ordered in document.find_all("ol"):
        if form := _NUMERALS.get((ordered.attr("type") or "").strip()):
            _write_letters(ordered, form)
    _join_fractions(document)
    for element, style in styles.where(lambda s: s.get("float") == "right" or bool(_BOX.match(s.get("display", "")))):
        for box in (element, *(element if style.get("display", "").startswith(("flex", "grid")) else ())):
            if isinstance(box, Element) and box.tag not in BLOCKS:
                _set_apart(box)
    _write_lines(document, styles)
    described = _write_labels(document)
    for button in document.find_all("button"):  # a heading that opens its section
        around = button.parent
        if isinstance(around, Element) and around.tag in _HEADINGS and _has_section(around):
            button.tag = "span"
    return tuple(described)


_MIN_PROSE: Final = 40  # characters
_HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})


def _has_section(heading: Element) -> bool:
    """Return whether prose follows a heading, as an answer does, and not the fields of a filter."""
    node: Element = heading
    for _ in range(3):
        below = next((beside for beside in node.next_siblings if isinstance(beside, Element)), None)
        if below is not None:
            links = sum(len(link.text) for link in islice(below.find_all("a"), _MAX_PIECES))
            return len(_beginning(below)) >= _MIN_PROSE > links and below.select_one("label, button") is None
        if not isinstance(node.parent, Element):
            break
        node = node.parent
    return False


def _gives_meaning(style: Mapping[str, str]) -> bool:
    """Return whether a style may give a text another meaning."""
    align = style.get("vertical-align", "0")
    return (
        (align[0] != "0" and align not in {"baseline", "initial", "inherit", "unset"})
        or "line-through" in style.get("text-decoration-line", "")
        or _list_type(style) != ""
        or style.get("top", "").startswith("-")
        or style.get("white-space") in _PRESERVED
    )


def _list_type(style: Mapping[str, str]) -> str:
    """Return the style of a list whose items have letters or Roman numerals; "" of any other."""
    return next((word for word in style.get("list-style-type", "").split() if word in _NUMERALS), "")


def _beginning(element: Element) -> str:
    """Return the beginning of an element's text, with single spaces, without visiting all of it."""
    return " ".join(" ".join(islice(element.strings, _MAX_PIECES)).split())


def _script_of(element: Element, style: Mapping[str, str], text: str) -> str:
    """Return `sup` or `sub` for a short inline text that a style raises or lowers, else ""."""
    if len(text) > _MAX_MARK or element.tag in BLOCKS or _BOX.match(style.get("display", "")):
        return ""
    align, top = style.get("vertical-align", ""), style.get("top", "")
    if align in {"super", "sub"}:
        return {"super": "sup"}.get(align, align)
    if not _is_small(style.get("font-size", "")):
        return ""
    raised = align in {"top", "text-top"} and text.isdigit() and text_before(element)[-1:].isalnum()
    shift = pixels(align, 16.0) or 0.0
    if style.get("position") == "relative":
        shift -= pixels(top, 16.0) or 0.0
    return "sup" if raised or shift >= _MIN_SHIFT else "sub" if shift <= -_MIN_SHIFT else ""


def _is_small(size: str) -> bool:
    if size in {"smaller", "small", "x-small", "xx-small"}:
        return True
    share = ratio(size.removesuffix("em")) if size.endswith("em") and not size.endswith("rem") else ratio(size)
    return share is not None and ("%" in size or size.endswith("em")) and share < _SMALL_RATIO


_CELLS: Final[Mapping[str, tuple[str, ...]]] = {
    "table": ("td", "th"), "tbody": ("td", "th"), "tr": ("td", "th"), "ul": ("li",), "ol": ("li",)
}  # fmt: skip


def _strike(element: Element) -> None:
    """Mark the text of an element as struck; in tables and lists, that of each cell and item."""
    if element.closest("del, s, strike") is not None:
        return
    for part in element.iter_elements(_CELLS[element.tag]) if element.tag in _CELLS else (element,):
        if _beginning(part):
            part.wrap_children(Element("del"))


def _write_letters(ordered: Element, form: str) -> None:
    """Write the letters or Roman numerals of a list into its items, which then need no numbers."""
    ordered.tag = "ul"
    for item, number in numbered(ordered):
        first = item
        while (inner := _first_block(first)) is not None:
            first = inner
        first.insert(0, Text(f"{numeral(number, form)}. "))


def _first_block(item: Element) -> Element | None:
    """Return the block at the beginning of an item."""
    first = next((node for node in item if isinstance(node, Element) or node.text.strip()), None)
    return first if isinstance(first, Element) and first.tag in {"p", "div", "section"} else None


_JOINT: Final = re.compile(r"\w[\w(\[{#@$\u20ac\u00a3\u00ab\u201c]|[.:;!?%)\]}\u00bb\u201d][^\W\d_]")
"""The end of a text and the beginning of the next that are two words, however near they are in the source."""


def _set_apart(box: Element) -> None:
    """Put a space between the words of an inline element that is a block, but for an initial, and those beside it."""
    text, sides = box.text.strip(), (box.previous_siblings, box.next_siblings)
    beside = (next((node for node in side if not isinstance(node, Comment)), None) for side in sides)
    before, after = ("" if node is None or getattr(node, "tag", "") in BLOCKS else node.text for node in beside)
    if len(text) > 1 and (before or after) and box.closest("pre, code, math") is None:
        if _JOINT.match(before[-1:] + text[0]):
            box.insert_before(Text(" "))
        if _JOINT.match(text[-1] + after[:1]):
            box.insert_after(Text(" "))


_SLASHES: Final = frozenset({"\u2044", "\u2215", "/"})


def _join_fractions(document: Document) -> None:
    """Write a raised number, a slash and a lowered number as one fraction, apart from a whole number before it."""
    for raised in [*document.find_all("sup"), *document.select("span.num")]:
        upper, around = raised, raised.parent
        while upper.next_sibling is None and isinstance(around, Element) and around.tag == "span":
            upper, around = around, around.parent
        slash = upper.next_sibling
        lower = slash.next_sibling if slash is not None else None
        if slash is None or not isinstance(lower, Element) or slash.text.strip() not in _SLASHES:
            continue
        if not (lower.tag == "sub" or lower.has_class("den") or lower.find("sub") is not None):
            continue
        above, below = upper.text.strip(), lower.text.strip()
        if above.isdigit() and below.isdigit():
            space = " " if text_before(upper)[-1:].isdigit() else ""
            slash.extract()
            lower.extract()
            upper.replace_with(Text(f"{space}{above}/{below}"))


_STRINGS: Final = re.compile(r"\"([^\"]*)\"|'([^']*)'|attr\(\s*([\w-]+)\s*\)|/.*|(\S)")
_MAX_GENERATED: Final = 40  # characters
_MAX_SIDES: Final = 5_000
_VALUE: Final = re.compile(r"[+\u2212-]?[\d.,'\u00a0\u202f ]*\d[\d.,%]*")
_UNIT: Final = re.compile(
    r"[+\u2212\u00b1~\u2248<>\u2264\u2265\u00d7%\u2030\u00b0-]|[^\W\d_]{1,12}|\p{Sc}".replace(
        r"\p{Sc}", "[$\u00a2-\u00a5\u20a0-\u20c0]"
    )
)
_WORD: Final = re.compile(r"[^\W_][^\W_]")
_CONTROLS: Final = "a, button, label, summary, nav"


def _write_generated(styles: Styles) -> None:
    """Write the texts that rules add before and after elements: signs and units of numbers, and words."""
    for (element, side), (_, content) in islice(styles.generated.items(), _MAX_SIDES):
        added = _generated(element, content)
        if not added or element.parent is None or element.tag in {"html", "body", "head"}:
            continue
        own = _beginning(element)
        if _VALUE.fullmatch(own):
            adds_meaning = _UNIT.fullmatch(added.strip(" .:")) is not None
        elif own or element.closest("td, th") is None:
            adds_meaning = bool(_WORD.search(added)) and element.closest(_CONTROLS) is None
        else:
            adds_meaning = True  # the only sign of a cell
        if adds_meaning and side == "before":
            element.insert(0, Text(added))
        elif adds_meaning:
            element.append(Text(added))


def _generated(element: Element, content: str) -> str:
    """Return the text of a value of `content`; "" if it has more than strings and attributes, or is long."""
    text = ""
    for double, single, name, other in _STRINGS.findall(content):
        if other:
            return ""
        text += (element.attr(name) or "") if name else double or single
    text = " ".join(text.replace("\ufffd", " ").split(" ")) if len(text) <= _MAX_GENERATED else ""
    return text if text.strip() and text.isprintable() else ""


_LINE_BREAK: Final = re.compile(r"(?:(?<![ \t])[ \t]+)?\n[ \t]*")
_INDENTED_LINE: Final = re.compile(r"(?:\A|\n)(?: {2,}|\t)\S")
_MONOSPACE: Final = re.compile(r"mono|courier|consolas|menlo|\bcode\b", re.IGNORECASE)
_MAX_CODE: Final = 20_000  # characters


def _keep_lines(element: Element, space: str, styles: Styles) -> None:
    """Keep the lines of a text in which a style preserves white space; one that is laid out as code becomes code."""
    texts = [node for node in element.descendants if isinstance(node, Text)]
    if not any("\n" in node.data.strip() or node.data[:1] in {" ", "\t", "\n"} for node in texts):
        return
    looks = f"{element.attr('class')} {element.attr('style')}"
    lines = "\n".join(node.data for node in texts)
    fixed = _MONOSPACE.search(looks) is not None or (space == "pre" and _INDENTED_LINE.search(lines) is not None)
    is_box = element.tag in {"div", "p", "section"} and "\n" in lines and len(lines) <= _MAX_CODE
    if fixed and is_box and element.select_one("p, pre") is None and element.closest("pre, code") is None:
        element.tag = "pre"
        return
    for node in texts:
        around = node.parent
        if "\n" not in node.data.strip() or not isinstance(around, Element):
            continue
        if around != element and styles.get(around).get("white-space", space) not in _PRESERVED:
            continue
        first, *others = _LINE_BREAK.split(node.data)
        node.replace_with(Text(first), *(part for line in others for part in (Element("br"), Text(line))))


def _write_lines(document: Document, styles: Styles) -> None:
    """Write the ends of lines of code that a style lays out as boxes, and take out line numbers."""
    codes = [*document.find_all("pre"), *(code for code in document.find_all("code") if code.closest("pre") is None)]
    for code in codes:
        boxes, numbers = list[Element](), list[Element]()
        for element in code.descendants:
            if not isinstance(element, Element) or element.tag not in _TOKENS:
                continue
            style, around = styles.get(element), element.parent
            outer = styles.get(around).get("display", "") if isinstance(around, Element) else ""
            if style.get("user-select") == "none" and _beginning(element).replace(" ", "").isdigit():
                numbers.append(element)
            elif outer[-4:] != "flex" and (
                ("grid" in outer and around != code.parent) or _BOX.match(style.get("display", ""))
            ):
                boxes.append(element)
        for number in numbers:
            number.extract()
        for box in boxes:
            _end_line(box)
        if code.tag == "pre":
            if (gutter := _gutter(code)) is not None:
                gutter.extract()
        elif len(boxes) > 1:
            code.tag = "pre"


_TOKENS: Final = frozenset({"span", "a", "i", "b", "mark", "em", "strong", "ins", "del", "td"})


def _end_line(box: Element) -> None:
    """Write a line break at the end of a box, and before it if other text is there."""
    before, after, text = text_before(box)[-1:], box.next_sibling, "".join(box.strings)
    if before not in {"", "\n"}:
        box.insert(0, Text("\n"))
    if not text.endswith("\n") and not (isinstance(after, Text) and after.data.startswith("\n")):
        box.append(Text("\n"))


def _gutter(pre: Element) -> Element | None:
    """Return what has the numbers of a code block's lines, before it or before what holds only it."""
    node: Element = pre
    for _ in range(3):
        before = next((beside for beside in node.previous_siblings if isinstance(beside, Element)), None)
        if before is not None:
            return before if _counts_up(before) else None
        around = node.parent
        if not isinstance(around, Element) or around.tag in {"body", "main", "article", "li"}:
            return None
        node = around
    return None


def _counts_up(element: Element) -> bool:
    """Return whether the text of an element is at least two consecutive numbers."""
    words = _beginning(element).split()
    if len(words) < 2 or not all(word.isascii() and word.isdigit() and len(word) < 7 for word in words):
        return False
    numbers = [*map(int, words)]
    return numbers == list(range(numbers[0], numbers[0] + len(numbers)))


_LABELED: Final = "[role=img][aria-label], img[alt], td svg[aria-label], th svg[aria-label]"
_NO_LABELS: Final = frozenset(
    {"image", "icon", "logo", "photo", "img", "spacer", "bullet", "avatar", "picture", "*", "-"}
)
_LOGO: Final = re.compile(r"\b(?:logo|icon|avatar|photo|image|headshot|portrait|img)\b", re.IGNORECASE)
_FILE: Final = re.compile(r"\.(?:png|jpe?g|gif|svg|webp)\Z", re.IGNORECASE)
_MAX_LABEL: Final = 40  # characters
_MAX_WORDS: Final = 6  # of a label; no sentence that only programs read
_MIN_DESCRIPTION: Final = 3  # words
_FORMULA: Final = re.compile(r"math|tex|equation", re.IGNORECASE)
_LARGE_PICTURE: Final = 60  # pixels; what is larger is no part of a line
_INLINE: Final = frozenset({"a", "span", "b", "strong", "i", "em", "picture", "small", "font"})


def _write_labels(document: Document) -> list[tuple[Text, Text]]:
    """Write what icons and pictures say where they stand for words: in a sentence, or alone in the cell of a table.

    Returns:
        The texts before and after each other picture with a description.
    """
    described: list[tuple[Text, Text]] = []
    cells, tables = dict[Element, bool](), dict[Element, bool]()
    for picture in document.select(_LABELED):
        label = " ".join((picture.attr("aria-label") or picture.attr("alt") or "").split())
        words = len(label.split())
        if not label or label.lower() in _NO_LABELS or _FILE.search(label):
            continue
        if picture.tag == "img" and _FORMULA.search(picture.attr("class") or ""):
            continue
        if picture.tag != "img" and picture.tag != "svg" and _beginning(picture):
            continue
        cell = picture.closest("td, th")
        if cell is not None and cell not in cells:
            cells[cell] = not _beginning(cell) and _is_data(cell, tables)
        is_label = len(label) <= _MAX_LABEL and words <= _MAX_WORDS
        if is_label and ((cell is not None and cells[cell]) or _is_in_sentence(picture, label)):
            space = " " if text_before(picture)[-1:].isalnum() else ""
            after = picture.next_sibling
            end = " " if isinstance(after, Text) and after.data[:1].isalnum() else ""
            picture.replace_with(Text(f"{space}{label}{end}"))
        elif words >= _MIN_DESCRIPTION and picture.tag == "img":
            around = (_nearest(picture.preceding), _nearest(picture.following))
            if around[0] is not None and around[1] is not None:
                described.append((around[0], around[1]))
    return described


def _nearest(nodes: Iterable[Node]) -> Text | None:
    return next((n for n in islice(nodes, _MAX_PIECES) if isinstance(n, Text) and n.data.strip()), None)


def _is_data(cell: Element, tables: dict[Element, bool]) -> bool:
    """Return whether a cell is in a table of data, by its header cells.

    Args:
        cell: The cell.
        tables: The answers for the tables so far; each is searched once.
    """
    table = cell.closest("table")
    if table is None:
        return False
    if table not in tables:
        is_layout = table.find("table") is not None or (table.attr("role") or "") in {"presentation", "none"}
        tables[table] = not is_layout and table.find("th") is not None
    return tables[table]


def _is_in_sentence(picture: Element, label: str) -> bool:
    """Return whether a picture stands between words, or is the value after them."""
    for name in ("width", "height"):
        if (size := pixels(picture.attr(name) or "", 16.0)) is not None and size > _LARGE_PICTURE:
            return False
    before, after = _beside(picture, forward=False), _beside(picture, forward=True)
    if not before or picture.closest("a, button") is not None or _LOGO.search(label):
        return False
    if any(label in text or (text and text in label) for text in (before, after)):
        return False  # it is written beside it
    return bool(after) or any(map(str.isdigit, label))


def _beside(picture: Element, *, forward: bool) -> str:
    """Return the text beside an element in its line; "" if something else is there, or nothing."""
    node: Node = picture
    while True:
        for beside in node.next_siblings if forward else node.previous_siblings:
            if isinstance(beside, Text) and not beside.data.strip():
                continue
            if isinstance(beside, Text):
                return beside.data.strip()
            return _beginning(beside) if isinstance(beside, Element) and beside.tag in _INLINE else ""
        around = node.parent
        if not isinstance(around, Element) or around.tag not in _INLINE:
            return ""
        node = around


_VISUAL_ONLY: Final = frozenset({"clip", "size", "position", "class", "text-indent", "opacity", "transform"})
"""What hides a text from the eyes only."""
_MAX_MORE_WORDS: Final = 4  # that say what the drawn value is


def prefer_spoken(drawings: Iterable[Element], hidden: dict[Element, str]) -> None:
    """Replace a value that is drawn in pieces by the text beside it that is read out.

    The text has the same digits, and few other words: what no one sees cannot say anything else.

    Args:
        drawings: The elements with `aria-hidden`.
        hidden: The elements to be removed, with the reason of each; those that are kept are taken out.
    """
    for drawing in drawings:
        for beside in _neighbors(drawing) if drawing not in hidden and drawing.parent is not None else ():
            reason = hidden.get(beside, "")
            if (reason in _VISUAL_ONLY or not reason) and _says_same(beside, drawing, unseen=bool(reason)):
                hidden.pop(beside, None)
                drawing.extract()
                break


def _neighbors(element: Element) -> Iterator[Element]:
    for siblings in (element.previous_siblings, element.next_siblings):
        node = next((node for node in siblings if not (isinstance(node, Text) and not node.data.strip())), None)
        if isinstance(node, Element):
            yield node


def _says_same(beside: Element, drawing: Element, *, unseen: bool) -> bool:
    """Return whether a text that is read out says what is drawn in pieces, or by an icon, and little else."""
    strings = list(islice(drawing.strings, _MAX_PIECES))
    drawn = "".join(strings)
    is_icon = not drawn.strip()
    if is_icon and not unseen:
        return False
    spoken = _beginning(beside)
    digits = "".join(filter(str.isdigit, spoken))
    if not digits or len(spoken) > _MAX_LABEL:
        return False
    if is_icon:
        return len(spoken.split()) <= _MAX_WORDS
    if digits != "".join(filter(str.isdigit, drawn)):
        return False
    if not unseen:
        return [*filter(str.isalnum, spoken)] == [*filter(str.isalnum, drawn)]
    in_pieces = sum(any(map(str.isdigit, string)) for string in strings) > 1
    return in_pieces and len(spoken.split()) <= len(drawn.split()) + _MAX_MORE_WORDS
