"""The budget of extra paid calls: those beyond the ones of a sequential chain."""

from __future__ import annotations

from groundwire.routing.cost_ledger import MICRO
from groundwire.storage.base import Store, StoreError

_EAGER = 2.0  # above half of the budget, any hedge is allowed; below, only likely necessary ones
_SPENT, _SPENT_TTL = "extra-paid", 3_600.0  # the key in the store, and the seconds after which it resets


class ExtraBudget:
    """The budget of extra paid calls, beyond those of a sequential chain.

    Each search earns a part of a call. A hedge is charged by the probability that the hedged call still responds, and
    corrected when that is known: replacing a failed call is not extra. Spending is counted in the store, for all
    processes that share it; each counts on its own between two exchanges.

    Args:
        earned: Calls per search.
        burst: The maximum that can be spent at once; also the initial budget.
    """

    def __init__(self, earned: float, burst: float) -> None:
        self._earned = earned
        self._burst = burst if earned > 0 else 0.0
        self._shared = 0.0
        self._pending = 0.0

    def earn(self) -> None:
        """Count a search."""
        self.spend(-self._earned)

    def allows(self, calls: float, *, reserve: float = 0.0) -> bool:
        """Whether this many calls, or a part of one, may be spent.

        The less is left, the more likely a call must be to be necessary: late calls must not use up the budget for lost
        ones.

        Args:
            calls: How many.
            reserve: The share of the budget that must remain: hedges of late attempts leave it to searches that would
                end without a result.
        """
        spent = self._shared + self._pending
        available = self._burst - min(reserve * self._burst, max(0.0, self._burst - 1))
        eager = calls >= 1 or calls * available <= _EAGER * (available - spent)
        return spent + calls <= available and eager

    def spend(self, calls: float) -> None:
        """Spend calls, or refund a negative number."""
        self._pending = max(self._pending + calls, -self._shared)

    async def exchange(self, store: Store) -> None:
        """Count spending since the last exchange in the store, and read what others have spent.

        While the store fails, the budget is local to this process.
        """
        pending, self._pending = self._pending, 0.0
        self._shared += pending  # until the store has answered
        try:
            count = await store.count(_SPENT, round(pending * MICRO), ttl=_SPENT_TTL)
        except StoreError:
            return
        self._shared = count.total / MICRO
