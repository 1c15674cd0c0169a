"""What each model API can do, read from `data/matrix.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Literal

from groundwire.errors import InvalidRequest
from groundwire.models.validators import did_you_mean

__all__ = ["Api", "ApiCapabilities", "Difference", "Hosted", "Version", "Wire", "load_matrix"]

Wire = Literal["anthropic", "bedrock", "chat", "gemini", "interactions", "mistral", "responses"]
"""The form in which an API takes function tools."""

MaxUses = Literal["request", "total", "no"]
"""How an API bounds searches: those of a request, all hosted calls of a request together, not at all."""

_WORDS = ("location", "efforts", "refuses")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hosted:
    """What one hosted tool can do."""

    tool: str
    """Its type, or the parameter that stands for it."""
    max_uses: MaxUses = "no"
    """How searches are bounded."""
    include: int | None = 0
    """The most domains to which it can be kept; None is no known bound, 0 is never."""
    exclude: int | None = 0
    """The most domains that it can leave out; None is no known bound, 0 is never."""
    together: bool = False
    """Whether both lists may be sent at once."""
    leaks: bool = False
    """Whether excluded domains have been seen in answers all the same."""
    whole_domains: bool = False
    """Whether it takes whole sites only, no sub-domains."""
    recency: bool = False
    """Whether it can be kept to a time of publication."""
    location: tuple[str, ...] = ()
    """The parts of a user's place that it understands."""
    functions: bool = False
    """Whether it works beside the caller's own function tools."""
    function_flag: bool = False
    """Whether that needs a flag in the request."""
    efforts: tuple[str, ...] = ()
    """The reasoning efforts with which it is refused."""
    refuses: tuple[str, ...] = ()
    """The parameters with which it is refused."""
    always: bool = False
    """Whether the model searches whatever it is asked."""
    switch_to: str = ""
    """The model that searches instead of the one that was named."""
    notes: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Why an ability is as it is, by the ability's name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What is different for a cloud or for some models."""

    cloud: str = ""
    """Only there; empty is everywhere."""
    models: tuple[str, ...] = ()
    """Only for names that match one of these patterns; empty is for all."""
    changes: Mapping[str, Any]
    """The abilities that differ, with `hosted` and `tools` among them."""
    note: str = ""
    """Why, in words for an operator."""
    source: str
    """Who said so, and when."""

    def fits(self, cloud: str, model: str) -> bool:
        """Tell whether it speaks of a model on a cloud."""
        return self.cloud in ("", cloud) and (not self.models or _matches(model, self.models))


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """Another version of a hosted tool, taken only when it is configured."""

    tool: str
    """Its type."""
    clouds: tuple[str, ...]
    """Where it is served."""
    models: tuple[str, ...]
    """The patterns of the models that have it."""
    direct_for: tuple[str, ...] = ()
    """The models that may only call it directly, which the request must then say."""
    note: str = ""
    """What it is, in words for an operator."""
    source: str
    """Who said so, and when."""

    def fits(self, cloud: str, model: str) -> bool:
        """Tell whether a model on a cloud has it."""
        return cloud in self.clouds and _matches(model, self.models)

    def direct(self, model: str) -> bool:
        """Tell whether a model may only call it directly."""
        return _matches(model, self.direct_for)


@dataclass(frozen=True, slots=True, kw_only=True)
class Api:
    """One model API."""

    name: str
    """Its name here."""
    title: str
    """Its name for people."""
    provider: str
    """Whose models it serves; the word of the setting `search.native.providers`."""
    wire: Wire
    """The form of its function tools."""
    body: str
    """The key under which a request holds the conversation."""
    clouds: tuple[str, ...]
    """Where it is served; the first is the vendor's own."""
    index_unit: str
    """How its citations count: char, utf8_byte, block, chunk or none."""
    hosted: Hosted | None
    """What the hosted search of its newest models can do; None where there is none."""
    exceptions: tuple[Difference, ...]
    """What is different elsewhere; later ones win."""
    versions: tuple[Version, ...]
    """Other versions of the tool."""
    source: str
    """Who said so, and when."""

    def look_up(self, model: str, cloud: str) -> tuple[Hosted | None, bool, str]:
        """Return what a model's hosted search can do (or None), whether it calls function tools, and why not."""
        changes: dict[str, Any] = {}
        notes: dict[str, str] = {}
        for exception in self.exceptions:
            if exception.fits(cloud, model):
                changes |= exception.changes
                notes |= dict.fromkeys(exception.changes, exception.note)
        tools = bool(changes.pop("tools", True))
        available = bool(changes.pop("hosted", True))
        if self.hosted is None or not available:
            return None, tools, notes.get("hosted" if tools else "tools", "")
        return replace(self.hosted, **changes, notes=MappingProxyType(notes)), tools, notes.get("tools", "")


