"""Tests marked slow are left out of a run that does not ask for them."""

from __future__ import annotations

import re

import pytest


class SlowTests:
    """A pytest plugin that deselects slow tests, unless `-m` mentions slow or a test is named by its id."""

    @pytest.hookimpl
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Leave them out."""
        if "slow" in re.findall(r"\w+", config.option.markexpr) or any("::" in argument for argument in config.args):
            return
        if slow := [item for item in items if item.get_closest_marker("slow")]:
            config.hook.pytest_deselected(items=slow)
            items[:] = [item for item in items if not item.get_closest_marker("slow")]
