"""The budget of a session: searches, US dollars, tokens of page text. Reserved before, settled after.

The counts are in the store under the session's name, so processes that share a store and a name share a budget.
"""

from __future__ import annotations

import asyncio
import copy
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from groundwire.errors import BudgetExceeded
from groundwire.models import Budget
from groundwire.routing.background_tasks import BackgroundTasks
from groundwire.routing.cost_ledger import MICRO, CostLedger, micro
from groundwire.routing.daily_quota import DailyQuota, Limits, take_up_to
from groundwire.safety.tenancy import LOCAL, Owner
from groundwire.storage.base import Add, Count, Get, Lookup, Operation, Set, Store

__all__ = ["Limits", "Reservation", "SessionBudget", "session_name"]

_LIFE = 7 * 86_400.0  # seconds after which the store deletes a session
_CHARACTERS_PER_TOKEN = 4  # English prose in the usual tokenizers; an estimate
_USED = ("searches", "usd", "tokens")
_RESET = "Limit resets with new session."


class SessionBudget:
    """The budget of one session.

    Args:
        store: The store of the counts.
        session: The session's name.
        limits: The limits.
        tasks: Runs writes after a call has ended.
        named: Whether the session has a public name; otherwise no other process uses it.
        quota: The daily quota of the session's owner, which everything is charged to as well.
        owner: The owner of everything stored for the session.
        clock: Returns seconds, for the idle time.
    """

    def __init__(
        self,
        store: Store,
        session: str,
        limits: Limits,
        tasks: BackgroundTasks | None = None,
        *,
        named: bool = True,
        quota: DailyQuota | None = None,
        owner: Owner = LOCAL,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.owner = owner
        self.store = store
        """The store of the counts and other data of the session."""
        self.quota = quota
        """The daily quota of its owner."""
        self._tasks = tasks or BackgroundTasks()
        self.session = session
        self.limits = limits
        self.named = named
        self._last_usage = Budget.model_construct(limit=int(limits.searches), spent=0)
        self._activity = _Activity()
        self._clock = clock

    def within(self, quota: DailyQuota | None, owner: Owner) -> SessionBudget:
        """Return the session's budget with a daily quota; for another owner, that is a different session."""
        view = copy.copy(self)
        view.quota = quota
        if owner != self.owner:
            view.owner, view.session, view._activity = owner, session_name(owner, self.session), _Activity()
        view._note(0)
        return view

    async def take(self, price_usd: float = 0.0, along: Lookup | None = None) -> Reservation:
        """Count one search before it is made, and reserve its price.

        Args:
            price_usd: Its maximum price.
            along: The call's other requests to the same store, combined into one operation.

        Raises:
            BudgetExceeded: no search, or not enough money, is left.
        """
        reserved = micro(price_usd)
        await self._end_if_idle()
        day = await self._take_of_day(reserved)
        try:
            return (await self._take(reserved, along))._replace(day=day)
        except BaseException:
            await asyncio.shield(self._uncount(day, 1, reserved))
            raise

    async def take_page(self, price_usd: float = 0.0) -> Reservation:
        """Count one page before it is read, and reserve its price if money is limited.

        Args:
            price_usd: Its maximum price.

        Raises:
            BudgetExceeded: the owner's daily calls are used up, or there is not enough money.
        """
        quota, own = self.quota, round(self.limits.cost_usd * MICRO)
        limited = own or (quota is not None and quota.daily.cost_usd)
        reserved = micro(price_usd) if limited else 0
        await self._end_if_idle()
        day = await self._take_of_day(reserved)
        if reserved:
            money = await self.store.count(self._key("usd"), reserved, limit=own or None, ttl=_LIFE)
            if not money.granted:
                await self._uncount(day, 1, reserved)
                raise self._no_money(money.total / MICRO, self._last_usage.spent)
        return Reservation(0, reserved, day, self._last_usage.spent)

    async def _take(self, reserved: int, along: Lookup | None) -> Reservation:
        operations: list[Operation] = [Add(self._key("searches"), 1, self.limits.searches or None, _LIFE)]
        if reserved:
            operations.append(Add(self._key("usd"), reserved, round(self.limits.cost_usd * MICRO) or None, _LIFE))
        own = len(operations)
        answers = await self.store.batch(operations if along is None else [*operations, *along.operations])
        count, *money_counts = (answer for answer in answers[:own] if isinstance(answer, Count))
        self._note(count.total)
        if not count.granted:
            spent = round(count.total)
            raise BudgetExceeded(
                f"Search limit reached ({spent}/{self.limits.searches}).",
                resets=self._how_to_reset(),
                limit=self.limits.searches,
                spent=spent,
            )
        for money in money_counts:
            if not money.granted:
                self._note((await self.store.count(self._key("searches"), -1)).total)
                raise self._no_money(money.total / MICRO, round(count.total))
        if along is not None:
            along.answers = answers[own:]
        return Reservation(1, reserved, spent=round(count.total))

    def ledger(self, reservation: Reservation) -> CostLedger:
        """Return the ledger of a call, whose requests may exceed the reservation within the limits."""

        async def reserve(amount: int) -> bool:
            if self.quota is not None and not await self.quota.spend(reservation.day, amount):
                return False
            limit = round(self.limits.cost_usd * MICRO) or None
            granted = (await self.store.count(self._key("usd"), amount, limit=limit, ttl=_LIFE)).granted
            if self.quota is not None and not granted:
                await self.quota.add(reservation.day, -amount)
            return granted

        return CostLedger(
            reserve, lambda amount: self._tasks.start(self._add(amount, reservation.day)), reservation.micro_usd
        )

    async def check_money(self) -> None:
        """Check that some money is left.

        Raises:
            BudgetExceeded: all of it is used up.
        """
        if self.quota is not None:
            await self.quota.check_money()
        if not self.limits.cost_usd:
            return
        used = (await self.store.count(self._key("usd"), 0)).total / MICRO
        if used >= self.limits.cost_usd:
            raise self._no_money(used, self._last_usage.spent)

    async def settle(
        self, reservation: Reservation, cost_usd: float | None = None, *, searches: int | None = None
    ) -> None:
        """Replace what was reserved by what was made.

        Args:
            reservation: The reservation.
            cost_usd: The actual cost; by default the reserved price of each search that was made.
            searches: How many were made, by default all of them; none if a search could not be made, and more than
                reserved are counted too.
        """
        made = reservation.searches if searches is None else searches
        price = reservation.micro_usd // reservation.searches if reservation.searches else 0
        money = made * price if cost_usd is None else micro(cost_usd)
        if made != reservation.searches:
            count = await self.store.count(self._key("searches"), made - reservation.searches, ttl=_LIFE)
            self._note(count.total)
            await self._uncount(reservation.day, reservation.searches - made, 0)
        if money != reservation.micro_usd:
            await self._add(money - reservation.micro_usd, reservation.day)

    async def reserve_many(self, most: int, price_usd: float = 0.0) -> Reservation:
        """Reserve searches for a model's API: the requested number, or what is left.

        Args:
            most: The requested number.
            price_usd: The maximum price of each.
        """
        price = micro(price_usd)
        await self._end_if_idle()
        day = self.quota.today() if self.quota is not None else 0
        allowed = await self.quota.take_up_to(day, most, price) if self.quota is not None else most
        searches, total = await take_up_to(
            self.store, self._key, "searches", (allowed, price), (self.limits.searches, self.limits.cost_usd), _LIFE
        )
        if allowed:
            self._note(total)
        await self._uncount(day, allowed - searches, (allowed - searches) * price)
        return Reservation(searches, searches * price, day)

    async def check_tokens(self) -> None:
        """Check that some page text may still be read.

        Raises:
            BudgetExceeded: the session's tokens are used up.
        """
        if not self.limits.tokens:
            return
        await self._end_if_idle()
        used = (await self.store.count(self._key("tokens"), 0)).total
        if used >= self.limits.tokens:
            raise BudgetExceeded(
                f"The session's budget of page text is used up ({used:,.0f} of {self.limits.tokens:,} tokens).",
                resets=self._how_to_reset(),
                limit=self.limits.tokens,
                spent=round(used),
            )

    async def count_page_text(self, characters: int) -> None:
        """Count page text returned to the caller."""
        if self.limits.tokens:
            await self.store.count(self._key("tokens"), math.ceil(characters / _CHARACTERS_PER_TOKEN), ttl=_LIFE)

    async def reset(self) -> None:
        """Reset the counts."""
        for what in _USED:
            await self.store.delete(self._key(what))
        self._note(0)

    async def usage(self) -> dict[str, float]:
        """Return the usage of the session: `searches`, `cost_usd`, `tokens` (counted only with a limit)."""
        totals = {what: (await self.store.count(self._key(what), 0)).total for what in _USED}
        self._note(totals["searches"])
        return {"searches": totals["searches"], "cost_usd": totals["usd"] / MICRO, "tokens": totals["tokens"]}

    def state(self) -> Budget | None:
        """Return usage and limit, as last received from the store; None if searches are not limited."""
        return self._last_usage if self.limits.searches else None

    def warning(self, reservation: Reservation) -> str | None:
        """Return the warning for a session close to its limit, or None; see `LOW_BUDGET`."""
        if not self.limits.searches or reservation.spent < self.limits.warning_threshold:
            return None
        remaining = max(0, self.limits.searches - reservation.spent)
        return f"Searches left in this session: {remaining} of {self.limits.searches}."

    async def _end_if_idle(self) -> None:
        """Reset the counts if the session was idle for `idle_timeout` in every process.

        The counts from before the pause are subtracted, so that concurrent calls stay counted. They are read only while
        the session is unmarked, and subtracted only if it still is, each in one batch: a process that is slow between
        the two must not subtract what another one has counted since.
        """
        idle, activity, now = self.limits.idle_timeout, self._activity, self._clock()
        if not (idle and (self.limits.searches or self.limits.cost_usd or self.limits.tokens)):
            return
        if now - activity.marked < idle / 8:  # the mark in the store is renewed at most this often
            return
        marked = Get(self._key("active"), ends=True)
        _, *before = await self.store.batch((marked, *(Add(self._key(what), 0) for what in _USED)))
        spent = [(what, count.total) for what, count in zip(_USED, before, strict=False) if isinstance(count, Count)]
        if any(total for _, total in spent):
            subtract = (Add(self._key(what), -total) for what, total in spent)
            await self.store.batch((marked, *subtract, Set(marked.key, b"", idle)))
        await self.store.set(marked.key, b"", fresh=idle)
        activity.marked = now

    def _how_to_reset(self) -> str:
        """Return how to reset the budget and, if sessions end by themselves, how to start a new one."""
        if not self.limits.idle_timeout:
            return _RESET
        return (
            f"{_RESET} A session ends after {self.limits.idle_timeout / 60:,.0f} minutes without a call. To reset it: "
            "MCP prompt new_session, groundwire session NAME --reset, DELETE /v1/sessions/NAME, or reset_session() in "
            "Python."
        )

    async def _take_of_day(self, micro_usd: int) -> int:
        """Count a call in the owner's quota, and return its day; 0 if there is no quota."""
        if self.quota is None:
            return 0
        day = self.quota.today()
        await self.quota.take(day, micro_usd)
        return day

    async def _uncount(self, day: int, calls: int, micro_usd: int) -> None:
        """Return calls that were not made, and money, to the owner's quota."""
        if self.quota is not None:
            await self.quota.uncount(day, calls)
            await self.quota.add(day, -micro_usd)

    async def _add(self, amount: int, day: int) -> None:
        await self.store.count(self._key("usd"), amount, ttl=_LIFE)
        if self.quota is not None:
            await self.quota.add(day, amount)

    def _no_money(self, used: float, searches: int) -> BudgetExceeded:
        return BudgetExceeded(
            f"The session's cost budget is used up ({used:.4f} of {self.limits.cost_usd:.4f} US dollars).",
            resets=self._how_to_reset(),
            limit=self.limits.searches,
            spent=searches,
        )

    def _note(self, spent: float) -> None:
        self._last_usage = Budget.model_construct(limit=self.limits.searches, spent=round(spent))

    def _key(self, what: str) -> str:
        return f"session:{self.session}:{what}"


def session_name(owner: Owner, name: str) -> str:
    """Return the name of an owner's session in the store, unique to the tenant."""
    prefix = f"tenant:{owner.tenant}:" if owner.tenant else ""
    return name if name.startswith(prefix) else prefix + name


@dataclass(slots=True)
class _Activity:
    """When this process last marked a session as used."""

    marked: float = field(default=-math.inf)
    """Seconds of the budget's clock."""


class Reservation(NamedTuple):
    """Searches or a page, counted before they are made."""

    searches: int = 0
    """How many searches; 0 if none is left, and for a page."""
    micro_usd: int = 0
    """Micro-dollars reserved for all of them."""
    day: int = 0
    """The day of the quota that they were counted on."""
    spent: int = 0
    """The searches of the session, including these."""
