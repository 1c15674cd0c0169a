"""The check of the settings files and of the file that holds keys."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from groundwire.doctor.context import CheckOutput, Examination
from groundwire.doctor.report import DoctorFinding, Severity
from groundwire.errors import ConfigurationError
from groundwire.settings import Settings, load
from groundwire.settings.sources import FILE_VARIABLE, is_open_to_others, keys_file, places, working_folder
from groundwire.transport.clients import HttpClients


def load_settings() -> tuple[Settings | None, Sequence[DoctorFinding]]:
    """Return the settings of this machine, or what is wrong with them."""
    keys_path, dotenv = keys_file(), working_folder() / ".env"
    findings = [_open_to_others(keys_path)] if is_open_to_others(keys_path) else []
    try:
        loaded = load()
        HttpClients(loaded, None, None).service("https://")  # validates the proxies; nothing connects yet
    except ConfigurationError as error:
        lines = [line.strip() for line in str(error).splitlines()]
        findings += [
            _finding(line, (keys_path, dotenv)) for line in lines if line and line != "The settings are wrong:"
        ]
        return None, findings
    notes = [text for text in loaded.warnings if not (findings and text.startswith(f"{keys_path}: other users"))]
    return loaded, [*findings, *(_wrong(text, severity="note") for text in notes)]


async def check_settings(examination: Examination) -> CheckOutput:
    """Check that the settings can be read and are known, and that only this user can read the keys."""
    files = places(os.environ.get(FILE_VARIABLE), working_folder())
    return ", ".join(map(str, files)) or "no settings file; defaults", examination.settings_findings


def _finding(line: str, key_files: Sequence[Path]) -> DoctorFinding:
    """Return one problem of the settings, from its line in the error."""
    for path in key_files:
        if line.startswith(f"{path}: "):
            return _unreadable(path, line.removeprefix(f"{path}: "))
    return _wrong(line)


def _open_to_others(path: Path) -> DoctorFinding:
    return DoctorFinding(
        fault="keys-file-open",
        subject=str(path),
        what=f"Other users of this machine may read {path}, which holds keys.",
        why=f"Its permissions are {path.stat().st_mode & 0o777:04o}; they should be 0600.",
        fix=f"chmod 600 {path}",
    )


def _wrong(text: str, *, severity: Severity = "problem") -> DoctorFinding:
    return DoctorFinding(
        fault="settings-wrong",
        severity=severity,
        subject="settings",
        what=_ended(text),
        fix="Correct it, or remove it to use the default.",
    )


def _ended(text: str) -> str:
    return text if text.endswith((".", "?", ")")) else f"{text}."


def _unreadable(path: Path, why: str) -> DoctorFinding:
    return DoctorFinding(
        fault="keys-file-unreadable",
        subject=str(path),
        what=_ended(f"{path}: {why}"),
        why="Its keys cannot be read, and no command works.",
        fix="Save it again as UTF-8." if "UTF-8" in why else f"sudo chown $(id -un) {path} && chmod 600 {path}",
    )
