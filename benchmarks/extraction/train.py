r"""Train the model that selects a page's main content, and write the package's data.

Needs LightGBM and NumPy (`pip install lightgbm numpy`), which the package itself does not. Run from the root of the
repository, with the folder of the developers' pages:

    python -m benchmarks.extraction.train ../shared/data/extraction --web ../shared/data/web_pages \
        --held-out --out /tmp/held-out.json.gz
    python -m benchmarks.extraction.train ../shared/data/extraction --web ../shared/data/web_pages \
        --out src/groundwire/reading/data/blocks.json.gz

The second is the package's model, which learns from all pages. Its quality can be measured on no page of the folder;
the figures in the docs are of the first, for which a fifth of the sites is kept out of everything (`quality.py
--model`). Both print how models do that have not seen a page's site, before and after labels are mixed (see `soften`),
which lets a little of a page's label through; on folds 1 to 4 these have learned from three fifths of the sites with
`--held-out` and from four without, which shows what more pages bring. Same folder, same seed and same library versions
give the same model. It takes about ten minutes of one core.

How: blocks are labelled by their place in the reviewed text (`alignment`). Names and phrases vote by site
(`learn_lexicon`). A forest judges blocks; a forest a kind judges pages by the scores of their blocks. Whatever a later
step learns from is predicted by a model of an earlier step that has not seen the page's site. Labels that such models
are sure to be wrong are then left out, the others are mixed with what they predict, and all is learned once more. Every
page counts a second time with meaningless names, as many sites have them. The threshold of each kind is the one with
the best word F1.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import pickle
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import lightgbm as lgb
import numpy as np

from benchmarks.extraction.alignment import label_blocks, words_of
from benchmarks.extraction.export import forest_data
from benchmarks.extraction.learn_lexicon import Votes, build_lexicon, collect_votes
from benchmarks.extraction.pages import FOLDS, KINDS, SETS, TOUCHED_ONCE, Page, read_pages, read_web_pages
from groundwire.reading.encoding.decode import decode
from groundwire.reading.html.semantics import parse_page
from groundwire.reading.main_content.blocks import Layout, lay_out
from groundwire.reading.main_content.features import FEATURES, ElementFacts, describe
from groundwire.reading.main_content.page_blocks import SHARE_OF_BEST
from groundwire.reading.main_content.page_type import Hints, read_hints
from groundwire.reading.main_content.rules import REPEATED, copies, may_repeat
from groundwire.reading.main_content.select import kind_row
from groundwire.reading.main_content.text_features import Lexicon, names_of
from groundwire.reading.metadata.embedded_json import things
from groundwire.reading.metadata.page_metadata import read_metas
from groundwire.reading.visibility.visible import drop_unseen

SEED = 7
TEACHER_ROUNDS, ROUNDS = 150, 80
"""Trees. Word F1 of blocks on folds 1 to 4 is .8792 with 80 of 24 leaves, .8796 with 250, .8786 with 100 or 150 of 16,
.8774 with 60, and .8769 with 100 of 16 whose labels are mixed with what as many predict; another seed moves it by .001.
250 trees took 4 % more of the time of a page."""
KIND_ROUNDS = 60  # with 30 and 20, the kind of a page is right for .820 and .807 instead of .844
_BLOCKS = {
    "objective": "cross_entropy",
    "learning_rate": 0.17,
    "num_leaves": 16,
    "min_data_in_leaf": 80,
    "min_sum_hessian_in_leaf": 1e-3,
    "feature_fraction": 0.4,
    "bagging_fraction": 0.7,
    "bagging_freq": 1,
    "lambda_l2": 5,
    "max_bin": 24,
}
_LARGE = {"num_leaves": 24}
"""Of the package's forest."""
_KINDS = {
    "objective": "multiclass",
    "num_class": len(KINDS),
    "learning_rate": 0.08,
    "num_leaves": 8,
    "min_data_in_leaf": 12,
    "feature_fraction": 0.4,
    "bagging_fraction": 0.8,
    "bagging_freq": 1,
    "lambda_l2": 5,
}
_NAMELESS = 0.5  # of the weight of the page as it is
_ABOUT = 0.0002  # of word F1
_SURE, _UNLIKELY = 0.9, 0.1  # chances
_PREDICTED = 0.35  # of what is learned, the rest is the label
_FIXED = {"verbose": -1, "seed": SEED, "deterministic": True, "force_row_wise": True}


