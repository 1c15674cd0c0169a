"""Canonical host names: names as A-labels, IPv4 as a dotted quad, IPv6 compressed."""

from __future__ import annotations

import re
import unicodedata
from ipaddress import IPv4Address, IPv6Address

import idna

from groundwire.errors import BlockedAddress, InvalidRequest, excerpt
from groundwire.safety.ip_ranges import address_text, parse_address

NOT_ALLOWED = "This address is not allowed: only public web addresses may be opened."
"""The message for every blocked address, so that it reveals nothing about a network."""

_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")  # a part of an IPv4 address in the WHATWG URL standard (4.3.3)
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?")  # RFC 1123, 2.1, and underscores, which the DNS allows
_MAX_LABEL = 63  # octets, RFC 1035, 2.3.4
_MAX_NAME = 253  # characters of text: 255 octets on the wire, RFC 1035
_MAX_RAW = 1_024  # characters before mapping, the limit of idna; bounds the work on hostile names
_JOINERS = "\u200c\u200d"


def canonical_host(text: str) -> str:
    """Return the canonical form of a host: an A-label name, an IPv4 dotted quad or a compressed IPv6 address.

    Names are mapped, composed (NFC) and validated as in browsers (UTS 46, non-transitional); one trailing dot is
    removed.

    Args:
        text: A name or an address; IPv6 without brackets.

    Raises:
        InvalidRequest: It is not a host name.
        BlockedAddress: It is, or ends like, an IPv4 address that is not written as four decimal numbers, which programs
            interpret differently.
    """
    if ":" in text:
        address = parse_address(text)
        if not isinstance(address, IPv6Address):
            raise _bad(text, "is not an IPv6 address", "Check the part between the brackets.")
        return address_text(address)
    name = text.lower() if text.isascii() else _map_unicode(text)
    bare = name.removesuffix(".")
    labels = bare.split(".")
    if _NUMBER.fullmatch(labels[-1]) or labels[-1].isdecimal():
        if isinstance(parse_address(text), IPv4Address):
            return text
        raise BlockedAddress(NOT_ALLOWED)
    name = ".".join(_label(label, text) for label in labels)
    if len(name) > _MAX_NAME:
        raise _bad(text, "is too long", f"A host name has at most {_MAX_NAME} characters.")
    return name


def _map_unicode(text: str) -> str:
    """Return `text` in UTS 46 form: lower case, full-width letters narrowed, composed."""
    if len(text) > _MAX_RAW:
        raise _bad(text, "is too long", f"A host name has at most {_MAX_NAME} characters.")
    try:
        invisible = any(not idna.uts46_remap(char, std3_rules=False) for char in text)
        mapped = idna.uts46_remap(text, std3_rules=False)
    except UnicodeError as exc:
        raise _bad(
            text, "has a character that no host name may have", "Check the part before the first slash."
        ) from exc
    if invisible:
        raise _bad(text, "has an invisible character", "Remove it.")
    return mapped


def _label(label: str, host: str) -> str:
    """Return one label in ASCII."""
    try:
        if not label.isascii():
            _check_unicode(label)
            label = "xn--" + label.encode("punycode").decode("ascii")
        elif label.startswith("xn--"):
            _check_encoded(label)
    except ValueError as exc:
        raise _bad(host, "is not a valid international name", "Check the spelling of the host.") from exc
    if not label:
        raise _bad(host, "has an empty part", "Write one dot between two parts.")
    if len(label) > _MAX_LABEL:
        raise _bad(host, "has a part that is too long", f"A part has at most {_MAX_LABEL} characters.")
    if not _LABEL.fullmatch(label):
        raise _bad(
            host,
            "has an invalid character",
            "A host has only letters, digits, dots and inner hyphens; a path begins with a slash.",
        )
    return label


def _check_encoded(label: str) -> None:
    """Raise ValueError unless an `xn--` label equals the encoding of its decoded form."""
    decoded = label[4:].encode("ascii").decode("punycode")
    _check_unicode(decoded)
    if decoded.isascii() or "xn--" + decoded.encode("punycode").decode("ascii") != label:
        raise ValueError(label)


def _check_unicode(label: str) -> None:
    """Raise ValueError unless a label satisfies UTS 46, 4.1.

    Symbols such as emoji pass: they are valid there, and in use. Enclosed numbers and the like do not: some programs
    read them as digits.
    """
    if "." in label or idna.uts46_remap(label, std3_rules=False) != label:
        raise ValueError(label)
    if any(unicodedata.category(char) == "No" for char in label):
        raise ValueError(label)
    idna.check_initial_combiner(label)
    idna.check_bidi(label)
    if not all(idna.valid_contextj(label, at) for at, char in enumerate(label) if char in _JOINERS):
        raise ValueError(label)


def _bad(host: str, problem: str, fix: str) -> InvalidRequest:
    return InvalidRequest("url", f"the host {excerpt(host)!a} {problem}", fix)
