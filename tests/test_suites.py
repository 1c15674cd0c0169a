"""Suites of other projects, run by `benchmarks/suites.py` on tiny folders in their layouts."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.req("B45")
ROOT = Path(__file__).parents[1]
TEXT = (
    "The bell of the old town was cast in the spring of that year, and it still rings every evening at six.",
    "Its founder came from the coast, and brought with him four workers, a cart of tin, and a cart of copper.",
)
PAGE = f"""<!doctype html><html lang="en"><head><title>The bell of the old town</title>
<meta name="author" content="Ada Berg"><meta property="article:published_time" content="2024-05-06T08:00:00Z"></head>
<body><nav><a href="/">Start</a> <a href="/shop">Shop</a></nav>
<article><h1>The bell of the old town</h1><p>{TEXT[0]}<sup><a href="#fn-1">1</a></sup></p><p>{TEXT[1]}</p>
<section class="footnotes"><ol><li id="fn-1">From the book of the founder.</li></ol></section></article></html>"""
MARKDOWN = f"# The bell of the old town\n\n{TEXT[0]}[^1]\n\n{TEXT[1]}\n\n[^1]: From the book of the founder.\n"
STATED = {"title": "The bell of the old town", "author": "Ada Berg", "published": "2024-05-06"}
OTHERS = {"title": "A lamp", "author": "Bo Lind", "published": "2023-01-02"}


def write(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")


def rows(python: Path, name: str, folder: Path, path: str = "") -> dict[str, str]:
    """Run a suite and return its table: cases and our figure by measure."""
    environment = os.environ | {"PATH": f"{path}{os.pathsep}{os.environ['PATH']}"}
    command = [str(python), "-m", "benchmarks.suites", name, str(folder)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in done.stdout.splitlines()[2:]]
    assert {line[0] for line in cells} == {name}
    return {line[1]: f"{line[2]}: {line[3]}".strip() for line in cells}


def test_readability(tmp_path: Path, warm_python: Path) -> None:
    for name, stated, text in (("right", STATED, MARKDOWN.replace("[^1]", "1")), ("wrong", OTHERS, "xylophone")):
        folder = tmp_path / "test" / "test-pages" / name
        write(folder / "source.html", PAGE)
        write(folder / "expected.html", f"<div>{text}</div>")
        known = {"title": stated["title"], "byline": stated["author"], "publishedTime": stated["published"]}
        write(folder / "expected-metadata.json", json.dumps(known))
    right = "2: 1 (1 wrong)"
    found = rows(warm_python, "readability", tmp_path)
    assert found == {"word F1": "2: 0.500", "title right": right, "author right": right, "date right": right}


def test_defuddle(tmp_path: Path, warm_python: Path) -> None:
    wrong = "Xylophone[^1] xylophone[^2] xylophone[^3]\n\n[^1]: xylophone"
    for name, stated, text in (("right", STATED, MARKDOWN), ("wrong", OTHERS, wrong), ("unmarked", {}, "xylophone")):
        write(tmp_path / "tests" / "fixtures" / f"{name}.html", PAGE)
        write(tmp_path / "tests" / "expected" / f"{name}.md", f"```json\n{json.dumps(stated)}\n```\n\n{text}")
    right = "2: 1 (1 wrong)"
    found = rows(warm_python, "defuddle", tmp_path)
    assert found.pop("footnote marks kept") == "4: 0.50"
    assert 0.33 <= float(found.pop("word F1").removeprefix("3: ")) < 0.37  # the label of the mark is a word of both
    assert found == {"title right": right, "author right": right, "date right": right}


def test_markitdown(tmp_path: Path, warm_python: Path) -> None:
    write(tmp_path / "tests" / "test_files" / "bells.csv", "town,year\nOld Town,1603\n")
    known: dict[str, object] = {"filename": "bells.csv", "mimetype": "text/csv", "charset": "utf-8", "url": None}
    known |= {"must_not_include": [], "must_include": ["| town | year |", "| Old Town | 1603 |", "| Old Town | 1604 |"]}
    arguments = ", ".join(f"{key}={value!r}" for key, value in known.items())
    vectors = f"raise SystemExit('not to be run')\nGENERAL_TEST_VECTORS = [FileTestVector({arguments})]\n"
    write(tmp_path / "tests" / "_test_vectors.py", vectors)
    assert rows(warm_python, "markitdown", tmp_path) == {"strings included": "3: 2"}


def test_htmldate(tmp_path: Path, warm_python: Path) -> None:
    write(tmp_path / "tests" / "cache" / "right.html", PAGE)
    write(tmp_path / "tests" / "eval" / "wrong.html", PAGE)
    entries: dict[str, tuple[str, str | float]] = {
        "right": ("right.html", "2024-05-06"),
        "wrong": ("wrong.html", "2024-05-07"),
        "lost": ("lost.html", "2"),
    }
    entries["none"] = ("right.html", math.nan)  # as the evaluation has it
    known = {f"https://{name}.example/": {"file": file, "date": day} for name, (file, day) in entries.items()}
    write(tmp_path / "tests" / "eval_default.json", json.dumps(known))
    assert rows(warm_python, "htmldate", tmp_path) == {"date right": "2: 1 (1 wrong)"}


def test_trafilatura(tmp_path: Path, warm_python: Path) -> None:
    write(tmp_path / "tests" / "cache" / "bell.html", PAGE)
    required = ["cast in the  spring", "came from the coast", "xylophone", "a cart of gold"]
    entry = {"file": "bell.html", "with": required, "without": ["rings every evening", "Shop"]}
    write(tmp_path / "tests" / "evaldata.json", json.dumps({"https://bell.example/": entry}))
    assert rows(warm_python, "trafilatura", tmp_path) == {"passages: precision, recall, F1": "4: 0.667 0.500 0.571"}


def test_urls(tmp_path: Path, warm_python: Path) -> None:
    cases = [
        "a comment",
        {"input": "../c", "base": "http://a.example/b/", "href": "http://a.example/c"},
        {"input": "http://a.example/d", "base": None, "href": "http://a.example/d"},
        {"input": "http://a.example/?", "base": None, "href": "http://a.example/?"},
        {"input": "http:\\\\a.example/", "base": None, "href": "http://a.example/"},
        {"input": "http://a b/", "base": None, "failure": True},
        {"input": "mailto:someone", "base": None, "href": "mailto:someone"},
        {"input": "/x", "base": "file:///y", "href": "file:///x"},
    ]
    write(tmp_path / "urltestdata.json", json.dumps(cases))
    assert rows(warm_python, "url", tmp_path) == {
        "http and https": "4: 2 equal, 1 refused, 1 different",
        "to be refused": "2: 2 refused",
    }


def test_mcp(tmp_path: Path, warm_python: Path) -> None:
    script = f"""#!{sys.executable}
