"""The client of `warm_python`: it passes its streams, variables and arguments to the forking process, and exits like
the fork. It is started without `site` and imports as little as possible: its start is the only cost of a command."""

import marshal
import os
import signal
import socket
import struct
import sys
from contextlib import suppress

_PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)


def main() -> None:
    """Run the requested command."""
    server = socket.socket(socket.AF_UNIX)
    server.connect(sys.argv[1])
    body = marshal.dumps((sys.argv[2:], dict(os.environ), os.getcwd()))  # noqa: PTH109

    def pass_on(number: int, _: object) -> None:
        with suppress(OSError):  # it has just ended
            server.send(bytes([number]))

    for number in _PASSED_ON:
        signal.signal(number, pass_on)
    socket.send_fds(server, [struct.pack("!I", len(body))], [0, 1, 2])
    server.sendall(body)
    ended = server.recv(4)
    (code,) = struct.unpack("!i", ended) if ended else (1,)
    if code < 0:
        if -code != signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


main()
