"""The strict URL parser: converts text to a `WebUrl` that every client interprets identically, or rejects it.

What two parsers could read differently is refused and never interpreted, because the same address goes to our own
client, to a browser and to remote readers. The canonical form follows the WHATWG URL standard where RFC 3986
leaves it open.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from groundwire.errors import BlockedAddress, InvalidRequest, excerpt
from groundwire.safety.hostnames import canonical_host
from groundwire.safety.ip_ranges import Address, parse_address

_NOWHERE = "nowhere.invalid"  # a name that never exists (RFC 2606): an empty list would mean every domain


def host_matches(host: str, domain: str) -> bool:
    """Return whether a host is a domain or one of its subdomains.

    International names are compared in ASCII form; case, a trailing dot, and a leading `*.` or `.` of the domain are
    ignored. An IP address matches only itself. An invalid host matches nothing.
    """
    name, parent = _canonical(host), _canonical(domain.removeprefix("*").removeprefix("."))
    if name is None or parent is None:
        return False
    # A domain never ends a longer IP address: no name's last part is a number.
    return name == parent or name.endswith(f".{parent}")


def common_domains(mine: tuple[str, ...], theirs: tuple[str, ...]) -> tuple[str, ...]:
    """Return the domains that two lists have in common, by subdomains too; a list that is empty has every domain."""
    if not mine or not theirs:
        return mine or theirs
    both = [domain for domain in mine if any(host_matches(domain, other) for other in theirs)]
    both += [other for other in theirs if any(host_matches(other, domain) for domain in mine)]
    return tuple(dict.fromkeys(both))


class DomainPolicy(NamedTuple):
    """Allowed and blocked domains, including subdomains; a block takes precedence."""

    allowed: tuple[str, ...] = ()
    """Only these domains; empty means every domain."""
    blocked: tuple[str, ...] = ()
    """Exclude these domains."""

    def permits(self, url_or_host: str) -> bool:
        """Return whether the lists allow a URL or a host. Anything invalid is not allowed."""
        host = _host_of(url_or_host)
        if host is None or any(host_matches(host, domain) for domain in self.blocked):
            return False
        return not self.allowed or any(host_matches(host, domain) for domain in self.allowed)

    def within(self, other: DomainPolicy) -> DomainPolicy:
        """Return the intersection of two policies."""
        blocked = tuple(dict.fromkeys((*self.blocked, *other.blocked)))
        allowed = common_domains(self.allowed, other.allowed)
        return DomainPolicy((_NOWHERE,) if self.allowed and not allowed else allowed, blocked)


def _host_of(url_or_host: str) -> str | None:
    if "/" not in url_or_host:
        return _canonical(url_or_host)
    url = url_or_none(url_or_host)
    return None if url is None else url.host


def _canonical(host: str) -> str | None:
    bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    try:
        return canonical_host(bare)
    except (InvalidRequest, BlockedAddress):
        return None


MAX_LENGTH = 8_000  # characters of the canonical text; RFC 9110, 4.1 recommends at least this

_SCHEMES: Final[Mapping[str, Literal["http", "https"]]] = {"http": "http", "https": "https"}
_DEFAULT_PORTS: Final[Mapping[str, int]] = {"http": 80, "https": 443}
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*):")
_BRACKETED = re.compile(r"\[(?=[0-9A-Fa-f.]*+:)([0-9A-Fa-f:.]*+)\](?::(.*))?")
_FOLDER = re.compile(r"[A-Za-z]:\\|\\\\|/(?!/)")  # how a path on Windows, a share, or a path elsewhere begins
_CITATION = re.compile(r"\[?[0-9]{1,4}\]?")  # what a model may pass for the result with this number
_LOCAL = re.compile(r"(?:localhost|127(?:\.[0-9]{1,3}){3}|\[::1\])(?:[:/]|$)", re.IGNORECASE)  # rarely with TLS
_BARE = re.compile(  # example.org/page, 127.0.0.1:8800
    r"(?:(?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,24}|localhost(?=[:/])|(?:[0-9]{1,3}\.){3}[0-9]{1,3}|\[::1\])(?::[0-9]{1,5})?"
    r"(?:[/?]\S{0,2000})?",
    re.IGNORECASE,
)
_PORT_FIRST = re.compile(r"[0-9]{1,5}(?:/|$)")
_PORT = re.compile(r"0*[1-9][0-9]{0,4}")  # zeros in front are legal (WHATWG URL, 4.4)
# The percent-encode sets of the WHATWG URL standard, 1.3, without what is refused before.
_PATH_UNSAFE = frozenset('"<>^`{}')
_QUERY_UNSAFE = frozenset("\"<>'")
_FRAGMENT_UNSAFE = frozenset('"<>`')
_OCTET = "(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_PLAIN = re.compile(
    r"(https?://[a-z0-9.:-]+)(/[A-Za-z0-9\-._~!$&'()*+,;=:@%/]*(?:\?[A-Za-z0-9\-._~!$&()*+,;=:@%/?]+)?)"
)
"""A URL that is already canonical if its origin is, as nearly all are; any other is parsed by `_parse_parts`."""
_PLAIN_ORIGIN = re.compile(
    r"(https?)://((?:[a-z0-9]+(?:-[a-z0-9]+)*\.)+[a-z]{2,63}"
    rf"|(?:{_OCTET}\.){{3}}{_OCTET})(?::([1-9][0-9]{{0,4}}))?"
)
_LONGEST_PLAIN = 63  # characters of a host in which no label and no name can be too long

_DOT = frozenset({".", "%2e"})
_DOT_DOT = frozenset({"..", ".%2e", "%2e.", "%2e%2e"})
_BLANK = "".join(map(chr, range(33)))  # what browsers drop around a link (WHATWG URL, 4.4)
_UNREADABLE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp", "Zs"})  # control, format (bidi, zero width), surrogate, space


class WebUrl(NamedTuple):
    """An http or https URL in canonical form. Created only by `parse_url` and `join_url`."""

    scheme: Literal["http", "https"]
    """`http` or `https`."""
    host: str
    """A name as A-labels in lower case without a trailing dot, an IPv4 dotted quad, or an IPv6 address, no brackets."""
    port: int
    """The port, the scheme's own when the text had none."""
    target: str
    """The path and the query, percent-encoded, as they go out; at least `/`. An empty query is left out."""
    fragment: str = ""
    """The fragment, percent-encoded; it is never sent."""

    @property
    def authority(self) -> str:
        """The host and port: `example.com`, `[::1]:8080`. A default port is left out."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        """The scheme, host and port: `https://example.com`, `http://[::1]:8080`."""
        return f"{self.scheme}://{self.authority}"

    @property
    def request_text(self) -> str:
        """The URL without its fragment."""
        return self.origin + self.target

    @property
    def text(self) -> str:
        """The whole address; parsing it again gives the same `WebUrl`."""
        return self.request_text + (f"#{self.fragment}" if self.fragment else "")

    @property
    def address(self) -> Address | None:
        """The IP address that the host spells, or None for a name."""
        return parse_address(self.host)

    def __str__(self) -> str:
        return self.text


def parse_url(text: str) -> WebUrl:
    """Parse an absolute http or https URL; only its form is validated.

    Args:
        text: The address. Characters outside ASCII are percent-encoded as UTF-8 (host: UTS 46); `%` stays as it is.

    Raises:
        InvalidRequest: It is not such a URL; the error states the problem and the fix.
        BlockedAddress: The host is an IPv4 address in a spelling that programs read differently.
    """
    value: object = text  # what a model has written may be anything
    url = plain_url(value) if isinstance(value, str) else None
    return _parse_parts(text) if url is None else url


def url_or_none(text: str) -> WebUrl | None:
    """Return an absolute http or https URL, or None for any other text; see `parse_url`."""
    try:
        return parse_url(text)
    except (InvalidRequest, BlockedAddress):
        return None


def plain_url(text: str) -> WebUrl | None:
    """Return an absolute URL that is already canonical, as nearly all are; None for any other text: see `parse_url`."""
    if (match := _PLAIN.fullmatch(text)) is None or len(text) > MAX_LENGTH:
        return None
    origin, target = match.groups()
    if (parts := _plain_origin(origin)) is None or "/." in target or "/%2" in target:
        return None
    scheme, host, port = parts
    return WebUrl(scheme, host, port, target)


@lru_cache(maxsize=1_024)
def _plain_origin(text: str) -> tuple[Literal["http", "https"], str, int] | None:
    """Return the scheme, host and port of an origin that is canonical, or None; many URLs have the same."""
    match = _PLAIN_ORIGIN.fullmatch(text)
    if match is None:
        return None
    scheme, host, port = match.groups()
    number = int(port) if port else _DEFAULT_PORTS[scheme]
    return None if len(host) > _LONGEST_PLAIN or number > 65_535 else (_SCHEMES[scheme], host, number)


def _parse_parts(text: str) -> WebUrl:
    """Parse a URL part by part; see `parse_url`."""
    if _FOLDER.match(str(text)):
        fix = "Pass https://, the host, and the path; or the file:// URL of a file (in Python also its Path)."
        raise _fault("is a path without a host", fix)
    _check_characters(text)
    match = _SCHEME.match(text)
    after_scheme = text[match.end() :] if match else ""
    name = match[1].lower() if match else ""
    scheme = _SCHEMES.get(name)
    if scheme is None:
        raise _scheme_fault(text, name, after_scheme)
    if not after_scheme.startswith("//"):
        raise _fault(f"is missing the // after {scheme}:", f"Write {scheme}://, the host, and the rest.")
    authority = re.split(r"[/?#]", after_scheme[2:], maxsplit=1)[0]
    host, port = _authority(authority, _DEFAULT_PORTS[scheme])
    before, _, fragment = after_scheme[2 + len(authority) :].partition("#")
    _check_ending(after_scheme[2 + len(authority) :])
    path, _, query = before.partition("?")
    url = WebUrl(
        scheme=scheme,
        host=host,
        port=port,
        target=_encode(_without_dots(path), _PATH_UNSAFE) + (f"?{_encode(query, _QUERY_UNSAFE)}" if query else ""),
        fragment=_encode(fragment, _FRAGMENT_UNSAFE),
    )
    if len(url.text) > MAX_LENGTH:
        raise _too_long(len(url.text))
    return url


def join_url(base: WebUrl, location: str) -> WebUrl:
    """Resolve a `Location` header or a link against its page (RFC 3986, 5.2).

    Args:
        base: The page's address.
        location: An absolute or relative reference: `https://…`, `//host/…`, `/path`, `name`, `?query`, `#fragment`.
            Blanks around it are dropped, and spaces within it are percent-encoded, as every browser does and as pages
            have them. Otherwise it is as strict as `parse_url`.

    Raises:
        InvalidRequest: The result is not an http or https URL.
        BlockedAddress: As in `parse_url`.
    """
    if not location:
        return parse_url(base.request_text)
    location = location.strip(_BLANK).replace(" ", "%20")
    _check_characters(location)
    if ":" in re.split(r"[/?#]", location, maxsplit=1)[0]:
        return parse_url(location)
    if location.startswith("//"):
        return parse_url(f"{base.scheme}:{location}")
    path = base.target.partition("?")[0]
    if location.startswith("#"):
        start = base.request_text
    elif location.startswith("?"):
        start = base.origin + path
    elif location.startswith("/"):
        start = base.origin
    else:
        start = base.origin + path[: path.rindex("/") + 1]
    return parse_url(start + location)


def _check_characters(text: str) -> None:
    """Raise InvalidRequest for characters that no URL contains, or that some programs drop and others keep."""
    if not isinstance(text, str):
        raise _fault(f"must be text, not {type(text).__name__}", "Pass an address such as https://example.com/.")
    if not text or text.isspace():
        raise _fault("is empty", "Pass an address such as https://example.com/.")
    if len(text) > MAX_LENGTH:
        raise _too_long(len(text))
    if text.isascii() and text.isprintable() and "\\" not in text and " " not in text:
        return  # as nearly every address; what follows looks for the fault
    for char in text:
        if char == "\\":
            raise _fault("has a backslash", "Write / between the parts, or %5C where a backslash is meant.")
        if char == " ":
            raise _fault("has a space", "Percent-encode it as %20, or leave it out before and after the address.")
        if (char < "!" or char > "~") and unicodedata.category(char) in _UNREADABLE:
            raise _fault(
                f"has the invisible character U+{ord(char):04X}",
                "Leave it out; if it belongs to the path or the query, percent-encode it.",
            )


def with_scheme(text: str) -> str:
    """Return an address with http:// or https:// in front if it has no scheme, as browsers take it."""
    if not _BARE.fullmatch(text):
        return text
    return f"{'http' if _LOCAL.match(text) else 'https'}://{text}"


