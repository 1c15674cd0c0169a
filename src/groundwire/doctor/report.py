"""The findings of the checks, and the stable names of all problems for scripts and runbooks."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

__all__ = ["CheckResult", "DoctorFinding", "DoctorReport", "Fault", "Severity", "State"]


class Fault(StrEnum):
    """A kind of problem."""

    SETTINGS_WRONG = "settings-wrong"
    """A setting is unknown or has an invalid value, or its file cannot be parsed."""
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
    STORE_FOREIGN = "store-foreign"
    """The file was written by another program, or by another version of Groundwire."""
    STORE_UNREACHABLE = "store-unreachable"
    """The server of the store does not answer, or rejects the connection."""
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
    """A certificate is not trusted here: it has expired, a proxy inspects TLS, or the authority is private."""
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
    state: State
    """Its outcome."""
    detail: str
    """What was seen if nothing is wrong, or why it was skipped."""
    seconds: float
    """How long it took."""
    findings: tuple[DoctorFinding, ...]
    """The findings, the worst first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorReport:
    """The results of all checks."""

    seconds: float
    """How long all checks took."""
    cost_usd: float
    """The cost of the calls to providers, in US dollars."""
    checks: tuple[CheckResult, ...]
    """The results, in order of dependency."""

    @property
    def findings(self) -> tuple[DoctorFinding, ...]:
        """All findings."""
        return tuple(finding for check in self.checks for finding in check.findings)

    @property
    def ok(self) -> bool:
        """Whether there is no problem; notes do not count."""
        return all(finding.severity != "problem" for finding in self.findings)
