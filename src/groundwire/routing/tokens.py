"""A bucket of tokens: what happens often earns the right to what may happen seldom."""

from __future__ import annotations

__all__ = ["Tokens"]


class Tokens:
    """Tokens that are earned in fractions and spent whole.

    Args:
        earned: Tokens for each `earn`.
        kept: The most that are kept; the bucket begins full.
    """

    def __init__(self, earned: float, kept: float) -> None:
        self._earned = earned
        self._kept = kept
        self._tokens = kept if earned > 0 else 0.0

    def earn(self) -> None:
        """Earn."""
        self._tokens = min(self._kept, self._tokens + self._earned)

    @property
    def has_one(self) -> bool:
        """Whether a whole token is there."""
        return self._tokens >= 1

    def spend(self) -> None:
        """Spend one."""
        self._tokens -= 1
