from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from fuzz.arcs import Arcs
from fuzz.run import fuzz
from fuzz.targets import SEEDS, TARGETS

pytestmark = pytest.mark.req("B2", "Y15")
RUN = Path(__file__).with_name("run.py")


@pytest.mark.timeout(1_800)
@pytest.mark.parametrize(
    ("inputs", "targets"), [("20", ("bounds",)), pytest.param("2000", tuple(TARGETS), marks=pytest.mark.slow)]
)
def test_some_fuzzing_breaks_nothing(inputs: str, targets: tuple[str, ...], tmp_path: Path) -> None:
    command = [sys.executable, str(RUN), "--inputs", inputs, "--crashes", str(tmp_path), "--target", *targets]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("0 broke") == len(targets)


@pytest.mark.parametrize("target", TARGETS)
def test_every_target_takes_its_seeds(target: str) -> None:
    for seed in SEEDS[target]:
        TARGETS[target](seed)


@pytest.mark.parametrize("target", TARGETS)
def test_a_few_inputs_of_fuzzing_break_nothing(target: str, tmp_path: Path) -> None:
    assert fuzz(target, 1, tmp_path, inputs=20) == 0


def test_fuzzing_finds_a_fault_that_lies_behind_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fragile(data: bytes) -> None:
        if b"<frameset>" in data:
            raise LookupError("a frame set")

    monkeypatch.setitem(TARGETS, "bounds", fragile)
    assert fuzz("bounds", 1, tmp_path, inputs=500) == 1
    assert len(list(tmp_path.glob("bounds-*"))) == 1


def test_arcs_are_counted_in_the_chosen_folder_only() -> None:
    here, elsewhere = Arcs(str(Path(__file__).parent)), Arcs("/nowhere")
    for arcs in (here, elsewhere):
        with arcs:
            SEEDS.get("extract")
            _branch(True)
    assert len(here.seen) >= 2
    assert not elsewhere.seen


def _branch(yes: bool) -> int:
    if yes:
        return 1
    return 0
