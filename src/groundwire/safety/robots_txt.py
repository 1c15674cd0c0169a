"""Parser of robots.txt (RFC 9309), without I/O.

Protego parses the rules and matches paths. The groups that apply are selected here, for two reasons: its work grows
with the number of agents times the number of rules, which a hostile file can extend to minutes; and it does not match
`User-agent: groundwire/2.0`, matches `User-agent: ground`, and ends a group at an unknown record.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Final
from urllib.parse import quote

from protego import Protego

MAX_BYTES: Final = 500 * 1_024
"""The maximum size of a file that is parsed; RFC 9309, 2.5 requires at least this."""

_MOST: Final = 10**9  # maximum seconds or requests of a rate, which may have thousands of digits
_LINE_END = re.compile(r"\r\n?|\n")
_OTHER_LINE_END = re.compile("[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")  # not in the RFC, but in `str.splitlines`
_AGENT = re.compile(r"[ \t]*user[ \t_-]?agent[ \t]*[: \t](.*)", re.IGNORECASE)
_RULE = re.compile(
    r"[ \t]*(?:allow|dis+al+[oa]w|diasllow|crawl[ -]delay|request[ -]rate)[ \t]*[: \t]",
    re.IGNORECASE,  # including the misspellings that Protego accepts
)
_SITEMAP = re.compile(r"[ \t]*site-?map[ \t]*:", re.IGNORECASE)
_MOST_SITEMAPS = 100
_TOKEN = re.compile(r"[a-z0-9_-]+")
_PRODUCT = re.compile(r"([A-Za-z][A-Za-z0-9_-]{0,99})/[0-9]")
_BROWSERS = frozenset({"mozilla", "applewebkit", "chrome", "safari", "gecko", "firefox", "version", "edg", "mobile"})
_ADDRESS = re.compile(r"(?<!\S)\S*?://\S*")


@dataclass(frozen=True)
class Robots:
    """The rules of a site."""

    lines: tuple[str, ...] = ()
    """The lines of the file that apply: rules, delays, and sitemaps, without comments."""

    @cached_property
    def _rules(self) -> Protego:
        return Protego.parse("\n".join(("User-agent: *", *self.lines)))

    @cached_property
    def delay(self) -> float | None:
        """Seconds between two requests (`Crawl-delay`, `Request-rate`); None if unspecified."""
        delay, rate = self._rules.crawl_delay("*"), self._rules.request_rate("*")
        if rate is None:
            return delay
        return max(delay or 0.0, min(rate.seconds, _MOST) / min(rate.requests, _MOST))

    @property
    def sitemaps(self) -> tuple[str, ...]:
        """The addresses of the site's sitemaps, as written; they belong to no group (RFC 9309, 2.2.4)."""
        return tuple(line.partition(":")[2].strip() for line in self.lines if _SITEMAP.match(line))

    def permits(self, target: str) -> bool:
        """Return whether a path with its query is allowed.

        The longest pattern decides; among equals, one that allows (RFC 9309, 2.2.2). The work grows with the size of
        the file times the length of the path, and the first call also parses the rules.
        """
        return self._rules.can_fetch(f"https://site{target}", "*")

    def forbidding(self, target: str) -> str | None:
        """Return the longest rule that disallows a path with its query, or None."""
        if self.permits(target):
            return None
        lines = sorted(self.lines, key=len, reverse=True)
        while len(lines) > 1:
            longer, shorter = lines[: len(lines) // 2], lines[len(lines) // 2 :]
            lines = shorter if Robots(tuple(longer)).permits(target) else longer
        return lines[0]

    def pack(self) -> bytes:
        """Serialize the rules."""
        return "\n".join(self.lines).encode()

    @classmethod
    def unpack(cls, data: bytes) -> Robots:
        """Deserialize the rules.

        Raises:
            ValueError: the bytes are invalid.
        """
        lines = tuple(data.decode().split("\n")) if data else ()
        if not all(_RULE.match(line) or _SITEMAP.match(line) for line in lines):
            raise ValueError("not the rules of a robots.txt")
        return cls(lines)


NO_RULES: Final = Robots()
"""The rules of a site without a robots.txt."""


def agent_names(user_agent: str) -> frozenset[str]:
    """Return the names in a file that match a User-Agent, in lower case.

    These are its products (`acme-bot/1.0`) except those that every browser claims.
    """
    words = _ADDRESS.sub(" ", user_agent)
    names = {name.lower() for name in _PRODUCT.findall(words)}
    first = _TOKEN.match(words.strip().lower())
    return frozenset(names - _BROWSERS or ({first[0]} if first else {"*"}))


def parse_robots(body: bytes, names: frozenset[str]) -> Robots:
    """Parse a robots.txt; no input raises.

    Args:
        body: The file; anything beyond `MAX_BYTES` is ignored.
        names: The names to match, see `agent_names`.

    Returns:
        The rules of all groups that match a name, else of those for `*` (RFC 9309, 2.2.1).
    """
    text = body[:MAX_BYTES].decode("utf-8", "replace").removeprefix("\ufeff")
    ours: list[str] = []
    everybodys: list[str] = []
    sitemaps: list[str] = []
    addressed: list[list[str]] = []
    named = heading = False
    for raw_line in _LINE_END.split(text):
        line = raw_line.partition("#")[0].strip()
        if match := _AGENT.match(line):
            if not heading:
                addressed = []
            heading = True
            who = match[1].strip().lower()
            token = _TOKEN.match(who)
            ours_too = token is not None and token[0] in names
            named = named or ours_too
            group = ours if ours_too else everybodys if who == "*" else None
            if group is not None and not any(group is other for other in addressed):
                addressed.append(group)
        elif _RULE.match(line):
            heading = False
            line = _OTHER_LINE_END.sub(lambda char: quote(char[0]), line)
            for group in addressed:
                group.append(line)
        elif _SITEMAP.match(line) and len(sitemaps) < _MOST_SITEMAPS:
            sitemaps.append(_OTHER_LINE_END.sub(lambda char: quote(char[0]), line))
    return Robots((*(ours if named else everybodys), *sitemaps))
