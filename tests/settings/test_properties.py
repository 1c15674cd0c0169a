"""Whatever stands in the environment or in a file: settings, or a ConfigurationError, and nothing else."""

from __future__ import annotations

import contextlib
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from components.examples import examples
from groundwire.errors import ConfigurationError
from groundwire.settings import KEY_VARIABLES, Settings, load, provider_rows, variable
from groundwire.settings.schema import known_keys

NAMES = (
    *map(variable, known_keys()),
    *KEY_VARIABLES,
    "WEB_SEARCH_SESSION_LIMIT",
    "WEB_SEARCH_WARNING_THRESHOLD",
    "GROUNDWIRE_CONFIG",
    "GROUNDWIRE_PROVIDERS_SEARXNG_BASE_URL",
    "GROUNDWIRE_PROVIDERS_SEARXNG_B_ENGINES",
    "GROUNDWIRE_PROVIDERS_DUCKDUCKGO_DELAY",
)

lone = st.text(st.characters(), max_size=30)  # lone surrogates too: bytes that are no UTF-8 come as such
values = st.one_of(
    lone,
    st.integers().map(str),
    st.floats().map(str),
    st.sampled_from(["9" * 5_000, "true", "[]", "{}", "1e999", "nan", "searxng:b", ",", "\ufeff", "\udcff", "0x10"]),
)
quick = settings(max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])


def _look(found: Settings) -> None:
    for row in (*found.rows(), *provider_rows(found)):
        assert isinstance(row.value, str)
    repr(found)


@quick
@given(environment=st.dictionaries(st.one_of(st.sampled_from(NAMES), lone.map("GROUNDWIRE_".__add__)), values))
def test_any_environment(environment: dict[str, str], tmp_path: Path) -> None:
    with contextlib.suppress(ConfigurationError):
        _look(load(environment=environment, folder=tmp_path, user_folder=tmp_path))


@quick
@given(name=st.sampled_from(NAMES), value=values)
def test_any_value_of_a_known_variable(name: str, value: str, tmp_path: Path) -> None:
    with contextlib.suppress(ConfigurationError):
        _look(load(environment={name: value}, folder=tmp_path, user_folder=tmp_path))


def _key() -> st.SearchStrategy[str]:
    return st.sampled_from(
        ["search", "limit", "providers", "searxng", "'a:b'", "base_url", "keys", "x.y", "'a.b'", '""']
    )


def _toml() -> st.SearchStrategy[bytes]:
    """Bytes that are nearly TOML."""
    value = st.sampled_from(
        ["1", "-1", "1.5", "nan", "inf", "true", "[]", "{}", "{a=1}", "[[1]]", "''", "'x'", "1979-05-27", "[1,'a']"]
    )
    line = st.one_of(
        st.builds("[{}]".format, _key()),
        st.builds("[providers.{}]".format, _key()),
        st.builds("[[{}]]".format, _key()),
        st.builds("{} = {}".format, _key(), value),
        st.text(max_size=10),
    )
    return st.lists(line, max_size=8).map(lambda lines: "\n".join(lines).encode("utf-8", "surrogatepass"))


@quick
@given(body=st.one_of(st.binary(max_size=200), _toml()))
def test_any_file(body: bytes, tmp_path: Path) -> None:
    (tmp_path / "groundwire.toml").write_bytes(body)
    with contextlib.suppress(ConfigurationError):
        _look(load(environment={}, folder=tmp_path, user_folder=tmp_path))


@quick
@given(body=st.one_of(st.binary(max_size=200), st.text(max_size=200).map(str.encode)))
def test_any_dotenv(body: bytes, tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes(body)
    with contextlib.suppress(ConfigurationError):
        _look(load(environment={}, folder=tmp_path, user_folder=tmp_path))