def _scheme_fault(text: str, name: str, after_scheme: str) -> InvalidRequest:
    looks_like_host = "." in name or name == "localhost" or _PORT_FIRST.match(after_scheme)
    if not name and "://" in text.partition("?")[0]:
        return _fault("does not begin with a scheme", "Begin it with https:// and the host.")
    if _CITATION.fullmatch(text):
        return _fault("is a citation number, not an address", "Pass the URL of that source.")
    if not name or (looks_like_host and not after_scheme.startswith("//")):
        scheme = "http" if _LOCAL.match(text.removeprefix("//")) else "https"
        start = f"{scheme}:" if text.startswith("//") else f"{scheme}://"
        return _fault("has no scheme", f"Add {scheme}:// in front: {excerpt(start + text)}")
    return _fault(f"has the scheme {excerpt(name)}:", "Only http:// and https:// addresses can be opened.")


def _authority(text: str, default_port: int) -> tuple[str, int]:
    """Return the canonical host and the port."""
    if "@" in text:
        raise _fault("has a user name or password", "Leave out everything between // and the @, and the @ itself.")
    if "%" in text:
        raise _fault("has a % in the host", "Write the host's letters themselves; zones (%eth0) are not for the web.")
    if "[" in text or "]" in text:
        bracketed = _BRACKETED.fullmatch(text)
        if not bracketed:
            raise _fault("has brackets without an IPv6 address", "Write https://[2606:4700::1111]/ or a name.")
        host, port = bracketed[1], bracketed[2] or ""
    else:
        host, _, port = text.partition(":")
    if not host:
        raise _fault("has no host", "Write the host right after the two slashes: https://example.com/.")
    if not port:
        return canonical_host(host), default_port
    if not _PORT.fullmatch(port) or int(port) > 65_535:
        raise _fault(f"has the port {excerpt(port)}", "A port is a whole number from 1 to 65535.")
    return canonical_host(host), int(port)


