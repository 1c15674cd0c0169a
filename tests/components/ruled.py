"""A site with a robots.txt and validators, configured by a test."""

from __future__ import annotations

from collections.abc import Mapping

from groundwire.testing import EmulatedResponse, EmulatedServer, Recorded


class Ruled(EmulatedServer):
    """Serves an article at every path.

    Attributes:
        robots: What is answered to /robots.txt.
        text: The words of every page.
        headers: Further headers of every page.
        etag: Its entity tag; empty for none.
        modified: Its Last-Modified header; empty for none.
        moved: Where paths redirect to.
        links: What the pages link to.
    """

    def __init__(self, name: str, robots: EmulatedResponse | str = "") -> None:
        super().__init__(name)
        self.robots = robots if isinstance(robots, EmulatedResponse) else EmulatedResponse.text(robots)
        self.text = "The tide tables of the harbour are printed every spring, and the pilots keep a copy on board."
        self.headers: Mapping[str, str] = {}
        self.etag = ""
        self.modified = ""
        self.moved: dict[str, str] = {}
        self.links: tuple[str, ...] = ()

    def handle(self, request: Recorded) -> EmulatedResponse:
        """Return the page, or that it has not changed."""
        if request.path == "/robots.txt":
            return self.robots
        if request.path in self.moved:
            return EmulatedResponse(status=302, content_type=None, headers={"Location": self.moved[request.path]})
        said = {**self.headers}
        if self.etag:
            said["ETag"] = self.etag
        if self.modified:
            said["Last-Modified"] = self.modified
        conditions = (request.headers.get("If-None-Match"), request.headers.get("If-Modified-Since"))
        if any(conditions) and conditions[0] in {None, self.etag} and conditions[1] in {None, self.modified}:
            return EmulatedResponse(status=304, content_type=None, headers=said)
        links = "".join(f'<p>See <a href="{link}">the page about it</a> for more of this.</p>' for link in self.links)
        return EmulatedResponse(
            body=f"<title>Tides</title><main><h1>Tides</h1><p>{self.text}</p>{links}</main>".encode(), headers=said
        )
