"""The prompts of `groundwire setup`, and the keys and base URLs given to it on the command line."""

from __future__ import annotations

import os
import sys
import webbrowser
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import click
from pydantic import SecretStr

from groundwire.cli.terminal_text import clean, warn, write, write_problem
from groundwire.errors import InvalidRequest
from groundwire.models.validators import did_you_mean
from groundwire.settings.sources import is_open_to_others
from groundwire.settings.user_folders import expand_user
from groundwire.setup import Offer, ProviderStatus, Verification, clean_key

__all__ = ["PresetAnswers", "Talk", "can_open_pages", "parse_presets"]

_MAX_KEY_CHARS = 100_000  # characters of a key file


@dataclass(frozen=True, slots=True)
class PresetAnswers:
    """Answers given in advance."""

    keys: Mapping[str, SecretStr]
    """Keys by provider."""
    addresses: Mapping[str, str]
    """Base URLs by provider."""


def parse_presets(
    named: Iterable[str],
    offers: Mapping[str, Offer],
    *,
    from_env: Iterable[str],
    from_file: Iterable[str],
    addresses: Iterable[str],
) -> PresetAnswers:
    """Parse options of the form `[PROVIDER=]VALUE`.

    Args:
        named: The providers named on the command line.
        offers: The available providers.
        from_env: Each `[PROVIDER=]VARIABLE`: an environment variable with a key.
        from_file: Each `[PROVIDER=]FILE`: a file with a key; `-` is standard input.
        addresses: Each `[PROVIDER=]URL`.

    Raises:
        click.UsageError: the provider of one is ambiguous, or a key cannot be read.
    """
    with_key = [name for name in named if offers[name.partition(":")[0]].variables]
    with_address = [name for name in named if offers[name.partition(":")[0]].address_needed]
    keys: dict[str, SecretStr] = {}
    for text in from_env:
        provider, variable = _split(text, with_key, "--key-from-env")
        keys[provider] = _key(os.environ.get(variable, ""), f"the environment variable {variable}")
    for text in from_file:
        provider, name = _split(text, with_key, "--key-file")
        keys[provider] = _key(_read_key_file(name), "standard input" if name == "-" else name)
    urls = dict(_split(text, with_address, "--address") for text in addresses)
    return PresetAnswers(keys, urls)


def _split(text: str, candidates: list[str], option: str) -> tuple[str, str]:
    provider, equals, value = text.partition("=")
    if equals and provider in candidates:
        return provider, value
    if len(candidates) == 1:
        return candidates[0], text
    if not candidates:
        raise click.UsageError(f"{option}: none of the providers given with --provider takes one.")
    raise click.UsageError(
        f"{option}: name the provider, as in {option} {candidates[0]}={text.partition('=')[2] or text}"
    )


def _key(text: str, place: str) -> SecretStr:
    if not text.strip():
        raise click.UsageError(f"There is no key in {place}.")
    try:
        return clean_key(text)
    except InvalidRequest as error:
        raise click.UsageError(f"The key in {place} {error.problem}. {error.fix}") from None


def _read_key_file(name: str) -> str:
    if name == "-":
        return sys.stdin.read(_MAX_KEY_CHARS)
    path = expand_user(name)
    if is_open_to_others(path):
        warn(f"Other users of this machine can read {path}.")
    try:
        with path.open(encoding="utf-8-sig") as file:
            return file.read(_MAX_KEY_CHARS)
    except (OSError, UnicodeDecodeError) as error:
        raise click.UsageError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}.") from None


def can_open_pages() -> bool:
    """Return whether a web page would open in a window; a browser in this terminal would interfere."""
    windows = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    return sys.platform in {"darwin", "win32"} or any(os.environ.get(name) for name in windows)


