"""The steps of `groundwire setup`: what each chosen provider needs, verified with one call."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import SecretStr

from groundwire.cli.call_runner import progress, without_waiting
from groundwire.cli.setup_prompts import Talk
from groundwire.cli.terminal_text import warn
from groundwire.settings import Settings
from groundwire.setup import ProviderStatus, Verification, verify

__all__ = ["Steps"]

_SEARXNG_ADDRESS = "http://127.0.0.1:8888"


@dataclass(slots=True)
class Steps:
    """Collects what the chosen providers need; writes nothing."""

    settings: Settings
    """The settings in effect."""
    talk: Talk
    """The prompts."""
    values: dict[str, Any] = field(default_factory=dict)
    """Settings to write, by dotted key."""
    keys: dict[str, SecretStr] = field(default_factory=dict)
    """Keys to store, by variable."""
    left_out: set[str] = field(default_factory=set)
    """Providers given up on the way."""

    def take(self, rows: Sequence[ProviderStatus]) -> None:
        """Collect what some providers need."""
        for row in rows:
            if not self._take(row):
                self.left_out.add(row.name)

    def _take(self, row: ProviderStatus) -> bool:
        """Collect what one provider needs; return whether to use it."""
        name, offer = row.name, row.offer
        options: dict[str, Any] = {}
        if offer.is_service:
            self.talk.introduce(offer) if not row.key_from else self.talk.say()
        if row.state == "not_set_up" and not offer.address_needed:
            warn(f"{name} is not ready yet: {row.reason}.")
        while True:
            if offer.address_needed:
                current = options.get("base_url") or self.settings.providers.get(name, {}).get("base_url")
                options["base_url"] = self.talk.address(name, str(current or _SEARXNG_ADDRESS))
            key, keyless = self._key(row)
            if offer.key_needed and key is None and not row.key_from and not keyless:
                return False
            if keyless and not self.settings.providers.get(name, {}).get("keyless"):
                options["keyless"] = True
            result = self._try(row, options, key) if offer.is_service else None
            is_used = self._judge(row, result)
            if is_used is None:
                continue
            if is_used:
                self.values |= {f"providers.{name}.{option}": value for option, value in options.items()}
                if key is not None:
                    self.keys[offer.variables[0]] = key
            return is_used

    def _key(self, row: ProviderStatus) -> tuple[SecretStr | None, bool]:
        """Return a new key, or None to keep the existing one, and whether to use the provider without a key."""
        offer = row.offer
        if not offer.variables:
            return None, False
        if row.key_from and self.talk.confirm(f"{row.name} has a key ({row.key_from}). Keep it?", default=True):
            return None, False
        key = self.talk.key(offer)
        return key, key is None and offer.keyless

    def _try(self, row: ProviderStatus, options: Mapping[str, Any], key: SecretStr | None) -> Verification:
        settings = self.settings
        if options:
            own = {**settings.providers.get(row.name, {}), **options}
            settings = settings.model_copy(update={"providers": {**settings.providers, row.name: own}})
        if key is not None:
            for number, variable in enumerate(row.offer.variables):  # no other key may replace a wrong one
                settings = settings.with_key(variable, SecretStr("") if number else key)
        with progress(f"Asking {row.name}"):
            return asyncio.run(without_waiting(lambda: verify(row.name, settings)))

    def _judge(self, row: ProviderStatus, result: Verification | None) -> bool | None:
        """Return whether to use a provider after its test, or None to ask for its base URL and key again."""
        if result is None:
            return True
        self.talk.report(result)
        if result.outcome.input == "good":
            return True
        if row.offer.address_needed:
            if self.talk.confirm("Try another address?", default=result.verdict in {"unreachable", "not_set_up"}):
                return None
            return self.talk.confirm(f"Use {row.name} anyway?", default=False)
        if result.verdict == "unreachable":
            return self.talk.confirm(f"Use {row.name} anyway?", default=True)
        if row.offer.variables and result.verdict in {"wrong_key", "wrong_plan"}:
            if self.talk.confirm("Try another key?", default=True):
                return None
            return False
        return self.talk.confirm(f"Use {row.name} anyway?", default=False)
