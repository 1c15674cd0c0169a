"""Which local files a call may read, for any text that a model may write."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.errors import GroundwireError, InvalidRequest, PageError, PermissionDenied
from groundwire.safety import files
from groundwire.safety.files import LocalFile, files_below, is_private, path_of

SECRET, OPEN = b"a secret of the user", b"a text for models"


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder `open`, full of ways out, and secrets beside it and in it."""
    base = tmp_path_factory.mktemp("tree")
    inside, outside = base / "open", base / "outside"
    for folder in (inside / "sub", inside / ".git", inside / ".ssh", outside, base / "open2"):
        folder.mkdir(parents=True)
    for path in ("outside/s.txt", "open2/s.txt", "open/.env", "open/.git/config", "open/sub/id_rsa", "open/Server.KEY"):
        (base / path).write_bytes(SECRET)
    for path in ("open/a.txt", "open/sub/b c.txt", "open/sub/ünï.md"):
        (base / path).write_bytes(OPEN)
    for name, target in {
        "out": outside,
        "out.txt": outside / "s.txt",
        "up": base,
        "env.txt": inside / ".env",
        "sub/git": inside / ".git",
        "in.txt": inside / "a.txt",
        "loop": inside / "loop",
        "relative": Path("../outside"),
        "gone.txt": base / "gone",
    }.items():
        (inside / name).symlink_to(target)
    return base


def read(url: str, folder: Path) -> bytes:
    return LocalFile.of(url, (str(folder),)).read(lambda _: 10_000)[0]


NAMES = (
    *("open", "outside", "open2", "sub", "s.txt", "a.txt", "b c.txt", "b%20c.txt", "ünï.md", ".env", ".git", "config"),
    *("out", "out.txt", "up", "env.txt", "git", "in.txt", "loop", "relative", "gone.txt", "id_rsa", "Server.KEY", ".."),
    *(
        "%2e%2e",
        "%2E.",
        ".",
        "",
        "..%2f",
        "%00",
        "%2F",
        "\\..\\",
        "..;",
        "~",
        "#",
        "?",
        "\udc80",
        "%ff",
        "proc",
        "self",
    ),
)


@pytest.mark.req("B39")
@given(
    start=st.sampled_from(("file:", "file://", "file:///", "FILE://localhost", "file:////", "file://x", "file:./")),
    base=st.sampled_from(("", "open", "open/sub", "open/../open", "other")),
    names=st.lists(st.sampled_from(NAMES) | st.text(max_size=6), max_size=6),
    whole=st.booleans(),
)
def test_no_text_reads_outside(tree: Path, start: str, base: str, names: list[str], whole: bool) -> None:
    url = start + (f"{tree}/" if whole else "") + "/".join([base, *names])
    with suppress(GroundwireError):
        assert read(url, tree / "open") == OPEN


@pytest.mark.req("B39")
@pytest.mark.parametrize(
    ("path", "says"),
    {
        "outside/s.txt": "in none of the folders",
        "open2/s.txt": "in none of the folders",
        "open/../outside/s.txt": "in none of the folders",
        "outside/nothing": "in none of the folders",
        "open/out/s.txt": "a link that leaves the folders",
        "open/out.txt": "a link that leaves the folders",
        "open/relative/s.txt": "a link that leaves the folders",
        "open/up/outside/s.txt": "a link that leaves the folders",
        "open/up/open/.env": "Hidden files",
        "open/.env": "Hidden files",
        "open/.git/config": "Hidden files",
        "open/env.txt": "Hidden files",
        "open/sub/git/config": "Hidden files",
        "open/sub/id_rsa": "Hidden files",
        "open/Server.KEY": "Hidden files",
        "open": "is a folder",
        "open/nothing.txt": "There is no file",
        "open/a.txt/x": "There is no file",
        "open/loop": "cannot be read",
    }.items(),
)
def test_each_way_out_has_one_clear_error(tree: Path, path: str, says: str) -> None:
    with pytest.raises((PermissionDenied, PageError), match=says):
        read(f"file://{tree}/{path}", tree / "open")


