"""The number of examples of a property test: a few in every run, all of them with `SLOW=1`."""

from __future__ import annotations

import os

_FEWEST = 15
_SHARE = 8


def examples(full: int) -> int:
    """Return the number for this run.

    Args:
        full: The number for slow runs.
    """
    if os.environ.get("SLOW"):
        return full
    return min(full, max(_FEWEST, full // _SHARE))
