"""An event loop on which tenants take turns.

An event loop runs what is ready in the order in which it became ready, and all of it before it looks for more. A
search takes some twenty steps, and waits before each for a step of every other request in progress: beside a tenant
with 256 of them, one with a single search waited three to four times as long as alone (benchmarks/NOTES.md).
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable, Coroutine
from contextvars import Context, copy_context
from typing import Any, NamedTuple, TypeVar

from groundwire.fair_queue import CURRENT_TENANT

__all__ = ["FairLoop", "run"]

_T = TypeVar("_T")


class _Step(NamedTuple):
    handle: asyncio.Handle  # only tells whether it was canceled
    call: Callable[[], object]


class FairLoop(asyncio.SelectorEventLoop):
    """Runs a step of each tenant in turn, and the steps of one tenant in their order.

    The tenant is that of the step's context. Steps of none, such as what arrives on connections, are not reordered.
    """

    def __init__(self) -> None:
        super().__init__()
        self._steps: OrderedDict[str, deque[_Step]] = OrderedDict()
        self._outside = Context()  # of the steps, each of which has its own

    def call_soon(  # type: ignore[override]  # its type there has more variables than this version of Python can write
        self, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.Handle:
        """Call a function soon; see `asyncio.loop.call_soon`."""
        own = copy_context() if context is None else context
        tenant = own.get(CURRENT_TENANT, "")
        if not tenant:
            return super().call_soon(callback, *args, context=own)
        super().call_soon(self._run_step, context=self._outside)
        handle = asyncio.Handle(callback, args, self, own)
        self._steps.setdefault(tenant, deque()).append(_Step(handle, lambda: own.run(callback, *args)))
        return handle

    def _run_step(self) -> None:
        """Run a step of the tenant whose turn it is; there are as many calls of this as steps."""
        tenant, steps = next(iter(self._steps.items()))
        step = steps.popleft()
        if steps:
            self._steps.move_to_end(tenant)
        else:
            del self._steps[tenant]
        if not step.handle.cancelled():
            step.call()


def run(work: Coroutine[Any, Any, _T]) -> _T:
    """Run a coroutine as `asyncio.run` does, in such a loop."""
    with asyncio.Runner(loop_factory=FairLoop) as runner:
        return runner.run(work)
