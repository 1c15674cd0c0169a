"""Libraries that take seconds to import, each imported when a test first uses it: `heavy.openai.AsyncOpenAI(...)`.

Every worker collects every test; what a module of tests imports at its top is imported by all of them. Tests that use
one of these libraries belong to the worker group `GROUP`, so that one worker imports it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import anthropic as anthropic
    import jsonschema as jsonschema
    import ollama as ollama
    import openai as openai
    from google import genai as genai
else:
    from importlib import import_module

    def __getattr__(name: str) -> object:
        if name not in _MODULES:
            raise AttributeError(name)
        return import_module(_MODULES[name])


GROUP = "heavy"
_MODULES = {
    "anthropic": "anthropic",
    "genai": "google.genai",
    "jsonschema": "jsonschema",
    "ollama": "ollama",
    "openai": "openai",
}
