"""Archive entries as lines of JSON: an export, and an import that takes all lines or none."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import IO, ClassVar, NamedTuple

from pydantic import AwareDatetime, BaseModel, ConfigDict, ValidationError

from groundwire.errors import BlockedByPolicy, InvalidRequest
from groundwire.models import Page, SearchResult
from groundwire.safety.tenancy import Owner
from groundwire.safety.urls import parse_url
from groundwire.storage.archive.fts import joined
from groundwire.storage.archive.records import Item, Kind, asked_for, page_item, result_item, seen_at
from groundwire.storage.base import StoreError

__all__ = ["LONGEST_LINE", "ImportRefused", "Imported", "check_lines", "line_of", "read_line"]

LONGEST_LINE = 32_000_000
"""Bytes of a line."""

_MOST_PROBLEMS = 20  # lines that are named


class ImportRefused(StoreError):
    """A file was not imported at all, because some of its lines are invalid.

    Args:
        problems: The number of a line, from 1, and what is wrong with it.
        more: How many more lines are wrong.
    """

    def __init__(self, problems: Sequence[tuple[int, str]], more: int = 0) -> None:
        self.problems: tuple[tuple[int, str], ...] = tuple(problems)
        self.more = more
        lines = [f"line {number}: {text}" for number, text in self.problems]
        lines += [f"and {more} more"] if more else []
        super().__init__("Nothing was imported. " + "; ".join(lines) + ".")


class Imported(NamedTuple):
    """The result of an import."""

    added: int
    """Entries that are new, or newer than what was there."""
    unchanged: int
    """Entries that were there already."""
    skipped: int
    """Entries that were skipped: too old, without text, or with a secret in their URL."""


class _Line(BaseModel):
    model_config: ClassVar[ConfigDict] = ConfigDict(
        frozen=True, extra="forbid", hide_input_in_errors=True, defer_build=True
    )

    kind: Kind
    seen: AwareDatetime
    asked: str = ""
    tenant: str = ""
    session: str = ""
    public: bool = False
    page: Page | None = None
    result: SearchResult | None = None


def line_of(item: Item) -> bytes:
    """Return an item as a line that `read_line` reads."""
    is_page = item.kind == "page"
    known = {} if is_page else {"title": joined(item.title), "url": item.url}
    data = known | json.loads(item.data) | {"content" if is_page else "snippet": joined(item.text)}
    seen = seen_at(item.seen).isoformat()
    owner = {"tenant": item.tenant, "session": item.session, "public": bool(item.public)}
    shown = {name: value for name, value in owner.items() if value}
    line = {"kind": item.kind, "seen": seen, "asked": joined(item.asked), **shown, item.kind: data}
    return json.dumps(line).encode() + b"\n"


def read_line(line: bytes, now: float) -> Item | None:
    """Return the item of a line, or None for one that is not kept, such as an address with a secret.

    Args:
        line: A line of JSON.
        now: The current time, in seconds since the epoch; nothing was seen later.

    Raises:
        ValueError: it is not a valid line; the message states the reason.
    """
    try:
        row = _Line.model_validate_json(line)
        seen = round(min(row.seen.timestamp(), now) * 1_000)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise ValueError(f"{place}: {first['msg']}" if place else first["msg"]) from error
    except (OverflowError, OSError) as error:
        raise ValueError("seen: is out of range") from error
    source = row.page if row.kind == "page" else row.result
    if source is None:
        raise ValueError(f"{row.kind}: is missing")
    try:
        for url in filter(None, (source.url, getattr(source, "final_url", None))):
            parse_url(url)
    except (InvalidRequest, BlockedByPolicy) as error:
        raise ValueError(f"url: {error}") from error
    asked, owner = asked_for(row.asked), Owner(row.tenant, row.session)
    if isinstance(source, SearchResult):
        return result_item(source, asked, seen, owner, public=int(row.public))
    if source.status != "success":
        raise ValueError("page.status: a page that could not be read is not archived")
    return page_item(source, asked, seen, owner, public=row.public)


def check_lines(lines: Iterable[bytes], spool: IO[bytes], now: float, oldest: int, max_bytes: int) -> tuple[int, int]:
    """Copy the lines of an import that will be kept; return how many those are, and how many are not.

    Raises:
        ImportRefused: some are invalid.
    """
    problems: list[tuple[int, str]] = []
    kept = skipped = wrong = 0
    for number, line in enumerate(lines, start=1):
        try:
            if len(line) > LONGEST_LINE:
                raise ValueError(f"is longer than {LONGEST_LINE:,} bytes")
            if not line.strip():
                continue
            item = read_line(line, now)
        except ValueError as error:
            wrong += 1
            if wrong <= _MOST_PROBLEMS:
                problems.append((number, str(error)))
            continue
        if item is None or item.seen < oldest or item.size > max_bytes:
            skipped += 1
        else:
            kept += 1
            spool.write(line.rstrip(b"\r\n") + b"\n")
    if problems:
        raise ImportRefused(problems, wrong - len(problems))
    return kept, skipped
