"""Registries of packages: crates.io and docs.rs, npm, PyPI.

See https://crates.io/data-access, https://github.com/npm/registry/blob/main/docs/REGISTRY-API.md and
https://docs.pypi.org/api/json. Of docs.rs the container of its pages is read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import unescape
from typing import Any, Final
from urllib.parse import quote

from groundwire.providers.http_parsing import value_at
from groundwire.reading.sites.parts import SitePart, facts, heading, html, markdown, plain, restructured, say
from groundwire.reading.sites.site import (
    FormatChanged,
    NotAvailable,
    PageAddress,
    SiteContent,
    SiteRequest,
    SiteSpec,
    Steps,
    day,
    need,
    route,
    rows,
    text,
)

_CRATES: Final = "https://crates.io/api/v1"
_STATIC: Final = "https://static.crates.io"
_TITLE: Final = re.compile(r"<title>([^<]{1,500})</title>")
_MAIN: Final = re.compile(r"""\sid=["']?main-content\b""")
_CONTROLS: Final = (
    ".anchor, .src, .srclink, #copy-path, #search, button, rustdoc-toolbar, .out-of-band, .example-wrap .test-arrow, "
    "summary.hideme"
)
_OF_EVERY_TYPE: Final = ("synthetic-implementations", "blanket-implementations")
_RUSTDOC: Final = r"(?!src/)(?:[^/]+/)*(?:[a-z0-9_]*|index\.html|[a-z]+\.[^/]+\.html)"
_CRATE: Final = "(?!(?:about|crate|releases|-)(?:/|$))[^/.]+"


def crate(page: PageAddress) -> Steps:
    """Read a crate, or one version of it, with its README."""
    at = f"{_CRATES}/crates/{page.quoted('name')}"
    (answer,) = yield (SiteRequest(url=at),)
    about = need(answer, "crate", kind=dict)
    name = need(about, "name")
    number_in_address = page["version"] if page["version"] != "latest" else ""
    number = number_in_address or text(about, "max_stable_version") or need(about, "newest_version")
    version = next((row for row in rows(answer, "versions") if row.get("num") == number), None)
    if version is None and number_in_address:
        raise NotAvailable(f"the API has no version {number}")
    # The API would redirect there, and it is to be asked no more than once a second.
    rendered = f"{_STATIC}/readmes/{quote(name, safe='')}/{quote(f'{name}-{number}', safe='')}.html"
    (readme,) = yield (SiteRequest(url=rendered, kind="text", accept="text/html", api=False, optional="the README"),)
    version = version or {}
    return SiteContent(
        title=f"{name} {number}",
        published=text(version, "created_at"),
        parts=(
            heading(1, f"{name} {number}"),
            say(text(about, "description")),
            facts(
                ("Released", day(version.get("created_at"))),
                ("Yanked", "yes" if version.get("yanked") else ""),
                ("License", text(version, "license")),
                ("Rust", text(version, "rust_version")),
                ("Downloads", text(about, "downloads")),
                ("Homepage", text(about, "homepage")),
                ("Documentation", text(about, "documentation")),
                ("Repository", text(about, "repository")),
            ),
            html(readme or "", base=text(about, "repository"), below=1),
        ),
    )


def documentation(page: PageAddress) -> Steps:
    """Read a page that rustdoc made: what is in its main container; the first page, if the address is of a crate."""
    name = page["name"].replace("-", "_")
    path = page.path if page["path"] else f"/{page.quoted('name')}/{page['version'] or 'latest'}/{name}"
    address = page.url.origin + path.removesuffix("/") + ("" if path.endswith(".html") else "/")
    (source,) = yield (SiteRequest(url=address, kind="text", accept="text/html", api=False),)
    title = _TITLE.search(source[:20_000])
    if title is None or not _MAIN.search(source):
        raise FormatChanged("main-content is missing")
    left_out = [name for name in _OF_EVERY_TYPE if f'id="{name}"' in source]
    same = ", ".join(f"#{name}, #{name}-list" for name in _OF_EVERY_TYPE)
    return SiteContent(
        title=unescape(title[1]),
        url=address,
        parts=(html(source, pick="#main-content", drop=f"{_CONTROLS}, {same}"),),
        warnings=("the auto and blanket implementations, which every type has, are left out",) if left_out else (),
    )


