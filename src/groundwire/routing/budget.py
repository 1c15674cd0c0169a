"""What one session may search."""

from __future__ import annotations

import threading

from groundwire.errors import BudgetExceeded
from groundwire.models import Budget

__all__ = ["SessionBudget"]


class SessionBudget:
    """A counter of searches with a limit, exact under threads and tasks.

    Args:
        limit: The most searches; 0 means no limit.
        warning_threshold: From how many searches on there is a warning.
    """

    def __init__(self, limit: int, warning_threshold: int) -> None:
        self._limit = limit
        self._threshold = warning_threshold
        self._spent = 0
        self._lock = threading.Lock()

    def take(self) -> None:
        """Count one search before it is made.

        Raises:
            BudgetExceeded: none is left.
        """
        with self._lock:
            if self._limit and self._spent >= self._limit:
                raise BudgetExceeded(
                    f"Search limit reached ({self._spent}/{self._limit}). Use existing results or training knowledge. "
                    "Limit resets with new session.",
                    limit=self._limit,
                    spent=self._spent,
                )
            self._spent += 1

    def give_back(self) -> None:
        """Uncount a search that could not be made."""
        with self._lock:
            self._spent = max(0, self._spent - 1)

    def reset(self) -> None:
        """Begin a new session."""
        with self._lock:
            self._spent = 0

    def state(self) -> Budget | None:
        """Return what is used and what is left, or None when there is no limit."""
        with self._lock:
            return Budget(limit=self._limit, spent=self._spent) if self._limit else None

    def warning(self) -> str | None:
        """Return the sentence for an agent that comes near its limit, or None."""
        budget = self.state()
        if budget is None or budget.spent < self._threshold:
            return None
        return f"[WARNING: {budget.remaining} searches remaining in session]"
