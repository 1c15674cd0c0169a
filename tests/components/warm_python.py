"""A Python with its interpreter and imports already loaded: each command is a fork of a warm process.

What it runs is a process of its own, with its own exit code, signals, streams and variables, as if `python` had been
called; only the start is missing. Whatever is about the start (variables and options that the interpreter reads there,
imports, the controlling terminal, memory, a process id) needs the real one: `sys.executable`.
"""

from __future__ import annotations

import gc
import importlib
import io
import marshal
import multiprocessing
import os
import pkgutil
import runpy
import selectors
import socket
import struct
import subprocess
import sys
import threading
import types
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.process import BaseProcess
from pathlib import Path

import groundwire

_CLIENT = Path(__file__).with_name("warm_python_client.py")
_TESTS = Path(__file__).resolve().parents[1]
_NOT_LOADED = frozenset({"integrations", "__main__"})
"""The frameworks exclude one another, and the command line would run."""
_ALSO_LOADED = (
    *("encodings.idna", "importlib_metadata", "jsonschema", "pypdfium2", "rich.console", "uvicorn", "keyring"),
    *(f"keyring.backends.{name}" for name in ("SecretService", "Windows", "chainer", "kwallet", "libsecret", "macOS")),
)
_HEAD = struct.Struct("!I")


@contextmanager
def warm_python(
    folder: Path, python: str = sys.executable, modules: Sequence[str] = (), **variables: str
) -> Iterator[Path]:
    """Start the process that is forked, and give a program that is called as `python` is.

    Args:
        folder: An empty folder for the program and a socket.
        python: The interpreter; one that is not ours has Groundwire and what `modules` names.
        modules: What it imports instead of all of Groundwire.
        variables: Environment variables that those modules read when they are imported.
    """
    address = folder / "socket"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONWARNINGS"}
    server = subprocess.Popen(
        [python, "-m", "components.warm_python", str(address), *modules],
        env=environment | {"PYTHONPATH": str(_TESTS)} | variables,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        assert server.stdout
        assert server.stdout.readline() == b"ready\n"
        program = folder / "python"
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -S "{_CLIENT}" "{address}" "$@"\n')
        program.chmod(0o755)
        yield program
    finally:
        server.communicate()  # it ends with its standard input


def _serve(address: str, modules: list[str]) -> None:
    """Fork for each client, until the end of standard input."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen(64)
    forks: dict[BaseProcess, socket.socket] = {}
    with selectors.DefaultSelector() as selector:
        selector.register(listener, selectors.EVENT_READ)
        selector.register(sys.stdin, selectors.EVENT_READ)
        print("ready", flush=True)
        is_loaded = False
        while True:
            for key, _ in selector.select():
                if key.fileobj is sys.stdin:
                    for fork in forks:
                        fork.kill()
                    return
                if key.fileobj is listener:
                    caller, _ = listener.accept()
                    if not is_loaded:  # a run may never ask
                        _load(modules)
                        is_loaded = True
                    if made := _forked(caller, (listener, *forks.values())):
                        forks[made] = caller
                        selector.register(caller, selectors.EVENT_READ, made)
                        selector.register(made.sentinel, selectors.EVENT_READ, made)
                elif key.data in forks and key.fileobj is forks[key.data]:
                    _heed(forks[key.data], key.data, selector)
                elif key.data in forks:
                    _bury(key.data, forks.pop(key.data), selector)


def _load(modules: list[str]) -> None:
    gc.disable()
    for name in modules or _of_groundwire():
        importlib.import_module(name)
    for name in () if modules else _ALSO_LOADED:
        with suppress(ImportError):
            importlib.import_module(name)
    gc.freeze()  # otherwise each fork would copy all of it as soon as it collects
    gc.enable()
    assert threading.active_count() == 1, f"what is forked must have one thread: {threading.enumerate()}"


def _of_groundwire() -> Iterator[str]:
    import groundwire_server  # which the environments of frameworks do not have

    for package in (groundwire, groundwire_server):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not _NOT_LOADED & {*module.name.split(".")}:
                yield module.name


def _forked(caller: socket.socket, others: tuple[socket.socket, ...]) -> BaseProcess | None:
    """Read a client's request and fork for it; ignore a client that leaves before the request is complete."""
    head, streams, _, _ = socket.recv_fds(caller, _HEAD.size, 3)
    body = b""
    if len(head) == _HEAD.size:
        (size,) = _HEAD.unpack(head)
        while len(body) < size and (more := caller.recv(size - len(body))):
            body += more
    fork = None
    if body:
        fork = multiprocessing.get_context("fork").Process(target=_be, args=(body, streams, (caller, *others)))
        fork.start()
    for stream in streams:
        os.close(stream)
    return fork


def _heed(caller: socket.socket, fork: BaseProcess, selector: selectors.BaseSelector) -> None:
    """Forward the signals that a client receives; if it is gone, kill the child."""
    try:
        numbers = caller.recv(16)
    except OSError:
        numbers = b""
    for number in numbers:
        os.kill(fork.pid or 0, number)
    if not numbers:
        selector.unregister(caller)
        fork.kill()


def _bury(fork: BaseProcess, caller: socket.socket, selector: selectors.BaseSelector) -> None:
    """Send a client the exit status of its process."""
    selector.unregister(fork.sentinel)
    with suppress(KeyError):
        selector.unregister(caller)
    fork.join()
    with suppress(OSError):
        caller.sendall(struct.pack("!i", fork.exitcode))
    caller.close()
    fork.close()


def _be(body: bytes, streams: list[int], held: tuple[socket.socket, ...]) -> None:
    """Become the requested process."""
    arguments, variables, folder = marshal.loads(body)
    os.setsid()
    for one in held:
        one.close()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(variables)
    sys.stdin, sys.stdout, sys.stderr = _text(0, "strict"), _text(1, "strict"), _text(2, "backslashreplace")
    sys.path[:] = [place for place in sys.path if place != str(_TESTS)]
    sys.path[1:1] = filter(None, variables.get("PYTHONPATH", "").split(os.pathsep))
    if variables.get("PYTHONWARNINGS") == "error":
        _raise_warnings()
    try:
        _run(arguments)
    finally:
        if sys.warnoptions:
            gc.collect()  # a Python of its own finds as it ends, too, what was not closed


def _raise_warnings() -> None:
    warnings.simplefilter("error")
    sys.warnoptions.append("error")


def _text(number: int, errors: str) -> io.TextIOWrapper:
    raw = io.FileIO(number, "w" if number else "r", closefd=False)
    buffer = io.BufferedWriter(raw) if number else io.BufferedReader(raw)
    return io.TextIOWrapper(buffer, encoding="utf-8", errors=errors, line_buffering=number == 2 or raw.isatty())


def _run(arguments: list[str]) -> None:
    """Do what `python` does with these arguments."""
    rest = list(arguments)
    if rest[:2] == ["-W", "error"]:
        _raise_warnings()
        del rest[:2]
    if rest[0] == "-m":
        sys.argv = rest[1:]
        sys.path[0] = str(Path.cwd())
        runpy.run_module(rest[1], run_name="__main__", alter_sys=True)
    elif rest[0] == "-c":
        sys.argv = ["-c", *rest[2:]]
        sys.path[0] = ""
        main = types.ModuleType("__main__")
        sys.modules["__main__"] = main
        exec(compile(rest[1], "<string>", "exec"), vars(main))
    else:
        sys.argv = rest
        sys.path[0] = str(Path(rest[0]).resolve().parent)
        runpy.run_path(rest[0], run_name="__main__")


if __name__ == "__main__":
    _serve(sys.argv[1], sys.argv[2:])
