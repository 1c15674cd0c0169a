"""The files that the page is made with: one stylesheet, one script, one picture."""

from __future__ import annotations

import hashlib
from importlib.resources import files

from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from groundwire.server.ui.headers import static_headers

__all__ = ["Assets"]

_TYPES = {
    "page.css": "text/css; charset=utf-8",
    "page.js": "text/javascript; charset=utf-8",
    "mark.svg": "image/svg+xml",
}


class Assets:
    """Serves the files, from memory; an ASGI application for `PATH/{name}`.

    Args:
        path: Where they are served.
    """

    def __init__(self, path: str) -> None:
        folder = files("groundwire.server.ui").joinpath("static")
        self._path = path
        self._files = {name: folder.joinpath(name).read_bytes() for name in _TYPES}
        self._versions = {name: hashlib.sha256(data).hexdigest()[:12] for name, data in self._files.items()}

    def url(self, name: str) -> str:
        """Return where a file is, with its version."""
        return f"{self._path}/{name}?v={self._versions[name]}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send a file."""
        name = str(scope["path_params"]["name"])
        data = self._files.get(name)
        status, body, kind = (
            (404, b"There is no such file.", "text/plain") if data is None else (200, data, _TYPES[name])
        )
        versioned = data is not None and Request(scope).query_params.get("v") == self._versions[name]
        headers = static_headers(kind, versioned=versioned)
        headers.append((b"content-length", str(len(body)).encode()))
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})
