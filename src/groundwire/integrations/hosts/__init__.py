"""Adapters for host applications, and what they share: settings that a host's document implies, numbers of a model."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from groundwire.settings import Settings, load

__all__ = ["load_with", "whole_number"]


def load_with(usual: Mapping[str, Any], arguments: Mapping[str, Any] | None = None) -> Settings:
    """Return the current settings, with a host's defaults instead of Groundwire's.

    Args:
        usual: Values by dotted key that count where neither the arguments, the environment nor a file set them.
        arguments: Values by dotted key that take precedence over everything.

    Raises:
        ConfigurationError: a key or value is invalid.
    """
    arguments = dict(arguments or {})
    set_by_somebody = load(arguments)
    missing = {key: value for key, value in usual.items() if set_by_somebody.origin(key) == "default"}
    return load({**missing, **arguments})


def whole_number(value: object, usual: int) -> int:
    """Return a number that a model wrote, as a number or as text; the usual one where it is neither."""
    if isinstance(value, str) and re.fullmatch(r"\s*[+-]?\d{1,9}\s*", value):
        return int(value)
    return int(value) if isinstance(value, (int, float)) and abs(value) < 1e9 else usual
