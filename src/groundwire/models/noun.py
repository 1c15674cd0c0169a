"""What all nouns that cross a border have in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

__all__ = ["Noun"]


class Noun(BaseModel):
    """A frozen model with a JSON form."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="null")
