"""Keys, drafts and lines: the parts of the set-up."""

from __future__ import annotations

import stat
import tomllib
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import tomlkit
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from groundwire.errors import ConfigurationError, InvalidRequest
from groundwire.settings import Settings
from groundwire.settings.sources import read_dotenv
from groundwire.setup import SetupPlan, clean_key, commit, load_offers, setup_schema
from groundwire.setup.apply import with_values
from groundwire.setup.key_storage import FileKeeper
from groundwire.setup.provider_check import duration, verify
from world import World

pytestmark = pytest.mark.req("Y8")

NOW = datetime(2026, 11, 1, 12, 0, 0)  # noqa: DTZ001  # only a name
WORDS = st.text("abcdefghijklmnopqrstuvwxyz_", min_size=1, max_size=6)
LEAVES = st.one_of(st.integers(-9, 9), st.text(max_size=8), st.booleans(), st.lists(st.text(max_size=4), max_size=3))
TABLES = st.dictionaries(WORDS, st.dictionaries(WORDS, LEAVES, min_size=1, max_size=3), min_size=1, max_size=3)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("abcd-1234", "abcd-1234"),
        (" 'abcd-1234'\n", "abcd-1234"),
        ("BRAVE_API_KEY=abcd-1234", "abcd-1234"),
        ('export BRAVE_API_KEY="abcd-1234"', "abcd-1234"),
        ("abcd-1234 , efgh", "abcd-1234,efgh"),
        ("tvly-dev+/=.~x", "tvly-dev+/=.~x"),
    ],
)
def test_a_pasted_key(text: str, key: str) -> None:
    assert clean_key(text).get_secret_value() == key


@pytest.mark.parametrize(
    "text", ["", "  ", "''", "ab cd", "abc\ndef", "schlüssel", "a$(rm)b", "x\x00yzzy", "abc", "a#bcd"]
)
def test_what_is_no_key(text: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        clean_key(text)
    assert not text.strip() or text not in str(caught.value)


@given(st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), max_size=60))
def test_every_key_that_is_taken_comes_back_from_the_file(text: str) -> None:
    import tempfile

    try:
        key = clean_key(text).get_secret_value()
    except InvalidRequest:
        return
    with tempfile.TemporaryDirectory() as folder:
        keeper = FileKeeper(Path(folder) / "deep" / "keys.env")
        keeper.keep("BRAVE_API_KEY", key)
        assert read_dotenv(Path(keeper.place), []) == {"BRAVE_API_KEY": key}


def test_the_file_of_keys(tmp_path: Path) -> None:
    path = tmp_path / "keys.env"
    path.write_text("# mine\nexport A_KEY = old\nB_KEY=other")
    path.chmod(0o644)
    keeper = FileKeeper(path)
    keeper.keep("A_KEY", "new-value")
    assert path.read_text() == "# mine\nB_KEY=other\nA_KEY=new-value\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [one.name for one in tmp_path.iterdir()] == ["keys.env"]


@given(TABLES, st.lists(WORDS, min_size=1, max_size=3))
def test_a_draft_changes_what_it_should_and_nothing_else(tables: dict[str, Any], names: list[str]) -> None:
    text = tomlkit.dumps(tables)
    after = with_values(text, {"search.providers": names, "providers.searxng:b.base_url": "http://x"})
    expected = {**tables, "search": {**tables.get("search", {}), "providers": names}}
    expected["providers"] = {**tables.get("providers", {}), "searxng:b": {"base_url": "http://x"}}
    assert tomllib.loads(after) == expected
    assert with_values(after, {"search.providers": names}) == after


@pytest.mark.parametrize(
    "text",
    [
        "# top\nsearch.limit = 3 # three\n\n[read]\nmax_length = 1 # one\n",
        "search = { limit = 3 } # inline\n",
        "[search]\r\nlimit = 3 # three\r\n",
        "[search.native]\nproviders = []\n[read]\n[search]\nlimit = 3\n",
        "[search]\nproviders = [ # why\n  'x', # first\n]\nlimit = 3",
    ],
)
def test_a_draft_keeps_what_was_written(text: str) -> None:
    after = with_values(text, {"search.providers": ["brave"]})
    read = tomllib.loads(after)
    assert (read["search"]["providers"], read["search"]["limit"]) == (["brave"], 3)
    assert ("\r\n" in after) == ("\r\n" in text)
    assert all(comment in after for comment in ("# top", "# three", "# one", "# inline") if comment in text)


@pytest.mark.parametrize("text", ["search = 3\n", "[search\n"])
def test_a_draft_of_what_is_no_settings_file(text: str) -> None:
    with pytest.raises(ConfigurationError, match="nothing was changed"):
        with_values(text, {"search.providers": ["brave"]})


class Broken(FileKeeper):
    """Keeps one key and then fails, as a keyring does that is locked meanwhile."""

    def keep(self, variable: str, value: str) -> None:
        if variable == "B_KEY":
            raise ConfigurationError("locked")
        super().keep(variable, value)


def test_settings_are_not_written_if_a_key_cannot_be_stored(tmp_path: Path) -> None:
    keeper = Broken(tmp_path / "keys.env")
    keys = {"A_KEY": SecretStr("aaaa"), "B_KEY": SecretStr("bbbb")}
    plan = SetupPlan(tmp_path / "groundwire.toml", "", "[search]\n", keys, keeper)
    with pytest.raises(ConfigurationError):
        commit(plan, NOW)
    assert not plan.path.exists()


def test_the_schema_names_every_key_and_requires_those_that_are_needed() -> None:
    asked = setup_schema(load_offers().values(), {"tavily", "jina", "brave_context"})
    fields = {field.name: field for field in asked}
    assert len(fields) == len(asked), "one field for a key of several providers"
    assert fields["brave_api_key"].provider == "brave"
    required = {name for name, field in fields.items() if field.required}
    assert required == {"tavily_api_key", "brave_api_key"}
    assert {"exa_api_key", "ydc_api_key", "jina_api_key"} <= fields.keys()
    assert all(field.secret and field.variable == name.upper() for name, field in fields.items())


async def test_a_reader_is_tried_with_a_page(world: World) -> None:
    jina = world.service("jina")
    settings = Settings.model_validate({"providers": {"jina": {"base_url": jina.url}}})
    result = await verify("jina", settings)
    assert result.verdict in {"works", "provider-failing"}
    assert jina.requests


async def test_a_host_that_does_not_resolve_keeps_its_spelling() -> None:
    settings = Settings(providers={"wikipedia": {"base_url": "http://wiki.invalid"}})
    assert (await verify("wikipedia", settings)).what.startswith("wiki.invalid does not resolve")


async def test_the_fix_of_an_address_where_nothing_listens_is_said_once(world: World) -> None:
    settings = Settings.model_validate({"providers": {"searxng": {"base_url": world.closed_url}}})
    result = await verify("searxng", settings)
    assert result.verdict == "provider-unreachable"
    assert result.fix == "Check that searxng runs, and that providers.searxng.base_url is its address."


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.4, "0 seconds"), (90, "90 seconds"), (300, "5 minutes"), (7_200, "2 hours"), (200_000, "2 days")],
)
def test_a_wait_is_said_in_a_unit_that_fits(seconds: float, text: str) -> None:
    assert duration(seconds) == text
