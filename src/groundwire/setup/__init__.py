"""Getting started: what providers there are, setting one up, and finding out what is wrong.

Three steps that every face shares, the command line and the hosts of extensions alike: `setup_schema` says what is to
be asked, `commit` keeps the answers, `verify` tries them with one call.
"""

from __future__ import annotations

from groundwire.setup.apply import (
    Offer,
    SetupField,
    SetupPlan,
    commit,
    load_offers,
    setup_schema,
    with_values,
    would_load,
)
from groundwire.setup.key_storage import (
    FileKeeper,
    Keeper,
    KeyringKeeper,
    KeyringState,
    clean_key,
    keyring_state,
)
from groundwire.setup.provider_check import JSON_ON, Outcome, Verdict, Verification, verify, verify_all
from groundwire.setup.provider_status import ProviderStatus, key_source, provider_statuses

__all__ = [
    "JSON_ON",
    "FileKeeper",
    "Keeper",
    "KeyringKeeper",
    "KeyringState",
    "Offer",
    "Outcome",
    "ProviderStatus",
    "SetupField",
    "SetupPlan",
    "Verdict",
    "Verification",
    "clean_key",
    "commit",
    "key_source",
    "keyring_state",
    "load_offers",
    "provider_statuses",
    "setup_schema",
    "verify",
    "verify_all",
    "with_values",
    "would_load",
]
