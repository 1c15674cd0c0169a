"""The versions of frameworks that work, which are those of our extras, and the check for them."""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module, metadata
from typing import Any, NamedTuple

from groundwire._version import install_command

__all__ = ["Framework", "check_version", "framework_of", "need"]


class Framework(NamedTuple):
    """One framework."""

    distribution: str
    """Its name in package registries."""
    lowest: str
    """The lowest supported version."""
    below: str
    """The first version that is not known to work."""

    @property
    def requirement(self) -> str:
        """The requirement of its extra."""
        return f"{self.distribution}>={self.lowest},<{self.below}"


@cache
def framework_of(extra: str) -> Framework:
    """Return the framework that an extra of Groundwire installs, as the metadata of the installed package has it.

    Raises:
        LookupError: there is no such extra. ImportError: Groundwire is not installed as a package.
    """
    for requirement in metadata.requires("groundwire") or ():
        words, _, marker = requirement.partition(";")
        if re.search(rf"""extra == ['"]{extra}['"]""", marker):
            bounds = dict(re.findall(r"(>=|<)([\d.]+)", words))
            return Framework(re.split(r"[^\w.-]", words, maxsplit=1)[0], bounds[">="], bounds["<"])
    raise LookupError(extra)


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
    framework = framework_of(extra)
    if not check_version(extra):
        raise ImportError(
            f"{framework.distribution} is not installed: {install_command(framework.requirement)} "
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
    framework = framework_of(extra)
    try:
        version = metadata.version(framework.distribution)
    except metadata.PackageNotFoundError:
        return False
    if not _numbers(framework.lowest) <= _numbers(version) < _numbers(framework.below):
        raise ImportError(
            f"{framework.distribution} {version} is not supported; versions from {framework.lowest} to below "
            f"{framework.below} work: {install_command(framework.requirement)}"
        )
    return True


def _numbers(version: str) -> tuple[int, ...]:
    """Return the release numbers of a version, without trailing zeros: 2.0 becomes 2."""
    release = re.match(r"\d+(\.\d+)*", version)
    numbers = [int(part) for part in release[0].split(".")] if release else []
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)
