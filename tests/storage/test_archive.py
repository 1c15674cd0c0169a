"""The offline archive: what is kept, found, forgotten, and what happens when its file fails."""

from __future__ import annotations

import asyncio
import logging
import resource
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import closing, nullcontext
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from components.archiving import add
from components.postgres import Postgres
from groundwire.errors import InvalidRequest
from groundwire.fair_queue import CURRENT_TENANT
from groundwire.models import Filters, Page, SearchResponse, SearchResult
from groundwire.safety.tenancy import LOCAL, OPERATOR, Owner
from groundwire.storage.archive.fts import joined, split
from groundwire.storage.archive.questions import Question
from groundwire.storage.archive.store import Archive
from groundwire.storage.base import StoreError
from groundwire.storage.sqlite import SqliteStore

DAY = 86_400.0
START = datetime(2026, 11, 20, 12, tzinfo=UTC).timestamp()


class Clock:
    """Time that passes when a test says so."""

    def __init__(self) -> None:
        self.time = START

    def __call__(self) -> float:
        return self.time


def page(url: str = "https://a.example/one", content: str = "Some words about whales.", **fields: object) -> Page:
    return Page.model_validate({"url": url, "title": "A page", "content": content, "reader": "local", **fields})


def response(*rows: SearchResult, query: str = "a question", **fields: object) -> SearchResponse:
    return SearchResponse.model_validate({"query": query, "results": rows, "provider": "searxng", **fields})


