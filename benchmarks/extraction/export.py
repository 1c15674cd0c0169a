"""LightGBM's trees in the package's format; see `groundwire.reading.main_content.classifier`."""

from __future__ import annotations

from typing import Any

__all__ = ["forest_data"]

_ROOM = 65_000


def forest_data(trees: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a forest of LightGBM trees (the `tree_structure` of a dump) as plain data for JSON."""
    low, high = zip(*(_range(tree) for tree in trees), strict=True)
    scale = min(4000.0, _ROOM / max(1e-9, sum(high) - sum(low)))
    questions: dict[tuple[int, int, bool], int] = {}
    base = 0
    flat = []
    for tree in trees:
        steps: list[list[int]] = []
        base += _unroll(tree, 0, steps, questions, scale)
        flat.append([number for step in steps for number in step])
    zero = -sum(_lowest(tree, scale) for tree in trees)
    return {
        "questions": [[feature, threshold, int(at_most)] for feature, threshold, at_most in questions],
        "trees": flat,
        "base": base + zero,
        "scale": scale,
        "zero": zero,
    }


def _range(node: dict[str, Any]) -> tuple[float, float]:
    if "leaf_value" in node:
        return node["leaf_value"], node["leaf_value"]
    left, right = _range(node["left_child"]), _range(node["right_child"])
    return min(left[0], right[0]), max(left[1], right[1])


def _lowest(node: dict[str, Any], scale: float) -> int:
    if "leaf_value" in node:
        return round(node["leaf_value"] * scale)
    return min(_lowest(node["left_child"], scale), _lowest(node["right_child"], scale))


def _unroll(
    node: dict[str, Any], at: int, steps: list[list[int]], questions: dict[tuple[int, int, bool], int], scale: float
) -> int:
    """Append the steps below one branch and return what reaching the branch itself adds."""
    if "leaf_value" in node:
        return round(node["leaf_value"] * scale)
    left, right = node["left_child"], node["right_child"]
    key = (node["split_feature"], int(node["threshold"] // 1))
    if "leaf_value" in right:
        default, branches = round(right["leaf_value"] * scale), [(left, True)]
    elif "leaf_value" in left:
        default, branches = round(left["leaf_value"] * scale), [(right, False)]
    else:
        default, branches = 0, [(left, True), (right, False)]
    for child, at_most in branches:
        step = [at, questions.setdefault((*key, at_most), len(questions)), 0]
        steps.append(step)
        step[2] = _unroll(child, len(steps), steps, questions, scale) - default
    return default
