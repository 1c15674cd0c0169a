"""GitHub over its REST API (https://docs.github.com/rest) and its raw files; GitHub Enterprise Server likewise."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, Final
from urllib.parse import quote, unquote

from groundwire.reading.sites.parts import SitePart, code, facts, heading, html, markdown, plain, say
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
    rows,
    text,
)

__all__ = ["GITHUB"]

_API: Final = "https://api.github.com"
_REF: Final = "(?:refs/(?:heads|tags)/)?[^/]+"
_NUMBER: Final = "[0-9]{1,12}"
_SHA: Final = "[0-9a-f]{7,40}"
_RENDERED: Final = "application/vnd.github.html+json"
_FULL: Final = "application/vnd.github.full+json"  # texts in Markdown and as the HTML that the web page has
_MOST: Final = 100  # comments, or releases, of one request
_FRAME: Final = "a.anchor, svg, .js-render-enrichment-loader"  # what GitHub's page adds to a text
_CODE: Final = re.compile(r'<pre lang="([\w+#.-]{1,40})"')
_RAW: Final = "https://raw.githubusercontent.com"
_NOT_OWNERS: Final = frozenset(
    re.findall(
        r"\S+",
        "about account accounts achievements actions admin advisories api apps articles assets auth autocomplete "
        "billing blog business careers case-studies changelog codespaces collections community contact "
        "contributing copilot customer-stories customers dashboard desktop developer discussions docs edu "
        "education enterprise enterprises events explore features feed ghcopilot gist gists git-guides "
        "github-copilot help home images inbox integrations issues jobs join learn legal logged_out login logout "
        "marketplace mcp mobile models new news newsletter newsroom nonprofit nonprofits notifications oauth "
        "open-source organizations orgs pages partners password_reset personal plans posts premium-support press "
        "pricing privacy pulls raw readme repos resources search security services sessions settings shop "
        "showcases signin signup site solutions spark sponsors stars startups status stories support team teams "
        "terms topics tos trending trust-center users watching why-github",
    )
)
_FILES: Final = "the first 300 files are read"
_MARKDOWN: Final = (".md", ".markdown", ".mdown")


def _at(page: PageAddress) -> str:
    """Return the address of a repository in the API."""
    return f"{page.api}/repos/{page.quoted('owner')}/{page.quoted('repo').removesuffix('.git')}"


def _name(page: PageAddress) -> str:
    return f"{page['owner']}/{page['repo'].removesuffix('.git')}"


def _home(page: PageAddress, ref: str = "HEAD") -> str:
    """Return the address that relative links in a repository's files start from."""
    return f"{page.url.origin}/{page.quoted('owner')}/{page.quoted('repo')}/blob/{ref}/"


def _rendered(source: str, *, base: str = "", below: int) -> SitePart:
    """Return a text as GitHub renders it; it names the language of code in an attribute of its own."""
    return html(_CODE.sub(r'<pre class="language-\1"', source), base=base, below=below, drop=_FRAME)


def repository(page: PageAddress) -> Steps | None:
    """Read a repository, its description and README."""
    return None if page["owner"].lower() in _NOT_OWNERS else _repository(page)


def _repository(page: PageAddress) -> Steps:
    found, readme = yield (
        SiteRequest(url=_at(page)),
        SiteRequest(url=f"{_at(page)}/readme", accept=_RENDERED, kind="text", optional="the README"),
    )
    title, license_id = need(found, "full_name"), text(found, "license", "spdx_id")
    return SiteContent(
        title=f"{title}: {text(found, 'description')}" if text(found, "description") else title,
        url=text(found, "html_url"),
        parts=(
            heading(1, title),
            say(text(found, "description")),
            facts(
                (
                    ("Stars", text(found, "stargazers_count")),
                    ("Forks", text(found, "forks_count")),
                    ("Language", text(found, "language")),
                    ("License", license_id if license_id != "NOASSERTION" else text(found, "license", "name")),
                    ("Topics", ", ".join(map(str, found.get("topics") or ()))),
                    ("Homepage", text(found, "homepage")),
                    ("Default branch", text(found, "default_branch")),
                    ("Last push", day(found.get("pushed_at"))),
                    ("Archived", "yes" if found.get("archived") else ""),
                )
            ),
            _rendered(readme or "", base=_home(page), below=1),
        ),
    )


