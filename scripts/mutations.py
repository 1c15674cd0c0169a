"""The mutations of one module: small changes of its source text, found through its syntax tree."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_COMPARISONS: Final[dict[type[ast.cmpop], tuple[str, tuple[str, ...]]]] = {
    ast.Lt: ("<", ("<=", ">=")),
    ast.LtE: ("<=", ("<", ">")),
    ast.Gt: (">", (">=", "<=")),
    ast.GtE: (">=", (">", "<")),
    ast.Eq: ("==", ("!=",)),
    ast.NotEq: ("!=", ("==",)),
    ast.Is: ("is", ("is not",)),
    ast.IsNot: (r"is\s+not", ("is",)),
    ast.In: ("in", ("not in",)),
    ast.NotIn: (r"not\s+in", ("in",)),
}
_ARITHMETIC: Final[dict[type[ast.operator], tuple[str, str]]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "*"),
    ast.Pow: ("**", "*"),
    ast.BitOr: ("|", "&"),
    ast.BitAnd: ("&", "|"),
    ast.LShift: ("<<", ">>"),
    ast.RShift: (">>", "<<"),
}
_DECLARATIVE: Final = frozenset({"strict", "slots", "frozen", "kw_only", "repr"})
"""Keyword arguments that declare something about code and decide nothing in it."""


@dataclass(frozen=True, slots=True)
class Mutation:
    """One change of a module's source text."""

    function: str
    """The qualified name of the function or class around it; empty at module level."""
    line: int
    """The first line that changes, from 1."""
    lines: tuple[int, int]
    """The first and the last line of the statement."""
    before: str
    """The lines that change, without indentation, as one line."""
    after: str
    """What they become."""
    source: str
    """The whole module with the change."""


@dataclass(frozen=True, slots=True)
class _Edit:
    start: int
    end: int
    text: str


