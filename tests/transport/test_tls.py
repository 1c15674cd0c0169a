"""A certificate that nobody vouches for ends the request, and the error says that it is the certificate."""

from __future__ import annotations

import asyncio
import ipaddress
import os
import ssl
import sys
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from groundwire.deadline import Deadline
from groundwire.errors import PageUnavailable, ProviderUnreachable
from groundwire.transport import Transport
from world import World

Connect = Callable[..., Transport]
Serve = Callable[..., Awaitable[Any]]
Response = Callable[..., bytes]

pytestmark = pytest.mark.req("B3")


@pytest.fixture
def self_signed(tmp_path: Path) -> ssl.SSLContext:
    return certified(tmp_path / "server.pem", -1, 1)


def certified(path: Path, first_day: int, last_day: int) -> ssl.SSLContext:
    """Return a server's side with a certificate that is valid between two days from now, and write it down."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    address = x509.IPAddress(ipaddress.IPv4Address("127.0.0.1"))
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now + timedelta(days=first_day))
        .not_valid_after(now + timedelta(days=last_day))
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .sign(key, hashes.SHA256())
    )
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(secret + certificate.public_bytes(serialization.Encoding.PEM))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    return context


async def test_a_self_signed_certificate(
    connect: Connect, serve: Serve, response: Response, self_signed: ssl.SSLContext
) -> None:
    server: Any = await serve(response(b"secret"), context=self_signed)
    transport = connect(server.url)
    with pytest.raises(PageUnavailable, match=r"^127\.0\.0\.1 has a TLS certificate from an authority.*SSL_CERT_FILE"):
        await transport.fetch(server.url, deadline=Deadline.after(60))
    with pytest.raises(ProviderUnreachable, match=r"TLS certificate.*Check its address.*SSL_CERT_FILE"):
        await transport.call("searx", "GET", server.url, deadline=Deadline.after(60), headers={"X-Key": "s3cret"})
    assert not server.heads


async def test_a_self_signed_certificate_behind_a_proxy(
    connect: Connect, serve: Serve, response: Response, forwarder: Any, self_signed: ssl.SSLContext
) -> None:
    server: Any = await serve(response(b"secret"), context=self_signed)
    forwarder.upstream = server.port
    with pytest.raises(PageUnavailable, match=r"^pub\.example\.com has a TLS certificate from an authority"):
        await connect(proxy=forwarder.url).fetch("https://pub.example.com/", deadline=Deadline.after(60))
    assert not server.heads


SCRIPT = """
import asyncio, sys
from groundwire.deadline import Deadline
from groundwire.safety.guard import Guard
from groundwire.transport import Transport

async def main():
    transport = Transport(Guard(allowed_origins=(sys.argv[1],)))
    try:
        print((await transport.fetch(sys.argv[1], deadline=Deadline.after(60))).body.decode())
    except Exception as error:
        print(error)
    await transport.aclose()

asyncio.run(main())
"""


@pytest.mark.parametrize(("first_day", "last_day"), [(-1, 1), (-9, -1), (1, 9)], ids=["valid", "expired", "not yet"])
async def test_a_certificate_of_another_time_points_at_the_clock(
    serve: Serve, response: Response, tmp_path: Path, first_day: int, last_day: int
) -> None:
    server: Any = await serve(response(b"the page"), context=certified(tmp_path / "ca.pem", first_day, last_day))
    # The trusted authorities are read when aiohttp is imported, so this takes a process of its own.
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-c", SCRIPT, server.url),
        env={**os.environ, "SSL_CERT_FILE": str(tmp_path / "ca.pem")},
        stdout=asyncio.subprocess.PIPE,
    )
    said = (await process.communicate())[0].decode().strip()
    if first_day < 0 < last_day:
        assert said == "the page"
    else:
        assert "not valid today, or this machine's clock is wrong" in said


async def test_no_tls_at_all(world: World, connect: Connect) -> None:
    url = world.searxng.url.replace("http:", "https:")
    with pytest.raises(
        PageUnavailable, match=r"failed to negotiate a TLS connection|closed the connection|not be reached"
    ):
        await connect(url).fetch(url, deadline=Deadline.after(60))