def directory(page: PageAddress) -> Steps:
    """Read a directory: what it has, and its README."""
    path = "".join(f"/{quote(part, safe='')}" for part in page["path"].split("/") if part)
    at = {"ref": page["ref"]}
    found, readme = yield (
        SiteRequest(url=f"{_at(page)}/contents{path}", params=at),
        SiteRequest(url=f"{_at(page)}/readme{path}", params=at, accept=_RENDERED, kind="text", optional="the README"),
    )
    title = f"{_name(page)}{unquote(path)} at {page['ref']}"
    slash = {"dir": "/"}
    names = [(need(row, "name") + slash.get(text(row, "type"), ""), text(row, "html_url")) for row in rows(found)]
    about = _rendered(readme or "", base=_home(page, page.quoted("ref") + path), below=1)
    return SiteContent(title=title, parts=(heading(1, title), facts(names), about))


def wiki(page: PageAddress) -> Steps:
    """Read a page of a repository's wiki, from its source in Markdown."""
    source = f"{_RAW}/wiki/{page.quoted('owner')}/{page.quoted('repo')}/{page.quoted('title')}.md"
    (found,) = yield (SiteRequest(url=source, kind="text", accept="text/plain", api=False),)
    title = page["title"].replace("-", " ")
    body = markdown(found, base=f"{page.url.origin}{page.path}", below=1)
    return SiteContent(title=f"{title} \u00b7 wiki \u00b7 {_name(page)}", parts=(heading(1, title), body))


def listing(page: PageAddress) -> Steps | None:
    """Read the latest open issues or pull requests, or tags; what a query chooses is read as any page."""
    return None if page.query else _listing(page)


def _listing(page: PageAddress) -> Steps:
    kind = page["kind"]
    (found,) = yield (SiteRequest(url=f"{_at(page)}/{kind}", params={"per_page": str(_MOST)}),)
    title = {"issues": "Open issues", "pulls": "Open pull requests", "tags": "Tags"}[kind] + f" of {_name(page)}"
    parts, written = [heading(1, title)], rows(found)
    if kind == "tags":
        parts.append(facts((need(row, "name"), text(row, "commit", "sha")) for row in written))
    for row in written if kind != "tags" else ():
        if kind == "pulls" or not row.get("pull_request"):
            labels = ", ".join(_labels(row))
            parts += [
                heading(2, f"{need(row, 'title')} (#{text(row, 'number')})", text(row, "html_url")),
                say(f"by {_who(row)}", day(row.get("created_at")), f"labels: {labels}" if labels else ""),
            ]
    missing = [f"the latest {_MOST} are read"] if len(written) == _MOST else []
    return SiteContent(title=title, parts=parts, missing=missing)


def file(page: PageAddress) -> Steps:
    """Read a file as it is in the repository."""
    path = f"{page.quoted('owner')}/{page.quoted('repo')}/{page.pieces['ref']}/{page.pieces['path']}"
    raw = f"{_RAW}/{path}" if page.api == _API else f"{page.url.origin}/raw/{path}"
    name = page["path"].rpartition("/")[2]
    if not name.lower().endswith(_MARKDOWN):
        yield ()
        return SiteContent(title=f"{name} ({_name(page)})", file=raw)
    (source,) = yield (SiteRequest(url=raw, kind="text", accept="text/plain", api=False),)
    base = f"{page.url.origin}{page.path}"
    return SiteContent(title=f"{name} ({_name(page)})", parts=(markdown(source, base=base),))


