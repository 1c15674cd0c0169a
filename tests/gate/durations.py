"""Finds asserted durations in the source of tests: they measure how busy a machine is."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

_CLOCKS = frozenset(
    f"{name}{unit}"
    for name in ("monotonic", "perf_counter", "process_time", "thread_time", "time")
    for unit in ("", "_ns")
)
_TIME = re.compile(r"\btime\b")
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def asserted_durations(source: str) -> list[int]:
    """Return the lines of the assertions that compare a time that passed.

    A reading of a clock of the module `time` becomes a duration, or a moment to come, by addition or subtraction, and
    so does each name and each function of the module that gets its value from one. Two bare readings may be compared:
    that shows an order. The `time()` of an event loop is left alone, for it may be the fake clock's.

    Args:
        source: The source of a module.
    """
    if not _TIME.search(source):  # most modules; parsing them takes the time
        return []
    tree = ast.parse(source)
    aliases = _imported(tree)
    if not aliases:
        return []
    measuring: set[str] = set()
    while True:
        scopes = [_Scope(scope, aliases, measuring) for scope in _scopes(tree)]
        found = measuring.union(*(scope.measuring() for scope in scopes))
        if found == measuring:
            return sorted({line for scope in scopes for line in scope.offending()})
        measuring = found


class _Scope:
    """A function outside any other, or what stands in no function."""

    def __init__(self, nodes: list[ast.AST], aliases: frozenset[str], measuring: set[str]) -> None:
        self._nodes = nodes
        self._aliases = aliases
        self._measuring = measuring
        self._readings: set[str] = set()
        self._durations: set[str] = set()
        before = -1
        while before != len(self._readings) + len(self._durations):
            before = len(self._readings) + len(self._durations)
            for names, value in self._assigned():
                if self._is_duration(value):
                    self._durations |= names
                elif self._reads(value):
                    self._readings |= names

    def offending(self) -> Iterator[int]:
        """The lines of assertions that compare a duration."""
        for node in self._nodes:
            if isinstance(node, ast.Assert):
                compared = (part for part in ast.walk(node.test) if isinstance(part, ast.Compare))
                if any(self._is_duration(part) for part in compared):
                    yield node.lineno

    def measuring(self) -> Iterator[str]:
        """The names of the functions, and of those inside them, that return a duration."""
        for function in (node for node in self._nodes if isinstance(node, _Function)):
            returned = (node.value for node in ast.walk(function) if isinstance(node, ast.Return) and node.value)
            if any(self._is_duration(value) for value in returned):
                yield function.name

    def _assigned(self) -> Iterator[tuple[set[str], ast.expr]]:
        for node in self._nodes:
            match node:
                case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
                    for name, value in zip(names, values, strict=False):
                        yield _names(name), value
                case ast.Assign(targets=targets, value=value):
                    yield set().union(*map(_names, targets)), value
                case (
                    ast.AnnAssign(target=target, value=ast.expr() as value) | ast.NamedExpr(target=target, value=value)
                ):
                    yield _names(target), value
                case ast.AugAssign(target=target, value=value):
                    yield _names(target), ast.BinOp(target, node.op, value)

    def _reads(self, node: ast.AST) -> bool:
        """Whether a clock is read, or a name stands for what was read."""
        return any(
            (isinstance(part, ast.Call) and _called(part) in self._aliases)
            or (isinstance(part, ast.Name) and part.id in self._readings)
            for part in ast.walk(node)
        )

    def _is_duration(self, node: ast.AST) -> bool:
        for part in ast.walk(node):
            match part:
                case ast.BinOp(op=ast.Add() | ast.Sub()) if self._reads(part):
                    return True
                case ast.Name(id=name) if name in self._durations:
                    return True
                case ast.Call(func=ast.Name(id=name)) if name in self._measuring:
                    return True
        return False


def _imported(tree: ast.Module) -> frozenset[str]:
    """Return how the clocks are called in a module."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for one in node.names:
                if one.name == "time":
                    found |= {f"{one.asname or one.name}.{clock}" for clock in _CLOCKS}
        elif isinstance(node, ast.ImportFrom) and node.module == "time":
            found |= {one.asname or one.name for one in node.names if one.name in _CLOCKS}
    return frozenset(found)


def _scopes(tree: ast.Module) -> Iterator[list[ast.AST]]:
    """Yield the functions that are in no other one, with all that is in them, and the rest of the module."""
    rest: list[ast.AST] = []
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, _Function):
            yield list(ast.walk(node))
        else:
            rest.append(node)
            waiting += ast.iter_child_nodes(node)
    yield rest


def _names(target: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(target) if isinstance(part, ast.Name)}


def _called(call: ast.Call) -> str:
    return ast.unparse(call.func)