def _check_ending(after_host: str) -> None:
    """Reject `https://host?…@…` and `https://host#…@…`: old parsers end the host only at a slash."""
    if after_host[:1] in {"?", "#"} and "@" in after_host.partition("/")[0]:
        raise _fault("is ambiguous", f"Put a / between the host and the {after_host[0]}.")


def _without_dots(path: str) -> str:
    """Return a path without `.` and `..` segments, their encoded spellings included (WHATWG URL, 4.4)."""
    segments_left: list[str] = []
    segments = path.split("/")[1:] or [""]
    for at, segment in enumerate(segments):
        dots = segment.lower()
        if dots in _DOT_DOT:
            del segments_left[-1:]
        elif dots not in _DOT:
            segments_left.append(segment)
            continue
        if at == len(segments) - 1:
            segments_left.append("")
    return "/" + "/".join(segments_left)


def _encode(text: str, unsafe: frozenset[str]) -> str:
    if text.isascii() and unsafe.isdisjoint(text):
        return text
    return "".join(
        char if char.isascii() and char not in unsafe else "".join(f"%{byte:02X}" for byte in char.encode("utf-8"))
        for char in text
    )


def _too_long(length: int) -> InvalidRequest:
    return _fault(f"has {length:,} characters", f"Shorten it to at most {MAX_LENGTH:,} characters.")


def _fault(problem: str, fix: str) -> InvalidRequest:
    return InvalidRequest("url", problem, fix)
