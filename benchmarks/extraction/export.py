"""LightGBM's trees in the package's format; see `groundwire.reading.main_content.classifier`."""

from __future__ import annotations

from typing import Any

_ROOM = 65_000


def forest_data(trees: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a forest of LightGBM trees (the `tree_structure` of a dump) as plain data for JSON."""
    low, high = zip(*(_range(tree) for tree in trees), strict=True)
    scale = min(4000.0, _ROOM / max(1e-9, sum(high) - sum(low)))
    conditions: dict[tuple[int, int], int] = {}
    lowest = [_lowest(tree, scale) for tree in trees]
    return {
        "trees": [_node(tree, conditions, scale, least) for tree, least in zip(trees, lowest, strict=True)],
        "conditions": list(conditions),
        "scale": scale,
        "zero": -sum(lowest),
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


def _node(node: dict[str, Any], conditions: dict[tuple[int, int], int], scale: float, least: int) -> list[Any]:
    """Return a node of the package's format, whose leaves are relative to the lowest one."""
    if "leaf_value" in node:
        return [round(node["leaf_value"] * scale) - least, None, None]
    condition = (node["split_feature"], int(node["threshold"] // 1))
    number = conditions.setdefault(condition, len(conditions))
    return [number, *(_node(node[side], conditions, scale, least) for side in ("left_child", "right_child"))]
