"""Asking the user through the client (elicitation): permission by a form, and an API key on a page of this machine.

A key must not pass through the client, so the protocol has it asked for by a URL (revision 2026-07-28, Elicitation).
"""

from __future__ import annotations

import asyncio
import html
import secrets
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import mcp_types as types
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from groundwire.errors import GroundwireError, MissingKey

if TYPE_CHECKING:
    from aiohttp import web
    from pydantic import SecretStr

    from groundwire.mcp_server.sessions import Sessions

__all__ = ["KeyRequests", "ask_permission"]

_ALLOW: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {"allow": {"type": "boolean", "title": "Allow", "default": True}},
}
_OPEN = 600.0  # seconds for which a page waits for a key
_LARGEST = 8_192  # bytes of a form
_PARTING = 3.0  # seconds in which the answer to the form may still be read
_HEADERS: Final[Mapping[str, str]] = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; form-action 'self'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


async def ask_permission(
    ctx: Any, params: types.CallToolRequestParams, name: str, question: str, max_wait: float
) -> bool | types.InputRequiredResult | None:
    """Return what the user says, None where the client cannot ask; the newest protocol gets the question first.

    Args:
        ctx: The request.
        params: Its parameters, with the answers of the user so far.
        name: The name of the question among them.
        question: The question.
        max_wait: Seconds to wait for an answer, which is no after them.
    """
    able = ctx.session.client_capabilities
    asks = able.elicitation if able is not None else None
    if asks is None or (asks.form is None and asks.url is not None):  # neither named means forms
        return None
    if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
        answer: Any = (params.input_responses or {}).get(name)
        if not isinstance(answer, types.ElicitResult):
            form = types.ElicitRequestFormParams(message=question, requested_schema=dict(_ALLOW))
            return types.InputRequiredResult(input_requests={name: types.ElicitRequest(params=form)})
    else:
        try:
            async with asyncio.timeout(max_wait):
                answer = await ctx.session.elicit_form(question, dict(_ALLOW), ctx.request_id)
        except MCPError:
            return None
        except TimeoutError:
            return False
    return answer.action == "accept" and (answer.content or {}).get("allow") is not False


class KeyRequests:
    """Asks the user for a key without which no call can be made.

    Only for a server of one client on the same machine: the keys of one that serves many are its operator's.

    Args:
        sessions: Whose settings get the key.
    """

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self._pages: dict[str, _KeyPage] = {}

    async def ask(
        self, ctx: Any, params: types.CallToolRequestParams, missing: MissingKey
    ) -> types.InputRequiredResult | None:
        """Ask for a key and wait until it is there, or the user does not want to give it.

        Args:
            ctx: The request.
            params: Its parameters.
            missing: Whose key is missing.

        Returns:
            The question, for a client of the newest protocol that has not put it to the user yet.
        """
        able = ctx.session.client_capabilities
        if able is None or able.elicitation is None or able.elicitation.url is None:
            return None
        page = self._pages.get(missing.variable)
        if page is None or page.closed:
            page = self._pages[missing.variable] = _KeyPage(missing, self._sessions)
        url = await page.address()
        question = (
            f"{missing.provider} needs an API key. Enter it on this page, which Groundwire serves on your machine; "
            "neither the model nor this application sees it."
        )
        if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
            answer: Any = (params.input_responses or {}).get("key")
            if not isinstance(answer, types.ElicitResult):
                elicitation = types.ElicitRequestURLParams(message=question, url=url)
                return types.InputRequiredResult(input_requests={"key": types.ElicitRequest(params=elicitation)})
        else:
            try:
                answer = await ctx.session.elicit_url(question, url, page.name, ctx.request_id)
            except MCPError:
                return None
        if answer.action != "accept":
            await page.close()
            return None
        if await page.wait_for_key(self._sessions.settings.permission.confirm_timeout):
            if ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
                with suppress(Exception):  # a client that hears nothing any more
                    await ctx.session.send_elicit_complete(page.name, ctx.request_id)
            await page.close()
        return None

    async def aclose(self) -> None:
        """Close every page."""
        await asyncio.gather(*(page.close() for page in self._pages.values()))


