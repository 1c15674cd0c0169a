"""The response header with a plan's warnings: a changed model, or one that has been shut down."""

from __future__ import annotations

import re
from collections.abc import Sequence

WARNING_HEADER = "x-groundwire-warning"
"""The header's name."""

_UNFIT = re.compile(r"[^ -~]+")  # what a header cannot carry; a client chooses the model's name in it
_LONGEST = 1_000  # characters; servers limit their clients' headers, and some clients do


def warning_headers(warnings: Sequence[str]) -> dict[str, str]:
    """Return the header, or nothing without warnings.

    Args:
        warnings: Sentences.
    """
    text = _UNFIT.sub("?", " ".join(warnings))[:_LONGEST].strip()
    return {WARNING_HEADER: text} if text else {}
