"""The file: written at once, by many, read with care."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.cassette import Answer, CallFailed, Cassette, Exchange, RecordedFailure
from groundwire.cassette.format import from_line, load, pack, to_line, unpack
from groundwire.errors import ConfigurationError

WRITER = """
import sys
from groundwire.cassette import Cassette
cassette = Cassette.record(sys.argv[1], append=True)
print("ready", flush=True)
sys.stdin.readline()
for number in range(int(sys.argv[3])):
    cassette.add("test", {"who": sys.argv[2], "number": number, "filler": "x" * 20_000}, response={"ok": True})
"""


def start(path: Path, who: str, count: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, path, who, str(count)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def some(path: Path, count: int = 3) -> list[dict[str, object]]:
    cassette = Cassette.record(path)
    for number in range(count):
        cassette.add("test", {"number": number}, response={"answer": number})
    return [{"number": number} for number in range(count)]


class TestWriting:
    @pytest.mark.req("B12")
    def test_several_processes_add_to_one(self, tmp_path: Path) -> None:
        path = tmp_path / "x.jsonl"
        writers = [start(path, who, 150) for who in "abc"]
        for writer in writers:
            assert writer.stdout is not None
            assert writer.stdout.readline() == "ready\n"
        for writer in writers:
            assert writer.stdin is not None
            writer.stdin.write("go\n")
            writer.stdin.flush()
        for writer in writers:
            writer.communicate()
            assert writer.returncode == 0
        found = [json.loads(line) for line in path.read_text().splitlines()[1:]]
        assert len(found) == 450
        assert {(line["request"]["who"], line["request"]["number"]) for line in found} == {
            (who, number) for who in "abc" for number in range(150)
        }

    def test_one_that_is_killed_keeps_what_it_has(self, tmp_path: Path) -> None:
        path = tmp_path / "x.jsonl"
        writer = start(path, "a", 1_000_000)
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
        while not path.is_file() or path.read_bytes().count(b"\n") < 21:
            pass
        writer.kill()
        writer.communicate()
        Cassette.record(path, append=True).add("test", {"who": "b"}, response={"ok": True})
        cassette = Cassette.replay(path)
        for number in range(20):
            cassette.find("test", {"who": "a", "number": number, "filler": "x" * 20_000})
        assert cassette.call("test", {"who": "b"}, dict) == {"ok": True}

    def test_threads_share_it(self, tmp_path: Path) -> None:
        path = tmp_path / "x.jsonl"
        cassette = Cassette.record(path)
        with ThreadPoolExecutor(8) as threads:
            list(threads.map(lambda number: cassette.add("test", {"n": number}, response={}), range(80)))
        found = [json.loads(line)["request"]["n"] for line in path.read_text().splitlines()[1:]]
        assert sorted(found) == list(range(80))

    def test_recording_begins_anew_or_adds(self, tmp_path: Path) -> None:
        path = tmp_path / "x.jsonl"
        some(path, 3)
        some(path, 2)
        assert len(load(path)) == 2
        Cassette.record(path, append=True).add("test", {}, failure=RecordedFailure("network", "refused"))
        assert len(load(path)) == 3

    def test_other_files_are_not_overwritten(self, tmp_path: Path) -> None:
        path = tmp_path / "program.py"
        path.write_text("print('mine')\n")
        for append in (False, True):
            with pytest.raises(ConfigurationError, match=r"program\.py is not a cassette"):
                Cassette.record(path, append=append)
        assert path.read_text() == "print('mine')\n"
        with pytest.raises(ConfigurationError, match="cannot be written"):
            Cassette.record(tmp_path)

    def test_a_file_that_goes_away_stops_nobody(self, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
        path = tmp_path / "folder" / "x.jsonl"
        cassette = Cassette.record(path)
        path.unlink()
        cassette.add("test", {"n": 1}, response={})
        assert len(load(path)) == 1
        path.unlink()
        path.parent.rmdir()
        cassette.add("test", {"n": 2}, response={})
        assert "lacks an exchange: No such file or directory" in caplog.text

    def test_one_that_records_does_not_answer(self, tmp_path: Path) -> None:
        path = tmp_path / "x.jsonl"
        first = Cassette.record(path)
        first.add("test", {}, response={"a": 1})
        with pytest.raises(RuntimeError):
            first.find("test", {})
        with pytest.raises(RuntimeError):
            Cassette.replay(path).add("test", {}, response={})


class TestReading:
    @pytest.mark.parametrize("cut", [1, 5, 30])
    def test_a_last_line_that_was_cut_off_is_left_out_and_taken_away(self, cut: int, tmp_path: Path) -> None:
        path = tmp_path / "x.jsonl"
        requests = some(path)
        whole = path.read_bytes()
        path.write_bytes(whole[:-cut])
        cassette = Cassette.replay(path)
        assert cassette.find("test", requests[1]).response == {"answer": 1}
        if cut > 1:  # else only the end of the line is missing
            with pytest.raises(CallFailed):
                cassette.find("test", requests[2])
        Cassette.record(path, append=True).add("test", {"number": 7}, response={})
        assert len(load(path)) == (4 if cut == 1 else 3)
        assert Cassette.replay(path).find("test", {"number": 7}).response is not None

    @pytest.mark.parametrize(
        ("line", "fault"),
        [
            (b"{", "Expecting property name"),
            (b"[1]", "not an object"),
            (b'{"kind": "http"}', "needs a kind"),
            (b'{"kind": "http", "request": {}}', "needs a response or a failure"),
            (b'{"kind": "http", "request": {}, "response": {"status": "x"}}', "needs a status"),
            (b'{"kind": "http", "request": {}, "response": {"status": 1, "base64": "%"}}', "cannot be unpacked"),
            (b'{"kind": "http", "request": {}, "response": {"status": 1, "gzip": "AAAA"}}', "cannot be unpacked"),
            (b'{"kind": "http", "request": {}, "response": {"status": 1, "text": 5}}', "cannot be unpacked"),
            (b'{"kind": "x", "request": {}, "response": 5}', "a response is an object"),
            (b'{"kind": "x", "request": {}, "failure": "no"}', "a failure is an object"),
            (b'{"kind": "x", "request": {}, "response": {}, "day": "yesterday"}', "isoformat"),
            (b"\xff\xfe", "Expecting value"),
        ],
    )
    def test_a_fault_is_named_with_its_line(self, line: bytes, fault: str, tmp_path: Path) -> None:
        path = tmp_path / "x.jsonl"
        some(path)
        lines = path.read_bytes().split(b"\n")
        path.write_bytes(b"\n".join([*lines[:2], line, *lines[2:]]))
        with pytest.raises(ConfigurationError, match=rf"has an error in line 3: .*{fault}"):
            Cassette.replay(path)

    def test_what_is_no_cassette(self, tmp_path: Path) -> None:
        path = tmp_path / "x.jsonl"
        with pytest.raises(ConfigurationError, match=r"There is no cassette .*Record it first: run the program with"):
            Cassette.replay(path)
        for text in ("", "[]", "{}", "a page"):
            path.write_text(text)
            with pytest.raises(ConfigurationError, match="is not a cassette"):
                Cassette.replay(path)
        path.write_text('{"groundwire_cassette": 9}\n')
        with pytest.raises(ConfigurationError, match="is of version 9; this Groundwire knows 1"):
            Cassette.replay(path)

    @given(st.binary(max_size=300), st.integers(100, 599))
    def test_every_body_comes_back(self, body: bytes, status: int) -> None:
        answer = Answer(status, {"Content-Type": "text/html"}, body)
        assert unpack(json.loads(json.dumps(pack(answer)))) == answer

    def test_a_long_body_comes_back(self) -> None:
        answer = Answer(200, {}, bytes(range(256)) * 2_000)
        assert unpack(pack(answer)) == answer
        assert "gzip" in pack(answer)

    @given(
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(max_size=5),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(
                    st.sampled_from(["kind", "request", "response", "failure", "day", "ms", "status"]), inner
                )
            ),
        )
    )
    def test_any_line_is_an_exchange_or_a_fault(self, line: object) -> None:
        try:
            found = from_line(line)
        except ValueError:
            return
        assert from_line(to_line(found)) == found

    def test_bytes_of_a_header_that_are_no_text(self, tmp_path: Path) -> None:
        path = tmp_path / "x.jsonl"
        Cassette.record(path).add("http", {"url": "u"}, response=Answer(302, {"Location": "/\udce4"}))
        found = Cassette.replay(path).find("http", {"url": "u"})
        assert found.answer == Answer(302, {"Location": "/\udce4"})


def test_an_exchange_in_full() -> None:
    exchange = Exchange(kind="x", request={"a": 1}, failure=RecordedFailure("timeout"), ms=5, day=date(2026, 1, 31))
    line = to_line(exchange)
    assert line == {
        "kind": "x",
        "request": {"a": 1},
        "failure": {"kind": "timeout", "detail": ""},
        "ms": 5,
        "day": "2026-01-31",
    }
    assert from_line(line) == exchange
