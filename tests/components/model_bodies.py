"""Requests in each API's format, with Groundwire's search tool and one of the caller's."""

from __future__ import annotations

from typing import Any

from groundwire.hosted.model_lifecycles import load_lifecycles
from groundwire.settings import MODEL_PROVIDERS, Settings

SCHEMA = {
    "type": "object",
    "properties": {"query": {"type": "string", "description": "Search query"}},
    "required": ["query"],
}
ADD = {"type": "object", "properties": {"a": {"type": "number"}}, "required": ["a"], "additionalProperties": False}
QUESTION = [{"role": "user", "content": "What is new?"}]

EVERYBODY = Settings.model_validate({"search": {"native": {"providers": MODEL_PROVIDERS}}})
"""Settings under which every hosted search may be used."""

ENDED = max(
    name
    for name, one in load_lifecycles().models.items()
    if one.provider == "openai" and one.has_ended(load_lifecycles().checked)
)
"""A model of OpenAI that has been shut down."""


def chat(name: str = "web_search", parameters: dict[str, Any] = SCHEMA) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "description": "A tool.", "parameters": parameters}}


def responses(name: str = "web_search", parameters: dict[str, Any] = SCHEMA) -> dict[str, Any]:
    return {"type": "function", "name": name, "description": "A tool.", "parameters": parameters, "strict": False}


def anthropic(name: str = "web_search", parameters: dict[str, Any] = SCHEMA) -> dict[str, Any]:
    return {"name": name, "description": "A tool.", "input_schema": parameters}


def declaration(name: str = "web_search", parameters: dict[str, Any] = SCHEMA) -> dict[str, Any]:
    return {"name": name, "description": "A tool.", "parametersJsonSchema": parameters}


def bedrock(name: str = "web_search", parameters: dict[str, Any] = SCHEMA) -> dict[str, Any]:
    return {"toolSpec": {"name": name, "description": "A tool.", "inputSchema": {"json": parameters}}}


def body_of(api: str, *tools: Any, **more: Any) -> dict[str, Any]:
    """Return a request of an API with these tools."""
    model = {
        "anthropic": "claude-sonnet-5",
        "openai_responses": "gpt-6.1-sol",
        "openai_chat": "gpt-6-luna",
        "gemini": "gemini-3-flash-preview",
        "gemini_interactions": "gemini-3-flash-preview",
        "xai": "grok-4.3",
        "mistral": "mistral-medium-latest",
        "groq": "groq/compound",
        "openrouter": "anthropic/claude-sonnet-5",
        "perplexity": "openai/gpt-5.5",
        "kimi": "kimi-k2.6",
        "qwen": "qwen-plus",
        "qwen_responses": "qwen3-max",
    }.get(api, "qwen3")
    whole: dict[str, Any] = {"model": model, "tools": list(tools), **more}
    if api == "gemini":
        whole["contents"] = [{"role": "user", "parts": [{"text": "What is new?"}]}]
    elif api in ("openai_responses", "xai", "gemini_interactions", "perplexity", "qwen_responses"):
        whole["input"] = "What is new?"
    elif api == "mistral":
        whole["inputs"] = "What is new?"
    else:
        whole["messages"] = QUESTION
    if api == "anthropic":
        whole["max_tokens"] = 100
    return whole
