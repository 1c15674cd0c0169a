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
    SiteRequest,
    SiteSpec,
    Steps,
    day,
    need,
    route,
    text,
)

_SITE: Final = "https://www.youtube.com"
_PLAYER: Final = re.compile(r"ytInitialPlayerResponse\s{0,5}=\s{0,5}(?=\{)")
_CHAPTER: Final = re.compile(r"^\W{0,3}((?:\d{1,2}:)?\d{1,2}:\d\d)\W{1,5}(\S.{0,200})$")
_VIDEO: Final = "[A-Za-z0-9_-]{11}"
_STRETCH: Final = 60_000  # milliseconds of a transcript in one paragraph


def watch(page: PageAddress) -> Steps:
    """Read the page of a video."""
    number = page["id"] or page.query.get("v", "").strip()
    if not re.fullmatch(_VIDEO, number):
        return None
    address = f"{_SITE}/watch?v={number}"
    what = "description, chapters and transcript"
    (source,) = yield (SiteRequest(url=address, kind="text", accept="text/html", api=False, optional=what),)
    player = _player(source or "")
    details = player.get("videoDetails") or {}
    title, author = text(details, "title"), text(details, "author")
    missing = []
    if not title:
        missing = [] if source is None else [f"{what} left out: {_reason(player)}"]
        watched = {"url": f"{_SITE}/watch?v={number}", "format": "json"}
        (embedded,) = yield (SiteRequest(url=f"{_SITE}/oembed", params=watched),)
        title, author = need(embedded, "title"), text(embedded, "author_name")
    about = str(details.get("shortDescription") or "")
    chapters = [match.groups() for line in about.splitlines()[:2_000] if (match := _CHAPTER.match(line.strip()))]
    description = "\n".join(line for line in about.splitlines() if not _CHAPTER.match(line.strip()))
    published = text(player, "microformat.playerMicroformatRenderer.publishDate")
    parts = [
        heading(1, title),
        say(f"video by {author}", day(published), _time(details.get("lengthSeconds"))),
        facts(("Views", text(details, "viewCount"))),
        *_section("Description", plain(description)),
        *_section("Chapters", facts(*((time, name) for time, name in chapters))),
    ]
    track, language = _track(player)
    if track:
        (spoken,) = yield (SiteRequest(url=track, api=False, optional="the transcript"),)
        name = f"Transcript ({language})" if language else "Transcript"
        parts += _section(name, plain(_transcript(spoken))) if spoken is not None else []
    warnings = ["there is no transcript"] if details and not track else []
    return SiteContent(title=title, url=address, published=published, parts=parts, missing=missing, warnings=warnings)


def _section(title: str, part: SitePart) -> list[SitePart]:
    return [heading(2, title), part] if part.text.strip() else []


def _player(source: str) -> dict[str, Any]:
    """Return the data of the player that a watch page embeds; nothing when it has none."""
    start = _PLAYER.search(source)
    try:
        data, _ = json.JSONDecoder().raw_decode(source, start.end()) if start else ({}, 0)
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def _reason(player: dict[str, Any]) -> str:
    return text(player, "playabilityStatus.reason")[:200] or "the watch page has no data of the video"


def _track(player: dict[str, Any]) -> tuple[str, str]:
    """Return the address of the captions and their language; empty when there are none.

    The list has translations, too, sorted by name. The language is that of the captions which belong to the audio, or
    the recognized one; what a person wrote comes before what was recognized.
    """
    renderer = (player.get("captions") or {}).get("playerCaptionsTracklistRenderer") or {}
    tracks = [track if isinstance(track, dict) else {} for track in renderer.get("captionTracks") or ()]
    audio, chosen = renderer.get("audioTracks") or (), renderer.get("defaultAudioTrackIndex") or 0
    default = audio[chosen].get("defaultCaptionTrackIndex") if len(audio) > chosen else None
    languages = [text(track, "languageCode") for number, track in enumerate(tracks) if number == default]
    languages += [text(track, "languageCode") for track in tracks if text(track, "kind") == "asr"]
    usable = [
        (text(track, "languageCode") not in languages[:1], text(track, "kind") == "asr", number != default, number)
        for number, track in enumerate(tracks)
        if "/api/timedtext?" in text(track, "baseUrl")
    ]
    if not usable:
        return "", ""
    track = tracks[min(usable)[-1]]
    name = text(track, "name.simpleText") or text(track, "name.runs.text")
    return f"{_SITE}/api/timedtext?{text(track, 'baseUrl').partition('?')[2]}&fmt=json3", name


def _transcript(spoken: Any) -> str:
    """Return captions (`json3`) as paragraphs of a minute, each with its time."""
    blocks: list[str] = []
    words: list[str] = []
    begun = -_STRETCH
    for event in need(spoken, "events", kind=list):
        at = event.get("tStartMs") if isinstance(event, dict) else None
        segments = event.get("segs") if isinstance(event, dict) else None
        caption = "".join(str(segment.get("utf8") or "") for segment in segments or () if isinstance(segment, dict))
        if not caption.strip() or not isinstance(at, int):
            continue
        if at - begun >= _STRETCH:
            blocks.append(" ".join(words))
            words, begun = [f"[{_time(at // 1_000)}]"], at
        words.append(" ".join(caption.split()))
    return "\n\n".join(filter(None, (*blocks, " ".join(words))))


def _time(seconds: object) -> str:
    if not str(seconds or "").isdigit() or int(str(seconds)) > 10**6:
        return "" if seconds != 0 else "0:00"
    minutes, seconds_part = divmod(int(str(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds_part:02}" if hours else f"{minutes}:{seconds_part:02}"


YOUTUBE: Final = SiteSpec(
    name="youtube",
    hosts=("youtube.com", "*.youtube.com", "youtube-nocookie.com", "www.youtube-nocookie.com", "youtu.be"),
    requests=60,  # https://oembed.com
    seconds=60.0,
    routes=(
        route("/watch", watch),
        route("/{kind}/{id}", watch, kind="watch|shorts|live|embed|v|e", id=_VIDEO),
        route("youtu.be/{id}", watch, id=_VIDEO),
    ),
    params=("v",),
)
