"""What every test of the server is given: as much time as a busy machine may take for a call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from components.mcp_processes import place as place
from groundwire import Settings


@pytest.fixture
def settings(settings: Callable[..., Settings]) -> Callable[..., Settings]:
    """Make settings with ten minutes for a search or a page, unless others are given."""

    def make(**sections: Mapping[str, Any]) -> Settings:
        patient = {name: {"timeout": 600.0, **sections.get(name, {})} for name in ("search", "read")}
        return settings(**{**sections, **patient})

    return make
