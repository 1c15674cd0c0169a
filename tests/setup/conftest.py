from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from groundwire.doctor import CHECKS, DoctorFinding, DoctorReport, Machine, examine
from groundwire.setup import KeyringState
from world import World

SECRET = "test-key"

Look = Callable[..., Awaitable[DoctorReport]]


def no_keyring() -> KeyringState:
    return KeyringState("absent", "none")


@pytest.fixture
def machine(tmp_path: Path, world: World) -> Callable[..., Machine]:
    """Make a machine on which the miniature web's Brave is set up with a key, and nothing else is wrong."""
    folder, user = tmp_path / "project", tmp_path / "user"
    folder.mkdir()
    user.mkdir()

    def make(environment: Mapping[str, str] | None = None, **options: Any) -> Machine:
        usual = {
            "GROUNDWIRE_SEARCH_PROVIDERS": "brave",
            "GROUNDWIRE_PROVIDERS_BRAVE_BASE_URL": world.service("brave").url,
            "GROUNDWIRE_STORAGE_URL": f"sqlite:///{tmp_path}/store.sqlite3",
            "GROUNDWIRE_ARCHIVE_PATH": f"{tmp_path}/archive.db",
            "BRAVE_API_KEY": SECRET,
            "PATH": os.environ["PATH"],
        }
        usual = {name: value for name, value in (usual | dict(environment or {})).items() if value}
        given: dict[str, Any] = {"keyring": no_keyring, **options}
        return Machine(folder=folder, user_folder=user, environment=usual, **given)

    return make


@pytest.fixture
def look(machine: Callable[..., Machine]) -> Look:
    """Examine such a machine."""

    async def examined(
        environment: Mapping[str, str] | None = None, *, only: Sequence[str] = (), offline: bool = False, **options: Any
    ) -> DoctorReport:
        checks = [check for check in CHECKS if not only or check.name in only]
        return await examine(machine(environment, **options), checks=checks, offline=offline, seconds=20)

    return examined


def named(report: DoctorReport, severity: str = "problem") -> list[str]:
    """Return the names of what was found, and see that each says what and how to mend it, and no secret."""
    for finding in report.findings:
        complete(finding)
    return [str(one.fault) for one in report.findings if one.severity == severity]


def complete(finding: DoctorFinding) -> None:
    assert finding.what.endswith((".", ")", "?")), finding
    assert len(finding.fix) > 3, finding
    assert SECRET not in repr(finding).replace("test-keys", "")
