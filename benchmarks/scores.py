"""The results of the routing benchmark as a table, verdicts and a chart."""

from __future__ import annotations

import math
import statistics
from bisect import bisect_left
from dataclasses import dataclass, field
from html import escape

SEQUENTIAL, DEFAULT = "chain of document 001", "groundwire hedge"
_BEST_OF = (SEQUENTIAL, "circuit breaker", "race of all")
_HEAD = ("contender", "answered %", "p50 s", "p99 s", "extra paid of 100", "wrong nothing found", "peak requests")


@dataclass
class Score:
    """One contender's result in one scenario."""

    spans: list[tuple[float, float]] = field(default_factory=list)
    """When each query came and when it was answered, or given up, in seconds."""
    answered: int = 0
    """Queries that got results."""
    empties: int = 0
    """Queries of which the agent was told that there is nothing, although providers that work have results."""
    requests: list[float] = field(default_factory=list)
    """When requests were sent, in seconds."""
    billed: int = 0
    """Paid answers, awaited or not."""
    needed: int = 0
    """Paid answers that an all-knowing chain needs."""

    @property
    def seconds(self) -> list[float]:
        return [ended - began for began, ended in self.spans]

    @property
    def success(self) -> float:
        return 100 * self.answered / len(self.spans)

    @property
    def extra(self) -> float:
        return 100 * (self.billed - self.needed) / len(self.spans)

    @property
    def peak(self) -> float:
        """The requests in the second that has most of them for each query that was under way in it."""
        worst = 0.0
        starts = sorted(began for began, _ in self.spans)
        ends = sorted(ended for _, ended in self.spans)
        for first in range(int(max(self.requests, default=0.0)) + 1):
            sent = bisect_left(self.requests, first + 1.0) - bisect_left(self.requests, float(first))
            under_way = bisect_left(starts, first + 1.0) - bisect_left(ends, float(first))
            worst = max(worst, sent / max(1, under_way))
        return worst

    def within(self, percent: int) -> float:
        return statistics.quantiles(self.seconds, n=100)[percent - 1]


def joined(scores: list[Score]) -> Score:
    """Return the score of several seeds; its 99th percentile is that of all their queries."""
    spans, requests, base = list[tuple[float, float]](), list[float](), 0.0
    for one in scores:
        spans += [(began + base, ended + base) for began, ended in one.spans]
        requests += [at + base for at in one.requests]
        base = math.ceil(max((*(ended for _, ended in spans), *requests))) + 1.0
    counts = {name: sum(getattr(one, name) for one in scores) for name in ("answered", "empties", "billed", "needed")}
    return Score(spans, requests=requests, **counts)


def row(name: str, one: Score) -> str:
    """Return a row of the table."""
    return (
        f"| {name} | {one.success:.2f} | {one.within(50):.2f} | {one.within(99):.2f} | {one.extra:.1f} "
        f"| {one.empties} | {one.peak:.1f} |"
    )


def table(scores: dict[str, Score]) -> str:
    """Return the table of one scenario."""
    lines = [f"| {' | '.join(_HEAD)} |", f"|{' --- |' * len(_HEAD)}"]
    return "\n".join([*lines, *(row(name, one) for name, one in scores.items())])


def verdicts(title: str, scores: dict[str, list[Score]]) -> list[str]:
    """Return the targets that the default strategy misses in one scenario, given the scores of each seed."""
    seeds, ours = scores[DEFAULT], joined(scores[DEFAULT])
    best = max(joined(scores[name]).success for name in _BEST_OF)
    chain = joined(scores[SEQUENTIAL])
    checks = [
        (ours.success >= best - 0.2, f"answered {ours.success:.2f} %, at least {best - 0.2:.2f}"),
        (ours.empties == 0, f'{ours.empties} times a wrong "nothing found"'),
        (ours.extra <= 12, f"{ours.extra:.1f} extra paid calls of 100, at most 12"),
        (ours.peak <= 3, f"{ours.peak:.1f} requests a query in the worst second, at most 3"),
    ]
    if title == "30 % on all three":
        worst, times = min(one.success for one in seeds), chain.within(99) / ours.within(99)
        checks.append((worst >= 99.9, f"answered {worst:.2f} % with the worst seed, at least 99.9"))
        checks.append((times >= 9, f"the chain's p99 is {times:.1f} times ours, at least 9"))
    if title == "30 % on the first":
        mean = statistics.fmean(one.within(99) for one in seeds)
        checks.append((mean <= 2.4, f"p99 {mean:.2f} s, the mean of the seeds, at most 2.4"))
    return [f"{title}: {text}" for met, text in checks if not met]


_SHADES = {"p50": "#1f6f8b", "p95": "#78b3c4", "p99": "#c9dfe6"}
_LEFT, _WIDTH, _ROW = 200, 520, 18  # pixels
_SHORTEST, _LONGEST = 0.1, 60.0  # seconds at the ends of the axis


def picture(scenarios: dict[str, dict[str, Score]]) -> str:
    """Return an SVG: for each contender in each scenario p50, p95 and p99 on a logarithmic axis, and its success."""
    parts: list[str] = []
    y = 34
    for title, scores in scenarios.items():
        parts.append(f'<text x="8" y="{y}" font-weight="bold">{escape(title)}</text>')
        y += 8
        for name, one in scores.items():
            parts.append(f'<text x="{_LEFT - 8}" y="{y + 12}" text-anchor="end">{escape(name)}</text>')
            for percent, shade in ((99, "p99"), (95, "p95"), (50, "p50")):
                width = _place(one.within(percent))
                parts.append(f'<rect x="{_LEFT}" y="{y + 2}" width="{width:.1f}" height="12" fill="{_SHADES[shade]}"/>')
            text = f"{one.within(50):.2f} / {one.within(99):.1f} s, {one.success:.1f} %"
            parts.append(f'<text x="{_LEFT + _WIDTH + 8}" y="{y + 12}">{text}</text>')
            y += _ROW
        y += 24
    axis = "".join(
        f'<path d="M{_LEFT + _place(second):.1f} 20V{y - 24}" stroke="#bbb" stroke-dasharray="2 3"/>'
        f'<text x="{_LEFT + _place(second):.1f}" y="14" text-anchor="middle">{second:g} s</text>'
        for second in (0.1, 0.3, 1, 3, 10, 30)
    )
    key = "".join(
        f'<rect x="{_LEFT + 70 * place}" y="{y - 12}" width="12" height="12" fill="{_SHADES[name]}"/>'
        f'<text x="{_LEFT + 70 * place + 18}" y="{y - 2}">{name}</text>'
        for place, name in enumerate(_SHADES)
    )
    inside = f'<rect width="100%" height="100%" fill="white"/>{axis}{"".join(parts)}{key}'
    size = f'width="{_LEFT + _WIDTH + 190}" height="{y + 8}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="12">{inside}</svg>\n'


def _place(seconds: float) -> float:
    share = math.log(max(seconds, _SHORTEST) / _SHORTEST) / math.log(_LONGEST / _SHORTEST)
    return _WIDTH * min(share, 1.0)
