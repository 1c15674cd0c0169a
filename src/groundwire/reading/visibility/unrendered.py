"""Removal of elements that a browser does not render.

Source: the HTML Standard, section 15 (Rendering) and 4.12 (Scripting); SVG 2, section 5; MathML Core, section 4.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping
from itertools import islice
from typing import Final, NamedTuple

from turbohtml import Document, DocumentFragment, Element, SelectorSyntaxError, Text

from groundwire.reading.css.cascade import Styles
from groundwire.reading.css.stylesheets import SHADOW_STEPS, read_shadow
from groundwire.reading.css.values import nested_levels
from groundwire.reading.html.math import is_formula
from groundwire.reading.html.semantics import is_task_box

_NEVER_SHOWN: Final = frozenset(
    {
        "noscript", "iframe", "audio", "video", "canvas", "datalist", "noembed", "noframes", "meter", "progress",
        "object", "frameset",
    }
)  # fmt: skip
"""Elements that are never displayed; their content is a fallback, or for programs."""

_WITHOUT_TEXT: Final = (
    "style", "template", "head", "title", "rp", "select", "textarea", "base", "link", "meta", "param", "area", "input",
)  # fmt: skip
_UNRENDERED: Final = (*sorted(_NEVER_SHOWN), *_WITHOUT_TEXT, "script")
_UNRENDERED_MATH: Final = ("annotation", "annotation-xml", "mphantom")
_FOREIGN: Final = (
    ("svg", ("metadata", "desc", "defs", "symbol", "clippath", "clipPath", "mask", "pattern", "marker")),
    ("math", _UNRENDERED_MATH),
)
"""Elements that are not rendered in SVG or MathML; in HTML, the same names are unknown elements, which are shown."""

_SHADOW_HOSTS: Final = frozenset(
    {
        "article", "aside", "blockquote", "body", "div", "footer", "h1", "h2", "h3", "h4", "h5", "h6", "header", "main",
        "nav", "p", "section", "span",
    }
)  # fmt: skip
_MATH_SCRIPT: Final = "math/"
_FOLDING_REASONS: Final = frozenset({"display", "attribute", "class", "size"})
"""What a click undoes."""

_UNFOLDING_NAME: Final = re.compile(
    r"(?:^|[\s_-])(?:js)?(?:accordion|collaps|tab-?_?(?:pane|panel|content|bed)|faq|answer|toggle|expand|spoiler|(?:read|show|see|view)-?_?more)",
    re.IGNORECASE,
)
_SLIDES: Final = re.compile(
    r"(?:^|[\s_-])(?:carousel|(?:flex)?slider|slides(?![\w-])|slideshow|splide|swiper|slick|flickity)", re.IGNORECASE
)
_CONTROLS: Final = (
    "aria-controls", "data-target", "data-bs-target", "data-toggle-target", "data-tab", "data-definition",
)  # fmt: skip
_OPENING_ATTRIBUTES: Final = ("popovertarget", "commandfor")
_CONTROL_SELECTOR: Final = ", ".join(f"[{name}]" for name in _CONTROLS)
_LINK_SELECTOR: Final = 'a[href^="#"], [onclick], [popovertarget], [commandfor]'
_QUOTED: Final = re.compile(r"[\"']#?([\w-]+)[\"']")
_BUTTONS: Final = "button, summary, [role=button], [aria-expanded]"
_EXPANDERS: Final = "[aria-expanded]"
_SWITCHES: Final = r"[aria-expanded], [\@click], [x-on\:click], [v-on\:click], [ng-click]"
_SWITCHED_NAMES: Final = ("x-show", "v-show", "ng-show")  # what a framework shows in one of its states
_ASIDE_NAME: Final = re.compile(
    r"menu|pop-?_?(?:up|over)|modal|dialog|drop-?_?down|drawer|off-?canvas|toast|overlay|log-?_?in|sign-?_?(?:in|up)"
    r"|cookie|consent|newsletter|error|fancybox|lightbox|clone|duplicate|listbox|sr-?_?only|visually-?_?hidden|screen-?_?reader|\bprint",
    re.IGNORECASE,
)
"""Names of what opens beside a page's text, or repeats it."""
_ACTIVE_NAME: Final = re.compile(r"(?:^|[_-])(?:active|current|selected|open|opened|visible|shown?)$", re.IGNORECASE)
_MAX_ACTIVE: Final = 4  # in one element
_OPENERS: Final[Mapping[str, str]] = {"attribute": "display", "class": "display", "size": "height", "position": "left"}
"""The property, or one like it, that undoes what hides an element, if it has another name."""
_MAX_LABEL: Final = 300  # characters of a question above its answer
_MIN_ANSWER: Final = 40  # characters
_MAX_PROSE: Final = 50_000  # characters of a text that is prose whatever its links
_TEX: Final = frozenset({"application/x-tex", "tex", "latex", "text/tex"})
_REVEALING_NAME: Final = re.compile(
    r"(?:^|[\s_-])(?:(?:aos|wow|sal|sr(?!-?_?only))(?![a-z])|(?:pre-?)?fade|reveal|splide|swiper|slick|owl-carousel|animat\w*|scroll|in-?view|lazy|appear|motion|elementor-invisible)",
    re.IGNORECASE,
)
_REVEAL_MARKS: Final = (
    "data-aos", "data-sal", "data-w-id", "data-animate", "data-animation", "data-scroll", "data-sr-id", "data-reveal",
    "data-framer-appear-id", "data-motion", "data-motion-enter",
)  # fmt: skip
_CLOAKS: Final = ("v-cloak", "ng-cloak", "x-cloak")
"""Attributes that frameworks remove when a script has run, whatever hides what has them."""
_NOTE: Final = re.compile(r"(?:foot|side|end)-?_?note", re.IGNORECASE)
_MAX_MARK: Final = 4  # characters of the mark of a note
_MIN_NOTE: Final = 15  # characters of what is read out with it
_NO_TEXT: Final = re.compile(r"\s*(?:\Z|<iframe|<script|\[img|https?://\S*\s*\Z)", re.IGNORECASE)
"""A text to copy that is only for other pages."""
_MAX_FORMULA: Final = 20_000  # characters of one that are compared with its source
_MAX_PIECES: Final = 10_000  # the same for its strings


