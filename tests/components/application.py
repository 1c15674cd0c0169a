"""A site whose pages are rendered by scripts: well-behaved ones, slow ones, and attacks on the local machine."""

from __future__ import annotations

from collections.abc import Callable

from groundwire.testing import EmulatedResponse, Recorded
from groundwire.testing.server import EmulatedServer

PARAGRAPHS = (
    "The orchard behind the mill has forty-two apple trees, nineteen plum trees and seven quinces.",
    "They were planted in rows of seven by a miller who could not count any further than that.",
    "In September the apples are picked by hand, and what falls is pressed for cider the same day.",
)


def shell(script: str, *, title: str = "loading", body: str = "", head: str = "") -> str:
    """Return a page that has only an empty root and a script."""
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>{head}</head>'
        f'<body><nav>Menu Login</nav><div id="app">Loading...</div>{body}<script>{script}</script></body></html>'
    )


FILL = """async function fill() {
  const data = await (await fetch("/api/data")).json();
  document.title = data.title;
  document.getElementById("app").innerHTML = "<article><h1>" + data.title + "</h1>"
    + data.paragraphs.map(text => "<p>" + text + "</p>").join("") + "</article>";
}"""


class Application(EmulatedServer):
    """The site; add pages to `pages` by their path."""

    def __init__(self, name: str = "application") -> None:
        super().__init__(name)
        self.pages: dict[str, EmulatedResponse | Callable[[Recorded], EmulatedResponse]] = {
            "/api/data": EmulatedResponse.json({"title": "The orchard", "paragraphs": PARAGRAPHS}),
            "/now": EmulatedResponse.html(shell(f"{FILL} fill()")),
            "/late": EmulatedResponse.html(shell(f"{FILL} setTimeout(fill, 300)")),
        }

    def handle(self, request: Recorded) -> EmulatedResponse:
        """Return the page at a path."""
        page = self.pages.get(request.path)
        if page is None:
            return EmulatedResponse.text("nothing here", status=404)
        return page(request) if callable(page) else page
