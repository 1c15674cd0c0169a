"""The modules of the server: what they offer is there, and says what it is for."""

from __future__ import annotations

import groundwire_server
from test_public import check_modules, without_docstring


def test_every_module_says_what_it_offers_and_offers_it() -> None:
    check_modules(groundwire_server)


def test_every_public_thing_has_a_docstring() -> None:
    assert without_docstring(groundwire_server) == []