def drop_unrendered(document: Document) -> Counter[str]:
    """Remove elements that are never rendered; return how many pieces of text were removed, as `element`.

    TeX in an `annotation` or a `script` stays if it is a formula. Comments stay, too: later steps process only elements
    and texts.
    """
    candidates = _unrendered(document)
    unseen = (node for node in candidates if node.tag in _NEVER_SHOWN or node.tag == "annotation-xml")
    counts = Counter({"element": sum(node.text.strip() != "" and not _shows_fallback(node) for node in unseen)})
    sources: list[tuple[Element, Element]] = []
    for element in candidates:
        tag = element.tag
        if tag == "script":
            if (element.attr("type") or "").lower().startswith(_MATH_SCRIPT) and is_formula(element.text):
                continue
        elif tag == "annotation" and isinstance(element.parent, Element):
            sources.append((element.parent, element))
        elif _shows_fallback(element) or (tag == "input" and is_task_box(element)):
            continue
        elif tag == "textarea" and element.attr("readonly") is not None and not _NO_TEXT.match(element.text):
            element.tag = "pre"  # a text to copy
            continue
        element.extract()
    formulas: dict[Element, str] = {}  # without the sources, which would confirm each other's words
    for around, source in sources:
        if (source.attr("encoding") or "").lower() in _TEX and (math := around.closest("math")) is not None:
            if math not in formulas:
                formulas[math] = "".join("".join(islice(math.strings, _MAX_PIECES))[:_MAX_FORMULA].split())
            if is_formula(source.text, formulas[math]):
                around.append(source)
    return +counts


