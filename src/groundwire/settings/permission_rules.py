"""One rule of the permissions as text: `web_search`, `open_page(python.org)`, `open_page(python.org)@research`, `*`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

__all__ = ["Decision", "PermissionRule", "parse_rule"]

Decision = Literal["allow", "confirm", "deny"]
"""What becomes of a call: it is made, somebody is asked, or it is refused."""

_RULE = re.compile(
    r"(?P<tool>\*|[A-Za-z_][\w-]{0,63})(\((?P<domain>[^()\s@/:]{1,253})\))?(@(?P<session>[^\s()]{1,200}))?"
)


@dataclass(frozen=True, slots=True)
class PermissionRule:
    """Which calls a rule speaks of."""

    tool: str
    """The tool's name, or `*` for every tool."""
    domain: str | None = None
    """Only calls about this domain and its sub-domains; None means about anything."""
    session: str | None = None
    """Only calls of the session of this name; None means of every session."""

    def __str__(self) -> str:
        domain = f"({self.domain})" if self.domain else ""
        return self.tool + domain + (f"@{self.session}" if self.session else "")


def parse_rule(text: str) -> PermissionRule:
    """Return a rule.

    Args:
        text: TOOL or `*`, then perhaps (DOMAIN), then perhaps @SESSION.

    Raises:
        ValueError: it is not of that form.
    """
    found = _RULE.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"{text[:80]!r} is not a rule; write TOOL, TOOL(DOMAIN) or TOOL(DOMAIN)@SESSION")
    domain = found["domain"].lower().removeprefix("*.").strip(".") if found["domain"] else None
    if domain == "":
        raise ValueError(f"{text[:80]!r} names no domain; write e.g. open_page(python.org)")
    return PermissionRule(found["tool"], domain, found["session"])