def issue(page: PageAddress) -> Steps:
    """Read an issue with its comments."""
    one = f"{_at(page)}/issues/{page['number']}"
    found, comments = yield (
        SiteRequest(url=one, accept=_FULL),
        SiteRequest(url=f"{one}/comments", params={"per_page": str(_MOST)}, accept=_FULL, optional="comments"),
    )
    return _thread(
        page, found, "pull request" if isinstance(found, dict) and found.get("pull_request") else "issue", comments
    )


def pull_request(page: PageAddress) -> Steps:
    """Read a pull request with its comments, those on lines of code among them; or with its changes."""
    number, most = page["number"], {"per_page": str(_MOST)}
    one = SiteRequest(url=f"{_at(page)}/pulls/{number}", accept=_FULL)
    if page["range"]:
        between = page.quoted("range").replace("..", "...")
        found, compared = yield one, SiteRequest(url=f"{_at(page)}/compare/{between}")
        thread = _thread(page, found, "pull request")
        parts = (*thread.parts, say(f"changes of {page['range']}"), *_changes(need(compared, "files", kind=list)))
        return replace(thread, parts=parts, missing=[_FILES] if len(compared["files"]) == 300 else [])
    if page["view"] in {"files", "changes", "diff", "patch"}:
        found, changes = yield one, SiteRequest(url=f"{_at(page)}/pulls/{number}/files", params=most)
        thread = _thread(page, found, "pull request")
        more = _more(changes, found.get("changed_files"))
        return replace(thread, parts=(*thread.parts, *_changes(changes)), missing=more)
    found, reviews, comments, on_lines = yield (
        one,
        SiteRequest(url=f"{_at(page)}/pulls/{number}/reviews", params=most, accept=_FULL, optional="reviews"),
        SiteRequest(url=f"{_at(page)}/issues/{number}/comments", params=most, accept=_FULL, optional="comments"),
        SiteRequest(url=f"{_at(page)}/pulls/{number}/comments", params=most, accept=_FULL, optional="review comments"),
    )
    return _thread(page, found, "pull request", comments, on_lines, reviews)


def _changes(given: Any) -> list[SitePart]:
    """Return the changed files with what changed in them."""
    parts = []
    for row in rows(given):
        was = f", was {text(row, 'previous_filename')}" if text(row, "previous_filename") else ""
        lines = f"+{text(row, 'additions')} -{text(row, 'deletions')}"
        parts.append(heading(2, f"{need(row, 'filename')} ({text(row, 'status')}{was}, {lines})"))
        if isinstance(row.get("patch"), str):
            parts.append(code(row["patch"], "diff"))
    return parts


def _more(given: list[Any], count: Any) -> list[str]:
    return (
        [f"the first {len(given)} of {count} files are read"] if isinstance(count, int) and count > len(given) else []
    )


def commit(page: PageAddress) -> Steps:
    """Read a commit: its message and its changes."""
    (found,) = yield (SiteRequest(url=f"{_at(page)}/commits/{page.quoted('sha')}"),)
    message = str(need(found, "commit", "message")).strip()
    first, _, rest = message.partition("\n")
    changes = rows(found, "files")
    by = text(found, "author", "login") or text(found, "commit", "author", "name")
    when = text(found, "commit", "author", "date")
    lines = f"lines +{text(found, 'stats', 'additions')} -{text(found, 'stats', 'deletions')}"
    return SiteContent(
        title=f"{first} \u00b7 commit \u00b7 {_name(page)}",
        url=text(found, "html_url"),
        published=when,
        parts=(
            heading(1, first),
            say(f"{_name(page)}, commit {need(found, 'sha')}", f"by {by} on {day(when)}", lines),
            plain(rest),
            *_changes(changes),
        ),
        missing=[_FILES] if len(changes) == 300 else [],
    )


