"""Capabilities of each model API, loaded from `data/matrix.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Literal

from groundwire.errors import InvalidRequest
from groundwire.models.validators import did_you_mean

Wire = Literal["anthropic", "bedrock", "chat", "gemini", "interactions", "mistral", "responses"]
"""The format in which an API expects function tools."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hosted:
    """Capabilities of a hosted tool."""

    tool: str
    """Its type, or the parameter that enables it."""
    page_tool: str = ""
    """The type of the hosted tool that reads pages; empty if there is none."""
    max_uses: bool = False
    """Whether the searches of a request can be limited."""
    include: int | bool = False
    """Maximum number of domains it can be restricted to; true means no known limit, false means unsupported."""
    exclude: int | bool = False
    """Maximum number of domains it can exclude; true means no known limit, false means unsupported."""
    together: bool = False
    """Whether both lists can be sent together."""
    leaks: bool = False
    """Whether excluded domains have been seen in answers anyway."""
    whole_domains: bool = False
    """Whether it accepts only whole sites, not subdomains."""
    recency: bool = False
    """Whether it can be restricted by publication date."""
    location: Sequence[str] = ()
    """The parts of a user's location that it supports."""
    functions: bool = False
    """Whether it works together with the caller's own function tools."""
    function_flag: bool = False
    """Whether that requires a flag in the request."""
    efforts: Sequence[str] = ()
    """The reasoning efforts with which it is rejected."""
    refuses: Sequence[str] = ()
    """The parameters with which it is rejected."""
    switch_to: str = ""
    """The model that searches instead of the requested one."""
    options: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Where it has the options of a search, if not in the usual fields; see `data/matrix.toml`."""
    request: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    """The request fields that enable it, if they are plain data; see `data/matrix.toml`."""
    notes: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Reasons for capabilities, by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A difference for a cloud or for some models."""

    cloud: str = ""
    """The clouds it applies to; empty means all."""
    models: Sequence[str] = ()
    """Name patterns of the models it applies to; empty means all."""
    changes: Mapping[str, Any]
    """The capabilities that differ, including `hosted` and `tools`."""
    note: str = ""
    """The reason, for the operator."""
    source: str
    """The source and its date."""

    def fits(self, cloud: str, model: str) -> bool:
        """Return whether it applies to a model on a cloud."""
        return self.cloud in ("", cloud) and (not self.models or _matches(model, self.models))


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """Another version of a hosted tool, used only when configured."""

    tool: str
    """Its type."""
    page_tool: str = ""
    """The type of the tool of that version that reads pages; empty if there is none."""
    clouds: Sequence[str]
    """The clouds that serve it."""
    without: Sequence[str] = ()
    """Name patterns of the models without it; an unknown model has it."""
    direct_for: Sequence[str] = ()
    """The models that may call it only directly, which the request must then state."""
    newer: bool = False
    """Whether it succeeds the usual one, so that `newest` may take it."""
    note: str = ""
    """A description, for the operator."""
    source: str
    """The source and its date."""

    def fits(self, cloud: str, model: str) -> bool:
        """Return whether a model on a cloud has it."""
        return cloud in self.clouds and not _matches(model, self.without)

    def direct(self, model: str) -> bool:
        """Return whether a model may call it only directly."""
        return _matches(model, self.direct_for)


@dataclass(frozen=True, slots=True, kw_only=True)
class Api:
    """One model API."""

    name: str
    """Its identifier."""
    title: str
    """Its display name."""
    provider: str
    """The provider of the models, as in the setting `search.native.providers`."""
    wire: Wire
    """The format of its function tools."""
    body: str
    """The key of the conversation in a request."""
    clouds: tuple[str, ...]
    """The clouds that serve it; the first is the vendor's own."""
    hosted: Hosted | None
    """Capabilities of hosted search with its newest models; None if there is none."""
    exceptions: Sequence[Difference]
    """Differences elsewhere; later ones take precedence."""
    versions: Sequence[Version]
    """Other versions of the tool."""
    source: str
    """The source and its date."""
    checked: date
    """The day of the last comparison with the source."""
    expires: date
    """The day from which the next comparison is due."""

    def look_up(self, model: str, cloud: str) -> tuple[Hosted | None, bool, str]:
        """Return a model's hosted search (or None), whether it calls function tools, and the reason if not."""
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
    """The capabilities of all known model APIs."""

    apis: Mapping[str, Api]
    """By name."""

    def api(self, name: str, body: Mapping[str, Any] | None = None) -> Api:
        """Return an API by its name, or a provider's API by the provider's name.

        Args:
            name: Such as `anthropic`, `openai_chat`, `ollama`; a provider with several APIs (`openai`, `gemini`,
                `qwen`, `xai`, `mistral`) selects the one that matches the body, and without a body its newest one.
            body: The request.

        Raises:
            InvalidRequest: it is unknown; the message lists the names.
        """
        of_provider = [api for api in self.apis.values() if api.provider == name]
        if not of_provider:
            if name in self.apis:
                return self.apis[name]
            names = [*self.apis, *(api.provider for api in self.apis.values())]
            raise InvalidRequest(
                "api",
                f"cannot be {str(name)[:80]!r}{did_you_mean(str(name), names).rstrip('.?')}",
                f"Pass one of: {', '.join(sorted(dict.fromkeys(names)))}.",
            )
        return next((api for api in of_provider if body is not None and api.body in body), of_provider[0])

    def api_or_local(self, name: str, body: Mapping[str, Any] | None = None) -> Api:
        """Return an API by its name; an unknown one has no hosted search, and tools in the format of its body.

        Args:
            name: See `api`.
            body: The request: with `contents` its format is that of Gemini, with `input` that of OpenAI Responses,
                otherwise that of OpenAI Chat Completions.
        """
        if not name.strip() or any(name in (row.name, row.provider) for row in self.apis.values()):
            return self.api(name, body)
        forms = ("gemini", "openai_responses")
        form = next(
            (key for key in forms if body is not None and self.apis[key].body in body),
            "openai_compatible",
        )
        return replace(
            self.apis[form], title=name, provider=name, clouds=("api",), hosted=None, exceptions=(), versions=()
        )


@cache
def load_matrix() -> ApiCapabilities:
    """Load the shipped matrix."""
    text = files("groundwire.hosted").joinpath("data", "matrix.toml").read_text(encoding="utf-8")
    return ApiCapabilities(MappingProxyType({name: _api(name, entry) for name, entry in tomllib.loads(text).items()}))


def _api(name: str, entry: dict[str, Any]) -> Api:
    hosted = entry.pop("hosted", None)
    return Api(
        name=name,
        clouds=("api", *entry.pop("clouds", ())),
        hosted=Hosted(**hosted) if hosted else None,
        exceptions=[Difference(**row) for row in entry.pop("except", ())],
        versions=[Version(**row) for row in entry.pop("version", ())],
        **entry,
    )


def _matches(model: str, patterns: Sequence[str]) -> bool:
    """Return whether a model's name, or the part after its last slash, matches a pattern."""
    name = model.lower()
    return any(fnmatchcase(word, pattern) for word in (name, name.rpartition("/")[2]) for pattern in patterns)
