"""What an Office document says about itself (ECMA-376, part 2, core properties; ODF 1.3, meta.xml; EPUB's metadata)."""

from __future__ import annotations

from dataclasses import dataclass

from lxml import etree

from groundwire.reading.dates import iso_date
from groundwire.reading.documents.xml import local_name

__all__ = ["Properties", "read_properties"]


@dataclass(frozen=True, slots=True)
class Properties:
    """What a document says about itself."""

    title: str = ""
    author: str | None = None
    published: str | None = None
    language: str | None = None


def read_properties(root: etree._Element | None) -> Properties:
    """Return the first of each property below `root`: title, creator, date, language.

    The date is the one of publication where there is one (`date`), else the one of the last change, else of the making.
    """
    found: dict[str, str] = {}
    for element in root.iter() if root is not None else ():
        text = " ".join("".join(element.itertext()).split()) if not len(element) else ""
        if text:
            found.setdefault(local_name(element), text)
    dates = (found.get(name, "") for name in ("date", "modified", "created", "creation-date"))
    return Properties(
        title=found.get("title", ""),
        author=found.get("creator") or found.get("initial-creator"),
        published=next((day for date in dates if date and (day := iso_date(date[:10]))), None),
        language=found.get("language"),
    )
