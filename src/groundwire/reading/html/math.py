"""Formulas as TeX between dollar signs, from MathML, KaTeX, MathJax and formula images.

The hidden source of a formula is used only if it is TeX and not prose. The commands are those of LaTeX and amsmath that
KaTeX supports (https://katex.org/docs/supported) with long names; all others count as words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from itertools import islice
from typing import Final
from urllib.parse import unquote_plus

from turbohtml import Document, Element, Text, parse

_STRUCTURE: Final = re.compile(
    r"\\(?:begin|end|color|textcolor|colorbox|label|ref|eqref|tag|class|cssId|style|operatorname|math[a-z]+|hspace|vspace)\*?"
    r"\s*\{[^{}\s]{0,24}\}"
)
"""Commands with an argument that is not text, or is one word of it."""
_COMMAND: Final = re.compile(r"\\([a-zA-Z]+)\*?")
_MIN_COMMAND: Final = 5  # letters; shorter command names are weak evidence
_PROSE: Final = re.compile(r"[^\W\d_]{4,}")
_MAX_PROSE: Final = 2  # words in a formula that are neither commands nor displayed
_MAX_INVISIBLE: Final = 3  # the same for a formula with an unknown display
_MAX_FORMULA: Final = 5_000  # characters; longer ones are data


@cache
def _known_commands() -> frozenset[str]:
    return frozenset(files("groundwire.reading").joinpath("data", "tex_commands.txt").read_text("ascii").split())


def is_formula(tex: str, visible_text: str = "") -> bool:
    """Return whether a text is TeX rather than prose.

    Args:
        tex: The text, which is invisible.
        visible_text: What the page shows of the formula, if known: its words may appear in the text.
    """
    if len(tex) > _MAX_FORMULA:
        return False
    bare = _STRUCTURE.sub(_word_of, tex)
    squeezed = "".join(visible_text[: 2 * _MAX_FORMULA].split())
    commands = {name for name in _COMMAND.findall(bare) if len(name) >= _MIN_COMMAND and name not in _known_commands()}
    words = [word for word in _PROSE.findall(_COMMAND.sub(" ", bare)) if word not in squeezed]
    return len(words) + len(commands) <= (_MAX_PROSE if squeezed else _MAX_INVISIBLE)


def _word_of(match: re.Match[str]) -> str:
    """Return an empty string for a structural command, and the name for a name set as letters."""
    return match[0].partition("{")[2] if match[0].startswith((r"\operatorname", r"\math")) else " "


_TEX: Final = frozenset({"application/x-tex", "application/x-latex", "tex", "latex", "text/x-tex"})
_STYLE: Final = re.compile(r"\{\\(?:display|text|script)style\s*(.*)\}", re.DOTALL)
_DELIMITED_TEX: Final = re.compile(r"\\\((.*)\\\)|\\\[(.*)\\\]|\$\$?(.*?)\$\$?", re.DOTALL)
_IMAGE: Final = re.compile(
    r"(?:^|[\s_-])(?:tex|latex|math|mwe-math\S*|wp-katex|mathjax|equation)(?=[\s_-]|$)", re.IGNORECASE
)
_SERVICE_URL: Final = re.compile(
    r"[./]latex[.?]|codecogs|/(?:gif|png|svg)\.(?:image|latex)\?|/math/render/|render/math\?|mathtex|mimetex|[?&]cht=tx"
    r"|/equation\?tex=|//(?:math|tex|latex)\.[^/?]+/(?:svg/|png/|\?)|upmath\.",
    re.IGNORECASE,
)
"""URLs of formula rendering services."""
_SERVICE_WORDS: Final = ("tex", "math", "cht=tx", "codecogs", "equation")
_IN_URL: Final = re.compile(
    r"[?&](?:latex|tex|math|chl|from|formula|eq|equation)=([^&#]+)|/(?:svg|png|gif)/([^?#]+)|\?([^?#=&]*[\\%][^?#]*)\Z",
    re.IGNORECASE,
)
"""The formula in such a URL."""
_COMMON: Final = re.compile(
    r"\\(?:frac|sqrt|sum|prod|cdot|vec|hat|leq|geq|neq|infty|operatorname|mathrm|mathbf|mathbb|begin)\b"
)
"""Commands by which a text without any other mark is known as a formula."""
_TEX_SIGN: Final = re.compile(r"[\\^_{}=+<>|/]")
_SCRIPT_SIGNS: Final[Mapping[str, str]] = {"msup": "^", "msub": "_", "munder": "_", "mover": "^"}
_DOUBLE_SCRIPTS: Final = frozenset({"msubsup", "munderover"})
_ACCENTS: Final[Mapping[str, str]] = {
    "\u2192": "vec", "\u20d7": "vec", "\u00af": "overline", "\u203e": "overline", "_": "overline", "\u2015": "overline",
    "^": "hat", "\u02c6": "hat", "~": "tilde", "\u02dc": "tilde", "\u02d9": "dot", "\u00a8": "ddot",
}  # fmt: skip
"""What `mover` puts above its base."""
_SKIPPED: Final = frozenset({"annotation", "annotation-xml", "mphantom"})


def formula(element: Element) -> tuple[str, bool]:
    """Return the TeX of a formula's element, and whether it is on its own line.

    Args:
        element: A `math` element, or the wrapper of one in KaTeX, MathJax or MediaWiki.

    Returns:
        The TeX without dollar signs; linear text of the MathML if it has no TeX; "" if there is neither.
    """
    block = _is_block(element)
    math = element if element.tag == "math" else element.find("math")
    tex = ""
    for annotation in element.iter_elements("annotation"):
        if (annotation.attr("encoding") or "").strip().lower() in _TEX:
            tex = annotation.text
            break
    if not tex.strip() and (script := element.find("script")) is not None and (script_tex := script_formula(script)):
        return script_tex[0], block or script_tex[1]
    if not tex.strip() and math is not None:
        tex = _unless_prose(math.attr("alttext") or "", math.text)
    if not tex.strip():
        image = element if element.tag == "img" else element.find("img")
        tex = _unless_prose(image.attr("alt") or "") if image is not None else ""
    if not tex.strip() and math is not None:
        tex = _linear(math)
    if math is not None and (math.attr("display") or "").lower() == "block":
        block = True
    return _tidy(tex), block


def script_formula(script: Element) -> tuple[str, bool] | None:
    """Return the TeX in a MathJax 2 script and whether it is on its own line, or None for any other script."""
    kind = (script.attr("type") or "").lower()
    if not kind.startswith("math/tex"):
        return None
    return _tidy("".join(node.data for node in script if isinstance(node, Text))), "mode=display" in kind


def is_written_out(element: Element) -> bool:
    """Return whether MathJax 2's output is followed by the script with its TeX.

    Args:
        element: The output, with class `MathJax` or `MathJax_Preview`.
    """
    around = element.parent
    places = [element]
    if isinstance(around, Element) and "MathJax_Display" in (around.attr("class") or ""):
        places.append(around)
    for place in places:
        after = next((node for node in place.next_siblings if isinstance(node, Element) or node.text.strip()), None)
        if isinstance(after, Element) and after.tag == "script":
            return script_formula(after) is not None
    return False


def image_formula(image: Element) -> str:
    """Return the TeX of a formula image, `UNREAD` if it is only drawn, or "" for any other image."""
    alt = (image.attr("alt") or "").strip()
    source, classes = (image.attr("src") or "")[:_MAX_FORMULA], image.attr("class") or ""
    is_drawn = (
        any(map(source.__contains__, _SERVICE_WORDS))
        and not source.startswith("data:")
        and _SERVICE_URL.search(source) is not None
    )
    if is_drawn and (not alt or _TEX_SIGN.search(alt) is None) and (tex := _in_url(source)):
        return tex
    is_certain = 0 < len(alt) <= _MAX_FORMULA and (
        is_drawn
        or (alt[:1] in {"$", "\\"} and _DELIMITED_TEX.fullmatch(alt) is not None)
        or ("\\" in alt and _COMMON.search(alt) is not None)
        or (classes and (" " not in alt or _TEX_SIGN.search(alt) is not None) and _IMAGE.search(classes) is not None)
    )
    return (_tidy(_unless_prose(alt)) if is_certain else "") or (UNREAD if is_drawn else "")


def _in_url(source: str) -> str:
    """Return the TeX in the URL of a rendering service."""
    match = _IN_URL.search(source)
    tex = unquote_plus(match[1] or match[2] or match[3] or "").strip() if match else ""
    tex = _SETTINGS.sub("", tex).strip()
    return _tidy(_unless_prose(tex)) if _TEX_SIGN.search(tex) or len(tex) == 1 else ""


_SETTINGS: Final = re.compile(r"\A(?:\\(?:dpi|bg|fg|large|small|tiny|huge|inline|LARGE|Large)\b(?:\s*\{[^{}]*\})?\s*)+")
"""What the URLs of some services have before the formula."""
UNREAD: Final = "[unreadable formula]"
"""What stands for a formula that is only drawn."""
_SOURCES: Final = ("data-latex", "data-math", "data-tex", "data-formula", "data-katex")
_SOURCE_SELECTOR: Final = ", ".join(f"[{name}]" for name in _SOURCES)
_DRAWINGS: Final = f"mjx-container, .katex, [data-mathml], {_SOURCE_SELECTOR}"
_MAX_DISPLAYED: Final = 300  # characters of what is drawn that are compared with its source


def write_out_drawings(document: Document) -> None:
    """Replace formula images, and what MathJax and KaTeX draw, by the source, as MathML or as a MathJax 2 script.

    So a formula counts as text. What has no readable source is replaced by `UNREAD`: its letters stand in the order of
    their drawing.
    """
    done: set[Element] = set()
    for element in document.select(_DRAWINGS):
        if element.tag in {"img", "math"} or any(node in done for node in element.ancestors):
            continue
        if element.find("annotation") is not None or is_written_out(element):
            continue
        if (math := _mathml(element)) is not None:
            element.replace_with(math)
        elif tex := _source(element):
            element.replace_with(_script(tex, block=_is_block(element) or element.tag == "div"))
        elif element.tag == "mjx-container" or element.has_class("katex"):
            element.replace_with(Text(UNREAD))
        else:
            continue
        done.add(element)
    for image in document.find_all("img"):
        if tex := image_formula(image):
            image.replace_with(Text(UNREAD) if tex == UNREAD else _script(tex, block=_is_block(image)))


def _mathml(element: Element) -> Element | None:
    """Return the MathML of a drawing, unless it is prose."""
    math = element.find("math")
    if math is None and (markup := element.attr("data-mathml") or "").startswith("<math"):
        math = parse(markup[: 4 * _MAX_FORMULA]).find("math")
    visible_text = " ".join(islice(math.stripped_strings, _MAX_DISPLAYED)) if math is not None else ""
    return math if visible_text and is_formula(visible_text) else None


def _source(element: Element) -> str:
    """Return the TeX in an attribute of a drawing, or of what is in it or directly around it."""
    places = [element, *islice(element.select(_SOURCE_SELECTOR), 1)]
    visible_text = "".join(islice(element.strings, _MAX_DISPLAYED))
    for place in places:
        for name in _SOURCES:
            tex = (place.attr(name) or "").strip()
            if tex and (_TEX_SIGN.search(tex) or tex == visible_text.strip() or (len(tex) == 1 and tex.isalpha())):
                return _tidy(_unless_prose(tex, visible_text))
    return ""


def _script(tex: str, *, block: bool) -> Element:
    return Element("script", {"type": f"math/tex{'; mode=display' if block else ''}"}, [Text(tex)])


def _unless_prose(tex: str, visible_text: str = "") -> str:
    """Return the source of a formula if it is TeX; see `is_formula`."""
    return tex if is_formula(tex[:_MAX_FORMULA], visible_text) else ""


def _is_block(element: Element) -> bool:
    classes = element.attr("class") or ""
    if "display" in classes.lower() or (element.attr("display") or "").lower() in {"true", "block"}:
        return True
    above = element.parent
    return type(above) is Element and bool(re.search(r"(?i)display", above.attr("class") or ""))


def _tidy(tex: str) -> str:
    tex = " ".join(tex[: _MAX_FORMULA + 100].split())
    if len(tex) > _MAX_FORMULA:
        return ""
    if match := _STYLE.fullmatch(tex):
        tex = match[1].strip()
    if match := _DELIMITED_TEX.fullmatch(tex):
        tex = (match[1] or match[2] or match[3] or "").strip()
    return tex.replace("$", "\\$").replace("\\\\$", "\\$")


def _linear(math: Element) -> str:
    """Return MathML as one line: scripts with ^ and _, fractions with a slash."""
    parts: list[str] = []
    length = 0
    stack: list[tuple[list[Element | Text | str], int]] = [([math], 0)]
    while stack:
        nodes, place = stack.pop()
        if place >= len(nodes):
            continue
        stack.append((nodes, place + 1))
        node = nodes[place]
        if isinstance(node, str):
            parts.append(node)
        elif isinstance(node, Text):
            text = node.data.strip()
            if text and _around(node) == "mtext":
                text = f"\\text{{{node.data}}}"
            length += len(text)
            if length > _MAX_FORMULA:
                return ""
            parts.append(text)
        elif node.tag not in _SKIPPED:
            stack.append((_laid_out(node), 0))
    return "".join(parts)


def _around(node: Text) -> str:
    return node.parent.tag if isinstance(node.parent, Element) else ""


def _laid_out(element: Element) -> list[Element | Text | str]:
    inner: list[Element | Text | str] = [node for node in element if isinstance(node, (Element, Text))]
    tag = element.tag
    if tag == "msqrt":
        return ["\\sqrt{", *inner, "}"]
    kids: list[Element | Text | str] = [node for node in inner if isinstance(node, Element)]
    if tag == "mfenced":
        return [element.attr("open") or "(", *_between(kids, ","), element.attr("close") or ")"]
    if tag == "mtable":
        return ["\\begin{matrix}", *_between(kids, " \\\\ "), "\\end{matrix}"]
    if tag == "mtr":
        return _between(kids, " & ")
    if tag in _DOUBLE_SCRIPTS and len(kids) == 3:
        return [kids[0], "_{", kids[1], "}^{", kids[2], "}"]
    if len(kids) != 2:
        return inner
    if tag == "mfrac":
        return ["\\frac{", kids[0], "}{", kids[1], "}"]
    if tag == "mroot":
        return ["\\sqrt[", kids[1], "]{", kids[0], "}"]
    if tag == "mover" and (accent := _ACCENTS.get(_text_of(kids[1]))):
        return [f"\\{accent}{{", kids[0], "}"]
    return [kids[0], _SCRIPT_SIGNS[tag] + "{", kids[1], "}"] if tag in _SCRIPT_SIGNS else inner


def _text_of(node: Element | Text | str) -> str:
    """Return the text of a short element; "" of a long one."""
    parts = list(islice(node.stripped_strings, 2)) if isinstance(node, Element) else []
    return parts[0] if len(parts) == 1 else ""


def _between(kids: list[Element | Text | str], mark: str) -> list[Element | Text | str]:
    """Return elements with a separator between them."""
    return [part for kid in kids for part in (mark, kid)][1:]
