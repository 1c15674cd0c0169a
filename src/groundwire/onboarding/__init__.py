"""Getting started: what providers there are, setting one up, and finding out what is wrong.

Three steps that every face shares, the command line and the hosts of extensions alike: `setup_schema` says what is to
be asked, `commit` keeps the answers, `verify` tries them with one call.
"""

from __future__ import annotations

from groundwire.onboarding.applying import Plan, commit, would_load
from groundwire.onboarding.draft import with_values
from groundwire.onboarding.keepers import FileKeeper, Keeper, KeyringKeeper, clean_key
from groundwire.onboarding.keyrings import KeyringState, keyring_state
from groundwire.onboarding.offers import Offer, load_offers
from groundwire.onboarding.schema import SetupField, setup_schema
from groundwire.onboarding.standing import Standing, key_source, standings
from groundwire.onboarding.verifying import Verdict, Verification, verify

__all__ = [
    "FileKeeper",
    "Keeper",
    "KeyringKeeper",
    "KeyringState",
    "Offer",
    "Plan",
    "SetupField",
    "Standing",
    "Verdict",
    "Verification",
    "clean_key",
    "commit",
    "key_source",
    "keyring_state",
    "load_offers",
    "setup_schema",
    "standings",
    "verify",
    "with_values",
    "would_load",
]
