"""The site: it is built in strict mode, has every page in its navigation, and asks no foreign host for anything."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from pathlib import Path
from threading import Thread
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.async_playwright import Axe

from components.browsing import browsing
from components.markdown_blocks import ROOT, documents
from groundwire.settings.schema import known_keys

pytestmark = pytest.mark.xdist_group("site")  # which is built once

_LOADS = {
    "script": "src",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "audio": "src",
    "embed": "src",
}
"""The elements that load what one of their attributes names; `link` does, too, by its `rel`."""

_PASSIVE = frozenset({"canonical", "next", "prev", "alternate", "author", "license", "help"})
"""What a `link` may say without loading anything."""


class QuietHandler(SimpleHTTPRequestHandler):
    """Serves a folder and logs nothing."""

    def log_message(self, *args: object) -> None:
        """Log nothing."""


class Loads(HTMLParser):
    """Collects what a page loads, and its links."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take note of one element."""
        named = {name: value or "" for name, value in attrs}
        if tag == "link" and not set(named.get("rel", "").split()) & _PASSIVE:
            self.loaded.append(named.get("href", ""))
        if tag in _LOADS:
            self.loaded.append(named.get(_LOADS[tag], ""))
        if tag == "a":
            self.links.append(named.get("href", ""))


def build(folder: Path) -> subprocess.CompletedProcess[str]:
    """Build the site that lies in a folder."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "NO_COLOR": "1"}
    command = [sys.executable, "-m", "zensical", "build", "--clean", "--strict"]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def copy_to(folder: Path) -> Path:
    """Copy what the site is made from."""
    shutil.copytree(ROOT / "docs", folder / "docs", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy2(ROOT / "zensical.toml", folder)
    return folder


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy in which the site is built, with a guide that nothing names."""
    copied = copy_to(tmp_path_factory.mktemp("site"))
    (copied / "docs" / "guides" / "brand-new.md").write_text("# A brand new guide\n")
    done = build(copied)
    assert done.returncode == 0, done.stdout + done.stderr
    return copied


def test_it_is_built_and_loads_nothing_from_elsewhere(built: Path) -> None:
    pages = sorted((built / "site").rglob("*.html"))
    wanted = [name.removeprefix("docs/") for name in documents() if name.startswith("docs/")]
    assert len(pages) >= len(wanted)
    assert not list((built / "site").rglob("*.py"))
    loaded: set[str] = set()
    for page in pages:
        found = Loads()
        found.feed(page.read_text(encoding="utf-8"))
        assert found.loaded, page
        loaded.update(found.loaded)
    assert {address for address in loaded if urlsplit(address).netloc} == set()
    styles = "".join(file.read_text(encoding="utf-8") for file in (built / "site").rglob("*.css"))
    assert re.findall(r"(?:@import\s+|url\()[\"']?(?:https?:)?//[^)\"']+", styles) == []


def test_every_page_is_in_the_navigation(built: Path) -> None:
    found = Loads()
    found.feed((built / "site" / "index.html").read_text(encoding="utf-8"))
    linked = {(built / "site" / "index.html").parent.joinpath(urlsplit(link).path).resolve() for link in found.links}
    for name in documents():
        if name.startswith("docs/"):
            page = name.removeprefix("docs/").removesuffix(".md")
            folder = built / "site" / ("" if page == "index" else page)
            assert folder.resolve() in linked, f"{name} is not in the navigation: put it into docs/.nav.yml"


def test_search_finds_every_public_name_and_every_setting(built: Path) -> None:
    index = (built / "site" / "search.json").read_text(encoding="utf-8")
    modules = ("", ".agent_loop", ".citations", ".hosted", ".telemetry", ".testing", ".tools")
    names = {name for module in modules for name in import_module(f"groundwire{module}").__all__}
    words = set(re.findall(r"\w+", index))
    assert {name for name in names | {key.rpartition(".")[2] for key in known_keys()} if name not in words} == set()


def test_a_broken_link_fails(tmp_path: Path) -> None:
    source = copy_to(tmp_path)
    with (source / "docs" / "index.md").open("a") as page:
        page.write("\n[gone](guides/gone.md), [gone](tutorial.md#no-such-heading)\n")
    done = build(source)
    assert done.returncode != 0
    assert all(f"{what} does not exist" in done.stderr for what in ("page", "anchor")), done.stderr


def test_a_new_guide_needs_no_entry(built: Path) -> None:
    assert "A brand new guide" in (built / "site" / "index.html").read_text(encoding="utf-8")


async def test_axe_finds_nothing_serious(built: Path) -> None:
    handler = partial(QuietHandler, directory=built / "site")
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        serving = Thread(target=server.serve_forever)
        serving.start()
        try:
            async with browsing(f"http://127.0.0.1:{server.server_port}") as open_:
                for scheme, path in (("light", "/"), ("light", "/reference/providers/"), ("dark", "/guides/pages/")):
                    look = await open_(scheme=scheme)
                    await look.go(path)
                    found = (await Axe().run(look.page)).response["violations"]
                    serious = [one for one in found if one["impact"] in {"serious", "critical"}]
                    assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in serious] == [], path
        finally:
            server.shutdown()
            serving.join()


def test_the_commands_of_the_comparison_are_there() -> None:
    text = (ROOT / "docs" / "comparison.md").read_text(encoding="utf-8")
    sections = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    assert len(sections) > 5
    for section in sections:
        stated = re.match(r".*\n\n`python (-m )?(\S+)([^`]*)` · \d{4}-\d{2}-\d{2} · ", section)
        assert stated, f"{section.splitlines()[0]}: no command, day and time at its head"
        script = ROOT / (stated[2].replace(".", "/") + ".py" if stated[1] else stated[2])
        assert script.is_file(), script
        for option in re.findall(r"--[\w-]+", stated[3]):
            assert option in script.read_text(encoding="utf-8"), f"{script} has no {option}"
