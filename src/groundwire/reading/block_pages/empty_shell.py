"""Detection of app shells: pages without content until their scripts have run; and of pages that load parts later."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import Final

from turbohtml import Document, Element, Text

from groundwire.reading.block_pages.phrases import PHRASES
from groundwire.reading.html.limits import fit, trim
from groundwire.reading.html.semantics import parse_page
from groundwire.reading.text.sanitize import lower_ascii, strip_controls

FEW: Final = 60
"""Words; a page with more is not a shell, whatever its scripts would add."""
_MAX_MENU_WORDS: Final = 25  # words of menus and messages around an empty root
_ROOTS: Final = frozenset(
    {
        "___gatsby", "__layout", "__next", "__nuxt", "app", "app-container", "app-mount", "app-root", "app-shell",
        "appmountpoint", "application", "ember-app", "gatsby-focus-wrapper", "main", "main-app", "mount", "mount-point",
        "q-app", "react", "react-app", "react-root", "reactroot", "react_root", "root", "spa", "spa-root", "svelte",
        "sveltekit", "vue-app", "vue-root", "webapp",
    }
)  # fmt: skip
"""Names that frameworks and their templates give to the element filled by their script."""
_ELEMENTS: Final = re.compile(r"(?:[a-z0-9]+-)?(?:app|root|shell)(?:-[a-z0-9]+)?")
_WAITS: Final = (
    r"(?:loading|please wait|one moment|wird geladen|bitte warten|chargement|veuillez patienter|cargando|caricamento"
    r"|carregando|laden|загрузка|ładowanie|yükleniyor|読み込み中|加载中|載入中|불러오는 중|جار التحميل)"
)
_LOADING_TEXT: Final = re.compile(rf"\W*{_WAITS}.{{0,40}}", re.IGNORECASE | re.DOTALL)
_BOX: Final = re.compile(
    rf"\W{{0,5}}{_WAITS}(?:(?: [^\W\d_]{{1,20}}){{0,4}}\s?(?:\.{{2,4}}|…))?\W{{0,3}}", re.IGNORECASE
)
"""The whole text of a box that waits for its content; words after the first need an ellipsis, as titles have none."""
_MAY_WAIT: Final = re.compile(rf"(?:{_BOX.pattern})(?=\s|\Z)", re.IGNORECASE)
"""Such a text, followed by other lines."""
_MAX_WAIT: Final = 400  # characters in which such a text ends
_ASIDE_NAME: Final = re.compile(
    r"comment|disqus|related|recommend|advert|(?:^|[-_ ])ads?(?:[-_ ]|$)|banner|share|social|newsletter|cookie|consent"
    r"|chat|login|sign-?in|search|cart|modal|popup|overlay|dialog|toast|tooltip|player|captcha|sidebar|widget|menu|footer"
    r"|header|rating|gdsr|video|thumbs|loader-wrap|preloader|page-loader",
    re.IGNORECASE,
)
"""Names of what is beside the content, and of animations that cover a page until it is there."""
_ASIDE_TAGS: Final = frozenset({"nav", "footer", "aside", "header", "form", "button", "dialog", "a", "select", "label"})
_SCROLLS: Final = ("infinite-scroll", "infinitescroll", "load-more", "loadmore", "load_more")
_MORE_WORDS: Final = (
    *("load more", "mehr laden", "weitere laden", "charger plus", "cargar más", "carregar mais", "carica altri"),
)
_INITIALS: Final = "lpowbcmзły読加載불ج"
"""The letters that these begin with: most lines begin with another."""
_STARTS: Final = re.compile(rf"\n\W{{0,5}}(?=[{_INITIALS}])(?:{_WAITS}|({'|'.join(_MORE_WORDS)}))", re.IGNORECASE)
"""The beginning of a line of a page that waits, or of a button for more, which is in the group."""
_MORE_BUTTON: Final = re.compile(rf"(?:{'|'.join(_MORE_WORDS)})(?: [^\W\d_]{{1,20}}){{0,2}}", re.IGNORECASE)
LOADS_PARTS: Final = "parts of the page are loaded by scripts and are missing; a reader with a browser may have them"
"""The warning for a page with boxes that wait for their content."""
LOADS_MORE: Final = "the page loads more of its list on request; only the beginning is here"
"""The warning for a list whose other entries come when a visitor scrolls or clicks."""
_LETTERS_WITHOUT_SPACES: Final = re.compile("[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_VISIBLE_CONTENT: Final = "img, picture, svg, canvas, video, audio, iframe, object, embed, table, input, form, frameset"
_UNSHOWN_TAGS: Final = frozenset({"script", "style", "noscript", "template", "title", "head"})
_DATA_TYPE: Final = re.compile(r"json|text/(?:template|html|x-)|importmap|speculationrules", re.IGNORECASE)
_MAX_ROOTS: Final = 20  # a page has one, or a few
_MIN_SCRIPT: Final = 100  # characters; a shorter inline script is rather a visitor counter


def word_count(text: str, most: int = -1) -> int:
    """Return the number of words; scripts without spaces between words count two letters as one word.

    Args:
        text: The text.
        most: After how many words to stop counting; -1 counts all. A larger result is only known to be larger.
    """
    words = len(text.split(None, most))
    if words > most >= 0 or text.isascii():
        return words
    return words + len(_LETTERS_WITHOUT_SPACES.findall(text[:20_000])) // 2


def is_shell(markup: str, content: str) -> bool:
    """Return whether a page has no content until its scripts have run.

    Args:
        markup: The page's HTML.
        content: The converted content.
    """
    words = word_count(content, FEW)
    if words > FEW or ("<script" not in markup and "<script" not in lower_ascii(markup)):
        return False
    document = parse_page(fit(strip_controls(markup))[0])
    trim(document)
    if not has_program(document):
        return False
    fallbacks = document.find_all("noscript")
    pleads = any(PHRASES["javascript"].search(element.text[:2_000].lower()) for element in fallbacks)
    if words > _MAX_MENU_WORDS:
        return pleads and _has_empty_root(document)
    if pleads or _has_empty_root(document) or _LOADING_TEXT.fullmatch(" ".join(content.split())):
        return True
    lists = islice(document.select("ul, ol, tbody"), _MAX_ROOTS)  # a heading above an empty one has lost its entries
    if any(_is_empty(element) and not _is_beside(element) for element in lists):
        return True
    body = document.find("body")
    return words == 0 and (body is None or body.select_one(_VISIBLE_CONTENT) is None or _has_empty_root(document))


def later_parts(document: Document, marked: Sequence[Element], text: str, markup: str) -> tuple[str, ...]:
    """Return the warnings for a page with content whose scripts load more of it.

    Args:
        document: The page, without invisible parts: most boxes are hidden until they are needed.
        marked: The elements that are marked as waiting boxes, and others; some may have been removed.
        text: Its texts, a line each.
        markup: Its HTML.
    """
    warnings = []
    lines = [(match.start(), match[1]) for match in _STARTS.finditer("\n" + text)]
    waits = any(
        more is None and _MAY_WAIT.match(" ".join(text[start : start + _MAX_WAIT].split())) for start, more in lines
    )
    if (waits and _has_box(document)) or _is_busy(marked):
        warnings.append(LOADS_PARTS)
    if any(more for _, more in lines):
        buttons = document.select(_BUTTONS)
        if any(_MORE_BUTTON.fullmatch(" ".join(button.text.split())) for button in buttons) and _scrolls(markup):
            warnings.append(LOADS_MORE)
    return tuple(warnings)


_BUTTONS: Final = "button, a, [role=button]"


def _scrolls(markup: str) -> bool:
    low = lower_ascii(markup)
    return any(word in low for word in _SCROLLS)


def _has_box(document: Document) -> bool:
    """Return whether a page has a box in its content that says that it waits for a script."""
    for node in document.descendants:
        if isinstance(node, Text) and len(node.data) < 200 and _BOX.fullmatch(" ".join(node.data.split())):
            box = node.parent
            if (
                isinstance(box, Element)
                and box.tag not in _UNSHOWN_TAGS
                and len(box.text.strip()) < 100
                and not _is_beside(box)
            ):
                return True
    return False


def _is_busy(marked: Sequence[Element]) -> bool:
    """Return whether a page has an empty box in its content that a script marks as waiting."""
    busy = (element for element in marked if element.attr("aria-busy") == "true" and element.closest("html"))
    return any(not element.text.strip() and not _is_beside(element) for element in islice(busy, _MAX_ROOTS))


def _is_beside(element: Element) -> bool:
    """Return whether an element is beside the content of its page."""
    at: object = element
    while isinstance(at, Element) and at.tag not in {"main", "article", "body"}:
        if at.tag in _ASIDE_TAGS or _ASIDE_NAME.search(f"{at.attr('id') or ''} {at.attr('class') or ''}"):
            return True
        at = at.parent
    return False


def has_program(document: Document, least: int = _MIN_SCRIPT) -> bool:
    """Return whether a page, with all its elements, has a script that could render it.

    Args:
        document: The page.
        least: The size of an inline script that counts, in characters.
    """
    for script in document.iter_elements("script"):
        if script.attr("src") or (script.attr("type") or "").lower() == "module":
            return True
        if not _DATA_TYPE.search(script.attr("type") or "") and len(script.text) >= least:
            return True
    return False


def _has_empty_root(document: Document) -> bool:
    """Return whether a page has an element to be filled by a script, with at most a loading message in it."""
    roots = (element for element in document.descendants if isinstance(element, Element) and _is_root(element))
    return any(_is_empty(element) for element in islice(roots, _MAX_ROOTS))


def _is_root(element: Element) -> bool:
    if (element.attr("id") or "").lower() in _ROOTS and element.tag in {"div", "main", "section", "body"}:
        return True
    if "-" in element.tag:
        return bool(_ELEMENTS.fullmatch(element.tag))
    return any(element.attr(name) is not None for name in ("data-reactroot", "ng-app", "data-ng-app", "data-page"))


def _is_empty(element: Element) -> bool:
    text = " ".join(
        node.data
        for node in element.descendants
        if isinstance(node, Text) and isinstance(node.parent, Element) and node.parent.tag not in _UNSHOWN_TAGS
    ).strip()
    if text:
        return len(text) < 100 and _LOADING_TEXT.fullmatch(text) is not None
    return element.tag != "body" and element.select_one("img, picture, video, table, form, iframe") is None
