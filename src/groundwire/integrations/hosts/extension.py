"""The extension for yodoca: the class that its host loads, with two tools, setup and the citation instruction.

`groundwire export extension DIR` writes the folder that the host expects; its `main.py` imports this class.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from groundwire._version import __version__
from groundwire.errors import ConfigurationError, GroundwireError
from groundwire.integrations.framework_versions import check_version
from groundwire.integrations.hosts import load_with
from groundwire.integrations.hosts.extension_tools import PageTools
from groundwire.providers.registry import provider_class
from groundwire.settings import Settings
from groundwire.settings.sections import Words
from groundwire.setup import SetupField, clean_key, load_offers, setup_schema, verify
from groundwire.web import Web

__all__ = ["CITATION_SENTENCE", "WebSearchExtension", "WebSearchExtensionConfig", "export_extension"]

_logger = logging.getLogger(__name__)

CITATION_SENTENCE = "When stating facts from web search results, append the citation ID in brackets, e.g. [1]."
"""The text that the host adds to the system prompt (yodoca)."""


class WebSearchExtensionConfig(BaseModel):
    """The `config` of the manifest."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", use_attribute_docstrings=True)

    search_provider: Words = ("duckduckgo_lite",)
    """The search providers; if one fails, the next is called."""
    read_provider: Words = ("jina",)
    """The read providers; if one fails, the next is called."""
    max_page_length: int = Field(default=15_000, ge=1, le=10_000_000)
    """Maximum characters of a page."""
    searxng_base_url: str = "http://localhost:8080"
    """The base URL of SearXNG."""
    max_urls_per_call: int = Field(default=10, ge=1, le=50)
    """Maximum pages of one call."""
    total_content_budget: int = Field(default=40_000, ge=1, le=10_000_000)
    """Maximum characters of all pages of one call."""
    open_page_concurrency: int = Field(default=5, ge=1, le=16)
    """Maximum pages read concurrently."""
    duckduckgo_delay: float = Field(default=0.0, ge=0, le=3_600)
    """Seconds between two requests to DuckDuckGo."""
    allowed_domains: Words = ()
    """Only these domains and their subdomains, in results and pages; none means every domain."""
    blocked_domains: Words = ()
    """Exclude these domains and their subdomains."""
    settings: dict[str, Any] = Field(default_factory=dict)
    """Any other setting of Groundwire by its dotted key, such as `search.safesearch`."""


