"""What the checks found.

The names of all faults that are looked for. They are stable: scripts and handbooks may rely on them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

__all__ = ["CheckResult", "DoctorFinding", "DoctorReport", "Fault", "Severity", "State"]


class Fault(StrEnum):
    """What can be wrong."""

    PYTHON_TOO_OLD = "python-too-old"
    """This Python is older than the oldest that is supported."""
    PACKAGE_VERSION = "package-version"
    """A package that is needed is installed in a version that does not fit."""
    PACKAGE_BROKEN = "package-broken"
    """A package is installed and cannot be imported: it was built for another Python, or half of it is missing."""
    SETTINGS_SYNTAX = "settings-syntax"
    """A settings file is not TOML, or cannot be read."""
    SETTINGS_UNKNOWN = "settings-unknown"
    """A setting, a section, an option or a provider has a name that is not known."""
    SETTINGS_WRONG = "settings-wrong"
    """A setting has a value that it cannot have."""
    SETTINGS_CONTRADICTORY = "settings-contradictory"
    """Settings that are right one by one and cannot all be meant."""
    KEY_IN_SETTINGS = "key-in-settings"
    """A settings file has a section for keys, which belong elsewhere."""
    KEYS_FILE_OPEN = "keys-file-open"
    """Others than the owner can read a file with keys."""
    KEYS_FILE_UNREADABLE = "keys-file-unreadable"
    """A file with keys cannot be read."""
    KEYRING_MISSING = "keyring-missing"
    """The package for the keyring is not installed."""
    KEYRING_ABSENT = "keyring-absent"
    """This machine has no keyring."""
    KEYRING_LOCKED = "keyring-locked"
    """The keyring is locked, or waits for somebody to unlock it."""
    KEYRING_FAILING = "keyring-failing"
    """The keyring fails."""
    STORE_NOT_WRITABLE = "store-not-writable"
    """The file of the store or of the archive cannot be written."""
    STORE_DAMAGED = "store-damaged"
    """The file is not a whole database."""
    STORE_VERSION = "store-version"
    """The file was written by another version of Groundwire."""
    STORE_FOREIGN = "store-foreign"
    """The file is another program's database."""
    STORE_UNREACHABLE = "store-unreachable"
    """The server of the store does not answer."""
    STORE_REFUSED = "store-refused"
    """The server of the store refuses us: a password, rights, or it takes no writes."""
    DISK_FULL = "disk-full"
    """There is no room left where files are kept."""
    DISK_LOW = "disk-low"
    """There is little room left where files are kept."""
    EXTRA_MISSING = "extra-missing"
    """A feature is configured whose packages are not installed."""
    BROWSER_MISSING = "browser-missing"
    """The reader `browser` is in use, and there is no Chromium."""
    BROWSER_LIBRARIES = "browser-libraries"
    """Chromium lacks libraries of the operating system."""
    BROWSER_SANDBOX = "browser-sandbox"
    """Chromium may not lock its pages in."""
    BROWSER_FAILING = "browser-failing"
    """Chromium does not start."""
    NO_SEARCH_PROVIDER = "no-search-provider"
    """No search provider can be used."""
    NO_READ_PROVIDER = "no-read-provider"
    """No read provider can be used."""
    KEY_MISSING = "key-missing"
    """A provider that the settings name has no key."""
    PROVIDER_NOT_SET_UP = "provider-not-set-up"
    """A provider that the settings name lacks a setting."""
    DNS_FAILING = "dns-failing"
    """No names can be resolved on this machine."""
    NAME_UNKNOWN = "name-unknown"
    """The host of one provider does not resolve; others do."""
    TLS_UNTRUSTED = "tls-untrusted"
    """A certificate is signed by an authority that is not trusted here: TLS is looked into, or it is private."""
    TLS_EXPIRED = "tls-expired"
    """A certificate is not valid today, or this machine's clock is wrong."""
    TLS_FAILING = "tls-failing"
    """No TLS connection comes about."""
    PROXY_NOT_FOR_PAGES = "proxy-not-for-pages"
    """The environment names a proxy; search services are reached through it, pages are not."""
    PROXY_UNREACHABLE = "proxy-unreachable"
    """The configured proxy does not answer, or refuses us."""
    CLOCK_SKEW = "clock-skew"
    """This machine's clock is wrong."""
    SEARXNG_JSON_OFF = "searxng-json-off"
    """The SearXNG instance does not answer in JSON."""
    SEARXNG_LIMITER = "searxng-limiter"
    """The limiter of the SearXNG instance does not let us through."""
    KEY_WRONG = "key-wrong"
    """A provider does not accept its key."""
    KEY_PLAN = "key-plan"
    """A key's plan does not have what is asked of it."""
    QUOTA_USED_UP = "quota-used-up"
    """The quota or the credit of a key is used up."""
    RATE_LIMITED = "rate-limited"
    """A provider was asked too often for now."""
    PROVIDER_BLOCKED = "provider-blocked"
    """A provider refuses this machine: a bot check, a firewall."""
    PROVIDER_UNREACHABLE = "provider-unreachable"
    """A provider does not answer."""
    PROVIDER_FAILING = "provider-failing"
    """A provider answers that it cannot, or not in its own form."""
    PORT_TAKEN = "port-taken"
    """Another program listens on the gateway's port."""
    NOT_FINISHED = "not-finished"
    """A check was not finished in time."""


Severity = Literal["problem", "note"]
"""Whether something does not work, or only should be known."""

State = Literal["ok", "problem", "note", "skipped"]
"""How a check ended; the worst of its findings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorFinding:
    """One thing that is wrong."""

    fault: Fault
    """Its name."""
    severity: Severity
    """How bad it is."""
    subject: str
    """What it is about: a provider, a file, a package."""
    what: str
    """What is wrong, as a sentence."""
    why: str = ""
    """Why, or what comes of it, as a sentence; empty when it is plain."""
    fix: str = ""
    """How to fix it: a command or an instruction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """One check."""

    name: str
    """Its name."""
    title: str
    """What it looks at, for people."""
    findings: tuple[DoctorFinding, ...] = ()
    """What is wrong; the worst first."""
    detail: str = ""
    """What was seen when nothing is wrong, or why it was left out."""
    skipped: bool = False
    """Whether it was left out."""
    seconds: float = 0.0
    """How long it took."""

    @property
    def state(self) -> State:
        """How it ended."""
        if self.skipped:
            return "skipped"
        if not self.findings:
            return "ok"
        return "problem" if any(one.severity == "problem" for one in self.findings) else "note"


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorReport:
    """All checks."""

    checks: tuple[CheckResult, ...]
    """In the order in which they make sense."""
    seconds: float = 0.0
    """How long all of it took."""
    cost_usd: float = 0.0
    """What the calls of providers cost, in US dollars."""

    @property
    def findings(self) -> tuple[DoctorFinding, ...]:
        """Everything that is wrong."""
        return tuple(finding for check in self.checks for finding in check.findings)

    @property
    def ok(self) -> bool:
        """Whether there is no problem; notes are none."""
        return all(finding.severity != "problem" for finding in self.findings)
