"""Worker groups of pytest-xdist, and the order in which workers take them."""

from __future__ import annotations

import pytest


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Make worker groups take effect, and begin with real components and what else takes long.

    xdist 3.8 writes the groups where pytest no longer looks since 9.2. Tests of real components install them and wait
    for them, and those with a time limit of their own run for half a minute: one that came last would run alone.
    """
    for item in items:
        grouped = getattr(item, "_nodeid", item.nodeid)
        if grouped != item.nodeid:
            object.__setattr__(item, "_id", type(item.id).parse(grouped))
    items.sort(key=lambda item: [item.get_closest_marker(name) is None for name in ("real", "timeout")])
