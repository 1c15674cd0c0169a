"""Writing the folder from which the host of document Y loads the extension."""

from __future__ import annotations

from pathlib import Path

from groundwire._version import __version__
from groundwire.errors import ConfigurationError

__all__ = ["export_extension"]

_MANIFEST = """\
id: web_search
name: Web Search & Reader
version: "{version}"
entrypoint: main:WebSearchExtension

description: |
  Searches the internet and reads web pages.
  Provides web_search and open_page tools.

enabled: true

config:
  search_provider: duckduckgo_lite # {search}; several are separated by commas
  read_provider: jina            # {read}
  max_page_length: 15000         # characters of one page
  searxng_base_url: "http://localhost:8080"  # for search_provider: searxng
  max_urls_per_call: 10          # pages of one call of open_page
  total_content_budget: 40000    # characters of all pages of one call
  open_page_concurrency: 5       # pages that are read at the same time
  duckduckgo_delay: 0            # seconds between two requests to DuckDuckGo
  # allowed_domains: wikipedia.org, github.com
  # blocked_domains: example.com
  # settings:                    # any other setting of Groundwire, by its dotted key
  #   search.safesearch: strict
"""
_MAIN = '''\
"""Web search and page reading, by Groundwire."""

from groundwire.integrations.extension import WebSearchExtension

__all__ = ["WebSearchExtension"]
'''
_SEARCH, _READ = "duckduckgo_lite | tavily | searxng | perplexity | brave ...", "jina | tavily | crawl4ai | local ..."


def export_extension(folder: Path, *, force: bool = False) -> tuple[Path, Path]:
    """Write `manifest.yaml` and `main.py` into a folder, which is made if it is not there.

    Args:
        folder: The extension's folder, such as `sandbox/extensions/web_search`.
        force: Whether files of these names that say something else may be written over.

    Returns:
        The two files.

    Raises:
        ConfigurationError: one of them is there and says something else. OSError: they cannot be written.
    """
    manifest = _MANIFEST.format(version=__version__, search=_SEARCH, read=_READ)
    texts = {folder / "manifest.yaml": manifest, folder / "main.py": _MAIN}
    for path, text in texts.items():
        if not force and path.exists() and path.read_text(encoding="utf-8", errors="replace") != text:
            raise ConfigurationError(f"{path} is there already and says something else. Pass --force to write over it.")
    folder.mkdir(parents=True, exist_ok=True)
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
    first, second = texts
    return first, second
