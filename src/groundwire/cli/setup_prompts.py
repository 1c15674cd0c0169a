"""The prompts of `groundwire setup`."""

from __future__ import annotations

import os
import sys
import webbrowser
from collections.abc import Sequence
from pathlib import Path

import click
from pydantic import SecretStr

from groundwire.cli.terminal_text import clean, write, write_problem
from groundwire.errors import InvalidRequest
from groundwire.models.validators import did_you_mean
from groundwire.setup import Offer, ProviderStatus, Verification, clean_key

__all__ = ["Talk", "can_open_pages"]


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
