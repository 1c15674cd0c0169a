"""GitHub: its REST API in the version of 2022-11-28, its raw files, and GitHub Enterprise Server under /api/v3."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from groundwire.testing.http_messages import EmulatedResponse
from world.site_apis import HIDDEN, SiteApi

_README = f"""# Lantern

A small server that keeps the lights of a harbor. <!-- {HIDDEN} -->

See the [manual](docs/manual.md) and `lantern --help`.

| lamp | range |
| --- | --- |
| red | 4 miles |
| green | 6 miles |

[hidden]: # ({HIDDEN})
"""
_README_HTML = f"""<div id="file" class="md" data-path="README.md"><article class="markdown-body entry-content">
<div class="markdown-heading"><h1 class="heading-element">Lantern</h1><a id="user-content-lantern" class="anchor"
aria-label="Permalink: Lantern" href="#lantern"><svg class="octicon"><path d="M7"></path></svg></a></div>
<p>A small server that keeps the lights of a harbor. <!-- {HIDDEN} --></p>
<p>See the <a href="docs/manual.md">manual</a> and <code>lantern --help</code>.</p>
<section class="js-render-needs-enrichment" data-type="mermaid"><div class="js-render-enrichment-target">
<div class="render-plaintext-hidden"><pre lang="mermaid">graph TD; oil--&gt;wick</pre></div></div>
<span class="js-render-enrichment-loader" role="presentation"><svg></svg><span
class="sr-only">Loading</span></span></section>
<markdown-accessiblity-table><table><thead><tr><th>lamp</th><th>range</th></tr></thead>
<tbody><tr><td>red</td><td>4 miles</td></tr><tr><td>green</td><td>6 miles</td></tr></tbody></table>
</markdown-accessiblity-table></article></div>"""
_SOURCE = "def light(lamp: str) -> None:\n    print(f'{lamp} is lit')\n"
_ISSUE = f"""Since 2.1 the **red lamp** stays dark.

<!-- {HIDDEN} -->
<span style="display:none">{HIDDEN}</span>

```python
light("red")
# nothing happens
```

<details><summary>Log</summary>

voltage is 3 V

