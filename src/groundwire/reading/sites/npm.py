"""npm over its registry (https://github.com/npm/registry/blob/main/docs/REGISTRY-API.md)."""

from __future__ import annotations

from typing import Any, Final

from groundwire.reading.sites.parts import facts, heading, markdown, say
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

__all__ = ["NPM"]

_API: Final = "https://registry.npmjs.org"
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
    hosts={"www.npmjs.com": _API, "npmjs.com": _API},
    elsewhere="{origin}",
    rate=SiteRate(60, 60.0, "https://blog.npmjs.org/post/187698412060/acceptible-use"),
    routes=(
        route("/package/{name}", package, name=_NAME),
        route("/package/{name}/v/{version}", package, name=_NAME),
    ),
)
