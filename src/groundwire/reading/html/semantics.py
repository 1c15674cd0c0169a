"""Elements that only their role makes to what they are.

Source: WAI-ARIA 1.2, section 5.4 (https://www.w3.org/TR/wai-aria-1.2/#role_definitions).

Task lists: which of a page's boxes say what is done.
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
    """Tell whether a page's markup may hold tables, lists or headings that only a role makes to what they are."""
    return _ROLES.search(markup) is not None


def apply_roles(root: Element) -> None:
    """Give the elements that say by their role to be a heading, a list, a table or a part of one the names of these.

    Only elements without a meaning of their own are renamed, and parts only where they are in their whole.

    Args:
        root: What is to be changed.
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
    """Tell whether an `input` is the box of a task, which shows whether it is done, and no field of a form.

    That is: a checkbox in a list item that cannot be used, or whose names say so.

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
    """Return `[x]` or `[ ]`, by the class with which some sites say whether a task is done.

    Args:
        element: An item of Confluence's lists, or the box that Discourse and Notion draw.
    """
    classes = element.attr("class") or ""
    return "[x]" if _DONE.search(classes) else "[ ]"
