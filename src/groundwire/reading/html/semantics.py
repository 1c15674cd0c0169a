"""Elements with an ARIA role in place of a semantic tag, and task lists with their checkboxes.

Source: WAI-ARIA 1.2, section 5.4 (https://www.w3.org/TR/wai-aria-1.2/#role_definitions).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from turbohtml import Element

__all__ = ["apply_roles", "is_task_box", "may_have_roles", "task_state"]

_TAGS: Final[Mapping[str, str]] = {
    "table": "table", "grid": "table", "treegrid": "table", "rowgroup": "tbody", "row": "tr", "cell": "td",
    "gridcell": "td", "columnheader": "th", "rowheader": "th", "list": "ul", "listitem": "li",
}  # fmt: skip
_PLAIN: Final = frozenset({"div", "span", "p", "section"})
_ROLES: Final = re.compile(r"role=[\"']?(?:row|listitem|heading)\b")
_HELD: Final[Mapping[str, str]] = {
    "cell": "row",
    "gridcell": "row",
    "columnheader": "row",
    "rowheader": "row",
    "listitem": "list",
}


def may_have_roles(markup: str) -> bool:
    """Return whether a page's markup may have tables, lists or headings defined only by roles."""
    return _ROLES.search(markup) is not None


def apply_roles(root: Element) -> None:
    """Rename elements with the role of a heading, a list, a table or a part of one to the semantic tag.

    Only elements without their own semantics are renamed, and parts only inside their container.

    Args:
        root: The element to modify.
    """
    for element in root.select("[role]"):
        role = (element.attr("role") or "").strip().lower()
        if element.tag not in _PLAIN:
            continue
        if role == "heading":
            level = (element.attr("aria-level") or "").strip()
            element.tag = (
                f"h{min(int(level), 6)}"
                if level.isascii() and level.isdigit() and 0 < len(level) < 3 and int(level)
                else "h2"
            )
        elif role in _TAGS:
            around = _HELD.get(role)
            if around is None or element.closest(f"[role={around}]") is not None:
                element.tag = _TAGS[role]


_TASK: Final = re.compile(r"(?:^|[\s_-])(?:tasks?|to-?do|checklist)(?=[\s_-]|$)", re.IGNORECASE)
_DONE: Final = re.compile(r"(?:^|\s)(?:checked|is-checked|checkbox-on)(?=\s|$)")


def is_task_box(box: Element) -> bool:
    """Return whether an `input` is the checkbox of a task and not a form field.

    That is: a checkbox in a list item that is disabled, or has a corresponding class.

    Args:
        box: An `input` element.
    """
    if (box.attr("type") or "").strip().lower() != "checkbox":
        return False
    item = box.closest("li")
    if item is None:
        return False
    if box.attr("disabled") is not None:
        return True
    around = item.parent
    named = (box, item, around) if isinstance(around, Element) else (box, item)
    return any(_TASK.search(element.attr("class") or "") for element in named)


def task_state(element: Element) -> str:
    """Return `[x]` or `[ ]`, from the class that some sites use for the state of a task.

    Args:
        element: An item of a Confluence list, or the checkbox of Discourse or Notion.
    """
    classes = element.attr("class") or ""
    return "[x]" if _DONE.search(classes) else "[ ]"
