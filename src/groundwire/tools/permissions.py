"""Permission: which of a model's tool calls are made, asked about, or refused (codelia).

Every call is `confirm` unless a rule of the settings says otherwise. Of the rules that speak of a call the strictest
wins: deny before confirm before allow.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Literal

from groundwire.errors import GroundwireError, PermissionDenied
from groundwire.safety.urls import host_matches, parse_url
from groundwire.settings import PermissionSettings
from groundwire.settings.sections import Decision, PermissionRule, parse_rule
from groundwire.tools import OpenPageToolResult, Tool, ToolResult, refused, web_tools
from groundwire.tools.argument_coercion import positional, understood
from groundwire.web import Web

__all__ = ["Answer", "Ask", "Permission", "PermissionRequest", "guarded", "guarded_tools"]

_logger = logging.getLogger(__name__)

Answer = bool | Literal["allow", "deny", "always"]
"""The answer of a person: yes, no, or yes to all such calls in this run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PermissionRequest:
    """A tool call that needs approval."""

    tool: str
    """The tool's name."""
    arguments: Mapping[str, Any]
    """The model's arguments."""
    domains: tuple[str, ...]
    """The domains of the call; none for a search of the whole web."""
    reason: str
    """Why approval is needed."""


Ask = Callable[[PermissionRequest], Answer | Awaitable[Answer]]
"""Asks for approval. A plain function must return immediately; one that waits for a person is asynchronous."""


class Permission:
    """Decides on tool calls by rules, and by asking for approval where the rules require it.

    Args:
        settings: The rules; by default there is none, and every call is asked about.
        ask: Who is asked. Without anyone a call that would be asked about is refused, and the refusal says why.
    """

    def __init__(self, settings: PermissionSettings | None = None, *, ask: Ask | None = None) -> None:
        self._settings = settings or PermissionSettings()
        self._rules: tuple[tuple[Decision, tuple[PermissionRule, ...]], ...] = (
            ("deny", tuple(map(parse_rule, self._settings.deny))),
            ("confirm", tuple(map(parse_rule, self._settings.confirm))),
            ("allow", tuple(map(parse_rule, self._settings.allow))),
        )
        self._ask = ask
        self._always: set[tuple[str, tuple[str, ...]]] = set()

    def decide(self, tool: str, arguments: Mapping[str, Any]) -> tuple[Decision, str]:
        """Return the decision of the rules on a call, and the rule that applies.

        A rule about a domain allows a call only if all that the call is about lies in that domain; it denies one, or
        has it asked about, if any of it does.
        """
        domains = _domains(tool, arguments)
        for decision, rules in self._rules:
            for rule in rules:
                if self._fits(rule, decision, tool, domains):
                    return decision, f"the rule {decision} {rule}"
        return self._settings.default, f"the rule for everything else ({self._settings.default})"

    async def check(self, tool: str, arguments: Mapping[str, Any]) -> None:
        """Check that a call is permitted.

        Raises:
            PermissionDenied: it is not allowed; the message states the reason and what a model can do.
        """
        decision, reason = self.decide(tool, arguments)
        domains = _domains(tool, arguments)
        if decision == "allow" or (decision == "confirm" and (tool, domains) in self._always):
            return
        if decision == "deny":
            raise _denied(tool, f"{reason} forbids it")
        if self._ask is None:
            raise _denied(tool, f"it needs a confirmation ({reason}), and no one can confirm it")
        request = PermissionRequest(
            tool=tool,
            arguments=MappingProxyType(dict(arguments)),
            domains=domains,
            reason=reason,
        )
        answer = await self._answer(self._ask, request)
        if answer == "always":
            self._always.add((tool, domains))
        elif answer is not True and answer != "allow":
            raise _denied(tool, answer if isinstance(answer, str) and answer != "deny" else "the user denied it")

    async def _answer(self, ask: Ask, request: PermissionRequest) -> object:
        """Return the person's answer, or a sentence about why there is none."""
        try:
            answer = ask(request)
            if not inspect.isawaitable(answer):
                return answer
            async with asyncio.timeout(self._settings.confirm_timeout):
                return await answer
        except TimeoutError:
            return f"no one answered within {self._settings.confirm_timeout:g} seconds"
        except Exception:  # a failed question is not an approval
            _logger.exception("the confirmation of %s failed", request.tool)
            return "the confirmation failed"

    def _fits(self, rule: PermissionRule, decision: Decision, tool: str, domains: tuple[str, ...]) -> bool:
        if rule.tool not in ("*", tool):
            return False
        if rule.domain is None:
            return True
        inside = [host_matches(domain, rule.domain) for domain in domains]
        return bool(inside) and all(inside) if decision == "allow" else any(inside)


def guarded_tools(web: Web, permission: Permission | None = None) -> tuple[Tool, ...]:
    """Return `web_search` and `open_page` over a `Web`, with permission checks.

    Args:
        web: The web to search and read with; the caller closes it.
        permission: Who decides; by default the rules of the web's settings, with no one to ask.
    """
    decider = permission or Permission(web.settings.permission)
    return tuple(guarded(tool, decider) for tool in web_tools(web))


def guarded(tool: Tool, permission: Permission) -> Tool:
    """Return a tool with permission checks; a rejected call is a result that a model can act on.

    A page that a redirect led to another host needs a permission of its own before it is shown.
    """

    async def call(*values: object, **named: Any) -> ToolResult:
        passed = positional(tool.name, values, named)
        arguments = {name: value for name, value in passed.items() if value is not None}
        try:
            await permission.check(tool.name, arguments)
            result = await tool.call(**arguments)
            if isinstance(result, OpenPageToolResult) and _is_redirected(result):
                await permission.check(tool.name, {**arguments, "url": result.final_url})
        except PermissionDenied as error:
            return refused(tool.name, arguments, error)
        return result

    return replace(tool, call=call)


def _denied(tool: str, reason: str) -> PermissionDenied:
    return PermissionDenied(
        f"Permission denied: {tool} was not called, because {reason}. "
        "Do not try the same again; go on without it, or ask the user to allow it."
    )


def _domains(tool: str, written: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the domains of a call: of the page it opens, or those its search is restricted to.

    The arguments are read as the tool will read them, so that another way to write an address evades no rule.
    """
    arguments = understood(tool, written)
    if "url" in arguments:
        host = _host(arguments["url"])
        return (host,) if host else ()
    domains = arguments.get("allowed_domains")
    return tuple(domain for domain in domains if isinstance(domain, str)) if isinstance(domains, (list, tuple)) else ()


def _is_redirected(result: OpenPageToolResult) -> bool:
    return bool(result.final_url) and _host(result.final_url) != _host(result.url)


def _host(url: object) -> str:
    try:
        return parse_url(url).host if isinstance(url, str) else ""
    except GroundwireError:
        return ""
