"""Keys: their form, what is kept of them, and that nothing shows them."""

from __future__ import annotations

import inspect
import math
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from groundwire_server.auth import keys as module
from groundwire_server.auth.authentication import Tenant
from groundwire_server.auth.keys import KeyLimits, KeyRecord, digest_of, id_of, is_key_of, make_key

NOW = datetime(2026, 11, 22, tzinfo=UTC)


def test_a_key_has_256_random_bits_and_names_itself() -> None:
    key, record = make_key("ci", NOW)
    assert len(key.rpartition("_")[2]) == 43
    assert 62**43 > 2**256
    assert id_of(key) == record.id == record.tenant
    assert key.endswith(record.last)
    assert len({make_key("ci", NOW)[0] for _ in range(200)}) == 200


def test_nothing_kept_or_shown_holds_the_key() -> None:
    key, record = make_key("ci", NOW)
    secret = key.rpartition("_")[2]
    for text in (record.model_dump_json(), repr(record), str(record), repr(Tenant.of(record))):
        assert secret not in text
        assert secret[:8] not in text
    for text in (repr(record), str(record), repr(Tenant.of(record))):
        assert record.digest not in text


def test_the_right_key_is_right_and_others_are_not() -> None:
    key, record = make_key("ci", NOW)
    other, _ = make_key("ci", NOW)
    assert is_key_of(record, key)
    assert not is_key_of(record, other)
    assert not is_key_of(record, f"{key}x")
    assert not is_key_of(record, key[:-1])
    assert not is_key_of(None, key)


def test_one_comparison_is_made_and_it_takes_the_same_time_for_all() -> None:
    source = inspect.getsource(is_key_of)
    assert source.count("compare_digest") == 1
    assert " == " not in source
    assert "hmac" in inspect.getsource(module)


def test_when_a_key_is_dead() -> None:
    _, record = make_key("ci", NOW, expires=NOW + timedelta(days=1))
    assert record.why_dead(NOW) == ""
    assert record.why_dead(NOW + timedelta(days=1)) == "expired"
    assert record.model_copy(update={"revoked": NOW}).why_dead(NOW) == "revoked"


@given(st.text(max_size=80))
def test_what_is_no_key_names_nothing(text: str) -> None:
    assert id_of(text) == "" or text.startswith("gw_")
    assert len(digest_of(text)) == 64


@pytest.mark.parametrize("name", ["", "a b", "a:b", "../x", "-x", "x" * 65, "a\nb", "é"])
def test_names_that_are_none(name: str) -> None:
    with pytest.raises(ValidationError):
        make_key(name, NOW)
    with pytest.raises(ValidationError):
        make_key("right", NOW, tenant=name or "a b")


@pytest.mark.parametrize(
    "wrong", [{"rate": -1}, {"usd_per_day": float("nan")}, {"allowed_domains": ["http://x"]}, {"unknown": 1}]
)
def test_limits_that_are_none(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        KeyLimits.model_validate(wrong)


def test_a_record_survives_being_written() -> None:
    _, record = make_key("ci", NOW, limits=KeyLimits(rate=5, allowed_domains=("a.example",)))
    assert KeyRecord.model_validate_json(record.model_dump_json()) == record


def test_a_key_has_no_limits_of_its_own_unless_they_are_given() -> None:
    limits = make_key("ci", NOW)[1].limits
    assert limits == KeyLimits(rate=0, burst=0, calls_per_day=0, usd_per_day=0.0)
    assert (limits.providers, limits.allowed_domains, limits.blocked_domains) == ((), (), ())
    assert not make_key("ci", NOW)[1].operator
    assert make_key("ci", NOW, operator=True)[1].operator


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [("rate", 0, 1_000_000), ("burst", 0, 1_000_000), ("calls_per_day", 0, 10**9)],
)
def test_the_bounds_of_the_limits(name: str, least: int, most: int) -> None:
    for value in (least, most):
        assert getattr(KeyLimits.model_validate({name: value}), name) == value
    with pytest.raises(ValidationError):
        KeyLimits.model_validate({name: least - 1})
    if name != "calls_per_day":
        with pytest.raises(ValidationError):
            KeyLimits.model_validate({name: most + 1})


def test_money_is_not_less_than_nothing() -> None:
    assert KeyLimits(usd_per_day=0.5).usd_per_day == 0.5
    with pytest.raises(ValidationError):
        KeyLimits(usd_per_day=-0.01)


def test_what_names_a_key_and_what_its_holder_knows_it_by() -> None:
    key, record = make_key("ci", NOW)
    assert len(record.id) == 8
    assert record.last == key[-4:]
    assert len(key) == len("gw_") + 8 + 1 + 43
    for other in (key[:-1], key + "a", key.replace("gw_", "gx_", 1)):
        assert id_of(other) == ""


def test_a_key_is_no_operators_and_its_calls_are_kept_unless_it_is_said() -> None:
    _, record = make_key("ci", NOW)
    assert not record.operator
    assert not KeyRecord.model_validate(record.model_dump(exclude={"operator"})).operator
    assert KeyLimits().keep
    for money in (float("inf"), float("nan")):
        with pytest.raises(ValidationError):
            KeyLimits(usd_per_day=money)


@pytest.mark.parametrize(
    ("field", "most"),
    [("rate", 1_000_000), ("burst", 1_000_000), ("calls_per_day", None), ("usd_per_day", None)],
)
def test_which_limits_a_key_may_have(field: str, most: int | None) -> None:
    assert getattr(KeyLimits(), field) == 0
    assert getattr(KeyLimits.model_validate({field: 0}), field) == 0
    assert getattr(KeyLimits.model_validate({field: most or 10**12}), field) == (most or 10**12)
    for wrong in (-1, *([most + 1] if most else []), math.inf, math.nan):
        with pytest.raises(ValidationError) as caught:
            KeyLimits.model_validate({field: wrong})
        assert "input_value" not in str(caught.value), "what was given is not repeated"
    assert KeyLimits().keep
    assert not make_key("ci", NOW)[1].operator
    assert KeyLimits.model_json_schema()["properties"][field]["description"].startswith(("The", "Requests", "Maximum"))
