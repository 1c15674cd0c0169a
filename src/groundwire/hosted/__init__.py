"""Hosted search by the model's own API where that is better, local search everywhere else.

    from groundwire.hosted import plan_for, prepare

    plan = plan_for(body, "anthropic")     # hosted or local search, and why
    request = prepare(body, plan)          # the body to send

`body` is a request with a function tool named `web_search`, or with `hosted_definition()` among its tools.
"""

from __future__ import annotations

from groundwire.hosted.api_capabilities import Api, ApiCapabilities, Hosted, load_matrix
from groundwire.hosted.planner import Mode, Plan, plan
from groundwire.hosted.requests import plan_for, prepare
from groundwire.hosted.requirements import Location, Needs
from groundwire.hosted.tool_definitions import hosted_definition

__all__ = [
    "Api",
    "ApiCapabilities",
    "Hosted",
    "Location",
    "Mode",
    "Needs",
    "Plan",
    "hosted_definition",
    "load_matrix",
    "plan",
    "plan_for",
    "prepare",
]
