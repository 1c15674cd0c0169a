"""GitHub over its REST API (https://docs.github.com/rest) and its raw files."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, Final
from urllib.parse import quote, unquote

from groundwire.reading.sites.parts import SitePart, code, facts, heading, html, markdown, plain, say
from groundwire.reading.sites.site import (
    PageAddress,
    SiteContent,
    SiteRequest,
    SiteSpec,
    Steps,
    day,
    need,
    route,
    rows,
    text,
)

_API: Final = "https://api.github.com"
_NUMBER: Final = "[0-9]{1,12}"
_SHA: Final = "[0-9a-f]{7,40}"
_HTML_TYPE: Final = "application/vnd.github.html+json"
_FULL: Final = "application/vnd.github.full+json"  # texts in Markdown and as the HTML that the web page has
_LIMIT: Final = 100  # comments, or releases, of one request
_FRAME: Final = "a.anchor, svg, .js-render-enrichment-loader"  # what GitHub's page adds to a text
_CODE: Final = re.compile(r'<pre lang="([\w+#.-]{1,40})"')
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
_MARKDOWN: Final = (".md", ".markdown", ".mdown")


def _at(page: PageAddress) -> str:
    """Return the address of a repository in the API."""
    return f"{_API}/repos/{page.quoted('owner')}/{page.quoted('repo').removesuffix('.git')}"


def _name(page: PageAddress) -> str:
    return f"{page['owner']}/{page['repo'].removesuffix('.git')}"


def _home(page: PageAddress, ref: str = "HEAD") -> str:
    """Return the address that relative links in a repository's files start from."""
    return f"{page.url.origin}/{page.quoted('owner')}/{page.quoted('repo')}/blob/{ref}/"


def _rendered(source: str, *, base: str = "", below: int) -> SitePart:
    """Return a text as GitHub renders it; it names the language of code in an attribute of its own."""
    return html(_CODE.sub(r'<pre class="language-\1"', source), base=base, below=below, drop=_FRAME)


def repository(page: PageAddress) -> Steps:
    """Read a repository, its description and README."""
    if page["owner"].lower() in _NOT_OWNERS:
        return None
    repo, readme = yield (
        SiteRequest(url=_at(page)),
        SiteRequest(url=f"{_at(page)}/readme", accept=_HTML_TYPE, kind="text", optional="the README"),
    )
    title, license_id = need(repo, "full_name"), text(repo, "license.spdx_id")
    return SiteContent(
        title=f"{title}: {text(repo, 'description')}" if text(repo, "description") else title,
        url=text(repo, "html_url"),
        parts=(
            heading(1, title),
            say(text(repo, "description")),
            facts(
                ("Stars", text(repo, "stargazers_count")),
                ("Forks", text(repo, "forks_count")),
                ("Language", text(repo, "language")),
                ("License", license_id if license_id != "NOASSERTION" else text(repo, "license.name")),
                ("Topics", ", ".join(map(str, repo.get("topics") or ()))),
                ("Homepage", text(repo, "homepage")),
                ("Default branch", text(repo, "default_branch")),
                ("Last push", day(repo.get("pushed_at"))),
                ("Archived", "yes" if repo.get("archived") else ""),
            ),
            _rendered(readme or "", base=_home(page), below=1),
        ),
    )


def directory(page: PageAddress) -> Steps:
    """Read a directory: what it has, and its README."""
    path = "".join(f"/{quote(part, safe='')}" for part in page["path"].split("/") if part)
    at = {"ref": page["ref"]}
    entries, readme = yield (
        SiteRequest(url=f"{_at(page)}/contents{path}", params=at),
        SiteRequest(url=f"{_at(page)}/readme{path}", params=at, accept=_HTML_TYPE, kind="text", optional="the README"),
    )
    title = f"{_name(page)}{unquote(path)} at {page['ref']}"
    slash = {"dir": "/"}
    names = [(need(row, "name") + slash.get(text(row, "type"), ""), text(row, "html_url")) for row in rows(entries)]
    about = _rendered(readme or "", base=_home(page, page.quoted("ref") + path), below=1)
    return SiteContent(title=title, parts=(heading(1, title), facts(*names), about))


def listing(page: PageAddress) -> Steps:
    """Read the latest open issues or pull requests; what a query chooses is read as any page."""
    if page.query:
        return None
    kind = page["kind"]
    (answer,) = yield (SiteRequest(url=f"{_at(page)}/{kind}", params={"per_page": str(_LIMIT)}),)
    title = f"Open {'pull requests' if kind == 'pulls' else 'issues'} of {_name(page)}"
    parts, entries = [heading(1, title)], rows(answer)
    for row in entries:
        if kind == "pulls" or not row.get("pull_request"):
            labels = ", ".join(_labels(row))
            parts += [
                heading(2, f"{need(row, 'title')} (#{text(row, 'number')})", text(row, "html_url")),
                say(f"by {_who(row)}", day(row.get("created_at")), f"labels: {labels}" if labels else ""),
            ]
    missing = [f"the latest {_LIMIT} are read"] if len(entries) == _LIMIT else []
    return SiteContent(title=title, parts=parts, missing=missing)