@dataclass
class Example:
    """A page as used for training."""

    page: Page
    layout: Layout
    names: list[str]
    shares: list[float]
    words: list[float]
    truth_words: int
    votes: Votes
    hints: Hints
    facts: ElementFacts | None = None
    table: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), np.uint8))
    row: list[int] = field(default_factory=list)
    score: np.ndarray = field(default_factory=lambda: np.zeros(0))
    chances: np.ndarray = field(default_factory=lambda: np.zeros(len(KINDS)))
    share: float = 1.0
    """What the page counts, beside others."""
    doubtful: np.ndarray = field(default_factory=lambda: np.zeros(0, np.intp))
    """Blocks whose labels are not learned from."""
    soft: np.ndarray = field(default_factory=lambda: np.zeros(0))
    """What is learned instead of the labels; see `soften`."""


def make_example(page: Page) -> Example | None:
    """Return a page with its labels, or None if it has no text."""
    document = parse_page(decode(page.body(), "text/html").text)
    made_up = page.collection in {"readability", "defuddle"}  # the address
    hints = read_hints(things(document), read_metas(document), "" if made_up else page.url)
    drop_unseen(document)
    layout = lay_out(document, page.url)
    if not layout.texts:
        return None
    names = names_of(layout)
    words: list[float]
    if page.truth is None:
        shares, words = label_by_snippets(layout.texts, page)
    else:
        shares, counts = label_blocks(layout.texts, page.truth)
        shares = alike(layout.texts, shares)
        words = [float(count) for count in counts]
    layout.elements, layout.nodes = [], []
    votes = collect_votes(layout, names, shares, words)
    return Example(page, layout, names, shares, words, len(words_of(page.truth or "")), votes, hints)


def label_by_snippets(texts: list[str], page: Page) -> tuple[list[float], list[float]]:
    """Label only the blocks with a required or forbidden snippet; the others have no weight."""
    lowered = [text.lower() for text in texts]
    shares, words = [0.0] * len(texts), [0.0] * len(texts)
    for share, snippets in ((0.0, page.forbidden), (1.0, page.required)):
        for snippet in snippets:
            wanted = " ".join(snippet.lower().split())
            found = [number for number, text in enumerate(lowered) if wanted in text]
            if share:
                found = sorted(found, key=lambda number: -len(texts[number]))[:1]
            for number in found:
                if share or len(texts[number]) <= 4 * len(wanted) + 40:
                    shares[number] = share
                    words[number] = max(5.0, min(60.0, len(texts[number].split())))
    return shares, words


def alike(texts: list[str], shares: list[float]) -> list[float]:
    """Return the shares, made equal for repeated long texts: all copies are content, or none."""
    best: dict[str, float] = {}
    for text, share in zip(texts, shares, strict=True):
        if len(text) >= REPEATED:
            best[text] = max(best.get(text, 0.0), share)
    return [best.get(text, share) for text, share in zip(texts, shares, strict=True)]


def weigh(example: Example) -> np.ndarray:
    """Return the weight of each block: its effect on the page's word F1, with slower growth for long blocks."""
    parts = np.array(example.words) ** 0.6
    if example.page.truth is None:
        return parts * 0.0064 * example.share
    content = float((parts * np.array(example.shares)).sum())
    factor = {"article": 1.0, "fixture": 0.4}.get(example.page.kind, 1.3)
    weights = parts / max(30.0, content, 0.7 * float(parts.sum())) * factor * example.share
    weights[example.doubtful] = 0
    return weights


def nameless(example: Example) -> Example:
    """Return a copy of a page with meaningless class names, which many sites have."""
    numbers: dict[str, str] = {}
    names = [numbers.setdefault(name, f"q{len(numbers)}") if name else "" for name in example.names]
    return replace(example, names=names, share=_NAMELESS)


def table_of(columns: list[bytes]) -> np.ndarray:
    """Return columns of bytes as a table with one row per block."""
    return np.frombuffer(b"".join(columns), np.uint8).reshape(len(columns), -1).T.copy()


def fit_blocks(examples: list[Example], rounds: int, changes: dict[str, float] | None = None) -> lgb.Booster:
    """Fit a forest that scores blocks."""
    weights = np.concatenate([weigh(example) for example in examples])
    used = weights > 0
    table = np.vstack([example.table for example in examples])[used]
    shares = np.concatenate([e.soft if len(e.soft) else np.array(e.shares) for e in examples])[used]
    weights = weights[used] * (used.sum() / weights.sum())
    data = lgb.Dataset(table, shares, weight=weights, params={"max_bin": _BLOCKS["max_bin"], "verbose": -1})
    return lgb.train({**_BLOCKS, **(changes or {}), **_FIXED}, data, num_boost_round=rounds)


