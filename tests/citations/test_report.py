"""The report as text, HTML and data, links to the sentence, and the code of the guide."""

from __future__ import annotations

import ast
import asyncio
import json
import re
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import html as parser

from groundwire.citations import CHANNELS, ChannelName, render_answer
from groundwire.citations.verify import CitedPage, report_html, report_json, report_text, verify_answer
from groundwire.citations.verify.report import Verdict
from groundwire.models import Source
from world import World

GUIDE = (Path(__file__).resolve().parents[2] / "docs" / "guides" / "citations.md").read_text()
BLOCK, _JUDGE, ASKING, STREAMING = re.findall(r"^```python\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)
CONTENT = (
    "# Well-known towers\n\nThe **tower** is 324 metres tall. It has [three floors](https://x.example/a-b).\n\n"
    "- PULL&BEAR, the shop, sells hats, caps and e-bikes - cheaply.\n- It has a lift.\n\nElsewhere it has a lift.\n"
)
PAGE = CitedPage(number=1, url="https://tower.example/a#top", title="Tower", content=CONTENT)
ANSWER = (
    "The tower is 342 metres tall [1]. It has three floors [1]. <script>alert(1)</script> is known in Rome [7]. Well?"
)


class TestReport:
    """What was found, for people and for programs."""

    @pytest.mark.req("B9")
    def test_as_text(self) -> None:
        text = report_text(verify_answer(ANSWER, [PAGE]))
        assert "≠ contradicted: The tower is 342 metres tall [1]." in text
        assert "number: the answer says “342 metres”, [1] says “324 metres”" in text
        assert "✓ supported by [1]: It has three floors [1]." in text
        assert "1 supported, 1 contradicted, 1 source unknown, 1 nothing to check." in text

    @pytest.mark.req("B9")
    def test_as_html(self) -> None:
        page = report_html(verify_answer(ANSWER, [PAGE]), ANSWER, title="<Tower>")
        tree = parser.document_fromstring(page)
        assert not tree.xpath("//script | //link | //img | //@onclick")
        assert tree.xpath("string(//div[@class='answer'])") == ANSWER
        assert tree.xpath("//mark/@class") == ["contradicted", "supported", "unknown_source"]
        assert [cell.text_content() for cell in tree.xpath("//tbody//td")] == ["342 metres", "324 metres"]
        assert {link[1:] for link in tree.xpath("//mark/a/@href")} == set(tree.xpath("//li/@id"))
        assert tree.xpath("string(/html/@lang)") == "en"
        assert tree.xpath("string(//title)") == "<Tower>"
        assert "prefers-color-scheme:dark" in page

    @given(answer=st.text(alphabet=st.characters(exclude_categories=["Cs", "Cc"])))
    def test_html_shows_any_answer_as_it_is(self, answer: str) -> None:
        page = report_html(verify_answer(f"<a>{answer} [1]", [PAGE]), f"<a>{answer} [1]")
        assert parser.document_fromstring(page).xpath("string(//div[@class='answer'])") == f"<a>{answer} [1]"

    def test_as_data(self) -> None:
        data = json.loads(json.dumps(report_json(verify_answer(ANSWER, [PAGE]))))
        assert data["supported"] is False
        assert data["counts"] == {"supported": 1, "contradicted": 1, "unknown_source": 1, "no_claim": 1}
        (one,) = data["findings"][0]["disagreements"]
        assert {"kind": "number", "claimed": "342 metres", "stated": "324 metres", "source": 1}.items() <= one.items()
        assert ANSWER[one["claimed_start"] : one["claimed_end"]] == "342 metres"
        assert CONTENT[one["stated_start"] : one["stated_end"]] == "324 metres"
        assert data["findings"][0]["reason"] == "The answer says “342 metres”, [1] says “324 metres”."
        assert data["unknown"] == [7]


def test_an_empty_answer_has_nothing_to_check() -> None:
    assert report_text(verify_answer("", [])) == "There is nothing to check."


BRIDGE = "The stone bridge of Holm has 14 arches and was built in 1750. It is closed to cars."


@pytest.mark.req("B9")
@pytest.mark.parametrize(
    ("sentence", "reason"),
    [
        ("The stone bridge of Holm has 14 arches", "[1] says it in the same words."),
        (
            "Holm's stone bridge, with 14 arches, was built in 1750",
            "[1] has a passage that says it, judged by the words.",
        ),
        ("The stone bridge of Holm has 12 arches", "The answer says “12”, [1] says “14”."),
        ("The stone bridge of Holm was not built in 1750", "The answer denies it, and [1] does not."),
        (
            "The bridge of Holm is “loved by all tourists from Spain”",
            "[1] does not have the quotation “loved by all tourists from Spain”.",
        ),
        ("Tourists from Spain like warm bread", "[1] has no passage that says it, judged by the words."),
    ],
)
def test_the_reason_is_one_sentence(sentence: str, reason: str) -> None:
    (finding,) = verify_answer(f"{sentence} [1].", [CitedPage(number=1, url="", content=BRIDGE)]).findings
    assert finding.reason == reason


@pytest.mark.req("B9")
def test_no_word_accuses_a_sentence_that_is_not_found() -> None:
    report = verify_answer("Tourists from Spain like the bridge [1].", [CitedPage(number=1, url="", content=BRIDGE)])
    shown = report_text(report) + report_html(report, "") + json.dumps(report_json(report))
    assert "not found" in shown
    assert not re.search("altered|wrong|false claim|invented", shown.replace("color-scheme", ""))
    assert "nearest in [1]: " in report_text(report)


def test_a_sentence_that_is_only_code_states_nothing() -> None:
    answer = (
        "The size is set with it. `rows[12] = Paris` `code`\n\n`rows[12] = Paris`.\n\nIn `rows`, Paris has 12 seats."
    )
    found = {finding.text: finding.verdict for finding in verify_answer(answer, []).findings}
    assert found["`rows[12] = Paris`."] == "no_claim"
    assert found["In `rows`, Paris has 12 seats."] == "uncited"


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("## The Harbor Museum in 1987", "no_claim"),
        ("**The Harbor Museum**", "no_claim"),
        ("**Opening of the Harbor Museum:**", "no_claim"),
        ("- Harbor Museum", "no_claim"),
        ("**The Harbor Museum opened in 1987.**", "uncited"),
        ("**Opened:** 1987", "no_claim"),
        ("## It opened in 1978 [1]", "contradicted"),
    ],
)
def test_a_heading_or_a_name_alone_states_nothing(text: str, verdict: str) -> None:
    page = CitedPage(number=1, url="", content="The Harbor Museum opened in 1987.")
    assert [one.verdict for one in verify_answer(text, [page]).findings] == [verdict]


