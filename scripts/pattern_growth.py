"""Find regular expressions of the package whose work grows faster than the text they look at.

Every pattern that a module compiles is run by a small backtracking matcher that counts its steps, on texts made from
the pattern itself: each of its characters, words and pairs of these, repeated, behind what may stand before and in
front of what lets a match fail. A pattern grows when four times the text takes more than seven times the steps. Bounded
repetitions are cut to a few, for they are bounded. A pattern that its module only ever tries at one place (`match`,
`fullmatch`) is tried at one.

    python scripts/pattern_growth.py            # prints what grows
"""

from __future__ import annotations

import ast
import importlib
import linecache
import pkgutil
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, Final

c: Any = import_module("re._constants")  # the parser of the standard library has no other name
parser: Any = import_module("re._parser")

_SMALL, _LARGE = 10, 40  # repetitions
_MOST: Final = 6_000  # steps of a match in a short text after which it is certain
_GROWS: Final = 7.0
_CUT: Final = 3  # what a bounded repetition becomes
_CLASSES: Final[dict[Any, Callable[[str], bool]]] = {
    c.CATEGORY_DIGIT: str.isdecimal,
    c.CATEGORY_NOT_DIGIT: lambda x: not x.isdecimal(),
    c.CATEGORY_SPACE: str.isspace,
    c.CATEGORY_NOT_SPACE: lambda x: not x.isspace(),
    c.CATEGORY_WORD: lambda x: x.isalnum() or x == "_",
    c.CATEGORY_NOT_WORD: lambda x: not (x.isalnum() or x == "_"),
}
_SAMPLES: Final = "a1 .\n-_A<\"'é\t"

State = tuple[int, tuple[tuple[int, tuple[int, int]], ...]]


class _TooMany(Exception):
    """More steps than need be counted."""


