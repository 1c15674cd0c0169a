"""Planning of searches for a model: hosted by its API, or local."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from functools import partial
from typing import Any, Literal, get_args

from groundwire.errors import InvalidRequest, NativeUnsupported
from groundwire.hosted.api_capabilities import Api, Hosted, Version, load_matrix
from groundwire.hosted.model_lifecycles import load_lifecycles
from groundwire.hosted.requirements import NO_NEEDS, Needs, common, simplified, sub_domains
from groundwire.models.validators import check_choice, did_you_mean
from groundwire.settings import Settings

Mode = Literal["auto", "native", "local"]
"""The search mode: hosted where possible, only hosted, or only local (codelia)."""

Path = Literal["native", "local"]
"""The search in use."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The search plan of a run."""

    api: Api
    """The model API."""
    model: str
    """The model."""
    cloud: str = "api"
    """The cloud that serves the API."""
    path: Path
    """Whether hosted search or the local tools are used."""
    reason: str
    """The reason, as a sentence."""
    needs: Needs = NO_NEEDS
    """The requirements for the search, including the operator's domain lists."""
    hosted: Hosted | None = None
    """The capabilities of hosted search, if it is used."""
    tool: str = ""
    """The hosted tool's type, if it is used."""
    direct_only: bool = False
    """Whether the request must state that the tool is called directly."""
    warnings: tuple[str, ...] = field(default=())
    """Remarks for the operator."""
    page_tool: str = ""
    """The type of the hosted tool that reads pages; empty if there is none, or the local tools are used."""

    def page_definition(self) -> dict[str, Any] | None:
        """Return the hosted tool that reads pages, to be sent instead of `open_page`; None if there is none.

        It reads pages of the same domains as the search, and is never added to a request by itself.
        """
        if not self.page_tool:
            return None
        needs = self.needs
        domains = {"allowed_domains": needs.allowed_domains, "blocked_domains": needs.blocked_domains}
        tool: dict[str, Any] = {"type": self.page_tool, "name": "web_fetch"}
        tool |= {name: list(value) for name, value in domains.items() if value}
        return tool | ({"allowed_callers": ["direct"]} if self.direct_only else {})


def plan(
    api: str | Api,
    model: str,
    mode: Mode | None = None,
    needs: Needs = NO_NEEDS,
    *,
    cloud: str = "api",
    settings: Settings | None = None,
    effort: str | None = None,
    parameters: Collection[str] = (),
    tool: str | None = None,
    calls_tools: bool | None = None,
    switch_model: bool = False,
    now: datetime | None = None,
) -> Plan:
    """Plan the search: hosted where it is allowed and meets all requirements, local otherwise.

    Where an API searches with another model only (OpenAI Chat Completions), `auto` keeps the model and searches
    locally; the Responses API searches with the model itself. A plan that changes the model says so in its reason and
    its warnings, and so does one for a model that has been shut down.

    Args:
        api: The model API's or provider's name, such as `anthropic`, `openai`, `ollama`.
        model: The model's name.
        mode: `auto`, `native` or `local`; by default the setting `search.mode`.
        needs: The requirements for the search.
        cloud: The cloud that serves the API: `api` is the vendor's own; others are `aws` (Claude Platform on AWS),
            `bedrock`, `vertex`, `foundry`, `azure`.
        settings: Supplies the mode, the providers whose hosted search may be used, and the operator's domain lists; by
            default those of codelia, and no lists.
        effort: The request's reasoning effort; some models do not search with some.
        parameters: The names of the request's other parameters; some hosted searches reject some.
        tool: Another version of the hosted tool, such as `web_search_20260209`; `newest` is the last one that the model
            has there, and the usual one if there is no other.
        calls_tools: Whether the model calls function tools; overrides the matrix.
        switch_model: Whether `auto` may change the model to one that searches.
        now: The current time, for the ends of models.

    Raises:
        InvalidRequest: an argument is invalid, or no search is available for the model.
        NativeUnsupported: the mode is native, and hosted search cannot be used; the message says why.
    """
    row = api if isinstance(api, Api) else load_matrix().api(api)
    _check_names(row, model, cloud)
    settings = settings or Settings()
    mode = settings.search.mode if mode is None else mode
    check_choice("mode", mode, get_args(Mode))
    needs = _with_policy(needs, settings)
    hosted, tools, note = row.look_up(model, cloud)
    tools = tools if calls_tools is None else calls_tools
    version = _version(row, model, cloud, tool, hosted)
    today = (now or datetime.now(UTC)).date()
    local = partial(_local_plan, row, model, cloud, needs, today, without_tools=None if tools else note)
    if mode == "local":
        return local("the search mode is local")
    obstacles = list(_obstacles(row, model, hosted, needs, settings, effort, parameters, note))
    switched = hosted.switch_to if hosted and hosted.switch_to != model else ""
    change = f"{row.title} searches with {switched} only, which answers instead of {model}" if switched else ""
    if change and not switch_model:
        obstacles.append((False, change + _alternative(row, model, cloud), ""))
    obstacles += [(False, text, "") for text in _ending(row, switched or model, cloud, today)]
    if hosted is None or any(hard for hard, _, _ in obstacles) or (obstacles and mode == "auto"):
        reasons = "; ".join(text for hard, text, _ in obstacles if hard or mode == "auto")
        if mode == "auto":
            return local(reasons)
        fixes = [fix for hard, _, fix in obstacles if hard]
        raise NativeUnsupported(row.provider, reasons, fixes[0])
    warnings = _sentences([change] if change and switch_model else [], [text for _, text, _ in obstacles])
    return _native_plan(row, model, cloud, needs, hosted, version, warnings)


