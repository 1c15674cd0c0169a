"""An AutoGen agent that searches the web and reads pages.

pip install "groundwire[autogen]" "autogen-ext[openai]"
OPENAI_API_KEY=... python autogen_agent.py "What is reciprocal rank fusion?"
"""

import asyncio
import sys

from autogen_agentchat.agents import AssistantAgent
from autogen_ext.models.openai import OpenAIChatCompletionClient

from groundwire.integrations.autogen import web_tools


async def main() -> None:
    """Ask."""
    client = OpenAIChatCompletionClient(model="gpt-4.1-mini")
    agent = AssistantAgent("researcher", model_client=client, tools=web_tools(), max_tool_iterations=6)
    print((await agent.run(task=sys.argv[1])).messages[-1].content)


asyncio.run(main())
