"""What the contenders of the routing benchmark did, as a table, as verdicts and as a picture."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass, field
from html import escape

__all__ = ["DEFAULT", "SEQUENTIAL", "Score", "picture", "table", "verdicts"]

SEQUENTIAL, DEFAULT = "haytham", "groundwire hedge"
_HEAD = (
    "contender",
    "success %",
    "p50 s",
    "p95 s",
    "p99 s",
    "mean s",
    "fallback %",
    "extra paid of 100",
    "403s shown",
    "false empty",
    "H9: success > 95 %, fallback < 20 %, mean < 5 s, no 403",
)


@dataclass
class Score:
    """What one contender did in one scenario."""

    seconds: list[float] = field(default_factory=list)
    """How long each query took, answered or not."""
    answered: int = 0
    """Queries that got results."""
    fallbacks: int = 0
    """Queries that were answered without the first provider."""
    forbidden: int = 0
    """Queries of which the agent was told a 403."""
    empties: int = 0
    """Queries of which the agent was told that there is nothing, although every provider has results."""
    billed: int = 0
    """Paid answers, awaited or not."""
    needed: int = 0
    """Paid answers that an all-knowing chain needs."""

    @property
    def success(self) -> float:
        return 100 * self.answered / len(self.seconds)

    @property
    def fallback(self) -> float:
        return 100 * self.fallbacks / len(self.seconds)

    @property
    def extra(self) -> float:
        return 100 * (self.billed - self.needed) / len(self.seconds)

    @property
    def mean(self) -> float:
        return statistics.fmean(self.seconds)

    def within(self, percent: int) -> float:
        return statistics.quantiles(self.seconds, n=100)[percent - 1]


def table(scores: dict[str, Score]) -> str:
    """Return the table of one scenario."""
    lines = [f"| {' | '.join(_HEAD)} |", f"|{' --- |' * len(_HEAD)}"]
    for name, one in scores.items():
        h9 = (one.success > 95, one.fallback < 20, one.mean < 5, not one.forbidden)
        lines.append(
            f"| {name} | {one.success:.2f} | {one.within(50):.2f} | {one.within(95):.2f} | {one.within(99):.2f} "
            f"| {one.mean:.2f} | {one.fallback:.1f} | {one.extra:.1f} | {one.forbidden} | {one.empties} "
            f"| {', '.join('met' if met else 'not met' for met in h9)} |"
        )
    return "\n".join(lines)


def verdicts(title: str, scores: dict[str, Score]) -> str:
    """Return the targets of one scenario, each with what our default strategy reached; nothing if it has none."""
    ours, plain = scores[DEFAULT], scores[SEQUENTIAL]
    times, points = plain.within(99) / ours.within(99), ours.success - plain.success
    success = (ours.success >= 99.9, f"success {ours.success:.2f} %, at least 99.9")
    targets = {
        "no faults": [_extra(ours, 6)],
        "30 % on the first": [_faster(times, 10), _extra(ours, 10)],
        "30 % on all three": [success, _faster(times, 8), _extra(ours, 12)],
        "60 % on all three": [(points >= 9, f"success {points:+.1f} points beside the sequential chain, at least +9")],
    }
    return "\n".join(f"- {DEFAULT}: {text}: {'met' if met else 'NOT met'}" for met, text in targets.get(title, []))


def _extra(ours: Score, most: float) -> tuple[bool, str]:
    return ours.extra <= most, f"{ours.extra:.1f} extra paid calls of 100 queries, at most {most:g}"


def _faster(times: float, least: float) -> tuple[bool, str]:
    return times >= least, f"the sequential chain's p99 is {times:.1f} times ours, at least {least:g}"


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
