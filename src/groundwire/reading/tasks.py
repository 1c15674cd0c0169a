"""Task lists: which of a page's boxes say what is done."""

from __future__ import annotations

import re
from typing import Final

from turbohtml import Element

__all__ = ["is_task_box", "task_state"]

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
