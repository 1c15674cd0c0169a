"""The frameworks, each in an environment of its own: what is installed and imported there."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

MODULES = {
    "strands": ("strands.models.openai", "openai.resources"),
    "openai-agents": ("agents",),
    "pydantic-ai": ("pydantic_ai.models.openai", "openai.resources"),
    "langchain": ("langchain.agents", "langchain_openai", "openai.resources"),
    "anthropic": ("anthropic.resources.beta",),
    "llamaindex": ("llama_index.core.agent.workflow", "llama_index.llms.openai_like", "openai.resources"),
    "google-adk": ("google.adk.agents", "google.adk.runners", "google.adk.flows.llm_flows.auto_flow"),
    "haystack": ("haystack.components.agents", "haystack.components.generators.chat.openai", "openai.resources"),
    "agno": ("agno.agent", "agno.models.openai", "openai.resources"),
    "autogen": ("autogen_agentchat.agents", "autogen_ext.models.openai", "openai.resources"),
    "crewai": ("crewai", "openai.resources"),
    "dspy": ("dspy", "litellm", "openai.resources"),
    "smolagents": ("smolagents", "openai.resources"),
    "agent-framework": ("agent_framework", "agent_framework.openai", "openai.resources"),
}
"""The extras of Groundwire, and what is imported once for all tests of each: also what a framework imports late."""

ALSO = {
    "strands": ("strands-agents[openai]",),
    "pydantic-ai": ("pydantic-ai-slim[openai]",),
    "langchain": ("langchain-openai",),
    "llamaindex": ("llama-index-llms-openai-like",),
    "agno": ("openai",),
    "autogen": ("autogen-ext[openai]",),
    "smolagents": ("smolagents[openai]",),
    "agent-framework": ("agent-framework-openai",),
}
"""What else the examples install."""

AT_HOME = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "HAYSTACK_TELEMETRY_ENABLED": "false",
    "AGNO_TELEMETRY": "false",
    "CREWAI_DISABLE_TELEMETRY": "true",
    "CREWAI_TRACING_ENABLED": "false",
    "LITELLM_LOCAL_MODEL_COST_MAP": "true",
    "OTEL_SDK_DISABLED": "true",
    "OPENAI_API_KEY": "none",
    "ANTHROPIC_API_KEY": "none",
    "GOOGLE_API_KEY": "none",
}
"""The frameworks are to ask nobody outside."""


@dataclass(frozen=True)
class Framework:
    """A framework in an environment of its own."""

    extra: str
    """The extra of Groundwire."""

    python: Path
    """A Python that has imported it."""


def with_framework(*extras: str) -> pytest.MarkDecorator:
    """Run a test with each of these; the tests of one share a process that has imported it, in one worker."""
    every = [pytest.param(extra, marks=pytest.mark.xdist_group(extra)) for extra in extras]
    return pytest.mark.parametrize("framework", every, indirect=True)
