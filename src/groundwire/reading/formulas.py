"""Formulas as TeX between dollars, from MathML, KaTeX, MathJax and the images of wikis and blogs."""

from __future__ import annotations

import re
from typing import Final

from turbohtml import Element, Text

from groundwire.reading.tex import is_formula

__all__ = ["formula", "image_formula", "script_formula"]

_MAX_FORMULA: Final = 5_000  # characters; longer ones are data, not a formula
_TEX: Final = frozenset({"application/x-tex", "application/x-latex", "tex", "latex", "text/x-tex"})
_STYLE: Final = re.compile(r"\{\\(?:display|text|script)style\s*(.*)\}", re.DOTALL)
_DELIMITED: Final = re.compile(r"\\\((.*)\\\)|\\\[(.*)\\\]|\$\$?(.*?)\$\$?", re.DOTALL)
_IMAGE: Final = re.compile(
    r"(?:^|[\s_-])(?:tex|latex|math|mwe-math\S*|wp-katex|mathjax|equation)(?=[\s_-]|$)", re.IGNORECASE
)
_JOINED: Final = {"msup": "^", "msub": "_", "mfrac": "/", "munder": "_", "mover": "^"}
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


def image_formula(image: Element) -> str:
    """Return the TeX that an image shows, or "" when it shows something else or its text is no TeX."""
    alt = image.attr("alt") or ""
    if not alt.strip():
        return ""
    classes = image.attr("class") or ""
    if (
        _IMAGE.search(classes)
        or "latex.php" in (image.attr("src") or "")
        or "/math/render/" in (image.attr("src") or "")
    ):
        return _tidy(_unless_prose(alt))
    return ""


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
            length += len(text)
            if length > _MAX_FORMULA:
                return ""
            parts.append(text)
        elif node.tag not in _SKIPPED:
            stack.append((_laid_out(node), 0))
    return "".join(parts)


def _laid_out(element: Element) -> list[Element | Text | str]:
    inner: list[Element | Text | str] = [node for node in element if isinstance(node, (Element, Text))]
    tag = element.tag
    if tag == "msqrt":
        return ["\\sqrt{", *inner, "}"]
    if tag not in _JOINED and tag != "msubsup":
        return inner
    kids: list[Element | Text | str] = [node for node in inner if isinstance(node, Element)]
    if tag == "msubsup" and len(kids) == 3:
        return [kids[0], "_{", kids[1], "}^{", kids[2], "}"]
    if len(kids) != 2:
        return kids
    if tag == "mfrac":
        return ["\\frac{", kids[0], "}{", kids[1], "}"]
    return [kids[0], _JOINED[tag] + "{", kids[1], "}"]
