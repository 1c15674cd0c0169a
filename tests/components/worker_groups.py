"""Worker groups of pytest-xdist."""

from __future__ import annotations

import pytest

__all__ = ["pytest_collection_modifyitems"]


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Make worker groups take effect: xdist 3.8 writes them where pytest no longer looks since 9.2."""
    for item in items:
        grouped = getattr(item, "_nodeid", item.nodeid)
        if grouped != item.nodeid:
            object.__setattr__(item, "_id", type(item.id).parse(grouped))
