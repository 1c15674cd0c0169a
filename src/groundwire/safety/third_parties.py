"""What of an address somebody else's reader may see.

A page that a remote reader reads for us is read from its machines and stands in its logs. What a page does not need is
left out: parameters that only tell who came from where, identifiers of sessions, a fragment with a secret. What looks
like a secret and cannot be left out, because the page would not come without it, keeps the address from such readers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote_plus

from groundwire.safety.secrets_in_urls import has_secret
from groundwire.safety.tracking import is_tracking

__all__ = ["Shareable", "for_third_parties"]

_SESSIONS = frozenset(
    re.findall(
        r"\w+",
        "aspsessionid cfid cftoken csrf csrf_token csrfmiddlewaretoken csrftoken jsessionid phpsessid sessid "
        "session_id sessionid sid xsrf xsrf_token",
    )
)
_SESSION_VALUE = re.compile(r"[A-Za-z0-9,_.~-]{8,}")
_SESSION_IN_PATH = re.compile(
    r"(?:;|%3B)\s*(?:jsessionid|phpsessid|sessionid|sid)=[^/;?]+|/\([SAF]\([A-Za-z0-9_-]{12,}\)\)(?=/)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Shareable:
    """An address as somebody else may see it."""

    url: str
    """The address without what was left out."""
    left_out: tuple[str, ...]
    """What was left out, by its names and without its values."""
    secret: bool
    """Whether a secret is still in it: then nobody else may see it."""


def for_third_parties(url: str) -> Shareable:
    """Return what of an address a reader that somebody else runs may see.

    Args:
        url: An address in canonical form.
    """
    rest, hash_, fragment = url.partition("#")
    address, mark, query = rest.partition("?")
    left_out: list[str] = []
    kept = []
    for pair in query.split("&") if mark else ():
        name = _name(pair)
        if _is_needless(name, pair.partition("=")[2]):
            left_out.append(name)
        else:
            kept.append(pair)
    bare = _SESSION_IN_PATH.sub("", address)
    if bare != address:
        left_out.append("the session in the path")
    if fragment and has_secret(f"https://x.example/#{fragment}"):
        left_out.append("the fragment")
        hash_ = fragment = ""
    clean = url if not left_out else bare + (f"?{'&'.join(kept)}" if kept else "") + hash_ + fragment
    return Shareable(clean, tuple(dict.fromkeys(left_out)), has_secret(clean))


def _name(pair: str) -> str:
    return unquote_plus(pair.partition("=")[0])[:40]


def _is_needless(name: str, value: str) -> bool:
    if is_tracking(name):
        return True
    return name.lower().replace("-", "_") in _SESSIONS and bool(_SESSION_VALUE.fullmatch(value))