def fit_kinds(examples: list[Example]) -> lgb.Booster:
    """Fit the forests that classify pages."""
    known = [example for example in examples if example.page.kind in KINDS and not example.page.collection]
    rows = np.array([example.row for example in known], np.float64)
    labels = [KINDS.index(example.page.kind) for example in known]
    return lgb.train({**_KINDS, **_FIXED}, lgb.Dataset(rows, labels), num_boost_round=KIND_ROUNDS)


def describe_all(examples: Iterable[Example], lexicon: Lexicon) -> None:
    """Compute the table of each example."""
    for example in examples:
        example.facts = describe(example.layout, lexicon, example.names, example.hints)
        example.table = table_of(example.facts.columns)


def add_rows(examples: Iterable[Example]) -> None:
    """Compute the features for the page type, from the scores of the blocks."""
    for example in examples:
        assert example.facts is not None
        example.row = kind_row(example.facts, np.rint(example.score * 254).astype(int).tolist())


def apart(examples: list[Example], learn: Callable[[list[Example]], Any], use: Callable[[Any, Example], None]) -> None:
    """Predict each fold with a model trained on the others."""
    for fold in sorted({example.page.fold for example in examples}):
        model = learn([example for example in examples if example.page.fold != fold])
        for example in examples:
            if example.page.fold == fold:
                use(model, example)


def doubt(examples: Iterable[Example]) -> None:
    """Remove labels that models trained without the page confidently contradict.

    Reviewers skip the end of long pages, and take in what stands at their edge; learned from, that would cost
    paragraphs on other pages. After Northcutt et al., "Confident Learning" (2021), with fixed bounds.
    """
    left_out = 0
    for example in examples:
        if example.page.truth is None:  # most of its blocks have no label, and the others are certain
            continue
        shares = np.array(example.shares)
        missed, unlikely = (shares < 0.5) & (example.score > _SURE), (shares >= 0.5) & (example.score < _UNLIKELY)
        example.doubtful = np.flatnonzero(missed | unlikely)
        left_out += len(example.doubtful)
    print(left_out, "labels left out", flush=True)


def soften(examples: Iterable[Example]) -> None:
    """Mix the labels with what models trained without the page predict.

    Two reviewers of a shop's page seldom agree on what its main content is, and a label is the word of one of them. The
    thresholds and the report still go by the labels. After Furlanello et al., "Born-Again Neural Networks" (2018).
    """
    for example in examples:
        if example.page.truth is not None:
            example.soft = (1 - _PREDICTED) * np.array(example.shares) + _PREDICTED * example.score


def learn_blocks(examples: list[Example], *, is_final: bool) -> tuple[lgb.Booster, lgb.Booster]:
    """Return the forest for blocks, and the page-type forests.

    The examples keep what models that had not seen them predicted. The forest is smaller if it only predicts what the
    final one learns.
    """
    rounds, changes = (ROUNDS, _LARGE) if is_final else (TEACHER_ROUNDS, {})

    def keep_score(model: lgb.Booster, example: Example) -> None:
        example.score = model.predict(example.table)

    def keep_kinds(model: lgb.Booster, example: Example) -> None:
        example.chances = model.predict(np.array([example.row], np.float64))[0]

    print("blocks", flush=True)
    apart(examples, lambda some: fit_blocks(some, rounds, changes), keep_score)
    add_rows(examples)
    print("kinds", flush=True)
    apart(examples, fit_kinds, keep_kinds)
    return fit_blocks(examples, rounds, changes), fit_kinds(examples)


def train(examples: list[Example]) -> dict[str, Any]:
    """Return the model's data. The examples keep what models that had not seen them predicted."""
    voters = [(e.page.fold, e.page.site, e.votes) for e in examples]
    examples = [*examples, *map(nameless, examples)]
    print("lexicon and features", flush=True)
    for fold in sorted({example.page.fold for example in examples}):
        others = [(site, votes) for other, site, votes in voters if other != fold]
        describe_all((e for e in examples if e.page.fold == fold), build_lexicon(others))
    lexicon = build_lexicon([(site, votes) for _, site, votes in voters])
    learn_blocks(examples, is_final=False)
    reviewed = [example for example in examples if not example.page.collection and example.share == 1]
    print("labels as reviewed; nothing of a page is in the models that read it")
    find_cuts(reviewed)
    doubt(examples)
    soften(examples)
    blocks, kinds = learn_blocks(examples, is_final=True)
    importance = sorted(zip(blocks.feature_importance("gain"), FEATURES, strict=True), reverse=True)
    print("strongest features:", ", ".join(name for _, name in importance[:30]))
    print("labels mixed with predictions, some of which are of models that had seen the page")
    cuts = find_cuts(reviewed)
    trees = [tree["tree_structure"] for tree in kinds.dump_model()["tree_info"]]
    return {
        "lexicon": {
            "names": dict(lexicon.names),
            "openings": dict(lexicon.openings),
            "groups": dict(lexicon.groups),
        },
        "blocks": forest_data([tree["tree_structure"] for tree in blocks.dump_model()["tree_info"]]),
        "kinds": [forest_data(trees[number :: len(KINDS)]) for number in range(len(KINDS))],
        "cuts": cuts,
    }


