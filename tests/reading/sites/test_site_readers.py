"""Pages of well-known sites, read over their APIs under their real names; and what happens when an API fails."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from components.public_web import PublicWeb
from groundwire import Web
from groundwire.errors import BlockedByRobots, ConfigurationError, PageNeedsScripts, PageNotFound
from groundwire.models import ReadResult
from groundwire.models.validators import SITE_READERS
from groundwire.reading.sites import SITES
from groundwire.settings import Settings
from groundwire.testing import InjectedFault
from world import World
from world.site_apis import HIDDEN, SITE_APIS

Make = Callable[..., Web]

pytestmark = pytest.mark.req("B26")

ISSUE = "https://github.com/harbor/lantern/issues/5"
QUESTION = "https://stackoverflow.com/questions/4711/why-is-a-lamp-dark"
VIDEO = "https://www.youtube.com/watch?v=lampLAMP-_1"


def expected() -> Iterator[tuple[str, str, str, tuple[str, ...]]]:
    """Yield what is in pages.txt: an address, the reader, the title, and texts that are in the page."""
    for block in re.split(r"\n(?=https)", (Path(__file__).parent / "pages.txt").read_text("utf-8").rstrip()):
        head, *says = block.split("\n")
        url, reader, title = head.split(" | ")
        yield url, reader, title, tuple(text.strip().replace("\u23ce", "\n") for text in says)


PAGES = list(expected())


@pytest.mark.parametrize(("url", "reader", "title", "says"), PAGES, ids=[page[0].partition("://")[2] for page in PAGES])
async def test_a_page_is_read_over_the_api_of_its_site(
    web: Make, url: str, reader: str, title: str, says: tuple[str, ...], world: World
) -> None:
    page = await web().open_page(url)
    assert (page.reader, page.title) == (reader, title)
    for text in says:
        assert text in page.content
    assert HIDDEN not in page.content
    assert "Web page of" not in page.content
    for request in world.site_api(reader).requests:
        assert not {"Authorization", "Cookie"} & set(request.headers)


@pytest.mark.parametrize(
    ("url", "days"),
    [
        ("https://arxiv.org/abs/2601.01234", ("2026-01-02", "2026-03-04")),
        ("https://en.wikipedia.org/wiki/Light_vessel", (None, "2026-10-20")),
        (QUESTION, ("2026-08-29", "2026-09-10")),
    ],
)
async def test_the_day_of_the_last_change_is_that_of_the_api(
    web: Make, url: str, days: tuple[str | None, str | None]
) -> None:
    page = await web().open_page(url)
    assert (page.published and page.published[:10], page.modified and page.modified[:10]) == days


async def test_the_accepted_answer_comes_first_then_the_best(web: Make) -> None:
    content = (await web().open_page(QUESTION)).content
    assert content.index("by Cy") < content.index("by Bo") < content.index("by Di")


def test_every_site_of_the_settings_has_a_file_and_an_emulator() -> None:
    assert sorted(SITE_READERS) == sorted(site.name for site in SITES) == sorted(SITE_APIS)
    assert Settings().read.site_readers == SITE_READERS


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/orgs/harbor",
        "https://github.com/harbor/lantern/actions",
        "https://github.com/harbor",
        "https://www.reddit.com/1lamp",
        "https://en.wikipedia.org/wiki/Special:Random",
        "https://en.wikipedia.org/w/index.php?title=Light_vessel&oldid=12",
        "https://en.wikipedia.org/wiki/Light_vessel?action=history",
        "https://stackoverflow.com/questions/tagged/lamps",
        "https://news.ycombinator.com/item?id=ten",
        "https://www.youtube.com/watch?v=short",
        "https://pypi.org/search/?q=lantern",
    ],
)
async def test_other_pages_of_a_site_are_read_as_any_page(web: Make, url: str) -> None:
    page = await web().open_page(url)
    assert page.reader == "local"
    assert "site reader" not in " ".join(page.warnings)


class TestFallback:
    @pytest.mark.parametrize("name", SITE_READERS)
    async def test_a_changed_format_is_said(self, web: Make, world: World, name: str) -> None:
        site = world.site_api(name)
        site.changed = True
        url = next(page[0] for page in PAGES if page[1] == name)
        if name == "youtube":  # its web page is nothing but scripts
            with pytest.raises(PageNeedsScripts):
                await web().open_page(url)
            return
        page = await web().open_page(url)
        assert page.reader == "local"
        assert ("Lights the lamp" if name == "docs_rs" else f"Web page of {name}") in page.content
        assert any(f"the site reader {name} could not" in warning for warning in page.warnings)

    @pytest.mark.parametrize("name", ["github", "stackexchange", "mediawiki", "reddit", "crates", "pypi"])
    async def test_an_api_that_refuses_rests_and_it_is_said(self, web: Make, world: World, name: str) -> None:
        site = world.site_api(name)
        site.rate_limited = True
        url = next(page[0] for page in PAGES if page[1] == name)
        opened = web()
        page = await opened.open_page(url)
        assert page.reader == "local"
        assert any(f"the site reader {name} could not" in warning for warning in page.warnings)
        site.rate_limited = False
        site.forget()
        again = await opened.open_page(url)
        assert again.reader == "local"
        assert any("refused or failed recently" in warning for warning in again.warnings)
        assert [request.path for request in site.requests] == [
            url.removeprefix("https://").partition("/")[2].join("/ ").strip()
        ]

    @pytest.mark.parametrize(
        "fault",
        [
            InjectedFault.reset(),
            InjectedFault.status(500),
            InjectedFault.wrong_json(),
            InjectedFault.html_for_json(),
            InjectedFault.empty_body(),
            InjectedFault.redirect("http://127.0.0.1:1/secret"),
            InjectedFault.redirect("http://169.254.169.254/latest"),
        ],
        ids=lambda fault: fault.label,
    )
    async def test_faults_of_the_api(self, web: Make, world: World, fault: InjectedFault) -> None:
        world.site_api("github").fail(fault, times=None, when=lambda request: request.path.startswith("/repos/"))
        page = await web().open_page(ISSUE)
        assert page.reader == "local"
        assert any("the site reader github could not" in warning for warning in page.warnings)

    async def test_an_api_that_hangs_leaves_time_for_the_page(self, web: Make, world: World) -> None:
        world.site_api("github").fail(InjectedFault.hang(), times=None, when=lambda one: one.path.startswith("/repos/"))
        page = await web().open_page(ISSUE, timeout=10)
        assert page.reader == "local"
        assert any("did not respond in time" in warning for warning in page.warnings)

    async def test_a_page_that_neither_has_is_not_found(self, web: Make, world: World) -> None:
        path = "/harbor/none"
        world.site_api("github").fail(
            InjectedFault.status(404, "no"), when=lambda request: request.path == "/harbor/none"
        )
        with pytest.raises(PageNotFound):
            await web().open_page(f"https://github.com{path}")

    async def test_every_attempt_is_listed(self, web: Make, world: World) -> None:
        world.site_api("github").changed = True
        events: list[Any] = []
        await web(attempt_listener=events.append).open_page(ISSUE)
        ended = [(event.attempt.provider, event.attempt.outcome) for event in events if hasattr(event, "attempt")]
        assert ended == [("github", "invalid_response"), ("local", "ok")]

    @pytest.mark.parametrize(
        ("name", "refused", "path", "words"),
        [
            ("github", "https://github.com/harbor/blocked", "/repos/harbor/blocked", "Repository access blocked"),
            ("reddit", "https://www.reddit.com/r/x/comments/private/", "/comments/private.json", "Forbidden"),
        ],
    )
    async def test_an_api_that_refuses_one_page_is_asked_for_the_next(
        self, web: Make, world: World, name: str, refused: str, path: str, words: str
    ) -> None:
        opened = web()
        page = await opened.open_page(refused)
        assert page.reader == "local"
        assert any(f"refuses this page: {words} (HTTP 403)" in warning for warning in page.warnings)
        assert any(request.path == path for request in world.site_api(name).requests)
        next_page = next(page[0] for page in PAGES if page[1] == name)
        assert (await opened.open_page(next_page)).reader == name

    async def test_an_api_that_says_that_its_limit_is_used_up_rests(self, web: Make, world: World) -> None:
        words = '{"message": "You have exceeded a secondary rate limit."}'
        world.site_api("github").fail(
            InjectedFault.status(403, words), when=lambda request: request.path.startswith("/repos/")
        )
        opened = web()
        page = await opened.open_page(ISSUE)
        assert any("You have exceeded a secondary rate limit (HTTP 403)" in warning for warning in page.warnings)
        assert any("refused or failed recently" in one for one in (await opened.open_page(ISSUE)).warnings)

    async def test_a_deleted_comment_without_replies_is_not_available(self, web: Make) -> None:
        page = await web().open_page("https://news.ycombinator.com/item?id=106")
        assert page.reader == "local"
        assert any("it is deleted" in warning for warning in page.warnings)


class TestWhatIsMissing:
    async def test_comments_that_cannot_be_had(self, web: Make, world: World) -> None:
        world.site_api("github").fail(
            InjectedFault.status(500), times=None, when=lambda request: request.path.endswith("/comments")
        )
        page = await web().open_page(ISSUE)
        assert (page.reader, page.truncated) == ("github", True)
        assert "comments left out: api.github.com failed (HTTP 500)" in page.warnings
        assert "red lamp" in page.content

    async def test_comments_beyond_the_first_hundred(self, web: Make, world: World) -> None:
        site = world.site_api("github")
        site.comment_count = 250  # type: ignore[attr-defined]  # of this emulator only
        page = await web().open_page(ISSUE)
        assert page.truncated
        assert "the first 2 of 250 comments are read" in page.warnings

    async def test_comments_that_reddit_only_counts(self, web: Make) -> None:
        page = await web().open_page("https://www.reddit.com/r/harbors/comments/1lamp/x/")
        assert page.truncated
        assert "comments that Reddit did not send: 4" in page.warnings

    async def test_a_video_without_data(self, web: Make, world: World) -> None:
        world.site_api("youtube").playable = False  # type: ignore[attr-defined]
        page = await web().open_page(VIDEO)
        assert (page.reader, page.title, page.truncated) == ("youtube", "How a lamp is lit", True)
        assert any("Sign in to confirm" in warning for warning in page.warnings)

    async def test_a_transcript_that_robots_txt_forbids(self, web: Make, world: World) -> None:
        site = world.site_api("youtube")
        site.robots = "User-agent: *\nDisallow: /api/\n"
        page = await web().open_page(VIDEO)
        assert page.reader == "youtube"
        assert any("the transcript left out" in warning and "robots.txt" in warning for warning in page.warnings)
        assert not any(request.path == "/api/timedtext" for request in site.requests)

    async def test_generated_captions_where_there_are_no_others(self, web: Make, world: World) -> None:
        world.site_api("youtube").captions = ("asr",)  # type: ignore[attr-defined]
        assert "these are generated captions" in (await web().open_page(VIDEO)).content
        assert "## Transcript (English)" in (await web().open_page(VIDEO)).content
        world.site_api("youtube").captions = ()  # type: ignore[attr-defined]
        assert "there is no transcript" in (await web().open_page(VIDEO)).warnings

    async def test_captions_are_in_the_language_that_is_recognized_if_the_audio_names_none(
        self, web: Make, world: World
    ) -> None:
        world.site_api("youtube").default = False  # type: ignore[attr-defined]
        assert "these are written captions" in (await web().open_page(VIDEO)).content

    async def test_what_is_the_same_for_every_type_of_rust_is_left_out(self, web: Make) -> None:
        page = await web().open_page("https://docs.rs/lantern/latest/lantern/struct.Lamp.html")
        assert "Expand" not in page.content
        assert "Implementations" in page.content
        assert "Auto Trait" not in page.content
        assert "Any for T" not in page.content
        assert any("which every type has, are left out" in warning for warning in page.warnings)

    async def test_the_words_of_the_registry_for_no_readme_are_none(self, web: Make) -> None:
        page = await web().open_page("https://www.npmjs.com/package/wick")
        assert "ERROR" not in page.content
        assert "- Repository: <https://gitlab.example/harbor/wick>" in page.content
        assert "the registry has no README of it" in page.warnings

    async def test_all_but_the_best_answers_and_the_linked_one(self, web: Make) -> None:
        page = await web().open_page("https://stackoverflow.com/q/4799")
        assert "the best 30 of 45 answers are read" in page.warnings
        page = await web().open_page("https://stackoverflow.com/a/5003")
        assert "the linked and the best 30 of 45 answers are read" in page.warnings
        page = await web().open_page("https://stackoverflow.com/a/5045")
        assert page.content.count("Answer 5045 shows") == 1
        page = await web().open_page("https://stackoverflow.com/questions/4799/x/4713")  # of another question
        assert "(linked)" not in page.content

    async def test_a_package_with_too_many_versions(self, web: Make, world: World) -> None:
        world.site_api("npm").padding = 10_000_000  # type: ignore[attr-defined]
        opened, url = web(), "https://www.npmjs.com/package/lantern"
        for _ in range(2):  # an answer that is too large is no reason for a cooldown
            page = await opened.open_page(url)
            assert (page.reader, page.title, page.truncated) == ("npm", "lantern 2.1.0", True)
            assert any("the README and the day of the release left out" in warning for warning in page.warnings)


class TestPoliteness:
    async def test_the_robots_txt_of_the_page_holds(self, web: Make, world: World) -> None:
        site = world.site_api("reddit")
        site.robots = "User-agent: *\nDisallow: /\n"
        with pytest.raises(BlockedByRobots):
            await web().open_page("https://www.reddit.com/r/harbors/comments/1lamp/x/")
        assert not site.requests

    @pytest.mark.parametrize(
        ("name", "url"),
        [
            ("github", "https://github.com/harbor/lantern?tab=readme-ov-file#usage"),
            ("github", "https://github.com/harbor/lantern/issues/5?q=x"),
            ("github", "https://github.com/harbor/lantern/tree/main/docs"),
            ("github", "https://github.com/harbor/lantern/raw/main/README.md"),
            ("stackexchange", f"{QUESTION}?answertab=votes#tab-top"),
            ("hackernews", "https://news.ycombinator.com/item?id=100&p=2"),
        ],
    )
    async def test_robots_txt_is_asked_about_the_page_and_not_about_a_view_of_it(
        self, web: Make, world: World, name: str, url: str
    ) -> None:
        rules = ("/*/tree/", "/*/raw/", "/*?tab=*", "/*q=", "/questions/*answertab=*", "/*p=")
        world.site_api(name).robots = "User-agent: *\n" + "".join(f"Disallow: {rule}\n" for rule in rules)
        assert (await web().open_page(url)).reader == name

    async def test_robots_txt_is_asked_about_the_parameter_that_is_the_page(self, web: Make, world: World) -> None:
        world.site_api("hackernews").robots = "User-agent: *\nDisallow: /item?id=100\n"
        with pytest.raises(BlockedByRobots):
            await web().open_page("https://news.ycombinator.com/item?p=2&id=100")
        assert (await web().open_page("https://news.ycombinator.com/item?id=102")).reader == "hackernews"

    async def test_an_api_is_asked_no_more_often_than_it_allows(self, web: Make, world: World) -> None:
        site, opened = world.site_api("reddit"), web()
        url = "https://www.reddit.com/r/harbors/comments/1lamp/number{}"
        readers = [(await opened.open_page(url.format(number))).reader for number in range(11)]
        assert readers == ["reddit"] * 10 + ["local"]
        assert sum(request.path.endswith(".json") for request in site.requests) == 10

    async def test_a_pause_that_an_answer_asks_for(self, web: Make, world: World) -> None:
        world.site_api("stackexchange").backoff = 100  # type: ignore[attr-defined]
        opened = web()
        assert (await opened.open_page(QUESTION)).reader == "stackexchange"
        assert (await opened.open_page(QUESTION)).reader == "local"


class TestSettings:
    async def test_all_are_switched_off(self, web: Make, public: PublicWeb) -> None:
        page = await web({"read": {"site_readers": ()}}).open_page(ISSUE)
        assert page.reader == "local"
        assert not page.warnings
        assert "api.github.com" not in public.asked

    async def test_one_is_switched_off(self, web: Make) -> None:
        opened = web({"read": {"site_readers": tuple(name for name in SITE_READERS if name != "github")}})
        assert (await opened.open_page(ISSUE)).reader == "local"
        assert (await opened.open_page("https://pypi.org/project/lantern/")).reader == "pypi"

    def test_a_wrong_name_says_what_is_right(self) -> None:
        with pytest.raises(ValueError, match="did you mean 'github'"):
            Settings.model_validate({"read": {"site_readers": ("githup",)}})

    async def test_a_reader_that_runs_scripts_goes_first_where_the_operator_says_so(self, web: Make) -> None:
        opened = web({"read": {"render_domains": ("github.com",)}})
        assert (await opened.open_page(ISSUE)).reader == "local"

    async def test_without_the_local_reader_there_are_none(self, web: Make, public: PublicWeb) -> None:
        async def somewhere(host: str, port: int) -> list[str]:
            return ["93.184.215.14"]

        class Other:
            name = "other"

            async def read_url(self, url: str) -> ReadResult:
                return ReadResult(url=url, success=True, content="words", title="other")

        page = await web(read_providers=[Other()], resolver=somewhere).open_page(ISSUE)
        assert page.reader == "other"
        assert "api.github.com" not in public.asked

    async def test_the_domain_lists_hold_for_the_apis(self, web: Make, public: PublicWeb) -> None:
        opened = web({"policy": {"blocked_domains": ("api.github.com",)}})
        page = await opened.open_page(ISSUE)
        assert page.reader == "local"
        assert "api.github.com" not in public.asked
        opened = web({"policy": {"allowed_domains": ("stackoverflow.com",)}})
        assert (await opened.open_page(QUESTION)).reader == "local"

    async def test_a_setting_is_part_of_what_is_cached(self, web: Make, tmp_path: Any) -> None:
        common = {"storage": {"url": f"sqlite:///{tmp_path}/store.db"}, "cache": {"enabled": True}}
        first, second = web(common), web({**common, "read": {"site_readers": ()}})
        assert (await first.open_page(ISSUE)).reader == "github"
        assert (await second.open_page(ISSUE)).reader == "local"


class TestAsAnyPage:
    async def test_it_is_cached(self, web: Make, world: World) -> None:
        opened = web({"cache": {"enabled": True}})
        first = await opened.open_page(ISSUE)
        asked = len(world.site_api("github").requests)
        again = await opened.open_page(ISSUE)
        assert again.cached
        assert again.content == first.content
        assert len(world.site_api("github").requests) == asked

    async def test_passages_pieces_and_sections(self, web: Make) -> None:
        opened = web({"cache": {"enabled": True}})
        part = await opened.open_page(ISSUE, query="what was gone?", max_tokens=60)
        assert "fuse of the lamp" in part.content
        assert [section.title for section in part.sections][:2] == ["The red lamp stays dark (#5)", "Comments"]
        piece = await opened.open_page(ISSUE, max_length=200)
        assert piece.next_cursor
        rest = await opened.open_page(ISSUE, cursor=piece.next_cursor)
        assert rest.start == piece.end

    async def test_a_page_that_redirects_elsewhere_is_cited_by_its_own_address(self, web: Make) -> None:
        page = await web().open_page("https://en.wikipedia.org/wiki/Lightship")
        assert page.final_url == "https://en.wikipedia.org/wiki/Light_vessel"
        assert "redirected from Lightship" in page.content

    def test_no_reader_to_use_is_still_an_error(self, settings: Callable[..., Settings]) -> None:
        with pytest.raises(ConfigurationError):
            Web(settings(read={"providers": ()}))


@pytest.mark.parametrize(
    "url",
    [
        "https://en.wikipedia.org/wiki/List_of_light_vessels",
        "https://github.com/harbor/lantern",
        "https://stackoverflow.com/questions/4711/why-is-a-lamp-dark",
        "https://pypi.org/project/wick/",
    ],
)
async def test_a_site_reader_is_never_worse_than_the_plain_one(web: Make, world: World, url: str) -> None:
    """The page that people see has what the API gives; all that the plain reader keeps of it is there."""
    with_api = await web().open_page(url, max_length=1_000_000)
    plain = await web({"read": {"site_readers": ()}}).open_page(url, max_length=1_000_000)
    assert (with_api.reader, plain.reader) == (next(page[1] for page in PAGES if page[0] == url), "local")
    assert not Counter(re.findall(r"\w+", plain.content)) - Counter(re.findall(r"\w+", with_api.content))
    assert not with_api.truncated


GUIDE = (Path(__file__).resolve().parents[3] / "docs" / "guides" / "sites.md").read_text("utf-8")


def test_the_guide_lists_every_site_with_its_limit() -> None:
    intervals = {60.0: "minute", 3_600.0: "hour", 86_400.0: "day", 3.0: "3 seconds", 1.0: "second"}
    limits = dict(re.findall(r"^\| `(\w+)` \|.*\| ([^|]+) \|$", GUIDE, re.MULTILINE))
    assert sorted(limits) == sorted(SITE_READERS)
    for site in SITES:
        requests = f"{site.requests:,}" if site.requests > 1 else "one"
        assert limits[site.name].startswith(requests)
        assert limits[site.name].endswith(intervals[site.seconds])
