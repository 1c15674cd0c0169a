"""Adapters for host applications, and what they share: settings that a host's document implies, numbers of a model."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from groundwire.settings import Settings, load

__all__ = ["load_with", "tool_of", "whole_number"]


def load_with(host: str, arguments: Mapping[str, Any] | None = None) -> Settings:
    """Return the current settings, with a host's defaults (`defaults.toml`) instead of Groundwire's.

    Args:
        host: The host's name.
        arguments: Values by dotted key that take precedence over everything.

    Raises:
        ConfigurationError: a key or value is invalid.
    """
    defaults = tomllib.loads(files(__package__).joinpath("defaults.toml").read_text(encoding="utf-8"))[host]
    arguments = dict(arguments or {})
    set_by_somebody = load(arguments)
    missing = {key: value for key, value in defaults.items() if set_by_somebody.origin(key) == "default"}
    return load({**missing, **arguments})


def tool_of(host: str) -> dict[str, Any]:
    """Return the definition of a host's tool, as its document has it (`tools.json`)."""
    definition: dict[str, Any] = json.loads(files(__package__).joinpath("tools.json").read_bytes())[host]
    return definition


def whole_number(value: object, default: int) -> int:
    """Return a number that a model wrote, as a number or as text; the usual one where it is neither."""
    if isinstance(value, str) and re.fullmatch(r"\s*[+-]?\d{1,9}\s*", value):
        return int(value)
    return int(value) if isinstance(value, (int, float)) and abs(value) < 1e9 else default
