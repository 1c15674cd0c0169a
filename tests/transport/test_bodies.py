"""One layer of coding is taken off, whole or not at all, however the bytes are cut."""

from __future__ import annotations

import contextlib
import gzip
import zlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.work import growth
from groundwire.transport.body_reader import BodyDecoder, UndecodableBody

pytestmark = pytest.mark.req("B2")


def raw_deflate(body: bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(body) + packer.flush()


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
}


def decoded(coding: str, data: bytes, size: int = 1 << 30) -> bytes:
    decoder = BodyDecoder(coding)
    found = b"".join(piece for at in range(0, len(data), size) for piece in decoder.feed(data[at : at + size]))
    decoder.finish()
    return found


@given(body=st.binary(max_size=2_000), size=st.integers(1, 50), coding=st.sampled_from(sorted(PACKERS)))
def test_what_was_packed_comes_back(body: bytes, size: int, coding: str) -> None:
    assert decoded(coding, PACKERS[coding](body), size) == body


@given(body=st.binary(max_size=2_000), size=st.integers(1, 50))
def test_bare_deflate(body: bytes, size: int) -> None:
    assert decoded("deflate", raw_deflate(body), size) == body


@pytest.mark.parametrize("size", [65_535, 65_536, 65_537, 131_072, 131_077])
@pytest.mark.parametrize("chunk", [1, 7, 1_000, 1 << 20])
def test_bare_deflate_around_the_size_of_a_step(size: int, chunk: int) -> None:
    body = b"a" * size
    assert decoded("deflate", raw_deflate(body), chunk) == body


@given(parts=st.lists(st.binary(max_size=200), min_size=1, max_size=5), size=st.integers(1, 50))
def test_gzip_members_follow_each_other(parts: list[bytes], size: int) -> None:
    assert decoded("gzip", b"".join(map(gzip.compress, parts)), size) == b"".join(parts)


@pytest.mark.parametrize("tail", [b"\0", b"\0" * 600, b"\x1f", b"junk behind the end"])
@pytest.mark.parametrize("size", [1, 1 << 20])
def test_what_follows_the_end_is_ignored(tail: bytes, size: int) -> None:
    assert decoded("gzip", gzip.compress(b"body") + tail, size) == b"body"
    assert decoded("deflate", zlib.compress(b"body") + tail, size) == b"body"


@given(body=st.binary(min_size=1, max_size=500), data=st.data())
def test_a_cut_is_noticed(body: bytes, data: st.DataObject) -> None:
    for coding, packed in (
        ("gzip", gzip.compress(body)),
        ("deflate", zlib.compress(body)),
        ("deflate", raw_deflate(body)),
    ):
        end = data.draw(st.integers(1, len(packed) - 1))
        with pytest.raises(UndecodableBody):
            decoded(coding, packed[:end])


@given(noise=st.binary(max_size=400), size=st.integers(1, 100), coding=st.sampled_from(["gzip", "deflate", ""]))
def test_noise_is_decoded_or_refused(noise: bytes, size: int, coding: str) -> None:
    with contextlib.suppress(UndecodableBody):
        decoded(coding, noise, size)


def test_no_body_is_no_compressed_body() -> None:
    assert decoded("gzip", b"") == b""
    assert decoded("gzip", gzip.compress(b"")) == b""


@pytest.mark.parametrize("coding", ["br", "zstd", "compress", "gzip, gzip", "deflate,gzip", "rot13" * 50])
def test_other_codings_are_refused(coding: str) -> None:
    with pytest.raises(UndecodableBody) as caught:
        BodyDecoder(coding)
    assert len(str(caught.value)) < 100


@pytest.mark.parametrize("coding", ["", "identity", " Identity ,, ", "GZIP", "identity, gzip"])
def test_spellings_of_what_is_known(coding: str) -> None:
    data = gzip.compress(b"body") if "gzip" in coding.lower() else b"body"
    assert decoded(coding, data) == b"body"


def test_pieces_are_small() -> None:
    pieces = list(BodyDecoder("gzip").feed(gzip.compress(b"\0" * 5_000_000)))
    assert max(map(len, pieces)) <= 65_536
    assert sum(map(len, pieces)) == 5_000_000


def test_members_without_content_are_not_worked_on_for_ever() -> None:
    with pytest.raises(UndecodableBody, match="parts"):
        decoded("gzip", gzip.compress(b"") * 20_000)


def test_much_behind_the_end_costs_little() -> None:
    def decode(behind: int) -> None:
        assert decoded("gzip", gzip.compress(b"body") + bytes(behind), 1_400) == b"body"

    assert growth(decode, 100_000, 400_000) < 5
