from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from groundwire.doctor import DoctorFinding, DoctorReport, examine
from groundwire.setup.key_storage import KeyringState
from world import World

SECRET = "test-key"

Look = Callable[..., Awaitable[DoctorReport]]


def no_keyring() -> KeyringState:
    return KeyringState("absent", "none")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The working folder of the machine."""
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def user_folder(tmp_path: Path) -> Path:
    """The folder with the user's settings and keys."""
    folder = tmp_path / "user" / "groundwire"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def look(project: Path, user_folder: Path, tmp_path: Path, world: World) -> Look:
    """Examine a machine on which the miniature web's Brave is set up with a key, and nothing else is wrong."""
    usual = {
        "GROUNDWIRE_SEARCH_PROVIDERS": "brave",
        "GROUNDWIRE_PROVIDERS_BRAVE_BASE_URL": world.service("brave").url,
        "GROUNDWIRE_STORAGE_URL": f"sqlite:///{tmp_path}/store.sqlite3",
        "GROUNDWIRE_ARCHIVE_PATH": f"{tmp_path}/archive.db",
        "BRAVE_API_KEY": SECRET,
        "XDG_CONFIG_HOME": str(user_folder.parent),
    }

    async def examined(environment: Mapping[str, str] | None = None, **options: Any) -> DoctorReport:
        given: dict[str, Any] = {"keyring": no_keyring, "seconds": 20, **options}
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(project)
            for name, value in (usual | dict(environment or {})).items():
                patch.setenv(name, value)  # an empty one counts as not set
            return await examine(**given)

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
