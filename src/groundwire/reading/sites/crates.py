"""crates.io over its API (https://crates.io/data-access), and docs.rs by the container of its pages."""

from __future__ import annotations

import re
from html import unescape
from typing import Final

from groundwire.reading.sites.parts import facts, heading, html, say
from groundwire.reading.sites.site import (
    FormatChanged,
    NotAvailable,
    PageAddress,
    SiteContent,
    SiteRate,
    SiteRequest,
    SiteSpec,
    Steps,
    day,
    need,
    route,
    rows,
    text,
)

__all__ = ["CRATES", "DOCS_RS"]

_API: Final = "https://crates.io/api/v1"
_STATIC: Final = "https://static.crates.io"
_TITLE: Final = re.compile(r"<title>([^<]{1,500})</title>")
_MAIN: Final = re.compile(r"""\sid=["']?main-content\b""")
_CONTROLS: Final = (
    ".anchor, .src, .srclink, #copy-path, #search, button, rustdoc-toolbar, .out-of-band, .example-wrap .test-arrow"
)


def crate(page: PageAddress) -> Steps:
    """Read a crate, or one version of it, with its README."""
    at = f"{page.api}/crates/{page.quoted('name')}"
    (found,) = yield (SiteRequest(url=at),)
    about = need(found, "crate", kind=dict)
    name = need(about, "name")
    wanted = page["version"] if page["version"] != "latest" else ""
    number = wanted or text(about, "max_stable_version") or need(about, "newest_version")
    version = next((row for row in rows(found, "versions") if row.get("num") == number), None)
    if version is None and wanted:
        raise NotAvailable(f"the API has no version {number}")
    # The API would redirect there, and it is to be asked no more than once a second.
    rendered = f"{_STATIC if page.api == _API else page.url.origin}/readmes/{name}/{name}-{number}.html"
    (readme,) = yield (SiteRequest(url=rendered, kind="text", accept="text/html", api=False, optional="the README"),)
    version = version or {}
    return SiteContent(
        title=f"{name} {number}",
        published=text(version, "created_at"),
        parts=(
            heading(1, f"{name} {number}"),
            say(text(about, "description")),
            facts(
                (
                    ("Released", day(version.get("created_at"))),
                    ("Yanked", "yes" if version.get("yanked") else ""),
                    ("License", text(version, "license")),
                    ("Rust", text(version, "rust_version")),
                    ("Downloads", text(about, "downloads")),
                    ("Homepage", text(about, "homepage")),
                    ("Documentation", text(about, "documentation")),
                    ("Repository", text(about, "repository")),
                )
            ),
            html(readme or "", base=text(about, "repository"), below=1),
        ),
    )


def documentation(page: PageAddress) -> Steps:
    """Read a page that rustdoc made: what is in its main container."""
    (source,) = yield (SiteRequest(url=page.url.request_text, kind="text", accept="text/html", api=False),)
    title = _TITLE.search(source[:20_000])
    if title is None or not _MAIN.search(source):
        raise FormatChanged("main-content is missing")
    return SiteContent(title=unescape(title[1]), parts=(html(source, pick="#main-content", drop=_CONTROLS),))


_RATE: Final = SiteRate(1, 1.0, "https://crates.io/data-access")
CRATES: Final = SiteSpec(
    name="crates",
    title="crates.io",
    hosts={"crates.io": _API, "www.crates.io": _API},
    elsewhere="{origin}/api/v1",
    rate=_RATE,
    routes=(route("/crates/{name}", crate), route("/crates/{name}/{version}", crate)),
)
DOCS_RS: Final = SiteSpec(
    name="docs_rs",
    title="docs.rs",
    hosts={"docs.rs": _API},
    elsewhere="{origin}/api/v1",
    rate=_RATE,
    routes=(
        route("/crate/{name}", crate),
        route("/crate/{name}/{version}", crate),
        route(
            "/{name}/{version}/{path}",
            documentation,
            name="(?!(?:about|crate|releases)/)[^/]+",
            path="(?!src/).*(?:/|index\\.html|[a-z]+\\.[^/]+\\.html)",
        ),
    ),
)
