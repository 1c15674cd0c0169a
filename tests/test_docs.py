"""The documents: their code runs, and they are up to date."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from groundwire import Settings, Web, errors
from groundwire.providers.registry import provider_names
from groundwire.testing import EmulatedResponse, EmulatedServer, Recorded
from world import World

ROOT = Path(__file__).resolve().parents[1]


def blocks(document: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", (ROOT / document).read_text(), re.MULTILINE | re.DOTALL)


def test_readmes_settings_are_settings(tmp_path: Path) -> None:
    from groundwire.settings import load

    (tmp_path / "groundwire.toml").write_text(blocks("README.md", "toml")[0])
    settings = load(environment={}, folder=tmp_path, user_folder=tmp_path / "none")
    assert settings.search.providers == ("searxng", "duckduckgo_lite")
    assert settings.policy.blocked_domains == ("example.com",)


def test_the_example_of_an_environment_can_be_read(tmp_path: Path) -> None:
    from groundwire.settings import load

    text = (ROOT / ".env.example").read_text()
    (tmp_path / ".env").write_text(re.sub(r"^# (?=[A-Z_]+=)", "", text, flags=re.MULTILINE))
    settings = load(environment={}, folder=tmp_path, user_folder=tmp_path / "none")
    assert settings.session.max_searches == 20
    assert settings.warnings == ()


def test_the_gate_runs_readmes_own_command() -> None:
    gate = (ROOT / ".ci" / "run").read_text()
    function = re.search(r"^command_of\(\) \{.*?^\}", gate, re.MULTILINE | re.DOTALL)
    assert function
    for name, ending in {"run": "groundwire demo", "test": "-m pytest -n auto"}.items():
        script = f"{function[0]}\ncommand_of {name}"
        done = subprocess.run(["bash", "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
        (line,) = done.stdout.splitlines()
        assert line.endswith(ending)
        assert line in (ROOT / "README.md").read_text()


def test_the_reference_is_up_to_date(warm_python: Path) -> None:
    command = [str(warm_python), "docs/generate.py", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_error_and_provider_is_in_the_reference() -> None:
    text = "\n".join(file.read_text() for file in sorted((ROOT / "docs" / "reference").glob("*.md")))
    assert [name for name in errors.__all__ if name not in text] == []
    assert [name for name in provider_names() if f"`{name}`" not in text] == []


def test_every_public_name_of_every_public_module_is_in_the_reference() -> None:
    page = (ROOT / "docs" / "reference" / "modules.md").read_text()
    package = (ROOT / "docs" / "reference" / "python.md").read_text()
    modules = re.findall(r"^## `(groundwire[\w.]*)`$", page, re.MULTILINE)
    assert len(modules) > 20
    for module, text in zip(modules, re.split(r"^## `groundwire", page, flags=re.MULTILINE)[1:], strict=True):
        names = import_module(module).__all__
        missing = [name for name in names if f"`{name}`" not in text and f"## `{name}`\n" not in package]
        assert [name for name in missing if name not in errors.__all__] == [], module


class Lookup(EmulatedServer):
    """The service of CONTRIBUTING's example."""

    def __init__(self) -> None:
        super().__init__("lookup")

    def handle(self, request: Recorded) -> EmulatedResponse:
        hit = {"name": f"About {request.query['q']}", "link": "https://a.example/", "text": "words"}
        return EmulatedResponse.json({"hits": [hit]})


def test_the_files_of_contributings_tour_are_there() -> None:
    tour = (ROOT / "CONTRIBUTING.md").read_text().partition("## Set up")[0]
    paths = re.findall(r"(?<![\w/.])[a-z][\w-]*(?:/[\w-]+)*(?:/|\.py|\.toml)(?![\w/])", tour)
    assert len(paths) > 40
    assert [path for path in paths if not any((ROOT / base / path).exists() for base in ("", "src/groundwire"))] == []


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """CONTRIBUTING's example as an installed package: its one file, and its one line as pip writes it down."""
    (tmp_path / "groundwire_lookup.py").write_text(blocks("CONTRIBUTING.md", "python")[0])
    entry = blocks("CONTRIBUTING.md", "toml")[0].partition("\n")[2].replace('"', "")
    information = tmp_path / "groundwire_lookup-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: groundwire-lookup\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(f"[groundwire.providers]\n{entry}")
    monkeypatch.syspath_prepend(tmp_path)
    yield
    sys.modules.pop("groundwire_lookup", None)


@pytest.mark.req("Y16")
@pytest.mark.usefixtures("installed")
async def test_contributings_provider_works(world: World) -> None:
    service = world.add(Lookup())
    settings = Settings.model_validate(
        {"search": {"providers": ("lookup",)}, "providers": {"lookup": {"base_url": service.url}}}
    )
    async with Web(settings) as web:
        found = await web.search("anything")
    assert [(row.title, row.url, row.snippet, row.source) for row in found.results] == [
        ("About anything", "https://a.example/", "words", "lookup")
    ]


@pytest.mark.usefixtures("installed")
def test_contributings_provider_can_be_misspelled() -> None:
    with pytest.raises(errors.UnknownProvider, match="Did you mean 'lookup'"):
        Web(Settings.model_validate({"search": {"providers": ("lokup",)}}))
    with pytest.raises(errors.ConfigurationError, match=r"set providers\.lookup\.base_url"):
        Web(Settings.model_validate({"search": {"providers": ("lookup",)}}))


@pytest.mark.usefixtures("installed")
async def test_contributings_parser_tells_failures_apart() -> None:
    from components.services import offline
    from groundwire.providers.query_mapping import Mapped
    from groundwire.transport import Response as Answer

    lookup = offline("lookup")
    for status, body, error in (
        (429, b"", errors.RateLimited),
        (500, b"", errors.ProviderUnavailable),
        (200, b"<html>", errors.UnexpectedResponse),
        (200, b'{"hits": [1]}', errors.UnexpectedResponse),
    ):
        with pytest.raises(error):
            lookup.to_results(Answer("http://x/", status, {}, body, body), Mapped({}))
