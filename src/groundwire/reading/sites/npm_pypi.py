"""npm over its registry, and PyPI over its JSON API.

See https://github.com/npm/registry/blob/main/docs/REGISTRY-API.md and https://docs.pypi.org/api/json.
"""

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

__all__ = ["NPM", "PYPI"]

_NPM: Final = "https://registry.npmjs.org"
_NAME: Final = r"(?:@[^/]{1,100}/)?[^/@]{1,214}"


def package(page: PageAddress) -> Steps:
    """Read a package, or one version of it."""
    at, version = f"{page.api}/{page.quoted('name')}", page.quoted("version") or "latest"
    # The list of all versions has the README, and is too large for some packages.
    one, every = yield (
        SiteRequest(url=f"{at}/{version}"),
        SiteRequest(url=at, optional="the README and the day of the release"),
    )
    name, version = need(one, "name"), need(one, "version")
    readme = one.get("readme") or (every or {}).get("readme")
    released = text(every, "time", version)
    return SiteContent(
        title=f"{name} {version}",
        published=released,
        parts=(
            heading(1, f"{name} {version}"),
            say(text(one, "description")),
            facts(
                (
                    ("Released", day(released)),
                    ("Deprecated", text(one, "deprecated")),
                    ("License", text(one, "license")),
                    ("Homepage", text(one, "homepage")),
                    ("Repository", _repository(one)),
                    ("Dependencies", _dependencies(one)),
                    ("Node", text(one, "engines", "node")),
                )
            ),
            markdown(readme if isinstance(readme, str) else "", below=1),
        ),
        warnings=() if every is None or str(readme or "").strip() else ("the registry has no README of it",),
    )


def _repository(one: Any) -> str:
    return (text(one, "repository", "url") or text(one, "repository")).removeprefix("git+").removesuffix(".git")


def _dependencies(one: Any) -> str:
    found = one.get("dependencies") if isinstance(one, dict) else None
    return ", ".join(f"{name} {wanted}" for name, wanted in found.items()) if isinstance(found, dict) else ""


NPM: Final = SiteSpec(
    name="npm",
    title="npm",
    hosts={"www.npmjs.com": _NPM, "npmjs.com": _NPM},
    elsewhere="{origin}",
    rate=SiteRate(60, 60.0, "https://blog.npmjs.org/post/187698412060/acceptible-use"),
    routes=(
        route("/package/{name}", package, name=_NAME),
        route("/package/{name}/v/{version}", package, name=_NAME),
    ),
)


_PYPI: Final = "https://pypi.org"


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
    hosts={"pypi.org": _PYPI, "www.pypi.org": _PYPI},
    elsewhere="{origin}",
    rate=SiteRate(60, 60.0, "https://docs.pypi.org/api"),
    routes=(route("/project/{name}", project), route("/project/{name}/{version}", project)),
)
