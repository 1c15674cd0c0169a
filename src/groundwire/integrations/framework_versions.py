"""The supported versions of each framework, and the check for them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module, metadata
from types import MappingProxyType
from typing import Any

from groundwire._version import install_command

__all__ = ["FRAMEWORKS", "Framework", "check_version", "need"]


@dataclass(frozen=True, slots=True)
class Framework:
    """One framework."""

    extra: str
    """The extra of Groundwire that installs it."""
    distribution: str
    """Its name in package registries."""
    lowest: str
    """The lowest supported version."""
    below: str
    """The first version that is not known to work."""

    @property
    def requirement(self) -> str:
        """The requirement of the extra."""
        return f"{self.distribution}>={self.lowest},<{self.below}"


_ALL = (
    Framework("strands", "strands-agents", "1.20", "2"),
    Framework("openai-agents", "openai-agents", "0.3", "1"),
    Framework("pydantic-ai", "pydantic-ai-slim", "2.16", "3"),
    Framework("langchain", "langchain", "1.0", "2"),
    Framework("anthropic", "anthropic", "2", "3"),
    Framework("llamaindex", "llama-index-core", "0.14", "0.15"),
    Framework("google-adk", "google-adk", "2.0", "3"),
    Framework("haystack", "haystack-ai", "3.0", "4"),
    Framework("agno", "agno", "3.0", "4"),
    Framework("autogen", "autogen-agentchat", "0.7", "0.8"),
    Framework("crewai", "crewai", "1.15", "2"),
    Framework("dspy", "dspy", "3.1", "4"),
    Framework("smolagents", "smolagents", "1.20", "2"),
    Framework("agent-framework", "agent-framework-core", "1.0", "2"),
)

FRAMEWORKS: Mapping[str, Framework] = MappingProxyType({framework.extra: framework for framework in _ALL})
"""Every framework with a module here, by its extra."""


def need(extra: str, module: str) -> Any:
    """Import a framework's module if a supported version of the framework is installed.

    Args:
        extra: The extra that installs it.
        module: The module.

    Returns:
        The module, untyped: the frameworks exclude one another, and no environment has them all.

    Raises:
        ImportError: it is not installed; the message names the package.
    """
    framework = FRAMEWORKS[extra]
    if not check_version(extra):
        raise ImportError(
            f"{framework.distribution} is not installed: {_how(extra)} "
            f"(versions {framework.lowest} to below {framework.below})"
        )
    return import_module(module)


def check_version(extra: str) -> bool:
    """Return whether a framework is installed.

    Args:
        extra: The extra that installs it.

    Raises:
        ImportError: its version is not supported.
    """
    framework = FRAMEWORKS[extra]
    try:
        version = metadata.version(framework.distribution)
    except metadata.PackageNotFoundError:
        return False
    if not _numbers(framework.lowest) <= _numbers(version) < _numbers(framework.below):
        raise ImportError(
            f"{framework.distribution} {version} is not supported; versions from {framework.lowest} to below "
            f"{framework.below} work: {_how(extra)}"
        )
    return True


def _how(extra: str) -> str:
    return install_command(FRAMEWORKS[extra].requirement)


def _numbers(version: str) -> tuple[int, ...]:
    """Return the release numbers of a version, without trailing zeros: 2.0 becomes 2."""
    release = re.match(r"\d+(\.\d+)*", version)
    numbers = [int(part) for part in release[0].split(".")] if release else []
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)
