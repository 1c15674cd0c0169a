"""Removal of elements that a browser does not render.

Source: the HTML Standard, section 15 (Rendering) and 4.12 (Scripting); SVG 2, section 5; MathML Core, section 4.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from turbohtml import Comment, Document, DocumentFragment, Element, Node, Text

from groundwire.reading.css.cascade import Styles
from groundwire.reading.css.stylesheets import SHADOW_STEPS, read_shadow
from groundwire.reading.css.values import pixels, ratio
from groundwire.reading.html.math import is_formula
from groundwire.reading.html.semantics import is_task_box

__all__ = [
    "blank_references",
    "class_names",
    "drop_shortcodes",
    "drop_texts",
    "drop_unrendered",
    "fill_streamed",
    "flatten_shadows",
    "keep_folded",
    "may_have_shortcodes",
    "topmost",
]

_NEVER: Final = frozenset(
    {
        "noscript", "iframe", "audio", "video", "canvas", "datalist", "noembed", "noframes", "meter", "progress",
        "object", "frameset",
    }
)  # fmt: skip
"""Elements that are never displayed; their content is a fallback, or for programs."""

_TOOLS: Final = (
    "style", "template", "head", "title", "rp", "select", "textarea", "base", "link", "meta", "param", "area", "input",
)  # fmt: skip
_UNRENDERED: Final = (*sorted(_NEVER), *_TOOLS, "script")
_FOREIGN: Final = (
    ("svg", ("metadata", "desc", "defs", "symbol", "clippath", "clipPath", "mask", "pattern", "marker")),
    ("math", ("annotation", "annotation-xml", "mphantom")),
)
"""Elements that are not rendered in SVG or MathML; in HTML, the same names are unknown elements, which are shown."""

_HOSTS: Final = frozenset(
    {
        "article", "aside", "blockquote", "body", "div", "footer", "h1", "h2", "h3", "h4", "h5", "h6", "header", "main",
        "nav", "p", "section", "span",
    }
)  # fmt: skip
_SHAPES: Final = frozenset(
    {"path", "polygon", "polyline", "line", "text", "use", "image", "foreignobject", "foreignObject"}
)
_NUMBERS: Final = re.compile(r"\d+")
_BLACK: Final = re.compile(r"(?:^|fill:\s*)(?:black|#000(?:000)?|none)(?:;|$)")
_FAR: Final = 900.0  # pixels
_MAX_REFERENCES: Final = 500
_BUILDERS: Final = ("vc_", "et_pb_", "fusion_", "av_", "ux_", "mk_", "cs_")
_CORE: Final = (
    *("gallery", "caption", "embed", "audio", "video", "playlist", "contact-form-7", "wpforms", "ninja_forms?"),
    *("gravityforms?", "elementor-template", "rev_slider", "smartslider3", "metaslider", "tablepress", "mc4wp_form"),
)
"""Shortcodes of WordPress itself and of common plugins, which count with an attribute, and their ends."""
_SHORTCODE: Final = re.compile(
    rf"\[/?(?:{'|'.join(_BUILDERS)})\w{{1,60}}(?=[\s\]])[^\[\]]{{0,2000}}\]"
    rf"|\[(?:{'|'.join(_CORE)})\s(?=[^\[\]=]{{1,60}}=)[^\[\]]{{1,2000}}\]|\[/(?:{'|'.join(_CORE)})\]"
)
_OPENING: Final = re.compile(rf"\[/?(?:{'|'.join((*_BUILDERS, *_CORE))})")
_MATH_SCRIPT: Final = "math/"
_FOLDS: Final = frozenset({"display", "attribute", "class", "size"})
"""What a click undoes."""

_UNFOLDED: Final = re.compile(
    r"(?:^|[\s_-])(?:accordion|collaps|tab-?_?(?:pane|panel|content|bed)|faq|answer|toggle|expand|spoiler|(?:read|show|see|view)-?_?more)",
    re.IGNORECASE,
)
_CONTROLS: Final = ("aria-controls", "data-target", "data-bs-target", "data-toggle-target", "data-tab")
_CONTROLLING: Final = ", ".join(f"[{name}]" for name in _CONTROLS)
_BUTTONS: Final = "button, summary, [role=button], [aria-expanded]"
_LONGEST_LABEL: Final = 300  # characters of a question above its answer
_SHORTEST_ANSWER: Final = 40  # characters
_TEX: Final = frozenset({"application/x-tex", "tex", "latex", "text/tex"})


def class_names(document: Document) -> frozenset[str]:
    """Return all class names of a page's elements."""
    return frozenset(" ".join(set(map(str, document.xpath_iter("//*/@class", smart_strings=False)))).split())


