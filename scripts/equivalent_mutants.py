"""Mutants that no test can tell from the original, each with the reason.

A mutant is known by its module, its function and the line that it makes. `scripts/mutants.py` says which entries no longer
name a mutant.
"""

from __future__ import annotations

from typing import Final

__all__ = ["EQUIVALENT"]

EQUIVALENT: Final[tuple[tuple[str, str, str, str], ...]] = ()
"""Module, function, the line as mutated, and why nothing changes."""
