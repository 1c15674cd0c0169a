"""What an operator can set, where a value may come from, and what is in force."""

from __future__ import annotations

from groundwire.settings.load import load
from groundwire.settings.schema import (
    KEY_VARIABLES,
    NetworkSettings,
    PolicySettings,
    ReadSettings,
    SearchSettings,
    SessionSettings,
    Settings,
)

__all__ = [
    "KEY_VARIABLES",
    "NetworkSettings",
    "PolicySettings",
    "ReadSettings",
    "SearchSettings",
    "SessionSettings",
    "Settings",
    "load",
]