def _unrendered(document: Document) -> list[Element]:
    """Return candidates for removal. The parser has an index of HTML element names."""
    candidates = [element for tag in _UNRENDERED for element in document.find_all(tag)]
    for name, tags in _FOREIGN:
        for outer in document.find_all(name):
            around = outer.parent
            if not isinstance(around, Element) or around.closest(name) is None:
                for action in outer.iter_elements("maction"):  # of the alternatives, the first is shown
                    candidates.extend([child for child in action if isinstance(child, Element)][1:])
                candidates.extend(outer.iter_elements(tags))
    return candidates


def _shows_fallback(element: Element) -> bool:
    """Return whether an element can show only its fallback content."""
    return element.tag == "object" and element.attr("data") is None and element.attr("type") is None


def take_shadows(document: Document) -> list[tuple[Element, DocumentFragment]]:
    """Take the declarative shadow trees out of a page; return each with the element that has it, outer ones first."""
    shadows: dict[Element, DocumentFragment] = {}
    for template in document.select("template[shadowrootmode=open i], template[shadowrootmode=closed i]"):
        host = template.parent
        shadow = next((child for child in template.children if isinstance(child, DocumentFragment)), None)
        if shadow is None or not isinstance(host, Element) or host in shadows:
            continue
        if host.tag in _SHADOW_HOSTS or "-" in host.tag:
            shadows[host] = shadow
    for shadow in shadows.values():
        if isinstance(shadow.parent, Element):
            shadow.parent.extract()
    return list(shadows.items())


def place_shadows(shadows: Iterable[tuple[Element, DocumentFragment]], styles: Styles) -> None:
    """Move shadow trees to where they are shown, with filled slots, and add their styles to those of the page."""
    room = SHADOW_STEPS
    for host, shadow in shadows:
        room = read_shadow(styles, host, shadow, room)
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


def keep_folded(
    document: Document,
    hidden: dict[Element, str],
    unseen: dict[Element, bool],
    styles: Styles,
    boxes: list[_CheckedState],
    *,
    alive: bool,
) -> int:
    """Keep what a click unfolds, as for `details`: tabs, accordions, questions and their answers.

    They are known by their role, by the controls that name them, by their class, or, from the second of one class on,
    by the button right above each of them. Prose is also known by a link to it, a handler that names it, a button of
    its own beside it, an active one of its kind beside it, or a rule that shows it if a box is checked.

    Args:
        document: The page.
        hidden: The elements to be removed, with the reason of each; those that are kept are taken out.
        unseen: Whether `visibility` hides the text of an element; those that are kept are taken out.
        styles: The styles of the page.
        boxes: What boxes that can be checked show; see `checked_states`.
        alive: Whether a script may do it; otherwise only what a browser does by itself counts.

    Returns:
        How many are kept.
    """
    folded = [element for element, reason in hidden.items() if reason in _FOLDING_REASONS]
    named = _controlled_ids(document) if alive and any(element.attr("id") for element in folded) else ()
    unfolded = [element for element in folded if alive and _is_labeled(element, named)]
    others = set(folded) - set(unfolded)
    closed = [node for node in folded if node in others and (alive or node.attr("id")) and _is_prose(node)]
    linked, pressed = _references(document, hidden, {name for element in closed if (name := element.attr("id"))})
    for state in boxes:
        unfolded += _shown_in(state, hidden, unseen)
    unfolded += _opened(closed, linked, pressed, alive=alive)
    for element in unfolded:
        hidden.pop(element, None)
        unseen.pop(element, None)
    return len(set(unfolded))


def _is_labeled(element: Element, named: Container[str | None]) -> bool:
    """Return whether an element says that it unfolds, by its role or class, or is named by a control."""
    role = element.attr("role")
    if role == "tabpanel" or (role == "region" and element.attr("aria-labelledby")):
        return True
    return element.attr("id") in named or _is_note(element) or bool(_UNFOLDING_NAME.search(element.attr("class") or ""))


