"""YouTube: title, description, chapters and transcript, from the data of the watch page and oEmbed (https://oembed.com).

There is no API without a key that has more than oEmbed. The rest is in the data that the watch page embeds; the
transcript has an address there, which is asked for only where robots.txt allows it.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from groundwire.reading.sites.parts import SitePart, facts, heading, plain, say
from groundwire.reading.sites.site import (
    PageAddress,
    SiteContent,
    SiteRate,
    SiteRequest,
    SiteSpec,
    Steps,
    day,
    need,
    route,
    text,
)

__all__ = ["YOUTUBE"]

_SITE: Final = "https://www.youtube.com"
_PLAYER: Final = re.compile(r"ytInitialPlayerResponse\s{0,5}=\s{0,5}(?=\{)")
_CHAPTER: Final = re.compile(r"^\W{0,3}((?:\d{1,2}:)?\d{1,2}:\d\d)\W{1,5}(\S.{0,200})$")
_VIDEO: Final = "[A-Za-z0-9_-]{11}"
_STRETCH: Final = 60_000  # milliseconds of a transcript in one paragraph


def watch(page: PageAddress) -> Steps | None:
    """Read the page of a video."""
    number = page["id"] or page.query.get("v", "")
    return _video(page, number) if re.fullmatch(_VIDEO, number) else None


def _video(page: PageAddress, number: str) -> Steps:
    address = f"{page.api}/watch?v={number}"
    what = "description, chapters and transcript"
    (source,) = yield (SiteRequest(url=address, kind="text", accept="text/html", api=False, optional=what),)
    player = _player(source or "")
    details = player.get("videoDetails") or {}
    title, author = text(details, "title"), text(details, "author")
    missing = []
    if not title:
        missing = [] if source is None else [f"{what} left out: {_reason(player)}"]
        watched = {"url": f"{_SITE}/watch?v={number}", "format": "json"}
        (embedded,) = yield (SiteRequest(url=f"{page.api}/oembed", params=watched),)
        title, author = need(embedded, "title"), text(embedded, "author_name")
    about = str(details.get("shortDescription") or "")
    chapters = [found.groups() for line in about.splitlines()[:2_000] if (found := _CHAPTER.match(line.strip()))]
    description = "\n".join(line for line in about.splitlines() if not _CHAPTER.match(line.strip()))
    published = text(player, "microformat", "playerMicroformatRenderer", "publishDate")
    parts = [
        heading(1, title),
        say(f"video by {author}", day(published), _time(details.get("lengthSeconds"))),
        facts((("Views", text(details, "viewCount")),)),
        *_section("Description", plain(description)),
        *_section("Chapters", facts((time, name) for time, name in chapters)),
    ]
    if track := _track(page, player):
        (spoken,) = yield (SiteRequest(url=track, api=False, optional="the transcript"),)
        parts += _section("Transcript", plain(_transcript(spoken))) if spoken is not None else []
    warnings = ["there is no transcript"] if details and not track else []
    return SiteContent(title=title, url=address, published=published, parts=parts, missing=missing, warnings=warnings)


def _section(title: str, part: SitePart) -> list[SitePart]:
    return [heading(2, title), part] if part.text.strip() else []


def _player(source: str) -> dict[str, Any]:
    """Return the data of the player that a watch page embeds; nothing when it has none."""
    start = _PLAYER.search(source)
    try:
        found, _ = json.JSONDecoder().raw_decode(source, start.end()) if start else ({}, 0)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _reason(player: dict[str, Any]) -> str:
    return text(player, "playabilityStatus", "reason")[:200] or "the watch page has no data of the video"


def _track(page: PageAddress, player: dict[str, Any]) -> str:
    """Return the address of the captions, written ones before generated ones; empty when there are none."""
    found = (player.get("captions") or {}).get("playerCaptionsTracklistRenderer")
    tracks = found.get("captionTracks") if isinstance(found, dict) else None
    usable = [track for track in tracks or () if isinstance(track, dict) and text(track, "baseUrl")]
    usable.sort(key=lambda track: text(track, "kind") == "asr")
    if not usable:
        return ""
    _, mark, rest = text(usable[0], "baseUrl").partition("/api/timedtext?")
    return f"{page.api}/api/timedtext?{rest}&fmt=json3" if mark else ""


def _transcript(spoken: Any) -> str:
    """Return captions (`json3`) as paragraphs of a minute, each with its time."""
    blocks: list[str] = []
    words: list[str] = []
    begun = -_STRETCH
    for event in need(spoken, "events", kind=list):
        at = event.get("tStartMs") if isinstance(event, dict) else None
        segments = event.get("segs") if isinstance(event, dict) else None
        said = "".join(str(one.get("utf8") or "") for one in segments or () if isinstance(one, dict))
        if not said.strip() or not isinstance(at, int):
            continue
        if at - begun >= _STRETCH:
            blocks.append(" ".join(words))
            words, begun = [f"[{_time(at // 1_000)}]"], at
        words.append(" ".join(said.split()))
    return "\n\n".join(filter(None, (*blocks, " ".join(words))))


def _time(seconds: object) -> str:
    if not str(seconds or "").isdigit() or int(str(seconds)) > 10**6:
        return "" if seconds != 0 else "0:00"
    minutes, rest = divmod(int(str(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


YOUTUBE: Final = SiteSpec(
    name="youtube",
    title="YouTube",
    hosts=dict.fromkeys(("youtube.com", "*.youtube.com", "www.youtube-nocookie.com", "youtu.be"), _SITE),
    elsewhere="{origin}",
    rate=SiteRate(60, 60.0, "https://oembed.com"),
    routes=(
        route("/watch", watch),
        route("/shorts/{id}", watch, id=_VIDEO),
        route("/live/{id}", watch, id=_VIDEO),
        route("/{kind}/{id}", watch, kind="embed|v|e", id=_VIDEO),
        route("/{id}", watch, id=_VIDEO),
    ),
)