class Talk:
    """The dialog on the terminal.

    Args:
        browser: Whether to offer to open pages.
    """

    def __init__(self, *, browser: bool) -> None:
        self._browser = browser and can_open_pages()

    def say(self, text: str = "", *, bold: bool = False, color: str | None = None, hang: int | None = None) -> None:
        """Print text."""
        write(clean(text), fg=color, bold=bold or None, hang=hang)

    def confirm(self, question: str, *, default: bool) -> bool:
        """Ask a yes-or-no question."""
        return click.confirm(question, default=default)

    def list_offers(self, title: str, rows: Sequence[ProviderStatus]) -> None:
        """List the available choices with numbers."""
        day = max((row.offer.prices.as_of for row in rows), default="")
        self.say(f"{title}, prices as of {day}" if day else title, bold=True)
        for number, row in enumerate(rows, 1):
            offer = row.offer
            price = "free" if offer.price == "free" else f"{offer.price} per 1,000"
            if "tok" in offer.price:
                price = offer.price.replace("/Mtok", " per million tokens")
            facts = [] if price == "free" and offer.prices.free else [price]
            if offer.prices.free:
                facts.append(f"free: {offer.prices.free}")
            facts.append(row.price_note)
            facts.append(_need(row))
            self.say(f" {number:>2}  {row.name:<16} {'; '.join(filter(None, facts))}.", hang=21)
        self.say()

    def choose(self, question: str, rows: Sequence[ProviderStatus], default: Sequence[str]) -> tuple[str, ...]:
        """Ask for numbers or names until all are valid."""
        names = [row.name for row in rows]
        while True:
            answer = click.prompt(question, default=", ".join(default) or None)
            chosen: list[str] = []
            wrong = ""
            for word in str(answer).replace(",", " ").split():
                if word.isascii() and word.isdigit() and 1 <= int(word) <= len(names):
                    chosen.append(names[int(word) - 1])
                elif word.lower() in names:
                    chosen.append(word.lower())
                else:
                    wrong = wrong or word
            if wrong:
                self.say(f"{wrong!r} is not in the list{did_you_mean(wrong, names)}")
            elif chosen:
                return tuple(dict.fromkeys(chosen))

    def address(self, name: str, default: str) -> str:
        """Ask for the base URL of a self-hosted service."""
        return str(click.prompt(f"Address of {name}", default=default)).strip()

    def introduce(self, offer: Offer) -> None:
        """Describe a provider and where to get a key, and offer to open that page."""
        self.say()
        self.say(f"  {offer.name}: {offer.summary}.", bold=True)
        if not offer.key_page:
            return
        self.say(f"Get a key at {offer.key_page}")
        if self._browser and self.confirm("Open that page in your browser?", default=True):
            webbrowser.open(offer.key_page)

    def key(self, offer: Offer) -> SecretStr | None:
        """Ask for a key without echoing it; None if there is none."""
        otherwise = "continue without one" if offer.keyless or not offer.key_needed else f"leave {offer.name} out"
        while True:
            text = click.prompt(
                f"{offer.variables[0]} (not shown; Enter alone to {otherwise})",
                hide_input=True,
                default="",
                show_default=False,
            )
            if not text.strip():
                return None
            try:
                return clean_key(text)
            except InvalidRequest as error:
                self.say(f"That {error.problem}. {error.fix}")

    def report(self, result: Verification) -> None:
        """Print the result of a call."""
        cost = f" (${result.cost_usd:.4f})" if result.cost_usd else ""
        if result.works:
            text = f"{result.provider} works: {result.what[:1].lower()}{result.what[1:]}{cost}"
            self.say(f"  {text}", color="green")
            return
        what = f"{result.provider}: {result.outcome.headline} {result.what}"
        write_problem(what, result.why, result.fix, color="yellow")


def _need(row: ProviderStatus) -> str:
    offer = row.offer
    if row.key_from:
        return f"key: {Path(row.key_from).name}"
    if offer.address_needed and row.state != "ready":
        return "needs its URL"
    if offer.keyless:
        return "key optional"
    if offer.key_needed:
        return "key needed"
    if offer.variables:
        return "key optional"
    return "ready" if row.state == "ready" else row.reason.rstrip(".")
