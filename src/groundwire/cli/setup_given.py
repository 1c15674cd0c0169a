"""What the command line gave to `groundwire setup`: keys and addresses, each for one provider."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import click
from pydantic import SecretStr

from groundwire.errors import InvalidRequest
from groundwire.onboarding import Offer, clean_key
from groundwire.settings.files import is_open_to_others

__all__ = ["Given", "read_given"]

_LARGEST = 100_000  # characters of a file with a key


@dataclass(frozen=True, slots=True)
class Given:
    """Answers that need not be asked for."""

    keys: Mapping[str, SecretStr]
    """Keys by provider."""
    addresses: Mapping[str, str]
    """Addresses by provider."""


def read_given(
    named: Iterable[str],
    offers: Mapping[str, Offer],
    *,
    from_env: Iterable[str],
    from_file: Iterable[str],
    addresses: Iterable[str],
) -> Given:
    """Return what options of the form `[PROVIDER=]VALUE` say.

    Args:
        named: The providers that the command line names.
        offers: What there is.
        from_env: `[PROVIDER=]VARIABLE` each: an environment variable that holds a key.
        from_file: `[PROVIDER=]FILE` each: a file that holds a key; `-` is standard input.
        addresses: `[PROVIDER=]URL` each.

    Raises:
        click.UsageError: it is not clear whose one is, or a key cannot be had.
    """
    with_key = [name for name in named if offers[name.partition(":")[0]].variables]
    with_address = [name for name in named if offers[name.partition(":")[0]].address_needed]
    keys: dict[str, SecretStr] = {}
    for text in from_env:
        provider, variable = _split(text, with_key, "--key-from-env")
        keys[provider] = _key(os.environ.get(variable, ""), f"the environment variable {variable}")
    for text in from_file:
        provider, name = _split(text, with_key, "--key-file")
        keys[provider] = _key(_read(name), "standard input" if name == "-" else name)
    urls = dict(_split(text, with_address, "--address") for text in addresses)
    return Given(keys, urls)


def _split(text: str, candidates: list[str], option: str) -> tuple[str, str]:
    provider, equals, value = text.partition("=")
    if equals and provider in candidates:
        return provider, value
    if len(candidates) == 1:
        return candidates[0], text
    if not candidates:
        raise click.UsageError(f"{option}: none of the providers given with --provider takes one.")
    raise click.UsageError(
        f"{option}: say whose it is, as in {option} {candidates[0]}={text.partition('=')[2] or text}"
    )


def _key(text: str, place: str) -> SecretStr:
    if not text.strip():
        raise click.UsageError(f"There is no key in {place}.")
    try:
        return clean_key(text)
    except InvalidRequest as error:
        raise click.UsageError(f"The key in {place} {error.problem}. {error.fix}") from None


def _read(name: str) -> str:
    if name == "-":
        return sys.stdin.read(_LARGEST)
    path = Path(name).expanduser()
    if is_open_to_others(path):
        click.echo(f"Note: other users of this machine can read {path}.", err=True)
    try:
        with path.open(encoding="utf-8-sig") as file:
            return file.read(_LARGEST)
    except (OSError, UnicodeDecodeError) as error:
        raise click.UsageError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}.") from None
