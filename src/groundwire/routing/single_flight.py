"""Single flight: identical calls that run at the same time share one load and its result."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from groundwire.deadline import Deadline
from groundwire.errors import Closed, DeadlineExceeded

_GRACE = 0.25  # seconds that a call waits beyond its deadline for the work to report its attempts, or finish
_CLOSING = 2.0  # seconds that closing waits for work to end

_T = TypeVar("_T")


@dataclass(slots=True, eq=False, repr=False)
class InFlightLoad(Generic[_T]):
    """Work in progress, and its result."""

    name: str
    """Its name."""
    deadline: Deadline
    """The deadline of the call that started it."""
    answer: asyncio.Future[_T]
    """The result for all callers that wait."""
    shared: bool = True
    """Whether later callers may use the result while the work continues."""
    waiters: int = 0
    """How many callers wait for it."""
    task: asyncio.Task[None] = field(init=False)
    """The task of the work."""

    @property
    def over(self) -> bool:
        """Whether a new caller can no longer join it."""
        answer = self.answer
        return answer.done() and (not self.shared or answer.cancelled() or answer.exception() is not None)

    def resolve(self, answer: _T, *, shared: bool = True) -> None:
        """Return the result to all waiting callers; the work may continue after that.

        Args:
            answer: The result.
            shared: Whether callers that arrive while the work continues may use it too.
        """
        self.shared = shared
        if not self.answer.done():
            self.answer.set_result(answer)

    def fail(self, error: BaseException) -> None:
        """Raise an error for all waiting callers."""
        if not self.answer.done():
            self.answer.set_exception(error)
            self.answer.exception()  # retrieved: there may be no caller left to do so


class SingleFlight:
    """Work by name. It starts with the first caller and is canceled when the last one leaves before the result."""

    def __init__(self) -> None:
        self._loads: dict[str, InFlightLoad[Any]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = False

    async def share(
        self, name: str, work: Callable[[InFlightLoad[_T]], Coroutine[Any, Any, None]], deadline: Deadline
    ) -> tuple[_T, bool]:
        """Return the result of the work with this name, and whether it was started for this call.

        Args:
            name: The name of the work.
            work: Does it and resolves the load, or fails; anything it raises before goes to all waiting callers.
            deadline: The deadline of the result. Work that failed because of a shorter deadline is restarted.

        Raises:
            DeadlineExceeded: the deadline passed. Closed. Anything that the work raises.
        """
        while not self._closed:
            load = self._loads.get(name)
            if load is None or load.over:
                return await self._wait(self._start(name, work, deadline), deadline), True
            try:
                return await self._wait(load, deadline), False
            except Exception:
                if deadline.passed or not load.deadline.passed:
                    raise
        raise _closed_error()

    def active(self, name: str) -> bool:
        """Whether work with this name is running."""
        load = self._loads.get(name)
        return load is not None and not load.task.done()

    async def aclose(self) -> None:
        """End all work; waiting callers get Closed. Resolved work may finish."""
        self._closed = True
        for load in [*self._loads.values()]:
            if not load.answer.done():
                load.fail(_closed_error())
                load.task.cancel()
        if self._tasks:
            await asyncio.wait(set(self._tasks), timeout=_CLOSING)

    def _start(
        self, name: str, work: Callable[[InFlightLoad[_T]], Coroutine[Any, Any, None]], deadline: Deadline
    ) -> InFlightLoad[_T]:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[_T] = loop.create_future()
        load = self._loads[name] = InFlightLoad(name, deadline, answer)
        load.task = loop.create_task(work(load))
        self._tasks.add(load.task)
        load.task.add_done_callback(functools.partial(self._finish, load))
        return load

    def _finish(self, load: InFlightLoad[Any], task: asyncio.Task[None]) -> None:
        """Raise the work's exception for all waiting callers, and forget it."""
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            load.fail(error)
        load.answer.cancel()
        if self._loads.get(load.name) is load:
            del self._loads[load.name]

    async def _wait(self, load: InFlightLoad[_T], deadline: Deadline) -> _T:
        load.waiters += 1
        try:
            grace = _GRACE if load.deadline.at <= deadline.at else 0.0
            await asyncio.wait((load.answer,), timeout=deadline.remaining() + grace)
            if load.answer.done() and not load.task.done():  # a caller's next call must see what this one has changed
                await asyncio.wait((load.task,), timeout=min(_GRACE, deadline.remaining()))
        finally:
            load.waiters -= 1
            if not load.waiters and not load.answer.done():
                load.answer.cancel()
                load.task.cancel()
                await asyncio.wait((load.task,), timeout=_GRACE)
        if not load.answer.done() or load.answer.cancelled():
            raise DeadlineExceeded("No answer in time. Try again, or allow more time.")
        return load.answer.result()


def _closed_error() -> Closed:
    return Closed("This Web is closed; create a new one.")
