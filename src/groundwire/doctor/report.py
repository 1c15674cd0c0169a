"""The findings of the checks, and the stable names of all problems for scripts and runbooks."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

__all__ = ["CheckResult", "DoctorFinding", "DoctorReport", "Fault", "Severity", "State"]


class Fault(StrEnum):
    """A kind of problem."""

    PYTHON_TOO_OLD = "python-too-old"
    """This Python is older than the oldest that is supported."""
    PACKAGE_VERSION = "package-version"
    """A required package is installed in an unsuitable version."""
    PACKAGE_BROKEN = "package-broken"
    """A package is installed and cannot be imported: it was built for another Python, or half of it is missing."""
    SETTINGS_SYNTAX = "settings-syntax"
    """A settings file is not TOML, or cannot be read."""
    SETTINGS_UNKNOWN = "settings-unknown"
    """The name of a setting, a section, an option or a provider is unknown."""
    SETTINGS_WRONG = "settings-wrong"
    """A setting has an invalid value."""
    SETTINGS_CONTRADICTORY = "settings-contradictory"
    """Settings that are valid one by one and conflict with each other."""
    KEY_IN_SETTINGS = "key-in-settings"
    """A settings file has a section for keys, which belong elsewhere."""
    KEYS_FILE_OPEN = "keys-file-open"
    """A file with keys is readable by others than its owner."""
    KEYS_FILE_UNREADABLE = "keys-file-unreadable"
    """A file with keys cannot be read."""
    KEYRING_MISSING = "keyring-missing"
    """The package for the keyring is not installed."""
    KEYRING_ABSENT = "keyring-absent"
    """This machine has no keyring."""
    KEYRING_LOCKED = "keyring-locked"
    """The keyring is locked, or is waiting to be unlocked."""
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
    """The server of the store rejects the connection: the password, missing rights, or it is read-only."""
    DISK_FULL = "disk-full"
    """The file system of the stored files is full."""
    DISK_LOW = "disk-low"
    """The file system of the stored files is almost full."""
    EXTRA_MISSING = "extra-missing"
    """A configured feature needs packages that are not installed."""
    BROWSER_MISSING = "browser-missing"
    """The reader `browser` is in use, and there is no Chromium."""
    BROWSER_LIBRARIES = "browser-libraries"
    """Chromium lacks libraries of the operating system."""
    BROWSER_SANDBOX = "browser-sandbox"
    """Chromium's sandbox is not available."""
    BROWSER_FAILING = "browser-failing"
    """Chromium does not start."""
    NO_SEARCH_PROVIDER = "no-search-provider"
    """No search provider can be used."""
    NO_READ_PROVIDER = "no-read-provider"
    """No read provider can be used."""
    KEY_MISSING = "key-missing"
    """A configured provider has no key."""
    PROVIDER_NOT_SET_UP = "provider-not-set-up"
    """A configured provider lacks a setting."""
    DNS_FAILING = "dns-failing"
    """This machine cannot resolve any names."""
    NAME_UNKNOWN = "name-unknown"
    """The host of one provider does not resolve; others do."""
    TLS_UNTRUSTED = "tls-untrusted"
    """A certificate's authority is not trusted here: a proxy inspects TLS, or the authority is private."""
    TLS_EXPIRED = "tls-expired"
    """A certificate is not valid today, or this machine's clock is wrong."""
    TLS_FAILING = "tls-failing"
    """TLS connections fail."""
    PROXY_NOT_FOR_PAGES = "proxy-not-for-pages"
    """The environment names a proxy; it is used for search services, but not for pages."""
    PROXY_UNREACHABLE = "proxy-unreachable"
    """The configured proxy does not respond, or rejects the connection."""
    CLOCK_SKEW = "clock-skew"
    """This machine's clock is wrong."""
    SEARXNG_JSON_OFF = "searxng-json-off"
    """The JSON format is disabled on the SearXNG instance."""
    SEARXNG_LIMITER = "searxng-limiter"
    """The limiter of the SearXNG instance rejects requests."""
    KEY_WRONG = "key-wrong"
    """A provider rejects its key."""
    KEY_PLAN = "key-plan"
    """The plan of a key does not include the requested feature."""
    QUOTA_USED_UP = "quota-used-up"
    """The quota or the credit of a key is used up."""
    RATE_LIMITED = "rate-limited"
    """A provider's rate limit is exceeded."""
    PROVIDER_BLOCKED = "provider-blocked"
    """A provider blocks this machine: a bot check, a firewall."""
    PROVIDER_UNREACHABLE = "provider-unreachable"
    """A provider does not respond."""
    PROVIDER_FAILING = "provider-failing"
    """A provider responds with an error, or in an unexpected format."""
    PORT_TAKEN = "port-taken"
    """Another program listens on the gateway's port."""
    NOT_FINISHED = "not-finished"
    """A check did not finish in time."""


Severity = Literal["problem", "note"]
"""Whether a finding is a problem or only a note."""

State = Literal["ok", "problem", "note", "skipped"]
"""The outcome of a check: the worst of its findings."""


@dataclass(frozen=True, slots=True)
class DoctorFinding:
    """A finding."""

    fault: Fault
    """Its name."""
    subject: str
    """The subject: a provider, a file, a package."""
    what: str
    """The problem, as a sentence."""
    fix: str
    """How to fix it: a command or an instruction."""
    why: str = ""
    """The cause or the consequence, as a sentence; empty if it is obvious."""
    severity: Severity = "problem"
    """Its severity."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """The result of a check."""

    name: str
    """Its name."""
    title: str
    """Its description, for people."""
    findings: tuple[DoctorFinding, ...] = ()
    """The findings, the worst first."""
    detail: str = ""
    """What was seen if nothing is wrong, or why it was skipped."""
    skipped: bool = False
    """Whether it was skipped."""
    seconds: float = 0.0
    """How long it took."""

    @property
    def state(self) -> State:
        """Its outcome."""
        if self.skipped:
            return "skipped"
        if not self.findings:
            return "ok"
        return "problem" if any(finding.severity == "problem" for finding in self.findings) else "note"


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorReport:
    """The results of all checks."""

    checks: tuple[CheckResult, ...]
    """The results, in order of dependency."""
    seconds: float = 0.0
    """How long all checks took."""
    cost_usd: float = 0.0
    """The cost of the calls to providers, in US dollars."""

    @property
    def findings(self) -> tuple[DoctorFinding, ...]:
        """All findings."""
        return tuple(finding for check in self.checks for finding in check.findings)

    @property
    def ok(self) -> bool:
        """Whether there is no problem; notes do not count."""
        return all(finding.severity != "problem" for finding in self.findings)
