"""How often hand-written false sentences are caught and true ones flagged, in nine languages.

    python -m benchmarks.citations.handwritten [--set NAME] [--data FOLDER] [--half tuned|kept|all] [--show]

The cases are in `benchmarks/citations/cases`, further sets (`second` to `ninth`) in folders there.
`real_pages.tsv` has sentences about pages of the data folder, which are read when it is given. A false sentence is
caught when its verdict is anything but `supported`, a true one is flagged when it is; `contradicted` counts those that
are accused. Every other page is for tuning; the other half is touched for the figures of the docs only."""

from __future__ import annotations

import argparse
import gzip
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from groundwire.citations.verify import CitedPage, Report, verify_answer
from groundwire.reading.extract import extract

FOLDER = Path(__file__).with_name("cases")


@dataclass(frozen=True, slots=True)
class Written:
    """One sentence, and the pages that it cites."""

    language: str
    pages: tuple[str, ...]
    sentence: str
    kind: str
    """What is wrong with it; `true` when nothing is."""
    several: bool
    """Whether it is about several pages."""
    kept: bool
    """Whether it is of the half that is not tuned on."""

    def report(self) -> Report:
        """Check it."""
        pages = [CitedPage(number=number, url="", content=text) for number, text in enumerate(self.pages, start=1)]
        answer = self.sentence if "[" in self.sentence else f"{self.sentence} [1]"
        stop = "。" if self.language in {"zh", "ja"} else "."
        return verify_answer(answer + stop, pages)


def read_cases(folder: Path = FOLDER) -> Iterator[Written]:
    """Yield the cases of all languages."""
    for path in sorted(folder.glob("*.txt")):
        pages: list[str] = []
        group = -1
        for line in path.read_text("utf-8").splitlines():
            sign, _, text = line.partition(" ")
            if sign.startswith("="):
                pages = pages if sign not in {"=", "=1"} else []
                group += sign in {"=", "=1"}
                pages.append(text.replace("\\n", "\n"))
            elif sign in {"+", "-"}:
                kind, _, sentence = ("true", "", text) if sign == "+" else text.partition(": ")
                yield Written(path.stem, tuple(pages), sentence, kind, len(pages) > 1, group % 2 == 1)


def read_real(data: Path, table: Path = FOLDER / "real_pages.tsv") -> Iterator[Written]:
    """Yield the cases about pages of the data folder, as our reader gives them."""
    read = cache(lambda name: extract(gzip.decompress(_file(data, name).read_bytes()).decode("utf-8", "replace"), ""))
    names: list[str] = []
    for line in table.read_text("utf-8").splitlines():
        name, language, kind, sentence = line.split("\t")
        if name not in names:
            names.append(name)
        yield Written(language, (read(name).content,), sentence, kind, False, names.index(name) % 2 == 1)


def _file(data: Path, name: str) -> Path:
    folder, _, stem = name.partition("/")
    return data / folder / "html" / f"{stem}.html.gz"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--set",
        choices=("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth"),
        default="first",
    )
    parser.add_argument("--data", type=Path, help="judge the sentences about pages of this folder instead")
    parser.add_argument("--half", choices=("tuned", "kept", "all"), default="tuned")
    parser.add_argument("--language", default="")
    parser.add_argument("--show", action="store_true", help="print each case that is judged wrongly")
    arguments = parser.parse_args()
    counts: Counter[tuple[str, bool, bool]] = Counter()
    contradicted: Counter[tuple[str, bool]] = Counter()
    folder = FOLDER if arguments.set == "first" else FOLDER / arguments.set
    for case in read_real(arguments.data) if arguments.data else read_cases(folder):
        if arguments.half != "all" and case.kept != (arguments.half == "kept"):
            continue
        if arguments.language and case.language != arguments.language:
            continue
        findings = [one for one in case.report().findings if one.verdict != "no_claim"]
        supported = bool(findings) and all(one.verdict == "supported" for one in findings)
        group = f"{case.language} over two pages" if case.several else case.language
        counts[group, case.kind == "true", supported] += 1
        contradicted[group, case.kind == "true"] += any(one.verdict == "contradicted" for one in findings)
        if arguments.show and supported != (case.kind == "true"):
            print(case.language, case.kind, "|", case.sentence, "|", " / ".join(case.pages)[:400])
            for one in findings:
                print(
                    "   ",
                    one.verdict,
                    one.probability,
                    [(d.kind, d.claimed, d.stated) for d in one.disagreements],
                    one.notes,
                )
    for group in sorted({group for group, _, _ in counts}):
        caught, missed = counts[group, False, False], counts[group, False, True]
        accused, right = counts[group, True, False], counts[group, True, True]
        print(
            f"{group:20} false caught {caught:3}/{caught + missed:3} {caught / (caught + missed or 1):6.1%}"
            f" (contradicted {contradicted[group, False]:3})"
            f"   true flagged {accused:3}/{accused + right:3} {accused / (accused + right or 1):6.1%}"
            f" (contradicted {contradicted[group, True]:3})"
        )


if __name__ == "__main__":
    main()
