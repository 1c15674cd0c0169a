"""What the models share: other libraries' names of their fields, and what rows have beside their fields."""

from __future__ import annotations

from collections.abc import Container
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

from pydantic import ConfigDict
from pydantic_core import to_json

from groundwire.errors import GroundwireError
from groundwire.models.attribute_table import COMPUTED, LIKE, OTHER_NAMES, WHOLE, PageMetadata

__all__ = ["ROW_CONFIG", "FieldAliases", "Row"]

_CONTENT = frozenset(("content", "sections", "excerpts", "matches", "match_count", "freshness", "next_cursor"))


def _field_names(kind: Any) -> Container[str]:
    names: Container[str] = getattr(kind, "model_fields", None) or kind.__dataclass_fields__
    return names


class FieldAliases:
    """Lets a model be read as other libraries' results and pages are: their names of fields, and as a dictionary."""

    __slots__ = ()

    if not TYPE_CHECKING:  # for a type checker, an unknown name stays an error

        def __getattr__(self, name: str) -> Any:
            fields = _field_names(type(self))
            right = next((one for one in OTHER_NAMES.get(name, ()) if one in fields), None)
            if right is not None:
                return getattr(self, right)
            if name in ("ok", "success", "is_success", "successful") and "status" in fields:
                return self.status == "success"
            if name in ("status_code", "code") and "status" in fields:  # a page that was read had the status 200
                return 200 if self.status == "success" else None
            field, made = COMPUTED.get(name, ("", None))
            if made is not None and (not field or field in fields):
                return made(getattr(self, field) if field else self)
            if name in ("fetch", "read", "load", "scrape", "get_page", "extract") and hasattr(self, "open"):
                return self.open
            if name in WHOLE and "content" in fields:  # of Tavily: a list of one
                return (self,)
            if name in ("metadata", "meta") and "content" in fields:
                known = {one: getattr(self, one) for one in type(self).model_fields if one not in _CONTENT}
                return PageMetadata(known | {"sourceURL": self.url, "source_url": self.url, "date": self.published})
            near = next((one for one in LIKE.get(name, ()) if one in fields), None)
            if near is None and hasattr(super(), "__getattr__"):  # of a pydantic model
                return super().__getattr__(name)
            if near is None:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}; did you mean {near!r}?")

        def __getitem__(self, name: str) -> Any:
            """Return a field by its name, as where results are dictionaries."""
            if name not in _field_names(type(self)) and name not in {*OTHER_NAMES, *WHOLE, *COMPUTED, "metadata"}:
                near = next((one for one in LIKE.get(name, ()) if one in _field_names(type(self))), None)
                raise KeyError(f"{name!r}; did you mean {near!r}?" if near else name)
            return getattr(self, name)

        def raise_for_status(self) -> Self:
            """Return a page that was read; of one that was not, raise its error, as HTTP clients do."""
            if getattr(self, "status", "success") == "error":
                raise GroundwireError(self.error)
            return self

        def get(self, name: str, default: Any = None) -> Any:
            """Return a field by its name, as where results are dictionaries."""
            return getattr(self, name, default)

        def to_dict(self) -> dict[str, Any]:
            """Return the model as a dictionary: another name of `model_dump`."""
            return self.model_dump()

        def to_json(self) -> str:
            """Return the model as JSON text: another name of `model_dump_json`."""
            return self.model_dump_json()


ROW_CONFIG: Final = ConfigDict(extra="forbid", ser_json_inf_nan="null", use_attribute_docstrings=True, defer_build=True)
"""How a `Row` is validated where it is a field of a model, or read from JSON."""


class Row(FieldAliases):
    """What results and sources share: a JSON form, and two slots that only the process that made them uses.

    A subclass is a dataclass with slots. A search makes a dozen, so that its constructor checks nothing; a response
    that is read from JSON checks its rows.
    """

    __slots__ = ("_address", "_opener")
    __dataclass_fields__: ClassVar[dict[str, Any]]

    _address: tuple[Any, str] | None
    """The URL in parts (a `WebUrl`, of a higher layer), and its canonical form, once a search has cleaned the row."""
    _opener: object
    """The web that found it, once it has a number in a session."""

    def __post_init__(self) -> None:
        """Begin without an address and a web."""
        self._address = self._opener = None

    def carry(self, address: tuple[Any, str] | None) -> None:
        """Keep the URL in parts and its canonical form, so that no later step parses it again."""
        self._address = address

    def bind(self, opener: object) -> None:
        """Set the web whose `open_page` opens the row."""
        self._opener = opener

    def model_dump(self, *, include: Container[str] | None = None) -> dict[str, Any]:
        """Return the fields as a dictionary, as that of a response.

        Args:
            include: Only these fields.
        """
        names = self.__dataclass_fields__
        return {name: getattr(self, name) for name in names if include is None or name in include}

    def model_dump_json(self) -> str:
        """Return the fields as JSON text, as that of a response."""
        return to_json(self, inf_nan_mode="null").decode()

    def __getstate__(self) -> tuple[None, dict[str, Any]]:
        return None, self.model_dump()

    def __setstate__(self, state: tuple[None, dict[str, Any]]) -> None:
        self.__post_init__()
        for name, value in state[1].items():
            setattr(self, name, value)
