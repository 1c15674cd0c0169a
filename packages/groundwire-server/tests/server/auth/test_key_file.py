"""The file of keys: only its owner reads it, it is whole at any moment, and a change is seen at once."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import stat
from datetime import UTC, datetime
from pathlib import Path

import pytest

from groundwire.errors import ConfigurationError
from groundwire.settings import Settings
from groundwire_server.auth.keys import KeyFile, key_file_of, make_key

NOW = datetime(2026, 11, 22, tzinfo=UTC)

WRITER = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from groundwire_server.auth.keys import KeyFile
from groundwire_server.auth.keys import make_key
for number in range(15):
    KeyFile(Path(sys.argv[1])).add(make_key(f"{sys.argv[2]}{number}", datetime.now(UTC))[1])
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "keys.json"


def test_only_its_owner_reads_it(path: Path) -> None:
    before = os.umask(0)
    try:
        KeyFile(path).add(make_key("ci", NOW)[1])
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_change_is_seen_within_a_quarter_of_a_second(path: Path) -> None:
    now = [100.0]
    file = KeyFile(path, clock=lambda: now[0])
    _, record = make_key("ci", NOW)
    assert (file.find(record.id), file.ever()) == (None, False)
    KeyFile(path).add(record)
    assert file.find(record.id) == record  # a new one at once
    KeyFile(path).revoke("ci", NOW)
    assert file.find(record.id) == record
    now[0] += 0.25
    assert file.find(record.id) == record.model_copy(update={"revoked": NOW})


def test_a_file_that_goes_away_takes_the_keys_along_but_not_the_gate(path: Path) -> None:
    now = [100.0]
    file = KeyFile(path, clock=lambda: now[0])
    _, record = make_key("ci", NOW)
    file.add(record)
    assert file.ever()
    path.unlink()
    now[0] += 1
    assert file.find(record.id) is None
    assert file.ever()


def test_a_name_is_taken_until_its_key_is_revoked(path: Path) -> None:
    file = KeyFile(path)
    first, second = make_key("ci", NOW)[1], make_key("ci", NOW)[1]
    file.add(first)
    with pytest.raises(ConfigurationError, match="is taken"):
        file.add(second)
    assert file.revoke("ci", NOW).id == first.id
    file.add(second)
    assert file.revoke("ci", NOW).id == second.id
    assert file.revoke("ci", NOW).id == second.id  # where none is valid it is the last one
    assert file.revoke(first.id, datetime.now(UTC)).revoked == NOW  # the first time counts
    with pytest.raises(ConfigurationError, match="There is no key"):
        file.revoke("nobody", NOW)
    assert [one.id for one in file.records()] == [first.id, second.id]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "the file: "),
        (b"{", "the file: "),
        (b"[]", "the file: "),
        (b'{"version": 2, "keys": []}', "version 2"),
        (b'{"keys": [{"id": "gw_secret-that-must-not-show"}]}', "keys.0"),
        (b"\xff\xfe", "the file: "),
        (b"[" * 100_000, "the file: "),
    ],
)
def test_a_damaged_file_lets_nobody_in(path: Path, content: bytes, says: str) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    path.chmod(0o600)
    for look in (lambda: KeyFile(path).find("x"), KeyFile(path).records, KeyFile(path).ever):
        with pytest.raises(ConfigurationError, match=r"cannot be used") as caught:
            look()
        assert says in str(caught.value)
        assert "must-not-show" not in str(caught.value)
    with pytest.raises(ConfigurationError):
        KeyFile(path).add(make_key("ci", NOW)[1])
    assert path.read_bytes() == content


def test_a_file_that_others_may_write_is_not_believed(path: Path) -> None:
    KeyFile(path).add(make_key("ci", NOW)[1])
    path.chmod(0o620)
    with pytest.raises(ConfigurationError, match="other users can write"):
        KeyFile(path).records()
    path.chmod(0o644)  # as orchestrators mount secrets
    assert len(KeyFile(path).records()) == 1


def test_a_writer_that_fails_leaves_the_old_file(path: Path) -> None:
    file = KeyFile(path)
    file.add(make_key("ci", NOW)[1])
    before = path.read_bytes()
    with pytest.raises(ConfigurationError):
        file.add(make_key("ci", NOW)[1])
    assert path.read_bytes() == before
    assert sorted(one.name for one in path.parent.iterdir()) == ["keys.json", "keys.json.lock"]


async def test_writers_in_several_processes_lose_nothing(path: Path, warm_python: Path) -> None:
    writers = [
        await asyncio.create_subprocess_exec(warm_python, "-c", WRITER, str(path), name) for name in ("a", "b", "c")
    ]
    file = KeyFile(path)
    seen = 0
    while any(writer.returncode is None for writer in writers):
        seen = max(seen, len(file.records()))  # whole at any moment: reading never fails
        await asyncio.sleep(0.01)
    assert [writer.returncode for writer in writers] == [0, 0, 0]
    names = {record.name for record in KeyFile(path).records()}
    assert names == {f"{name}{number}" for name in "abc" for number in range(15)}


def test_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert key_file_of(Settings()).name == "keys.json"
    named = Settings.model_validate({"server": {"key_file": "~/mine.json"}})
    assert key_file_of(named) == Path.home() / "mine.json"
    assert {row.key: row.value for row in named.rows()}["server.key_file"] == "~/mine.json"


@pytest.mark.parametrize(("size", "whole"), [(16_000_000, True), (16_000_001, False)])
def test_a_file_that_is_too_large_is_not_read(path: Path, size: int, whole: bool) -> None:
    KeyFile(path).add(make_key("ci", NOW)[1])
    content = path.read_bytes()
    path.write_bytes(content + b" " * (size - len(content)))
    if whole:
        assert len(KeyFile(path).records()) == 1
    else:
        with pytest.raises(ConfigurationError, match="too large"):
            KeyFile(path).records()


def test_a_disk_that_cannot_be_written_is_said_and_leaves_the_old_file(path: Path) -> None:
    file = KeyFile(path)
    file.add(make_key("ci", NOW)[1])
    before = path.read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (16, limits[1]))
    try:
        with pytest.raises(ConfigurationError, match="cannot be written"):
            file.add(make_key("other", NOW)[1])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert path.read_bytes() == before
    assert sorted(one.name for one in path.parent.iterdir()) == ["keys.json", "keys.json.lock"]


def test_it_is_made_with_all_folders_above_it_and_a_lock_that_only_its_owner_opens(tmp_path: Path) -> None:
    path = tmp_path / "one" / "two" / "keys.json"
    before = os.umask(0)
    try:
        KeyFile(path).add(make_key("ci", NOW)[1])
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.with_name("keys.json.lock").stat().st_mode) == 0o600


def test_what_the_system_says_of_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="Is a directory"):
        KeyFile(tmp_path).records()


def test_two_keys_of_one_id_are_refused(path: Path) -> None:
    _, record = make_key("ci", NOW)
    KeyFile(path).add(record)
    with pytest.raises(ConfigurationError, match="same id by chance"):
        KeyFile(path).add(record.model_copy(update={"name": "other"}))
    assert KeyFile(path).records() == (record,)


def test_a_writer_sees_at_once_what_it_wrote(path: Path) -> None:
    file = KeyFile(path, clock=lambda: 100.0)
    assert file.records() == ()
    _, record = make_key("ci", NOW)
    file.add(record)
    assert file.records() == (record,)
    file.revoke("ci", NOW)
    assert file.records()[0].revoked == NOW


def test_the_first_fault_of_a_damaged_file_is_told_without_its_content(path: Path) -> None:
    path.parent.mkdir(parents=True)
    path.write_text('{"keys": [{"id": "quokka", "name": 7}], "wombat": "koala"}', "utf-8")
    path.chmod(0o600)
    with pytest.raises(ConfigurationError, match=r"keys\.0\.") as caught:
        KeyFile(path).records()
    assert not any(word in str(caught.value) for word in ("quokka", "koala", "https://"))


def test_a_limit_that_is_gone_makes_no_file_unusable(path: Path) -> None:
    file = KeyFile(path)
    _, record = make_key("ci", NOW)
    file.add(record)
    old = path.read_text().replace('"name": "ci"', '"name": "ci", "limits": {"rate": 60, "concurrent": 8}')
    assert "concurrent" in old
    path.write_text(old)
    limited = KeyFile(path).find(record.id)
    assert limited is not None
    assert limited.limits.rate == 60
    KeyFile(path).add(make_key("further", NOW)[1])
    assert "concurrent" not in path.read_text()
