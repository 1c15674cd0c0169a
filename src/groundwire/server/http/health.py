"""Whether a gateway lives, and whether it should get requests."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from groundwire.server.http.house import House

__all__ = ["Health"]


class Health:
    """The endpoints that an orchestrator and a load balancer ask.

    Args:
        house: Whose health it is.
    """

    def __init__(self, house: House) -> None:
        self._house = house

    async def healthz(self, _request: Request) -> Response:
        """Answer that the process lives."""
        return JSONResponse({"status": "ok"})

    async def readyz(self, _request: Request) -> Response:
        """Answer whether calls may be sent here."""
        traffic = self._house.traffic
        if traffic.draining:
            return JSONResponse({"status": "draining"}, 503)
        if not traffic.started:
            return JSONResponse({"status": "starting"}, 503)
        return JSONResponse({"status": "ready"})
