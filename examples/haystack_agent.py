"""A Haystack agent that searches the web and reads pages.

pip install "groundwire[haystack]"
OPENAI_API_KEY=... python haystack_agent.py "What is reciprocal rank fusion?"
"""

import sys

from haystack.components.agents import Agent
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage

from groundwire.integrations.haystack import web_tools

agent = Agent(chat_generator=OpenAIChatGenerator(model="gpt-6.1-terra"), tools=web_tools())
print(agent.run(messages=[ChatMessage.from_user(sys.argv[1])])["messages"][-1].text)
