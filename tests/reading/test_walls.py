"""What stands in front of pages, and pages that look like it, through the whole way of `open_page`.

`walls.jsonl` has answers in the manner of real services in many languages, `pages_like_walls.jsonl` pages that share
their words, their forms or their scripts; the sentences are ours.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from components.application import Application
from groundwire import Settings, Web
from groundwire.errors import GroundwireError, PageBlocked, PageEmpty, PageNeedsScripts, PageRefused, PageUnavailable
from groundwire.reading.block_pages.classify import soft_block
from groundwire.reading.block_pages.signatures import PageSentences
from groundwire.testing import EmulatedResponse, Recorded
from groundwire.testing.server import EmulatedServer
from groundwire.tools.conversions import for_model
from world import World

pytestmark = pytest.mark.req("B2", "Y15")
HERE = Path(__file__).parent
NOT_FREE = "the site says that this page is not free"


def cases(name: str) -> list[dict[str, Any]]:
    with (HERE / name).open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


class Street(EmulatedServer):
    """A server that answers with the cases."""

    def __init__(self, answers: list[dict[str, Any]]) -> None:
        super().__init__("street")
        self._answers = {answer["path"]: answer for answer in answers}

    def handle(self, request: Recorded) -> EmulatedResponse:
        answer = self._answers[request.target]
        return EmulatedResponse(
            status=answer.get("status", 200),
            headers=answer["headers"],
            body=answer["markup"].encode(),
            content_type="text/html; charset=utf-8",
        )


async def seen(web: Web, url: str) -> tuple[str, str]:
    """Return how opening a page ends, and what an agent gets to read."""
    try:
        page = await web.open_page(url)
    except PageNeedsScripts as error:
        return "shell", for_model(error)
    except PageBlocked as error:
        return "blocked", for_model(error)
    except PageRefused as error:
        return "blocked" if error.status in {403, 429, 451} else "refused", for_model(error)
    except PageUnavailable as error:
        return "unavailable", for_model(error)
    except GroundwireError as error:
        return type(error).__name__, for_model(error)
    told = any(warning.startswith(NOT_FREE) for warning in page.warnings)
    return "remark" if told else "content", page.content


async def test_no_wall_is_shown_as_a_page(world: World, settings: Callable[..., Settings]) -> None:
    walls = cases("walls.jsonl")
    street = world.add(Street(walls))
    wrong = {}
    async with Web(settings(policy={"allowed_origins": (street.url,)})) as web:
        for wall in walls:
            end, said = await seen(web, street.url + wall["path"])
            helps = end == "remark" or "pen another page" in said or "ry again later" in said
            if end != wall["is"] or not helps:
                wrong[wall["name"]] = (end, said[:200])
    assert wrong == {}


async def test_no_page_is_taken_for_a_wall(world: World, settings: Callable[..., Settings]) -> None:
    pages = cases("pages_like_walls.jsonl")
    street = world.add(Street(pages))
    wrong = {}
    async with Web(settings(policy={"allowed_origins": (street.url,)})) as web:
        for page in pages:
            end, said = await seen(web, street.url + page["path"])
            if end != "content" or page["says"] not in said:
                wrong[page["name"]] = (end, said[:200])
    assert wrong == {}


def test_a_form_to_log_in_above_a_page_that_gave_no_text_is_no_login_wall() -> None:
    markup = "<form>Log in <input type=password></form><div id=thread></div>"
    assert soft_block({}, "https://forum.example/t/12", markup, title="Wheels that creak", content="") is None


@pytest.mark.parametrize(
    ("content", "rest"),
    [
        ("Please verify your browser.", 0),
        ("Please verify your browser. The mill grinds rye.", 4),
        ("[Home](/a) [Shop](/b)\n\nThe mill grinds rye.", 4),
        ("# The mill\n\nRye.", 3),
    ],
)
def test_the_rest_is_what_a_wall_would_not_say(content: str, rest: int) -> None:
    assert PageSentences("", content).other_words() == rest


@pytest.mark.parametrize("case", [str, str.upper, str.title])
@pytest.mark.parametrize(
    "message",
    [
        "verify you are human",
        "i\u0307ste\u011finiz engellendi",
        "ip\u30a2\u30c9\u30ec\u30b9\u304c\u5236\u9650\u3055\u308c\u307e\u3057\u305f",
    ],
)
def test_a_message_is_found_in_letters_of_any_case(message: str, case: Callable[[str], str]) -> None:
    text = case(message).replace("I\u0307", "\u0130").replace("i\u0307", "i")
    assert soft_block({}, "https://a.example/", "", title="", content=text) is not None


@pytest.mark.parametrize(
    ("reply", "kind", "said"),
    [
        (EmulatedResponse(status=401), PageRefused, "requires a login|Only people with an account"),
        (EmulatedResponse(status=402), PageRefused, "requires payment"),
        (EmulatedResponse(status=429), PageRefused, "Try again in a few minutes"),
        (EmulatedResponse(status=451), PageRefused, "legal reasons"),
        (EmulatedResponse(status=999), PageRefused, "by programs"),
        (
            EmulatedResponse.html("<title>Old mill</title>"),
            PageEmpty,
            'HTTP 200, 23 bytes, text/html.*"Old mill".*browser',
        ),
        (EmulatedResponse(body=b"\n", content_type="text/csv"), PageEmpty, r"1 byte, text/csv\)\.$"),
        (
            EmulatedResponse.html(f"<div {' '.join(f'a{n}=1' for n in range(300_000))}><p>x"),
            PageEmpty,
            "only its beginning",
        ),
    ],
)
async def test_what_gives_nothing_says_what_it_was_and_what_to_do(
    world: World, settings: Callable[..., Settings], reply: EmulatedResponse, kind: type[GroundwireError], said: str
) -> None:
    site = world.add(Application())
    site.pages["/page"] = reply
    async with Web(settings(policy={"allowed_origins": (site.url,)})) as web:
        with pytest.raises(kind, match=said):
            await web.open_page(f"{site.url}/page")
