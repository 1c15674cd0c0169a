"""What `groundwire setup` says and asks on a terminal."""

from __future__ import annotations

import os
import sys
import webbrowser
from collections.abc import Mapping, Sequence
from pathlib import Path

import click
from pydantic import SecretStr

from groundwire.cli.terminal import clean, wrap
from groundwire.errors import InvalidRequest
from groundwire.onboarding import Offer, Standing, Verification, clean_key
from groundwire.settings.suggest import did_you_mean

__all__ = ["Talk", "can_open_pages"]

_WIDTH = 80


def can_open_pages(platform: str = sys.platform) -> bool:
    """Tell whether a page would open in a window; a browser in this terminal would be in the way."""
    windows = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    return platform in {"darwin", "win32"} or any(os.environ.get(name) for name in windows)


class Talk:
    """A conversation on the terminal.

    Args:
        browser: Whether to offer to open pages.
    """

    def __init__(self, *, browser: bool) -> None:
        self._browser = browser and can_open_pages()

    def say(self, text: str = "", *, bold: bool = False, colour: str | None = None) -> None:
        """Say something."""
        click.echo(click.style(clean(text), fg=colour, bold=bold or None))

    def confirm(self, question: str, *, default: bool) -> bool:
        """Ask for yes or no."""
        return click.confirm(question, default=default)

    def list_offers(self, title: str, rows: Sequence[Standing]) -> None:
        """Show what there is to choose from, with numbers."""
        day = max((row.offer.prices.as_of for row in rows), default="")
        self.say(f"{title}, prices as of {day}" if day else title, bold=True)
        for number, row in enumerate(rows, 1):
            offer = row.offer
            price = "free" if offer.price == "free" else f"{offer.price} per 1,000"
            if "tok" in offer.price:
                price = offer.price.replace("/Mtok", " per million tokens")
            facts = [price]
            if offer.prices.free:
                facts.append(f"free: {offer.prices.free}")
            facts.append(_need(row))
            head = f" {number:>2}  {row.name:<16}"
            self.say(wrap("; ".join(fact for fact in facts if fact) + ".", _WIDTH, " " * 21, head + " "))
        self.say()

    def choose(self, question: str, rows: Sequence[Standing], default: Sequence[str]) -> tuple[str, ...]:
        """Ask for numbers or names until they are known ones."""
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
        """Ask where a service is that somebody runs."""
        return str(click.prompt(f"Address of {name}", default=default)).strip()

    def introduce(self, offer: Offer) -> None:
        """Say what a provider is and where its key is had, and open that page if that is wanted."""
        self.say()
        self.say(wrap(f"{offer.name}: {offer.summary}.", _WIDTH, "  "), bold=True)
        if not offer.key_page:
            return
        self.say(f"A key is had at {offer.key_page}")
        if self._browser and self.confirm("Open that page in your browser?", default=True):
            webbrowser.open(offer.key_page)

    def key(self, offer: Offer) -> SecretStr | None:
        """Ask for a key without showing it; None when there is none to be given."""
        otherwise = "go on without one" if offer.keyless or not offer.key_needed else f"leave {offer.name} out"
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

    def told(self, result: Verification) -> None:
        """Say what a call showed."""
        cost = f" (${result.cost_usd:.4f})" if result.cost_usd else ""
        if result.works:
            text = f"{result.provider} works: {result.what[:1].lower()}{result.what[1:]}{cost}"
            self.say(wrap(text, _WIDTH, "  "), colour="green")
            return
        self.say(wrap(f"{result.provider}: {_HEADLINES[result.verdict]} {result.what}", _WIDTH, "  "), colour="yellow")
        self.say(wrap(result.fix, _WIDTH, "  ", "  "))


_HEADLINES: Mapping[str, str] = {
    "wrong_key": "the key is wrong.",
    "wrong_plan": "the plan does not have this.",
    "no_quota": "the key is right, and its quota is used up.",
    "too_fast": "the key is right, and it was asked too often.",
    "unreachable": "it cannot be reached.",
    "blocked": "it refuses this machine.",
    "not_set_up": "something is missing.",
    "failed": "it does not work.",
}


def _need(row: Standing) -> str:
    offer = row.offer
    if row.key_from:
        return f"key: {Path(row.key_from).name}"
    if offer.address_needed and row.state != "ready":
        return "wants its address"
    if offer.keyless:
        return "key wanted, works without"
    if offer.key_needed:
        return "key needed"
    if offer.variables:
        return "key optional"
    return "ready" if row.state == "ready" else row.reason.rstrip(".")
