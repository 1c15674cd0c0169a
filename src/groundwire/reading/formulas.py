"""Formulas as TeX between dollars, from MathML, KaTeX, MathJax and the images of wikis and blogs."""

from __future__ import annotations

import re
from typing import Final

from turbohtml import Document, Element, Text

from groundwire.reading.tex import is_formula

__all__ = ["formula", "image_formula", "is_written_out", "script_formula", "write_out_images"]

_MAX_FORMULA: Final = 5_000  # characters; longer ones are data, not a formula
_TEX: Final = frozenset({"application/x-tex", "application/x-latex", "tex", "latex", "text/x-tex"})
_STYLE: Final = re.compile(r"\{\\(?:display|text|script)style\s*(.*)\}", re.DOTALL)
_DELIMITED: Final = re.compile(r"\\\((.*)\\\)|\\\[(.*)\\\]|\$\$?(.*?)\$\$?", re.DOTALL)
_IMAGE: Final = re.compile(
    r"(?:^|[\s_-])(?:tex|latex|math|mwe-math\S*|wp-katex|mathjax|equation)(?=[\s_-]|$)", re.IGNORECASE
)
_DRAWN: Final = re.compile(r"[./]latex[.?]|/math/render/|render/math\?|mathtex|mimetex|[?&]cht=tx", re.IGNORECASE)
"""Addresses of services that draw formulas."""
_SIGN: Final = re.compile(r"[\\^_{}=+<>|/]")
_JOINED: Final = {"msup": "^", "msub": "_", "munder": "_", "mover": "^"}
_SCRIPTED: Final = frozenset({"msubsup", "munderover"})
_SKIPPED: Final = frozenset({"annotation", "annotation-xml", "mphantom"})


def formula(element: Element) -> tuple[str, bool]:
    """Return the TeX of a formula's element, and whether it stands on a line of its own.

    Args:
        element: A `math` element, or what KaTeX, MathJax or MediaWiki put around one.

    Returns:
        The TeX without dollars; what MathML says as a line of text if it comes without TeX; "" if there is neither.
    """
    block = _is_block(element)
    math = element if element.tag == "math" else element.find("math")
    tex = ""
    for annotation in element.iter_elements("annotation"):
        if (annotation.attr("encoding") or "").strip().lower() in _TEX:
            tex = annotation.text
            break
    if not tex.strip() and (script := element.find("script")) is not None and (found := script_formula(script)):
        return found[0], block or found[1]
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
    """Return the TeX in a script of MathJax 2 and whether it is on a line of its own, or None for any other script."""
    kind = (script.attr("type") or "").lower()
    if not kind.startswith("math/tex"):
        return None
    return _tidy("".join(node.data for node in script if isinstance(node, Text))), "mode=display" in kind


def is_written_out(element: Element) -> bool:
    """Tell whether behind what MathJax 2 has drawn there is the script with its TeX.

    Args:
        element: What MathJax calls `MathJax` or `MathJax_Preview`.
    """
    around = element.parent
    places = [element]
    if isinstance(around, Element) and "MathJax_Display" in (around.attr("class") or ""):
        places.append(around)
    for place in places:
        after = next((node for node in place.next_siblings if isinstance(node, Element)), None)
        if after is not None and after.tag == "script":
            return script_formula(after) is not None
    return False


def image_formula(image: Element) -> str:
    """Return the TeX that an image shows, or "" when it shows something else."""
    alt = (image.attr("alt") or "").strip()
    if not alt or len(alt) > _MAX_FORMULA:
        return ""
    source, classes = (image.attr("src") or "")[:500], image.attr("class") or ""
    sure = alt[0] in "$\\" and _DELIMITED.fullmatch(alt) is not None
    if not sure and ("tex" in source or "math" in source or "cht=tx" in source):
        sure = _DRAWN.search(source) is not None
    if not sure and (not classes or _IMAGE.search(classes) is None or (" " in alt and not _SIGN.search(alt))):
        return ""
    return _tidy(_unless_prose(alt))


def write_out_images(document: Document) -> None:
    """Replace images of formulas by scripts as MathJax 2 has them, so that a formula has text like any other part."""
    for image in document.find_all("img"):
        if tex := image_formula(image):
            mode = "; mode=display" if _is_block(image) else ""
            image.replace_with(Element("script", {"type": f"math/tex{mode}"}, [Text(tex)]))


def _unless_prose(tex: str, shown: str = "") -> str:
    """Return what stands behind a formula if it is one; see `is_formula`."""
    return tex if is_formula(tex[:_MAX_FORMULA], shown) else ""


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
    if match := _DELIMITED.fullmatch(tex):
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
    if tag in _SCRIPTED and len(kids) == 3:
        return [kids[0], "_{", kids[1], "}^{", kids[2], "}"]
    if len(kids) != 2:
        return inner
    if tag == "mfrac":
        return ["\\frac{", kids[0], "}{", kids[1], "}"]
    if tag == "mroot":
        return ["\\sqrt[", kids[1], "]{", kids[0], "}"]
    return [kids[0], _JOINED[tag] + "{", kids[1], "}"] if tag in _JOINED else inner


def _between(kids: list[Element | Text | str], mark: str) -> list[Element | Text | str]:
    """Return elements with a mark between each two of them."""
    return [part for kid in kids for part in (mark, kid)][1:]
