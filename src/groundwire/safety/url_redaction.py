"""URLs for third-party readers: tracking parameters are removed, and URLs that carry a secret are not passed on.

A URL with a secret lets anyone act as its owner: signed cloud links, links that reset a password, private feeds,
webhooks. A remote reader would learn it, store it in its logs and perhaps in a public cache. It is recognized by:

| where | what | source |
| --- | --- | --- |
| before the host | a user name or password | RFC 3986, 3.2.1 |
| parameter | `password`, `secret`, `signature`, `token` and their like as a word of its name | CWE-598 |
| parameter | `api_key`, `AWSAccessKeyId`, `session-id`: a pair of words | the vendors' documentation |
| parameter | `key`, `sig`, `session`, `auth`, `code`, if the value looks random | Azure SAS; PHP; RFC 6749, 4.1.2 |
| parameter | an end (`expires`) beside a value that looks like a digest | nginx secure_link; CDN token authentication |
| parameter | a long opaque value under any name | |
| fragment | the same parameters | RFC 6749, 4.2.2 |
| anywhere | tokens with a mark of their own: `ghp_`, `AKIA`, `eyJ` | RFC 7519; the vendors' secret scanning |
| path | `;jsessionid=`, `(S(...))` | Jakarta Servlet 6.0, 7.1.3; ASP.NET |
| path | webhooks, bot tokens, private calendars | Slack, Discord, Telegram, Google |
| path | an opaque value after `reset`, `verify`, `invite`, `share` and their like | links that act for their bearer |

Names are read in any spelling: `accessToken`, `access_token`, `X-Amz-Signature`, `user[password]`, percent-encoded too.
Pagination tokens (`pageToken`, `next_token`) do not count.

Tracking parameters, without which a page is the same, were collected from the documentation of the services that add
them and from links on real pages.

A page read by a remote reader is requested from its machines and appears in its logs. Whatever the page does not need
is removed: tracking parameters, session identifiers, a fragment with a secret. A URL that contains an apparent secret
that the page needs is not passed to such readers.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple
from urllib.parse import unquote, unquote_plus

_NAMES = frozenset(
    re.findall(
        r"\w+",
        # Google, Meta, Microsoft, Yandex, X, TikTok, LinkedIn, Pinterest, Reddit
        "_ga _gl gclid gclsrc dclid gbraid wbraid gad_source gad_campaignid srsltid ved sxsrf gs_lp gs_lcp fbclid "
        "igsh igshid msclkid yclid ysclid _openstat twclid ttclid li_fat_id epik rdt_cid ref_src ref_url "
        # mail and campaign services
        "mc_cid mc_eid mkt_tok _hsenc _hsmi __hssc __hstc __hsfp hsctatracking vero_id vero_conv oly_enc_id "
        "oly_anon_id wickedid irclickid irgwc _kx _ke ml_subscriber ml_subscriber_hash ck_subscriber_id __s s_cid "
        "cm_mmc rb_clickid "
        # shops
        "dib dib_tag ref_ _trkparms _trksid itmprp itmmeta spm",
    )
)
_STARTS = ("utm_", "mtm_", "pk_", "piwik_", "pd_rd_", "pf_rd_", "hsa_", "at_custom")


def is_tracking(name: str) -> bool:
    """Return whether a query parameter, by its decoded name, is used only for tracking."""
    bare = name.lower()
    return bare in _NAMES or bare.startswith(_STARTS)


_DEPTH = 3  # URLs nested in parameters of URLs
_RANDOM = 16  # characters; no service issues keys shorter than 64 bits in base 16
_MIXED = 8  # characters of a part that mixes letters and digits: no date, version or size
_LONG = 24  # characters from which letters alone may be random

_WORDS = frozenset(
    re.findall(
        r"\w+",
        "accesstoken apikey apitoken authtoken bearer clientsecret credential credentials csrf csrftoken hdnea "
        "hdntl hdnts hmac idtoken jsessionid jwt otp passcode passphrase passwd password phpsessid privatekey pwd "
        "refreshtoken secret sessid sessionid sessiontoken signature token xsrf",
    )
)
_PAIRS = frozenset(
    {
        (first, "key")
        for first in ("access", "account", "api", "auth", "client", "encryption", "license", "private", "subscription")
    }
    | {("session", "id"), ("sess", "id")}
)
_AMBIGUOUS_WORDS = frozenset(
    re.findall(
        r"\w+",
        "auth authorization code confirmation invitation invite key magic nonce reset resourcekey sas session "
        "sid sig ticket unsubscribe verification verify",
    )
)
_EXPIRY_NAMES = frozenset({"e", "exp", "expire", "expires", "expiry", "valid", "validto"})
_DIGEST = re.compile(r"[0-9a-fA-F]{32,}|[A-Za-z0-9_-]{22,}={0,2}")  # 128 bits in base 16 or 64
_SECRET_NAMES = frozenset(
    {"hash", "list", "playlist", "v", "ver", "version"}
)  # parameters with long descriptive values
_OPAQUE = re.compile(r"[A-Za-z0-9_-]{40,}={0,2}")
_SWITCHES = 0.4  # share of adjacent characters of different kinds; two thirds in random base 64
_ACTS = (
    "activate|activation|auth|confirm|confirmation|invitations?|invites?|magic|magic-link|password|preview|private"
    "|reset|reset-password|s|secret|shared?|tokens?|unsubscribe|verification|verify|verify-email"
)
_ACTING = re.compile(rf"/(?:{_ACTS})/([A-Za-z0-9_-]{{16,}}={{0,2}})(?=/|$)", re.IGNORECASE)
_CAPABILITY = re.compile(rf"/(?:{_ACTS}|d)/[^/]", re.IGNORECASE)
_UNGUESSABLE = 10  # letters and digits that may have 50 random bits; letters alone need more, as they may be words
_PAGING = frozenset(re.findall(r"\w+", "continuation continue cursor next page paging pagination prev start sync"))
_MARKED = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}\."  # JSON Web Tokens: eyJ is {" in base 64
    r"|gh[opsur]_[A-Za-z0-9]{30,}|github_pat_\w{30,}|glpat-[\w-]{18,}"
    r"|(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])|AIza[\w-]{35}|ya29\.[\w-]{20,}"
    r"|xox[abeoprs]-[A-Za-z0-9-]{10,}|sk[-_](?:live|test|proj|ant|or)[\w-]{10,}|sk-[A-Za-z0-9]{32,}|rk_live_\w{10,}"
    r"|hf_[A-Za-z0-9]{30,}|tvly-[\w-]{16,}|npm_[A-Za-z0-9]{30,}|pypi-[\w-]{40,}|SG\.[\w-]{16,}\.[\w-]{16,}"
    r")"
)
_IN_PATH = re.compile(
    r"""
      ;\s*(?:jsessionid|phpsessid|sessionid|sid)=[^/;?]+
    | /\([SAFsaf]\([A-Za-z0-9_-]{12,}\)\)
    | /services/T[A-Z0-9]{6,}/B[A-Z0-9]{6,}/[A-Za-z0-9]{12,}     # Slack
    | /api/webhooks/\d{10,}/[\w-]{20,}                           # Discord
    | /bot\d{6,}:[\w-]{20,}                                      # Telegram
    | /private-[0-9a-f]{16,}/                                    # Google Calendar
    """,
    re.VERBOSE | re.IGNORECASE,
)
_PAIR_END = re.compile("[&;]")
_NOT_ALNUM = re.compile("[^A-Za-z0-9]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def has_secret(url: str) -> bool:
    """Return whether a URL contains an apparent secret.

    Args:
        url: An absolute URL, or one from a parameter of another.

    Returns:
        True for the cases in this module's table; an ambiguous parameter counts if its value looks random.
    """
    return _has_secret(url, _DEPTH)


def is_capability(path: str) -> bool:
    """Return whether a URL's path may be a capability: anyone who knows it may read the page, or change it.

    It is wider than `has_secret`, and takes the identifiers of many public pages for capabilities, too.

    Args:
        path: The path, percent-encoded or not.
    """
    path = unquote(path)
    return bool(_CAPABILITY.search(path)) or any(map(_is_unguessable, _NOT_ALNUM.split(path)))


def _is_unguessable(part: str) -> bool:
    if part.isdigit() or len(part) < _UNGUESSABLE:
        return False
    if not part.isalpha():
        return True
    return len(part) >= _RANDOM and not part.isupper() and 4 * sum(map(str.isupper, part)) >= len(part)


def _has_secret(url: str, depth: int) -> bool:
    before, _, fragment = url.partition("#")
    address, _, query = before.partition("?")
    _, has_scheme, after_scheme = address.partition("//")
    authority, slash, path = (after_scheme if has_scheme else address).partition("/")
    if has_scheme and "@" in authority:
        return True
    path = slash + (unquote(path) if "%" in path else path)
    if _IN_PATH.search(path) or _MARKED.search(unquote(url) if "%" in url else url):
        return True
    if _ACTING.search(path) and any(_looks_random(match[1]) for match in _ACTING.finditer(path)):
        return True
    if not query and not fragment:
        return False
    parameters = [*_parameters(query), *_parameters(fragment)]
    if any(name.lower() in _EXPIRY_NAMES and value.isdigit() for name, value in parameters) and any(
        _DIGEST.fullmatch(value) and _looks_random(value) for _, value in parameters
    ):
        return True
    return any(_is_secret_parameter(name, value, depth) for name, value in parameters)


def _parameters(text: str) -> Iterator[tuple[str, str]]:
    for pair in _PAIR_END.split(text):
        name, equals, value = pair.partition("=")
        if equals:
            yield unquote_plus(name), unquote_plus(value).strip()


def _is_secret_parameter(name: str, value: str, depth: int) -> bool:
    """Return whether a decoded parameter is a secret or a URL with one."""
    if not value:
        return False
    words = [word.lower() for part in _NOT_ALNUM.split(name) for word in _HUMP.split(part) if word]
    if _PAGING.intersection(words):
        words = [word for word in words if word not in {"key", "token"}]
    if _WORDS.intersection(words) or _PAIRS.intersection(pairwise(words)):
        return True
    if _AMBIGUOUS_WORDS.intersection(words) and _looks_random(value):
        return True
    if _OPAQUE.fullmatch(value) and not is_tracking(name) and not (_PAGING | _SECRET_NAMES).intersection(words):
        inner = _from_base64(value)
        if inner is None:
            return _is_shuffled(value)
        return depth > 0 and _has_secret(inner, depth - 1)
    return depth > 0 and ("?" in value or "//" in value) and _has_secret(value, depth - 1)


def _looks_random(value: str) -> bool:
    """Return whether a value looks like a credential: long, without spaces, mixing letters and digits in one part."""
    if len(value) < _RANDOM or value.startswith("/") or not re.fullmatch(r"[A-Za-z0-9._~+/=%-]+", value):
        return False
    parts = [part for part in re.split(r"[^A-Za-z0-9]+", value) if part]
    if all(part.isalpha() or part.isdigit() for part in parts):
        return any(len(part) >= _LONG and not part.islower() and not part.isupper() for part in parts if part.isalpha())
    return any(len(part) >= _MIXED and not (part.isalpha() or part.isdigit()) for part in parts)


def _is_shuffled(value: str) -> bool:
    """Return whether a value looks random rather than like joined words, from changes between character kinds."""
    kinds = [char.isdigit() + 2 * char.isupper() + 4 * char.islower() for char in value if char.isalnum()]
    return len({*kinds}) == 3 and sum(map(int.__ne__, kinds, kinds[1:])) >= _SWITCHES * len(kinds)


def _from_base64(value: str) -> str | None:
    """Decode a value from base 64, optionally without the part before the first `_`, or return None."""
    for part in (value, value.partition("_")[2]):
        bare = part.rstrip("=")
        if len(bare) < _RANDOM or len(bare) % 4 == 1:
            continue
        try:
            text = b64decode(bare + "=" * (-len(bare) % 4), "-_").decode("ascii")
        except ValueError:
            continue
        if text.isprintable():
            return text
    return None


_SESSIONS = frozenset(
    re.findall(
        r"\w+",
        "aspsessionid cfid cftoken csrf csrf_token csrfmiddlewaretoken csrftoken jsessionid phpsessid sessid "
        "session_id sessionid sid xsrf xsrf_token",
    )
)
_SESSION_VALUE = re.compile(r"[A-Za-z0-9,_.~-]{8,}")
_SESSION_IN_PATH = re.compile(
    r"(?:;|%3B)\s*(?:jsessionid|phpsessid|sessionid|sid)=[^/;?]+|/\([SAF]\([A-Za-z0-9_-]{12,}\)\)(?=/)", re.IGNORECASE
)


class Shareable(NamedTuple):
    """A URL as passed to third parties."""

    url: str
    """The URL without the removed parts."""
    left_out: tuple[str, ...]
    """The names of the removed parts, without values."""
    secret: bool
    """Whether it still contains a secret: then it must not be passed on."""


def for_third_parties(url: str) -> Shareable:
    """Return the part of a URL that may be passed to a third-party reader.

    Args:
        url: A canonical URL.
    """
    before_hash, hash_, fragment = url.partition("#")
    address, mark, query = before_hash.partition("?")
    left_out: list[str] = []
    pairs = []
    for pair in query.split("&") if mark else ():
        name, _, value = pair.partition("=")
        name = unquote_plus(name)[:40]
        if _is_needless(name, value):
            left_out.append(name)
        else:
            pairs.append(pair)
    bare = _SESSION_IN_PATH.sub("", address)
    if bare != address:
        left_out.append("the session in the path")
    if fragment and has_secret(f"https://x.example/#{fragment}"):
        left_out.append("the fragment")
        hash_ = fragment = ""
    clean = url if not left_out else bare + (f"?{'&'.join(pairs)}" if pairs else "") + hash_ + fragment
    return Shareable(clean, tuple(dict.fromkeys(left_out)), has_secret(clean))


def _is_needless(name: str, value: str) -> bool:
    if is_tracking(name):
        return True
    return name.lower().replace("-", "_") in _SESSIONS and bool(_SESSION_VALUE.fullmatch(value))
