"""Getting started: what providers there are, setting one up, and finding out what is wrong.

Three steps that every face shares, the command line and the hosts of extensions alike: `setup_schema` says what is to
be asked, `commit` keeps the answers, `verify` tries them with one call.
"""

from __future__ import annotations

from groundwire.setup.apply import Offer, SetupField, SetupPlan, commit, load_offers, setup_schema
from groundwire.setup.key_storage import clean_key
from groundwire.setup.provider_check import Verification, verify
from groundwire.setup.provider_status import ProviderStatus, provider_statuses

__all__ = [
    "Offer",
    "ProviderStatus",
    "SetupField",
    "SetupPlan",
    "Verification",
    "clean_key",
    "commit",
    "load_offers",
    "provider_statuses",
    "setup_schema",
    "verify",
]
