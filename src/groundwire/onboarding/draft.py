"""Putting settings into the text of a `groundwire.toml`; comments, order and everything else in it stay."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AbstractTable

from groundwire.errors import ConfigurationError

__all__ = ["with_values"]


def with_values(text: str, values: Mapping[str, Any]) -> str:
    """Return a settings file with some settings in it; one that has its value already is not touched.

    Args:
        text: The file; empty for none.
        values: Values by dotted key, such as `search.providers` or `providers.searxng:backup.base_url`; lists as tuples
            or lists.

    Raises:
        ConfigurationError: the text is not TOML, or something else stands where a section should be.
    """
    try:
        document = tomlkit.parse(text)
    except TOMLKitError as error:
        raise ConfigurationError(
            f"The settings file is not TOML: {error}. Mend it first; nothing was changed."
        ) from None
    changed = False
    for dotted, value in values.items():
        section, _, option = dotted.rpartition(".")
        wanted = list(value) if isinstance(value, (tuple, list)) else value
        table = _table(document, section)
        if option in table and table[option] == wanted:
            continue
        table[option] = wanted
        changed = True
    if not changed:
        return text
    written = tomlkit.dumps(document)
    return re.sub("\r?\n", "\r\n", written) if "\r\n" in text else written


def _table(document: Any, section: str) -> Any:
    """Return a table, made where it is missing; `providers.NAME` may have dots in its name only by quoting."""
    table = document
    for name in section.split(".", 1) if section.startswith("providers.") else section.split("."):
        if name not in table:
            if table is document and document.as_string().strip() and not document.as_string().endswith("\n\n"):
                document.add(tomlkit.nl())
            table[name] = tomlkit.table(is_super_table=True) if name == "providers" else tomlkit.table()
        table = table[name]
        if not isinstance(table, AbstractTable) and not hasattr(table, "unwrap_items") and not _is_table(table):
            raise ConfigurationError(f"In the settings file, {name} is no section. Mend it first; nothing was changed.")
    return table


def _is_table(value: Any) -> bool:
    """Tell whether it can be used as a table; one whose parts stand apart in the file comes as a proxy."""
    return isinstance(value, Mapping)
