"""Who is let in: keys, visitors who have signed in, and what each of the others is told."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from groundwire.errors import InvalidRequest
from groundwire.storage.memory import MemoryStore
from groundwire_server.auth.authentication import (
    TENANT,
    Authenticator,
    Pages,
    Tenant,
    key_in,
    tenant_of,
    without_key,
)
from groundwire_server.auth.keys import KeyFile, KeyLimits, KeyRecord, make_key
from groundwire_server.auth.rate_limits import Failures
from groundwire_server.error_body import Failed

NOW = datetime(2026, 11, 22, tzinfo=UTC)
HOUR = timedelta(hours=1)


class _Login:
    """The path at which people sign in, and who has."""

    def __init__(self, id_: str | None = None) -> None:
        self._id = id_

    def has(self, scope: Any) -> bool:
        return bool(scope["path"] == "/login")

    async def key_id(self, scope: Any) -> str | None:
        return self._id


def authenticator(
    path: Path,
    *,
    must: bool = True,
    pages: Pages | None = None,
    now: Callable[[], datetime] = lambda: NOW,
    failures: int = 5,
) -> Authenticator:
    counted = Failures(MemoryStore(clock=lambda: 0.0), burst=failures, interval=7.0)
    return Authenticator(KeyFile(path), must=must, pages=pages, failures=counted, now=now)


def at(path: str = "/") -> dict[str, Any]:
    return {"path": path, "client": ("192.0.2.1", 1), "headers": []}


async def refused(checked: Authenticator, headers: Mapping[str, str]) -> Failed:
    with pytest.raises(Failed) as caught:
        await checked.find(at(), headers)
    return caught.value


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "keys.json"


def added(path: Path, **more: Any) -> tuple[str, KeyRecord]:
    key, record = make_key("ci", NOW - HOUR, **more)
    KeyFile(path).add(record)
    return key, record


async def test_a_right_key_is_let_in_and_others_are_told_why_not(path: Path) -> None:
    key, record = added(path)
    checked = authenticator(path)
    assert await checked.find(at(), {"x-api-key": key}) == Tenant.of(record)
    assert await checked.find(at(), {"authorization": f"Bearer {key}"}) == Tenant.of(record)
    missing = await refused(checked, {})
    assert (missing.status, missing.problem.code) == (401, "missing_key")
    assert missing.headers["www-authenticate"] == 'Bearer realm="groundwire"'
    wrong = await refused(checked, {"x-api-key": key[:-1] + ("a" if key[-1] != "a" else "b")})
    assert (wrong.status, wrong.problem.code) == (401, "wrong_key")
    assert wrong.headers["www-authenticate"] == 'Bearer realm="groundwire", error="invalid_token"'
    assert (await refused(checked, {"x-api-key": "nonsense"})).problem.code == "wrong_key"


async def test_dead_keys_are_told_so(path: Path) -> None:
    key, _ = added(path, expires=NOW)
    expired = await refused(authenticator(path), {"x-api-key": key})
    assert (expired.status, expired.problem.code, str(expired)) == (
        401,
        "expired_key",
        "This key is no longer valid: it has expired.",
    )
    assert await authenticator(path, now=lambda: NOW - timedelta(seconds=1)).find(at(), {"x-api-key": key})
    KeyFile(path).revoke("ci", NOW)
    revoked = await refused(authenticator(path), {"x-api-key": key})
    assert (revoked.problem.code, str(revoked)) == ("revoked_key", "This key is no longer valid: it was revoked.")
    forged = await refused(authenticator(path), {"x-api-key": key[:-1] + ("a" if key[-1] != "a" else "b")})
    assert forged.problem.code == "wrong_key"  # nobody learns of a key what its holder alone may know


async def test_no_key_is_asked_for_where_there_never_was_one(path: Path) -> None:
    free = authenticator(path, must=False)
    assert not free.asks
    assert await free.find(at(), {}) is None
    assert await free.find(at(), {"x-api-key": "nonsense"}) is None
    assert authenticator(path, must=True).asks
    key, record = added(path)
    asked = authenticator(path, must=False)
    assert asked.asks
    assert (await refused(asked, {})).problem.code == "missing_key"
    assert await asked.find(at(), {"x-api-key": key}) == Tenant.of(record)


async def test_too_many_wrong_keys_have_to_wait(path: Path) -> None:
    key, record = added(path)
    checked = authenticator(path, failures=2)
    codes = [(await refused(checked, {"x-api-key": "gw_no"})).problem.code for _ in range(2)]
    assert codes == ["wrong_key", "wrong_key"]
    third = await refused(checked, {"x-api-key": "gw_no"})
    assert (third.status, third.problem.code) == (429, "too_many_wrong_keys")
    assert third.problem.retry_after == 7.0
    assert (await refused(checked, {})).problem.code == "missing_key"  # none is no guess
    assert await checked.find(at(), {"x-api-key": key}) == Tenant.of(record)


async def test_visitors_sign_in_instead(path: Path) -> None:
    key, record = added(path, expires=NOW + HOUR)
    visitor = authenticator(path, pages=_Login(record.id))
    assert await visitor.find(at("/login"), {}) == Tenant.of(record)
    assert await visitor.find(at("/login"), {"x-api-key": key}) == Tenant.of(record)
    with pytest.raises(Failed, match="Send a key"):
        await visitor.find(at("/other"), {})
    with pytest.raises(Failed, match="not valid"):
        await visitor.find(at("/login"), {"x-api-key": "nonsense"})
    assert await authenticator(path, pages=_Login()).find(at("/login"), {}) is None
    assert await authenticator(path, pages=_Login("unknown")).find(at("/login"), {}) is None
    late = authenticator(path, pages=_Login(record.id), now=lambda: NOW + HOUR)
    assert await late.find(at("/login"), {}) is None
    assert await authenticator(path.with_name("no"), must=False, pages=_Login(record.id)).find(at("/login"), {}) is None


def test_a_running_request_ends_with_its_key(path: Path) -> None:
    _, record = added(path, expires=NOW + HOUR)
    assert authenticator(path).is_still_valid(Tenant.of(record))
    assert not authenticator(path, now=lambda: NOW + HOUR).is_still_valid(Tenant.of(record))
    assert not authenticator(path).is_still_valid(replace(Tenant.of(record), digest="0" * 64))
    assert not authenticator(path).is_still_valid(Tenant.of(make_key("other", NOW)[1]))
    path.write_text("damaged")
    assert not authenticator(path).is_still_valid(Tenant.of(record))


def damaged(path: Path) -> None:
    path.write_text("damaged")


async def test_a_damaged_key_file_lets_nobody_in_and_is_no_fault_of_the_sender(path: Path) -> None:
    key, record = added(path)
    damaged(path)
    refusal = await refused(authenticator(path), {"x-api-key": key})
    assert (refusal.status, refusal.problem.code) == (503, "no_keys")
    with pytest.raises(Failed, match="cannot read its keys"):
        await authenticator(path, pages=_Login(record.id)).find(at("/login"), {})


def test_what_a_tenant_is(path: Path) -> None:
    _, record = make_key("ci", NOW, tenant="team", operator=True, limits=KeyLimits(calls_per_day=5, usd_per_day=0.5))
    found = Tenant.of(record)
    assert (found.id, found.key_id, found.name, found.operator) == ("team", record.id, "ci", True)
    daily = found.daily
    assert (daily.name, daily.calls, daily.cost_usd) == (f"key:{record.id}", 5, 0.5)
    assert found.prefix == "tenant:team:"
    assert found.session("x" * 100) == "tenant:team:" + "x" * 100
    for name in ("", "x" * 101, "a\nb"):
        with pytest.raises(InvalidRequest):
            found.session(name)


def test_where_a_key_is_read_and_what_the_application_is_told() -> None:
    key = make_key("ci", NOW)[0]
    rows: tuple[tuple[str, str, str, bool], ...] = (
        ("authorization", f"Bearer {key}", key, False),
        ("authorization", f"  bearer   {key} ", key, False),
        ("authorization", f"Digest {key}", "", True),
        ("authorization", "Bearer sk-of-the-model", "sk-of-the-model", True),
        ("x-api-key", f" {key} ", key, False),
        ("x-api-key", "sk-of-the-model", "sk-of-the-model", True),
        ("x-other", key, "", True),
    )
    for name, value, found, is_left in rows:
        assert key_in({name: value}) == found
        headers = [(b"accept", b"*/*"), (name.title().encode(), value.encode())]
        assert without_key(headers) == (headers if is_left else headers[:1])
    assert without_key([(b"x-api-key", b"")]) == [(b"x-api-key", b"")]


def test_whose_request_it_is() -> None:
    tenant = Tenant.of(make_key("ci", NOW)[1])
    assert tenant_of({TENANT: tenant}) is tenant
    assert tenant_of({TENANT: "ci"}) is None
    assert tenant_of({}) is None
