"""Which steps from line to line a call takes, in chosen files only."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

_TOOL = 4  # a free id of sys.monitoring; 0 to 2 and 5 are taken by custom (PEP 669)


class Arcs:
    """Collects the arcs of the code under one folder while it is entered, by `sys.monitoring` or by tracing.

    Args:
        folder: Where the files lie that count.
    """

    def __init__(self, folder: str) -> None:
        self.seen: set[tuple[str, int, int]] = set()
        self._folder = folder
        self._last = ("", 0)
        self._monitoring = getattr(sys, "monitoring", None)

    def __enter__(self) -> None:
        self._last = ("", 0)
        if self._monitoring is None:
            threading.settrace(self._called)
            sys.settrace(self._called)
            return
        events = self._monitoring.events
        self._monitoring.use_tool_id(_TOOL, "groundwire-fuzz")
        self._monitoring.register_callback(_TOOL, events.LINE, self._line)
        self._monitoring.set_events(_TOOL, events.LINE)

    def __exit__(self, *error: object) -> None:
        if self._monitoring is None:
            sys.settrace(None)
            threading.settrace(None)
            return
        self._monitoring.set_events(_TOOL, 0)
        self._monitoring.free_tool_id(_TOOL)

    def _called(self, frame: FrameType, event: str, arg: Any) -> Callable[..., Any] | None:
        return self._traced if frame.f_code.co_filename.startswith(self._folder) else None

    def _traced(self, frame: FrameType, event: str, arg: Any) -> Callable[..., Any]:
        if event == "line":
            self._step(frame.f_code.co_filename, frame.f_lineno)
        return self._traced

    def _line(self, code: CodeType, line: int) -> Any:
        if not code.co_filename.startswith(self._folder):
            return self._monitoring.DISABLE if self._monitoring is not None else None
        self._step(code.co_filename, line)
        return None

    def _step(self, name: str, line: int) -> None:
        file, before = self._last
        self.seen.add((name, before if file == name else 0, line))
        self._last = (name, line)
