"""Indexes of packages: PyPI, npm, crates.io, and docs.rs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from groundwire.testing.http_messages import EmulatedResponse, Recorded
from world.site_apis import HIDDEN, SiteApi

_README = f"""# Lantern

Keeps the lights of a harbor. <!-- {HIDDEN} -->

## Install

Take `lantern` from the index, then see [the manual](https://lantern.example/docs).
"""


_WICK_TEXT = f"""Wick
====

.. image:: https://ci.example/wick.svg
   :target: https://ci.example/wick
   :alt: state of the last build

.. {HIDDEN}

Burns ``oil`` as the `manual <https://wick.example/manual>`_ and the notes_ say. Made for |who|.

.. |who| replace:: **harbors**
.. _notes: https://wick.example/notes

.. code-block:: python

   wick.light('red')

Installation
------------

Take it from the index::

    fetch wick

.. note:: Use *clean* oil only.

- one
- two, which goes
  on

===== =====
lamp  miles
===== =====
red   4
===== =====
"""
_WICK_SHOWN = f"""<h2>Description</h2><h3>Wick</h3><!-- {HIDDEN} --><a
href="https://ci.example/wick"><img alt="state of the last build"
src="https://camo.example/wick.svg"></a><p>Burns
<code>oil</code> as the
<a href="https://wick.example/manual">manual</a> and the <a href="https://wick.example/notes">notes</a> say. Made for
<strong>harbors</strong>.</p><pre><code>wick.light('red')</code></pre><h4>Installation</h4><p>Take it from the
index:</p><pre>fetch wick</pre><div class="admonition note"><p>Note</p><p>Use <em>clean</em> oil only.</p></div>
<ul><li>one</li><li>two, which goes on</li></ul>
<table><tr><th>lamp</th><th>miles</th></tr><tr><td>red</td><td>4</td></tr></table>"""
_WICK: dict[str, Any] = {
    "info": {
        "name": "wick",
        "version": "3.0",
        "summary": "A wick",
        "description": _WICK_TEXT,
        "description_content_type": None,
        "requires_dist": None,
        "project_urls": None,
    },
    "urls": [{"upload_time_iso_8601": "2025-01-01T00:00:00.000000Z"}],
    "vulnerabilities": [],
}


class PyPi(SiteApi):
    """PyPI with the projects `lantern` and `wick`, whose description is reStructuredText; see `SiteApi`.

    Attributes:
        description_type: The media type of the description.
    """

    name_of_site: ClassVar[str] = "pypi"
    public_hosts: ClassVar[tuple[str, ...]] = ("pypi.org",)
    articles: ClassVar[Mapping[str, str]] = {"/project/wick/": f"<h1>wick 3.0</h1><p>A wick</p>{_WICK_SHOWN}"}
    routes: ClassVar[Mapping[str, str]] = {r"/pypi/(?P<name>[^/]+)(?:/(?P<version>[^/]+))?/json": "project"}

    def __init__(self) -> None:
        super().__init__()
        self.description_type = "text/markdown; charset=UTF-8"

    def project(self, name: str, version: str | None) -> EmulatedResponse:
        """Return a project, or one version of it."""
        if name == "wick":
            return self.json(_WICK)
        if name != "lantern" or version not in {None, "2.0", "2.1"}:
            return self.missing()
        number = version or "2.1"
        info: dict[str, Any] = {
            "author": "Ada Voss",
            "author_email": None,
            "classifiers": ["License :: OSI Approved :: MIT License", "Topic :: Home Automation"],
            "description": _README,
            "description_content_type": self.description_type,
            "home_page": "https://lantern.example",
            "license": None,
            "license_expression": "MIT" if number == "2.1" else None,
            "name": "lantern",
            "package_url": "https://pypi.org/project/lantern/",
            "project_url": "https://pypi.org/project/lantern/",
            "project_urls": {"Documentation": "https://lantern.example/docs"},
            "release_url": f"https://pypi.org/project/lantern/{number}/",
            "requires_dist": ["wick>=3", 'oil; extra == "lamps"'],
            "requires_python": ">=3.11",
            "summary": "Keeps the lights of a harbor",
            "version": number,
            "yanked": number == "2.0",
            "yanked_reason": "The red lamp stayed dark" if number == "2.0" else None,
        }
        urls = [{"packagetype": "sdist", "upload_time_iso_8601": "2026-08-31T10:00:00.000000Z", "yanked": False}]
        known = [{"id": "PYSEC-2026-7", "summary": "Dark for minutes", "fixed_in": ["2.1"]}] if number == "2.0" else []
        return self.json({"info": info, "last_serial": 99, "urls": urls, "vulnerabilities": known})


class Npm(SiteApi):
    """npm with the packages `lantern` and `@harbor/lantern`; see `SiteApi`.

    Attributes:
        padding: Bytes by which the list of all versions is larger.
    """

    name_of_site: ClassVar[str] = "npm"
    public_hosts: ClassVar[tuple[str, ...]] = ("www.npmjs.com", "registry.npmjs.org")
    routes: ClassVar[Mapping[str, str]] = {
        r"/(?P<name>lantern|%40harbor%2Flantern|wick)": "package",
        r"/(?P<name>lantern|%40harbor%2Flantern|wick)/(?P<version>[^/]+)": "version",
    }

    def __init__(self) -> None:
        super().__init__()
        self.padding = 0

    def package(self, name: str) -> EmulatedResponse:
        """Return all versions of a package."""
        versions = {number: _manifest(name, number) for number in ("2.0.0", "2.1.0")}
        times = {"created": "2024-01-01T00:00:00.000Z", "2.0.0": "2026-01-02T00:00:00.000Z"}
        found = {
            "name": _manifest(name, "")["name"],
            "dist-tags": {"latest": "2.1.0"},
            "versions": versions,
            "time": {**times, "2.1.0": "2026-08-31T00:00:00.000Z"},
            "readme": "ERROR: No README data found!" if name == "wick" else _README,
            "readmeFilename": "README.md",
            "padding": " " * self.padding,
        }
        return self.json(found)

    def version(self, name: str, version: str) -> EmulatedResponse:
        """Return one version of a package."""
        number = "2.1.0" if version == "latest" else version
        if number not in {"2.0.0", "2.1.0"}:
            return self.json(f"version not found: {number}", status=404)
        return self.json(_manifest(name, number))


_REPOSITORIES = {
    "lantern": "git+ssh://git@github.com/harbor/lantern.git",
    "%40harbor%2Flantern": "github:harbor/lantern",
    "wick": "git@gitlab.example:harbor/wick.git",
}


def _manifest(name: str, number: str) -> dict[str, Any]:
    return {
        "name": name.replace("%40", "@").replace("%2F", "/"),
        "version": number,
        "description": "Keeps the lights of a harbor",
        "license": "MIT" if number == "2.1.0" else {"type": "MIT", "url": "https://lantern.example/license"},
        "homepage": "https://lantern.example",
        "repository": {"type": "git", "url": _REPOSITORIES[name]},
        "dependencies": {"wick": "^3.0.0"},
        "engines": {"node": ">=20"},
    }


class Crates(SiteApi):
    """crates.io with the crate `lantern`; see `SiteApi`."""

    name_of_site: ClassVar[str] = "crates"
    public_hosts: ClassVar[tuple[str, ...]] = ("crates.io", "static.crates.io")
    routes: ClassVar[Mapping[str, str]] = {
        r"/api/v1/crates/(?P<name>[^/]+)": "crate",
        r"/api/v1/crates/lantern/(?P<version>[^/]+)/readme": "readme",
        r"/readmes/lantern/lantern-2\.1\.0(?:%2Boil\.3)?\.html": "rendered",
    }

    def refusal(self) -> EmulatedResponse:
        """Return what comes to clients that are too fast."""
        words = {"errors": [{"detail": "Please slow down to one request per second."}]}
        return self.json(words, status=429, headers={"Retry-After": "30"})

    def crate(self, name: str) -> EmulatedResponse:
        """Return a crate with its versions."""
        if name != "lantern":
            return self.json({"errors": [{"detail": f"crate `{name}` does not exist"}]}, status=404)
        about = {
            "id": "lantern",
            "name": "lantern",
            "description": "Keeps the lights of a harbor\n",
            "documentation": "https://docs.rs/lantern",
            "downloads": 5_000,
            "homepage": None,
            "max_stable_version": "2.1.0",
            "max_version": "2.1.0",
            "newest_version": "2.1.0",
            "repository": "https://github.com/harbor/lantern",
            "updated_at": "2026-08-31T10:00:00.000000Z",
        }
        version: dict[str, Any] = {
            "license": "MIT",
            "rust_version": "1.80",
            "yanked": False,
            "created_at": "2026-08-31T10:00:00.000000Z",
        }
        versions = [{"id": 2, "crate": "lantern", "num": num, **version} for num in ("2.1.0", "2.1.0+oil.3")]
        return self.json({"crate": about, "versions": versions, "keywords": [], "categories": []})

    def readme(self, version: str) -> EmulatedResponse:
        """Redirect to the rendered README."""
        host = self.request.headers.get("Host", "")
        base = "https://static.crates.io" if host == "crates.io" else self.request.base_url
        return EmulatedResponse.redirect(f"{base}/readmes/lantern/lantern-{version}.html")

    def rendered(self) -> EmulatedResponse:
        """Return the rendered README."""
        return EmulatedResponse.html(
            f"<h1><a href='#lantern' id='lantern'></a>Lantern</h1><p>Keeps the lights. <!-- {HIDDEN} --></p>"
            '<pre><code class="language-rust">lantern::light("red");</code></pre>'
        )


class DocsRs(Crates):
    """docs.rs with a page of rustdoc; the pages of crates are those of crates.io. See `SiteApi`."""

    name_of_site: ClassVar[str] = "docs_rs"
    public_hosts: ClassVar[tuple[str, ...]] = ("docs.rs",)

    def web_page(self, request: Recorded) -> EmulatedResponse:
        """Return a page as rustdoc makes it."""
        main = "content" if self.changed else "main-content"
        return replace(
            EmulatedResponse.html(
                "<!DOCTYPE html><html lang=en><head><title>Lamp in lantern - Rust</title></head><body class='rustdoc'>"
                "<nav class=sidebar><h2><a href=#>Lamp</a></h2><a href=../all.html>All Items of the crate</a></nav>"
                f'<main><section id="{main}" class="content"><div class=main-heading><h1>Struct <span>Lamp</span>'
                "<button id=copy-path>Copy item path</button></h1><rustdoc-toolbar>Search</rustdoc-toolbar>"
                "<span class=sub-heading><a class=src href=../src/lantern/lib.rs.html#1>Source</a></span></div>"
                "<pre class='rust item-decl'><code>pub struct Lamp { /* private fields */ }</code></pre>"
                f"<details class=toggle open><summary class=hideme><span>Expand description</span></summary>"
                f"<div class=docblock><p>A lamp of a "
                f"harbor. <span hidden>{HIDDEN}</span></p></div></details>"
                "<h2 id=methods>Implementations<a href=#methods class=anchor>§</a></h2><section class=method>"
                "<h4 class=code-header>pub fn <a href=#light>light</a>(&amp;self)</h4></section>"
                "<div class=docblock>Lights the lamp for as long as it has oil, and says so on the quay.</div>"
                '<h2 id="synthetic-implementations">Auto Trait Implementations</h2>'
                '<div id="synthetic-implementations-list"><section>impl Freeze for Lamp</section></div>'
                '<h2 id="blanket-implementations">Blanket Implementations'
                '</h2><div id="blanket-implementations-list"><section>impl&lt;T&gt; Any for T</section></div>'
                "</section></main></body></html>"
            ),
            headers={"Cache-Control": "public"},
        )
