"""Checks of the settings files, line by line, and of the files that hold keys."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from groundwire.doctor.context import CheckOutput, Examination, Machine
from groundwire.doctor.report import DoctorFinding, Fault
from groundwire.errors import ConfigurationError
from groundwire.settings import Settings, load
from groundwire.settings.schema import KEY_VARIABLES
from groundwire.settings.sources import FILE_VARIABLE, is_open_to_others, keys_file, places
from groundwire.settings.user_folders import os_reason
from groundwire.transport.clients import HttpClients

__all__ = ["check_files", "check_settings", "line_of", "load_settings"]

_KEY = r"""(?:[A-Za-z0-9_-]+|"(?:\\.|[^"\\])*"|'[^']*')"""
_DOTTED = rf"{_KEY}(?:\s*\.\s*{_KEY})*"
_HEADER = re.compile(rf"\s*\[\[?\s*({_DOTTED})\s*\]\]?")
_PAIR = re.compile(rf"\s*({_DOTTED})\s*=")
_PART = re.compile(_KEY)
_QUOTES = re.compile(r'"""|\'\'\'')


def line_of(text: str, dotted: str) -> int | None:
    """Return the line, from 1, of a key or of the section that holds it; None if neither is there.

    Args:
        text: The content of the file.
        dotted: The key with its sections, such as `search.limit`; if it is missing, its parent is looked up.
    """
    places = _places(text)
    while dotted:
        if dotted in places:
            return places[dotted]
        dotted = dotted.rpartition(".")[0]
    return None


def _places(text: str) -> dict[str, int]:
    places: dict[str, int] = {}
    section = ""
    closing = ""
    for number, line in enumerate(text.split("\n"), 1):  # TOML has no other line endings
        if closing:  # inside a multiline string
            if closing in line:
                closing = ""
            continue
        if header := _HEADER.match(line):
            section = _plain(header[1])
            places.setdefault(section, number)
        elif pair := _PAIR.match(line):
            key = _plain(pair[1])
            places.setdefault(f"{section}.{key}" if section else key, number)
            value = line[pair.end() :]
            if (opening := _QUOTES.search(value)) and value.count(opening[0]) % 2:
                closing = opening[0]
    return places


def _plain(dotted: str) -> str:
    """Return a key without quotes and white space."""
    return ".".join(part[1:-1] if part[0] in "\"'" else part for part in _PART.findall(dotted))


_UNKNOWN_NAME = re.compile(
    r"is not (?:a setting|a section|an option|an installed provider|an engine)|is outside|is not an option|"
    r"must be a section"
)
_CONFLICT = re.compile(r"is more than|needs at least two providers")
_SYNTAX = re.compile(r"is not TOML|is not UTF-8|cannot be read|is nested too deeply")
_SUBJECT = re.compile(r"'([^']+)'|\[([^\[\]]+)\]|(?<![\w-])((?:[\w-]++(?::[\w-]++)?\.)+[\w-]+)")
_AT_LINE = re.compile(r"at line (\d+)")
_SUGGESTION = re.compile(r"did you mean '?([^'?]+)'?\?")


def load_settings(machine: Machine) -> tuple[Settings | None, Sequence[DoctorFinding]]:
    """Return the settings of a machine, or what is wrong with them."""
    try:
        loaded = load(environment=machine.environment, folder=machine.folder, user_folder=machine.user_folder)
        HttpClients(loaded, None, None).service("https://")  # validates the proxies; nothing connects yet
    except ConfigurationError as error:
        files = places(machine.environment.get(FILE_VARIABLE), machine.folder, machine.user_folder)
        secret = (keys_file(machine.user_folder), machine.folder / ".env")
        lines = [line.strip() for line in str(error).splitlines()]
        return None, [_finding(line, files, secret) for line in lines if line and line != "The settings are wrong:"]
    notes = [text for text in loaded.warnings if not text.startswith(str(keys_file(machine.user_folder)))]
    unknown = (
        replace(_finding(text, (), ()), severity="note") if _UNKNOWN_NAME.search(text) else None for text in notes
    )
    return loaded, [finding or _note(text) for finding, text in zip(unknown, notes, strict=True)]


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


def _finding(line: str, files: Sequence[Path], key_files: Sequence[Path]) -> DoctorFinding:
    """Return one problem of the settings, with its line in the file."""
    if path := next((file for file in key_files if line.startswith(f"{file}: ")), None):
        return _unreadable(path, line.removeprefix(f"{path}: "))
    path = next((file for file in files if line.startswith(f"{file}: ")), None)
    text = line.removeprefix(f"{path}: ") if path else line
    subject, where = (str(path), str(path)) if path else ("environment", "")
    if path and (number := _line(path, text)):
        where = f"{path}, line {number}"
    fault = (
        Fault.KEY_IN_SETTINGS
        if text.startswith("keys do not belong")
        else Fault.SETTINGS_SYNTAX
        if _SYNTAX.search(text)
        else Fault.SETTINGS_UNKNOWN
        if _UNKNOWN_NAME.search(text)
        else Fault.SETTINGS_CONTRADICTORY
        if _CONFLICT.search(text)
        else Fault.SETTINGS_WRONG
    )
    near = _SUGGESTION.search(text)
    fixes = {
        Fault.KEY_IN_SETTINGS: "Remove the section [keys], and run groundwire setup.",
        Fault.SETTINGS_SYNTAX: "Fix that line.",
        Fault.SETTINGS_UNKNOWN: f"Write {near[1]} instead." if near else "Remove it, or see groundwire config show.",
        Fault.SETTINGS_CONTRADICTORY: "Change one of the two, or remove one.",
        Fault.SETTINGS_WRONG: "Change the value, or remove it to use the default.",
    }
    return DoctorFinding(
        fault=fault,
        subject=subject,
        what=_ended(f"{where}: {text}" if where else text),
        fix=f"{fixes[fault][:-1]}{f' in {where}' if where else ''}.",
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


def _note(text: str) -> DoctorFinding:
    return DoctorFinding(
        fault=Fault.SETTINGS_WRONG,
        severity="note",
        subject="settings",
        what=_ended(text),
        fix="Change it, or remove it.",
    )


def _line(path: Path, text: str) -> int | None:
    """Return the line that a message refers to."""
    if at := _AT_LINE.search(text):
        return int(at[1])
    try:
        content = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return None
    if text.startswith("keys do not belong"):
        return line_of(content, "keys")
    subject = _SUBJECT.search(text)
    return line_of(content, next(word for word in subject.groups() if word)) if subject else None