@pytest.mark.parametrize("channel", ["markdown", "plain"])
def test_a_rendered_answer_is_verified_like_the_one_with_markers(channel: ChannelName) -> None:
    content = ("The museum opened in 1987.", "Dogs are not allowed.")
    pages = [CitedPage(number=at, url="", content=text) for at, text in enumerate(content, start=1)]
    sources = [Source(citation_id=at, url=f"https://example.com/{at}", title="Museum (city)") for at in (1, 2)]
    answer = "The museum opened in 1978 [1]. Dogs are not allowed [1, 2]. The museum opened in 1987 [1][2]."
    shown = render_answer(answer, sources, channel).text
    found, expected = (
        [(one.verdict, one.sources, one.unsupporting) for one in verify_answer(text, pages).findings]
        for text in (shown, answer)
    )
    assert found == expected
    assert [verdict for verdict, _, _ in found] == ["contradicted", "supported", "supported"]


def test_a_bracket_in_a_formula_is_no_marker() -> None:
    (finding,) = verify_answer("The term $x[1]$ is large.", [CitedPage(number=1, url="", content="It rains.")]).findings
    assert finding.sources == ()


def test_a_contradiction_is_told_before_what_is_not_found() -> None:
    pages = [CitedPage(number=1, url="", content="The museum opened in 1950. It has a red roof.")]
    (finding,) = verify_answer("The museum opened in 1951 [1] and employs many clerks from Spain [1].", pages).findings
    assert (finding.verdict, [one.stated for one in finding.disagreements]) == ("contradicted", ["1950"])


@pytest.mark.req("B9", "Y12")
async def test_the_python_of_the_guide_runs(world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GROUNDWIRE_SEARCH_PROVIDERS", "searxng")
    monkeypatch.setenv("GROUNDWIRE_PROVIDERS_SEARXNG_BASE_URL", world.searxng.url)
    monkeypatch.setenv("GROUNDWIRE_POLICY_ALLOWED_ORIGINS", ",".join(world.origins))
    names: dict[str, Any] = {}
    await eval(compile(BLOCK, "citations.md", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), names)
    assert [finding.verdict for finding in names["report"].findings] == ["supported", "not_found"]
    assert "](http" in names["shown"]
    assert "not found" in names["html"]
    await asyncio.to_thread(exec, compile(ASKING, "citations.md", "exec"), names)
    assert names["answer"].report.supported
    await eval(compile(STREAMING, "citations.md", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), names)
    assert names["event"].answer.report.supported


def test_the_guide_names_all_channels_and_verdicts() -> None:
    for name in (*CHANNELS, *get_args(Verdict)):
        assert f"`{name}`" in GUIDE
