"""A terminal, as tests of the library's own commands have it."""

from __future__ import annotations

from cli.conftest import terminal as terminal