def row(url: str = "https://b.example/", snippet: str = "A snippet about dolphins.", **fields: object) -> SearchResult:
    values = {"title": "A row", "url": url, "snippet": snippet, "source": "x", **fields}
    return TypeAdapter(SearchResult).validate_python(values)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "archive.db"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run what does not look at the file on both databases."""
    if "database" in metafunc.fixturenames:
        kinds = ["sqlite"] if "path" in metafunc.fixturenames else ["sqlite", "postgres"]
        metafunc.parametrize("database", kinds, indirect=True)


@pytest.fixture
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Path | str:
    if request.param == "sqlite":
        return tmp_path / "folder" / "archive.db"
    server: Postgres = request.getfixturevalue("postgres")
    return server.database()


@pytest.fixture
async def archive(clock: Clock, database: Path | str) -> AsyncIterator[Archive]:
    made = Archive(database, clock=clock)
    yield made
    await made.aclose()


@pytest.fixture
async def reopened(clock: Clock, database: Path | str) -> AsyncIterator[Callable[[], Archive]]:
    made: list[Archive] = []

    def make() -> Archive:
        made.append(Archive(database, clock=clock))
        return made[-1]

    yield make
    for one in made:
        await one.aclose()


async def urls(archive: Archive, text: str, **filters: object) -> list[str]:
    return [found.url for found in await archive.search(text, limit=50, filters=Filters(**filters), viewer=OPERATOR)]  # type: ignore[arg-type]


@pytest.mark.req("B13")
async def test_what_was_read_and_seen_is_found(archive: Archive) -> None:
    assert await add(archive, page(published="2026-11-01"), owner=LOCAL)
    assert await add(archive, response(row()), owner=LOCAL) == 1
    (whale,) = await archive.search("WHALES", viewer=OPERATOR)
    assert (whale.url, whale.title, whale.kind) == ("https://a.example/one", "A page", "page")
    assert whale.snippet == "Some words about whales."
    assert (whale.published, whale.seen) == ("2026-11-01", datetime.fromtimestamp(START, UTC))
    assert whale.rank > 0
    (dolphin,) = await archive.search("dolphins", viewer=OPERATOR)
    assert (dolphin.url, dolphin.kind, dolphin.published) == ("https://b.example/", "result", None)
    assert await archive.search("sharks", viewer=OPERATOR) == []


@pytest.mark.req("B13")
async def test_a_page_comes_back_as_it_was_and_says_that_it_is_old(archive: Archive) -> None:
    kept = page(
        content="# 東京 Ünïcode\n\nText.", language="ja", content_type="text/html", original_length=17, warnings=("w",)
    )
    await add(archive, kept, owner=LOCAL)
    got = await archive.get_page("http://a.example/one/#part", viewer=OPERATOR)
    assert got is not None
    assert got.stale
    assert got.warnings == ("w", "from the archive, read on 2026-11-20")
    assert got.model_copy(update={"stale": False, "cached": False, "warnings": ("w",)}) == kept
    assert await archive.get_page("https://a.example/two", viewer=OPERATOR) is None


async def test_it_outlives_the_process_and_two_may_use_it(reopened: Callable[[], Archive]) -> None:
    first, second = reopened(), reopened()
    await add(first, page(), owner=LOCAL)
    assert await urls(second, "whales") == ["https://a.example/one"]
    await add(second, page("https://a.example/two"), owner=LOCAL)
    assert len(await urls(first, "whales")) == 2
    await first.aclose()
    assert len(await urls(reopened(), "whales")) == 2


async def test_it_shares_a_file_with_the_store_whichever_comes_first(
    reopened: Callable[[], Archive], path: Path
) -> None:
    store = SqliteStore(path)
    archive = reopened()
    await add(archive, page(), owner=LOCAL)
    await store.set("key", b"value", fresh=60)
    entry = await store.get("key")
    assert entry is not None
    assert entry.value == b"value"
    await store.aclose()
    other = path.with_name("other.db")
    store = SqliteStore(other)
    await store.set("key", b"value", fresh=60)
    shared = Archive(other)
    assert await add(shared, page(), owner=LOCAL)
    await shared.aclose()
    await store.aclose()


@pytest.mark.req("B13")
async def test_it_keeps_nothing_that_failed_or_is_a_copy_or_secret(archive: Archive) -> None:
    for refused in (
        page(status="error", error="no"),
        page(content="  "),
        page(cached=True),
        page(stale=True),
        page(reader="archive"),
        page("https://a.example/?access_token=abc"),
        page(final_url="https://a.example/?password=abc"),
        page("not an address"),
    ):
        assert not await add(archive, refused, owner=LOCAL)
    assert await add(archive, response(row(), cached=True), owner=LOCAL) == 0
    assert await add(archive, response(row(), stale=True), owner=LOCAL) == 0
    secret = row("https://b.example/?api_key=abc")
    assert await add(archive, response(row(source="archive"), secret, row(title="", snippet="")), owner=LOCAL) == 0
    assert (await archive.statistics(viewer=OPERATOR)).size == 0


async def test_a_query_with_a_token_is_not_kept(archive: Archive) -> None:
    await add(archive, response(row(), query="why is ghp_" + "a1" * 18 + " refused"), owner=LOCAL)
    assert await urls(archive, "refused") == []
    assert await urls(archive, "dolphins") == ["https://b.example/"]


@pytest.mark.req("B13")
async def test_one_entry_an_address_and_the_newest_wins(archive: Archive, clock: Clock) -> None:
    await add(archive, page(published="2026-01-01"), owner=LOCAL)
    clock.time += DAY
    await add(archive, page("http://a.example/one/#x", "Now about walruses."), owner=LOCAL)
    assert await urls(archive, "whales") == []
    (found,) = await archive.search("walruses", viewer=OPERATOR)
    assert found.published == "2026-01-01"
    assert found.seen.date() == date(2026, 11, 21)
    assert (await archive.statistics(viewer=OPERATOR)).pages == 1


async def test_a_page_of_before_the_clock_was_set_back_is_replaced(archive: Archive, clock: Clock) -> None:
    clock.time += 1_000 * DAY
    await add(archive, page(), owner=LOCAL)
    clock.time -= 1_000 * DAY
    await add(archive, page(content="Now about walruses."), owner=LOCAL)
    (found,) = await archive.search("walruses", viewer=OPERATOR)
    assert found.seen.date() == date(2026, 11, 20)
    assert await urls(archive, "whales") == []


async def test_a_page_that_is_cut_shorter_does_not_replace_the_whole(archive: Archive, clock: Clock) -> None:
    whole = "word " * 200 + "the end"
    await add(archive, page(content=whole), owner=LOCAL)
    clock.time += DAY
    await add(archive, page(content=whole[:500], truncated=True), owner=LOCAL)
    got = await archive.get_page("https://a.example/one", viewer=OPERATOR)
    assert got is not None
    assert (got.content, got.truncated) == (whole, False)
    assert got.warnings == ("from the archive, read on 2026-11-21",)


async def test_a_page_is_found_by_both_ends_of_a_redirect(archive: Archive) -> None:
    await add(archive, page("https://short.example/x", final_url="https://long.example/y"), owner=LOCAL)
    for url in ("https://short.example/x", "https://long.example/y"):
        got = await archive.get_page(url, viewer=OPERATOR)
        assert got is not None
        assert got.final_url == "https://long.example/y"
    assert await urls(archive, "whales") == ["https://long.example/y"]


async def test_a_result_is_found_by_the_queries_that_led_to_it(archive: Archive, clock: Clock) -> None:
    await add(archive, response(row(), query="flippered mammals"), owner=LOCAL)
    clock.time += 1
    await add(archive, response(row(), query="clever swimmers"), owner=LOCAL)
    assert await urls(archive, "flippered mammals") == ["https://b.example/"]
    assert await urls(archive, "clever swimmers") == ["https://b.example/"]
    assert [found.snippet for found in await archive.search("clever", viewer=OPERATOR)] == ["A snippet about dolphins."]


async def test_a_result_of_two_searches_in_one_moment_is_found_by_both(archive: Archive) -> None:
    archive.remember(response(row(), query="flippered mammals"), owner=LOCAL)
    archive.remember(response(row(), query="clever swimmers"), owner=LOCAL)
    await archive.flush()
    assert await urls(archive, "flippered mammals") == ["https://b.example/"]
    assert await urls(archive, "clever swimmers") == ["https://b.example/"]
    assert (await archive.statistics(viewer=OPERATOR)).results == 1


async def test_an_address_that_was_seen_and_read_is_returned_once_as_a_page(archive: Archive, clock: Clock) -> None:
    await add(archive, page(), owner=LOCAL)
    for session in ("one", "other"):
        clock.time += 1
        await add(archive, response(row("https://a.example/one", "Whales sing.")), owner=Owner(session=session))
    await add(archive, response(row()), owner=LOCAL)
    assert await urls(archive, "whales") == ["https://a.example/one"]
    assert (await archive.statistics(viewer=OPERATOR)).results == 3
    rows = await archive.list(viewer=OPERATOR)
    assert [(found.url, found.kind) for found in rows] == [
        ("https://b.example/", "result"),
        ("https://a.example/one", "page"),
    ]
    assert await archive.list(1, 1, viewer=OPERATOR) == rows[1:]
    assert [found.kind for found in await archive.search("whales", viewer=OPERATOR)] == ["page"]


async def test_suggestions_are_earlier_queries_and_titles_of_the_same_owner(archive: Archive) -> None:
    tenant = Owner(tenant="a")
    await add(archive, response(row(title="Whales of the north"), query="whale songs"), owner=tenant)
    await add(archive, response(row("https://c.example/", title="whale songs"), query="Blue WHALES"), owner=tenant)
    await add(archive, response(row(title="Secret whales"), query="whales of others"), owner=Owner(tenant="b"))
    await add(archive, page("https://d.example/", title="Public whales"), owner=LOCAL)
    assert await archive.suggest("wha", owner=tenant) == ["Blue WHALES", "whale songs", "Whales of the north"]
    assert await archive.suggest("whales no", owner=tenant) == ["Whales of the north"]
    assert await archive.suggest("wha", owner=tenant, limit=1) == ["Blue WHALES"]
    for text in ("", '"*(', "ales", "dolphins"):  # what no word begins with, and a snippet is no title
        assert await archive.suggest(text, owner=tenant) == []


@pytest.mark.req("B13")
async def test_order_and_pages_of_results(archive: Archive) -> None:
    for number in range(30):
        await add(archive, page(f"https://f.example/{number}", f"Filler text {number} without much."), owner=LOCAL)
    await add(
        archive, page("https://a.example/text", "It mentions sonar once among many other words here."), owner=LOCAL
    )
    await add(archive, page("https://a.example/title", "Something else.", title="Sonar"), owner=LOCAL)
    assert await urls(archive, "sonar") == ["https://a.example/title", "https://a.example/text"]
    second = await archive.search("sonar", limit=1, offset=1, viewer=OPERATOR)
    assert [found.url for found in second] == ["https://a.example/text"]
    assert len(await archive.search("filler", limit=7, viewer=OPERATOR)) == 7
    parts = [await archive.search("filler", limit=10, offset=start, viewer=OPERATOR) for start in (0, 10, 20, 30)]
    assert len({found.url for part in parts for found in part}) == 30


async def test_every_word_that_is_not_frequent_must_match(archive: Archive) -> None:
    whole = page("https://a.example/all", "Reciprocal rank fusion merges several lists of results.")
    await add(archive, whole, owner=LOCAL)
    await add(archive, page("https://a.example/half", "Rank fusion, rank fusion."), owner=LOCAL)
    for query in ("reciprocal rank fusion", "how is a list merged by the reciprocal rank", "RANKS: fusion, reciprocal"):
        assert await urls(archive, query) == ["https://a.example/all"]
    assert len(await urls(archive, "rank fusion")) == 2
    assert await urls(archive, "reciprocal rank confusion") == []
    assert await urls(archive, "recip") == [], "a beginning may be that of another word"


@pytest.mark.req("B13")
@pytest.mark.parametrize(
    ("content", "query"),
    [
        ("Le café de l’été à Zürich", "cafe ete zurich"),
        ("Le cafe\u0301 decomposed", "café"),
        ("東京都の天気は晴れです。", "天気"),
        ("東京都の天気は晴れです。", "東京の天気はどうですか"),
        ("我们在北京学习中文", "北京"),
        ("검색엔진은 빠르다", "검색"),
        ("ภาษาไทยเขียนโดยไม่เว้นวรรค", "ภาษา"),
        ("カタカナとabcの混在", "abc"),
        ("Call foo.bar_baz() and C++ 3.11", "foo.bar_baz()"),
        ("state-of-the-art methods", "State-of-the-art"),
    ],
)
async def test_scripts_and_accents(archive: Archive, content: str, query: str) -> None:
    await add(archive, page(content=content), owner=LOCAL)
    await add(
        archive, page("https://other.example/", "これは別の文章だ。 这是别的。 다른 글. Nothing of it."), owner=LOCAL
    )
    found = await archive.search(query, viewer=OPERATOR)
    assert [one.url for one in found] == ["https://a.example/one"]
    assert "\x1f" not in found[0].snippet
    got = await archive.get_page("https://a.example/one", viewer=OPERATOR)
    assert got is not None
    assert got.content == content


async def test_a_phrase_of_a_dense_script_is_one(archive: Archive) -> None:
    await add(archive, page(content="京都と東北"), owner=LOCAL)
    assert await archive.search("東京", viewer=OPERATOR) == []


async def test_a_word_on_every_line_of_a_log_keeps_nobody_waiting(archive: Archive) -> None:
    log = "The log begins here.\n" + "narwhal seen\n" * 40_000  # FTS5's own passage of it would take 10 s
    await add(archive, page(content=log), owner=LOCAL)
    [found] = await archive.search("narwhal", viewer=OPERATOR)
    assert "narwhal seen narwhal" in found.snippet
    [kept] = await archive.search("log begins", viewer=OPERATOR)
    assert "begins" in kept.snippet


async def test_a_snippet_is_plain_text_around_the_words(archive: Archive) -> None:
    before = "# Heading\n\n" + "Words of no interest. " * 100
    await add(
        archive,
        page(content=before + "- The **narwhal** has [one tusk](https://t.example/x).\n\n" + before),
        owner=LOCAL,
    )
    (found,) = await archive.search("narwhal", viewer=OPERATOR)
    assert "The narwhal has one tusk." in found.snippet
    assert len(found.snippet) < 600


@pytest.mark.req("B4", "B13")
async def test_filters(archive: Archive, clock: Clock) -> None:
    await add(archive, page("https://www.a.example/1", published="2025-06-01"), owner=LOCAL)
    await add(archive, page("https://b.example/2", published="2026-11-18T10:00:00Z"), owner=LOCAL)
    clock.time -= 60 * DAY
    await add(archive, page("https://nota.example/3"), owner=LOCAL)
    clock.time += 60 * DAY
    assert len(await urls(archive, "whales")) == 3
    assert await urls(archive, "whales", allowed_domains=("a.example",)) == ["https://www.a.example/1"]
    assert await urls(archive, "whales", allowed_domains=("b.example", "nota.example")) != []
    assert len(await urls(archive, "whales", blocked_domains=("a.example", "no%such_"))) == 2
    assert await urls(archive, "whales", allowed_domains=("%.example",)) == []
    assert await urls(archive, "whales", time_range="w") == ["https://b.example/2"]
    assert await urls(archive, "whales", published_before=date(2025, 12, 31)) == ["https://www.a.example/1"]
    assert await urls(archive, "whales", published_after=date(2026, 9, 1), published_before=date(2026, 10, 1)) == [
        "https://nota.example/3"
    ]


@pytest.mark.req("B13")
@pytest.mark.parametrize(
    "text",
    [
        '"',
        "''",
        "a OR",
        "NOT",
        "NEAR(a b)",
        "title:x",
        "^a",
        "a*",
        "(",
        "-a",
        "a + b",
        "\0",
        "\x1f",
        "\ud800",
        "!!!",
        "",
    ],
)
async def test_operators_are_words(archive: Archive, text: str) -> None:
    await add(archive, page(content="Some words about a title OR whales NOT near."), owner=LOCAL)
    await archive.search(text, viewer=OPERATOR)
    assert not archive.problem


WORDS = st.text(max_size=60) | st.text(alphabet="\"'*()^:-+{}\x00 aAéß東京ไทย AND OR NOT NEAR,;%_\\", max_size=60)


@pytest.mark.req("B13")
async def test_any_text_may_be_asked_and_kept(archive: Archive) -> None:
    runner = asyncio.get_running_loop()

    def check(text: str, title: str) -> None:
        async def one() -> None:
            await add(archive, page(content=f"x{text}", title=title), owner=LOCAL)
            await archive.search(text, viewer=OPERATOR)
            assert not archive.problem
            assert await archive.get_page("https://a.example/one", viewer=OPERATOR) is not None

        asyncio.run_coroutine_threadsafe(one(), runner).result()

    await asyncio.to_thread(given(WORDS, WORDS)(check))


async def test_a_result_is_kept_without_what_has_no_utf8_form(archive: Archive) -> None:
    whole = row(published="2026-02-03", published_origin="3 Feb")
    broken = SearchResult(title="half \ud800 a sign", url="https://c.example/", source="x", snippet="s")
    assert await add(archive, response(whole).model_copy(update={"results": (whole, broken)}), owner=LOCAL) == 2
    kept = {one.url: one for one in await archive.list(viewer=OPERATOR)}
    assert (kept[whole.url].title, kept[whole.url].snippet) == (whole.title, whole.snippet)
    assert kept[whole.url].published == "2026-02-03"
    assert kept[broken.url].title == "half ? a sign"


@given(WORDS)
def test_splitting_loses_nothing(text: str) -> None:
    text = text.replace("\x1f", "").replace("\0", "")
    assert joined(split(text)) == text


@given(st.text())
def test_a_question_has_words_or_is_none(text: str) -> None:
    question = Question.parse(text)
    assert question is None or (question.required and question.within(text) and question.compare(text))


@pytest.mark.req("B13")
@pytest.mark.parametrize(
    ("selector", "left"),
    [
        ({"url": "http://a.example/one"}, 3),
        ({"domain": "a.example"}, 2),
        ({"before": date(2026, 11, 20)}, 3),
        ({"everything": True}, 0),
    ],
)
async def test_forgetting(archive: Archive, clock: Clock, selector: dict[str, object], left: int) -> None:
    await add(archive, page(), owner=LOCAL)
    await add(archive, page("https://www.a.example/two"), owner=LOCAL)
    await add(archive, response(row()), owner=LOCAL)
    clock.time -= DAY
    await add(archive, page("https://nota.example/"), owner=LOCAL)
    assert await archive.forget(**selector) == 4 - left  # type: ignore[arg-type]
    assert len(await archive.list(viewer=OPERATOR)) == left
    assert len(await urls(archive, "whales") + await urls(archive, "dolphins")) == left
    assert await archive.forget(**selector) == 0  # type: ignore[arg-type]


@pytest.mark.parametrize("selectors", [{}, {"url": "https://a.example/", "everything": True}])
async def test_one_thing_is_forgotten_at_a_time(archive: Archive, selectors: dict[str, object]) -> None:
    with pytest.raises(InvalidRequest, match="one thing to delete"):
        await archive.forget(**selectors)  # type: ignore[arg-type]


async def test_what_is_forgotten_is_gone_from_the_file(reopened: Callable[[], Archive], path: Path) -> None:
    archive = reopened()
    for number in range(20):
        await add(archive, page(f"https://f.example/{number}", f"Filler number {number}."), owner=LOCAL)
    await add(archive, page(content="An embarrassing xylophone. " * 400), owner=LOCAL)
    assert await archive.forget(url="https://a.example/one") == 1
    everything = b"".join(file.read_bytes() for file in path.parent.iterdir())
    assert b"xylophone" not in everything
    assert b"a.example" not in everything
    assert len(await archive.search("filler", limit=50, viewer=OPERATOR)) == 20


@pytest.mark.req("B13")
async def test_it_is_pruned_by_size_and_by_age(clock: Clock, path: Path) -> None:
    archive = Archive(path, max_bytes=40_000, max_age=10 * DAY, clock=clock)
    for number in range(40):
        clock.time += 1
        await add(archive, page(f"https://f.example/{number}", f"Filler {number}. " + "word " * 200), owner=LOCAL)
    totals = await archive.statistics(viewer=OPERATOR)
    assert 30_000 < totals.size <= 40_000
    newest = [found.url for found in await archive.list(50, viewer=OPERATOR)]
    assert newest == [f"https://f.example/{number}" for number in range(39, 39 - len(newest), -1)]
    assert await archive.search("0", viewer=OPERATOR) == []
    assert not await add(archive, page(content="word " * 20_000), owner=LOCAL)
    clock.time += 11 * DAY
    assert await archive.get_page(newest[0], viewer=OPERATOR) is None
    await add(archive, page(), owner=LOCAL)
    assert [found.url for found in await archive.list(viewer=OPERATOR)] == ["https://a.example/one"]
    await archive.aclose()


async def test_remembering_waits_for_nobody_and_loses_nothing_at_the_end(reopened: Callable[[], Archive]) -> None:
    archive = reopened()
    for number in range(50):
        archive.remember(page(f"https://f.example/{number}"), owner=LOCAL)
    archive.remember(response(row()), owner=LOCAL)
    await archive.aclose()
    archive.remember(page(), owner=LOCAL)
    totals = await reopened().statistics(viewer=OPERATOR)
    assert (totals.pages, totals.results) == (50, 1)


async def test_after_closing(archive: Archive) -> None:
    await add(archive, page(), owner=LOCAL)
    await archive.aclose()
    await archive.aclose()
    archive.remember(page(), owner=LOCAL)
    with pytest.raises(StoreError, match="closed"):
        await archive.search("whales", viewer=OPERATOR)


def _nonsense(path: Path) -> None:
    path.write_bytes(b"This is no database, however long it may be. " * 100)


def _foreign(path: Path) -> None:
    with sqlite3.connect(path) as db:
        db.execute("create table theirs (x)")
    db.close()


def _folder(path: Path) -> None:
    path.mkdir()


def _unreachable(path: Path) -> None:
    path.parent.rmdir()
    path.parent.write_text("a file where the folder should be")


@pytest.mark.req("B13")
@pytest.mark.parametrize("spoil", [_foreign, _folder, _unreachable])
async def test_a_file_that_cannot_be_used_switches_it_off_with_one_warning(
    spoil: Callable[[Path], None], reopened: Callable[[], Archive], path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path.parent.mkdir()
    spoil(path)
    archive = reopened()
    assert not await add(archive, page(), owner=LOCAL)
    assert await add(archive, response(row()), owner=LOCAL) == 0
    archive.remember(page(), owner=LOCAL)
    for call in (
        archive.search("x", viewer=OPERATOR),
        archive.get_page("https://a.example/", viewer=OPERATOR),
        archive.list(viewer=OPERATOR),
        archive.statistics(viewer=OPERATOR),
    ):
        with pytest.raises(StoreError, match=str(path.parent)):
            await call
    with pytest.raises(StoreError):
        await archive.forget(everything=True)
    await archive.aclose()
    assert [record.levelno for record in caplog.records if record.levelno >= logging.WARNING] == [logging.WARNING]
    assert "disabled" in caplog.text


def _overwritten(path: Path) -> None:
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + b"\xa5" * (len(whole) - 4096))


async def test_a_file_that_is_damaged_meanwhile(
    reopened: Callable[[], Archive], path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    archive = reopened()
    for number in range(30):
        await add(archive, page(f"https://f.example/{number}", f"Filler {number}. " * 300), owner=LOCAL)
    await archive.aclose()
    _overwritten(path)
    archive = reopened()
    assert await archive.search("filler", viewer=OPERATOR) == []
    assert await add(archive, page(), owner=LOCAL)
    assert (archive.recreated, archive.problem) == (True, "")
    assert caplog.text.count("It was moved to") == 1
    (aside,) = [one for one in path.parent.glob("*.corrupt-*") if not one.name.endswith(("-wal", "-shm"))]
    assert aside.stat().st_size > 0


@pytest.mark.parametrize(
    ("sql", "recreated"),
    [
        ("pragma writable_schema = on; update sqlite_master set name = cast(x'ff' as text), sql = 'x'", True),
        ("update archive_items set text = cast(x'ff' as text)", True),
        ("pragma ignore_check_constraints = on; update archive_items set seen = x'ff'", False),
    ],
    ids=["schema", "text", "type"],
)
async def test_a_row_that_is_damaged_is_no_fault_of_the_program(
    sql: str, recreated: bool, reopened: Callable[[], Archive], path: Path
) -> None:
    archive = reopened()
    await add(archive, page(), owner=LOCAL)
    await add(archive, page("https://b.example/"), owner=LOCAL)
    await archive.aclose()
    with closing(sqlite3.connect(path)) as db, db:
        db.executescript(sql)
    archive = reopened()
    with nullcontext() if recreated else pytest.raises(StoreError):
        assert await archive.search("whales", viewer=OPERATOR) == []
    assert archive.recreated == recreated


@pytest.mark.req("B13")
async def test_nonsense_in_its_place_is_moved_aside(
    reopened: Callable[[], Archive], path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path.parent.mkdir()
    _nonsense(path)
    archive = reopened()
    before = archive.recreated
    await archive.open()
    assert (before, archive.recreated) == (False, True)
    assert await add(archive, page(), owner=LOCAL)
    assert (await archive.statistics(viewer=OPERATOR)).pages == 1
    await archive.aclose()
    assert [record.levelno for record in caplog.records if record.levelno >= logging.WARNING] == [logging.WARNING]


async def test_a_full_disk_ends_the_writing_and_not_the_reading(
    reopened: Callable[[], Archive], path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    archive = reopened()
    await add(archive, page(), owner=LOCAL)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (65_536, hard))
    try:
        assert not await add(archive, page("https://a.example/big", "word " * 100_000), owner=LOCAL)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert caplog.text.count("disabled") == 1
    assert not await add(archive, page("https://a.example/small"), owner=LOCAL)
    assert await urls(archive, "whales") == ["https://a.example/one"]


async def test_a_file_that_is_busy_costs_one_entry_only(
    reopened: Callable[[], Archive], path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    archive = reopened()
    await add(archive, page(), owner=LOCAL)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("begin immediate")
    assert not await add(archive, page("https://a.example/two"), owner=LOCAL)
    assert await urls(archive, "whales") == ["https://a.example/one"]
    other.execute("rollback")
    other.close()
    assert await add(archive, page("https://a.example/two"), owner=LOCAL)
    assert not archive.problem
    assert "disabled" not in caplog.text


async def test_a_file_that_is_removed_is_begun_anew(reopened: Callable[[], Archive], path: Path) -> None:
    archive = reopened()
    await add(archive, page(), owner=LOCAL)
    for file in path.parent.iterdir():
        file.unlink()
    assert await add(archive, page("https://a.example/two"), owner=LOCAL)
    assert await urls(archive, "whales") == ["https://a.example/two"]


async def test_nobody_else_can_read_the_file(reopened: Callable[[], Archive], path: Path) -> None:
    await add(reopened(), page(), owner=LOCAL)
    assert {file.stat().st_mode & 0o077 for file in path.parent.iterdir()} == {0}


async def test_a_batch_keeps_new_rows_and_known_ones_with_the_same_index(clock: Clock, path: Path) -> None:
    def rows(first: int, last: int, words: str) -> list[SearchResult]:
        return [row(f"https://n{number}.example/", f"{words} w{number}") for number in range(first, last)]

    archive = Archive(path, clock=clock)
    assert await add(archive, response(*rows(0, 3, "seals"), *rows(20, 23, "seals")), owner=LOCAL) == 6
    clock.time += 1
    newer = response(*rows(0, 2, "seals"), *rows(2, 40, "otters"), query="others")
    assert await add(archive, newer, owner=LOCAL) == 40, "new and known ones"
    assert await add(archive, newer, owner=LOCAL) == 0, "nothing is newer"
    assert set(await urls(archive, "otters")) == {f"https://n{number}.example/" for number in range(2, 40)}
    assert set(await urls(archive, "seals")) == {f"https://n{number}.example/" for number in range(2)}
    assert len(await urls(archive, "others")) == 40, "what was asked leads to known ones, too"
    await archive.aclose()
    with sqlite3.connect(path) as db:
        db.execute("insert into archive_words (archive_words, rank) values ('integrity-check', 1)")
        (counted,), (taken,) = db.execute(
            "select bytes from archive_about union all select sum(size) from archive_items"
        )
        assert counted == taken
        assert db.execute("select count(*) from archive_items").fetchone() == (40,)
    db.close()


async def test_a_tenant_with_many_reads_does_not_hold_up_another(archive: Archive) -> None:
    await add(archive, page(content="whales"), owner=LOCAL)
    order: list[str] = []

    async def look(tenant: str) -> None:
        CURRENT_TENANT.set(tenant)
        await archive.search("whales", viewer=LOCAL)
        order.append(tenant)

    await asyncio.gather(*(look(tenant) for tenant in "a" * 20 + "b"))
    assert order.index("b") < 10


async def test_flush_waits_for_what_came_before_it_and_not_for_what_comes(archive: Archive) -> None:
    archive.remember(page("https://first.example/"), owner=LOCAL)
    flushed = asyncio.create_task(archive.flush())
    number = 0
    async with asyncio.timeout(60):
        while not flushed.done():
            number += 1
            archive.remember(page(f"https://later.example/{number}"), owner=LOCAL)
            await asyncio.sleep(0)
    assert await archive.get_page("https://first.example/", viewer=LOCAL)