def drop_unrendered(document: Document) -> Counter[str]:
    """Remove elements that are never rendered; return how many pieces of text were removed, as `element`.

    TeX in an `annotation` or a `script` stays if it is a formula. Comments stay, too: later steps process only elements
    and texts.
    """
    found = _unrendered(document)
    counts = Counter({"element": sum(map(_hides_text, found))})
    for element in found:
        tag = element.tag
        if tag == "script":
            if (element.attr("type") or "").lower().startswith(_MATH_SCRIPT) and is_formula(element.text):
                continue
        elif tag == "annotation":
            if (element.attr("encoding") or "").lower() in _TEX:
                math = element.closest("math")
                if is_formula(element.text, math.text.replace(element.text, "") if math is not None else ""):
                    continue
        elif _shows_fallback(element) or (tag == "input" and is_task_box(element)):
            continue
        element.extract()
    return +counts


def drop_shortcodes(document: Document) -> None:
    """Remove shortcodes of WordPress and its page builders (`[vc_row]`) that remained in the text."""
    for node in list(document.descendants):
        if isinstance(node, Text) and _SHORTCODE.search(node.data) is not None:
            around = node.parent
            if isinstance(around, Element) and around.closest("pre, code, textarea, script") is None:
                node.replace_with(Text(_SHORTCODE.sub(" ", node.data)))


def may_have_shortcodes(markup: str) -> bool:
    """Return whether `drop_shortcodes` may find any."""
    return _OPENING.search(markup) is not None


def _unrendered(document: Document) -> list[Element]:
    """Return candidates for removal. The parser has an index of HTML element names."""
    found = [element for tag in _UNRENDERED for element in document.find_all(tag)]
    for name, tags in _FOREIGN:
        for outer in document.find_all(name):
            around = outer.parent
            if not isinstance(around, Element) or around.closest(name) is None:
                found.extend(outer.iter_elements(tags))
                for action in outer.iter_elements("maction"):  # of the alternatives, the first is shown
                    found.extend([child for child in action if isinstance(child, Element)][1:])
    return found


def _hides_text(element: Element) -> bool:
    """Return whether a removed element contains text for readers."""
    tag = element.tag
    if (tag not in _NEVER and tag != "annotation-xml") or _shows_fallback(element):
        return False
    return bool(element.text.strip())


def _shows_fallback(element: Element) -> bool:
    """Return whether an element can show only its fallback content."""
    return element.tag == "object" and element.attr("data") is None and element.attr("type") is None


def blank_references(document: Document) -> frozenset[str]:
    """Return the ids, in lower case, of SVG's clip paths, masks and filters that leave nothing of an element."""
    found: set[str] = set()
    for name, leaves_nothing in (("clippath", _clips_all), ("mask", _masks_all), ("filter", _filters_all)):
        for element in document.select(f"svg {name}[id]")[:_MAX_REFERENCES]:
            if leaves_nothing([child for child in element.descendants if isinstance(child, Element)]):
                found.add((element.attr("id") or "").lower())
    return frozenset(found)


def _is_dot(shape: Element) -> bool:
    """Return whether a shape has no area; one that uses another has an unknown area."""
    if shape.tag == "path":
        return len(_NUMBERS.findall(shape.attr("d") or "")) <= 4  # a point or a line
    sizes = {"rect": ("width", "height"), "circle": ("r",), "ellipse": ("rx", "ry")}.get(shape.tag)
    if sizes is None:
        return shape.tag not in _SHAPES
    return any(
        (pixels(f"{value}px" if (value := shape.attr(size) or "0")[-1:].isdigit() else value, 1e3) or 0.0) <= 1
        for size in sizes
    )


def _clips_all(shapes: list[Element]) -> bool:
    return all(map(_is_dot, shapes))


def _masks_all(shapes: list[Element]) -> bool:
    return all(_is_dot(shape) or _BLACK.search(f"{shape.attr('fill')};{shape.attr('style')}") for shape in shapes)


def _filters_all(steps: list[Element]) -> bool:
    for step in steps:
        tag, values = step.tag.lower(), (step.attr("values") or "").replace(",", " ").split()
        if tag == "feflood" and ratio(step.attr("flood-opacity") or "1") == 0 and step is steps[-1]:
            return True
        if tag == "fecolormatrix" and len(values) == 20 and all(ratio(value) == 0 for value in values[15:]):
            return True
        if tag == "fefunca" and step.attr("type") in {"linear", "gamma", "table", "discrete"}:
            sizes = (step.attr("slope"), step.attr("amplitude"), *(step.attr("tablevalues") or "").split())
            said = [ratio(size) for size in sizes if size]
            if said and all(size == 0 for size in said) and not ratio(step.attr("intercept") or "0"):
                return True
        if tag == "feoffset" and max(abs(ratio(step.attr(side) or "0") or 0.0) for side in ("dx", "dy")) >= _FAR:
            return True
    return False


def flatten_shadows(document: Document, styles: Styles) -> bool:
    """Move declarative shadow trees to where they are shown, with filled slots; return whether there were any.

    Args:
        document: The page.
        styles: Its styles, to which those of the trees are added.
    """
    found, room = False, SHADOW_STEPS
    for template in document.select("template[shadowrootmode]"):
        host = template.parent
        if not isinstance(host, Element) or (host.tag not in _HOSTS and "-" not in host.tag):
            continue
        shadow = next((child for child in template.children if isinstance(child, DocumentFragment)), None)
        if shadow is None:
            continue
        if room > 0:
            room = read_shadow(styles, host, shadow, room)
        template.extract()
        found = True
        slots: dict[str, Element] = {}
        for slot in shadow.select("slot"):
            slots.setdefault(slot.attr("name") or "", slot)
        filled: set[str] = set()
        for node in list(host.children):
            name = (node.attr("slot") or "") if isinstance(node, Element) else ""
            target = slots.get(name)
            if target is None:
                node.extract()
                continue
            if name not in filled and not (isinstance(node, Text) and not node.data.strip()):
                target.clear()
                filled.add(name)
            target.append(node)
        for child in list(shadow.children):
            host.append(child)
    return found


