"""A call told by server-sent events: each attempt as it happens, then the result (https://html.spec.whatwg.org)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from pydantic import BaseModel, ConfigDict
from starlette.requests import Request
from starlette.responses import Response

from groundwire.models import AttemptStarted, Event
from groundwire.observing.listening import listening
from groundwire.server.http.failures import Failed, Failure
from groundwire.server.streaming import Outbox

__all__ = ["Started", "told", "wants_events"]

_KIND = "text/event-stream"


class Started(BaseModel):
    """The data of the event `attempt_started`: a provider is being asked now."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    provider: str
    """Its name."""


def wants_events(request: Request) -> bool:
    """Whether a client accepts events, and does not like JSON better (RFC 9110, section 12.5.1)."""
    wishes: dict[str, float] = {}
    for part in request.headers.get("accept", "").split(","):
        name, *parameters = [piece.strip().lower() for piece in part.split(";")]
        weights = [piece.removeprefix("q=") for piece in parameters if piece.startswith("q=")]
        try:
            wishes[name] = float(weights[0]) if weights else 1.0
        except ValueError:
            wishes[name] = 0.0
    return wishes.get(_KIND, 0.0) > 0 and wishes[_KIND] >= wishes.get("application/json", 0.0)


async def told(
    done: Callable[[], Awaitable[BaseModel]], refuse: Callable[[Failed], Response], outbox: Outbox
) -> Response | None:
    """Do the work of a call and tell of it.

    Args:
        done: The work.
        refuse: Makes the response of a failure before anything was told, which has a status of its own then.
        outbox: Takes the events.
    """
    begun = False
    outbox.headers["X-Accel-Buffering"] = "no"  # nginx would hold events back

    def tell(name: str, data: BaseModel) -> None:
        nonlocal begun
        begun = True
        outbox.add(f"event: {name}\ndata: {data.model_dump_json()}\n\n".encode())

    def heard(event: Event) -> None:
        if isinstance(event, AttemptStarted):
            tell("attempt_started", Started(provider=event.provider))
        else:
            tell("attempt_finished", event.attempt)

    try:
        with listening(heard):
            made = await done()
    except Failed as error:
        if not begun:
            return refuse(error)
        tell("error", Failure(error=error.problem))
        return None
    tell("result", made)
    return None
