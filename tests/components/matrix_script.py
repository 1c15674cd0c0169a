"""`scripts/check_matrix.py`, which `make matrix` runs, as a module."""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


@cache
def check_matrix() -> Any:
    """Return the module."""
    spec = importlib.util.spec_from_file_location("check_matrix", ROOT / "scripts" / "check_matrix.py")
    assert spec
    assert spec.loader
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made
