"""Telling whoever made a call of what happens in it, while the one observer of a `Web` is told of all calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from groundwire.models import Event, Observer

__all__ = ["listening", "telling"]

_LISTENER: ContextVar[Callable[[Event], None] | None] = ContextVar("groundwire_listener", default=None)


@contextmanager
def listening(listener: Observer) -> Iterator[None]:
    """Have a function told of the events of the calls that are made within the block, and of no others."""
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


def telling(observer: Observer | None) -> Observer:
    """Return an observer that tells whoever listens to the call, and another observer of all calls."""

    def tell(event: Event) -> None:
        listener = _LISTENER.get()
        if listener is not None:
            listener(event)
        if observer is not None:
            observer(event)

    return tell