class _Matcher:
    """Matches as Python's engine does, slowly, and counts; what it was given is a parsed pattern."""

    def __init__(self, text: str, flags: int, most: int = _MOST) -> None:
        self.text, self.flags, self.steps, self.most = text, flags, 0, most

    def run(
        self, items: Any, at: int, place: int, groups: dict[int, tuple[int, int]]
    ) -> Iterator[tuple[int, dict[int, tuple[int, int]]]]:
        """Yield where the items from number `at` on can end, in the engine's order."""
        self.steps += 1
        if self.steps > self.most:
            raise _TooMany
        if at == len(items):
            yield place, groups
            return
        op, value = items[at]
        text = self.text
        if op in (c.LITERAL, c.NOT_LITERAL, c.IN, c.ANY):
            if place < len(text) and self._is(op, value, text[place]):
                yield from self.run(items, at + 1, place + 1, groups)
        elif op is c.AT:
            if self._stands(value, place):
                yield from self.run(items, at + 1, place, groups)
        elif op is c.BRANCH:
            for branch in value[1]:
                for end, found in self.run(branch, 0, place, groups):
                    yield from self.run(items, at + 1, end, found)
        elif op is c.SUBPATTERN:
            number, _, _, body = value
            for end, found in self.run(body, 0, place, groups):
                kept = found if number is None else {**found, number: (place, end)}
                yield from self.run(items, at + 1, end, kept)
        elif op is c.ATOMIC_GROUP:
            for end, found in self.run(value, 0, place, groups):
                yield from self.run(items, at + 1, end, found)
                return
        elif op in (c.ASSERT, c.ASSERT_NOT):
            direction, body = value
            starts = [place] if direction > 0 else [place - body.getwidth()[0]]
            holds = starts[0] >= 0 and any(
                direction > 0 or end == place for end, _ in self.run(body, 0, starts[0], groups)
            )
            if holds is (op is c.ASSERT):
                yield from self.run(items, at + 1, place, groups)
        elif op is c.GROUPREF:
            start, stop = groups.get(value, (0, -1))
            if stop >= start and text.startswith(text[start:stop], place):
                yield from self.run(items, at + 1, place + stop - start, groups)
        elif op is c.GROUPREF_EXISTS:
            number, yes, no = value
            for end, found in self.run(yes if number in groups else no or [], 0, place, groups):
                yield from self.run(items, at + 1, end, found)
        elif op in (c.MAX_REPEAT, c.MIN_REPEAT, c.POSSESSIVE_REPEAT):
            yield from self._repeat(op, value, items, at, place, groups)
        else:
            raise NotImplementedError(op)

    def _repeat(self, op: Any, value: Any, items: Any, at: int, place: int, groups: dict[int, tuple[int, int]]) -> Any:
        low, high, body = value
        high = high if high is c.MAXREPEAT else max(min(low, _CUT), min(high, _CUT))
        low = min(low, _CUT)
        single = len(body) == 1 and body[0][0] in (c.LITERAL, c.NOT_LITERAL, c.IN, c.ANY)
        if single and op is c.MIN_REPEAT:
            for stop in range(
                place, len(self.text) + 1 if high is c.MAXREPEAT else min(place + high, len(self.text)) + 1
            ):
                self.steps += 1
                if stop > place and not self._is(body[0][0], body[0][1], self.text[stop - 1]):
                    return
                if stop >= place + low:
                    yield from self.run(items, at + 1, stop, groups)
            return
        if single:
            end = place
            while end < len(self.text) and end - place < (len(self.text) if high is c.MAXREPEAT else high):
                self.steps += 1
                if not self._is(body[0][0], body[0][1], self.text[end]):
                    break
                end += 1
            for stop in range(end, place + low - 1, -1):
                self.steps += 1
                yield from self.run(items, at + 1, stop, groups)
                if op is c.POSSESSIVE_REPEAT:
                    return
            return
        stack = [(place, groups, 0)]
        if op is c.MIN_REPEAT:
            while stack:
                where, found, count = stack.pop(0)
                if count >= low:
                    yield from self.run(items, at + 1, where, found)
                if high is c.MAXREPEAT or count < high:
                    stack += [(end, more, count + 1) for end, more in self.run(body, 0, where, found) if end > where]
            return

        def greedy() -> Iterator[tuple[int, dict[int, tuple[int, int]]]]:
            levels = [(iter(self.run(body, 0, place, groups)), place, groups)]
            while levels:
                tries, where, found = levels[-1]
                following = next(tries, None) if high is c.MAXREPEAT or len(levels) <= high else None
                if following is None:
                    levels.pop()
                    if len(levels) >= low:
                        yield where, found
                elif following[0] > where:
                    levels.append((iter(self.run(body, 0, *following)), *following))

        for end, found in greedy():
            yield from self.run(items, at + 1, end, found)
            if op is c.POSSESSIVE_REPEAT:
                return

    def _is(self, op: Any, value: Any, character: str) -> bool:
        self.steps += 1
        if op is c.ANY:
            return bool(self.flags & re.DOTALL) or character != "\n"
        forms = {character, character.lower(), character.upper()} if self.flags & re.IGNORECASE else {character}
        if op is c.IN:
            inside = any(_in(value, form) for form in forms)
            return inside is not (value[0][0] is c.NEGATE)
        return (chr(value) in forms) is (op is c.LITERAL)

    def _stands(self, where: Any, place: int) -> bool:
        text = self.text
        if where in (c.AT_BEGINNING, c.AT_BEGINNING_STRING):
            lines = self.flags & re.MULTILINE and where is c.AT_BEGINNING
            return place == 0 or bool(lines and text[place - 1] == "\n")
        if where in (c.AT_END, c.AT_END_STRING):
            if where is c.AT_END and place == len(text) - 1 and text[place] == "\n":
                return True
            lines = self.flags & re.MULTILINE and where is c.AT_END
            return place == len(text) or bool(lines and text[place] == "\n")
        word = [0 <= at < len(text) and (text[at].isalnum() or text[at] == "_") for at in (place - 1, place)]
        return (word[0] != word[1]) is (where is c.AT_BOUNDARY)


def _in(value: Any, character: str) -> bool:
    for op, argument in value:
        if op is c.LITERAL and character == chr(argument):
            return True
        if op is c.RANGE and argument[0] <= ord(character) <= argument[1]:
            return True
        if op is c.CATEGORY and _CLASSES[argument](character):
            return True
    return False


def _sample(items: Any, matcher: _Matcher, seen: list[str]) -> str:
    """Return a text that the items may match; note in `seen` what their repetitions may repeat."""
    made = ""
    for op, value in items:
        if op is c.LITERAL:
            made += chr(value)
        elif op in (c.NOT_LITERAL, c.IN, c.ANY):
            made += next((one for one in (*_SAMPLES, *_members(value)) if matcher._is(op, value, one)), "")
        elif op is c.BRANCH:
            parts = [_sample(branch, matcher, seen) for branch in value[1]]
            seen += parts[:8]
            made += parts[0]
        elif op is c.SUBPATTERN:
            made += _sample(value[3], matcher, seen)
        elif op is c.ATOMIC_GROUP:
            made += _sample(value, matcher, seen)
        elif op in (c.ASSERT, c.ASSERT_NOT):
            seen.append(_sample(value[1], matcher, seen))
        elif op in (c.MAX_REPEAT, c.MIN_REPEAT, c.POSSESSIVE_REPEAT):
            body = _sample(value[2], matcher, seen)
            seen.append(body)
            made += body * min(max(1, value[0]), _CUT)
    return made


