"""The names under which answers are kept: whatever changes an answer changes its key.

A key shows what kind of thing it names and nothing else. What was asked is in it as a SHA-256 only, because keys end
up in files, on servers and in logs.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict

from groundwire.models import Query
from groundwire.safety.domains import DomainPolicy
from groundwire.safety.urls import WebUrl

__all__ = ["page_key", "search_key"]

_FORM = 1  # of keys and kept values; another number makes everything that was kept before unknown


def search_key(query: Query, providers: Sequence[str], policy: DomainPolicy, extra: str = "") -> str:
    """Return the name of a search's answer.

    Words that differ in white space only are the same words; case and accents stay, as services treat them
    differently. Domain lists are sets, and the order of providers counts.

    Args:
        query: What is asked, with all its filters.
        providers: The names of the providers in the order in which they would be asked.
        policy: The operator's domain lists.
        extra: Whatever else changes the answer: the strategy, the providers' options.
    """
    asked = asdict(query)
    asked["text"] = " ".join(query.text.split())
    for name in ("allowed_domains", "blocked_domains"):
        asked[name] = _as_set(asked[name])
    return _key("search", [asked, list(providers), _as_set(policy.allowed), _as_set(policy.blocked), extra])


def page_key(url: WebUrl, readers: Sequence[str], extra: str = "") -> str:
    """Return the name of a page as read; the fragment is left out, as it never reaches the network.

    Args:
        url: The page's address.
        readers: The names of the readers in the order in which they would be asked.
        extra: Whatever else changes what is read.
    """
    return _key("page", [url.request_text, list(readers), extra])


def _as_set(names: Sequence[str]) -> list[str]:
    return sorted(set(names))


def _key(kind: str, parts: list[object]) -> str:
    # JSON keeps apart what a plain joining of texts would run together, and escapes lone surrogates.
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), default=str)
    return f"{kind}:{_FORM}:{hashlib.sha256(text.encode('ascii')).hexdigest()}"
