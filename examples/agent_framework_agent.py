"""A Microsoft Agent Framework agent that searches the web and reads pages.

pip install "groundwire[agent-framework]" agent-framework-openai
OPENAI_API_KEY=... python agent_framework_agent.py "What is reciprocal rank fusion?"
"""

import asyncio
import sys

from agent_framework import Agent
from agent_framework.openai import OpenAIChatCompletionClient

from groundwire.integrations.agent_framework import web_tools

agent = Agent(client=OpenAIChatCompletionClient(model="gpt-6.1-terra"), tools=web_tools())
print(asyncio.run(agent.run(sys.argv[1])).text)
