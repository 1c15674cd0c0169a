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
from typing import Any, TypeAlias, TypeVar

from groundwire.fair_queue import CURRENT_TENANT

_T = TypeVar("_T")


_Step: TypeAlias = tuple[asyncio.Handle, Context, Callable[..., object], tuple[Any, ...]]
"""A call, and a handle that only tells whether it was canceled."""


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
        steps = self._steps.get(tenant)
        if steps is None:
            steps = self._steps[tenant] = deque()
        steps.append((handle, own, callback, args))
        return handle

    def _run_step(self) -> None:
        """Run a step of the tenant whose turn it is; there are as many calls of this as steps."""
        tenant, steps = next(iter(self._steps.items()))
        handle, context, callback, args = steps.popleft()
        if steps:
            self._steps.move_to_end(tenant)
        else:
            del self._steps[tenant]
        if not handle.cancelled():
            context.run(callback, *args)


def run(work: Coroutine[Any, Any, _T]) -> _T:
    """Run a coroutine as `asyncio.run` does, in such a loop."""
    with asyncio.Runner(loop_factory=FairLoop) as runner:
        return runner.run(work)
