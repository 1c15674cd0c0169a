"""One call over HTTP: validate the request, run the work while the client waits, send one response or events.

Events are server-sent events (https://html.spec.whatwg.org): each attempt as it happens, then the result.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from groundwire.deadline import Timeout
from groundwire.errors import GroundwireError
from groundwire.json_text import json_or_none
from groundwire.models import AttemptStarted, Event
from groundwire.models.argument_names import translated
from groundwire.telemetry.call_events import listening
from groundwire_server.api.compat_apis import FORMS, ResponseForm, shaped
from groundwire_server.api.compat_sites import MapRequest
from groundwire_server.api.context import AppContext, Caller
from groundwire_server.api.drop_in_contents import Contents, add_contents, contents_of, with_contents, without_days
from groundwire_server.api.request_models import ApiRequest, PagesRequest
from groundwire_server.auth.access_log import facts_of
from groundwire_server.client_disconnect import Outbox, answer_whole, answer_with_events
from groundwire_server.error_body import ApiModel, Failed, Failure, failed, failure_of, internal, invalid
from groundwire_server.request_json import check_json

_KIND = "text/event-stream"

Tell = Callable[[str, BaseModel], None]
"""Sends an event by its name."""


class Started(ApiModel):
    """The data of the event `attempt_started`: a provider is called."""

    provider: str
    """Its name."""


def prefers(request: Request, kind: str) -> bool:
    """Whether a client accepts a media type and not JSON."""
    accepted = request.headers.get("accept", "")
    return kind in accepted and "application/json" not in accepted


async def _send_events(done: Callable[[Tell], Awaitable[BaseModel]], outbox: Outbox) -> None:
    """Run a call and emit its events.

    Raises:
        Failed: it failed before the first event, so that the response can still have its own status.
    """
    begun = False
    outbox.headers["X-Accel-Buffering"] = "no"  # nginx would hold events back

    def tell(name: str, data: BaseModel) -> None:
        nonlocal begun
        begun = True
        outbox.add(f"event: {name}\ndata: {data.model_dump_json()}\n\n".encode())

    def listener(event: Event) -> None:
        if isinstance(event, AttemptStarted):
            tell("attempt_started", Started(provider=event.provider))
        else:
            tell("attempt_finished", event.attempt)

    try:
        with listening(listener):
            result = await done(tell)
    except Failed as error:
        if not begun:
            raise
        tell("error", Failure(error=error.problem))
    else:
        tell("result", result)


_logger = logging.getLogger(__name__)

_NO_CONTENTS = Contents()
_OF_THE_KEY = frozenset({"api_key", "apiKey"})  # old clients send it in the body; the key that counts is in a header
_OWN_FORM = ResponseForm()
_GRACE = 1.0  # seconds after a call's own deadline, which normally ends it

_A = TypeVar("_A", bound=BaseModel)

Reader = Callable[[Request, bytes], _A]
"""Parses a request and its body, or raises Failed or InvalidRequest."""

Work = Callable[[Caller, _A], Awaitable[BaseModel]]
"""Handles a parsed request."""


class Endpoint(Generic[_A]):
    """An ASGI endpoint that responds with JSON, or with events if the request accepts them.

    Args:
        context: What it shares with the others.
        parse: Returns the arguments of a request.
        work: What is done.
        default_seconds: Seconds for a call whose request does not say how many.
        events: Whether a client may have events.
        text: Makes plain text of what was done, for a client that accepts `text/plain`.
        refuse: Makes the response of a failure.
    """

    def __init__(
        self,
        context: AppContext,
        parse: Reader[_A],
        work: Work[_A],
        *,
        default_seconds: float,
        events: bool = False,
        text: Callable[[Any], str] | None = None,
        refuse: Callable[[Failed], Response] = Failed.response,
    ) -> None:
        self._context = context
        self._parse = parse
        self._work = work
        self._default_seconds = default_seconds
        self._events = events
        self._text = text
        self._refuse = refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = Request(scope, receive)
        try:
            with self._context.traffic.call():
                await self._answer(request, scope, receive, send)
        except (Failed, GroundwireError) as error:
            await self._refuse(_for_path(failure_of(error), scope))(scope, receive, send)
        except ClientDisconnect:
            return

    async def _answer(self, request: Request, scope: Scope, receive: Receive, send: Send) -> None:
        arguments = self._parse(request, await self._context.traffic.until_ended(request.body()))
        seconds = self._default_seconds
        contents = _NO_CONTENTS
        if isinstance(arguments, ApiRequest):
            if members := arguments.sent_members:
                lists = isinstance(arguments, MapRequest)
                contents = contents_of(members, reads=isinstance(arguments, PagesRequest), lists=lists)
            # Reading and answering have their own limits.
            if arguments.timeout is not None or contents.member or contents.answer:
                seconds = min(arguments.timeout or self._context.longest, self._context.longest)
        caller = self._context.caller(scope)
        done = partial(self._done, caller, arguments, seconds, contents)

        async def respond() -> Response:
            result = await done()
            if self._text is not None and prefers(request, "text/plain"):
                return Response(self._text(result), headers=caller.headers, media_type="text/plain")
            body = _body(contents, caller, FORMS.get(scope["path"], _OWN_FORM), result)
            return Response(body, headers=caller.headers, media_type="application/json")

        if self._events and (prefers(request, _KIND) or getattr(arguments, "stream", False)):
            work = partial(_send_events, done)
            await answer_with_events(work, None, scope, receive, send, keep_alive=self._context.keep_alive)
        else:
            await answer_whole(respond(), scope, receive, send)

    async def _done(
        self, caller: Caller, arguments: _A, seconds: float, contents: Contents, tell: Tell | None = None
    ) -> BaseModel:
        """Return what came of a call.

        Raises:
            Failed: the work failed.
        """
        try:
            with (limit := Timeout(seconds + _GRACE)):
                work = self._worked(caller if tell is None else replace(caller, tell=tell), arguments, contents)
                return await self._context.traffic.until_ended(work)
        except Failed:
            raise
        except GroundwireError as error:
            raise failure_of(error) from error
        except Exception as error:
            if isinstance(error, TimeoutError) and limit.expired:
                text = f"The call took more than {seconds:g} seconds. Retry with a longer timeout."
                raise failed(504, "deadline_exceeded", text) from error
            _logger.exception("A call failed", extra={"request_id": caller.request_id})
            raise internal() from error

    async def _worked(self, caller: Caller, arguments: _A, contents: Contents) -> BaseModel:
        result = await self._work(caller, arguments)
        if (
            isinstance(arguments, ApiRequest)
            and (contents.member or contents.answer)
            and not isinstance(arguments, PagesRequest)
        ):
            rows: Iterable[Any] = getattr(result, "results", ()) or getattr(result, "sources", ())
            await add_contents(caller, arguments, contents, [row.url for row in rows])
        return result


def _body(contents: Contents, caller: Caller, form: ResponseForm, result: BaseModel) -> str:
    """Return a response as JSON, in the form of another API at its path."""
    if not form.rows and contents == _NO_CONTENTS:
        return result.model_dump_json()
    plain = result.model_dump(mode="json")
    body = shaped(plain, form) if form.rows else plain
    rows: Any = body
    for part in (form.rows or "results").split("."):
        rows = rows.get(part, ())
    return json.dumps(with_contents(body, rows if isinstance(rows, list) else (), contents, caller.extra))


def _for_path(error: Failed, scope: Scope) -> Failed:
    facts_of(scope).code = error.problem.code
    form = FORMS.get(scope["path"])
    return error if form is None else replace(error, drop_in=True, is_text=form.text_errors)


def read_json(model: type[_A], request: Request, body: bytes) -> _A:
    """Parse a JSON body.

    Raises:
        Failed: it is not JSON, or a field is invalid. InvalidRequest: it has too many values.
    """
    if not is_json(request):
        raise failed(415, "not_json", "Send the request as JSON, with Content-Type: application/json.")
    check_json(body)
    names = _names_of(model)
    sent: Mapping[str, Any] = {}
    try:
        members = json_or_none(body) if request.scope["path"] in FORMS else None
        if not isinstance(members, dict) or not issubclass(model, ApiRequest):
            return model.model_validate_json(body)
        sent = {name: value for name, value in without_days(members).items() if name not in _OF_THE_KEY}
        arguments = model.model_validate_json(json.dumps(_with_defaults(model.renamed(sent), request)))
        arguments.remember(sent)
        return arguments
    except ValidationError as error:
        known = (*model.model_fields, *(names if sent else ()))
        raise invalid(error, known, names, _sent_names(model, sent)) from None


def _with_defaults(arguments: dict[str, Any], request: Request) -> dict[str, Any]:
    """Return the arguments of a request, with the defaults and the unit of the API whose path it is at."""
    form = FORMS[request.url.path]
    if form.milliseconds and isinstance(arguments.get("timeout"), (int, float)):
        arguments = {**arguments, "timeout": max(arguments["timeout"] / 1000, 1.0)}
    sized = any(arguments.get(name) is not None for name in ("query", "find", "cursor", "max_length", "max_tokens"))
    return arguments if sized else {**form.defaults, **arguments}


def _sent_names(model: type[BaseModel], members: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the names that a client of another API gave to the arguments."""
    names, fields = _names_of(model), model.model_fields
    return {ours: name for name, value in members.items() for ours in translated(name, value, names, fields) or ()}


def _names_of(model: type[BaseModel]) -> Mapping[str, str]:
    return model.other_names if issubclass(model, ApiRequest) else {}


def read_query(model: type[_A], request: Request, _body: bytes = b"", **path_params: str) -> _A:
    """Return the query of a request, together with the parameters of its path.

    Args:
        model: The model of both.
        request: The request.
        path_params: The parameters of the path, if not those that were sent.

    Raises:
        Failed: a field is invalid.
    """
    try:
        return model.model_validate_strings({**request.query_params, **request.path_params, **path_params})
    except ValidationError as error:
        raise invalid(error) from None


def is_json(request: Request) -> bool:
    """Whether a request says that its body is JSON."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    return kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json"))
