"""PyPI over its JSON API (https://docs.pypi.org/api/json)."""

from __future__ import annotations

from typing import Any, Final

from groundwire.reading.sites.parts import SitePart, code, facts, heading, markdown, plain, say
from groundwire.reading.sites.site import (
    PageAddress,
    SiteContent,
    SiteRate,
    SiteRequest,
    SiteSpec,
    Steps,
    day,
    need,
    route,
    text,
)

__all__ = ["PYPI"]

_API: Final = "https://pypi.org"


def project(page: PageAddress) -> Steps:
    """Read a project, or one version of it."""
    version = f"/{page.quoted('version')}" if page["version"] else ""
    (found,) = yield (SiteRequest(url=f"{page.api}/pypi/{page.quoted('name')}{version}/json"),)
    info = need(found, "info", kind=dict)
    name, number = need(info, "name"), need(info, "version")
    uploaded = text(found, "urls", 0, "upload_time_iso_8601")
    links = info.get("project_urls")
    requires = info.get("requires_dist")
    return SiteContent(
        title=f"{name} {number}",
        url=text(info, "release_url") if version else text(info, "project_url"),
        published=uploaded,
        parts=(
            heading(1, f"{name} {number}"),
            say(text(info, "summary")),
            facts(
                (
                    ("Released", day(uploaded)),
                    ("Yanked", (text(info, "yanked_reason") or "yes") if info.get("yanked") else ""),
                    ("Requires Python", text(info, "requires_python")),
                    ("License", text(info, "license_expression") or text(info, "license")[:100]),
                    ("Author", text(info, "author") or text(info, "author_email")),
                    ("Requires", ", ".join(map(str, requires[:100])) if isinstance(requires, list) else ""),
                    *((str(label), str(link)) for label, link in (links.items() if isinstance(links, dict) else ())),
                )
            ),
            heading(2, "Description"),
            _description(info),
        ),
        missing=["the first 100 requirements are read"] if isinstance(requires, list) and len(requires) > 100 else [],
    )


def _description(info: dict[str, Any]) -> SitePart:
    source = str(info.get("description") or "")
    kind = text(info, "description_content_type").partition(";")[0].strip().lower()
    if kind == "text/markdown":
        return markdown(source, below=2)
    return plain(source) if kind == "text/plain" else code(source, "rst")


PYPI: Final = SiteSpec(
    name="pypi",
    title="PyPI",
    hosts={"pypi.org": _API, "www.pypi.org": _API},
    elsewhere="{origin}",
    rate=SiteRate(60, 60.0, "https://docs.pypi.org/api"),
    routes=(route("/project/{name}", project), route("/project/{name}/{version}", project)),
)