</details>
"""
_ISSUE_HTML = f"""<p dir="auto">Since 2.1 the <strong>red lamp</strong> stays dark.</p>
<!-- {HIDDEN} --><span style="display:none">{HIDDEN}</span>
<div class="highlight highlight-source-python"><pre><span class="pl-en">light</span>("red")
<span class="pl-c"># nothing happens</span></pre></div>
<details><summary>Log</summary><p dir="auto">voltage is 3 V</p></details>"""
_COMMENTS = (
    ("bo-larsen", "MEMBER", "Which lamp is it? I see the same with `green`."),
    ("ada-voss", "NONE", "The fuse of the lamp was gone.\n\nClosing.\n\n# Not a heading of the page"),
)
_COMMIT = "6dcb09b5b57875f334f61aebed695e2e4193db5e"


def _user(login: str) -> dict[str, Any]:
    return {"login": login, "id": len(login), "type": "User", "html_url": f"https://github.com/{login}"}


class GitHub(SiteApi):
    """GitHub with the repository `harbor/lantern`; see `SiteApi`.

    Attributes:
        comment_count: How many comments the issue says that it has.
        left: How many requests are left of the hour's 60.
    """

    name_of_site: ClassVar[str] = "github"
    public_hosts: ClassVar[tuple[str, ...]] = (
        "github.com",
        "api.github.com",
        "raw.githubusercontent.com",
    )
    articles: ClassVar[Mapping[str, str]] = {
        "/harbor/lantern": f"<h1>harbor/lantern</h1><p>Keeps the lights of a harbor</p>{_README_HTML}"
    }
    routes: ClassVar[Mapping[str, str]] = {
        r"/repos/(?P<owner>[^/]+)/(?P<repo>[^/?]+)": "repository",
        r"/repos/harbor/lantern/contents/docs\?ref=main": "directory",
        r"/repos/harbor/lantern/readme/docs\?ref=main": "readme",
        r"/repos/harbor/lantern/(?P<kind>issues|pulls)\?per_page=100": "listing",
        r"/repos/harbor/lantern/pulls/8/reviews\?per_page=100": "reviews",
        r"/repos/harbor/lantern/readme": "readme",
        r"/repos/harbor/lantern/issues/(?P<number>\d+)": "issue",
        r"/repos/harbor/lantern/(?P<kind>issues|pulls)/(?P<number>\d+)/comments\?per_page=100": "comments",
        r"/repos/harbor/lantern/pulls/(?P<number>8|9)": "pull",
        r"/repos/harbor/lantern/pulls/8/files\?per_page=100": "files",
        r"/repos/harbor/lantern/commits/(?P<sha>[0-9a-f]{7,40})": "commit",
        r"/repos/harbor/lantern/releases(?P<which>/latest|/tags/v2\.1|\?per_page=\d+)": "releases",
        r"(?:/raw)?/harbor/lantern/(?P<ref>main|v2\.1)/(?P<path>README\.md|src/light\.py|data/lamps\.csv)": "raw",
    }

    def __init__(self) -> None:
        super().__init__()
        self.comment_count: int = len(_COMMENTS)
        self.left = 60

    def refusal(self) -> EmulatedResponse:
        """Return what comes when the hour's requests are used up: status 403, and the moment of the reset."""
        return self.json(
            {
                "message": "API rate limit exceeded for 203.0.113.9.",
                "documentation_url": "https://docs.github.com/rest",
            },
            status=403,
            headers={"X-RateLimit-Limit": "60", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "4102444800"},
        )

    def _texts(self, source: str, rendered: str = "") -> dict[str, str]:
        """Return a text as the requested media type has it."""
        accept = self.request.headers.get("Accept", "")
        html = rendered or "".join(f"<p>{block}</p>" for block in source.split("\n\n"))
        return {"body": source, "body_text": source, "body_html": html} if "full" in accept else {"body": source}

    def repository(self, owner: str, repo: str) -> EmulatedResponse:
        """Return a repository."""
        if repo == "blocked":
            words = {
                "message": "Repository access blocked",
                "block": {"reason": "tos", "created_at": "2020-01-01T00:00:00Z"},
            }
            return self.json(words, status=403, headers={"x-ratelimit-limit": "60", "x-ratelimit-remaining": "55"})
        if (owner, repo) != ("harbor", "lantern"):
            return self.missing()
        return self.json(
            {
                "id": 7,
                "name": repo,
                "full_name": "harbor/lantern",
                "private": False,
                "owner": _user("harbor"),
                "html_url": "https://github.com/harbor/lantern",
                "description": "Keeps the lights of a harbor",
                "fork": False,
                "homepage": "https://lantern.example",
                "language": "Python",
                "forks_count": 12,
                "stargazers_count": 340,
                "default_branch": "main",
                "archived": False,
                "topics": ["harbor", "light"],
                "license": {"key": "other", "name": "Other", "spdx_id": "NOASSERTION", "url": None},
                "created_at": "2024-02-01T08:00:00Z",
                "pushed_at": "2026-10-04T09:30:00Z",
            }
        )

    def readme(self) -> EmulatedResponse:
        """Return the README as the requested media type has it."""
        if "html" in self.request.headers.get("Accept", ""):
            return EmulatedResponse.html(_README_HTML)
        return EmulatedResponse.text(_README)

    def issue(self, number: str) -> EmulatedResponse:
        """Return an issue."""
        if number != "5":
            return self.missing()
        return self.json(
            {
                "number": 5,
                "title": "The red lamp stays dark",
                "state": "closed",
                "state_reason": "completed",
                "html_url": "https://github.com/harbor/lantern/issues/5",
                "user": _user("ada-voss"),
                "labels": [{"name": "bug", "color": "f00"}, {"name": "lamps", "color": "0f0"}],
                "comments": self.comment_count,
                "created_at": "2026-09-01T10:00:00Z",
                "closed_at": "2026-09-03T10:00:00Z",
                "author_association": "NONE",
                **self._texts(_ISSUE, _ISSUE_HTML),
            }
        )

    def comments(self, kind: str, number: str) -> EmulatedResponse:
        """Return the comments of an issue or a pull request, or those on lines of code."""
        place = {"path": "src/light.py", "line": 2} if kind == "pulls" else {}
        written = _COMMENTS[:1] if kind == "pulls" else _COMMENTS
        return self.json(
            [
                {
                    "id": identifier,
                    "user": _user(author) if number == "5" or identifier else None,
                    "author_association": role,
                    "created_at": f"2026-09-0{identifier + 2}T11:00:00Z",
                    **place,
                    **self._texts(text),
                }
                for identifier, (author, role, text) in enumerate(written)
            ]
        )

    def reviews(self) -> EmulatedResponse:
        """Return the reviews of a pull request; one is only the frame of comments on lines, one has no words."""
        words = "Please split this; the lamp must not be lit before the fuse is checked."
        given = (
            (_user("cy"), "CHANGES_REQUESTED", "MEMBER", words),
            (_user("di"), "COMMENTED", "NONE", ""),
            (None, "APPROVED", "NONE", ""),
        )
        return self.json(
            [
                {
                    "id": identifier,
                    "user": user,
                    "state": state,
                    "author_association": role,
                    "submitted_at": "2026-09-02T12:00:00Z",
                    **self._texts(text),
                }
                for identifier, (user, state, role, text) in enumerate(given)
            ]
        )

    def directory(self) -> EmulatedResponse:
        """Return what is in a directory."""
        base = "https://github.com/harbor/lantern"
        return self.json(
            [
                {"name": "img", "path": "docs/img", "type": "dir", "html_url": f"{base}/tree/main/docs/img"},
                {
                    "name": "manual.md",
                    "path": "docs/manual.md",
                    "type": "file",
                    "html_url": f"{base}/blob/main/docs/manual.md",
                },
            ]
        )

    def listing(self, kind: str) -> EmulatedResponse:
        """Return the open issues, pull requests among them."""
        one = {"user": _user("ada-voss"), "created_at": "2026-09-01T10:00:00Z", "labels": [{"name": "bug"}]}
        url = "https://github.com/harbor/lantern"
        issue = {**one, "number": 6, "title": "The green lamp is dim", "html_url": f"{url}/issues/6"}
        pull = {**one, "number": 7, "title": "Brighter oil", "html_url": f"{url}/pull/7"}
        return self.json([pull] if kind == "pulls" else [{**pull, "pull_request": {}}, issue])

    def pull(self, number: str) -> EmulatedResponse:
        """Return a pull request; the fork that 9 came from is deleted."""
        fork = (
            {"label": "bo-larsen:fuse", "ref": "fuse"}
            if number == "8"
            else {"label": None, "ref": "fuse", "user": None}
        )
        return self.json(
            {
                "number": int(number),
                "title": "Replace the fuse",
                "state": "closed",
                "merged": True,
                "html_url": "https://github.com/harbor/lantern/pull/8",
                "user": _user("bo-larsen"),
                "labels": [],
                "comments": 2,
                "review_comments": 1,
                "commits": 1,
                "additions": 3,
                "deletions": 1,
                "changed_files": 1,
                "head": fork,
                "base": {"label": "harbor:main", "ref": "main"},
                "created_at": "2026-09-02T10:00:00Z",
                "closed_at": "2026-09-03T09:00:00Z",
                **self._texts("Uses the fuse of 5 A."),
            }
        )

    def _changes(self) -> list[dict[str, Any]]:
        return [
            {
                "sha": "bbcd538c8e72b8c175046e27cc8f907076331401",
                "filename": "src/light.py",
                "status": "modified",
                "additions": 3,
                "deletions": 1,
                "changes": 4,
                "patch": "@@ -1,2 +1,4 @@ def light\n-FUSE = 3\n+FUSE = 5\n+\n+",
            }
        ]

    def files(self) -> EmulatedResponse:
        """Return the changed files of a pull request."""
        return self.json(self._changes())

    def commit(self, sha: str) -> EmulatedResponse:
        """Return a commit with its changes."""
        if not _COMMIT.startswith(sha):
            return self.json({"message": f"No commit found for SHA: {sha}"}, status=422)
        written = {"name": "Bo Larsen", "email": "bo@lantern.example", "date": "2026-09-03T08:00:00Z"}
        return self.json(
            {
                "sha": _COMMIT,
                "html_url": f"https://github.com/harbor/lantern/commit/{_COMMIT}",
                "commit": {
                    "message": "Replace the fuse\n\nThe old one had 3 A.",
                    "author": written,
                    "committer": written,
                },
                "author": _user("bo-larsen"),
                "stats": {"additions": 3, "deletions": 1, "total": 4},
                "files": self._changes(),
            }
        )

    def releases(self, which: str) -> EmulatedResponse:
        """Return a release, or a list of them."""
        one = {
            "tag_name": "v2.1",
            "name": "Lantern 2.1",
            "draft": False,
            "prerelease": False,
            "html_url": "https://github.com/harbor/lantern/releases/tag/v2.1",
            "author": _user("bo-larsen"),
            "created_at": "2026-08-30T10:00:00Z",
            "published_at": "2026-08-31T10:00:00Z",
            "assets": [
                {
                    "name": "lantern-2.1.tar.gz",
                    "size": 4_096,
                    "browser_download_url": "https://github.com/harbor/lantern/releases/download/v2.1/lantern-2.1.tar.gz",
                }
            ],
            **self._texts("## Changes\n\n- The red lamp is brighter."),
        }
        return self.json([one] if which.startswith("?") else one)

    def raw(self, ref: str, path: str) -> EmulatedResponse:
        """Return a file as it is in the repository; all of them are plain text."""
        files = {"README.md": _README, "src/light.py": _SOURCE, "data/lamps.csv": "lamp,miles\nred,4\ngreen,6\n"}
        return EmulatedResponse.text(files[path])
