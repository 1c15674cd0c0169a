"""Charts as SVG, made on the server: a picture for the eye, a sentence for everybody else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby

from markupsafe import Markup, escape

__all__ = ["Series", "bar_chart", "line_chart"]

_WIDTH, _HEIGHT = 320, 132
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 10, 10, 22
_STEPS = (1, 2, 2.5, 5, 10)


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """A value for each day."""

    name: str
    """What is measured: `mean`."""
    values: Sequence[float | None]
    """One for each day; None where nothing was measured."""


def line_chart(
    title: str,
    days: Sequence[date],
    series: Sequence[Series],
    *,
    show: Callable[[float], str],
    top: float | None = None,
) -> Markup:
    """Return lines over days; a day without a value interrupts a line.

    Args:
        title: What the chart is of.
        days: The days, the oldest first.
        series: What is drawn, two at most.
        show: Makes a value readable.
        top: Where the scale ends; by default above the highest value.
    """
    frame = _Frame(days, series, show, top)
    drawn = []
    for number, one in enumerate(series, start=1):
        points = [(frame.x(place), frame.y(value)) for place, value in _known(one.values)]
        numbered = enumerate(place for place, _ in _known(one.values))
        for _, run in groupby(numbered, key=lambda pair: pair[1] - pair[0]):  # days that follow one another
            way = " ".join(f"{points[index][0]:.1f},{points[index][1]:.1f}" for index, _ in run)
            if " " in way:
                drawn.append(f'<polyline class="line s{number}" points="{way}"/>')
        for (x, y), (place, value) in zip(points, _known(one.values), strict=True):
            said = escape(f"{days[place]}, {one.name}: {show(value)}")
            drawn.append(
                f'<circle class="dot s{number}" cx="{x:.1f}" cy="{y:.1f}" r="3"><title>{said}</title></circle>'
            )
    return frame.finish(title, drawn)


def bar_chart(title: str, days: Sequence[date], series: Series, *, show: Callable[[float], str]) -> Markup:
    """Return a bar for each day; the arguments are those of `line_chart`."""
    frame = _Frame(days, [series], show, None)
    width = max(2.0, min(22.0, 0.7 * (_WIDTH - _LEFT - _RIGHT) / len(days)))
    drawn = []
    for place, value in _known(series.values):
        y = frame.y(value)
        height = max(1.0 if value else 0.0, frame.floor - y)
        said = escape(f"{days[place]}: {show(value)}")
        drawn.append(
            f'<rect class="bar" x="{frame.x(place) - width / 2:.1f}" y="{frame.floor - height:.1f}"'
            f' width="{width:.1f}" height="{height:.1f}" rx="1.5"><title>{said}</title></rect>'
        )
    return frame.finish(title, drawn)


class _Frame:
    """The scale, the lines that it is read by, and the words for what is drawn."""

    def __init__(
        self, days: Sequence[date], series: Sequence[Series], show: Callable[[float], str], top: float | None
    ) -> None:
        self._days = days
        self._series = series
        self._show = show
        highest = max((value for one in series for _, value in _known(one.values)), default=0.0)
        self.top = top or _round_up(1.04 * highest)  # room for the dot of the highest
        self.floor = float(_HEIGHT - _BOTTOM)

    def x(self, place: int) -> float:
        """Return where a day is."""
        room = _WIDTH - _LEFT - _RIGHT
        return _LEFT + room * (place + 0.5) / len(self._days)

    def y(self, value: float) -> float:
        """Return where a value is."""
        return self.floor - (self.floor - _TOP) * min(1.0, value / self.top)

    def finish(self, title: str, drawn: Sequence[str]) -> Markup:
        """Return the whole picture."""
        lines = []
        for share in (0.0, 0.5, 1.0):
            y = self.y(self.top * share)
            lines.append(f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
            said = escape(self._show(self.top * share))
            lines.append(f'<text class="tick" x="{_LEFT - 6}" y="{y + 3.5:.1f}" text-anchor="end">{said}</text>')
        ends = {0, len(self._days) - 1}
        for place in sorted(ends):
            anchor = "middle" if len(ends) == 1 else "start" if place == 0 else "end"
            x = self.x(place) if len(ends) == 1 else _LEFT if place == 0 else _WIDTH - _RIGHT
            text = f"{self._days[place]:%-d %b}"
            lines.append(f'<text class="tick" x="{x:.1f}" y="{_HEIGHT - 6}" text-anchor="{anchor}">{text}</text>')
        said = escape(f"{title}. {self._said()}")
        return Markup(  # noqa: S704  # numbers, and texts that were escaped
            f'<svg class="chart" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{said}">'
            f"{''.join(lines)}{''.join(drawn)}</svg>"
        )

    def _said(self) -> str:
        sentences = []
        for one in self._series:
            known = list(_known(one.values))
            if not known:
                continue
            low, high = min(known, key=lambda pair: pair[1]), max(known, key=lambda pair: pair[1])
            last = known[-1]
            name = one.name.capitalize()
            sentences.append(
                f"{name}: {self._show(last[1])} on {self._days[last[0]]}, "
                f"lowest {self._show(low[1])} on {self._days[low[0]]}, "
                f"highest {self._show(high[1])} on {self._days[high[0]]}."
            )
        return " ".join(sentences) or "Nothing was measured."


def _known(values: Sequence[float | None]) -> list[tuple[int, float]]:
    return [(place, value) for place, value in enumerate(values) if value is not None]


def _round_up(value: float) -> float:
    """Return the next number that is easy to read."""
    if value <= 0:
        return 1.0
    magnitude = 10.0
    while magnitude > value:
        magnitude /= 10
    while magnitude * 10 <= value:
        magnitude *= 10
    return next(step * magnitude for step in _STEPS if step * magnitude >= value * (1 - 1e-9))
