"""The operating system's keyring."""

from __future__ import annotations

from groundwire.onboarding.checks.examination import Examination, Seen
from groundwire.onboarding.checks.faults import Fault
from groundwire.onboarding.checks.report import Finding, Severity

__all__ = ["check_keyring"]

_FAULTS = {
    "not_installed": Fault.KEYRING_MISSING,
    "absent": Fault.KEYRING_ABSENT,
    "locked": Fault.KEYRING_LOCKED,
    "failing": Fault.KEYRING_FAILING,
}
_WHAT = {
    "not_installed": "The package for the keyring is not installed.",
    "absent": "This machine has no keyring.",
    "locked": "The keyring is locked.",
    "failing": "The keyring does not work.",
}
_FIX = {
    "not_installed": 'pip install "groundwire[keyring]", or let groundwire setup keep keys in a file.',
    "absent": "Nothing, if keys are in the environment; else let groundwire setup keep them in a file.",
    "locked": "Unlock it (log in to the desktop, or: gnome-keyring-daemon --unlock), or keep the keys elsewhere: "
    "groundwire setup --keep file.",
    "failing": "Keep the keys elsewhere: groundwire setup --keep file.",
}


async def check_keyring(examination: Examination) -> Seen:
    """See whether there is a keyring; it is a problem only when a key is missing that may be in it."""
    state = await examination.keyring()
    if state.usable:
        return state.detail, ()
    severity: Severity = "note"
    if state.kind in {"locked", "failing"} and examination.settings is not None:
        rows = await examination.standings()
        if any(row.in_use and row.state == "needs_key" for row in rows):
            severity = "problem"
    if state.kind in {"not_installed", "absent"} and examination.settings is not None:
        return f"{_WHAT[state.kind][:-1].lower()}; keys come from the environment and files", (
            () if not await _lacking(examination) else (_finding(state.kind, state.detail, severity),)
        )
    return state.kind, (_finding(state.kind, state.detail, severity),)


async def _lacking(examination: Examination) -> bool:
    """Tell whether a key is missing that somebody expects to be there."""
    rows = await examination.standings()
    explicit = examination.known.origin("search.providers") != "default"
    return any(row.in_use and row.state == "needs_key" and explicit for row in rows)


def _finding(kind: str, detail: str, severity: Severity) -> Finding:
    return Finding(
        fault=_FAULTS[kind], severity=severity, subject="keyring", what=_WHAT[kind], why=detail, fix=_FIX[kind]
    )