import json, sys, urllib.request
assert "@modelcontextprotocol/conformance@" in " ".join(sys.argv)
asked = {{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {{"protocolVersion": "2025-06-18",
    "capabilities": {{}}, "clientInfo": {{"name": "check", "version": "1"}}}}}}
headers = {{"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}}
url = sys.argv[sys.argv.index("--url") + 1]
with urllib.request.urlopen(urllib.request.Request(url, json.dumps(asked).encode(), headers)) as answer:
    passed = int(b"serverInfo" in answer.read())
print(f"+ server-initialize: {{passed}} passed, 0 failed\\n- ping: 0 passed, 1 failed")
print("- tools-call-image: 0 passed, 1 failed\\n\\nTotal: 1 passed, 2 failed")
"""
    write(tmp_path / "npx", script)
    (tmp_path / "npx").chmod(0o700)
    found = rows(warm_python, "mcp", tmp_path, str(tmp_path))
    assert found == {"checks that apply": "2: 1 passed", "of the suite's own tools and resources": "1:"}


def test_a_folder_in_another_layout(tmp_path: Path, warm_python: Path) -> None:
    for name in ("readability", "defuddle", "markitdown", "htmldate", "trafilatura", "url"):
        command = [str(warm_python), "-m", "benchmarks.suites", name, str(tmp_path)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 1, name
        assert str(tmp_path) in done.stderr, name
        assert "Traceback" not in done.stderr, name
