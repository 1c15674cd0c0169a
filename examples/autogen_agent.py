"""An AutoGen agent that searches the web and reads pages.

pip install "groundwire[autogen]" "autogen-ext[openai]"
OPENAI_API_KEY=... python autogen_agent.py "What is reciprocal rank fusion?"
"""

import asyncio
import sys

from autogen_agentchat.agents import AssistantAgent
from autogen_core.models import ModelInfo
from autogen_ext.models.openai import OpenAIChatCompletionClient

from groundwire.integrations.autogen import web_tools


async def main() -> None:
    """Ask."""
    # AutoGen knows no model of today by its name, and is told what this one can do.
    known = ModelInfo(vision=True, function_calling=True, json_output=True, structured_output=True, family="unknown")
    client = OpenAIChatCompletionClient(model="gpt-6.1-terra", model_info=known)
    agent = AssistantAgent("researcher", model_client=client, tools=web_tools(), max_tool_iterations=6)
    print((await agent.run(task=sys.argv[1])).messages[-1].content)


asyncio.run(main())