def file(page: PageAddress) -> Steps:
    """Read a file as it is in the repository."""
    path = f"{page.quoted('owner')}/{page.quoted('repo')}/{page.pieces['ref']}/{page.pieces['path']}"
    raw = f"https://raw.githubusercontent.com/{path}"
    name = page["path"].rpartition("/")[2]
    if not name.lower().endswith(_MARKDOWN):
        yield ()
        return SiteContent(title=f"{name} ({_name(page)})", file=raw)
    (source,) = yield (SiteRequest(url=raw, kind="text", accept="text/plain", api=False),)
    base = f"{page.url.origin}{page.path}"
    return SiteContent(title=f"{name} ({_name(page)})", parts=(markdown(source, base=base),))


def issue(page: PageAddress) -> Steps:
    """Read an issue with its comments."""
    base = f"{_at(page)}/issues/{page['number']}"
    thread, comments = yield (
        SiteRequest(url=base, accept=_FULL),
        SiteRequest(url=f"{base}/comments", params={"per_page": str(_LIMIT)}, accept=_FULL, optional="comments"),
    )
    return _thread(
        page, thread, "pull request" if isinstance(thread, dict) and thread.get("pull_request") else "issue", comments
    )


def pull_request(page: PageAddress) -> Steps:
    """Read a pull request with its comments, those on lines of code among them; or with its changes."""
    number, most = page["number"], {"per_page": str(_LIMIT)}
    main_request = SiteRequest(url=f"{_at(page)}/pulls/{number}", accept=_FULL)
    if page["view"] in {"files", "changes"}:
        pull, changes = yield main_request, SiteRequest(url=f"{_at(page)}/pulls/{number}/files", params=most)
        thread = _thread(page, pull, "pull request")
        more = _more(changes, pull.get("changed_files"))
        return replace(thread, parts=(*thread.parts, *_changes(changes)), missing=more)
    pull, reviews, comments, on_lines = yield (
        main_request,
        SiteRequest(url=f"{_at(page)}/pulls/{number}/reviews", params=most, accept=_FULL, optional="reviews"),
        SiteRequest(url=f"{_at(page)}/issues/{number}/comments", params=most, accept=_FULL, optional="comments"),
        SiteRequest(url=f"{_at(page)}/pulls/{number}/comments", params=most, accept=_FULL, optional="review comments"),
    )
    return _thread(page, pull, "pull request", comments, on_lines, reviews)


def _changes(files: Any) -> list[SitePart]:
    """Return the changed files with what changed in them."""
    parts = []
    for row in rows(files):
        was = f", was {text(row, 'previous_filename')}" if text(row, "previous_filename") else ""
        lines = f"+{text(row, 'additions')} -{text(row, 'deletions')}"
        parts.append(heading(2, f"{need(row, 'filename')} ({text(row, 'status')}{was}, {lines})"))
        if isinstance(row.get("patch"), str):
            parts.append(code(row["patch"], "diff"))
    return parts


def _more(files: list[Any], count: Any) -> list[str]:
    is_cut = isinstance(count, int) and count > len(files)
    return [f"the first {len(files)} of {count} files are read"] if is_cut else []


def commit(page: PageAddress) -> Steps:
    """Read a commit: its message and its changes."""
    (answer,) = yield (SiteRequest(url=f"{_at(page)}/commits/{page.quoted('sha')}"),)
    message = str(need(answer, "commit.message")).strip()
    first, _, body = message.partition("\n")
    changes = rows(answer, "files")
    by = text(answer, "author.login") or text(answer, "commit.author.name")
    when = text(answer, "commit.author.date")
    lines = f"lines +{text(answer, 'stats.additions')} -{text(answer, 'stats.deletions')}"
    return SiteContent(
        title=f"{first} \u00b7 commit \u00b7 {_name(page)}",
        url=text(answer, "html_url"),
        published=when,
        parts=(
            heading(1, first),
            say(f"{_name(page)}, commit {need(answer, 'sha')}", f"by {by} on {day(when)}", lines),
            plain(body),
            *_changes(changes),
        ),
        missing=["the first 300 files are read"] if len(changes) == 300 else [],
    )


def _labels(row: dict[str, Any]) -> list[str]:
    return [name for label in row.get("labels") or () if (name := text(label, "name"))]


