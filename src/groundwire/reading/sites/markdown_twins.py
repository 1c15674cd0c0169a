"""Sites that offer their pages as Markdown at the same address with `.md`, and an index as `llms.txt` (https://llmstxt.org).

Not every site is asked for these, because that would be one more request for each page, usually without a result: only
the hosts of services that document them, and those that the operator names.
"""

from __future__ import annotations

import re
from typing import Final

from groundwire.reading.sites.parts import markdown
from groundwire.reading.sites.site import (
    NotAvailable,
    PageAddress,
    SiteContent,
    SiteRate,
    SiteRequest,
    SiteSpec,
    Steps,
    route,
)

__all__ = ["MARKDOWN_TWINS"]

_FRONT: Final = re.compile(r"---\n(?:[^\n]{0,2000}\n){0,60}?---\n")
_FRONT_TITLE: Final = re.compile(r"^title:[ \t]*[\"']?([^\n]{1,300}?)[\"']?[ \t]*$", re.MULTILINE)
_HEADING: Final = re.compile(r"^# +([^\n]{1,300})$", re.MULTILINE)


def twin(page: PageAddress) -> Steps | None:
    """Read a page by its Markdown, and the front page by the index."""
    path = page.path.rstrip("/")
    if "." in path.rpartition("/")[2] or "?" in page.url.target:
        return None
    return _twin(page, f"{page.url.origin}{path}.md" if path else f"{page.url.origin}/llms.txt")


def _twin(page: PageAddress, address: str) -> Steps:
    (source,) = yield (SiteRequest(url=address, kind="text", accept="text/markdown, text/plain;q=0.9", api=False),)
    source = source.lstrip("\ufeff \n")
    if source[:200].lower().startswith(("<!doctype", "<html", "<head", "<?xml")):
        raise NotAvailable("the site has no Markdown of this page")
    front = _FRONT.match(source)
    title = (front and _FRONT_TITLE.search(front[0])) or _HEADING.search(source, 0, 20_000)
    return SiteContent(
        title=title[1].strip() if title else "",
        parts=(markdown(source[front.end() :] if front else source, base=page.url.request_text),),
    )


MARKDOWN_TWINS: Final = SiteSpec(
    name="markdown",
    title="Markdown version",
    hosts={"*.gitbook.io": "", "*.mintlify.app": ""},
    elsewhere="{origin}",
    rate=SiteRate(60, 60.0, "https://llmstxt.org"),
    routes=(route("/{path}", twin, path=".*"),),
)
