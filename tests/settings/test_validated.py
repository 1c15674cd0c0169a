"""Settings that are plainly right are held without a schema, exactly as pydantic would hold them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, field_validator

from groundwire.providers.base import Options
from groundwire.settings.sections import SearchSettings, SessionSettings, validated


class Required(Options):
    """One must be given."""

    region: str


class Other(Options):
    """It has another name outside."""

    region: str = Field(default="", alias="where")


class Short(Options):
    """Its text is limited by the model, not by the field."""

    model_config = ConfigDict(str_max_length=3)

    region: str = ""


class Checked(Options):
    """A function judges it."""

    region: str = ""

    @field_validator("region")
    @classmethod
    def _lower(cls, value: str) -> str:
        return value.lower()


for one in (Required, Other, Short, Checked):
    one.__module__ = "groundwire.providers.test"  # the models of other packages are always validated by pydantic


class Finished(Options):
    """It looks at itself once it is made."""

    region: str = ""

    def model_post_init(self, context: Any, /) -> None:
        if self.region == "xx":
            raise ValueError("there is no such region")


class Chosen(Options):
    """A function judges one of a few values."""

    region: Annotated[Literal["de", "fr"], AfterValidator(str.upper)] = "de"


@pytest.mark.parametrize(
    ("model", "values"),
    [
        (SearchSettings, {"providers": " searxng, brave ", "strategy": "fuse", "keyless": False}),
        (SearchSettings, {"providers": ["searxng"], "limit": 3}),
        (SearchSettings, {"providers": ["searxng", 3]}),
        (SearchSettings, {"providers": None}),
        (SearchSettings, {"strategy": "fuze"}),
        (SearchSettings, {"strategy": ["fuse"]}),
        (SearchSettings, {"keyless": "yes"}),
        (SearchSettings, {"provider": "searxng"}),
        (SearchSettings, {"local": {"backend": "brave"}}),
        (SessionSettings, {"id": "x" * 201}),
        (Finished, {"region": "xx"}),
        (Chosen, {"region": "fr"}),
        (Required, {}),
        (Required, {"region": "de"}),
        (Other, {"region": "de"}),
        (Other, {"where": "de"}),
        (Short, {"region": "world"}),
        (Checked, {"region": "DE"}),
    ],
)
def test_it_is_what_pydantic_makes(model: type[BaseModel], values: dict[str, Any]) -> None:
    def outcome(make: Any) -> object:
        try:
            made = make()
        except ValidationError as error:
            return error.errors(include_url=False, include_context=False)
        return made, made.model_fields_set

    assert outcome(lambda: validated(model, values)) == outcome(lambda: model.model_validate(values))
