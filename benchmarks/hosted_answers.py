"""Accuracy of reading recorded hosted answers: recall and precision of each kind of fact, per API.

The recordings and what they hold are the larger set beside the checkout, or our own (`tests/recordings`) where that is
missing; a folder laid out alike can be given instead. Streams are read as streams. Ends with 1 when a figure is below
0.99.

    python benchmarks/hosted_answers.py [FOLDER] [--wrong]
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from components.data_sets import RECORDINGS
from components.hosted import FACTS, Score, facts, hosted, read, wanted

LEAST = 0.99


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, default=RECORDINGS[-1])
    parser.add_argument("--wrong", action="store_true", help="name the recordings that are not read as expected")
    options = parser.parse_args()
    scores: dict[str, dict[str, Score]] = defaultdict(lambda: {fact: Score() for fact in FACTS})
    counts: dict[str, int] = defaultdict(int)
    for one in hosted(options.folder):
        want, found = wanted(one), facts(read(one))
        for api in (one.api, "all"):
            counts[api] += 1
            for fact in FACTS:
                scores[api][fact].add(one.name, want[fact], found[fact])
    print("recall / precision (number of facts)")
    print(f"{'':22}" + "".join(f"{fact:>20}" for fact in FACTS))
    for api in sorted(scores, key=lambda name: (name == "all", name)):
        cells = (f"{s.recall:.3f} / {s.precision:.3f} ({s.wanted})" for s in scores[api].values())
        print(f"{api:18}{counts[api]:4}" + "".join(f"{cell:>20}" for cell in cells))
    if options.wrong:
        for fact, score in scores["all"].items():
            for name in score.wrong:
                print(f"{fact}: {name}")
    low = [score for score in scores["all"].values() if min(score.recall, score.precision) < LEAST]
    return 1 if low or not counts else 0


if __name__ == "__main__":
    sys.exit(main())
