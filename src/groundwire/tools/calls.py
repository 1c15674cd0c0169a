"""A model's call of a tool: its arguments understood, and every failure a result."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from groundwire.errors import GroundwireError
from groundwire.models import Page
from groundwire.models.argument_names import OPEN_PAGE, SEARCH, without_effect
from groundwire.tools.argument_coercion import OpenArguments, SearchArguments, bad_arguments, understood, unwrapped
from groundwire.tools.conversions import open_failed, opened, search_failed, searched, shown
from groundwire.tools.results import BRIEF, MAX_CITATION, OpenPageToolResult, WebSearchToolResult, render_text

if TYPE_CHECKING:
    from groundwire.hosted.requirements import Needs
    from groundwire.web import Web

_logger = logging.getLogger(__name__)

_INTERNAL = "The tool itself failed; the operator finds the reason in the log. Go on without it."


def known_error(tool: str, error: Exception, arguments: type[BaseModel] | None = None) -> GroundwireError:
    """Return an error whose text is for a model: it must never see a traceback, which the log has for the operator.

    Args:
        tool: The tool's name.
        error: What was raised.
        arguments: The tool's arguments, if they were validated.
    """
    if isinstance(error, GroundwireError):
        return error
    if arguments is not None and isinstance(error, ValidationError):
        return GroundwireError(bad_arguments(error, arguments))
    _logger.error("%s failed", tool, exc_info=error)
    return GroundwireError(_INTERNAL)


async def web_search_result(web: Web, arguments: Mapping[str, Any], needs: Needs | None = None) -> WebSearchToolResult:
    """Search with a model's arguments; every failure becomes a result with `status` error."""
    values = understood("web_search", arguments)
    echo = shown(values.get("query", ""))
    try:
        search = SearchArguments.model_validate(values)
        filters = _filters(search, needs)
        response = await web.search(search.query, limit=search.limit, **filters)
    except Exception as error:  # noqa: BLE001  # known or in the log; the agent must never see a traceback
        return search_failed(echo, known_error("web_search", error, SearchArguments))
    ignored = without_effect(unwrapped(arguments), SEARCH)
    return searched(response.model_copy(update={"warnings": (*response.warnings, *ignored)}) if ignored else response)


async def open_page_result(web: Web, arguments: Mapping[str, Any]) -> OpenPageToolResult:
    """Open a page with a model's arguments; every failure becomes a result with `status` error."""
    values = understood("open_page", arguments)
    echo = shown(values.get("url", ""))
    ignored = without_effect(unwrapped(arguments), OPEN_PAGE)
    try:
        request = OpenArguments.model_validate(values)
        brief = request.max_tokens is not None and request.max_tokens < BRIEF

        def around(page: Page) -> str:
            update = {"citation_id": MAX_CITATION}  # a loop may have others
            return render_text(opened(_with_warnings(page, ignored).model_copy(update=update), brief=brief))

        page = await web.open_page(**request.model_dump(), context=around)
    except Exception as error:  # noqa: BLE001  # known or in the log; the agent must never see a traceback
        return open_failed(echo, known_error("open_page", error, OpenArguments))
    return opened(_with_warnings(page, ignored), brief=brief)


def _with_warnings(page: Page, warnings: tuple[str, ...]) -> Page:
    return page.model_copy(update={"warnings": (*page.warnings, *warnings)}) if warnings else page


def _filters(search: SearchArguments, needs: Needs | None) -> dict[str, Any]:
    more = search.model_dump(exclude={"query", "limit", "allowed_domains", "time_range"}, exclude_none=True)
    if needs is None:
        return {"allowed_domains": search.allowed_domains, "time_range": search.time_range, **more}
    return {**more, **needs.within(search.allowed_domains, search.time_range)}