def _check_names(row: Api, model: object, cloud: str) -> None:
    if not isinstance(model, str) or not model.strip():
        raise InvalidRequest("model", "is not given", "Pass the model's name.")
    if cloud not in row.clouds:
        near = did_you_mean(str(cloud), row.clouds).rstrip(".?")
        raise InvalidRequest(
            "cloud",
            f"cannot be {str(cloud)[:80]!r} for {row.title}{near}",
            f"Pass one of: {', '.join(row.clouds)}.",
        )


def _local_plan(
    row: Api, model: str, cloud: str, needs: Needs, today: date, reason: str, *, without_tools: str | None
) -> Plan:
    """Return the plan of a local search; `without_tools` is why the model calls no tools, if it calls none."""
    if without_tools is not None:
        because = f" ({without_tools})" if without_tools else ""
        raise InvalidRequest(
            "model",
            f"{model!r} of {row.title} calls no tools{because}, and its hosted search is not used: {reason}",
            "Choose another model, or let its hosted search be used.",
        )
    return Plan(
        api=row,
        model=model,
        cloud=cloud,
        path="local",
        reason=f"Groundwire searches: {reason}.",
        needs=needs,
        warnings=_sentences(_ending(row, model, cloud, today)),
    )


def _native_plan(
    row: Api, model: str, cloud: str, needs: Needs, hosted: Hosted, version: Version | None, warnings: tuple[str, ...]
) -> Plan:
    tool = version.tool if version else hosted.tool
    instead = f", and {hosted.switch_to} instead of {model}" if hosted.switch_to not in ("", model) else ""
    return Plan(
        api=row,
        model=model,
        cloud=cloud,
        path="native",
        reason=f"{row.title} uses hosted search ({tool}){instead}.",
        needs=needs,
        hosted=hosted,
        tool=tool,
        direct_only=bool(version and version.direct(model)),
        warnings=warnings,
        page_tool=version.page_tool if version else hosted.page_tool,
    )


def _sentences(*clauses: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"{text[0].upper()}{text[1:]}." for texts in clauses for text in texts)


def _ending(row: Api, model: str, cloud: str, today: date) -> list[str]:
    """Return that a model is past its end, if it is; other clouds than its maker's have other ends."""
    maker = "" if row.provider == "openai_compatible" else row.provider
    life = load_lifecycles().find(model, maker) if cloud == "api" else None
    return [life.ending()] if life and life.has_ended(today) else []


def _alternative(row: Api, model: str, cloud: str) -> str:
    """Return which other API of the provider searches with a model itself."""
    for api in load_matrix().apis.values():
        hosted = api.look_up(model, cloud)[0] if api.provider == row.provider and cloud in api.clouds else None
        if hosted and not hosted.switch_to:
            return f"; {api.title} searches with {model} itself"
    return ""


def _obstacles(
    row: Api,
    model: str,
    hosted: Hosted | None,
    needs: Needs,
    settings: Settings,
    effort: str | None,
    parameters: Collection[str],
    note: str,
) -> Iterator[tuple[bool, str, str]]:
    """Yield the obstacles to hosted search: whether each rules it out, what it is, and what to do about it."""
    other = 'Set search.mode to "auto" or "local", or choose another model.'
    if hosted is None:
        what = f"{row.title} has no hosted search" if row.hosted is None else f"{model} has no hosted search there"
        yield True, what + (f" ({note})" if note else ""), other
        return
    its = f"the hosted search of {row.title}"
    if row.provider not in settings.search.native.providers:
        yield True, f"search.native.providers does not name {row.provider}", f"Add {row.provider!r} to that setting."
    for text, fix in refusals(row, hosted, effort, parameters, functions=needs.functions):
        yield True, text, fix
    yield from (
        (hard, text + _why(hosted, ability), f'Leave {what} out, or set search.mode to "auto".')
        for hard, text, ability, what in _unmet(hosted, needs, its)
    )