CRATES: Final = SiteSpec(
    name="crates",
    hosts=("crates.io", "www.crates.io"),
    requests=1,  # https://crates.io/data-access
    seconds=1.0,
    routes=(
        route("/crates/{name}", crate),
        route("/crates/{name}/{version}", crate, version="(?!versions|dependencies|reverse_dependencies)[^/]{1,200}"),
    ),
)
DOCS_RS: Final = SiteSpec(
    name="docs_rs",
    hosts=("docs.rs",),
    requests=1,
    seconds=1.0,
    routes=(
        route("/crate/{name}", crate),
        route("/crate/{name}/{version}", crate),
        route("/{name}", documentation, name=_CRATE),
        route("/{name}/{version}", documentation, name=_CRATE),
        route("/{name}/{version}/{path}", documentation, name=_CRATE, path=_RUSTDOC),
    ),
)


_NPM: Final = "https://registry.npmjs.org"
_NAME: Final = r"(?:(?:@|%40)[^/@]{1,100}(?:/|%2[Ff]))?[^/@]{1,214}"
_NO_README: Final = "ERROR: No README data found!"  # the registry's own words
_REPOSITORY: Final = re.compile(
    r"(?:git\+)?(?:[a-z]+://)?(?:[^@/\s]+@)?(?P<host>[\w-]+(?:\.[\w-]+)+)(?::\d+)?[:/]/?(?P<path>[^\s:#?]+?)(?:\.git)?/?"
)
_SHORTHAND: Final = re.compile(r"(?:(?P<service>github|gitlab|bitbucket):)?(?P<path>[\w.-]+/[\w.-]+)")
_SERVICES: Final[Mapping[str, str]] = {"bitbucket": "bitbucket.org", "github": "github.com", "gitlab": "gitlab.com"}


def package(page: PageAddress) -> Steps:
    """Read a package, or one version of it."""
    at, version = f"{_NPM}/{page.quoted('name')}", page.quoted("version") or "latest"
    # The list of all versions has the README, and is too large for some packages.
    version_data, registry_entry = yield (
        SiteRequest(url=f"{at}/{version}"),
        SiteRequest(url=at, optional="the README and the day of the release"),
    )
    name, version = need(version_data, "name"), need(version_data, "version")
    readme = _readme(version_data) or _readme(registry_entry)
    times = value_at(registry_entry, "time")
    released = text(times.get(version)) if isinstance(times, dict) else ""
    return SiteContent(
        title=f"{name} {version}",
        published=released,
        parts=(
            heading(1, f"{name} {version}"),
            say(text(version_data, "description")),
            facts(
                ("Released", day(released)),
                ("Deprecated", text(version_data, "deprecated")),
                (
                    "License",
                    text(version_data, "license")
                    or text(version_data, "license.type")
                    or text(version_data, "licenses.type"),
                ),
                ("Homepage", text(version_data, "homepage")),
                ("Repository", _repository(version_data)),
                ("Dependencies", _dependencies(version_data)),
                ("Node", text(version_data, "engines.node")),
            ),
            markdown(readme, below=1),
        ),
        warnings=() if registry_entry is None or readme.strip() else ("the registry has no README of it",),
    )


def _readme(answer: Any) -> str:
    readme = answer.get("readme") if answer is not None else ""
    return readme if isinstance(readme, str) and readme.strip() != _NO_README else ""