def fill_streamed(document: Document) -> None:
    """Move late content streamed by React to where its script would: `<div hidden id="S:0">` for `<template id="B:0">`.

    The placeholder there (a spinner) is removed, as far as React's markers delimit it. A `<template id="P:0">` stands
    for itself only: what follows it is content.
    """
    places = {
        (place.attr("id") or "")[2:]: place for place in document.select('template[id^="B:"], template[id^="P:"]')
    }
    if not places:
        return
    for segment in document.select('div[hidden][id^="S:"]'):
        place = places.pop((segment.attr("id") or "")[2:], None)
        if place is None or place.parent is None or segment in place.ancestors:  # removed with a spinner, perhaps
            continue
        waiting: list[Node] = []
        for node in place.next_siblings if (place.attr("id") or "").startswith("B:") else ():
            if isinstance(node, Comment) and node.data == "/$":
                for spinner in waiting:
                    spinner.extract()
                break
            waiting.append(node)
        children = list(segment.children)
        if children:
            place.insert_before(*children)
        place.extract()
        segment.extract()


def topmost(elements: Iterable[Element]) -> Iterator[Element]:
    """Yield the elements that are not inside another of them, in order; linear, since no path is visited twice."""
    wanted = dict.fromkeys(elements)
    inside: dict[Element, bool] = {}
    for element in wanted:
        path, node, answer = [], element.parent, False
        while isinstance(node, Element):
            if node in wanted:
                answer = True
                break
            if node in inside:
                answer = inside[node]
                break
            path.append(node)
            node = node.parent
        inside.update(dict.fromkeys(path, answer))
        if not answer:
            yield element


def keep_folded(document: Document, hidden: dict[Element, str]) -> int:
    """Keep what a click unfolds, as for `details`: tabs, accordions, questions and their answers.

    They are known by their role, by the controls that name them, by their class, or, from the second of one class on,
    by the button right above each of them.

    Args:
        document: The page.
        hidden: The elements to be removed, with the reason of each; those that are kept are taken out.

    Returns:
        How many are kept.
    """
    folded = [element for element, reason in hidden.items() if reason in _FOLDS]
    named: set[str] = set()
    if any(element.attr("id") for element in folded):
        for control in document.select(_CONTROLLING):
            named.update((control.attr(name) or "").lstrip("#") for name in _CONTROLS)
    kept: list[Element] = []
    answers: dict[str, list[Element]] = {}
    for element in folded:
        role, names = element.attr("role"), element.attr("class") or ""
        if (
            role == "tabpanel"
            or (role == "region" and element.attr("aria-labelledby"))
            or (element.attr("id") or "-") in named
            or _UNFOLDED.search(names)
        ):
            kept.append(element)
        elif _is_answer(element):
            answers.setdefault(names, []).append(element)
    for group in answers.values():
        kept += group if len(group) > 1 else []
    for element in kept:
        del hidden[element]
    return len(kept)


def _is_answer(element: Element) -> bool:
    """Return whether an element is prose right below a button with its title."""
    above = next(
        (node for node in element.previous_siblings if isinstance(node, Element) and node.tag != "style"), None
    )
    if above is None or element.closest("nav, header, form") is not None:
        return False
    button = above if above.matches(_BUTTONS) else above.select_one(_BUTTONS)
    label = " ".join(above.text.split()) if button is not None else ""
    if button is None or not 1 < len(label) <= _LONGEST_LABEL or label != " ".join(button.text.split()):
        return False
    size = len(element.text.strip())
    return size >= _SHORTEST_ANSWER and sum(len(link.text) for link in element.find_all("a")) * 2 < size


def drop_texts(states: Mapping[Element, bool]) -> int:
    """Remove the texts of elements that hide theirs, up to descendants that show their own; return how many had text.

    Args:
        states: Whether an inherited property hides an element's own text.
    """
    above: set[Element] = set()
    for element, hidden in states.items():
        node = None if hidden else element.parent
        while isinstance(node, Element) and node not in above:
            above.add(node)
            node = node.parent
    dropped, done = 0, set[Element]()
    for element, hidden in states.items():
        if not hidden or element in done:
            continue
        dropped += bool(element.text.strip())
        rest = [element]
        while rest:
            node = rest.pop()
            done.add(node)
            if node not in above and node.tag not in {"html", "body"}:
                node.extract()
                continue
            for child in list(node.children):
                if isinstance(child, Text):
                    child.extract()
                elif isinstance(child, Element) and states.get(child, True):
                    rest.append(child)
    return dropped