class _KeyPage:
    """A page with one field, at an address with an unguessable token, open until a valid key is entered."""

    def __init__(self, missing: MissingKey, sessions: Sessions) -> None:
        self.name = secrets.token_urlsafe(24)
        self._missing = missing
        self._sessions = sessions
        self._has_key = asyncio.Event()
        self._address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._open())

    @property
    def closed(self) -> bool:
        """Whether there is no page any more."""
        return self._task.done()

    async def address(self) -> str:
        """Return where it is."""
        return await asyncio.shield(self._address)

    async def wait_for_key(self, max_wait: float) -> bool:
        """Wait for the key, and return whether it was given.

        Args:
            max_wait: Seconds to wait at most.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(max_wait):
                await self._has_key.wait()
        return self._has_key.is_set()

    async def close(self) -> None:
        """Serve it no longer."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _open(self) -> None:
        from aiohttp import web  # a starting server does not load it

        application = web.Application(client_max_size=_LARGEST)
        application.router.add_route("GET", f"/{self.name}", self._answer)
        application.router.add_route("POST", f"/{self.name}", self._answer)
        runner = web.AppRunner(application, access_log=None, shutdown_timeout=_PARTING)
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            self._address.set_result(f"http://127.0.0.1:{runner.addresses[0][1]}/{self.name}")
            await asyncio.sleep(_OPEN)
        except OSError as error:
            self._address.set_exception(GroundwireError(f"No page for a key can be served: {error.strerror or error}."))
        finally:
            await runner.cleanup()

    async def _answer(self, request: web.Request) -> web.Response:
        from aiohttp.web import HTTPRequestEntityTooLarge

        if request.headers.get("host") != urlsplit(self._address.result()).netloc:
            return _page("This name does not belong to this page.", status=421)
        if request.method == "GET":
            return _page("", self._missing)
        if request.headers.get("sec-fetch-site", "same-origin") != "same-origin":
            return _page("This form was sent from another page.", status=403)
        try:
            form = await request.post()
        except HTTPRequestEntityTooLarge:
            return _page("This is not a key.", self._missing, status=413)
        try:
            message = await self._keep(str(form.get("key", "")))
        except GroundwireError as error:
            return _page(str(error), self._missing, status=400)
        self._has_key.set()
        return _page(message)

    async def _keep(self, text: str) -> str:
        """Try a key, keep it, and use it from now on; return where it is kept.

        Raises:
            GroundwireError: it is not a key, is rejected, or cannot be stored.
        """
        from groundwire.setup import clean_key, default_keeper, verify

        variable, provider = self._missing.variable, self._missing.provider
        key: SecretStr = clean_key(text)
        settings = self._sessions.settings.with_key(variable, key)
        tried = await verify(provider, settings)
        if tried.outcome.input == "doubtful":
            raise GroundwireError(f"{provider}: {tried.what} {tried.fix}")
        keeper = await asyncio.to_thread(default_keeper)
        await asyncio.to_thread(keeper.keep, variable, key.get_secret_value())
        self._sessions.settings = settings
        return f"The key is in {keeper.place}. You can close this page and go on in your application."


_FORM = (
    '<form method="post" autocomplete="off"><label>{0} <input type="password" name="key" required autofocus></label> '
    "<button>Save</button></form>"
)


def _page(message: str, missing: MissingKey | None = None, *, status: int = 200) -> web.Response:
    from aiohttp.web import Response

    form = _FORM.format(html.escape(f"{missing.variable}, the API key of {missing.provider}")) if missing else ""
    text = (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>API key · Groundwire</title>'
        f"<h1>Groundwire</h1><p>{html.escape(message)}</p>{form}</html>"
    )
    return Response(text=text, status=status, headers=_HEADERS, content_type="text/html")
