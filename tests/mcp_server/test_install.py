"""The server's entry in the configurations of clients."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from groundwire.cli import group
from groundwire.errors import ConfigurationError
from groundwire.mcp_server.client_configs import CLIENTS, has_comments, install, without_comments

COMMAND = ("/opt/tools/groundwire", "mcp")
ROOT = Path(__file__).resolve().parents[2]


def servers_in(name: str, text: str) -> dict[str, Any]:
    whole: Any = tomllib.loads(text) if CLIENTS[name].format == "toml" else json.loads(without_comments(text))
    for key in CLIENTS[name].keys:
        whole = whole.get(key) or {}
    found: dict[str, Any] = whole
    return found


@pytest.mark.parametrize("name", CLIENTS)
def test_an_entry_is_added_and_updated(name: str) -> None:
    client = CLIENTS[name]
    change = install(client, "", COMMAND)
    entry = servers_in(name, change)["groundwire"]
    program = entry["command"]
    assert [*program] == [*COMMAND] if client.together else (program, entry["args"]) == (COMMAND[0], ["mcp"])
    assert install(client, change, COMMAND) == change
    moved = install(client, change, ("/elsewhere/groundwire", "mcp"))
    assert servers_in(name, moved)["groundwire"] == client.entry(("/elsewhere/groundwire", "mcp"))


@pytest.mark.parametrize(
    ("name", "linux", "darwin", "win32"),
    [
        (
            "claude-desktop",
            ".config/Claude/claude_desktop_config.json",
            "Library/Application Support/Claude/claude_desktop_config.json",
            "AppData/Roaming/Claude/claude_desktop_config.json",
        ),
        (
            "vscode",
            ".config/Code/User/mcp.json",
            "Library/Application Support/Code/User/mcp.json",
            "AppData/Roaming/Code/User/mcp.json",
        ),
        ("zed", ".config/zed/settings.json", ".config/zed/settings.json", "AppData/Roaming/Zed/settings.json"),
        ("cursor", ".cursor/mcp.json", ".cursor/mcp.json", ".cursor/mcp.json"),
        (
            "roo",
            ".config/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",
            "Library/Application Support/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",
            "AppData/Roaming/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",
        ),
        ("opencode", *3 * (".config/opencode/opencode.json",)),
        ("kiro", *3 * (".kiro/settings/mcp.json",)),
        ("junie", *3 * (".junie/mcp/mcp.json",)),
        ("copilot-cli", *3 * (".copilot/mcp-config.json",)),
    ],
)
def test_where_configurations_are(name: str, linux: str, darwin: str, win32: str) -> None:
    home = Path("/home/ada")
    for platform, path in (("linux", linux), ("darwin", darwin), ("win32", win32)):
        assert CLIENTS[name].file(platform, home, {}) == home / path


def test_what_else_is_there_stays() -> None:
    text = (
        '{\n    "theme": "dark",\n    "mcpServers": {\n        "other": {"command": "x", "env": {"A": "ö"}}\n    }\n}\n'
    )
    change = install(CLIENTS["cursor"], text, COMMAND)
    whole = json.loads(change)
    assert whole["theme"] == "dark"
    assert whole["mcpServers"]["other"] == {"command": "x", "env": {"A": "ö"}}
    assert '\n    "theme"' in change


def test_what_a_user_added_to_the_entry_stays() -> None:
    text = json.dumps({"mcpServers": {"groundwire": {"command": "old", "env": {"BRAVE_API_KEY": "k"}}}})
    entry = servers_in("cursor", install(CLIENTS["cursor"], text, COMMAND))["groundwire"]
    assert entry == {"command": COMMAND[0], "args": ["mcp"], "env": {"BRAVE_API_KEY": "k"}}


def test_toml_keeps_comments_and_order() -> None:
    before = '# mine\nmodel = "x"  # the best\n\n[mcp_servers.other]\ncommand = "y"\n'
    text = (
        before + '\n[mcp_servers.groundwire]\ncommand = "old"\ntimeout = 5\n[mcp_servers.groundwire.env]\nKEY = "v"\n'
    )
    after = install(CLIENTS["codex"], text, COMMAND)
    assert after.startswith(before)
    assert servers_in("codex", after)["groundwire"] == {
        "command": COMMAND[0],
        "args": ["mcp"],
        "timeout": 5,
        "env": {"KEY": "v"},
    }
    inline = install(
        CLIENTS["codex"], 'mcp_servers = {groundwire = {command = "x", env = {A = "b"}}} # mine\n', COMMAND
    )
    assert servers_in("codex", inline)["groundwire"]["env"] == {"A": "b"}
    assert "# mine" in inline


def test_entries_are_as_each_client_reads_them() -> None:
    wanted = {
        "opencode": {"type": "local", "enabled": True, "command": [*COMMAND]},
        "copilot-cli": {"type": "local", "tools": ["*"], "command": COMMAND[0], "args": ["mcp"]},
        "codelia": {"transport": "stdio", "command": COMMAND[0], "args": ["mcp"]},
        "kiro": {"command": COMMAND[0], "args": ["mcp"]},
    }
    for name, entry in wanted.items():
        assert servers_in(name, install(CLIENTS[name], "", COMMAND))["groundwire"] == entry
    assert json.loads(install(CLIENTS["codelia"], "", COMMAND))["version"] == 1


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("cursor", "{"),
        ("cursor", "[]"),
        ("cursor", '{"mcpServers": []}'),
        ("codex", "= 1"),
        ("codex", "mcp_servers = 1"),
    ],
)
def test_what_cannot_be_understood_is_left_alone(name: str, text: str) -> None:
    with pytest.raises(ConfigurationError, match=r"othing was changed"):
        install(CLIENTS[name], text, COMMAND)


@given(
    st.recursive(
        st.none() | st.booleans() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_plain_json_has_no_comments(value: object) -> None:
    text = json.dumps(value, ensure_ascii=False, indent=1)
    assert not has_comments(text)
    assert json.loads(without_comments(text)) == value


def test_comments_and_trailing_commas() -> None:
    text = '\ufeff{ // one\n "a": "// no", /* two\n */ "b": [1, 2,],\n}'
    assert has_comments(text)
    assert json.loads(without_comments(text)) == {"a": "// no", "b": [1, 2]}


class TestCommand:
    @pytest.fixture(autouse=True)
    def _home(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.chdir(tmp_path)

    def run(self, *arguments: str, **options: Any) -> Result:
        return CliRunner().invoke(group, ["mcp", *arguments], prog_name="groundwire", **options)

    def test_it_shows_asks_and_keeps_a_copy(self, tmp_path: Path) -> None:
        path = tmp_path / ".cursor" / "mcp.json"
        path.parent.mkdir()
        path.write_text('{"a": 1}')
        path.chmod(0o640)
        shown = self.run("install", "--client", "cursor", "--print")
        assert (shown.exit_code, path.read_text()) == (0, '{"a": 1}')
        assert '+    "groundwire": {' in shown.stdout
        for answer in ("n\n", ""):
            refused = self.run("install", "--client", "cursor", input=answer)
            assert (refused.exit_code, path.read_text()) == (2, '{"a": 1}')
        done = self.run("install", "--client", "Cursor", input="y\n")
        assert done.exit_code == 0, done.output
        assert servers_in("cursor", path.read_text())["groundwire"]["args"][-1] == "mcp"
        (copy,) = path.parent.glob("mcp.json.*.bak")
        assert copy.read_text() == '{"a": 1}'
        assert path.stat().st_mode & 0o777 == 0o640
        again = self.run("install", "--client", "cursor")
        assert "already up to date" in again.stderr

    def test_comments_are_lost_only_when_that_is_wanted(self, tmp_path: Path) -> None:
        path = tmp_path / ".vscode" / "mcp.json"
        path.parent.mkdir()
        path.write_text('{\n  // mine\n  "servers": {},\n}\n')
        refused = self.run("install", "--client", "vscode-project", input="y\n")
        assert (refused.exit_code, "// mine" in path.read_text()) == (2, True)
        assert "--yes" in refused.stderr
        assert self.run("install", "--client", "vscode-project", "--yes").exit_code == 0
        assert servers_in("vscode-project", path.read_text())["groundwire"]["type"] == "stdio"

    def test_without_a_terminal_nothing_is_changed(self) -> None:
        unanswered = self.run("install", "--client", "cursor", input="")
        assert "Error: There is no terminal to answer on. Pass --yes to go ahead.\n" in unanswered.stderr
        assert (unanswered.exit_code, "SDK" in unanswered.stderr) == (2, False)

    def test_a_link_stays_a_link(self, tmp_path: Path) -> None:
        kept = tmp_path / "dotfiles.json"
        kept.write_text("{}")
        path = tmp_path / ".claude.json"
        path.symlink_to(kept)
        assert self.run("install", "--client", "claude-code", "--yes").exit_code == 0
        assert path.is_symlink()
        assert "groundwire" in kept.read_text()

    def test_an_unknown_client(self) -> None:
        wrong = self.run("install", "--client", "curser")
        assert wrong.exit_code == 2
        assert "choose one of claude-desktop" in wrong.stderr

    def test_the_help_names_all_clients(self) -> None:
        text = " ".join(self.run("install", "--help").stdout.split())
        assert [name for name in CLIENTS if name not in text] == []


def test_the_registrys_manifest() -> None:
    """As documented for the registry's server.json (schema 2025-12-11)."""
    import re

    from groundwire import __version__

    manifest = json.loads((ROOT / "server.json").read_text())
    assert set(manifest) <= {
        "$schema",
        "name",
        "title",
        "description",
        "version",
        "packages",
        "repository",
        "websiteUrl",
    }
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", manifest["name"])
    assert 1 <= len(manifest["description"]) <= 100
    assert manifest["version"] == __version__
    (package,) = manifest["packages"]
    assert (package["registryType"], package["identifier"], package["version"]) == ("pypi", "groundwire", __version__)
    assert package["transport"] == {"type": "stdio"}
    assert package["runtimeArguments"] == [
        {"type": "named", "name": "--from", "value": f"groundwire[mcp]=={__version__}"}
    ]
    assert package["packageArguments"] == [{"type": "positional", "value": "mcp"}]
    from groundwire.settings import KEY_VARIABLES, load

    for variable in package["environmentVariables"]:
        assert set(variable) <= {"name", "description", "isSecret", "isRequired", "default"}
        if variable.get("isSecret"):
            assert variable["name"] in KEY_VARIABLES
        else:
            load(environment={variable["name"]: variable.get("default", "searxng")})
