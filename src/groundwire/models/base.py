"""What the models share: other libraries' names of their fields, and for those that are many, slots."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

from pydantic import ConfigDict, TypeAdapter, ValidationError

from groundwire.errors import GroundwireError
from groundwire.models.attribute_table import COMPUTED, LIKE, OTHER_NAMES, WHOLE, PageMetadata

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo
    from pydantic_core import SchemaSerializer, SchemaValidator

    from groundwire.safety.urls import WebUrl

__all__ = ["SLOTTED", "FieldAliases", "ResultSlots", "SlottedModel", "SourceSlots"]

_CONTENT = frozenset(("content", "sections", "excerpts", "matches", "match_count", "freshness", "next_cursor"))


class FieldAliases:
    """Lets a model be read as other libraries' results and pages are: their names of fields, and as a dictionary."""

    __slots__ = ()

    if not TYPE_CHECKING:  # for a type checker, an unknown name stays an error

        def __getattr__(self, name: str) -> Any:
            fields = type(self).model_fields
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
                known = {one: getattr(self, one) for one in fields if one not in _CONTENT}
                return PageMetadata(known | {"sourceURL": self.url, "source_url": self.url, "date": self.published})
            near = next((one for one in LIKE.get(name, ()) if one in fields), None)
            if near is None and hasattr(super(), "__getattr__"):  # of a pydantic model
                return super().__getattr__(name)
            if near is None:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}; did you mean {near!r}?")

        def __getitem__(self, name: str) -> Any:
            """Return a field by its name, as where results are dictionaries."""
            if name not in {*type(self).model_fields, *OTHER_NAMES, *WHOLE, *COMPUTED, "metadata"}:
                near = next((one for one in LIKE.get(name, ()) if one in type(self).model_fields), None)
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


SLOTTED: Final = ConfigDict(extra="forbid", ser_json_inf_nan="null", defer_build=True)
"""The configuration of a `SlottedModel`, for `pydantic.dataclasses.dataclass`."""


class _ModelFields:
    def __get__(self, one: object, model: type[SlottedModel]) -> dict[str, FieldInfo]:
        return model.__pydantic_fields__


class SlottedModel(FieldAliases):
    """A frozen value with a JSON form that has slots for its fields, and no dictionary.

    A subclass is a pydantic dataclass with `slots=True`: its constructor validates, and it may be a field of a model.
    It has the methods of a pydantic model, which takes several times as long to make and twice the memory.
    """

    __slots__ = ()
    __pydantic_fields__: ClassVar[dict[str, FieldInfo]]
    __pydantic_validator__: ClassVar[SchemaValidator]
    __pydantic_serializer__: ClassVar[SchemaSerializer]

    model_fields: ClassVar[_ModelFields] = _ModelFields()

    @classmethod
    def model_validate(cls, value: Any, **options: Any) -> Self:
        """Return a validated value of a dictionary; see `pydantic.BaseModel.model_validate`."""
        made: Self = cls.__pydantic_validator__.validate_python(value, **options)
        return made

    @classmethod
    def model_validate_json(cls, text: str | bytes | bytearray, **options: Any) -> Self:
        """Return a validated value of JSON; see `pydantic.BaseModel.model_validate_json`."""
        made: Self = cls.__pydantic_validator__.validate_json(text, **options)
        return made

    @classmethod
    def model_construct(cls, **values: Any) -> Self:
        """Return a value of fields of the right types, unchecked; others have their defaults."""
        made = object.__new__(cls)
        for name, field in cls.__pydantic_fields__.items():
            value = values.pop(name) if name in values else field.get_default(call_default_factory=True)
            object.__setattr__(made, name, value)
        if values:
            raise TypeError(f"{cls.__name__} has no field {next(iter(values))!r}")
        return made

    @classmethod
    def model_json_schema(cls, **options: Any) -> dict[str, Any]:
        """Return the JSON schema; see `pydantic.BaseModel.model_json_schema`."""
        return TypeAdapter(cls).json_schema(**options)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy with other values; see `pydantic.BaseModel.model_copy`."""
        values = dict(self)
        return self.model_construct(**(deepcopy(values) if deep else values) | dict(update or {}))

    def model_dump(self, **options: Any) -> dict[str, Any]:
        """Return the fields as a dictionary; see `pydantic.BaseModel.model_dump`."""
        values: dict[str, Any] = self.__pydantic_serializer__.to_python(self, **options)
        return values

    def model_dump_json(self, **options: Any) -> str:
        """Return the fields as JSON text; see `pydantic.BaseModel.model_dump_json`."""
        return self.__pydantic_serializer__.to_json(self, **options).decode()

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        for name in type(self).__pydantic_fields__:
            yield name, getattr(self, name)

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self).model_construct, **dict(self)), ()

    def __setattr__(self, name: str, value: object) -> None:
        raise ValidationError.from_exception_data(
            type(self).__name__, [{"type": "frozen_instance", "loc": (name,), "input": value}]
        )

    def __delattr__(self, name: str) -> None:
        self.__setattr__(name, None)


class ResultSlots:
    """The slots of a `SearchResult`. One that need not be validated is made by filling these and changing the class.

    That takes a fraction of the time of its constructor, or of setting the slots of a frozen value.
    """

    __slots__ = (
        *("_address", "_opener", "citation_id", "published", "published_origin", "score", "snippet", "source"),
        *("title", "url"),
    )

    _address: tuple[WebUrl, str] | None
    """The URL, parsed once, and its canonical form. None in a row that was made for one search, which may fill it in
    further; not set in a row of the constructor."""
    _opener: object
    """The web that found it."""
    citation_id: int
    title: str
    url: str
    snippet: str
    source: str
    published: str | None
    published_origin: str
    score: float | None


class SourceSlots:
    """The slots of a `Source`, as those of a result."""

    __slots__ = ("citation_id", "title", "url")

    citation_id: int
    title: str
    url: str
