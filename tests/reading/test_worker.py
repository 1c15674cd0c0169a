from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
import zlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from components.hostile import HostileServer
from groundwire.deadline import Deadline
from groundwire.errors import Closed, DeadlineExceeded, InvalidRequest, PageTooLarge, UnsupportedContent
from groundwire.models import Page, ReadResult
from groundwire.reading.convert import Converted, convert
from groundwire.reading.local import LocalReadProvider
from groundwire.reading.passages.view import check_ask, view
from groundwire.reading.workers import MAX_FRAME, pack, unpack
from groundwire.reading.workers.pool import MEMORY, Conversion, Workers, WorkerUnavailable, view_off_loop
from groundwire.safety.guard import Guard
from groundwire.transport import Transport

pytestmark = pytest.mark.req("B2", "Y15")
URL = "https://gazette.example.com/ships"
PAGE = (
    "<!doctype html><html lang=en><head><title>Ships</title></head><body><main><h1>Ships</h1>"
    + "<p>The lighthouse keeper counts ships every evening, and writes their names into a heavy book. Überall.</p>" * 9
).encode()
SLOW = b"<p>" + b"word &amp; " * 800_000
linux = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc, and the limits are those of Linux")


@pytest.fixture
async def workers() -> AsyncIterator[Workers]:
    workers = Workers(1)
    yield workers
    await workers.aclose()


def children() -> set[int]:
    """Return the processes that this one has started and that are not gone."""
    found = set()
    for task in Path("/proc/self/task").iterdir():
        found |= {int(pid) for pid in (task / "children").read_text().split()}
    return {pid for pid in found if "worker_main" in Path(f"/proc/{pid}/cmdline").read_text()}


def environment(pid: int) -> str:
    """Return what a process was given as its environment."""
    return Path(f"/proc/{pid}/environ").read_bytes().decode("utf-8", "replace")


def limits(pid: int) -> str:
    """Return what the system lets a process use."""
    return Path(f"/proc/{pid}/limits").read_text()


def status(pid: int) -> str:
    """Return what the system says of a process."""
    return Path(f"/proc/{pid}/status").read_text()


async def converted(workers: Workers, body: bytes, kind: str = "text/html; charset=utf-8") -> Converted:
    conversion = Conversion(workers, isolated=True)
    return await conversion.convert(body, kind, URL, headers={}, deadline=Deadline.after(60))


async def read(workers: Workers, body: bytes) -> str:
    return (await converted(workers, body)).extracted.content


async def test_a_worker_says_what_this_process_would(workers: Workers) -> None:
    body, kind = b'<script>"isAccessibleForFree": false</script>' + PAGE + b"\xff", "text/html; charset=utf-8"
    there = await converted(workers, body, kind)
    assert there == convert(body, kind, URL, headers={})
    assert there.warnings


async def test_a_wall_comes_back_as_a_wall(workers: Workers) -> None:
    found = await converted(workers, b"<title>Hi</title>Are you a robot?", "text/html")
    assert found.block is not None
    assert found.block.kind == "bot check"


@linux
async def test_no_process_before_the_first_page_and_the_same_for_the_next() -> None:
    workers = Workers(2)
    before = children()
    await read(workers, PAGE)
    first = children() - before
    await read(workers, PAGE)
    assert children() - before == first
    assert len(first) == 1
    await workers.aclose()
    assert not children() & first


@linux
async def test_a_large_caller_does_not_wear_its_workers_out(workers: Workers) -> None:
    ballast = bytearray(b"x") * 450_000_000  # a process takes over the peak of the one that starts it
    before = children()
    await read(workers, PAGE)
    first = children() - before
    await read(workers, PAGE)
    assert children() - before == first
    assert len(ballast) == 450_000_000


