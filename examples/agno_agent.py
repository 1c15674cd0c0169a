"""An Agno agent that searches the web and reads pages.

pip install "groundwire[agno]" openai
OPENAI_API_KEY=... python agno_agent.py "What is reciprocal rank fusion?"
"""

import sys

from agno.agent import Agent
from agno.models.openai import OpenAIChat

from groundwire.integrations.agno import web_tools

agent = Agent(model=OpenAIChat(id="gpt-6.1-terra"), tools=web_tools(), telemetry=False)
print(agent.run(sys.argv[1]).content)
