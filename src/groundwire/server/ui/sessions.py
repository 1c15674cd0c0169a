"""Sessions: what each has used of its budget, and what it was shown."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from groundwire.citations.verify import CitedPage
from groundwire.server.ui.asking import whole
from groundwire.server.ui.html import Html, Redirect
from groundwire.server.ui.room import Visit, session_cookie

__all__ = ["SessionRow", "new_session", "session", "sessions"]

_MOST = 200  # sessions on a page
_ROWS = 100  # sources on a page
_SOURCES = "sources:"  # with which the names of what sessions were shown begin in the store


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRow:
    """One session."""

    name: str
    """Its name, without what stands before the names of all of the visitor's sessions."""
    searches: int
    """The searches that it has made."""
    cost_usd: float
    """What they cost, in US dollars."""
    tokens: int
    """The tokens of page text that it has read; counted only under a limit."""
    is_here: bool
    """Whether it is this browser's."""


async def sessions(visit: Visit) -> Html:
    """Show the sessions whose names are known."""
    prefix = visit.visitor.prefix
    names = {visit.session}
    more = False
    async for key in visit.visitor.web.store.scan(f"{_SOURCES}{prefix}"):
        names.add(key.removeprefix(_SOURCES))
        if len(names) > _MOST:
            more = True
            break
    rows = [await _row(visit, name) for name in names]
    rows.sort(key=lambda row: (not row.is_here, -row.searches, row.name))
    web = visit.visitor.web
    values = {"rows": rows[:_MOST], "more": more, "limits": web.settings.session, "today": await web.daily_usage()}
    return Html(template="sessions.html", values=values)


async def session(visit: Visit) -> Html:
    """Show one session: its budget, and the sources by the numbers to cite them by."""
    asked = visit.asked
    name = f"{visit.visitor.prefix}{asked.get('name')}" if asked.get("name") else visit.session
    row = await _row(visit, name)
    web = visit.visitor.web
    pages: tuple[CitedPage, ...] = ()
    if web.settings.session.citations == "session":
        pages = await web.session(name).sources(content=False)
    first = whole("from", asked.get("from"), 0, 10**6) if asked.get("from") else 0
    values = {
        "row": row,
        "limits": web.settings.session,
        "sources": pages[first : first + _ROWS],
        "count": len(pages),
        "first": first,
        "following": first + _ROWS if first + _ROWS < len(pages) else 0,
    }
    return Html(template="session.html", values=values)


async def new_session(visit: Visit) -> Redirect:
    """Give the browser a new session, whose budget is whole; the old one stays as it is."""
    return Redirect(to="/", headers=(("set-cookie", session_cookie(secrets.token_hex(12))),))


async def _row(visit: Visit, name: str) -> SessionRow:
    used = await visit.visitor.web.session(name).usage()
    return SessionRow(
        name=name.removeprefix(visit.visitor.prefix),
        searches=round(used["searches"]),
        cost_usd=used["cost_usd"],
        tokens=round(used["tokens"]),
        is_here=name == visit.session,
    )
