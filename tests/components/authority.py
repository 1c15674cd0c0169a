"""A certificate authority for one test run: servers on loopback with TLS under any host name."""

from __future__ import annotations

import datetime as dt
import ssl
import threading
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_LIFETIME = dt.timedelta(days=2)  # half before now, for clocks that differ, half after


class Authority:
    """A certificate authority that only tests trust.

    Args:
        folder: An empty folder for the certificates and keys.

    Attributes:
        ca_file: The authority's own certificate (PEM), for a client's list of trusted ones.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())  # made in a millisecond, unlike RSA
        self._lock = threading.Lock()
        self._contexts: dict[str, ssl.SSLContext] = {}
        usage = x509.KeyUsage(
            digital_signature=True,
            content_commitment=False,
            key_encipherment=False,
            data_encipherment=False,
            key_agreement=False,
            key_cert_sign=True,
            crl_sign=True,
            encipher_only=False,
            decipher_only=False,
        )
        own = x509.SubjectKeyIdentifier.from_public_key(self._key.public_key())
        certificate = (
            _draft("groundwire test authority", self._key.public_key())
            .issuer_name(_name("groundwire test authority"))
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(own, critical=False)
            .add_extension(usage, critical=True)
            .sign(self._key, hashes.SHA256())
        )
        path = folder / "ca.pem"
        path.write_bytes(certificate.public_bytes(Encoding.PEM))
        self.ca_file = str(path)

    def context(self, host: str) -> ssl.SSLContext:
        """Return the TLS context of a server for `host`; created once per host."""
        with self._lock:
            if host not in self._contexts:
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                context.load_cert_chain(self._issue(host))
                self._contexts[host] = context
            return self._contexts[host]

    def _issue(self, host: str) -> Path:
        key = ec.generate_private_key(ec.SECP256R1())
        issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        certificate = (
            _draft(host, key.public_key())
            .issuer_name(_name("groundwire test authority"))
            .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
            .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
            .add_extension(issuer, critical=False)
            .sign(self._key, hashes.SHA256())
        )
        private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        path = self._folder / f"{host}.pem"
        path.write_bytes(certificate.public_bytes(Encoding.PEM) + private)
        return path


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _draft(subject: str, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
    now = dt.datetime.now(dt.UTC)
    return x509.CertificateBuilder(
        subject_name=_name(subject),
        public_key=key,
        serial_number=x509.random_serial_number(),
        not_valid_before=now - _LIFETIME / 2,
        not_valid_after=now + _LIFETIME / 2,
    )