def gist(page: PageAddress) -> Steps:
    """Read a gist, or one revision of it: its files."""
    revision = f"/{page.quoted('revision')}" if page["revision"] else ""
    (found,) = yield (SiteRequest(url=f"{page.api}/gists/{page.quoted('id')}{revision}"),)
    files = [one for one in need(found, "files", kind=dict).values() if isinstance(one, dict)]
    title = text(found, "description") or text(files[0] if files else None, "filename")
    owner = text(found, "owner", "login") or text(found, "user", "login")
    parts = [heading(1, title), say(f"gist by {owner}" if owner else "gist", day(found.get("updated_at")))]
    for one in files:
        source, name = str(need(one, "content")), text(one, "filename")
        language = text(one, "language").lower()
        parts += [
            heading(2, name),
            markdown(source, below=2) if name.lower().endswith(_MARKDOWN) else code(source, language),
        ]
    return SiteContent(
        title=f"{title} \u00b7 gist",
        url=text(found, "html_url"),
        published=text(found, "created_at"),
        modified=text(found, "updated_at"),
        parts=parts,
        missing=[f"{text(one, 'filename')} is cut by the API" for one in files if one.get("truncated")],
    )


def _labels(row: dict[str, Any]) -> list[str]:
    return [name for label in row.get("labels") or () if (name := text(label, "name"))]


def _thread(
    page: PageAddress, found: Any, what: str, comments: Any = None, on_lines: Any = None, reviews: Any = None
) -> SiteContent:
    title, number = need(found, "title"), need(found, "number", kind=int)
    state = "merged" if found.get("merged") else text(found, "state")
    labels = ", ".join(_labels(found))
    source = text(found, "head", "label") or "a deleted fork"
    branches = f"{source} into {text(found, 'base', 'label')}" if "head" in found else ""
    changed = found.get("changed_files")
    parts = [
        heading(1, f"{title} (#{number})"),
        say(
            f"{_name(page)}, {what}",
            f"{state} ({text(found, 'state_reason')})" if text(found, "state_reason") else state,
            f"opened by {_who(found)} on {day(found.get('created_at'))}",
            f"closed on {day(found['closed_at'])}" if found.get("closed_at") else "",
            f"labels: {labels}" if labels else "",
            f"branches: {branches}" if branches else "",
            f"files changed: {changed}, lines +{found.get('additions')} -{found.get('deletions')}" if changed else "",
        ),
        _body(found, 1),
    ]
    missing = []
    for name, given, counted in (
        ("Reviews", reviews, None),
        ("Comments", comments, found.get("comments")),
        ("Review comments", on_lines, found.get("review_comments")),
    ):
        written = [row for row in given if _says_something(row)] if isinstance(given, list) else []
        if written:
            parts.append(heading(2, name))
        for row in written:
            place = f"on {text(row, 'path')}" if text(row, "path") else ""
            role = text(row, "author_association").lower()
            role = role if role in {"owner", "member", "collaborator", "contributor"} else ""
            state = text(row, "state").lower().replace("_", " ")
            when = day(row.get("created_at") or row.get("submitted_at"))
            parts += [
                heading(3, ", ".join(filter(None, (_who(row), role, state, when, place)))),
                _body(row, 3),
            ]
        if isinstance(counted, int) and written and counted > len(written):
            missing.append(f"the first {len(written)} of {counted} {name.lower()} are read")
    return SiteContent(
        title=f"{title} \u00b7 {what} #{number} \u00b7 {_name(page)}",
        url=text(found, "html_url"),
        published=text(found, "created_at"),
        parts=parts,
        missing=missing,
    )


def _says_something(row: Any) -> bool:
    """Return whether a row is more than the frame of comments on lines, which are listed by themselves."""
    return isinstance(row, dict) and (text(row, "state") not in {"COMMENTED", "PENDING"} or bool(text(row, "body")))


def _who(row: dict[str, Any]) -> str:
    return text(row, "user", "login") or text(row, "author", "login") or "a deleted account"


def _body(row: dict[str, Any], below: int) -> SitePart:
    """Return a user's text, as HTML if the API provides it."""
    rendered = row.get("body_html")
    if isinstance(rendered, str) and rendered:
        return _rendered(rendered, below=below)
    return markdown(row["body"] if isinstance(row.get("body"), str) else "", below=below)