def find_cuts(examples: list[Example]) -> list[float]:
    """Return the threshold of each kind, for `Verdict.cut`, with the best mean word F1 (coordinate ascent).

    Of thresholds that do about as well the highest is taken: what is left out by it is least likely to be content.
    """
    cuts = [85.0] * len(KINDS)
    choices = [35, 45, 55, 65, 75, 85, 95, 105, 115, 125, 135, 145, 155, 165]
    looks = [Look(example) for example in examples]

    def mean(number: int, cut: float) -> float:
        tried = np.array([*cuts[:number], cut, *cuts[number + 1 :]])
        return float(np.mean([look.f1(float(look.chances @ tried)) for look in looks]))

    for _ in range(2):
        for number in range(len(KINDS)):
            scores = [mean(number, cut) for cut in choices]
            smooth = np.array([np.mean(scores[max(0, at - 2) : at + 3]) for at in range(len(scores))])
            cuts[number] = float(choices[int(np.flatnonzero(smooth >= smooth.max() - _ABOUT)[-1])])
    print("cuts", dict(zip(KINDS, cuts, strict=True)))
    report("folds left out one by one", looks, cuts)
    report("of these, folds 1 to 4", [look for look in looks if look.page.fold != TOUCHED_ONCE], cuts)
    return cuts


class Look:
    """A page in the form for trying many thresholds: only the first of several copies counts."""

    def __init__(self, example: Example) -> None:
        self.page = example.page
        self.chances = example.chances
        self.scores = np.rint(example.score * 254).astype(int)
        self.best = int(self.scores.max())
        self.words = np.array(example.words)
        self.right = self.words * np.array(example.shares)
        self.truth_words = example.truth_words
        if not may_repeat(example.chances):
            self.words[list(copies(example.layout, [True] * len(self.scores)))] = 0
            self.right[self.words == 0] = 0

    def f1(self, cut: float) -> float:
        """Return the word F1 at a threshold, according to the labels."""
        keep = self.scores >= min(cut, SHARE_OF_BEST * self.best)
        kept = float(self.words[keep].sum())
        return 2 * float(self.right[keep].sum()) / (kept + self.truth_words) if kept + self.truth_words else 1.0


def report(title: str, looks: list[Look], cuts: list[float]) -> None:
    """Print the mean word F1 by page type, according to the labels."""
    by_kind: dict[str, list[float]] = {kind: [] for kind in KINDS}
    for look in looks:
        by_kind[look.page.kind].append(look.f1(float(look.chances @ np.array(cuts))))
    every = [value for values in by_kind.values() for value in values]
    kinds = "  ".join(f"{kind} {np.mean(values):.3f}" for kind, values in by_kind.items() if values)
    guessed = np.mean([KINDS[int(look.chances.argmax())] == look.page.kind for look in looks])
    print(f"{title}: {len(every)} pages, word F1 of blocks {np.mean(every):.4f}  {kinds}  kind right {guessed:.3f}")


def main() -> None:
    """Train the model, print a report, and write the data."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the developers' pages")
    parser.add_argument("--web", type=Path, required=True, help="whole pages with snippets as labels")
    parser.add_argument("--out", type=Path, required=True, help="where to write the model")
    parser.add_argument("--held-out", action="store_true", help="leave fold 0 out")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--cache", type=Path, help="keep the labelled pages here between runs")
    options = parser.parse_args()
    _FIXED["num_threads"] = options.threads
    if options.cache and options.cache.exists():
        examples = pickle.loads(options.cache.read_bytes())
    else:
        read = (page for collection in SETS for page in read_pages(options.folder, collection))
        pages = itertools.chain(read, read_web_pages(options.web))
        examples = [example for page in pages if (example := make_example(page)) is not None]
        if options.cache:
            options.cache.write_bytes(pickle.dumps(examples))
    if options.held_out:
        examples = [example for example in examples if example.page.fold]
    print(len(examples), "pages in", FOLDS - options.held_out, "folds")
    data = train(examples)
    packed = gzip.compress(json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode(), 9, mtime=0)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_bytes(packed)
    print(options.out, len(packed), "bytes")


if __name__ == "__main__":
    main()
