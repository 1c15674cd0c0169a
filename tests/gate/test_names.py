"""One word per concept: what a class, a module and a text may be called."""

from __future__ import annotations

import ast
import graphlib
import io
import re
import tokenize
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "groundwire"
SERVER = ROOT / "packages" / "groundwire-server"
MODULES = sorted([*PACKAGE.rglob("*.py"), *(SERVER / "src").rglob("*.py")])

CONTRACTS = frozenset(
    {"OpenPageToolResult", "SearchResultItem", "ToolDefinition", "WebSearchToolResult"}
)  # host applications fix these names for their own shapes of what our tools have, too

FORMER_MODULES = frozenset(Path(__file__).with_name("former_modules.txt").read_text("utf-8").split())
"""Names of modules that said nothing to a stranger; the modules have others now."""

PHRASES = {
    re.compile(rf"\b(?:{pattern})"): instead
    for line in Path(__file__).with_name("phrases.txt").read_text("utf-8").splitlines()
    if line and not line.startswith("#")
    for pattern, instead in [line.split("  ", 1)]
}
"""Phrases that no text uses, and what to write instead: a newcomer would not know them, or would not look for them."""

VOCABULARIES = frozenset({"lexicon", "phrases", "text_features", "vocabulary"})
"""Modules of words that web pages use: no prose."""

ANY_PHRASE = re.compile(r"\b(?:" + "|".join(pattern.pattern.removeprefix(r"\b") for pattern in PHRASES) + ")")

UNPUBLISHED = re.compile(r"\bdocuments? [A-Z]\b(?![.'’]\w)|\brows? [A-Z]\d+\b")

MAX_SERVICE = 150  # lines of a provider over the base of HTTP APIs: facts, two mappings, and an error table
LONGER_SERVICES = {"brave": 201, "firecrawl": 174, "jina": 210}  # to be shortened, never to be raised


def short(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def classes(path: Path) -> set[str]:
    return {node.name for node in ast.walk(parsed(path)) if isinstance(node, ast.ClassDef)}


READ_ONLY = re.compile(r"(Final\[)?(Mapping|Sequence|Collection|AbstractSet)\[")


def changeable(module: ast.Module) -> list[str]:
    """Return the names at module level that hold a dict, a list or a set which somebody might change."""
    return [
        target.id
        for node in module.body
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and _is_container(node.value)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name) and target.id != "__all__"
        if not (isinstance(node, ast.AnnAssign) and READ_ONLY.match(ast.unparse(node.annotation)))
    ]


def _is_container(value: ast.expr | None) -> bool:
    match value:
        case ast.Dict() | ast.List() | ast.Set() | ast.DictComp() | ast.ListComp() | ast.SetComp():
            return True
        case ast.Call(func=ast.Name(id=name)):
            return name in {"dict", "list", "set", "defaultdict", "Counter", "deque", "OrderedDict"}
        case ast.BinOp(left=left):
            return _is_container(left)
    return False


@pytest.mark.xdist_group("modules")
def test_a_class_name_means_one_thing() -> None:
    places: defaultdict[str, list[str]] = defaultdict(list)
    for path in MODULES:
        for name in classes(path):
            places[name].append(short(path))
    shared = {name: where for name, where in places.items() if len(where) > 1 and name not in CONTRACTS}
    assert shared == {}, "Give each of these classes a name of its own"


@pytest.mark.xdist_group("modules")
def test_nothing_at_module_level_can_be_changed() -> None:
    found = [f"{short(path)}: {name}" for path in MODULES for name in changeable(parsed(path))]
    assert found == [], "Write a tuple, a frozenset or a MappingProxyType, or annotate it as Final[Mapping[...]]"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (
            "A = {}\nB: dict[str, int] = {'a': 1}\nC: Final = [1]\nD = {1} | {2}\nE = set()\nF = dict(a=1)",
            list("ABCDEF"),
        ),
        ("A = MappingProxyType({})\nB: Final[Mapping[str, int]] = {'a': 1}\nC = (1,)\nD = frozenset() | {1}", []),
        ("__all__ = ['a']\ndef f():\n    a = {}", []),
    ],
)
def test_the_check_of_module_level_sees_them(text: str, names: list[str]) -> None:
    assert changeable(ast.parse(text)) == names


def test_no_module_has_a_name_of_the_former_vocabulary() -> None:
    assert [short(path) for path in MODULES if path.stem in FORMER_MODULES or path.parent.name in FORMER_MODULES] == []


