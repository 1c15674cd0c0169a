"""Permission: rules as data, a question where they say so, and a refusal that a model can act on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from groundwire import Settings, Web
from groundwire.errors import PermissionDenied
from groundwire.integrations.hosts.codelia_search import local_search_tool
from groundwire.settings import PermissionSettings
from groundwire.settings.load import load
from groundwire.testing import EmulatedResponse, EmulatedServer, Recorded
from groundwire.tools import render_text, web_tools
from groundwire.tools.permissions import Answer, Permission, PermissionRequest, guarded, guarded_tools
from world import World

MakeSettings = Callable[..., Settings]


def rules(**values: Any) -> PermissionSettings:
    return PermissionSettings.model_validate(values)


@pytest.mark.req("K5")
@pytest.mark.parametrize(
    ("given", "tool", "arguments", "decision"),
    [
        ({}, "web_search", {"query": "x"}, "confirm"),
        ({}, "search", {"query": "x"}, "confirm"),
        ({"allow": "web_search"}, "web_search", {"query": "x"}, "allow"),
        ({"allow": "web_search"}, "open_page", {"url": "https://a.org/"}, "confirm"),
        ({"allow": "*"}, "open_page", {"url": "https://a.org/"}, "allow"),
        ({"allow": "open_page(a.org)"}, "open_page", {"url": "https://docs.A.org./x"}, "allow"),
        ({"allow": "open_page(a.org)"}, "open_page", {"url": "https://aa.org/"}, "confirm"),
        ({"allow": "open_page(a.org)"}, "open_page", {"url": "https://a.org@b.org/"}, "confirm"),
        ({"allow": "open_page(a.org)"}, "open_page", {"url": 3}, "confirm"),
        ({"allow": "web_search(a.org)"}, "web_search", {"query": "x"}, "confirm"),
        ({"allow": "web_search(a.org)"}, "web_search", {"query": "x", "allowed_domains": ["a.org"]}, "allow"),
        (
            {"allow": "web_search(a.org)"},
            "web_search",
            {"query": "x", "allowed_domains": ["a.org", "b.org"]},
            "confirm",
        ),
        ({"deny": "*(b.org)", "allow": "*"}, "web_search", {"allowed_domains": ["a.org", "x.b.org"]}, "deny"),
        ({"deny": "*(b.org)", "allow": "*"}, "web_search", {"query": "x"}, "allow"),
        ({"confirm": "open_page(a.org)", "allow": "open_page"}, "open_page", {"url": "https://a.org/"}, "confirm"),
        ({"deny": "open_page", "confirm": "*", "allow": "*"}, "open_page", {"url": "https://a.org/"}, "deny"),
        ({"default": "deny"}, "web_search", {"query": "x"}, "deny"),
        ({"default": "allow"}, "web_search", {"query": "x"}, "allow"),
    ],
)
def test_what_rules_say(given: dict[str, str], tool: str, arguments: dict[str, Any], decision: str) -> None:
    permission = Permission(rules(**given))
    assert permission.decide(tool, arguments)[0] == decision


@pytest.mark.req("K5")
@pytest.mark.parametrize(
    "rule", ["open page", "open_page()", "open_page(a b)", "(a.org)", "x(https://a.org/)", "a.b", "web_search@s"]
)
def test_a_rule_that_is_none_is_named(rule: str) -> None:
    with pytest.raises(ValueError, match=r"is not a rule|names no domain"):
        rules(allow=[rule])


def test_rules_from_the_environment() -> None:
    settings = load(environment={"GROUNDWIRE_PERMISSION_ALLOW": "web_search, open_page(python.org)"})
    assert settings.permission.allow == ("web_search", "open_page(python.org)")
    with pytest.raises(ValueError, match=r"permission\.deny: .*is not a rule"):
        load(environment={"GROUNDWIRE_PERMISSION_DENY": "open page"})


@pytest.mark.req("K5")
async def test_without_anybody_to_ask_a_call_is_refused_and_says_so(settings: MakeSettings, world: World) -> None:
    async with Web(settings()) as web:
        search, page = guarded_tools(web)
        found = await search.call(query="rank fusion")
        opened = await page.call(url=world.site("docs").url)
        local = await guarded(local_search_tool(web), Permission()).call(query="rank fusion")
    for result in (found, opened, local):
        assert result.status == "error"
        assert "Permission denied" in result.error
        assert "no one can confirm it" in result.error
        assert "go on without it" in render_text(result)
        assert '"status":"error"' in result.model_dump_json()
    assert world.searxng.requests == []


@pytest.mark.req("K5")
@pytest.mark.parametrize("waits", [True, False])
@pytest.mark.parametrize(("answer", "allowed"), [(True, True), ("allow", True), (False, False), ("deny", False)])
async def test_somebody_is_asked(
    settings: MakeSettings, world: World, waits: bool, answer: Answer, allowed: bool
) -> None:
    heard: list[PermissionRequest] = []

    def ask(request: PermissionRequest) -> Answer:
        heard.append(request)
        return answer

    async def wait(request: PermissionRequest) -> Answer:
        await asyncio.sleep(0)
        return ask(request)

    async with Web(settings()) as web:
        search, _ = guarded_tools(web, Permission(ask=wait if waits else ask))
        result = await search.call(query="rank fusion", allowed_domains=["a.org"])
    assert (result.status == "success") == allowed
    (request,) = heard
    assert (request.tool, request.domains) == ("web_search", ("a.org",))
    assert request.arguments["query"] == "rank fusion"
    assert "confirm" in request.reason


async def test_always_is_asked_once_for_each_domain(settings: MakeSettings, world: World) -> None:
    heard: list[str] = []

    def ask(request: PermissionRequest) -> Answer:
        heard.append(request.tool)
        return "always"

    async with Web(settings()) as web:
        search, page = guarded_tools(web, Permission(ask=ask))
        await search.call(query="one")
        await search.call(query="two")
        await search.call(query="two", allowed_domains=["a.org"])
        await page.call(url=world.site("docs").url)
    assert heard == ["web_search", "web_search", "open_page"]


@pytest.mark.req("K5")
async def test_nobody_answers_and_a_question_that_breaks() -> None:
    async def never(request: PermissionRequest) -> Answer:
        await asyncio.Event().wait()
        return True

    def broken(request: PermissionRequest) -> Answer:
        raise RuntimeError("no window")

    for ask, said in ((never, "no one answered"), (broken, "confirmation failed"), (lambda _: None, "the user denied")):
        permission = Permission(rules(confirm_timeout=0.01), ask=ask)  # type: ignore[arg-type]  # one answers nothing
        with pytest.raises(PermissionDenied, match=said):
            await permission.check("web_search", {"query": "x"})
    task = asyncio.ensure_future(Permission(ask=never).check("web_search", {}))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize("turns", range(12))
async def test_a_call_that_is_canceled_while_it_is_allowed_is_canceled(turns: int) -> None:
    async def soon(request: PermissionRequest) -> Answer:
        for _ in range(3):
            await asyncio.sleep(0)
        return True

    task = asyncio.ensure_future(Permission(ask=soon).check("web_search", {}))
    for _ in range(turns):
        await asyncio.sleep(0)
    asked = task.cancel()  # no if it was done
    await asyncio.wait({task})
    assert task.cancelled() == asked


class Elsewhere(EmulatedServer):
    """A site that sends everybody on."""

    def __init__(self, target: str) -> None:
        super().__init__("elsewhere")
        self.target = target

    def handle(self, request: Recorded) -> EmulatedResponse:
        return EmulatedResponse.redirect(self.target)


@pytest.mark.req("K5")
async def test_a_redirect_needs_the_permission_of_where_it_leads(settings: MakeSettings) -> None:
    with World(named=True) as world:
        site = world.add(Elsewhere(world.site("docs").named_url + "/en/stable/quickstart.html"))
        made = settings(policy={"allowed_origins": world.origins})
        async with Web(made, resolver=world.resolver) as web:
            for allow, status in (("open_page(elsewhere.test)", "error"), ("open_page(test)", "success")):
                _, page = guarded_tools(web, Permission(rules(allow=allow)))
                result = await page.call(url=site.named_url)
                assert result.status == status, result
                assert ("no one can confirm it" in result.error) == (status == "error")


@pytest.mark.req("K5")
async def test_the_annotations_agree(settings: MakeSettings) -> None:
    async with Web(settings()) as web:
        plain = (*web_tools(web), local_search_tool(web))
        for tool in plain:
            kept = guarded(tool, Permission())
            assert kept.annotations == tool.annotations
            assert (kept.name, kept.definition()) == (tool.name, tool.definition())
            assert tool.annotations["readOnlyHint"]  # it changes nothing, and
            assert tool.annotations["openWorldHint"]  # it tells the world what is looked for: hosts ask before that
