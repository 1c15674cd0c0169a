"""Views as ASGI endpoints: the visitor, the response, and cancellation when they disconnect."""

from __future__ import annotations

import asyncio
import hashlib
import re
import secrets
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar
from urllib.parse import parse_qsl, urlsplit

from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response
from starlette.types import Receive, Scope, Send

from groundwire.errors import GroundwireError, InvalidRequest
from groundwire.web import Web
from groundwire_server.auth import Tenant, tenant_of
from groundwire_server.client_disconnect import until_done
from groundwire_server.error_body import failure_of
from groundwire_server.ui.query_params import ViewQuery, link
from groundwire_server.ui.template_streaming import Html, Templates

_COOKIE = "groundwire_session"
_TOKEN = re.compile(r"[0-9a-f]{24}")
_MONTH = 30 * 86_400  # seconds
_MOST_FIELDS = 20  # of a form
_OURS = frozenset({"same-origin", "none"})  # Sec-Fetch-Site of Groundwire's pages, and of a typed URL

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewContext:
    """The state shared by all views."""

    web: Web
    """The web to search and read with."""
    asks: Callable[[], bool]
    """Says whether a login is required now."""
    templates: Templates = field(default_factory=Templates)
    """What pages are made of."""


@dataclass(slots=True, kw_only=True)
class Visit:
    """A request of a visitor."""

    context: ViewContext
    """What all views share."""
    request: Request
    """The request."""
    tenant: Tenant | None
    """The holder of the key with which the visitor has signed in; None where no login is required, or not yet."""
    body: bytes = b""
    """What was sent with it."""
    token: str = ""
    """The random ID of the browser, which determines its session name."""
    is_new: bool = False
    """Whether the browser does not have the cookie yet."""
    tasks: list[asyncio.Task[Any]] = field(default_factory=list)
    """Its running tasks."""

    @property
    def query(self) -> ViewQuery:
        """The parsed query.

        Raises:
            InvalidRequest: a field is far too long.
        """
        return ViewQuery.from_form(self.request.query_params)

    @property
    def form(self) -> dict[str, str]:
        """The fields of a form that was sent.

        Raises:
            InvalidRequest: there are more than the page's own forms have.
        """
        text = self.body.decode("utf-8", "replace")
        try:
            return dict(parse_qsl(text, keep_blank_values=True, max_num_fields=_MOST_FIELDS))
        except ValueError:
            raise InvalidRequest("form", f"has more than {_MOST_FIELDS} fields", "Send fewer.") from None

    @property
    def session(self) -> str:
        """The name of the browser's session."""
        # Who sees a session's name must not learn the cookie that would let them go on with it.
        settings = self.context.web.settings
        name = settings.session.id or f"page-{hashlib.sha256(self.token.encode()).hexdigest()[:10]}"
        return name if self.tenant is None else self.tenant.session(name)

    @property
    def web(self) -> Web:
        """The web for this browser, with the permissions of the visitor's key."""
        web = self.context.web if self.tenant is None else self.tenant.narrow(self.context.web)
        return web.session(self.session)

    @property
    def may_spend(self) -> bool:
        """Whether it may search or fetch: the request must not come from another site's page.

        A browser says so itself (Fetch Metadata Request Headers); other clients send nothing.
        """
        headers = self.request.headers
        prefetch = "prefetch" in headers.get("sec-purpose", headers.get("purpose", ""))
        return self.request.method == "GET" and not prefetch and headers.get("sec-fetch-site", "none") in _OURS

    def begin(self, work: Coroutine[Any, Any, _T]) -> asyncio.Task[_T]:
        """Start a task that ends with the request."""
        task = asyncio.create_task(work)
        self.tasks.append(task)
        return task


ViewFunction = Callable[[Visit], Awaitable[Html | Response]]
"""Renders the response of a view."""


class View:
    """A view as an ASGI application.

    Args:
        context: What all views share.
        view: The view.
        is_open: Whether it is shown without a login, too.
    """

    def __init__(self, context: ViewContext, view: ViewFunction, *, is_open: bool = False) -> None:
        self._desk = context
        self._view = view
        self._is_open = is_open

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        request = Request(scope, receive)
        token = request.cookies.get(_COOKIE, "")
        has_token = bool(_TOKEN.fullmatch(token))
        try:
            visit = Visit(
                context=self._desk,
                request=request,
                tenant=tenant_of(scope),
                body=await request.body(),
                token=token if has_token else secrets.token_hex(12),
                is_new=not has_token,
            )
        except ClientDisconnect:
            return
        await until_done(partial(self._answer, visit), scope, receive, send)

    async def _answer(self, visit: Visit, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            response = self._response(visit, await self._view_or_refusal(visit))
            await response(scope, receive, send)
        finally:
            for task in visit.tasks:
                task.cancel()
            await asyncio.gather(*visit.tasks, return_exceptions=True)

    async def _view_or_refusal(self, visit: Visit) -> Html | Response:
        if visit.request.method not in {"GET", "HEAD"} and not _from_ourselves(visit.request):
            return _refusal(403, "This form was sent from another site.", "Open the page directly and try again.")
        if visit.tenant is None and not self._is_open and self._desk.asks():
            return RedirectResponse(link("/sign-in", next=_here(visit.request)), 303)
        try:
            return await self._view(visit)
        except GroundwireError as error:
            return _refusal(failure_of(error).status, str(error))

    def _response(self, visit: Visit, answer: Html | Response) -> Response:
        if isinstance(answer, Response):
            return answer
        if visit.is_new and visit.may_spend and answer.status < 400:
            answer = replace(answer, headers=(*answer.headers, ("set-cookie", session_cookie(visit.token))))
        values = {"name": "" if visit.tenant is None else visit.tenant.name}
        private = visit.tenant is not None or self._desk.asks()
        return self._desk.templates.response(answer, values, private=private)


def session_cookie(token: str) -> str:
    """Return the cookie with a browser's session, which is not sent from pages of other sites."""
    return f"{_COOKIE}={token}; Path=/; Max-Age={_MONTH}; HttpOnly; SameSite=Strict"


def _from_ourselves(request: Request) -> bool:
    """Return whether a form was sent by one of Groundwire's pages; every browser sends the origin with a POST."""
    origin = request.headers.get("origin")
    if origin is None:
        return request.headers.get("sec-fetch-site") == "same-origin"
    try:
        return urlsplit(origin).netloc.lower() == request.headers.get("host", "").lower() != ""
    except ValueError:
        return False


def _here(request: Request) -> str:
    query = request.url.query
    return request.url.path + (f"?{query}" if query else "")


def _refusal(status: int, problem: str, fix: str = "") -> Html:
    values = {"title": "Request refused", "problem": problem, "fix": fix}
    return Html(template="refused.html", values=values, status=status)