def _opened(closed: list[Element], linked: set[str], pressed: set[str], *, alive: bool) -> Iterator[Element]:
    """Yield the prose that a link, a button, or an active element of its kind opens, and answers below questions."""
    answers: dict[str, list[Element]] = {}
    active: dict[Element, list[tuple[str, set[str]]]] = {}
    for element in closed:
        own, siblings = element.attr("id") or "-", element.previous_siblings
        above = next((node for node in siblings if isinstance(node, Element) and node.tag != "style"), None)
        is_linked = own in linked and (alive or (element.attr("hidden") or "").lower() == "until-found")
        beside = alive and (_is_slide(element) or _is_inactive(element, active) or _has_button(element, above))
        if own in pressed or is_linked or beside:
            yield element
        elif alive and _is_title(above):
            answers.setdefault(element.attr("class") or "", []).append(element)
    for group in answers.values():
        if len(group) > 1:
            yield from group


def _is_note(element: Element) -> bool:
    """Return whether an element is a note that a click on the mark around it shows."""
    around = element.parent
    if not isinstance(around, Element) or around.tag not in {"span", "sup"}:
        return False
    if _NOTE.search(f"{element.attr('class')} {around.attr('class')}") is None:
        return False
    size = len(element.text)
    return size > _MIN_NOTE and len("".join(islice(around.strings, 2))) - size <= _MAX_MARK


def _controlled_ids(document: Document) -> set[str]:
    """Return the ids that controls name."""
    names = (control.attr(name) for control in document.select(_CONTROL_SELECTOR) for name in _CONTROLS)
    return {name.lstrip("#") for name in names if name}


def _references(document: Document, hidden: Mapping[Element, str], ids: set[str]) -> tuple[set[str], set[str]]:
    """Return which ids visible links and handlers mention, and which ones a browser opens from a visible button."""
    linked, pressed = set[str](), set[str]()
    for control in document.select(_LINK_SELECTOR) if ids else ():
        mentions = {(control.attr("href") or "")[1:], *_QUOTED.findall(control.attr("onclick") or "")}
        opened = {control.attr(name) or "" for name in _OPENING_ATTRIBUTES}
        if not ids.isdisjoint(mentions | opened) and control.text.strip() and not _is_inside(control, hidden):
            linked |= mentions
            pressed |= opened
    return linked, pressed


def _is_inside(element: Element, hidden: Mapping[Element, str]) -> bool:
    return any(node in hidden for node in (element, *element.ancestors) if isinstance(node, Element))


def _shown_in(state: _CheckedState, hidden: Mapping[Element, str], unseen: Mapping[Element, bool]) -> Iterator[Element]:
    """Yield the prose that a box shows that is visible, or has a visible label."""
    reasons = ((target, hidden.get(target, "visibility" if unseen.get(target) else "")) for target in state.targets)
    closed = [target for target, reason in reasons if _OPENERS.get(reason, reason) in state.names and _is_prose(target)]
    visible = (node for node in state.controls if node.attr("hidden") is None and not _is_inside(node, hidden))
    if closed and any(node.tag == "input" or node.text.strip() for node in visible):
        yield from closed


def _is_prose(element: Element) -> bool:
    """Return whether an element is a text rather than a menu, a dialog or a form."""
    size = len(" ".join((beginning := element.text[:_MAX_PROSE]).split()))  # many may be in one another
    if size < _MIN_ANSWER or element.closest("nav, header, form") is not None or element.find("form") is not None:
        return False
    if _ASIDE_NAME.search(f"{element.attr('id')} {element.attr('class')} {element.attr('role')}") is not None:
        return False
    links = element.find_all("a") if len(beginning) < _MAX_PROSE else ()
    return sum(len(" ".join(link.text.split())) for link in links) * 2 < size


def _has_button(element: Element, above: Element | None) -> bool:
    """Return whether a button right beside an element opens it; one that calls a script may do anything else."""
    button = _SWITCHES if any(element.attr(name) is not None for name in _SWITCHED_NAMES) else _EXPANDERS
    below = next((node for node in element.next_siblings if isinstance(node, Element)), None)
    for beside in filter(None, (above, below)):
        if (beside.matches(button) or beside.select(button)) and 1 < len(beside.text.strip()) <= _MAX_LABEL:
            return True
    return above is not None and bool(_UNFOLDING_NAME.search(above.attr("class") or ""))