@linux
async def test_a_cancelled_page_leaves_no_process_at_work(workers: Workers) -> None:
    await read(workers, PAGE)
    (pid,) = children()
    os.kill(pid, signal.SIGSTOP)  # it never gets to the end of the page
    page = asyncio.ensure_future(read(workers, SLOW))
    for _ in range(10):
        await asyncio.sleep(0)
    page.cancel()
    with pytest.raises(asyncio.CancelledError):
        await page
    assert "lighthouse" in await read(workers, PAGE)
    assert pid not in children()


@linux
async def test_a_worker_that_dies_is_an_error_that_says_what_to_do_and_is_replaced(workers: Workers) -> None:
    await read(workers, PAGE)
    (pid,) = children()
    page = asyncio.ensure_future(read(workers, SLOW))
    await asyncio.sleep(0)
    os.kill(pid, 9)
    with pytest.raises(PageTooLarge, match="smaller page"):
        await page
    assert "lighthouse" in await read(workers, PAGE)


@linux
async def test_a_page_that_takes_too_much_memory_is_an_error_and_the_next_is_read() -> None:
    workers = Workers(1, memory=300_000_000)
    with pytest.raises(PageTooLarge, match="memory"):
        await read(workers, "<p>\U0001f40b".encode() + b"whale " * 6_000_000)
    assert "lighthouse" in await read(workers, PAGE)
    await workers.aclose()


