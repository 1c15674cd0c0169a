"""A stand-in for a model that answers questions: it searches, opens the first page, and quotes its first sentence."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from groundwire.testing.models.turns import Asked, Call, Say, Turn

__all__ = ["quoting"]

_URL = re.compile(r"\bURL: (https?://\S+)")
_MARK = re.compile(r"^Cite as: (\[\d+\])", re.MULTILINE)
_FENCE = re.compile(r"^<web_content_\w+>\n", re.MULTILINE)
_LINK = re.compile(r"\[([^\[\]]*)\]\([^()\s]*\)")
_PROSE = 80  # characters; what is shorter is a caption or a label


def quoting(asked: Asked) -> Turn:
    """Decide what a reader in a hurry would do: search for the question, open the first page, quote it with its mark.

    It understands nothing. What it says is on the page, which is all that a first look at citations needs.
    """
    if not asked.results:
        return _calls(asked, "web_search", {"query": _question(asked.body)})
    found = _URL.search(asked.results[0])
    if found is None:
        return Say("I searched, and found nothing to answer with.")
    if len(asked.results) == 1:
        return _calls(asked, "open_page", {"url": found[1]})
    page = asked.results[1]
    mark, sentence = _MARK.search(page), _sentence(_FENCE.split(page)[-1])
    if mark is None or not sentence:
        return Say("I found a page, and could not read it.")
    return Say(f"{sentence} {mark[1]}.")


def _calls(asked: Asked, name: str, arguments: Mapping[str, Any]) -> Turn:
    return Call(name, arguments) if name in asked.functions else Say(f"I was not given the tool {name}.")


def _question(body: Mapping[str, Any]) -> str:
    """Return the last words of the user in a request of chat completions, Messages or Responses."""
    asked = body.get("messages") or body.get("input") or ""
    for message in reversed(asked if isinstance(asked, list) else [{"role": "user", "content": asked}]):
        if message.get("role") == "user":
            content = message.get("content")
            parts = [{"text": content}] if isinstance(content, str) else content or ()
            return " ".join(part["text"] for part in parts if "text" in part)
    return ""


def _sentence(page: str) -> str:
    """Return the first sentence of a page's text, without its full stop."""
    plain = re.sub(r"[*`]", "", _LINK.sub(r"\1", page))
    blocks = [" ".join(block.split()) for block in plain.split("\n\n")]
    prose = next((one for one in blocks if len(one) > _PROSE and one[0].isalpha()), "")
    return prose.split(". ")[0].rstrip(".")