@pytest.mark.req("B39")
def test_what_is_allowed_is_read(tree: Path) -> None:
    for path in (
        "a.txt",
        "sub/b%20c.txt",
        "sub/b c.txt",
        "in.txt",
        "up/open/a.txt",
        "sub/%C3%BCn%C3%AF.md",
        "a.txt#page=2",
    ):
        assert read(f"file://{tree}/open/{path}", tree / "open") == OPEN
    assert read(f"file://{tree}/open/up/open/a.txt", tree / "open" / "up" / "open") == OPEN  # a folder that is a link
    for named in (Path("a.txt"), Path("out/s.txt"), Path(".env")):  # a person's own word
        assert LocalFile.of(tree / "open" / named, ()).read(lambda _: 10_000)[0] in {OPEN, SECRET}


@pytest.mark.req("B39")
def test_no_folder_is_allowed_by_default(tree: Path) -> None:
    for path in ("open/a.txt", "nothing"):
        with pytest.raises(PermissionDenied, match=r"no folder is allowed.*policy\.files"):
            LocalFile.of(f"file://{tree}/{path}", ()).read(lambda _: 10_000)


@pytest.mark.req("B39")
@pytest.mark.parametrize("url", ["file:", "file:a.txt", "file://host/a.txt", "file:////server/share", "file:///a%00b"])
def test_a_url_that_names_no_file_here(url: str) -> None:
    with pytest.raises(InvalidRequest, match="names no file on this machine"):
        path_of(url)


def test_a_link_that_appears_after_the_check_is_not_followed(tree: Path) -> None:
    """The names were resolved before; whoever may write in the folder has put a link there since."""
    for parts in (("out", "s.txt"), ("out.txt",), ("sub", "git", "config")):
        with pytest.raises(OSError, match=r"symbolic links|Not a directory"):
            files._open_below(tree / "open", parts)
    descriptor = files._open_below(tree / "open", ("sub", "b c.txt"))
    assert os.read(descriptor, 100) == OPEN
    os.close(descriptor)


@pytest.mark.posix
def test_a_pipe_a_socket_and_a_device_are_no_files(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "s"))
        for path in (tmp_path / "pipe", tmp_path / "s", Path("/dev/zero")):
            with pytest.raises(PageError, match=r"not a file|cannot be read"):
                LocalFile.of(path, ()).read(lambda _: 10_000)


def test_the_size_limit_is_that_of_the_kind(tmp_path: Path) -> None:
    path = tmp_path / "large.txt"
    path.write_bytes(b"x" * 5_000)
    assert len(LocalFile.of(path, ()).read(lambda _: 5_000)[0]) == 5_000
    with pytest.raises(PageError, match="more than 4,999 bytes"):
        LocalFile.of(path, ()).read(lambda _: 4_999)


def test_a_walk_follows_no_link_and_leaves_secrets_out(tree: Path) -> None:
    assert sorted(str(path.relative_to(tree)) for path, _ in files_below(str(tree / "open"))) == [
        "open/a.txt",
        "open/sub/b c.txt",
        "open/sub/ünï.md",
    ]


@pytest.fixture(scope="module")
def huge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("huge")
    for number in range(files.MOST_ENTRIES + 1):
        os.close(os.open(folder / str(number), os.O_CREAT | os.O_WRONLY))
    yield folder
    for number in range(files.MOST_ENTRIES + 1):
        (folder / str(number)).unlink()


@pytest.mark.req("B39")
def test_a_folder_of_very_many_files_is_one_clear_error(huge: Path) -> None:
    with pytest.raises(InvalidRequest, match=r"has more than 50,000 files and folders\. Name one below it"):
        for _ in files_below(str(huge)):
            pass


def test_a_folder_that_is_missing_or_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for name in ("missing", "file"):
        with pytest.raises(InvalidRequest, match=f"{name} cannot be read"):
            list(files_below(str(tmp_path / name)))


@pytest.mark.parametrize(
    "name", [".env", ".git", "id_rsa", "id_ed25519.pub", "x.PEM", "prod.env", "credentials.json", "a.tfvars"]
)
def test_names_of_secrets(name: str) -> None:
    assert is_private(name)
    assert not any(map(is_private, ("a.txt", "environment.md", "keyboard.txt", "credential theory.pdf")))
