"""A server that ends while somebody comes."""

from __future__ import annotations

import asyncio
import gc
import socket
import threading
import warnings
from contextlib import suppress

import pytest

from groundwire.testing import EmulatedResponse, EmulatedServer, Recorded
from groundwire.transport.connector import close_server
from world import World


@pytest.mark.parametrize("before", [False, True], ids=["the connection is seen first", "the end is seen first"])
async def test_what_was_accepted_is_served_and_nothing_else_is_accepted(before: bool) -> None:
    loop, begun = asyncio.get_running_loop(), asyncio.Event()
    served: list[asyncio.StreamWriter] = []
    closing: list[asyncio.Task[None]] = []

    async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        served.append(writer)
        writer.close()
        await writer.wait_closed()

    def close() -> None:
        loop.remove_reader(bell)
        closing.append(asyncio.create_task(close_server(server)))
        begun.set()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    address = server.sockets[0].getsockname()
    bell, rope = socket.socketpair()
    with bell, rope, socket.socket() as late, warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        loop.add_reader(bell, close)
        if before:
            rope.send(b"!")
        late.connect(address)
        if not before:
            rope.send(b"!")  # both are looked at in one turn of the loop, in the order in which they came
        await begun.wait()
        await closing[0]
        assert len(served) == 1
        assert not server.sockets
        with pytest.raises(ConnectionRefusedError), socket.socket() as later:
            later.connect(address)
        await served[0].wait_closed()
        gc.collect()
    assert [str(one.message) for one in said] == []


class Ended(EmulatedServer):
    """Ends its world while it answers, just after somebody has come."""

    def __init__(self, world: World) -> None:
        super().__init__("ended")
        self.late = socket.socket()
        self.begun = threading.Event()
        self.ending = threading.Thread(target=world.stop)

    def handle(self, request: Recorded) -> EmulatedResponse:
        self.late.connect(("127.0.0.1", self.port))
        self.ending.start()
        self.begun.set()
        self.ending.join(0.1)  # it goes on as far as it can without the thread of the world, which is this one
        return EmulatedResponse.text("the last one")


def test_a_world_that_ends_breaks_also_the_connection_that_has_just_come() -> None:
    world = World()
    world.start()
    endpoint = world.add(Ended(world))
    with warnings.catch_warnings(record=True) as said, socket.socket() as client, endpoint.late as late:
        warnings.simplefilter("always")
        client.connect(("127.0.0.1", endpoint.port))
        client.sendall(b"GET / HTTP/1.1\r\nHost: ended.test\r\n\r\n")
        assert endpoint.begun.wait(100)
        endpoint.ending.join(100)
        late.settimeout(60)
        with suppress(ConnectionResetError):
            assert late.recv(1) == b""
        gc.collect()
    assert [str(one.message) for one in said] == []
