"""What a site's robots.txt says to us (RFC 9309): bytes become rules, without any I/O.

Our own parser, because the file is written by strangers: it reads each line once and keeps only what is said to us, so
that a file of many agents and many rules costs no more than its size. `Crawl-delay`, which is no part of the RFC, is
read as most crawlers read it: seconds between two requests.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import quote

__all__ = ["MAX_BYTES", "NO_RULES", "Robots", "Rule", "agent_names", "parse_robots"]

MAX_BYTES = 500 * 1_024
"""What is read of a file; RFC 9309, 2.5 asks for no less."""

_LINE_END = re.compile(r"\r\n?|\n")
_FIELD = re.compile(
    r"[ \t]*(?P<agent>user[ \t_-]?agent)[ \t]*[: \t](?P<who>.*)"
    r"|[ \t]*(?P<rule>allow|disallow)[ \t]*[: \t](?P<path>.*)"
    r"|[ \t]*(?P<delay>crawl[ \t_-]?delay)[ \t]*[: \t](?P<seconds>.*)",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"[a-z0-9_-]+")
_PRODUCT = re.compile(r"([A-Za-z][A-Za-z0-9_-]*)/[0-9]")
_BROWSERS = frozenset({"mozilla", "applewebkit", "chrome", "safari", "gecko", "firefox", "version", "edg", "mobile"})
_ADDRESS = re.compile(r"\S*://\S*")
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_RESERVED = "!&'()+,/:;=?@[]%"  # as they are; `*` and `$` are spelled %2A and %24 where they mean themselves


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of the file."""

    pattern: str
    """The path that it is about, percent-encoded alike on both sides; `*` is anything, a `$` at the end is the end."""
    allow: bool
    """Whether it allows or disallows."""

    @property
    def text(self) -> str:
        """The rule as the file would have it."""
        return f"{'Allow' if self.allow else 'Disallow'}: {self.pattern}"

    def matches(self, target: str) -> bool:
        """Tell whether a path, with its query, is meant; it must have been through `normal`."""
        ends = self.pattern.endswith("$")
        first, *rest = (self.pattern[:-1] if ends else self.pattern).split("*")
        if not target.startswith(first):
            return False
        if not rest:
            return not ends or target == first
        at = len(first)
        for part in rest[:-1]:
            found = target.find(part, at)
            if found < 0:
                return False
            at = found + len(part)
        if ends:
            return target.endswith(rest[-1]) and len(target) - len(rest[-1]) >= at
        return target.find(rest[-1], at) >= 0


@dataclass(frozen=True)
class Robots:
    """What a site asks of us."""

    rules: tuple[Rule, ...] = ()
    """The rules, in the order of the file."""
    delay: float | None = None
    """Seconds that should pass between two requests; None when nothing is said."""

    @cached_property
    def _by_weight(self) -> list[Rule]:
        return sorted(self.rules, key=lambda rule: (-len(rule.pattern), not rule.allow))

    def verdict(self, target: str) -> Rule | None:
        """Return the rule that decides about a path with its query, or None when none is about it.

        The longest pattern decides; among equals one that allows (RFC 9309, 2.2.2).
        """
        if target.partition("?")[0] == "/robots.txt":
            return None
        normal = _normal(target, wild=False)
        return next((rule for rule in self._by_weight if rule.matches(normal)), None)

    def permits(self, target: str) -> bool:
        """Tell whether a path with its query may be asked for."""
        rule = self.verdict(target)
        return rule is None or rule.allow

    def pack(self) -> bytes:
        """Return the rules as bytes."""
        return json.dumps({"rules": [[rule.pattern, rule.allow] for rule in self.rules], "delay": self.delay}).encode()

    @classmethod
    def unpack(cls, data: bytes) -> Robots:
        """Return the rules that `pack` was made of.

        Raises:
            ValueError: these are no such bytes.
        """
        try:
            kept: Any = json.loads(data)
            rules = tuple(Rule(str(pattern), bool(allow)) for pattern, allow in kept["rules"])
            return cls(rules, None if kept["delay"] is None else float(kept["delay"]))
        except (KeyError, TypeError, RecursionError) as error:
            raise ValueError("no rules of a robots.txt") from error


NO_RULES = Robots()
"""What a site without a robots.txt asks."""


def agent_names(user_agent: str) -> frozenset[str]:
    """Return the names by which a file may call whoever sends a User-Agent, in lower case.

    These are its products (`acme-bot/1.0`) without those that every browser claims to be.
    """
    words = _ADDRESS.sub(" ", user_agent)
    names = {name.lower() for name in _PRODUCT.findall(words)}
    first = _TOKEN.match(words.strip().lower())
    return frozenset(names - _BROWSERS or ({first[0]} if first else {"*"}))


def parse_robots(body: bytes, names: frozenset[str]) -> Robots:
    """Read a robots.txt; any bytes are one.

    Args:
        body: The file; what is beyond `MAX_BYTES` is left out.
        names: Our names, see `agent_names`.

    Returns:
        The rules of all groups that name us, else of those for everybody (RFC 9309, 2.2.1).
    """
    text = body[:MAX_BYTES].decode("utf-8", "replace").removeprefix("\ufeff")
    ours, everybodys = _Group(), _Group()
    addressed: list[_Group] = []
    heading = False
    for line in _LINE_END.split(text):
        found = _FIELD.match(line.partition("#")[0])
        if found is None:
            continue
        if found["agent"]:
            who = found["who"].strip().lower()
            if not heading:
                addressed = []
            heading = True
            token = _TOKEN.match(who)
            group = everybodys if who == "*" else ours if token and token[0] in names else None
            if group is not None and group not in addressed:
                group.named = True
                addressed.append(group)
            continue
        heading = False
        for group in addressed:
            group.take(found)
    group = ours if ours.named else everybodys
    return Robots(tuple(group.rules), group.delay)


class _Group:
    """What is said to one agent."""

    def __init__(self) -> None:
        self.named = False
        self.rules: list[Rule] = []
        self.delay: float | None = None

    def take(self, line: re.Match[str]) -> None:
        """Read a line that is no User-agent."""
        if line["delay"]:
            try:
                seconds = float(line["seconds"].strip())
            except ValueError:
                return
            if 0 <= seconds < math.inf:
                self.delay = seconds
            return
        path = line["path"].strip()
        if path.startswith(("/", "*")):  # anything else matches no path, an empty one least of all
            self.rules.append(Rule(_normal(path, wild=True), line["rule"].lower() == "allow"))


def _normal(path: str, *, wild: bool) -> str:
    """Return a path in the one spelling that comparing takes (RFC 9309, 2.2.2).

    Args:
        path: A path with its query, or a pattern.
        wild: Whether `*`, and `$` at the end, are signs of a pattern.
    """
    end = ""
    if wild and path.endswith("$"):
        path, end = path[:-1], "$"
    text = quote(path, safe=_RESERVED + "~" + ("*" if wild else ""), errors="replace")
    return _ESCAPE.sub(_plain, text) + end


def _plain(escape: re.Match[str]) -> str:
    char = chr(int(escape[1], 16))
    return char if char in _UNRESERVED else escape[0].upper()
