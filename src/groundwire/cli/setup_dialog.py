"""The dialog of `groundwire setup`: which providers, and what each of them needs, verified with one call."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
from pydantic import SecretStr

from groundwire.cli.call_runner import progress, without_waiting
from groundwire.cli.terminal_text import clean, warn, write, write_problem
from groundwire.errors import InvalidRequest
from groundwire.models.validators import did_you_mean
from groundwire.settings import Settings
from groundwire.setup import Offer, ProviderStatus, Verification, clean_key, verify

_SEARXNG_ADDRESS = "http://127.0.0.1:8888"


def choose(title: str, question: str, rows: Sequence[ProviderStatus], default: Sequence[str]) -> tuple[str, ...]:
    """List providers with numbers, and ask for numbers or names until all are valid."""
    day = max((row.offer.prices.as_of for row in rows), default="")
    write(f"{title}, prices as of {day}" if day else title, bold=True)
    for number, row in enumerate(rows, 1):
        write(clean(f" {number:>2}  {row.name:<16} {'; '.join(_facts(row))}."), hang=21)
    write()
    names = {name: name for name in (row.name for row in rows)}
    choices = names | {str(number): name for number, name in enumerate(names, 1)}
    while True:
        answer = str(click.prompt(question, default=", ".join(default) or None))
        words = answer.lower().replace(",", " ").split()
        if wrong := next((word for word in words if word not in choices), ""):
            write(clean(f"{wrong!r} is not in the list{did_you_mean(wrong, names)}"))
        elif words:
            return tuple(dict.fromkeys(choices[word] for word in words))


def _facts(row: ProviderStatus) -> list[str]:
    """Return the price of a provider, and what it needs."""
    offer = row.offer
    price = "free" if offer.price == "free" else f"{offer.price} per 1,000"
    if "tok" in offer.price:
        price = offer.price.replace("/Mtok", " per million tokens")
    free = f"free: {offer.prices.free}" if offer.prices.free else ""
    return list(filter(None, ("" if free and price == "free" else price, free, row.price_note, _need(row))))


def _need(row: ProviderStatus) -> str:
    offer = row.offer
    if row.key_from:
        return f"key: {Path(row.key_from).name}"
    if offer.address_needed and row.state != "ready":
        return "needs its URL"
    if offer.variables:
        return "key needed" if offer.key_needed else "key optional"
    return "ready" if row.state == "ready" else row.reason.rstrip(".")


@dataclass(slots=True)
class Dialog:
    """Collects what the chosen providers need; writes nothing."""

    settings: Settings
    """The settings in effect."""
    values: dict[str, Any] = field(default_factory=dict)
    """Settings to write, by dotted key."""
    keys: dict[str, SecretStr] = field(default_factory=dict)
    """Keys to store, by variable."""

    def take(self, row: ProviderStatus) -> bool:
        """Collect what one provider needs; return whether to use it."""
        name, offer = row.name, row.offer
        options: dict[str, Any] = {}
        if offer.is_service:
            write()
            if not row.key_from:
                self._introduce(offer)
        if row.state == "not_set_up" and not offer.address_needed:
            warn(f"{name} is not ready yet: {row.reason}.")
        while True:
            if offer.address_needed:
                current = options.get("base_url") or self.settings.providers.get(name, {}).get("base_url")
                address = click.prompt(f"Address of {name}", default=str(current or _SEARXNG_ADDRESS))
                options["base_url"] = str(address).strip()
            key = _key(row)
            if offer.key_needed and key is None and not row.key_from:
                return False
            is_used = not offer.is_service or _is_used(row, self._try(row, options, key))
            if is_used is None:
                continue
            if is_used:
                self.values |= {f"providers.{name}.{option}": value for option, value in options.items()}
                if key is not None:
                    self.keys[offer.variables[0]] = key
            return is_used

    def _introduce(self, offer: Offer) -> None:
        """Describe a provider and where to get a key."""
        write(clean(f"  {offer.name}: {offer.summary}."), bold=True)
        if offer.key_page:
            write(f"Get a key at {offer.key_page}")

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


def _key(row: ProviderStatus) -> SecretStr | None:
    """Return a new key; None for the existing one, or none."""
    offer = row.offer
    if not offer.variables:
        return None
    if row.key_from and click.confirm(f"{row.name} has a key ({row.key_from}). Keep it?", default=True):
        return None
    otherwise = "continue without one" if not offer.key_needed else f"leave {offer.name} out"
    question = f"{offer.variables[0]} (not shown; Enter alone to {otherwise})"
    while text := click.prompt(question, hide_input=True, default="", show_default=False).strip():
        try:
            return clean_key(text)
        except InvalidRequest as error:
            write(clean(f"That {error.problem}. {error.fix}"))
    return None


def _is_used(row: ProviderStatus, result: Verification) -> bool | None:
    """Print the result of a call; return whether to use the provider, or None to ask for its address and key again."""
    if result.works:
        cost = f" (${result.cost_usd:.4f})" if result.cost_usd else ""
        write(clean(f"  {result.provider} works: {result.what[:1].lower()}{result.what[1:]}{cost}"), fg="green")
        return True
    write_problem(f"{row.name}: {result.what}", result.why, result.fix, color="yellow")
    if result.verdict in {"quota-used-up", "rate-limited"}:  # the key is valid
        return True
    is_key = bool(row.offer.variables) and result.verdict in {"key-wrong", "key-plan"}
    again = "address" if row.offer.address_needed else "key" if is_key else ""
    is_likely = again == "key" or result.verdict in {"provider-unreachable", "provider-not-set-up"}
    if again and click.confirm(f"Try another {again}?", default=is_likely):
        return None
    is_down = not again and result.verdict == "provider-unreachable"
    return again != "key" and click.confirm(f"Use {row.name} anyway?", default=is_down)