class WebSearchExtension:
    """The extension. The host creates it without arguments and calls `initialize` with its context."""

    ConfigModel = WebSearchExtensionConfig

    def __init__(self) -> None:
        self._context: Any = None
        self._config = WebSearchExtensionConfig()
        self._web: Web | None = None

    async def initialize(self, context: Any) -> None:
        """Read the configuration and the keys, and create the providers.

        Args:
            context: The host's context: `get_config(key, default)`, `await get_secret(name)`, `await set_secret(name,
                value)`.

        Raises:
            ValueError: a value is invalid, a provider is unknown (the known ones are listed), or its key is missing.
            ImportError: the OpenAI Agents SDK is of a version that cannot run the tools.
        """
        check_version("openai-agents")
        self._context = context
        values = {name: context.get_config(name, None) for name in WebSearchExtensionConfig.model_fields}
        self._config = WebSearchExtensionConfig.model_validate(
            {name: value for name, value in values.items() if value is not None}
        )
        for name in (*self._config.search_provider, *self._config.read_provider):
            provider_class(name)  # an unknown one is rejected here, whatever else is configured
        await self._open()
        _logger.info(
            "Web search is ready: search by %s, pages by %s",
            ", ".join(self._config.search_provider),
            ", ".join(self._config.read_provider),
        )

    async def start(self) -> None:
        """Do nothing: there is no background work."""

    async def stop(self) -> None:
        """Do nothing: running calls end at their deadlines."""

    async def destroy(self) -> None:
        """Close all connections."""
        web, self._web = self._web, None
        if web is not None:
            await web.aclose()

    def health_check(self) -> bool:
        """Return whether the extension is usable."""
        return self._web is not None

    def get_tools(self) -> list[Any]:
        """Return `web_search` and `open_page` as function tools of the OpenAI Agents SDK, which the host runs.

        Raises:
            ImportError: that SDK is not installed, or in an unsupported version.
        """
        from groundwire.integrations.openai_agents import function_tool

        tools = PageTools(lambda: self._web, self._config)
        return [function_tool(*tool) for tool in tools.definitions()]

    @property
    def context_priority(self) -> int:
        """The position of the citation instruction among those of other extensions; lower is earlier."""
        return 100

    async def get_context(self, prompt: str, *turn: object, **more: object) -> str | None:
        """Return the citation instruction for the system prompt, the same in every turn.

        Args:
            prompt: The user's message; ignored.
            turn: An argument of newer hosts; ignored.
            more: An argument of older hosts; ignored.
        """
        return CITATION_SENTENCE

    def get_setup_schema(self) -> list[dict[str, Any]]:
        """Return the setup fields: a key for each service that takes one."""
        shown = ("name", "description", "secret", "required")
        return [{name: getattr(field, name) for name in shown} for field in self._fields()]

    async def apply_config(self, name: str, value: str) -> None:
        """Store a key with the host, and use it from now on.

        Args:
            name: A name in the setup schema.
            value: The key.

        Raises:
            ValueError: the setup schema has no such name, or the value is not a key. RuntimeError: `initialize` was not
                called yet.
        """
        if self._context is None:
            raise RuntimeError("The extension is not initialized; call initialize first.")
        fields = {field.name: field for field in self._fields()}
        if name.lower() not in fields:
            raise ValueError(f"There is no {name!r} to set up; choose one of {', '.join(fields)}.")
        key = clean_key(value).get_secret_value() if value and value.strip() else ""  # an empty value removes it
        await self._context.set_secret(fields[name.lower()].variable, key)
        try:
            await self._open()
        except GroundwireError as error:
            _logger.info("The setup is incomplete: %s", error)

    async def on_setup_complete(self) -> tuple[bool, str]:
        """Call each service that needs a key, and return whether the keys work, with a sentence for the user."""
        if self._context is None:
            return False, "The extension is not initialized; call initialize first."
        required_fields = [field for field in self._fields() if field.required]
        if not required_fields:
            return True, "The configured providers need no key."
        for field in required_fields:
            if not await self._context.get_secret(field.variable):
                return False, f"{field.variable} is required when using {field.provider}."
        try:
            settings = await self._settings()
            for field in required_fields:
                tried = await verify(field.provider, settings)
                if not tried.works:
                    return False, f"The key could not be verified: {field.provider}: {tried.what} {tried.fix}"
            if self._web is None:
                await self._open()
        except GroundwireError as error:
            return False, f"The key could not be verified: {error}"
        return True, "All keys work."

    def _fields(self) -> tuple[SetupField, ...]:
        """Return the setup fields; the keys that the chosen providers need are required."""
        chosen = {name.partition(":")[0] for name in (*self._config.search_provider, *self._config.read_provider)}
        return setup_schema(load_offers().values(), chosen)

    async def _open(self) -> None:
        old, self._web = self._web, None
        if old is not None:
            await old.aclose()
        self._web = Web(
            await self._settings(),
            search_providers=self._config.search_provider,
            read_providers=self._config.read_provider,
        )

    async def _settings(self) -> Settings:
        config = self._config
        arguments: dict[str, Any] = {
            "read.max_length": config.max_page_length,
            "policy.allowed_domains": config.allowed_domains,
            "policy.blocked_domains": config.blocked_domains,
        }
        if "searxng" in config.search_provider:
            arguments["providers.searxng.base_url"] = config.searxng_base_url
        if config.duckduckgo_delay:
            for name in ("duckduckgo", "duckduckgo_lite"):
                arguments[f"providers.{name}.delay"] = config.duckduckgo_delay
        offers = load_offers()
        for name in dict.fromkeys((*config.search_provider, *config.read_provider)):
            offer = offers.get(name.partition(":")[0])
            for variable in offer.variables if offer else ():
                if key := await self._context.get_secret(variable):
                    arguments[f"keys.{variable}"] = key
        return load_with("yodoca", {**arguments, **config.settings})


_MAIN = '''\
"""Web search and page reading, by Groundwire."""

from groundwire.integrations.hosts.extension import WebSearchExtension

__all__ = ["WebSearchExtension"]
'''


def export_extension(folder: Path, *, force: bool = False) -> tuple[Path, Path]:
    """Write `manifest.yaml` and `main.py` into a folder, which is made if it is not there.

    Args:
        folder: The extension's folder, such as `sandbox/extensions/web_search`.
        force: Whether files of these names that say something else may be written over.

    Returns:
        The two files.

    Raises:
        ConfigurationError: one of them exists with different content. OSError: they cannot be written.
    """
    manifest = files("groundwire.integrations.hosts").joinpath("extension_manifest.yaml").read_text(encoding="utf-8")
    manifest = manifest.format(version=__version__)
    first, second = folder / "manifest.yaml", folder / "main.py"
    write_files({first: manifest, second: _MAIN}, force=force)
    return first, second


def write_files(texts: Mapping[Path, str], *, force: bool) -> None:
    """Write files, and make their folders; all of them, or none if one says something else already.

    Args:
        texts: The texts by path.
        force: Whether files that say something else may be written over.

    Raises:
        ConfigurationError: one exists with different content. OSError: they cannot be written.
    """
    for path, text in texts.items():
        if not force and path.exists() and path.read_text(encoding="utf-8", errors="replace") != text:
            raise ConfigurationError(f"{path} already exists with different content. Pass --force to overwrite it.")
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