def _is_slide(element: Element) -> bool:
    """Return whether an element is a carousel, or right in one."""
    nearest = islice(element.ancestors, 2)
    return any(_SLIDES.search(node.attr("class") or "") for node in (element, *nearest) if isinstance(node, Element))


def _is_inactive(element: Element, active_by_parent: dict[Element, list[tuple[str, set[str]]]]) -> bool:
    """Return whether one of the elements beside an element is marked as the active one of its kind.

    Args:
        element: The element.
        active_by_parent: The marked ones in each element, with their classes, as far as they were looked for.
    """
    around, own = element.parent, set((element.attr("class") or "").split())
    if not own or not isinstance(around, Element):
        return False
    if around not in active_by_parent:
        children = ((node.tag, (node.attr("class") or "").split()) for node in around if isinstance(node, Element))
        active = ((tag, set(names)) for tag, names in children if any(map(_ACTIVE_NAME.search, names)))
        active_by_parent[around] = list(islice(active, _MAX_ACTIVE))
    return any(tag == element.tag and own < names for tag, names in active_by_parent[around])


def _is_title(above: Element | None) -> bool:
    """Return whether an element is a button with a title, and nothing else."""
    button = None if above is None else above if above.matches(_BUTTONS) else above.select_one(_BUTTONS)
    label = " ".join(above.text.split()) if above is not None and button is not None else ""
    return button is not None and 1 < len(label) <= _MAX_LABEL and label == " ".join(button.text.split())


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
        stack = [element]
        while stack:
            node = stack.pop()
            done.add(node)
            if node not in above and node.tag not in {"html", "body"}:
                node.extract()
                continue
            for child in list(node.children):
                if isinstance(child, Text):
                    if not child.data.isspace():  # which is between words that are shown
                        child.extract()
                elif isinstance(child, Element) and states.get(child, True):
                    stack.append(child)
    return dropped


def is_cloaked(element: Element) -> bool:
    """Return whether an element is hidden only until a framework starts, whatever it shows then."""
    cloaked = any(element.attr(mark) is not None for mark in _CLOAKS) or "ng-cloak" in (element.attr("class") or "")
    return cloaked and element.attr("x-show") is None


def is_marked(element: Element) -> bool:
    """Return whether an element is faded in by a common library."""
    if any(element.attr(mark) is not None for mark in _REVEAL_MARKS) or is_cloaked(element):
        return True
    names = element.attr("class") or ""
    if _REVEALING_NAME.search(names):
        return "clone" not in names and "duplicate" not in names
    style = (element.attr("style") or "").replace(" ", "").lower()
    return "opacity:0" in style and "transform:" in style and "scale(0)" not in style


_MAX_STATES: Final = 40  # rules


class _CheckedState(NamedTuple):
    """What a rule shows if a box is checked, or if it is not."""

    targets: list[Element]
    names: frozenset[str]
    """The properties that show the targets then."""
    controls: list[Element]
    """The boxes, and their labels."""


def checked_states(document: Document, styles: Styles) -> list[_CheckedState]:
    """Return what rules change if a box is checked; for a page that still has its form controls."""
    states: list[_CheckedState] = []
    for before, after, names in islice(styles.states, _MAX_STATES):
        if nested_levels(before) or nested_levels(after):  # they may visit all elements around each, on each level
            continue
        try:
            targets = document.select(before + after)
            controls = document.select(before or "*") if targets else []
        except (SelectorSyntaxError, ValueError, RecursionError):
            continue
        if controls:
            ids = {control.attr("id") for control in controls}
            around = [label for control in controls if (label := control.closest("label")) is not None]
            controls += [*around, *(label for label in document.select("label[for]") if label.attr("for") in ids)]
        states.append(_CheckedState(targets, names, controls))
    return states
