"""Generated answers on every channel, read back by that channel's own parser; exits with 1 if text is lost.

    python -m benchmarks.citations.rendering [--answers 10000] [--seed 7]

The readers are those of the tests: markdown-it for Markdown, the standard library's for HTML, and what Telegram and
Slack document about theirs.
"""

from __future__ import annotations

import argparse
import random
import sys
from pathlib import Path

from groundwire.citations import render_answer

_TESTS = Path(__file__).resolve().parents[2] / "tests" / "citations"


def main() -> None:
    """Print the number of failed answers per channel."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=7)
    arguments = parser.parse_args()
    sys.path.insert(0, str(_TESTS))
    import test_rendering as tests

    chance = random.Random(arguments.seed)
    wrong = dict.fromkeys(["markdown", *tests.READERS], 0)
    for _ in range(arguments.answers):
        answer = "".join(chance.choice(tests.PARTS) for _ in range(chance.randint(1, 40)))
        before, _links = tests.read_markdown(answer)
        for channel, read in tests.READERS.items():
            shown, _links = read(render_answer(answer, tests.SOURCES, channel, footer=False).text)
            wrong[channel] += any(shown.count(word) < before.count(word) for word in ("Fact", "word", "日本"))
        after, _links = tests.read_markdown(render_answer(answer, tests.SOURCES, "markdown", footer=False).text)
        wrong["markdown"] += before != after
    for channel, count in wrong.items():
        print(f"{channel:22} {count:5} of {arguments.answers:,} wrong")
    sys.exit(any(wrong.values()))


if __name__ == "__main__":
    main()