def release(page: PageAddress) -> Steps:
    """Read a release: its notes and its files."""
    which = f"tags/{page.quoted('tag')}" if page["tag"] else "latest"
    (found,) = yield (SiteRequest(url=f"{_at(page)}/releases/{which}", accept=_FULL),)
    return SiteContent(
        title=f"{_release_name(found)} \u00b7 release \u00b7 {_name(page)}",
        url=text(found, "html_url"),
        published=text(found, "published_at"),
        parts=_release(page, found, 1),
    )


def releases(page: PageAddress) -> Steps:
    """Read the latest releases."""
    (found,) = yield (SiteRequest(url=f"{_at(page)}/releases", params={"per_page": "20"}, accept=_FULL),)
    parts = [heading(1, f"Releases of {_name(page)}")]
    written = rows(found)
    for row in written:
        parts += _release(page, row, 2)
    missing = [f"the latest {len(written)} releases are read"] if len(written) == 20 else []
    return SiteContent(title=f"Releases of {_name(page)}", parts=parts, missing=missing)


def _release_name(row: Any) -> str:
    return text(row, "name") or str(need(row, "tag_name"))


def _release(page: PageAddress, row: Any, level: int) -> list[SitePart]:
    files = [(text(asset, "name"), text(asset, "browser_download_url")) for asset in row.get("assets") or ()]
    kind = "draft" if row.get("draft") else "pre-release" if row.get("prerelease") else ""
    return [
        heading(level, _release_name(row)),
        say(f"{_name(page)}, tag {text(row, 'tag_name')}", day(row.get("published_at")), f"by {_who(row)}", kind),
        _body(row, level),
        facts(files),
    ]


GITHUB: Final = SiteSpec(
    name="github",
    title="GitHub",
    hosts=dict.fromkeys(("github.com", "www.github.com", "gist.github.com", "raw.githubusercontent.com"), _API),
    elsewhere="{origin}/api/v3",
    rate=SiteRate(60, 3_600.0, "https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api"),
    routes=(
        route("/{owner}/{repo}", repository),
        route("/{owner}/{repo}/{view}/{ref}/{path}", file, view="blob|raw", path=".+"),
        route("/{owner}/{repo}/tree/{ref}{path}", directory, path="(?:/.+)?"),
        route("/{owner}/{repo}/wiki/{title}", wiki),
        route("/{owner}/{repo}/{kind}", listing, kind="issues|pulls|tags"),
        route("/{owner}/{repo}/issues/{number}", issue, number=_NUMBER),
        route("/{owner}/{repo}/pull/{number}", pull_request, number=_NUMBER),
        route("/{owner}/{repo}/pull/{number}.{view}", pull_request, number=_NUMBER, view="diff|patch"),
        route("/{owner}/{repo}/pull/{number}/{view}", pull_request, number=_NUMBER, view="[a-z]+"),
        route(
            "/{owner}/{repo}/pull/{number}/{view}/{range}",
            pull_request,
            view="files|changes",
            number=_NUMBER,
            range=f"{_SHA}\\.\\.{_SHA}",
        ),
        route("/{owner}/{repo}/pull/{number}/commits/{sha}", commit, number=_NUMBER, sha=_SHA),
        route("/{owner}/{repo}/commit/{sha}{view}", commit, sha=_SHA, view=r"(?:\.diff|\.patch)?"),
        route("/{owner}/{repo}/releases/tag/{tag}", release, tag=".+"),
        route("/{owner}/{repo}/releases/latest", release),
        route("/{owner}/{repo}/releases", releases),
        route("gist.github.com/{id}", gist, id="[0-9a-f]{20,40}"),
        route("gist.github.com/{owner}/{id}", gist, id="[0-9a-f]{5,40}"),
        route("gist.github.com/{owner}/{id}/{revision}", gist, id="[0-9a-f]{5,40}", revision=_SHA),
        route(
            "raw.githubusercontent.com/{owner}/{repo}/{ref}/{path}",
            file,
            ref="(?:refs/(?:heads|tags)/)?[^/]+",
            path=".+",
        ),
    ),
    view="/(?:commits|raw|tags|tree)(?:/.*)?",
)
