"""Works of reference: MediaWiki (api.php), arXiv (Atom), YouTube (oEmbed, watch page), a site with Markdown twins."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from groundwire.testing.http_messages import EmulatedResponse, Recorded
from world.site_apis import HIDDEN, SiteApi

_LONG = "<div class=mw-parser-output lang=en>{}<p>The last vessel was towed away.</p></div>".format(
    "".join(
        f"<h2>Station {station}</h2>"
        + "".join(
            f'<p>Vessel {ship} of station {station} was moored off <a href="/wiki/Sandbank_{station}_{ship}" '
            f'title="Sandbank {station} {ship}">a sandbank in the bay</a><sup id="cite_ref-{station}-{ship}" '
            f'class="reference"><a href="#cite_note-{station}-{ship}"><span class="cite-bracket">[</span>{ship}'
            f'<span class="cite-bracket">]</span></a></sup> and showed two lanterns.</p>'
            for ship in range(40)
        )
        for station in range(40)
    )
)
"""An article of 500,000 characters of HTML, as long as those of countries are."""
_ARTICLE = f"""<div class="mw-content-ltr mw-parser-output" lang="en" dir="ltr"><style>.hid{{display:none}}</style>
<table class="metadata plainlinks ambox"><tbody><tr><td>This article needs more sources.</td></tr></tbody></table>
<p>A <b>light vessel</b> is a ship that acts as a <a href="/wiki/Lighthouse" title="Lighthouse">lighthouse</a>.<span
class="hid">{HIDDEN}</span><sup id="cite_ref-1" class="reference"><a href="#cite_note-1">[1]</a></sup></p>
<div class="mw-heading mw-heading2"><h2 id="History">History</h2><span class="mw-editsection">[edit]</span></div>
<p>The first one was moored in 1734.</p>
<table class="wikitable"><tbody><tr><th>Ship</th><th>Year</th></tr><tr><td>Sven</td><td>1734</td></tr></tbody></table>
<div class="mw-references-wrap"><ol class="references"><li id="cite_note-1"><span class="mw-cite-backlink"><a
href="#cite_ref-1">^</a></span> <span class="reference-text">A book about ships.</span></li></ol></div>
<div role="navigation" class="navbox"><ul><li><a href="/wiki/Buoy">Buoy</a></li></ul>Aids to navigation</div></div>"""


class MediaWiki(SiteApi):
    """A wiki with one article; see `SiteApi`."""

    name_of_site: ClassVar[str] = "mediawiki"
    public_hosts: ClassVar[tuple[str, ...]] = (
        "en.wikipedia.org",
        "zh.wikipedia.org",
        "de.wikipedia.org",
        "wiki.archlinux.org",
    )
    routes: ClassVar[Mapping[str, str]] = {r"(?:/w)?/api\.php\?.*": "api"}
    articles: ClassVar[Mapping[str, str]] = {
        "/wiki/List_of_light_vessels": f"<h1>List of light vessels</h1>{_LONG}",
        "/wiki/Light_vessel": f"<h1>Light vessel</h1>{_ARTICLE}",
    }

    def refusal(self) -> EmulatedResponse:
        """Return that the database is behind, which comes with a status of 200."""
        error = {"code": "maxlag", "info": "Waiting for a database server: 7 seconds lagged."}
        return self.json({"error": error}, headers={"MediaWiki-API-Error": "maxlag", "Retry-After": "5"})

    def api(self) -> EmulatedResponse:
        """Answer action=parse and action=query."""
        asked = self.request.query
        if asked.get("format") != "json" or asked.get("formatversion") != "2":
            return EmulatedResponse.html("<!doctype html><title>MediaWiki API result</title>")
        title = asked.get("page") or asked.get("titles", "")
        moved = {"from": "Lightship", "to": "Light vessel"} if title == "Lightship" else {}
        title = "Light vessel" if "9" in {asked.get("pageid"), asked.get("pageids")} else title
        known = title in {"Light vessel", "Lightship", "List of light vessels"}
        if asked.get("action") == "parse":
            if not known:
                error = {"code": "missingtitle", "info": "The page you specified doesn't exist."}
                return self.json({"error": error}, headers={"MediaWiki-API-Error": "missingtitle"})
            redirects = [moved] if moved else []
            shown = (
                {"title": title, "text": _LONG}
                if title.startswith("List")
                else {"title": "Light vessel", "text": _ARTICLE}
            )
            parsed = {"pageid": 9, "revid": 77, "redirects": redirects, **shown}
            return self.json({"parse": parsed})
        host = self.request.headers.get("Host", "")
        page: dict[str, Any] = {"ns": 0, "title": title, "missing": True}
        if known:
            page = {
                "pageid": 9,
                "ns": 0,
                "title": "Light vessel",
                "revisions": [{"timestamp": "2026-10-20T12:00:00Z"}],
                "pagelanguage": "de" if host.startswith("de.") else "en",
                "fullurl": f"https://{host}/wiki/Light_vessel",
                "canonicalurl": f"https://{host}/wiki/Light_vessel",
            }
        return self.json({"batchcomplete": True, "query": {"pages": [page]}})


class ArXiv(SiteApi):
    """arXiv with one paper; see `SiteApi`."""

    name_of_site: ClassVar[str] = "arxiv"
    public_hosts: ClassVar[tuple[str, ...]] = ("arxiv.org", "export.arxiv.org")
    routes: ClassVar[Mapping[str, str]] = {r"/api/query\?id_list=(?P<number>.+)": "query"}

    def query(self, number: str) -> EmulatedResponse:
        """Return a feed with one entry, or with one that is an error."""
        number = number.replace("%2F", "/")
        entry = _PAPER if number.startswith(("2601.01234", "hep-th/0101001")) else _NO_PAPER
        feed = (
            '<?xml version="1.0" encoding="UTF-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">'
            '<link href="http://arxiv.org/api/query?id_list=x" rel="self" type="application/atom+xml"/>'
            f'<title type="html">ArXiv Query</title><id>http://arxiv.org/api/x</id>{entry}</feed>'
        )
        return replace(EmulatedResponse.text(feed), content_type="application/atom+xml; charset=utf-8")


_NO_PAPER = """<entry><id>http://arxiv.org/api/errors#incorrect_id</id><title>Error</title>
<summary>incorrect id format</summary><author><name>arXiv api core</name></author></entry>"""
_PAPER = f"""<entry><id>http://arxiv.org/abs/2601.01234v2</id><updated>2026-03-04T05:06:07Z</updated>
<published>2026-01-02T03:04:05Z</published><title>On the Range of Lamps
  over Water</title><summary>  We measure how far $r^2$ a lamp is seen