def swelling_pdf(size: int) -> bytes:
    """Return a small PDF whose page takes so many bytes once it is unpacked."""
    packing = zlib.compressobj(9)
    packed = b"".join(packing.compress(b" " * 1_000_000) for _ in range(size // 1_000_000)) + packing.flush()
    parts = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<<>>>>",
        b"<</Length %d/Filter/FlateDecode>>stream\n%s\nendstream" % (len(packed), packed),
    ]
    body = b"".join(b"%d 0 obj%s endobj\n" % (number, part) for number, part in enumerate(parts, 1))
    return b"%PDF-1.4\n" + body + b"trailer<</Root 1 0 R/Size 5>>\nstartxref\n0\n%%EOF"


@linux
@pytest.mark.req("B2", "B23")
async def test_a_pdf_that_swells_meets_the_limit_of_its_process_and_the_next_page_is_read() -> None:
    workers = Workers(1, memory=300_000_000)
    await read(workers, PAGE)
    (pid,) = children()
    assert re.search(r"Max address space +300000000 ", limits(pid))
    with pytest.raises(PageTooLarge, match="memory"):
        await converted(workers, swelling_pdf(400_000_000), "application/pdf")
    assert "lighthouse" in await read(workers, PAGE)
    await workers.aclose()


@linux
async def test_a_worker_may_take_no_more_than_a_gigabyte_unless_another_limit_is_given(workers: Workers) -> None:
    await read(workers, PAGE)
    (pid,) = children()
    assert re.search(rf"Max address space +{MEMORY} ", limits(pid))


@linux
async def test_a_page_that_takes_too_much_time_is_an_error() -> None:
    workers = Workers(1, seconds=-1)  # what is left of the second in which the process was started
    with pytest.raises(PageTooLarge, match="CPU limit"):
        await read(workers, b"<table>" + b"<tr><td>word one<td>two words here<td>3 words" * 150_000)
    await workers.aclose()


async def test_closing_ends_a_page_that_is_under_way_and_refuses_the_next() -> None:
    workers = Workers(1)
    await read(workers, PAGE)
    page = asyncio.ensure_future(read(workers, SLOW))
    await asyncio.sleep(0)
    await workers.aclose()
    with pytest.raises(Closed):
        await page
    with pytest.raises(Closed):
        await read(workers, PAGE)


async def test_no_key_of_the_environment_reaches_a_worker(workers: Workers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRAVE_API_KEY", "not-for-pages")
    await read(workers, PAGE)
    if sys.platform == "linux":
        (pid,) = children()
        assert "not-for-pages" not in environment(pid)


async def test_without_an_interpreter_to_start_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "")
    workers = Workers(1)
    with pytest.raises(WorkerUnavailable):
        await workers.run("groundwire.reading.convert:convert_in_worker", {})


def _started(page: asyncio.Future[ReadResult]) -> int:
    """Return the process in which a page is read; it starts while the loop of the page is free."""
    while not children() and not page.done():
        os.sched_yield()
    (pid,) = children()
    return pid


@linux
async def test_a_heavy_page_is_read_in_a_process_and_holds_neither_the_loop_nor_the_deadline() -> None:
    async with HostileServer() as server:
        transport = Transport(Guard(allowed_origins=(server.origin,)))
        reader = LocalReadProvider(transport)
        page = asyncio.ensure_future(reader.read_url(f"{server.origin}/heavy-links", deadline=Deadline.after(60)))
        pid = await asyncio.to_thread(_started, page)
        os.kill(pid, signal.SIGSTOP)
        assert not page.done()
        os.kill(pid, signal.SIGCONT)
        result = await page
        assert result.truncated
        assert "only its beginning was read" in " ".join(result.warnings)
        os.kill(pid, signal.SIGSTOP)
        with pytest.raises(DeadlineExceeded):
            await reader.read_url(f"{server.origin}/heavy-cells", deadline=Deadline.after(1))
        await reader.aclose()
        await transport.aclose()


def test_frames_come_back_as_they_went() -> None:
    head, payload = pack({"url": URL, "n": [1, None]}, b"body")
    assert head.endswith(b"\n")
    assert unpack(head) == ({"url": URL, "n": [1, None]}, 4)
    assert payload == b"body"


@pytest.mark.parametrize(
    "line",
    [b"", b"[]", b"{", b"\xff", b"3", b"{}", b'{"size": "1"}', b'{"size": -1}', b'{"size": %d}' % (MAX_FRAME + 1)],
)
def test_what_is_no_header_of_a_frame_is_refused(line: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        unpack(line)


TRIES = """
import os, resource, socket, threading
from pathlib import Path
from groundwire.reading.workers.worker_main import confine
tries = {
    "a file": lambda: Path("/etc/passwd").read_bytes(),
    "the caller's environment": lambda: Path(f"/proc/{os.getppid()}/environ").read_bytes(),
    "a folder": lambda: list(Path("/").iterdir()),
    "a new file": lambda: Path("was-here").write_text("x"),
    "a mode": lambda: Path("/tmp").chmod(0o700),
    "a socket": socket.socket,
    "a program": lambda: os.execv("/bin/true", ["true"]),
    "a process": os.fork,
    "a signal": lambda: os.kill(os.getppid(), 0),
    "a limit of the caller": lambda: resource.prlimit(os.getppid(), resource.RLIMIT_CPU),
}
print(*confine())
for name, attempt in tries.items():
    try:
        attempt()
        print(name)
    except PermissionError:
        pass
thread = threading.Thread(target=print, args=("a thread",))
thread.start()
thread.join()
"""


@linux
def test_a_confined_process_has_no_files_no_network_and_no_other_processes(tmp_path: Path) -> None:
    made = subprocess.run([sys.executable, "-c", TRIES], cwd=tmp_path, capture_output=True, text=True, check=True)
    held, *done = made.stdout.splitlines()
    if "landlock" not in held:
        done = [one for one in done if one not in {"a file", "the caller's environment", "a folder"}]
    assert "seccomp" in held
    assert done == ["a thread"]


@linux
async def test_a_worker_confines_itself_before_the_first_page(workers: Workers) -> None:
    await read(workers, PAGE)
    (pid,) = children()
    assert re.search(r"Seccomp:\s+2", status(pid))


async def test_everything_is_read_in_a_process_when_pages_are_isolated(monkeypatch: pytest.MonkeyPatch) -> None:
    conversion = Conversion(isolated=True)
    found = await conversion.convert(PAGE, "text/html", URL, headers={}, deadline=Deadline.after(60))
    assert "lighthouse" in found.extracted.content
    await conversion.aclose()
    monkeypatch.setattr(sys, "executable", "")
    conversion = Conversion(isolated=True)
    with pytest.raises(UnsupportedContent, match="separate process"):
        await conversion.convert(PAGE, "text/html", URL, headers={}, deadline=Deadline.after(60))
    await conversion.aclose()


@pytest.mark.parametrize(
    "wanted", [{}, {"query": "lighthouse keeper"}, {"find": "ships"}, {"cursor": "@90000"}, {"max_tokens": 900}]
)
async def test_a_long_page_is_looked_through_in_a_process_with_the_same_result(
    workers: Workers, wanted: dict[str, Any]
) -> None:
    page = Page(url=URL, title="Ships", content="# Ships\n\n" + "The lighthouse keeper counts ships.\n\n" * 7_000)
    ask = check_ask(**wanted, default_length=2_000)
    assert await view_off_loop(workers, page, ask) == view(page, ask)
    assert sys.platform != "linux" or children()
    with pytest.raises(InvalidRequest, match="cursor"):
        await view_off_loop(workers, page, check_ask(cursor="nowhere", default_length=2_000))


_SAID = (
    "The harbor was closed on Monday because a storm had damaged two of its cranes.",
    "Ships waited outside for a day and a half, and some of them went on to other ports.",
    "The port authority expects the cranes to work again by the end of the week.",
    "Repairs will cost about two million, said its director, who had inspected both.",
)
_COMMENTED = (
    "<!doctype html><title>Storm closes the port</title><article><h1>Storm closes the port</h1>"
    + "".join(f"<p>{one} {other}</p>" for one in _SAID for other in _SAID)
    + '</article><section id="comments"><h3>1 comment</h3><div class="comment"><a href="/u/ada">Ada</a><p>The cranes '
    "looked fine to me until the evening came, and then they did not.</p><button>Reply</button></div></section>"
).encode()


@pytest.mark.parametrize("isolated", [False, True])
@pytest.mark.parametrize("comments", [False, True])
async def test_comments_on_an_article_are_left_out_unless_included(isolated: bool, comments: bool) -> None:
    conversion = Conversion(isolated=isolated, parts={"comments": comments})
    found = await conversion.convert(_COMMENTED, "text/html", URL, headers={}, deadline=Deadline.after(60))
    await conversion.aclose()
    content = found.extracted.content
    assert content.startswith("# Storm closes the port")
    assert _SAID[3] in content
    assert [part in content for part in ("Ada", "until the evening", "Reply")] == [comments, comments, False]


_FIRST_PAGE = """
import asyncio, sys, threading
from groundwire import Web
from groundwire.testing import EmulatedResponse, EmulatedServer, World

class Shop(EmulatedServer):
    def handle(self, request):
        words = "The lamp is made of brass, has a green shade, and throws its light on the page. "
        return EmulatedResponse.html(f"<title>A lamp</title><article><h1>A lamp</h1><p>{words * 9}</p></article>")

seen = []

def watch(event, arguments):
    if event == "import" and threading.current_thread() is threading.main_thread():
        seen.append(arguments[0])

async def main(url):
    settings = {"policy": {"allowed_origins": (url,)}, "storage": {"url": "memory://"}, "archive": {"enabled": False}}
    async with Web(settings) as web:
        sys.addaudithook(watch)
        assert "brass" in (await web.open_page(url)).content
    print(*sorted(name for name in seen if name.startswith(("groundwire.reading", "groundwire.routing"))))

with World() as world:
    asyncio.run(main(world.add(Shop("shop")).url))
"""


def test_the_first_page_of_a_process_loads_no_reader_in_the_event_loop() -> None:
    done = subprocess.run([sys.executable, "-c", _FIRST_PAGE], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