def _thread(
    page: PageAddress, thread: Any, what: str, comments: Any = None, on_lines: Any = None, reviews: Any = None
) -> SiteContent:
    title, number = need(thread, "title"), need(thread, "number", kind=int)
    state = "merged" if thread.get("merged") else text(thread, "state")
    labels = ", ".join(_labels(thread))
    source = text(thread, "head.label") or "a deleted fork"
    branches = f"{source} into {text(thread, 'base.label')}" if "head" in thread else ""
    changed = thread.get("changed_files")
    parts = [
        heading(1, f"{title} (#{number})"),
        say(
            f"{_name(page)}, {what}",
            f"{state} ({text(thread, 'state_reason')})" if text(thread, "state_reason") else state,
            f"opened by {_who(thread)} on {day(thread.get('created_at'))}",
            f"closed on {day(thread['closed_at'])}" if thread.get("closed_at") else "",
            f"labels: {labels}" if labels else "",
            f"branches: {branches}" if branches else "",
            f"files changed: {changed}, lines +{thread.get('additions')} -{thread.get('deletions')}" if changed else "",
        ),
        _body(thread, 1),
    ]
    missing = []
    for name, answer, total in (
        ("Reviews", reviews, None),
        ("Comments", comments, thread.get("comments")),
        ("Review comments", on_lines, thread.get("review_comments")),
    ):
        entries = [row for row in answer if _says_something(row)] if isinstance(answer, list) else []
        if entries:
            parts.append(heading(2, name))
        for row in entries:
            place = f"on {text(row, 'path')}" if text(row, "path") else ""
            role = text(row, "author_association").lower()
            role = role if role in {"owner", "member", "collaborator", "contributor"} else ""
            state = text(row, "state").lower().replace("_", " ")
            when = day(row.get("created_at") or row.get("submitted_at"))
            parts += [
                heading(3, ", ".join(filter(None, (_who(row), role, state, when, place)))),
                _body(row, 3),
            ]
        if isinstance(total, int) and entries and total > len(entries):
            missing.append(f"the first {len(entries)} of {total} {name.lower()} are read")
    return SiteContent(
        title=f"{title} \u00b7 {what} #{number} \u00b7 {_name(page)}",
        url=text(thread, "html_url"),
        published=text(thread, "created_at"),
        parts=parts,
        missing=missing,
    )


def _says_something(row: Any) -> bool:
    """Return whether a row is more than the frame of comments on lines, which are listed by themselves."""
    return isinstance(row, dict) and (text(row, "state") not in {"COMMENTED", "PENDING"} or bool(text(row, "body")))


def _who(row: dict[str, Any]) -> str:
    return text(row, "user.login") or text(row, "author.login") or "a deleted account"


def _body(row: dict[str, Any], below: int) -> SitePart:
    """Return a user's text, as HTML if the API provides it."""
    rendered = row.get("body_html")
    if isinstance(rendered, str) and rendered:
        return _rendered(rendered, below=below)
    return markdown(row["body"] if isinstance(row.get("body"), str) else "", below=below)


def release(page: PageAddress) -> Steps:
    """Read a release: its notes and its files."""
    which = f"tags/{page.quoted('tag')}" if page["tag"] else "latest"
    (answer,) = yield (SiteRequest(url=f"{_at(page)}/releases/{which}", accept=_FULL),)
    return SiteContent(
        title=f"{_release_name(answer)} \u00b7 release \u00b7 {_name(page)}",
        url=text(answer, "html_url"),
        published=text(answer, "published_at"),
        parts=_release(page, answer, 1),
    )


def releases(page: PageAddress) -> Steps:
    """Read the latest releases."""
    (answer,) = yield (SiteRequest(url=f"{_at(page)}/releases", params={"per_page": "20"}, accept=_FULL),)
    parts = [heading(1, f"Releases of {_name(page)}")]
    entries = rows(answer)
    for row in entries:
        parts += _release(page, row, 2)
    missing = [f"the latest {len(entries)} releases are read"] if len(entries) == 20 else []
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
        facts(*files),
    ]


GITHUB: Final = SiteSpec(
    name="github",
    hosts=("github.com", "www.github.com", "raw.githubusercontent.com"),
    requests=60,  # https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api
    seconds=3_600.0,
    routes=(
        route("/{owner}/{repo}", repository),
        route("/{owner}/{repo}/{view}/{ref}/{path}", file, view="blob|raw", path=".+"),
        route("/{owner}/{repo}/tree/{ref}{path}", directory, path="(?:/.+)?"),
        route("/{owner}/{repo}/{kind}", listing, kind="issues|pulls"),
        route("/{owner}/{repo}/issues/{number}", issue, number=_NUMBER),
        route("/{owner}/{repo}/pull/{number}", pull_request, number=_NUMBER),
        route("/{owner}/{repo}/pull/{number}/{view}", pull_request, number=_NUMBER, view="[a-z]+"),
        route("/{owner}/{repo}/pull/{number}/commits/{sha}", commit, number=_NUMBER, sha=_SHA),
        route("/{owner}/{repo}/commit/{sha}", commit, sha=_SHA),
        route("/{owner}/{repo}/releases/tag/{tag}", release, tag=".+"),
        route("/{owner}/{repo}/releases/latest", release),
        route("/{owner}/{repo}/releases", releases),
        route(
            "raw.githubusercontent.com/{owner}/{repo}/{ref}/{path}",
            file,
            ref="(?:refs/(?:heads|tags)/)?[^/]+",
            path=".+",
        ),
    ),
    view="/(?:commits|raw|tree)(?:/.*)?",
)
