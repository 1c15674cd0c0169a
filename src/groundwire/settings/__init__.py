"""What an operator can set, where a value may come from, and its effective value."""

from __future__ import annotations

from groundwire.settings.load import load
from groundwire.settings.provider_options import provider_rows
from groundwire.settings.schema import KEY_VARIABLES, Settings, SettingValue
from groundwire.settings.sections import (
    MODEL_PROVIDERS,
    LocalSettings,
    NativeSettings,
    NetworkSettings,
    PermissionSettings,
    PolicySettings,
    ReadSettings,
    SearchSettings,
    ServerSettings,
    SessionSettings,
)
from groundwire.settings.sources import variable

__all__ = [
    "KEY_VARIABLES",
    "MODEL_PROVIDERS",
    "LocalSettings",
    "NativeSettings",
    "NetworkSettings",
    "PermissionSettings",
    "PolicySettings",
    "ReadSettings",
    "SearchSettings",
    "ServerSettings",
    "SessionSettings",
    "SettingValue",
    "Settings",
    "load",
    "provider_rows",
    "variable",
]
