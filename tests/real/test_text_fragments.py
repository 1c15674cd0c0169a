"""Links to a passage in a real Chromium: the words that it highlights are those of the passage."""

from __future__ import annotations

import io
import re

import pytest
from PIL import Image
from playwright.async_api import Page, async_playwright

from components.chromium import executable_or_skip
from groundwire.citations import finding_links, fragment_link
from groundwire.citations.verify import CitedPage, verify_answer
from groundwire.reading.extract import extract

pytestmark = pytest.mark.req("B9")

URL = "https://mill.example/history"
MAGENTA = (255, 0, 255)
FILLER = "<p>Grain of the whole valley was ground here, and the road to the town was often full of carts.</p>" * 12
HTML = f"""<!doctype html><html lang="en"><head><title>The mill</title><style>
body {{ font: 20px/2 sans-serif }} ::target-text {{ background: rgb(255, 0, 255); color: rgb(255, 0, 255) }}
</style></head><body><article><h1>The mill of Holm</h1>
<p>The mill was built in 1804. It has three floors.</p>{FILLER}
<p>The <b>old</b> mill, a <a href="/x">listed building</a> &amp; landmark, burned in 1931, and it was rebuilt within two
years by its owner, the miller's <i>eldest</i> son.</p>{FILLER}
<p>The barn was built in 1804. It has three floors. Its price: 5 – 6 crowns (net), or “a cow and a half-year”.</p>
<ul><li>The wheel is 4.5 m wide.</li><li>The pond holds 900 m³ of water.</li></ul>
<table><tr><th>Year</th><th>Sacks</th></tr><tr><td>1850</td><td>4,100</td></tr><tr><td>1890</td><td>6,250</td></tr></table>
{FILLER}</article></body></html>"""
CITED = {
    "The mill was built in 1804": "The mill was built in 1804.",
    "The barn was built in 1804": "The barn was built in 1804.",
    "The old mill, a listed building & landmark, burned in 1931, and it was rebuilt within two years by its owner, "
    "the miller's eldest son": "The old mill, a listed building & landmark, burned in 1931, and it was rebuilt within "
    "two years by its owner, the miller's eldest son.",
    "The mill burned in 1931 and was rebuilt within two years by its owner": "The old mill, a listed building & "
    "landmark, burned in 1931, and it was rebuilt within two years by its owner, the miller's eldest son.",
    "The pond holds 900 m³ of water": "The pond holds 900 m³ of water.",
    "Its price: 5 – 6 crowns (net), or “a cow and a half-year”": "Its price: 5 – 6 crowns (net), or “a cow and a "
    "half-year”.",
}
_WORDS = """() => {
  const boxes = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    for (const found of walker.currentNode.data.matchAll(/\\S+/g)) {
      const range = document.createRange();
      range.setStart(walker.currentNode, found.index);
      range.setEnd(walker.currentNode, found.index + found[0].length);
      const box = range.getClientRects()[0];
      if (box) boxes.push([found[0], box.x + scrollX + box.width / 2, box.y + scrollY + box.height / 2]);
    }
  }
  return boxes;
}"""


async def highlighted(page: Page, link: str) -> str:
    """Return the words that a page highlights when a link is opened."""
    await page.goto("about:blank")
    await page.goto(link)
    shot = Image.open(io.BytesIO(await page.screenshot(full_page=True))).convert("RGB")
    words = [word for word, x, y in await page.evaluate(_WORDS) if shot.getpixel((int(x), int(y))) == MAGENTA]
    return " ".join(words)


async def test_the_words_of_the_passage_are_highlighted() -> None:
    extracted = extract(HTML, URL)
    cited = CitedPage(number=1, url=URL, title=extracted.title, content=extracted.content)
    executable = executable_or_skip()
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        page = await browser.new_page()
        await page.route(
            "https://mill.example/**", lambda route: route.fulfill(body=HTML, content_type="text/html; charset=utf-8")
        )
        assert await highlighted(page, URL) == ""
        for said, passage in CITED.items():
            report = verify_answer(f"{said} [1].", [cited])
            assert [finding.verdict for finding in report.findings] == ["supported"]
            shown = await highlighted(page, finding_links(report, [cited])[0])
            assert re.sub(r"\W+", " ", shown).strip() == re.sub(r"\W+", " ", passage).strip()
            assert await page.evaluate("scrollY > 0") == (passage != "The mill was built in 1804.")
        twice = "It has three floors."
        start = extracted.content.rindex(twice)
        shown = await highlighted(page, fragment_link(URL, extracted.content, start, start + len(twice)))
        assert shown == twice
        assert await page.evaluate("scrollY > 0"), "the second of them"
        await browser.close()