def refusals(
    row: Api, hosted: Hosted, effort: str | None, parameters: Collection[str], *, functions: bool
) -> Iterator[tuple[str, str]]:
    """Yield why a hosted search is refused in a request of this form, each with what to do about it."""
    if effort is not None and effort in hosted.efforts:
        yield f"{row.title} refuses web search with the reasoning effort {effort}", "Ask for more effort."
    if names := ", ".join(name for name in hosted.refuses if name in parameters):
        yield f"the model that searches refuses {names}", f"Take {names} out of the request."
    if functions and not hosted.functions:
        text = f"the hosted search of {row.title} cannot be combined with other function tools"
        yield text + _why(hosted, "functions"), "Remove the others, or choose another mode."


def _unmet(hosted: Hosted, needs: Needs, its: str) -> Iterator[tuple[bool, str, str, str]]:
    """Yield the requirements that hosted search cannot meet: whether at all, wording, capability, origin."""
    if needs.max_uses is not None and not hosted.max_uses:
        yield True, f"{its} does not support max_uses", "max_uses", "max_uses"
    for name, bound, ability in (
        ("allowed_domains", hosted.include, "include"),
        ("blocked_domains", hosted.exclude, "exclude"),
    ):
        count = len(getattr(needs, name))
        if count and not bound:
            yield True, f"{its} does not support {name}", ability, name
        elif bound is not True and count > bound:
            yield True, f"{its} takes at most {bound} {name}, not {count}", ability, name
        elif count and hosted.whole_domains and (parts := sub_domains(getattr(needs, name))):
            yield True, f"{its} accepts only whole sites, not {parts[0]} ({name})", ability, name
    if needs.allowed_domains and needs.blocked_domains and not hosted.together:
        yield True, f"{its} takes allowed_domains or blocked_domains, not both", "together", "blocked_domains"
    if needs.blocked_domains and hosted.exclude and hosted.leaks:
        yield False, f"{its} is known to ignore blocked_domains", "leaks", "blocked_domains"
    if needs.recent and not hosted.recency:
        yield True, f"{its} cannot filter by date (time_range)", "recency", "time_range"
    elif (needs.published_after or needs.published_before) and hosted.request and "after" not in hosted.request:
        yield True, f"{its} does not support published_after and published_before", "recency", "published_after"
    if needs.location is not None:
        missing = [part for part in needs.location.parts() if part not in hosted.location]
        if missing:
            yield True, f"{its} does not support the user's {', '.join(missing)}", "location", "location"


def _why(hosted: Hosted, ability: str) -> str:
    note = hosted.notes.get(ability)
    return f" ({note})" if note else ""


def _version(row: Api, model: str, cloud: str, tool: str | None, hosted: Hosted | None) -> Version | None:
    """Return the configured version of the tool, if it is not the default."""
    if tool is None or any(tool == capabilities.tool for capabilities in (hosted, row.hosted) if capabilities):
        return None
    if tool == "newest":
        newer = [version for version in row.versions if hosted and version.newer and version.fits(cloud, model)]
        return newer[-1] if newer else None
    version = next((row_version for row_version in row.versions if row_version.tool == tool), None)
    if version is None:
        tools = [row_version.tool for row_version in row.versions]
        default = [row.hosted.tool] if row.hosted else []
        raise InvalidRequest(
            "tool",
            f"{row.title} has no hosted tool {str(tool)[:80]!r}",
            f"Pass one of: {', '.join(['newest', *default, *tools])}.",
        )
    if hosted is not None and not version.fits(cloud, model):
        default_name = row.hosted.tool if row.hosted else ""
        raise InvalidRequest(
            "tool", f"{tool} is not available for {model} on {cloud} ({version.note})", f"Use {default_name}."
        )
    return version


def _with_policy(needs: Needs, settings: Settings) -> Needs:
    """Return the requirements with the operator's domain lists merged, in their simplest form."""
    policy = settings.policy
    allowed = common(needs.allowed_domains, policy.allowed_domains)
    blocked = tuple(dict.fromkeys((*needs.blocked_domains, *policy.blocked_domains)))
    allowed, blocked = simplified(allowed, blocked)
    return replace(needs, allowed_domains=allowed, blocked_domains=blocked)
