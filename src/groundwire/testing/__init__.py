"""A miniature web on loopback, for `groundwire demo` and for users' tests.

    with World() as world:
        world.searxng.fail(InjectedFault.status(429), times=1)
        ...

Nothing here leaves 127.0.0.1, and every page is original. The parts are loaded when they are first used: pytest
loads the plugin beside them in every project that has Groundwire installed.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from groundwire.testing.fault_injection import InjectedFault
    from groundwire.testing.http_messages import EmulatedResponse, Recorded
    from groundwire.testing.server import EmulatedServer
    from groundwire.testing.world import World

__all__ = ["EmulatedResponse", "EmulatedServer", "InjectedFault", "Recorded", "World"]

_MODULES = ("http_messages", "fault_injection", "server", "world")


def __getattr__(name: str) -> object:
    """Load a public name on its first use (PEP 562)."""
    if name in __all__:
        for part in _MODULES:
            module = import_module(f"groundwire.testing.{part}")
            if name in module.__all__:
                value = getattr(module, name)
                globals()[name] = value
                return value
    raise AttributeError(f"module 'groundwire.testing' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