over water. Red lamps reach 4 miles. \u200b\u200b<!-- {HIDDEN} -->
</summary><author><name>Ada Voss</name></author><author><name>Bo Larsen</name></author>
<arxiv:doi xmlns:arxiv="http://arxiv.org/schemas/atom">10.5555/lamps.1</arxiv:doi>
<arxiv:comment xmlns:arxiv="http://arxiv.org/schemas/atom">12 pages, 3 figures</arxiv:comment>
<arxiv:primary_category xmlns:arxiv="http://arxiv.org/schemas/atom" term="physics.optics"/>
<link href="http://arxiv.org/abs/2601.01234v2" rel="alternate" type="text/html"/>
<link title="pdf" href="http://arxiv.org/pdf/2601.01234v2" rel="related" type="application/pdf"/>
<category term="physics.optics" scheme="http://arxiv.org/schemas/atom"/>
<category term="physics.ao-ph" scheme="http://arxiv.org/schemas/atom"/></entry>"""


class YouTube(SiteApi):
    """YouTube with one video; see `SiteApi`.

    Attributes:
        playable: Whether the watch page has the data of the video.
        captions: The kinds of English captions, `asr` for generated ones; empty for none of any language.
        default: Whether the audio names its captions.
    """

    name_of_site: ClassVar[str] = "youtube"
    public_hosts: ClassVar[tuple[str, ...]] = ("www.youtube.com", "youtu.be")
    routes: ClassVar[Mapping[str, str]] = {r"/oembed\?.*": "oembed", r"/api/timedtext\?.*fmt=json3": "captions_of"}
    video: ClassVar[str] = "lampLAMP-_1"

    def __init__(self) -> None:
        super().__init__()
        self.playable = True
        self.captions: tuple[str, ...] = ("asr", "")
        self.default = True

    def oembed(self) -> EmulatedResponse:
        """Return title and author."""
        if self.video not in self.request.query.get("url", ""):
            return EmulatedResponse.text("Not Found", status=404)
        about = {"title": "How a lamp is lit", "author_name": "Harbor TV", "type": "video", "version": "1.0"}
        return self.json({**about, "author_url": "https://www.youtube.com/@harbortv", "provider_name": "YouTube"})

    def captions_of(self) -> EmulatedResponse:
        """Return captions in the form `json3`."""
        kind = "generated" if self.request.query.get("kind") == "asr" else "written"
        kind = kind if self.request.query.get("lang") == "en" else "translated"
        lines = ((0, f"Welcome, these are {kind} captions."), (30_000, "First the oil."), (75_000, "Then the wick."))
        events: list[dict[str, Any]] = [{"tStartMs": 0, "dDurationMs": 90_000, "id": 1}]
        for start, words in lines:
            first, _, rest = words.partition(" ")
            segments = [{"utf8": first}, {"utf8": f" {rest}", "tOffsetMs": 200}]
            events += [
                {"tStartMs": start, "dDurationMs": 4_000, "segs": segments},
                {"tStartMs": start, "segs": [{"utf8": "\n"}]},
            ]
        return self.json({"wireMagic": "pb3", "pens": [{}], "events": events})

    def web_page(self, request: Recorded) -> EmulatedResponse:
        """Return the watch page with its data, which is a shell without text."""
        if self.video not in request.target:
            return super().web_page(request)
        about = "How to light a lamp.\n\nChapters:\n0:00 Oil\n1:15 Wick\n\nhttps://lantern.example \u200b"
        languages = [("zh", ""), ("cs", ""), *(("en", kind) for kind in self.captions), ("de", "")]
        tracks: list[dict[str, Any]] = [
            {
                "baseUrl": f"https://www.youtube.com/api/timedtext?v={self.video}&lang={code}&kind={kind}",
                "name": {"simpleText": {"en": "English"}.get(code, code)},
                "vssId": f"{'a' if kind else ''}.{code}",
                "languageCode": code,
                "isTranslatable": True,
                **({"kind": kind} if kind else {}),
            }
            for code, kind in (languages if self.captions else ())
        ]
        written = [number for number, (code, kind) in enumerate(languages) if code == "en" and not kind]
        default = {"defaultCaptionTrackIndex": written[0]} if written and self.default else {}
        audio = {"captionTrackIndices": list(range(len(tracks))), "hasDefaultTrack": bool(default), **default}
        listed = {"captionTracks": tracks, "audioTracks": [audio], "defaultAudioTrackIndex": 0}
        player: dict[str, Any] = {"playabilityStatus": {"status": "LOGIN_REQUIRED", "reason": "Sign in to confirm"}}
        if self.playable:
            player = {
                "playabilityStatus": {"status": "OK"},
                "captions": {"playerCaptionsTracklistRenderer": listed} if tracks else {},
                "videoDetails": {
                    "videoId": self.video,
                    "title": "How a lamp is lit",
                    "lengthSeconds": "95",
                    "shortDescription": about,
                    "viewCount": "1234",
                    "author": "Harbor TV",
                },
                "microformat": {"playerMicroformatRenderer": {"publishDate": "2026-05-06T07:00:00-07:00"}},
            }
        name = "newPlayerResponse" if self.changed else "ytInitialPlayerResponse"
        return EmulatedResponse.html(
            "<!doctype html><html lang=en><head><title>How a lamp is lit - YouTube</title></head><body>"
            f"<script>var {name} = {json.dumps(player)};var meta = 1;</script><div id=player></div></body></html>"
        )