class _Finder(ast.NodeVisitor):
    """Collects the edits of a tree, each with its function and its statement."""

    def __init__(self, source: str) -> None:
        self._bytes = source.encode()
        self._starts = [0]
        for line in self._bytes.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
        self._names: list[str] = []
        self._depth = 0  # of functions
        self._statement: ast.stmt | None = None
        self._kept: set[int] = set()  # the ids of statements that are not removed on their own
        self.found: list[tuple[_Edit, str, ast.stmt]] = []

    def visit(self, node: ast.AST) -> None:
        if isinstance(node, ast.stmt):
            outer, self._statement = self._statement, node
            self._remove(node)
            super().visit(node)
            self._statement = outer
        else:
            super().visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._names.append(node.name)
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                self.visit(default)
        self._depth += 1
        for statement in node.body:
            self.visit(statement)
        self._depth -= 1
        self._names.pop()

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._names.append(node.name)
        for statement in node.body:
            self.visit(statement)
        self._names.pop()

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_Assign(self, node: ast.Assign) -> None:
        if not any(isinstance(target, ast.Name) and target.id == "__all__" for target in node.targets):
            self.generic_visit(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """The parts of an f-string have no usable positions before Python 3.12."""

    def visit_Assert(self, node: ast.Assert) -> None:
        """An assertion is for the type checker."""

    def visit_keyword(self, node: ast.keyword) -> None:
        if node.arg not in _DECLARATIVE:
            self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        if not _logs(node):
            self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        for left, operator, right in zip([node.left, *node.comparators], node.ops, node.comparators, strict=False):
            pattern, others = _COMPARISONS[type(operator)]
            for other in others:
                self._between(left, right, pattern, other)
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if type(node.op) in _ARITHMETIC and (self._depth or not isinstance(node.op, ast.BitOr)):
            sign, other = _ARITHMETIC[type(node.op)]
            self._between(node.left, node.right, re.escape(sign), other)
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if type(node.op) in _ARITHMETIC:
            sign, other = _ARITHMETIC[type(node.op)]
            self._between(node.target, node.value, re.escape(sign), other)
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in zip(node.values, node.values[1:], strict=False):
            self._between(left, right, old, new)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            start, _ = self._span(node)
            self._edit(start, start + len("not"), "")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        start, end = self._span(node)
        if isinstance(node.value, bool):
            self._edit(start, end, str(not node.value))
        elif isinstance(node.value, int | float):
            self._edit(start, end, repr(node.value + 1))
            self._edit(start, end, repr(node.value - 1) if node.value >= 1 else f"({node.value - 1!r})")

    def visit_Return(self, node: ast.Return) -> None:
        if node.value is not None and not (isinstance(node.value, ast.Constant) and not node.value.value):
            self._edit(*self._span(node.value), "None")
        self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            return  # imports for the type checker
        self._condition(node.test)
        self._edit(*self._span(node.test), "False")
        if node.orelse:
            self._edit(*self._span(node.test), "True")
        elif len(node.body) == 1:
            self._kept.add(
                id(node.body[0])
            )  # without it the branch would do nothing, as with a condition that is False
        self.generic_visit(node)

    def visit_While(self, node: ast.While) -> None:
        self._condition(node.test)
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._condition(node.test)
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for test in node.ifs:
            self._condition(test)
        self.generic_visit(node)

    def _condition(self, test: ast.expr) -> None:
        """Negate a condition, unless a mutation of its operator does the same."""
        same = isinstance(test, ast.Compare) and len(test.ops) == 1
        if not same and not (isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)):
            start, end = self._span(test)
            self._edit(start, end, f"not ({self._bytes[start:end].decode()})")

    def _remove(self, node: ast.stmt) -> None:
        """Leave out a statement that has an effect of its own; without a plain assignment nothing would run at all."""
        if not self._depth or id(node) in self._kept:
            return
        call = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call | ast.Await) and not _logs(node)
        stored = isinstance(node, ast.Assign) and all(
            isinstance(target, ast.Attribute | ast.Subscript) for target in node.targets
        )
        if call or stored or isinstance(node, ast.AugAssign | ast.Raise | ast.Delete | ast.Continue | ast.Break):
            self._edit(*self._span(node), "pass")

    def _between(self, left: ast.expr, right: ast.expr, pattern: str, other: str) -> None:
        start, end = self._span(left)[1], self._span(right)[0]
        match = re.search(pattern.encode(), self._bytes[start:end])
        if match is not None:
            self._edit(start + match.start(), start + match.end(), other)

    def _span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        start = self._starts[node.lineno - 1] + node.col_offset
        return start, self._starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)

    def _edit(self, start: int, end: int, text: str) -> None:
        if self._statement is not None:
            self.found.append((_Edit(start, end, text), ".".join(self._names), self._statement))


def _logs(node: ast.Expr) -> bool:
    """Whether a statement only writes to a log, which decides nothing."""
    called = node.value.func if isinstance(node.value, ast.Call) else None
    return isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name) and called.value.id == "_logger"


def mutations(source: str) -> Iterator[Mutation]:
    """Yield the mutations of a module, in the order of its text.

    Args:
        source: The module.
    """
    finder = _Finder(source)
    finder.visit(ast.parse(source))
    raw = source.encode()
    for edit, function, statement in sorted(finder.found, key=lambda found: (found[0].start, found[0].end)):
        changed = raw[: edit.start] + edit.text.encode() + raw[edit.end :]
        first = raw.rfind(b"\n", 0, edit.start) + 1
        last = raw.find(b"\n", edit.end)
        end = (last if last >= 0 else len(raw)) - len(raw)  # from the end, where both texts are the same
        yield Mutation(
            function=function,
            line=raw.count(b"\n", 0, edit.start) + 1,
            lines=(statement.lineno, statement.end_lineno or statement.lineno),
            before=_one_line(raw[first : len(raw) + end]),
            after=_one_line(changed[first : len(changed) + end]),
            source=changed.decode(),
        )


def _one_line(text: bytes) -> str:
    return " ".join(text.decode().split())