@pytest.mark.parametrize(
    "folder", ["src", "packages", "docs", "tests", "benchmarks", "examples", "README.md", "CHANGELOG.md"]
)
def test_no_text_cites_a_document_that_the_repository_does_not_hold(folder: str) -> None:
    place = ROOT / folder
    files = [place] if place.is_file() else [one for one in place.rglob("*") if one.suffix in {".py", ".md", ".toml"}]
    files = [file for file in files if "node_modules" not in file.parts]
    cited = [
        f"{short(file)}:{text.count(chr(10), 0, found.start()) + 1}: {found.group()}"
        for file in files
        if file != Path(__file__) and "__pycache__" not in file.parts
        for text in [file.read_text("utf-8", "replace")]
        for found in UNPUBLISHED.finditer(text)
    ]
    assert cited == [], "Name the host application or the reason instead"


def texts_of(part: str) -> Iterator[tuple[Path, Iterable[tuple[int, str]]]]:
    """Yield the files of a part of the repository in which a phrase occurs, with the lines that somebody reads."""
    if part == "src":
        folders = PACKAGE, SERVER / "src"
        paths = [path for folder in folders for path in folder.rglob("*") if path.suffix in {".html", ".js", ".py"}]
    elif part == "server":
        paths = [*SERVER.glob("*.md")]
    elif part == "docs":
        paths = [path for path in (ROOT / "docs").rglob("*") if path.suffix in {".1", ".md"}]
    else:
        paths = [ROOT / part]
    for path in paths:
        text = path.read_text("utf-8").lower()
        if path.stem not in VOCABULARIES and ANY_PHRASE.search(text):
            yield path, prose_of(text) if path.suffix == ".py" else enumerate(text.splitlines(), 1)


def prose_of(code: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a module's comments, of its docstrings, and of its other texts of more than one word."""
    for token in tokenize.generate_tokens(io.StringIO(code).readline):
        is_text = token.type in {tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", -1)} and " " in token.string
        if is_text or token.type == tokenize.COMMENT:
            yield from enumerate(token.string.split("\n"), token.start[0])


@pytest.mark.parametrize(
    "part", ["src", "docs", "server", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"]
)
def test_texts_use_the_words_of_the_glossary(part: str) -> None:
    found = [
        f"{short(path)}:{number}: {match.group()!r}, write: {instead}"
        for path, lines in texts_of(part)
        for number, line in lines
        for pattern, instead in PHRASES.items()
        for match in pattern.finditer(line)
    ]
    assert found == []


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("Nobody is told what is kept.", 3),
        ("A mended word stands in the place of another.", 3),
        ("The firewall recommends it; no one can be told apart.", 0),
    ],
)
def test_the_check_of_phrases_sees_them(text: str, number: int) -> None:
    assert sum(len(pattern.findall(text.lower())) for pattern in PHRASES) == number


@pytest.mark.parametrize("package", ["groundwire", "groundwire_server"])
def test_modules_import_each_other_in_no_cycle(package: str) -> None:
    graph = grimp.build_graph(package, exclude_type_checking_imports=True, cache_dir=None)
    order = graphlib.TopologicalSorter(
        {module: graph.find_modules_directly_imported_by(module) - {module} for module in graph.modules}
    )
    order.prepare()  # raises CycleError, which names the modules


TOGETHER = ("components", "documentation", "real", "release")
"""Folders of tests of both distributions together; the library's own tests need no server."""


def test_the_librarys_tests_need_no_server() -> None:
    tests = [path for path in (ROOT / "tests").rglob("*.py") if path.relative_to(ROOT).parts[1] not in TOGETHER]
    needs = re.compile(r"^\s*(?:from|import) groundwire_server\b", re.MULTILINE)
    assert [short(path) for path in tests if needs.search(path.read_text("utf-8"))] == []


def test_a_service_fits_on_a_page() -> None:
    texts = {path.stem: path.read_text("utf-8") for path in (PACKAGE / "providers").glob("*.py")}
    lines = {name: text.count("\n") for name, text in texts.items() if re.search(r"\((Search|Read)ApiProvider\b", text)}
    assert len(lines) > 12
    assert {name: n for name, n in lines.items() if n > LONGER_SERVICES.get(name, MAX_SERVICE)} == {}


@pytest.mark.parametrize(
    ("text", "cited"),
    [
        ("the chain of document H", True),
        ("bounded (row B4)", True),
        ("documents C and K", True),
        ("a document A.txt", False),
        ("the document and its rows", False),
        ("row 4 of the table", False),
    ],
)
def test_the_check_of_citations_sees_them(text: str, cited: bool) -> None:
    assert bool(UNPUBLISHED.search(text)) is cited
