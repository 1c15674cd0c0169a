"""The way to the services: names, proxies, certificates, and the clock that answers tell."""

from __future__ import annotations

import asyncio
import os
import ssl
from collections.abc import Iterator, Mapping

from groundwire.doctor.context import CheckOutput, Examination
from groundwire.doctor.report import DoctorFinding
from groundwire.settings.schema import display_text
from groundwire.setup.provider_check import Verification, duration
from groundwire.transport.errors import ExchangeFailed

_PROXIES = ("https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY")
_KNOWN_HOST = "example.com"  # a name that always exists (RFC 2606)
_MAX_SKEW_SECONDS = 60.0  # seconds
_DNS_SECONDS = 5.0  # seconds


async def check_network(examination: Examination) -> CheckOutput:
    """Check whether the services can be reached, and if not, why."""
    calls = await examination.calls()
    failed = {name: trouble(call) for name, call in calls.items()}
    findings = [*await _names(examination, calls, failed)]
    findings += _certificates(calls, failed)
    findings += _proxies(examination, calls, failed)
    reached = [name for name, what in failed.items() if not what]
    fine = "" if reached or not calls else "no fault in names, certificates, or proxies; "  # then it is the service's
    return f"{fine}reached {len(reached)} of {len(calls)} services", findings


async def check_clock(examination: Examination) -> CheckOutput:
    """Check that this machine's clock agrees with those of the services."""
    await examination.calls()
    if not examination.skews:
        return "no response had a date", ()
    skew = min(examination.skews, key=abs)
    if abs(skew) < _MAX_SKEW_SECONDS:
        return f"correct to within {max(1.0, abs(skew)):.0f} s", ()
    way = "ahead" if skew > 0 else "behind"
    return "", [
        DoctorFinding(
            fault="clock-skew",
            subject="clock",
            what=f"This machine's clock is {duration(abs(skew))} {way}.",
            why="Searches within a day or a week miss pages, cached results expire too early or too late, and "
            "certificates seem to have expired.",
            fix="sudo timedatectl set-ntp true (in a virtual machine or a container, set the host's clock)",
        )
    ]


def trouble(call: Verification) -> str:
    """Return the cause of a failed call: name, certificate, proxy or network; empty if the service responded."""
    if call.verdict != "provider-unreachable":
        return ""
    error: BaseException | None = call.error
    while error is not None:
        if isinstance(error, ExchangeFailed):
            return "name" if error.kind == "resolver" else error.kind
        error = error.__cause__
    return "network"


def explained(call: Verification) -> bool:
    """Return whether the network check has already reported why a call failed."""
    return trouble(call) in {"name", "certificate", "proxy"}


async def _names(
    examination: Examination, calls: Mapping[str, Verification], failed: Mapping[str, str]
) -> list[DoctorFinding]:
    lost = [name for name, what in failed.items() if what == "name"]
    none_reached = bool(failed) and all(failed.values()) and set(failed.values()) != {"proxy"}
    outside = [name for name in failed if not examination.settings.providers.get(name, {}).get("base_url")]
    if not lost and not (none_reached and outside):
        return []
    if not examination.settings.network.proxy and not await _resolves(examination, _KNOWN_HOST):
        return [
            DoctorFinding(
                fault="dns-failing",
                subject="DNS",
                what=f"DNS resolution fails on this machine, for {', '.join(lost or failed)} and for {_KNOWN_HOST}.",
                why="There is no network, or this machine's resolver does not respond.",
                fix="Check the network and /etc/resolv.conf: getent hosts example.com must print an address. Behind a "
                "proxy that resolves names itself, set network.proxy.",
            )
        ]
    return [
        DoctorFinding(
            fault="name-unknown",
            subject=name,
            what=f"{name}: {calls[name].what}",
            why="Other names resolve.",
            fix=f"Correct providers.{name}.base_url, or remove it.",
        )
        for name in lost
    ]


async def _resolves(examination: Examination, host: str) -> bool:
    resolver = examination.resolver
    try:
        async with asyncio.timeout(min(_DNS_SECONDS, max(0.1, examination.deadline.remaining() / 2))):
            if resolver is not None:
                return bool(await resolver(host, 443))
            return bool(await asyncio.get_running_loop().getaddrinfo(host, 443))
    except (OSError, TimeoutError):
        return False


def _certificates(calls: Mapping[str, Verification], failed: Mapping[str, str]) -> Iterator[DoctorFinding]:
    for name in (name for name, what in failed.items() if what == "certificate"):
        error = _certificate_error(calls[name].error)
        reason = getattr(error, "verify_message", "") or "no common ground"
        if error is not None:
            yield DoctorFinding(
                fault="tls-untrusted",
                subject=name,
                what=f"{name}: this machine does not trust the certificate ({reason}).",
                why="It has expired or this machine's clock is wrong, something on the way inspects TLS (a company's "
                "proxy, an antivirus program), or the service has its own certificate authority.",
                fix="Check the clock (date -u). If you trust the authority, get its certificate as a PEM file and set "
                "SSL_CERT_FILE to a bundle that has it, e.g. SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt after "
                "sudo update-ca-certificates.",
            )
        else:
            yield DoctorFinding(
                fault="tls-failing",
                subject=name,
                what=f"{name}: {calls[name].what}",
                why="The server does not support TLS on this port, or only outdated versions.",
                fix=f"Check http against https in providers.{name}.base_url, and its port.",
            )


def _certificate_error(error: BaseException | None) -> ssl.SSLCertVerificationError | None:
    while error is not None:
        cause = error if isinstance(error, ssl.SSLCertVerificationError) else getattr(error, "certificate_error", None)
        if isinstance(cause, ssl.SSLCertVerificationError):
            return cause
        error = error.__cause__ or error.__context__
    return None


def _proxies(
    examination: Examination, calls: Mapping[str, Verification], failed: Mapping[str, str]
) -> Iterator[DoctorFinding]:
    lost = [name for name, what in failed.items() if what == "proxy"]
    if lost:
        proxy = examination.settings.network.proxy
        subject = "network.proxy" if proxy else next((name for name in _PROXIES if os.environ.get(name)), "")
        value = display_text("network.proxy", proxy or os.environ.get(subject, ""))
        yield DoctorFinding(
            fault="proxy-unreachable",
            subject=subject,
            what=f"The proxy {value} does not respond, or refuses the connection: {', '.join(lost)} cannot be reached.",
            why=calls[lost[0]].what,
            fix=f"Correct {subject}, its user name and password included, or remove it.",
        )
