"""Checks of the settings files, and of the files that hold keys."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from groundwire.doctor.context import CheckOutput, Examination, Machine
from groundwire.doctor.report import DoctorFinding, Fault, Severity
from groundwire.errors import ConfigurationError
from groundwire.settings import Settings, load
from groundwire.settings.schema import KEY_VARIABLES
from groundwire.settings.sources import FILE_VARIABLE, is_open_to_others, keys_file, places
from groundwire.settings.user_folders import os_reason
from groundwire.transport.clients import HttpClients

__all__ = ["check_files", "check_settings", "load_settings"]


def load_settings(machine: Machine) -> tuple[Settings | None, Sequence[DoctorFinding]]:
    """Return the settings of a machine, or what is wrong with them."""
    secret = (keys_file(machine.user_folder), machine.folder / ".env")
    try:
        loaded = load(environment=machine.environment, folder=machine.folder, user_folder=machine.user_folder)
        HttpClients(loaded, None, None).service("https://")  # validates the proxies; nothing connects yet
    except ConfigurationError as error:
        lines = [line.strip() for line in str(error).splitlines()]
        return None, [_finding(line, secret) for line in lines if line and line != "The settings are wrong:"]
    notes = [text for text in loaded.warnings if not text.startswith(str(secret[0]))]
    return loaded, [_wrong(text, severity="note") for text in notes]


async def check_settings(examination: Examination) -> CheckOutput:
    """Check that the settings can be read, are known and do not conflict."""
    machine = examination.machine
    files = places(machine.environment.get(FILE_VARIABLE), machine.folder, machine.user_folder)
    return ", ".join(map(str, files)) or "no settings file; defaults", examination.settings_findings


async def check_files(examination: Examination) -> CheckOutput:
    """Check that the files with keys are readable by this user only."""
    machine = examination.machine
    keys_path, dotenv = keys_file(machine.user_folder), machine.folder / ".env"
    is_reported = any(finding.fault == Fault.KEYS_FILE_UNREADABLE for finding in examination.settings_findings)
    findings = [*_rights(keys_path, is_reported, severe=True)]
    if _has_keys(dotenv):
        findings += _rights(dotenv, is_reported, severe=False)
    existing = [str(path) for path in (keys_path, dotenv) if path.exists()]
    return ", ".join(existing) or "none", findings


def _rights(path: Path, is_reported: bool, *, severe: bool) -> Iterator[DoctorFinding]:
    """Yield what is wrong with the permissions of a file.

    Args:
        path: The file.
        is_reported: Whether a read error was already reported.
        severe: Whether others must not be able to read it; a project's file may be shared with its group.
    """
    if not path.exists():
        return
    try:
        with path.open("rb") as file:
            file.read(1)
    except OSError as error:
        if not is_reported:
            yield _unreadable(path, f"cannot be read: {os_reason(error, path)}")
        return
    if is_open_to_others(path):
        yield DoctorFinding(
            fault=Fault.KEYS_FILE_OPEN,
            severity="problem" if severe else "note",
            subject=str(path),
            what=f"Other users of this machine may read {path}, which holds keys.",
            why=f"Its permissions are {path.stat().st_mode & 0o777:04o}; they should be 0600.",
            fix=f"chmod 600 {path}",
        )


def _has_keys(path: Path) -> bool:
    with suppress(OSError, ValueError):
        text = path.read_text("utf-8")
        return any(f"{name}=" in text.replace(" ", "") for name in KEY_VARIABLES)
    return path.exists()


def _finding(line: str, key_files: Sequence[Path]) -> DoctorFinding:
    """Return one problem of the settings, from its line in the error."""
    for path in key_files:
        if line.startswith(f"{path}: "):
            return _unreadable(path, line.removeprefix(f"{path}: "))
    return _wrong(line)


def _wrong(text: str, *, severity: Severity = "problem") -> DoctorFinding:
    return DoctorFinding(
        fault=Fault.SETTINGS_WRONG,
        severity=severity,
        subject="settings",
        what=_ended(text),
        fix="Correct it, or remove it to use the default.",
    )


def _ended(text: str) -> str:
    return text if text.endswith((".", "?", ")")) else f"{text}."


def _unreadable(path: Path, why: str) -> DoctorFinding:
    return DoctorFinding(
        fault=Fault.KEYS_FILE_UNREADABLE,
        subject=str(path),
        what=_ended(f"{path}: {why}"),
        why="Its keys cannot be read, and no command works.",
        fix="Save it again as UTF-8." if "UTF-8" in why else f"sudo chown $(id -un) {path} && chmod 600 {path}",
    )
