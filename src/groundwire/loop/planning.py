"""The one plan of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from groundwire.native import Mode, Needs, Plan, plan_for
from groundwire.native.matrix import Api
from groundwire.native.needs import NO_NEEDS
from groundwire.native.requests.common import Body
from groundwire.tools import Tool
from groundwire.web import Web

__all__ = ["planned"]


def planned(
    body: Body, row: Api, web: Web, mode: Mode | None, needs: Needs | None, tools: Sequence[Tool], most: int
) -> Plan:
    """Return the plan for a request with a search in it.

    Where the session's searches are limited, `auto` does not choose a hosted search that nobody can bound.
    """

    def made(asked: Needs) -> Plan:
        return plan_for(body, row, mode=mode, needs=asked, settings=web.settings, tools=tools)

    first = made(needs or NO_NEEDS)
    automatic = (web.settings.search.mode if mode is None else mode) == "auto"
    if first.hosted is None or first.hosted.max_uses != "no" or web.budget is None or not automatic:
        return first
    ours = made((needs or NO_NEEDS).also(Needs(max_uses=most)))
    return replace(ours, needs=first.needs)