@dataclass(frozen=True, slots=True)
class ApiCapabilities:
    """Every model API that is known."""

    apis: Mapping[str, Api]
    """By name."""

    def api(self, name: str, body: Mapping[str, Any] | None = None) -> Api:
        """Return an API by its name, or a provider's API by the provider's name.

        Args:
            name: Such as `anthropic`, `openai_chat`, `ollama`; a provider with several APIs (`openai`, `gemini`, `xai`,
                `mistral`) means the one in whose form the body is, and without a body its newest one.
            body: The request.

        Raises:
            InvalidRequest: it is not known; the message lists the names.
        """
        of_provider = [api for api in self.apis.values() if api.provider == name]
        if not of_provider:
            if found := self.apis.get(name):
                return found
            known = [*self.apis, *(api.provider for api in self.apis.values())]
            raise InvalidRequest(
                "api",
                f"does not know {str(name)[:80]!r}{did_you_mean(str(name), known).rstrip('.?')}",
                f"Pass one of: {', '.join(sorted(dict.fromkeys(known)))}.",
            )
        return next((api for api in of_provider if body is not None and api.body in body), of_provider[0])

    def api_or_local(self, name: str, body: Mapping[str, Any] | None = None) -> Api:
        """Return an API by its name; one that is not known has no hosted search, and tools in the form of its body.

        Args:
            name: See `api`.
            body: The request: one with `contents` is in the form of Gemini, with `input` in that of OpenAI Responses,
                and any other in that of OpenAI Chat Completions.
        """
        if not name.strip() or any(name in (row.name, row.provider) for row in self.apis.values()):
            return self.api(name, body)
        forms = ("gemini", "openai_responses")
        form = next((one for one in forms if body is not None and self.apis[one].body in body), "openai_compatible")
        return replace(
            self.apis[form], title=name, provider=name, clouds=("api",), hosted=None, exceptions=(), versions=()
        )


@cache
def load_matrix() -> ApiCapabilities:
    """Return the matrix as it is shipped.

    Raises:
        ValueError: the file is not of its form.
    """
    text = files("groundwire.hosted").joinpath("data", "matrix.toml").read_text(encoding="utf-8")
    return ApiCapabilities(MappingProxyType({name: _api(name, entry) for name, entry in tomllib.loads(text).items()}))


def _api(name: str, entry: dict[str, Any]) -> Api:
    hosted = entry.pop("hosted", None)
    exceptions = tuple(_exception(name, item) for item in entry.pop("except", ()))
    versions = tuple(
        Version(**{**item, **_tuples(item, "clouds", "models", "direct_for")}) for item in entry.pop("version", ())
    )
    clouds = ("api", *entry.pop("clouds", ()))
    unit = entry.pop("index_unit", "none")
    return Api(
        name=name,
        clouds=clouds,
        index_unit=unit,
        hosted=Hosted(**_abilities(hosted)) if hosted else None,
        exceptions=exceptions,
        versions=versions,
        **entry,
    )


def _exception(name: str, item: dict[str, Any]) -> Difference:
    known: dict[str, Any] = {key: item.pop(key) for key in ("cloud", "models", "note", "source") if key in item}
    changes = _abilities(item)
    wrong = set(changes) - set(Hosted.__dataclass_fields__) - {"hosted", "tools"}
    if wrong:
        raise ValueError(f"matrix.toml: {name}.except: {', '.join(sorted(wrong))} is no ability")
    return Difference(**{**known, **_tuples(known, "models")}, changes=MappingProxyType(changes))


def _abilities(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return abilities as their fields have them: a bound of true is None, one of false is 0."""
    bounds = {key: None if values[key] is True else int(values[key]) for key in ("include", "exclude") if key in values}
    return {**values, **bounds, **_tuples(values, *_WORDS)}


def _tuples(values: Mapping[str, Any], *keys: str) -> dict[str, tuple[str, ...]]:
    return {key: tuple(values[key]) for key in keys if key in values}


def _matches(model: str, patterns: tuple[str, ...]) -> bool:
    """Tell whether a model's name, or what follows its last slash, matches a pattern."""
    name = model.lower()
    return any(fnmatchcase(word, pattern) for word in (name, name.rpartition("/")[2]) for pattern in patterns)
