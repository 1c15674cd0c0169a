"""The mutants: what is changed, that the tables are true, and that what nobody tests is seen."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import CodeType

import pytest

import mutants
from mutations import Mutation, mutations

CODE = '''
"""A module."""

LIMIT: int = 3


def decide(count: int, words: list[str], *, far: bool = False) -> bool:
    """Decide."""
    if count < LIMIT and not far:
        words.append("é")
    return count * 2 in (4, 5) or len(words) > 1
'''


def test_what_is_changed() -> None:
    changed = [(mutation.line, mutation.after) for mutation in mutations(CODE)]
    assert changed == [
        (4, "LIMIT: int = 4"),
        (4, "LIMIT: int = 2"),
        (7, "def decide(count: int, words: list[str], *, far: bool = True) -> bool:"),
        (9, "if not (count < LIMIT and not far):"),
        (9, "if False:"),
        (9, "if count <= LIMIT and not far:"),
        (9, "if count >= LIMIT and not far:"),
        (9, "if count < LIMIT or not far:"),
        (9, "if count < LIMIT and far:"),
        (11, "return None"),
        (11, "return count / 2 in (4, 5) or len(words) > 1"),
        (11, "return count * 3 in (4, 5) or len(words) > 1"),
        (11, "return count * 1 in (4, 5) or len(words) > 1"),
        (11, "return count * 2 not in (4, 5) or len(words) > 1"),
        (11, "return count * 2 in (5, 5) or len(words) > 1"),
        (11, "return count * 2 in (3, 5) or len(words) > 1"),
        (11, "return count * 2 in (4, 6) or len(words) > 1"),
        (11, "return count * 2 in (4, 4) or len(words) > 1"),
        (11, "return count * 2 in (4, 5) and len(words) > 1"),
        (11, "return count * 2 in (4, 5) or len(words) >= 1"),
        (11, "return count * 2 in (4, 5) or len(words) <= 1"),
        (11, "return count * 2 in (4, 5) or len(words) > 2"),
        (11, "return count * 2 in (4, 5) or len(words) > 0"),
    ]


def test_what_only_logs_is_not_changed() -> None:
    code = 'def load(rows):\n    _logger.info("%s rows", len(rows) - 1)\n    rows.clear()\n'
    assert [(mutation.line, mutation.before, mutation.after) for mutation in mutations(code)] == [
        (3, "rows.clear()", "pass")
    ]


def test_a_fate_is_kept_until_the_module_or_a_test_changes(tmp_path: Path) -> None:
    path, (first, second, *_) = tmp_path / "fates.jsonl", mutations(CODE)
    tests = ["tests/gate/test_mutants.py"]
    key = mutants.Journal.key(first, tests)
    mutants.Journal(path).add(key, "survived")
    assert mutants.Journal(path).get(key) == "survived"
    assert mutants.Journal(path).get(mutants.Journal.key(second, tests)) is None
    assert mutants.Journal(path).get(mutants.Journal.key(first, [*tests, "conftest.py"])) is None
    assert mutants.Journal(None).get(key) is None


def test_the_report_lists_what_survived_and_what_did_not_end(capsys: pytest.CaptureFixture[str]) -> None:
    one, two, three, four, *_ = mutations(CODE)
    module = "src/groundwire/routing/budget.py"
    fates: list[tuple[str, Mutation, mutants.Fate]] = [
        (module, one, "killed"),
        (module, two, "looped"),
        (module, three, "survived"),
        (module, four, "equivalent"),
    ]
    mutants.report(fates, 7)
    said = capsys.readouterr().out
    assert f"looped: 1\nlooped: {module}:4 \n    - LIMIT: int = 3\n    + LIMIT: int = 2\n" in said
    assert f"survived: {module}:7 decide\n" in said
    assert "routing: 2 of 3 killed" in said
    assert "seed 7: 4 mutants, 2 killed (1 of them looped, 0 stuck), 1 survived, 1 equivalent; killed 66.7%" in said


@pytest.mark.parametrize("module", mutants.table())
def test_each_mutant_is_a_module_that_differs(module: str) -> None:
    source = (mutants.ROOT / module).read_text()
    code = placeless(compile(source, module, "exec"))
    found = list(mutations(source))
    assert found
    for mutation in found[:: max(1, len(found) // 20)]:
        assert placeless(compile(mutation.source, module, "exec")) != code, mutation.after


def placeless(code: CodeType) -> CodeType:
    """Return code without the places in its source: text that only stands elsewhere does nothing else."""
    constants = tuple(placeless(each) if isinstance(each, CodeType) else each for each in code.co_consts)
    return code.replace(co_consts=constants, co_firstlineno=1, co_linetable=b"")


def test_what_stands_elsewhere_is_no_mutant() -> None:
    one, two, other = (compile(source, "m", "exec") for source in ("def f():\n a = 1", "def f():\n a = (\n1)", "a = 2"))
    assert placeless(one) == placeless(two) != placeless(other)


def test_the_tables_name_what_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    for module, tests in mutants.table().items():
        assert (mutants.ROOT / module).is_file()
        assert all((mutants.ROOT / test).is_file() for test in tests)
    assert mutants.equivalents(list(mutants.table()))
    assert capsys.readouterr().out == "", "an entry names no mutant"


def test_a_sample_is_told_by_its_seed() -> None:
    modules = list(mutants.table())[:4]
    assert mutants.sample(modules, 50, 7) == mutants.sample(modules, 50, 7)
    assert mutants.sample(modules, 50, 7) != mutants.sample(modules, 50, 8)
    assert sum(map(len, mutants.sample(modules, 50, 7).values())) == 50


FATES = """
import sys
from pathlib import Path
import mutants
from mutations import Mutation, mutations

module, tests = "src/groundwire/routing/extra_budget.py", ["tests/routing/test_latency.py"]
workshop = mutants.Workshop(Path(sys.argv[1]))
source = (mutants.ROOT / module).read_text()
(changed,) = (one for one in mutations(source) if one.after.startswith("_EAGER = 3.0"))
same = Mutation("", 1, (1, 1), "", "", source + "# nothing")
endless = Mutation("", 1, (1, 1), "", "", source + "while True:\\n    pass\\n")
mutants.warm(["aiohttp", "hypothesis", "pydantic", "xdist.plugin"])  # which conftest.py imports
for mutation, seconds in ((same, 100), (changed, 100), (same, 100), (endless, 3)):
    mutants._CPU = seconds
    print(workshop.fate(module, mutation, tests, mutants.Baseline(seconds=10.0)))
"""


@pytest.mark.slow
def test_what_a_test_notices_is_killed_what_none_does_survives_and_an_endless_loop_is_ended(tmp_path: Path) -> None:
    module = Path("src/groundwire/routing/extra_budget.py")
    before = (mutants.ROOT / module).read_bytes()
    done = subprocess.run(
        [sys.executable, "-c", FATES, tmp_path],
        cwd=mutants.ROOT,
        env=os.environ | {"PYTHONPATH": str(mutants.ROOT / "scripts")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["survived", "killed", "survived", "looped"]
    assert (mutants.ROOT / module).read_bytes() == before
    assert (tmp_path / module).read_bytes() == before
