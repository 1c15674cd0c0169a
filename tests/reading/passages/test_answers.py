"""What answers a query in little room: sentences, rows, lines, whole links and words, and never less in more room."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.examples import examples
from groundwire import Settings, Web
from groundwire.errors import InvalidRequest
from groundwire.models import Page
from groundwire.reading.passages.bm25 import passages_of
from groundwire.reading.passages.outline import Outline
from groundwire.reading.passages.terms import expected
from groundwire.reading.passages.token_budget import load_token_bound
from groundwire.reading.passages.view import check_ask, view
from groundwire.tools import open_page_tool
from groundwire.tools.conversions import opened
from groundwire.tools.results import OpenPageToolResult, render_text
from world import World

pytestmark = pytest.mark.req("B8", "B9")

DEPOTS = (
    "# Depots\n\n| depot | gate |\n| --- | --- |"
    + "".join(f"\n| depot {number} | {number * 7 % 1009} |" for number in range(1, 401))
    + "\n\nThe end."
)
WORDS = (
    "harbour",
    "ferry",
    "toll",
    "crown",
    "[the old mill](https://x.example/mill)",
    "1987.",
    "Pier 12.",
    "`a b`",
    "-",
)


def answers(text: str, query: str, tokens: int, **more: Any) -> Page:
    return view(
        Page(url="https://a.example/", content=text),
        check_ask(default_length=9_000, query=query, max_tokens=tokens, **more),
    )


@pytest.mark.parametrize("tokens", [40, 80, 240, 400])
def test_a_row_is_found_in_any_room_and_brings_the_head_of_its_table(tokens: int) -> None:
    content = answers(DEPOTS, "which gate has depot 217", tokens).content
    assert "| depot 217 | 510 |" in content
    assert "| depot | gate |\n| --- | --- |" in content


def test_rows_of_one_table_have_its_head_once() -> None:
    assert answers(DEPOTS, "depot 217 depot 301", 120).content.count("| --- | --- |") == 1


def test_code_is_shown_by_its_lines() -> None:
    code = "\n".join(f"option_{number} = {number}" for number in range(200))
    content = answers(f"# Options\n\n```toml\n{code}\n```\n\nMore. " + "Other words. " * 200, "option_77", 90).content
    assert "option_77 = 77" in content
    assert "```toml\n" in content
    assert content.count("```") == 2


def test_a_passage_that_does_not_fit_is_shrunk_around_its_match() -> None:
    text = "Other words. " * 300 + "\n\n" + "and so on " * 12 + "the toll was 37 crowns " + "and so on " * 12
    page = answers(text, "How high was the toll?", 40)
    assert "toll was 37 crowns" in page.content
    assert load_token_bound()(page.content) <= 40


def test_targets_of_links_are_left_out_unless_they_are_asked_for() -> None:
    text = "Other words. " * 300 + "\n\nThe ferry is run by [the old mill](https://mill.example/ferry/times)."
    page = answers(text, "Who runs the ferry?", 60)
    assert "run by the old mill" in page.content
    assert "mill.example" not in page.content
    assert page.excerpts[-1].text.endswith("(https://mill.example/ferry/times).")
    assert "[the old mill](https://mill.example/ferry/times)" in answers(text, "link to the ferry", 60).content


@pytest.mark.parametrize(
    ("question", "answer", "other"),
    [
        ("How many people fit in?", "It holds 412 seats.", "It holds many seats."),
        ("Wann wurde das gebaut?", "Erbaut im Jahr 1932.", "Erbaut vor 30 Metern."),
        ("¿Cuánto cuesta?", "La entrada vale 7 €.", "La entrada vale la pena."),
        ("Quelle part est à temps partiel ?", "Cela fait 17 % des salariés.", "Cela fait 17 salariés."),
        ("how long does it take", "It is ready after 15 minutes.", "It is number 15."),
        ("how do I shut it down", "Use `stop` for that.", "Use a half-open valve."),
        ("Сколько человек работает?", "Это 80 мест.", "Это много мест."),
        ("哪一年建成", "建成于1998年。", "建成已久。"),
        ("Why is it closed?", "It is closed because of the flood.", "It is closed today."),
        ("Warum ist zu?", "Zu ist wegen der Flut.", "Zu ist heute."),
        ("Wie schwer ist die Glocke?", "Sie wiegt 14 Tonnen.", "Sie ist schwer."),
        ("What does it cost?", "The tax is 4%.", "It is 4 miles."),
        ("which option makes it quiet", "Use `--quiet` for that.", "Use silence for that."),
    ],
)
def test_what_a_question_asks_for(question: str, answer: str, other: str) -> None:
    wanted = expected(question)
    assert wanted is not None
    assert wanted.search(answer)
    assert not wanted.search(other)


def test_a_question_without_a_word_of_the_answer_finds_the_number() -> None:
    text = "# Hall\n\n" + "The hall is beautiful and everyone likes the hall very much. " * 60
    text += "\n\nThere are 412 seats.\n\n" + "The organ is old, and the doors are of oak. " * 60
    assert "412 seats" in answers(text, "How many people fit into the hall?", 60).content


def test_a_number_in_the_target_of_a_link_is_no_answer() -> None:
    words = ("old", "new", "red", "tall", "wide", "small", "merry", "quiet", "famous", "foreign", "little", "happy")
    links = (f"The hall has [more pictures](https://hall.example/2019/4711.html) of {word} people. " for word in words)
    text = "# Hall\n\n" + "".join(links) + "\n\nThere are 412 seats.\n\n" + "The organ is old. " * 60
    assert "412 seats" in answers(text, "How many people fit into the hall?", 45).content


@pytest.mark.parametrize(
    "sentence",
    [
        "Everyone in the valley remembers the long night of the 13. January, which was the worst they had seen.",
        "It was written by J. R. Smith and revised by A. Jones before the printer had seen the second part of it.",
        "The old wall that surrounds the whole garden is approx. ten meters high at the place where the road ends.",
    ],
)
def test_a_sentence_does_not_end_after_an_initial_or_a_day(sentence: str) -> None:
    text = f"{sentence} And this is another sentence of some length, which begins with a capital letter."
    first = passages_of(Outline(text))[0]
    assert text[first.start : first.end] == sentence


@settings(max_examples=examples(25))
@given(
    st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=14), min_size=1, max_size=25), st.integers(30, 400)
)
def test_more_room_never_has_less_and_nothing_is_cut_inside(blocks: list[list[str]], tokens: int) -> None:
    text = "\n\n".join(" ".join(block) for block in blocks)
    ends = {
        0,
        len(text),
        *(at for match in re.finditer(r"\[[^\]]*\]\([^)]*\)|`[^`]*`|\S+", text) for at in match.span()),
    }
    shown: list[set[int]] = []
    for room in (tokens, tokens + 7, 2 * tokens):
        try:
            page = answers(text, "what toll does the ferry have", room)
        except InvalidRequest:
            return
        if not page.truncated or not page.excerpts:
            return
        assert load_token_bound()(page.content) <= room
        for excerpt in page.excerpts:
            assert {excerpt.start, excerpt.end} <= ends
        shown.append({at for row in page.excerpts for at in range(row.start, row.end)})
    assert shown[0] <= shown[1] <= shown[2]


def test_passages_are_never_cut_inside_a_link() -> None:
    link = "[one. Two. Three, and " + "more words, " * 30 + "four.](https://a.example/x)"
    text = f"Before it. {link} After it. " * 4
    cuts = {cut for passage in passages_of(Outline(text)) for cut in (passage.start, passage.end)}
    inside = {at for match in re.finditer(re.escape(link), text) for at in range(match.start() + 1, match.end())}
    assert not cuts & inside


async def test_little_room_is_enough_to_say_that_nothing_matches(world: World) -> None:
    config = Settings.model_validate({"storage": {"url": "memory://"}, "policy": {"allowed_origins": world.origins}})
    url = f"{world.site('articles').url}/wiki/reciprocal-rank-fusion"
    async with Web(config) as web:
        result = await open_page_tool(web).call(url=url, query="飞艇什么时候起飞以及在哪里可以买到票", max_tokens=150)
    text = render_text(result)
    assert isinstance(result, OpenPageToolResult)
    assert "nothing on this page matches the query" in text, result.error
    assert result.content
    assert load_token_bound()(text) <= 150


LINES = st.text(max_size=120) | st.lists(st.sampled_from((*WORDS, "飞艇", "Zürich", "_", "<b>", "@")), max_size=40).map(
    " ".join
)
NAMES = st.sampled_from(("a.example", "www.a.example", "b" * 60 + ".example", "münchen.example", "10.0.0.1:8080"))
PAGES = st.builds(
    Page,
    citation_id=st.integers(0, 9_999),
    url=NAMES.map("https://{}/x".format),
    final_url=st.just("") | st.builds("https://{}/{}".format, NAMES, st.text("abc/%?", max_size=3_000)),
    title=LINES,
    published=st.none() | st.sampled_from(("2024-05-06", "2022-05-04T07:46:00-04:00")),
    modified=st.none() | st.just("2024-05-06T08:00:00Z"),
    warnings=st.lists(
        st.sampled_from(("hidden text removed: 191", "part of https://a.example/b/c is missing")) | LINES
    ).map(tuple),
    content=st.lists(LINES, min_size=1, max_size=40).map("\n\n".join),
)


@settings(max_examples=examples(150))
@given(PAGES, st.integers(150, 999), st.sampled_from(({"query": "what toll has the ferry"}, {"cursor": "@0"}, {})))
def test_the_frame_of_any_page_has_at_most_61_tokens(page: Page, tokens: int, part: dict[str, str]) -> None:
    bound, shown, places = load_token_bound(), "", [0]
    asked: dict[str, Any] = part
    while True:

        def framed(part: Page) -> str:
            return render_text(opened(part.model_copy(update={"citation_id": 9_999}), brief=True))

        try:
            result = opened(
                view(page, check_ask(default_length=9_000, max_tokens=tokens, around=framed, **asked)), brief=True
            )
        except InvalidRequest:
            assert not page.content.strip()
            return
        text = render_text(result)
        assert bound(text) <= tokens
        assert bound(text) - bound(result.content) <= 61
        head, _, _ = text.rpartition(f"{result.content}\n</web_content_")
        for word in re.findall(r"(?<!\S)https?://\S+", head):
            assert any(word.rstrip(";") in said.split() for said in (*result.warnings, page.title)), word
        if page.warnings:
            assert "Note" in text
        if "query" in asked:
            return
        assert result.start == places[-1]
        shown += page.content[result.start : result.end]
        if result.next_cursor is None:
            break
        more = re.search(r'^More: cursor="(@[0-9]+-[0-9]{6})"$', text, re.MULTILINE)
        assert more is not None
        assert result.end is not None
        places.append(result.end)
        asked = {"cursor": more[1]}
    assert shown.strip() == page.content.strip()


@pytest.mark.parametrize(
    ("warnings", "said"),
    [
        ((), ""),
        (("one",), "Note: one"),
        (("one", "two"), "Note: two; one"),
        (("hidden text removed: 191 of them", "the page is very large; only its beginning was read"),
         "Note 1 of 2: the page is very large; only its beginning was read"),
        (("one", "at first sight " * 9), "Notes: 2 (all: max_tokens=1000)"),
        (("one", "x" * 300), "Notes: 2 (all: max_tokens=1000)"),
        (("hidden text removed: 191",) * 3, "Note 2 of 3: hidden text removed: 191; hidden text removed: 191"),
        (("one", "x" * 300, "hidden text removed: 9"), "Note 1 of 3: hidden text removed: 9"),
    ],
)  # fmt: skip
def test_notes_that_do_not_fit_are_counted(warnings: tuple[str, ...], said: str) -> None:
    page = answers("The ferry. " * 400, "ferry", 90).model_copy(update={"warnings": warnings})
    text = render_text(opened(page, brief=True))
    assert text.partition("\n<web_content")[0].partition("\n")[2] == said


def test_a_page_from_another_host_says_so() -> None:
    page = Page(url="https://a.example/x", final_url="https://me:word@b.example:81/y", content="The ferry.")
    assert "\nNote: redirected to b.example:81\n" in render_text(opened(page, brief=True))
    for other, said in (("https://www.a.example/y", False), (f"https://{'b' * 40}.example/", True)):
        text = render_text(opened(page.model_copy(update={"final_url": other}), brief=True))
        assert ("redirected to another host" in text) == said


def test_the_title_and_the_day_stand_before_the_beginning_if_they_fit() -> None:
    page = Page(url="https://a.example/", title="Ferries", published="2024-05-06T07:45:00Z", content="At 07:45.")
    assert ">\n# Ferries\nPublished: 2024-05-06\nAt 07:45.\n</" in render_text(opened(page, brief=True))
    for modified, line in (("2025-01-02", "Published: 2024-05-06"), ("2024-05-06T08:00:00Z", "Updated: 2024-05-06")):
        changed = page.model_copy(update={"modified": modified})
        assert f">\n# Ferries\n{line}\nAt 07:45.\n</" in render_text(opened(changed, brief=True))
    long = page.model_copy(update={"title": "word " * 90, "published": None})
    assert "word" not in render_text(opened(long, brief=True))
    later = opened(long, brief=True).model_copy(update={"start": 9})
    assert "word" not in render_text(later)


@pytest.mark.parametrize(
    ("published", "modified", "line"),
    [
        ("2024-05-06", "2025-01-02T03:04:05Z", "Published: 2024-05-06, updated 2025-01-02"),
        ("2024-05-06", None, "Published: 2024-05-06"),
        ("2025-01-02", "2025-01-02T03:04:05Z", "Updated: 2025-01-02"),
        (None, "2025-01-02", "Updated: 2025-01-02"),
        (None, None, ""),
    ],
)
def test_the_days_of_a_page_are_one_line(published: str | None, modified: str | None, line: str) -> None:
    page = Page(url="https://a.example/", content="At 07:45.", published=published, modified=modified)
    for fenced in (True, False):
        lines = render_text(opened(page), fenced=fenced).splitlines()
        assert [one for one in lines if one.startswith(("Published", "Updated"))] == ([line] if line else [])


async def test_little_room_is_a_valid_wish_and_the_frame_is_small(world: World) -> None:
    config = Settings.model_validate({"storage": {"url": "memory://"}, "policy": {"allowed_origins": world.origins}})
    url = f"{world.site('articles').url}/wiki/reciprocal-rank-fusion"
    bound = load_token_bound()
    async with Web(config) as web:
        result = await open_page_tool(web).call(url=url, query="which constant is usual?", max_tokens=150)
    text = render_text(result)
    assert result.status == "success", result.error
    assert "60" in text
    assert bound(text) <= 150
    assert isinstance(result, OpenPageToolResult)
    assert bound(text.replace(result.content, "")) <= 60
