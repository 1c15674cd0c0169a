"""A miniature web on loopback, for our tests, for our users' tests and for `groundwire demo`.

    with World() as world:
        world.searxng.fail(Fault.status(429), times=1)
        ...

Nothing here leaves 127.0.0.1, and every page is our own writing.
"""

from __future__ import annotations

from groundwire.testing.exchange import Recorded, Reply
from groundwire.testing.faults import Fault
from groundwire.testing.server import Endpoint
from groundwire.testing.world import World

__all__ = ["Endpoint", "Fault", "Recorded", "Reply", "World"]