def _repository(version_data: Any) -> str:
    """Return the web address of a repository, which npm also takes as an address of git or a shorthand."""
    address = text(version_data, "repository.url") or text(version_data, "repository")
    if short := _SHORTHAND.fullmatch(address):
        return f"https://{_SERVICES[short['service'] or 'github']}/{short['path'].removesuffix('.git')}"
    match = _REPOSITORY.fullmatch(address)
    return f"https://{match['host']}/{match['path']}" if match else address


def _dependencies(version_data: Any) -> str:
    dependencies = version_data.get("dependencies") if isinstance(version_data, dict) else None
    rows = dependencies.items() if isinstance(dependencies, dict) else ()
    return ", ".join(f"{name} {versions}" for name, versions in rows)


NPM: Final = SiteSpec(
    name="npm",
    hosts=("npmjs.com", "www.npmjs.com", "npmjs.org", "www.npmjs.org", "npm.im"),
    requests=60,  # https://blog.npmjs.org/post/187698412060/acceptible-use
    seconds=60.0,
    routes=(
        route("/package/{name}", package, name=_NAME),
        route("/package/{name}/v/{version}", package, name=_NAME),
        route("npm.im/{name}", package, name=_NAME),
    ),
)


_FORM: Final = "(?:/json)?"  # the address of the API


def project(page: PageAddress) -> Steps:
    """Read a project, or one version of it."""
    version = f"/{page.quoted('version')}" if page["version"] else ""
    index = "test.pypi.org" if page.url.host == "test.pypi.org" else "pypi.org"
    (data,) = yield (SiteRequest(url=f"https://{index}/pypi/{page.quoted('name')}{version}/json"),)
    info = need(data, "info", kind=dict)
    name, number = need(info, "name"), need(info, "version")
    uploaded = text(data, "urls.upload_time_iso_8601")
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
                ("Released", day(uploaded)),
                ("Yanked", (text(info, "yanked_reason") or "yes") if info.get("yanked") else ""),
                ("Requires Python", text(info, "requires_python")),
                ("License", text(info, "license_expression") or text(info, "license")[:100] or _license(info)),
                ("Author", text(info, "author") or text(info, "author_email")),
                ("Known vulnerabilities", ", ".join(text(row, "id") for row in data.get("vulnerabilities") or ())),
                ("Requires", ", ".join(map(str, requires[:100])) if isinstance(requires, list) else ""),
                *((str(label), str(link)) for label, link in (links.items() if isinstance(links, dict) else ())),
                ("Home page", text(info, "home_page")),
            ),
            heading(2, "Description"),
            _description(info),
        ),
        missing=["the first 100 requirements are read"] if isinstance(requires, list) and len(requires) > 100 else [],
    )


def _license(info: dict[str, Any]) -> str:
    """Return the licenses among the classifiers: `License :: OSI Approved :: MIT License`."""
    classifiers = info.get("classifiers")
    paths = (str(path).split(" :: ") for path in classifiers) if isinstance(classifiers, list) else ()
    return ", ".join(path[-1] for path in paths if path[0] == "License" and len(path) > 1)


def _description(info: dict[str, Any]) -> SitePart:
    """Return the description as PyPI shows it: without a type, it is reStructuredText."""
    source = str(info.get("description") or "")
    kind = text(info, "description_content_type").partition(";")[0].strip().lower()
    if kind == "text/markdown":
        return markdown(source, below=2)
    return plain(source) if kind == "text/plain" else restructured(source, below=2)


PYPI: Final = SiteSpec(
    name="pypi",
    hosts=("pypi.org", "www.pypi.org", "pypi.python.org", "pypi.io", "test.pypi.org"),
    requests=60,  # https://docs.pypi.org/api
    seconds=60.0,
    routes=(
        route("/project/{name}", project),
        route("/p/{name}", project),
        route("/project/{name}/{version}", project),
        route("/pypi/{name}{form}", project, form=_FORM),
        route("/pypi/{name}/{version}{form}", project, version="[0-9][^/]{0,100}", form=_FORM),
    ),
)
