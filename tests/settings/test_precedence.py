"""Which of the six places wins, for every setting, and what is said about where a value came from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Protocol

import pytest

from groundwire.errors import ConfigurationError
from groundwire.settings import Settings, load, variable
from groundwire.settings.schema import known_keys


class _Desk(Protocol):
    folder: Path
    user_folder: Path

    def write(self, *, project: str = "", user: str = "", dotenv: str = "") -> None: ...
    def load(self, environment: dict[str, str] | None = None, **arguments: Any) -> Settings: ...


VALUES: dict[str, tuple[Any, Any, Any, Any, Any]] = {
    "search.providers": (["searxng"], ["duckduckgo"], ["searxng:a"], ["searxng:b"], ["searxng:c", "duckduckgo"]),
    "search.limit": (1, 2, 3, 4, 6),
    "search.paper_providers": (["arxiv"], ["openalex"], ["arxiv:a"], ["openalex:a"], ["arxiv", "openalex"]),
    "search.keyless": (True, False, True, False, True),
    "search.timeout": (1.5, 2.5, 3.5, 4.5, 6.5),
    "search.attempt_timeout": (1.5, 2.5, 3.5, 4.5, 7.5),
    "search.safesearch": ("off", "strict", "off", "strict", "off"),
    "read.providers": (["local"], ["local:a"], ["local:b"], ["local:c"], ["local:d", "local"]),
    "read.render_domains": (["a.example"], ["b.example"], ["c.example"], ["d.example"], ["e.example", "f.example"]),
    "read.include": (["comments"], ["comments"] * 2, ["comments"], ["comments"] * 2, ["comments"]),
    "read.exclude": (["dates"], ["dates"] * 2, ["dates"], ["dates"] * 2, ["dates"]),
    "read.max_length": (1, 2, 3, 4, 5),
    "read.timeout": (1.5, 2.5, 3.5, 4.5, 5.5),
    "read.max_bytes": (1001, 1002, 1003, 1004, 1005),
    "read.robots": (True, False, True, False, True),
    "read.robots_exceptions": (["a.org"], ["b.org"], ["c.org"], ["d.org"], ["e.org", "f.org"]),
    "read.site_readers": (["arxiv"], ["github"], ["npm"], ["pypi"], ["reddit", "youtube"]),
    "read.crawl_delay": (1.5, 2.5, 3.5, 4.5, 5.5),
    "read.max_per_host": (1, 2, 3, 4, 5),
    "read.max_document_bytes": (2001, 2002, 2003, 2004, 2005),
    "search.strategy": ("hedge", "fuse", "fallback", "hedge", "fuse"),
    "session.max_searches": (1, 2, 3, 4, 0),
    "session.max_cost_usd": (1.0, 2.0, 3.0, 4.0, 0.5),
    "session.max_tokens": (1, 2, 3, 4, 5),
    "session.id": ("a", "b", "c", "d", "e"),
    "search.mode": ("native", "local", "auto", "local", "native"),
    "search.native.providers": (["openai"], ["xai"], ["groq"], ["mistral"], ["openai", "gemini"]),
    "search.local.backend": ("ddg", "brave", "ddg", "brave", "ddg"),
    "search.local.brave_api_key_env": ("A_KEY", "B_KEY", "C_KEY", "D_KEY", "E_KEY"),
    "permission.default": ("allow", "confirm", "deny", "confirm", "allow"),
    "permission.allow": (["a"], ["b"], ["c"], ["d(x.org)"], ["e", "f(y.org)"]),
    "permission.confirm": (["a"], ["b"], ["c"], ["d(x.org)"], ["e", "f(y.org)"]),
    "permission.deny": (["a"], ["b"], ["c"], ["d(x.org)"], ["e", "f(y.org)"]),
    "permission.confirm_timeout": (1.0, 2.0, 3.0, 4.0, 5.0),
    "storage.url": ("memory://", "sqlite://", "sqlite:///b", "sqlite:///c", "sqlite:///d"),
    "storage.timeout": (0.5, 1.5, 2.5, 3.5, 4.5),
    "archive.enabled": (True, False, True, False, True),
    "archive.path": ("a", "b", "c", "d", "e"),
    "archive.url": ("postgresql://a/x", "postgresql://b/x", "postgres://c/x", "postgresql://d", "postgresql://e/x"),
    "archive.max_bytes": (1_000_001, 1_000_002, 1_000_003, 1_000_004, 1_000_005),
    "archive.max_age_days": (1.0, 2.0, 3.0, 4.0, 5.0),
    "cache.enabled": (True, False, True, False, True),
    "cache.search_ttl": (1.0, 2.0, 3.0, 4.0, 5.0),
    "cache.page_ttl": (1.0, 2.0, 3.0, 4.0, 5.0),
    "cache.stale_ttl": (1.0, 2.0, 3.0, 4.0, 5.0),
    "session.idle_timeout": (1.0, 2.0, 3.0, 4.0, 5.0),
    "session.warning_threshold": (1, 2, 3, 4, 0),
    "policy.allowed_domains": (["a.org"], ["b.org"], ["c.org"], ["d.org"], ["e.org", "f.org"]),
    "policy.blocked_domains": (["a.org"], ["b.org"], ["c.org"], ["d.org"], ["e.org", "f.org"]),
    "policy.allowed_origins": (["http://a"], ["http://b"], ["http://c"], ["http://d"], ["http://e", "http://f"]),
    "policy.origin_redirects": ("same", "allowed", "same", "allowed", "same"),
    "policy.untrusted_images": ("drop", "keep", "drop", "keep", "drop"),
    "policy.untrusted_links": ("keep", "drop", "keep", "drop", "keep"),
    "read.ranker": ("bm25", "embeddings", "bm25", "embeddings", "bm25"),
    "read.isolation": ("auto", "heavy", "process", "auto", "heavy"),
    "answer.api": ("openai_chat", "anthropic", "gemini", "openai_chat", "anthropic"),
    "answer.base_url": ("http://a", "http://b", "http://c", "http://d", "http://e"),
    "answer.model": ("a", "b", "c", "d", "e"),
    "answer.local_servers": (["http://a"], ["http://b"], ["http://c"], ["http://d"], ["http://e", "http://f"]),
    "answer.timeout": (1.0, 2.0, 3.0, 4.0, 5.0),
    "answer.judge": ("words", "model", "words", "model", "words"),
    "mcp.tools": ("openai", "groundwire", "openai", "groundwire", "openai"),
    "policy.open_only": ("any", "known", "any", "known", "any"),
    "policy.secret_env_vars": (["A"], ["B"], ["C"], ["D"], ["E", "F"]),
    "network.proxy": ("http://a:1", "http://b:1", "http://c:1", "http://d:1", "http://e:1"),
    "network.user_agent": ("a/1", "b/1", "c/1", "d/1", "e/1"),
    "server.host": ("a.example", "b.example", "c.example", "d.example", "e.example"),
    "server.port": (1, 2, 3, 4, 5),
    "server.allowed_hosts": (["a.example"], ["b.example"], ["c.example"], ["*"], ["e.example", "f.example"]),
    "server.allowed_origins": (["http://a"], ["http://b"], ["http://c"], ["http://d:1"], ["https://e", "http://f"]),
    "server.key_file": ("/a.json", "/b.json", "/c.json", "/d.json", "/e.json"),
    "server.require_key": (True, False, True, False, True),
    "server.requests_per_minute": (1, 2, 3, 4, 5),
    "server.access_log": (True, False, True, False, True),
    "server.burst": (1, 2, 3, 4, 5),
    "server.max_concurrent_requests": (1, 2, 3, 4, 5),
    "server.max_connections": (1, 2, 3, 4, 5),
    "server.max_mcp_sessions": (1, 2, 3, 4, 5),
    "server.workers": (1, 2, 3, 4, 5),
    "server.max_body_bytes": (1001, 1002, 1003, 1004, 1005),
    "server.header_timeout": (1.5, 2.5, 3.5, 4.5, 5.5),
    "server.body_timeout": (1.5, 2.5, 3.5, 4.5, 5.5),
    "server.trusted_proxies": (["10.0.0.1"], ["10.0.0.2"], ["10.0.0.0/8"], ["::1"], ["fd00::/8", "10.0.0.3"]),
    "server.oauth.issuers": (["https://a"], ["https://b"], ["https://c"], ["https://d"], ["https://e", "https://f"]),
    "server.oauth.resource": ("https://a", "https://b/mcp", "https://c", "http://localhost:1/mcp", "https://e"),
    "server.oauth.audience": ("a", "b", "c", "d", "e"),
    "server.oauth.scopes": (["a"], ["b"], ["c"], ["d"], ["e", "f"]),
    "server.oauth.tenant_claim": ("a", "b", "c", "d", "e"),
    "server.oauth.calls_per_day": (1, 2, 3, 4, 5),
    "server.oauth.usd_per_day": (0.1, 0.2, 0.3, 0.4, 0.5),
    "providers.searxng.base_url": ("http://a", "http://b", "http://c", "http://d", "http://e"),
    "providers.duckduckgo.delay": ("1.0", "2.0", "3.0", "4.0", "5.0"),
}
"""For each setting five values, weakest place first: user's file, project's file, .env, environment, arguments."""


def test_every_setting_is_in_the_table() -> None:
    assert {key for key in VALUES if not key.startswith("providers.")} == set(known_keys()) - {"policy.files"}


@pytest.mark.req("B39")
def test_a_project_opens_only_its_own_folders_to_models(desk: _Desk, tmp_path: Path) -> None:
    def line(*folders: Path | str) -> str:
        return f"[policy]\nfiles = {json.dumps([str(folder) for folder in folders])}\n"

    desk.write(user=line(tmp_path), project=line(desk.folder / "docs"))
    assert desk.load({}).policy.files == (str(desk.folder / "docs"),)
    desk.write(project="\n")
    assert desk.load({}).policy.files == (str(tmp_path),)
    assert desk.load({"GROUNDWIRE_POLICY_FILES": "/a,/b"}).policy.files == ("/a", "/b")
    for outside in ("/", str(desk.folder.parent), f"{desk.folder}/../x", "~"):
        desk.write(project=line(outside))
        with pytest.raises(ConfigurationError, match="a project may name only folders below its own"):
            desk.load({})
        desk.write(project="\n", dotenv=f"GROUNDWIRE_POLICY_FILES={outside}\n")
        with pytest.raises(ConfigurationError, match="a project may name only folders below its own"):
            desk.load({})
        desk.write(dotenv="\n")
    with pytest.raises(ConfigurationError, match="'docs' is not a whole path"):
        desk.load({"GROUNDWIRE_POLICY_FILES": "docs"})


@pytest.mark.req("H3", "Y4")
@pytest.mark.parametrize("key", VALUES)
def test_the_stronger_place_wins(key: str, desk: _Desk) -> None:
    section, _, name = key.rpartition(".")
    user, project, dotenv, environment, argument = VALUES[key]
    name_of_variable = variable(key)

    def toml(value: object) -> str:
        return f"[{section}]\n{name} = {json.dumps(value)}\n"

    def words(value: Any) -> str:
        text = ", ".join(value) if isinstance(value, list) else str(value)
        return text.lower() if isinstance(value, bool) else text

    def in_force(**options: Any) -> tuple[str, str]:
        settings = load(folder=desk.folder, user_folder=desk.user_folder, **options)
        row = next((row for row in settings.rows() if row.key == key), None)
        return (row.value, row.origin) if row else ("", "default")

    own_file, project_file = desk.user_folder / "groundwire.toml", desk.folder / "groundwire.toml"
    variables = {name_of_variable: words(environment)}

    default = in_force(environment={})
    assert default[1] == "default"
    desk.write(user=toml(user))
    assert in_force(environment={}) == (words(user), str(own_file))
    desk.write(project=toml(project))
    assert in_force(environment={}) == (words(project), str(project_file))
    desk.write(dotenv=f"{name_of_variable}={words(dotenv)}\n")
    assert in_force(environment={}) == (words(dotenv), f".env {name_of_variable}")
    assert in_force(environment=variables) == (words(environment), f"environment {name_of_variable}")
    assert in_force(environment=variables, arguments={key: argument}) == (words(argument), "argument")
    assert in_force(environment={name_of_variable: " "}) == (words(dotenv), f".env {name_of_variable}")


def test_a_place_takes_only_what_it_names_from_a_weaker_one(desk: _Desk) -> None:
    desk.write(user="[search]\nlimit = 3\ntimeout = 3\n", project="[search]\ntimeout = 4\n")
    settings = desk.load({"GROUNDWIRE_READ_TIMEOUT": "9"})
    assert (settings.search.limit, settings.search.timeout, settings.read.timeout) == (3, 4, 9)


def test_the_nearest_project_file_upwards_is_taken(desk: _Desk) -> None:
    desk.write(project="[search]\nlimit = 3\n")
    below = desk.folder / "a" / "b"
    below.mkdir(parents=True)
    settings = load(environment={}, folder=below, user_folder=desk.user_folder)
    assert settings.search.limit == 3
    (desk.folder / "a" / "groundwire.toml").write_text("[search]\nlimit = 4\n", encoding="utf-8")
    assert load(environment={}, folder=below, user_folder=desk.user_folder).search.limit == 4


@pytest.mark.parametrize("place", ["environment", ".env"])
def test_a_named_file_stands_for_the_projects(place: str, desk: _Desk) -> None:
    other = desk.folder / "other.toml"
    other.write_text("[search]\nlimit = 9\n", encoding="utf-8")
    desk.write(project="[search]\nlimit = 3\n", user="[search]\ntimeout = 2\n")
    if place == ".env":
        desk.write(dotenv="GROUNDWIRE_CONFIG=other.toml\n")
    settings = desk.load({"GROUNDWIRE_CONFIG": str(other)} if place == "environment" else {})
    assert (settings.search.limit, settings.search.timeout) == (9, 2)
    assert settings.origin("search.limit") == str(other)


@pytest.mark.req("H3")
def test_our_own_variable_wins_over_the_documents_variable() -> None:
    both = {"GROUNDWIRE_SESSION_MAX_SEARCHES": "7", "WEB_SEARCH_SESSION_LIMIT": "9"}
    here = Path("/nowhere")
    assert load(environment=both, folder=here, user_folder=here).session.max_searches == 7


def test_the_users_folder_is_the_platforms(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    own = tmp_path / "groundwire" / "groundwire.toml"
    own.parent.mkdir()
    own.write_text("[search]\nlimit = 8\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    settings = load()
    assert settings.search.limit == 8
    assert settings.origin("search.limit") == str(own)