def _members(value: Any) -> Iterator[str]:
    for op, argument in value if isinstance(value, list) else ():
        if op is c.LITERAL:
            yield chr(argument)
        elif op is c.RANGE:
            yield chr(argument[0])


def growth(pattern: str, flags: int = 0, *, anchored: bool = False) -> str:
    """Return a repeated text on which a pattern's work grows faster than the text; empty when none was found.

    Args:
        pattern: The pattern.
        flags: Its flags.
        anchored: Whether it is only tried at one place of a text, as `match` and `fullmatch` do.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = parser.parse(pattern, flags)
    flags = tree.state.flags
    seen: list[str] = []
    whole = _sample(tree, _Matcher("", flags), seen)
    units = list(dict.fromkeys(unit for unit in (*seen, *whole, *_SAMPLES, whole, whole[:-1]) if unit))[:14]
    units += [one + other for one in units[:3] for other in units[:3] if one != other]
    for unit in dict.fromkeys(units):
        for before in ("", whole[:2]) if len(whole) > 2 else ("",):
            few = _steps(tree, flags, before + unit * _SMALL + "\0", anchored, 10 * _MOST)
            if few is None or _steps(tree, flags, before + unit * _LARGE + "\0", anchored, int(_GROWS * few)) is None:
                return str(unit)
    return ""


def _steps(tree: Any, flags: int, text: str, anchored: bool, most: int) -> int | None:
    """Return the steps of finding every match, as `finditer` does, or one at the beginning; None for more than `most`.

    A match by itself may take `_MOST`, or as many as all together.
    """
    total, place = 0, 0
    while place <= len(text):
        matcher = _Matcher(text, flags, max(_MOST, most - total))
        try:
            found = next(matcher.run(tree, 0, place, {}), None)
        except (_TooMany, RecursionError):
            return None
        total += matcher.steps
        if total > most:
            return None
        place = max(found[0], place + 1) if found is not None else place + 1
        if anchored:
            break
    return total


def _is_anchored(lines: list[str], number: int) -> bool:
    """Return whether a module only matches the pattern that it compiles in a line, and never searches with it."""
    near = "".join(lines[max(0, number - 3) : number])
    names = re.findall(r"^(\w+)(?:: [\w\[\].]+)? = ", near, re.MULTILINE)
    if not names:
        return False
    uses = re.findall(rf"\b{names[-1]}\b(?:\.(\w+))?", "".join(lines))[1:]  # the first is where it is made
    return bool(uses) and set(uses) <= {"match", "fullmatch"}


def compiled() -> dict[tuple[str, int, bool], str]:
    """Return the patterns that the modules of the package compile when they are imported, and where each is.

    Each is told with its flags, and with whether it is only tried at one place of a text.
    """
    found: dict[tuple[str, int, bool], str] = {}
    original = re.compile

    def noted(pattern: Any, flags: Any = 0) -> Any:
        frame = sys._getframe(1)
        module = str(frame.f_globals.get("__name__", ""))
        made = original(pattern, flags)
        if module.startswith(("groundwire.", "groundwire_server.")) and isinstance(made.pattern, str):
            anchored = _is_anchored(linecache.getlines(frame.f_code.co_filename), frame.f_lineno)
            found.setdefault((made.pattern, made.flags, anchored), module)
        return made

    import groundwire
    import groundwire_server

    packages = groundwire, groundwire_server
    re.compile = noted
    try:
        for package in packages:
            for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
                if not module.name.endswith("__main__"):
                    try:
                        importlib.import_module(module.name)
                    except ImportError:
                        continue
    finally:
        re.compile = original
    for path in (path for package in packages for path in Path(package.__path__[0]).rglob("*.py")):
        for pattern, anchored in _written_in_calls(path.read_text("utf-8")):
            found.setdefault((pattern, re.compile(pattern).flags, anchored), ".".join(path.parts[-2:]))
    return found


def _written_in_calls(source: str) -> Iterator[tuple[str, bool]]:
    """Yield the patterns that calls such as `re.search` have as their first argument, where it is a plain text."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id="re"), attr=name),
                args=[ast.Constant(value=str(pattern)), *_],
            ) if name != "compile":
                yield pattern, name in ("match", "fullmatch")


def main() -> None:
    """Print every pattern that grows."""
    for (pattern, flags, anchored), module in sorted(compiled().items(), key=lambda row: row[1]):
        if unit := growth(pattern, flags, anchored=anchored):
            print(f"{module}: {pattern[:100]!r} on {unit!r}", flush=True)


if __name__ == "__main__":
    main()
