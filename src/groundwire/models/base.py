"""What the models share: hints for wrong names, and what rows have beside their fields."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import TYPE_CHECKING, Any, ClassVar, Final

from pydantic import ConfigDict
from pydantic_core import to_json

from groundwire.hints import field_hint


class Hinting:
    """Names the right attribute in the error for a wrong one, such as `result.link` or `result["url"]`."""

    __slots__ = ()

    if not TYPE_CHECKING:  # to a type checker a wrong name stays wrong

        def __getattr__(self, name: str) -> Any:
            hint = "" if name.startswith("_") else field_hint(name, _attributes(type(self)))
            raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}{hint}")

        def __getitem__(self, key: object) -> Any:
            raise no_item(self, key)


def no_item(model: object, key: object) -> TypeError:
    """Return the error for indexing a model as if it were a dictionary.

    Args:
        model: The model.
        key: What it was indexed by.
    """
    kind = type(model)
    has = _attributes(kind)
    if not isinstance(key, str):  # as dict(model) and list(model) ask
        has_dump = hasattr(kind, "model_dump")
        return TypeError(f"{kind.__name__!r} is neither a list nor a dictionary{'; use model_dump()' * has_dump}")
    hint = f"; use the attribute .{key}" if key in has else field_hint(key, has)
    return TypeError(f"{kind.__name__!r} is not a dictionary with {key!r}{hint}")


def _attributes(kind: type) -> frozenset[str]:
    fields: Iterable[str] = getattr(kind, "model_fields", ())  # of a pydantic model: they are no class attributes
    return frozenset((*dir(kind), *fields))


ROW_CONFIG: Final = ConfigDict(extra="forbid", ser_json_inf_nan="null", use_attribute_docstrings=True, defer_build=True)
"""How a `Row` is validated where it is a field of a model, or read from JSON."""


class Row(Hinting):
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
